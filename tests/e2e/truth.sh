#!/bin/sh
# Every truth file: its symbol file through `stallsymd index`, its addresses through `stallsymd
# lookup`, the answers beside those of two independent tools (score.py).
#
# Covers: server/cmd_lookup.c
#
# Gold rows, where both tools agree, must be met in 99 of 100, all rows in 97 of 100, over all files
# and in each Mach-O file. One ELF file is below that alone: both tools call its PLT "_init", the
# last symbol before it, which has no size; there is no function, and we say so.
set -u
data=${STALLSYM_DATA:-../shared/data}
stallsymd=${STALLSYMD:-build/stallsymd}
if [ ! -r "$data/SYMBOLS.tsv" ] || [ ! -d "$data/symbols" ] || [ ! -d "$data/truth" ]; then
    echo "skipped: $data has no symbol files and truth files"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM

# The name of an index: the UUID, or the build-id as one.
index_name() {
    python3 - "$1" <<'EOF'
import sys, uuid
text = sys.argv[1]
raw = bytes.fromhex(text)[:16].ljust(16, b'\0')
made = uuid.UUID(bytes=raw) if len(text) == 32 else uuid.UUID(bytes_le=raw)
print(str(made).upper())
EOF
}

failed=0
printf '%-34s %-10s %13s %13s\n' 'symbol file' arch gold rest
tab=$(printf '\t')
grep -v '^#' "$data/SYMBOLS.tsv" >"$work/files"
while IFS=$tab read -r file uuid arch _ _ truth _; do
    dir=$work/$uuid-$truth
    mkdir -p "$dir"
    if ! "$stallsymd" index "$data/symbols/$file" -o "$dir" >"$work/lines" 2>"$work/errors"; then
        echo "$file: index failed"
        cat "$work/errors"
        failed=1
        continue
    fi
    index=$dir/$(index_name "$uuid").gsym
    python3 "$data/tools/score.py" --addresses "$data/truth/$truth" >"$work/addresses"
    "$stallsymd" lookup "$index" <"$work/addresses" >"$work/answers" || failed=1
    score=$(python3 "$data/tools/score.py" "$data/truth/$truth" "$work/answers" | tail -n 1)
    set -- $score
    printf '%-34s %-10s %13s %13s\n' "${file##*/}" "$arch" "$2" "$4"
    echo "$truth $2 $4" | tr / ' ' >>"$work/scores"
done <"$work/files"

awk '
    function short(met, all, percent) { return met * 100 < all * percent }
    {
        gold += $2; gold_all += $3; rest += $4; rest_all += $5
        elf = $1 ~ /[.]elf[.]/
        if (!elf && (short($2, $3, 99) || short($2 + $4, $3 + $5, 97))) {
            print $1 ": too few"
            bad = 1
        }
    }
    END {
        printf "all: gold %d/%d, rows %d/%d\n", gold, gold_all, gold + rest, gold_all + rest_all
        if (NR == 0 || short(gold, gold_all, 99) || short(gold + rest, gold_all + rest_all, 97))
            bad = 1
        exit bad
    }' "$work/scores" || failed=1
exit $failed
