#include "server/http/multipart.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/http/media_type.h"

#define DELIMITER_MAX (4 + MULTIPART_BOUNDARY_MAX) /* CR LF - - boundary */

enum state {
    PREAMBLE,
    DATA,
    AFTER_DELIMITER, /* "--" or the end of the line */
    HEADERS,
    EPILOGUE,
};

struct multipart {
    enum state state;
    char delimiter[DELIMITER_MAX + 1];
    size_t delimiter_len;
    size_t matched; /* bytes of the delimiter that ended the input so far */
    size_t assumed; /* of them, those that are no data whatever comes */
    size_t spill;   /* bytes of the delimiter that were data after all and wait to be handed out */
    size_t spill_at;
    char line[MULTIPART_HEADERS_MAX];
    size_t line_len;
    size_t header_bytes;
    char name[MULTIPART_NAME_MAX];
    char filename[MULTIPART_NAME_MAX];
    bool has_filename;
    bool in_part;
};

enum err multipart_new(const char *boundary, struct multipart **ret, struct error *err)
{
    size_t len = strlen(boundary);
    if (len == 0 || len > MULTIPART_BOUNDARY_MAX || strpbrk(boundary, "\r\n"))
        return error_set(err, ERR_INVALID, "multipart/form-data without a usable boundary");
    struct multipart *m = calloc(1, sizeof(*m));
    if (!m)
        return error_set(err, ERR_NO_MEMORY, "no memory to read a form");
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary, len + 1);
    m->delimiter_len = len + 4;
    m->matched = m->assumed = 2; /* the first delimiter needs no line end before it */
    *ret = m;
    return ERR_OK;
}

void multipart_free(struct multipart *m)
{
    free(m);
}

bool multipart_is_over(const struct multipart *m)
{
    return m->state == EPILOGUE;
}

size_t multipart_untake(struct multipart *m, const struct multipart_item *item, size_t n)
{
    if (!item->spilled)
        return n;
    m->spill_at -= n;
    return 0;
}

/* Data up to the next possible delimiter. True when the whole delimiter was seen. A carriage return
 * stands at the delimiter's beginning only, so a mismatch never has to look back. */
static bool scan(struct multipart *m, const char *in, size_t len, size_t *used,
                 struct multipart_item *item)
{
    size_t i = 0;
    if (m->matched == 0) {
        const char *cr = memchr(in, '\r', len);
        i = cr ? (size_t)(cr - in) : len;
        if (i > 0) {
            *item = (struct multipart_item){.kind = MULTIPART_DATA, .data = in, .len = i};
            *used = i;
            return false;
        }
    }
    while (i < len && m->matched < m->delimiter_len && in[i] == m->delimiter[m->matched]) {
        i++;
        m->matched++;
    }
    *used = i;
    if (m->matched == m->delimiter_len) {
        m->matched = m->assumed = 0;
        return true;
    }
    if (i < len) { /* it was data after all */
        m->spill = m->matched;
        m->spill_at = m->assumed;
        m->matched = m->assumed = 0;
    }
    return false;
}

static bool hand_out_spill(struct multipart *m, struct multipart_item *item)
{
    if (m->spill_at == m->spill)
        return false;
    *item = (struct multipart_item){.kind = MULTIPART_DATA,
                                    .data = m->delimiter + m->spill_at,
                                    .len = m->spill - m->spill_at,
                                    .spilled = true};
    m->spill_at = m->spill;
    return true;
}

/* Copies up to and with the line feed; true when a line is whole (without its end). */
static bool read_line(struct multipart *m, const char *in, size_t len, size_t *used)
{
    const char *lf = memchr(in, '\n', len);
    size_t n = lf ? (size_t)(lf - in) + 1 : len;
    m->header_bytes += n;
    *used = n;
    if (m->line_len + n > sizeof(m->line))
        return false; /* header_bytes is past its cap, too */
    memcpy(m->line + m->line_len, in, n);
    m->line_len += n;
    if (!lf)
        return false;
    m->line_len--;
    if (m->line_len > 0 && m->line[m->line_len - 1] == '\r')
        m->line_len--;
    m->line[m->line_len] = 0;
    return true;
}

static void read_disposition(struct multipart *m)
{
    static const char key[] = "content-disposition:";
    if (strncasecmp(m->line, key, sizeof(key) - 1) != 0)
        return;
    const char *value = m->line + sizeof(key) - 1;
    media_type_param(value, "name", m->name, sizeof(m->name));
    m->has_filename = media_type_param(value, "filename", m->filename, sizeof(m->filename));
}

static enum err after_delimiter(struct multipart *m, struct error *err)
{
    size_t n = m->line_len;
    while (n > 0 && (m->line[n - 1] == ' ' || m->line[n - 1] == '\t'))
        n--;
    if (n != 0)
        return error_set(err, ERR_FORMAT, "multipart body: bytes behind a boundary");
    m->line_len = 0;
    m->header_bytes = 0;
    m->name[0] = m->filename[0] = 0;
    m->has_filename = false;
    m->state = HEADERS;
    return ERR_OK;
}

static enum err step_lines(struct multipart *m, const char *in, size_t len, size_t *used,
                           struct multipart_item *item, struct error *err)
{
    /* The two hyphens of the last delimiter are looked for first: what follows them is no line. */
    if (m->state == AFTER_DELIMITER && m->line_len < 2 && len > 2 - m->line_len)
        len = 2 - m->line_len;
    bool whole = read_line(m, in, len, used);
    if (m->header_bytes > MULTIPART_HEADERS_MAX)
        return error_set(err, ERR_LIMIT, "multipart body: headers of a part above %d bytes",
                         MULTIPART_HEADERS_MAX);
    if (m->state == AFTER_DELIMITER && m->line_len >= 2 && memcmp(m->line, "--", 2) == 0) {
        m->state = EPILOGUE;
        return ERR_OK;
    }
    if (!whole)
        return ERR_OK;
    if (m->state == AFTER_DELIMITER)
        return after_delimiter(m, err);
    if (m->line_len == 0) {
        m->state = DATA;
        /* An empty part has its delimiter right behind the blank line. */
        m->matched = m->assumed = 2;
        m->in_part = true;
        *item = (struct multipart_item){.kind = MULTIPART_PART,
                                        .name = m->name,
                                        .filename = m->has_filename ? m->filename : NULL};
        return ERR_OK;
    }
    read_disposition(m);
    m->line_len = 0;
    return ERR_OK;
}

enum err multipart_step(struct multipart *m, const void *in, size_t len, size_t *ret_used,
                        struct multipart_item *ret, struct error *err)
{
    *ret = (struct multipart_item){.kind = MULTIPART_NONE};
    *ret_used = 0;
    if (m->state == EPILOGUE) {
        *ret_used = len;
        return ERR_OK;
    }
    if (m->state == DATA && hand_out_spill(m, ret))
        return ERR_OK;
    if (len == 0)
        return ERR_OK;
    if (m->state == AFTER_DELIMITER || m->state == HEADERS)
        return step_lines(m, in, len, ret_used, ret, err);
    bool delimiter = scan(m, in, len, ret_used, ret);
    if (m->state == PREAMBLE) {
        *ret = (struct multipart_item){.kind = MULTIPART_NONE};
        m->spill = m->spill_at = 0;
    }
    if (delimiter) {
        if (m->in_part)
            *ret = (struct multipart_item){.kind = MULTIPART_PART_END};
        m->in_part = false;
        m->state = AFTER_DELIMITER;
        m->line_len = 0;
        m->header_bytes = 0;
    }
    return ERR_OK;
}
