#!/bin/sh
# tests/run.sh itself: it must see failures, crashes, hangs and programs that test nothing, and add up the rest.
. tests/support/cases.sh

program() { # name, body of the only test, or nothing for no test at all
    {
        printf '#include "greatest.h"\n'
        if [ -n "$2" ]; then printf 'TEST only(void) { %s }\n' "$2"; fi
        printf 'GREATEST_MAIN_DEFS();\nint main(int argc, char **argv) {\n    GREATEST_MAIN_BEGIN();\n'
        if [ -n "$2" ]; then printf '    RUN_TEST(only);\n'; fi
        printf '    GREATEST_MAIN_END();\n}\n'
    } >"$work/$1.c"
    ${CC:-cc} -std=c99 -isystem "${GREATEST:-tests/support}" "$work/$1.c" -o "$work/$1"
}

# A run over the programs named must close with this line and this exit status.
expect() { # closing line, exit status, program...
    wanted="$1 (status $2)"
    shift 2
    programs=
    for name in "$@"; do programs="$programs $work/$name"; done
    sh tests/run.sh -j 2 -t 2 -o "$work/logs" $programs >"$work/output" 2>&1
    status=$?
    got="$(tail -n 1 "$work/output") (status $status)"
    if [ "$got" = "$wanted" ]; then pass; else fail "run of '$*'" "expected '$wanted', got '$got'"; fi
}

program good 'ASSERT_EQ_FMT(4, 2 + 2, "%d"); PASS();'
program skipped 'SKIPm("on purpose");'
program bad 'ASSERT_IN_RANGE(1.0, 2.0, 0.5); PASS();'
program crash 'abort(); PASS();'
program hang 'for (;;) {} PASS();'
program none ''
program exits 'exit(0); PASS();'

expect '1 passed, 0 failed' 0 good
expect '1 passed, 0 failed, 1 skipped' 0 good skipped
expect '0 passed, 1 failed' 1 bad
expect '1 passed, 1 failed' 1 good bad
expect '1 passed, 2 failed' 1 good bad crash
expect '0 passed, 1 failed' 1 exits
expect '0 passed, 1 failed' 1 none
expect '1 passed, 1 failed' 1 good missing
expect '0 passed, 1 failed' 1
if command -v timeout >/dev/null 2>&1; then
    expect '1 passed, 1 failed' 1 good hang
else
    skip 'a hanging test' 'timeout is not installed'
fi

# Options of the test programs.
check 'option -l lists' sh -c '"$1" -l | grep -q only' sh "$work/bad"
check 'option -x excludes' "$work/bad" -x only
check 'option -t selects' sh -c '! "$1" -t onl' sh "$work/bad"
check 'option -v tells the test' sh -c '"$1" -v | grep -q "^PASS only"' sh "$work/good"
check 'an unknown option is an error' sh -c '! "$1" -q' sh "$work/good"
finish
