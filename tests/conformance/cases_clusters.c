/* Resolutions: clusters, races with arriving symbol files, aliases. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/suite.h"

#define DAY ((int64_t)86400000)

static void post(struct suite *s, const char *id, uint32_t stack)
{
    const struct suite_report r = {.id = id, .stack = stack};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

static void post_weighted(struct suite *s, const char *id, uint32_t stack, double weight)
{
    const struct suite_report r = {.id = id, .stack = stack, .weight = weight};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

static uint64_t living(struct suite *s, uint64_t id)
{
    struct error err = {0};
    struct cluster_row c;
    enum err rc = read_cluster(s->reader, id, NULL, &s->arena, &c, &err);
    ck_assert_msg(rc == ERR_OK || rc == ERR_NOT_FOUND, "%s", err.text);
    return rc ? 0 : c.id;
}

static const uint32_t all_images[] = {1, 2, 3, 4};

void suite_resolution_makes_a_cluster(struct suite *s)
{
    struct error err;
    struct stack_row *stacks;
    size_t count;
    suite_index(s, all_images, 4, 1);
    post(s, "a", 0);
    post(s, "b", 1);
    post(s, "c", 1);
    ck_assert_uint_eq(suite_cluster_count(s), 0);
    ck_assert_uint_eq(suite_resolve(s), 2);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_str_eq(c.title, "f128()");
    ck_assert_str_eq(c.function, "f128()");
    ck_assert_str_eq(c.file, "/src/feed.cc");
    ck_assert_str_eq(c.bundle_id, SUITE_APP);
    ck_assert_str_eq(c.state, "open");
    ck_assert_str_eq(c.rules_version, SUITE_RULES);
    ck_assert(!c.provisional);
    ck_assert_uint_eq(c.figures.count, 3);
    ck_assert(c.figures.weighted == 3.0);
    ck_assert_uint_eq(c.figures.stall_ms, 3000);
    ck_assert_uint_eq(c.stacks, 2);
    ck_assert_uint_eq(c.devices, 1);
    ck_assert_uint_eq(c.versions, 1);
    ck_assert_int_eq(c.first_seen_ms, SUITE_NOW);
    ck_assert_int_eq(c.last_seen_ms, SUITE_NOW);

    /* A known stack counts at once, without a resolver. */
    post(s, "d", 0);
    ck_assert_uint_eq(suite_pending(s), 0);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 4);

    ck_assert_int_eq(read_cluster_stacks(s->reader, c.id, 10, &s->arena, &stacks, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(stacks[0].count, 2);
    ck_assert(!stacks[0].pending && !stacks[0].provisional);
    const struct resolved_stack *r = &stacks[0].resolved;
    ck_assert_uint_eq(r->count, stacks[0].raw.count);
    ck_assert_int_eq(r->frames[0].status, FRAME_RESOLVED);
    ck_assert_uint_eq(r->frames[0].frame_count, 2);
    ck_assert_str_eq(r->frames[0].frames[0].function, "f128()");
    ck_assert_str_eq(r->frames[0].frames[0].mangled, "_Zf128");
    ck_assert_str_eq(r->frames[0].frames[0].file, "/src/feed.cc");
    ck_assert(r->frames[0].frames[0].inlined);
    ck_assert_str_eq(r->frames[0].frames[1].mangled, "outer");
    ck_assert_ptr_null(r->frames[0].frames[1].file);
    ck_assert(r->frames[0].frames[1].local && r->frames[0].in_app && r->frames[0].has_index);
    ck_assert_int_eq(r->frames[1].status, FRAME_NO_SYMBOLS);
    ck_assert_str_eq(r->frames[1].frames[0].function, "mach_msg");
    ck_assert_ptr_null(r->frames[1].frames[0].mangled);
}

void suite_late_resolution_is_ignored(struct suite *s)
{
    suite_index(s, all_images, 4, 1);
    post(s, "a", 0);
    struct write_op *first = suite_resolution(s);
    struct write_op *second = suite_resolution(s);
    suite_apply_keep(s, first);
    ck_assert(first->u.resolutions.items[0].applied);
    suite_apply_keep(s, second);
    ck_assert(!second->u.resolutions.items[0].applied);
    suite_apply_keep(s, first);
    ck_assert(!first->u.resolutions.items[0].applied);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 1);
    /* Of a stack that never was. */
    first->u.resolutions.items[0].stack_id = 4711;
    suite_apply_keep(s, first);
    ck_assert(!first->u.resolutions.items[0].applied);
    write_op_free(first);
    write_op_free(second);
}

/* The resolver's ops are in order of ids; nothing asks for that. */
void suite_resolutions_in_any_order(struct suite *s)
{
    static const size_t order[] = {4, 0, 3, 3, 1}; /* the second one is left out */
    suite_index(s, all_images, 4, 1);
    for (uint32_t k = 0; k < 5; k++) {
        char id[] = {(char)('a' + (int)k), 0};
        post(s, id, k);
    }
    struct write_op *op = suite_resolution(s);
    struct op_resolutions *o = &op->u.resolutions;
    struct op_resolution items[5];
    ck_assert_uint_eq(o->count, 5);
    for (size_t i = 0; i < 5; i++)
        items[i] = o->items[order[i]];
    memcpy(o->items, items, sizeof(items));
    suite_apply_keep(s, op);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(o->items[i].applied, i != 3);
    write_op_free(op);
    ck_assert_uint_eq(suite_pending(s), 1);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 4);
    ck_assert_uint_eq(suite_cluster(s, NULL).stacks, 4);
    ck_assert_uint_eq(suite_resolve(s), 1);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 5);
}

void suite_index_between_page_and_answer(struct suite *s)
{
    const uint32_t image[] = {1};
    post(s, "a", 0);
    struct write_op *late = suite_resolution(s);
    ck_assert_uint_eq(late->u.resolutions.items[0].missing_count, 2);
    suite_index(s, image, 1, 1);
    suite_apply_keep(s, late);
    ck_assert(!late->u.resolutions.items[0].applied);
    write_op_free(late);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    ck_assert_str_eq(suite_cluster(s, NULL).title, "f128()");

    /* The other way round: the answer first, then the file turns the stack back. */
    const uint32_t other[] = {2};
    post(s, "b", 1);
    suite_resolve(s);
    ck_assert(suite_cluster(s, "Image2+0x1004").provisional);
    suite_index(s, other, 1, 1);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    ck_assert_str_eq(suite_cluster(s, NULL).title, "f128()");
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 2);
}

void suite_provisional_becomes_an_alias(struct suite *s)
{
    struct error err;
    uint64_t *aliases;
    size_t count;
    post(s, "a", 0);
    post(s, "b", 0);
    suite_resolve(s);
    struct cluster_row p = suite_cluster(s, NULL);
    ck_assert(p.provisional);
    ck_assert_str_eq(p.title, "Image1+0x1000");
    suite_index(s, all_images, 1, 1);
    /* Pending again, but still where it was, and still counting there. */
    post(s, "c", 0);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 3);
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_uint_ne(c.id, p.id);
    ck_assert_uint_eq(c.figures.count, 3);
    ck_assert(!c.provisional);
    ck_assert_uint_eq(living(s, p.id), c.id);
    ck_assert_int_eq(read_cluster_aliases(s->reader, p.id, &s->arena, &aliases, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(aliases[0], p.id);
    ck_assert_uint_eq(living(s, 4711), 0);
}

/* Moves a stack that is pending to a cluster of a given title. */
static void move_to(struct suite *s, const char *title, size_t only)
{
    struct write_op *op = suite_resolution(s);
    struct op_resolutions *r = &op->u.resolutions;
    ck_assert_uint_lt(only, r->count);
    r->items[0] = r->items[only];
    r->count = 1;
    r->items[0].title = r->items[0].key_text = title;
    memset(r->items[0].key, 0, sizeof(r->items[0].key));
    memcpy(r->items[0].key, title, strlen(title));
    r->items[0].provisional = false;
    suite_apply_keep(s, op);
    ck_assert(r->items[0].applied);
    write_op_free(op);
}

static void repend(struct suite *s, uint32_t image)
{
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend = (struct op_repend){.uuid = suite_uuid(image), .all_users = true};
    suite_apply(s, op);
}

void suite_alias_follows_the_weight(struct suite *s)
{
    post_weighted(s, "a", 0, 1);
    post_weighted(s, "b", 1, 9);
    post_weighted(s, "c", 2, 1);
    move_to(s, "old", 0);
    move_to(s, "old", 0);
    move_to(s, "old", 0);
    uint64_t old = suite_cluster(s, "old").id;
    repend(s, SUITE_SYSTEM);
    move_to(s, "x", 0); /* two reports, but less weight */
    move_to(s, "y", 0);
    ck_assert_uint_eq(living(s, old), old);
    move_to(s, "x", 0);
    ck_assert_uint_eq(living(s, old), suite_cluster(s, "y").id);
    ck_assert_uint_eq(suite_cluster(s, "x").figures.count, 2);
    ck_assert(suite_cluster(s, "y").figures.weighted == 9.0);
    ck_assert_uint_eq(suite_cluster_count(s), 2);
}

void suite_alias_chains_are_flat(struct suite *s)
{
    static const char *const titles[] = {"t1", "t2", "t3", "t4"};
    uint64_t ids[4];
    struct error err;
    uint64_t *aliases;
    size_t count;
    post(s, "a", 0);
    for (size_t i = 0; i < 4; i++) {
        move_to(s, titles[i], 0);
        ids[i] = suite_cluster(s, NULL).id;
        repend(s, 1);
    }
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(living(s, ids[i]), ids[3]);
    ck_assert_int_eq(read_cluster_aliases(s->reader, ids[1], &s->arena, &aliases, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3);
    /* Back under the first key: its id again, the others follow. */
    move_to(s, titles[0], 0);
    uint64_t again = suite_cluster(s, NULL).id;
    ck_assert_uint_eq(again, ids[0]);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(living(s, ids[i]), again);
}

static void post_some(struct suite *s, int round)
{
    char id[16];
    for (uint32_t k = 0; k < 12; k++) {
        snprintf(id, sizeof(id), "%d.%u", round, k);
        post(s, id, k);
    }
}

void suite_order_of_reports_and_symbols(struct suite *s)
{
    suite_index(s, all_images, 2, 1);
    post_some(s, 1);
    suite_resolve(s);
    suite_index(s, all_images + 2, 2, 1);
    post_some(s, 2);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster_count(s), 2);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 16);
    ck_assert_uint_eq(suite_cluster(s, "f128()").stacks, 8);
    ck_assert_uint_eq(suite_cluster(s, "f129()").figures.count, 8);
}

static struct write_op *many_stacks(uint32_t first, uint32_t count)
{
    struct suite_report *r = calloc(count, sizeof(*r));
    char(*ids)[16] = calloc(count, sizeof(*ids));
    for (uint32_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof(ids[i]), "m%u", first + i);
        r[i] = (struct suite_report){.id = ids[i], .stack = (first + i) * 4};
    }
    struct write_op *op = suite_batch(SUITE_APP, r, count);
    free(r);
    free(ids);
    return op;
}

static size_t turn_backs(struct suite *s, struct turn_back_row **rows)
{
    struct error err = {0};
    size_t count = 0;
    ck_assert_int_eq(read_turn_backs(s->reader, 10, &s->arena, rows, &count, &err), ERR_OK);
    return count;
}

void suite_repend_in_chunks(struct suite *s)
{
    struct turn_back_row *noted;
    const uint32_t image[] = {1};
    uint32_t total = REPEND_CHUNK + 300;
    for (uint32_t i = 0; i < total; i += 460)
        suite_apply(s, many_stacks(i, 460));
    ck_assert_uint_eq(suite_resolve(s), total);
    suite_index(s, image, 1, 1);
    ck_assert_uint_eq(suite_pending(s), REPEND_CHUNK);
    ck_assert_uint_eq(turn_backs(s, &noted), 1);
    ck_assert(!noted[0].all_users);
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend.uuid = suite_uuid(1);
    suite_apply_keep(s, op); /* does not settle: the note stays */
    op->u.repend = (struct op_repend){.uuid = suite_uuid(1), .settles = true};
    uint64_t turned = 0;
    do {
        ck_assert_uint_eq(turn_backs(s, &noted), 1);
        suite_apply_keep(s, op);
        turned += op->u.repend.count;
    } while (op->u.repend.more);
    write_op_free(op);
    ck_assert_uint_eq(turned, total);
    ck_assert_uint_eq(turn_backs(s, &noted), 0);
    ck_assert_uint_eq(suite_pending(s), total);
}

void suite_repend_all_users(struct suite *s)
{
    suite_index(s, all_images, 4, 1);
    post_some(s, 1);
    suite_resolve(s);
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend.uuid = suite_uuid(1);
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.repend.count, 0); /* nobody misses it */
    ck_assert(!op->u.repend.more);
    op->u.repend = (struct op_repend){.uuid = suite_uuid(1), .all_users = true};
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.repend.count, 3); /* 0, 4, 8 */
    ck_assert_uint_eq(suite_pending(s), 3);

    /* Pending ones are disturbed, too: an answer from the old index comes too late. */
    struct write_op *old = suite_resolution(s);
    op->u.repend = (struct op_repend){.uuid = suite_uuid(1), .all_users = true};
    do
        suite_apply_keep(s, op);
    while (op->u.repend.more);
    suite_apply_keep(s, old);
    for (size_t i = 0; i < old->u.resolutions.count; i++)
        ck_assert(!old->u.resolutions.items[i].applied);
    write_op_free(old);
    ck_assert_uint_eq(suite_resolve(s), 3);

    /* Several images in one op; a stack of two of them counts once. */
    const struct uuid others[] = {suite_uuid(2), suite_uuid(1), suite_uuid(2)};
    op->u.repend = (struct op_repend){
        .uuid = suite_uuid(1), .others = others, .other_count = 3, .all_users = true};
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.repend.count, 6);
    ck_assert_uint_eq(suite_pending(s), 6);
    write_op_free(op);
}

void suite_richer_index_replaces(struct suite *s)
{
    struct error err;
    struct slice_row *rows;
    size_t count;
    const uint32_t image[] = {1};
    struct uuid u = suite_uuid(1);
    suite_index(s, image, 1, 0);
    post(s, "a", 0);
    suite_resolve(s);
    struct turn_back_row *noted;
    ck_assert_uint_eq(turn_backs(s, &noted), 0); /* nobody missed it, and few did */
    suite_index(s, image, 1, 5);
    ck_assert_uint_eq(suite_pending(s), 1);
    ck_assert_uint_eq(turn_backs(s, &noted), 1);
    ck_assert(noted[0].all_users);
    struct write_op *back = write_op_new(WRITE_REPEND, 4096);
    back->u.repend = (struct op_repend){.uuid = u, .settles = true};
    suite_apply_keep(s, back); /* not all that use it */
    ck_assert_uint_eq(turn_backs(s, &noted), 1);
    back->u.repend = (struct op_repend){.uuid = u, .settles = true, .all_users = true};
    do
        suite_apply_keep(s, back);
    while (back->u.repend.more);
    write_op_free(back);
    ck_assert_uint_eq(turn_backs(s, &noted), 0);
    ck_assert_int_eq(read_symbol(s->reader, &u, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert(rows[0].current && !rows[1].current);
    ck_assert_uint_eq(rows[0].lines, 500);
    /* One that was not installed (poorer) changes nothing. */
    struct write_op *up = suite_upload(1, SUITE_NOW);
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, image, 1, 1);
    ((struct op_slice *)op->u.upload_state.slices)[0].installed = false;
    suite_resolve(s);
    suite_apply(s, op);
    write_op_free(up);
    ck_assert_uint_eq(suite_pending(s), 0);
    ck_assert_int_eq(read_symbol(s->reader, &u, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(rows[0].lines, 500);
}

static struct write_op *member(const char *id, uint32_t stack, uint32_t image, bool vmaddr)
{
    const struct suite_report r = {.id = id, .stack = stack};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    struct op_image *i = suite_image(op, image, IMAGE_UUID);
    i->in_group = true;
    i->group = suite_uuid(SUITE_GROUP);
    i->has_vmaddr = vmaddr;
    i->vmaddr = 0x180000000u;
    return op;
}

/* Clients name the members of a slide group: what they can add in a day has an end. */
void suite_group_members_are_capped(struct suite *s)
{
    enum { CAP = 2 * 16, SENT = CAP + 8 };
    struct error err;
    struct layout_row *rows;
    size_t count;
    uint32_t files[SENT];
    struct uuid group = suite_uuid(SUITE_GROUP);
    suite_cap_values(s, 2);
    for (uint32_t i = 0; i < SENT; i++) {
        char id[16];
        snprintf(id, sizeof(id), "m%u", i);
        files[i] = 1000 + i;
        suite_apply(s, member(id, 4, files[i], false));
    }
    /* Members show once their place is known. */
    suite_index(s, files, SENT, 1);
    ck_assert_int_eq(read_group(s->reader, SUITE_APP, &group, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, CAP);
}

void suite_slide_groups(struct suite *s)
{
    struct error err;
    struct layout_row *rows;
    size_t count;
    struct uuid group = suite_uuid(SUITE_GROUP);
    suite_index(s, all_images, 4, 1);
    suite_apply(s, member("a", 4, 30, false));
    suite_resolve(s);
    ck_assert_uint_eq(suite_pending(s), 0);
    /* A report says where a member lies: it is no file's word, and no size. */
    suite_apply(s, member("b", 0, 30, true));
    ck_assert_uint_eq(suite_pending(s), 1); /* its own stack */
    ck_assert_int_eq(read_group(s->reader, SUITE_APP, &group, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 0);
    suite_resolve(s);
    const uint32_t told[] = {30};
    suite_index(s, told, 1, 1);
    ck_assert_uint_eq(suite_pending(s), 1);
    ck_assert_int_eq(read_group(s->reader, SUITE_APP, &group, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    /* Once more is no news. */
    suite_resolve(s);
    suite_apply(s, member("c", 0, 30, true));
    ck_assert_uint_eq(suite_pending(s), 0);
    struct stack_row *stacks;
    ck_assert_int_eq(read_cluster_stacks(s->reader, suite_cluster(s, NULL).id, 10, &s->arena,
                                         &stacks, &count, &err),
                     ERR_OK);
    for (size_t i = 0; i < count; i++) {
        if (stacks[i].raw.count == 3) {
            struct uuid placed = suite_uuid(30);
            ck_assert(uuid_equal(&stacks[i].resolved.frames[2].image, &placed));
            ck_assert_uint_eq(stacks[i].resolved.frames[2].offset, (uint64_t)0x1004 - 30 * 0x10000);
        }
    }

    /* A known place of a new member, learnt by an index, between page and answer. */
    suite_apply(s, member("d", 9, 31, false));
    struct write_op *late = suite_resolution(s);
    const uint32_t file[] = {31};
    suite_index(s, file, 1, 1);
    suite_apply_keep(s, late);
    ck_assert(!late->u.resolutions.items[0].applied);
    write_op_free(late);
    ck_assert_int_eq(read_group(s->reader, SUITE_APP, &group, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(rows[1].vmaddr, 0x180000000u + 31 * 0x10000u);
    ck_assert_uint_eq(rows[1].size, 0x8000);
}

/* What other apps' reports name as members of a group places none of this app's frames. */
void suite_members_are_the_apps_own(struct suite *s)
{
    struct error err;
    struct layout_row *rows;
    size_t count;
    const uint32_t files[] = {30, 31};
    const struct uuid group = suite_uuid(SUITE_GROUP);
    const struct suite_report r = {.id = "other", .stack = 0};
    struct write_op *op = suite_batch("com.example.other", &r, 1);
    for (uint32_t i = 30; i <= 31; i++) {
        struct op_image *image = suite_image(op, i, IMAGE_UUID);
        image->in_group = true;
        image->group = group;
    }
    suite_apply(s, op);
    suite_apply(s, member("mine", 4, 30, false));
    suite_index(s, files, 2, 1);
    ck_assert_int_eq(read_group(s->reader, SUITE_APP, &group, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    const struct uuid own = suite_uuid(30);
    ck_assert(uuid_equal(&rows[0].uuid, &own));
    ck_assert_int_eq(
        read_group(s->reader, "com.example.other", &group, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(
        read_group(s->reader, "com.example.nobody", &group, &s->arena, &rows, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(read_group(s->reader, NULL, &group, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
}

/* The vmaddr that a symbol file gave the image, or 0. */
static uint64_t place_of(struct suite *s, uint32_t image)
{
    struct error err;
    struct layout_row *rows;
    size_t count;
    struct uuid u = suite_uuid(image);
    ck_assert_int_eq(read_layouts(s->reader, 10, &s->arena, &rows, &count, &err), ERR_OK);
    for (size_t i = 0; i < count; i++) {
        if (uuid_equal(&rows[i].uuid, &u))
            return rows[i].vmaddr;
    }
    return 0;
}

static void claim(struct suite *s, const char *app, uint32_t image, uint64_t vmaddr)
{
    const struct suite_report r = {.id = app, .stack = 0};
    struct write_op *op = suite_batch(app, &r, 1);
    struct op_image *i = suite_image(op, image, IMAGE_UUID);
    i->has_vmaddr = true;
    i->vmaddr = vmaddr;
    suite_apply(s, op);
}

void suite_layouts_are_learnt(struct suite *s)
{
    struct error err;
    struct layout_row *rows;
    struct layout_claim_row *claims;
    size_t count;
    const uint32_t file[] = {30};
    struct uuid u = suite_uuid(30), newest = suite_uuid(31);
    /* What a report says is its app's: the first of each, newest first. */
    claim(s, "com.example.other", 30, 0xbad0000);
    suite_apply(s, member("a", 0, 30, true));
    suite_apply(s, member("b", 0, 30, true));
    suite_apply(s, member("c", 0, 31, true));
    ck_assert_uint_eq(place_of(s, 30), 0);
    ck_assert_int_eq(read_layout_claims(s->reader, 10, &s->arena, &claims, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert(uuid_equal(&claims[0].uuid, &newest));
    ck_assert(uuid_equal(&claims[1].uuid, &u));
    ck_assert_uint_eq(claims[1].vmaddr, 0x180000000u);
    ck_assert_str_eq(claims[1].bundle_id, SUITE_APP);
    ck_assert_uint_eq(claims[2].vmaddr, 0xbad0000);
    ck_assert_str_eq(claims[2].bundle_id, "com.example.other");
    ck_assert_int_eq(read_layout_claims(s->reader, 1, &s->arena, &claims, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    /* A symbol file knows better, for all; reports say nothing more about it then. */
    suite_index(s, file, 1, 1);
    ck_assert_uint_eq(place_of(s, 30), 0x180000000u + 30 * 0x10000u);
    claim(s, "com.example.third", 30, 0xbad0000);
    ck_assert_uint_eq(place_of(s, 30), 0x180000000u + 30 * 0x10000u);
    ck_assert_int_eq(read_layout_claims(s->reader, 10, &s->arena, &claims, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    const uint32_t more[] = {31};
    suite_index(s, more, 1, 1);
    ck_assert_int_eq(read_layouts(s->reader, 1, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert(uuid_equal(&rows[0].uuid, &newest));
}

void suite_give_up_on_old_ones(struct suite *s)
{
    struct error err;
    struct pending_stack *page;
    size_t count;
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0, .time_ms = SUITE_NOW - 20 * DAY, .received_ms = SUITE_NOW},
        {.id = "b", .stack = 1, .received_ms = SUITE_NOW + DAY}};
    suite_apply(s, suite_batch(SUITE_APP, reports, 2));
    suite_resolve(s);
    struct write_op *op = write_op_new(WRITE_GIVE_UP, 4096);
    op->u.give_up.before_ms = SUITE_NOW + DAY;
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.give_up.count, 1);
    ck_assert_int_eq(read_pending(s->reader, 0, 10, &s->arena, &page, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert(page[0].give_up);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, "given up").figures.count, 1);
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.give_up.count, 0);
    write_op_free(op);
    /* The file came after all. */
    suite_index(s, all_images, 1, 1);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 1);
}
