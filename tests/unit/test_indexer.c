/* Uploads to index files, with a child that does what the test says, then with the real one.
 * Covers: server/jobs/indexer.c server/jobs/index_install.c server/jobs/index_tell.c
 * Covers: server/jobs/index_upload.c */
#include "server/jobs/index_install.h"
#include "server/jobs/indexer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/descriptors.h"
#include "tests/support/fake_child.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/rig.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define UUID_A "0285884D-3DE9-3051-B23A-63B48BF99F35"
#define UUID_B "11111111-2222-3333-4444-555555555555"

static struct rig rig;
static struct indexer *indexer;
static char *tools; /* folder of the fake child and of prepared files */
static char *program;

static void start_indexer(void)
{
    struct error err;
    struct indexer_options options = {.program = program,
                                      .jobs = 1,
                                      .child_data_bytes = (uint64_t)4 << 30,
                                      .child_file_bytes = (uint64_t)1 << 30,
                                      .child_cpu_s = 60,
                                      .child_wall_s = 60,
                                      .keep_objects = true};
    ck_assert_msg(indexer_start(rig.storage, rig.writer, rig.blobs, rig.cache, rig.layouts,
                                &options, rig.metrics, &indexer, &err) == ERR_OK,
                  "%s", err.text);
}

static void setup(void)
{
    rig_start(&rig);
    tools = temp_dir_new();
    program = fake_child_new(tools);
}

static void teardown(void)
{
    indexer_stop(indexer);
    rig_stop(&rig);
    free(program);
    temp_dir_free(tools);
}

static struct uuid uuid_of(const char *text)
{
    struct uuid u;
    ck_assert(uuid_parse(text, strlen(text), &u));
    return u;
}

/* A spool file with these bytes and an upload row for it. */
static uint64_t upload_bytes(const void *bytes, size_t len)
{
    char name[128];
    struct error err;
    int fd = -1;
    ck_assert_msg(blob_store_spool_create(rig.blobs, name, sizeof(name), &fd, &err) == ERR_OK, "%s",
                  err.text);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    close(fd);
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    sha256_of(bytes, len, op->u.upload.sha256);
    op->u.upload.size = len;
    op->u.upload.spool_file = name;
    op->u.upload.bundle_id = op->u.upload.version = op->u.upload.build = op->u.upload.os_build = "";
    op->u.upload.now_ms = OPS_TIME_MS;
    ck_assert_msg(rig_call(&rig, op, &err) == ERR_OK, "%s", err.text);
    uint64_t id = op->u.upload.id;
    write_op_free(op);
    return id;
}

static uint64_t upload(const char *script)
{
    return upload_bytes(script, strlen(script));
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct wait {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int calls;
    enum err rc;
};

static void on_done(void *ctx, enum err rc)
{
    struct wait *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->calls++;
    w->rc = rc;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_init(struct wait *w)
{
    memset(w, 0, sizeof(*w));
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
}

static void wait_called(struct wait *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->calls)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Rings, waits for the end, reads the row. */
static struct upload_row finish(uint64_t id)
{
    struct wait w;
    struct error err;
    struct upload_row row;
    wait_init(&w);
    indexer_ring(indexer);
    ck_assert_msg(indexer_wait(indexer, id, on_done, &w, &err) == ERR_OK, "%s", err.text);
    wait_called(&w);
    ck_assert_int_eq(w.calls, 1);
    ck_assert_int_eq(w.rc, ERR_OK);
    arena_reset(&rig.arena);
    ck_assert_msg(read_upload(rig.reader, id, &rig.arena, &row, &err) == ERR_OK, "%s", err.text);
    return row;
}

static struct upload_row fails(const char *script, const char *reason)
{
    struct upload_row row = finish(upload(script));
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_msg(row.reason && strcmp(row.reason, reason) == 0, "%s", row.reason);
    return row;
}

/* --- prepared index files --------------------------------------------------------------------- */

/* TOOLS/NAME: an index of `functions` functions; `lines` is only what the child says. */
static void prepare(const char *name, const char *uuid, size_t functions, uint64_t vmaddr)
{
    char path[512], names[8][32];
    struct gsym_bytes_function f[8];
    struct buf bytes;
    memset(f, 0, sizeof(f));
    for (size_t i = 0; i < functions; i++) {
        snprintf(names[i], sizeof(names[i]), "function%zu", i);
        f[i] = (struct gsym_bytes_function){
            .address = vmaddr + 0x1000 + i * 0x100, .size = 0x100, .name = names[i]};
    }
    struct gsym_bytes g = {.uuid = uuid_of(uuid),
                           .offset_size = 4,
                           .base = vmaddr,
                           .functions = f,
                           .function_count = functions,
                           .footer = 1,
                           .text_vmaddr = vmaddr,
                           .text_size = 0x10000};
    buf_init(&bytes, 1 << 20);
    gsym_bytes_make(&g, &bytes);
    snprintf(path, sizeof(path), "%s/%s", tools, name);
    FILE *file = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
    fclose(file);
    buf_done(&bytes);
}

/* A script line: the prepared file becomes OUT/FILE, and a slice of UUID is told. */
static const char *slice(const char *prepared, const char *uuid, const char *file, unsigned lines,
                         char object)
{
    static char out[8][1024];
    static int next;
    char sha[SHA256_TEXT_SIZE];
    char *text = out[next++ % 8];
    memset(sha, object, sizeof(sha) - 1);
    sha[sizeof(sha) - 1] = 0;
    snprintf(text, sizeof(out[0]),
             "cp %s/%s $out/%s; echo \"{\\\"state\\\":\\\"indexed\\\",\\\"uuid\\\":\\\"%s\\\","
             "\\\"name\\\":\\\"Shop\\\",\\\"arch\\\":\\\"arm64\\\",\\\"functions\\\":999,"
             "\\\"lines\\\":%u,\\\"object_sha256\\\":\\\"%s\\\",\\\"index_file\\\":\\\"%s\\\"}\"\n",
             tools, prepared, file, uuid, lines, sha, file);
    return text;
}

static size_t functions_in_use(const char *uuid_text)
{
    struct uuid uuid = uuid_of(uuid_text);
    struct index_ref *ref = NULL;
    struct error err;
    if (index_cache_acquire(rig.cache, &uuid, &ref, &err) != ERR_OK)
        return 0;
    size_t n = gsym_info(index_ref_gsym(ref))->functions;
    index_cache_release(rig.cache, ref);
    return n;
}

static bool folder_is_empty(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", rig.dir, name);
    return temp_dir_count(path) == 0;
}

/* What an upload leaves goes after its end is in the database, which is what others look at. */
static void becomes_empty(const char *name)
{
    for (int i = 0; i < 10000 && !folder_is_empty(name); i++)
        usleep(1000);
    ck_assert_msg(folder_is_empty(name), "%s", name);
}

START_TEST(an_upload_becomes_an_index)
{
    uint64_t vmaddr = 0;
    struct uuid a = uuid_of(UUID_A);
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    struct layout_view view = layouts_view(rig.layouts, "com.example.any");
    ck_assert_uint_eq(functions_in_use(UUID_A), 0); /* the miss is remembered until told */
    struct upload_row row = finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    ck_assert_int_eq(row.state, UPLOAD_INDEXED);
    ck_assert_uint_eq(row.slice_count, 1);
    ck_assert(row.slices[0].indexed);
    ck_assert(row.slices[0].current);
    ck_assert_uint_eq(row.slices[0].functions, 3); /* the file's, not what was claimed */
    ck_assert_uint_eq(row.slices[0].lines, 7);
    ck_assert_uint_eq(row.slices[0].text_vmaddr, 0x100000000);
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    ck_assert(layouts_find(&view, &a, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x100000000);
    becomes_empty("spool");
    becomes_empty("work");
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_SLICES_INDEXED), 1);
    teardown();
}
END_TEST

START_TEST(whatever_the_child_does_there_is_a_reason)
{
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    fails("kill -SEGV $$", "the indexing process was killed by signal 11 (Segmentation fault)");
    fails("echo 'stallsymd index: member 3: bad checksum' >&2; exit 1", "member 3: bad checksum");
    fails("exit 3", "the indexing process ended with status 3 and no word");
    fails("echo nonsense", "the indexing process printed an odd line: no object at byte 0");
    fails("exit 0", "the indexing process found nothing and said no word");
    fails("echo '{\"state\":\"failed\",\"name\":\"Old\",\"reason\":\"no UUID\"}'", "no UUID");
    fails("echo '{\"state\":\"indexed\",\"uuid\":\"" UUID_A "\",\"index_file\":\"" UUID_A
          ".gsym\"}'",
          "the index cannot be used: the index file is not there");

    /* A crash after a good slice: nothing of it is used. */
    char script[2048];
    snprintf(script, sizeof(script), "%s kill -BUS $$",
             slice("one", UUID_A, UUID_A ".gsym", 7, 'a'));
    struct upload_row row =
        fails(script, "the indexing process was killed by signal 7 (Bus error)");
    ck_assert_uint_eq(row.slice_count, 1);
    ck_assert(!row.slices[0].indexed);
    ck_assert_uint_eq(functions_in_use(UUID_A), 0);
    becomes_empty("spool");
    becomes_empty("work");
    becomes_empty("symbols");
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_UPLOADS_FAILED), 8);
    teardown();
}
END_TEST

/* Until it is indexed or failed. */
static struct upload_row finish_in_the_end(uint64_t id)
{
    struct upload_row row = {.state = UPLOAD_QUEUED};
    struct error err;
    while (row.state != UPLOAD_INDEXED && row.state != UPLOAD_FAILED) {
        indexer_ring(indexer);
        usleep(20000);
        arena_reset(&rig.arena);
        ck_assert_msg(read_upload(rig.reader, id, &rig.arena, &row, &err) == ERR_OK, "%s",
                      err.text);
    }
    return row;
}

/* By the kernel when memory runs out: once says nothing about the upload. */
START_TEST(a_killed_child_is_run_again)
{
    char script[2048], marks[512];
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    snprintf(marks, sizeof(marks), "%s/marks", tools);
    snprintf(script, sizeof(script), "echo x >>%s; [ $(wc -l <%s) -ge 3 ] || kill -KILL $$; %s",
             marks, marks, slice("one", UUID_A, UUID_A ".gsym", 7, 'a'));
    ck_assert_int_eq(finish_in_the_end(upload(script)).state, UPLOAD_INDEXED);
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    struct upload_row row = finish_in_the_end(upload("kill -KILL $$"));
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_str_eq(row.reason,
                     "the indexing process was killed; the machine may be short of memory");
    /* Two that have their turns one after the other. */
    uint64_t ids[] = {upload("kill -KILL $$ # 1"), upload("kill -KILL $$ # 2")};
    ck_assert_int_eq(finish_in_the_end(ids[0]).state, UPLOAD_FAILED);
    ck_assert_int_eq(finish_in_the_end(ids[1]).state, UPLOAD_FAILED);
    becomes_empty("work");
    becomes_empty("spool");
    teardown();
}
END_TEST

START_TEST(without_descriptors_nothing_is_decided)
{
    char path[512], link[600];
    struct uuid a = uuid_of(UUID_A);
    struct rlimit before;
    struct error err;
    enum index_state state = INDEX_OUTDATED;
    bool plain = false;
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    snprintf(path, sizeof(path), "%s/one", tools);
    snprintf(link, sizeof(link), "%s/link", tools);
    ck_assert_int_eq(symlink(path, link), 0);
    descriptors_take(&before);
    enum err rc = index_file_state(path, &a, &state, &err);
    enum err plain_rc = index_file_is_plain(path, &plain, &err);
    descriptors_give(&before);
    ck_assert_int_eq(rc, ERR_IO);
    ck_assert_int_eq(state, INDEX_OUTDATED);
    ck_assert_int_eq(plain_rc, ERR_OK);
    ck_assert(plain);
    ck_assert_int_eq(index_file_is_plain(link, &plain, &err), ERR_OK);
    ck_assert(!plain);
    ck_assert_int_eq(index_file_state(path, &a, &state, &err), ERR_OK);
    ck_assert_int_eq(state, INDEX_SOUND);
    ck_assert_int_eq(index_file_state("/nowhere", &a, &state, &err), ERR_OK);
    ck_assert_int_eq(state, INDEX_ABSENT);
    a = uuid_of(UUID_B);
    ck_assert_int_eq(index_file_state(path, &a, &state, &err), ERR_OK);
    ck_assert_int_eq(state, INDEX_DAMAGED);
    teardown();
}
END_TEST

START_TEST(index_files_are_checked)
{
    char script[2048];
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    prepare("other", UUID_B, 3, 0x100000000);
    fails(slice("other", UUID_A, UUID_A ".gsym", 1, 'a'),
          "the index cannot be used: the index is of another UUID");
    snprintf(script, sizeof(script), "ln -s %s/one $out/%s.gsym; true %s", tools, UUID_A,
             strchr(slice("one", UUID_A, UUID_A ".gsym", 1, 'a'), ';'));
    fails(script, "the index cannot be used: the index file is not there");
    snprintf(script, sizeof(script), "%s head -c 100 %s/one >$out/%s.gsym",
             slice("one", UUID_A, UUID_A ".gsym", 1, 'a'), tools, UUID_A);
    struct upload_row row = finish(upload(script));
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_int_eq(strncmp(row.reason, "the index cannot be used: ", 26), 0);
    ck_assert_ptr_null(strstr(row.reason, rig.dir));
    snprintf(script, sizeof(script), "%s echo short >$out/%s.gsym",
             slice("one", UUID_A, UUID_A ".gsym", 1, 'a'), UUID_A);
    fails(script, "the index cannot be used: not an index file");
    /* A byte changed in the middle: the CRC knows. */
    snprintf(script, sizeof(script),
             "%s printf x | dd of=$out/%s.gsym bs=1 seek=130 conv=notrunc 2>/dev/null",
             slice("one", UUID_A, UUID_A ".gsym", 1, 'a'), UUID_A);
    row = finish(upload(script));
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_uint_eq(functions_in_use(UUID_A), 0);
    teardown();
}
END_TEST

START_TEST(a_bad_slice_fails_alone)
{
    char script[3000];
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    prepare("two", UUID_B, 2, 0x100000000);
    snprintf(script, sizeof(script), "%s%secho broken >$out/%s.gsym",
             slice("one", UUID_A, UUID_A ".gsym", 1, 'a'),
             slice("two", UUID_B, UUID_B ".gsym", 1, 'b'), UUID_A);
    struct upload_row row = finish(upload(script));
    ck_assert_int_eq(row.state, UPLOAD_INDEXED);
    ck_assert_uint_eq(row.slice_count, 2);
    for (size_t i = 0; i < 2; i++) {
        struct uuid b = uuid_of(UUID_B);
        bool good = uuid_equal(&row.slices[i].shelf, &b);
        ck_assert_int_eq(row.slices[i].indexed, good);
        ck_assert(good || row.slices[i].reason);
    }
    ck_assert_uint_eq(functions_in_use(UUID_A), 0);
    ck_assert_uint_eq(functions_in_use(UUID_B), 2);
    teardown();
}
END_TEST

START_TEST(the_richest_object_is_used)
{
    char script[3000];
    setup();
    start_indexer();
    prepare("f2", UUID_A, 2, 0x100000000);
    prepare("f3", UUID_A, 3, 0x100000000);
    prepare("f4", UUID_A, 4, 0x100000000);
    /* Two in one upload: the one with more lines. */
    snprintf(script, sizeof(script), "%s%s", slice("f2", UUID_A, UUID_A ".gsym", 5, 'a'),
             slice("f3", UUID_A, UUID_A ".2.gsym", 9, 'b'));
    struct upload_row row = finish(upload(script));
    ck_assert_int_eq(row.state, UPLOAD_INDEXED);
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    /* A poorer one comes later: kept as a row, not in use, and it says why. */
    row = finish(upload(slice("f2", UUID_A, UUID_A ".gsym", 8, 'c')));
    ck_assert_int_eq(row.state, UPLOAD_INDEXED);
    ck_assert(row.slices[0].indexed);
    ck_assert(!row.slices[0].current);
    ck_assert_str_eq(row.slices[0].reason,
                     "conflicts with another object with this UUID, which stays in use: it has "
                     "more, or comes first by its content");
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    /* The same lines, more functions. */
    row = finish(upload(slice("f4", UUID_A, UUID_A ".gsym", 9, 'd')));
    ck_assert(row.slices[0].current);
    ck_assert_uint_eq(functions_in_use(UUID_A), 4);
    /* An equal one, of another object: what is in use stays. */
    row = finish(upload(slice("f4", UUID_A, UUID_A ".gsym", 9, 'e')));
    ck_assert(!row.slices[0].current);
    ck_assert_str_eq(row.slices[0].reason,
                     "another object with this UUID is in use and says the same");
    teardown();
}
END_TEST

START_TEST(an_index_that_was_lost_is_put_back)
{
    char path[512], file[PATH_MAX];
    struct uuid a = uuid_of(UUID_A);
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    ck_assert(blob_store_index_path(rig.blobs, &a, path, sizeof(path)));
    ck_assert_ptr_nonnull(realpath(path, file));
    ck_assert_int_eq(unlink(file), 0); /* what the link leads to */
    index_cache_changed(rig.cache, &a);
    ck_assert_uint_eq(functions_in_use(UUID_A), 0);
    ck_assert(!index_is_sound(rig.blobs, &a, &a));
    finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    ck_assert(index_is_sound(rig.blobs, &a, &a));
    teardown();
}
END_TEST

START_TEST(a_damaged_index_is_replaced)
{
    char path[512];
    struct uuid a = uuid_of(UUID_A);
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    ck_assert(blob_store_index_path(rig.blobs, &a, path, sizeof(path)));
    for (int cut = 0; cut <= 1; cut++) {
        struct stat st;
        ck_assert_int_eq(stat(path, &st), 0);
        uint8_t byte = 0;
        int fd = open(path, O_RDWR);
        ck_assert_int_eq(pread(fd, &byte, 1, st.st_size / 2), 1);
        byte ^= 0x55;
        ck_assert_int_eq(pwrite(fd, &byte, 1, st.st_size / 2), 1);
        ck_assert_int_eq(cut ? ftruncate(fd, 100) : 0, 0);
        close(fd);
        ck_assert(!index_is_sound(rig.blobs, &a, &a));
        index_cache_changed(rig.cache, &a);
        finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
        ck_assert(index_is_sound(rig.blobs, &a, &a));
        ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    }
    teardown();
}
END_TEST

/* Waiting has an end when the storage has none; the upload is done later all the same. */
START_TEST(trouble_is_told_to_who_waits)
{
    char work[512], aside[512];
    struct wait w;
    struct error err;
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    snprintf(work, sizeof(work), "%s/work", rig.dir);
    snprintf(aside, sizeof(aside), "%s/aside", rig.dir);
    ck_assert_int_eq(rename(work, aside), 0);
    uint64_t id = upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a'));
    wait_init(&w);
    ck_assert_int_eq(indexer_wait(indexer, id, on_done, &w, &err), ERR_OK);
    indexer_ring(indexer);
    wait_called(&w);
    ck_assert_int_eq(w.rc, ERR_BUSY);
    ck_assert_int_eq(rename(aside, work), 0);
    do { /* a run that began before the folder was back says so once more */
        wait_init(&w);
        ck_assert_int_eq(indexer_wait(indexer, id, on_done, &w, &err), ERR_OK);
        indexer_ring(indexer);
        wait_called(&w);
    } while (w.rc == ERR_BUSY);
    ck_assert_int_eq(finish(id).state, UPLOAD_INDEXED);
    teardown();
}
END_TEST

START_TEST(one_that_has_to_wait_holds_nobody_up)
{
    struct error err;
    struct upload_row row;
    setup();
    prepare("one", UUID_A, 3, 0x100000000);
    uint64_t first = upload("echo 'stallsymd index: cannot write the index: full' >&2; exit 4");
    uint64_t second = upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a'));
    start_indexer();
    row = finish(second);
    ck_assert_int_eq(row.state, UPLOAD_INDEXED);
    /* Not the upload's fault: it is still to be done. */
    ck_assert_int_eq(read_upload(rig.reader, first, &rig.arena, &row, &err), ERR_OK);
    ck_assert_int_eq(row.state, UPLOAD_INDEXING);
    ck_assert(!folder_is_empty("spool"));
    teardown();
}
END_TEST

START_TEST(queued_uploads_survive_a_restart)
{
    char script[2048], go[512];
    struct wait w;
    struct error err;
    setup();
    prepare("one", UUID_A, 3, 0x100000000);
    snprintf(go, sizeof(go), "%s/go", tools);
    /* Hangs until the file is there; says so by another one. */
    snprintf(script, sizeof(script), "echo >%s/started; [ -e %s ] || sleep 1000\n%s", tools, go,
             slice("one", UUID_A, UUID_A ".gsym", 7, 'a'));
    uint64_t id = upload(script);
    uint64_t second = upload("exit 1");
    start_indexer(); /* nobody rings */
    snprintf(script, sizeof(script), "%s/started", tools);
    while (access(script, F_OK) != 0)
        usleep(1000);
    wait_init(&w);
    ck_assert_int_eq(indexer_wait(indexer, id, on_done, &w, &err), ERR_OK);
    indexer_quiesce(indexer);
    ck_assert_int_eq(w.calls, 1);
    ck_assert_int_eq(w.rc, ERR_BUSY);
    ck_assert_int_eq(indexer_wait(indexer, id, on_done, &w, &err), ERR_BUSY);
    ck_assert_int_eq(w.calls, 1);
    indexer_stop(indexer);
    becomes_empty("work");
    ck_assert(!folder_is_empty("spool"));
    rig_restart(&rig);
    fclose(fopen(go, "w"));
    start_indexer();
    ck_assert_int_eq(finish(second).state, UPLOAD_FAILED);
    ck_assert_int_eq(finish(id).state, UPLOAD_INDEXED);
    ck_assert_uint_eq(functions_in_use(UUID_A), 3);
    teardown();
}
END_TEST

START_TEST(waiting_for_what_is_over_or_never_was)
{
    struct wait w;
    struct error err;
    setup();
    start_indexer();
    uint64_t id = upload("exit 1");
    finish(id);
    wait_init(&w);
    ck_assert_int_eq(indexer_wait(indexer, id, on_done, &w, &err), ERR_OK);
    ck_assert_int_eq(w.calls, 1); /* at once */
    ck_assert_int_eq(indexer_wait(indexer, 123456, on_done, &w, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(w.calls, 1);
    teardown();
}
END_TEST

START_TEST(an_upload_whose_file_is_gone)
{
    setup();
    uint64_t id = upload("exit 1");
    struct upload_row row;
    struct error err;
    ck_assert_int_eq(read_upload(rig.reader, id, &rig.arena, &row, &err), ERR_OK);
    ck_assert_int_eq(blob_store_remove_spool(rig.blobs, row.spool_file, &err), ERR_OK);
    start_indexer();
    row = finish(id);
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_str_eq(row.reason, "the uploaded file is gone");
    teardown();
}
END_TEST

/* --- stacks that wait ------------------------------------------------------------------------- */

static struct resolver *resolver;
static struct rules *rules;

static void start_resolver(void)
{
    struct resolver_options options = {.workers = 1, .page = 64, .frame_cache_entries = 64};
    struct error err;
    ck_assert_int_eq(rules_new_default(&rules, &err), ERR_OK);
    ck_assert_int_eq(resolver_start(rig.storage, rig.writer, rig.cache, rules, &options,
                                    rig.metrics, &resolver, &err),
                     ERR_OK);
    atomic_store(&rig.resolver, resolver);
}

static void stop_resolver(void)
{
    atomic_store(&rig.resolver, NULL);
    resolver_stop(resolver);
    rules_free(rules);
}

/* A report whose stack misses UUID_A, and is resolved without it. */
static void post_waiting(void)
{
    struct raw_frame frame = {
        .image = uuid_of(UUID_A), .offset = 0x1000, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    struct op_image image = {
        .id = frame.image, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"};
    rig_apply(&rig, ops_report("com.example.shop", "r1", &frame, 1, &image, 1));
    while (metrics_get(rig.metrics, METRIC_STACKS_RESOLVED) < 1)
        usleep(500);
}

static void expect_function(const char *function)
{
    struct error err;
    struct report_row row;
    while (metrics_get(rig.metrics, METRIC_STACKS_RESOLVED) < 2)
        usleep(500);
    arena_reset(&rig.arena);
    ck_assert_msg(read_report(rig.reader, "com.example.shop", "r1", &rig.arena, &row, &err) ==
                      ERR_OK,
                  "%s", err.text);
    ck_assert_str_eq(row.stack.resolved.frames[0].frames[0].function, function);
}

START_TEST(stacks_that_waited_are_pending_again)
{
    setup();
    start_indexer();
    prepare("one", UUID_A, 3, 0x100000000);
    start_resolver();
    post_waiting();
    finish(upload(slice("one", UUID_A, UUID_A ".gsym", 7, 'a')));
    expect_function("function0");
    stop_resolver();
    teardown();
}
END_TEST

/* The daemon went down when the index was in use, and not all stacks that missed it were turned
 * back. */
START_TEST(stacks_that_slipped_in_survive_a_restart)
{
    struct uuid uuid = uuid_of(UUID_A);
    struct turn_back_row *rows = NULL;
    struct error err;
    size_t count = 1;
    setup();
    start_resolver();
    post_waiting();
    rig_put_index(&rig, &uuid, "late()");
    struct write_op *op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted = (struct op_refitted){.shelf = uuid};
    rig_apply(&rig, op);
    start_indexer(); /* nobody rings */
    expect_function("late()");
    while (count > 0) {
        arena_reset(&rig.arena);
        ck_assert_int_eq(read_turn_backs(rig.reader, 10, &rig.arena, &rows, &count, &err), ERR_OK);
    }
    stop_resolver();
    teardown();
}
END_TEST

static void read_whole(const char *path, struct buf *out)
{
    char block[65536];
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    for (size_t n; (n = fread(block, 1, sizeof(block), f)) > 0;)
        ck_assert(buf_put(out, block, n));
    fclose(f);
}

START_TEST(the_real_program)
{
    const char *stallsymd = getenv("STALLSYMD");
    const char *demo = "tests/demo/Shop.dSYM.zip";
    struct buf bytes;
    if (!stallsymd)
        stallsymd = "build/stallsymd";
    if (access(stallsymd, X_OK) != 0 || access(demo, R_OK) != 0) {
        printf("skipped: no %s\n", stallsymd);
        return;
    }
    setup();
    free(program);
    program = realpath(stallsymd, NULL);
    start_indexer();
    buf_init(&bytes, 64 << 20);
    read_whole(demo, &bytes);
    struct upload_row row = finish(upload_bytes(bytes.data, bytes.len));
    ck_assert_msg(row.state == UPLOAD_INDEXED, "%s", row.reason);
    ck_assert_uint_ge(row.slice_count, 1);
    ck_assert(row.slices[0].has_dwarf);
    ck_assert(row.slices[0].current);
    ck_assert(!folder_is_empty("objects"));
    row = finish(upload_bytes(bytes.data, bytes.len / 2)); /* cut in the middle */
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    ck_assert_ptr_nonnull(row.reason);
    row = finish(upload("nothing of the kind"));
    ck_assert_int_eq(row.state, UPLOAD_FAILED);
    becomes_empty("work");
    buf_done(&bytes);
    teardown();
}
END_TEST

UNIT_MAIN("indexer", a_damaged_index_is_replaced, trouble_is_told_to_who_waits,
          an_upload_becomes_an_index, whatever_the_child_does_there_is_a_reason,
          index_files_are_checked, a_bad_slice_fails_alone, the_richest_object_is_used,
          an_index_that_was_lost_is_put_back, one_that_has_to_wait_holds_nobody_up,
          queued_uploads_survive_a_restart, waiting_for_what_is_over_or_never_was,
          an_upload_whose_file_is_gone, a_killed_child_is_run_again,
          without_descriptors_nothing_is_decided, stacks_that_waited_are_pending_again,
          stacks_that_slipped_in_survive_a_restart, the_real_program)
