/* Candidates and stand-ins for symbol files that never came. */
#include <check.h>
#include <string.h>

#include "storage/read_stand_ins.h"
#include "tests/conformance/suite.h"

/* Indexes images for a release; every slice has that name. */
static void index_called(struct suite *s, const char *name, uint32_t sha, const char *bundle_id,
                         const char *version, const char *build, const uint32_t *images,
                         size_t count)
{
    struct write_op *up = suite_upload(sha, SUITE_NOW);
    up->u.upload.bundle_id = bundle_id;
    up->u.upload.version = version;
    up->u.upload.build = build;
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, images, count, 1);
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    for (size_t i = 0; i < count; i++)
        x[i].name = name;
    suite_apply(s, op);
    write_op_free(up);
}

static void index_as(struct suite *s, uint32_t sha, const char *bundle_id, const char *version,
                     const char *build, const uint32_t *images, size_t count)
{
    index_called(s, "Image1", sha, bundle_id, version, build, images, count);
}

/* A stack whose frames lie in image 1. */
#define STACK 8

static void send(struct suite *s, const char *id, const char *version, const char *build)
{
    const struct suite_report r = {.id = id, .stack = STACK, .version = version, .build = build};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    suite_image(op, 1, IMAGE_UUID);
    suite_apply(s, op);
}

static struct missing_row wanted(struct suite *s)
{
    struct error err = {0};
    struct missing_row *rows = NULL;
    size_t count = 0;
    const char *next = NULL;
    const struct uuid image = suite_uuid(1);
    ck_assert_int_eq(
        read_missing(s->reader, SUITE_APP, 100, NULL, &s->arena, &rows, &count, &next, &err),
        ERR_OK);
    for (size_t i = 0; i < count; i++) {
        if (uuid_equal(&rows[i].uuid, &image))
            return rows[i];
    }
    ck_abort_msg("image 1 is not missing");
}

static struct write_op *stand_in(uint32_t image, uint32_t other, bool on)
{
    struct write_op *op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){.uuid = suite_uuid(image),
                                          .stand_in = suite_uuid(other),
                                          .bundle_id = "",
                                          .on = on,
                                          .by_hand = true,
                                          .now_ms = SUITE_NOW};
    return op;
}

static struct stand_in_row only(struct suite *s, size_t expected)
{
    struct error err = {0};
    struct stand_in_row *rows = NULL;
    size_t count = 0;
    ck_assert_int_eq(read_stand_ins(s->reader, NULL, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, expected);
    return count ? rows[0] : (struct stand_in_row){.by_hand = false};
}

static enum err refused(struct suite *s, struct write_op *op)
{
    struct error err = {0};
    enum err rc = suite_try(s, op, &err);
    write_op_free(op);
    return rc;
}

void suite_candidates_nearest_build_first(struct suite *s)
{
    const uint32_t far[] = {31}, near[] = {32}, same[] = {33}, none[] = {34}, other[] = {35},
                   foreign[] = {36}, named[] = {37};
    send(s, "r1", "2.0", "100");
    suite_resolve(s);
    ck_assert_uint_eq(wanted(s).candidate_count, 0);
    index_as(s, 1, SUITE_APP, "2.0", "80", far, 1);
    index_as(s, 2, SUITE_APP, "2.0", "103", near, 1);
    index_as(s, 3, SUITE_APP, "2.0", "", none, 1);
    index_as(s, 4, SUITE_APP, "2.1", "100", other, 1);
    index_as(s, 5, "com.example.other", "2.0", "100", foreign, 1);
    suite_index(s, named, 1, 1); /* File37 */
    struct missing_row m = wanted(s);
    ck_assert_uint_eq(m.candidate_count, 3);
    struct uuid expected[] = {suite_uuid(32), suite_uuid(31), suite_uuid(34)};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(uuid_equal(&m.candidates[i].uuid, &expected[i]));
        ck_assert(!m.candidates[i].same_build);
    }
    ck_assert_str_eq(m.candidates[0].build, "103");
    ck_assert_str_eq(m.candidates[2].build, "");
    ck_assert(m.candidates[0].has_dwarf);
    index_as(s, 6, SUITE_APP, "2.0", "100", same, 1);
    m = wanted(s);
    ck_assert_uint_eq(m.candidate_count, 3);
    expected[0] = suite_uuid(33);
    ck_assert(uuid_equal(&m.candidates[0].uuid, &expected[0]));
    ck_assert(m.candidates[0].same_build);
    ck_assert_ptr_null(m.stand_in);
    /* Reports of another build want their own neighbours, too. */
    send(s, "r2", "2.0", "80");
    m = wanted(s);
    ck_assert(m.candidates[0].same_build && m.candidates[1].same_build);
    ck_assert_str_eq(m.candidates[0].build, "100"); /* the younger slice */
    ck_assert_str_eq(m.candidates[1].build, "80");
}

/* The same object sent for two versions is offered for both, whichever row's index is in use. */
void suite_candidates_of_every_version(struct suite *s)
{
    const uint32_t same[] = {33};
    send(s, "r1", "2.0", "100");
    suite_resolve(s);
    index_as(s, 6, SUITE_APP, "2.0", "100", same, 1);
    index_as(s, 6, SUITE_APP, "3.0", "300", same, 1);
    struct missing_row m = wanted(s);
    ck_assert_uint_eq(m.candidate_count, 1);
    ck_assert_str_eq(m.candidates[0].version, "2.0");
    ck_assert(m.candidates[0].same_build);
    index_as(s, 6, SUITE_APP, "2.0", "99", same, 1);
    m = wanted(s);
    ck_assert_uint_eq(m.candidate_count, 1);
    ck_assert_str_eq(m.candidates[0].build, "100"); /* the nearest of both */
}

void suite_stand_in_names_frames(struct suite *s)
{
    const uint32_t other[] = {31}, own[] = {1};
    send(s, "r1", "2.0", "100");
    suite_resolve(s);
    uint64_t before = suite_cluster(s, NULL).id;
    ck_assert(suite_cluster(s, NULL).provisional);
    index_as(s, 1, SUITE_APP, "2.0", "99", other, 1);
    ck_assert_uint_eq(suite_pending(s), 0);
    struct write_op *op = stand_in(1, 31, true);
    suite_apply_keep(s, op);
    ck_assert(op->u.stand_in.changed && !op->u.stand_in.existed);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert(c.approximate && !c.provisional);
    ck_assert_uint_ne(c.id, before);
    ck_assert_uint_eq(c.figures.count, 1);
    ck_assert_uint_eq(only(s, 1).created_ms, SUITE_NOW);
    struct missing_row m = wanted(s); /* is wanted all the same */
    struct uuid expected = suite_uuid(31);
    ck_assert(m.stand_in && uuid_equal(m.stand_in, &expected));
    /* The same again changes nothing. */
    suite_apply_keep(s, op);
    ck_assert(!op->u.stand_in.changed && op->u.stand_in.existed);
    ck_assert_uint_eq(suite_pending(s), 0);
    write_op_free(op);
    /* The true file ends it, in the same cluster. */
    index_as(s, 2, SUITE_APP, "2.0", "100", own, 1);
    only(s, 0);
    suite_resolve(s);
    struct cluster_row exact = suite_cluster(s, NULL);
    ck_assert(!exact.approximate);
    ck_assert_uint_eq(exact.id, c.id);
    ck_assert_uint_eq(exact.figures.count, 1);
    ck_assert_int_eq(refused(s, stand_in(1, 31, true)), ERR_CONFLICT);
}

void suite_stand_in_is_taken_back(struct suite *s)
{
    const uint32_t other[] = {31, 32};
    send(s, "r1", "2.0", "100");
    suite_resolve(s);
    index_as(s, 1, SUITE_APP, "2.0", "99", other, 2);
    suite_apply(s, stand_in(1, 31, true));
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).approximate);
    /* Another one in its place; the daemon's choice never replaces one. */
    struct write_op *op = stand_in(1, 32, true);
    op->u.stand_in.by_hand = false;
    suite_apply_keep(s, op);
    ck_assert(!op->u.stand_in.changed && op->u.stand_in.existed);
    struct uuid expected = suite_uuid(31);
    struct stand_in_row row = only(s, 1);
    ck_assert(uuid_equal(&row.stand_in, &expected) && row.by_hand);
    op->u.stand_in.by_hand = true;
    suite_apply_keep(s, op);
    ck_assert(op->u.stand_in.changed);
    expected = suite_uuid(32);
    row = only(s, 1);
    ck_assert(uuid_equal(&row.stand_in, &expected));
    write_op_free(op);
    suite_resolve(s);
    op = stand_in(1, 32, false);
    suite_apply_keep(s, op);
    ck_assert(op->u.stand_in.changed && op->u.stand_in.existed);
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).provisional && !suite_cluster(s, NULL).approximate);
    suite_apply_keep(s, op);
    ck_assert(!op->u.stand_in.changed && !op->u.stand_in.existed);
    write_op_free(op);
}

void suite_stand_in_is_checked(struct suite *s)
{
    const uint32_t other[] = {31}, named[] = {37};
    send(s, "r1", "2.0", "100");
    index_as(s, 1, SUITE_APP, "2.0", "99", other, 1);
    suite_index(s, named, 1, 1);
    ck_assert_int_eq(refused(s, stand_in(1, 30, true)), ERR_NOT_FOUND);
    ck_assert_int_eq(refused(s, stand_in(1, 1, true)), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, stand_in(31, 31, true)), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, stand_in(1, 37, true)), ERR_CONFLICT); /* File37 */
    ck_assert_int_eq(refused(s, stand_in(1, 31, true)), ERR_OK);
    /* A stack that was never resolved is told, too: an answer that was under way is late. */
    suite_apply(s, stand_in(1, 31, false));
    struct write_op *answer = suite_resolution(s);
    suite_apply(s, stand_in(1, 31, true));
    suite_apply_keep(s, answer);
    ck_assert(!answer->u.resolutions.items[0].applied);
    write_op_free(answer);
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).approximate);
}

/* A bare file says no name: it may stand in by hand, unless reports call its image otherwise. */
void suite_stand_in_without_a_name(struct suite *s)
{
    const uint32_t nameless[] = {31}, other[] = {32}, named[] = {33};
    send(s, "r1", "2.0", "100");
    index_called(s, "", 1, SUITE_APP, "2.0", "98", nameless, 1);
    index_called(s, "", 2, SUITE_APP, "2.0", "99", other, 1);
    index_called(s, "", 3, SUITE_APP, "2.0", "97", named, 1);
    const struct suite_report r = {.id = "r2", .stack = STACK};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    suite_image(op, 32, IMAGE_UUID); /* Image32 */
    suite_image(op, 33, IMAGE_UUID)->name = "Image1";
    suite_apply(s, op);
    suite_resolve(s);
    ck_assert_uint_eq(wanted(s).candidate_count, 0);
    ck_assert_int_eq(refused(s, stand_in(1, 32, true)), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, stand_in(1, 33, true)), ERR_OK);
    ck_assert_int_eq(refused(s, stand_in(1, 31, true)), ERR_OK);
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).approximate);
}

/* What stands in is deleted, and comes back. */
void suite_stand_in_follows_its_index(struct suite *s)
{
    const uint32_t other[] = {31};
    send(s, "r1", "2.0", "100");
    suite_resolve(s);
    index_as(s, 1, SUITE_APP, "2.0", "99", other, 1);
    suite_apply(s, stand_in(1, 31, true));
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).approximate);
    struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    op->u.symbol_delete.shelf = suite_uuid(31);
    suite_apply(s, op);
    op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend = (struct op_repend){.uuid = suite_uuid(31), .all_users = true};
    suite_apply(s, op);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).provisional);
    only(s, 1);
    index_as(s, 2, SUITE_APP, "2.0", "99", other, 1);
    suite_resolve(s);
    ck_assert(suite_cluster(s, NULL).approximate);
}

/* One exact stack is enough. */
void suite_stand_in_beside_exact_stacks(struct suite *s)
{
    struct error err = {0};
    const uint32_t other[] = {31}, second[] = {2};
    const struct suite_report r[] = {{.id = "r1", .stack = STACK},
                                     {.id = "r2", .stack = STACK + 1}}; /* image 2 */
    struct write_op *op = suite_batch(SUITE_APP, r, 2);
    suite_image(op, 1, IMAGE_UUID);
    suite_apply(s, op);
    index_as(s, 1, SUITE_APP, "1.0", "99", other, 1);
    suite_apply(s, stand_in(1, 31, true));
    suite_index(s, second, 1, 1);
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert(!c.approximate);
    struct stack_row *stacks = NULL;
    size_t count = 0;
    ck_assert_int_eq(read_cluster_stacks(s->reader, c.id, 10, &s->arena, &stacks, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(stacks[0].approximate + stacks[1].approximate, 1);
}

/* Its last report goes while it waits for the resolver: it is retired once it is resolved. */
void suite_pending_stack_is_retired_later(struct suite *s)
{
    const uint32_t image[] = {1};
    const struct suite_report r[] = {
        {.id = "r1", .stack = STACK, .received_ms = SUITE_NOW},
        {.id = "r2", .stack = STACK + 40, .received_ms = SUITE_NOW},
        {.id = "r3", .stack = STACK, .received_ms = SUITE_NOW},
    };
    struct error err = {0};
    struct stats_row stats;
    suite_index(s, image, 1, 1);
    suite_apply(s, suite_batch(SUITE_APP, r, 3));
    for (int look = 0; look < 2; look++) {
        struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
        op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 100 * (int64_t)86400000,
                                          .reports_before_ms = SUITE_NOW + 1,
                                          .max_rows = 100};
        suite_apply_keep(s, op);
        ck_assert_uint_eq(op->u.expire.dropped, look ? 0 : 3);
        write_op_free(op);
        ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
        ck_assert_uint_eq(suite_stack_count(s, NULL), 2);
        ck_assert_uint_eq(stats.pending_stacks, 2);
    }
    suite_resolve(s);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(suite_stack_count(s, NULL), 2);
    uint64_t total = 0;
    for (int look = 0; look < 2; look++) {
        struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
        op->u.expire = (struct op_expire){.now_ms = SUITE_NOW, .max_rows = 100};
        suite_apply(s, op);
        ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
        ck_assert_uint_eq(stats.reports, 3);
        total = suite_stack_count(s, NULL);
    }
    /* The heaviest of each cluster stays. */
    ck_assert_uint_eq(total, suite_cluster_count(s));
}
