/*
 * frames_blob - a resolved stack as bytes, and back.
 *
 * Purpose: frames are stored in one blob a stack; names are numbers of a dictionary, so that a
 * million stacks that share functions stay small. Names that a device gave stand in the blob itself,
 * or in the raw stack: the dictionary grows by what symbol files say, never by what clients do.
 *
 * Invariants: decoding what was encoded, with the same dictionary and the same raw stack, gives
 * equal frames. Damaged bytes are ERR_FORMAT. No frames at all stand for a stack that was given up as
 * a whole: decoded, its frames have no symbols.
 *
 * Threads: none of its own. Memory: decoded frames live in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_FRAMES_BLOB_H
#define STALLSYM_STORAGE_FRAMES_BLOB_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/stack.h"

/* The number of a name, above 0. */
typedef enum err frames_name_id(void *ctx, const char *name, int64_t *ret, struct error *err);
/* The name of a number, in an arena of the caller; never NULL on ERR_OK. */
typedef enum err frames_name_text(void *ctx, int64_t id, const char **ret, struct error *err);

/* What frames were encoded to, by their ids, and numbers of names of images. All zeros: empty. It is good
 * for as long as names keep their numbers. */
#define FRAMES_MEMO        16384 /* ids are counted on: those of the last ones */
#define FRAMES_MEMO_BYTES  23
#define FRAMES_MEMO_IMAGES 64
struct frames_memo {
    struct image_name {
        const char *text; /* NULL: none yet */
        int64_t id;
    } images[FRAMES_MEMO_IMAGES];
    struct {
        uint64_t id;
        uint8_t len;
        uint8_t bytes[FRAMES_MEMO_BYTES];
    } coded[FRAMES_MEMO];
};
/* Texts of images lie elsewhere from now on. */
void frames_memo_begin(struct frames_memo *m);

/* `memo` NULL: without. */
enum err frames_blob_encode(const struct resolved_stack *s, frames_name_id *name_id, void *ctx,
                            struct frames_memo *memo, struct buf *out, struct error *err);
enum err frames_blob_decode(const struct raw_stack *raw, const void *data, size_t len,
                            frames_name_text *name_text, void *ctx, struct arena *arena,
                            struct resolved_stack *ret, struct error *err);

/* The frames as numbers of names, innermost first, for who wants many stacks and nothing else of
 * them: 0 where there is none. *ret_whole: false when that is not all there is to tell (a frame
 * without a name, or with one that a device gave, or a number beyond 32 bits): then they are to be
 * decoded. More than `max` frames are not whole either. */
struct blob_frame {
    uint32_t function, file, image;
    bool in_app;
};
enum err frames_blob_walk(const void *data, size_t len, struct blob_frame *out, size_t max,
                          size_t *ret_count, bool *ret_whole, struct error *err);

/* Frames of application images, and those of them that have a name. */
void frames_count_app(const struct resolved_stack *s, uint32_t *ret_app, uint32_t *ret_named);

#endif
