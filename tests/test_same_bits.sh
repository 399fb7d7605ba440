#!/bin/sh
# The same bits whatever the compiler, language, optimisation, SIMD and OpenMP: the programs tests/bits_*.c print hashes
# of small scenes, and all of these must agree with each other and with tests/golden/, which `make golden` renews.
# tests/check_platforms.sh does the same on other processors and systems.
#
#     sh tests/test_same_bits.sh [renew]
. tests/support/cases.sh
. tests/support/same_bits.sh

variant() { # language, compiler, options
    if works "$2 $3" "$1"; then
        same_bits "$source" "$work/first" "$2 $3" "$1" "$2" "$3" ''
    else
        skip "$name with $2 $3" 'this compiler does not work here'
    fi
}

for source in $(bits_programs); do
    name=$(basename "$source" .c) golden=tests/golden/$(basename "$source" .c).txt
    rm -f "$work/first"
    variant c "${CC:-cc}" -O2
    if [ ! -s "$work/first" ]; then continue; fi
    if [ "${1-}" = renew ]; then
        mkdir -p tests/golden && cp "$work/first" "$golden" && cat "$work/first"
        continue
    fi
    variant c "${CC:-cc}" -O0
    variant c "${CC:-cc}" '-O3 -march=native'
    variant c "${CC:-cc}" '-O1 -DISPHPBD_NO_SIMD'
    variant c "${CC:-cc}" '-O1 -fopenmp'
    variant c++ "${CXX:-c++}" -O1
    variant c clang -O2
    variant c gcc -O1
    if [ -f "$golden" ]; then
        check "$name has the golden bits" diff "$golden" "$work/first"
    else
        skip "$name golden bits" 'make golden writes them'
    fi
done
finish
