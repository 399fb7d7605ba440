#!/bin/sh
# Every fuzzer for FUZZ_SECONDS (default 60) under ASan and UBSan: with libFuzzer where clang has it, starting from
# tests/seeds/NAME and the seeds built into the program, else with the loop of tests/support/fuzz.h. Every committed
# seed runs first. An input that breaks something stays in build/fuzz. With CHANCE=1 what the search finds is told and
# counts as skipped: by chance it finds what was there before.
. tests/support/checks.sh
sanitize='-O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=address,undefined,float-cast-overflow'
seconds=${FUZZ_SECONDS:-60}
mkdir -p build/fuzz || exit 2

have_libfuzzer() {
    command -v clang >/dev/null 2>&1 || return 1
    printf '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const char *d, size_t n) { return d && n ? 0 : 0; }\n' \
        >"$work/probe.c"
    clang -fsanitize=fuzzer,address "$work/probe.c" -o "$work/probe" >/dev/null 2>&1
}
libfuzzer=
if have_libfuzzer; then libfuzzer=1; fi

search() { # name, program with options...
    searched=$1
    shift
    if [ -z "${CHANCE-}" ]; then
        check "$searched: $seconds s" "$@"
    elif "$@" >"$work/output" 2>&1; then
        pass
    else
        skip "$searched" "FOUND something: $(grep -m 1 -E 'ERROR|error:' "$work/output")"
        tail -n 40 "$work/output"
    fi
}

for source in tests/fuzz_*.c; do
    name=$(basename "$source" .c) seeds=$work/seeds
    rm -rf "$seeds" && mkdir "$seeds"
    if [ -n "$libfuzzer" ]; then # with a quick build that writes the seeds built in, as files
        check "$name: compiles" cc -DSTANDALONE -O0 $flags "$source" -o "$work/$name" -lm
        "$work/$name" -w "$seeds" >/dev/null
        check "$name: compiles for libFuzzer" clang $sanitize -fsanitize=fuzzer $flags "$source" -o "$work/$name" -lm
    else
        check "$name: compiles" cc -DSTANDALONE $sanitize $flags "$source" -o "$work/$name" -lm
    fi
    if [ -d "tests/seeds/$name" ]; then
        check "$name: every committed seed" "$work/$name" tests/seeds/"$name"/*
        cp tests/seeds/"$name"/* "$seeds"
    fi
    if [ -n "$libfuzzer" ]; then
        search "$name" "$work/$name" -max_total_time="$seconds" -timeout=120 -len_control=0 \
            -max_len=4096 -rss_limit_mb=4096 -artifact_prefix=build/fuzz/"$name"- -print_final_stats=1 "$seeds"
        sed -n 's/^stat::number_of_executed_units: *\([0-9]*\)/'"$name"': \1 inputs/p' "$work/output"
    else
        search "$name" "$work/$name" -n 1000000000 -t "$seconds"
    fi
done
finish
