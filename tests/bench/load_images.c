#include "tests/bench/load_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/load_daemon.h"
#include "tests/support/index_of.h"

#define SYSTEM_SIZE 0x800000u

static void read_one(struct load_image *image, const char *path)
{
    struct index_of index;
    struct gsym_frame frame;
    if (!index_file(path, 0, NULL, &index))
        load_die("%s: %s", path, index.error.text);
    const struct gsym_info *info = gsym_info(index.gsym);
    const char *name = strrchr(path, '/');
    snprintf(image->name, sizeof(image->name), "%s", name ? name + 1 : path);
    image->file = path;
    image->uuid = info->uuid;
    image->of_app = true;
    image->size = info->text_size;
    image->offsets = calloc(LOAD_OFFSETS, sizeof(*image->offsets));
    if (!image->offsets || !info->text_size)
        load_die("%s: no text", path);
    uint64_t x = 88172645463325252u;
    for (size_t tries = 0; tries < 50u * LOAD_OFFSETS; tries++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const uint64_t at = x % info->text_size & ~(uint64_t)3;
        if (gsym_lookup(index.gsym, info->text_vmaddr + at, &frame, 1))
            image->offsets[image->offset_count++] = (uint32_t)at;
        if (image->offset_count == LOAD_OFFSETS)
            break;
    }
    if (!image->offset_count)
        load_die("%s: no functions", path);
    index_of_done(&index);
}

static int by_size(const void *a, const void *b)
{
    const struct load_image *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

void load_images_read(struct load_images *images, char *const *files, size_t count)
{
    memset(images, 0, sizeof(*images));
    for (size_t i = 0; i < count && i < LOAD_IMAGES / 2; i++)
        read_one(&images->items[images->app_count++], files[i]);
    if (!images->app_count)
        load_die("no symbol files to draw stacks from");
    qsort(images->items, images->app_count, sizeof(images->items[0]), by_size);
    for (size_t i = images->app_count; i < LOAD_IMAGES; i++) {
        struct load_image *image = &images->items[i];
        memset(image->uuid.bytes, (int)i, sizeof(image->uuid.bytes));
        snprintf(image->name, sizeof(image->name), "System%zu", i);
        image->size = SYSTEM_SIZE;
    }
}

uint64_t load_images_offset(const struct load_image *image, uint64_t n)
{
    return image->of_app ? image->offsets[n % image->offset_count]
                         : (n % image->size & ~(uint64_t)3);
}
