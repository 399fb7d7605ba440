#!/bin/sh
# Runs the long physical validations, shows what they print, and gathers docs/validation.md from their reports.
#
#     sh tests/validate.sh [-j JOBS] [-t SECONDS_IN_ALL] [-o WORK_DIRECTORY] PROGRAM...
#
# Each program is called with `--md FILE --plots DIRECTORY`: it writes its section as Markdown into FILE, its plots as
# SVG into DIRECTORY, prints its progress, and exits 0 when every figure is within its limit. Sections of programs that
# are not in the list stay as they were last written into the work directory or else into the report, where a comment
# with the name of the program stands before each. CC and FLAGS of the environment are reported.
set -u
jobs=1 seconds=3600 work=build/validation plots=docs/plots report=docs/validation.md
self=$0

# One program: its section, and a line "NAME|RESULT|SECONDS|DATE" in NAME.result.
run_one() {
    name=$(basename "$1")
    begin=$(date +%s)
    left=$((deadline - begin))
    if [ "$left" -lt 1 ]; then left=1; fi
    set -- "$1" --md "$work/$name.md.new" --plots "$plots"
    if command -v timeout >/dev/null 2>&1; then set -- timeout "$left" "$@"; fi
    rm -f "$work/$name.md.new"
    { "$@" 2>&1 </dev/null; echo "$?" >"$work/$name.status"; } | while IFS= read -r line; do
        printf '%s: %s\n' "$name" "$line"
    done
    status=$(cat "$work/$name.status") took=$(($(date +%s) - begin))
    result='within limits'
    if [ "$status" -eq 124 ]; then result='stopped: no time left'
    elif [ ! -s "$work/$name.md.new" ]; then result="no report, exit status $status"
    elif [ "$status" -ne 0 ]; then result="**outside limits** (exit status $status)"
    fi
    if [ -s "$work/$name.md.new" ]; then mv "$work/$name.md.new" "$work/$name.md"; else rm -f "$work/$name.md"; fi
    printf '%s|%s|%s|%s\n' "$name" "$result" "$took" "$(date -u +%Y-%m-%d)" >"$work/$name.result"
    printf '%s: %s after %s s\n' "$name" "$result" "$took"
}

if [ "${1-}" = --one ]; then
    work=$2 deadline=$3
    run_one "$4"
    exit 0
fi

while getopts j:t:o: option; do
    case $option in
        j) jobs=$OPTARG ;;
        t) seconds=$OPTARG ;;
        o) work=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
    echo 'nothing to validate' >&2
    exit 1
fi

# What the report knows of a program that the work directory does not.
restore() {
    sed -n "s/^| \`$1\` | \(.*\) | \([0-9]*\) | \([0-9-]*\) |\$/$1|\1|\2|\3/p" "$report" >"$work/$1.result"
    sed -n "/^<!-- $1 -->\$/,/^<!-- validate/p" "$report" | sed '/^<!-- validate/d' >"$work/$1.md"
}

mkdir -p "$work" "$plots" || exit 2
for source in tests/validate_*.c; do
    name=$(basename "$source" .c)
    if [ -s "$report" ] && [ ! -s "$work/$name.result" ]; then restore "$name"; fi
done
for program in "$@"; do rm -f "$work/$(basename "$program").result"; done
printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$self" --one "$work" "$(($(date +%s) + seconds))"

cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
cores=$(nproc 2>/dev/null || echo '?')
{
    printf '# Validation\n\n'
    printf 'Written by `make validate`; do not edit. The programs `tests/validate_*.c` measured every figure below\n'
    printf 'against the source it names; a program fails when one of its figures is outside the limit beside it.\n\n'
    printf -- '- CPU of the last run: %s, %s cores, %s programs at a time\n' "${cpu:-unknown}" "$cores" "$jobs"
    printf -- '- Compiler: %s, `%s`\n' "$(${CC:-cc} --version 2>/dev/null | head -n 1)" \
        "$(echo "${FLAGS-}" | tr ' ' '\n' | grep -v '^-W' | xargs)"
    printf -- '- Date: %s\n\n' "$(date -u +%Y-%m-%d)"
    printf '| program | result | seconds | date |\n|---|---|---:|---|\n'
    for source in tests/validate_*.c; do
        name=$(basename "$source" .c)
        if [ -s "$work/$name.result" ]; then cat "$work/$name.result"; else echo "$name|not run||"; fi
    done | awk -F'|' '{ printf "| `%s` | %s | %s | %s |\n", $1, $2, $3, $4 }'
    for source in tests/validate_*.c; do
        name=$(basename "$source" .c)
        if [ -s "$work/$name.md" ]; then
            printf '\n<!-- %s -->\n' "$name" && sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$work/$name.md"
        fi
    done
} >"$work/report" && mv "$work/report" "$report"

failed=0
for program in "$@"; do
    if ! grep -q '|within limits|' "$work/$(basename "$program").result"; then failed=$((failed + 1)); fi
done
printf 'wrote %s\n%s passed, %s failed\n' "$report" "$(($# - failed))" "$failed"
[ "$failed" -eq 0 ]
