#!/bin/sh
# Static analysis of the three headers: gcc -fanalyzer, clang-tidy and cppcheck find nothing. What is no fault is
# silenced beside its line, with the reason.
. tests/support/checks.sh

# Passes when the command prints no finding; the pattern tells findings from chatter.
clean() { # title, pattern, command...
    clean_title=$1 pattern=$2
    shift 2
    if ! command -v "$1" >/dev/null 2>&1; then
        skip "$clean_title" "$1 is not installed"
        return
    fi
    timeout "${CHECK_SECONDS:-1800}" "$@" >"$work/output" 2>&1
    clean_status=$?
    if [ "$clean_status" -eq 124 ]; then
        fail "$clean_title" 'took too long'
    elif grep -qE "$pattern" "$work/output"; then
        fail "$clean_title" "$(grep -cE "$pattern" "$work/output") findings"
        grep -E "$pattern" "$work/output" | head -n 20
    elif [ "$clean_status" -ne 0 ]; then
        fail "$clean_title" "status $clean_status: $(head -n 5 "$work/output")"
    else
        pass
    fi
}

# Switched off, and why: parameters of one type side by side and conversions are for the compilers' own warnings;
# memcpy is no danger here; sums of counts that are checked at creation cannot overflow before they are widened;
# division of integers finds rows; a float counts down what is left of a second; padding is not worth an odd order of
# members.
tidy='-*,bugprone-*,clang-analyzer-*'
for check in bugprone-easily-swappable-parameters bugprone-narrowing-conversions bugprone-reserved-identifier \
    bugprone-assignment-in-if-condition bugprone-implicit-widening-of-multiplication-result \
    bugprone-misplaced-widening-cast bugprone-integer-division 'clang-analyzer-security.insecureAPI.*' \
    clang-analyzer-security.FloatLoopCounter clang-analyzer-optin.performance.Padding; do
    tidy="$tidy,-$check"
done

for header in $headers; do
    macro=$(sed -n 's/^        #define \([A-Z]*_IMPLEMENTATION\)$/\1/p' "$header" | head -n 1)
    printf '#define %s\n#include "%s"\n' "$macro" "$header" >"$work/unit.c"
    clean "gcc -fanalyzer $header" 'warning:|error:' gcc -std=c99 -O0 -fanalyzer -I. -c -o "$work/unit.o" "$work/unit.c"
    clean "clang-tidy $header" 'warning:|error:' clang-tidy --quiet --checks="$tidy" --header-filter=isphpbd \
        "$work/unit.c" -- -std=c99 -I.
    # pointerSize: the allocator keeps a pointer before its block, and means its size. objectIndex: three floats in a
    # structure are read as an array of three, which isphpbd_vec3 promises to be.
    clean "cppcheck $header" ': (error|warning|portability):' cppcheck --quiet --std=c99 --enable=warning,portability \
        --inline-suppr --suppress=pointerSize --suppress=objectIndex --max-configs=1 -D__SSE2__ -I. "$work/unit.c"
done
finish
