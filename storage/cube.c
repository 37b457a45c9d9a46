#include "storage/cube.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "storage/figures.h"

#define FULL      0x80
#define WEIGHTED  0x40 /* weights follow: they are not those of so many reports */
#define KINDS     0x3f
#define SUM_MAX   ((int64_t)1 << 60) /* more is damage */
#define COUNT_MAX (SUM_MAX / FIGURES_WEIGHT_ONE)
#define DAY_MAX   ((int64_t)1 << 30)

void cube_done(struct cube *c)
{
    free(c->rows);
    memset(c, 0, sizeof(*c));
}

static int order(const struct cube_row *a, const struct cube_row *b)
{
    if (a->build_id != b->build_id)
        return a->build_id < b->build_id ? -1 : 1;
    if (a->day != b->day)
        return a->day < b->day ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Where the row is, or belongs. Rows mostly come in order. */
static size_t position(const struct cube *c, const struct cube_row *row)
{
    if (c->count == 0 || order(&c->rows[c->count - 1], row) < 0)
        return c->count;
    size_t lo = 0;
    for (size_t hi = c->count; lo < hi;) {
        const size_t mid = (lo + hi) / 2;
        if (order(&c->rows[mid], row) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool make_room(struct cube *c)
{
    struct cube_row *rows = vec_grown(c->rows, &c->cap, c->count + 1, sizeof(*rows));
    if (rows)
        c->rows = rows;
    return rows != NULL;
}

/* Sums of damaged bytes may be any. */
static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add_sums(struct cube_row *to, const struct cube_row *from)
{
    to->count = sum(to->count, from->count);
    to->weighted = sum(to->weighted, from->weighted);
    to->stall_ms = sum(to->stall_ms, from->stall_ms);
    to->above_ms = sum(to->above_ms, from->above_ms);
}

void cube_negate(struct cube_row *row)
{
    row->count = -row->count;
    row->weighted = -row->weighted;
    row->stall_ms = -row->stall_ms;
    row->above_ms = -row->above_ms;
}

/* Days before the floor become the older ones of their build and kind. */
static void raise_floor(struct cube *c, int32_t floor)
{
    size_t kept = 0;
    size_t first = 0; /* of the build */
    if (floor <= c->floor)
        return;
    c->floor = floor;
    for (size_t i = 0; i < c->count; i++) {
        struct cube_row row = c->rows[i];
        if (kept > first && c->rows[first].build_id != row.build_id)
            first = kept;
        if (row.day >= floor || row.day == CUBE_OLDER) {
            c->rows[kept++] = row;
            continue;
        }
        /* Older rows are the first of their build; there is room: this row was one. */
        row.day = CUBE_OLDER;
        size_t at = first;
        while (at < kept && order(&c->rows[at], &row) < 0)
            at++;
        if (at < kept && order(&c->rows[at], &row) == 0) {
            add_sums(&c->rows[at], &row);
            continue;
        }
        memmove(&c->rows[at + 1], &c->rows[at], (kept++ - at) * sizeof(row));
        c->rows[at] = row;
    }
    c->count = kept;
}

static void set_full(struct cube *c)
{
    c->full = true;
    c->count = 0;
}

/* The cap on rows: days go, then all of it. */
static void shrink(struct cube *c)
{
    int32_t newest = CUBE_OLDER;
    for (size_t i = 0; i < c->count; i++)
        newest = c->rows[i].day > newest ? c->rows[i].day : newest;
    while (c->count > CUBE_ROWS && c->floor <= newest) {
        const int64_t half = ((int64_t)newest - c->floor) / 2 + 1;
        raise_floor(c, (int32_t)(c->floor + half));
    }
    if (c->count > CUBE_ROWS)
        set_full(c);
}

bool cube_add(struct cube *c, const struct cube_row *more)
{
    struct cube_row row = *more;
    if (c->full)
        return true;
    if (!c->any) {
        c->any = true;
        c->floor = row.day == CUBE_OLDER ? CUBE_OLDER : row.day - CUBE_DAYS + 1;
    }
    if (row.day != CUBE_OLDER && row.day < c->floor)
        row.day = CUBE_OLDER;
    if (row.day != CUBE_OLDER && row.day - CUBE_DAYS >= c->floor)
        raise_floor(c, row.day - CUBE_DAYS + 1);
    const size_t at = position(c, &row);
    if (at < c->count && order(&c->rows[at], &row) == 0) {
        add_sums(&c->rows[at], &row);
        return true;
    }
    if (!make_room(c))
        return false;
    memmove(&c->rows[at + 1], &c->rows[at], (c->count++ - at) * sizeof(row));
    c->rows[at] = row;
    if (c->count > CUBE_ROWS)
        shrink(c);
    return true;
}

/* The floor first: a row of older days must not stand for days that are kept apart. */
static bool merge(struct cube *c, const struct cube *other, bool takes)
{
    bool ok = true;
    if (other->full)
        set_full(c);
    if (other->any && !c->full) {
        if (!c->any)
            c->floor = other->floor;
        c->any = true;
        raise_floor(c, other->floor);
    }
    for (size_t i = 0; i < other->count && ok; i++) {
        struct cube_row row = other->rows[i];
        if (takes)
            cube_negate(&row);
        ok = cube_add(c, &row);
    }
    return ok;
}

bool cube_merge(struct cube *c, const struct cube *other)
{
    return merge(c, other, false);
}

bool cube_take(struct cube *c, const struct cube *other)
{
    return merge(c, other, true);
}

static bool encode_row(const struct cube_row *row, int64_t day, struct buf *out)
{
    const bool plain = row->weighted == row->count * FIGURES_WEIGHT_ONE && row->above_ms == 0;
    bool ok = buf_uleb(out, (uint64_t)day);
    ok &= buf_u8(out, (uint8_t)(row->kind | (plain ? 0 : WEIGHTED)));
    ok &= buf_uleb(out, (uint64_t)row->count);
    ok &= buf_uleb(out, (uint64_t)row->stall_ms);
    if (!plain) {
        ok &= buf_uleb(out, (uint64_t)row->weighted);
        ok &= buf_uleb(out, (uint64_t)row->above_ms);
    }
    return ok;
}

/* The rows of one build: days from one before the floor, which stands for older ones. */
static bool encode_build(const struct cube *c, size_t begin, size_t end, struct buf *out)
{
    int64_t before = 0;
    bool ok = true;
    for (size_t i = begin; i < end; i++) {
        const struct cube_row *row = &c->rows[i];
        const int64_t day = row->day == CUBE_OLDER ? 0 : (int64_t)row->day - c->floor + 1;
        if (row->count == 0)
            continue;
        ok &= encode_row(row, day - before, out);
        before = day;
    }
    return ok;
}

/* FULL or 0, the floor, then of each build its id (its distance from the one before), the length of
 * its rows, and the rows. */
bool cube_encode(const struct cube *c, struct buf *out)
{
    int64_t before = 0;
    if (!c->any && !c->full)
        return true;
    struct buf rows;
    buf_init(&rows, CUBE_BYTES);
    bool ok = buf_u8(out, c->full ? FULL : 0) && buf_sleb(out, c->floor);
    for (size_t i = 0, end; i < c->count && ok; i = end) {
        const int64_t build = c->rows[i].build_id;
        for (end = i + 1; end < c->count && c->rows[end].build_id == build;)
            end++;
        buf_clear(&rows);
        ok = encode_build(c, i, end, &rows);
        if (!ok || rows.len == 0)
            continue;
        ok = buf_uleb(out, (uint64_t)(build - before)) && buf_uleb(out, rows.len) &&
             buf_put(out, rows.data, rows.len);
        before = build;
    }
    buf_done(&rows);
    return ok;
}

/* --- reading -------------------------------------------------------------------------------- */

static bool takes_build(const struct cube_filter *f, int64_t build_id)
{
    for (size_t i = 0; i < f->build_count; i++) {
        if (f->builds[i] == build_id)
            return true;
    }
    return !f->builds;
}

void cube_read(struct cube_reader *r, const void *data, size_t len, const struct cube_filter *f)
{
    memset(r, 0, sizeof(*r));
    r->filter = f;
    r->all = cursor_of(data, len);
    r->rows = cursor_of(NULL, 0);
    if (len == 0)
        return;
    const uint8_t flags = cursor_u8(&r->all);
    const int64_t floor = cursor_sleb(&r->all);
    r->damaged = (flags & ~FULL) || floor < INT32_MIN || floor > DAY_MAX || r->all.overrun;
    r->floor = (int32_t)floor;
    r->unknown = flags & FULL;
}

/* The next build that the filter leaves. */
static bool next_build(struct cube_reader *r)
{
    while (cursor_left(&r->all) && !r->damaged) {
        const uint64_t step = cursor_uleb(&r->all);
        const uint64_t len = cursor_uleb(&r->all);
        const uint8_t *rows = cursor_take(&r->all, len > SIZE_MAX ? SIZE_MAX : (size_t)len);
        r->damaged = !rows || step > (uint64_t)SUM_MAX;
        if (r->damaged)
            return false;
        r->build_id += (int64_t)step;
        if (!takes_build(r->filter, r->build_id))
            continue;
        r->rows = cursor_of(rows, (size_t)len);
        r->day = 0;
        return true;
    }
    return false;
}

/* Older days: all of them asked for, or none, else nobody knows. */
static bool takes_older(struct cube_reader *r)
{
    const struct cube_filter *f = r->filter;
    if (f->begin >= r->floor || f->end == INT64_MIN)
        return false;
    if (f->begin != INT64_MIN || f->end < r->floor || f->days) {
        r->unknown = true;
        return false;
    }
    return true;
}

static bool read_row(struct cube_reader *r, struct cube_row *row)
{
    struct cursor *c = &r->rows;
    const uint64_t step = cursor_uleb(c);
    const uint8_t head = cursor_u8(c);
    r->day += (int64_t)(step > (uint64_t)DAY_MAX ? (uint64_t)DAY_MAX : step);
    row->build_id = r->build_id;
    row->kind = head & KINDS;
    const uint64_t count = cursor_uleb(c);
    row->count = (int64_t)(count > (uint64_t)COUNT_MAX ? 0 : count);
    row->stall_ms = (int64_t)cursor_uleb(c);
    row->weighted = row->count * FIGURES_WEIGHT_ONE;
    row->above_ms = 0;
    if (head & WEIGHTED) {
        row->weighted = (int64_t)cursor_uleb(c);
        row->above_ms = (int64_t)cursor_uleb(c);
    }
    row->day = r->day == 0 ? CUBE_OLDER : (int32_t)(r->floor + r->day - 1);
    const bool ok = !c->overrun && r->day <= DAY_MAX && !(head & FULL) &&
                    count <= (uint64_t)COUNT_MAX && row->weighted >= 0 &&
                    row->weighted <= SUM_MAX && row->stall_ms >= 0 && row->stall_ms <= SUM_MAX &&
                    row->above_ms >= 0 && row->above_ms <= SUM_MAX;
    r->damaged = !ok;
    return ok;
}

bool cube_next(struct cube_reader *r, struct cube_row *ret)
{
    const struct cube_filter *f = r->filter;
    while (!r->damaged && (cursor_left(&r->rows) || next_build(r))) {
        if (!read_row(r, ret))
            return false;
        if (f->kind >= 0 && f->kind != ret->kind)
            continue;
        if (ret->day == CUBE_OLDER ? takes_older(r) : ret->day >= f->begin && ret->day < f->end)
            return true;
    }
    return false;
}

static const struct cube_filter all = {.begin = INT64_MIN, .end = INT64_MAX, .kind = -1};

bool cube_is_damaged(const void *data, size_t len)
{
    struct cube_reader r;
    struct cube_row row;
    cube_read(&r, data, len, &all);
    while (cube_next(&r, &row))
        continue;
    return r.damaged;
}

bool cube_add_encoded(struct cube *c, const void *data, size_t len)
{
    struct cube_reader r;
    struct cube_row row;
    bool ok = true;
    if (len == 0)
        return true;
    cube_read(&r, data, len, &all);
    if (r.unknown)
        set_full(c);
    if (!c->any)
        c->floor = r.floor;
    c->any = true;
    if (!c->full)
        raise_floor(c, r.floor);
    while (ok && cube_next(&r, &row))
        ok = cube_add(c, &row);
    return ok && !r.damaged;
}
