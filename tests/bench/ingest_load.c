#include "tests/bench/ingest_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tests/bench/load_daemon.h"

#define BODY_MAX   ((size_t)1024 * 1024)
#define TOP_FRAMES 5  /* of the system, innermost: where it waits */
#define END_FRAMES 11 /* of the system, outermost: the run loop */

static uint64_t seed = 20261129;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Rank k with a probability of about 1/k: a power of two first, then evenly up to the next. */
static uint64_t zipf(uint64_t n)
{
    unsigned steps = 64 - (unsigned)__builtin_clzll(n);
    uint64_t base = (uint64_t)1 << random64() % steps;
    return (base + random64() % base - 1) % n;
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xc2b2ae3d27d4eb4fu;
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static uint64_t load_address(size_t set, size_t image)
{
    return 0x100000000u + set * 0x4000 + image * 0x1000000u;
}

static void put_images(struct buf *b, const struct load_images *images, size_t set)
{
    buf_puts(b, "\"images\":[");
    for (size_t i = 0; i < LOAD_IMAGES; i++) {
        const struct load_image *image = &images->items[i];
        char uuid[UUID_TEXT_SIZE];
        buf_printf(
            b,
            "%s{\"uuid\":\"%s\",\"name\":\"%s\",\"arch\":\"arm64\",\"load_address\":\"0x%llx\","
            "\"size\":%llu,\"path\":\"%s/%s\"}",
            i ? "," : "", uuid_format(&image->uuid, uuid), image->name,
            (unsigned long long)load_address(set, i), (unsigned long long)image->size,
            image->of_app ? "/private/var/containers/Bundle/Application/5/Shop.app/Frameworks"
                          : "/System/Library/PrivateFrameworks",
            image->name);
    }
    buf_puts(b, "],");
}

struct stack_id {
    uint64_t cause, variant;
};

/* Frame `i` of the stack: most of it is the cause's, four places are the variant's own. */
static uint64_t frame_of(const struct load_images *images, struct stack_id id, size_t i, size_t set)
{
    const bool own = i > TOP_FRAMES + 1 && i % 6 == 1;
    const uint64_t x = own ? mixed(id.cause * 1000003 + id.variant, i) : mixed(id.cause, i);
    size_t image = 0; /* the largest one of the app: most frames */
    if (i < TOP_FRAMES || i >= LOAD_FRAMES - END_FRAMES)
        image = images->app_count + (i < TOP_FRAMES ? x % 4 : 4 + i % 4);
    else if (own && i < LOAD_FRAMES / 3)
        image = images->app_count + 8 + x % 8; /* calls back from a library: many addresses */
    else if (x % 5 < 2)
        image = x / 5 % images->app_count;
    const uint64_t at = i >= LOAD_FRAMES - END_FRAMES ? i : x >> 20;
    return load_address(set, image) + load_images_offset(&images->items[image], at);
}

static struct stack_id pick_stack(struct load_plan *plan, double known, size_t report)
{
    uint64_t number = report % LOAD_POOL;
    if (known >= 0 && (double)(random64() % 1000) >= known * 1000) {
        plan->sum->stacks++;
        return (struct stack_id){zipf(LOAD_CAUSES), LOAD_KNOWN + plan->next_new++};
    }
    if (known >= 0)
        number = zipf(LOAD_CAUSES) * LOAD_KNOWN + zipf(LOAD_KNOWN);
    plan->sum->stacks += !plan->sum->known[number];
    plan->sum->known[number] = true;
    return (struct stack_id){number / LOAD_KNOWN, number % LOAD_KNOWN};
}

static void put_report(struct load_plan *plan, struct buf *b, size_t report, size_t set,
                       double known)
{
    const unsigned duration = (unsigned)(800 + random64() % 3000);
    buf_printf(b,
               "{\"id\":\"%016llx%08zx\",\"kind\":\"stall\",\"timestamp\":%lld,"
               "\"duration_ms\":%u,\"page\":\"Page%u\",\"cpu_usage\":%u,\"memory_usage\":%u,"
               "\"stack\":[",
               (unsigned long long)random64(), report,
               (long long)(plan->now_ms ? plan->now_ms : clock_wall_ms()), duration,
               (unsigned)(random64() % 30), (unsigned)(random64() % 100),
               (unsigned)(100 + random64() % 400));
    const struct stack_id id = pick_stack(plan, known, report);
    for (size_t i = 0; i < LOAD_FRAMES; i++)
        buf_printf(b, "%s\"0x%llx\"", i ? "," : "",
                   (unsigned long long)frame_of(plan->images, id, i, set));
    buf_puts(b, "]}");
    plan->sum->reports++;
    plan->sum->stall_ms += duration;
}

static struct load_body make_body(struct load_plan *plan, enum load_list list, double known)
{
    struct buf b;
    const size_t number = plan->next_batch++, set = number % LOAD_SETS;
    buf_init(&b, BODY_MAX);
    buf_puts(&b, "{\"app\":{\"bundle_id\":\"com.example.bench\",\"version\":\"7.2.1\","
                 "\"build\":\"7210\"},\"device\":{\"model\":\"iPhone14,7\",\"os_version\":\"16.6\","
                 "\"os_build\":\"20G75\",\"arch\":\"arm64e\"},");
    if (list != LOAD_IMAGES_NAMED)
        put_images(&b, plan->images, set);
    if (list != LOAD_IMAGES_FULL)
        buf_printf(&b, "\"image_set\":\"launch-%zu\",", set);
    buf_puts(&b, "\"reports\":[");
    for (size_t i = 0; i < LOAD_REPORTS; i++) {
        if (i)
            buf_puts(&b, ",");
        put_report(plan, &b, number * LOAD_REPORTS + i, set, known);
    }
    buf_puts(&b, "]}");
    if (b.failed)
        load_die("a body is too large");
    struct load_body body = {.len = b.len};
    body.data = buf_take(&b, NULL);
    return body;
}

struct load load_make(struct load_plan *plan, size_t count, enum load_list list, double known)
{
    struct load l = {.bodies = calloc(count, sizeof(*l.bodies)), .count = count};
    if (!l.bodies)
        load_die("no memory");
    for (size_t i = 0; i < count; i++) {
        l.bodies[i] = make_body(plan, list, known);
        l.bytes += l.bodies[i].len;
        l.reports += LOAD_REPORTS;
    }
    return l;
}

void load_free(struct load *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->bodies[i].data);
    free(l->bodies);
    memset(l, 0, sizeof(*l));
}
