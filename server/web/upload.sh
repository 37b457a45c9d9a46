#!/bin/sh
# upload.sh - sends the dSYMs of a build to stallsym. For CI: needs a POSIX shell, curl and zip.
#
#   curl -fsS "$STALLSYM_URL/upload.sh" -o upload.sh && sh upload.sh build/Shop.xcarchive
#
# See `sh upload.sh --help`.

set -u

usage() {
    cat <<'END'
upload.sh - sends dSYMs to stallsym

Usage: sh upload.sh [OPTIONS] [PATH...]

PATH is a .dSYM, an .xcarchive, a folder that holds dSYMs at any depth, a zip or
tar.gz with dSYMs inside, or one object file. Without PATH the variables of an
Xcode build are used: DWARF_DSYM_FOLDER_PATH (and DWARF_DSYM_FILE_NAME), else
ARCHIVE_DSYMS_PATH, else ARCHIVE_PATH.

Options:
  --url URL          the server; default: $STALLSYM_URL
  --token-file FILE  the token; default: $STALLSYM_TOKEN (scope: symbols)
  --bundle-id ID     the app; default: $PRODUCT_BUNDLE_IDENTIFIER
  --version V        its version; default: $MARKETING_VERSION
  --build B          its build; default: $CURRENT_PROJECT_VERSION
  --os-build B       build of the OS, for system libraries
  --kind KIND        app (default) or system
  --system           PATH is a folder of system libraries, as Xcode's
                     "iOS DeviceSupport" has them: all of it is sent as kind
                     system; --os-build is read from its name where it says one
  --wait             wait until the server has indexed what was sent
  --force            send also what the server has already
  --protect          the server's retention shall leave this build alone
  --piece-size N     send what is larger in pieces of N bytes (K, M, G; default
                     32M): a broken connection costs no more than a piece, and
                     the next run goes on where this one ended
  --require-all      fail when nothing was found, when one dSYM could not be
                     sent or indexed, or when the server afterwards misses a
                     UUID; waits like --wait
  --dry-run          say what would be sent, send nothing
  --quiet            errors only
  --help             this text

The server is asked first which UUIDs it misses, and only those dSYMs are sent,
where `dwarfdump` is there to tell the UUIDs (on macOS it is); elsewhere all are
sent, and the server knows those it has by their content.

Exit status:
  0  done (also: nothing to do)
  1  something could not be sent, or was refused
  2  wrong command line, or no URL or token
  3  a program that is needed is missing
  4  the server could not be reached, or refused the token
  5  --require-all: nothing was found, or something is missing
END
}

say() {
    [ -n "$quiet" ] || printf '%s\n' "$*"
}

complain() {
    printf 'upload.sh: %s\n' "$*" >&2
}

wrong() {
    complain "$*"
    complain "\`sh upload.sh --help\` describes the options"
    exit 2
}

url=${STALLSYM_URL:-}
token=${STALLSYM_TOKEN:-}
bundle_id=${PRODUCT_BUNDLE_IDENTIFIER:-}
version=${MARKETING_VERSION:-}
build=${CURRENT_PROJECT_VERSION:-}
os_build=
kind=app
system=
wait=
force=
protect=
piece_size=32M
require_all=
dry_run=
quiet=
work=
list=

# The value of an option that needs one.
value_of() {
    [ "$2" -gt 1 ] || wrong "$1 needs a value"
}

while [ $# -gt 0 ]; do
    case $1 in
    --url) value_of "$1" $#; url=$2; shift ;;
    --token-file)
        value_of "$1" $#
        [ -r "$2" ] || wrong "cannot read $2"
        token=$(cat "$2")
        shift ;;
    --bundle-id) value_of "$1" $#; bundle_id=$2; shift ;;
    --version) value_of "$1" $#; version=$2; shift ;;
    --build) value_of "$1" $#; build=$2; shift ;;
    --os-build) value_of "$1" $#; os_build=$2; shift ;;
    --kind) value_of "$1" $#; kind=$2; shift ;;
    --system) system=1; kind=system ;;
    --wait) wait=1 ;;
    --force) force=1 ;;
    --protect) protect=1 ;;
    --piece-size) value_of "$1" $#; piece_size=$2; shift ;;
    --require-all) require_all=1 ;;
    --dry-run) dry_run=1 ;;
    --quiet) quiet=1 ;;
    --help | -h) usage; exit 0 ;;
    --) shift; break ;;
    -*) wrong "unknown option $1" ;;
    *) break ;;
    esac
    shift
done

# Options may follow the paths, too; paths go into a list, one a line.
newline='
'
add_path() {
    case $1 in
    *"$newline"*) wrong "a path with a line break in it" ;;
    esac
    paths="${paths:+$paths$newline}$1"
}
paths=
while [ $# -gt 0 ]; do
    case $1 in
    --wait) wait=1 ;;
    --force) force=1 ;;
    --require-all) require_all=1 ;;
    --dry-run) dry_run=1 ;;
    --quiet) quiet=1 ;;
    -?*) wrong "option $1 stands behind a path" ;;
    *) add_path "$1" ;;
    esac
    shift
done

case $piece_size in
*K) piece_bytes=${piece_size%K} factor=1024 ;;
*M) piece_bytes=${piece_size%M} factor=1048576 ;;
*G) piece_bytes=${piece_size%G} factor=1073741824 ;;
*) piece_bytes=$piece_size factor=1 ;;
esac
case $piece_bytes in
'' | *[!0-9]* | 0*) wrong "--piece-size is a number of bytes, or one with K, M or G" ;;
esac
piece_bytes=$((piece_bytes * factor))

case $kind in
app | system) ;;
*) wrong "--kind is app or system" ;;
esac
[ -n "$url" ] || wrong "no server: set STALLSYM_URL or give --url"
if [ -z "$token" ] && [ -z "$dry_run" ]; then
    wrong "no token: set STALLSYM_TOKEN or give --token-file"
fi
url=${url%/}
# Nobody else could tell whether what was sent is of use.
[ -z "$require_all" ] || wait=1

for program in curl zip; do
    if ! command -v "$program" >/dev/null 2>&1; then
        complain "$program is needed"
        exit 3
    fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/stallsym-upload.XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
umask 077
list=$work/list
: >"$list"

# The token goes through a file, so that no list of processes shows it.
printf 'header = "Authorization: Bearer %s"\n' "$token" >"$work/curl.conf"

# --- what is there ---------------------------------------------------------------------------

# dSYM bundles below a folder, else the folder's own DWARF files.
find_dsyms() {
    find "$1" -name '*.dSYM' -type d -prune >>"$list"
    # What the App Store hides is in the maps of the archive: before its dSYMs.
    find "$1" -name BCSymbolMaps -type d -prune >"$work/maps"
    while IFS= read -r maps; do
        [ -z "$(find "$maps" -name '*.bcsymbolmap')" ] || printf '%s\n' "$maps" >>"$list"
    done <"$work/maps"
}

# The build in "16.6 (20G75) arm64e", "iPhone14,7 16.6 (20G75)" or "20G75 arm64e".
os_build_of() {
    basename "$1" | tr ' ()' '\n\n\n' | sed -n '/^[0-9][0-9]*[A-Z][0-9][0-9]*[a-z]\{0,1\}$/p' | head -n 1
}

find_in() {
    if [ -n "$system" ] && [ -d "$1" ]; then
        [ -n "$os_build" ] || os_build=$(os_build_of "$1")
        if [ -z "$os_build" ]; then
            complain "$1: its name says no OS build; give --os-build"
            exit 2
        fi
        printf '%s\n' "${1%/}" >>"$list"
        return
    fi
    case $1 in
    *.dSYM | *.dSYM/) printf '%s\n' "${1%/}" >>"$list" ;;
    *)
        if [ -d "$1" ]; then
            find_dsyms "$1"
        elif [ -f "$1" ]; then
            printf '%s\n' "$1" >>"$list"
        else
            complain "$1 is not there"
            exit 2
        fi ;;
    esac
}

if [ -n "$paths" ]; then
    printf '%s\n' "$paths" >"$work/paths"
    while IFS= read -r path; do
        find_in "$path"
    done <"$work/paths"
elif [ -n "${DWARF_DSYM_FOLDER_PATH:-}" ]; then
    if [ -n "${DWARF_DSYM_FILE_NAME:-}" ] && [ -d "$DWARF_DSYM_FOLDER_PATH/$DWARF_DSYM_FILE_NAME" ]; then
        find_in "$DWARF_DSYM_FOLDER_PATH/$DWARF_DSYM_FILE_NAME"
    elif [ -d "$DWARF_DSYM_FOLDER_PATH" ]; then
        find_in "$DWARF_DSYM_FOLDER_PATH"
    fi
elif [ -n "${ARCHIVE_DSYMS_PATH:-}" ]; then
    find_in "$ARCHIVE_DSYMS_PATH"
elif [ -n "${ARCHIVE_PATH:-}" ]; then
    find_in "$ARCHIVE_PATH"
else
    wrong "no path given, and no variables of an Xcode build"
fi

found=$(wc -l <"$list" | tr -d ' ')
if [ "$found" -eq 0 ]; then
    if [ -n "$require_all" ]; then
        complain "no dSYMs found"
        exit 5
    fi
    say "no dSYMs found"
    exit 0
fi

# --- talking to the server -------------------------------------------------------------------

# Percent-encodes everything but unreserved characters.
encode() {
    printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/\(..\)/%\1/g'
}

query="kind=$kind"
add_query() {
    [ -z "$2" ] || query="$query&$1=$(encode "$2")"
}
add_query bundle_id "$bundle_id"
add_query version "$version"
add_query build "$build"
add_query os_build "$os_build"
[ -z "$protect" ] || query="$query&protect=1"
[ -z "$wait" ] || query="$query&wait=1"

# Sets $status; the answer is in $work/answer, its headers in $work/head. 000: no connection, or one
# that broke. A person at a terminal sees how far curl is with $meter set.
meter=
ask() {
    : >"$work/answer"
    : >"$work/curl.err"
    : >"$work/head"
    set -- --config "$work/curl.conf" --show-error --output "$work/answer" \
        --dump-header "$work/head" --write-out '%{http_code}' --connect-timeout 20 "$@"
    if [ -n "$meter" ]; then
        status=$(curl --progress-bar "$@") || status=000
    else
        status=$(curl --silent "$@" 2>"$work/curl.err") || status=000
    fi
}

request() {
    ask --retry 3 --retry-delay 2 "$@"
    case $status in
    401 | 403)
        complain "the server refused the token: $(detail)"
        exit 4 ;;
    000)
        complain "no answer from $url: $(head -n 1 "$work/curl.err")"
        exit 4 ;;
    esac
}

# The "detail" or "reason" of a JSON answer, as far as sed can tell.
detail() {
    text=$(sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' "$work/answer" | head -n 1)
    [ -n "$text" ] || text="status $status"
    printf '%s' "$text"
}

# UUIDs of a dSYM or object, one a line; nothing where dwarfdump cannot tell.
uuids_of() {
    command -v dwarfdump >/dev/null 2>&1 || return 0
    dwarfdump --uuid "$1" 2>/dev/null | sed -n 's/^UUID: \([0-9A-Fa-f-]*\) .*/\1/p'
}

# Asks about the UUIDs in a file; those the server misses are in $work/missing.
check() {
    sed 's/.*/"&"/' "$1" | paste -s -d , - | sed 's/.*/{"uuids":[&]}/' >"$work/question"
    request --header 'Content-Type: application/json' --data-binary "@$work/question" \
        "$url/v1/symbols/check"
    if [ "$status" != 200 ]; then
        complain "the server did not say what it has: $(detail)"
        exit 4
    fi
    sed -n 's/.*"missing":\[\([^]]*\)\].*/\1/p' "$work/answer" | tr ',' '\n' | tr -d '" ' |
        grep . >"$work/missing" || :
}

# True when the server has all UUIDs of this one. Without UUIDs nobody knows.
is_known() {
    [ -z "$force" ] && [ -z "$dry_run" ] && [ -z "$system" ] || return 1
    uuids_of "$1" >"$work/uuids"
    [ -s "$work/uuids" ] || return 1
    cat "$work/uuids" >>"$work/all-uuids"
    check "$work/uuids"
    [ ! -s "$work/missing" ]
}

pack() {
    rm -f "$work/upload.zip"
    if [ -d "$1" ]; then
        (cd "$(dirname "$1")" && zip -q -r -X "$work/upload.zip" "$(basename "$1")") || return 1
        package=$work/upload.zip
    else
        package=$1
    fi
}

# Sets $digest; false where nothing is there to make one.
sha256() {
    if command -v sha256sum >/dev/null 2>&1; then
        digest=$(sha256sum <"$1")
    elif command -v shasum >/dev/null 2>&1; then
        digest=$(shasum -a 256 <"$1")
    elif command -v openssl >/dev/null 2>&1; then
        digest=$(openssl dgst -sha256 -r <"$1")
    else
        return 1
    fi
    digest=${digest%% *}
    [ "${#digest}" -eq 64 ]
}

# A JSON text: quotes, backslashes and control characters cannot stand in it as they are.
json_text() {
    printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
}

# How far the upload is, says the last answer; or nothing.
offset_told() {
    tr -d '\r' <"$work/head" | tr '[:upper:]' '[:lower:]' |
        sed -n 's/^upload-offset: *\([0-9][0-9]*\)$/\1/p' | tail -n 1
}

# Waits, longer each time; false after the last time.
back_off() {
    tries=$((tries + 1))
    [ "$tries" -le 10 ] || return 1
    pause=$((tries < 5 ? tries * tries : 30))
    say "[$number/$found] $name: ${1:-no answer}; trying again in $pause s"
    sleep "$pause"
}

# Opens the upload, or finds the one that was begun: $upload and $offset; or $status of an answer that
# ends it.
open_upload() {
    {
        printf '{"size":%s,"sha256":"%s","kind":"%s"' "$size" "$digest" "$kind"
        for pair in "bundle_id $bundle_id" "version $version" "build $build" "os_build $os_build"; do
            [ -z "${pair#* }" ] || printf ',"%s":%s' "${pair%% *}" "$(json_text "${pair#* }")"
        done
        [ -z "$protect" ] || printf ',"protect":true'
        printf '}'
    } >"$work/question"
    while :; do
        ask --header 'Content-Type: application/json' --data-binary "@$work/question" \
            "$url/v1/symbols/uploads"
        case $status in
        507) return 1 ;; # until somebody deletes something
        000 | 429 | 5??) back_off "$(detail)" || return 1 ;;
        401 | 403)
            complain "the server refused the token: $(detail)"
            exit 4 ;;
        *) break ;;
        esac
    done
    upload=$(sed -n 's/.*"upload_id":"\([0-9a-f]*\)".*/\1/p' "$work/answer")
    offset=$(offset_told)
    [ -n "$upload" ] && [ -n "$offset" ]
}

# What the server has of the upload: $offset. False: it does not know it any more.
ask_offset() {
    while :; do
        ask --head "$url/v1/symbols/uploads/$upload"
        case $status in
        200) offset=$(offset_told); return 0 ;;
        000 | 429 | 5??) back_off || return 1 ;;
        *) return 1 ;;
        esac
    done
}

# Cuts $piece_bytes from $offset on out of the package. dd counts in blocks: whole ones are skipped by
# seeking, the rest of the way by reading.
cut_piece() {
    block=65536
    whole=$((offset / block))
    rest=$((offset - whole * block))
    dd if="$package" bs="$block" skip="$whole" count=$(((piece_bytes + rest) / block + 1)) 2>/dev/null |
        tail -c +$((rest + 1)) | head -c "$piece_bytes" >"$work/piece"
}

# Sends the package in pieces; $status is that of the last answer.
send_pieces() {
    tries=0
    open_upload || return 0
    [ "$offset" -eq 0 ] || say "[$number/$found] $name: $offset bytes are there already"
    while :; do
        cut_piece
        length=$(wc -c <"$work/piece" | tr -d ' ')
        end=$((offset + length))
        ask --header 'Content-Type: application/octet-stream' --header 'Expect:' \
            --upload-file "$work/piece" \
            "$url/v1/symbols/uploads/$upload?offset=$offset${wait:+&wait=1}"
        case $status in
        200 | 202)
            [ "$end" -lt "$size" ] || return 0
            tries=0
            offset=$(offset_told) ;;
        000 | 409 | 429 | 5??)
            before=$offset
            back_off "$(detail)" || return 0
            ask_offset || return 0
            # A piece that came in part is no failure to come further.
            [ "$offset" -eq "$before" ] || tries=0 ;;
        404) # given up meanwhile
            back_off "$(detail)" && open_upload || return 0 ;;
        *) return 0 ;;
        esac
        [ -n "$offset" ] || return 0
    done
}

send() {
    name=$(basename "$1")
    if ! pack "$1"; then
        complain "$name: cannot be zipped"
        return 1
    fi
    size=$(wc -c <"$package" | tr -d ' ')
    say "[$number/$found] $name: sending $size bytes"
    if [ -t 2 ] && [ -z "$quiet" ]; then
        meter=1
    fi
    if [ "$size" -gt "$piece_bytes" ] && sha256 "$package"; then
        send_pieces
    else
        request --request POST --header 'Content-Type: application/octet-stream' \
            --upload-file "$package" "$url/v1/symbols?$query"
    fi
    meter=
    case $status in
    200) say "[$number/$found] $name: indexed" ;;
    202)
        say "[$number/$found] $name: received"
        if [ -n "$require_all" ]; then
            complain "$name: the server cannot index it now"
            return 1
        fi ;;
    000)
        complain "$name: the connection broke again and again: $(head -n 1 "$work/curl.err")"
        return 1 ;;
    *)
        complain "$name: refused: $(detail)"
        return 1 ;;
    esac
}

# --- the work --------------------------------------------------------------------------------

: >"$work/all-uuids"
number=0
sent=0
known=0
failed=0
while IFS= read -r item <&3; do
    number=$((number + 1))
    name=$(basename "$item")
    if is_known "$item"; then
        known=$((known + 1))
        say "[$number/$found] $name: the server has it"
    elif [ -n "$dry_run" ]; then
        say "[$number/$found] $name: would be sent"
    elif send "$item"; then
        sent=$((sent + 1))
    else
        failed=$((failed + 1))
    fi
done 3<"$list"

if [ -n "$dry_run" ]; then
    say "dry run: $found found, nothing sent"
    exit 0
fi
say "$found found, $sent sent, $known there already, $failed failed"

if [ -n "$require_all" ]; then
    [ "$failed" -eq 0 ] || exit 5
    if [ -s "$work/all-uuids" ]; then
        check "$work/all-uuids"
        if [ -s "$work/missing" ]; then
            complain "the server still misses: $(tr '\n' ' ' <"$work/missing")"
            exit 5
        fi
    fi
fi
[ "$failed" -eq 0 ] || exit 1
exit 0
