#!/bin/sh
# Every examples/hello_*.c compiles by the command in its first lines, without a warning, runs, and says something; none
# has more than 80 lines. The README shows one of them. They share one implementation, compiled in the same way;
# THOROUGH=1 makes one for each.
. tests/support/cases.sh
how='-std=c99 -O2 -ffp-contract=off -I.'
share=
if [ -z "${THOROUGH-}" ] && implement "$work/isphpbd.o" ${CC:-cc} $how; then share="$declared $work/isphpbd.o"; fi

for source in examples/hello_*.c; do
    name=$(basename "$source" .c)
    command=$(sed -n 's/^ *\(cc .*\) -o [a-z_]* -lm.*/\1/p' "$source" | head -n 1)
    if [ -z "$command" ]; then
        fail "$name" 'does not say how it is compiled'
        continue
    fi
    check "$name compiles without a warning" sh -c "${CC:-cc} $strict ${command#cc } -fsyntax-only"
    check "$name compiles as it says" sh -c "${CC:-cc} ${command#cc } $share -o $work/$name -lm"
    if [ -x "$work/$name" ]; then
        check "$name runs" "$work/$name"
        if [ -s "$work/output" ]; then pass; else fail "$name" 'prints nothing'; fi
    fi
    lines=$(wc -l <"$source")
    if [ "$lines" -lt 80 ]; then pass; else fail "$name" "has $lines lines, more than 80"; fi
done

# The quick start of the README is hello_water.c from its first #include on.
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;/^```$/,$d' >"$work/readme.c"
sed -n '/^#include/,$p' examples/hello_water.c >"$work/hello.c"
check 'the quick start of the README is hello_water.c' diff "$work/readme.c" "$work/hello.c"
finish
