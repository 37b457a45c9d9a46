/*
 * bench_storage - P12 and P15: the storage library alone. Batches as P8b and P9 have them,
 * resolutions (P12), and what a report takes on disk (P15).
 *
 * usage: bench_storage [REPORTS [GROUP]]
 *
 * Batches of 20 reports with stacks of 40 frames in 10 images, drawn by a Zipf law from a pool of
 * known stacks, or all new; GROUP batches a commit, synchronous=FULL. A late file: the new stacks
 * are clustered provisionally, then what is there has them resolved anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "storage/storage.h"
#include "storage/storage_read.h"

#define POOL     20000
#define FRAMES   40
#define IMAGES   10
#define BATCH    20
#define NOW      ((int64_t)1767225600000)
#define OP_LIMIT ((size_t)16 << 20)
#define PAGE     1024
#define PIECE    512 /* of a page, as the resolver has them */
#define LATE     1   /* the image that is indexed late; from FOREIGN on they never are */
#define FOREIGN  6

struct bench {
    struct storage *storage;
    struct storage_reader *reader;
    uint64_t random;
    uint64_t serial;
    uint64_t each;
    double *zipf; /* cumulated */
    char dir[64];
    char path[96];
};

static void die(const char *what, const struct error *err)
{
    fprintf(stderr, "bench_storage: %s: %s\n", what, err->text);
    exit(1);
}

static uint32_t draw(struct bench *b, uint32_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((b->random >> 33) % below);
}

static uint32_t draw_zipf(struct bench *b, uint32_t below)
{
    double u = (double)draw(b, 1u << 30) / (1u << 30) * b->zipf[below - 1];
    uint32_t lo = 0;
    uint32_t hi = below - 1;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (b->zipf[mid] < u)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Everything about stack number `k`; addresses as one launch of the app had them. */
static void make_stack(struct arena *arena, uint64_t k, uint32_t launch, struct op_stack *o,
                       const void **ret_addresses, size_t *ret_len)
{
    struct raw_frame frames[FRAMES] = {{{{0}}, 0, 0, 0, NULL}};
    uint64_t addresses[FRAMES];
    struct buf buf;
    for (uint32_t i = 0; i < FRAMES; i++) {
        uint32_t image = (uint32_t)((k * 7 + i / 6) % IMAGES);
        memset(&frames[i].image, (int)(image + 1), sizeof(frames[i].image));
        frames[i].offset = 0x4000 + (k * 2654435761u + i * 40503u) % 0x800000;
        frames[i].image_kind = IMAGE_UUID;
        frames[i].kind = i ? FRAME_RETURN : FRAME_LEAF;
        addresses[i] =
            0x100000000u + ((uint64_t)launch << 14) + image * 0x2000000u + frames[i].offset;
    }
    const struct raw_stack s = {frames, FRAMES};
    raw_stack_hash("com.example.bench", &s, o->hash);
    buf_init(&buf, 1 << 16);
    raw_stack_encode(&s, &buf);
    o->raw = arena_memdup(arena, buf.data, buf.len);
    o->raw_len = buf.len;
    o->frame_count = FRAMES;
    buf_clear(&buf);
    stack_addresses_encode(&s, addresses, &buf);
    *ret_addresses = arena_memdup(arena, buf.data, buf.len);
    *ret_len = buf.len;
    buf_done(&buf);
}

static void make_report(struct bench *b, struct arena *arena, struct op_report *r)
{
    int64_t received = NOW + (int64_t)(b->serial / 4);
    *r = (struct op_report){
        .id =
            arena_printf(arena, "%08x-%04x-4%03x-8%03x-%012llx", draw(b, 1u << 30), draw(b, 65536),
                         draw(b, 4096), draw(b, 4096), (unsigned long long)b->serial++),
        .kind = REPORT_STALL,
        .time_ms = received - (int64_t)draw(b, 60000),
        .received_ms = received,
        .device_time_ms = INT64_MIN,
        .duration_ms = 800 + (int64_t)draw(b, 100) * (int64_t)draw(b, 60),
        .weight = 1,
        .threshold_type = "runloop_800",
        .version = draw(b, 4) ? "7.2.1" : "7.2.0",
        .build = draw(b, 4) ? "7210" : "7200",
        .device = arena_printf(arena, "iPhone%u,%u", 11 + draw_zipf(b, 6), 1 + draw_zipf(b, 4)),
        .os_version = arena_printf(arena, "17.%u", draw_zipf(b, 6)),
        .os_build = "",
        .arch = "arm64e",
        .page = arena_printf(arena, "Page%uViewController", draw_zipf(b, 40)),
        .path = arena_printf(arena, "Home->List->Page%u", draw_zipf(b, 200)),
        .cpu_usage = (int32_t)draw(b, 100),
        .memory_usage = 200 + (int32_t)draw(b, 300),
    };
    r->device_time_ms = r->time_ms;
    report_id_hash("com.example.bench", r->id, r->id_hash);
}

/* Which stacks reports have. */
enum draw { DRAW_KNOWN, DRAW_EACH, DRAW_NEW };

static struct write_op *make_batch(struct bench *b, enum draw draw_as)
{
    struct write_op *op = write_op_new(WRITE_BATCHES, OP_LIMIT);
    struct op_batch *batch = arena_alloc(op->arena, sizeof(*batch));
    *batch = (struct op_batch){
        .bundle_id = "com.example.bench",
        .reports = arena_array(op->arena, BATCH, sizeof(*batch->reports)),
        .report_count = BATCH,
        .stacks = arena_array(op->arena, BATCH, sizeof(*batch->stacks)),
        .stack_count = BATCH,
    };
    uint32_t launch = draw(b, 16000);
    for (uint32_t i = 0; i < BATCH; i++) {
        struct op_report *r = &batch->reports[i];
        make_report(b, op->arena, r);
        uint64_t k = draw_as == DRAW_NEW    ? 1000000 + b->serial
                     : draw_as == DRAW_EACH ? b->each++ % POOL
                                            : draw_zipf(b, POOL);
        make_stack(op->arena, k, launch, &batch->stacks[i], &r->addresses, &r->addresses_len);
        r->stack = i;
    }
    op->u.batches.items = batch;
    op->u.batches.count = 1;
    return op;
}

static void apply_group(struct bench *b, struct write_op **ops, size_t count)
{
    struct error err = {0};
    if (storage_begin(b->storage, &err))
        die("begin", &err);
    for (size_t i = 0; i < count; i++) {
        if (storage_apply(b->storage, ops[i], &err))
            die("apply", &err);
    }
    if (storage_commit(b->storage, &err))
        die("commit", &err);
}

/* Time on a processor: what the machine's other work does not change much. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct spent {
    double wall, cpu;
};

static struct spent now(void)
{
    return (struct spent){(double)clock_mono_ns() / 1e9, cpu_s()};
}

static void add_since(struct spent *sum, struct spent start)
{
    struct spent end = now();
    sum->wall += end.wall - start.wall;
    sum->cpu += end.cpu - start.cpu;
}

static void print_rate(const char *what, double count, struct spent s)
{
    printf("%-18s %7.0f a second, %7.1f us of a processor each (%.0f)\n", what, count / s.wall,
           s.cpu * 1e6 / count, count);
    fflush(stdout);
}

/* What was spent in the library; making the ops does not count. */
static struct spent write_reports(struct bench *b, size_t reports, size_t group, enum draw draw_as)
{
    struct write_op *ops[512];
    struct error err = {0};
    uint64_t wal;
    struct spent spent = {0, 0};
    for (size_t done = 0; done < reports;) {
        size_t n = 0;
        for (; n < group && done < reports; done += BATCH)
            ops[n++] = make_batch(b, draw_as);
        struct spent start = now();
        apply_group(b, ops, n);
        if (storage_wal_bytes(b->storage) > (64u << 20) &&
            storage_checkpoint(b->storage, false, &wal, &err))
            die("checkpoint", &err);
        add_since(&spent, start);
        for (size_t i = 0; i < n; i++)
            write_op_free(ops[i]);
    }
    return spent;
}

/* What is known when stacks are resolved. */
enum answer { ANSWER_NEW, ANSWER_PROVISIONAL, ANSWER_LATE };

static bool is_missing(const struct uuid *image, enum answer as)
{
    return as != ANSWER_NEW &&
           (image->bytes[0] >= FOREIGN || (as == ANSWER_PROVISIONAL && image->bytes[0] == LATE));
}

static void answer_frames(struct arena *arena, const struct raw_stack *raw, enum answer as,
                          struct op_resolution *r)
{
    struct resolved_frame *f = arena_array(arena, raw->count, sizeof(*f));
    struct frame *names = arena_array(arena, raw->count, sizeof(*names));
    struct resolved_stack *s = arena_alloc(arena, sizeof(*s));
    struct uuid *missing = arena_array(arena, IMAGES, sizeof(*missing));
    bool seen[IMAGES + 1] = {false};
    for (size_t i = 0; i < raw->count; i++) {
        const struct uuid *image = &raw->frames[i].image;
        const uint32_t function = (uint32_t)(raw->frames[i].offset >> 9);
        const bool named = !is_missing(image, as);
        names[i] = (struct frame){
            .function = arena_printf(arena, "-[Class%u method%u:]", function % 700, function),
            .file = arena_printf(arena, "/src/app/File%u.m", function % 700),
            .line = (uint32_t)(raw->frames[i].offset % 2000)};
        f[i] = (struct resolved_frame){.raw = raw->frames[i],
                                       .in_app = i < 20,
                                       .has_index = named,
                                       .image_name = "Shop",
                                       .image = *image,
                                       .offset = raw->frames[i].offset,
                                       .frames = &names[i],
                                       .frame_count = named,
                                       .status = named ? FRAME_RESOLVED : FRAME_NO_SYMBOLS};
        if (!named && !seen[image->bytes[0]])
            missing[r->missing_count++] = *image;
        seen[image->bytes[0]] = true;
    }
    *s = (struct resolved_stack){f, raw->count};
    r->stack = s;
    r->missing = missing;
}

/* Cause k with a probability of about 1/k. */
static uint32_t cause_of(uint64_t function)
{
    const uint64_t h = function * 0x9e3779b97f4a7c15u;
    const uint32_t base = (uint32_t)1 << (h >> 60) % 9;
    return base + (uint32_t)(h >> 20) % base;
}

static void answer(struct arena *arena, const struct pending_stack *p, enum answer as,
                   struct op_resolution *r)
{
    struct error err = {0};
    struct raw_stack raw;
    uint8_t digest[SHA256_SIZE];
    if (raw_stack_decode(p->raw, p->raw_len, arena, &raw, &err))
        die("raw stack", &err);
    *r = (struct op_resolution){.stack_id = p->stack_id,
                                .generation = p->generation,
                                .provisional = as == ANSWER_PROVISIONAL,
                                .category = "unknown"};
    answer_frames(arena, &raw, as, r);
    const uint32_t cause = cause_of(raw.frames[0].offset >> 9);
    static const char *const kinds[] = {"-[Known]", "0x1000", "-[Late]"};
    const char *title = arena_printf(arena, "%s %u", kinds[as], cause);
    r->key_text = r->title = r->function = title;
    sha256_of(title, strlen(title), digest);
    memcpy(r->key, digest, sizeof(r->key));
}

/* A page of pending stacks as ops, as many as the resolver makes of one. */
static size_t answer_page(struct bench *b, enum answer as, struct write_op **ops,
                          size_t *ret_stacks)
{
    struct error err = {0};
    struct pending_stack *page;
    size_t count = 0;
    struct write_op *source = write_op_new(WRITE_RESOLUTIONS, (size_t)256 << 20);
    if (read_pending(b->reader, 0, PAGE, source->arena, &page, ret_stacks, &err))
        die("pending", &err);
    for (size_t at = 0; at < *ret_stacks; at += PIECE) {
        const size_t n = *ret_stacks - at < PIECE ? *ret_stacks - at : PIECE;
        struct write_op *op = write_op_new(WRITE_RESOLUTIONS, (size_t)256 << 20);
        struct op_resolution *items = arena_array(op->arena, n, sizeof(*items));
        for (size_t i = 0; i < n; i++)
            answer(op->arena, &page[at + i], as, &items[i]);
        op->u.resolutions =
            (struct op_resolutions){.items = items, .count = n, .rules_version = "bench"};
        ops[count++] = op;
    }
    write_op_free(source);
    return count;
}

static struct spent resolve_all(struct bench *b, enum answer as, size_t *ret_count)
{
    struct spent spent = {0, 0};
    *ret_count = 0;
    for (;;) {
        struct write_op *ops[PAGE / PIECE];
        size_t stacks = 0;
        const size_t count = answer_page(b, as, ops, &stacks);
        if (stacks == 0)
            return spent;
        struct spent start = now();
        apply_group(b, ops, count);
        add_since(&spent, start);
        *ret_count += stacks;
        for (size_t i = 0; i < count; i++)
            write_op_free(ops[i]);
    }
}

/* Those that miss the late image are pending again, as when its file came. */
static struct spent repend(struct bench *b)
{
    struct spent spent = {0, 0};
    struct write_op *op = write_op_new(WRITE_REPEND, OP_LIMIT);
    memset(&op->u.repend.uuid, LATE, sizeof(op->u.repend.uuid));
    do {
        op->u.repend.more = false;
        struct spent start = now();
        apply_group(b, &op, 1);
        add_since(&spent, start);
    } while (op->u.repend.more);
    write_op_free(op);
    return spent;
}

static double file_bytes(struct bench *b)
{
    struct error err = {0};
    uint64_t wal;
    struct stat st;
    if (storage_checkpoint(b->storage, true, &wal, &err))
        die("checkpoint", &err);
    return stat(b->path, &st) ? 0 : (double)st.st_size;
}

static void open_bench(struct bench *b)
{
    struct error err = {0};
    memset(b, 0, sizeof(*b));
    b->random = 42;
    b->zipf = calloc(POOL, sizeof(*b->zipf));
    double sum = 0;
    for (uint32_t i = 0; i < POOL; i++)
        b->zipf[i] = sum += 1 / pow(i + 1.0, 1.05);
    snprintf(b->dir, sizeof(b->dir), "%s/stallsym-bench-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(b->dir))
        exit(1);
    snprintf(b->path, sizeof(b->path), "%s/x.db", b->dir);
    const struct storage_options o = {.backend = "sqlite",
                                      .path = b->path,
                                      .synchronous_full = true,
                                      .busy_ms = 1000,
                                      .retry_days = 3,
                                      .daily_values = 100000,
                                      .daily_stacks = 1000000000,
                                      .migrate = true};
    if (storage_open(&o, &b->storage, &err) || storage_reader_open(b->storage, &b->reader, &err))
        die("open", &err);
}

static void close_bench(struct bench *b)
{
    storage_reader_close(b->reader);
    storage_close(b->storage);
    (void)unlink(b->path);
    (void)rmdir(b->dir);
    free(b->zipf);
}

int main(int argc, char **argv)
{
    struct bench b;
    size_t reports = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 100000;
    size_t group = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 16;
    size_t stacks = 0;
    if (group == 0 || group > 512)
        group = 16;
    open_bench(&b);
    (void)write_reports(&b, POOL, group, DRAW_EACH);
    struct spent spent = resolve_all(&b, ANSWER_NEW, &stacks);
    print_rate("first resolutions:", (double)stacks, spent);
    double before = file_bytes(&b);
    spent = write_reports(&b, reports, group, DRAW_KNOWN);
    print_rate("known stacks:", (double)reports, spent);
    printf("%-18s %7.0f bytes a report (goal <= 160)\n",
           "P15 disk:", (file_bytes(&b) - before) / (double)reports);
    spent = write_reports(&b, reports / 4, group, DRAW_NEW);
    print_rate("new stacks:", (double)(reports / 4), spent);
    spent = resolve_all(&b, ANSWER_PROVISIONAL, &stacks);
    print_rate("provisional:", (double)stacks, spent);
    spent = repend(&b);
    print_rate("back to pending:", (double)stacks, spent);
    spent = resolve_all(&b, ANSWER_LATE, &stacks);
    print_rate("P12 resolved anew:", (double)stacks, spent);
    close_bench(&b);
    return 0;
}
