#include "tests/conformance/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUITE_ROW(name) {#name, suite_##name},
const struct suite_case suite_cases[] = {SUITE_CASES(SUITE_ROW)};
#undef SUITE_ROW
const size_t suite_case_count = sizeof(suite_cases) / sizeof(suite_cases[0]);

void suite_expect(enum err rc, const struct error *err)
{
    ck_assert_msg(rc == ERR_OK, "%s: %s", err_name(rc), err->text);
}

void suite_reopen(struct suite *s)
{
    struct error err = {0};
    storage_reader_close(s->reader);
    storage_close(s->storage);
    s->storage = NULL;
    s->reader = NULL;
    suite_expect(storage_open(&s->options, &s->storage, &err), &err);
    suite_expect(storage_reader_open(s->storage, &s->reader, &err), &err);
}

void suite_open(struct suite *s, const char *backend)
{
    memset(s, 0, sizeof(*s));
    s->backend = backend;
    snprintf(s->dir, sizeof(s->dir), "/tmp/stallsym-suite-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/stallsym.db", s->dir);
    s->options = (struct storage_options){
        .backend = backend,
        .path = s->path,
        .synchronous_full = false,
        .busy_ms = 2000,
        .retry_days = 3,
        .daily_values = 1000,
        .migrate = true,
        /* Few, so that what is rolled up and what is not yet come together in every test. */
        .rollup_lag = 7,
        .rollup_stacks = 2,
        .new_ids = 5,
    };
    arena_init(&s->arena, (size_t)1 << 30);
    suite_reopen(s);
}

void suite_cap_values(struct suite *s, uint32_t daily_values)
{
    s->options.daily_values = daily_values;
    suite_reopen(s);
}

void suite_close(struct suite *s)
{
    static const char *const left[] = {"", "-wal", "-shm"};
    char path[128];
    storage_reader_close(s->reader);
    storage_close(s->storage);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", s->path, left[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->dir);
    arena_done(&s->arena);
}

struct uuid suite_uuid(uint32_t n)
{
    struct uuid u;
    memset(u.bytes, (int)(0xa0 + n % 64), sizeof(u.bytes));
    memcpy(u.bytes + 4, &n, sizeof(n));
    return u;
}

struct raw_stack suite_stack(struct arena *arena, uint32_t k)
{
    struct raw_frame *f = arena_array(arena, 4, sizeof(*f));
    struct raw_stack s = {f, 2};
    ck_assert_ptr_nonnull(f);
    f[0] = (struct raw_frame){suite_uuid(1 + k % SUITE_IMAGES), 0x1000 + (uint64_t)k * 4,
                              IMAGE_UUID, FRAME_LEAF, NULL};
    f[1] =
        (struct raw_frame){suite_uuid(SUITE_SYSTEM), 0x2000, IMAGE_UUID, FRAME_RETURN, "mach_msg"};
    if (k % 5 == 4)
        f[s.count++] = (struct raw_frame){suite_uuid(SUITE_GROUP), 0x180001000 + k, IMAGE_GROUP,
                                          FRAME_RETURN, NULL};
    if (k % 7 == 6)
        f[s.count++] = (struct raw_frame){.image_kind = IMAGE_NONE, .kind = FRAME_RETURN};
    return s;
}

void suite_stack_hash(const char *bundle_id, uint32_t k, uint8_t out[STACK_HASH_SIZE])
{
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct raw_stack s = suite_stack(&arena, k);
    raw_stack_hash(bundle_id, &s, out);
    arena_done(&arena);
}

/* --- applying ----------------------------------------------------------------------------- */

void suite_apply_keep(struct suite *s, struct write_op *op)
{
    struct error err = {0};
    suite_expect(storage_begin(s->storage, &err), &err);
    suite_expect(storage_apply(s->storage, op, &err), &err);
    suite_expect(storage_commit(s->storage, &err), &err);
}

void suite_apply(struct suite *s, struct write_op *op)
{
    suite_apply_keep(s, op);
    write_op_free(op);
}

enum err suite_try(struct suite *s, struct write_op *op, struct error *err)
{
    struct error ignored = {0};
    suite_expect(storage_begin(s->storage, &ignored), &ignored);
    enum err rc = storage_apply(s->storage, op, err);
    suite_expect(storage_commit(s->storage, &ignored), &ignored);
    return rc;
}

void suite_index(struct suite *s, const uint32_t *images, size_t count, uint64_t richness)
{
    struct write_op *op = suite_upload(images[0], SUITE_NOW);
    suite_apply_keep(s, op);
    suite_apply(s, suite_indexed(op->u.upload.id, images, count, richness));
    write_op_free(op);
}

/* --- looking ------------------------------------------------------------------------------ */

size_t suite_pending(struct suite *s)
{
    struct error err = {0};
    struct pending_stack *page = NULL;
    size_t count = 0;
    suite_expect(read_pending(s->reader, 0, 100000, &s->arena, &page, &count, &err), &err);
    return count;
}

static size_t all_clusters(struct suite *s, struct cluster_row **ret)
{
    struct error err = {0};
    size_t count = 0;
    const char *next = NULL;
    struct read_filter f;
    read_filter_init(&f);
    f.include_hidden = true;
    suite_expect(read_clusters(s->reader, &f, SORT_COUNT, READ_LIMIT_MAX, NULL, &s->arena, ret,
                               &count, &next, &err),
                 &err);
    ck_assert_ptr_null(next);
    return count;
}

size_t suite_cluster_count(struct suite *s)
{
    struct cluster_row *rows = NULL;
    return all_clusters(s, &rows);
}

uint64_t suite_stack_count(struct suite *s, const char *bundle_id)
{
    struct error err = {0};
    struct stack_totals totals;
    suite_expect(read_stack_totals(s->reader, bundle_id, &totals, &err), &err);
    return totals.stacks;
}

struct cluster_row suite_cluster(struct suite *s, const char *title)
{
    struct cluster_row *rows = NULL;
    size_t count = all_clusters(s, &rows);
    if (!title) {
        ck_assert_uint_eq(count, 1);
        return rows[0];
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].title, title) == 0)
            return rows[i];
    }
    ck_abort_msg("there is no cluster %s", title);
    return (struct cluster_row){0};
}
