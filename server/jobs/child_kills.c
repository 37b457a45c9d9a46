#include "server/jobs/child_kills.h"

void child_kills_init(struct child_kills *k)
{
    key_set_init(&k->counts, SHA256_SIZE, 0);
}

void child_kills_done(struct child_kills *k)
{
    key_set_done(&k->counts);
}

bool child_kills_note(struct child_kills *k, const uint8_t sha256[SHA256_SIZE])
{
    if (k->counts.count >= CHILD_KILLS_OBJECTS && !key_set_find(&k->counts, sha256)) {
        child_kills_done(k);
        child_kills_init(k);
    }
    uint64_t *count = key_set_at(&k->counts, sha256);
    if (!count)
        return false; /* no memory: the child's end may have been no other */
    if (++*count < CHILD_KILLS_MAX)
        return false;
    *count = 0;
    return true;
}

void child_kills_forget(struct child_kills *k, const uint8_t sha256[SHA256_SIZE])
{
    uint64_t *count = key_set_find(&k->counts, sha256);
    if (count)
        *count = 0;
}
