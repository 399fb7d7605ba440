#!/bin/sh
# The compile matrix as C99, with the compiler in use, gcc and clang.
. tests/support/compile_matrix.sh
whole_matrix c "${CC:-cc}" gcc clang
finish
