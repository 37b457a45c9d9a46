#!/bin/sh
# `make demo ONCE=1` (its part after the build): the table has to rank the causes of the demo's
# reports by the seconds they cost, with function and file, before and after the dSYM as one.
set -eu
out=$(ONCE=1 tests/demo/run-demo "$STALLSYMD")
printf '%s\n' "$out"
expect() {
    printf '%s\n' "$out" | grep -Eq "$1" || { echo "missing: $1" >&2; exit 1; }
}
expect '^images that are missed: +Shop [0-9A-F-]{36} \([0-9]+ reports wait\)$'
expect '^upload of Shop.dSYM.zip: +indexed: Shop arm64, [0-9]+ functions, [0-9]+ lines$'
expect '^ +[0-9]+ +[0-9.]+ +[0-9]+ +[0-9]+ +step_rows +FeedStore.m$'
expect '^ +[0-9]+ +[0-9.]+ +[0-9]+ +[0-9]+ +-\[CheckoutViewController waitForLock\] +CheckoutViewController.m$'
# 72 reports: every one is in a cluster of the table or idle.
reports=$(printf '%s\n' "$out" | awk '/^ +[0-9]+ +[0-9.]+ +[0-9]+ +[0-9]+ /{ n += $1 } END { print n }')
[ "$reports" -ge 55 ] && [ "$reports" -le 72 ] || { echo "the table counts $reports reports" >&2; exit 1; }
