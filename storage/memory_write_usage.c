/* The memory backend's WRITE_USAGE. */
#include "storage/op_usage.h"

#include "base/clock.h"
#include "storage/memory_numbers.h"
#include "storage/memory_write_batch.h"

static enum err add_item(struct mem_storage *m, struct op_usage_item *u, struct error *err)
{
    size_t app = 0;
    const char *none = "";
    struct op_usage_item v = *u;
    const int32_t day = clock_day(u->received_ms);
    enum err rc = mem_claim_id(m, u->id_hash, u->received_ms, 0, &u->duplicate, err);
    if (rc || u->duplicate)
        return rc;
    rc = mem_app(m, u->bundle_id, &app, err);
    if (!rc)
        rc = mem_value_of(m, app, MEM_BUILD, day, &v.version, &v.build, err);
    if (!rc)
        rc = mem_value_of(m, app, MEM_DEVICE, day, &v.device, &v.arch, err);
    if (!rc)
        rc = mem_value_of(m, app, MEM_OS, day, &v.os_version, &v.os_build, err);
    if (!rc)
        rc = mem_value_of(m, app, MEM_PAGE, day, &v.page, &none, err);
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
