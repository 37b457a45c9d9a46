/* The symbol store: objects, refits, protected builds, uploads in pieces. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/suite.h"

/* Uploads and indexes one image of object `sha`; the upload's id. */
static uint64_t put_for(struct suite *s, const char *app, bool system, uint32_t image, uint8_t sha,
                        bool installed, int64_t now_ms)
{
    struct write_op *up = suite_upload(image * 100u + sha, now_ms);
    if (app)
        up->u.upload.bundle_id = app;
    up->u.upload.system = system;
    suite_apply_keep(s, up);
    uint64_t id = up->u.upload.id;
    struct write_op *op = suite_indexed(id, &image, 1, 1);
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    x->object_sha256[8] = sha;
    x->object_kept = true;
    x->installed = installed;
    op->u.upload_state.now_ms = now_ms;
    suite_apply(s, op);
    write_op_free(up);
    return id;
}

static uint64_t put(struct suite *s, uint32_t image, uint8_t sha, bool installed, int64_t now_ms)
{
    return put_for(s, NULL, false, image, sha, installed, now_ms);
}

static struct slice_row *rows_of(struct suite *s, uint32_t image, size_t *count)
{
    struct error err = {0};
    struct slice_row *rows = NULL;
    struct uuid u = suite_uuid(image);
    *count = 0;
    enum err rc = read_symbol(s->reader, &u, &s->arena, &rows, count, &err);
    ck_assert(rc == ERR_OK || rc == ERR_NOT_FOUND);
    return rows;
}

static size_t refits(struct suite *s, struct refit_row **rows)
{
    struct error err = {0};
    size_t count;
    ck_assert_int_eq(read_refits(s->reader, 10, &s->arena, rows, &count, &err), ERR_OK);
    return count;
}

static enum err delete_upload(struct suite *s, uint64_t id, bool *existed)
{
    struct error err = {0};
    struct write_op *op = write_op_new(WRITE_UPLOAD_DELETE, 4096);
    op->u.upload_delete.id = id;
    enum err rc = suite_try(s, op, &err);
    *existed = op->u.upload_delete.existed;
    write_op_free(op);
    return rc;
}

void suite_deleting_an_upload(struct suite *s)
{
    struct refit_row *queue;
    struct upload_row u;
    struct error err = {0};
    size_t count;
    bool existed;
    uint64_t first = put(s, 1, 1, true, SUITE_NOW);
    uint64_t twin = put(s, 1, 1, false, SUITE_NOW + 1); /* the same object in another archive */
    uint64_t other = put(s, 1, 2, false, SUITE_NOW + 2);
    /* The twin takes over: no stack has to be resolved anew. */
    ck_assert_int_eq(delete_upload(s, first, &existed), ERR_OK);
    ck_assert(existed);
    struct slice_row *rows = rows_of(s, 1, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(rows[0].current && rows[0].upload_id == twin && rows[0].object_kept);
    ck_assert_uint_eq(refits(s, &queue), 1);
    ck_assert(!queue[0].deleted);
    ck_assert_int_eq(read_upload(s->reader, first, &s->arena, &u, &err), ERR_NOT_FOUND);
    /* Nobody takes over by itself: the indexer has to choose. */
    ck_assert_int_eq(delete_upload(s, twin, &existed), ERR_OK);
    ck_assert_uint_eq(refits(s, &queue), 1);
    ck_assert(queue[0].deleted);
    rows = rows_of(s, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(!rows[0].current);
    struct write_op *op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted =
        (struct op_refitted){.shelf = suite_uuid(1), .slice_id = rows[0].id, .index_bytes = 77};
    suite_apply(s, op);
    rows = rows_of(s, 1, &count);
    ck_assert(rows[0].current && rows[0].index_bytes == 77 && rows[0].upload_id == other);
    ck_assert_uint_eq(refits(s, &queue), 0);
    /* Again, and what is not there or still queued. */
    ck_assert_int_eq(delete_upload(s, twin, &existed), ERR_OK);
    ck_assert(!existed);
    struct write_op *up = suite_upload(5, SUITE_NOW);
    suite_apply_keep(s, up);
    ck_assert_int_eq(delete_upload(s, up->u.upload.id, &existed), ERR_CONFLICT);
    write_op_free(up);
}

void suite_lost_indexes(struct suite *s)
{
    struct refit_row *queue;
    struct upload_row u;
    struct error err = {0};
    size_t count;
    bool present = true;
    struct uuid uuid = suite_uuid(1);
    uint64_t id = put(s, 1, 1, true, SUITE_NOW);
    struct write_op *op = write_op_new(WRITE_REFIT, 4096);
    op->u.refit = (struct op_refit){&uuid, 1, false};
    suite_apply(s, op);
    ck_assert_uint_eq(refits(s, &queue), 1);
    struct slice_row *rows = rows_of(s, 1, &count);
    uint64_t lost = rows[0].id;
    op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted = (struct op_refitted){.shelf = uuid, .lost = &lost, .lost_count = 1};
    suite_apply(s, op);
    rows = rows_of(s, 1, &count);
    ck_assert(rows[0].lost && rows[0].indexed && !rows[0].current);
    struct turn_back_row *noted;
    ck_assert_int_eq(read_turn_backs(s->reader, 10, &s->arena, &noted, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert(uuid_equal(&noted[0].uuid, &uuid) && !noted[0].all_users);
    ck_assert_int_eq(read_symbols_present(s->reader, "", &uuid, 1, &present, &err), ERR_OK);
    ck_assert(!present);
    /* The upload's content is not known any more: it is to be sent again, and heals the old row. */
    ck_assert_int_eq(read_upload(s->reader, id, &s->arena, &u, &err), ERR_OK);
    ck_assert_int_eq(
        read_upload_by_sha256(s->reader, u.sha256, &SUITE_ANY_ORIGIN, &s->arena, &u, &err),
        ERR_NOT_FOUND);
    put(s, 1, 1, true, SUITE_NOW + 5);
    rows = rows_of(s, 1, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(rows[0].current && !rows[0].lost && !rows[1].lost);
    /* A choice that was overtaken by a deletion changes nothing. */
    op = write_op_new(WRITE_REFIT, 4096);
    op->u.refit = (struct op_refit){&uuid, 1, false};
    suite_apply(s, op);
    op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted = (struct op_refitted){.shelf = uuid, .slice_id = 4711};
    suite_apply(s, op);
    ck_assert_uint_eq(refits(s, &queue), 1);
}

static size_t idle(struct suite *s, int64_t app, int64_t system, struct object_row **rows)
{
    struct error err = {0};
    size_t count;
    ck_assert_int_eq(read_idle_objects(s->reader, app, system, 10, &s->arena, rows, &count, &err),
                     ERR_OK);
    return count;
}

static void protect(struct suite *s, const char *bundle_id, const char *version, bool on,
                    bool existed)
{
    struct write_op *op = write_op_new(WRITE_PROTECT, 4096);
    op->u.protect = (struct op_protect){bundle_id, version, "", "", on, SUITE_NOW, false};
    suite_apply_keep(s, op);
    ck_assert_int_eq(op->u.protect.existed, existed);
    write_op_free(op);
}

/* An object is the app's that all its uploads name; else it is no app's alone. */
void suite_holders_of_objects(struct suite *s)
{
    struct error err = {0};
    struct object_holder_row *holders;
    struct object_row *rows;
    size_t count;
    ck_assert_int_eq(read_object_holders(s->reader, &s->arena, &holders, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    for (uint8_t i = 1; i <= 4; i++)
        put_for(s, "com.a", false, i, i, true, SUITE_NOW - i);
    put_for(s, "com.b", false, 5, 5, true, SUITE_NOW);
    put_for(s, "com.b", false, 6, 6, true, SUITE_NOW);
    put_for(s, "com.a", false, 6, 6, true, SUITE_NOW); /* of both */
    put_for(s, "com.a", true, 30, 30, true, SUITE_NOW);
    put_for(s, "", false, 8, 8, true, SUITE_NOW);
    ck_assert_int_eq(read_object_holders(s->reader, &s->arena, &holders, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(holders[0].bundle_id, "com.a");
    ck_assert_uint_eq(holders[0].bytes, 20000);
    ck_assert_uint_eq(holders[0].fixed, 0);
    ck_assert_str_eq(holders[1].bundle_id, "");
    ck_assert_uint_eq(holders[1].bytes, 15000);
    ck_assert_str_eq(holders[2].bundle_id, "com.b");
    ck_assert_uint_eq(holders[2].bytes, 5000);
    ck_assert_int_eq(read_held_objects(s->reader, "com.a", 3, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(rows[i].sha256[8], 4 - i); /* the longest unused first */
    ck_assert_int_eq(read_held_objects(s->reader, "com.c", 3, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 0);
    protect(s, "com.a", "", true, false);
    ck_assert_int_eq(read_held_objects(s->reader, "com.a", 3, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(read_object_holders(s->reader, &s->arena, &holders, &count, &err), ERR_OK);
    ck_assert_uint_eq(holders[0].fixed, 20000);
    ck_assert_str_eq(holders[1].bundle_id, "");
    ck_assert_uint_eq(holders[1].fixed, 10000); /* of both, and of a system */
    ck_assert_uint_eq(holders[2].fixed, 0);
}

void suite_protected_builds_have_a_cap(struct suite *s)
{
    struct protected_row *rows;
    size_t count = 0;
    struct error err = {0};
    char version[16];
    struct write_op *op = write_op_new(WRITE_PROTECT, 4096);
    suite_expect(storage_begin(s->storage, &err), &err);
    for (int i = 0; i < PROTECTED_MAX; i++) {
        snprintf(version, sizeof(version), "%d", i);
        op->u.protect = (struct op_protect){SUITE_APP, version, "", "", true, SUITE_NOW, false};
        suite_expect(storage_apply(s->storage, op, &err), &err);
    }
    suite_expect(storage_commit(s->storage, &err), &err);
    op->u.protect = (struct op_protect){SUITE_APP, "more", "", "", true, SUITE_NOW, false};
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT);
    protect(s, SUITE_APP, "7", true, true); /* again is not more */
    write_op_free(op);
    op = suite_upload(90, SUITE_NOW);
    op->u.upload.bundle_id = SUITE_APP;
    op->u.upload.version = "other";
    op->u.upload.protect = true;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT);
    write_op_free(op);
    protect(s, SUITE_APP, "7", false, true);
    protect(s, SUITE_APP, "more", true, false);
    ck_assert_int_eq(read_protected(s->reader, NULL, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, PROTECTED_MAX);
}

void suite_objects_and_their_use(struct suite *s)
{
    struct object_row *rows;
    struct object_totals t;
    uint64_t kept = 0;
    struct error err = {0};
    bool existed;
    struct uuid used = suite_uuid(1);
    put(s, 1, 1, true, SUITE_NOW);
    uint64_t second = put(s, 2, 1, true, SUITE_NOW + 1);
    ck_assert_int_eq(read_object_totals(s->reader, NULL, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.files, 2);
    ck_assert_uint_eq(t.bytes, 10000);
    ck_assert_uint_eq(t.index_bytes, 8192);
    ck_assert_int_eq(read_kept_index_bytes(s->reader, NULL, &kept, &err), ERR_OK);
    ck_assert_uint_eq(kept, 8192);
    ck_assert_uint_eq(idle(s, SUITE_NOW + 1, INT64_MAX, &rows), 1);
    ck_assert_uint_eq(idle(s, INT64_MAX, 0, &rows), 2);
    ck_assert_int_eq(rows[0].used_ms, SUITE_NOW);
    struct write_op *op = write_op_new(WRITE_OBJECTS, 4096);
    op->u.objects = (struct op_objects){.used = &used, .used_count = 1, .now_ms = SUITE_NOW + 9};
    suite_apply(s, op);
    ck_assert_uint_eq(idle(s, INT64_MAX, 0, &rows), 2);
    ck_assert_int_eq(rows[1].used_ms, SUITE_NOW + 9);
    /* Protected by any of its attributes, as long as the rule says nothing else. */
    protect(s, SUITE_APP, "1.0", true, false);
    protect(s, SUITE_APP, "1.0", true, true);
    ck_assert_uint_eq(idle(s, INT64_MAX, INT64_MAX, &rows), 0);
    protect(s, SUITE_APP, "1.0", false, true);
    protect(s, SUITE_APP, "1.0", false, false);
    protect(s, "other", "", true, false);
    protect(s, "", "2.0", true, false);
    ck_assert_uint_eq(idle(s, INT64_MAX, INT64_MAX, &rows), 2);
    protect(s, "", "1.0", true, false);
    ck_assert_uint_eq(idle(s, INT64_MAX, INT64_MAX, &rows), 0);
    /* Of a deleted upload it goes all the same. */
    ck_assert_int_eq(delete_upload(s, second, &existed), ERR_OK);
    ck_assert_uint_eq(idle(s, 0, 0, &rows), 1);
    ck_assert_int_eq(rows[0].used_ms, -1);
    op = write_op_new(WRITE_OBJECTS, 4096);
    op->u.objects.dropped = (const uint8_t(*)[SHA256_SIZE]) & rows[0].sha256;
    op->u.objects.dropped_count = 1;
    suite_apply(s, op);
    ck_assert_int_eq(read_object_totals(s->reader, NULL, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.files, 1);
}

static struct write_op *open_op(uint8_t id, uint8_t sha, uint64_t size)
{
    struct write_op *op = write_op_new(WRITE_OPEN_UPLOAD, 4096);
    op->u.open_upload = (struct op_open_upload){.id = {id},
                                                .sha256 = {sha},
                                                .size = size,
                                                .spool_file = "3-0123456789abcdef.part",
                                                .bundle_id = SUITE_APP,
                                                .version = "1",
                                                .build = "",
                                                .os_build = "",
                                                .now_ms = SUITE_NOW,
                                                .max_open = 2,
                                                .max_bytes = 1000};
    return op;
}

static enum err send(struct suite *s, uint8_t id, uint64_t before, uint64_t received)
{
    struct error err = {0};
    struct write_op *op = write_op_new(WRITE_PIECE, 4096);
    op->u.piece = (struct op_piece){.id = {id},
                                    .before = before,
                                    .received = received,
                                    .hash_state = "state",
                                    .hash_state_len = 5,
                                    .now_ms = SUITE_NOW + 7};
    enum err rc = suite_try(s, op, &err);
    write_op_free(op);
    return rc;
}

void suite_uploads_in_pieces(struct suite *s)
{
    struct error err = {0};
    struct open_upload_row row, *rows;
    const uint8_t id[OPEN_UPLOAD_ID_SIZE] = {1};
    size_t count;
    struct write_op *op = open_op(1, 1, 600);
    suite_apply_keep(s, op);
    ck_assert(!op->u.open_upload.resumed);
    write_op_free(op);
    ck_assert_int_eq(send(s, 1, 0, 100), ERR_OK);
    ck_assert_int_eq(send(s, 1, 0, 100), ERR_CONFLICT);
    ck_assert_int_eq(send(s, 9, 0, 100), ERR_NOT_FOUND);
    /* The same content and build: the one that is open, whatever id was drawn. */
    op = open_op(5, 1, 600);
    suite_apply_keep(s, op);
    ck_assert(op->u.open_upload.resumed);
    ck_assert_uint_eq(op->u.open_upload.id[0], 1);
    ck_assert_uint_eq(op->u.open_upload.received, 100);
    write_op_free(op);
    /* But not where it would serve others than this one will. */
    op = open_op(5, 1, 600);
    op->u.open_upload.bound = true;
    op->u.open_upload.max_bytes = 1200;
    suite_apply_keep(s, op);
    ck_assert(!op->u.open_upload.resumed);
    write_op_free(op);
    const uint8_t own[OPEN_UPLOAD_ID_SIZE] = {5};
    suite_expect(read_open_upload(s->reader, own, &s->arena, &row, &err), &err);
    ck_assert(row.bound);
    op = write_op_new(WRITE_OPEN_DROP, 4096);
    op->u.open_drop.id[0] = 5;
    suite_apply(s, op);
    /* An app's own caps stop that app alone. */
    op = open_op(6, 2, 400);
    op->u.open_upload.max_open_app = 1;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "too many uploads of this app are open");
    op->u.open_upload.max_open_app = 2;
    op->u.open_upload.max_bytes_app = 999;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "uploads of this app that are open are too large together");
    write_op_free(op);
    op = open_op(8, 2, 400);
    op->u.open_upload.bundle_id = "com.another";
    op->u.open_upload.max_open_app = 1;
    op->u.open_upload.max_bytes_app = 400;
    suite_apply(s, op);
    op = write_op_new(WRITE_OPEN_DROP, 4096);
    op->u.open_drop.id[0] = 8;
    suite_apply(s, op);
    op = open_op(6, 2, 401);
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT); /* bytes */
    write_op_free(op);
    suite_apply(s, open_op(6, 2, 400));
    op = open_op(7, 3, 0);
    ck_assert_int_eq(suite_try(s, op, &err), ERR_LIMIT); /* number */
    write_op_free(op);
    ck_assert_int_eq(read_open_upload(s->reader, id, &s->arena, &row, &err), ERR_OK);
    ck_assert_uint_eq(row.received, 100);
    ck_assert_uint_eq(row.hash_state_len, 5);
    ck_assert_mem_eq(row.hash_state, "state", 5);
    ck_assert_str_eq(row.version, "1");
    ck_assert_int_eq(
        read_open_uploads(s->reader, NULL, INT64_MAX, 1, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(
        read_open_uploads(s->reader, rows[0].id, INT64_MAX, 9, &s->arena, &rows, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].id[0], 6);
    /* Whole: it becomes an upload, once, and protects its build if it was to. */
    op = suite_upload(1, SUITE_NOW);
    op->u.upload.open_id = id;
    op->u.upload.protect = true;
    suite_apply_keep(s, op);
    uint64_t became = op->u.upload.id;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_CONFLICT);
    ck_assert_int_eq(read_open_upload(s->reader, id, &s->arena, &row, &err), ERR_OK);
    ck_assert_uint_eq(row.upload_id, became);
    write_op_free(op);
    struct protected_row *builds;
    ck_assert_int_eq(read_protected(s->reader, SUITE_APP, &s->arena, &builds, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(builds[0].build, "100");
    ck_assert_int_eq(read_protected(s->reader, "other", &s->arena, &builds, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(send(s, 1, 100, 200), ERR_CONFLICT);
    /* What is whole does not count against the caps. */
    suite_apply(s, open_op(7, 3, 600));
    op = write_op_new(WRITE_OPEN_DROP, 4096);
    op->u.open_drop.id[0] = 7;
    suite_apply_keep(s, op);
    ck_assert(op->u.open_drop.existed);
    suite_apply_keep(s, op);
    ck_assert(!op->u.open_drop.existed);
    write_op_free(op);
}
