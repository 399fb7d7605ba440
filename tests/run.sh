#!/bin/sh
# Runs test programs and test scripts, several at a time, shows one line for each as it ends, what failed in full, and
# closes with the line "N passed, N failed, N skipped". Fails when a test failed, a program crashed, hung or ran no
# test, or there was nothing to run.
#
#     sh tests/run.sh [-j JOBS] [-t SECONDS] [-o LOG_DIRECTORY] [-b FILE] PROGRAM_OR_SCRIPT...
#
# -b FILE: if the file exists, something did not build, which is a failure whatever runs.
# What runs must print, somewhere at its end, the closing line of greatest: "Pass: N, fail: N, skip: N."
set -u
jobs=1 seconds=600 logs=build/test-logs unbuilt=
self=$0

# One program: output into $logs/NAME.log, counts and seconds into $logs/NAME.counts, one line to the terminal.
run_one() {
    item=$1 name=$(basename "$1" .sh) log=$logs/$(basename "$1" .sh).log
    begin=$(date +%s)
    case $item in *.sh) set -- sh "$item" ;; *) set -- "$item" ;; esac
    if command -v timeout >/dev/null 2>&1; then set -- timeout "$seconds" "$@"; fi
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    took=$(($(date +%s) - begin))
    counts=$(sed -n 's/^Pass: \([0-9]*\), fail: \([0-9]*\), skip: \([0-9]*\)\.$/\1 \2 \3/p' "$log" | tail -n 1)
    set -- ${counts:-0 0 0}
    passed=$1 failed=$2 skipped=$3 why=
    if [ "$status" -eq 124 ]; then why="stopped after $seconds s"
    elif [ -z "$counts" ]; then why="no closing line, exit status $status"
    elif [ $((passed + failed + skipped)) -eq 0 ]; then why="ran no test"
    elif [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then why="exit status $status though no test failed"
    elif [ "$status" -eq 0 ] && [ "$failed" -ne 0 ]; then why="exit status 0 though tests failed"
    fi
    if [ -n "$why" ]; then failed=$((failed + 1)); fi
    printf '%s %s %s %s\n' "$passed" "$failed" "$skipped" "$took" >"$logs/$name.counts"
    word=ok
    if [ "$failed" -ne 0 ]; then word=FAIL; fi
    line=$(printf '%-4s %-28s %4d passed %3d failed %3d skipped %4d s' \
        "$word" "$name" "$passed" "$failed" "$skipped" "$took")
    if [ "$failed" -eq 0 ]; then
        printf '%s\n' "$line"
    else # in one write, so that programs which fail at the same time do not mix
        printf '%s\n%s\n' "$line${why:+  ($why)}" "$(tail -n 60 "$log" | sed 's/^/     | /')"
    fi
}

if [ "${1-}" = --one ]; then
    logs=$2 seconds=$3
    run_one "$4"
    exit 0
fi

while getopts j:t:o:b: option; do
    case $option in
        j) jobs=$OPTARG ;;
        t) seconds=$OPTARG ;;
        o) logs=$OPTARG ;;
        b) unbuilt=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

mkdir -p "$logs" || exit 2
rm -f "$logs"/*.log "$logs"/*.counts
if [ $# -gt 0 ]; then
    printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$self" --one "$logs" "$seconds"
fi
if [ $# -gt 0 ]; then skips=$(grep -h '^SKIP ' "$logs"/*.log | sort -u); else skips=; fi
if [ -n "$skips" ]; then printf '\n%s\n' "$skips"; fi

cat "$logs"/*.counts 2>/dev/null | awk -v expected=$# -v unbuilt="$([ -e "$unbuilt" ] && echo 1)" '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        if (NR < expected) failed += expected - NR # a program that left no counts at all
        if (unbuilt && failed == 0) { print "a program did not build"; failed = 1 }
        if (passed + failed == 0) { print "no test ran"; failed = 1 }
        printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed ? 1 : 0
    }'
