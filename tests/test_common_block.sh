#!/bin/sh
# What isphpbd_sph.h and isphpbd_pbd.h share stands in both, byte for byte.
. tests/support/cases.sh

same_block() { # title
    for header in isphpbd_sph.h isphpbd_pbd.h; do
        sed -n "/^\/\* ---- $1/,/^\/\* ---- end of $1/p" "$header" >"$work/$header"
        begins=$(grep -c "^/\* ---- $1" "$work/$header")
        ends=$(grep -c "^/\* ---- end of $1" "$work/$header")
        if [ "$begins" != 1 ] || [ "$ends" != 1 ]; then
            fail "$1" "$header has $begins beginnings and $ends ends of it instead of one each"
            return
        fi
    done
    check "$1" diff "$work/isphpbd_sph.h" "$work/isphpbd_pbd.h"
}

if [ -f isphpbd_sph.h ] && [ -f isphpbd_pbd.h ]; then
    same_block 'common block'
    same_block 'common implementation'
else
    skip common_block 'needs both headers'
fi
finish
