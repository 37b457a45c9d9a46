#include "server/ingest/intake.h"

#include <string.h>

void intake_init(struct intake *in, const struct ingest_request *request, struct arena *arena)
{
    memset(in, 0, sizeof(*in));
    in->request = request;
    in->limits = request->limits;
    in->arena = arena;
}

static bool make_room(struct intake *in, void **array, size_t count, size_t *room, size_t size)
{
    if (arena_room(in->arena, array, count, room, size))
        return true;
    in->no_memory = true;
    return false;
}

#define ROOM(in, list, n)                                                                          \
    make_room(in, (void **)&(in)->list, (in)->n##_count, &(in)->n##_room, sizeof(*(in)->list))

enum err intake_no_memory(const struct intake *in, struct error *err)
{
    if (!in->arena->capped)
        return error_set(err, ERR_NO_MEMORY, "no memory for the body");
    return error_set(err, ERR_LIMIT, "the body takes more memory than %zu bytes",
                     in->limits->arena_bytes);
}

struct report *intake_report(struct intake *in, uint32_t line)
{
    if (!ROOM(in, reports, report))
        return NULL;
    struct report *r = &in->reports[in->report_count++];
    memset(r, 0, sizeof(*r));
    r->index = in->next_index++;
    r->line = line;
    return r;
}

static void list_refusal(struct intake *in, uint32_t index, uint32_t line, const char *path,
                         const char *reason)
{
    if (!ROOM(in, rejected, rejected))
        return;
    struct ingest_rejected *r = &in->rejected[in->rejected_count];
    r->index = index;
    r->line = line;
    r->path = arena_strdup(in->arena, path);
    r->reason = arena_strdup(in->arena, reason);
    if (!r->path || !r->reason) {
        in->no_memory = true;
        return;
    }
    in->rejected_count++;
}

void intake_refuse(struct intake *in, const char *path, const char *reason)
{
    const struct report *r = &in->reports[--in->report_count];
    list_refusal(in, r->index, r->line, path, reason);
}

void intake_refuse_report(struct intake *in, const struct report *r, const char *reason)
{
    list_refusal(in, r->index, r->line, "", reason);
}

void intake_refuse_line(struct intake *in, uint32_t line, const char *path, const char *reason)
{
    list_refusal(in, in->next_index++, line, path, reason);
}

void intake_drop(struct intake *in, const char *path, const char *reason)
{
    uint32_t index = in->next_index ? in->next_index - 1 : 0;
    if (in->report_count)
        index = in->reports[in->report_count - 1].index;
    intake_drop_of(in, index, path, reason);
}

void intake_drop_of(struct intake *in, uint32_t index, const char *path, const char *reason)
{
    if (in->dropped_count >= DROPPED_MAX || !ROOM(in, dropped, dropped))
        return;
    struct ingest_dropped *d = &in->dropped[in->dropped_count];
    d->index = index;
    d->path = arena_strdup(in->arena, path);
    d->reason = reason;
    if (!d->path) {
        in->no_memory = true;
        return;
    }
    in->dropped_count++;
}

void intake_need_set(struct intake *in, const char *set)
{
    for (size_t i = 0; i < in->need_set_count; i++) {
        if (strcmp(in->need_sets[i], set) == 0)
            return;
    }
    if (ROOM(in, need_sets, need_set))
        in->need_sets[in->need_set_count++] = set;
}
