#include "tests/support/stacks.h"

#include <stdlib.h>
#include <string.h>

#define STACK_FRAMES_MAX 512

static char *cut(char *text, const char *mark)
{
    char *found = strstr(text, mark);
    if (!found)
        return NULL;
    *found = 0;
    return found + strlen(mark);
}

static void set_image(struct resolved_frame *rf, const char *name, bool in_app)
{
    rf->image_name = name;
    rf->in_app = in_app;
    rf->image = image_named_id(name);
    rf->raw.image = rf->image;
    rf->raw.image_kind = IMAGE_UUID;
}

static void set_special(struct resolved_frame *rf, const char *name)
{
    rf->has_index = name[1] == '?';
    rf->status = rf->has_index ? FRAME_OUT_OF_RANGE : FRAME_NO_SYMBOLS;
    rf->offset = strtoull(name + (rf->has_index ? 2 : 1), NULL, 16);
    rf->raw.offset = rf->offset;
}

struct resolved_stack stack_from_text(const char *text, struct arena *arena)
{
    char *copy = arena_strdup(arena, text);
    struct resolved_frame *frames = arena_array(arena, STACK_FRAMES_MAX, sizeof(*frames));
    struct resolved_stack stack = {frames, 0};
    struct frame *pending = arena_array(arena, 16, sizeof(*pending));
    size_t inlined = 0;
    for (char *line = strsep(&copy, "\n"); line; line = strsep(&copy, "\n")) {
        if (!*line)
            continue;
        struct resolved_frame *rf = &frames[stack.count];
        bool inlined_here = *line == '+';
        line += inlined_here ? 1 : 0;
        if (strcmp(line, "-") == 0) {
            rf->status = FRAME_NO_IMAGE;
            rf->raw.image_kind = IMAGE_NONE;
            stack.count++;
            continue;
        }
        char *bang = strchr(line, '!');
        char *blank = strchr(line, ' ');
        bool in_app = bang && (!blank || bang < blank);
        char *name = in_app ? bang : blank;
        *name++ = 0;
        set_image(rf, line, in_app);
        if (*name == '?') {
            set_special(rf, name);
            stack.count++;
            continue;
        }
        pending[inlined].local = cut(name, " %local") != NULL;
        pending[inlined].file = cut(name, " @@");
        pending[inlined].function = name;
        pending[inlined].inlined = inlined_here;
        inlined++;
        if (inlined_here)
            continue;
        rf->frames = arena_memdup(arena, pending, inlined * sizeof(*pending));
        rf->frame_count = inlined;
        rf->status = FRAME_RESOLVED;
        stack.count++;
        inlined = 0;
        memset(pending, 0, 16 * sizeof(*pending));
    }
    return stack;
}
