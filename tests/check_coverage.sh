#!/bin/sh
# Line coverage of the three headers by the test programs and the seeds of the fuzzers, by gcov: at least 90 % of the
# lines of each. What is not reached is listed in build/coverage/HEADER.txt, by function.
#
#     sh tests/check_coverage.sh [PROGRAM...]     only these test programs, and the seeds
. tests/support/checks.sh
least=90
out=$PWD/build/coverage
if ! command -v gcov >/dev/null 2>&1 || ! works 'gcc --coverage' c; then
    skip 'coverage' 'gcc with gcov is not installed'
    finish
    exit
fi
# A copy of the sources: lines keep their numbers, whatever is edited during the run.
here=$out/sources
rm -rf "$out" && mkdir -p "$here" && cp -r isphpbd*.h examples tests tools "$here" || exit 2
if [ $# -eq 0 ]; then set -- $(for source in tests/test_*.c; do basename "$source" .c; done); fi

# Compiled where the counts shall be: one implementation, whose counts add up, for all that do not look inside.
cover="gcc -std=c99 -ffp-contract=off -O1 --coverage -I$here -I$here/tests/support"
mkdir -p "$out/shared" && (cd "$out/shared" && $cover -c "$here/tests/support/isphpbd.c" -o isphpbd.o) || exit 2

run_covered() { # name, arguments of the compiler, -- arguments of the program...
    name=$1 options=
    shift
    while [ "$1" != -- ]; do options="$options $1" && shift; done
    shift
    mkdir -p "$out/$name"
    if ! (cd "$out/$name" && $cover $options -o program -pthread -lm) >"$work/output" 2>&1; then
        fail "$name" "does not compile: $(head -n 3 "$work/output")"
    elif ! timeout "${CHECK_SECONDS:-1800}" "$out/$name/program" "$@" >"$work/output" 2>&1; then
        fail "$name" "status $?: $(tail -n 3 "$work/output")"
    else
        printf 'done %s\n' "$name"
    fi
}
for test in "$@"; do
    case $test in test_tool_*) continue ;; esac
    source=$here/tests/$test.c
    if looks_inside "$source"; then run_covered "$test" "$source" --
    else run_covered "$test" $declared "$source" "$out/shared/isphpbd.o" --; fi
done
for source in "$here"/tests/fuzz_*.c; do
    fuzzer=$(basename "$source" .c)
    case $fuzzer in fuzz_mesh) continue ;; esac # of the tool
    mkdir -p "$out/seeds/$fuzzer"
    cp tests/seeds/"$fuzzer"/* "$out/seeds/$fuzzer" 2>/dev/null || printf x >"$out/seeds/$fuzzer/any"
    run_covered "$fuzzer" -DSTANDALONE "$source" -- "$out/seeds/$fuzzer"/*
done
for directory in "$out"/*/; do
    case $directory in */sources/ | */seeds/) ;; *) (cd "$directory" && gcov -p ./*.gcda >/dev/null 2>&1) ;; esac
done

# One line of any .gcov file is "count: number: text"; a line counts as run when any program ran it.
for header in $headers; do
    find "$out" -name "*#$header.gcov" -exec cat {} + | awk -F: -v header="$header" -v least=$least '
        { number = $2 + 0; gsub(/ /, "", $1) }
        number == 0 || $1 == "-" { next }
        { code[number] = 1; if ($1 !~ /^[#=]/) run[number] = 1; text[number] = $0 }
        END {
            for (n in code) { all++; if (n in run) hit++; else missed[++m] = n }
            printf "%s: %d of %d lines, %.1f %%\n", header, hit, all, all ? 100 * hit / all : 0
            for (i = 1; i <= m; i++) printf "missed %d\n", missed[i]
            exit !(all && 100 * hit >= least * all)
        }' >"$work/summary"
    status=$?
    head -n 1 "$work/summary"
    awk '/^missed/ { print $2 }' "$work/summary" | sort -n >"$work/missed"
    awk -v list="$work/missed" -v name_of="$header" 'BEGIN { while ((getline n < list) > 0) missed[n] = 1 }
        /^[A-Za-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
        FNR in missed { printf "%s:%d %s: %s\n", name_of, FNR, name, $0 }' "$here/$header" >"$out/$header.txt"
    if [ "$status" -eq 0 ]; then pass; else fail "$header" "less than $least % of the lines"; fi
done
finish
