#include "storage/leftovers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "storage/blob_stage.h"

void leftovers_init(struct leftovers *l, const char *base)
{
    l->base = base;
    l->count = 0;
    pthread_mutex_init(&l->lock, NULL);
}

void leftovers_done(struct leftovers *l)
{
    pthread_mutex_destroy(&l->lock);
}

/* "FOLDER/NAME", of which neither is hidden or leads elsewhere. */
static bool is_below(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash && slash > name && name[0] != '.' && slash[1] != '.' && slash[1] &&
           !strchr(slash + 1, '/') && strlen(name) < LEFTOVERS_NAME;
}

static bool try_to_remove(const struct leftovers *l, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%s/%s", l->base, name);
    if (n < 0 || (size_t)n >= sizeof(path))
        return true; /* such a path was never made */
    blob_stage_remove_tree(path);
    return lstat(path, &st) != 0 && errno == ENOENT;
}

bool leftovers_remove(struct leftovers *l, const char *name)
{
    if (!is_below(name))
        return true;
    if (try_to_remove(l, name))
        return true;
    pthread_mutex_lock(&l->lock);
    if (l->count < LEFTOVERS_MAX)
        snprintf(l->names[l->count++], LEFTOVERS_NAME, "%s", name);
    pthread_mutex_unlock(&l->lock);
    return false;
}

/* One at a time out of the list and back into it, so that the disk is not waited for under the lock. */
size_t leftovers_retry(struct leftovers *l)
{
    char name[LEFTOVERS_NAME];
    pthread_mutex_lock(&l->lock);
    size_t tries = l->count;
    while (tries-- > 0 && l->count > 0) {
        memcpy(name, l->names[0], sizeof(name));
        l->count--;
        memmove(l->names[0], l->names[1], l->count * sizeof(l->names[0]));
        pthread_mutex_unlock(&l->lock);
        (void)leftovers_remove(l, name);
        pthread_mutex_lock(&l->lock);
    }
    size_t left = l->count;
    pthread_mutex_unlock(&l->lock);
    return left;
}
