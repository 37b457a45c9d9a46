/* The memory backend's quotas of apps. */
#include "storage/memory_quota.h"

#include <stdlib.h>
#include <string.h>

#include "storage/memory_read.h"

enum err mem_write_quota(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    const struct op_quota *q = &op->u.quota;
    for (size_t i = 0; i < s->quotas_count; i++) {
        if (strcmp(s->quotas[i].row.bundle_id, q->bundle_id) == 0) {
            mem_remove(s, quotas, i);
            break;
        }
    }
    if (q->remove)
        return ERR_OK;
    struct mem_quota *row = mem_add(s, quotas);
    if (row)
        row->row = (struct quota_row){arena_strdup(&m->arena, q->bundle_id), q->quota};
    return row && row->row.bundle_id ? ERR_OK : mem_no_memory(err);
}

static int by_bundle(const void *a, const void *b)
{
    return strcmp(((const struct quota_row *)a)->bundle_id,
                  ((const struct quota_row *)b)->bundle_id);
}

enum err mem_read_quotas(struct storage_reader *r, struct arena *arena, struct quota_row **ret,
                         size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct quota_row *rows = arena_array(arena, s->quotas_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->quotas_count; i++)
        rows[i] = s->quotas[i].row;
    qsort(rows, s->quotas_count, sizeof(*rows), by_bundle);
    *ret = rows;
    *ret_count = s->quotas_count;
    return ERR_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum err mem_read_app_names(struct storage_reader *r, struct arena *arena, const char ***ret,
                            size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const char **names = arena_array(arena, s->apps_count + 1, sizeof(*names));
    if (!names)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->apps_count; i++)
        names[i] = s->apps[i].bundle_id;
    qsort(names, s->apps_count, sizeof(*names), by_text);
    *ret = names;
    *ret_count = s->apps_count;
    return ERR_OK;
}

enum err mem_read_new_stacks(struct storage_reader *r, const char *bundle_id, int32_t day,
                             struct new_stacks_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t app = bundle_id ? mem_app_of(s, bundle_id) : SIZE_MAX;
    struct new_stacks_row x = {0};
    (void)err;
    for (size_t i = 0; i < s->apps_count; i++) {
        if (bundle_id && i != app)
            continue;
        x.added += mem_day_get(s, i, MEM_STACK, day);
        x.dropped += mem_day_get(s, i, MEM_STACK_DROPPED, day);
        x.pairs_dropped += mem_day_get(s, i, MEM_PAIR_DROPPED, day);
    }
    *ret = x;
    return ERR_OK;
}
