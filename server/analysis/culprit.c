#include "server/analysis/culprit.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_MAX / 8)

/* A sample with its place in the input and the time it stands for. */
struct timed_sample {
    const struct culprit_sample *sample;
    size_t index;
    int64_t at_ms;
    int64_t length_ms;
    uint64_t repeats;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for a report's samples");
}

static int compare_times(const void *a, const void *b)
{
    const struct timed_sample *x = a;
    const struct timed_sample *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_lengths(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Time from one sample (or repeat) to the next, as it is in the middle of all. */
static int64_t usual_length(const struct timed_sample *t, size_t count, int64_t *scratch)
{
    if (count < 2)
        return 0;
    for (size_t i = 0; i + 1 < count; i++)
        scratch[i] = t[i].length_ms / (int64_t)t[i].repeats;
    qsort(scratch, count - 1, sizeof(*scratch), compare_lengths);
    return scratch[(count - 1) / 2];
}

/* Times are strangers' numbers: no difference of two may overflow. */
static int64_t clamp_time(int64_t ms)
{
    return ms > TIME_MAX ? TIME_MAX : ms < -TIME_MAX ? -TIME_MAX : ms;
}

/* One moment for all is no time: what is left of the report's is shared out by repeats. */
static void share_time(struct timed_sample *t, size_t count, int64_t end)
{
    uint64_t all = 0, before = 0;
    int64_t start = t[0].at_ms;
    for (size_t i = 0; i < count; i++)
        all += t[i].repeats;
    if (count < 2 || t[count - 1].at_ms != start || end <= start)
        return;
    for (size_t i = 0; i < count; i++) {
        t[i].at_ms = start + (int64_t)((double)(end - start) * (double)before / (double)all);
        before += t[i].repeats;
    }
}

static enum err order_samples(const struct culprit_sample *samples, size_t count, int64_t end_ms,
                              struct arena *arena, struct timed_sample **ret, struct error *err)
{
    struct timed_sample *t = arena_array(arena, count, sizeof(*t));
    int64_t *scratch = arena_array(arena, count, sizeof(*scratch));
    if (!t || !scratch)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        t[i] = (struct timed_sample){.sample = &samples[i],
                                     .index = i,
                                     .at_ms = clamp_time(samples[i].at_ms),
                                     .repeats = samples[i].repeats ? samples[i].repeats : 1};
    qsort(t, count, sizeof(*t), compare_times);
    int64_t end = clamp_time(end_ms);
    share_time(t, count, end);
    for (size_t i = 0; i + 1 < count; i++)
        t[i].length_ms = t[i + 1].at_ms - t[i].at_ms;
    struct timed_sample *last = &t[count - 1];
    last->length_ms = end - last->at_ms;
    if (end < last->at_ms) {
        int64_t usual = usual_length(t, count, scratch);
        int64_t most = TIME_MAX / (int64_t)last->repeats;
        last->length_ms = (usual < most ? usual : most) * (int64_t)last->repeats;
    }
    *ret = t;
    return ERR_OK;
}

static enum err find_stages(const struct timed_sample *t, size_t count, struct arena *arena,
                            struct culprit *c, struct error *err)
{
    struct culprit_stage *stages = arena_array(arena, count, sizeof(*stages));
    if (!stages)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        bool goes_on =
            i > 0 && memcmp(t[i - 1].sample->key, t[i].sample->key, CLUSTER_KEY_SIZE) == 0;
        if (!goes_on) {
            stages[c->stage_count] = (struct culprit_stage){.first = t[i].index};
            stages[c->stage_count++].start_ms = t[i].at_ms;
        }
        struct culprit_stage *stage = &stages[c->stage_count - 1];
        stage->last = t[i].index;
        stage->samples++;
        stage->repeats += t[i].repeats;
        c->total_repeats += t[i].repeats;
        stage->length_ms += t[i].length_ms;
        c->total_ms += t[i].length_ms;
    }
    c->stages = stages;
    return ERR_OK;
}

/* Longer, then of more samples, then later. Samples without times are told apart by number. */
static bool outlasts(const struct culprit_stage *a, const struct culprit_stage *b)
{
    if (a->length_ms != b->length_ms)
        return a->length_ms > b->length_ms;
    return a->length_ms > 0 || a->repeats >= b->repeats;
}

static void choose(const struct culprit_sample *samples, struct culprit *c)
{
    bool idle = true;
    for (size_t i = 0; i < c->stage_count; i++) {
        const struct culprit_stage *stage = &c->stages[i];
        bool rests = samples[stage->first].idle;
        if (i > 0 && rests != idle && rests)
            continue;
        if (i == 0 || (idle && !rests) || outlasts(stage, &c->stages[c->stage])) {
            c->stage = i;
            idle = rests;
        }
    }
    const struct culprit_stage *stage = &c->stages[c->stage];
    c->sample = stage->last;
    c->confidence = c->total_ms > 0 ? (double)stage->length_ms / (double)c->total_ms
                                    : (double)stage->repeats / (double)c->total_repeats;
}

/* The tree, sample by sample: functions that are still on the stack go on, others begin. */
static enum err grow_tree(const struct timed_sample *t, size_t count, struct arena *arena,
                          struct culprit *c, struct error *err)
{
    size_t open[CULPRIT_DEPTH_MAX]; /* the nodes of the sample before, from the outermost on */
    size_t depth = 0;
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += t[i].sample->name_count < CULPRIT_DEPTH_MAX ? t[i].sample->name_count
                                                            : CULPRIT_DEPTH_MAX;
    struct culprit_node *nodes = arena_array(arena, room + 1, sizeof(*nodes));
    if (!nodes)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct culprit_sample *s = t[i].sample;
        size_t k = 0;
        for (; k < s->name_count && k < CULPRIT_DEPTH_MAX; k++) {
            const char *name = s->names[s->name_count - 1 - k];
            if (k < depth && strcmp(nodes[open[k]].name, name) == 0) {
                nodes[open[k]].length_ms += t[i].length_ms;
                continue;
            }
            depth = k; /* what was inside another function is over */
            open[k] = c->node_count++;
            nodes[open[k]] = (struct culprit_node){.name = name,
                                                   .parent = k > 0 ? open[k - 1] : SIZE_MAX,
                                                   .depth = (uint32_t)k,
                                                   .start_ms = t[i].at_ms,
                                                   .length_ms = t[i].length_ms};
            depth = k + 1;
        }
        depth = k;
    }
    c->nodes = nodes;
    return ERR_OK;
}

enum err culprit_of(const struct culprit_sample *samples, size_t count, int64_t end_ms,
                    struct arena *arena, struct culprit *ret, struct error *err)
{
    struct culprit c = {0};
    struct timed_sample *t = NULL;
    if (count == 0)
        return error_set(err, ERR_INVALID, "no samples");
    if (count > CULPRIT_SAMPLES_MAX)
        return error_set(err, ERR_LIMIT, "%zu samples; at most %d are read", count,
                         CULPRIT_SAMPLES_MAX);
    enum err e = order_samples(samples, count, end_ms, arena, &t, err);
    if (e == ERR_OK)
        e = find_stages(t, count, arena, &c, err);
    if (e == ERR_OK)
        e = grow_tree(t, count, arena, &c, err);
    if (e != ERR_OK)
        return e;
    choose(samples, &c);
    *ret = c;
    return ERR_OK;
}

void culprit_raw_key(const char *bundle_id, const struct raw_stack *stack,
                     uint8_t out[CLUSTER_KEY_SIZE])
{
    struct raw_stack outer = *stack;
    if (outer.count > 1) {
        outer.frames++;
        outer.count--;
    }
    raw_stack_hash(bundle_id, &outer, out);
}
