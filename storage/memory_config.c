/* The memory backend's remote configurations. */
#include "storage/memory_config.h"

#include <string.h>

#include "storage/memory_read.h"

static bool is_of(const struct mem_config *c, const char *bundle_id)
{
    return strcmp(c->bundle_id, bundle_id) == 0;
}

enum err mem_write_config(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_config *c = &op->u.config;
    uint32_t newest = 0;
    for (size_t i = 0; i < s->configs_count; i++) {
        if (is_of(&s->configs[i], c->bundle_id))
            newest = s->configs[i].row.revision;
    }
    c->conflict = c->has_based_on && newest != c->based_on;
    c->revision = newest;
    if (c->conflict)
        return ERR_OK;
    struct mem_config *row = mem_add(s, configs);
    if (!row)
        return mem_no_memory(err);
    *row = (struct mem_config){
        .bundle_id = arena_strdup(&m->arena, c->bundle_id),
        .token_id = c->token_id,
        .row = {.revision = newest + 1,
                .body = arena_strdup(&m->arena, c->body),
                .note = arena_strdup(&m->arena, c->note),
                .created_ms = c->now_ms},
    };
    if (!row->bundle_id || !row->row.body || !row->row.note)
        return mem_no_memory(err);
    c->revision = newest + 1;
    for (size_t i = 0; i < s->configs_count; i++) {
        if (is_of(&s->configs[i], c->bundle_id) &&
            s->configs[i].row.revision + CONFIG_REVISIONS_KEPT <= c->revision) {
            mem_remove(s, configs, i);
            break;
        }
    }
    return ERR_OK;
}

static struct config_row shown(const struct mem_state *s, const struct mem_config *c)
{
    struct config_row row = c->row;
    for (size_t i = 0; i < s->tokens_count; i++) {
        if (s->tokens[i].row.id == c->token_id)
            row.author = s->tokens[i].row.name;
    }
    return row;
}

enum err mem_read_config(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                         struct arena *arena, struct config_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    (void)arena;
    for (size_t i = s->configs_count; i-- > 0;) {
        if (is_of(&s->configs[i], bundle_id) &&
            (revision == 0 || s->configs[i].row.revision == revision)) {
            *ret = shown(s, &s->configs[i]);
            return ERR_OK;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "there is no such configuration");
}

enum err mem_read_config_history(struct storage_reader *r, const char *bundle_id,
                                 struct arena *arena, struct config_row **ret, size_t *ret_count,
                                 struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct config_row *rows = arena_array(arena, CONFIG_REVISIONS_KEPT, sizeof(*rows));
    size_t count = 0;
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->configs_count; i-- > 0 && count < CONFIG_REVISIONS_KEPT;) {
        if (is_of(&s->configs[i], bundle_id)) {
            rows[count] = shown(s, &s->configs[i]);
            rows[count++].body = NULL;
        }
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
