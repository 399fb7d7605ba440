# For test scripts, to be sourced: counts cases and closes in the words of greatest, so that tests/run.sh adds them up.
# Leaves $work, an empty directory that is removed at the end.
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

headers=
for header in isphpbd_sph.h isphpbd_pbd.h isphpbd.h; do
    if [ -f "$header" ]; then headers="$headers $header"; fi
done

pass() { passed=$((passed + 1)); }
skip() { # name, reason
    skipped=$((skipped + 1))
    printf 'SKIP %s: %s\n' "$1" "$2"
}
fail() { # name, reason
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n' "$1" "$2"
}
# Passes when the command succeeds; shows the beginning of its output when it does not.
check() { # name, command...
    case_name=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        pass
    else
        fail "$case_name" "$*"
        head -n 20 "$work/output"
    fi
}
finish() {
    printf 'Pass: %d, fail: %d, skip: %d.\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}

strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion'
strict="$strict -Wshadow -Wundef -Wcast-qual -Wvla -Werror"

# Whether the compiler (which may carry options) works for the language, c or c++.
works() { # compiler, language
    command -v "${1%% *}" >/dev/null 2>&1 || return 1
    printf 'int main(void) { return 0; }\n' >"$work/works.c"
    $1 -x "$2" "$work/works.c" -o "$work/works" >/dev/null 2>&1
}

# Programs that keep to the public functions can link one implementation instead of compiling their own.
declared='-DISPHX_IMPLEMENTED -DISPHPBD_PBD_IMPLEMENTED -DISPHPBDX_WORLD_IMPLEMENTED'
implement() { # object file, compiler and options...
    object_file=$1
    shift
    "$@" -ffp-contract=off -I. -c tests/support/isphpbd.c -o "$object_file"
}
