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

# Compiles the program, runs it and compares; without the file of hashes, what it prints becomes that file.
same_bits() { # source, file of hashes, title, language, compiler, options, runner (may be empty)
    bits_title="$(basename "$1" .c) with $3"
    if [ "$4" = c ]; then bits_standard=-std=c99; else bits_standard=-std=c++11; fi
    rm -f "$work/program.exe"
    if ! $5 -x "$4" $bits_standard -ffp-contract=off -I. -Itests/support $6 "$1" -o "$work/program.exe" -lm \
        >"$work/output" 2>&1; then
        fail "$bits_title" "does not compile: $(head -n 5 "$work/output")"
    elif ! $limit $7 "$work/program.exe" >"$work/raw" 2>"$work/errors"; then
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
