#!/bin/sh
# The player as a newcomer uses it: the scenes by name, the keys of its JSON, the files it writes, its exit codes.
. tests/support/cases.sh
play=$work/play
check 'play compiles' ${CC:-cc} -std=c99 -O1 -ffp-contract=off -I. examples/play.c -o "$play" -lm -lpthread
[ -x "$play" ] || { finish; exit 1; }

# Succeeds when the command ends with this exit code.
exits() { # code, command...
    wanted=$1
    shift
    "$@"
    [ $? -eq "$wanted" ]
}

"$play" --list >"$work/list"
for name in water_balloon double_cloth thin_shell_basin shower_cloth lifebuoy_ball flower_pot buoyancy_spheres \
    bunny_slip bunny_noslip pillar sinking_ship vessel slip_ramp impact floating_cuboids drag_spheres stone_skipping \
    flotsam double_dam_break rotating_cuboid collapse_recovery one_cell_recovery pushout moving_cup dam_break tank \
    two_fluids honey; do
    check "there is a scene $name" grep -q "^$name " "$work/list"
done

short='tank --scale 0.02 --seconds 0.1 --quiet'
check 'a scene whose checks hold ends with 0' exits 0 "$play" $short --json
keys=$(grep -o '"[a-z_]*":' "$work/output" | tr -d '":' | awk '!seen[$0]++' | xargs)
wanted='scene particles soft_vertices triangles constraints bodies dt steps simulated_seconds ms_per_step'
wanted="$wanted wall_ms_per_step particle_steps_per_second pressure_iterations_mean density_iterations_mean"
wanted="$wanted coupling_iterations_mean coupling_mismatch_max density_error_mean density_error_max volume_change"
wanted="$wanted leaked nan removed allocations_while_stepping bytes_peak hash checks name value limit ok"
if [ "$keys" = "$wanted" ]; then pass; else fail 'keys of the JSON' "$keys"; fi

# Two liquids that are equally thin: neither ball is deeper, which the scene calls wrong.
check 'a scene with a check that fails ends with 1' \
    exits 1 "$play" drag_spheres --scale 0.05 --seconds 0.85 --set thick=0.1 --quiet
check 'a setting, a step and threads can be given' \
    exits 0 "$play" $short --set viscosity=0.01 --dt 0.01 --threads 2

for wrong in 'no_such_scene' 'tank --no-such-option 1' 'tank --scale x' 'tank --seconds' 'tank --set viscosity' \
    'tank --set no_such_key=1' 'tank pillar' 'tank --view x' 'tank --size 7' 'tank --threads 0' \
    'tank --threads 1.5' 'tank --json=1' 'tank --dt 0.2' 'tank --set viscosity=-1' 'tank --set wall_friction=2' \
    'tank --set max_substeps=2.5' 'tank --set viscosity=x' 'honey --scale 1000' ''; do
    check "wrong: '$wrong'" exits 2 "$play" $wrong
    if [ -s "$work/output" ]; then pass; else fail "wrong: '$wrong'" 'is not explained'; fi
done

check 'pictures and geometry' "$play" $short --size 64x48 --png "$work/png" --sheet "$work/sheet.png" \
    --apng "$work/movie.apng" --obj "$work/obj" --ply "$work/ply" --view pressure
for file in png/frame_0000.png sheet.png movie.apng obj/frame_0000.obj ply/frame_0000.ply; do
    if [ -s "$work/$file" ]; then pass; else fail "$file" 'was not written'; fi
done
# The binary part of a PLY file is 8 floats for each vertex of its header; faces and points of an OBJ file name vertices
# that are there; an animation says how many frames it has.
ply=$work/ply/frame_0000.ply
count=$(sed -n 's/^element vertex //p;/^end_header/q' "$ply" | tr -d '\r')
header=$(LC_ALL=C sed '/^end_header/q' "$ply" | wc -c)
same() { [ "$1" -eq "$2" ] && [ "$1" -gt 0 ]; }
check 'as many vertices in the PLY file as it says' same "$(wc -c <"$ply")" $((header + 32 * count))
points=$(awk '$1 == "v" { ++n } $1 == "p" { ++p; if ($2 > n) exit 1 }
    $1 == "f" { for (i = 2; i <= 4; ++i) if ($i < 1 || $i > n) exit 1 } END { print p }' "$work/obj/frame_0000.obj")
check 'as many points in the OBJ file as in the PLY file' same "${points:-0}" "$count"
check 'as many frames in the animation as pictures' \
    same "$(LC_ALL=C grep -ao fcTL "$work/movie.apng" | wc -l)" "$(ls "$work/png" | wc -l)"

tells() { # pattern, command...
    pattern=$1
    shift
    "$@" 2>&1 | grep -q "$pattern"
}
# The last of two settings counts; what is shorter than a step is one.
ends_alike() { # options... : as with viscosity 2
    "$play" $short "$@" >"$work/one" && "$play" $short --set viscosity=2 >"$work/two" &&
        [ "$(grep -o 'hash .*' "$work/one")" = "$(grep -o 'hash .*' "$work/two")" ]
}
check 'the last of two settings counts' ends_alike --set viscosity=1 --set viscosity=2
check 'a very short run is one step' tells '^  1 steps' "$play" $short --seconds 0.0001
check 'no number is missing after it' exits 0 "$play" double_dam_break --scale 0.02 --seconds 0.0001 --quiet
check 'a wrong value is answered by the range' tells 'viscosity=-1 .* 0 to 1e+06' "$play" tank --set viscosity=-1
check 'a scale that is too large is told' tells 'at --scale 1000' "$play" honey --scale 1000
check 'what the checks are meant for is said' tells 'meant for --scale 0.25' "$play" $short
mkdir -p "$work/elsewhere/build" && player=$(cd "$(dirname "$play")" && pwd)/play
demo_elsewhere() { (cd "$work/elsewhere" && "$player" --demo tank --scale 0.01 --seconds 0.1 --quiet); }
check 'a demo of any scene says where its pictures are' tells "$work/elsewhere/build/demo.png" demo_elsewhere
for file in demo.png demo.apng; do
    if [ -s "$work/elsewhere/build/$file" ]; then pass; else fail "$file" 'was not written by the demo'; fi
done

check 'a misspelt name is answered by the right one' tells "'dam_break'" "$play" dam_brake
check 'the settings of a scene are listed' tells 'viscosity=' "$play" tank --help
check 'a wrong setting is answered by the right ones' tells 'viscosity' "$play" tank --set no_such_key=1
check 'a file that cannot be written ends with 2' exits 2 "$play" $short --size 64x48 --sheet "$work/none/sheet.png"
finish
