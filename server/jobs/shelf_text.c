#include "server/jobs/shelf_text.h"

#include <stdio.h>

#include "base/log.h"
#include "storage/read_shelves.h"

const char *shelf_text(struct storage_reader *r, const struct uuid *shelf, struct arena *arena,
                       char out[SHELF_TEXT_SIZE])
{
    struct uuid image = *shelf;
    const char *own = "";
    char text[UUID_TEXT_SIZE], quoted[SHELF_TEXT_SIZE - UUID_TEXT_SIZE - 16];
    struct error ignored;
    if (read_shelf_image(r, shelf, arena, &image, &own, &ignored) != ERR_OK)
        own = "";
    uuid_format(&image, text);
    if (*own)
        snprintf(out, SHELF_TEXT_SIZE, "uuid=%s app=%s", text,
                 log_quote(own, quoted, sizeof(quoted)));
    else
        snprintf(out, SHELF_TEXT_SIZE, "uuid=%s", text);
    return out;
}
