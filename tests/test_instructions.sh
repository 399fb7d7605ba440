#!/bin/sh
# Guards speed without a clock: counts the instructions of fixed steps (tests/instructions.c) under valgrind and
# compares them with tests/golden/instructions.txt, which holds figures per compiler and machine; 10 % more or less is a
# failure. Faster or slower on purpose: `sh tests/test_instructions.sh renew`.
. tests/support/cases.sh
renew=${1-} golden=tests/golden/instructions.txt

# Which figures are ours: instruction counts are those of one compiler on one kind of machine.
compiler=$(printf '#if defined(__clang__)\nclang __clang_major__\n#else\ngcc __GNUC__\n#endif\n' |
    ${CC:-cc} -E -P - 2>/dev/null | tail -n 1 | tr ' ' '-')-$(uname -m)

count() { # case, steps
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$work/program" "$1" "$2" 2>&1 |
        sed -n 's/.*I *refs: *\([0-9,]*\).*/\1/p' | tr -d ,
}

# The instructions of the steps from the second on.
measure() { # case, steps
    first=$(count "$1" 1) all=$(count "$1" "$2")
    if [ -n "$first" ] && [ -n "$all" ]; then echo $((all - first)); fi
}

compare() { # case, steps
    found=$(measure "$1" "$2")
    expected=$(sed -n "s/^$compiler $1 //p" "$golden" 2>/dev/null)
    if [ -z "$found" ]; then
        fail "$1" 'valgrind counted nothing'
    elif [ -n "$renew" ]; then
        echo "$compiler $1 $found" | tee -a "$work/renewed"
        pass
    elif [ -z "$expected" ]; then
        skip "instructions of $1" "no figures for $compiler"
    elif [ $((found * 10)) -gt $((expected * 11)) ]; then
        fail "$1" "$found instructions instead of $expected: slower; if on purpose, sh $0 renew"
    elif [ $((found * 10)) -lt $((expected * 9)) ]; then
        fail "$1" "$found instructions instead of $expected: faster; keep it so with sh $0 renew"
    else
        pass
    fi
}

if ! command -v valgrind >/dev/null 2>&1; then
    skip 'counting instructions' 'valgrind is not installed'
elif ! ${CC:-cc} -std=c99 -O2 -ffp-contract=off -I. tests/instructions.c -o "$work/program" -lm \
    >"$work/output" 2>&1; then
    fail 'tests/instructions.c' "does not compile: $(head -n 5 "$work/output")"
else
    compare fluid 6
    compare soft 6
    compare coupled 6
fi
if [ -s "$work/renewed" ]; then
    { grep -v "^$compiler " "$golden" 2>/dev/null; cat "$work/renewed"; } >"$work/golden"
    cp "$work/golden" "$golden"
fi
finish
