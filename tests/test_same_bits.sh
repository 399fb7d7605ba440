#!/bin/sh
# The same bits whatever the compiler, language, optimisation, SIMD and OpenMP: the programs tests/bits_*.c print hashes
# of small scenes, and all of these must agree with each other and with tests/golden/, which `make golden` renews.
#
#     sh tests/test_same_bits.sh [renew]
. tests/support/cases.sh
renew=${1-}
if command -v timeout >/dev/null 2>&1; then limit='timeout 60'; else limit=; fi

# Compiles the program one way, and compares what it prints with the first way.
variant() { # language, compiler, options
    if ! works "$2 $3" "$1"; then
        skip "$name with $2 $3" 'this compiler does not work here'
        return
    fi
    if [ "$1" = c ]; then standard=-std=c99; else standard=-std=c++11; fi
    if ! $2 -x "$1" $standard -ffp-contract=off $3 -I. -Itests/support "$source" -o "$work/program" -lm \
        >"$work/output" 2>&1; then
        fail "$name with $2 $3" "does not compile: $(head -n 5 "$work/output")"
    elif ! $limit "$work/program" >"$work/hashes"; then
        fail "$name with $2 $3" "fails or takes longer than a minute: $(cat "$work/hashes")"
    elif [ ! -s "$work/first" ]; then
        cp "$work/hashes" "$work/first"
        pass
    else
        check "$name with $2 $3 has the bits of the first way" diff "$work/first" "$work/hashes"
    fi
}

for source in tests/bits_*.c; do
    name=$(basename "$source" .c)
    if ! grep -q '^#include "isphpbd' "$source" ||
        [ ! -f "$(sed -n 's/^#include "\(isphpbd[a-z_]*\.h\)"/\1/p' "$source" | head -n 1)" ]; then
        skip "$name" 'its header does not exist'
        continue
    fi
    rm -f "$work/first"
    variant c "${CC:-cc}" -O2
    if [ ! -s "$work/first" ]; then continue; fi
    if [ -z "$renew" ]; then
        variant c "${CC:-cc}" -O0
        variant c "${CC:-cc}" '-O3 -march=native'
        variant c "${CC:-cc}" '-O1 -DISPHPBD_NO_SIMD'
        variant c "${CC:-cc}" '-O1 -fopenmp'
        variant c++ "${CXX:-c++}" -O1
        variant c clang -O2
        variant c gcc -O1
    fi
    if [ -n "$renew" ]; then
        mkdir -p tests/golden && cp "$work/first" "tests/golden/$name.txt" && cat "$work/first"
    elif [ -f "tests/golden/$name.txt" ]; then
        check "$name has the golden bits" diff "tests/golden/$name.txt" "$work/first"
    else
        skip "$name golden bits" 'make golden writes them'
    fi
done
finish
