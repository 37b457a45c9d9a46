/* Life of clusters: states by hand, regressions, what an heir takes over. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/suite.h"

static const uint32_t all_images[] = {1, 2, 3, 4};

static void post(struct suite *s, const char *id, uint32_t stack, const char *version,
                 const char *build)
{
    const struct suite_report r = {.id = id, .stack = stack, .version = version, .build = build};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

static struct write_op *decide(uint64_t id, enum cluster_state state, const char *resolved_in,
                               const char *build)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_STATE, 4096);
    ck_assert_ptr_nonnull(op);
    op->u.cluster_state = (struct op_cluster_state){.id = id,
                                                    .set_state = true,
                                                    .state = state,
                                                    .resolved_in = resolved_in,
                                                    .resolved_build = build,
                                                    .who = "ann",
                                                    .now_ms = SUITE_NOW + 5};
    return op;
}

static struct cluster_change *changes(struct suite *s, uint64_t id, size_t *ret_count)
{
    struct error err = {0};
    struct cluster_change *rows = NULL;
    const char *next = NULL;
    enum err rc = read_cluster_history(s->reader, id, READ_LIMIT_MAX, NULL, &s->arena, &rows,
                                       ret_count, &next, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    return rows;
}

static void expect_state(struct suite *s, uint64_t id, const char *state)
{
    struct error err = {0};
    struct cluster_row c;
    ck_assert_int_eq(read_cluster(s->reader, id, NULL, &s->arena, &c, &err), ERR_OK);
    ck_assert_str_eq(c.state, state);
}

/* One cluster of symbolicated stacks 0 and 1; its id. */
static uint64_t one_cluster(struct suite *s)
{
    suite_index(s, all_images, 4, 1);
    post(s, "a", 0, "1.0", "100");
    suite_resolve(s);
    return suite_cluster(s, NULL).id;
}

void suite_states_by_hand(struct suite *s)
{
    struct error err = {0};
    size_t count = 0;
    uint64_t id = one_cluster(s);
    struct write_op *op = decide(id, CLUSTER_IGNORED, NULL, NULL);
    op->u.cluster_state.set_note = true;
    op->u.cluster_state.note = "not ours";
    suite_apply_keep(s, op);
    ck_assert(op->u.cluster_state.changed);
    suite_apply_keep(s, op);
    ck_assert(!op->u.cluster_state.changed);
    write_op_free(op);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_str_eq(c.state, "ignored");
    ck_assert_str_eq(c.note, "not ours");
    ck_assert_ptr_null(c.resolved_in);

    /* A note alone leaves the state, and can be taken away. */
    op = decide(id, CLUSTER_OPEN, NULL, NULL);
    op->u.cluster_state.set_state = false;
    op->u.cluster_state.set_note = true;
    op->u.cluster_state.who = NULL;
    suite_apply(s, op);
    suite_apply(s, decide(id, CLUSTER_RESOLVED, "1.1", NULL));
    c = suite_cluster(s, NULL);
    ck_assert_ptr_null(c.note);
    ck_assert_str_eq(c.resolved_in, "1.1");
    struct cluster_change *rows = changes(s, id, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(rows[0].from_state, "ignored");
    ck_assert_str_eq(rows[0].to_state, "resolved");
    ck_assert_str_eq(rows[0].who, "ann");
    ck_assert_ptr_null(rows[0].note);
    ck_assert_str_eq(rows[1].note, "");
    ck_assert_ptr_null(rows[1].who);
    ck_assert_str_eq(rows[1].to_state, "ignored");
    ck_assert_str_eq(rows[2].note, "not ours");
    ck_assert_int_eq(rows[2].at_ms, SUITE_NOW + 5);

    op = decide(id, CLUSTER_OPEN, NULL, NULL);
    op->u.cluster_state.bundle_id = "com.example.other";
    ck_assert_int_eq(suite_try(s, op, &err), ERR_NOT_FOUND);
    op->u.cluster_state.bundle_id = SUITE_APP;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_OK);
    op->u.cluster_state.id = 4711;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_NOT_FOUND);
    write_op_free(op);
    expect_state(s, id, "open");
}

void suite_resolved_without_a_version(struct suite *s)
{
    struct error err = {0};
    suite_index(s, all_images, 4, 1);
    post(s, "a", 0, "dev", "1");
    suite_resolve(s);
    uint64_t id = suite_cluster(s, NULL).id;
    struct write_op *op = decide(id, CLUSTER_RESOLVED, NULL, NULL);
    ck_assert_int_eq(suite_try(s, op, &err), ERR_CONFLICT);
    expect_state(s, id, "open");

    /* The newest one of the app, whichever cluster it reported. */
    post(s, "b", 0, "1.9", "190");
    post(s, "c", 30, "1.10", "9");
    post(s, "d", 30, "1.10.0", "11");
    ck_assert_int_eq(suite_try(s, op, &err), ERR_OK);
    write_op_free(op);
    struct error none = {0};
    struct cluster_row c;
    ck_assert_int_eq(read_cluster(s->reader, id, NULL, &s->arena, &c, &none), ERR_OK);
    ck_assert_str_eq(c.resolved_in, "1.10.0");
    ck_assert_str_eq(c.resolved_build, "11");
    post(s, "e", 0, "1.10", "11");
    expect_state(s, id, "resolved");
    post(s, "f", 0, "1.10", "12");
    expect_state(s, id, "open");
}

void suite_regression_by_a_report(struct suite *s)
{
    size_t count = 0;
    uint64_t id = one_cluster(s);
    suite_apply(s, decide(id, CLUSTER_RESOLVED, "1.9", NULL));
    post(s, "b", 0, "1.9", "999");
    post(s, "c", 0, "1.0", "100");
    post(s, "d", 0, "1.9.0", "1");
    post(s, "e", 0, "dev", "1");
    post(s, "f", 0, "2.0-beta", "1");
    post(s, "b", 0, "9.0", "1"); /* counted before: a retry says nothing new */
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_str_eq(c.state, "open");
    ck_assert_str_eq(c.regressed_in, "2.0-beta");

    suite_apply(s, decide(id, CLUSTER_RESOLVED, "1.9", NULL));
    c = suite_cluster(s, NULL);
    ck_assert_int_eq(c.regressed_ms, INT64_MIN);
    ck_assert_ptr_null(c.regressed_in);
    post(s, "g", 0, "1.9", "1000");
    expect_state(s, id, "resolved");
    post(s, "h", 0, "1.10", "7");
    c = suite_cluster(s, NULL);
    ck_assert_str_eq(c.state, "open");
    ck_assert_ptr_null(c.resolved_in);
    ck_assert_str_eq(c.regressed_in, "1.10");
    ck_assert_str_eq(c.regressed_build, "7");
    ck_assert_int_eq(c.regressed_ms, SUITE_NOW);
    struct cluster_change *rows = changes(s, id, &count);
    ck_assert_uint_eq(count, 4);
    ck_assert(rows[0].regression && !rows[1].regression && rows[2].regression);
    ck_assert_str_eq(rows[0].version, "1.10");
    ck_assert_str_eq(rows[0].resolved_in, "1.9");
    ck_assert_ptr_null(rows[0].who);

    suite_apply(s, decide(id, CLUSTER_IGNORED, NULL, NULL));
    post(s, "i", 0, "7.0", "1");
    expect_state(s, id, "ignored");
    changes(s, id, &count);
    ck_assert_uint_eq(count, 5);
}

void suite_regression_by_a_build(struct suite *s)
{
    uint64_t id = one_cluster(s);
    suite_apply(s, decide(id, CLUSTER_RESOLVED, "1.9", "190"));
    post(s, "b", 0, "1.9", "190");
    post(s, "c", 0, "1.9", "");
    post(s, "d", 0, "1.9", "189");
    expect_state(s, id, "resolved");
    post(s, "e", 0, "1.9.0", "191");
    expect_state(s, id, "open");
}

void suite_regression_by_a_stack_that_moves(struct suite *s)
{
    uint64_t id = one_cluster(s);
    suite_apply(s, decide(id, CLUSTER_RESOLVED, "1.9", NULL));
    /* A stack of the same function that nobody has seen yet. */
    post(s, "b", 1, "1.0", "100");
    suite_resolve(s);
    expect_state(s, id, "resolved");
    post(s, "c", 2, "1.0", "100");
    post(s, "d", 2, "2.0", "200");
    post(s, "e", 2, "3.0", "300");
    expect_state(s, id, "resolved");
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_uint_eq(c.id, id);
    ck_assert_str_eq(c.state, "open");
    ck_assert_str_eq(c.regressed_in, "3.0");
    ck_assert_str_eq(c.regressed_build, "300");
}

/* Reports of old and new versions and the symbols of a second image, in every order. */
void suite_regression_in_any_order(struct suite *s)
{
    static const char orders[][6] = {"onS", "noS", "oSn", "nSo", "Son", "Sno"};
    static const uint32_t late[] = {3, 4};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        suite_index(s, (const uint32_t[]){1, 2}, 2, 1);
        char id[32];
        snprintf(id, sizeof(id), "a%zu", i);
        uint32_t base = 8 * (uint32_t)i;
        post(s, id, base, "1.0", "100");
        suite_resolve(s);
        char title[32];
        snprintf(title, sizeof(title), "f%u()", 128 + (unsigned)i);
        uint64_t cluster = suite_cluster(s, title).id;
        suite_apply(s, decide(cluster, CLUSTER_RESOLVED, "1.5", NULL));
        for (const char *o = orders[i]; *o; o++) {
            snprintf(id, sizeof(id), "%c%zu", *o, i);
            if (*o == 'S')
                suite_index(s, late, 2, 1);
            else
                post(s, id, base + 2, *o == 'o' ? "1.0" : "2.0", "1");
            suite_resolve(s);
        }
        struct cluster_row c = suite_cluster(s, title);
        ck_assert_msg(strcmp(c.state, "open") == 0, "%s: %s", orders[i], c.state);
        ck_assert_str_eq(c.regressed_in, "2.0");
        ck_assert_uint_eq(c.figures.count, 3);
        for (size_t k = 0; k < 2; k++) {
            struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
            op->u.symbol_delete.shelf = suite_uuid(late[k]);
            suite_apply(s, op);
        }
    }
}

void suite_decision_follows_the_heir(struct suite *s)
{
    size_t count = 0;
    post(s, "a", 0, "1.0", "100");
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    uint64_t provisional = c.id;
    ck_assert(c.provisional);
    suite_apply(s, decide(provisional, CLUSTER_IGNORED, NULL, NULL));
    suite_index(s, all_images, 4, 1);
    suite_resolve(s);
    c = suite_cluster(s, NULL);
    ck_assert(c.id != provisional && !c.provisional);
    ck_assert_str_eq(c.state, "ignored");
    changes(s, provisional, &count);
    ck_assert_uint_eq(count, 1);

    /* Through the alias, too. */
    suite_apply(s, decide(provisional, CLUSTER_RESOLVED, "1.0", NULL));
    expect_state(s, c.id, "resolved");

    /* One that is there already does not take over what is decided about those that join it. */
    post(s, "b", 8, "1.0", "100");
    suite_resolve(s);
    uint64_t open = suite_cluster(s, "f129()").id;
    struct write_op *op = write_op_new(WRITE_SYMBOL_DELETE, 4096);
    op->u.symbol_delete.shelf = suite_uuid(2);
    suite_apply(s, op);
    post(s, "c", 9, "1.0", "100");
    suite_resolve(s);
    suite_apply(s, decide(suite_cluster(s, "Image2+0x1024").id, CLUSTER_IGNORED, NULL, NULL));
    suite_index(s, (const uint32_t[]){2}, 1, 1);
    suite_resolve(s);
    c = suite_cluster(s, "f129()");
    ck_assert_uint_eq(c.id, open);
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert_str_eq(c.state, "open");
}

void suite_history_is_capped(struct suite *s)
{
    size_t count = 0;
    uint64_t id = one_cluster(s);
    for (int i = 0; i < CLUSTER_HISTORY_MAX + 20; i++)
        suite_apply(s, decide(id, i % 2 ? CLUSTER_OPEN : CLUSTER_IGNORED, NULL, NULL));
    struct cluster_change *rows = changes(s, id, &count);
    ck_assert_uint_eq(count, CLUSTER_HISTORY_MAX);
    ck_assert_uint_eq(rows[0].id, CLUSTER_HISTORY_MAX + 20);
    ck_assert_uint_eq(rows[count - 1].id, 21);
}
