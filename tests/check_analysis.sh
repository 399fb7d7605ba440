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

for header in $headers; do
    printf '#define %s\n#include "%s"\n' "$(sed -n 's/^        #define \([A-Z]*_IMPLEMENTATION\)$/\1/p' "$header" | head -n 1)" \
        "$header" >"$work/unit.c"
    clean "gcc -fanalyzer $header" 'warning:|error:' gcc -std=c99 -O0 -fanalyzer -I. -c -o "$work/unit.o" "$work/unit.c"
    clean "clang-tidy $header" 'warning:|error:' clang-tidy --quiet \
        --checks='-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,-clang-analyzer-security.insecureAPI.*,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,-bugprone-implicit-widening-of-multiplication-result' \
        --header-filter='isphpbd' "$work/unit.c" -- -std=c99 -I.
    clean "cppcheck $header" ': (error|warning|portability):' cppcheck --quiet --std=c99 --enable=warning,portability \
        --inline-suppr --max-configs=1 -D__SSE2__ -I. "$work/unit.c"
done
finish
