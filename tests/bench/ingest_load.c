#include "tests/bench/ingest_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define BODY_MAX ((size_t)1024 * 1024)

static uint64_t seed = 20261129;

void load_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

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

static uint64_t load_address(size_t set, size_t image)
{
    return 0x100000000u + set * 0x4000000 + image * 0x1000000u;
}

static void put_images(struct buf *b, size_t set)
{
    buf_puts(b, "\"images\":[");
    for (size_t i = 0; i < LOAD_IMAGES; i++)
        buf_printf(
            b,
            "%s{\"uuid\":\"%08zX-1111-3222-8333-444455556666\",\"name\":\"Image%zu\","
            "\"arch\":\"arm64\",\"load_address\":\"0x%llx\",\"size\":%u,\"path\":\"%s/Image%zu\"}",
            i ? "," : "", i + 1, i, (unsigned long long)load_address(set, i), 0x800000u,
            i < 20 ? "/private/var/containers/Bundle/Application/5/Shop.app/Frameworks"
                   : "/System/Library/PrivateFrameworks",
            i);
    buf_puts(b, "],");
}

/* The stack of that number: its offsets are a function of it. */
static void put_stack(struct buf *b, size_t set, uint64_t number)
{
    uint64_t x = number * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < LOAD_FRAMES; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        size_t image = i < LOAD_FRAMES / 2 ? x % 20 : x % LOAD_IMAGES;
        buf_printf(b, "%s\"0x%llx\"", i ? "," : "",
                   (unsigned long long)(load_address(set, image) + (x >> 20) % 0x7ffff0));
    }
}

static uint64_t pick_stack(double known, size_t report)
{
    if (known < 0)
        return report % LOAD_POOL;
    if ((double)(random64() % 1000) < known * 1000)
        return zipf(LOAD_POOL);
    return LOAD_POOL + random64() % ((uint64_t)1 << 40);
}

static struct load_body make_body(size_t number, enum load_images images, double known)
{
    struct buf b;
    size_t set = number % LOAD_SETS;
    int64_t now = clock_wall_ms();
    buf_init(&b, BODY_MAX);
    buf_puts(&b, "{\"app\":{\"bundle_id\":\"com.example.bench\",\"version\":\"7.2.1\","
                 "\"build\":\"7210\"},\"device\":{\"model\":\"iPhone14,7\",\"os_version\":\"16.6\","
                 "\"os_build\":\"20G75\",\"arch\":\"arm64e\"},");
    if (images != LOAD_IMAGES_NAMED)
        put_images(&b, set);
    if (images != LOAD_IMAGES_FULL)
        buf_printf(&b, "\"image_set\":\"launch-%zu\",", set);
    buf_puts(&b, "\"reports\":[");
    for (size_t i = 0; i < LOAD_REPORTS; i++) {
        size_t report = number * LOAD_REPORTS + i;
        buf_printf(&b,
                   "%s{\"id\":\"%016llx%08zx\",\"kind\":\"stall\",\"timestamp\":%lld,"
                   "\"duration_ms\":%u,\"page\":\"Page%u\",\"cpu_usage\":%u,\"memory_usage\":%u,"
                   "\"stack\":[",
                   i ? "," : "", (unsigned long long)random64(), report, (long long)now,
                   (unsigned)(800 + random64() % 3000), (unsigned)(random64() % 30),
                   (unsigned)(random64() % 100), (unsigned)(100 + random64() % 400));
        put_stack(&b, set, pick_stack(known, report));
        buf_puts(&b, "]}");
    }
    buf_puts(&b, "]}");
    if (b.failed)
        load_die("a body is too large");
    struct load_body body = {.len = b.len};
    body.data = buf_take(&b, NULL);
    return body;
}

struct load load_make(size_t count, size_t first, enum load_images images, double known)
{
    struct load l = {.bodies = calloc(count, sizeof(*l.bodies)), .count = count};
    if (!l.bodies)
        load_die("no memory");
    for (size_t i = 0; i < count; i++) {
        l.bodies[i] = make_body(first + i, images, known);
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
}

static int dial(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        load_die("cannot connect: %s", strerror(errno));
    return fd;
}

static void send_all(int fd, const char *data, size_t len, int flags)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, flags | MSG_NOSIGNAL);
        if (n <= 0)
            load_die("cannot send: %s", strerror(errno));
        data += n;
        len -= (size_t)n;
    }
}

/* Status of one answer, read whole. */
static int exchange(int fd, const struct load_body *body)
{
    char text[4096];
    int n = snprintf(text, sizeof(text),
                     "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                     "Authorization: Bearer " LOAD_TOKEN "\r\nContent-Length: %zu\r\n\r\n",
                     body->len);
    send_all(fd, text, (size_t)n, MSG_MORE);
    send_all(fd, body->data, body->len, 0);
    for (size_t have = 0; have < sizeof(text) - 1;) {
        ssize_t k = recv(fd, text + have, sizeof(text) - 1 - have, 0);
        if (k <= 0)
            load_die("the connection was closed");
        have += (size_t)k;
        text[have] = 0;
        char *end = strstr(text, "\r\n\r\n");
        char *length = end ? strcasestr(text, "content-length:") : NULL;
        if (length && have >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10))
            return (int)strtol(text + 9, NULL, 10);
    }
    load_die("an answer is too large");
}

struct client {
    uint16_t port;
    const struct load *load;
    atomic_size_t next;
    atomic_size_t refused;
    int64_t *latency_ns; /* of each body */
};

static void *run_client(void *arg)
{
    struct client *c = arg;
    int fd = dial(c->port);
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->load->count;) {
        int64_t start = clock_mono_ns();
        int status = exchange(fd, &c->load->bodies[i]);
        while (status == 503) { /* busy: what the SDK would do, only sooner */
            atomic_fetch_add(&c->refused, 1);
            usleep(2000);
            status = exchange(fd, &c->load->bodies[i]);
        }
        if (status != 202)
            load_die("status %d", status);
        c->latency_ns[i] = clock_mono_ns() - start;
    }
    close(fd);
    return NULL;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct load_times load_send(uint16_t port, const struct load *l)
{
    pthread_t threads[LOAD_CONNECTIONS];
    struct client c = {.port = port, .load = l, .latency_ns = calloc(l->count, sizeof(int64_t))};
    struct load_times times = {0};
    if (!c.latency_ns)
        load_die("no memory");
    int64_t start = clock_mono_ns();
    for (size_t i = 0; i < LOAD_CONNECTIONS; i++)
        pthread_create(&threads[i], NULL, run_client, &c);
    for (size_t i = 0; i < LOAD_CONNECTIONS; i++)
        pthread_join(threads[i], NULL);
    times.seconds = (double)(clock_mono_ns() - start) / 1e9;
    qsort(c.latency_ns, l->count, sizeof(int64_t), compare_ns);
    times.p50_ms = (double)c.latency_ns[l->count / 2] / 1e6;
    times.p99_ms = (double)c.latency_ns[l->count * 99 / 100] / 1e6;
    times.refused = atomic_load(&c.refused);
    free(c.latency_ns);
    return times;
}

double load_metric(uint16_t port, const char *name)
{
    static const char ask[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                              "Authorization: Bearer " LOAD_TOKEN "\r\n\r\n";
    char text[65536];
    size_t have = 0, len = strlen(name);
    int fd = dial(port);
    send_all(fd, ask, sizeof(ask) - 1, 0);
    for (ssize_t k; (k = recv(fd, text + have, sizeof(text) - 1 - have, 0)) > 0;)
        have += (size_t)k;
    close(fd);
    text[have] = 0;
    for (char *p = text + 1; (p = strstr(p, name)); p += len) {
        if (p[-1] == '\n' && p[len] == ' ')
            return strtod(p + len, NULL);
    }
    return 0;
}
