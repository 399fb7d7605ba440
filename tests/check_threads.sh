#!/bin/sh
# tests/test_threads.c under ThreadSanitizer: with the thread pool of examples/threads.h (gcc and clang), and with
# OpenMP (clang, whose runtime tells the sanitizer through libarcher what it does).
. tests/support/checks.sh

for compiler in gcc clang; do
    if works "$compiler -fsanitize=thread" c; then
        run_program "$compiler TSan" tests/test_threads.c "$compiler -O1 -fsanitize=thread" ''
    else
        skip "$compiler TSan" "no working $compiler with its sanitizers"
    fi
done

archer=$(find /usr/lib -name libarcher.so 2>/dev/null | head -n 1)
if [ -n "$archer" ] && works 'clang -fopenmp -fsanitize=thread' c; then
    export OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS=ignore_noninstrumented_modules=1 OMP_NUM_THREADS=2
    run_program 'clang TSan with OpenMP' tests/test_threads.c 'clang -O1 -fopenmp -fsanitize=thread' ''
else
    skip 'TSan with OpenMP' 'no clang with OpenMP and libarcher'
fi
finish
