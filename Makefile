# stallsym - see `make help`.
#
# Every folder is a static library; the order below is the direction of dependencies. Nothing here
# needs to be told about a new .c file. Set BUILD for a second build beside the first, CFLAGS_EXTRA
# and LDFLAGS_EXTRA for sanitizers.

BUILD  ?= build
PREFIX ?= /usr/local
# /etc for /usr, PREFIX/etc elsewhere.
SYSCONFDIR ?= $(if $(filter /usr,$(PREFIX)),/etc,$(PREFIX)/etc)
CC     ?= cc
.DEFAULT_GOAL := all
Q      := $(if $(V),,@)

PKGS := libelf libmicrohttpd gnutls jansson sqlite3 libarchive libzstd zlib libcurl
# Debian 12's libdwarf has no .pc file, Debian 13's names a folder that is not there.
DWARF_CFLAGS := $(shell pkg-config --cflags libdwarf 2>/dev/null) -I/usr/include/libdwarf
DWARF_LIBS   := $(shell pkg-config --libs libdwarf 2>/dev/null || echo -ldwarf)
PKG_CFLAGS   := $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(DWARF_CFLAGS)
PKG_LIBS     := $(DWARF_LIBS) $(shell pkg-config --libs $(PKGS) 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wvla -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
        -Wwrite-strings -Wundef -Wformat=2 -Wno-format-zero-length -Wswitch-enum -Werror
# -fcf-protection is x86's (other machines refuse it). tests/e2e/test_hardening.py looks at the result.
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE \
          $(if $(filter x86_64-% i686-%,$(shell $(CC) -dumpmachine)),-fcf-protection) $(if $(findstring -fsanitize,$(CFLAGS_EXTRA)),,-D_FORTIFY_SOURCE=2)
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -include base/banned.h -D_GNU_SOURCE -I. -I$(BUILD)/gen $(WARN) $(HARDEN) $(CFLAGS) $(PKG_CFLAGS) \
             -MMD -MP -pthread $(CFLAGS_EXTRA)
ALL_LDFLAGS = -pthread -pie -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS_EXTRA)

# Link order: users before what they use.
LIBS := http ingest jobs analysis storage symbolizer base
DIR_http       := server/http
DIR_ingest     := server/ingest
DIR_jobs       := server/jobs
DIR_analysis   := server/analysis
DIR_storage    := storage
DIR_symbolizer := symbolizer
DIR_base       := base

define LIBRARY
SRC_$(1) := $$(wildcard $$(DIR_$(1))/*.c)
OBJ_$(1) := $$(SRC_$(1):%.c=$$(BUILD)/%.o)
$$(BUILD)/lib$(1).a: $$(OBJ_$(1))
	@mkdir -p $$(@D)
	@echo "  AR      $$@"
	$$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LIBS),$(eval $(call LIBRARY,$(l))))

LIB_FILES  := $(LIBS:%=$(BUILD)/lib%.a)
DAEMON_SRC := $(wildcard server/*.c)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(BUILD)/%.o)
include tests/sanitizers/sanitizers.mk

.PHONY: all
all: $(BUILD)/stallsymd

.PHONY: help
help:
	@echo 'make                  builds $(BUILD)/stallsymd'
	@echo 'make demo             installs what is missing, builds, and shows the main job (ONCE=1: then stops)'
	@echo 'make run              builds and serves from $(BUILD)/run with conf/stallsymd.conf'
	@echo 'make test             installs what is missing, builds, lints, and runs every test'
	@echo 'make check            unit tests alone (T="gsym_read clock": only these)'
	@echo 'make e2e              tests of the real program alone (T="lifecycle": only these)'
	@echo 'make lint             formatting, banned calls, include rules, cppcheck, clang-tidy'
	@echo 'make test-asan        unit and e2e tests under AddressSanitizer, UBSan, LeakSanitizer (parts: check-asan e2e-asan)'
	@echo 'make test-tsan        the same under ThreadSanitizer (parts: check-tsan e2e-tsan)'
	@echo 'make check-valgrind   unit tests under valgrind'
	@echo 'make bench            the figures, each beside its peer (bench-quick: under two minutes)'
	@echo 'make chaos            every fault against the real daemon, as a table (T="kill_9 disk_full": only these)'
	@echo 'make soak SECONDS=N   the daemon under all kinds of traffic for N seconds (1800); what it holds may not grow'
	@echo 'make fuzz SECONDS=N   every fuzz target for N seconds (T="gsym macho": only these)'
	@echo 'make docker-test      builds the image and runs the main job in it'
	@echo 'make install PREFIX=  installs program, configuration and systemd unit (DESTDIR= too)'
	@echo 'make deps             installs the packages a build needs'
	@echo 'make clean            removes build and build-*'
	@echo 'V=1 shows the commands. BUILD=dir builds elsewhere.'

.PHONY: clean
clean:
	$(Q)rm -rf build build-asan build-tsan build-valgrind build-fuzz

$(BUILD)/stallsymd: $(DAEMON_OBJ) $(LIB_FILES)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(DAEMON_OBJ) $(LIB_FILES) $(PKG_LIBS) -lm

$(BUILD)/symbolizer/%.o: ALL_CFLAGS += -Wconversion
# The objects of a folder that includes generated headers wait for them.
$(OBJ_storage) $(OBJ_http) $(OBJ_analysis): | generated

$(BUILD)/%.o: %.c $(BUILD)/hardening | $(BUILD)/libraries
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Other flags make all objects anew.
.PHONY: FORCE
$(BUILD)/hardening: FORCE
	@mkdir -p $(@D)
	@echo '$(HARDEN)' | cmp -s - $@ || echo '$(HARDEN)' >$@

# A clear word instead of a compiler's about a header.
$(BUILD)/libraries:
	@mkdir -p $(@D)
	@pkg-config --exists --print-errors $(PKGS) || { echo 'make: `make deps` installs what is missing' >&2; exit 1; }
	@touch $@

# --- generated headers ------------------------------------------------------------------------

.PHONY: generated
generated:
include server/web/web.mk

generated: $(BUILD)/gen/cluster_rules.h
$(BUILD)/gen/cluster_rules.h: conf/cluster.rules
	@mkdir -p $(@D)
	@echo "  EMBED   $<"
	$(Q){ echo 'static const unsigned char CLUSTER_RULES[] = {'; \
	      od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '};'; } > $@.tmp && mv $@.tmp $@

SQL_FILES := $(sort $(wildcard sql/sqlite/0*.sql)) $(sort $(wildcard sql/sqlite/queries*.sql))
$(BUILD)/gen/sql.h: sql/embed.awk $(SQL_FILES)
	@mkdir -p $(@D)
	@echo "  SQL     $@"
	$(Q)awk -f sql/embed.awk $(SQL_FILES) > $@.tmp && mv $@.tmp $@
generated: $(BUILD)/gen/sql.h

# --- install ----------------------------------------------------------------------------------

.PHONY: deps
deps:
	$(Q)docker/install-packages build

# What was configured before is not overwritten.
.PHONY: install
install: $(BUILD)/stallsymd
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(SYSCONFDIR)/stallsym $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 0755 $(BUILD)/stallsymd $(DESTDIR)$(PREFIX)/bin/stallsymd
	for f in stallsymd.conf cluster.rules; do \
	    [ -e $(DESTDIR)$(SYSCONFDIR)/stallsym/$$f ] || \
	        install -m 0644 conf/$$f $(DESTDIR)$(SYSCONFDIR)/stallsym/$$f || exit 1; \
	done
	sed -e 's|/usr/bin/stallsymd|$(PREFIX)/bin/stallsymd|g' -e 's|/etc/stallsym|$(SYSCONFDIR)/stallsym|g' \
	    conf/stallsymd.service >$(BUILD)/stallsymd.service
	install -m 0644 $(BUILD)/stallsymd.service $(DESTDIR)$(PREFIX)/lib/systemd/system/stallsymd.service

# --- seeing it work ---------------------------------------------------------------------------

# Listens on the port of conf/stallsymd.conf; the admin token is in $(BUILD)/run/admin-token.
.PHONY: run
run: $(BUILD)/stallsymd
	$(Q)STALLSYM_STORAGE_DIR=$${STALLSYM_STORAGE_DIR:-$(BUILD)/run} exec $(BUILD)/stallsymd run -c conf/stallsymd.conf

# Tools may be missing when make starts: what is installed here is seen by the make inside.
.PHONY: demo
demo:
	$(Q)docker/install-packages build demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo/run-demo $(BUILD)/stallsymd

.PHONY: docker-test
docker-test:
	$(Q)docker/test-image

include tests/tests.mk
include tests/lint/lint.mk

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
