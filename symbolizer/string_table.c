#include "symbolizer/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define FIRST_SLOTS ((size_t)1024)
#define BYTES_MAX   ((uint64_t)UINT32_MAX)

bool string_table_init(struct string_table *t)
{
    memset(t, 0, sizeof(*t));
    arena_init(&t->copies, BYTES_MAX);
    t->limit = BYTES_MAX;
    t->entries = vec_grown(NULL, &t->cap, 1, sizeof(t->entries[0]));
    t->slots = calloc(FIRST_SLOTS, sizeof(t->slots[0]));
    if (!t->entries || !t->slots) {
        string_table_done(t);
        return false;
    }
    t->entries[0] = (struct string_entry){.text = ""};
    t->size = 1;
    t->count = 1;
    t->slot_count = FIRST_SLOTS;
    return true;
}

void string_table_done(struct string_table *t)
{
    if (!t)
        return;
    arena_done(&t->copies);
    free(t->entries);
    free(t->slots);
    t->entries = NULL;
    t->slots = NULL;
    t->count = t->cap = t->slot_count = 0;
}

static bool grow_slots(struct string_table *t)
{
    size_t want = t->slot_count * 2;
    uint32_t *slots = calloc(want, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t e = 1; e < t->count; e++) {
        size_t i = t->entries[e].hash & (want - 1);
        while (slots[i])
            i = (i + 1) & (want - 1);
        slots[i] = (uint32_t)e + 1;
    }
    free(t->slots);
    t->slots = slots;
    t->slot_count = want;
    return true;
}

static uint32_t fail(struct string_table *t)
{
    t->failed = true;
    return 0;
}

static uint32_t add(struct string_table *t, const char *text, size_t length, bool borrowed)
{
    if (length == 0 || t->failed)
        return 0;
    if (t->count * 2 > t->slot_count && !grow_slots(t))
        return fail(t);
    uint32_t hash = (uint32_t)hash64(text, length, 0);
    size_t i = hash & (t->slot_count - 1);
    for (; t->slots[i]; i = (i + 1) & (t->slot_count - 1)) {
        const struct string_entry *e = &t->entries[t->slots[i] - 1];
        if (e->hash == hash && e->length == length &&
            (e->text == text || memcmp(e->text, text, length) == 0))
            return t->slots[i] - 1;
    }
    void *p = vec_grown(t->entries, &t->cap, t->count + 1, sizeof(t->entries[0]));
    if (!p)
        return fail(t);
    t->entries = p;
    if (length >= t->limit - t->size)
        return fail(t);
    if (!borrowed && !(text = arena_strndup(&t->copies, text, length)))
        return fail(t);
    t->size += length + 1;
    t->entries[t->count] =
        (struct string_entry){.text = text, .length = (uint32_t)length, .hash = hash};
    t->slots[i] = (uint32_t)t->count + 1;
    return (uint32_t)t->count++;
}

uint32_t string_table_add(struct string_table *t, const char *text, size_t length)
{
    return add(t, text, length, false);
}

uint32_t string_table_borrow(struct string_table *t, const char *text)
{
    return add(t, text, strlen(text), true);
}

void string_table_settle(struct string_table *t)
{
    uint32_t at = 0;
    for (size_t e = 0; e < t->count; e++) {
        if (t->entries[e].is_local)
            continue;
        t->entries[e].place = at;
        at += t->entries[e].length + 1;
    }
    t->locals = at;
    for (size_t e = 0; e < t->count; e++) {
        if (!t->entries[e].is_local)
            continue;
        t->entries[e].place = at;
        at += t->entries[e].length + 1;
    }
}
