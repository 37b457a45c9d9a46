#include "storage/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

void breakdown_init(struct breakdown *b)
{
    memset(b, 0, sizeof(*b));
}

void breakdown_done(struct breakdown *b)
{
    for (size_t i = 0; i < b->count; i++)
        figures_done(&b->entries[i].figures);
    free(b->entries);
    free(b->slots);
    breakdown_init(b);
}

static size_t slot_of(const struct breakdown *b, int64_t key, int64_t key2)
{
    const int64_t keys[2] = {key, key2};
    size_t i = (size_t)hash64(keys, sizeof(keys), 0) & (b->slot_count - 1);
    while (b->slots[i]) {
        const struct breakdown_entry *e = &b->entries[b->slots[i] - 1];
        if (e->key == key && e->key2 == key2)
            break;
        i = (i + 1) & (b->slot_count - 1);
    }
    return i;
}

static bool grow(struct breakdown *b)
{
    size_t cap = b->cap ? b->cap * 2 : 64;
    struct breakdown_entry *entries = realloc(b->entries, cap * sizeof(*entries));
    if (!entries)
        return false;
    b->entries = entries;
    uint32_t *slots = calloc(cap * 2, sizeof(*slots));
    if (!slots)
        return false;
    free(b->slots);
    b->slots = slots;
    b->slot_count = cap * 2;
    b->cap = cap;
    for (size_t i = 0; i < b->count; i++)
        b->slots[slot_of(b, entries[i].key, entries[i].key2)] = (uint32_t)i + 1;
    return true;
}

struct breakdown_entry *breakdown_entry_at(struct breakdown *b, int64_t key, int64_t key2)
{
    if (b->count == b->cap && (b->count >= BREAKDOWN_MAX || !grow(b)))
        return NULL;
    size_t slot = slot_of(b, key, key2);
    if (b->slots[slot] == 0) {
        b->entries[b->count++] = (struct breakdown_entry){.key = key, .key2 = key2};
        b->slots[slot] = (uint32_t)b->count;
    }
    return &b->entries[b->slots[slot] - 1];
}

static int compare_texts(const struct breakdown_entry *x, const struct breakdown_entry *y)
{
    int c = strcmp(x->value ? x->value : "", y->value ? y->value : "");
    return c ? c : strcmp(x->value2 ? x->value2 : "", y->value2 ? y->value2 : "");
}

static int by_text(const void *a, const void *b)
{
    return compare_texts(a, b);
}

static int by_size(const void *a, const void *b)
{
    const struct breakdown_entry *x = a;
    const struct breakdown_entry *y = b;
    if (x->figures.weighted != y->figures.weighted)
        return x->figures.weighted > y->figures.weighted ? -1 : 1;
    return compare_texts(x, y);
}

/* Sorts by text and makes one entry of equal ones; the slots are void afterwards. */
static bool merge_equal(struct breakdown *b)
{
    size_t kept = 0;
    bool ok = true;
    if (b->count)
        qsort(b->entries, b->count, sizeof(*b->entries), by_text);
    for (size_t i = 0; i < b->count; i++) {
        if (kept && compare_texts(&b->entries[kept - 1], &b->entries[i]) == 0) {
            ok &= figures_merge(&b->entries[kept - 1].figures, &b->entries[i].figures);
            figures_done(&b->entries[i].figures);
        } else {
            b->entries[kept++] = b->entries[i];
        }
    }
    b->count = kept;
    return ok;
}

static double share(int64_t part, int64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static int64_t total(const struct breakdown *b)
{
    int64_t sum = 0;
    for (size_t i = 0; i < b->count; i++)
        sum = figures_sum(sum, b->entries[i].figures.weighted);
    return sum;
}

static const struct breakdown_entry *find(const struct breakdown *b,
                                          const struct breakdown_entry *e)
{
    return b->count ? bsearch(e, b->entries, b->count, sizeof(*b->entries), by_text) : NULL;
}

static void show_usage(const struct breakdown_parts *parts, const struct breakdown_entry *e,
                       struct usage_figures *ret)
{
    const struct breakdown_entry key = {.value = parts->usage_by ? e->value : NULL,
                                        .value2 = parts->usage_by2 ? e->value2 : NULL};
    *ret = (struct usage_figures){.known = parts->usage != NULL};
    const struct breakdown_entry *u = parts->usage ? find(parts->usage, &key) : NULL;
    if (!u)
        return;
    ret->foreground_ms = (uint64_t)u->figures.stall_ms;
    ret->launches = (double)u->figures.weighted / FIGURES_WEIGHT_ONE;
}

/* Values that were used without a report: their rate is 0, which is worth knowing. Only where use is
 * split as the rows are. They are not to be found by their numbers. */
static bool add_unhurt(const struct breakdown_parts *parts)
{
    struct breakdown *b = parts->sums;
    const struct breakdown *used = parts->usage;
    size_t count = b->count;
    for (size_t i = 0; used && parts->usage_of_all && i < used->count; i++) {
        const struct breakdown_entry *u = &used->entries[i];
        if (find(b, u) || count >= BREAKDOWN_MAX)
            continue;
        struct breakdown_entry *entries = vec_grown(b->entries, &b->cap, count + 1, sizeof(*u));
        if (!entries)
            return false;
        b->entries = entries;
        entries[count++] = (struct breakdown_entry){.value = u->value, .value2 = u->value2};
    }
    b->count = count;
    return true;
}

enum err breakdown_rows(const struct breakdown_parts *parts, size_t limit, struct arena *arena,
                        struct breakdown_row **ret, size_t *ret_count, struct error *err)
{
    struct breakdown *b = parts->sums;
    struct breakdown *app = parts->app;
    if (!merge_equal(b) || (app && !merge_equal(app)) ||
        (parts->usage && !merge_equal(parts->usage)) || !add_unhurt(parts))
        return error_set(err, ERR_NO_MEMORY, "no memory for a breakdown");
    int64_t all = total(b);
    int64_t app_all = app ? total(app) : all;
    if (b->count)
        qsort(b->entries, b->count, sizeof(*b->entries), by_size);
    size_t n = b->count < limit ? b->count : limit;
    struct breakdown_row *rows = arena_array(arena, n + 1, sizeof(*rows));
    if (!rows)
        return error_set(err, ERR_NO_MEMORY, "no memory for a breakdown");
    for (size_t i = 0; i < n; i++) {
        const struct breakdown_entry *e = &b->entries[i];
        const struct breakdown_entry *same = app ? find(app, e) : e;
        rows[i].value = e->value;
        rows[i].value2 = e->value2;
        figures_show(&e->figures, &rows[i].figures);
        rows[i].share = share(e->figures.weighted, all);
        rows[i].app_share = same ? share(same->figures.weighted, app_all) : 0;
        show_usage(parts, e, &rows[i].usage);
    }
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}
