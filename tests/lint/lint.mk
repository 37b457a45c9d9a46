# `make lint`: formatting, banned calls, include rules, house rules, cppcheck, clang-tidy. The last
# two remember what was clean under $(BUILD)/lint. The tools are those of Debian 12; other versions
# lay out and warn differently and are passed over, saying so.

CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format-19 clang-format 2>/dev/null))
CLANG_TIDY   ?= $(firstword $(shell command -v clang-tidy-14 clang-tidy-19 clang-tidy 2>/dev/null))
LINT_SRC      = $(foreach l,$(LIBS),$(SRC_$(l))) $(DAEMON_SRC)
# Sources of fixtures are left alone: their lines are what tests ask for.
FORMAT_SRC    = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' | grep -vE '^tests/(demo|fixtures)/')

.PHONY: lint
lint: lint-format lint-rules lint-cppcheck lint-tidy

# The layout is that of clang-format 14: other versions differ in details.
.PHONY: lint-format
lint-format:
	@echo "  LINT    clang-format"
	$(Q)case "$$($(CLANG_FORMAT) --version 2>/dev/null)" in \
	*"version 14."*) $(CLANG_FORMAT) --dry-run -Werror $(wildcard $(FORMAT_SRC)) ;; \
	*) echo "          skipped: needs clang-format 14" ;; \
	esac

.PHONY: lint-rules
lint-rules:
	@echo "  LINT    include rules, house rules"
	$(Q)tests/lint/check-includes && tests/lint/check-shape

# A generated table of some 100,000 bytes keeps cppcheck busy for minutes.
CPPCHECK_SRC = $(filter-out server/http/asset.c,$(LINT_SRC))
.PHONY: lint-cppcheck
lint-cppcheck: generated
	@echo "  LINT    cppcheck"
	$(Q)mkdir -p $(BUILD)/lint/cppcheck
	$(Q)case "$$(cppcheck --version 2>/dev/null)" in \
	*" 2.10"*) ;; \
	*) echo "          skipped: needs cppcheck 2.10"; exit 0 ;; \
	esac; \
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
	    --suppress=checkersReport --suppress=autoVariables --cppcheck-build-dir=$(BUILD)/lint/cppcheck \
	    --error-exitcode=1 -j 2 -I. -I$(BUILD)/gen -D_GNU_SOURCE $(CPPCHECK_SRC) 2>$(BUILD)/lint/cppcheck.txt || \
	    { cat $(BUILD)/lint/cppcheck.txt; exit 1; }

TIDY_14    := $(if $(CLANG_TIDY),$(findstring version 14.,$(shell $(CLANG_TIDY) --version 2>/dev/null)))
TIDY_MARKS  = $(LINT_SRC:%.c=$(BUILD)/lint/%.tidy)
.PHONY: lint-tidy
lint-tidy: $(if $(TIDY_14),$(TIDY_MARKS))
	$(Q)$(if $(TIDY_14),:,echo "  LINT    clang-tidy"; echo "          skipped: needs clang-tidy 14")
$(BUILD)/lint/%.tidy: %.c .clang-tidy | generated
	@mkdir -p $(@D)
	@echo "  TIDY    $<"
	$(Q)$(CLANG_TIDY) --quiet $< -- -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -I. -I$(BUILD)/gen $(PKG_CFLAGS) \
	    >$@.txt 2>/dev/null || { cat $@.txt; exit 1; }
	$(Q)touch $@
