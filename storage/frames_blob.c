#include "storage/frames_blob.h"

#include <string.h>

#include "base/bytes.h"

#define VERSION    1
#define FRAMES_MAX 4096 /* logical frames of one raw frame */

/* What quick_frame() reads at most: seven numbers of four bytes, three single ones, a UUID. */
#define QUICK_BYTES (7 * 4 + 3 + sizeof(struct uuid))

/* Bits of a raw frame's first byte; the status is in the lowest two. */
#define RAW_APPROXIMATE 0x04
#define RAW_IN_APP      0x08
#define RAW_HAS_INDEX   0x10
#define RAW_NAMED_IMAGE 0x20
#define RAW_PLACED      0x40 /* image and offset differ from the raw frame's */
#define RAW_FUNCTION    0x80 /* the offset from its function's start is known */

/* Bits of a frame's first byte. */
#define FRAME_INLINED   0x01
#define FRAME_LOCAL     0x02
#define FRAME_MANGLED   0x04
#define FRAME_SAME_NAME 0x08 /* mangled equals function */
#define FRAME_FILE      0x10
#define FRAME_LINE      0x20
#define FRAME_DEVICE    0x40 /* its linkage name (or, without, function) is the raw frame's symbol */

static bool put_text(struct buf *out, const char *text)
{
    size_t n = strlen(text);
    return buf_uleb(out, n) && buf_put(out, text, n);
}

/* Devices may make names up, and the dictionary is never emptied: their names stay with the stack. */
static bool is_device_name(const struct resolved_frame *r, const struct frame *f)
{
    const char *own = f->mangled ? f->mangled : f->function;
    return r->status != FRAME_RESOLVED && r->raw.symbol && !f->file && !f->line &&
           strcmp(own, r->raw.symbol) == 0;
}

static enum err put_name(const char *name, frames_name_id *name_id, void *ctx, struct buf *out,
                         struct error *err)
{
    int64_t id = 0;
    enum err rc = name_id(ctx, name, &id, err);
    if (!rc)
        buf_uleb(out, (uint64_t)id);
    return rc;
}

static enum err put_frame(const struct resolved_frame *r, const struct frame *f,
                          frames_name_id *name_id, void *ctx, struct buf *out, struct error *err)
{
    bool same = f->mangled && strcmp(f->mangled, f->function) == 0;
    bool device = is_device_name(r, f);
    buf_u8(out, (uint8_t)((f->inlined ? FRAME_INLINED : 0) | (f->local ? FRAME_LOCAL : 0) |
                          (f->mangled && !same ? FRAME_MANGLED : 0) | (same ? FRAME_SAME_NAME : 0) |
                          (f->file ? FRAME_FILE : 0) | (f->line ? FRAME_LINE : 0) |
                          (device ? FRAME_DEVICE : 0)));
    if (device) {
        if (f->mangled && !same)
            put_text(out, f->function);
        return ERR_OK;
    }
    enum err rc = put_name(f->function, name_id, ctx, out, err);
    if (!rc && f->mangled && !same)
        rc = put_name(f->mangled, name_id, ctx, out, err);
    if (!rc && f->file)
        rc = put_name(f->file, name_id, ctx, out, err);
    if (!rc && f->line)
        buf_uleb(out, f->line);
    return rc;
}

static enum err put_frames(const struct resolved_frame *r, frames_name_id *name_id, void *ctx,
                           struct buf *out, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < r->frame_count && !rc; i++)
        rc = put_frame(r, &r->frames[i], name_id, ctx, out, err);
    return rc;
}

void frames_memo_begin(struct frames_memo *m)
{
    memset(m->images, 0, sizeof(m->images));
}

/* What an index says is the same for every stack. */
static enum err put_known_frames(const struct resolved_frame *r, struct frames_memo *memo,
                                 frames_name_id *name_id, void *ctx, struct buf *out,
                                 struct error *err)
{
    const size_t at = r->frames_id % FRAMES_MEMO;
    const size_t before = out->len;
    if (memo->coded[at].id == r->frames_id) {
        buf_put(out, memo->coded[at].bytes, memo->coded[at].len);
        return ERR_OK;
    }
    enum err rc = put_frames(r, name_id, ctx, out, err);
    if (rc || out->failed || out->len - before > FRAMES_MEMO_BYTES)
        return rc;
    memo->coded[at].id = r->frames_id;
    memo->coded[at].len = (uint8_t)(out->len - before);
    memcpy(memo->coded[at].bytes, out->data + before, out->len - before);
    return ERR_OK;
}

struct encoder {
    frames_name_id *name_id;
    void *ctx;
    struct frames_memo *memo;
    struct image_name last; /* without a memo: images come in runs */
};

static enum err put_image_name(const struct resolved_frame *r, struct encoder *e, struct buf *out,
                               struct error *err)
{
    struct image_name *known =
        e->memo ? &e->memo->images[r->image.bytes[0] % FRAMES_MEMO_IMAGES] : &e->last;
    const char *name = r->image_name;
    if (!known->text || (known->text != name && strcmp(known->text, name) != 0)) {
        enum err rc = e->name_id(e->ctx, name, &known->id, err);
        known->text = rc ? NULL : name;
        if (rc)
            return rc;
    }
    buf_uleb(out, (uint64_t)known->id);
    return ERR_OK;
}

static enum err put_raw_frame(const struct resolved_frame *r, struct encoder *e, struct buf *out,
                              struct error *err)
{
    bool placed = !uuid_equal(&r->image, &r->raw.image) || r->offset != r->raw.offset;
    buf_u8(out, (uint8_t)((uint8_t)r->status | (r->approximate ? RAW_APPROXIMATE : 0) |
                          (r->in_app ? RAW_IN_APP : 0) | (r->has_index ? RAW_HAS_INDEX : 0) |
                          (r->image_name ? RAW_NAMED_IMAGE : 0) | (placed ? RAW_PLACED : 0) |
                          (r->has_function_offset ? RAW_FUNCTION : 0)));
    enum err rc = r->image_name ? put_image_name(r, e, out, err) : ERR_OK;
    if (rc)
        return rc;
    if (placed) {
        buf_put(out, &r->image, sizeof(r->image));
        buf_uleb(out, r->offset);
    }
    if (r->has_function_offset)
        buf_uleb(out, r->function_offset);
    buf_uleb(out, r->frame_count);
    if (e->memo && r->frames_id && r->status == FRAME_RESOLVED)
        return put_known_frames(r, e->memo, e->name_id, e->ctx, out, err);
    return put_frames(r, e->name_id, e->ctx, out, err);
}

enum err frames_blob_encode(const struct resolved_stack *s, frames_name_id *name_id, void *ctx,
                            struct frames_memo *memo, struct buf *out, struct error *err)
{
    enum err rc = ERR_OK;
    struct encoder e = {name_id, ctx, memo, {NULL, 0}};
    buf_u8(out, VERSION);
    buf_uleb(out, s->count);
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = put_raw_frame(&s->frames[i], &e, out, err);
    if (!rc && out->failed)
        rc = error_set(err, ERR_LIMIT, "a resolved stack is too large");
    return rc;
}

struct decoder {
    struct cursor c;
    frames_name_text *name_text;
    void *ctx;
    struct arena *arena;
};

static enum err damaged(struct error *err)
{
    return error_set(err, ERR_FORMAT, "a stored resolved stack is damaged");
}

static enum err get_name(struct decoder *d, const char **ret, struct error *err)
{
    uint64_t id = cursor_uleb(&d->c);
    if (d->c.overrun || id == 0)
        return damaged(err);
    return d->name_text(d->ctx, (int64_t)id, ret, err);
}

static enum err get_device_name(struct decoder *d, uint8_t bits, const char *symbol,
                                struct frame *f, struct error *err)
{
    if (!symbol)
        return damaged(err);
    f->function = symbol;
    if (bits & (FRAME_MANGLED | FRAME_SAME_NAME))
        f->mangled = symbol;
    if (!(bits & FRAME_MANGLED))
        return ERR_OK;
    uint64_t n = cursor_uleb(&d->c);
    const uint8_t *text = n <= cursor_left(&d->c) ? cursor_take(&d->c, (size_t)n) : NULL;
    if (!text || n == 0 || d->c.overrun)
        return damaged(err);
    f->function = arena_strndup(d->arena, (const char *)text, (size_t)n);
    return f->function ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for frames");
}

static enum err get_frame(struct decoder *d, const struct raw_frame *raw, struct frame *f,
                          struct error *err)
{
    uint8_t bits = cursor_u8(&d->c);
    f->inlined = bits & FRAME_INLINED;
    f->local = bits & FRAME_LOCAL;
    if (bits & FRAME_DEVICE)
        return get_device_name(d, bits, raw->symbol, f, err);
    enum err rc = get_name(d, &f->function, err);
    if (!rc && bits & FRAME_SAME_NAME)
        f->mangled = f->function;
    if (!rc && bits & FRAME_MANGLED)
        rc = get_name(d, &f->mangled, err);
    if (!rc && bits & FRAME_FILE)
        rc = get_name(d, &f->file, err);
    if (!rc && bits & FRAME_LINE)
        f->line = (uint32_t)cursor_uleb(&d->c);
    return rc;
}

static enum err get_raw_frame(struct decoder *d, const struct raw_frame *raw,
                              struct resolved_frame *r, struct error *err)
{
    uint8_t bits = cursor_u8(&d->c);
    enum err rc = ERR_OK;
    r->raw = *raw;
    r->status = (enum frame_status)(bits & 3);
    r->approximate = bits & RAW_APPROXIMATE;
    r->in_app = bits & RAW_IN_APP;
    r->has_index = bits & RAW_HAS_INDEX;
    r->image = raw->image;
    r->offset = raw->offset;
    if (bits & RAW_NAMED_IMAGE && (rc = get_name(d, &r->image_name, err)))
        return rc;
    if (bits & RAW_PLACED) {
        const uint8_t *image = cursor_take(&d->c, sizeof(r->image));
        if (!image)
            return damaged(err);
        memcpy(&r->image, image, sizeof(r->image));
        r->offset = cursor_uleb(&d->c);
    }
    r->has_function_offset = bits & RAW_FUNCTION;
    if (r->has_function_offset)
        r->function_offset = cursor_uleb(&d->c);
    uint64_t count = cursor_uleb(&d->c);
    if (d->c.overrun || count > FRAMES_MAX || count > cursor_left(&d->c))
        return damaged(err);
    struct frame *frames = arena_array(d->arena, (size_t)count + 1, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for frames");
    r->frames = frames;
    r->frame_count = (size_t)count;
    for (size_t i = 0; i < r->frame_count && !rc; i++)
        rc = get_frame(d, raw, &frames[i], err);
    return rc;
}

enum err frames_blob_decode(const struct raw_stack *raw, const void *data, size_t len,
                            frames_name_text *name_text, void *ctx, struct arena *arena,
                            struct resolved_stack *ret, struct error *err)
{
    struct decoder d = {cursor_of(data, len), name_text, ctx, arena};
    enum err rc = ERR_OK;
    uint64_t count = cursor_u8(&d.c) == VERSION ? cursor_uleb(&d.c) : UINT64_MAX;
    if ((count != raw->count && count != 0) || d.c.overrun)
        return damaged(err);
    struct resolved_frame *frames = arena_array(arena, raw->count + 1, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for frames");
    for (size_t i = 0; i < raw->count && !rc; i++) {
        if (count > 0)
            rc = get_raw_frame(&d, &raw->frames[i], &frames[i], err);
        else /* given up as a whole, see the header */
            frames[i] = (struct resolved_frame){.raw = raw->frames[i],
                                                .status = FRAME_NO_SYMBOLS,
                                                .image = raw->frames[i].image,
                                                .offset = raw->frames[i].offset};
    }
    if (!rc && (d.c.overrun || cursor_left(&d.c) > 0))
        rc = damaged(err);
    if (rc)
        return rc;
    *ret = (struct resolved_stack){frames, raw->count};
    return ERR_OK;
}

/* What the store hid has no name, though its file and line may be known. */
static bool is_named(const struct resolved_frame *r)
{
    return r->frame_count > 0 && strcmp(r->frames[0].function, "<hidden>") != 0;
}

/* One frame's numbers; false when it has a name of its own in the bytes, or too large a number. */
static bool walk_frame(struct cursor *c, struct blob_frame *f)
{
    const uint8_t bits = cursor_u8(c);
    uint64_t file = 0;
    if (bits & FRAME_DEVICE)
        return false;
    const uint64_t function = cursor_uleb(c);
    if (bits & FRAME_MANGLED)
        (void)cursor_uleb(c);
    if (bits & FRAME_FILE)
        file = cursor_uleb(c);
    if (bits & FRAME_LINE)
        (void)cursor_uleb(c);
    f->function = (uint32_t)function;
    f->file = (uint32_t)file;
    return function > 0 && (function | file) <= UINT32_MAX;
}

/* Bytes that are known to be there; `bad`: a number is longer than four of them. */
struct quick {
    const uint8_t *p;
    uint32_t bad;
};

static inline uint32_t quick_uleb(struct quick *q)
{
    uint32_t v = *q->p++;
    if (v < 0x80)
        return v;
    uint32_t byte = *q->p++;
    v = (v & 0x7f) | byte << 7;
    if (byte < 0x80)
        return v;
    byte = *q->p++;
    v = (v & 0x3fff) | byte << 14;
    if (byte < 0x80)
        return v;
    byte = *q->p++;
    q->bad |= byte & 0x80;
    return (v & 0x1fffff) | byte << 21;
}

/* A raw frame with one frame, as nearly all are. False, and nothing read: it takes the long way. */
static inline bool quick_frame(struct cursor *c, struct blob_frame *f)
{
    struct quick q = {c->p, 0};
    if (cursor_left(c) < QUICK_BYTES)
        return false;
    const uint8_t raw_bits = *q.p++;
    f->image = raw_bits & RAW_NAMED_IMAGE ? quick_uleb(&q) : 0;
    f->in_app = raw_bits & RAW_IN_APP;
    if (raw_bits & RAW_PLACED) {
        q.p += sizeof(struct uuid);
        (void)quick_uleb(&q);
    }
    if (raw_bits & RAW_FUNCTION)
        (void)quick_uleb(&q);
    const uint8_t count = *q.p++;
    const uint8_t bits = *q.p++;
    if (count != 1 || bits & FRAME_DEVICE)
        return false;
    f->function = quick_uleb(&q);
    if (bits & FRAME_MANGLED)
        (void)quick_uleb(&q);
    f->file = bits & FRAME_FILE ? quick_uleb(&q) : 0;
    if (bits & FRAME_LINE)
        (void)quick_uleb(&q);
    if (q.bad || f->function == 0)
        return false;
    c->p = q.p;
    return true;
}

enum err frames_blob_walk(const void *data, size_t len, struct blob_frame *out, size_t max,
                          size_t *ret_count, bool *ret_whole, struct error *err)
{
    struct cursor c = cursor_of(data, len);
    size_t n = 0;
    if (cursor_u8(&c) != VERSION)
        return damaged(err);
    uint64_t raw_count = cursor_uleb(&c);
    *ret_whole = false;
    for (uint64_t i = 0; i < raw_count && !c.overrun; i++) {
        if (n < max && quick_frame(&c, &out[n])) {
            n++;
            continue;
        }
        uint8_t bits = cursor_u8(&c);
        const uint64_t image = bits & RAW_NAMED_IMAGE ? cursor_uleb(&c) : 0;
        if (bits & RAW_PLACED) {
            (void)cursor_take(&c, sizeof(struct uuid));
            (void)cursor_uleb(&c);
        }
        if (bits & RAW_FUNCTION)
            (void)cursor_uleb(&c);
        uint64_t count = cursor_uleb(&c);
        if (c.overrun || count > FRAMES_MAX)
            return damaged(err);
        if (count == 0 || count > max - n || image > UINT32_MAX)
            return ERR_OK;
        for (uint64_t k = 0; k < count; k++, n++) {
            out[n].image = (uint32_t)image;
            out[n].in_app = bits & RAW_IN_APP;
            if (!walk_frame(&c, &out[n]))
                return ERR_OK;
        }
    }
    if (c.overrun || cursor_left(&c) > 0)
        return damaged(err);
    *ret_count = n;
    *ret_whole = true;
    return ERR_OK;
}

void frames_count_app(const struct resolved_stack *s, uint32_t *ret_app, uint32_t *ret_named)
{
    *ret_app = 0;
    *ret_named = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->frames[i].in_app) {
            (*ret_app)++;
            *ret_named += is_named(&s->frames[i]);
        }
    }
}
