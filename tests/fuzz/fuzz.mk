# Fuzzing: tests/fuzz/fuzz_NAME.c is a target. `make fuzz SECONDS=N T="NAME…"` builds it with clang
# and libFuzzer and searches; `make check` replays tests/fuzz/corpus/NAME with the ordinary compiler.

FUZZ_SRC   := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_NAMES := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
REPLAY_BIN := $(FUZZ_NAMES:%=$(BUILD)/replay/fuzz_%)

$(BUILD)/replay/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay_main.o $(LIB_FILES)
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/tests/fuzz/replay_main.o $(LIB_FILES) $(PKG_LIBS) -lstdc++ -lm

# The search, in a build of its own. Tools may be missing when make starts: hence the make inside.
SECONDS ?= 60
FUZZ_SANITIZE := address,undefined
.PHONY: fuzz
fuzz:
	$(Q)docker/install-packages build fuzz
	$(Q)$(MAKE) --no-print-directory fuzz-run BUILD=build-fuzz CFLAGS='-O2 -g -fno-omit-frame-pointer' \
	    CC="$$(command -v clang-14 || command -v clang-19 || command -v clang)" \
	    CFLAGS_EXTRA='-Wno-error -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -fno-sanitize-recover=all' \
	    LDFLAGS_EXTRA='-fsanitize=fuzzer,$(FUZZ_SANITIZE)'

FUZZ_WANTED := $(if $(T),$(T:fuzz_%=%),$(FUZZ_NAMES))
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_FILES)
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB_FILES) $(PKG_LIBS) -lstdc++ -lm

.PHONY: fuzz-run
fuzz-run: $(FUZZ_WANTED:%=$(BUILD)/fuzz/%)
	$(Q)tests/fuzz/run-fuzz $(BUILD) $(SECONDS) $(FUZZ_WANTED)

# Writes the inputs that tests/fuzz/corpus begins with anew (with xz, bzip2 and zstd); what fuzzing found
# (regress-*) stays.
$(BUILD)/fuzz-corpus: $(BUILD)/tests/fuzz/corpus_main.o $(SUPPORT_OBJ) $(LIB_FILES)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(SUPPORT_OBJ) $(LIB_FILES) $(CHECK_LIBS) $(PKG_LIBS) -lstdc++ -lm
.PHONY: fuzz-corpus
fuzz-corpus: $(BUILD)/fuzz-corpus $(BUILD)/stallsymd fixtures
	$(Q)tests/fuzz/make-corpus $(BUILD)
