/* Symbol files: uploads, slices, what is missing; tokens. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/suite.h"

static struct write_op *state_of(uint64_t id, enum upload_state state, const char *reason)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD_STATE, 4096);
    op->u.upload_state =
        (struct op_upload_state){.id = id, .state = state, .reason = reason, .now_ms = SUITE_NOW};
    return op;
}

void suite_uploads_and_slices(struct suite *s)
{
    struct error err = {0};
    struct upload_row u;
    struct upload_waiting *waiting;
    size_t count;
    bool present[3] = {true, true, true};
    const uint32_t images[] = {1, 2};
    struct uuid uuids[3] = {suite_uuid(1), suite_uuid(2), suite_uuid(3)};
    struct write_op *a = suite_upload(7, SUITE_NOW);
    struct write_op *b = suite_upload(8, SUITE_NOW + 1);
    suite_apply_keep(s, a);
    suite_apply_keep(s, b);
    uint64_t id = a->u.upload.id;
    ck_assert_int_eq(read_upload(s->reader, id, &s->arena, &u, &err), ERR_OK);
    ck_assert_int_eq(u.state, UPLOAD_QUEUED);
    ck_assert_str_eq(u.spool_file, "1-0123456789abcdef.part");
    ck_assert_str_eq(u.bundle_id, SUITE_APP);
    ck_assert_uint_eq(u.size, 1007);
    ck_assert_uint_eq(u.slice_count, 0);
    ck_assert_mem_eq(u.sha256, a->u.upload.sha256, SHA256_SIZE);
    suite_apply(s, state_of(id, UPLOAD_INDEXING, NULL));
    ck_assert_int_eq(read_uploads_waiting(s->reader, &s->arena, &waiting, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(waiting[0].id, id);
    ck_assert_str_eq(waiting[0].bundle_id, SUITE_APP);
    ck_assert_int_eq(
        read_upload_by_sha256(s->reader, u.sha256, &SUITE_ANY_ORIGIN, &s->arena, &u, &err),
        ERR_NOT_FOUND);

    suite_apply(s, suite_indexed(id, images, 2, 1));
    suite_apply(s, state_of(b->u.upload.id, UPLOAD_FAILED, "no object in it"));
    ck_assert_int_eq(read_uploads_waiting(s->reader, &s->arena, &waiting, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(read_upload(s->reader, b->u.upload.id, &s->arena, &u, &err), ERR_OK);
    ck_assert_str_eq(u.reason, "no object in it");
    ck_assert_int_eq(read_upload_by_sha256(s->reader, a->u.upload.sha256, &SUITE_ANY_ORIGIN,
                                           &s->arena, &u, &err),
                     ERR_OK);
    ck_assert_uint_eq(u.id, id);
    ck_assert_uint_eq(u.slice_count, 2);
    ck_assert_str_eq(u.slices[1].name, "File2");
    ck_assert_str_eq(u.slices[1].version, "1.0");
    ck_assert(u.slices[1].current && u.slices[1].has_dwarf);
    ck_assert_uint_eq(u.slices[1].functions, 11);
    ck_assert_int_eq(read_symbols_present(s->reader, "", uuids, 3, present, &err), ERR_OK);
    ck_assert(present[0] && present[1] && !present[2]);

    /* Said to be of another build or kind it is another upload; of less it is the same. */
    const struct upload_origin origins[] = {{"", "1.1", "", "", false, true},
                                            {"", "", "101", "", false, true},
                                            {"", "", "", "20G75", false, true},
                                            {"com.example.other", "", "", "", false, true},
                                            {"", "", "", "", true, true}};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        ck_assert_int_eq(
            read_upload_by_sha256(s->reader, a->u.upload.sha256, &origins[i], &s->arena, &u, &err),
            ERR_NOT_FOUND);
    const struct upload_origin own = {SUITE_APP, "1.0", NULL, "", false, true};
    ck_assert_int_eq(
        read_upload_by_sha256(s->reader, a->u.upload.sha256, &own, &s->arena, &u, &err), ERR_OK);

    /* Deleting one slice makes the upload one that has to be sent again. */
    struct write_op *gone = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    gone->u.symbol_delete.shelf = uuids[0];
    suite_apply_keep(s, gone);
    ck_assert(gone->u.symbol_delete.existed);
    suite_apply_keep(s, gone);
    ck_assert(!gone->u.symbol_delete.existed);
    ck_assert_int_eq(read_upload_by_sha256(s->reader, a->u.upload.sha256, &SUITE_ANY_ORIGIN,
                                           &s->arena, &u, &err),
                     ERR_NOT_FOUND);
    ck_assert_int_eq(read_symbols_present(s->reader, "", uuids, 3, present, &err), ERR_OK);
    ck_assert(!present[0] && present[1]);
    write_op_free(gone);
    write_op_free(a);
    write_op_free(b);

    struct write_op *nobody = state_of(4711, UPLOAD_FAILED, NULL);
    ck_assert_int_eq(suite_try(s, nobody, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(read_upload(s->reader, 4711, &s->arena, &u, &err), ERR_NOT_FOUND);
    write_op_free(nobody);
}

void suite_symbol_pages(struct suite *s)
{
    struct error err = {0};
    struct slice_row *rows;
    size_t count;
    const char *cursor = NULL;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 7; i++) {
        const uint32_t image[] = {40 + i};
        suite_index(s, image, 1, 1);
    }
    const uint32_t again[] = {43};
    suite_index(s, again, 1, 2);
    do {
        ck_assert_int_eq(
            read_symbols(s->reader, NULL, 3, cursor, &s->arena, &rows, &count, &cursor, &err),
            ERR_OK);
        for (size_t i = 0; i < count; i++)
            seen |= 1u << (rows[i].shelf.bytes[4] - 40);
        if (cursor)
            ck_assert_uint_eq(count, 3);
    } while (cursor);
    ck_assert_uint_eq(seen, 0x7f);
    ck_assert_int_eq(
        read_symbols(s->reader, NULL, 7, NULL, &s->arena, &rows, &count, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(count, 7);
    ck_assert_ptr_null(cursor);
    ck_assert_str_eq(rows[0].name, "File43");
    ck_assert_int_eq(
        read_symbols(s->reader, "other", 7, NULL, &s->arena, &rows, &count, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    struct uuid nobody = suite_uuid(99);
    struct uuid nil = {{0}};
    ck_assert_int_eq(read_symbol(s->reader, &nobody, &s->arena, &rows, &count, &err),
                     ERR_NOT_FOUND);
    /* Objects that had no UUID are in their upload, and nowhere else (nil equals nothing). */
    struct write_op *up = suite_upload(77, SUITE_NOW);
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, again, 1, 1);
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    x->shelf = nil;
    x->indexed = x->installed = false;
    x->reason = "it has no UUID";
    suite_apply(s, op);
    struct upload_row u;
    ck_assert_int_eq(read_upload(s->reader, up->u.upload.id, &s->arena, &u, &err), ERR_OK);
    ck_assert_str_eq(u.slices[0].reason, "it has no UUID");
    ck_assert_int_eq(read_symbol(s->reader, &nil, &s->arena, &rows, &count, &err), ERR_NOT_FOUND);
    write_op_free(up);
}

void suite_missing_list(struct suite *s)
{
    struct error err = {0};
    struct missing_row *rows;
    size_t count;
    const char *cursor = NULL;
    char id[16], version[16];
    for (uint32_t i = 0; i < 15; i++) {
        snprintf(id, sizeof(id), "r%u", i);
        snprintf(version, sizeof(version), "1.%02u", i);
        const struct suite_report r = {.id = id,
                                       .stack = i % 3 ? 0 : 1,
                                       .version = version,
                                       .time_ms = SUITE_NOW + (int64_t)i * 86400000};
        struct write_op *op = suite_batch(SUITE_APP, &r, 1);
        suite_image(op, 1, IMAGE_UUID);
        suite_image(op, 2, IMAGE_UUID)->arch = NULL;
        suite_image(op, SUITE_SYSTEM, IMAGE_UUID);
        suite_apply(s, op);
    }
    suite_resolve(s);
    ck_assert_int_eq(
        read_missing(s->reader, NULL, 10, NULL, &s->arena, &rows, &count, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_null(cursor);
    ck_assert_str_eq(rows[0].name, "Image1");
    ck_assert_str_eq(rows[0].arch, "arm64");
    ck_assert_uint_eq(rows[0].reports, 10);
    ck_assert_uint_eq(rows[0].frames, 1);
    ck_assert_int_eq(rows[0].first_seen_ms, SUITE_NOW + 86400000);
    ck_assert_int_eq(rows[0].last_seen_ms, SUITE_NOW + 14 * (int64_t)86400000);
    ck_assert_uint_eq(rows[0].version_count, 10);
    ck_assert_str_eq(rows[0].versions[0], "1.14 (100)");
    ck_assert_str_eq(rows[0].versions[9], "1.01 (100)");
    ck_assert_str_eq(rows[1].name, "Image2");
    ck_assert_ptr_null(rows[1].arch);
    ck_assert_uint_eq(rows[1].version_count, 5);
    /* More reports than any, and yet last: nobody's CI has it. */
    ck_assert_int_eq(rows[2].class, IMAGE_CLASS_SYSTEM);
    ck_assert_uint_eq(rows[2].reports, 15);
    ck_assert_uint_eq(rows[2].frames, 2);

    size_t total = 0;
    cursor = NULL;
    do {
        ck_assert_int_eq(
            read_missing(s->reader, SUITE_APP, 1, cursor, &s->arena, &rows, &count, &cursor, &err),
            ERR_OK);
        total += count;
    } while (cursor);
    ck_assert_uint_eq(total, 3);
    ck_assert_int_eq(
        read_missing(s->reader, "other", 10, NULL, &s->arena, &rows, &count, &cursor, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);

    /* It came: gone from the list at once, before anything is resolved. */
    const uint32_t image[] = {1};
    suite_index(s, image, 1, 1);
    ck_assert_int_eq(
        read_missing(s->reader, NULL, 10, NULL, &s->arena, &rows, &count, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    suite_resolve(s);
    ck_assert_int_eq(
        read_missing(s->reader, NULL, 10, NULL, &s->arena, &rows, &count, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].name, "Image2");
}

void suite_tokens_come_and_go(struct suite *s)
{
    struct error err = {0};
    struct token_row *rows;
    size_t count;
    struct write_op *op = write_op_new(WRITE_TOKEN, 4096);
    op->u.token =
        (struct op_token){.scopes = SCOPE_READ | SCOPE_ADMIN, .name = "first", .now_ms = SUITE_NOW};
    suite_apply_keep(s, op);
    uint64_t id = op->u.token.id;
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.token.id, id);
    op->u.token.hash[0] = 1;
    op->u.token.bundle_id = SUITE_APP;
    op->u.token.scopes = SCOPE_INGEST;
    suite_apply_keep(s, op);
    ck_assert_uint_ne(op->u.token.id, id);
    ck_assert_int_eq(read_tokens(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(rows[0].id, id);
    ck_assert_uint_eq(rows[0].scopes, SCOPE_READ | SCOPE_ADMIN);
    ck_assert_ptr_null(rows[0].bundle_id);
    ck_assert_str_eq(rows[1].bundle_id, SUITE_APP);
    ck_assert_mem_eq(rows[1].hash, op->u.token.hash, SHA256_SIZE);
    op->kind = WRITE_TOKEN_REVOKE;
    op->u.token.id = id;
    suite_apply_keep(s, op);
    ck_assert(op->u.token.existed);
    suite_apply_keep(s, op);
    ck_assert(!op->u.token.existed);
    ck_assert_int_eq(read_tokens(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    write_op_free(op);
}
