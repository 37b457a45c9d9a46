/*
 * fuzz_config - any bytes are a configuration file.
 *
 * What must hold: a refusal says why, and an accepted file, printed, loads to the same.
 */
#include "server/config.c"
#include "server/config_keys.c"
#include "server/config_values.c"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static enum err load(const void *text, size_t len, struct config *ret, struct buf *problems,
                     struct error *err)
{
    char path[64];
    int fd = memfd_create("conf", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    enum err rc = config_load(path, NULL, ret, problems, err);
    close(fd);
    return rc;
}

static void check_bounds(const struct config *c)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const void *place = place_of(c, &keys[i]);
        if (keys[i].type == CONFIG_NUMBER || keys[i].type == CONFIG_SIZE)
            REQUIRE(*(const uint64_t *)place >= keys[i].min &&
                    *(const uint64_t *)place <= keys[i].max);
        else if (keys[i].type != CONFIG_BOOL)
            REQUIRE(*(char *const *)place != NULL);
    }
}

static void check_printed(const struct config *c)
{
    struct buf out;
    struct config back;
    size_t count;
    const struct config_key *keys = config_keys(&count);
    buf_init(&out, CONFIG_FILE_MAX);
    REQUIRE(config_print(c, &out));
    REQUIRE(load(out.data, out.len, &back, NULL, NULL) == ERR_OK);
    for (size_t i = 0; i < count; i++)
        REQUIRE(config_equal(c, &back, &keys[i]));
    config_done(&back);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config c;
    struct buf problems;
    struct error err = {.code = ERR_OK};
    buf_init(&problems, (size_t)16 << 20);
    if (load(data, size, &c, &problems, &err) == ERR_OK) {
        REQUIRE(problems.len == 0);
        check_bounds(&c);
        check_printed(&c);
        config_done(&c);
    } else {
        /* What is no text has no lines to be named. */
        REQUIRE(err.code != ERR_OK && err.text[0] && (problems.len > 0 || memchr(data, 0, size)));
    }
    buf_done(&problems);
    return 0;
}
