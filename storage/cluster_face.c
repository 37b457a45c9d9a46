#include "storage/cluster_face.h"

#include "base/app_version.h"
#include "storage/storage_read.h"
#include "storage/write_op.h"

#include <string.h>

static int text_order(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

struct cluster_face cluster_face_of(const struct op_resolution *r)
{
    return (struct cluster_face){.function = r->function,
                                 .file = r->file,
                                 .image = r->image,
                                 .title = r->title,
                                 .category = r->category,
                                 .owner = r->owner};
}

int cluster_face_order(const struct cluster_face *a, const struct cluster_face *b)
{
    int order = !a->function - !b->function;
    size_t la = a->function ? strlen(a->function) : 0;
    size_t lb = b->function ? strlen(b->function) : 0;
    if (order == 0 && la != lb)
        order = la < lb ? -1 : 1;
    const char *const pairs[][2] = {{a->function, b->function}, {a->file, b->file},
                                    {a->image, b->image},       {a->title, b->title},
                                    {a->category, b->category}, {a->owner, b->owner}};
    for (size_t i = 0; order == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
        order = text_order(pairs[i][0], pairs[i][1]);
    return order;
}

void cluster_release(struct cluster_row *c, const char *version, const char *build)
{
    if (!app_version_known(version))
        return;
    if (!c->first_version ||
        app_release_pick(version, build, c->first_version, c->first_build) < 0) {
        c->first_version = version;
        c->first_build = build;
    }
    if (!c->last_version || app_release_pick(version, build, c->last_version, c->last_build) > 0) {
        c->last_version = version;
        c->last_build = build;
    }
}
