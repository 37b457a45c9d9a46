#include "server/analysis/call_tree_parts.h"

#include <stdlib.h>
#include <string.h>

#define CHILDREN_LISTED 8 /* callees of a node that are found by walking */

static enum err more(struct call_tree *t, void **table, size_t size, size_t *room, size_t want,
                     struct error *err)
{
    size_t to = *room ? *room : 64;
    while (to < want)
        to *= 2;
    if (to == *room)
        return ERR_OK;
    enum err rc = call_enlarge(&t->bytes, t->max_bytes, table, size, *room, to, err);
    if (rc == ERR_OK)
        *room = to;
    return rc;
}

struct call_tree *call_tree_new(size_t max_bytes)
{
    struct error ignored;
    struct call_tree *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->max_bytes = max_bytes;
    call_functions_init(&t->functions, &t->bytes, max_bytes);
    if (call_tree_reserve(t, 1, &ignored) != ERR_OK) {
        call_tree_free(t);
        return NULL;
    }
    t->runs[t->run_count++] = (struct call_run){.function = CALL_TREE_NONE,
                                                .length = 1,
                                                .parent = CALL_TREE_NONE,
                                                .next = CALL_TREE_NONE,
                                                .first_child = CALL_TREE_NONE};
    t->path[t->path_count++] = CALL_TREE_NONE;
    t->node_count = 1;
    return t;
}

void call_tree_free(struct call_tree *t)
{
    if (!t)
        return;
    call_functions_done(&t->functions);
    call_batch_done(&t->batch);
    free(t->runs);
    free(t->path);
    free(t->children);
    free(t);
}

/* --- callees ---------------------------------------------------------------------------------- */

static uint32_t *child_slot(const struct call_tree *t, uint32_t family, uint32_t function)
{
    uint64_t h = ((uint64_t)family << 32 | function) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 24) & (t->child_slots - 1);
    for (; t->children[i]; i = (i + 1) & (t->child_slots - 1)) {
        const struct call_run *r = &t->runs[t->children[i] - 1];
        if (r->brothers == family && r->function == function)
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
    enum err rc = call_enlarge(&t->bytes, t->max_bytes, (void **)&t->children, sizeof(*old),
                               old_slots, slots, err);
    if (rc != ERR_OK) {
        t->children = old;
        return rc;
    }
    memset(t->children, 0, slots * sizeof(*old));
    t->child_slots = slots;
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i]) {
            const struct call_run *r = &t->runs[old[i] - 1];
            *child_slot(t, r->brothers, r->function) = old[i];
        }
    }
    free(old);
    return ERR_OK;
}

static void table_child(struct call_tree *t, uint32_t run)
{
    *child_slot(t, t->runs[run].brothers, t->runs[run].function) = run + 1;
    t->children_count++;
}

int64_t call_run_weight(const struct call_run *r)
{
    return r->value[0] + r->value[1];
}

/* The first one is the heaviest of those that were walked to: most calls are of that one, and each
 * look at another run waits for memory. */
uint32_t call_tree_child(struct call_tree *t, uint32_t run, uint32_t function)
{
    struct call_run *runs = t->runs;
    const uint32_t first = runs[run].first_child;
    uint32_t before = first;
    if (first == CALL_TREE_NONE || runs[first].function == function)
        return first;
    if (runs[run].child_count > CHILDREN_LISTED)
        return *child_slot(t, runs[run].family, function) - 1;
    uint32_t c = runs[first].next;
    for (; c != CALL_TREE_NONE && runs[c].function != function; c = runs[c].next)
        before = c;
    if (c != CALL_TREE_NONE && call_run_weight(&runs[c]) > call_run_weight(&runs[first])) {
        runs[before].next = runs[c].next;
        runs[c].next = first;
        runs[run].first_child = c;
    }
    return c;
}

/* Behind the first one; with one more than can be walked all of them go into the table. */
static void link_child(struct call_tree *t, uint32_t run, uint32_t child)
{
    struct call_run *runs = t->runs;
    const uint32_t first = runs[run].first_child;
    uint32_t *link = first == CALL_TREE_NONE ? &runs[run].first_child : &runs[first].next;
    runs[child].next = *link;
    *link = child;
    if (++runs[run].child_count == CHILDREN_LISTED + 1) {
        for (uint32_t c = runs[run].first_child; c != CALL_TREE_NONE; c = runs[c].next)
            table_child(t, c);
    } else if (runs[run].child_count > CHILDREN_LISTED) {
        table_child(t, child);
    }
}

/* --- runs ------------------------------------------------------------------------------------- */

enum err call_tree_reserve(struct call_tree *t, size_t count, struct error *err)
{
    enum err rc = ERR_OK;
    if (count >= UINT32_MAX - t->path_count)
        return error_set(err, ERR_LIMIT, "the call tree has too many nodes");
    if (t->run_count + 2 > t->run_room)
        rc = more(t, (void **)&t->runs, sizeof(*t->runs), &t->run_room, t->run_count + 2, err);
    if (rc == ERR_OK && t->path_count + count > t->path_room)
        rc =
            more(t, (void **)&t->path, sizeof(*t->path), &t->path_room, t->path_count + count, err);
    if (rc == ERR_OK)
        rc = more_children(t, CHILDREN_LISTED + 1, err);
    return rc;
}

uint32_t call_tree_put(struct call_tree *t, uint32_t run, const uint32_t *functions, size_t count)
{
    const uint32_t put = (uint32_t)t->run_count++;
    t->runs[put] = (struct call_run){.function = functions[0],
                                     .first = (uint32_t)t->path_count,
                                     .length = (uint32_t)count,
                                     .first_child = CALL_TREE_NONE,
                                     .family = ++t->families,
                                     .brothers = t->runs[run].family};
    memmove(t->path + t->path_count, functions, count * sizeof(*functions));
    t->path_count += count;
    t->node_count += count;
    link_child(t, run, put);
    return put;
}

void call_tree_split(struct call_tree *t, uint32_t run, uint32_t length)
{
    const uint32_t lower = (uint32_t)t->run_count++;
    struct call_run *upper = &t->runs[run];
    t->runs[lower] = *upper;
    t->runs[lower].first += length;
    t->runs[lower].length -= length;
    t->runs[lower].function = t->path[t->runs[lower].first];
    t->runs[lower].next = CALL_TREE_NONE;
    upper->length = length;
    upper->first_child = lower;
    upper->child_count = 1;
    upper->family = ++t->families;
    t->runs[lower].brothers = upper->family;
}

void call_run_weigh(struct call_run *r, const int64_t weights[CALL_TREE_WEIGHTS])
{
    for (size_t k = 0; k < CALL_TREE_WEIGHTS; k++)
        r->value[k] += weights[k];
}

enum err call_tree_function(struct call_tree *t, const struct call_frame *frame, uint32_t *ret,
                            struct error *err)
{
    return call_functions_find(&t->functions, frame, ret, err);
}

/* How far a run and `count` functions, outermost first, are the same. */
static uint32_t match(const struct call_tree *t, const struct call_run *r,
                      const uint32_t *functions, size_t count)
{
    const uint32_t *path = t->path + r->first;
    const uint32_t end = r->length < count ? r->length : (uint32_t)count;
    uint32_t n = 1;
    while (n < end && path[n] == functions[n])
        n++;
    return n;
}

/* The run in which `functions` go on from the end of `at`, which has as many of them as
 * *ret_same tells. Room is reserved. */
static uint32_t step_down(struct call_tree *t, uint32_t at, const uint32_t *functions, size_t count,
                          uint32_t *ret_same)
{
    const uint32_t child = call_tree_child(t, at, functions[0]);
    if (child == CALL_TREE_NONE) {
        *ret_same = (uint32_t)count;
        return call_tree_put(t, at, functions, count);
    }
    *ret_same = match(t, &t->runs[child], functions, count);
    if (*ret_same < t->runs[child].length)
        call_tree_split(t, child, *ret_same);
    return child;
}

/* --- stacks, in order ------------------------------------------------------------------------- */

/* The way to where the last stack ended: the runs, and what is still to be added to each. */
struct call_step {
    uint32_t run;
    uint32_t end; /* functions up to its end */
    int64_t weights[CALL_TREE_WEIGHTS];
};

struct way {
    struct call_step *steps; /* the root is the first */
    size_t count;
    const uint32_t *functions; /* of the last stack */
    size_t function_count;
};

/* Steps that end behind `common` functions are left; what they weigh, those before them weigh, too. */
static void step_back(struct call_tree *t, struct way *w, size_t common)
{
    for (; w->steps[w->count - 1].end > common; w->count--) {
        const struct call_step *s = &w->steps[w->count - 1];
        call_run_weigh(&t->runs[s->run], s->weights);
        for (size_t k = 0; k < CALL_TREE_WEIGHTS; k++)
            w->steps[w->count - 2].weights[k] += s->weights[k];
    }
}

static size_t common_start(const struct way *w, const uint32_t *functions, size_t count)
{
    const size_t end = count < w->function_count ? count : w->function_count;
    size_t n = 0;
    while (n < end && functions[n] == w->functions[n])
        n++;
    return n;
}

static enum err add_next(struct call_tree *t, struct way *w, const struct call_waiting *s,
                         struct error *err)
{
    const uint32_t *functions = t->batch.functions + s->first;
    enum err rc = call_tree_reserve(t, s->count, err);
    if (rc != ERR_OK)
        return rc;
    step_back(t, w, common_start(w, functions, s->count));
    for (uint32_t same, done = w->steps[w->count - 1].end; done < s->count;) {
        const uint32_t run =
            step_down(t, w->steps[w->count - 1].run, functions + done, s->count - done, &same);
        done += same;
        w->steps[w->count++] = (struct call_step){.run = run, .end = done};
    }
    for (size_t k = 0; k < CALL_TREE_WEIGHTS; k++)
        w->steps[w->count - 1].weights[k] += s->weights[k];
    w->functions = functions;
    w->function_count = s->count;
    return ERR_OK;
}

enum err call_tree_settle(struct call_tree *t, struct error *err)
{
    const struct call_waiting *next = call_batch_next(&t->batch);
    enum err rc = ERR_OK;
    if (!next)
        return ERR_OK;
    struct way w = {.steps = malloc((t->batch.longest + 1) * sizeof(*w.steps)), .count = 1};
    if (!w.steps)
        return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    w.steps[0] = (struct call_step){.run = 0};
    call_batch_sort(&t->batch);
    for (; rc == ERR_OK && (next = call_batch_next(&t->batch)); t->batch.at += rc == ERR_OK)
        rc = add_next(t, &w, next, err);
    step_back(t, &w, 0);
    call_run_weigh(&t->runs[0], w.steps[0].weights);
    free(w.steps);
    if (rc == ERR_OK)
        call_batch_clear(&t->batch);
    return rc;
}

enum err call_tree_gather(struct call_tree *t, const uint32_t *functions, size_t count,
                          const int64_t weights[CALL_TREE_WEIGHTS], struct error *err)
{
    enum err rc = call_batch_full(&t->batch) ? call_tree_settle(t, err) : ERR_OK;
    if (rc == ERR_OK && !call_batch_put(&t->batch, functions, count, weights))
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    return rc;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare_children(const void *a, const void *b, void *ctx)
{
    const struct call_tree *t = ctx;
    const struct call_run *x = &t->runs[*(const uint32_t *)a];
    const struct call_run *y = &t->runs[*(const uint32_t *)b];
    const int64_t vx = call_run_weight(x), vy = call_run_weight(y);
    if (vx != vy)
        return vx > vy ? -1 : 1;
    const struct call_function *f = &t->functions.items[x->function];
    const struct call_function *g = &t->functions.items[y->function];
    const int c = strcmp(f->name, g->name);
    return c ? c : strcmp(f->image ? f->image : "", g->image ? g->image : "");
}

static void sort_children(struct call_tree *t, uint32_t run, uint32_t *row)
{
    size_t n = 0;
    for (uint32_t c = t->runs[run].first_child; c != CALL_TREE_NONE; c = t->runs[c].next) {
        t->runs[c].parent = run;
        row[n++] = c;
    }
    if (n < 2)
        return;
    qsort_r(row, n, sizeof(*row), compare_children, t);
    t->runs[run].first_child = row[0];
    for (size_t k = 0; k < n; k++)
        t->runs[row[k]].next = k + 1 < n ? row[k + 1] : CALL_TREE_NONE;
}

enum err call_tree_sort(struct call_tree *t, struct error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < t->run_count; i++)
        most = t->runs[i].child_count > most ? t->runs[i].child_count : most;
    uint32_t *row = malloc(most * sizeof(*row));
    if (!row)
        return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    for (size_t i = 0; i < t->run_count; i++)
        sort_children(t, (uint32_t)i, row);
    free(row);
    return ERR_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

size_t call_tree_count(const struct call_tree *t)
{
    return t->node_count;
}

int64_t call_tree_total(const struct call_tree *t, size_t weight)
{
    return t->runs[0].value[weight];
}

const struct call_function *call_tree_functions(const struct call_tree *t, size_t *ret_count)
{
    *ret_count = t->functions.count;
    return t->functions.items;
}

uint32_t call_tree_next_run(const struct call_tree *t, uint32_t run)
{
    if (t->runs[run].first_child != CALL_TREE_NONE)
        return t->runs[run].first_child;
    while (run != CALL_TREE_NONE && t->runs[run].next == CALL_TREE_NONE)
        run = t->runs[run].parent;
    return run == CALL_TREE_NONE ? run : t->runs[run].next;
}

static void stand_on(const struct call_tree *t, struct call_node *n, uint32_t run, uint32_t at)
{
    const struct call_run *r = &t->runs[run];
    n->run = run;
    n->at = at;
    n->function = t->path[r->first + at];
    memcpy(n->value, r->value, sizeof(n->value));
}

void call_tree_root(const struct call_tree *t, struct call_node *ret)
{
    stand_on(t, ret, 0, 0);
}

bool call_tree_next_outside(const struct call_tree *t, struct call_node *n, size_t *ret_up)
{
    uint32_t run = n->run;
    *ret_up = n->at + 1;
    while (t->runs[run].next == CALL_TREE_NONE) {
        run = t->runs[run].parent;
        if (run == CALL_TREE_NONE)
            return false;
        *ret_up += t->runs[run].length;
    }
    stand_on(t, n, t->runs[run].next, 0);
    return true;
}

bool call_tree_next(const struct call_tree *t, struct call_node *n, size_t *ret_up)
{
    const struct call_run *r = &t->runs[n->run];
    *ret_up = 0;
    if (n->at + 1 < r->length)
        stand_on(t, n, n->run, n->at + 1);
    else if (r->first_child != CALL_TREE_NONE)
        stand_on(t, n, r->first_child, 0);
    else
        return call_tree_next_outside(t, n, ret_up);
    return true;
}

int64_t call_tree_self(const struct call_tree *t, const struct call_node *n, size_t weight)
{
    const struct call_run *r = &t->runs[n->run];
    if (n->at + 1 < r->length)
        return 0;
    int64_t self = r->value[weight];
    for (uint32_t c = r->first_child; c != CALL_TREE_NONE; c = t->runs[c].next)
        self -= t->runs[c].value[weight];
    return self;
}
