# `make chaos`: every fault against the real daemon (T="kill_9 disk_full": only these), see
# tests/chaos/chaos.py. `chaos.py --quick` is the short form.

FAULT_SHIM := $(BUILD)/fault_shim.so
$(FAULT_SHIM): tests/chaos/fault_shim.c
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -shared -fPIC -o $@ $< -ldl

.PHONY: chaos chaos-run
chaos:
	$(Q)docker/install-packages build demo test
	$(Q)$(MAKE) --no-print-directory chaos-run T="$(T)"
chaos-run: $(BUILD)/stallsymd $(FAULT_SHIM)
	$(Q)STALLSYMD=$(CURDIR)/$(BUILD)/stallsymd BUILD=$(CURDIR)/$(BUILD) \
	    python3 -B tests/chaos/chaos.py $(T)
