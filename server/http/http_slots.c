#include "server/http/http_slots.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#define RESERVE_MAX   64 /* places kept free for those who come next */
#define RESERVE_SHARE 8  /* but no more than so many-th of all */
#define IDLE_SHARE    4  /* so many-th of the places are for those with no request yet */
#define TICK_MS       1000
#define SAY_MS        60000 /* the log hears of it so often */

struct http_slot {
    struct http_slots *owner;
    int fd;
    enum slot_state state;
    int64_t since_mono_ms; /* in this state */
    int64_t due_mono_ms;   /* INT64_MAX: never */
    uint64_t held;         /* bytes of memory */
    bool leaving;          /* cut off: in no list */
    struct http_slot *next, *previous;
};

/* Those of one state, the longest in it first. */
struct slot_list {
    struct http_slot *first, *last;
    size_t count;
};

struct http_slots {
    size_t high; /* above it somebody goes */
    size_t work_max;
    int64_t timeout_ms;
    struct metrics *metrics;
    struct thread clock;

    pthread_mutex_t lock; /* of everything below, and of all slots */
    pthread_cond_t changed;
    bool stopping;
    struct slot_list lists[SLOT_STATES];
    size_t staying;        /* in the lists */
    uint64_t leaving_held; /* by those who are leaving */
    size_t cut;            /* since the log was told */
    int64_t said_mono_ms;
};

static void put_last(struct slot_list *l, struct http_slot *slot)
{
    slot->next = NULL;
    slot->previous = l->last;
    if (l->last)
        l->last->next = slot;
    else
        l->first = slot;
    l->last = slot;
    l->count++;
}

static void take_out(struct slot_list *l, struct http_slot *slot)
{
    if (slot->previous)
        slot->previous->next = slot->next;
    else
        l->first = slot->next;
    if (slot->next)
        slot->next->previous = slot->previous;
    else
        l->last = slot->previous;
    slot->next = slot->previous = NULL;
    l->count--;
}

static void cut_off(struct http_slots *s, struct http_slot *slot)
{
    take_out(&s->lists[slot->state], slot);
    slot->leaving = true;
    s->leaving_held += slot->held;
    s->staying--;
    s->cut++;
    metrics_add(s->metrics, METRIC_CONNECTIONS_CUT, 1);
    (void)shutdown(slot->fd, SHUT_RDWR); /* fails when the client was faster */
}

static int64_t due(const struct http_slots *s, enum slot_state state, uint64_t bytes, int64_t now)
{
    switch (state) {
    case SLOT_IDLE: /* one time-out to begin, one to have the head whole */
        return now + 2 * s->timeout_ms;
    case SLOT_REFUSED:
        return now + s->timeout_ms;
    case SLOT_ANSWERED:
        return now + s->timeout_ms + (int64_t)(bytes / (SLOT_BYTES_PER_S / 1000));
    case SLOT_READING: /* http_intake looks at its pace */
    case SLOT_WORKING:
    case SLOT_STATES:
        break;
    }
    return INT64_MAX;
}

/* --- the clock -------------------------------------------------------------------------------- */

static void tell(struct http_slots *s, int64_t now)
{
    size_t cut = 0;
    pthread_mutex_lock(&s->lock);
    if (s->cut > 0 && now - s->said_mono_ms >= SAY_MS) {
        cut = s->cut;
        s->cut = 0;
        s->said_mono_ms = now;
    }
    size_t staying = s->staying;
    pthread_mutex_unlock(&s->lock);
    if (cut > 0)
        log_warn("idle or slow clients were cut off", "count=%zu connections=%zu", cut, staying);
}

static void *run(void *arg)
{
    struct http_slots *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stopping) {
        int64_t until = clock_mono_ms() + TICK_MS;
        while (!s->stopping && thread_cond_wait_until(&s->changed, &s->lock, until))
            ;
        if (s->stopping)
            break;
        pthread_mutex_unlock(&s->lock);
        http_slots_tick(s, clock_mono_ms());
        tell(s, clock_mono_ms());
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

size_t http_slots_tick(struct http_slots *s, int64_t now_mono_ms)
{
    size_t cut = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < SLOT_STATES; i++) {
        struct http_slot *next;
        for (struct http_slot *slot = s->lists[i].first; slot; slot = next) {
            next = slot->next;
            if (slot->due_mono_ms <= now_mono_ms) {
                cut_off(s, slot);
                cut++;
            } else if (i != SLOT_ANSWERED) {
                break; /* they are due in the order in which they came */
            }
        }
    }
    pthread_mutex_unlock(&s->lock);
    return cut;
}

/* --- slots ------------------------------------------------------------------------------------ */

enum err http_slots_new(size_t limit, uint32_t timeout_s, struct metrics *metrics,
                        struct http_slots **ret, struct error *err)
{
    size_t reserve = limit / RESERVE_SHARE < RESERVE_MAX ? limit / RESERVE_SHARE : RESERVE_MAX;
    struct http_slots *s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, ERR_NO_MEMORY, "no memory for the connections");
    pthread_mutex_init(&s->lock, NULL);
    thread_cond_init(&s->changed);
    s->high = limit - reserve;
    s->work_max = limit - 2 * reserve;
    s->timeout_ms = (int64_t)timeout_s * 1000;
    s->metrics = metrics;
    s->said_mono_ms = clock_mono_ms() - SAY_MS;
    enum err rc = thread_start(&s->clock, "door-clock", run, s, err);
    if (rc == ERR_OK)
        *ret = s;
    else
        http_slots_free(s);
    return rc;
}

void http_slots_free(struct http_slots *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    thread_join(&s->clock);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Somebody goes. Who has just come is idle, too: where few are, they have their time before those
 * with a request that takes long. Never `newest`. */
static void make_room(struct http_slots *s, const struct http_slot *newest)
{
    static const enum slot_state order[] = {SLOT_REFUSED, SLOT_READING, SLOT_ANSWERED};
    struct http_slot *slot = s->lists[SLOT_IDLE].first;
    bool many_idle = s->lists[SLOT_IDLE].count > s->high / IDLE_SHARE;
    for (size_t i = 0; !many_idle && i < sizeof(order) / sizeof(order[0]); i++) {
        if (s->lists[order[i]].first) {
            slot = s->lists[order[i]].first;
            break;
        }
    }
    if (slot != newest)
        cut_off(s, slot);
}

struct http_slot *http_slots_open(struct http_slots *s, int fd, int64_t now_mono_ms)
{
    struct http_slot *slot = calloc(1, sizeof(*slot));
    if (!slot)
        return NULL;
    slot->owner = s;
    slot->fd = fd;
    slot->due_mono_ms = due(s, SLOT_IDLE, 0, now_mono_ms);
    pthread_mutex_lock(&s->lock);
    put_last(&s->lists[SLOT_IDLE], slot);
    if (++s->staying > s->high)
        make_room(s, slot);
    pthread_mutex_unlock(&s->lock);
    return slot;
}

void http_slot_close(struct http_slot *slot)
{
    if (!slot)
        return;
    struct http_slots *s = slot->owner;
    pthread_mutex_lock(&s->lock);
    if (!slot->leaving) {
        take_out(&s->lists[slot->state], slot);
        s->staying--;
    } else {
        s->leaving_held -= slot->held;
    }
    pthread_mutex_unlock(&s->lock);
    free(slot);
}

void http_slot_move(struct http_slot *slot, enum slot_state state, uint64_t bytes,
                    int64_t now_mono_ms)
{
    if (!slot)
        return;
    struct http_slots *s = slot->owner;
    pthread_mutex_lock(&s->lock);
    if (!slot->leaving) {
        take_out(&s->lists[slot->state], slot);
        slot->state = state;
        slot->since_mono_ms = now_mono_ms;
        slot->due_mono_ms = due(s, state, bytes, now_mono_ms);
        if (state == SLOT_IDLE)
            slot->held = 0;
        put_last(&s->lists[state], slot);
    }
    pthread_mutex_unlock(&s->lock);
}

void http_slot_hold(struct http_slot *slot, uint64_t bytes)
{
    if (!slot)
        return;
    struct http_slots *s = slot->owner;
    pthread_mutex_lock(&s->lock);
    if (!slot->leaving)
        slot->held = bytes;
    pthread_mutex_unlock(&s->lock);
}

/* Of one list: who has held most for the longest, if that is more than what `best` has. */
static struct http_slot *heaviest(const struct slot_list *l, struct http_slot *best, int64_t now)
{
    for (struct http_slot *slot = l->first; slot; slot = slot->next) {
        int64_t age = now - slot->since_mono_ms;
        if (age < SLOT_LONG_MS)
            break; /* those behind it came later */
        if (slot->held > 0 &&
            (!best || (double)slot->held * (double)age >
                          (double)best->held * (double)(now - best->since_mono_ms)))
            best = slot;
    }
    return best;
}

size_t http_slots_relieve(struct http_slots *s, uint64_t bytes, int64_t now_mono_ms)
{
    size_t cut = 0;
    pthread_mutex_lock(&s->lock);
    while (s->leaving_held < bytes) {
        struct http_slot *slot = heaviest(&s->lists[SLOT_READING], NULL, now_mono_ms);
        slot = heaviest(&s->lists[SLOT_ANSWERED], slot, now_mono_ms);
        if (!slot)
            break;
        cut_off(s, slot);
        cut++;
    }
    pthread_mutex_unlock(&s->lock);
    return cut;
}

bool http_slots_full(struct http_slots *s)
{
    pthread_mutex_lock(&s->lock);
    bool full = s->lists[SLOT_WORKING].count >= s->work_max;
    pthread_mutex_unlock(&s->lock);
    return full;
}
