/* What an app's own token sent serves that app alone (storage/read_shelves.h). */
#include <check.h>
#include <string.h>

#include "storage/read_shelves.h"
#include "storage/read_stand_ins.h"
#include "tests/conformance/suite.h"

#define OTHER_APP "com.example.other"
#define STACK     8 /* its frames lie in image 1 */

static struct error err;

static void send(struct suite *s, const char *bundle_id)
{
    const struct suite_report r = {.id = bundle_id, .stack = STACK, .version = "1.0"};
    struct write_op *op = suite_batch(bundle_id, &r, 1);
    suite_image(op, 1, IMAGE_UUID);
    suite_apply(s, op);
}

/* Image `n`, for one app alone (NULL: for all). */
static uint64_t bring(struct suite *s, const char *own, uint32_t n, uint64_t richness)
{
    struct write_op *up = suite_upload(n, SUITE_NOW);
    up->u.upload.bundle_id = own ? own : "";
    up->u.upload.bound = own != NULL;
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, &n, 1, richness);
    if (own)
        suite_own((struct op_slice *)op->u.upload_state.slices,
                  SUITE_SHELF_OF(n) + 100 * (strcmp(own, SUITE_APP) != 0));
    suite_apply(s, op);
    uint64_t id = up->u.upload.id;
    write_op_free(up);
    return id;
}

static void bring_named(struct suite *s, const char *own, uint32_t n, const char *name, bool in_use)
{
    struct write_op *up = suite_upload(n, SUITE_NOW);
    up->u.upload.bundle_id = own;
    up->u.upload.bound = true;
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, &n, 1, 1);
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    x->name = name;
    x->installed = in_use;
    suite_own(x, SUITE_SHELF_OF(n) + 100 * (strcmp(own, SUITE_APP) != 0));
    suite_apply(s, op);
    write_op_free(up);
}

static bool serves(struct suite *s, const char *bundle_id, uint32_t n)
{
    const struct uuid image = suite_uuid(n);
    bool present = false;
    suite_expect(read_symbols_present(s->reader, bundle_id, &image, 1, &present, &err), &err);
    return present;
}

static uint32_t shelf_for(struct suite *s, const char *bundle_id, uint32_t n)
{
    const struct uuid image = suite_uuid(n);
    struct uuid found;
    uint32_t number;
    suite_expect(read_shelf_for(s->reader, bundle_id, &image, &found, &err), &err);
    memcpy(&number, found.bytes + 4, sizeof(number));
    return number;
}

static size_t missing(struct suite *s, const char *bundle_id, uint32_t n)
{
    struct missing_row *rows;
    const char *cursor;
    size_t count, found = 0;
    const struct uuid image = suite_uuid(n);
    suite_expect(
        read_missing(s->reader, bundle_id, 100, NULL, &s->arena, &rows, &count, &cursor, &err),
        &err);
    for (size_t i = 0; i < count; i++)
        found += uuid_equal(&rows[i].uuid, &image);
    return found;
}

void suite_own_indexes_serve_their_app(struct suite *s)
{
    struct slice_row *rows;
    const char *cursor;
    size_t count;
    bool owns = true;
    const struct uuid image = suite_uuid(1);
    send(s, SUITE_APP);
    send(s, OTHER_APP);
    suite_resolve(s);
    ck_assert_uint_eq(missing(s, SUITE_APP, 1) + missing(s, OTHER_APP, 1), 2);
    bring(s, SUITE_APP, 1, 1);
    ck_assert(serves(s, SUITE_APP, 1) && !serves(s, OTHER_APP, 1) && !serves(s, "", 1));
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), SUITE_SHELF_OF(1));
    ck_assert_uint_eq(shelf_for(s, NULL, 1), SUITE_SHELF_OF(1));
    ck_assert_uint_eq(shelf_for(s, OTHER_APP, 1), 1);
    ck_assert_uint_eq(missing(s, SUITE_APP, 1), 0);
    ck_assert_uint_eq(missing(s, OTHER_APP, 1), 1);
    suite_expect(read_owns_shelves(s->reader, OTHER_APP, &owns, &err), &err);
    ck_assert(!owns);
    suite_expect(read_owns_shelves(s->reader, SUITE_APP, &owns, &err), &err);
    ck_assert(owns);
    suite_expect(
        read_symbols(s->reader, OTHER_APP, 10, NULL, &s->arena, &rows, &count, &cursor, &err),
        &err);
    ck_assert_uint_eq(count, 0);
    suite_expect(
        read_symbols(s->reader, SUITE_APP, 10, NULL, &s->arena, &rows, &count, &cursor, &err),
        &err);
    ck_assert_uint_eq(count, 1);
    ck_assert(uuid_equal(&rows[0].image, &image) && !uuid_equal(&rows[0].shelf, &image));
    ck_assert(rows[0].bound);
    ck_assert_int_eq(
        read_symbol_files(s->reader, OTHER_APP, &image, &s->arena, &rows, &count, &err),
        ERR_NOT_FOUND);
    /* Several stand side by side. */
    bring(s, OTHER_APP, 1, 2);
    ck_assert_uint_eq(shelf_for(s, OTHER_APP, 1), SUITE_SHELF_OF(1) + 100);
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), SUITE_SHELF_OF(1));
    suite_expect(read_symbol_files(s->reader, NULL, &image, &s->arena, &rows, &count, &err), &err);
    ck_assert_uint_eq(count, 2);
    ck_assert(rows[0].current && rows[1].current);
    ck_assert(!serves(s, "com.example.third", 1));
}

/* An index turns back those whom it serves; what serves all, those with an index of their own, too. */
void suite_own_indexes_wake_their_app(struct suite *s)
{
    send(s, SUITE_APP);
    send(s, OTHER_APP);
    suite_resolve(s);
    bring(s, SUITE_APP, 1, 1);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    bring(s, SUITE_APP, 1, 2); /* another one in its place */
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    bring(s, NULL, 1, 3);
    ck_assert_uint_eq(suite_pending(s), 2);
    suite_resolve(s);
    bring(s, OTHER_APP, 1, 4); /* beside the one that it used */
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend = (struct op_repend){.uuid = suite_uuid(SUITE_SHELF_OF(1)), .all_users = true};
    suite_apply(s, op);
    ck_assert_uint_eq(suite_pending(s), 1);
}

void suite_an_app_is_served_by_the_richer_index(struct suite *s)
{
    bring(s, NULL, 1, 2);
    bring(s, SUITE_APP, 1, 1);
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), 1);
    bring(s, SUITE_APP, 1, 2); /* equals: its own */
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), SUITE_SHELF_OF(1));
    bring(s, NULL, 1, 3);
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), 1);
    uint64_t id = bring(s, SUITE_APP, 1, 4);
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), SUITE_SHELF_OF(1));
    ck_assert_uint_eq(shelf_for(s, OTHER_APP, 1), 1);
    /* It goes, and so do the ones before it: what serves all is left. */
    struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    op->u.symbol_delete.shelf = suite_uuid(SUITE_SHELF_OF(1));
    suite_apply(s, op);
    ck_assert_uint_eq(shelf_for(s, SUITE_APP, 1), 1);
    struct upload_row u;
    suite_expect(read_upload(s->reader, id, &s->arena, &u, &err), &err);
    ck_assert_uint_eq(u.slice_count, 0);
}

static size_t members_of(struct suite *s, const char *bundle_id, uint64_t *ret_vmaddr)
{
    const struct uuid group = suite_uuid(SUITE_GROUP);
    struct layout_row *rows;
    size_t count;
    suite_expect(read_group(s->reader, bundle_id, &group, &s->arena, &rows, &count, &err), &err);
    if (count > 0)
        *ret_vmaddr = rows[0].vmaddr;
    return count;
}

/* An app's own indexes of an image go, its stacks are turned back, and nothing waits any more. */
static void take_away(struct suite *s, uint32_t n)
{
    const struct uuid shelf = suite_uuid(SUITE_SHELF_OF(n));
    struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    op->u.symbol_delete.shelf = shelf;
    suite_apply(s, op);
    op = write_op_new(WRITE_REFITTED, 4096);
    op->u.refitted = (struct op_refitted){.shelf = shelf, .all_users = true};
    suite_apply(s, op);
    bool more = true;
    for (uint64_t after_id = 0; more;) {
        op = write_op_new(WRITE_REPEND, 4096);
        op->u.repend = (struct op_repend){
            .uuid = shelf, .all_users = true, .settles = true, .after_id = after_id};
        suite_apply_keep(s, op);
        more = op->u.repend.more;
        after_id = op->u.repend.after_id;
        write_op_free(op);
    }
}

/* A report with a frame in the slide group that image `n` is of. */
static void send_member(struct suite *s, const char *bundle_id, uint32_t n)
{
    const struct suite_report r = {.id = bundle_id, .stack = 4};
    struct write_op *op = suite_batch(bundle_id, &r, 1);
    suite_image(op, SUITE_GROUP, IMAGE_GROUP);
    struct op_image *member = suite_image(op, n, IMAGE_UUID);
    member->in_group = true;
    member->group = suite_uuid(SUITE_GROUP);
    suite_apply(s, op);
}

static void one_own_layout(struct suite *s, uint32_t n)
{
    const struct uuid image = suite_uuid(n);
    struct layout_row *rows;
    size_t count;
    suite_expect(read_layouts(s->reader, 10, &s->arena, &rows, &count, &err), &err);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(rows[0].own, SUITE_APP);
    ck_assert(uuid_equal(&rows[0].uuid, &image));
}

void suite_own_places_count_for_their_app(struct suite *s)
{
    static const char *const apps[] = {SUITE_APP, OTHER_APP};
    struct layout_row *rows;
    uint64_t vmaddr = 0;
    size_t count;
    for (size_t i = 0; i < 2; i++) {
        send_member(s, apps[i], 30);
    }
    bring(s, SUITE_APP, 30, 1);
    ck_assert_uint_eq(members_of(s, SUITE_APP, &vmaddr), 1);
    ck_assert_uint_eq(vmaddr, 0x180000000u + 30 * 0x10000u);
    ck_assert_uint_eq(members_of(s, OTHER_APP, &vmaddr) + members_of(s, NULL, &vmaddr), 0);
    one_own_layout(s, 30);
    /* Each app has the image once. */
    bring(s, NULL, 30, 1);
    ck_assert_uint_eq(members_of(s, SUITE_APP, &vmaddr), 1);
    ck_assert_uint_eq(members_of(s, OTHER_APP, &vmaddr), 1);
    suite_expect(read_layouts(s->reader, 10, &s->arena, &rows, &count, &err), &err);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].own, "");
}

/* As the place of what serves all stays when its index goes. */
void suite_own_places_outlive_their_index(struct suite *s)
{
    uint64_t vmaddr = 0;
    send_member(s, SUITE_APP, 30);
    bring(s, SUITE_APP, 30, 1);
    suite_resolve(s);
    take_away(s, 30);
    ck_assert_uint_eq(suite_pending(s), 1);
    ck_assert_uint_eq(members_of(s, SUITE_APP, &vmaddr), 1);
    one_own_layout(s, 30);
    bring(s, SUITE_APP, 30, 1);
    ck_assert_uint_eq(members_of(s, SUITE_APP, &vmaddr), 1);
}

/* An answer that misses what came meanwhile is late; an index that nobody can open is looked after, on
 * the shelf where it lies. */
void suite_own_indexes_that_are_gone(struct suite *s)
{
    struct refit_row *refits;
    struct pending_stack *mine;
    size_t count;
    const struct uuid shelf = suite_uuid(SUITE_SHELF_OF(1));
    send(s, SUITE_APP);
    send(s, OTHER_APP);
    struct write_op *early = suite_resolution(s);
    bring(s, SUITE_APP, 1, 1);
    suite_apply_keep(s, early);
    suite_expect(read_pending(s->reader, 0, 10, &s->arena, &mine, &count, &err), &err);
    while (strcmp(mine->bundle_id, SUITE_APP) != 0)
        mine++;
    ck_assert_uint_eq(count, 1); /* the other app's is answered */
    write_op_free(early);
    struct write_op *op = suite_resolution(s);
    struct op_resolution *item = NULL;
    for (size_t i = 0; i < op->u.resolutions.count; i++) {
        if (op->u.resolutions.items[i].stack_id == mine->stack_id)
            item = &op->u.resolutions.items[i];
    }
    ck_assert_ptr_nonnull(item);
    struct uuid *gone = arena_array(op->arena, 1, sizeof(*gone));
    *gone = suite_uuid(1);
    item->missing = gone;
    item->missing_count = item->gone_count = 1;
    suite_apply(s, op);
    suite_expect(read_refits(s->reader, 10, &s->arena, &refits, &count, &err), &err);
    ck_assert_uint_eq(count, 1);
    ck_assert(uuid_equal(&refits[0].shelf, &shelf));
}

void suite_own_candidates_are_the_apps(struct suite *s)
{
    const uint32_t image = 31;
    static const char *const apps[] = {SUITE_APP, OTHER_APP};
    struct missing_row *rows;
    const char *cursor;
    size_t count;
    send(s, SUITE_APP);
    send(s, OTHER_APP);
    suite_resolve(s);
    struct write_op *up = suite_upload(1, SUITE_NOW);
    up->u.upload.bound = true;
    suite_apply_keep(s, up);
    struct write_op *op = suite_indexed(up->u.upload.id, &image, 1, 1);
    struct op_slice *x = (struct op_slice *)op->u.upload_state.slices;
    x->name = "Image1";
    suite_own(x, SUITE_SHELF_OF(image));
    suite_apply(s, op);
    write_op_free(up);
    for (size_t i = 0; i < 2; i++) {
        suite_expect(
            read_missing(s->reader, apps[i], 10, NULL, &s->arena, &rows, &count, &cursor, &err),
            &err);
        size_t at = 0;
        while (strcmp(rows[at].name, "Image1") != 0)
            at++;
        ck_assert_uint_eq(rows[at].candidate_count, i == 0);
        if (i == 0) {
            const struct uuid uuid = suite_uuid(image);
            ck_assert(uuid_equal(&rows[at].candidates[0].uuid, &uuid));
        }
    }
    /* It may stand in, by the UUID that its file has. */
    op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){.uuid = suite_uuid(1),
                                          .stand_in = suite_uuid(image),
                                          .bundle_id = "",
                                          .on = true,
                                          .by_hand = true,
                                          .now_ms = SUITE_NOW};
    suite_apply(s, op);
    ck_assert_uint_eq(suite_pending(s), 2);
    for (size_t i = 0; i < 2; i++) {
        suite_expect(
            read_missing(s->reader, apps[i], 10, NULL, &s->arena, &rows, &count, &cursor, &err),
            &err);
        size_t at = 0;
        while (strcmp(rows[at].name, "Image1") != 0)
            at++;
        ck_assert_int_eq(rows[at].stand_in != NULL, i == 0);
    }
    suite_resolve(s);
    bring(s, SUITE_APP, image, 2);
    ck_assert_uint_eq(suite_pending(s), 1); /* whose frames it names */
}

static struct stand_in_row stand_in_of(struct suite *s, const char *bundle_id, size_t expected)
{
    struct stand_in_row *rows, found = {.bundle_id = NULL};
    size_t count;
    suite_expect(read_stand_ins(s->reader, NULL, &s->arena, &rows, &count, &err), &err);
    ck_assert_uint_eq(count, expected);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].bundle_id, bundle_id) == 0)
            found = rows[i];
    }
    return found;
}

static enum err let_stand_in(struct suite *s, const char *bundle_id, uint32_t image, bool by_hand)
{
    struct write_op *op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){.uuid = suite_uuid(1),
                                          .stand_in = suite_uuid(image),
                                          .bundle_id = bundle_id,
                                          .on = image != 0,
                                          .by_hand = by_hand,
                                          .now_ms = SUITE_NOW};
    enum err rc = suite_try(s, op, &err);
    write_op_free(op);
    return rc;
}

/* Nothing that one app lets stand in, or what of its own it has, says or does anything to others. */
void suite_own_stand_ins_are_the_apps(struct suite *s)
{
    send(s, SUITE_APP);
    send(s, OTHER_APP);
    suite_resolve(s);
    for (uint32_t image = 31; image <= 32; image++) {
        bring_named(s, SUITE_APP, image, "Image1", true);
        bring_named(s, OTHER_APP, image, image == 31 ? "Other" : "Image1", image == 31);
    }
    ck_assert_int_eq(let_stand_in(s, SUITE_APP, 31, false), ERR_OK);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    /* What of the file would do is the other app's. */
    ck_assert_int_eq(let_stand_in(s, OTHER_APP, 31, true), ERR_CONFLICT);
    ck_assert_int_eq(let_stand_in(s, OTHER_APP, 32, true), ERR_NOT_FOUND);
    bring_named(s, OTHER_APP, 33, "Image1", true);
    ck_assert_int_eq(let_stand_in(s, OTHER_APP, 33, false), ERR_OK);
    ck_assert_uint_eq(suite_pending(s), 1);
    suite_resolve(s);
    const struct uuid uuid = suite_uuid(31);
    const struct stand_in_row row = stand_in_of(s, SUITE_APP, 2);
    ck_assert(uuid_equal(&row.stand_in, &uuid));
    /* Nor does the end of it. */
    ck_assert_int_eq(let_stand_in(s, OTHER_APP, 0, true), ERR_OK);
    ck_assert_uint_eq(suite_pending(s), 1);
    ck_assert_ptr_nonnull(stand_in_of(s, SUITE_APP, 1).bundle_id);
    suite_resolve(s);
    /* What is for all is in place of what single apps have. */
    ck_assert_int_eq(let_stand_in(s, "", 32, true), ERR_OK);
    ck_assert_ptr_nonnull(stand_in_of(s, "", 1).bundle_id);
    ck_assert_uint_eq(suite_pending(s), 2);
    suite_resolve(s);
    ck_assert_int_eq(let_stand_in(s, SUITE_APP, 31, false), ERR_OK); /* not in place of that one */
    stand_in_of(s, "", 1);
    ck_assert_int_eq(let_stand_in(s, SUITE_APP, 31, true), ERR_OK);
    stand_in_of(s, "", 2);
    /* The true file ends it for those whom it serves. */
    bring(s, SUITE_APP, 1, 1);
    ck_assert_ptr_nonnull(stand_in_of(s, "", 1).bundle_id);
    bring(s, NULL, 1, 1);
    stand_in_of(s, "", 0);
}

void suite_own_uploads_are_not_what_serves_all(struct suite *s)
{
    struct upload_row u;
    struct known_object *known;
    size_t count;
    uint8_t sha[SHA256_SIZE] = {1};
    struct upload_origin origin = {.bundle_id = SUITE_APP, .bound = true};
    uint64_t id = bring(s, SUITE_APP, 1, 1);
    suite_expect(read_upload_by_sha256(s->reader, sha, &origin, &s->arena, &u, &err), &err);
    ck_assert_uint_eq(u.id, id);
    ck_assert(u.bound);
    origin.bound = false;
    ck_assert_int_eq(read_upload_by_sha256(s->reader, sha, &origin, &s->arena, &u, &err),
                     ERR_NOT_FOUND);
    suite_expect(read_known_objects(s->reader, &s->arena, &known, &count, &err), &err);
    ck_assert_uint_eq(count, 0);
    bring(s, NULL, 1, 1);
    suite_expect(read_known_objects(s->reader, &s->arena, &known, &count, &err), &err);
    ck_assert_uint_eq(count, 1);
}
