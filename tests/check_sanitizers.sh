#!/bin/sh
# The test programs under sanitizers: addresses, leaks and undefined behaviour with gcc and clang, uninitialised memory
# with clang; and small scenes under valgrind. All programs take hours: `make check-all`.
# QUICK=1, as .ci/run has it on every change: the quick programs of tests/support/checks.sh with all of these, and with
# the first compiler that works those that are hostile, careless, parallel, forge snapshots or collide, too.
#
#     sh tests/check_sanitizers.sh [PROGRAM...]     only these test programs, and no valgrind
. tests/support/checks.sh
names=${*:-$(programs)}
sanitize='-O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=address,undefined,float-cast-overflow'
memory='-O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=memory -fsanitize-memory-track-origins'

more=
if [ $# -eq 0 ] && [ -n "${QUICK-}" ]; then more=$more_programs; fi
for compiler in gcc clang; do
    if works "$compiler $sanitize" c; then
        for name in $names $more; do
            run_program "$compiler ASan UBSan $name" "tests/$name.c" "$compiler $sanitize" ''
        done
        more=
    else
        skip "$compiler ASan UBSan" "no working $compiler with its sanitizers"
    fi
done

if works "clang $memory" c; then
    for name in $names; do
        case $name in test_tool_cli) continue ;; esac # starts another program
        run_program "MSan $name" "tests/$name.c" "clang $memory" ''
    done
else
    skip 'MSan' 'no working clang with its sanitizers'
fi

if [ $# -ne 0 ]; then
    : # small scenes are of no program
elif command -v valgrind >/dev/null 2>&1 && works gcc c; then
    for source in tests/bits_*.c tests/test_memory.c; do
        run_program "valgrind $source" "$source" 'gcc -O1' 'valgrind -q --error-exitcode=9 --leak-check=full'
    done
else
    skip 'valgrind' 'not installed'
fi
finish
