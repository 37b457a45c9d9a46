/*
 * stack - the nouns: raw frames and frames, raw stacks and resolved stacks.
 *
 * Purpose: the vocabulary that ingest, storage, symbolizer and analysis share. Read this first.
 *
 *   raw frame       (image, offset, kind): an address with its image's load address removed
 *   raw stack       raw frames, innermost first; what is hashed and stored once
 *   frame           function, file, line; one raw frame gives one (or, inlined, several)
 *   resolved frame  a raw frame with its status and its frames, innermost first
 *   resolved stack  resolved frames in the order of the raw stack
 *
 * Invariants: stacks are innermost first. A raw stack says everything that symbolication needs, so
 * that symbolication is a function of the stack. Symbolication never changes a raw frame.
 *
 * Threads, memory: plain values; all pointers borrow from an arena named by whoever fills them.
 */
#ifndef STALLSYM_BASE_STACK_H
#define STALLSYM_BASE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"

#define STACK_HASH_SIZE 16

/* How the address was taken: it decides what is looked up (design: return addresses minus one). */
enum frame_kind {
    FRAME_LEAF,   /* program counter of the innermost frame: as it is */
    FRAME_RETURN, /* return address of a call: looked up minus 1 */
    FRAME_ASYNC,  /* start of a Swift continuation: as it is */
    FRAME_EXACT,  /* as it is */
};

/* What raw_frame.image and .offset mean. */
enum image_kind {
    IMAGE_NONE,  /* in no image: image is nil, offset 0 (the address stays with the report) */
    IMAGE_UUID,  /* image is the UUID, offset counts from the image's __TEXT */
    IMAGE_NAMED, /* no UUID: image is a hash of the name, offset counts from the load address */
    IMAGE_GROUP, /* slide alone, place in the shared cache not known yet: image is the slide group
                    (image_group_id), offset is the unslid address */
};

enum frame_status {
    FRAME_RESOLVED,
    FRAME_NO_IMAGE,
    FRAME_NO_SYMBOLS,
    FRAME_OUT_OF_RANGE,
};

/* What an image is to the app; from its path, its symbol file's kind, or a rule. */
enum image_class {
    IMAGE_CLASS_UNKNOWN,
    IMAGE_CLASS_APP,
    IMAGE_CLASS_SYSTEM,
};

struct raw_frame {
    struct uuid image;
    uint64_t offset;
    enum image_kind image_kind;
    enum frame_kind kind;
    const char *symbol; /* a name the device gave, NULL without; part of the stack's identity */
};

struct raw_stack {
    const struct raw_frame *frames;
    size_t count;
};

struct frame {
    const char *function; /* for people: demangled, or the name itself; never NULL or empty */
    const char *mangled;  /* linkage name; NULL when the device gave a name that is none */
    const char *file;     /* NULL when unknown */
    uint32_t line;        /* 0: none */
    bool inlined;         /* inlined into the next frame of the same raw frame */
    bool local;           /* function known not to be external (C static): key takes its file */
    uint64_t from_start;  /* of what was looked up, from the function's start; symbolizer's own */
};

struct resolved_frame {
    struct raw_frame raw;
    enum frame_status status;
    bool approximate; /* named by another build's index */
    bool in_app;      /* its image is not known to be the system's; rules have the last word */
    bool has_index;   /* a symbol index was there (status OUT_OF_RANGE or RESOLVED by it) */
    /* The address minus the start of the (outermost) function, where an index has one. */
    bool has_function_offset;
    uint64_t function_offset;
    const char *image_name; /* "Shop", NULL when the image is not known */
    /* Where an IMAGE_GROUP frame was placed at last; else the raw values. */
    struct uuid image;
    uint64_t offset;
    const struct frame *frames; /* innermost first */
    size_t frame_count;         /* 0 when nothing is known; 1 for a device's name */
    /* Where it is the same, in this process, so are the frames, whoever asked; 0: it says nothing. */
    uint64_t frames_id;
};

struct resolved_stack {
    const struct resolved_frame *frames;
    size_t count;
};

const char *frame_kind_name(enum frame_kind kind);
bool frame_kind_parse(const char *name, enum frame_kind *ret);
/* "resolved", "no_image", "no_symbols", "out_of_range" */
const char *frame_status_name(enum frame_status status);

/* First 16 bytes of SHA-256 over app and frames; IMAGE_NONE frames are one sentinel each. */
void raw_stack_hash(const char *bundle_id, const struct raw_stack *s, uint8_t out[STACK_HASH_SIZE]);
/* Pseudo-UUIDs: of a named image, and of the slide group of an OS build (or version) and arch. */
struct uuid image_named_id(const char *name);
struct uuid image_group_id(const char *os, const char *arch);

/* A raw stack as bytes (for storage), and back. Unknown versions and damage are ERR_FORMAT, an arena
 * that is full ERR_NO_MEMORY. */
struct buf;
bool raw_stack_encode(const struct raw_stack *s, struct buf *out);
enum err raw_stack_decode(const void *data, size_t len, struct arena *arena, struct raw_stack *ret,
                          struct error *err);

/* The addresses of one report's stack as bytes: load addresses of the images it touches, and the
 * frames that are not `load + offset` (pointer-authentication bits, no image). `addresses[i]`
 * belongs to `s->frames[i]`. Decoding never fails: what is missing is `ret[i] = 0`. */
bool stack_addresses_encode(const struct raw_stack *s, const uint64_t *addresses, struct buf *out);
void stack_addresses_decode(const struct raw_stack *s, const void *data, size_t len,
                            uint64_t *ret_addresses);

#endif
