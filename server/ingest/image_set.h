/*
 * image_set - the images of a batch as bytes, so that later batches may name them alone.
 *
 * Purpose: http-api.md "image_set": 250 images are five times the stacks' size.
 *
 * Invariants: decode(encode(x)) gives images that make the same map as x. Paths are reduced to
 * their class: a container's path never reaches the disk. Two lists are of one process when one holds
 * all images of the other, each at the same place, in any order: dyld adds images, and reports come
 * late. No bytes at all are the mark of a name that stands for several lists; they do not decode.
 *
 * Threads: any. Memory: the caller's buffer and arena.
 */
#ifndef STALLSYM_INGEST_IMAGE_SET_H
#define STALLSYM_INGEST_IMAGE_SET_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "storage/write_op.h"
#include "symbolizer/image_map.h"

bool image_set_encode(const struct image_entry *entries, size_t count, struct buf *out);
enum err image_set_decode(const void *data, size_t len, struct arena *arena,
                          struct image_entry **ret, size_t *ret_count, struct error *err);
/* IMAGE_SET_OTHER also for bytes that do not decode, and without memory: safe, the client is asked for
 * its images. */
enum image_set_standing image_set_compare(const void *stored, size_t stored_len, const void *sent,
                                          size_t sent_len, struct arena *arena);

#endif
