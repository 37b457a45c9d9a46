/*
 * demangle_swift_node - the tree between parsing and printing a Swift name, and its memory.
 *
 * Purpose: a parser makes nodes, a printer walks them. Both of them meet untrusted names, so all
 * memory comes from one small arena with a cap.
 *
 * Invariants: a node has a text, a number or children, never two of these. A node may be the
 * child of several others (substitutions share), so the graph has no cycle but is no tree either:
 * walking it needs a budget. After the arena said no once (`full`), every allocation fails; who
 * allocates need not look at each answer as long as somebody looks at `full` in the end. Functions
 * that take nodes accept NULL and answer NULL, so that a failure falls through to the caller.
 *
 * Threads: one owner. Memory: everything dies with swift_arena_done().
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_NODE_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/demangle_swift_kinds.h"

/* All nodes, lists and texts of one name. */
#define SWIFT_ARENA_LIMIT ((size_t)640 * 1024)
/* Memory inside the arena struct, enough for most names. */
#define SWIFT_ARENA_FIRST ((size_t)8 * 1024)

struct swift_chunk;

struct swift_arena {
    struct swift_chunk *chunks;
    char *next;
    size_t left;
    size_t total; /* bytes of all chunks */
    bool full;
    _Alignas(16) char first[SWIFT_ARENA_FIRST];
};

void swift_arena_init(struct swift_arena *a);
void swift_arena_done(struct swift_arena *a);
/* 8-byte aligned, not cleared. NULL when full. */
void *swift_arena_alloc(struct swift_arena *a, size_t size);

struct swift_text {
    const char *s;
    size_t len;
};

enum swift_payload { SP_NONE, SP_TEXT, SP_INDEX, SP_INLINE, SP_LIST };

struct swift_node {
    uint16_t kind;   /* enum swift_kind */
    uint8_t payload; /* enum swift_payload: which part of the union */
    uint32_t count;  /* length of the text or number of children */
    union {
        const char *text;
        int64_t index;
        struct swift_node *few[2];
        struct {
            struct swift_node **list;
            uint32_t capacity;
        } many;
    } u;
};

struct swift_node *swift_node(struct swift_arena *a, enum swift_kind kind);
struct swift_node *swift_node_index(struct swift_arena *a, enum swift_kind kind, int64_t index);
/* Borrows the text. */
struct swift_node *swift_node_text(struct swift_arena *a, enum swift_kind kind,
                                   struct swift_text text);
struct swift_node *swift_node_str(struct swift_arena *a, enum swift_kind kind, const char *text);
/* A node with all of the children, NULL when one is. */
struct swift_node *swift_node1(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0);
struct swift_node *swift_node2(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1);
struct swift_node *swift_node3(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1, struct swift_node *c2);
struct swift_node *swift_node4(struct swift_arena *a, enum swift_kind kind, struct swift_node *c0,
                               struct swift_node *c1, struct swift_node *c2, struct swift_node *c3);
/* The parent, NULL when parent or child is. */
struct swift_node *swift_node_add(struct swift_arena *a, struct swift_node *parent,
                                  struct swift_node *child);
/* The same payload under another kind. */
struct swift_node *swift_node_as(struct swift_arena *a, const struct swift_node *n,
                                 enum swift_kind kind);
void swift_node_reverse(struct swift_node *n, size_t from);
void swift_node_remove(struct swift_node *n, size_t at);

size_t swift_node_count(const struct swift_node *n);
/* NULL past the end. */
struct swift_node *swift_node_child(const struct swift_node *n, size_t at);
struct swift_node *swift_node_last(const struct swift_node *n);
/* The first child of that kind, or NULL. */
struct swift_node *swift_node_find(const struct swift_node *n, enum swift_kind kind);
struct swift_text swift_node_get_text(const struct swift_node *n);
int64_t swift_node_get_index(const struct swift_node *n);

static inline bool swift_node_is(const struct swift_node *n, enum swift_kind kind)
{
    return n && n->kind == kind;
}

/* Whether the node is text and equals `s`. */
bool swift_node_says(const struct swift_node *n, enum swift_kind kind, const char *s);

/* The class bits of a kind, and its text (NULL when a function prints it). */
extern const uint16_t swift_kind_classes[SK_COUNT];
extern const char *const swift_kind_text[SK_COUNT];

static inline bool swift_node_in(const struct swift_node *n, unsigned classes)
{
    return n && (swift_kind_classes[n->kind] & classes);
}

#endif
