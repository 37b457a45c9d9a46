/* Rules that become others while the old ones are in use. */
#include "server/jobs/live_rules.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static const char *text;
static const struct rules *told;
static struct error err;

static enum err read_text(void *ctx, struct rules **ret, struct error *e)
{
    (void)ctx;
    return rules_new(text, strlen(text), ret, e);
}

/* Who is told may ask for the rules: those of before. */
static struct live_rules *asked;
static const struct rules *seen;

static void hear(void *ctx, const struct rules *rules)
{
    (void)ctx;
    told = rules;
    seen = asked ? live_rules_now(asked) : NULL;
}

static struct live_rules *start(void)
{
    struct rules *rules = NULL;
    text = "drop: a\n";
    told = NULL;
    ck_assert_int_eq(read_text(NULL, &rules, &err), ERR_OK);
    struct live_rules *l = live_rules_new(rules, read_text, hear, NULL);
    ck_assert_ptr_nonnull(l);
    return l;
}

START_TEST(others_are_told)
{
    bool changed = true;
    struct live_rules *l = start();
    const struct rules *first = live_rules_now(l);
    char version[128];
    ck_assert_int_eq(live_rules_reload(l, &changed, &err), ERR_OK);
    ck_assert(!changed && !told && live_rules_now(l) == first);
    snprintf(version, sizeof(version), "%s", rules_version(first));
    text = "drop: b\n";
    ck_assert_int_eq(live_rules_reload(l, &changed, &err), ERR_OK);
    ck_assert(changed && told == live_rules_now(l) && told != first);
    ck_assert_str_ne(rules_version(told), version);
    ck_assert_str_eq(rules_version(first), version); /* who has them may use them */
    live_rules_free(l);
}
END_TEST

START_TEST(a_bad_file_changes_nothing)
{
    bool changed = true;
    struct live_rules *l = start();
    const struct rules *first = live_rules_now(l);
    text = "this is no rule\n";
    ck_assert_int_eq(live_rules_reload(l, &changed, &err), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "line 1"));
    ck_assert(!changed && !told && live_rules_now(l) == first);
    live_rules_free(l);
}
END_TEST

START_TEST(changes_are_capped)
{
    bool changed = true;
    char rule[32];
    struct live_rules *l = start();
    enum err rc = ERR_OK;
    int changes = 0;
    for (; changes < 2 * LIVE_RULES_MAX && rc == ERR_OK; changes++) {
        snprintf(rule, sizeof(rule), "drop: f%d\n", changes);
        text = rule;
        rc = live_rules_reload(l, &changed, &err);
    }
    ck_assert_int_eq(rc, ERR_LIMIT);
    ck_assert_int_eq(changes, LIVE_RULES_MAX);
    ck_assert(!changed);
    ck_assert_str_eq(rules_version(live_rules_now(l)), rules_version(told));
    live_rules_free(l);
    live_rules_free(NULL);
}
END_TEST

START_TEST(who_is_told_may_ask)
{
    bool changed = false;
    struct live_rules *l = start();
    const struct rules *first = live_rules_now(l);
    asked = l;
    text = "drop: b\n";
    ck_assert_int_eq(live_rules_reload(l, &changed, &err), ERR_OK);
    ck_assert(changed && seen == first && live_rules_now(l) == told);
    live_rules_free(l);
}
END_TEST

#define THREADS 4
#define RELOADS 50

static _Atomic unsigned texts;

static enum err read_next(void *ctx, struct rules **ret, struct error *e)
{
    static _Thread_local char rule[32];
    (void)ctx;
    snprintf(rule, sizeof(rule), "drop: f%u\n", ++texts);
    return rules_new(rule, strlen(rule), ret, e);
}

static void *reload(void *arg)
{
    struct error e;
    bool changed = false;
    for (int i = 0; i < RELOADS; i++)
        ck_assert(live_rules_reload(arg, &changed, &e) == ERR_OK && changed);
    return NULL;
}

/* The last ones that were told are those of now. */
START_TEST(reloads_take_turns)
{
    pthread_t threads[THREADS];
    struct rules *rules = NULL;
    ck_assert_int_eq(read_next(NULL, &rules, &err), ERR_OK);
    struct live_rules *l = live_rules_new(rules, read_next, hear, NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, reload, l), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_ptr_eq(live_rules_now(l), told);
    ck_assert_uint_eq(texts, 1 + THREADS * RELOADS);
    live_rules_free(l);
}
END_TEST

UNIT_MAIN("live_rules", others_are_told, who_is_told_may_ask, reloads_take_turns,
          a_bad_file_changes_nothing, changes_are_capped)
