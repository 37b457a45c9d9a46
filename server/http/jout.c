#include "server/http/jout.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/hash.h"

void jout_init(struct jout *j, struct buf *b)
{
    j->b = b;
    j->comma = false;
}

static void lead(struct jout *j, const char *key)
{
    if (j->comma)
        buf_putc(j->b, ',');
    if (key) {
        buf_json_string(j->b, key);
        buf_putc(j->b, ':');
    }
    j->comma = true;
}

static void open(struct jout *j, const char *key, char bracket)
{
    lead(j, key);
    buf_putc(j->b, bracket);
    j->comma = false;
}

static void close(struct jout *j, char bracket)
{
    buf_putc(j->b, bracket);
    j->comma = true;
}

void jout_object(struct jout *j, const char *key)
{
    open(j, key, '{');
}

void jout_end_object(struct jout *j)
{
    close(j, '}');
}

void jout_array(struct jout *j, const char *key)
{
    open(j, key, '[');
}

void jout_end_array(struct jout *j)
{
    close(j, ']');
}

void jout_raw(struct jout *j, const char *key, const char *json)
{
    lead(j, key);
    buf_puts(j->b, json);
}

void jout_null(struct jout *j, const char *key)
{
    jout_raw(j, key, "null");
}

void jout_bool(struct jout *j, const char *key, bool v)
{
    jout_raw(j, key, v ? "true" : "false");
}

void jout_string(struct jout *j, const char *key, const char *s)
{
    lead(j, key);
    buf_json_string(j->b, s);
}

void jout_text(struct jout *j, const char *key, const char *s)
{
    jout_string(j, key, s && *s ? s : NULL);
}

void jout_uint(struct jout *j, const char *key, uint64_t v)
{
    lead(j, key);
    buf_printf(j->b, "%" PRIu64, v);
}

void jout_int(struct jout *j, const char *key, int64_t v)
{
    lead(j, key);
    buf_printf(j->b, "%" PRId64, v);
}

void jout_known(struct jout *j, const char *key, int64_t v)
{
    if (v < 0)
        jout_null(j, key);
    else
        jout_int(j, key, v);
}

void jout_double(struct jout *j, const char *key, double v)
{
    if (!isfinite(v)) {
        jout_null(j, key);
        return;
    }
    lead(j, key);
    buf_printf(j->b, "%.10g", v);
}

void jout_hex(struct jout *j, const char *key, uint64_t v)
{
    lead(j, key);
    buf_printf(j->b, "\"0x%" PRIx64 "\"", v);
}

void jout_time(struct jout *j, const char *key, int64_t ms)
{
    char text[CLOCK_TEXT_SIZE];
    bool known = ms != INT64_MIN && ms != INT64_MAX;
    jout_string(j, key, known ? clock_format_rfc3339(ms, text) : NULL);
}

void jout_uuid(struct jout *j, const char *key, const struct uuid *uuid)
{
    char text[UUID_TEXT_SIZE];
    jout_string(j, key, !uuid || uuid_is_nil(uuid) ? NULL : uuid_format(uuid, text));
}

void jout_sha256(struct jout *j, const char *key, const uint8_t *digest)
{
    char text[SHA256_TEXT_SIZE];
    jout_string(j, key, sha256_format(digest, text));
}
