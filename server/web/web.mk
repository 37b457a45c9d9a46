# The files that are built into the program, as C arrays in web_assets.h. The tools run on the
# machine that builds.

HOSTCC ?= cc
HOST_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror

$(BUILD)/host/%: server/web/%.c
	@mkdir -p $(@D)
	@echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) $(HOST_CFLAGS) -o $@ $<

$(BUILD)/gen/openapi.json: server/openapi.yaml $(BUILD)/host/yaml_to_json
	@mkdir -p $(@D)
	@echo "  GEN     $@"
	$(Q)$(BUILD)/host/yaml_to_json $< >$@.tmp && mv $@.tmp $@

$(BUILD)/gen/web_assets.h: $(BUILD)/gen/openapi.json server/web/upload.sh $(BUILD)/host/embed
	@mkdir -p $(@D)
	@echo "  GEN     $@"
	$(Q)$(BUILD)/host/embed openapi_json=$(BUILD)/gen/openapi.json \
	    upload_sh=server/web/upload.sh >$@.tmp && mv $@.tmp $@

generated: $(BUILD)/gen/web_assets.h

# What a flame graph carries in itself.
$(BUILD)/gen/flame_assets.h: server/web/flamegraph.css server/web/flamegraph.js $(BUILD)/host/embed
	@mkdir -p $(@D)
	@echo "  GEN     $@"
	$(Q)$(BUILD)/host/embed flamegraph_css=server/web/flamegraph.css \
	    flamegraph_js=server/web/flamegraph.js >$@.tmp && mv $@.tmp $@

generated: $(BUILD)/gen/flame_assets.h
