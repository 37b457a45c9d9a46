#include "base/steady_wall.h"

#include <stddef.h>

int64_t steady_wall(struct steady_wall *s, int64_t wall_ms, int64_t mono_ms, bool *ret_doubt_begins)
{
    int64_t expected = s->started ? s->wall_ms + (mono_ms - s->mono_ms) : wall_ms;
    bool ahead = wall_ms - expected > STEADY_STEP_MS;
    if (ret_doubt_begins)
        *ret_doubt_begins = ahead && !s->doubting;
    if (ahead && !s->doubting)
        s->doubt_mono_ms = mono_ms;
    s->doubting = ahead && mono_ms - s->doubt_mono_ms < STEADY_DOUBT_MS;
    if (s->doubting)
        return expected;
    s->started = true;
    s->wall_ms = wall_ms;
    s->mono_ms = mono_ms;
    return wall_ms;
}
