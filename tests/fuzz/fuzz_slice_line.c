/*
 * fuzz_slice_line - any bytes are what the indexing child printed.
 *
 * What must hold: every promise of slice_line.h, above all that an index file's name is no path.
 */
#include "server/jobs/slice_line.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
    REQUIRE(text && strlen(text) <= SLICE_TEXT_MAX);
}

static void check_indexed(const struct slice_report *r)
{
    char uuid[UUID_TEXT_SIZE];
    REQUIRE(!uuid_is_nil(&r->uuid) && r->index_file);
    REQUIRE(!strchr(r->index_file, '/') && !strstr(r->index_file, ".."));
    uuid_format(&r->uuid, uuid);
    REQUIRE(strncmp(r->index_file, uuid, strlen(uuid)) == 0);
    const char *end = strrchr(r->index_file, '.');
    REQUIRE(end && strcmp(end, ".gsym") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct slice_report r;
    struct error err = {.code = ERR_OK};
    arena_init(&arena, (size_t)1 << 20);
    memset(&r, 0, sizeof(r));
    enum err rc = slice_line_parse((const char *)data, size, &arena, &r, &err);
    REQUIRE(rc == ERR_OK || (err.code == rc && err.text[0]));
    if (rc == ERR_OK) {
        check_text(r.name);
        check_text(r.member);
        check_text(r.arch);
        if (r.reason)
            check_text(r.reason);
        REQUIRE(memchr(r.object_sha256, 0, sizeof(r.object_sha256)) != NULL);
        if (r.state == SLICE_INDEXED)
            check_indexed(&r);
    }
    arena_done(&arena);
    return 0;
}
