# Unit tests: tests/unit/test_X.c is one program, linked against all libraries.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
SUPPORT_SRC := $(wildcard tests/support/*.c)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(BUILD)/%.o)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null)

$(BUILD)/tests/%.o: ALL_CFLAGS += $(shell pkg-config --cflags check 2>/dev/null)

$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(SUPPORT_OBJ) $(LIB_FILES)
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(SUPPORT_OBJ) $(LIB_FILES) $(CHECK_LIBS) $(PKG_LIBS) -lstdc++ -lm

# `make check`: the unit tests alone. `make check T=gsym_read` runs one.
.PHONY: check
check: $(if $(T),$(T:%=$(BUILD)/unit/test_%),$(UNIT_BIN))
	$(Q)tests/support/run-units $^
.SECONDARY:
