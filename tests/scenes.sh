#!/bin/sh
# Plays every scene and says which of its checks failed; the last line adds them up.
#   sh tests/scenes.sh [scale] [scene...]        default: 0.25, all of build/play --list
# A failure of a scene in $OPEN is told and counts as skipped; by default none.
cd "$(dirname "$0")/.." || exit 2
play=${BUILD:-build}/play
scale=${1:-0.25}
open=" ${OPEN-} "
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $("$play" --list | awk '{ print $1 }')
passed=0 failed=0 skipped=0
for name; do
    output=$("$play" "$name" --scale "$scale" --json --quiet)
    status=$?
    printf '%s\n' "$output" |
        sed -n 's/.*"particles": \([0-9]*\).*"ms_per_step": \([^,]*\).*/  \1 particles, \2 ms per step/p'
    if [ "$status" -eq 0 ]; then
        echo "ok   $name"
        passed=$((passed + 1))
    else
        echo "FAIL $name (status $status)"
        printf '%s\n' "$output" | tr '{' '\n' | grep '"ok": false' | sed 's/^/     /'
        case $open in
            *" $name "*) skipped=$((skipped + 1)) ;;
            *) failed=$((failed + 1)) ;;
        esac
    fi
done
echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
