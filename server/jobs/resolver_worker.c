#include "server/jobs/resolver_worker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/analysis/cluster_key.h"
#include "server/analysis/frame_memo.h"
#include "server/jobs/app_images.h"
#include "symbolizer/demangle_swift.h"

#define OP_ARENA    ((size_t)128 * 1024 * 1024)
#define IMAGES_MAX  8192
#define MEMO_FRAMES 16384

struct resolver_worker {
    const struct rules *rules; /* of this pass */
    struct storage_reader *reader;
    struct symbolizer *symbolizer;
    struct app_images *images;
    struct frame_memo *memo;
    struct arena scratch; /* of the stack at hand: the answer is all that stays of it in the op */
};

/* --- one stack -------------------------------------------------------------------------------- */

static void log_unreadable(const struct pending_stack *p, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn("stack cannot be resolved", "stack=%" PRIu64 " error=%s", p->stack_id,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* False without memory. */
static bool keep_text(struct arena *arena, const char *text, const char **ret)
{
    *ret = text ? arena_strdup(arena, text) : NULL;
    return !text || *ret;
}

static enum err fill_verdict(const struct cluster_verdict *v, struct arena *arena,
                             struct op_resolution *out, struct error *err)
{
    memcpy(out->key, v->key, sizeof(out->key));
    memcpy(out->variant, v->variant, sizeof(out->variant));
    out->cluster_kind = (uint8_t)v->kind;
    out->provisional = v->kind == CLUSTER_PROVISIONAL;
    out->hidden = v->kind == CLUSTER_IDLE;
    return keep_text(arena, v->key_text, &out->key_text) &&
                   keep_text(arena, v->title, &out->title) &&
                   keep_text(arena, v->function, &out->function) &&
                   keep_text(arena, v->file, &out->file) &&
                   keep_text(arena, v->image, &out->image) &&
                   keep_text(arena, v->category, &out->category) &&
                   keep_text(arena, v->owner, &out->owner)
               ? ERR_OK
               : error_set(err, ERR_NO_MEMORY, "no memory for a stack");
}

static enum err fill_stack(struct symbolized *s, struct arena *arena, struct op_resolution *out,
                           struct error *err)
{
    struct resolved_stack *stack = arena_memdup(arena, &s->stack, sizeof(s->stack));
    if (!stack)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    for (size_t i = 0; i < stack->count; i++)
        out->approximate = out->approximate || stack->frames[i].approximate;
    out->stack = stack;
    out->missing = s->missing;
    out->missing_count = s->missing_count;
    if (s->unavailable_count == 0)
        return ERR_OK;
    /* An index that is there and cannot be used is as good as gone: the writer has it looked after. */
    struct uuid *all = arena_array(arena, s->missing_count + s->unavailable_count, sizeof(*all));
    if (!all)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    if (s->missing_count > 0)
        memcpy(all, s->missing, s->missing_count * sizeof(*all));
    memcpy(all + s->missing_count, s->unavailable, s->unavailable_count * sizeof(*all));
    out->missing = all;
    out->missing_count += s->unavailable_count;
    out->gone_count = s->unavailable_count;
    return ERR_OK;
}

/* `readable` false: as a stack without frames. */
static enum err resolve_stack(struct resolver_worker *w, const struct resolver_grounds *grounds,
                              const struct pending_stack *p, bool readable, struct arena *arena,
                              struct op_resolution *out, struct error *err)
{
    struct raw_stack raw = {.frames = NULL, .count = 0};
    struct symbolized symbolized = {.missing_count = 0};
    struct cluster_verdict verdict;
    struct key_options key_options = {
        .skip_unresolved = p->give_up, .memo = w->memo, .linkage_key = demangle_swift_key};
    arena_reset(&w->scratch);
    memset(out, 0, sizeof(*out));
    out->stack_id = p->stack_id;
    out->generation = p->generation;
    enum err rc = ERR_OK;
    if (readable)
        rc = raw_stack_decode(p->raw, p->raw_len, &w->scratch, &raw, err);
    if (rc == ERR_OK && raw.count > 0) {
        struct image_lookup lookup = app_images_begin(w->images, p->app_id, p->bundle_id);
        lookup.stand_ins = grounds->stand_ins;
        lookup.stand_in_count = grounds->stand_in_count;
        rc = symbolizer_stack(w->symbolizer, &raw, &lookup, arena, &symbolized, err);
        if (app_images_end(w->images, err) != ERR_OK)
            return ERR_BUSY; /* an answer without the facts would be another cluster */
    }
    if (rc == ERR_OK)
        rc = fill_stack(&symbolized, arena, out, err);
    if (rc == ERR_OK)
        rc = overlay_key_of(overlays_of(grounds->overlays, p->app_id, &out->overlay), w->rules,
                            &key_options, p->bundle_id, out->stack, false, &w->scratch, &verdict,
                            err);
    return rc == ERR_OK ? fill_verdict(&verdict, arena, out, err) : rc;
}

/* A fresh op for the piece, in place of the one it has. */
static bool begin_op(const struct resolver_worker *w, struct resolver_piece *piece)
{
    write_op_free(piece->op);
    piece->op = write_op_new(WRITE_RESOLUTIONS, OP_ARENA);
    if (!piece->op)
        return false;
    symbolizer_share(w->symbolizer);
    struct op_resolutions *out = &piece->op->u.resolutions;
    out->items = arena_array(piece->op->arena, piece->count, sizeof(out->items[0]));
    out->rules_version = arena_strdup(piece->op->arena, rules_version(w->rules));
    out->now_ms = clock_wall_ms();
    return out->items && out->rules_version;
}

/* Puts the stack into the piece's op. False: no more of this piece, what is left is taken again. */
static bool add_stack(struct resolver_worker *w, const struct resolver_grounds *grounds,
                      struct resolver_piece *piece, const struct pending_stack *p)
{
    struct error err = {.code = ERR_OK};
    struct op_resolutions *out = &piece->op->u.resolutions;
    struct op_resolution item;
    enum err rc = resolve_stack(w, grounds, p, true, piece->op->arena, &item, &err);
    bool starved = rc == ERR_NO_MEMORY && !piece->op->arena->capped && !w->scratch.capped;
    piece->starved = piece->starved || starved;
    if (rc == ERR_BUSY || starved || (rc == ERR_NO_MEMORY && out->count > 0))
        return false; /* its neighbours may be what took the memory */
    if (rc != ERR_OK) {
        log_unreadable(p, &err);
        if (rc == ERR_NO_MEMORY && !begin_op(w, piece))
            return false;
        out = &piece->op->u.resolutions;
        rc = resolve_stack(w, grounds, p, false, piece->op->arena, &item, &err);
    }
    if (rc != ERR_OK)
        return false;
    out->items[out->count++] = item;
    return true;
}

/* --- the face --------------------------------------------------------------------------------- */

void resolver_worker_piece(struct resolver_worker *w, const struct resolver_grounds *grounds,
                           struct resolver_piece *piece)
{
    if (!begin_op(w, piece)) {
        write_op_free(piece->op);
        piece->op = NULL;
        return;
    }
    app_images_turn(w->images, grounds->page);
    for (size_t i = 0; i < piece->count; i++) {
        if (!add_stack(w, grounds, piece, &piece->stacks[i])) {
            piece->incomplete = true;
            break;
        }
    }
    symbolizer_share_end(w->symbolizer);
}

void resolver_worker_begin(struct resolver_worker *w, const struct rules *rules)
{
    app_images_forget(w->images);
    if (rules == w->rules)
        return;
    app_images_set_rules(w->images, rules);
    frame_memo_free(w->memo);
    w->memo = frame_memo_new(rules, MEMO_FRAMES); /* without one it is only slower */
    w->rules = rules;
}

void resolver_worker_stats(const struct resolver_worker *w, struct symbolizer_stats *ret)
{
    symbolizer_stats(w->symbolizer, ret);
}

enum err resolver_worker_new(struct storage *storage, struct index_cache *cache,
                             const struct rules *rules, size_t frame_cache_entries,
                             struct resolver_worker **ret, struct error *err)
{
    struct resolver_worker *w = calloc(1, sizeof(*w));
    enum err rc = ERR_OK;
    if (!w)
        return error_set(err, ERR_NO_MEMORY, "no memory for a resolver worker");
    rc = storage_reader_open(storage, &w->reader, err);
    if (rc != ERR_OK)
        goto out;
    w->rules = rules;
    arena_init(&w->scratch, OP_ARENA);
    w->symbolizer = symbolizer_new(cache, frame_cache_entries);
    w->images = app_images_new(w->reader, rules, IMAGES_MAX);
    w->memo = frame_memo_new(rules, MEMO_FRAMES);
    if (!w->symbolizer || !w->images || !w->memo) {
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a resolver worker");
        goto out;
    }
    *ret = w;
    w = NULL;
out:
    resolver_worker_free(w);
    return rc;
}

void resolver_worker_free(struct resolver_worker *w)
{
    if (!w)
        return;
    frame_memo_free(w->memo);
    app_images_free(w->images);
    symbolizer_free(w->symbolizer);
    arena_done(&w->scratch);
    storage_reader_close(w->reader);
    free(w);
}
