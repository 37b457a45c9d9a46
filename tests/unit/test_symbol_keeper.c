/* The store is looked after: both clocks are parameters, so no test waits.
 * Covers: server/jobs/symbol_keeper.c server/jobs/index_refit.c server/jobs/index_watch.c server/jobs/shelf_text.c */
#include "server/jobs/symbol_keeper.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/jobs/index_refit.h"
#include "tests/support/descriptors.h"
#include "tests/support/fake_child.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/rig.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define NOW ((int64_t)1800000000000)

static struct rig rig;
static struct piece_locks *locks;
static struct symbol_keeper *keeper;
static struct error err;
static char *tools, *program;

static void setup(const struct symbol_keeper_options *o)
{
    rig_start(&rig);
    tools = temp_dir_new();
    program = fake_child_new(tools);
    locks = piece_locks_new();
    const struct symbol_keeper_parts parts = {rig.reader, rig.writer, rig.blobs,
                                              rig.cache,  locks,      rig.metrics};
    keeper = symbol_keeper_new(&parts, o);
    ck_assert_ptr_nonnull(keeper);
}

static void teardown(void)
{
    symbol_keeper_free(keeper);
    piece_locks_free(locks);
    rig_stop(&rig);
    free(program);
    temp_dir_free(tools);
}

static bool step(int64_t wall_ms, int64_t mono_ms)
{
    bool more = false;
    arena_reset(&rig.arena);
    ck_assert_msg(symbol_keeper_step(keeper, wall_ms, mono_ms, NULL, 0, &rig.arena, &more, &err) ==
                      ERR_OK,
                  "%s", err.text);
    return more;
}

static struct uuid uuid_of(uint8_t n)
{
    struct uuid u;
    memset(u.bytes, n, sizeof(u.bytes));
    return u;
}

static void sha_of(uint8_t n, uint8_t out[SHA256_SIZE])
{
    memset(out, n, SHA256_SIZE);
}

static void write_file(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f && fwrite(data, 1, len, f) == len && fclose(f) == 0, "%s", path);
}

/* TOOLS/NAME: an index of UUID n with so many functions. */
static const char *make_index(uint8_t n, size_t functions, char out[512])
{
    struct gsym_bytes_function f[4] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
    struct buf bytes;
    for (size_t i = 0; i < 4; i++) {
        f[i].address = 0x100001000 + i * 0x100;
        f[i].size = 0x100;
    }
    struct gsym_bytes g = {.uuid = uuid_of(n),
                           .offset_size = 4,
                           .base = 0x100000000,
                           .functions = f,
                           .function_count = functions,
                           .footer = 1,
                           .text_vmaddr = 0x100000000,
                           .text_size = 0x10000};
    buf_init(&bytes, 1 << 20);
    gsym_bytes_make(&g, &bytes);
    snprintf(out, 512, "%s/index-%u-%zu", tools, n, functions);
    write_file(out, bytes.data, bytes.len);
    buf_done(&bytes);
    return out;
}

static const char *add_app = "com.a";

/* An upload for `add_app` whose only slice is of UUID n and object `sha`; its object file holds
 * `script`. */
static uint64_t add(uint8_t n, uint8_t sha, uint64_t functions, bool current, bool system,
                    const char *script, int64_t now_ms)
{
    char path[512];
    struct op_slice slice = {.shelf = uuid_of(n),
                             .name = "Shop",
                             .indexed = true,
                             .installed = current,
                             .functions = functions,
                             .index_bytes = 100,
                             .text_vmaddr = 0x100000000,
                             .object_bytes = 1000,
                             .object_kept = script != NULL};
    sha_of(sha, slice.object_sha256);
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    op->u.upload = (struct op_upload){.spool_file = "",
                                      .bundle_id = add_app,
                                      .version = n == 9 ? "9" : "1",
                                      .build = "",
                                      .os_build = "",
                                      .system = system,
                                      .now_ms = now_ms};
    ck_assert_int_eq(rig_call(&rig, op, &err), ERR_OK);
    uint64_t id = op->u.upload.id;
    write_op_free(op);
    if (script) {
        snprintf(path, sizeof(path), "%s/object", tools);
        write_file(path, script, strlen(script));
        ck_assert_int_eq(blob_store_install_object(rig.blobs, path, slice.object_sha256, &err),
                         ERR_OK);
    }
    op = write_op_new(WRITE_UPLOAD_STATE, 65536);
    op->u.upload_state = (struct op_upload_state){
        .id = id, .state = UPLOAD_INDEXED, .slices = &slice, .slice_count = 1, .now_ms = now_ms};
    rig_apply(&rig, op);
    return id;
}

static void keep_index(uint8_t n, uint8_t sha, size_t functions, bool use)
{
    char path[512];
    uint8_t digest[SHA256_SIZE];
    struct uuid u = uuid_of(n);
    sha_of(sha, digest);
    make_index(n, functions, path);
    ck_assert_int_eq(blob_store_keep_index(rig.blobs, path, &u, digest, &err), ERR_OK);
    if (use)
        ck_assert_int_eq(blob_store_use_index(rig.blobs, &u, digest, &err), ERR_OK);
    index_cache_changed(rig.cache, &u);
}

/* Nobody is told. */
static void keep_index_quietly(uint8_t n, uint8_t sha, size_t functions)
{
    char path[512];
    uint8_t digest[SHA256_SIZE];
    struct uuid u = uuid_of(n);
    sha_of(sha, digest);
    make_index(n, functions, path);
    ck_assert_int_eq(blob_store_keep_index(rig.blobs, path, &u, digest, &err), ERR_OK);
}

static bool object_is_there(uint8_t sha)
{
    char path[512];
    uint8_t digest[SHA256_SIZE];
    sha_of(sha, digest);
    ck_assert(blob_store_object_path(rig.blobs, digest, path, sizeof(path)));
    return access(path, F_OK) == 0;
}

static size_t functions_in_use(uint8_t n)
{
    struct uuid u = uuid_of(n);
    struct index_ref *ref = NULL;
    if (index_cache_acquire(rig.cache, &u, &ref, &err) != ERR_OK)
        return 0;
    size_t count = gsym_info(index_ref_gsym(ref))->functions;
    index_cache_release(rig.cache, ref);
    return count;
}

static uint64_t generation_in_use(uint8_t n)
{
    struct uuid u = uuid_of(n);
    struct index_ref *ref = NULL;
    ck_assert_int_eq(index_cache_acquire(rig.cache, &u, &ref, &err), ERR_OK);
    uint64_t generation = index_ref_generation(ref);
    index_cache_release(rig.cache, ref);
    return generation;
}

/* --- objects ---------------------------------------------------------------------------------- */

START_TEST(objects_of_no_use_go)
{
    const struct symbol_keeper_options o = {.object_ms = 90 * CLOCK_DAY_MS,
                                            .system_object_ms = 30 * CLOCK_DAY_MS};
    setup(&o);
    add(1, 1, 3, true, false, "app", NOW);
    add(2, 2, 3, true, true, "system", NOW);
    add(3, 3, 3, true, false, "used", NOW);
    add(9, 9, 3, true, false, "protected", NOW);
    keep_index(3, 3, 3, true);
    struct write_op *op = write_op_new(WRITE_PROTECT, 4096);
    op->u.protect = (struct op_protect){"com.a", "9", "", "", true, NOW, false};
    rig_apply(&rig, op);
    step(NOW + 29 * CLOCK_DAY_MS, 0);
    ck_assert(object_is_there(1) && object_is_there(2) && object_is_there(3));
    step(NOW + 31 * CLOCK_DAY_MS, 10000);
    ck_assert(object_is_there(1) && !object_is_there(2) && object_is_there(3));
    /* Its index was asked: it is of use. */
    ck_assert_uint_eq(functions_in_use(3), 3);
    step(NOW + 89 * CLOCK_DAY_MS, 20000);
    step(NOW + 91 * CLOCK_DAY_MS, 30000);
    ck_assert(!object_is_there(1) && object_is_there(3) && object_is_there(9));
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_OBJECTS_DROPPED), 2);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_OBJECT_FILES), 2);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_OBJECT_BYTES), 2000);
    ck_assert_uint_eq(functions_in_use(3), 3); /* the index stays whatever happens */
    teardown();
}
END_TEST

static void add_for(const char *app, uint8_t n, uint8_t sha, bool system, int64_t now_ms)
{
    add_app = app;
    add(n, sha, 3, true, system, "object", now_ms);
    add_app = "com.a";
}

START_TEST(above_the_cap_the_longest_unused_go)
{
    const struct symbol_keeper_options o = {.object_bytes = 2500};
    setup(&o);
    for (uint8_t i = 1; i <= 5; i++)
        add_for("com.a", i, i, false, NOW + (i == 1 ? 100 : i));
    while (step(NOW + CLOCK_DAY_MS, 0))
        continue;
    for (uint8_t i = 1; i <= 5; i++)
        ck_assert_int_eq(object_is_there(i), i == 1 || i == 5);
    teardown();
}
END_TEST

/* However much newer: 100 objects of one app, beside an old one of another, of a system, and one that
 * both apps sent. */
START_TEST(above_the_cap_who_holds_most_gives)
{
    const struct symbol_keeper_options o = {.object_bytes = 9500};
    setup(&o);
    add_for("com.b", 1, 1, false, NOW);
    add_for("", 2, 2, true, NOW);
    add_for("com.a", 3, 3, false, NOW);
    add_for("com.b", 3, 3, false, NOW);
    for (uint8_t i = 10; i < 110; i++)
        add_for("com.a", i, i, false, NOW + i);
    while (step(NOW + CLOCK_DAY_MS, 0))
        continue;
    ck_assert(object_is_there(1) && object_is_there(2) && object_is_there(3));
    for (uint8_t i = 10; i < 110; i++)
        ck_assert_int_eq(object_is_there(i), i >= 104);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_OBJECT_BYTES), 9000);
    teardown();
}
END_TEST

START_TEST(an_app_has_a_cap_of_its_own)
{
    const struct symbol_keeper_options o = {.app_object_bytes = 2500};
    setup(&o);
    for (uint8_t i = 1; i <= 4; i++) {
        add_for("com.a", i, i, false, NOW + i);
        add_for("", 10 + i, 10 + i, false, NOW + i); /* of no app: no cap */
    }
    add_for("com.b", 20, 20, false, NOW);
    add_for("com.a", 9, 9, false, NOW); /* protected, it counts */
    struct write_op *op = write_op_new(WRITE_PROTECT, 4096);
    op->u.protect = (struct op_protect){"com.a", "9", "", "", true, NOW, false};
    rig_apply(&rig, op);
    while (step(NOW + CLOCK_DAY_MS, 0))
        continue;
    for (uint8_t i = 1; i <= 4; i++)
        ck_assert(object_is_there(i) == (i == 4) && object_is_there(10 + i));
    ck_assert(object_is_there(20) && object_is_there(9));
    teardown();
}
END_TEST

static void delete_upload(uint64_t id)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD_DELETE, 4096);
    op->u.upload_delete.id = id;
    rig_apply(&rig, op);
}

START_TEST(a_cap_of_indexes_that_is_reached_is_told)
{
    const struct symbol_keeper_options o = {.index_bytes = 200};
    setup(&o);
    add(1, 1, 3, true, false, NULL, NOW);
    step(NOW, 0);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_KEPT_INDEX_BYTES), 100);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_INDEXES_FULL), 0);
    const uint64_t id = add(2, 2, 3, true, false, NULL, NOW);
    step(NOW, 60000);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_KEPT_INDEX_BYTES), 200);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_INDEXES_FULL), 1);
    delete_upload(id);
    step(NOW, 120000);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_INDEXES_FULL), 0);
    teardown();
}
END_TEST

START_TEST(many_objects_go_in_steps)
{
    const struct symbol_keeper_options o = {.object_ms = CLOCK_DAY_MS};
    setup(&o);
    for (uint8_t i = 1; i <= 150; i++)
        add(i, i, 3, true, false, "object", NOW);
    int steps = 1;
    while (step(NOW + 2 * CLOCK_DAY_MS, 0))
        steps++;
    ck_assert_int_eq(steps, 3);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_OBJECT_FILES), 0);
    teardown();
}
END_TEST

START_TEST(objects_of_deleted_uploads_go_at_once)
{
    const struct symbol_keeper_options o = {.object_ms = 0};
    setup(&o);
    uint64_t id = add(1, 1, 3, true, false, "object", NOW);
    add(2, 2, 3, true, false, "object", NOW);
    step(NOW + 4000 * CLOCK_DAY_MS, 0);
    ck_assert(object_is_there(1)); /* for ever */
    delete_upload(id);
    step(NOW, 10000);
    ck_assert(!object_is_there(1) && object_is_there(2));
    teardown();
}
END_TEST

/* --- uploads in pieces ------------------------------------------------------------------------ */

static void open_upload(uint8_t n, char *name, size_t size)
{
    int fd = -1;
    ck_assert_int_eq(blob_store_spool_create(rig.blobs, name, size, &fd, &err), ERR_OK);
    close(fd);
    struct write_op *op = write_op_new(WRITE_OPEN_UPLOAD, 4096);
    op->u.open_upload = (struct op_open_upload){.id = {n},
                                                .sha256 = {n},
                                                .size = 10,
                                                .spool_file = name,
                                                .bundle_id = "",
                                                .version = "",
                                                .build = "",
                                                .os_build = "",
                                                .now_ms = NOW,
                                                .max_open = 10,
                                                .max_bytes = 1000};
    rig_apply(&rig, op);
}

static bool spool_is_there(const char *name)
{
    char path[512];
    ck_assert(blob_store_spool_path(rig.blobs, name, path, sizeof(path)));
    return access(path, F_OK) == 0;
}

START_TEST(uploads_in_pieces_expire)
{
    const struct symbol_keeper_options o = {.open_upload_ms = 3600000};
    const uint8_t busy[OPEN_UPLOAD_ID_SIZE] = {2};
    char a[64], b[64];
    struct open_upload_row row;
    setup(&o);
    open_upload(1, a, sizeof(a));
    open_upload(2, b, sizeof(b));
    ck_assert(piece_locks_take(locks, busy));
    step(NOW + 3599999, 0);
    ck_assert(spool_is_there(a) && spool_is_there(b));
    step(NOW + 3600001, 100000);
    ck_assert(!spool_is_there(a) && spool_is_there(b)); /* somebody sends to the other one */
    ck_assert_int_eq(read_open_upload(rig.reader, busy, &rig.arena, &row, &err), ERR_OK);
    piece_locks_give(locks, busy);
    step(NOW + 3600001, 200000);
    ck_assert(!spool_is_there(b));
    ck_assert_int_eq(read_open_upload(rig.reader, busy, &rig.arena, &row, &err), ERR_NOT_FOUND);
    teardown();
}
END_TEST

/* --- the patrol ------------------------------------------------------------------------------- */

static size_t refits(void)
{
    struct refit_row *rows = NULL;
    size_t count = 0;
    arena_reset(&rig.arena);
    ck_assert_int_eq(read_refits(rig.reader, 100, &rig.arena, &rows, &count, &err), ERR_OK);
    return count;
}

static void damage(uint8_t n)
{
    char path[512];
    struct uuid u = uuid_of(n);
    struct stat st;
    uint8_t byte = 0;
    ck_assert(blob_store_index_path(rig.blobs, &u, path, sizeof(path)));
    int fd = open(path, O_RDWR);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(pread(fd, &byte, 1, st.st_size / 2), 1);
    byte ^= 0x55;
    ck_assert_int_eq(pwrite(fd, &byte, 1, st.st_size / 2), 1);
    close(fd);
}

START_TEST(the_patrol_finds_what_is_lost_and_what_is_damaged)
{
    const struct symbol_keeper_options o = {.check_ms = CLOCK_DAY_MS};
    char path[512];
    struct uuid u = uuid_of(4);
    setup(&o);
    for (uint8_t i = 1; i <= 5; i++) {
        add(i, i, 3, true, false, NULL, NOW);
        keep_index(i, i, 3, true);
    }
    damage(2);
    ck_assert(blob_store_index_path(rig.blobs, &u, path, sizeof(path)));
    ck_assert_int_eq(unlink(path), 0);
    while (step(NOW, 0))
        continue;
    ck_assert_uint_eq(refits(), 1); /* what is lost shows at once */
    step(NOW, CLOCK_DAY_MS - 1);
    ck_assert_uint_eq(refits(), 1);
    for (int i = 0; i < 10; i++)
        step(NOW, CLOCK_DAY_MS + i);
    ck_assert_uint_eq(refits(), 2); /* what is damaged once all is read */
    teardown();
}
END_TEST

/* What the log says meanwhile. */
static void told(char *out, size_t size, void (*act)(void))
{
    char path[512];
    fflush(stderr);
    snprintf(path, sizeof(path), "%s/log", tools);
    const int kept = dup(STDERR_FILENO);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    act();
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    const ssize_t n = pread(fd, out, size - 1, 0);
    ck_assert_int_ge(n, 0);
    out[n] = 0;
    close(fd);
    close(kept);
}

static void patrol(void)
{
    while (step(NOW, 0))
        continue;
}

/* An operator knows the image's UUID and the app, not the shelf. */
START_TEST(the_log_names_the_image_of_an_own_index)
{
    const struct symbol_keeper_options o = {.check_ms = CLOCK_DAY_MS};
    const struct uuid image = uuid_of(1), shelf = uuid_of(2);
    char text[UUID_TEXT_SIZE], wanted[128], log[2048];
    setup(&o);
    rig_own(&rig, "com.a", &image, &shelf);
    add(3, 3, 3, true, false, NULL, NOW);
    told(log, sizeof(log), patrol);
    snprintf(wanted, sizeof(wanted), "uuid=%s app=\"com.a\"\n", uuid_format(&image, text));
    ck_assert_msg(strstr(log, wanted) != NULL, "%s", log);
    ck_assert_ptr_null(strstr(log, uuid_format(&shelf, text)));
    const struct uuid served = uuid_of(3);
    snprintf(wanted, sizeof(wanted), "uuid=%s\n", uuid_format(&served, text));
    ck_assert_ptr_nonnull(strstr(log, wanted));
    teardown();
}
END_TEST

START_TEST(what_is_used_is_looked_at_at_once)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    setup(&o);
    for (uint8_t i = 1; i <= 3; i++) {
        add(i, i, 3, true, false, NULL, NOW);
        keep_index(i, i, 3, true);
    }
    damage(1); /* nobody has opened it */
    while (step(NOW, 0))
        continue;
    ck_assert_uint_eq(refits(), 0);
    ck_assert_uint_eq(functions_in_use(1), 3); /* opening checks little */
    ck_assert_uint_eq(functions_in_use(2), 3);
    step(NOW, 1);
    ck_assert_uint_eq(refits(), 1);
    step(NOW, 2);
    ck_assert_uint_eq(refits(), 1);
    damage(2); /* under whoever has it open */
    step(NOW, 3);
    ck_assert_uint_eq(refits(), 2);
    /* Put back by hand: whoever opened the damaged one opens it anew. */
    uint64_t before = generation_in_use(2);
    keep_index_quietly(2, 2, 2);
    step(NOW, 4);
    ck_assert_uint_ne(generation_in_use(2), before);
    ck_assert_uint_eq(functions_in_use(2), 2);
    teardown();
}
END_TEST

START_TEST(a_failure_that_is_over_is_forgotten)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    char path[512], aside[528];
    struct uuid u = uuid_of(1);
    setup(&o);
    add(1, 1, 3, true, false, NULL, NOW);
    keep_index(1, 1, 3, true);
    ck_assert(blob_store_index_path(rig.blobs, &u, path, sizeof(path)));
    snprintf(aside, sizeof(aside), "%s.aside", path);
    ck_assert_int_eq(rename(path, aside), 0);
    write_file(path, "no index", 8);
    ck_assert_uint_eq(functions_in_use(1), 0);
    ck_assert_int_eq(rename(aside, path), 0);
    ck_assert_uint_eq(functions_in_use(1), 0); /* remembered */
    step(NOW, 0);
    ck_assert_uint_eq(functions_in_use(1), 3);
    ck_assert_uint_eq(refits(), 0);
    teardown();
}
END_TEST

/* --- refits ----------------------------------------------------------------------------------- */

static int healed;

static enum err note_healing(void *ctx, const struct uuid *uuid, struct error *e)
{
    (void)ctx;
    (void)e;
    healed = uuid->bytes[0];
    return ERR_OK;
}

static struct child_kills kills; /* of the test that looks at them */

static enum err try_refit(uint8_t n, struct refitted *ret)
{
    struct layouts *layouts = rig.layouts;
    const struct index_refit in = {.heals = note_healing,
                                   .reader = rig.reader,
                                   .blobs = rig.blobs,
                                   .cache = rig.cache,
                                   .layouts = layouts,
                                   .child = {.program = program,
                                             .jobs = 1,
                                             .data_bytes = (uint64_t)4 << 30,
                                             .file_bytes = 1 << 30,
                                             .cpu_s = 60,
                                             .wall_s = 60,
                                             .kills = kills.counts.key_size ? &kills : NULL,
                                             .stop_fd = -1}};
    struct uuid u = uuid_of(n);
    arena_reset(&rig.arena);
    return index_refit(&in, &u, &rig.arena, ret, &err);
}

static struct refitted refit(uint8_t n)
{
    struct refitted r;
    ck_assert_msg(try_refit(n, &r) == ERR_OK, "%s", err.text);
    struct write_op *op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted = r.op;
    rig_apply(&rig, op);
    return r;
}

/* What the child shall do: an index of UUID n. */
static const char *script_of(uint8_t n, size_t functions, char out[1024])
{
    char path[512], text[UUID_TEXT_SIZE];
    struct uuid u = uuid_of(n);
    make_index(n, functions, path);
    uuid_format(&u, text);
    snprintf(out, 1024,
             "cp %s $out/%s.gsym; echo '{\"state\":\"indexed\",\"uuid\":\"%s\","
             "\"index_file\":\"%s.gsym\"}'\n",
             path, text, text, text);
    return out;
}

/* Once says nothing about the object; again and again it is lost, not tried for ever. */
START_TEST(an_object_whose_child_is_killed)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    struct refitted r;
    setup(&o);
    child_kills_init(&kills);
    add(1, 1, 3, true, false, "kill -KILL $$", NOW);
    for (int i = 1; i < CHILD_KILLS_MAX; i++)
        ck_assert_int_eq(try_refit(1, &r), ERR_NO_MEMORY);
    r = refit(1);
    ck_assert_uint_eq(r.op.lost_count, 1);
    child_kills_done(&kills);
    teardown();
}
END_TEST

START_TEST(without_descriptors_nothing_is_decided)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    struct rlimit before;
    struct refitted r;
    setup(&o);
    add(1, 1, 3, true, false, NULL, NOW); /* an index, no object */
    keep_index(1, 1, 3, true);
    damage(1);
    descriptors_take(&before);
    enum err rc = try_refit(1, &r);
    descriptors_give(&before);
    ck_assert_int_eq(rc, ERR_IO);
    r = refit(1); /* now it is known */
    ck_assert_uint_eq(r.op.lost_count, 1);
    teardown();
}
END_TEST

START_TEST(what_a_damaged_index_said_is_taken_back)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    char script[1024];
    setup(&o);
    add(1, 1, 4, true, false, script_of(1, 4, script), NOW);
    keep_index(1, 1, 4, true);
    struct refitted r = refit(1);
    ck_assert(!r.healed && healed == 0);
    script_of(1, 4, script); /* keep_index() took its file */
    damage(1);
    r = refit(1);
    ck_assert(r.healed && r.made_anew);
    ck_assert_int_eq(healed, 1);
    ck_assert_uint_eq(functions_in_use(1), 4);
    /* Nothing to be had in its place: what it said is kept. */
    healed = 0;
    add(2, 2, 3, true, false, NULL, NOW);
    keep_index(2, 2, 3, true);
    damage(2);
    r = refit(2);
    ck_assert(!r.healed && healed == 0);
    ck_assert_uint_eq(r.op.lost_count, 1);
    teardown();
}
END_TEST

START_TEST(the_best_that_can_be_had_comes_into_use)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    char script[1024];
    setup(&o);
    /* The richest: its index is lost, its object there. Then one with an index. Then one with nothing. */
    uint64_t best = add(1, 1, 4, true, false, script_of(1, 4, script), NOW);
    uint64_t second = add(1, 2, 2, false, false, NULL, NOW);
    add(1, 3, 3, false, false, NULL, NOW);
    keep_index(1, 2, 2, false);
    struct refitted r = refit(1);
    ck_assert(r.changed && r.made_anew);
    ck_assert_uint_eq(r.op.lost_count, 0);
    ck_assert_uint_eq(functions_in_use(1), 4);
    r = refit(1);
    ck_assert(!r.changed && !r.made_anew); /* all is well */
    /* The best upload is deleted: the third has nothing any more and is lost, the second is used. */
    struct write_op *op = write_op_new(WRITE_UPLOAD_DELETE, 4096);
    op->u.upload_delete.id = best;
    rig_apply(&rig, op);
    ck_assert_uint_eq(refits(), 1);
    r = refit(1);
    ck_assert(r.changed && !r.made_anew);
    ck_assert_uint_eq(r.op.lost_count, 1);
    ck_assert_uint_eq(functions_in_use(1), 2);
    ck_assert_uint_eq(refits(), 0);
    char path[512];
    uint8_t sha[SHA256_SIZE];
    struct uuid u = uuid_of(1);
    sha_of(1, sha);
    ck_assert(blob_store_object_index_path(rig.blobs, &u, sha, path, sizeof(path)));
    ck_assert_int_ne(access(path, F_OK), 0); /* no row stands for it */
    op = write_op_new(WRITE_UPLOAD_DELETE, 4096);
    op->u.upload_delete.id = second;
    rig_apply(&rig, op);
    r = refit(1);
    ck_assert(r.changed);
    ck_assert_uint_eq(r.op.slice_id, 0);
    ck_assert_uint_eq(functions_in_use(1), 0);
    teardown();
}
END_TEST

START_TEST(an_object_that_gives_nothing_is_lost)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    struct slice_row *rows;
    size_t count;
    struct uuid u = uuid_of(1);
    char script[1024];
    setup(&o);
    add(1, 1, 4, true, false, "exit 3", NOW);
    struct refitted r = refit(1);
    ck_assert_uint_eq(r.op.slice_id, 0);
    ck_assert_uint_eq(r.op.lost_count, 1);
    bool present = true;
    ck_assert_int_eq(read_symbols_present(rig.reader, "", &u, 1, &present, &err), ERR_OK);
    ck_assert(!present);
    /* An index of another UUID is none. */
    add(2, 2, 4, true, false, script_of(3, 4, script), NOW);
    r = refit(2);
    ck_assert_uint_eq(r.op.lost_count, 1);
    /* It comes once more: found again. */
    add(1, 1, 4, true, false, "exit 3", NOW);
    ck_assert_int_eq(read_symbol(rig.reader, &u, &rig.arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert(!rows[0].lost && !rows[1].lost && rows[0].current);
    teardown();
}
END_TEST

START_TEST(a_busy_machine_decides_nothing)
{
    const struct symbol_keeper_options o = {.check_ms = 0};
    setup(&o);
    add(1, 1, 4, true, false, "echo 'stallsymd index: cannot write the index: full' >&2; exit 4",
        NOW);
    const struct index_refit in = {.reader = rig.reader,
                                   .blobs = rig.blobs,
                                   .cache = rig.cache,
                                   .layouts = rig.layouts,
                                   .child = {.program = program,
                                             .jobs = 1,
                                             .data_bytes = (uint64_t)4 << 30,
                                             .file_bytes = 1 << 30,
                                             .cpu_s = 60,
                                             .wall_s = 60,
                                             .stop_fd = -1}};
    struct refitted r;
    struct uuid u = uuid_of(1);
    ck_assert_int_eq(index_refit(&in, &u, &rig.arena, &r, &err), ERR_IO);
    teardown();
}
END_TEST

UNIT_MAIN("symbol_keeper", objects_of_no_use_go, above_the_cap_the_longest_unused_go,
          above_the_cap_who_holds_most_gives, an_app_has_a_cap_of_its_own,
          a_cap_of_indexes_that_is_reached_is_told, many_objects_go_in_steps,
          objects_of_deleted_uploads_go_at_once, uploads_in_pieces_expire,
          the_patrol_finds_what_is_lost_and_what_is_damaged,
          the_best_that_can_be_had_comes_into_use, an_object_that_gives_nothing_is_lost,
          a_busy_machine_decides_nothing, the_log_names_the_image_of_an_own_index,
          what_is_used_is_looked_at_at_once, a_failure_that_is_over_is_forgotten,
          an_object_whose_child_is_killed, without_descriptors_nothing_is_decided,
          what_a_damaged_index_said_is_taken_back)
