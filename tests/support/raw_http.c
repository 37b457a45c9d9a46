#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HEAD_MAX  65536
#define TIMEOUT_S 20

int raw_connect(uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval tv = {.tv_sec = TIMEOUT_S};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof(in)) != 0)
        abort();
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
    return fd;
}

bool raw_send(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

bool raw_puts(int fd, const char *text)
{
    return raw_send(fd, text, strlen(text));
}

bool raw_printf(int fd, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(text))
        abort();
    return raw_send(fd, text, (size_t)n);
}

static char *allocate(size_t size)
{
    char *p = calloc(1, size);
    if (!p)
        abort();
    return p;
}

/* Byte by byte, so that nothing of the next answer is taken. */
static int read_head(int fd, char *head)
{
    size_t n = 0;
    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        if (n == HEAD_MAX)
            abort();
        ssize_t got = recv(fd, head + n, 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? -1 : 0;
        n++;
    }
    return 1;
}

void raw_read(int fd, bool head_only, struct raw_answer *ret)
{
    char length[32];
    *ret = (struct raw_answer){.head = allocate(HEAD_MAX + 1)};
    int rc = read_head(fd, ret->head);
    if (rc <= 0) {
        ret->status = rc;
        ret->body = allocate(1);
        return;
    }
    ret->status = (int)strtol(ret->head + strlen("HTTP/1.1 "), NULL, 10);
    size_t len = 0;
    if (!head_only && raw_header(ret, "Content-Length", length, sizeof(length)))
        len = strtoul(length, NULL, 10);
    ret->body = allocate(len + 1);
    while (ret->len < len) {
        ssize_t got = recv(fd, ret->body + ret->len, len - ret->len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        ret->len += (size_t)got;
    }
}

void raw_answer_done(struct raw_answer *a)
{
    free(a->head);
    free(a->body);
    *a = (struct raw_answer){.status = 0};
}

const char *raw_header(const struct raw_answer *a, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    for (const char *p = a->head; p && *p; p = strstr(p, "\r\n"), p = p ? p + 2 : NULL) {
        if (strncasecmp(p, name, len) == 0 && p[len] == ':') {
            const char *value = p + len + 1;
            value += strspn(value, " ");
            snprintf(out, size, "%.*s", (int)strcspn(value, "\r"), value);
            return out;
        }
    }
    return NULL;
}

bool raw_closes(int fd)
{
    char buf[4096];
    struct timeval tv = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    for (;;) {
        ssize_t n = recv(fd, buf, sizeof(buf), 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}
