# One way to build the programs tests/bits_*.c, which print hashes of small scenes, against the hashes wanted.
# To be sourced after cases.sh.
if command -v timeout >/dev/null 2>&1; then limit='timeout 300'; else limit=; fi

# The programs whose headers exist.
bits_programs() {
    for source in tests/bits_*.c; do
        header=$(sed -n 's/^#include "\(isphpbd[a-z_]*\.h\)"/\1/p' "$source" | head -n 1)
        if [ -n "$header" ] && [ -f "$header" ]; then echo "$source"; fi
    done
}

# Compiles the implementation in one way, for the programs that follow.
one_way() { # title, language, compiler, options
    way=$1 way_language=$2 way_compiler=$3 way_options=$4
    if [ "$2" = c ]; then way_standard=-std=c99; else way_standard=-std=c++11; fi
    rm -f "$work/isphpbd.o"
    if ! implement "$work/isphpbd.o" $3 -x "$2" $way_standard $4 >"$work/output" 2>&1; then
        fail "$way" "does not compile: $(head -n 5 "$work/output")"
        return 1
    fi
}

# Compiles the program in that way, runs it and compares; without the file of hashes, what it prints becomes that file.
same_bits() { # source, file of hashes, runner (may be empty)
    bits_title="$(basename "$1" .c) with $way"
    rm -f "$work/program.exe"
    if ! $way_compiler -x "$way_language" $way_standard -ffp-contract=off -I. -Itests/support $way_options \
        $declared "$1" -x none "$work/isphpbd.o" -o "$work/program.exe" -lm >"$work/output" 2>&1; then
        fail "$bits_title" "does not compile: $(head -n 5 "$work/output")"
    elif ! $limit $3 "$work/program.exe" >"$work/raw" 2>"$work/errors"; then
        fail "$bits_title" "fails or takes too long: $(cat "$work/raw" "$work/errors" | head -n 5)"
    else
        tr -d '\r' <"$work/raw" >"$work/hashes" # of Windows
        if [ -s "$2" ]; then
            check "$bits_title" diff "$2" "$work/hashes"
        else
            cp "$work/hashes" "$2"
            pass
        fi
    fi
}
