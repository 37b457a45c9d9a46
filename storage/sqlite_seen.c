#include "storage/sqlite_seen.h"

#include <stdlib.h>
#include <string.h>

#include "storage/sqlite_rows.h"

#define SEEN_ITEMS 512

struct seen_item {
    int64_t key; /* smallest first: the time, or for the last report its complement */
    int64_t stack_id;
};

struct seen_list {
    int64_t cluster_id;
    int64_t limit; /* all stacks below it are here; keys above it are for another look */
    size_t at, count;
    struct seen_item items[SEEN_ITEMS]; /* by key; those before `at` are gone */
};

static int64_t key_of(int64_t ms, enum seen_end end)
{
    return end == SEEN_FIRST ? ms : ~ms;
}

static struct seen_list **slot_of(struct sqlite_storage *s, enum seen_end end, int64_t cluster_id)
{
    return &s->seen[end][(uint64_t)cluster_id % SEEN_LISTS];
}

static void drop(struct seen_list **slot)
{
    free(*slot);
    *slot = NULL;
}

/* --- looking at all stacks -------------------------------------------------------------------- */

/* The largest key is on top. */
static void sink(struct seen_item *heap, size_t count, struct seen_item item)
{
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].key > heap[child].key)
            child++;
        if (heap[child].key <= item.key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void lift(struct seen_item *heap, size_t at, struct seen_item item)
{
    for (; at > 0 && heap[(at - 1) / 2].key < item.key; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static int by_key(const void *a, const void *b)
{
    const struct seen_item *x = a;
    const struct seen_item *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

struct looking {
    struct seen_list *list;
    enum seen_end end;
    bool more; /* stacks than the list holds */
};

static enum err look_at(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct looking *l = ctx;
    struct seen_list *list = l->list;
    const struct seen_item item = {key_of(sqlite3_column_int64(st, 1 + (int)l->end), l->end),
                                   sqlite3_column_int64(st, 0)};
    (void)err;
    l->more = l->more || list->count == SEEN_ITEMS;
    if (list->count < SEEN_ITEMS)
        lift(list->items, list->count++, item);
    else if (item.key < list->items[0].key)
        sink(list->items, list->count, item);
    return ERR_OK;
}

static enum err look(struct sqlite_storage *s, enum seen_end end, struct seen_list *list,
                     struct error *err)
{
    struct looking l = {list, end, false};
    enum err rc = sqlite_each_row(
        &s->conn, sql_start(&s->conn, SQL_STACKS_SEEN, err, sql_int(list->cluster_id)), look_at, &l,
        err);
    list->limit = l.more ? list->items[0].key : INT64_MAX;
    if (list->count)
        qsort(list->items, list->count, sizeof(list->items[0]), by_key);
    return rc;
}

static enum err look_anew(struct sqlite_storage *s, enum seen_end end, int64_t cluster_id,
                          int64_t *ret_key, struct error *err)
{
    struct seen_list **slot = slot_of(s, end, cluster_id);
    if (!*slot && !(*slot = malloc(sizeof(**slot))))
        return error_set(err, ERR_NO_MEMORY, "no memory for stacks of a cluster");
    struct seen_list *list = *slot;
    list->cluster_id = cluster_id;
    list->at = list->count = 0;
    enum err rc = look(s, end, list, err);
    *ret_key = !rc && list->count ? list->items[0].key : INT64_MAX;
    if (rc)
        drop(slot);
    return rc;
}

/* --- stacks that come ------------------------------------------------------------------------- */

static void insert(struct seen_list *list, struct seen_item item)
{
    if (list->count == SEEN_ITEMS && list->at > 0) {
        list->count -= list->at;
        memmove(list->items, list->items + list->at, list->count * sizeof(item));
        list->at = 0;
    } else if (list->count == SEEN_ITEMS) {
        const int64_t last = list->items[--list->count].key;
        list->limit = last < list->limit ? last : list->limit;
    }
    if (item.key > list->limit)
        return;
    size_t to = list->count;
    for (; to > list->at && list->items[to - 1].key > item.key; to--)
        list->items[to] = list->items[to - 1];
    list->items[to] = item;
    list->count++;
}

void sqlite_seen_stack(struct sqlite_storage *s, int64_t cluster_id, int64_t stack_id,
                       int64_t first_ms, int64_t last_ms)
{
    const int64_t keys[SEEN_ENDS] = {key_of(first_ms, SEEN_FIRST), key_of(last_ms, SEEN_LAST)};
    for (int end = 0; end < SEEN_ENDS; end++) {
        struct seen_list *list = *slot_of(s, (enum seen_end)end, cluster_id);
        if (list && list->cluster_id == cluster_id && keys[end] <= list->limit)
            insert(list, (struct seen_item){keys[end], stack_id});
    }
}

/* The first one that is not before `key`. */
static size_t place_in(const struct seen_list *list, int64_t key)
{
    size_t low = list->at;
    size_t high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The shorter side moves up. */
static void take_out(struct seen_list *list, size_t i)
{
    struct seen_item *items = list->items;
    if (i - list->at < list->count - i) {
        memmove(items + list->at + 1, items + list->at, (i - list->at) * sizeof(*items));
        list->at++;
    } else {
        list->count--;
        memmove(items + i, items + i + 1, (list->count - i) * sizeof(*items));
    }
}

void sqlite_seen_left(struct sqlite_storage *s, int64_t cluster_id, int64_t stack_id,
                      int64_t first_ms, int64_t last_ms)
{
    const int64_t keys[SEEN_ENDS] = {key_of(first_ms, SEEN_FIRST), key_of(last_ms, SEEN_LAST)};
    for (int end = 0; end < SEEN_ENDS; end++) {
        struct seen_list *list = *slot_of(s, (enum seen_end)end, cluster_id);
        if (!list || list->cluster_id != cluster_id)
            continue;
        size_t i = place_in(list, keys[end]);
        while (i < list->count && list->items[i].key == keys[end] &&
               list->items[i].stack_id != stack_id)
            i++;
        if (i < list->count && list->items[i].key == keys[end])
            take_out(list, i);
    }
}

void sqlite_seen_reports(struct sqlite_storage *s, int64_t cluster_id, int64_t first_ms,
                         int64_t last_ms)
{
    const int64_t keys[SEEN_ENDS] = {key_of(first_ms, SEEN_FIRST), key_of(last_ms, SEEN_LAST)};
    for (int end = 0; end < SEEN_ENDS; end++) {
        struct seen_list *list = *slot_of(s, (enum seen_end)end, cluster_id);
        if (list && list->cluster_id == cluster_id && list->limit > keys[end])
            list->limit = keys[end];
    }
}

/* --- the face --------------------------------------------------------------------------------- */

/* Is the stack there, seen when it was? */
static enum err is_there(struct sqlite_storage *s, enum seen_end end, int64_t cluster_id,
                         const struct seen_item *item, bool *ret_there, bool *ret_same,
                         struct error *err)
{
    sqlite3_stmt *st =
        sql_start(&s->conn, SQL_STACK_SEEN, err, sql_int(item->stack_id), sql_int(cluster_id));
    enum err rc = st ? sql_step(&s->conn, st, ret_there, err) : err->code;
    if (rc || !*ret_there)
        return rc;
    *ret_same = key_of(sqlite3_column_int64(st, (int)end), end) == item->key;
    sql_end(st);
    return ERR_OK;
}

static enum err first_key(struct sqlite_storage *s, enum seen_end end, int64_t cluster_id,
                          int64_t *ret_key, struct error *err)
{
    struct seen_list *list = *slot_of(s, end, cluster_id);
    if (!list || list->cluster_id != cluster_id)
        return look_anew(s, end, cluster_id, ret_key, err);
    for (; list->at < list->count && list->items[list->at].key <= list->limit; list->at++) {
        bool there = false, same = false;
        enum err rc = is_there(s, end, cluster_id, &list->items[list->at], &there, &same, err);
        if (rc)
            return rc;
        if (there && !same)
            break;
        *ret_key = list->items[list->at].key;
        if (there)
            return ERR_OK;
    }
    if (list->at < list->count || list->limit < INT64_MAX)
        return look_anew(s, end, cluster_id, ret_key, err);
    *ret_key = INT64_MAX; /* there was no other */
    return ERR_OK;
}

enum err sqlite_seen_first(struct sqlite_storage *s, int64_t cluster_id, int64_t *ret,
                           struct error *err)
{
    return first_key(s, SEEN_FIRST, cluster_id, ret, err);
}

enum err sqlite_seen_last(struct sqlite_storage *s, int64_t cluster_id, int64_t *ret,
                          struct error *err)
{
    int64_t key = 0;
    enum err rc = first_key(s, SEEN_LAST, cluster_id, &key, err);
    *ret = ~key;
    return rc;
}

void sqlite_seen_forget(struct sqlite_storage *s)
{
    for (int end = 0; end < SEEN_ENDS; end++) {
        for (size_t i = 0; i < SEEN_LISTS; i++)
            drop(&s->seen[end][i]);
    }
}
