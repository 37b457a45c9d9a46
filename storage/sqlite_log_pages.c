#include "storage/sqlite_log_pages.h"

static uint64_t state_of(uint32_t truncations, int64_t pages)
{
    return (uint64_t)truncations << 32 | (uint32_t)pages;
}

static uint32_t truncations_of(uint64_t state)
{
    return (uint32_t)(state >> 32);
}

int64_t sqlite_log_pages(const struct sqlite_log_pages *p)
{
    return (uint32_t)atomic_load(&p->state);
}

uint32_t sqlite_log_pages_mark(const struct sqlite_log_pages *p)
{
    return truncations_of(atomic_load(&p->state));
}

void sqlite_log_pages_committed(struct sqlite_log_pages *p, uint32_t mark, int64_t pages)
{
    uint64_t state = atomic_load(&p->state);
    while (truncations_of(state) == mark &&
           !atomic_compare_exchange_weak(&p->state, &state, state_of(mark, pages)))
        continue;
}

void sqlite_log_pages_truncated(struct sqlite_log_pages *p)
{
    uint64_t state = atomic_load(&p->state);
    while (!atomic_compare_exchange_weak(&p->state, &state, state_of(truncations_of(state) + 1, 0)))
        continue;
}

void sqlite_log_pages_copied(struct sqlite_log_pages *p, int64_t pages)
{
    uint64_t state = atomic_load(&p->state);
    while ((uint32_t)state == (uint32_t)pages &&
           !atomic_compare_exchange_weak(&p->state, &state, state_of(truncations_of(state), 0)))
        continue;
}
