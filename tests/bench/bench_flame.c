/*
 * bench_flame - flame graphs over many distinct stacks (P13): from the database to the tree.
 *
 * usage: bench_flame [STACKS [ROUNDS [FILE]]]
 *
 * Stacks of 40 frames: a dozen outer ones that all have, then a walk through a graph of 20,000
 * functions in which some calls are taken more often than others. Prints the CPU time of the quickest
 * round, whole, for reading alone, and with what follows until it is sent (folded, as JSON), and the
 * tree's size. FILE is kept, and read as it is when it is there already.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "server/analysis/call_tree.h"
#include "server/http/flame.h"
#include "storage/read_stack_weights.h"
#include "storage/storage.h"

#define FRAMES     40
#define OUTER      12
#define FUNCTIONS  20000
#define BATCH      500
#define NOW        ((int64_t)1767225600000)
#define OP_LIMIT   ((size_t)64 << 20)
#define TREE_BYTES ((size_t)1 << 30)
#define SENT_BYTES ((size_t)256 << 20)

struct bench {
    struct storage *storage;
    struct storage_reader *reader;
    uint64_t random;
    char dir[64];
    char path[256];
};

/* How far a flame graph is taken. */
enum until { UNTIL_READ, UNTIL_TREE, UNTIL_SENT };

static void die(const char *what, const struct error *err)
{
    fprintf(stderr, "bench_flame: %s: %s\n", what, err->text);
    exit(1);
}

static uint32_t draw(struct bench *b, uint32_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((b->random >> 33) % below);
}

/* A callee of `function`: nearly always the same one, now and then one of eight. */
static uint32_t callee(struct bench *b, uint32_t function)
{
    uint32_t which = draw(b, 100) < 85 ? 0 : draw(b, 8);
    return (function * 2654435761u + which * 40503u + 77) % FUNCTIONS;
}

static void make_stack(struct bench *b, struct arena *arena, struct op_stack *o)
{
    struct raw_frame frames[FRAMES];
    struct buf buf;
    uint32_t function = 0;
    memset(frames, 0, sizeof(frames));
    for (uint32_t i = FRAMES; i-- > 0;) {
        function = i >= FRAMES - OUTER ? FRAMES - i : callee(b, function);
        memset(&frames[i].image, (int)(function % 10 + 1), sizeof(frames[i].image));
        frames[i].offset = 0x4000 + (uint64_t)function * 512 + draw(b, 4);
        frames[i].image_kind = IMAGE_UUID;
        frames[i].kind = i ? FRAME_RETURN : FRAME_LEAF;
    }
    const struct raw_stack s = {frames, FRAMES};
    raw_stack_hash("com.example.bench", &s, o->hash);
    buf_init(&buf, 1 << 16);
    raw_stack_encode(&s, &buf);
    o->raw = arena_memdup(arena, buf.data, buf.len);
    o->raw_len = buf.len;
    o->frame_count = FRAMES;
    buf_done(&buf);
}

static void apply(struct bench *b, struct write_op *op)
{
    struct error err = {0};
    uint64_t wal;
    if (storage_begin(b->storage, &err) || storage_apply(b->storage, op, &err) ||
        storage_commit(b->storage, &err))
        die("apply", &err);
    if (storage_wal_bytes(b->storage) > (64u << 20) &&
        storage_checkpoint(b->storage, false, &wal, &err))
        die("checkpoint", &err);
    write_op_free(op);
}

static void write_stacks(struct bench *b, size_t stacks)
{
    static const char *const builds[] = {"7200", "7210"};
    for (size_t done = 0; done < stacks; done += BATCH) {
        struct write_op *op = write_op_new(WRITE_BATCHES, OP_LIMIT);
        struct op_batch *batch = arena_alloc(op->arena, sizeof(*batch));
        *batch = (struct op_batch){
            .bundle_id = "com.example.bench",
            .reports = arena_array(op->arena, 2 * BATCH, sizeof(*batch->reports)),
            .report_count = 2 * BATCH,
            .stacks = arena_array(op->arena, BATCH, sizeof(*batch->stacks)),
            .stack_count = BATCH,
        };
        for (uint32_t i = 0; i < BATCH; i++)
            make_stack(b, op->arena, &batch->stacks[i]);
        for (uint32_t i = 0; i < 2 * BATCH; i++) {
            struct op_report *r = &batch->reports[i];
            *r = (struct op_report){.id = arena_printf(op->arena, "%zu-%u", done, i),
                                    .time_ms = NOW + draw(b, 3) * CLOCK_DAY_MS,
                                    .received_ms = NOW + 3 * CLOCK_DAY_MS,
                                    .device_time_ms = INT64_MIN,
                                    .duration_ms = 800 + draw(b, 3000),
                                    .weight = 1,
                                    .version = "7.2",
                                    .build = builds[i % 2],
                                    .device = "iPhone14,7",
                                    .os_version = "17.1",
                                    .os_build = "",
                                    .arch = "",
                                    .page = "Home",
                                    .path = "",
                                    .cpu_usage = -1,
                                    .memory_usage = -1,
                                    .stack = i / 2};
            report_id_hash("com.example.bench", r->id, r->id_hash);
        }
        op->u.batches.items = batch;
        op->u.batches.count = 1;
        apply(b, op);
    }
}

static void answer(struct arena *arena, const struct pending_stack *p, struct op_resolution *r)
{
    struct error err = {0};
    struct raw_stack raw;
    if (raw_stack_decode(p->raw, p->raw_len, arena, &raw, &err))
        die("raw stack", &err);
    struct resolved_stack *s = arena_alloc(arena, sizeof(*s));
    struct resolved_frame *f = arena_array(arena, raw.count, sizeof(*f));
    struct frame *names = arena_array(arena, raw.count, sizeof(*names));
    for (size_t i = 0; i < raw.count; i++) {
        uint32_t function = (uint32_t)((raw.frames[i].offset - 0x4000) / 512);
        names[i] = (struct frame){
            .function = arena_printf(arena, "-[Class%u method%u:]", function % 700, function),
            .file = arena_printf(arena, "/src/app/File%u.m", function % 700),
            .line = (uint32_t)raw.frames[i].offset % 2000 + 1};
        f[i] = (struct resolved_frame){.raw = raw.frames[i],
                                       .in_app = i < 20,
                                       .has_index = true,
                                       .image_name = arena_printf(arena, "Image%u", function % 10),
                                       .image = raw.frames[i].image,
                                       .offset = raw.frames[i].offset,
                                       .frames = &names[i],
                                       .frame_count = 1};
    }
    *s = (struct resolved_stack){f, raw.count};
    *r = (struct op_resolution){.stack_id = p->stack_id,
                                .generation = p->generation,
                                .stack = s,
                                .cluster_kind = 1,
                                .key_text = "key",
                                .title = "title",
                                .function = names[0].function,
                                .category = "other"};
    memcpy(r->key, &raw.frames[0].offset, 8);
}

static void resolve(struct bench *b)
{
    for (uint64_t after = 0;;) {
        struct error err = {0};
        struct pending_stack *pending;
        size_t count = 0;
        struct write_op *op = write_op_new(WRITE_RESOLUTIONS, OP_LIMIT);
        if (read_pending(b->reader, after, 1000, op->arena, &pending, &count, &err))
            die("pending", &err);
        if (count == 0) {
            write_op_free(op);
            return;
        }
        after = pending[count - 1].stack_id;
        op->u.resolutions.items = arena_array(op->arena, count, sizeof(*op->u.resolutions.items));
        op->u.resolutions.count = count;
        op->u.resolutions.rules_version = "1";
        for (size_t i = 0; i < count; i++)
            answer(op->arena, &pending[i], &op->u.resolutions.items[i]);
        apply(b, op);
    }
}

/* --- what is measured ------------------------------------------------------------------------- */

struct merge {
    struct call_tree *tree; /* NULL: reading alone */
    size_t stacks;
    uint32_t *functions; /* by kinds of frames; CALL_TREE_NONE: not yet */
};

static enum err take(void *ctx, const struct weighed_stack *s, struct error *err)
{
    struct merge *m = ctx;
    uint32_t path[FRAMES];
    const int64_t weights[CALL_TREE_WEIGHTS] = {s->weights[0].stall_ms, 0};
    m->stacks++;
    if (!m->tree)
        return ERR_OK;
    for (size_t i = s->frame_count; i-- > 0;) {
        const struct weighed_frame *f = &s->kinds[s->numbers[i]];
        const struct call_frame frame = {
            .function = f->function, .image = f->image, .file = f->file, .in_app = f->in_app};
        uint32_t *function = &m->functions[s->numbers[i]];
        if (*function == CALL_TREE_NONE && call_tree_function(m->tree, &frame, function, err))
            return err->code;
        path[i] = *function;
    }
    return call_tree_gather(m->tree, path, s->frame_count, weights, err);
}

/* A machine that others use, too, tells nothing by the clock on the wall. */
static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print_json(struct call_tree *tree, size_t stacks, const struct breakdown_scope *scope)
{
    struct flame flame = {.tree = tree, .by_time = true, .stacks = stacks, .scope = *scope};
    struct error err = {0};
    struct buf out;
    buf_init(&out, SENT_BYTES);
    if (flame_print(&flame, &FLAME_FORMATS[0], &out, &err))
        die("JSON", &err);
    buf_done(&out);
}

/* Milliseconds of one flame graph; its nodes. */
static double once(struct bench *b, enum until until, const char *build, size_t *ret_stacks,
                   size_t *ret_nodes)
{
    static uint32_t functions[FUNCTIONS * 4];
    struct merge m = {.tree = until >= UNTIL_TREE ? call_tree_new(TREE_BYTES) : NULL,
                      .functions = functions};
    struct breakdown_scope scope;
    struct read_filter f;
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, (size_t)256 << 20);
    read_filter_init(&f);
    f.build = build;
    memset(functions, 0xff, sizeof(functions));
    int64_t start = cpu_ns();
    if (read_stack_weights(b->reader, 0, &f, 1, &arena, take, &m, &scope, &err) ||
        (m.tree && (call_tree_settle(m.tree, &err) || call_tree_sort(m.tree, &err))))
        die("flame graph", &err);
    if (until == UNTIL_SENT)
        print_json(m.tree, m.stacks, &scope);
    double ms = (double)(cpu_ns() - start) / 1e6;
    *ret_stacks = m.stacks;
    if (m.tree)
        *ret_nodes = call_tree_count(m.tree);
    call_tree_free(m.tree);
    arena_done(&arena);
    return ms;
}

static double best(struct bench *b, int rounds, enum until until, const char *build,
                   size_t *ret_stacks, size_t *ret_nodes)
{
    double least = 0;
    for (int i = 0; i < rounds; i++) {
        double ms = once(b, until, build, ret_stacks, ret_nodes);
        least = i == 0 || ms < least ? ms : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    size_t want = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 100000;
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    struct bench b = {.random = 1};
    struct error err = {0};
    size_t stacks = 0, nodes = 0;
    snprintf(b.dir, sizeof(b.dir), "/tmp/bench_flame.XXXXXX");
    if (!mkdtemp(b.dir))
        return 1;
    const char *kept = argc > 3 ? argv[3] : NULL;
    if (kept)
        snprintf(b.path, sizeof(b.path), "%s", kept);
    else
        snprintf(b.path, sizeof(b.path), "%s/bench.db", b.dir);
    const bool filled = access(b.path, R_OK) == 0;
    const struct storage_options options = {.backend = "sqlite",
                                            .path = b.path,
                                            .busy_ms = 1000,
                                            .retry_days = 3,
                                            .daily_values = 1000,
                                            .migrate = true};
    if (storage_open(&options, &b.storage, &err) || storage_reader_open(b.storage, &b.reader, &err))
        die("open", &err);
    storage_reader_deadline(b.reader, INT64_MAX);
    if (!filled) {
        write_stacks(&b, want);
        resolve(&b);
    }
    double reading = best(&b, rounds, UNTIL_READ, NULL, &stacks, &nodes);
    double sent = best(&b, rounds, UNTIL_SENT, NULL, &stacks, &nodes);
    double whole = best(&b, rounds, UNTIL_TREE, NULL, &stacks, &nodes);
    double filtered = best(&b, rounds, UNTIL_TREE, "7210", &stacks, &nodes);
    printf(
        "P13  flame graph of %zu stacks, %zu nodes, CPU: %.0f ms (goal 300 for 100,000), %.2f us a "
        "stack (goal 3), %.2f of them reading; of one build of two %.0f ms; as JSON %.0f ms\n",
        stacks, nodes, whole, whole * 1000 / (double)(stacks ? stacks : 1),
        reading * 1000 / (double)(stacks ? stacks : 1), filtered, sent);
    storage_reader_close(b.reader);
    storage_close(b.storage);
    char file[sizeof(b.path) + 8];
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3 && !kept; i++) {
        snprintf(file, sizeof(file), "%s%s", b.path, endings[i]);
        unlink(file);
    }
    rmdir(b.dir);
    return 0;
}
