#!/bin/sh
# Runs every block of README.md that is marked `sh`, in order, in one shell that stops at the first
# failure: on a free port and in a folder of its own. (`make demo`, `make test` and the container
# have tests of their own: demo.sh, this run, docker/test-image.)
set -eu
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
work=$(mktemp -d)
trap 'kill $(cat "$work/pids" 2>/dev/null) 2>/dev/null || true; rm -rf "$work"' EXIT
{
    cat <<'EOF'
set -eu
settled() { # the moment that README speaks of
    until curl -sS -H "Authorization: Bearer $STALLSYM_TOKEN" "$STALLSYM_URL/v1/stats" |
        jq -e '.pending_stacks == 0 and .pending_findings == 0' >/dev/null; do sleep 0.1; done
}
EOF
    # The daemon that README starts with `make run &`, reachable at the port of this test.
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' README.md |
        sed -e "s|http://127.0.0.1:8640|http://127.0.0.1:$port|" \
            -e "s|^make run &|build/stallsymd run -c conf/stallsymd.conf \& echo \$! >'$work/pids'|" \
            -e "s|build/run/|$work/data/|" \
            -e "s|build/stallsymd|'$STALLSYMD'|" \
            -e "s|^curl -sS |curl -sS --fail-with-body |" \
            -e "s#build/\(stalls\.svg\|upload\.sh\|index\)#$work/\1#g" \
            -e 's|^sleep 1$|settled|'
} >"$work/script"
grep -q 'upload.sh' "$work/script"
STALLSYM_HTTP_PORT=$port STALLSYM_STORAGE_DIR=$work/data timeout 120 bash "$work/script" >"$work/out" 2>&1 ||
    { cat "$work/out"; exit 1; }
expect() {
    grep -q "$1" "$work/out" || { cat "$work/out"; echo "missing: $1" >&2; exit 1; }
}
expect '"accepted":1,'
expect '"accepted":36,'
expect '"state":"indexed"'
expect 'FeedStore loadItems'
expect ' ms of 1,240 ms in '
expect '^step_rows$'
expect '"deadlocked":true'
expect "closure #1 () -> () in Shop.Feed.reload(force: Swift.Bool)"
expect '2 of 3 frames filled in'
expect 'step_rows (in Shop) (FeedStore.m:9) \[inlined\]'
expect 'stallsym'
echo "ok: $(grep -c . "$work/script") lines of README ran"
