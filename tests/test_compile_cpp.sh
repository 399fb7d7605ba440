#!/bin/sh
# The compile matrix as C++11, with the default compiler, g++ and clang++.
. tests/support/compile_matrix.sh
whole_matrix c++ "${CXX:-c++}" g++ clang++
finish
