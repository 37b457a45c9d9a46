/*
 * fuzz_body - what the targets of ingest's bodies share.
 *
 * Purpose: the first byte chooses the media type and whether the token is bound to an app; the rest is
 * the body. What is refused as a whole is so with a code and words; the answer to the rest is looked
 * at by the target.
 *
 * Threads: one. Memory: none.
 */
#ifndef STALLSYM_TESTS_FUZZ_BODY_H
#define STALLSYM_TESTS_FUZZ_BODY_H

#include "base/utf8.h"
#include "server/ingest/ingest.h"
#include "tests/fuzz/fuzz.h"

#define FUZZ_NOW_MS INT64_C(1796000000000)

/* UTF-8 without control characters. */
static inline void require_text(const char *s)
{
    REQUIRE(s && utf8_valid(s, strlen(s)));
    for (; *s; s++)
        REQUIRE((unsigned char)*s >= 0x20 && *s != 0x7f);
}

typedef enum err fuzz_ingest(const struct ingest_request *request, struct ingest_result *ret,
                             struct error *err);

static inline int fuzz_body(const uint8_t *data, size_t size, const struct ingest_limits *limits,
                            fuzz_ingest *ingest, void (*check)(const struct ingest_result *r))
{
    struct ingest_result result;
    struct error err = {.code = ERR_OK};
    if (size < 1)
        return 0;
    const struct ingest_request request = {
        .body = (const char *)data + 1,
        .len = size - 1,
        .media = data[0] & 1 ? INGEST_NDJSON : INGEST_JSON,
        .bundle_id = data[0] & 2 ? "com.example.shop" : NULL,
        .now_ms = FUZZ_NOW_MS,
        .limits = limits,
    };
    enum err rc = ingest(&request, &result, &err);
    if (rc == ERR_OK) {
        check(&result);
        ingest_result_done(&result);
    } else {
        REQUIRE(rc == ERR_FORMAT || rc == ERR_INVALID || rc == ERR_LIMIT);
        REQUIRE(err.code == rc && err.text[0]);
    }
    return 0;
}

#endif
