#include "server/http/symbols_json.h"

#include <inttypes.h>
#include <stdio.h>

static void print_slice(struct jout *j, const struct slice_row *s)
{
    jout_uuid(j, "uuid", &s->image);
    jout_text(j, "name", s->name);
    jout_text(j, "arch", s->arch);
    jout_uint(j, "functions", s->functions);
    jout_uint(j, "lines", s->lines);
    jout_uint(j, "inlines", s->inlines);
    jout_bool(j, "has_dwarf", s->has_dwarf);
    jout_uint(j, "index_bytes", s->index_bytes);
    jout_string(j, "state",
                s->lost ? "lost" : upload_state_name(s->indexed ? UPLOAD_INDEXED : UPLOAD_FAILED));
    jout_string(j, "reason",
                s->lost ? "its index was lost and its object is not kept; send it again"
                        : s->reason);
}

void symbols_json_upload(struct jout *j, const struct upload_row *row, uint64_t after, size_t limit)
{
    size_t first = 0, indexed = 0;
    jout_uint(j, "upload_id", row->id);
    jout_string(j, "state", upload_state_name(row->state));
    if (row->state != UPLOAD_INDEXED && row->state != UPLOAD_FAILED)
        return;
    jout_string(j, "reason", row->reason);
    jout_array(j, "slices");
    while (first < row->slice_count && row->slices[first].id <= after)
        first++;
    size_t end = row->slice_count - first > limit ? first + limit : row->slice_count;
    for (size_t i = first; i < end; i++) {
        jout_object(j, NULL);
        print_slice(j, &row->slices[i]);
        jout_text(j, "member", row->slices[i].member);
        jout_end_object(j);
    }
    jout_end_array(j);
    for (size_t i = 0; i < row->slice_count; i++)
        indexed += row->slices[i].indexed;
    jout_uint(j, "slice_count", row->slice_count);
    jout_uint(j, "indexed_count", indexed);
    char cursor[24] = "";
    if (end < row->slice_count)
        snprintf(cursor, sizeof(cursor), "%" PRIu64, row->slices[end - 1].id);
    jout_string(j, "next_cursor", *cursor ? cursor : NULL);
}

void symbols_json_file(struct jout *j, const struct slice_row *s)
{
    jout_object(j, NULL);
    print_slice(j, s);
    jout_bool(j, "current", s->current);
    jout_string(j, "kind", s->system ? "system" : "app");
    jout_text(j, "bundle_id", s->bundle_id);
    jout_bool(j, "own", s->bound);
    jout_text(j, "version", s->version);
    jout_text(j, "build", s->build);
    jout_text(j, "os_build", s->os_build);
    jout_hex(j, "text_vmaddr", s->text_vmaddr);
    jout_uint(j, "text_size", s->text_size);
    jout_sha256(j, "object_sha256", s->object_sha256);
    jout_uint(j, "object_bytes", s->object_bytes);
    jout_bool(j, "object_kept", s->object_kept);
    jout_uint(j, "upload_id", s->upload_id);
    jout_time(j, "created_at", s->created_ms);
    jout_end_object(j);
}
