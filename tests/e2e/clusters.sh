#!/bin/sh
# `stallsymd cluster`: its errors, and how good its clusters are on labelled stacks.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

fail() {
    echo "$*"
    status=1
}

# --- without data ---------------------------------------------------------------------------------

expect() { # EXIT-STATUS TEXT INPUT ARGUMENT…: what is said on standard error
    want=$1 text=$2 input=$3
    shift 3
    printf '%b' "$input" | "$STALLSYMD" cluster "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" = "$want" ] || fail "cluster $*: exit status $got, not $want"
    grep -qF -- "$text" "$work/err" || fail "cluster $*: no \"$text\" in: $(cat "$work/err")"
}

row='{"id":"a","frames":["read","Feed.load()"],"modules":["libsystem_kernel.dylib","Shop"]}\n'
expect 2 'unexpected "--frob"' '' --frob
expect 2 'unexpected "--rules"' '' --rules
expect 1 "$work/none" '' --rules "$work/none"
expect 1 'line 2:' "$row{\\n"
expect 1 'line 1: no JSON object' '[]\n'
expect 1 'line 1: `id` is missing' '{"frames":[]}\n'
expect 1 'line 1: `frames` is missing' '{"id":"a"}\n'
expect 1 'line 1: a frame that is no string' '{"id":"a","frames":[1]}\n'
expect 1 'line 1: `modules` is not as long as `frames`' '{"id":"a","frames":["x"],"modules":[]}\n'
printf 'drop: a\ndrp: b\n' >"$work/bad.rules"
expect 1 "$work/bad.rules:2: unknown action \`drp\`" '' --rules "$work/bad.rules"

key() { # ROWS ARGUMENT…: the cluster of the first row
    printf '%b' "$1" | { shift; "$STALLSYMD" cluster "$@"; } | sed -n '1s/.*	//p'
}
rows=$row'{"id":"b","frames":["pread","closure #1 in Feed.load()"],"modules":["libsystem_kernel.dylib","Shop"]}\n'
n=$(printf '%b' "$rows" | "$STALLSYMD" cluster | cut -f 2 | sort -u | wc -l)
[ "$n" -eq 1 ] || fail "two leaves of one cause are $n clusters"

# Linkage names and what is shown of them are the same functions.
same() { # NAME NAME…: one cluster
    first=$(key '{"id":"a","frames":["'"$1"'"]}\n')
    for name; do
        [ "$(key '{"id":"a","frames":["'"$name"'"]}\n')" = "$first" ] ||
            fail "$1 and $name are two clusters"
    done
}
same 'Feed.reload(force:)' '$s4Shop4FeedC6reload5forceySb_tF' '_$s4Shop4FeedC6reload5forceySb_tF' \
    '$s4Shop4FeedC6reload5forceySb_tFyycfU_' '$s4Shop4FeedC6reload5forceySb_tFyycfU_TA' \
    '$s4Shop4FeedC6reload5forceySb_tFTf4nd_n' 'Shop.Feed.reload(force: Swift.Bool) -> ()'
same 'static Feed.run()' '$s4Shop4FeedC3runyyFZ' '_TZFC4Shop4Feed3runfT_T_'
same 'shop::Cart::load(int)' '_ZN4shop4Cart4loadEi'
apart() { # NAME NAME: two clusters
    [ "$(key '{"id":"a","frames":["'"$1"'"]}\n')" != "$(key '{"id":"a","frames":["'"$2"'"]}\n')" ] ||
        fail "$1 and $2 are one cluster"
}
apart 'Feed.run()' 'static Feed.run()'
apart '$s4Shop4FeedC3runyyF' '$s4Shop4FeedC3runyyFZ'
apart '$s4Shop4FeedC6shared_WZ' '$s4Shop4CartC6shared_WZ'

printf 'group=all: *\n' >"$work/one.rules"
[ "$(key "$row" --rules "$work/one.rules")" != "$(key "$row")" ] || fail "--rules changes nothing"
[ "$(key "$row" --app-image Other)" != "$(key "$row")" ] || fail "--app-image changes nothing"
[ -z "$(printf '' | "$STALLSYMD" cluster)" ] || fail "something from nothing"
if [ -c /dev/full ]; then
    printf '%b' "$row" | "$STALLSYMD" cluster >/dev/full 2>"$work/err" &&
        fail "a full disk went unnoticed"
fi

# --- labelled stacks ------------------------------------------------------------------------------

data=$STALLSYM_DATA/clusters
score=$STALLSYM_DATA/tools/cluster_eval.py
if [ ! -f "$data/ios_stalls_dev.jsonl" ] || [ ! -f "$score" ]; then
    echo "skipped: labelled stacks, $data is not there"
    exit $status
fi

measure() { # FILE MINIMA ARGUMENT…: minima of P, R, F1, ARI, B3-P, B3-R, B3-F1 (0: no matter)
    file=$1 minima=$2
    shift 2
    "$STALLSYMD" cluster "$@" <"$data/$file" >"$work/clusters.tsv" || fail "$file: cluster failed"
    python3 "$score" score "$data/$file" "$work/clusters.tsv" >"$work/score"
    line=$(sed -n 3p "$work/score")
    echo "$file $*: $(echo "$line" | cut -d '|' -f 3-9), $(tail -n 1 "$work/score")"
    echo "$line" | awk -F '|' -v minima="$minima" '{
        n = split(minima, min, " ")
        for (i = 1; i <= n; i++) if ($(i + 2) + 0 < min[i] + 0) bad = 1
        exit bad }' || fail "$file $*: below $minima"
}
measure ios_stalls_dev.jsonl ".90 .66 .77 0 0 0 .83" --no-merge
measure ios_stalls_dev.jsonl ".95 .85 .90 0 0 0 .93"
grep -q '^idle mix 0$' "$work/score" || fail "real stalls share a cluster with idle ones"
sort "$work/clusters.tsv" >"$work/once"
for seed in 1 2 3; do
    awk -v seed=$seed 'BEGIN { srand(seed) } { print rand() "\t" $0 }' "$data/ios_stalls_dev.jsonl" |
        sort | cut -f 2- | "$STALLSYMD" cluster | sort | cmp -s - "$work/once" ||
        fail "shuffled rows (seed $seed) give other clusters"
done
measure casr_gdb.jsonl "0 0 .98"

# The rules know no names of the data.
"$STALLSYMD" help cluster >/dev/null || fail "no help"
grep -n -i nimbus conf/cluster.rules && fail "rules name the data's app"

exit $status
