# isphpbd: the headers need no build; this builds and runs what surrounds them. `make help` lists the targets.
#
#   config=release|debug|sanitize   -O2 (default), -O0 -g, or ASan + UBSan
#   werror=1                        warnings are errors
#   OPENMP=1                        compile with OpenMP
#   GREATEST=dir                    the directory of the real greatest.h, instead of tests/support
#   THOROUGH=1                      the compile matrix and the examples in full, as in check-all
#   CC= EXTRA_CFLAGS= BUILD= JOBS= TESTS="test_a test_b" ONLY="validate_a" as usual

CC ?= cc
config ?= release
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TEST_SECONDS ?= 600
VALIDATE_SECONDS ?= 3600
FUZZ_SECONDS ?= 60

# make itself works on JOBS programs at a time unless told otherwise.
ifeq (0,$(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(JOBS)
endif

# ---- flags --------------------------------------------------------------------------------------------------------

flags_release := -O2
flags_debug := -O0 -g
flags_sanitize := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
    -fsanitize=address,undefined,float-cast-overflow
ifndef flags_$(config)
$(error config is $(config), but can only be release, debug or sanitize)
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow -Wundef \
    -Wcast-qual -Wvla
# C99 without contraction of a * b + c into one rounding: the condition for the same bits everywhere.
CFLAGS = -std=c99 -ffp-contract=off $(flags_$(config)) $(WARNINGS) $(EXTRA_CFLAGS)
CPPFLAGS = -I. -Itests/support
LDLIBS = -pthread -lm

ifeq ($(werror),1)
CFLAGS += -Werror
endif
ifeq ($(OPENMP),1)
CFLAGS += -fopenmp
endif
ifneq ($(GREATEST),)
ifeq ($(wildcard $(GREATEST)/greatest.h),)
$(error no greatest.h in GREATEST=$(GREATEST))
endif
# As system headers: -I comes first, and ours would win. The macros of the real one are not written for all warnings.
CPPFLAGS = -I. -isystem $(GREATEST) -isystem tests/support
WARNINGS := -Wall -Wextra
endif

# ---- what there is to build ---------------------------------------------------------------------------------------

BUILD ?= build$(if $(filter-out release,$(config)),/$(config))$(if $(filter 1,$(OPENMP)),/openmp)
headers := $(wildcard isphpbd_sph.h isphpbd_pbd.h isphpbd.h)

tests := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/test_*.c))
scripts := $(wildcard tests/test_*.sh)
checks := $(wildcard tests/check_*.sh)
validations := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/validate_*.c))
benchmark := $(BUILD)/bench
fuzzers := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz_*.c))
# examples/view.c needs SDL2 and is left to `make view`
examples := $(patsubst examples/%.c,$(BUILD)/%,$(filter-out examples/view.c,$(wildcard examples/*.c)))
tools := $(foreach t,$(wildcard tools/*.c),$(BUILD)/$(subst _,-,$(basename $(notdir $t))))
programs := $(tests) $(validations) $(benchmark) $(examples) $(tools)

selected_tests := $(scripts) $(tests)
ifneq ($(TESTS),)
selected_tests := $(filter $(addprefix %/,$(addsuffix .sh,$(TESTS)) $(TESTS)),$(selected_tests))
endif
selected_validations := $(if $(ONLY),$(filter $(addprefix %/,$(ONLY)),$(validations)),$(validations))

.PHONY: all test check-all coverage golden validate bench bench-peers fuzz demo gallery view style clean help
all: $(programs)

# Every program is one file that includes headers; all of them wait for all headers. The stamp makes a change of
# compiler or flags rebuild everything.
stamp := $(BUILD)/.flags
command = $(CC) $(CPPFLAGS) $(CFLAGS)
ifneq (,$(filter-out clean help style,$(or $(MAKECMDGOALS),all)))
$(shell mkdir -p $(BUILD) && echo '$(command)' | cmp -s - $(stamp) || echo '$(command)' >$(stamp))
endif

common := $(headers) $(wildcard tests/support/*.h examples/*.h tools/*.h) $(stamp)
define compile
@echo "cc  $@"
@rm -f $@
@$(command) $(if $(filter $@,$(linked)),$(declared)) -o $@ $< $(filter %.o,$^) $(LDFLAGS) $(LDLIBS)
endef

# Programs that keep to the public functions link one implementation, as if their own had been included before; those
# that look inside (private names, or a comment that says so) or want a copy of their own compile theirs.
library := $(BUILD)/isphpbd.o
declared := -DISPHX_IMPLEMENTED -DISPHPBD_PBD_IMPLEMENTED -DISPHPBDX_WORLD_IMPLEMENTED
inside := $(shell grep -lE '(isphx|ipbdx|isphpbdx)_|ISPHPBD_STATIC|looks inside' tests/*.c examples/*.c)
linked := $(filter-out $(patsubst %.c,$(BUILD)/%,$(notdir $(inside))),$(tests) $(validations) $(examples))
$(linked): $(library)
$(library): tests/support/isphpbd.c $(common)
	@echo "cc  $@"
	@$(command) -c -o $@ $<

$(fuzzers): EXTRA_CFLAGS += -DSTANDALONE $(flags_sanitize)
$(tests) $(validations) $(benchmark) $(fuzzers): $(BUILD)/%: tests/%.c $(common)
	$(compile)

# The benchmark times the fluid in three copies: plain C, SSE2, and what the compiler makes of that with AVX2.
stages_plain := -DISPHPBD_NO_SIMD
stages_sse2 := -DBENCH_SSE2
stages_avx2 := -DBENCH_AVX2 $(if $(filter x86_64,$(shell uname -m)),-mavx2)
stages := $(addprefix $(BUILD)/bench_stages_,plain.o sse2.o avx2.o)
$(stages): $(BUILD)/bench_stages_%.o: tests/bench_stages.c $(wildcard tests/bench_*.h) $(common)
	@echo "cc  $@"
	@$(command) $(stages_$*) -DBENCH_STAGES=bench_stages_$* -DBENCH_READ=bench_read_$* -c -o $@ $<
$(benchmark): $(stages) $(wildcard tests/bench_*.h)

$(examples): $(BUILD)/%: examples/%.c $(common)
	$(compile)
$(foreach t,$(wildcard tools/*.c),$(eval $(BUILD)/$(subst _,-,$(basename $(notdir $t))): $t $(common) ; $$(compile)))

# ---- what there is to run -----------------------------------------------------------------------------------------

unbuilt := $(BUILD)/.unbuilt
# A program that does not compile counts as a failed test and does not keep the others from running.
test:
	@rm -f $(unbuilt); $(MAKE) -ks --no-print-directory $(filter-out %.sh,$(selected_tests)) $(tools) || echo >$(unbuilt)
	@CC='$(CC)' BUILD='$(BUILD)' THOROUGH='$(THOROUGH)' sh tests/run.sh -j $(JOBS) -t $(TEST_SECONDS) -o $(BUILD)/test-logs -b $(unbuilt) \
	    $(selected_tests)

# Everything there is beyond `make test`: other compilers, processors and systems, sanitizers, static analysis, fuzzing,
# coverage. Takes an hour or two; what is not installed is skipped. QUICK=1 and FUZZ_SECONDS=n take less.
CHECK_SECONDS ?= 7200
CHECKS ?= $(checks)
check-all:
	@rm -f $(unbuilt); $(MAKE) -ks --no-print-directory $(tests) $(tools) || echo >$(unbuilt)
	@CC='$(CC)' BUILD='$(BUILD)' THOROUGH=1 QUICK='$(QUICK)' FUZZ_SECONDS='$(FUZZ_SECONDS)' sh tests/run.sh -j $(JOBS) \
	    -t $(CHECK_SECONDS) -o $(BUILD)/check-logs -b $(unbuilt) $(CHECKS) $(selected_tests)

# Which lines of the headers the tests reach.
coverage:
	@sh tests/check_coverage.sh

validate: $(selected_validations)
	@CC='$(CC)' FLAGS='$(CFLAGS)' sh tests/validate.sh -j $(JOBS) -t $(VALIDATE_SECONDS) \
	    -o $(BUILD)/validation $(selected_validations)

# All of it, 5 minutes, with docs/performance.md; BENCH_ARGS="--quick stages" is a look at one case.
BENCH_ARGS ?= --document docs/performance.md --plots docs/plots
bench: $(benchmark)
	@$(benchmark) $(BENCH_ARGS)

# The same work done by Eigen and Bullet, where pkg-config knows them (libeigen3-dev, libbullet-dev, pkg-config); the
# page in docs/ is renewed when both are there.
CXX ?= c++
package = $(shell pkg-config --exists $1 2>/dev/null && pkg-config $2 $1)
bench-peers: eigen = $(call package,eigen3,--cflags --libs)
bench-peers: bullet = $(call package,bullet,--cflags --libs)
bench-peers: tests/bench_peers.cpp $(wildcard tests/bench_*.h) $(common)
	@echo "c++ $(BUILD)/bench_peers"
	@$(CXX) $(CPPFLAGS) -std=c++11 -ffp-contract=off $(flags_$(config)) -o $(BUILD)/bench_peers $< $(LDFLAGS) \
	    $(if $(eigen),-DPEERS_EIGEN $(eigen)) $(if $(bullet),-DPEERS_BULLET $(bullet)) $(LDLIBS)
	@$(BUILD)/bench_peers | tee $(if $(and $(eigen),$(bullet)),docs/performance-peers.md,$(BUILD)/performance-peers.md)

# The hashes of the scenes in tests/bits_*.c as they shall be from now on.
golden:
	@CC='$(CC)' sh tests/test_same_bits.sh renew

# Random input for FUZZ_SECONDS each, under ASan and UBSan; tests/check_fuzz.sh does it with libFuzzer.
fuzz: $(fuzzers)
	@for f in $(fuzzers); do echo "== $$f"; $$f -n 1000000000 -t $(FUZZ_SECONDS) || exit 1; done

# DEMO=name plays one scene of examples/play.c; its pictures are build/demo.png and build/demo.apng.
ifneq (,$(wildcard examples/play.c))
demo: $(BUILD)/play
	$(BUILD)/play --demo $(DEMO) $(DEMO_ARGS)
else
demo:
	@echo "there is no examples/play.c yet" >&2; exit 1
endif

# The live viewer, where SDL2 is installed.
view: $(BUILD)/view
$(BUILD)/view: examples/view.c $(common)
	@command -v sdl2-config >/dev/null || pkg-config --exists sdl2 2>/dev/null || { \
	    echo "the viewer needs SDL2; on Debian: apt-get install libsdl2-dev libgl1-mesa-dri" >&2; exit 1; }
	@echo "cc  $@"
	@$(command) $$(sdl2-config --cflags 2>/dev/null || pkg-config --cflags sdl2) -o $@ $< $(LDFLAGS) \
	    $$(sdl2-config --libs 2>/dev/null || pkg-config --libs sdl2) $(LDLIBS)

# Every scene as a contact sheet, with a page that shows them; a quarter of an hour on two cores.
gallery: $(BUILD)/play
	$(BUILD)/play --gallery docs/gallery $(GALLERY_ARGS)

# Lines beyond 120 columns; tests/test_files.sh looks after the rest.
style:
	@! grep -nE '^.{121}' $(wildcard *.h tests/*.[ch] tests/*.sh tests/support/* examples/*.[ch] tools/*.[ch] .ci/run)

clean:
	rm -rf build

help:
	@echo "make            build all programs into $(BUILD)/"
	@echo "make test       run the tests; the last line says N passed, N failed"
	@echo "make check-all  the tests, then every compiler and system, sanitizers, analysis, fuzzing, coverage: hours"
	@echo "make coverage   line coverage of the headers; what is missed is listed in build/coverage"
	@echo "make golden     renew the hashes in tests/golden, after a change of results on purpose"
	@echo "make validate   run the long physical validations and write docs/validation.md with its plots"
	@echo "make bench      run the benchmark and write docs/performance.md with its plots (BENCH_ARGS=--help)"
	@echo "make bench-peers  the same work by Eigen and Bullet where they are installed"
	@echo "make fuzz       feed random input to what reads files, FUZZ_SECONDS=60 each"
	@echo "make demo       play a scene (DEMO=name another one)"
	@echo "make gallery    play every scene and put its pictures into docs/gallery/"
	@echo "make view       build the live viewer $(BUILD)/view; needs SDL2"
	@echo "make style      list lines beyond 120 columns"
	@echo "make clean      remove build/"
	@echo "options         config=release|debug|sanitize werror=1 OPENMP=1 CC=clang GREATEST=dir JOBS=n"
	@echo "                TESTS=\"test_a test_b\" ONLY=\"validate_a\" EXTRA_CFLAGS=... BENCH_ARGS=... BUILD=dir"
