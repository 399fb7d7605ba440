#!/bin/sh
# What no file of the project may contain: paths of the machine it was written on, hosts it was fetched from, carriage
# returns, and in sources tabs or blanks at line ends. (Lines beyond 120 columns: `make style`.) And what a fuzzer of an
# API must contain: the name of every public function of its header.
. tests/support/cases.sh

if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then
    git ls-files
else
    find . -type f ! -path './build/*' ! -path './.git/*' | sed 's/^\.\///'
fi | while IFS= read -r file; do
    if [ -f "$file" ]; then printf '%s\n' "$file"; fi
done >"$work/files"
grep -E '\.(c|h|sh)$|^\.ci/run$' "$work/files" >"$work/sources"

# Passes when no line of the listed files matches.
absent() { # name, list, extended regular expression
    if [ ! -s "$2" ]; then
        fail "$1" 'there is no file to look at'
        return
    fi
    matches=$(tr '\n' '\0' <"$2" | xargs -0 grep -nIE -e "$3" /dev/null)
    if [ -z "$matches" ]; then pass; else fail "$1" "$(printf '%s\n' "$matches" | head -n 10)"; fi
}

tab=$(printf '\t') return=$(printf '\r')
# The brackets keep this line from matching itself.
absent 'machine paths' "$work/files" '(^|[^a-zA-Z0-9_.])/([w]ork|[t]mp|[r]oot|[h]ome|[f]arm|[U]sers)/[A-Za-z]'
absent 'package hosts' "$work/files" '[d]eb\.debian\.org|registry\.[n]pmjs|[p]ypi\.org|python[h]osted|[c]rates\.io'
absent 'carriage returns' "$work/files" "$return"
absent 'tabs' "$work/sources" "$tab"
absent 'blanks at the end of a line' "$work/sources" ' $'

# Passes when every function of the header is called in one of the files.
all_called() { # header, files...
    header=$1
    shift
    functions=$(grep -oE '^ISPHPBD_API [^(]*[ *](isph|ipbd|isphpbd)_[a-z0-9_]+\(' "$header" |
        sed -E 's/.*[ *]([a-z0-9_]+)\($/\1/' | sort -u)
    if [ -z "$functions" ]; then fail "$header: public functions" 'none found'; fi
    for function in $functions; do
        if grep -qE "(^|[^a-z0-9_])$function([^a-z0-9_]|\$)" "$@"; then
            pass
        else
            fail "fuzzers call $function" "$*"
        fi
    done
}
all_called isphpbd_sph.h tests/fuzz_api_sph.c
all_called isphpbd_pbd.h tests/fuzz_api_pbd.c tests/fuzz_asset.c
all_called isphpbd.h tests/fuzz_api_world.c
finish
