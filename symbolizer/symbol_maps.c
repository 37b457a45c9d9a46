#include "symbolizer/symbol_maps.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/key_set.h"
#include "base/vec.h"

struct map_row {
    struct uuid uuid; /* of the binary that was built */
    char *path;
};

struct link_row {
    struct uuid image;
    struct uuid original;
};

struct symbol_maps {
    struct map_row *maps;
    size_t map_count, map_cap;
    struct key_set map_places; /* by `uuid`: 1 and more, from the row's index */
    struct link_row *links;
    size_t link_count, link_cap;
    struct key_set link_places; /* by `image`, the same */
    struct symbol_map *open;    /* of `open_uuid`, or NULL */
    struct uuid open_uuid;
};

static const char *const ENDINGS[] = {
    [SYMBOL_FILE_OTHER] = "",
    [SYMBOL_FILE_MAP] = ".bcsymbolmap",
    [SYMBOL_FILE_LINK] = ".plist",
};

enum symbol_map_file symbol_maps_kind(const char *path, struct uuid *ret)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (int k = SYMBOL_FILE_MAP; dot && k <= SYMBOL_FILE_LINK; k++) {
        if (strcmp(dot, ENDINGS[k]) == 0 && uuid_parse(name, (size_t)(dot - name), ret) &&
            !uuid_is_nil(ret))
            return (enum symbol_map_file)k;
    }
    return SYMBOL_FILE_OTHER;
}

void symbol_maps_file_name(enum symbol_map_file kind, const struct uuid *uuid,
                           char out[SYMBOL_MAP_FILE_SIZE])
{
    char text[UUID_TEXT_SIZE];
    snprintf(out, SYMBOL_MAP_FILE_SIZE, "%s%s", uuid_format(uuid, text), ENDINGS[kind]);
}

/* --- places ----------------------------------------------------------------------------------- */

/* The index of the row with that key; `none` without one. */
static size_t place_of(const struct key_set *places, const struct uuid *key, size_t none)
{
    const uint64_t *place = key_set_find(places, key);
    return place && *place > 0 ? (size_t)*place - 1 : none;
}

static bool set_place(struct key_set *places, const struct uuid *key, size_t index)
{
    uint64_t *place = key_set_at(places, key);
    if (place)
        *place = index + 1;
    return place != NULL;
}

/* --- links ------------------------------------------------------------------------------------ */

/* Steps over blanks and the word; false when it does not stand there. */
static bool accept_word(const char **p, const char *end, const char *word)
{
    size_t n = strlen(word);
    while (*p < end && (**p == ' ' || **p == '\t' || **p == '\r' || **p == '\n'))
        (*p)++;
    if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
        return false;
    *p += n;
    return true;
}

enum err symbol_maps_parse_link(const void *data, size_t size, struct uuid *ret, struct error *err)
{
    static const char key[] = "<key>DBGOriginalUUID</key>";
    const char *end = (const char *)data + size;
    const char *p = size > 0 ? memmem(data, size, key, sizeof(key) - 1) : NULL;
    struct uuid uuid;
    if (!p && size >= 8 && memcmp(data, "bplist00", 8) == 0)
        return error_set(err, ERR_UNSUPPORTED, "a binary property list; text ones are read");
    if (!p)
        return error_set(err, ERR_FORMAT, "no DBGOriginalUUID in the property list");
    p += sizeof(key) - 1;
    if (!accept_word(&p, end, "<string>"))
        return error_set(err, ERR_FORMAT, "DBGOriginalUUID has no text");
    const char *close = memchr(p, '<', (size_t)(end - p));
    if (!close || !uuid_parse(p, (size_t)(close - p), &uuid) || uuid_is_nil(&uuid))
        return error_set(err, ERR_FORMAT, "DBGOriginalUUID is not a UUID");
    *ret = uuid;
    return ERR_OK;
}

static enum err add_link(struct symbol_maps *m, const struct uuid *image, const char *path,
                         struct error *err)
{
    struct uuid original;
    struct buf b;
    buf_init(&b, SYMBOL_LINK_BYTES_MAX);
    enum err rc = file_read(path, &b, err);
    if (rc == ERR_OK)
        rc = symbol_maps_parse_link(b.data, b.len, &original, err);
    buf_done(&b);
    if (rc != ERR_OK)
        return rc;
    size_t i = place_of(&m->link_places, image, m->link_count);
    if (i == SYMBOL_MAPS_MAX)
        return error_set(err, ERR_LIMIT, "more than %d links to symbol maps", SYMBOL_MAPS_MAX);
    void *p = vec_grown(m->links, &m->link_cap, m->link_count + 1, sizeof(m->links[0]));
    if (p)
        m->links = p;
    if (!p || !set_place(&m->link_places, image, i))
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    m->link_count += i == m->link_count;
    m->links[i] = (struct link_row){*image, original};
    return ERR_OK;
}

/* --- maps ------------------------------------------------------------------------------------- */

static void forget_open(struct symbol_maps *m)
{
    symbol_map_free(m->open);
    m->open = NULL;
}

static enum err add_map(struct symbol_maps *m, const struct uuid *uuid, const char *path,
                        struct error *err)
{
    size_t i = place_of(&m->map_places, uuid, m->map_count);
    if (i == SYMBOL_MAPS_MAX)
        return error_set(err, ERR_LIMIT, "more than %d symbol maps", SYMBOL_MAPS_MAX);
    char *copy = strdup(path);
    void *p = vec_grown(m->maps, &m->map_cap, m->map_count + 1, sizeof(m->maps[0]));
    if (p)
        m->maps = p;
    if (!p || !copy || !set_place(&m->map_places, uuid, i)) {
        free(copy);
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    }
    if (m->open && uuid_equal(&m->open_uuid, uuid))
        forget_open(m);
    if (i < m->map_count)
        free(m->maps[i].path);
    else
        m->map_count++;
    m->maps[i] = (struct map_row){*uuid, copy};
    return ERR_OK;
}

static enum err add_file(struct symbol_maps *m, enum symbol_map_file kind, const struct uuid *uuid,
                         const char *path, struct error *err)
{
    return kind == SYMBOL_FILE_MAP ? add_map(m, uuid, path, err) : add_link(m, uuid, path, err);
}

static enum err add_folder(struct symbol_maps *m, const char *folder, struct error *err)
{
    enum err rc = ERR_OK;
    struct uuid uuid;
    const struct dirent *entry;
    DIR *dir = opendir(folder);
    if (!dir)
        return error_errno(err, errno, "cannot read the folder %s", folder);
    while (rc == ERR_OK && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        enum symbol_map_file kind = symbol_maps_kind(entry->d_name, &uuid);
        int n = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (kind == SYMBOL_FILE_OTHER || n < 0 || (size_t)n >= sizeof(path))
            continue;
        rc = add_file(m, kind, &uuid, path, err);
        if (kind == SYMBOL_FILE_LINK && (rc == ERR_FORMAT || rc == ERR_UNSUPPORTED))
            rc = ERR_OK; /* plists are for many things */
    }
    closedir(dir);
    return rc;
}

struct symbol_maps *symbol_maps_new(void)
{
    struct symbol_maps *m = calloc(1, sizeof(*m));
    uint64_t seed;
    if (!m)
        return NULL;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        seed = (uint64_t)(uintptr_t)m;
    key_set_init(&m->map_places, sizeof(struct uuid), seed);
    key_set_init(&m->link_places, sizeof(struct uuid), seed);
    return m;
}

void symbol_maps_free(struct symbol_maps *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->map_count; i++)
        free(m->maps[i].path);
    free(m->maps);
    free(m->links);
    key_set_done(&m->map_places);
    key_set_done(&m->link_places);
    symbol_map_free(m->open);
    free(m);
}

enum err symbol_maps_add(struct symbol_maps *m, const char *path, struct error *err)
{
    struct stat st;
    struct uuid uuid;
    if (stat(path, &st) != 0)
        return error_errno(err, errno, "cannot open %s", path);
    if (S_ISDIR(st.st_mode))
        return add_folder(m, path, err);
    enum symbol_map_file kind = symbol_maps_kind(path, &uuid);
    if (kind == SYMBOL_FILE_OTHER)
        return error_set(err, ERR_INVALID,
                         "%s is named neither UUID.bcsymbolmap nor UUID.plist: whose it is cannot "
                         "be told",
                         path);
    return add_file(m, kind, &uuid, path, err);
}

struct uuid symbol_maps_original(const struct symbol_maps *m, const struct uuid *image)
{
    size_t i = place_of(&m->link_places, image, m->link_count);
    return i < m->link_count ? m->links[i].original : *image;
}

enum err symbol_maps_get(struct symbol_maps *m, const struct uuid *image, struct symbol_map **ret,
                         struct error *err)
{
    const struct uuid original = symbol_maps_original(m, image);
    if (m->open && uuid_equal(&m->open_uuid, &original)) {
        *ret = m->open;
        return ERR_OK;
    }
    size_t i = place_of(&m->map_places, &original, m->map_count);
    if (i == m->map_count)
        return error_set(err, ERR_NOT_FOUND, "there is no symbol map");
    forget_open(m);
    enum err rc = symbol_map_open(m->maps[i].path, &m->open, err);
    m->open_uuid = original;
    if (rc == ERR_OK)
        *ret = m->open;
    return rc;
}

void symbol_maps_linked(const struct symbol_maps *m, const struct uuid *original,
                        void (*image)(void *ctx, const struct uuid *uuid), void *ctx)
{
    for (size_t i = 0; i < m->link_count; i++) {
        if (uuid_equal(&m->links[i].original, original))
            image(ctx, &m->links[i].image);
    }
}
