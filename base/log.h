/*
 * log - logfmt lines on standard error, for program code only (libraries do not log).
 *
 * Purpose: `log_info("upload indexed", "upload=%lld slices=%zu", id, n)` prints one line
 * `ts=2026-… level=info msg="upload indexed" upload=7 slices=2`.
 *
 * Invariants: one write(2) a line, at most 4 KB, control characters in values replaced by '?', so
 * no value can forge a line. Whoever reads the lines and does not keep up holds nobody up: lines
 * that find no room after LOG_WAIT_MS are dropped, and the next one that does says how many. Never
 * bodies, tokens or client addresses (callers' duty). Values that strangers chose go through
 * `log_quote()`.
 *
 * Threads: any, one line after the other. Memory: none.
 */
#ifndef STALLSYM_BASE_LOG_H
#define STALLSYM_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_WAIT_MS 100

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
bool log_level_parse(const char *name, enum log_level *ret);

/* `msg` is a fixed text; `fmt` prints "key=value" pairs and may be "". */
void log_write(enum log_level level, const char *msg, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)

/* `"value"` with quotes, backslashes and control characters made harmless, cut to fit `out`. */
const char *log_quote(const char *value, char *out, size_t size);

#endif
