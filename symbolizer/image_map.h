/*
 * image_map - the images of a report, sorted; address in, (image, offset) out.
 *
 * Purpose: design/symbols.md section 1. Built once per batch (or image set), then asked once per
 * frame: binary search by load address.
 *
 * Invariants: the nearest lower load address wins, bounded by the image's own size (when it has
 * one) and by the next image. Zero-size, overlapping, unordered, duplicate images are legal.
 * Pointer-authentication bits (arm64e) are removed only if the raw address lies in no image: the
 * low 47, 39, 36 bits are tried in that order. A nil UUID makes an IMAGE_NAMED frame.
 *
 * Slide alone: the load address is vmaddr + slide, with vmaddr asked from `layout` (learnt from an
 * index or from an image that gave both), else by default: main executable 0x100000000 (32-bit:
 * 0x4000), the app's own dylibs 0. Slide-only system images (path, or a slide shared by several
 * images) whose vmaddr is not known form the slide group: an address in no other image becomes
 * (group, address - slide), IMAGE_GROUP. Slides may be negative (modulo 2^64). A cache image whose
 * vmaddr is learnt but whose size nobody gave stays in the group, because it would swallow its
 * neighbours; and with a group an app image without a size reaches less far (image_map.c).
 *
 * Threads: read-only after image_map_build. Memory: everything in the caller's arena.
 */
#ifndef STALLSYM_SYMBOLIZER_IMAGE_MAP_H
#define STALLSYM_SYMBOLIZER_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "base/uuid.h"

#define IMAGE_SIZE_CAP ((uint64_t)1 << 32) /* of an image with neither size nor a next one */

/* An image as the client named it. */
struct image_entry {
    struct uuid uuid; /* nil: none given */
    const char *name; /* never NULL; base name of the path where none was given */
    const char *path; /* NULL when not given */
    const char *arch; /* NULL when not given */
    bool has_slide;
    bool has_load_address;
    uint64_t slide;
    uint64_t load_address;
    uint64_t size;          /* 0: not given */
    enum image_class class; /* filled by image_map_build from the path (image_class_of_path) */
    bool has_vmaddr;        /* filled: both fields were given, vmaddr = load_address - slide */
    uint64_t vmaddr;
};

/* Which vmaddr a UUID's __TEXT has, if that is known. Called during the build only. */
struct image_layout {
    bool (*vmaddr)(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr);
    void *ctx;
};

struct image_map;

/* `os` and `arch` name the slide group. `entries` is filled in (class, vmaddr) and kept by
 * reference. */
enum err image_map_build(struct image_entry *entries, size_t count, const char *os,
                         const char *arch, const struct image_layout *layout, struct arena *arena,
                         struct image_map **ret, struct error *err);

/* Fills image, offset, image_kind of `ret` (IMAGE_NONE when in none). `ret_entry` (may be NULL):
 * index of the entry, or SIZE_MAX. */
void image_map_find(const struct image_map *m, uint64_t address, struct raw_frame *ret,
                    size_t *ret_entry);

/* The slide group's id, nil when the map has none. */
const struct uuid *image_map_group(const struct image_map *m);
/* True for entries that are members of the slide group (their vmaddr is not known yet). */
bool image_map_in_group(const struct image_map *m, size_t entry);

/* APP inside "….app/", "….appex/" or an app container; SYSTEM under /System/, /usr/lib/,
 * /Developer/, /Library/Apple, dyld's cryptex and the like; else UNKNOWN. NULL is UNKNOWN. */
enum image_class image_class_of_path(const char *path);

#endif
