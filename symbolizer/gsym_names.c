#include "symbolizer/gsym_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/gsym_format.h"

#define CHUNK_NAMES     ((size_t)2048) /* names demangled in one piece of work */
#define CHUNK_TEXTS_MAX ((size_t)64 << 20)

/* Display names of CHUNK_NAMES string table entries. */
struct chunk {
    struct buf texts;   /* each with its NUL */
    uint32_t *displays; /* for each entry: 1 + offset into texts, 0: shown as it is */
};

struct names_job {
    const struct string_table *t;
    struct chunk *chunks;
};

static void demangle_chunk(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    struct names_job *job = ctx;
    struct chunk *c = &job->chunks[i];
    char text[DEMANGLE_OUTPUT_MAX + 1];
    size_t first = i * CHUNK_NAMES;
    for (size_t k = 0; k < CHUNK_NAMES && first + k < job->t->count; k++) {
        uint32_t entry = (uint32_t)(first + k);
        if (!job->t->entries[entry].is_name)
            continue;
        if (!demangle(string_table_text(job->t, entry), text, sizeof(text)))
            continue;
        c->displays[k] = (uint32_t)c->texts.len + 1;
        buf_put(&c->texts, text, strlen(text) + 1);
    }
}

static bool is_listed(const struct string_table *t, const struct names_job *job, size_t entry)
{
    return t->entries[entry].is_name &&
           (t->entries[entry].is_local ||
            job->chunks[entry / CHUNK_NAMES].displays[entry % CHUNK_NAMES]);
}

/* Entries of the string table ascend by offset, so the block's do. */
static enum err write_block(const struct string_table *t, const struct names_job *job,
                            size_t chunk_count, struct gsym_sink *sink, struct error *err)
{
    struct buf *out = &sink->piece;
    uint32_t listed = 0;
    uint64_t bytes = 1;
    for (size_t i = 0; i < chunk_count; i++) {
        if (job->chunks[i].texts.failed)
            return error_set(err, ERR_LIMIT, "display names are too long, or no memory");
        bytes += job->chunks[i].texts.len;
    }
    if (bytes >= GSYM_DISPLAY_LOCAL)
        return error_set(err, ERR_LIMIT, "display names pass 2 GB");
    for (size_t e = 1; e < t->count; e++)
        listed += is_listed(t, job, e);
    buf_u32(out, listed);
    buf_u32(out, (uint32_t)bytes);
    uint32_t base = 1; /* of the chunk's texts among all */
    for (size_t e = 0; e < t->count; e++) {
        const struct chunk *c = &job->chunks[e / CHUNK_NAMES];
        if (e > 0 && e % CHUNK_NAMES == 0)
            base += (uint32_t)job->chunks[e / CHUNK_NAMES - 1].texts.len;
        if (e == 0 || !is_listed(t, job, e))
            continue;
        uint32_t display = c->displays[e % CHUNK_NAMES];
        display = display ? base + display - 1 : 0;
        buf_u32(out, t->entries[e].offset);
        buf_u32(out, display | (t->entries[e].is_local ? GSYM_DISPLAY_LOCAL : 0));
        gsym_sink_flush(sink);
    }
    buf_u8(out, 0);
    for (size_t i = 0; i < chunk_count; i++)
        gsym_sink_put(sink, job->chunks[i].texts.data, job->chunks[i].texts.len);
    return ERR_OK;
}

enum err gsym_names_write(const struct string_table *t, const struct parallel_for *parallel,
                          struct gsym_sink *sink, struct error *err)
{
    enum err code = ERR_OK;
    size_t count = (t->count + CHUNK_NAMES - 1) / CHUNK_NAMES;
    struct names_job job = {t, calloc(count, sizeof(struct chunk))};
    uint32_t *displays = calloc(count, CHUNK_NAMES * sizeof(*displays));
    if (!job.chunks || !displays) {
        code = error_set(err, ERR_NO_MEMORY, "no memory for display names");
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        buf_init(&job.chunks[i].texts, CHUNK_TEXTS_MAX);
        job.chunks[i].displays = displays + i * CHUNK_NAMES;
    }
    parallel_run(parallel, count, demangle_chunk, &job);
    code = write_block(t, &job, count, sink, err);
out:
    for (size_t i = 0; job.chunks && i < count; i++)
        buf_done(&job.chunks[i].texts);
    free(job.chunks);
    free(displays);
    return code;
}
