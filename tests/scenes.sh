#!/bin/sh
# Plays every scene and says which of its checks failed.
#   sh tests/scenes.sh [scale] [scene...]        default: 0.25, all of build/play --list
. tests/support/cases.sh
play=${BUILD:-build}/play
scale=${1:-0.25}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $("$play" --list | awk '{ print $1 }')
for name; do
    "$play" "$name" --scale "$scale" --json --quiet >"$work/output"
    status=$?
    sed -n "s/.*\"particles\": \([0-9]*\).*\"ms_per_step\": \([^,]*\).*/$name: \1 particles, \2 ms per step/p" \
        "$work/output"
    if [ "$status" -eq 0 ]; then
        pass
    else
        fail "$name" "status $status"
        tr '{' '\n' <"$work/output" | grep '"ok": false' | sed 's/^/     /'
    fi
done
finish
