# Benches: tests/bench/bench_X.c is one program; the other files there are linked into each.

BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/bench_*.c))
BENCH_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/bench/bench_%,$(wildcard tests/bench/*.c)))

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BENCH_SUPPORT) $(SUPPORT_OBJ) $(LIB_FILES)
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BENCH_SUPPORT) $(SUPPORT_OBJ) $(LIB_FILES) $(CHECK_LIBS) $(PKG_LIBS) -lstdc++ -lm

.PHONY: bench-programs
bench-programs: $(BENCH_BIN)

# Each figure beside its peer, in one run; see tests/bench/bench.py.
.PHONY: bench bench-quick bench-run
bench bench-quick:
	$(Q)docker/install-packages build demo test
	$(Q)$(MAKE) --no-print-directory bench-run QUICK=$(if $(filter %-quick,$@),--quick)
bench-run: $(BUILD)/stallsymd $(BENCH_BIN) fixtures
	$(Q)python3 -B tests/bench/bench.py $(BUILD) $(QUICK)
