#include "symbolizer/gsym_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/vec.h"

#define CHUNK_NAMES     ((size_t)2048) /* names demangled in one piece of work */
#define CHUNK_TEXTS_MAX ((size_t)64 << 20)

#define DISPLAYS_MAX ((uint64_t)UINT32_MAX)

/* A display name that a reader cannot make itself. */
struct display {
    uint32_t entry;
    uint32_t offset; /* in the chunk's texts */
};

/* Of CHUNK_NAMES string table entries. */
struct chunk {
    struct buf texts; /* each with its NUL */
    struct display *list;
    size_t count, cap;
    bool failed;
};

struct names_job {
    const struct string_table *t;
    struct chunk *chunks;
};

static void add_display(struct chunk *c, uint32_t entry, const char *text)
{
    void *p = vec_grown(c->list, &c->cap, c->count + 1, sizeof(c->list[0]));
    if (!p) {
        c->failed = true;
        return;
    }
    c->list = p;
    c->list[c->count++] = (struct display){entry, (uint32_t)c->texts.len};
    buf_put(&c->texts, text, strlen(text) + 1);
}

/* Each name is demangled here, in the child, though most results are dropped: what breaks a
 * demangler breaks it now. */
static void demangle_chunk(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    struct names_job *job = ctx;
    struct chunk *c = &job->chunks[i];
    char text[DEMANGLE_OUTPUT_MAX + 1];
    size_t first = i * CHUNK_NAMES;
    for (size_t k = 0; k < CHUNK_NAMES && first + k < job->t->count; k++) {
        uint32_t entry = (uint32_t)(first + k);
        const char *name = string_table_text(job->t, entry);
        if (job->t->entries[entry].is_name && !demangle_is_own(name) &&
            demangle(name, text, sizeof(text)))
            add_display(c, entry, text);
    }
}

/* Entries of the string table ascend by place, first all that are external, then the others. */
static void write_entries(const struct names_job *job, size_t chunk_count, bool local,
                          struct gsym_sink *sink)
{
    uint32_t base = 1; /* of the chunk's texts among all */
    for (size_t i = 0; i < chunk_count; i++) {
        const struct chunk *c = &job->chunks[i];
        for (size_t k = 0; k < c->count; k++) {
            const struct string_entry *e = &job->t->entries[c->list[k].entry];
            if (e->is_local != local)
                continue;
            buf_u32(&sink->piece, e->place);
            buf_u32(&sink->piece, base + c->list[k].offset);
            gsym_sink_flush(sink);
        }
        base += (uint32_t)c->texts.len;
    }
}

static enum err write_block(const struct names_job *job, size_t chunk_count, struct gsym_sink *sink,
                            struct error *err)
{
    size_t count = 0;
    uint64_t bytes = 1;
    for (size_t i = 0; i < chunk_count; i++) {
        const struct chunk *c = &job->chunks[i];
        if (c->texts.failed || c->failed)
            return error_set(err, ERR_LIMIT, "display names are too long, or no memory");
        bytes += c->texts.len;
        count += c->count;
    }
    if (bytes > DISPLAYS_MAX)
        return error_set(err, ERR_LIMIT, "display names pass 4 GB");
    buf_u32(&sink->piece, job->t->locals);
    buf_u32(&sink->piece, (uint32_t)count);
    buf_u32(&sink->piece, (uint32_t)bytes);
    write_entries(job, chunk_count, false, sink);
    write_entries(job, chunk_count, true, sink);
    buf_u8(&sink->piece, 0);
    for (size_t i = 0; i < chunk_count; i++)
        gsym_sink_put(sink, job->chunks[i].texts.data, job->chunks[i].texts.len);
    return ERR_OK;
}

enum err gsym_names_write(const struct string_table *t, const struct parallel_for *parallel,
                          struct gsym_sink *sink, struct error *err)
{
    size_t count = (t->count + CHUNK_NAMES - 1) / CHUNK_NAMES;
    struct names_job job = {t, calloc(count, sizeof(struct chunk))};
    if (!job.chunks)
        return error_set(err, ERR_NO_MEMORY, "no memory for display names");
    for (size_t i = 0; i < count; i++)
        buf_init(&job.chunks[i].texts, CHUNK_TEXTS_MAX);
    parallel_run(parallel, count, demangle_chunk, &job);
    enum err code = write_block(&job, count, sink, err);
    for (size_t i = 0; i < count; i++) {
        buf_done(&job.chunks[i].texts);
        free(job.chunks[i].list);
    }
    free(job.chunks);
    return code;
}

void gsym_names_write_table(const struct string_table *t, struct gsym_sink *sink)
{
    for (int local = 0; local < 2; local++) {
        for (size_t e = 0; e < t->count; e++) {
            if (t->entries[e].is_local == local)
                gsym_sink_put(sink, t->entries[e].text, (size_t)t->entries[e].length + 1);
        }
    }
}
