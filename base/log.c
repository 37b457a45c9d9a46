#include "base/log.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static atomic_int max_level = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store(&max_level, (int)level);
}

bool log_level_parse(const char *name, enum log_level *ret)
{
    for (int i = LOG_ERROR; i <= LOG_DEBUG; i++) {
        if (strcasecmp(name, level_names[i]) == 0) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dropped; /* lines since the last one that was written; under the lock */

/* A pipe that is writable has room for a line. After one that was dropped nobody waits again. */
static bool has_room(void)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&fd, 1, dropped ? 0 : LOG_WAIT_MS) != 0;
}

static void write_line(const char *line, size_t n)
{
    char told[160], ts[CLOCK_TEXT_SIZE];
    pthread_mutex_lock(&write_lock);
    bool room = has_room();
    if (room && dropped > 0) {
        int len = snprintf(told, sizeof(told),
                           "ts=%s level=warn msg=\"log lines dropped\" count=%" PRIu64 "\n",
                           clock_format_rfc3339(clock_wall_ms(), ts), dropped);
        dropped = 0;
        ssize_t ignored = write(STDERR_FILENO, told, (size_t)len);
        (void)ignored;
        room = has_room();
    }
    if (room) {
        ssize_t ignored = write(STDERR_FILENO, line, n);
        (void)ignored; /* nowhere left to tell it */
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&write_lock);
}

void log_write(enum log_level level, const char *msg, const char *fmt, ...)
{
    if ((int)level > atomic_load(&max_level))
        return;
    char line[4096];
    char ts[CLOCK_TEXT_SIZE];
    int room = (int)sizeof(line) - 1; /* the newline always fits */
    int n = snprintf(line, (size_t)room, "ts=%s level=%s msg=\"%s\"%s",
                     clock_format_rfc3339(clock_wall_ms(), ts), level_names[level], msg,
                     *fmt ? " " : "");
    if (n < room && *fmt) {
        va_list ap;
        va_start(ap, fmt);
        n += vsnprintf(line + n, (size_t)(room - n), fmt, ap);
        va_end(ap);
    }
    if (n > room - 1)
        n = room - 1;
    for (int i = 0; i < n; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    }
    line[n++] = '\n';
    write_line(line, (size_t)n);
}

const char *log_quote(const char *value, char *out, size_t size)
{
    size_t n = 0;
    if (size < 3)
        return "";
    out[n++] = '"';
    for (const char *p = value ? value : ""; *p && n + 3 < size; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            out[n++] = '\\';
        out[n++] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    out[n++] = '"';
    out[n] = 0;
    return out;
}
