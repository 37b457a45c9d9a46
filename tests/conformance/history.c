#include "tests/conformance/history.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/read_quota.h"
#include "tests/conformance/dump.h"
#include "tests/conformance/history_merges.h"

#define DAY       ((int64_t)86400000)
#define BATCH_MAX 12

void history_init(struct history *h, uint64_t seed)
{
    memset(h, 0, sizeof(*h));
    h->state = seed * 2654435769u + 1;
    h->now_ms = SUITE_NOW;
    h->ids = calloc(HISTORY_IDS, sizeof(*h->ids));
    h->id_list = calloc(HISTORY_IDS, sizeof(*h->id_list));
    ck_assert(h->ids && h->id_list);
}

void history_done(struct history *h)
{
    free(h->ids);
    free(h->id_list);
}

static uint32_t draw(struct history *h, uint32_t below)
{
    h->state = h->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(h->state >> 33) % below;
}

uint32_t history_draw(struct history *h, uint32_t below)
{
    return draw(h, below);
}

static const char *fresh_id(struct history *h)
{
    if (h->id_count && draw(h, 6) == 0)
        return h->ids[draw(h, (uint32_t)h->id_count)];
    ck_assert_uint_lt(h->id_count, HISTORY_IDS);
    snprintf(h->ids[h->id_count], sizeof(h->ids[0]), "r%zu", h->id_count);
    h->id_list[h->id_count] = h->ids[h->id_count];
    return h->ids[h->id_count++];
}

static struct suite_report random_report(struct history *h)
{
    static const char *const versions[] = {"1.0", "2.0", "2.1"};
    static const char *const builds[] = {"1", "2"};
    static const char *const devices[] = {"D1", "D2", "D3", ""};
    static const char *const systems[] = {"O1", "O2"};
    static const char *const pages[] = {"P1", "P2", "P3", "P4", "P5"};
    int64_t received = h->now_ms + draw(h, 1000);
    return (struct suite_report){
        .id = fresh_id(h),
        .stack = draw(h, 8) ? draw(h, 6) * draw(h, 7) : SUITE_NO_STACK,
        .kind = (enum report_kind)draw(h, REPORT_KINDS),
        .received_ms = received,
        .time_ms = received - (int64_t)draw(h, 5) * DAY / 2,
        .duration_ms = draw(h, 9) ? (int64_t)draw(h, 9000) + 1 : -1,
        .weight = draw(h, 3) ? 1 : 1 + draw(h, 100) / 7.0,
        .version = versions[draw(h, 3)],
        .build = builds[draw(h, 2)],
        .device = devices[draw(h, 4)],
        .os = systems[draw(h, 2)],
        .page = pages[draw(h, 5)],
        .samples = draw(h, 3) ? 0 : draw(h, 5),
        .threads = draw(h, 6) ? 0 : draw(h, 4),
        .rich = draw(h, 3) == 0,
    };
}

typedef struct write_op *make_op(struct history *h);

static struct write_op *make_batch(struct history *h)
{
    struct suite_report reports[BATCH_MAX];
    size_t count = 1 + draw(h, BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        reports[i] = random_report(h);
        if (reports[i].stack == SUITE_NO_STACK)
            reports[i].samples = reports[i].threads = 0;
    }
    struct write_op *op = suite_batch(draw(h, 4) ? SUITE_APP : "com.example.other", reports, count);
    for (uint32_t i = 1 + draw(h, 3); i <= SUITE_SYSTEM; i += 1 + draw(h, 9))
        suite_image(op, i, IMAGE_UUID)->class = (enum image_class)draw(h, 3);
    for (uint32_t i = 0; i < draw(h, 3); i++) {
        struct op_image *image = suite_image(op, 30 + draw(h, 4), IMAGE_UUID);
        image->has_vmaddr = draw(h, 2);
        image->vmaddr = 0xffffffff00000000u * draw(h, 2) + draw(h, 100) * 0x1000;
        image->in_group = draw(h, 2);
        image->group = suite_uuid(SUITE_GROUP);
    }
    return op;
}

/* Of an image, or of the shelf of what the app owns of it. */
static struct uuid any_shelf(struct history *h)
{
    uint32_t n = 1 + draw(h, 5);
    return suite_uuid(draw(h, 4) ? n : SUITE_SHELF_OF(n));
}

static struct write_op *make_upload_state(struct history *h, uint64_t id)
{
    uint32_t images[4] = {0};
    size_t count = draw(h, 4);
    for (size_t i = 0; i < count; i++)
        images[i] = draw(h, 3) ? 1 + draw(h, 5) : draw(h, 2) ? SUITE_SYSTEM : 30 + draw(h, 4);
    struct write_op *op = suite_indexed(id, images, count, draw(h, 3));
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    for (size_t i = 0; i < count; i++) {
        x[i].installed = draw(h, 4) != 0;
        x[i].object_kept = draw(h, 3) != 0;
        if (draw(h, 2))
            x[i].name = arena_printf(op->arena, "Image%u", 1 + draw(h, 4));
        x[i].object_sha256[8] = (uint8_t)draw(h, 2);
        if (draw(h, 3) == 0)
            suite_own(&x[i], SUITE_SHELF_OF(images[i]));
    }
    if (draw(h, 6) == 0)
        op->u.upload_state.state = UPLOAD_INDEXING;
    return op;
}

static struct write_op *make_repend(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend = (struct op_repend){.uuid = draw(h, 2) ? any_shelf(h) : suite_uuid(30),
                                      .all_users = draw(h, 2),
                                      .settles = draw(h, 2)};
    return op;
}

static struct write_op *make_delete(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    op->u.symbol_delete.shelf = any_shelf(h);
    return op;
}

static struct write_op *make_upload_delete(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD_DELETE, 4096);
    op->u.upload_delete.id = 1 + draw(h, 12);
    return op;
}

static struct write_op *make_refit(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_REFIT, 4096);
    struct uuid *uuids = arena_array(op->arena, 2, sizeof(*uuids));
    uuids[0] = any_shelf(h);
    uuids[1] = suite_uuid(1 + draw(h, 5));
    op->u.refit = (struct op_refit){uuids, 2, draw(h, 2) == 0};
    return op;
}

static struct write_op *make_refitted(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_REFITTED, 4096);
    uint64_t *lost = arena_array(op->arena, 2, sizeof(*lost));
    lost[0] = 1 + draw(h, 20);
    lost[1] = 1 + draw(h, 20);
    op->u.refitted = (struct op_refitted){.shelf = any_shelf(h),
                                          .slice_id = draw(h, 3) ? 1 + draw(h, 20) : 0,
                                          .index_bytes = draw(h, 2) * 777,
                                          .functions = 5,
                                          .all_users = draw(h, 2),
                                          .lost = lost,
                                          .lost_count = draw(h, 3)};
    return op;
}

static struct write_op *make_objects(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_OBJECTS, 4096);
    struct uuid *used = arena_array(op->arena, 2, sizeof(*used));
    uint8_t(*dropped)[SHA256_SIZE] = arena_array(op->arena, 1, sizeof(*dropped));
    uint32_t image = 1 + draw(h, 5);
    used[0] = any_shelf(h);
    used[1] = suite_uuid(1 + draw(h, 5));
    memcpy(dropped[0], &image, sizeof(image));
    dropped[0][8] = (uint8_t)draw(h, 2);
    op->u.objects = (struct op_objects){.used = used,
                                        .used_count = draw(h, 3),
                                        .dropped = (const uint8_t(*)[SHA256_SIZE])dropped,
                                        .dropped_count = draw(h, 2),
                                        .now_ms = h->now_ms};
    return op;
}

static struct write_op *make_protect(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_PROTECT, 4096);
    op->u.protect = (struct op_protect){.bundle_id = draw(h, 2) ? SUITE_APP : "",
                                        .version = draw(h, 2) ? "1.0" : "2.0",
                                        .build = draw(h, 2) ? "100" : "",
                                        .os_build = "",
                                        .on = draw(h, 2),
                                        .now_ms = h->now_ms};
    return op;
}

static struct write_op *make_open_upload(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_OPEN_UPLOAD, 4096);
    op->u.open_upload = (struct op_open_upload){.size = 100 * (1 + draw(h, 2)),
                                                .spool_file = "2-0123456789abcdef.part",
                                                .bundle_id = SUITE_APP,
                                                .version = draw(h, 2) ? "1.0" : "",
                                                .build = "",
                                                .os_build = "",
                                                .system = draw(h, 4) == 0,
                                                .now_ms = h->now_ms,
                                                .max_open = 3,
                                                .max_bytes = 500,
                                                .max_open_app = draw(h, 3),
                                                .max_bytes_app = 250 * draw(h, 2)};
    op->u.open_upload.id[0] = (uint8_t)draw(h, 8);
    op->u.open_upload.sha256[0] = (uint8_t)draw(h, 3);
    return op;
}

static struct write_op *make_piece(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_PIECE, 4096);
    op->u.piece = (struct op_piece){.before = draw(h, 3) ? 0 : 50,
                                    .received = 50,
                                    .hash_state = draw(h, 4) ? "state" : NULL,
                                    .hash_state_len = 5,
                                    .now_ms = h->now_ms};
    op->u.piece.id[0] = (uint8_t)draw(h, 8);
    return op;
}

static struct write_op *make_open_end(struct history *h)
{
    struct write_op *op;
    uint8_t id[OPEN_UPLOAD_ID_SIZE] = {(uint8_t)draw(h, 8)};
    if (draw(h, 2)) {
        op = write_op_new(WRITE_OPEN_DROP, 4096);
        memcpy(op->u.open_drop.id, id, sizeof(id));
        return op;
    }
    op = suite_upload(9, h->now_ms);
    op->u.upload.open_id = arena_memdup(op->arena, id, sizeof(id));
    op->u.upload.protect = draw(h, 2);
    return op;
}

static struct write_op *make_expire(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = h->now_ms,
                                      .reports_before_ms = h->now_ms - (int64_t)draw(h, 8) * DAY,
                                      .report_ids_before_ms = h->now_ms - (int64_t)draw(h, 8) * DAY,
                                      .image_sets_before_ms = h->now_ms,
                                      .max_rows = draw(h, 3) ? 1000 : 1 + draw(h, 20)};
    /* Ids go in an order of the backend's own: only all or none can be compared. */
    if (op->u.expire.max_rows < 1000)
        op->u.expire.report_ids_before_ms = 0;
    return op;
}

static struct write_op *make_usage(struct history *h)
{
    static const char *const versions[] = {"1.0", "2.0", "3.0"};
    static const char *const devices[] = {"D1", "D2", "D9", ""};
    static const char *const pages[] = {"P1", "P2", "P9"};
    struct suite_usage items[4];
    size_t count = 1 + draw(h, 4);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct suite_usage){.id = fresh_id(h),
                                        .received_ms = h->now_ms,
                                        .day = (int32_t)(h->now_ms / DAY) - (int32_t)draw(h, 6),
                                        .version = versions[draw(h, 3)],
                                        .build = draw(h, 2) ? "1" : "2",
                                        .device = devices[draw(h, 4)],
                                        .os = draw(h, 2) ? "O1" : "O2",
                                        .page = pages[draw(h, 3)],
                                        .weight = draw(h, 3) ? 1 : 1 + draw(h, 100) / 7.0,
                                        .foreground_ms = (int64_t)draw(h, 100000) * 60,
                                        .launches = (int64_t)draw(h, 4)};
    }
    return suite_usage_op(draw(h, 4) ? SUITE_APP : "com.example.other", items, count);
}

static struct write_op *make_hours_expire(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_HOURS_EXPIRE, 4096);
    op->u.hours_expire = (struct op_hours_expire){
        .before_day = (int32_t)(h->now_ms / DAY) - (int32_t)draw(h, 9), .max_stacks = 1000};
    return op;
}

static struct write_op *make_give_up(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_GIVE_UP, 4096);
    op->u.give_up.before_ms = h->now_ms - (int64_t)draw(h, 5) * DAY;
    return op;
}

static struct write_op *make_stand_in(struct history *h)
{
    struct write_op *op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){.uuid = suite_uuid(1 + draw(h, 5)),
                                          .stand_in = suite_uuid(1 + draw(h, 5)),
                                          .bundle_id = draw(h, 3) ? SUITE_APP : "",
                                          .on = draw(h, 4) != 0,
                                          .by_hand = draw(h, 3) != 0,
                                          .now_ms = h->now_ms};
    return op;
}

static struct write_op *make_cluster_state(struct history *h)
{
    static const char *const versions[] = {"1.0", "2", "2.0", "2.1", "3", NULL};
    static const char *const notes[] = {"fixed", "not ours", NULL};
    struct write_op *op = write_op_new(WRITE_CLUSTER_STATE, 4096);
    op->u.cluster_state = (struct op_cluster_state){
        .id = 1 + draw(h, 12),
        .bundle_id = draw(h, 5) ? NULL : SUITE_APP,
        .set_state = draw(h, 6) != 0,
        .state = draw(h, 3) ? CLUSTER_RESOLVED : (enum cluster_state)draw(h, CLUSTER_STATES),
        .resolved_in = versions[draw(h, 6)],
        .resolved_build = draw(h, 2) ? "1" : NULL,
        .set_note = draw(h, 3) == 0,
        .note = notes[draw(h, 3)],
        .who = draw(h, 4) ? "ann" : NULL,
        .now_ms = h->now_ms,
    };
    return op;
}

/* An op that fails half-way. */
static struct write_op *make_bad_batch(struct history *h)
{
    struct write_op *op = make_batch(h);
    struct op_batch *b = op->u.batches.items;
    b->reports[b->report_count - 1].stack = 7777;
    return op;
}

static void compare_results(const struct write_op *x, const struct write_op *y)
{
    if (x->kind == WRITE_BATCHES) {
        const struct op_batch *a = x->u.batches.items;
        const struct op_batch *b = y->u.batches.items;
        for (size_t i = 0; i < a->report_count; i++)
            ck_assert_int_eq(a->reports[i].duplicate, b->reports[i].duplicate);
        for (size_t i = 0; i < a->report_count; i++)
            ck_assert_int_eq(a->reports[i].stacks_dropped, b->reports[i].stacks_dropped);
        for (size_t i = 0; i < a->stack_count; i++)
            ck_assert_uint_eq(a->stacks[i].added_id, b->stacks[i].added_id);
        ck_assert_int_eq(a->findings_due, b->findings_due);
    } else if (x->kind == WRITE_USAGE) {
        for (size_t i = 0; i < x->u.usage.count; i++)
            ck_assert_int_eq(x->u.usage.items[i].duplicate, y->u.usage.items[i].duplicate);
    } else if (x->kind == WRITE_RESOLUTIONS) {
        for (size_t i = 0; i < x->u.resolutions.count; i++)
            ck_assert_int_eq(x->u.resolutions.items[i].applied, y->u.resolutions.items[i].applied);
        ck_assert_int_eq(x->u.resolutions.findings_due, y->u.resolutions.findings_due);
    } else if (x->kind == WRITE_FINDINGS) {
        ck_assert_uint_eq(x->u.findings.count, y->u.findings.count);
        ck_assert_int_eq(x->u.findings.more, y->u.findings.more);
        for (size_t i = 0; i < x->u.findings.count; i++) {
            ck_assert_int_eq(x->u.findings.items[i].applied, y->u.findings.items[i].applied);
            ck_assert_int_eq(x->u.findings.items[i].moved, y->u.findings.items[i].moved);
        }
    } else if (x->kind == WRITE_REPEND) {
        ck_assert_uint_eq(x->u.repend.count, y->u.repend.count);
        ck_assert_uint_eq(x->u.repend.after_id, y->u.repend.after_id);
        ck_assert_int_eq(x->u.repend.more, y->u.repend.more);
    } else if (x->kind == WRITE_GIVE_UP) {
        ck_assert_uint_eq(x->u.give_up.count, y->u.give_up.count);
    } else if (x->kind == WRITE_STAND_IN) {
        ck_assert_int_eq(x->u.stand_in.existed, y->u.stand_in.existed);
        ck_assert_int_eq(x->u.stand_in.changed, y->u.stand_in.changed);
    } else if (x->kind == WRITE_CLUSTER_STATE) {
        ck_assert_int_eq(x->u.cluster_state.changed, y->u.cluster_state.changed);
    } else if (x->kind == WRITE_UPLOAD) {
        ck_assert_uint_eq(x->u.upload.id, y->u.upload.id);
    } else if (x->kind == WRITE_UPLOAD_DELETE) {
        ck_assert_int_eq(x->u.upload_delete.existed, y->u.upload_delete.existed);
    } else if (x->kind == WRITE_PROTECT) {
        ck_assert_int_eq(x->u.protect.existed, y->u.protect.existed);
    } else if (x->kind == WRITE_OPEN_UPLOAD) {
        ck_assert_mem_eq(x->u.open_upload.id, y->u.open_upload.id, OPEN_UPLOAD_ID_SIZE);
        ck_assert_int_eq(x->u.open_upload.resumed, y->u.open_upload.resumed);
        ck_assert_uint_eq(x->u.open_upload.received, y->u.open_upload.received);
    } else if (x->kind == WRITE_OPEN_DROP) {
        ck_assert_int_eq(x->u.open_drop.existed, y->u.open_drop.existed);
    }
}

/* The same op twice, made from one state of the generator. */
static void apply_both(struct history *h, make_op *make, struct suite *a, struct suite *b)
{
    struct error err = {0};
    struct history before = *h;
    struct write_op *x = make(h);
    struct history after = *h;
    *h = before;
    struct write_op *y = make(h);
    *h = after;
    enum err rc = suite_try(a, x, &err);
    ck_assert_msg(rc == suite_try(b, y, &err), "op %d: %d, %s", x->kind, rc, err.text);
    if (rc == ERR_OK)
        compare_results(x, y);
    write_op_free(x);
    write_op_free(y);
}

static void upload_both(struct history *h, struct suite *a, struct suite *b)
{
    struct write_op *x = suite_upload(h->next_sha, h->now_ms);
    struct write_op *y = suite_upload(h->next_sha, h->now_ms);
    struct history before = *h;
    h->next_sha = (h->next_sha + 1) % 5;
    suite_apply_keep(a, x);
    suite_apply_keep(b, y);
    compare_results(x, y);
    before = *h;
    suite_apply(a, make_upload_state(h, x->u.upload.id));
    *h = before;
    suite_apply(b, make_upload_state(h, y->u.upload.id));
    write_op_free(x);
    write_op_free(y);
}

/* Answers made before, applied after something else happened. */
static void resolve_both(struct history *h, struct suite *a, struct suite *b)
{
    struct write_op *x = suite_resolution(a);
    struct write_op *y = suite_resolution(b);
    ck_assert_int_eq(x != NULL, y != NULL);
    if (!x)
        return;
    ck_assert_uint_eq(x->u.resolutions.count, y->u.resolutions.count);
    if (draw(h, 3) == 0)
        upload_both(h, a, b);
    if (draw(h, 4) == 0) {
        x->u.resolutions.rules_version = y->u.resolutions.rules_version = "rules-2";
        x->u.resolutions.count = y->u.resolutions.count = 1 + x->u.resolutions.count / 2;
    }
    suite_apply_keep(a, x);
    suite_apply_keep(b, y);
    compare_results(x, y);
    write_op_free(x);
    write_op_free(y);
}

/* Answers made before, applied after something else happened. */
static void find_both(struct history *h, struct suite *a, struct suite *b)
{
    size_t limit = 1 + draw(h, 30);
    uint32_t refill = draw(h, 40);
    struct write_op *x = suite_findings(a, limit, refill);
    struct write_op *y = suite_findings(b, limit, refill);
    ck_assert_int_eq(x != NULL, y != NULL);
    if (!x)
        return;
    uint32_t what = draw(h, 5);
    if (what == 0)
        resolve_both(h, a, b);
    else if (what == 1)
        apply_both(h, make_expire, a, b);
    suite_apply_keep(a, x);
    suite_apply_keep(b, y);
    compare_results(x, y);
    write_op_free(x);
    write_op_free(y);
}

/* Several ops in one group, some of which fail, and sometimes a group that is given up. */
static void group_both(struct history *h, struct suite *a, struct suite *b)
{
    struct error err = {0};
    struct write_op *x[5], *y[5];
    size_t count = 1 + draw(h, 5);
    bool give_up = draw(h, 4) == 0;
    ck_assert_int_eq(storage_begin(a->storage, &err), ERR_OK);
    ck_assert_int_eq(storage_begin(b->storage, &err), ERR_OK);
    for (size_t i = 0; i < count; i++) {
        uint32_t what = draw(h, 6);
        make_op *make = what == 0 ? make_bad_batch : what == 1 ? make_repend : make_batch;
        struct history before = *h;
        x[i] = make(h);
        struct history after = *h;
        *h = before;
        y[i] = make(h);
        *h = after;
        enum err rc = storage_apply(a->storage, x[i], &err);
        ck_assert_int_eq(rc, storage_apply(b->storage, y[i], &err));
        if (rc == ERR_OK)
            compare_results(x[i], y[i]);
    }
    if (give_up) {
        storage_rollback(a->storage);
        storage_rollback(b->storage);
    } else {
        ck_assert_int_eq(storage_commit(a->storage, &err), ERR_OK);
        ck_assert_int_eq(storage_commit(b->storage, &err), ERR_OK);
    }
    for (size_t i = 0; i < count; i++) {
        write_op_free(x[i]);
        write_op_free(y[i]);
    }
}

static void store_both(struct history *h, struct suite *a, struct suite *b)
{
    static make_op *const makers[] = {make_upload_delete, make_refit,   make_refitted,
                                      make_objects,       make_protect, make_open_upload,
                                      make_piece,         make_open_end};
    for (int i = 0; i < 3; i++)
        apply_both(h, makers[draw(h, sizeof(makers) / sizeof(makers[0]))], a, b);
}

void history_step(struct history *h, struct suite *a, struct suite *b)
{
    uint32_t what = draw(h, 27);
    if (draw(h, 2) == 0)
        store_both(h, a, b);
    if (draw(h, 3) == 0)
        apply_both(h, make_cluster_state, a, b);
    if (draw(h, 3) == 0)
        apply_both(h, make_stand_in, a, b);
    if (draw(h, 2) == 0)
        history_merges_step(h, a, b);
    if (draw(h, 3) == 0)
        h->now_ms += (int64_t)draw(h, 30) * 3600000;
    if (what < 4)
        apply_both(h, make_batch, a, b);
    else if (what < 8)
        group_both(h, a, b);
    else if (what < 13)
        resolve_both(h, a, b);
    else if (what < 15)
        upload_both(h, a, b);
    else if (what >= 23)
        find_both(h, a, b);
    else
        apply_both(h,
                   what == 15   ? make_repend
                   : what == 16 ? make_delete
                   : what == 17 ? make_expire
                   : what == 18 ? make_give_up
                   : what == 19 ? make_hours_expire
                   : what >= 21 ? make_usage
                                : make_bad_batch,
                   a, b);
}

static void first_difference(const char *a, const char *b, const char *when)
{
    const char *line = a;
    for (size_t i = 0; a[i] || b[i]; i++) {
        if (a[i] != b[i]) {
            size_t at = (size_t)(line - a);
            ck_abort_msg("%s:\n%.*s\n%.*s", when, (int)strcspn(line, "\n"), line,
                         (int)strcspn(b + at, "\n"), b + at);
        }
        if (a[i] == '\n')
            line = a + i + 1;
    }
}

static void compare_new_stacks(const struct history *h, struct suite *a, struct suite *b)
{
    struct error err = {0};
    for (int64_t day = h->now_ms / DAY - 1; day <= h->now_ms / DAY; day++) {
        struct new_stacks_row x, y;
        ck_assert_int_eq(read_new_stacks(a->reader, NULL, (int32_t)day, &x, &err), ERR_OK);
        ck_assert_int_eq(read_new_stacks(b->reader, NULL, (int32_t)day, &y, &err), ERR_OK);
        ck_assert_uint_eq(x.added, y.added);
        ck_assert_uint_eq(x.dropped, y.dropped);
        ck_assert_uint_eq(x.pairs_dropped, y.pairs_dropped);
    }
}

void history_compare(struct history *h, struct suite *a, struct suite *b, const char *when)
{
    struct buf x, y;
    buf_init(&x, (size_t)64 << 20);
    buf_init(&y, (size_t)64 << 20);
    size_t first = h->id_count > 12 ? h->id_count - 12 : 0;
    dump_storage(a->reader, h->id_list + first, h->id_count - first, 60, &x);
    dump_storage(b->reader, h->id_list + first, h->id_count - first, 60, &y);
    if (strcmp(x.data, y.data) != 0)
        first_difference(x.data, y.data, when);
    compare_new_stacks(h, a, b);
    buf_done(&x);
    buf_done(&y);
}
