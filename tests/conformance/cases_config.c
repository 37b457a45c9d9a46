/* Remote configurations: revisions, conflicts, history; quotas. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "storage/read_config.h"
#include "storage/read_quota.h"
#include "tests/conformance/suite.h"

static uint32_t write_config(struct suite *s, const char *bundle_id, const char *body,
                             int64_t based_on, uint64_t token_id, bool *ret_conflict)
{
    struct write_op *op = write_op_new(WRITE_CONFIG, 65536);
    op->u.config = (struct op_config){
        .bundle_id = bundle_id,
        .body = body,
        .note = "why",
        .token_id = token_id,
        .has_based_on = based_on >= 0,
        .based_on = based_on >= 0 ? (uint32_t)based_on : 0,
        .now_ms = SUITE_NOW,
    };
    suite_apply_keep(s, op);
    uint32_t revision = op->u.config.revision;
    *ret_conflict = op->u.config.conflict;
    write_op_free(op);
    return revision;
}

void suite_configurations(struct suite *s)
{
    struct error err = {0};
    struct config_row row, *rows;
    size_t count;
    bool conflict;
    ck_assert_int_eq(read_config(s->reader, SUITE_APP, 0, &s->arena, &row, &err), ERR_NOT_FOUND);
    struct write_op *token = write_op_new(WRITE_TOKEN, 4096);
    token->u.token = (struct op_token){.scopes = SCOPE_ADMIN, .name = "ann", .now_ms = SUITE_NOW};
    suite_apply_keep(s, token);
    uint64_t ann = token->u.token.id;
    write_op_free(token);

    ck_assert_uint_eq(write_config(s, SUITE_APP, "{1}", 0, ann, &conflict), 1);
    ck_assert(!conflict);
    ck_assert_uint_eq(write_config(s, SUITE_APP, "{2}", -1, 99, &conflict), 2);
    ck_assert_uint_eq(write_config(s, "com.example.other", "{o}", 0, ann, &conflict), 1);
    /* made from what is in force no longer */
    ck_assert_uint_eq(write_config(s, SUITE_APP, "{3}", 1, ann, &conflict), 2);
    ck_assert(conflict);
    ck_assert_uint_eq(write_config(s, SUITE_APP, "{3}", 2, ann, &conflict), 3);
    ck_assert(!conflict);

    ck_assert_int_eq(read_config(s->reader, SUITE_APP, 0, &s->arena, &row, &err), ERR_OK);
    ck_assert_uint_eq(row.revision, 3);
    ck_assert_str_eq(row.body, "{3}");
    ck_assert_str_eq(row.author, "ann");
    ck_assert_str_eq(row.note, "why");
    ck_assert_int_eq(row.created_ms, SUITE_NOW);
    ck_assert_int_eq(read_config(s->reader, SUITE_APP, 2, &s->arena, &row, &err), ERR_OK);
    ck_assert_str_eq(row.body, "{2}");
    ck_assert_ptr_null(row.author);
    ck_assert_int_eq(read_config(s->reader, SUITE_APP, 4, &s->arena, &row, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(read_config_history(s->reader, SUITE_APP, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(rows[0].revision, 3);
    ck_assert_ptr_null(rows[0].body);
    ck_assert_uint_eq(rows[2].revision, 1);

    /* the oldest go, numbers go on */
    for (int i = 0; i < CONFIG_REVISIONS_KEPT; i++)
        write_config(s, SUITE_APP, "{x}", -1, ann, &conflict);
    ck_assert_int_eq(read_config_history(s->reader, SUITE_APP, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, CONFIG_REVISIONS_KEPT);
    ck_assert_uint_eq(rows[0].revision, CONFIG_REVISIONS_KEPT + 3);
    ck_assert_int_eq(read_config(s->reader, SUITE_APP, 3, &s->arena, &row, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(read_config(s->reader, "com.example.other", 0, &s->arena, &row, &err), ERR_OK);
    ck_assert_str_eq(row.body, "{o}");
}

static void set_quota(struct suite *s, const char *bundle_id, const struct quota *quota)
{
    struct write_op *op = write_op_new(WRITE_QUOTA, 4096);
    op->u.quota = (struct op_quota){.bundle_id = bundle_id, .remove = !quota};
    if (quota)
        op->u.quota.quota = *quota;
    suite_apply(s, op);
}

void suite_quotas(struct suite *s)
{
    const struct quota small = {10, 100, .25}, large = {0, 4000000000u, 1};
    const struct suite_report report = {.id = "r", .stack = 1};
    struct error err = {0};
    struct quota_row *rows;
    const char **apps;
    size_t count;
    ck_assert_int_eq(read_quotas(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    set_quota(s, "b", &small);
    set_quota(s, "a", &small);
    set_quota(s, "a", &large);
    set_quota(s, "c", NULL);
    ck_assert_int_eq(read_quotas(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].bundle_id, "a");
    ck_assert_uint_eq(rows[0].quota.reports_per_minute, 0);
    ck_assert_uint_eq(rows[0].quota.reports_per_day, 4000000000u);
    ck_assert_str_eq(rows[1].bundle_id, "b");
    ck_assert_double_eq(rows[1].quota.slight_sample_rate, .25);
    set_quota(s, "a", NULL);
    ck_assert_int_eq(read_quotas(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);

    /* a quota makes no app, a report does */
    ck_assert_int_eq(read_app_names(s->reader, &s->arena, &apps, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
    suite_apply(s, suite_batch("z", &report, 1));
    suite_apply(s, suite_batch("b", &report, 1));
    ck_assert_int_eq(read_app_names(s->reader, &s->arena, &apps, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(apps[0], "b");
    ck_assert_str_eq(apps[1], "z");
}
