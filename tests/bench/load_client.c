#include "tests/bench/load_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_daemon.h"
#include "tests/support/files.h"

#define ANSWER_MAX 65536
#define SETTLE_MS  600000
#define SETTLED_MS 300 /* nothing was resolved for so long */

static int dial(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        load_die("cannot connect: %s", strerror(errno));
    return fd;
}

static void send_all(int fd, const void *data, size_t len, int flags)
{
    for (const char *p = data; len > 0;) {
        ssize_t n = send(fd, p, len, flags | MSG_NOSIGNAL);
        if (n <= 0)
            load_die("cannot send: %s", strerror(errno));
        p += n;
        len -= (size_t)n;
    }
}

/* Status of one answer, read whole; its body in *ret_body, inside `text`. */
static int read_answer(int fd, char *text, size_t size, char **ret_body)
{
    for (size_t have = 0; have < size - 1;) {
        ssize_t k = recv(fd, text + have, size - 1 - have, 0);
        if (k <= 0)
            load_die("the connection was closed");
        have += (size_t)k;
        text[have] = 0;
        char *end = strstr(text, "\r\n\r\n");
        char *length = end ? strcasestr(text, "content-length:") : NULL;
        if (length && have >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10)) {
            *ret_body = end + 4;
            return (int)strtol(text + 9, NULL, 10);
        }
    }
    load_die("an answer is too large");
}

static int post(int fd, const char *path, const char *type, const void *data, size_t len,
                char *text, size_t size, char **ret_body)
{
    int n = snprintf(text, size,
                     "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
                     "Authorization: Bearer " LOAD_TOKEN "\r\nContent-Length: %zu\r\n\r\n",
                     path, type, len);
    send_all(fd, text, (size_t)n, MSG_MORE);
    send_all(fd, data, len, 0);
    return read_answer(fd, text, size, ret_body);
}

/* The 202 of a body has to take each of its reports. */
static int exchange(int fd, const struct load_body *body)
{
    char text[4096], *answer = NULL;
    int status = post(fd, "/v1/reports", "application/json", body->data, body->len, text,
                      sizeof(text), &answer);
    const char *accepted = strstr(answer, "\"accepted\":");
    if (status == 202 && (!accepted || strtoul(accepted + 11, NULL, 10) != LOAD_REPORTS))
        load_die("not all reports were taken: %.200s", answer);
    return status;
}

struct client {
    uint16_t port;
    const struct load *load;
    int64_t start_ns;
    double rate;
    atomic_size_t next;
    atomic_size_t refused;
    int64_t *latency_ns; /* of each body */
};

static int64_t wait_until_due(const struct client *c, size_t i)
{
    int64_t now = clock_mono_ns();
    if (c->rate <= 0)
        return now;
    const int64_t due = c->start_ns + (int64_t)((double)i / c->rate * 1e9);
    while (now < due) {
        const struct timespec t = {(due - now) / 1000000000, (due - now) % 1000000000};
        nanosleep(&t, NULL);
        now = clock_mono_ns();
    }
    return due;
}

static void *run_client(void *arg)
{
    struct client *c = arg;
    int fd = dial(c->port);
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->load->count;) {
        const int64_t due = wait_until_due(c, i);
        int status = exchange(fd, &c->load->bodies[i]);
        while (status == 503) { /* busy: what the SDK would do, only sooner */
            atomic_fetch_add(&c->refused, 1);
            usleep(2000);
            status = exchange(fd, &c->load->bodies[i]);
        }
        if (status != 202)
            load_die("status %d", status);
        c->latency_ns[i] = clock_mono_ns() - due;
    }
    close(fd);
    return NULL;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double own_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct load_times load_send(uint16_t port, const struct load *l, double rate)
{
    pthread_t threads[LOAD_CONNECTIONS];
    struct client c = {.port = port,
                       .load = l,
                       .rate = rate,
                       .start_ns = clock_mono_ns(),
                       .latency_ns = calloc(l->count, sizeof(int64_t))};
    struct load_times times = {.client_cpu = own_cpu()};
    if (!c.latency_ns)
        load_die("no memory");
    for (size_t i = 0; i < LOAD_CONNECTIONS; i++) {
        if (pthread_create(&threads[i], NULL, run_client, &c) != 0)
            load_die("no thread");
    }
    for (size_t i = 0; i < LOAD_CONNECTIONS; i++)
        pthread_join(threads[i], NULL);
    times.seconds = (double)(clock_mono_ns() - c.start_ns) / 1e9;
    times.client_cpu = own_cpu() - times.client_cpu;
    qsort(c.latency_ns, l->count, sizeof(int64_t), compare_ns);
    times.p50_ms = (double)c.latency_ns[l->count / 2] / 1e6;
    times.p99_ms = (double)c.latency_ns[l->count * 99 / 100] / 1e6;
    times.max_ms = (double)c.latency_ns[l->count - 1] / 1e6;
    times.refused = atomic_load(&c.refused);
    free(c.latency_ns);
    return times;
}

/* The answer's body, in `text` of ANSWER_MAX bytes. */
static int get(uint16_t port, const char *path, const char *token, char *text)
{
    char ask[512], *body = NULL;
    int n =
        snprintf(ask, sizeof(ask), "GET %s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n", path,
                 token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "");
    int fd = dial(port);
    send_all(fd, ask, (size_t)n, 0);
    const int status = read_answer(fd, text, ANSWER_MAX, &body);
    close(fd);
    memmove(text, body, strlen(body) + 1);
    return status;
}

int load_get_status(uint16_t port, const char *path)
{
    char text[ANSWER_MAX];
    return get(port, path, NULL, text);
}

static void get_good(uint16_t port, const char *path, char *text)
{
    const int status = get(port, path, LOAD_TOKEN, text);
    if (status != 200)
        load_die("%s: status %d: %.200s", path, status, text);
}

double load_number(uint16_t port, const char *path, const char *name)
{
    char quoted[100];
    char text[ANSWER_MAX];
    get_good(port, path, text);
    snprintf(quoted, sizeof(quoted), "\"%s\":", name);
    const char *at = strstr(text, quoted);
    if (!at)
        load_die("%s: no %s", path, name);
    return strtod(at + strlen(quoted), NULL);
}

double load_metric(uint16_t port, const char *name)
{
    const size_t len = strlen(name);
    char text[ANSWER_MAX];
    double number = 0;
    get_good(port, "/metrics", text);
    for (const char *p = text; (p = strstr(p, name)); p += len) {
        if ((p == text || p[-1] == '\n') && p[len] == ' ')
            number = strtod(p + len, NULL);
    }
    return number;
}

void load_upload_bytes(uint16_t port, const char *what, const void *data, size_t len)
{
    char text[ANSWER_MAX], *body = NULL;
    int fd = dial(port);
    const int status = post(fd, "/v1/symbols?bundle_id=com.example.bench&wait=1",
                            "application/octet-stream", data, len, text, sizeof(text), &body);
    close(fd);
    if (status != 200 && status != 201 && status != 202)
        load_die("%s: status %d: %.300s", what, status, body);
    while (status == 202 && load_number(port, "/v1/stats", "uploads_waiting") > 0)
        usleep(20000);
}

void load_upload(uint16_t port, const char *file)
{
    struct mapped m;
    if (!map_file(file, &m))
        load_die("no file %s", file);
    load_upload_bytes(port, file, m.data, m.size);
    unmap_file(&m);
}

double load_settle(uint16_t port)
{
    const int64_t start = clock_mono_ms();
    int64_t last = start;
    double resolved = -1;
    /* Each look at /v1/stats takes time from what is measured. */
    while (clock_mono_ms() - last < SETTLED_MS) {
        const double now = load_metric(port, "stallsym_stacks_resolved_total");
        if (now != resolved)
            last = clock_mono_ms();
        resolved = now;
        usleep(10000);
    }
    while (load_number(port, "/v1/stats", "pending_stacks") > 0) {
        if (clock_mono_ms() - start > SETTLE_MS)
            load_die("stacks stay pending");
        last = clock_mono_ms();
        usleep(100000);
    }
    return (double)(last - start) / 1e3;
}
