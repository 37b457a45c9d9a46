#include "server/http/auth.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/hash.h"

#define SCOPES_ALL (SCOPE_INGEST | SCOPE_SYMBOLS | SCOPE_READ | SCOPE_ADMIN)

struct token {
    uint8_t hash[SHA256_SIZE];
    uint64_t id;
    uint32_t scopes;
    char *bundle_id;
};

struct token_set {
    size_t count;
    struct token items[];
};

/* A leaky bucket: `level_ms` is worth of failures not yet forgiven, as of `at_ms`. */
struct failures {
    struct client_addr client;
    int64_t at_ms;
    int64_t level_ms;
};

struct auth {
    pthread_mutex_t lock; /* of all below */
    struct token_set *tokens;
    uint64_t last_begun, in_force; /* of sets */
    struct failures failures[AUTH_FAILURE_CLIENTS];
    uint64_t seed;
};

static const struct {
    const char *name;
    uint32_t bit;
} SCOPES[] = {
    {"ingest", SCOPE_INGEST},
    {"symbols", SCOPE_SYMBOLS},
    {"read", SCOPE_READ},
    {"admin", SCOPE_ADMIN},
};

uint32_t auth_scope_parse(const char *name)
{
    for (size_t i = 0; i < sizeof(SCOPES) / sizeof(SCOPES[0]); i++) {
        if (strcmp(SCOPES[i].name, name) == 0)
            return SCOPES[i].bit;
    }
    return 0;
}

const char *auth_scope_name(uint32_t scope)
{
    for (size_t i = 0; i < sizeof(SCOPES) / sizeof(SCOPES[0]); i++) {
        if (SCOPES[i].bit == scope)
            return SCOPES[i].name;
    }
    return "";
}

const char *auth_scope_names(uint32_t scopes, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof(SCOPES) / sizeof(SCOPES[0]) && n < size; i++) {
        if (scopes & SCOPES[i].bit)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " or " : "", SCOPES[i].name);
    }
    return out;
}

struct auth *auth_new(void)
{
    struct auth *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    /* Without randomness slots can be aimed at; nothing worse. */
    if (getrandom(&a->seed, sizeof(a->seed), GRND_NONBLOCK) < 0)
        a->seed = (uint64_t)(uintptr_t)a;
    return a;
}

static void token_set_free(struct token_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].bundle_id);
    free(set);
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    token_set_free(a->tokens);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

uint64_t auth_begin_set(struct auth *a)
{
    pthread_mutex_lock(&a->lock);
    uint64_t begun = ++a->last_begun;
    pthread_mutex_unlock(&a->lock);
    return begun;
}

enum err auth_set_tokens(struct auth *a, uint64_t begun, const struct token_row *tokens,
                         size_t count, struct error *err)
{
    if (count > AUTH_TOKENS_MAX)
        return error_set(err, ERR_LIMIT, "more than %d tokens", AUTH_TOKENS_MAX);
    struct token_set *set = calloc(1, sizeof(*set) + count * sizeof(set->items[0]));
    if (!set)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu tokens", count);
    for (size_t i = 0; i < count; i++) {
        struct token *t = &set->items[set->count++];
        memcpy(t->hash, tokens[i].hash, SHA256_SIZE);
        t->id = tokens[i].id;
        t->scopes = tokens[i].scopes & SCOPE_ADMIN ? SCOPES_ALL : tokens[i].scopes;
        if (tokens[i].bundle_id && !(t->bundle_id = strdup(tokens[i].bundle_id))) {
            token_set_free(set);
            return error_set(err, ERR_NO_MEMORY, "no memory for %zu tokens", count);
        }
    }
    pthread_mutex_lock(&a->lock);
    struct token_set *old = set;
    if (begun >= a->in_force) {
        old = a->tokens;
        a->tokens = set;
        a->in_force = begun;
    }
    pthread_mutex_unlock(&a->lock);
    token_set_free(old);
    return ERR_OK;
}

size_t auth_token_count(struct auth *a)
{
    pthread_mutex_lock(&a->lock);
    size_t count = a->tokens ? a->tokens->count : 0;
    pthread_mutex_unlock(&a->lock);
    return count;
}

/* The token's text inside the headers; false: none was sent. */
static bool find_token(const char *authorization, const char *own_header, const char **ret,
                       size_t *ret_len)
{
    const char *p = NULL;
    if (authorization && strncasecmp(authorization, "Bearer", 6) == 0 &&
        (authorization[6] == ' ' || authorization[6] == '\t'))
        p = authorization + 6;
    else if (own_header)
        p = own_header;
    if (!p)
        return false;
    p += strspn(p, " \t");
    size_t len = strlen(p);
    while (len > 0 && (p[len - 1] == ' ' || p[len - 1] == '\t'))
        len--;
    *ret = p;
    *ret_len = len;
    return len > 0;
}

static bool hash_equal(const uint8_t *a, const uint8_t *b)
{
    unsigned diff = 0;
    for (size_t i = 0; i < SHA256_SIZE; i++)
        diff |= (unsigned)(a[i] ^ b[i]);
    return diff == 0;
}

static const struct token *find_hash(const struct token_set *set, const uint8_t hash[SHA256_SIZE])
{
    const struct token *found = NULL;
    for (size_t i = 0; set && i < set->count; i++) {
        if (hash_equal(set->items[i].hash, hash))
            found = &set->items[i];
    }
    return found;
}

/* The bucket of a client, brought up to now; another client's old bucket is taken over. */
static struct failures *bucket_of(struct auth *a, const struct client_addr *client, int64_t now_ms)
{
    struct client_addr group = client_addr_group(client);
    uint64_t h = hash64(group.bytes, sizeof(group.bytes), a->seed);
    struct failures *f = &a->failures[h % AUTH_FAILURE_CLIENTS];
    if (memcmp(&f->client, &group, sizeof(group)) != 0)
        *f = (struct failures){.client = group, .at_ms = now_ms};
    int64_t passed = now_ms - f->at_ms;
    f->level_ms = passed >= f->level_ms ? 0 : f->level_ms - passed;
    f->at_ms = now_ms;
    return f;
}

static bool is_full(const struct failures *f)
{
    return f->level_ms > (int64_t)(AUTH_FAILURES_BURST - 1) * AUTH_FAILURE_MS;
}

enum auth_result auth_check(struct auth *a, const char *authorization, const char *own_header,
                            const struct client_addr *client, int64_t now_mono_ms,
                            struct arena *arena, struct auth_identity *ret)
{
    const char *text;
    size_t len;
    uint8_t hash[SHA256_SIZE];
    enum auth_result result = AUTH_OK;
    if (!find_token(authorization, own_header, &text, &len))
        return AUTH_MISSING;
    sha256_of(text, len > AUTH_TOKEN_TEXT_MAX ? 0 : len, hash);
    pthread_mutex_lock(&a->lock);
    const struct token *t = find_hash(a->tokens, hash);
    struct failures *f = bucket_of(a, client, now_mono_ms);
    if (!t && is_full(f)) {
        result = AUTH_THROTTLED;
    } else if (!t) {
        f->level_ms += AUTH_FAILURE_MS;
        result = AUTH_WRONG;
    } else {
        struct auth_identity id = {.token_id = t->id, .scopes = t->scopes};
        if (t->bundle_id && !(id.bundle_id = arena_strdup(arena, t->bundle_id)))
            result = AUTH_WRONG; /* never unbound for want of memory */
        else
            *ret = id;
    }
    pthread_mutex_unlock(&a->lock);
    return result;
}

enum err auth_token_make(char out[AUTH_TOKEN_SIZE], struct error *err)
{
    /* 32 letters and digits that are hard to mistake for one another: 5 bits each, 63 of them. */
    static const char alphabet[] = "abcdefghijkmnpqrstuvwxyz23456789";
    uint8_t random[AUTH_TOKEN_SIZE - 5];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_set(err, ERR_IO, "no random bytes for a token");
    memcpy(out, "sst_", 4);
    for (size_t i = 0; i < sizeof(random); i++)
        out[4 + i] = alphabet[random[i] % 32];
    out[AUTH_TOKEN_SIZE - 1] = 0;
    return ERR_OK;
}
