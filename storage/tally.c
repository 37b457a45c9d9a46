#include "storage/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "storage/storage_read.h"

#define COUNT_MAX ((uint64_t)1 << 40) /* more is damage */
#define FULL      0x80

void tally_done(struct tally *t)
{
    free(t->entries);
    memset(t, 0, sizeof(*t));
}

/* Where the entry is, or belongs. */
static size_t position(const struct tally *t, enum tally_kind kind, int64_t id)
{
    size_t lo = 0;
    for (size_t hi = t->count; lo < hi;) {
        const size_t mid = (lo + hi) / 2;
        const struct tally_entry *e = &t->entries[mid];
        if (e->kind < kind || (e->kind == kind && e->id < id))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct tally_entry *find(const struct tally *t, enum tally_kind kind, int64_t id, size_t at)
{
    const bool found = at < t->count && t->entries[at].kind == kind && t->entries[at].id == id;
    return found ? &t->entries[at] : NULL;
}

const struct tally_entry *tally_of(const struct tally *t, enum tally_kind kind, size_t *ret_count)
{
    const size_t begin = position(t, kind, INT64_MIN);
    size_t end = begin;
    while (end < t->count && t->entries[end].kind == kind)
        end++;
    *ret_count = end - begin;
    return t->entries ? t->entries + begin : NULL;
}

static void drop(struct tally *t, size_t at, size_t count)
{
    t->count -= count;
    memmove(t->entries + at, t->entries + at + count, (t->count - at) * sizeof(*t->entries));
}

static void set_full(struct tally *t, enum tally_kind kind)
{
    size_t n;
    (void)tally_of(t, kind, &n);
    t->full[kind] = true;
    if (n)
        drop(t, position(t, kind, INT64_MIN), n);
}

static bool make_room(struct tally *t)
{
    struct tally_entry *entries = vec_grown(t->entries, &t->cap, t->count + 1, sizeof(*entries));
    if (entries)
        t->entries = entries;
    return entries != NULL;
}

/* Days that no trend shows any more. */
static void forget_days(struct tally *t)
{
    size_t n;
    const struct tally_entry *days = tally_of(t, TALLY_DAYS, &n);
    size_t old = 0;
    while (old < n && days[old].id <= days[n - 1].id - TREND_DAYS)
        old++;
    if (old)
        drop(t, 0, old);
}

bool tally_add(struct tally *t, enum tally_kind kind, int64_t id, int64_t count)
{
    if (t->full[kind])
        return true;
    const size_t at = position(t, kind, id);
    struct tally_entry *e = find(t, kind, id, at);
    if (e) {
        e->count += count;
        return true;
    }
    size_t n;
    (void)tally_of(t, kind, &n);
    if (kind != TALLY_DAYS && n == TALLY_IDS) {
        set_full(t, kind);
        return true;
    }
    if (!make_room(t))
        return false;
    e = t->entries + at;
    memmove(e + 1, e, (t->count++ - at) * sizeof(*e));
    *e = (struct tally_entry){kind, id, count};
    if (kind == TALLY_DAYS)
        forget_days(t);
    return true;
}

bool tally_merge(struct tally *t, const struct tally *other)
{
    bool ok = true;
    for (int kind = 0; kind < TALLY_KINDS; kind++) {
        if (other->full[kind])
            set_full(t, (enum tally_kind)kind);
    }
    for (size_t i = 0; i < other->count && ok; i++)
        ok = tally_add(t, other->entries[i].kind, other->entries[i].id, other->entries[i].count);
    return ok;
}

/* The newest day stays, whatever it counts: it says which days were left out. */
void tally_take(struct tally *t, const struct tally *other)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct tally_entry *less = &other->entries[i];
        const size_t at = position(t, less->kind, less->id);
        struct tally_entry *e = find(t, less->kind, less->id, at);
        if (!e)
            continue;
        e->count = e->count > less->count ? e->count - less->count : 0;
        const bool newest =
            e->kind == TALLY_DAYS && (at + 1 == t->count || t->entries[at + 1].kind != TALLY_DAYS);
        if (e->count == 0 && !newest)
            drop(t, at, 1);
    }
}

/* Of each kind that has something: its number (and FULL), the number of ids, the first id, the
 * distances of the others, each with its count. */
bool tally_encode(const struct tally *t, struct buf *out)
{
    bool ok = true;
    for (int kind = 0; kind < TALLY_KINDS; kind++) {
        size_t n;
        const struct tally_entry *e = tally_of(t, (enum tally_kind)kind, &n);
        if (n == 0 && !t->full[kind])
            continue;
        ok &= buf_u8(out, (uint8_t)(kind | (t->full[kind] ? FULL : 0)));
        ok &= buf_uleb(out, n);
        for (size_t i = 0; i < n; i++) {
            ok &= i ? buf_uleb(out, (uint64_t)(e[i].id - e[i - 1].id)) : buf_sleb(out, e[i].id);
            ok &= buf_uleb(out, (uint64_t)e[i].count);
        }
    }
    return ok;
}

static bool add_kind(struct tally *t, struct cursor *c)
{
    const uint8_t head = cursor_u8(c);
    const unsigned kind = head & ~(unsigned)FULL;
    const uint64_t n = cursor_uleb(c);
    if (kind >= TALLY_KINDS || n > TALLY_IDS)
        return false;
    if (head & FULL)
        set_full(t, (enum tally_kind)kind);
    int64_t id = 0;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t first = i ? 0 : cursor_sleb(c);
        const uint64_t step = i ? cursor_uleb(c) : 0;
        const uint64_t count = cursor_uleb(c);
        if (c->overrun || count > COUNT_MAX || step > COUNT_MAX || first > (int64_t)COUNT_MAX ||
            first < -(int64_t)COUNT_MAX)
            return false;
        id += first + (int64_t)step;
        if (!tally_add(t, (enum tally_kind)kind, id, (int64_t)count))
            return false;
    }
    return !c->overrun;
}

bool tally_add_encoded(struct tally *t, const void *data, size_t len)
{
    struct cursor c = cursor_of(data, len);
    bool ok = true;
    while (ok && cursor_left(&c))
        ok = add_kind(t, &c);
    return ok;
}
