/* Covers: server/http/api_symbols.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

START_TEST(check_tells_what_is_missing)
{
    static const char body[] = "{\"uuids\":[\"4c4c44dc55553144a100c10e3a4b6d1e\"]}";
    http_fixture_start(&http_fixture);
    http_post_json("/v1/symbols/check", SYMBOLS_TOKEN, body);
    ck_assert_int_eq(http_answer.status, 200);
    ck_assert_str_eq(http_answer.body,
                     "{\"present\":[],\"missing\":[\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\"]}");
    static const char *const bad[] = {"{}", "[]", "{\"uuids\":{}}", "{\"uuids\":[7]}",
                                      "{\"uuids\":[\"x\"]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "POST", "/v1/symbols/check", SYMBOLS_TOKEN, HTTP_JSON,
                         bad[i], strlen(bad[i]), &http_answer);
        http_expect_problem(422);
    }
    ck_assert_ptr_nonnull(
        strstr(http_answer.body, "\"errors\":[{\"path\":\"uuids[0]\",\"reason\":\"not a UUID\"}]"));
    ck_assert_int_eq(http_post_json("/v1/symbols/check", SYMBOLS_TOKEN, "{"), 400);
    ck_assert_int_eq(http_post_json("/v1/symbols/check", INGEST_TOKEN, body), 403);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "scope symbols is needed"));
    http_stop();
}
END_TEST

START_TEST(dashboards_see_what_is_missing)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols/missing", READ_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols/missing", SYMBOLS_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols", READ_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols/missing", INGEST_TOKEN), 403);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "scope symbols or read is needed"));
    http_stop();
}
END_TEST

START_TEST(symbol_files_that_are_not_there_cannot_be_deleted)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(
        http_ask("DELETE", "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E", ADMIN_TOKEN), 404);
    ck_assert_int_eq(
        http_ask("DELETE", "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E", SYMBOLS_TOKEN), 403);
    ck_assert_int_eq(http_ask("DELETE", "/v1/symbols/x", ADMIN_TOKEN), 400);
    http_stop();
}
END_TEST

/* --- deleting ---------------------------------------------------------------------------------- */

#define SHOP "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E"

static void index_path(char *out, size_t size)
{
    struct uuid u;
    ck_assert(uuid_parse("4C4C44DC55553144A100C10E3A4B6D1E", 32, &u));
    ck_assert(blob_store_index_path(http_fixture.services.blobs, &u, out, size));
}

/* An indexed symbol file of no app in particular; only its row. */
static void add_symbol_file(void)
{
    struct error err;
    struct op_slice slice = {
        .name = "Shop", .member = "", .arch = "arm64", .indexed = true, .installed = true};
    ck_assert(uuid_parse("4C4C44DC55553144A100C10E3A4B6D1E", 32, &slice.shelf));
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    op->u.upload.spool_file = op->u.upload.bundle_id = op->u.upload.version = op->u.upload.build =
        op->u.upload.os_build = "";
    ck_assert_int_eq(writer_call(http_fixture.services.writer, op, &err), ERR_OK);
    uint64_t id = op->u.upload.id;
    write_op_free(op);
    op = write_op_new(WRITE_UPLOAD_STATE, 65536);
    op->u.upload_state = (struct op_upload_state){
        .id = id, .state = UPLOAD_INDEXED, .slices = &slice, .slice_count = 1};
    ck_assert_msg(writer_call(http_fixture.services.writer, op, &err) == ERR_OK, "%s", err.text);
    write_op_free(op);
}

START_TEST(what_cannot_be_removed_now_goes_later)
{
    char path[512], folder[512], inside[600];
    http_fixture_start(&http_fixture);
    index_path(path, sizeof(path));
    snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(mkdir(path, 0755), 0); /* no file: it cannot be unlinked */
    snprintf(inside, sizeof(inside), "%s/x", path);
    ck_assert_int_eq(mkdir(inside, 0755), 0);
    /* The keeper's one look at the store after a start may come late, and take a row that has no
     * index. */
    int status = 404;
    for (int i = 0; i < 2 && status == 404; i++) {
        add_symbol_file();
        status = http_ask("DELETE", SHOP, ADMIN_TOKEN);
    }
    ck_assert_int_eq(status, 202);
    ck_assert_ptr_null(strstr(http_answer.body, path));
    ck_assert_int_eq(http_get(SHOP), 404); /* the row is gone, the file follows */
    ck_assert_int_eq(rmdir(inside), 0);
    ck_assert_int_eq(rmdir(path), 0);
    fclose(fopen(path, "w"));
    while (access(path, F_OK) == 0)
        usleep(10000);
    add_symbol_file();
    ck_assert_int_eq(http_ask("DELETE", SHOP, ADMIN_TOKEN), 204);
    ck_assert_int_eq(http_get(SHOP), 404);
    ck_assert_int_eq(http_ask("DELETE", SHOP, ADMIN_TOKEN), 404);
    http_stop();
}
END_TEST

START_TEST(a_bound_admin_deletes_its_own_alone)
{
    char token[256];
    http_fixture_start(&http_fixture);
    add_symbol_file();
    ck_assert_int_eq(http_post_json("/v1/admin/tokens", ADMIN_TOKEN,
                                    "{\"scopes\":[\"admin\"],\"bundle_id\":\"com.a\"}"),
                     201);
    json_t *made = http_json();
    snprintf(token, sizeof(token), "%s", json_string_value(json_object_get(made, "token")));
    json_decref(made);
    ck_assert_int_eq(http_ask("DELETE", SHOP, token), 403);
    ck_assert_int_eq(http_get(SHOP), 200);
    http_stop();
}
END_TEST

UNIT_MAIN("api_symbols", check_tells_what_is_missing, dashboards_see_what_is_missing,
          symbol_files_that_are_not_there_cannot_be_deleted, what_cannot_be_removed_now_goes_later,
          a_bound_admin_deletes_its_own_alone)
