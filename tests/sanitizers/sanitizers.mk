# Sanitizers: all tests in builds of their own. `make test-asan` (AddressSanitizer with leaks, UBSan),
# `make test-tsan` (ThreadSanitizer); check-asan, e2e-asan and so on are parts of them, T="…" as ever.
# A report of the daemon, of its children or of a command fails the run: see options.c.

REPORTS := $(CURDIR)/$(BUILD)/reports
ifneq (,$(findstring -fsanitize=,$(CFLAGS_EXTRA)))
ifeq (,$(findstring fuzzer,$(CFLAGS_EXTRA)))
SANITIZED := yes
SANITIZER := $(if $(findstring thread,$(CFLAGS_EXTRA)),thread,address)
SANITIZER_OPTIONS := $(BUILD)/tests/sanitizers/options.o
$(SANITIZER_OPTIONS): ALL_CFLAGS += -DREPORTS='"$(REPORTS)"' -DSUPPRESSIONS='"$(CURDIR)/tests/sanitizers"'
DAEMON_OBJ += $(SANITIZER_OPTIONS)
$(shell mkdir -p $(REPORTS))
UNDER_SANITIZER := STALLSYM_SANITIZER=$(SANITIZER) REPORTS=$(REPORTS)
PROBE := $(BUILD)/sanitizer-probe
FAULTS := $(if $(filter thread,$(SANITIZER)),race,leak overflow shift)

$(PROBE): $(BUILD)/tests/sanitizers/probe.o $(SANITIZER_OPTIONS)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# Leaks are looked for at the end of a process, which a debugger or a sandbox may keep from it.
.PHONY: probe
probe: $(PROBE)
	$(Q)tests/sanitizers/look --probe $(PROBE) $(REPORTS) $(FAULTS)
check e2e: | probe
endif
endif

# What they put into the code changes what the compiler can prove: its warnings are judged elsewhere.
FOR_ASAN := BUILD=build-asan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
    CFLAGS_EXTRA='-Wno-error -fsanitize=address,undefined -fno-sanitize-recover=all' \
    LDFLAGS_EXTRA='$(LDFLAGS_EXTRA) -fsanitize=address,undefined'
FOR_TSAN := BUILD=build-tsan CFLAGS='-O1 -g' CFLAGS_EXTRA='-Wno-error -fsanitize=thread' \
    LDFLAGS_EXTRA='$(LDFLAGS_EXTRA) -fsanitize=thread'
# TSan needs ASLR tamed on newer kernels.
SETARCH := $(shell command -v setarch >/dev/null 2>&1 && setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: check-asan check-tsan e2e-asan e2e-tsan test-asan test-tsan
check-asan e2e-asan:
	$(Q)$(MAKE) --no-print-directory $(@:%-asan=%) $(FOR_ASAN) T="$(T)"
check-tsan e2e-tsan:
	$(Q)$(SETARCH) $(MAKE) --no-print-directory $(@:%-tsan=%) $(FOR_TSAN) T="$(T)"
test-asan test-tsan:
	$(Q)docker/install-packages build demo test
	$(Q)$(MAKE) --no-print-directory $(@:test-%=check-%)
	$(Q)$(MAKE) --no-print-directory $(@:test-%=e2e-%)
