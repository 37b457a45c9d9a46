#include "symbolizer/demangle_swift_node.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN ((size_t)16 * 1024)

const uint16_t swift_kind_classes[SK_COUNT] = {
#define X(name, classes, text) [SK_##name] = (classes),
    SWIFT_KINDS(X)
#undef X
};

const char *const swift_kind_text[SK_COUNT] = {
#define X(name, classes, text) [SK_##name] = (text),
    SWIFT_KINDS(X)
#undef X
};

struct swift_chunk {
    struct swift_chunk *older;
    _Alignas(16) char data[];
};

void swift_arena_init(struct swift_arena *a)
{
    a->chunks = NULL;
    a->next = a->first;
    a->left = sizeof(a->first);
    a->total = sizeof(a->first);
    a->full = false;
}

void swift_arena_done(struct swift_arena *a)
{
    while (a->chunks) {
        struct swift_chunk *older = a->chunks->older;
        free(a->chunks);
        a->chunks = older;
    }
}

/* A new chunk, as large as all before it so that few are needed. */
static bool arena_grow(struct swift_arena *a, size_t size)
{
    size_t want = a->total > CHUNK_MIN ? a->total : CHUNK_MIN;
    if (want < size)
        want = size;
    if (want > SWIFT_ARENA_LIMIT - a->total)
        want = SWIFT_ARENA_LIMIT - a->total;
    struct swift_chunk *c = want >= size ? malloc(sizeof(*c) + want) : NULL;
    if (!c) {
        a->full = true;
        return false;
    }
    c->older = a->chunks;
    a->chunks = c;
    a->next = c->data;
    a->left = want;
    a->total += want;
    return true;
}

void *swift_arena_alloc(struct swift_arena *a, size_t size)
{
    if (a->full || size > SWIFT_ARENA_LIMIT) {
        a->full = true;
        return NULL;
    }
    size = (size + 7) & ~(size_t)7;
    if (size > a->left && !arena_grow(a, size))
        return NULL;
    void *p = a->next;
    a->next += size;
    a->left -= size;
    return p;
}

struct swift_node *swift_node(struct swift_arena *a, enum swift_kind kind)
{
    struct swift_node *n = swift_arena_alloc(a, sizeof(*n));
    if (!n)
        return NULL;
    n->kind = (uint16_t)kind;
    n->payload = SP_NONE;
    n->count = 0;
    return n;
}

struct swift_node *swift_node_index(struct swift_arena *a, enum swift_kind kind, int64_t index)
{
    struct swift_node *n = swift_node(a, kind);
    if (n) {
        n->payload = SP_INDEX;
        n->u.index = index;
    }
    return n;
}

struct swift_node *swift_node_text(struct swift_arena *a, enum swift_kind kind,
                                   struct swift_text text)
{
    struct swift_node *n = swift_node(a, kind);
    if (n) {
        n->payload = SP_TEXT;
        n->count = (uint32_t)text.len;
        n->u.text = text.s;
    }
    return n;
}

struct swift_node *swift_node_str(struct swift_arena *a, enum swift_kind kind, const char *text)
{
    struct swift_text t = {text, strlen(text)};
    return swift_node_text(a, kind, t);
}

struct swift_node *swift_node1(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0)
{
    return c0 ? swift_node_add(a, swift_node(a, kind), c0) : NULL;
}

struct swift_node *swift_node2(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1)
{
    return c1 ? swift_node_add(a, swift_node1(a, kind, c0), c1) : NULL;
}

struct swift_node *swift_node3(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1, struct swift_node *c2)
{
    return c2 ? swift_node_add(a, swift_node2(a, kind, c0, c1), c2) : NULL;
}

struct swift_node *swift_node4(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1, struct swift_node *c2, struct swift_node *c3)
{
    return c3 ? swift_node_add(a, swift_node3(a, kind, c0, c1, c2), c3) : NULL;
}

/* From two children inside the node to a list, or from a full list to one twice as long. */
static bool node_grow(struct swift_arena *a, struct swift_node *n)
{
    uint32_t capacity = n->payload == SP_LIST ? n->u.many.capacity * 2 : 6;
    struct swift_node **list = swift_arena_alloc(a, capacity * sizeof(*list));
    if (!list)
        return false;
    const void *old = n->payload == SP_LIST ? (const void *)n->u.many.list : n->u.few;
    memcpy(list, old, n->count * sizeof(*list));
    n->payload = SP_LIST;
    n->u.many.list = list;
    n->u.many.capacity = capacity;
    return true;
}

struct swift_node *swift_node_add(struct swift_arena *a, struct swift_node *parent,
                                  struct swift_node *child)
{
    if (!parent || !child || parent->payload == SP_TEXT || parent->payload == SP_INDEX)
        return NULL;
    if (parent->payload == SP_NONE)
        parent->payload = SP_INLINE;
    if (parent->payload == SP_INLINE && parent->count < 2) {
        parent->u.few[parent->count++] = child;
        return parent;
    }
    if (parent->payload == SP_INLINE || parent->count == parent->u.many.capacity) {
        if (!node_grow(a, parent))
            return NULL;
    }
    parent->u.many.list[parent->count++] = child;
    return parent;
}

static struct swift_node *const *node_children(const struct swift_node *n)
{
    if (n->payload == SP_INLINE)
        return n->u.few;
    return n->payload == SP_LIST ? n->u.many.list : NULL;
}

struct swift_node *swift_node_as(struct swift_arena *a, const struct swift_node *n,
                                 enum swift_kind kind)
{
    if (!n)
        return NULL;
    if (n->payload == SP_TEXT)
        return swift_node_text(a, kind, swift_node_get_text(n));
    if (n->payload == SP_INDEX)
        return swift_node_index(a, kind, n->u.index);
    struct swift_node *copy = swift_node(a, kind);
    for (size_t i = 0; i < swift_node_count(n); i++)
        copy = swift_node_add(a, copy, swift_node_child(n, i));
    return copy;
}

void swift_node_reverse(struct swift_node *n, size_t from)
{
    if (!n || swift_node_count(n) < 2)
        return;
    struct swift_node **list = n->payload == SP_LIST ? n->u.many.list : n->u.few;
    for (size_t i = from, j = n->count - 1; i < j; i++, j--) {
        struct swift_node *t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
}

void swift_node_remove(struct swift_node *n, size_t at)
{
    if (at >= swift_node_count(n))
        return;
    struct swift_node **list = n->payload == SP_LIST ? n->u.many.list : n->u.few;
    for (size_t i = at; i + 1 < n->count; i++)
        list[i] = list[i + 1];
    n->count--;
}

size_t swift_node_count(const struct swift_node *n)
{
    return n && (n->payload == SP_INLINE || n->payload == SP_LIST) ? n->count : 0;
}

struct swift_node *swift_node_child(const struct swift_node *n, size_t at)
{
    if (!n || at >= n->count)
        return NULL;
    if (n->payload == SP_INLINE)
        return n->u.few[at];
    return n->payload == SP_LIST ? n->u.many.list[at] : NULL;
}

struct swift_node *swift_node_last(const struct swift_node *n)
{
    size_t count = swift_node_count(n);
    return count ? node_children(n)[count - 1] : NULL;
}

struct swift_node *swift_node_find(const struct swift_node *n, enum swift_kind kind)
{
    for (size_t i = 0; i < swift_node_count(n); i++) {
        struct swift_node *child = node_children(n)[i];
        if (child->kind == kind)
            return child;
    }
    return NULL;
}

struct swift_text swift_node_get_text(const struct swift_node *n)
{
    struct swift_text t = {"", 0};
    if (n && n->payload == SP_TEXT) {
        t.s = n->u.text;
        t.len = n->count;
    }
    return t;
}

int64_t swift_node_get_index(const struct swift_node *n)
{
    return n && n->payload == SP_INDEX ? n->u.index : 0;
}

bool swift_node_says(const struct swift_node *n, enum swift_kind kind, const char *s)
{
    if (!swift_node_is(n, kind))
        return false;
    struct swift_text t = swift_node_get_text(n);
    return strlen(s) == t.len && !memcmp(t.s, s, t.len);
}
