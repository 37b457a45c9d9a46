# Unit tests: tests/unit/test_X.c is one program, linked against all libraries.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
SUPPORT_SRC := $(wildcard tests/support/*.c tests/conformance/*.c)
# A library, so that a test is linked with what it uses and no more.
SUPPORT_OBJ := $(BUILD)/libsupport.a
$(SUPPORT_OBJ): $(SUPPORT_SRC:%.c=$(BUILD)/%.o)
	@mkdir -p $(@D)
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null)

$(BUILD)/libraries-of-tests:
	@mkdir -p $(@D)
	@pkg-config --exists --print-errors check || \
	    { echo 'make: `docker/install-packages test` installs what is missing' >&2; exit 1; }
	@touch $@
$(UNIT_SRC:%.c=$(BUILD)/%.o) $(SUPPORT_SRC:%.c=$(BUILD)/%.o): | $(BUILD)/libraries-of-tests

$(BUILD)/tests/%.o: ALL_CFLAGS += $(shell pkg-config --cflags check 2>/dev/null)

# Tests that let malloc fail (tests/support/scarce.h).
SCARCE := json_text alert_rules
$(SCARCE:%=$(BUILD)/unit/test_%): ALL_LDFLAGS += -Wl,--wrap=malloc

$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(SUPPORT_OBJ) $(LIB_FILES)
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(SUPPORT_OBJ) $(LIB_FILES) $(CHECK_LIBS) $(PKG_LIBS) -lstdc++ -lm

include tests/fixtures/fixtures.mk
include tests/fuzz/fuzz.mk

# `make check`: the unit tests and what fuzzing began with and found. `make check T=gsym_read` runs
# one test, T=fuzz_gsym the inputs of one fuzz target.
# Some drive the real program, which must not be one of yesterday. fuzz-corpus, seldom run, is built so
# that it can be.
.PHONY: check
check: $(if $(T),$(patsubst %,$(BUILD)/unit/test_%,$(filter-out fuzz_%,$(T))) \
    $(patsubst %,$(BUILD)/replay/%,$(filter fuzz_%,$(T))),$(UNIT_BIN) $(REPLAY_BIN)) \
    | $(BUILD)/stallsymd $(if $(T),,$(BUILD)/fuzz-corpus)
	$(Q)UNDER="$(UNDER)" $(UNDER_SANITIZER) tests/support/run-units $(filter %,$^)
.SECONDARY:

.PHONY: check-valgrind
check-valgrind:
	$(Q)$(MAKE) --no-print-directory check BUILD=build-valgrind T="$(T)" CFLAGS='-O1 -g' \
	    UNDER='valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite'

# End-to-end: scripts that drive the real program; exit status 77 is "skipped", and says why.
E2E_ALL := $(filter-out tests/e2e/lib.sh,$(wildcard tests/e2e/*.sh)) $(wildcard tests/e2e/test_*.py)
E2E := $(if $(T),$(foreach t,$(T),$(filter %/$(t).sh %/$(t).py %/test_$(t).py,$(E2E_ALL))),$(E2E_ALL))
.PHONY: e2e
e2e: $(BUILD)/stallsymd $(BUILD)/fault_shim.so fixtures
	$(Q)$(UNDER_SANITIZER) tests/support/run-e2e $(BUILD) $(E2E)

# `make test`: all of it, on a machine that may have nothing yet.
.PHONY: test test-run
test:
	$(Q)docker/install-packages build demo test
	$(Q)$(MAKE) --no-print-directory -j2 test-build
	$(Q)$(MAKE) --no-print-directory test-run
.PHONY: test-build
test-build: $(BUILD)/stallsymd $(UNIT_BIN) $(REPLAY_BIN) fixtures
test-run:
	$(Q)$(MAKE) --no-print-directory -j2 lint
	$(Q)$(MAKE) --no-print-directory check
	$(Q)$(MAKE) --no-print-directory e2e

include tests/chaos/chaos.mk
include tests/bench/bench.mk
include tests/soak/soak.mk
