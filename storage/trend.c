#include "storage/trend.h"

#include <stdlib.h>
#include <string.h>

void trend_parts_done(struct trend_parts *p)
{
    breakdown_done(&p->groups);
    breakdown_done(&p->cells);
}

static void add_sums(struct figures *to, const struct figures *sums)
{
    figures_add_sums(to, sums->count, sums->weighted, sums->stall_ms, sums->above_ms);
}

struct breakdown_entry *trend_add(struct trend_parts *p, int64_t group, int64_t point,
                                  const struct figures *sums)
{
    struct breakdown_entry *cell = breakdown_entry_at(&p->cells, group, point);
    struct breakdown_entry *e = cell ? breakdown_entry_at(&p->groups, group, 0) : NULL;
    if (!e)
        return NULL;
    add_sums(&cell->figures, sums);
    add_sums(&e->figures, sums);
    return e;
}

/* Groups of one text: where it stands among the series. */
struct rank {
    const char *text;
    size_t group; /* index into `groups` */
    int64_t weighted;
    size_t series;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct rank *)a)->text, ((const struct rank *)b)->text);
}

static int by_weight(const void *a, const void *b)
{
    const struct rank *x = *(const struct rank *const *)a;
    const struct rank *y = *(const struct rank *const *)b;
    if (x->weighted != y->weighted)
        return x->weighted > y->weighted ? -1 : 1;
    return strcmp(x->text, y->text);
}

struct maker {
    const struct trend_query *q;
    struct arena *arena;
    struct rank *ranks; /* by text; of equal ones the first says which series */
    size_t rank_count;
    size_t *series_of; /* by group */
    struct trend_series *series;
    size_t series_count;
    size_t other; /* index of "(other)"; SIZE_MAX: there is none */
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for a trend");
}

static struct trend_series *new_series(struct maker *m, const char *value)
{
    struct trend_series *s = &m->series[m->series_count];
    s->value = value;
    s->points = arena_array(m->arena, m->q->points, sizeof(*s->points));
    return s->points ? &m->series[m->series_count++] : NULL;
}

/* Every distinct text gets the sum of its groups; `heads` are the first of each. */
static size_t sum_texts(struct maker *m, const struct rank **heads)
{
    size_t n = 0;
    for (size_t i = 0; i < m->rank_count; i++) {
        if (n && strcmp(heads[n - 1]->text, m->ranks[i].text) == 0)
            ((struct rank *)heads[n - 1])->weighted += m->ranks[i].weighted;
        else
            heads[n++] = &m->ranks[i];
    }
    return n;
}

static enum err rank_groups(struct maker *m, const struct breakdown *groups, struct error *err)
{
    const size_t n = groups->count;
    const struct rank **heads = arena_array(m->arena, n + 1, sizeof(*heads));
    m->ranks = arena_array(m->arena, n + 1, sizeof(*m->ranks));
    m->series_of = arena_array(m->arena, n + 1, sizeof(*m->series_of));
    m->series = arena_array(m->arena, m->q->groups + 2, sizeof(*m->series));
    if (!heads || !m->ranks || !m->series_of || !m->series)
        return no_memory(err);
    m->rank_count = n;
    for (size_t i = 0; i < n; i++)
        m->ranks[i] = (struct rank){groups->entries[i].value ? groups->entries[i].value : "", i,
                                    groups->entries[i].figures.weighted, SIZE_MAX};
    qsort(m->ranks, n, sizeof(*m->ranks), by_text);
    const size_t texts = sum_texts(m, heads);
    qsort(heads, texts, sizeof(*heads), by_weight);
    for (size_t i = 0; i < texts; i++) {
        struct rank *head = (struct rank *)heads[i];
        const bool is_other = strcmp(head->text, TREND_OTHER) == 0;
        const bool fits = m->series_count < m->q->groups + (m->other != SIZE_MAX);
        if (fits || (is_other && m->other == SIZE_MAX)) {
            head->series = m->series_count;
            m->other = is_other ? m->series_count : m->other;
            if (!new_series(m, m->q->group == BY_NONE ? NULL : head->text))
                return no_memory(err);
            continue;
        }
        if (m->other == SIZE_MAX) {
            m->other = m->series_count;
            if (!new_series(m, TREND_OTHER))
                return no_memory(err);
        }
        head->series = m->other;
    }
    for (size_t i = 0; i < n; i++) {
        struct rank *k = &m->ranks[i];
        if (i && k->series == SIZE_MAX)
            k->series = k[-1].series;
        m->series_of[k->group] = k->series;
    }
    return ERR_OK;
}

static void add_point(struct trend_sums *to, const struct figures *f)
{
    to->count += (uint64_t)f->count;
    to->weighted += (double)f->weighted / FIGURES_WEIGHT_ONE;
    to->stall_ms += (uint64_t)f->stall_ms;
    to->weighted_stall_ms += (uint64_t)(f->stall_ms + f->above_ms);
}

static size_t group_index(const struct breakdown *groups, int64_t key)
{
    return (size_t)(breakdown_entry_at((struct breakdown *)groups, key, 0) - groups->entries);
}

static void fill_points(struct maker *m, const struct trend_parts *sums)
{
    for (size_t i = 0; i < sums->cells.count; i++) {
        const struct breakdown_entry *cell = &sums->cells.entries[i];
        struct trend_series *s = &m->series[m->series_of[group_index(&sums->groups, cell->key)]];
        add_point(&s->points[cell->key2], &cell->figures);
        add_point(&s->total, &cell->figures);
    }
}

/* The series that a text of usage belongs to: its own, or "(other)", which may not be there. */
static size_t series_of_text(const struct maker *m, const char *text)
{
    const struct rank key = {.text = text ? text : ""};
    const struct rank *found =
        m->rank_count ? bsearch(&key, m->ranks, m->rank_count, sizeof(key), by_text) : NULL;
    return found ? found->series : m->other;
}

static void add_foreground(struct trend_sums *to, int64_t ms)
{
    to->foreground_ms = (uint64_t)figures_sum((int64_t)to->foreground_ms, ms);
}

static void fill_usage(struct maker *m, const struct trend_parts *usage, bool grouped)
{
    for (size_t i = 0; i < usage->cells.count; i++) {
        const struct breakdown_entry *cell = &usage->cells.entries[i];
        const int64_t ms = cell->figures.stall_ms;
        size_t first = 0;
        size_t end = m->series_count;
        if (grouped) {
            const size_t g = group_index(&usage->groups, cell->key);
            first = series_of_text(m, usage->groups.entries[g].value);
            end = first == SIZE_MAX ? first : first + 1;
        }
        for (size_t s = first; s < end; s++) {
            add_foreground(&m->series[s].points[cell->key2], ms);
            add_foreground(&m->series[s].total, ms);
        }
    }
}

/* Groups that were used without a report: their rate is 0. Equal groups have equal numbers. */
static bool add_unhurt(struct trend_parts *sums, const struct trend_parts *usage)
{
    for (size_t i = 0; i < usage->groups.count; i++) {
        const struct breakdown_entry *u = &usage->groups.entries[i];
        struct breakdown_entry *e = breakdown_entry_at(&sums->groups, u->key, 0);
        if (!e)
            return false;
        e->value = u->value;
    }
    return true;
}

enum err trend_make(const struct trend_query *q, struct trend_parts *sums,
                    const struct trend_parts *usage, bool usage_grouped, struct arena *arena,
                    struct trend *ret, struct error *err)
{
    struct maker m = {.q = q, .arena = arena, .other = SIZE_MAX};
    if (usage && usage_grouped && !add_unhurt(sums, usage))
        return no_memory(err);
    enum err rc = rank_groups(&m, &sums->groups, err);
    if (rc)
        return rc;
    if (q->group == BY_NONE && m.series_count == 0 && !new_series(&m, NULL))
        return no_memory(err);
    fill_points(&m, sums);
    if (usage)
        fill_usage(&m, usage, usage_grouped);
    ret->series = m.series;
    ret->count = m.series_count;
    ret->usage_known = usage != NULL;
    return ERR_OK;
}
