#include "storage/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static int by_values(const void *a, const void *b)
{
    const struct context_fact *x = a;
    const struct context_fact *y = b;
    int c = strcmp(or_empty(x->value), or_empty(y->value));
    return c ? c : strcmp(or_empty(x->value2), or_empty(y->value2));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_count(const void *a, const void *b)
{
    const struct value_count *x = a;
    const struct value_count *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->value, y->value);
}

/* The most frequent of `n` texts; sorts them. */
static bool top_texts(const char **texts, size_t n, struct arena *arena, struct value_count *ret,
                      size_t *ret_count)
{
    size_t kept = 0;
    struct value_count *all = arena_array(arena, n + 1, sizeof(*all));
    if (!all)
        return false;
    qsort(texts, n, sizeof(*texts), by_text);
    for (size_t i = 0; i < n; i++) {
        if (!*texts[i])
            continue;
        if (kept && strcmp(all[kept - 1].value, texts[i]) == 0)
            all[kept - 1].count++;
        else
            all[kept++] = (struct value_count){texts[i], 1};
    }
    qsort(all, kept, sizeof(*all), by_count);
    *ret_count = kept < CONTEXT_TOP ? kept : CONTEXT_TOP;
    memcpy(ret, all, *ret_count * sizeof(*ret));
    return true;
}

/* A row of facts of equal values. */
static bool make_row(const struct context_fact *facts, size_t n, struct arena *arena,
                     struct context_row *row)
{
    struct histogram cpu, memory;
    const char **pages = arena_array(arena, n + 1, sizeof(*pages));
    const char **paths = arena_array(arena, n + 1, sizeof(*paths));
    bool ok = pages && paths;
    histogram_init(&cpu);
    histogram_init(&memory);
    for (size_t i = 0; i < n && ok; i++) {
        pages[i] = facts[i].page;
        paths[i] = facts[i].path;
        if (facts[i].cpu >= 0)
            ok &= histogram_add(&cpu, facts[i].cpu, 1);
        if (facts[i].memory >= 0)
            ok &= histogram_add(&memory, facts[i].memory, 1);
    }
    row->value = n ? facts[0].value : NULL;
    row->value2 = n ? facts[0].value2 : NULL;
    row->reports = n;
    row->cpu_p50 = histogram_quantile(&cpu, 0.5);
    row->cpu_p90 = histogram_quantile(&cpu, 0.9);
    row->memory_p50 = histogram_quantile(&memory, 0.5);
    row->memory_p90 = histogram_quantile(&memory, 0.9);
    ok = ok && top_texts(pages, n, arena, row->pages, &row->page_count) &&
         top_texts(paths, n, arena, row->paths, &row->path_count);
    histogram_done(&cpu);
    histogram_done(&memory);
    return ok;
}

enum err context_make(struct context_fact *facts, size_t count, bool grouped, struct arena *arena,
                      struct context *ret, struct error *err)
{
    struct context c = {.reports = count, .since_ms = INT64_MIN};
    c.rows = arena_array(arena, count + 1, sizeof(*c.rows));
    bool ok = c.rows != NULL;
    if (count)
        qsort(facts, count, sizeof(*facts), by_values);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || facts[i].time_ms < c.since_ms)
            c.since_ms = facts[i].time_ms;
    }
    for (size_t first = 0; ok && (first < count || (!grouped && c.count == 0));) {
        size_t end = first;
        while (end < count && by_values(&facts[first], &facts[end]) == 0)
            end++;
        ok = make_row(facts + first, end - first, arena, &c.rows[c.count++]);
        first = end;
    }
    if (!ok)
        return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    *ret = c;
    return ERR_OK;
}

const struct context_row *context_find(const struct context *c, const char *value,
                                       const char *value2)
{
    const struct context_fact key = {.value = value, .value2 = value2};
    for (size_t i = 0; i < c->count; i++) {
        const struct context_fact row = {.value = c->rows[i].value, .value2 = c->rows[i].value2};
        if (by_values(&key, &row) == 0)
            return &c->rows[i];
    }
    return NULL;
}
