# The compile matrix: every way a user may include the headers, in C and C++, with every compiler found, under all
# strict warnings as errors. Also what the object files may and may not contain.
# To be sourced by test scripts, which call whole_matrix.
# THOROUGH=1 makes code of every case with every compiler. Otherwise only the compiler in use makes code, of what one
# case shows for all; the rest is checked without, which takes a fifth of the time.
. tests/support/cases.sh

# Writes a source file from its lines and compiles it: compile NAME "OPTIONS" LINE...
compile() {
    name="$compiler $1" options=$2
    shift 2
    printf '%s\n' "$@" >"$work/unit.$suffix"
    check "$name" $compiler $standard -ffp-contract=off $strict -I. $options "$work/unit.$suffix"
}
syntax=-fsyntax-only
object="-O0 -c -o $work/unit.o"
optimised="-O2 -c -o $work/unit.o"
thorough=${THOROUGH-}

own_macro() {
    case $1 in
        isphpbd_sph.h) echo ISPH_IMPLEMENTATION ;;
        isphpbd_pbd.h) echo IPBD_IMPLEMENTATION ;;
        *) echo ISPHPBD_IMPLEMENTATION ;;
    esac
}

one_header() {
    header=$1 include="#include \"$1\"" implement='#define ISPHPBD_IMPLEMENTATION'
    own="#define $(own_macro "$1")"
    compile "$header declarations" "$syntax" "$include"
    compile "$header declarations twice" "$syntax" "$include" "$include"
    # isphpbd.h is all three
    if [ -n "$thorough" ] || { [ -n "$in_use" ] && [ "$language $header" = 'c isphpbd.h' ]; }; then
        compile "$header implementation -O2" "$optimised" "$implement" "$include"
    fi
    compile "$header implementation" "$syntax" "$implement" "$include"
    compile "$header own implementation macro" "$syntax" "$own" "$include"
    compile "$header implementation twice" "$syntax" "$implement" "$include" "$include"
    compile "$header declarations, then implementation" "$syntax" "$include" "$implement" "$include"
    if [ -n "$thorough$in_use" ]; then options=$object; else options=$syntax; fi
    compile "$header static" "$options" '#define ISPHPBD_STATIC' "$include"
    compile "$header without SIMD" "$syntax" '#define ISPHPBD_NO_SIMD' "$implement" "$include"
    compile "$header without stdlib" "$syntax" '#define ISPHPBD_NO_STDLIB' "$implement" "$include"
    if [ -n "$openmp" ]; then compile "$header OpenMP" "$openmp $syntax" "$implement" "$include"; fi
    for newer in $newer_standards; do
        compile "$header $newer" "$newer $syntax" "$implement" "$include"
    done
}

# A program of two files that both include the header: once with one implementation, once with a private copy each.
two_files() {
    for kind in IMPLEMENTATION STATIC; do
        printf '#define ISPHPBD_%s\n#include "%s"\nint other(void);\nint main(void) { return other(); }\n' \
            "$kind" "$1" >"$work/main.$suffix"
        if [ $kind = STATIC ]; then second='#define ISPHPBD_STATIC'; else second=; fi
        printf '%s\n#include "%s"\nint other(void);\nint other(void) { return 0; }\n' "$second" "$1" \
            >"$work/other.$suffix"
        check "$compiler $1 in two files, $kind" $compiler $standard -ffp-contract=off $strict -O0 -I. \
            "$work/main.$suffix" "$work/other.$suffix" -o "$work/two" -lm
        check "$compiler $1 in two files, $kind, runs" "$work/two"
        rm -f "$work/two"
    done
}

two_headers() {
    for macro in NOTHING IMPLEMENTATION STATIC; do
        if [ -n "$thorough" ] && [ $macro = STATIC ]; then options=$object; else options=$syntax; fi
        compile "$1 before $2, $macro" "$options" "#define ISPHPBD_$macro" "#include \"$1\"" "#include \"$2\""
    done
}

# All three in one file, in an order: whoever comes first brings what the others need.
three_headers() {
    for macro in IMPLEMENTATION STATIC; do
        compile "$1, $2, $3, $macro" "$object" "#define ISPHPBD_$macro" "#include \"$1\"" "#include \"$2\"" \
            "#include \"$3\""
    done
}

# The object file: only our prefixes as external names, nothing external when static, no writable data.
symbols() {
    if ! command -v nm >/dev/null 2>&1; then
        skip "$1 symbols" 'nm is not installed'
        return
    fi
    printf '#define ISPHPBD_IMPLEMENTATION\n#include "%s"\n' "$1" >"$work/unit.c"
    printf '#define ISPHPBD_STATIC\n#include "%s"\n' "$1" >"$work/static.c"
    for unit in unit static; do
        $compiler $standard -O0 -fno-pie -I. -c -o "$work/$unit.o" "$work/$unit.c" || fail "$1 $unit" 'does not compile'
    done
    none "$1 external names without our prefixes" \
        "$(nm -g "$work/unit.o" | awk '$2 ~ /[A-TV-Z]/ && $3 !~ /^_?(isph|ipbd|isphpbd)_/ { print $3 }')"
    none "$1 external names though static" \
        "$(nm -g "$work/static.o" | awk '$2 ~ /[A-TV-Z]/ { print $3 }')"
    none "$1 writable data" "$(nm "$work/unit.o" | awk '$2 ~ /[bBdDC]/ { print $3 }')"
}
none() { # what there should be none of, those found
    if [ -z "$2" ]; then pass; else fail "$compiler $1" "$(printf '%s\n' "$2" | head -n 40 | tr '\n' ' ')"; fi
}

macros() { # the macros a file leaves defined, given its lines
    printf '%s\n' "$@" >"$work/unit.c"
    $compiler $standard -I. -dM -E "$work/unit.c" | awk '{ sub(/\(.*/, "", $2); print $2 }' | sort -u
}

# What an include leaves behind: three standard headers and macros with our prefixes, private ones only as once-guards.
leaks() {
    printf '#include "%s"\n' "$1" >"$work/unit.c"
    none "$1 public part includes more than stddef, stdint, stdbool" "$(
        $compiler $standard -I. -E "$work/unit.c" | grep -E '^# 1 ".*/(math|string|stdlib|stdio|assert|emmintrin)\.h"')"
    set -- "$1" '#include <stddef.h>' '#include <stdint.h>' '#include <stdbool.h>' '#include <math.h>' \
        '#include <string.h>' '#include <stdlib.h>' '#if defined(__SSE2__)' '#include <emmintrin.h>' '#endif'
    header=$1
    shift
    macros "$@" >"$work/before"
    macros "$@" '#define ISPHPBD_IMPLEMENTATION' "#include \"$header\"" >"$work/after"
    none "$header leaves macros without its prefixes" "$(
        comm -13 "$work/before" "$work/after" | grep -Ev '^(ISPH|IPBD|ISPHPBD)X?_')"
    none "$header leaves private macros" "$(
        comm -13 "$work/before" "$work/after" | grep -E '^(ISPHX|IPBDX)_' | grep -v '_IMPLEMENTED$')"
}

whole_matrix() { # language, compilers
    language=$1
    if [ "$language" = c ]; then
        suffix=c standard=-std=c99 newer_standards='-std=c11 -std=c17'
    else
        suffix=cpp standard=-std=c++11 newer_standards='-std=c++17'
    fi
    shift
    seen= in_use=yes
    for compiler in "$@"; do
        program=$(command -v "${compiler%% *}" 2>/dev/null)
        real=$(readlink -f "$program" 2>/dev/null || echo "$program")
        case " $seen " in *" $real "*) if [ -n "$real" ]; then continue; fi ;; esac
        if ! works "$compiler" "$language"; then
            skip "$compiler" "no working $language compiler of this name"
            continue
        fi
        seen="$seen $real"
        openmp=
        if works "$compiler -fopenmp" "$language"; then openmp=-fopenmp; fi
        for first in $headers; do
            one_header "$first"
            if [ -n "$thorough$in_use" ]; then two_files "$first"; fi
            if [ "$language" = c ] && [ -n "$thorough$in_use" ]; then symbols "$first" && leaks "$first"; fi
            for second in $headers; do
                if [ "$first" = "$second" ]; then continue; fi
                two_headers "$first" "$second"
                for third in $headers; do
                    case $third in "$first" | "$second") continue ;; esac
                    if [ -n "$thorough" ]; then three_headers "$first" "$second" "$third"; fi
                done
            done
        done
        in_use=
    done
}
