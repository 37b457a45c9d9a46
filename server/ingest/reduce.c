#include "server/ingest/reduce.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "server/analysis/culprit.h"
#include "server/ingest/app_batch.h"
#include "server/ingest/image_set.h"
#include "server/ingest/named_sets.h"

#define CLOCK_PAST_MS    (30 * CLOCK_DAY_MS)
#define CLOCK_FUTURE_MS  CLOCK_DAY_MS
#define MICROSECONDS_MIN ((int64_t)100000000000000) /* of 1973; as milliseconds of 5138 */
#define APPLE_EPOCH_MS   ((int64_t)978307200000) /* 2001-01-01, of timeIntervalSinceReferenceDate */
#define ADDRESSES_MAX    ((size_t)1024 * 1024)

/* The map over one `struct report_images` in a process of that app (it knows places of its own), OS
 * and arch (they name its slide group), built once. */
struct mapped {
    const struct report_images *images;
    const char *bundle_id, *os, *arch;
    struct image_map *map;
    struct mapped *next;
};

struct reducer {
    struct intake *in;
    struct arena *arena;
    struct app_batch *batches;
    size_t batch_count, batch_room;
    struct mapped *mapped;
    struct error *err;
};

/* A stack reduced: the index it has in its batch, and its encoded addresses. */
struct reduced {
    uint32_t index;
    const void *addresses;
    size_t addresses_len;
};

static enum err no_memory(struct reducer *rd)
{
    return intake_no_memory(rd->in, rd->err);
}

/* An op_batch notes one image set: reports of another one go to another batch of their app. */
static bool takes_set(const struct op_batch *b, const struct report_images *images)
{
    return !images || !images->set || !b->image_set || strcmp(images->set, b->image_set) == 0;
}

static struct app_batch *batch_of(struct reducer *rd, const struct report *r)
{
    for (size_t i = rd->batch_count; i-- > 0;) {
        if (strcmp(rd->batches[i].op.bundle_id, r->bundle_id) == 0 &&
            takes_set(&rd->batches[i].op, r->images))
            return &rd->batches[i];
    }
    if (!arena_room(rd->arena, (void **)&rd->batches, rd->batch_count, &rd->batch_room,
                    sizeof(*rd->batches)))
        return NULL;
    struct app_batch *b = &rd->batches[rd->batch_count++];
    app_batch_init(b, rd->arena, r->bundle_id);
    return b;
}

static struct op_image image_of_entry(const struct image_entry *e)
{
    struct op_image image = {.id = e->uuid,
                             .kind = IMAGE_UUID,
                             .class = e->class,
                             .name = e->name,
                             .arch = e->arch,
                             .has_vmaddr = e->has_vmaddr,
                             .vmaddr = e->vmaddr};
    if (uuid_is_nil(&e->uuid)) {
        image.id = image_named_id(e->name);
        image.kind = IMAGE_NAMED;
        image.has_vmaddr = false;
    }
    return image;
}

/* The slide group itself and all its members, so that its frames can be placed later. */
static bool add_group(struct app_batch *b, const struct image_map *map,
                      const struct report_images *images)
{
    struct op_image group = {.id = *image_map_group(map),
                             .kind = IMAGE_GROUP,
                             .class = IMAGE_CLASS_SYSTEM,
                             .name = "shared cache"};
    bool added = false;
    size_t before = b->op.image_count;
    if (!app_batch_image(b, &group))
        return false;
    added = b->op.image_count > before;
    for (size_t i = 0; added && i < images->count; i++) {
        if (!image_map_in_group(map, i))
            continue;
        struct op_image member = image_of_entry(&images->entries[i]);
        member.in_group = true;
        member.group = group.id;
        if (!app_batch_image(b, &member))
            return false;
    }
    return true;
}

/* Images that told both slide and load address teach a vmaddr, once. */
static bool add_lessons(struct app_batch *b, const struct report_images *images,
                        struct layout_view *view)
{
    for (size_t i = 0; images && i < images->count; i++) {
        uint64_t known;
        const struct image_entry *e = &images->entries[i];
        if (!e->has_vmaddr || uuid_is_nil(&e->uuid) ||
            (view->layouts && layouts_find(view, &e->uuid, &known)))
            continue;
        struct op_image image = image_of_entry(e);
        if (!app_batch_image(b, &image))
            return false;
    }
    return true;
}

/* What a list of images teaches is said when its map is built, not once a report. */
static enum err map_of(struct reducer *rd, struct app_batch *b, const struct report *r,
                       struct image_map **ret)
{
    const struct report_images *images = r->images;
    const char *os = *r->os_build ? r->os_build : r->os_version;
    for (struct mapped *m = rd->mapped; m; m = m->next) {
        if (m->images == images &&
            (!images || (strcmp(m->os, os) == 0 && strcmp(m->arch, r->arch) == 0 &&
                         strcmp(m->bundle_id, r->bundle_id) == 0))) {
            *ret = m->map;
            return ERR_OK;
        }
    }
    struct mapped *m = arena_alloc(rd->arena, sizeof(*m));
    if (!m)
        return no_memory(rd);
    struct layout_view view = {.layouts = NULL};
    if (rd->in->request->layouts)
        view = layouts_view(rd->in->request->layouts, r->bundle_id);
    const struct image_layout layout = {view.layouts ? layouts_find : NULL, &view};
    enum err rc = image_map_build(images ? images->entries : NULL, images ? images->count : 0, os,
                                  r->arch, &layout, rd->arena, &m->map, rd->err);
    if (rc != ERR_OK)
        return rc == ERR_NO_MEMORY ? no_memory(rd) : rc;
    if (!add_lessons(b, images, &view))
        return no_memory(rd);
    m->images = images;
    m->bundle_id = r->bundle_id;
    m->os = os;
    m->arch = r->arch;
    m->next = rd->mapped;
    rd->mapped = m;
    *ret = m->map;
    return ERR_OK;
}

static bool place_frame(struct app_batch *b, const struct image_map *map,
                        const struct report_images *images, const struct report_frame *f,
                        struct raw_frame *raw)
{
    size_t entry = SIZE_MAX;
    raw->kind = f->kind;
    raw->symbol = f->symbol;
    if (f->placed) {
        raw->image = f->uuid;
        raw->offset = f->offset;
        raw->image_kind = IMAGE_UUID;
        for (size_t i = 0; images && i < images->count && entry == SIZE_MAX; i++) {
            if (uuid_equal(&images->entries[i].uuid, &f->uuid))
                entry = i;
        }
    } else {
        image_map_find(map, f->address, raw, &entry);
    }
    if (raw->image_kind == IMAGE_GROUP)
        return add_group(b, map, images);
    if (entry == SIZE_MAX)
        return true;
    struct op_image image = image_of_entry(&images->entries[entry]);
    return app_batch_image(b, &image);
}

static enum err reduce_stack(struct reducer *rd, struct app_batch *b, const struct image_map *map,
                             const struct report_images *images, const struct report_stack *stack,
                             struct reduced *ret)
{
    struct raw_frame *frames = arena_array(rd->arena, stack->count, sizeof(*frames));
    uint64_t *addresses = arena_array(rd->arena, stack->count, sizeof(*addresses));
    if (!frames || !addresses)
        return no_memory(rd);
    for (size_t i = 0; i < stack->count; i++) {
        if (!place_frame(b, map, images, &stack->frames[i], &frames[i]))
            return no_memory(rd);
        /* A frame given as an offset has no address: none is made up. */
        addresses[i] = stack->frames[i].has_address ? stack->frames[i].address : frames[i].offset;
    }
    struct raw_stack raw = {frames, stack->count};
    struct buf out;
    buf_init(&out, ADDRESSES_MAX);
    ret->index = app_batch_stack(b, &raw);
    bool ok = ret->index != NO_STACK && stack_addresses_encode(&raw, addresses, &out);
    ret->addresses = ok ? arena_memdup(rd->arena, out.data, out.len) : NULL;
    ret->addresses_len = out.len;
    buf_done(&out);
    return ret->addresses ? ERR_OK : no_memory(rd);
}

/* Index of the sample that stands for the report before any of its stacks has a name. */
static enum err provisional_culprit(struct reducer *rd, const struct app_batch *b,
                                    const struct report *r, const struct op_report *op, size_t *ret)
{
    struct culprit culprit;
    struct culprit_sample *samples = arena_array(rd->arena, r->sample_count, sizeof(*samples));
    if (!samples)
        return no_memory(rd);
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct op_stack *stack = &b->op.stacks[op->samples[i].stack];
        struct raw_stack raw;
        enum err rc = raw_stack_decode(stack->raw, stack->raw_len, rd->arena, &raw, rd->err);
        if (rc != ERR_OK)
            return rc;
        samples[i] = (struct culprit_sample){.at_ms = r->samples[i].offset_ms,
                                             .repeats = r->samples[i].repeat_count};
        culprit_raw_key(r->bundle_id, &raw, samples[i].key);
    }
    enum err rc =
        culprit_of(samples, r->sample_count, r->duration_ms, rd->arena, &culprit, rd->err);
    if (rc == ERR_OK)
        *ret = culprit.sample;
    return rc;
}

/* Index of the thread marked as stalled, else of thread 0; there is one. */
static size_t main_thread(const struct report *r)
{
    size_t zero = 0;
    for (size_t i = r->thread_count; i-- > 0;) {
        if (r->threads[i].tid == 0)
            zero = i;
    }
    for (size_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].stalled)
            return i;
    }
    return zero;
}

static enum err reduce_samples(struct reducer *rd, struct app_batch *b, const struct image_map *map,
                               const struct report *r, struct op_report *op)
{
    struct op_sample *samples = arena_array(rd->arena, r->sample_count, sizeof(*samples));
    if (!samples)
        return no_memory(rd);
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct report_sample *from = &r->samples[i];
        struct reduced stack;
        enum err rc = reduce_stack(rd, b, map, r->images, &from->stack, &stack);
        if (rc != ERR_OK)
            return rc;
        samples[i] = (struct op_sample){.offset_ms = from->offset_ms,
                                        .stack = stack.index,
                                        .repeat_count = from->repeat_count,
                                        .cpu_usage = from->cpu_usage,
                                        .thread_state = from->thread_state,
                                        .addresses = stack.addresses,
                                        .addresses_len = stack.addresses_len};
    }
    op->samples = samples;
    op->sample_count = r->sample_count;
    return ERR_OK;
}

static enum err reduce_threads(struct reducer *rd, struct app_batch *b, const struct image_map *map,
                               const struct report *r, struct op_report *op)
{
    struct op_thread *threads = arena_array(rd->arena, r->thread_count, sizeof(*threads));
    if (!threads)
        return no_memory(rd);
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct report_thread *from = &r->threads[i];
        struct reduced stack = {.index = NO_STACK};
        enum err rc = ERR_OK;
        if (from->stack.count > 0)
            rc = reduce_stack(rd, b, map, r->images, &from->stack, &stack);
        if (rc != ERR_OK)
            return rc;
        threads[i] = (struct op_thread){.tid = from->tid,
                                        .name = from->name,
                                        .state = from->state,
                                        .stalled = from->stalled,
                                        .stack = stack.index,
                                        .queue = from->queue,
                                        .waits_kind = from->waits_kind,
                                        .waits_queue = from->waits_queue,
                                        .waits_address = from->waits_address,
                                        .owner_tid = from->owner_tid,
                                        .addresses = stack.addresses,
                                        .addresses_len = stack.addresses_len};
    }
    op->threads = threads;
    op->thread_count = r->thread_count;
    return ERR_OK;
}

/* After its samples and threads: a stack that is one of theirs was reduced with them. */
static enum err reduce_own_stack(struct reducer *rd, struct app_batch *b,
                                 const struct image_map *map, const struct report *r,
                                 struct op_report *op)
{
    struct reduced own = {.index = NO_STACK};
    enum err rc = ERR_OK;
    if (r->stack.count > 0) {
        rc = reduce_stack(rd, b, map, r->images, &r->stack, &own);
    } else if (r->sample_count > 0) {
        size_t which = 0;
        if (r->sample_count > 1)
            rc = provisional_culprit(rd, b, r, op, &which);
        const struct op_sample *s = &op->samples[which];
        own = (struct reduced){s->stack, s->addresses, s->addresses_len};
    } else if (r->thread_count > 0) {
        const struct op_thread *t = &op->threads[main_thread(r)];
        own = (struct reduced){t->stack, t->addresses, t->addresses_len};
    }
    op->stack = own.index;
    op->addresses = own.addresses;
    op->addresses_len = own.addresses_len;
    return rc;
}

static bool is_in_window(int64_t ms, int64_t now_ms)
{
    return ms >= now_ms - CLOCK_PAST_MS && ms <= now_ms + CLOCK_FUTURE_MS;
}

/* Why the device's time is not the report's. */
static const char *skew_reason(int64_t device_ms, int64_t now_ms)
{
#define INSTEAD "; the time of receipt stands in its place"
    if (is_in_window(device_ms * 1000 + APPLE_EPOCH_MS, now_ms))
        return "milliseconds since 1970 are wanted, not seconds since 2001" INSTEAD;
    if (is_in_window(device_ms + APPLE_EPOCH_MS, now_ms))
        return "milliseconds since 1970 are wanted, not since 2001" INSTEAD;
    if (clock_is_seconds(device_ms))
        return "milliseconds since 1970 are wanted, not seconds" INSTEAD;
    if (device_ms < now_ms)
        return "more than 30 days ago" INSTEAD;
    if (device_ms > MICROSECONDS_MIN)
        return "milliseconds since 1970 are wanted, not microseconds" INSTEAD;
    return "more than a day ahead" INSTEAD;
#undef INSTEAD
}

static void set_time(struct intake *in, const struct report *r, struct op_report *op)
{
    int64_t now = in->request->now_ms;
    op->received_ms = now;
    op->device_time_ms = r->has_timestamp ? r->timestamp_ms : INT64_MIN;
    op->clock_skew = r->has_timestamp && !is_in_window(r->timestamp_ms, now);
    op->time_ms = r->has_timestamp && !op->clock_skew ? r->timestamp_ms : now;
    if (op->clock_skew)
        intake_drop_of(in, r->index, "timestamp", skew_reason(r->timestamp_ms, now));
}

/* The set a body defines is stored; one that it only names counts as used. */
static void note_set(struct reducer *rd, struct app_batch *b, const struct report_images *images)
{
    if (!images || !images->set || b->op.image_set)
        return;
    const struct named_set *s = named_set_find(rd->in, b->op.bundle_id, images->set);
    b->op.image_set = images->set;
    if (!s || !s->defined)
        return;
    b->op.image_set_data = s->data;
    b->op.image_set_len = s->len;
    b->op.image_set_compare = image_set_compare;
}

static enum err reduce_report(struct reducer *rd, const struct report *r)
{
    struct image_map *map = NULL;
    struct app_batch *b = batch_of(rd, r);
    struct op_report *op = b ? app_batch_report(b) : NULL;
    if (!op)
        return no_memory(rd);
    enum err rc = map_of(rd, b, r, &map);
    if (rc != ERR_OK)
        return rc;
    *op = (struct op_report){.id = r->id,
                             .kind = r->kind,
                             .duration_ms = r->duration_ms,
                             .weight = 1 / r->sample_rate,
                             .threshold_type = r->threshold_type,
                             .version = r->version,
                             .build = r->build,
                             .device = r->device,
                             .os_version = r->os_version,
                             .os_build = r->os_build,
                             .arch = r->arch,
                             .page = r->page,
                             .path = r->path,
                             .cpu_usage = r->cpu_usage,
                             .memory_usage = r->memory_usage,
                             .stack_skipped = r->stack_skipped,
                             .tags = r->tags,
                             .frame_gaps_ms = r->frame_gaps_ms,
                             .frame_gap_count = r->frame_gap_count,
                             .position = r->index};
    report_id_hash(r->bundle_id, r->id, op->id_hash);
    set_time(rd->in, r, op);
    if (r->sample_count)
        rc = reduce_samples(rd, b, map, r, op);
    if (rc == ERR_OK && r->thread_count)
        rc = reduce_threads(rd, b, map, r, op);
    if (rc == ERR_OK)
        rc = reduce_own_stack(rd, b, map, r, op);
    note_set(rd, b, r->images);
    return rc;
}

enum err reduce_reports(struct intake *in, struct write_op *op, struct error *err)
{
    struct reducer rd = {.in = in, .arena = in->arena, .err = err};
    for (size_t i = 0; i < in->report_count; i++) {
        enum err rc = reduce_report(&rd, &in->reports[i]);
        if (rc != ERR_OK)
            return rc;
    }
    struct op_batch *items = arena_array(in->arena, rd.batch_count, sizeof(*items));
    if (!items)
        return no_memory(&rd);
    for (size_t i = 0; i < rd.batch_count; i++)
        items[i] = rd.batches[i].op;
    op->u.batches.items = items;
    op->u.batches.count = rd.batch_count;
    return ERR_OK;
}
