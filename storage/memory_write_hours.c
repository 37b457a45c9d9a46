/* The memory backend's WRITE_HOURS_EXPIRE: facts stay, the hours of old ones are not shown. */
#include "storage/memory_numbers.h"

enum err mem_write_hours_expire(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_hours_expire *o = &op->u.hours_expire;
    (void)err;
    if (o->before_day > m->work->hours_from)
        m->work->hours_from = o->before_day;
    o->more = false;
    return ERR_OK;
}
