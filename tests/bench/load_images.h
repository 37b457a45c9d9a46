/*
 * load_images - the images of the app whose reports the ingest benches send.
 *
 * Purpose: those of the app itself are real: indexes made from the symbol files that are given, and
 * addresses in them that resolve to functions. The others stand for the system's libraries, of
 * which no server has symbols.
 *
 * Threads: read-only after loading. Memory: the process's.
 */
#ifndef STALLSYM_BENCH_LOAD_IMAGES_H
#define STALLSYM_BENCH_LOAD_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uuid.h"

#define LOAD_IMAGES  250
#define LOAD_OFFSETS 4000 /* addresses of one image that are drawn from */

struct load_image {
    struct uuid uuid;
    const char *file; /* of images of the app */
    char name[64];
    bool of_app;
    uint64_t size;
    uint32_t *offsets; /* of images of the app, too */
    size_t offset_count;
};

struct load_images {
    struct load_image items[LOAD_IMAGES];
    size_t app_count; /* the first ones */
};

/* Symbol files, each used with its first slice. The largest comes first. */
void load_images_read(struct load_images *images, char *const *files, size_t count);
/* Offset number `n` of an image, whatever number that is. */
uint64_t load_images_offset(const struct load_image *image, uint64_t n);

#endif
