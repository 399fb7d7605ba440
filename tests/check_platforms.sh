#!/bin/sh
# Every compiler, processor and system of docs/platforms.md that is installed: the headers compile there under strict
# warnings as errors, alone and together, and the scenes of tests/bits_*.c have the bits in tests/golden.
#
#     sh tests/check_platforms.sh [WORD]    only the platforms whose name contains the word
#
# QUICK=1 leaves out most ways of this machine, which tests/test_same_bits.sh has tried.
. tests/support/cases.sh
. tests/support/same_bits.sh
wanted=${1-}

try() { # command or file...: true when it is there, so that a platform can be skipped with the reason
    for tool in "$@"; do
        if ! command -v "$tool" >/dev/null 2>&1; then
            skip "$platform" "$tool is not installed"
            return 1
        fi
    done
}

unit() { # title, options, lines...
    unit_title="$platform: $1" unit_options=$2
    shift 2
    printf '%s\n' "$@" >"$work/unit.c"
    check "$unit_title" $compiler -x "$language" -ffp-contract=off -I. $unit_options "$work/unit.c"
}

# Each header declared and as a private copy, and all of them implemented in both orders. (The programs below compile
# the implementations once more, optimised.) On this machine tests/test_compile_*.sh have done it.
headers_compile() { # options
    backwards=
    for header in $headers; do
        unit "$header declared" "$1" "#include \"$header\"" 'int unit(void);'
        unit "$header static" "$1" '#define ISPHPBD_STATIC' "#include \"$header\"" 'int unit(void);'
        backwards="$header $backwards"
    done
    for order in "$headers" "$backwards"; do
        unit "in the order $order" "$1" '#define ISPHPBD_IMPLEMENTATION' \
            "$(for header in $order; do printf '#include "%s"\n' "$header"; done)"
    done
}

scenes_agree() { # language, compiler, options, runner
    if ! one_way "$platform" "$1" "$2" "$3"; then return; fi
    for source in $(bits_programs); do
        golden=tests/golden/$(basename "$source" .c).txt
        if [ -s "$golden" ]; then
            same_bits "$source" "$golden" "$4"
        else
            skip "$platform $source" 'make golden writes its hashes'
        fi
    done
}

# One platform: name, language, compiler, options, runner, warnings, programs it needs beside the compiler...
platform() {
    platform=$1
    case $platform in *"$wanted"*) ;; *) return ;; esac
    language=$2 compiler=$3 options=$4 runner=$5 warnings=$6
    shift 6
    if ! try "${compiler%% *}" "$@"; then return; fi
    if ! works "$compiler $options" "$language"; then
        skip "$platform" "$compiler $options does not work here"
        return
    fi
    if [ -n "$syntax" ]; then headers_compile "$options $warnings $syntax"; fi
    scenes_agree "$language" "$compiler" "$options $warnings" "$runner"
    printf 'done %s\n' "$platform"
}

syntax=
# ---- this machine -------------------------------------------------------------------------------------------------

each_way() { # language, options; compilers...
    language=$1 options=$2
    shift 2
    for family; do platform "$family $options" "$language" "$family" "$options" '' "$strict"; done
}

each_way c '-std=c17 -O3' gcc clang # where compilers warn most
each_way c++ '-std=c++17 -O3 -fopenmp' g++ clang++
if [ -z "${QUICK-}" ]; then
    for options in '-std=c99 -O0' '-std=c99 -O2' '-std=c99 -O3' '-std=c99 -O3 -march=native' '-std=c11 -O2' \
        '-std=c99 -O2 -fopenmp' '-std=c99 -O2 -DISPHPBD_NO_SIMD' '-std=gnu17 -O2'; do
        each_way c "$options" gcc clang
    done
    for options in '-std=c++11 -O0' '-std=c++11 -O2'; do each_way c++ "$options" g++ clang++; done
fi
syntax=-fsyntax-only
platform 'x86, 32 bit' c gcc '-m32 -msse2 -mfpmath=sse -O2' '' "$strict"
platform 'musl' c musl-gcc '-O2 -static' '' "$strict"

# tcc 0.9.27 miscompiles functions that return three floats: the headers refuse it, with the reason.
tcc_version=$(tcc -v 2>/dev/null | sed -n 's/^tcc version \([0-9]*\)\.\([0-9]*\)\.\([0-9]*\).*/\1\2\3/p')
if [ "${tcc_version:-999}" -lt 928 ]; then
    platform='tcc 0.9.27'
    printf '#include "isphpbd_sph.h"\n' >"$work/unit.c"
    check 'tcc 0.9.27 is refused' sh -c '! tcc -I. -c -o "$1/unit.o" "$1/unit.c" 2>"$1/why" && grep -q newer "$1/why"' \
        sh "$work"
else
    syntax="-c -o $work/unit.o"
    platform 'tcc' c tcc '-std=c99' '' '-Wall -Werror'
fi

syntax=-fsyntax-only
# ---- others -------------------------------------------------------------------------------------------------------

platform 'arm64' c aarch64-linux-gnu-gcc '-O2 -static' qemu-aarch64 "$strict" qemu-aarch64
# The compilers for s390x compute floats as doubles in standard mode unless told not to.
platform 's390x, big endian' c s390x-linux-gnu-gcc '-O2 -static -fexcess-precision=fast' qemu-s390x "$strict" qemu-s390x

wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
export WINEDEBUG=-all WINEPREFIX="${WINEPREFIX:-$work/wine}"
platform 'Windows (mingw, wine)' c x86_64-w64-mingw32-gcc '-O2 -static' "$wine" "$strict" "$wine"
if [ -d "$work/wine" ]; then "$(dirname "$wine")/wineserver64" -k 2>/dev/null; fi # or it writes there for a while
if [ ! -x "$wine" ]; then # without wine it can still be compiled
    platform='Windows (mingw)' language=c compiler=x86_64-w64-mingw32-gcc
    if works $compiler c; then headers_compile "$strict $syntax"; fi
fi

wasi='node --no-warnings --experimental-wasi-unstable-preview1 tests/support/wasi.js'
platform 'WebAssembly' c 'clang --target=wasm32-wasi' -O2 "$wasi" "$strict" node
platform 'WebAssembly with SIMD' c 'clang --target=wasm32-wasi' '-O3 -msimd128' "$wasi" "$strict" node
finish
