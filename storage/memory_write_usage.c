/* The memory backend's WRITE_USAGE. */
#include "storage/op_usage.h"

#include "base/clock.h"
#include "storage/memory_numbers.h"
#include "storage/memory_write_batch.h"

struct half {
    enum mem_value_kind kind;
    const char **value, **value2;
};

static bool is_there(const struct mem_state *s, size_t app, const struct op_usage_item *v,
                     enum mem_value_kind kind)
{
    for (size_t i = 0; i < s->usages_count; i++) {
        const struct mem_usage *u = &s->usages[i];
        if (u->app == app && u->day == v->day &&
            (kind == MEM_USAGE_PAGE ? u->page == v->page && u->version == v->version
                                    : u->device == v->device && u->os_version == v->os_version))
            return true;
    }
    return false;
}

/* Whether the day may have this pair; else both become "(other)". */
static enum err cap_pair(struct mem_storage *m, size_t app, const struct op_usage_item *v,
                         enum mem_value_kind kind, const struct half pair[2], struct error *err)
{
    const int32_t today = clock_day(v->received_ms);
    bool allowed = true;
    enum err rc = ERR_OK;
    if (!is_there(m->work, app, v, kind))
        rc = mem_daily(m, app, kind, today, &allowed, err);
    for (int i = 0; i < 2 && !allowed && !rc; i++) {
        *pair[i].value = MEM_OTHER;
        *pair[i].value2 = "";
        rc = mem_value_of(m, app, pair[i].kind, today, pair[i].value, pair[i].value2, err);
    }
    return rc;
}

static enum err add_item(struct mem_storage *m, struct op_usage_item *u, struct error *err)
{
    size_t app = 0;
    const char *none = "";
    struct op_usage_item v = *u;
    const int32_t day = clock_day(u->received_ms);
    enum err rc = mem_claim_id(m, u->id_hash, u->received_ms, 0, &u->duplicate, err);
    if (rc || u->duplicate)
        return rc;
    const struct half device[] = {{MEM_DEVICE, &v.device, &v.arch},
                                  {MEM_OS, &v.os_version, &v.os_build}};
    const struct half page[] = {{MEM_PAGE, &v.page, &none}, {MEM_BUILD, &v.version, &v.build}};
    const struct half *const all[] = {&page[1], &device[0], &device[1], &page[0]};
    rc = mem_app(m, u->bundle_id, &app, err);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !rc; i++)
        rc = mem_value_of(m, app, all[i]->kind, day, all[i]->value, all[i]->value2, err);
    if (!rc)
        rc = cap_pair(m, app, &v, MEM_USAGE_DEVICE, device, err);
    if (!rc)
        rc = cap_pair(m, app, &v, MEM_USAGE_PAGE, page, err);
    if (rc)
        return rc;
    struct mem_usage *row = mem_add(m->work, usages);
    if (!row)
        return mem_no_memory(err);
    *row = (struct mem_usage){app,          u->day, v.version,           v.build,          v.device,
                              v.os_version, v.page, usage_foreground(u), usage_launches(u)};
    return ERR_OK;
}

enum err mem_write_usage(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_usage *o = &op->u.usage;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = add_item(m, &o->items[i], err);
    return rc;
}
