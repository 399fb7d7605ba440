#!/bin/sh
# The program in each header's QUICK START is taken from the header's own text, compiled as documented, and run.
. tests/support/cases.sh

for header in $headers; do
    program=$work/$(basename "$header" .h)
    sed -n '/^ *\/--- quick start$/,/^ *---\/$/p' "$header" | sed '1d;$d;s/^    //' >"$program.c"
    if [ ! -s "$program.c" ]; then
        fail "$header" 'has no quick start between its marks'
        continue
    fi
    check "$header quick start compiles" \
        ${CC:-cc} -std=c99 -ffp-contract=off -O2 $strict -I. "$program.c" -o "$program" -lm
    if [ -x "$program" ]; then
        check "$header quick start runs" "$program"
        if [ -s "$work/output" ]; then pass; else fail "$header" 'its quick start prints nothing'; fi
    fi
    if works "${CXX:-c++}" c++; then
        check "$header quick start compiles as C++11" \
            ${CXX:-c++} -x c++ -std=c++11 -ffp-contract=off $strict -I. -fsyntax-only "$program.c"
    else
        skip "$header quick start as C++11" 'no C++ compiler'
    fi
done
if [ -z "$headers" ]; then skip quick_start 'there is no header'; fi
finish
