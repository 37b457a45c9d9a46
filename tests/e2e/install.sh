#!/bin/sh
# `make install`: the unit names the files that were installed, what was configured is kept.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$(dirname "$STALLSYMD")
into() {
    make -s install BUILD="$build" DESTDIR="$work" "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
same() {
    [ "$1" = "$2" ] || { echo "\"$1\" instead of \"$2\"" >&2; exit 1; }
}
for prefix in /usr/local /usr; do
    into PREFIX=$prefix
    unit=$work$prefix/lib/systemd/system/stallsymd.service
    for path in $(sed -n 's/^Exec.*=//p' "$unit" | tr ' ' '\n' | grep 'stallsym'); do
        [ -f "$work$path" ] || { echo "the unit names $path, which is not installed" >&2; exit 1; }
    done
    same "$(grep -c "^Exec.*$prefix/bin/stallsymd" "$unit")" 2
done
same "$(stat -c %a "$work/usr/lib/systemd/system/stallsymd.service")" 644

for file in stallsymd.conf cluster.rules; do
    echo "# mine" >>"$work/etc/stallsym/$file"
done
into PREFIX=/usr
for file in stallsymd.conf cluster.rules; do
    same "$(tail -n 1 "$work/etc/stallsym/$file")" "# mine"
done
same "$("$work/usr/bin/stallsymd" check-config -c "$work/etc/stallsym/stallsymd.conf")" OK
echo "ok: installed twice"
