/*
 * raw_http - a client that sends the bytes a test says, however wrong they are.
 *
 * Purpose: tests of the door. raw_send() sends as it is told, raw_read() reads one answer.
 *
 * Threads: one connection, one thread. Memory: raw_answer_done().
 */
#ifndef STALLSYM_TESTS_RAW_HTTP_H
#define STALLSYM_TESTS_RAW_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct raw_answer {
    int status; /* 0: the connection was closed, -1: nothing came in time */
    char *head;
    char *body; /* NUL-terminated */
    size_t len;
};

/* A connection to 127.0.0.1; aborts without. */
int raw_connect(uint16_t port);
/* False when the other side does not take it any more. */
bool raw_send(int fd, const void *data, size_t len);
bool raw_puts(int fd, const char *text);
bool raw_printf(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One answer, with a body by Content-Length; `head_only` for HEAD. 1xx are answers, too. */
void raw_read(int fd, bool head_only, struct raw_answer *ret);
void raw_answer_done(struct raw_answer *a);
/* The value of a header into `out`; NULL when it is not there. */
const char *raw_header(const struct raw_answer *a, const char *name, char *out, size_t size);
/* Whether the other side closes within 5 s (what it sends before is thrown away). */
bool raw_closes(int fd);

#endif
