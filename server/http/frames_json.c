#include "server/http/frames_json.h"

#include <string.h>

#include "symbolizer/demangle.h"

#define FULL_NAME_MAX 16384 /* longer ones are cut */

/* Fates stand in the order of the frames, so each search goes on where the last one ended. */
static const struct frame_fate *next_fate(const struct cluster_verdict *verdict, size_t *at,
                                          size_t raw, size_t frame)
{
    for (; verdict && *at < verdict->fate_count; (*at)++) {
        const struct frame_fate *fate = &verdict->fates[*at];
        if (fate->raw_index == raw && fate->frame_index == frame)
            return fate;
        if (fate->raw_index > raw || (fate->raw_index == raw && fate->frame_index > frame))
            return NULL;
    }
    return NULL;
}

static void explain_fate(struct jout *j, const struct frame_fate *fate)
{
    jout_bool(j, "kept", fate && fate->kept);
    jout_string(j, "rule", fate ? fate->rule : NULL);
}

/* A Swift name with its modules and types, where that is more than what is shown. */
static void print_full(struct jout *j, const struct frame *f)
{
    char full[FULL_NAME_MAX];
    bool more = f->mangled && demangle_full(f->mangled, full, sizeof(full)) &&
                strcmp(full, f->function) != 0;
    jout_string(j, "full", more ? full : NULL);
}

static void print_frame(struct jout *j, const struct frame *f, bool in_app,
                        const struct frame_fate *fate, bool explain)
{
    jout_object(j, NULL);
    jout_string(j, "function", f->function);
    print_full(j, f);
    jout_string(j, "mangled", f->mangled);
    jout_text(j, "file", f->file);
    if (f->line)
        jout_uint(j, "line", f->line);
    else
        jout_null(j, "line");
    jout_bool(j, "inlined", f->inlined);
    jout_bool(j, "in_app", fate ? fate->in_app : in_app);
    if (explain)
        explain_fate(j, fate);
    jout_end_object(j);
}

/* What an address without a load address would be is the offset again: nobody reported that. */
static bool address_known(const struct raw_frame *raw, uint64_t address)
{
    if (raw->image_kind == IMAGE_UUID || raw->image_kind == IMAGE_NAMED)
        return address != raw->offset;
    return address != 0;
}

static void print_place(struct jout *j, const struct resolved_frame *f, const uint64_t *address)
{
    bool placed = !uuid_equal(&f->image, &f->raw.image);
    bool has_uuid = f->raw.image_kind == IMAGE_UUID || (f->raw.image_kind == IMAGE_GROUP && placed);
    if (address && address_known(&f->raw, *address))
        jout_hex(j, "address", *address);
    else
        jout_null(j, "address");
    jout_text(j, "image", f->image_name);
    jout_uuid(j, "uuid", has_uuid ? &f->image : NULL);
    if (has_uuid || f->raw.image_kind == IMAGE_NAMED)
        jout_hex(j, "offset", f->offset);
    else
        jout_null(j, "offset");
}

void frames_json_print(struct jout *j, const char *key, const struct resolved_stack *stack,
                       const uint64_t *addresses, const struct cluster_verdict *verdict,
                       bool explain)
{
    size_t at = 0;
    jout_array(j, key);
    for (size_t i = 0; i < stack->count; i++) {
        const struct resolved_frame *f = &stack->frames[i];
        jout_object(j, NULL);
        print_place(j, f, addresses ? &addresses[i] : NULL);
        if (f->has_function_offset)
            jout_hex(j, "function_offset", f->function_offset);
        jout_string(j, "status", frame_status_name(f->status));
        jout_bool(j, "approximate", f->approximate);
        if (explain && f->frame_count == 0)
            explain_fate(j, next_fate(verdict, &at, i, 0));
        jout_array(j, "frames");
        for (size_t k = 0; k < f->frame_count; k++)
            print_frame(j, &f->frames[k], f->in_app, next_fate(verdict, &at, i, k), explain);
        jout_end_array(j);
        jout_end_object(j);
    }
    jout_end_array(j);
}
