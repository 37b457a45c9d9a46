#include "server/http/auth.h"

#include <string.h>

#include "base/hash.h"
#include "tests/support/unit.h"

static struct auth *a;
static struct arena arena;
static struct client_addr here, there;

static void token(struct token_row *row, const char *text, uint32_t scopes, const char *bundle_id)
{
    static uint64_t next = 1;
    *row = (struct token_row){.id = next++, .scopes = scopes, .bundle_id = bundle_id};
    sha256_of(text, strlen(text), row->hash);
}

static void start(void)
{
    struct token_row rows[4];
    struct error err;
    token(&rows[0], "ingest-token", SCOPE_INGEST, "com.example.shop");
    token(&rows[1], "read-token", SCOPE_READ, NULL);
    token(&rows[2], "admin-token", SCOPE_ADMIN, NULL);
    token(&rows[3], "plain-ingest", SCOPE_INGEST, NULL);
    arena_init(&arena, 65536);
    a = auth_new();
    ck_assert_int_eq(auth_set_tokens(a, auth_begin_set(a), rows, 4, &err), ERR_OK);
    ck_assert(client_addr_parse("192.0.2.1", 9, &here));
    ck_assert(client_addr_parse("192.0.2.2", 9, &there));
}

static void stop(void)
{
    auth_free(a);
    arena_done(&arena);
}

static enum auth_result check(const char *authorization, const char *own, struct auth_identity *id)
{
    return auth_check(a, authorization, own, &here, 1000, &arena, id);
}

START_TEST(both_headers)
{
    struct auth_identity id;
    start();
    ck_assert_int_eq(check("Bearer read-token", NULL, &id), AUTH_OK);
    ck_assert_uint_eq(id.scopes, SCOPE_READ);
    ck_assert_ptr_null(id.bundle_id);
    ck_assert_int_eq(check("bearer \t read-token ", NULL, &id), AUTH_OK);
    ck_assert_int_eq(check(NULL, "ingest-token", &id), AUTH_OK);
    ck_assert_str_eq(id.bundle_id, "com.example.shop");
    ck_assert_int_eq(check("Basic cmVhZA==", "read-token", &id), AUTH_OK);
    ck_assert_int_eq(check("Bearer read-token", "nonsense", &id), AUTH_OK);
    ck_assert_int_eq(check(NULL, NULL, &id), AUTH_MISSING);
    ck_assert_int_eq(check("Bearer ", NULL, &id), AUTH_MISSING);
    ck_assert_int_eq(check("Bearerread-token", NULL, &id), AUTH_MISSING);
    stop();
}
END_TEST

START_TEST(wrong_tokens)
{
    struct auth_identity id;
    char large[2000];
    start();
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    ck_assert_int_eq(check(NULL, "read-toke", &id), AUTH_WRONG);
    ck_assert_int_eq(check(NULL, "read-token2", &id), AUTH_WRONG);
    ck_assert_int_eq(check(NULL, "READ-TOKEN", &id), AUTH_WRONG);
    ck_assert_int_eq(check(NULL, large, &id), AUTH_WRONG);
    stop();
}
END_TEST

START_TEST(admin_holds_every_scope)
{
    struct auth_identity id;
    start();
    ck_assert_int_eq(check("Bearer admin-token", NULL, &id), AUTH_OK);
    ck_assert_uint_eq(id.scopes, SCOPE_INGEST | SCOPE_SYMBOLS | SCOPE_READ | SCOPE_ADMIN);
    stop();
}
END_TEST

START_TEST(a_new_set_replaces_the_old_one)
{
    struct auth_identity id;
    struct token_row row;
    struct error err;
    start();
    token(&row, "other", SCOPE_READ, NULL);
    ck_assert_int_eq(auth_set_tokens(a, auth_begin_set(a), &row, 1, &err), ERR_OK);
    ck_assert_int_eq(check(NULL, "read-token", &id), AUTH_WRONG);
    ck_assert_int_eq(check(NULL, "other", &id), AUTH_OK);
    ck_assert_int_eq(auth_set_tokens(a, auth_begin_set(a), NULL, 0, &err), ERR_OK);
    ck_assert_int_eq(check(NULL, "other", &id), AUTH_WRONG);
    stop();
}
END_TEST

/* Two at a time: the one that began to read last is in force, whichever comes last. */
START_TEST(an_older_set_does_not_come_back)
{
    struct token_row row;
    struct auth_identity id;
    struct error err;
    start();
    token(&row, "revoked", SCOPE_READ, NULL);
    uint64_t older = auth_begin_set(a), newer = auth_begin_set(a);
    ck_assert_int_eq(auth_set_tokens(a, newer, NULL, 0, &err), ERR_OK);
    ck_assert_int_eq(auth_set_tokens(a, older, &row, 1, &err), ERR_OK);
    ck_assert_int_eq(check("Bearer revoked", NULL, &id), AUTH_WRONG);
    ck_assert_uint_eq(auth_token_count(a), 0);
    ck_assert_int_eq(auth_set_tokens(a, auth_begin_set(a), &row, 1, &err), ERR_OK);
    ck_assert_int_eq(check("Bearer revoked", NULL, &id), AUTH_OK);
    ck_assert_uint_eq(auth_token_count(a), 1);
    stop();
}
END_TEST

START_TEST(guessing_is_slowed_down)
{
    struct auth_identity id;
    start();
    for (int i = 0; i < AUTH_FAILURES_BURST; i++)
        ck_assert_int_eq(check(NULL, "guess", &id), AUTH_WRONG);
    ck_assert_int_eq(check(NULL, "guess", &id), AUTH_THROTTLED);
    /* Whoever has one is not locked out by somebody behind the same address. */
    ck_assert_int_eq(check(NULL, "admin-token", &id), AUTH_OK);
    ck_assert_int_eq(check(NULL, "read-token", &id), AUTH_OK);
    ck_assert_int_eq(check(NULL, "plain-ingest", &id), AUTH_OK);
    ck_assert_int_eq(check(NULL, "guess", &id), AUTH_THROTTLED);
    /* Another address knows nothing of it. */
    ck_assert_int_eq(auth_check(a, NULL, "guess", &there, 1000, &arena, &id), AUTH_WRONG);
    ck_assert_int_eq(auth_check(a, NULL, "admin-token", &there, 1000, &arena, &id), AUTH_OK);
    /* One failure is forgiven each AUTH_FAILURE_MS. */
    ck_assert_int_eq(auth_check(a, NULL, "admin-token", &here, 1000 + AUTH_FAILURE_MS, &arena, &id),
                     AUTH_OK);
    ck_assert_int_eq(auth_check(a, NULL, "guess", &here, 1000 + AUTH_FAILURE_MS, &arena, &id),
                     AUTH_WRONG);
    ck_assert_int_eq(auth_check(a, NULL, "guess", &here, 1000 + AUTH_FAILURE_MS, &arena, &id),
                     AUTH_THROTTLED);
    stop();
}
END_TEST

START_TEST(scopes_by_name)
{
    static const char *const names[] = {"ingest", "symbols", "read", "admin"};
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(auth_scope_name(auth_scope_parse(names[i])), names[i]);
    ck_assert_uint_eq(auth_scope_parse("root"), 0);
    char text[64], little[9];
    ck_assert_str_eq(auth_scope_names(SCOPE_READ | SCOPE_INGEST, text, sizeof(text)),
                     "ingest or read");
    ck_assert_str_eq(auth_scope_names(SCOPE_ADMIN, text, sizeof(text)), "admin");
    ck_assert_str_eq(auth_scope_names(0, text, sizeof(text)), "");
    ck_assert_str_eq(auth_scope_names(SCOPE_READ | SCOPE_INGEST, little, sizeof(little)),
                     "ingest o");
    ck_assert_uint_eq(auth_scope_parse(""), 0);
}
END_TEST

START_TEST(new_tokens_differ)
{
    char one[AUTH_TOKEN_SIZE], two[AUTH_TOKEN_SIZE];
    struct error err;
    ck_assert_int_eq(auth_token_make(one, &err), ERR_OK);
    ck_assert_int_eq(auth_token_make(two, &err), ERR_OK);
    ck_assert_str_ne(one, two);
    ck_assert_uint_eq(strlen(one), AUTH_TOKEN_SIZE - 1);
    ck_assert(strncmp(one, "sst_", 4) == 0);
}
END_TEST

UNIT_MAIN("auth", an_older_set_does_not_come_back, both_headers, wrong_tokens,
          admin_holds_every_scope, a_new_set_replaces_the_old_one, guessing_is_slowed_down,
          scopes_by_name, new_tokens_differ)
