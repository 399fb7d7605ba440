#!/bin/sh
# The same bits whatever the compiler, language, optimisation, SIMD and OpenMP: the programs tests/bits_*.c print hashes
# of small scenes, and all of these must agree with each other and with tests/golden/, which `make golden` renews.
# A few ways here that have little in common; tests/check_platforms.sh tries all of them, and other processors and
# systems.
#
#     sh tests/test_same_bits.sh [renew]
. tests/support/cases.sh
. tests/support/same_bits.sh

first() { echo "$work/first_$(basename "$1" .c)"; } # the hashes that the others must have

variant() { # language, compiler, options
    if ! works "$2 $3" "$1"; then
        skip "$2 $3" 'this compiler does not work here'
    elif one_way "$2 $3" "$1" "$2" "$3"; then
        for source in $(bits_programs); do same_bits "$source" "$(first "$source")" ''; done
    fi
}

golden_bits() {
    for source in $(bits_programs); do
        name=$(basename "$source" .c)
        if [ -f "tests/golden/$name.txt" ]; then
            check "$name has the golden bits" diff "tests/golden/$name.txt" "$(first "$source")"
        else
            skip "$name golden bits" 'make golden writes them'
        fi
    done
}

variant c "${CC:-cc}" -O2
if [ "${1-}" = renew ]; then
    mkdir -p tests/golden
    for source in $(bits_programs); do
        cp "$(first "$source")" "tests/golden/$(basename "$source" .c).txt" && cat "$(first "$source")"
    done
else
    golden_bits
    variant c clang -O2
    variant c gcc '-O1 -DISPHPBD_NO_SIMD'
    variant c gcc '-O1 -DISPHX_NARROW_ROWS=300' # columns of 32 bits, which else only millions of particles need
    variant c++ "${CXX:-c++}" '-O0 -fopenmp'
fi
finish
