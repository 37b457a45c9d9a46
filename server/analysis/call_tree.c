#include "server/analysis/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

/* DESIGN. Functions are numbers, found by two pointers where names last, else by their texts. Most
 * nodes call one other: their callees are a list that is walked; those of nodes with many are in one
 * table, too, by (parent, function). Stacks that come one after the other mostly share their outer
 * calls, so the path of the last one is tried first. */

#define CHILDREN_LISTED 8 /* callees of a node that are found by walking */
#define CUT_SIZE        (CALL_TREE_TEXT_MAX + 4)

struct function_key {
    const char *function, *image;
    const char *file; /* that was noted last */
    uint32_t number;
    bool in_app;
};

/* A frame of the last stack as it came, and its node. */
struct step {
    struct call_frame frame;
    uint32_t node;
};

struct call_tree {
    size_t max_bytes, bytes; /* of the tables */
    struct arena texts;
    struct call_function *functions;
    size_t function_count, function_room;
    uint32_t *by_text; /* number + 1 */
    size_t text_slots;
    struct function_key *by_pointer; /* function NULL: free */
    size_t pointer_count, pointer_slots;
    struct call_node *nodes;
    size_t node_count, node_room;
    uint32_t *children; /* node + 1, by parent and function: those of nodes that have many */
    size_t children_count, child_slots;
    struct step *path; /* the last stack, from the root's callee on */
    size_t path_len, path_room;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
}

/* Room for `count` more than now; the old table stays when there is none. */
static enum err enlarge(struct call_tree *t, void **table, size_t size, size_t from, size_t to,
                        struct error *err)
{
    if (t->bytes + (to - from) * size > t->max_bytes)
        return error_set(err, ERR_LIMIT, "the call tree takes more than %zu bytes", t->max_bytes);
    void *larger = realloc(*table, to * size);
    if (!larger)
        return no_memory(err);
    *table = larger;
    t->bytes += (to - from) * size;
    return ERR_OK;
}

struct call_tree *call_tree_new(size_t max_bytes)
{
    struct error ignored;
    struct call_tree *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->max_bytes = max_bytes;
    arena_init(&t->texts, max_bytes ? max_bytes : 1);
    if (enlarge(t, (void **)&t->nodes, sizeof(*t->nodes), 0, 64, &ignored) != ERR_OK) {
        call_tree_free(t);
        return NULL;
    }
    t->node_room = 64;
    t->nodes[0] = (struct call_node){.function = CALL_TREE_NONE,
                                     .parent = CALL_TREE_NONE,
                                     .first_child = CALL_TREE_NONE,
                                     .next = CALL_TREE_NONE};
    t->node_count = 1;
    return t;
}

void call_tree_free(struct call_tree *t)
{
    if (!t)
        return;
    arena_done(&t->texts);
    free(t->functions);
    free(t->by_text);
    free(t->by_pointer);
    free(t->nodes);
    free(t->children);
    free(t->path);
    free(t);
}

/* --- functions -------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The text itself, or its beginning in `room`; no character is cut in two. */
static const char *shortened(const char *text, char room[CUT_SIZE])
{
    size_t len = text ? strnlen(text, CALL_TREE_TEXT_MAX + 1) : 0, end = CALL_TREE_TEXT_MAX;
    if (len <= CALL_TREE_TEXT_MAX)
        return text;
    while (end > CALL_TREE_TEXT_MAX - 4 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(room, text, end);
    memcpy(room + end, "...", 4);
    return room;
}

static uint64_t hash_texts(const char *function, const char *image)
{
    uint64_t h = image ? hash64(image, strlen(image), 1) : 0;
    return hash64(function, strlen(function), h);
}

static uint32_t *text_slot(const struct call_tree *t, const char *function, const char *image)
{
    size_t i = (size_t)hash_texts(function, image) & (t->text_slots - 1);
    for (; t->by_text[i]; i = (i + 1) & (t->text_slots - 1)) {
        const struct call_function *f = &t->functions[t->by_text[i] - 1];
        if (same_text(f->name, function) && same_text(f->image, image))
            break;
    }
    return &t->by_text[i];
}

static enum err more_functions(struct call_tree *t, struct error *err)
{
    size_t room = t->function_room ? t->function_room * 2 : 256;
    enum err rc =
        enlarge(t, (void **)&t->functions, sizeof(*t->functions), t->function_room, room, err);
    if (rc == ERR_OK)
        rc = enlarge(t, (void **)&t->by_text, sizeof(*t->by_text), t->text_slots, room * 2, err);
    if (rc != ERR_OK)
        return rc;
    t->function_room = room;
    t->text_slots = room * 2;
    memset(t->by_text, 0, t->text_slots * sizeof(*t->by_text));
    for (size_t i = 0; i < t->function_count; i++)
        *text_slot(t, t->functions[i].name, t->functions[i].image) = (uint32_t)i + 1;
    return ERR_OK;
}

static const char *keep(struct call_tree *t, const char *text, bool *failed)
{
    const char *copy = text ? arena_strdup(&t->texts, text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static enum err function_by_text(struct call_tree *t, const struct call_frame *f, uint32_t *ret,
                                 struct error *err)
{
    enum err rc = t->function_count == t->function_room ? more_functions(t, err) : ERR_OK;
    char name_room[CUT_SIZE], image_room[CUT_SIZE];
    bool failed = false;
    if (rc != ERR_OK)
        return rc;
    const char *name = shortened(f->function, name_room);
    const char *image = shortened(f->image, image_room);
    uint32_t *slot = text_slot(t, name, image);
    if (*slot == 0) {
        t->functions[t->function_count] = (struct call_function){.name = keep(t, name, &failed),
                                                                 .image = keep(t, image, &failed)};
        if (failed)
            return error_set(err, ERR_LIMIT, "the names of a call tree take too much memory");
        *slot = (uint32_t)++t->function_count;
    }
    *ret = *slot - 1;
    return ERR_OK;
}

static struct function_key *pointer_slot(const struct call_tree *t, const char *function,
                                         const char *image)
{
    uint64_t h = ((uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u) ^
                 ((uint64_t)(uintptr_t)image * 0xc2b2ae3d27d4eb4fu);
    size_t i = (size_t)(h >> 29) & (t->pointer_slots - 1);
    while (t->by_pointer[i].function &&
           (t->by_pointer[i].function != function || t->by_pointer[i].image != image))
        i = (i + 1) & (t->pointer_slots - 1);
    return &t->by_pointer[i];
}

static enum err more_pointers(struct call_tree *t, struct error *err)
{
    struct function_key *old = t->by_pointer;
    size_t slots = t->pointer_slots ? t->pointer_slots * 2 : 1024, old_slots = t->pointer_slots;
    t->by_pointer = NULL;
    enum err rc = enlarge(t, (void **)&t->by_pointer, sizeof(*old), old_slots, slots, err);
    if (rc != ERR_OK) {
        t->by_pointer = old;
        return rc;
    }
    memset(t->by_pointer, 0, slots * sizeof(*old));
    t->pointer_slots = slots;
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i].function)
            *pointer_slot(t, old[i].function, old[i].image) = old[i];
    }
    free(old);
    return ERR_OK;
}

/* Of several files the first one in the alphabet stays, whatever came first. */
static enum err note(struct call_tree *t, uint32_t number, const struct call_frame *from,
                     struct error *err)
{
    struct call_function *f = &t->functions[number];
    char room[CUT_SIZE];
    const char *file = shortened(from->file, room);
    bool failed = false;
    f->in_app |= from->in_app;
    if (file && (!f->file || strcmp(file, f->file) < 0))
        f->file = keep(t, file, &failed);
    return failed ? error_set(err, ERR_LIMIT, "the names of a call tree take too much memory")
                  : ERR_OK;
}

static enum err find_function(struct call_tree *t, const struct call_frame *f, uint32_t *ret,
                              struct error *err)
{
    enum err rc = ERR_OK;
    if (!f->lasting) {
        rc = function_by_text(t, f, ret, err);
        return rc == ERR_OK ? note(t, *ret, f, err) : rc;
    }
    if (t->pointer_count * 2 >= t->pointer_slots && (rc = more_pointers(t, err)) != ERR_OK)
        return rc;
    struct function_key *slot = pointer_slot(t, f->function, f->image);
    if (!slot->function) {
        uint32_t number;
        if ((rc = function_by_text(t, f, &number, err)) != ERR_OK)
            return rc;
        *slot = (struct function_key){.function = f->function, .image = f->image, .number = number};
        t->pointer_count++;
    }
    *ret = slot->number;
    if (slot->file == f->file && slot->in_app == f->in_app)
        return ERR_OK;
    slot->file = f->file;
    slot->in_app = f->in_app;
    return note(t, slot->number, f, err);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static uint32_t *child_slot(const struct call_tree *t, uint32_t parent, uint32_t function)
{
    uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 24) & (t->child_slots - 1);
    for (; t->children[i]; i = (i + 1) & (t->child_slots - 1)) {
        const struct call_node *n = &t->nodes[t->children[i] - 1];
        if (n->parent == parent && n->function == function)
            break;
    }
    return &t->children[i];
}

/* Room for `count` more in the table of children. */
static enum err more_children(struct call_tree *t, size_t count, struct error *err)
{
    size_t slots = t->child_slots ? t->child_slots : 512, old_slots = t->child_slots;
    uint32_t *old = t->children;
    while ((t->children_count + count) * 2 > slots)
        slots *= 2;
    if (slots == old_slots)
        return ERR_OK;
    t->children = NULL;
    enum err rc = enlarge(t, (void **)&t->children, sizeof(*old), old_slots, slots, err);
    if (rc != ERR_OK) {
        t->children = old;
        return rc;
    }
    memset(t->children, 0, slots * sizeof(*old));
    t->child_slots = slots;
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i]) {
            const struct call_node *n = &t->nodes[old[i] - 1];
            *child_slot(t, n->parent, n->function) = old[i];
        }
    }
    free(old);
    return ERR_OK;
}

static enum err more_nodes(struct call_tree *t, struct error *err)
{
    enum err rc =
        enlarge(t, (void **)&t->nodes, sizeof(*t->nodes), t->node_room, t->node_room * 2, err);
    if (rc == ERR_OK)
        t->node_room *= 2;
    return rc;
}

static void put_child(struct call_tree *t, uint32_t node)
{
    *child_slot(t, t->nodes[node].parent, t->nodes[node].function) = node + 1;
    t->children_count++;
}

static int64_t weight_of(const struct call_node *n)
{
    return n->value[0] + n->value[1];
}

/* The callee, or CALL_TREE_NONE. The first one is the heaviest of those that were walked to: most
 * calls are of that one, and each look at another node waits for memory. */
static uint32_t known_child(struct call_tree *t, uint32_t parent, uint32_t function)
{
    struct call_node *nodes = t->nodes;
    const uint32_t first = nodes[parent].first_child;
    uint32_t before = first;
    if (first == CALL_TREE_NONE || nodes[first].function == function)
        return first;
    if (nodes[parent].child_count > CHILDREN_LISTED)
        return *child_slot(t, parent, function) - 1;
    uint32_t c = nodes[first].next;
    for (; c != CALL_TREE_NONE && nodes[c].function != function; c = nodes[c].next)
        before = c;
    if (c != CALL_TREE_NONE && weight_of(&nodes[c]) > weight_of(&nodes[first])) {
        nodes[before].next = nodes[c].next;
        nodes[c].next = first;
        nodes[parent].first_child = c;
    }
    return c;
}

/* Behind the first one. */
static void link_child(struct call_tree *t, uint32_t parent, uint32_t child)
{
    struct call_node *nodes = t->nodes;
    const uint32_t first = nodes[parent].first_child;
    uint32_t *link = first == CALL_TREE_NONE ? &nodes[parent].first_child : &nodes[first].next;
    nodes[child].next = *link;
    *link = child;
}

/* With one more than can be walked all of them go into the table. */
static enum err table_children(struct call_tree *t, uint32_t parent, struct error *err)
{
    const uint32_t count = t->nodes[parent].child_count;
    enum err rc = ERR_OK;
    if (count >= CHILDREN_LISTED)
        rc = more_children(t, CHILDREN_LISTED + 1, err);
    if (rc != ERR_OK || count != CHILDREN_LISTED)
        return rc;
    for (uint32_t c = t->nodes[parent].first_child; c != CALL_TREE_NONE; c = t->nodes[c].next)
        put_child(t, c);
    return ERR_OK;
}

static enum err find_child(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t *ret,
                           struct error *err)
{
    enum err rc = ERR_OK;
    uint32_t c = known_child(t, parent, function);
    if (c == CALL_TREE_NONE) {
        if (t->node_count == t->node_room)
            rc = more_nodes(t, err);
        if (rc == ERR_OK)
            rc = table_children(t, parent, err);
        if (rc != ERR_OK)
            return rc;
        c = (uint32_t)t->node_count++;
        t->nodes[c] = (struct call_node){
            .function = function, .parent = parent, .first_child = CALL_TREE_NONE};
        link_child(t, parent, c);
        if (++t->nodes[parent].child_count > CHILDREN_LISTED)
            put_child(t, c);
    }
    *ret = c;
    return ERR_OK;
}

static void weigh(struct call_node *n, const int64_t weights[CALL_TREE_WEIGHTS])
{
    for (size_t k = 0; k < CALL_TREE_WEIGHTS; k++)
        n->value[k] += weights[k];
}

/* The very frame that the last stack has in this place: told without looking at a name. */
static bool same_frame(const struct call_frame *a, const struct call_frame *b)
{
    return a->lasting && b->lasting && a->function == b->function && a->image == b->image &&
           a->file == b->file && a->in_app == b->in_app;
}

enum err call_tree_add(struct call_tree *t, const struct call_frame *frames, size_t count,
                       const int64_t weights[CALL_TREE_WEIGHTS], struct error *err)
{
    uint32_t at = 0;
    size_t i = 0;
    enum err rc = ERR_OK;
    if (count > t->path_room) {
        rc = enlarge(t, (void **)&t->path, sizeof(*t->path), t->path_room, count, err);
        if (rc != ERR_OK)
            return rc;
        t->path_room = count;
    }
    while (i < count && i < t->path_len && same_frame(&frames[count - 1 - i], &t->path[i].frame))
        at = t->path[i++].node;
    for (; i < count && rc == ERR_OK; i++) {
        uint32_t function = 0;
        t->path_len = i; /* what is behind it is not true any more */
        t->path[i].frame = frames[count - 1 - i];
        rc = find_function(t, &frames[count - 1 - i], &function, err);
        if (rc == ERR_OK)
            rc = find_child(t, at, function, &t->path[i].node, err);
        at = t->path[i].node;
    }
    if (rc != ERR_OK)
        return rc;
    t->path_len = count;
    /* Only now: a stack is added whole or not at all. */
    weigh(&t->nodes[0], weights);
    for (i = 0; i < count; i++)
        weigh(&t->nodes[t->path[i].node], weights);
    return ERR_OK;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare_children(const void *a, const void *b, void *ctx)
{
    const struct call_tree *t = ctx;
    const struct call_node *x = &t->nodes[*(const uint32_t *)a];
    const struct call_node *y = &t->nodes[*(const uint32_t *)b];
    int64_t vx = weight_of(x), vy = weight_of(y);
    if (vx != vy)
        return vx > vy ? -1 : 1;
    const struct call_function *f = &t->functions[x->function], *g = &t->functions[y->function];
    int c = strcmp(f->name, g->name);
    return c ? c : strcmp(f->image ? f->image : "", g->image ? g->image : "");
}

enum err call_tree_sort(struct call_tree *t, struct error *err)
{
    uint32_t *row = malloc(t->node_count * sizeof(*row));
    if (!row)
        return no_memory(err);
    for (size_t i = 0; i < t->node_count; i++) {
        size_t n = 0;
        for (uint32_t c = t->nodes[i].first_child; c != CALL_TREE_NONE; c = t->nodes[c].next)
            row[n++] = c;
        if (n < 2)
            continue;
        qsort_r(row, n, sizeof(*row), compare_children, t);
        t->nodes[i].first_child = row[0];
        for (size_t k = 0; k < n; k++)
            t->nodes[row[k]].next = k + 1 < n ? row[k + 1] : CALL_TREE_NONE;
    }
    free(row);
    return ERR_OK;
}

/* --- folding ---------------------------------------------------------------------------------- */

/* A node by what it weighs, then by its place depth first: before it stand all its callers. */
struct ranked {
    int64_t weight;
    uint32_t place;
    uint32_t node;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void rank_all(const struct call_tree *t, struct ranked *ret)
{
    size_t up;
    uint32_t place = 0;
    for (uint32_t n = 0; n != CALL_TREE_NONE; n = call_tree_next(t, n, &up)) {
        ret[place] = (struct ranked){weight_of(&t->nodes[n]), place, n};
        place++;
    }
    qsort(ret + 1, place - 1, sizeof(*ret), by_rank); /* the root is first */
}

/* Node `n` of `from`, or what it becomes, below `parent` of `to`. */
static enum err copy_node(struct call_tree *to, const struct call_tree *from, uint32_t n,
                          uint32_t parent, bool kept, uint32_t *ret, struct error *err)
{
    const struct call_function *f = &from->functions[from->nodes[n].function];
    const struct call_frame other = {.function = CALL_TREE_OTHER};
    const struct call_frame same = {
        .function = f->name, .image = f->image, .file = f->file, .in_app = f->in_app};
    uint32_t function = 0;
    enum err rc = find_function(to, kept ? &same : &other, &function, err);
    if (rc == ERR_OK)
        rc = find_child(to, parent, function, ret, err);
    if (rc == ERR_OK)
        weigh(&to->nodes[*ret], from->nodes[n].value);
    return rc;
}

/* Callers have smaller numbers than what they call. `map`: what is kept is 0, else NONE; becomes the
 * nodes of `to`. */
static enum err copy_tree(struct call_tree *to, const struct call_tree *from, uint32_t *map,
                          struct error *err)
{
    enum err rc = ERR_OK;
    weigh(&to->nodes[0], from->nodes[0].value);
    for (uint32_t n = 1; n < from->node_count && rc == ERR_OK; n++) {
        const uint32_t parent = map[from->nodes[n].parent];
        const bool kept = map[n] != CALL_TREE_NONE;
        uint32_t copy = 0;
        if (parent == CALL_TREE_NONE)
            continue; /* inside of what was folded */
        rc = copy_node(to, from, n, parent, kept, &copy, err);
        if (kept)
            map[n] = copy;
    }
    return rc == ERR_OK ? call_tree_sort(to, err) : rc;
}

enum err call_tree_fold(struct call_tree *t, size_t max_nodes, bool *ret_folded, struct error *err)
{
    struct ranked *ranks = NULL;
    uint32_t *map = NULL;
    struct call_tree *folded = NULL;
    /* Each of the kept ones, and the root, may get one that is of the others. */
    const size_t keep_count = max_nodes > 2 ? max_nodes / 2 : 1;
    *ret_folded = false;
    enum err rc = call_tree_sort(t, err);
    if (rc != ERR_OK || t->node_count <= max_nodes)
        return rc;
    ranks = malloc(t->node_count * sizeof(*ranks));
    map = malloc(t->node_count * sizeof(*map));
    folded = call_tree_new(t->max_bytes);
    rc = ranks && map && folded ? ERR_OK : no_memory(err);
    if (rc == ERR_OK) {
        rank_all(t, ranks);
        for (size_t i = 0; i < t->node_count; i++)
            map[ranks[i].node] = i < keep_count ? 0 : CALL_TREE_NONE;
        rc = copy_tree(folded, t, map, err);
    }
    if (rc == ERR_OK) {
        const struct call_tree old = *t;
        *t = *folded;
        *folded = old;
        *ret_folded = true;
    }
    free(ranks);
    free(map);
    call_tree_free(folded);
    return rc;
}

const struct call_node *call_tree_nodes(const struct call_tree *t, size_t *ret_count)
{
    *ret_count = t->node_count;
    return t->nodes;
}

const struct call_function *call_tree_functions(const struct call_tree *t, size_t *ret_count)
{
    *ret_count = t->function_count;
    return t->functions;
}

int64_t call_tree_self(const struct call_tree *t, uint32_t node, size_t weight)
{
    int64_t self = t->nodes[node].value[weight];
    for (uint32_t c = t->nodes[node].first_child; c != CALL_TREE_NONE; c = t->nodes[c].next)
        self -= t->nodes[c].value[weight];
    return self;
}

uint32_t call_tree_next(const struct call_tree *t, uint32_t node, size_t *ret_up)
{
    *ret_up = 0;
    if (t->nodes[node].first_child != CALL_TREE_NONE)
        return t->nodes[node].first_child;
    for (; node != CALL_TREE_NONE; node = t->nodes[node].parent) {
        (*ret_up)++;
        if (t->nodes[node].next != CALL_TREE_NONE)
            return t->nodes[node].next;
    }
    return CALL_TREE_NONE;
}
