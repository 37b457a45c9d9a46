#include "server/jobs/upload_turns.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

static uint64_t *turn_of(struct upload_turns *t, const struct upload_waiting *w)
{
    return &t->last[hash64(w->bundle_id, strlen(w->bundle_id), 0) % UPLOAD_TURNS];
}

/* The upload that failed last waits still; its turn is that of its app. */
static const uint64_t *turn_of_failed(struct upload_turns *t, const struct upload_waiting *waiting,
                                      size_t count, uint64_t failed_id)
{
    for (size_t i = 0; i < count; i++) {
        if (waiting[i].id == failed_id)
            return turn_of(t, &waiting[i]);
    }
    return NULL;
}

uint64_t upload_turns_take(struct upload_turns *t, const struct upload_waiting *waiting,
                           size_t count, uint64_t failed_id)
{
    const uint64_t *failed = turn_of_failed(t, waiting, count, failed_id);
    const struct upload_waiting *best = NULL;
    uint64_t best_turn = 0;
    for (size_t i = 0; i < count; i++) {
        const struct upload_waiting *w = &waiting[i];
        const uint64_t turn = *turn_of(t, w);
        const bool passes_failed =
            best && turn_of(t, w) == failed && best->id <= failed_id && w->id > failed_id;
        if (best && (turn > best_turn || (turn == best_turn && !passes_failed)))
            continue;
        best = w;
        best_turn = turn;
    }
    if (!best)
        return 0;
    *turn_of(t, best) = ++t->turn;
    return best->id;
}
