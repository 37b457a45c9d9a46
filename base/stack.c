#include "base/stack.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

#define LOAD_PAGE        4096 /* the smallest */
#define ENCODING_VERSION 1
#define FRAMES_MAX       4096
#define IMAGES_MAX       256  /* of one stack that are told apart; more are written out each time */
#define HAS_SYMBOL       0x80 /* of a frame's kinds */

static const char *const kind_names[] = {"leaf", "return", "async", "exact"};
static const char *const status_names[] = {"resolved", "no_image", "no_symbols", "out_of_range"};

const char *frame_kind_name(enum frame_kind kind)
{
    return kind_names[kind];
}

bool frame_kind_parse(const char *name, enum frame_kind *ret)
{
    for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *ret = (enum frame_kind)i;
            return true;
        }
    }
    return false;
}

const char *frame_status_name(enum frame_status status)
{
    return status_names[status];
}

/* Every field with its length in front, so that no two inputs give the same bytes. */
static void hash_text(struct sha256 *h, const char *s)
{
    uint32_t n = s ? (uint32_t)strlen(s) : UINT32_MAX;
    sha256_update(h, &n, sizeof(n));
    if (s)
        sha256_update(h, s, n);
}

void raw_stack_hash(const char *bundle_id, const struct raw_stack *s, uint8_t out[STACK_HASH_SIZE])
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&h);
    hash_text(&h, bundle_id);
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i];
        uint8_t kinds[2] = {(uint8_t)f->image_kind, (uint8_t)f->kind};
        sha256_update(&h, kinds, sizeof(kinds));
        if (f->image_kind != IMAGE_NONE) {
            sha256_update(&h, &f->image, sizeof(f->image));
            sha256_update(&h, &f->offset, sizeof(f->offset));
        }
        hash_text(&h, f->symbol);
    }
    sha256_final(&h, digest);
    memcpy(out, digest, STACK_HASH_SIZE);
}

static struct uuid hashed_id(const char *what, const char *a, const char *b)
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    struct uuid u;
    sha256_init(&h);
    hash_text(&h, what);
    hash_text(&h, a);
    hash_text(&h, b);
    sha256_final(&h, digest);
    memcpy(u.bytes, digest, sizeof(u.bytes));
    return u;
}

struct uuid image_named_id(const char *name)
{
    return hashed_id("image", name, NULL);
}

struct uuid image_group_id(const char *os, const char *arch)
{
    return hashed_id("group", os, arch);
}

/* version, count, then per frame: kinds, index of the image in the order of first use (a new one
 * is followed by its 16 bytes), offset; with HAS_SYMBOL length of the symbol, symbol. */
bool raw_stack_encode(const struct raw_stack *s, struct buf *out)
{
    const struct uuid *seen[IMAGES_MAX];
    size_t seen_count = 0;
    buf_u8(out, ENCODING_VERSION);
    buf_uleb(out, s->count);
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i];
        buf_u8(out, (uint8_t)(f->image_kind << 4 | f->kind | (f->symbol ? HAS_SYMBOL : 0)));
        if (f->image_kind != IMAGE_NONE) {
            size_t k = 0;
            while (k < seen_count && !uuid_equal(seen[k], &f->image))
                k++;
            buf_uleb(out, k);
            if (k == seen_count) {
                buf_put(out, &f->image, sizeof(f->image));
                if (seen_count < IMAGES_MAX)
                    seen[seen_count++] = &f->image;
            }
            buf_uleb(out, f->offset);
        }
        if (f->symbol) {
            buf_uleb(out, strlen(f->symbol));
            buf_puts(out, f->symbol);
        }
    }
    return !out->failed;
}

static enum err decode_frame(struct cursor *c, struct uuid *seen, size_t *seen_count,
                             struct arena *arena, struct raw_frame *f)
{
    uint8_t kinds = cursor_u8(c);
    f->image_kind = (enum image_kind)(kinds >> 4 & 7);
    f->kind = (enum frame_kind)(kinds & 15);
    if (f->image_kind > IMAGE_GROUP || f->kind > FRAME_EXACT)
        return ERR_FORMAT;
    if (f->image_kind != IMAGE_NONE) {
        uint64_t k = cursor_uleb(c);
        if (k == *seen_count) {
            const uint8_t *bytes = cursor_take(c, sizeof(f->image));
            if (!bytes)
                return ERR_FORMAT;
            memcpy(&f->image, bytes, sizeof(f->image));
            if (*seen_count < IMAGES_MAX)
                seen[(*seen_count)++] = f->image;
        } else if (k < *seen_count) {
            f->image = seen[k];
        } else {
            return ERR_FORMAT;
        }
        f->offset = cursor_uleb(c);
    }
    if (kinds & HAS_SYMBOL) {
        uint64_t n = cursor_uleb(c);
        const uint8_t *text = n <= cursor_left(c) ? cursor_take(c, (size_t)n) : NULL;
        if (!text)
            return ERR_FORMAT;
        f->symbol = arena_strndup(arena, (const char *)text, (size_t)n);
        if (!f->symbol)
            return ERR_NO_MEMORY;
    }
    return c->overrun ? ERR_FORMAT : ERR_OK;
}

enum err raw_stack_decode(const void *data, size_t len, struct arena *arena, struct raw_stack *ret,
                          struct error *err)
{
    struct cursor c = cursor_of(data, len);
    struct uuid seen[IMAGES_MAX];
    size_t seen_count = 0;
    if (cursor_u8(&c) != ENCODING_VERSION)
        return error_set(err, ERR_FORMAT, "raw stack: unknown version");
    uint64_t count = cursor_uleb(&c);
    if (c.overrun || count > FRAMES_MAX)
        return error_set(err, ERR_FORMAT, "raw stack: bad frame count");
    struct raw_frame *frames = arena_array(arena, (size_t)count, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "raw stack: no memory for %u frames", (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        enum err rc = decode_frame(&c, seen, &seen_count, arena, &frames[i]);
        if (rc == ERR_NO_MEMORY)
            return error_set(err, rc, "raw stack: no memory for the symbol of frame %zu", i);
        if (rc != ERR_OK)
            return error_set(err, rc, "raw stack: frame %zu is damaged", i);
    }
    ret->frames = frames;
    ret->count = (size_t)count;
    return ERR_OK;
}

static uint64_t zigzag(uint64_t delta)
{
    return delta << 1 ^ (~(delta >> 63) + 1);
}

static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (~(v & 1) + 1);
}

/* The images of a stack in the order of first use, each with the load address of that first use. */
struct loads {
    const struct uuid *image[IMAGES_MAX];
    uint64_t load[IMAGES_MAX];
    size_t count;
};

static size_t loads_find(const struct loads *l, const struct raw_frame *f)
{
    size_t k = 0;
    while (k < l->count && !uuid_equal(l->image[k], &f->image))
        k++;
    return k;
}

static void loads_collect(struct loads *l, const struct raw_stack *s, const uint64_t *addresses)
{
    l->count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i];
        if (f->image_kind == IMAGE_NONE || loads_find(l, f) < l->count || l->count == IMAGES_MAX)
            continue;
        l->image[l->count] = &f->image;
        l->load[l->count++] = addresses ? addresses[i] - f->offset : 0;
    }
}

/* Images begin at pages: of a delta the pages alone, doubled; any other stands behind a 1. */
static void put_delta(struct buf *out, uint64_t delta)
{
    if (delta % LOAD_PAGE == 0) {
        buf_uleb(out, zigzag((uint64_t)((int64_t)delta / LOAD_PAGE)) << 1);
        return;
    }
    buf_u8(out, 1);
    buf_uleb(out, zigzag(delta));
}

static uint64_t get_delta(struct cursor *c)
{
    uint64_t v = cursor_uleb(c);
    return v & 1 ? unzigzag(cursor_uleb(c)) : unzigzag(v >> 1) * LOAD_PAGE;
}

/* Loads as deltas, then the exceptions: frame distance, address; both lists are as long as the
 * stack and the bytes say. */
bool stack_addresses_encode(const struct raw_stack *s, const uint64_t *addresses, struct buf *out)
{
    struct loads l;
    loads_collect(&l, s, addresses);
    uint64_t before = 0;
    for (size_t k = 0; k < l.count; k++) {
        put_delta(out, l.load[k] - before);
        before = l.load[k];
    }
    size_t last = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i];
        size_t k = f->image_kind == IMAGE_NONE ? l.count : loads_find(&l, f);
        if (k < l.count && l.load[k] + f->offset == addresses[i])
            continue;
        buf_uleb(out, i - last);
        buf_uleb(out, addresses[i]);
        last = i;
    }
    return !out->failed;
}

void stack_addresses_decode(const struct raw_stack *s, const void *data, size_t len,
                            uint64_t *ret_addresses)
{
    struct loads l;
    struct cursor c = cursor_of(data, len);
    loads_collect(&l, s, NULL);
    uint64_t before = 0;
    for (size_t k = 0; k < l.count; k++) {
        l.load[k] = before + get_delta(&c);
        before = l.load[k];
    }
    bool known = len > 0 && !c.overrun;
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i];
        size_t k = f->image_kind == IMAGE_NONE ? l.count : loads_find(&l, f);
        ret_addresses[i] = known && k < l.count ? l.load[k] + f->offset : 0;
    }
    size_t at = 0;
    while (known && cursor_left(&c) > 0) {
        at += (size_t)cursor_uleb(&c);
        uint64_t address = cursor_uleb(&c);
        if (c.overrun || at >= s->count)
            return;
        ret_addresses[at] = address;
    }
}
