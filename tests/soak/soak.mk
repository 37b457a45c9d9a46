# `make soak SECONDS=N`: the real daemon under all kinds of traffic for so long (30 minutes), see
# tests/soak/soak.py; the table of what it held is written to $(BUILD)/soak.log, too.

SOAK_SECONDS := $(if $(filter file undefined default,$(origin SECONDS)),1800,$(SECONDS))
.PHONY: soak soak-run
soak:
	$(Q)docker/install-packages build demo test
	$(Q)$(MAKE) --no-print-directory soak-run SECONDS=$(SOAK_SECONDS)
soak-run: $(BUILD)/stallsymd $(FAULT_SHIM)
	$(Q)STALLSYMD=$(CURDIR)/$(BUILD)/stallsymd BUILD=$(CURDIR)/$(BUILD) \
	    python3 -B tests/soak/soak.py $(SOAK_SECONDS) $(BUILD)/soak.log
