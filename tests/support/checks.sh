# For tests/check_*.sh, to be sourced: everything of cases.sh, and programs of the tests built and run in other ways.
# QUICK=1 takes only the test programs named in $quick_programs; a check may add $more_programs.
. tests/support/cases.sh
flags='-std=c99 -ffp-contract=off -I. -Itests/support -g'
libraries='-pthread -lm'
mkdir -p build || exit 2 # where programs leave their pictures and files

# Programs that reach most of the code in a few seconds even when they run twenty times slower.
quick_programs='test_memory test_pbd_core test_sph_particles test_sph_sparse test_tool_read test_world_bad_input
    test_world_core'

# What is done to the headers on purpose: hostile scenes, careless use, threads, forged snapshots, collisions. Minutes
# under a sanitizer, so quick checks run them with one compiler only.
more_programs='test_careless test_hostile test_pbd_collision test_sph_coupler test_threads test_world_hostile
    test_world_snapshot'

# The test programs to run, by name.
programs() {
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        case " $(echo $quick_programs) " in
            *" $name "*) echo "$name" ;;
            *) if [ -z "${QUICK-}" ]; then echo "$name"; fi ;;
        esac
    done
}

# Those that look inside the headers compile an implementation of their own; see the Makefile.
looks_inside() { # source
    grep -qE '(isphx|ipbdx|isphpbdx)_|ISPHPBD_STATIC|looks inside' "$1"
}

# Compiles one program. The implementation is compiled when the compiler or an option is another than before.
build_program() { # source, compiler and options
    if looks_inside "$1"; then
        $2 $flags "$1" -o "$work/program" $libraries
        return
    fi
    if [ "$2" != "${implemented-}" ]; then
        implemented=
        implement "$work/isphpbd.o" $2 $flags || return
        implemented=$2
    fi
    $2 $flags $declared "$1" "$work/isphpbd.o" -o "$work/program" $libraries
}

# Compiles and runs one program; what fails shows the end of what it printed.
run_program() { # title, source, compiler and options, command before the program (may be empty)
    if ! build_program "$2" "$3" >"$work/output" 2>&1; then
        fail "$1" "does not compile: $(head -n 5 "$work/output")"
    elif timeout "${CHECK_SECONDS:-1800}" $4 "$work/program" >"$work/output" 2>&1; then
        pass
    else
        fail "$1" "status $?"
        tail -n 30 "$work/output"
    fi
}
