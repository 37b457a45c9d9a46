/*
 * sqlite_images - what images are called, where they lie, and whom that concerns.
 *
 * Purpose: the images of an app (first seen wins), where symbol files say that a UUID's __TEXT lies,
 * the members of slide groups; and turning stacks back to pending when one of these facts is new.
 *
 * Invariants: what a report says of a vmaddr (first said wins) is its own app's and places no frame
 * of a slide group; it is not kept once a symbol file told. Members of a group are its own app's, too.
 * A stack that is turned back, or is pending and concerned, gets a new generation, so that an
 * answer computed from the old facts comes too late.
 *
 * Threads: the writer's. Memory: the op's scratch arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_IMAGES_H
#define STALLSYM_STORAGE_SQLITE_IMAGES_H

#include "storage/sqlite_storage.h"

enum err sqlite_images_learn(struct sqlite_storage *s, int64_t app_id, int32_t day,
                             const struct op_image *images, size_t count, struct error *err);
/* Of a symbol file. *ret_changed: the place is new or another one. */
enum err sqlite_layout_learn(struct sqlite_storage *s, const struct uuid *uuid, uint64_t vmaddr,
                             uint64_t size, bool *ret_changed, struct error *err);

/* A list of UUIDs without repeats. */
struct uuid_list {
    struct uuid *items;
    size_t count, cap;
};
enum err uuid_list_add(struct uuid_list *l, struct arena *arena, const struct uuid *uuid,
                       struct error *err);
/* Adds the slide groups that the image of the shelf `uuid` is a member of. */
enum err sqlite_groups_of(struct sqlite_storage *s, const struct uuid *uuid, struct uuid_list *l,
                          struct error *err);

/* One look for stacks that a changed fact concerns. */
struct repend {
    const struct uuid_list *uuids; /* shelves and slide groups */
    bool all_users;                /* those with a frame in one of them; else those that miss one */
    uint64_t after_id;
    uint64_t count; /* result: turned back, at most REPEND_CHUNK */
    bool more;      /* result: go on with after_id */
};
enum err sqlite_repend(struct sqlite_storage *s, struct repend *r, struct error *err);
/* Pending stacks with a frame in `uuid` (a slide group) get a new generation. */
enum err sqlite_disturb_pending(struct sqlite_storage *s, const struct uuid *uuid,
                                struct error *err);

#endif
