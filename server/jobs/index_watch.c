#include "server/jobs/index_watch.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "server/jobs/index_install.h"
#include "storage/read_shelves.h"

#define STATE_GONE 1

void index_watch_init(struct index_watch *w, struct index_cache *cache, struct blob_store *blobs,
                      struct storage_reader *reader)
{
    w->cache = cache;
    w->blobs = blobs;
    w->reader = reader;
    w->at = 0;
    key_set_init(&w->seen, sizeof(struct uuid), 0);
}

void index_watch_done(struct index_watch *w)
{
    key_set_done(&w->seen);
}

/* What a file is taken to be the same by; never 0. */
static enum err state_of(const char *path, uint64_t *ret, uint64_t *ret_bytes, struct error *err)
{
    struct stat st;
    *ret = STATE_GONE;
    *ret_bytes = 0;
    if (stat(path, &st) != 0)
        return errno == ENOENT ? ERR_OK : error_errno(err, errno, "cannot look at %s", path);
    const uint64_t facts[] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                              (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    *ret = hash64(facts, sizeof(facts), 0) | 2;
    *ret_bytes = (uint64_t)st.st_size;
    return ERR_OK;
}

static uint64_t *seen_of(struct index_watch *w, const struct uuid *uuid, struct error *err)
{
    if (w->seen.count >= INDEX_WATCH_MAX) { /* all anew */
        key_set_done(&w->seen);
        key_set_init(&w->seen, sizeof(struct uuid), 0);
    }
    uint64_t *seen = key_set_at(&w->seen, uuid);
    if (!seen)
        error_set(err, ERR_NO_MEMORY, "no memory to look at indexes");
    return seen;
}

/* *ret_bytes: how many were read. *ret_unfit: it cannot be used, and that was not known. */
static enum err look_at(struct index_watch *w, const struct index_known *known, bool *ret_unfit,
                        uint64_t *ret_bytes, struct error *err)
{
    char path[PATH_MAX];
    uint64_t state = 0;
    enum index_state found = INDEX_ABSENT;
    *ret_bytes = 0;
    if (!blob_store_index_path(w->blobs, &known->uuid, path, sizeof(path)))
        return ERR_OK;
    uint64_t *seen = seen_of(w, &known->uuid, err);
    if (!seen)
        return ERR_NO_MEMORY;
    enum err rc = state_of(path, &state, ret_bytes, err);
    if (rc == ERR_OK && *seen == state) {
        *ret_bytes = 0;
        return ERR_OK;
    }
    struct uuid image;
    if (rc == ERR_OK)
        rc = read_shelf_image(w->reader, &known->uuid, NULL, &image, NULL, err);
    if (rc == ERR_OK)
        rc = index_file_state(path, &image, &found, err);
    if (rc != ERR_OK)
        return rc;
    *ret_unfit = found != INDEX_SOUND;
    if (found == INDEX_SOUND && (known->failed || *seen != 0)) /* opened before it was this file */
        index_cache_changed(w->cache, &known->uuid);
    *seen = state;
    return ERR_OK;
}

enum err index_watch_look(struct index_watch *w, struct uuid *ret, size_t max, size_t *ret_count,
                          bool *ret_more, struct error *err)
{
    struct index_known known[INDEX_WATCH_PAGE];
    size_t at = w->at, i = 0;
    uint64_t bytes = 0, all = 0;
    enum err rc = ERR_OK;
    size_t count = index_cache_list(w->cache, &at, known, INDEX_WATCH_PAGE);
    *ret_count = 0;
    for (; i < count && rc == ERR_OK && *ret_count < max && all < INDEX_WATCH_BYTES; i++) {
        bool unfit = false;
        rc = look_at(w, &known[i], &unfit, &bytes, err);
        all += bytes;
        if (unfit)
            ret[(*ret_count)++] = known[i].uuid;
    }
    if (i == count) /* else the same page again, of which most is seen by then */
        w->at = at;
    *ret_more = rc == ERR_OK && (i < count || w->at != 0);
    return rc;
}

void index_watch_forget(struct index_watch *w, const struct uuid *uuids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *seen = key_set_find(&w->seen, &uuids[i]);
        if (seen)
            *seen = 0;
    }
}
