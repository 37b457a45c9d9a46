#include "base/log.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

/* What log_write() wrote to standard error while `body` ran. */
#define CAPTURE(text, body)                                                                        \
    do {                                                                                           \
        int pipe_fds[2], before = dup(STDERR_FILENO);                                              \
        ck_assert_int_eq(pipe(pipe_fds), 0);                                                       \
        dup2(pipe_fds[1], STDERR_FILENO);                                                          \
        close(pipe_fds[1]);                                                                        \
        body;                                                                                      \
        dup2(before, STDERR_FILENO);                                                               \
        ssize_t n = read(pipe_fds[0], text, sizeof(text) - 1);                                     \
        text[n > 0 ? n : 0] = 0;                                                                   \
        close(before);                                                                             \
        close(pipe_fds[0]);                                                                        \
    } while (0)

START_TEST(one_line_each)
{
    char text[8192];
    CAPTURE(text,
            log_warn("upload failed", "upload=%d reason=%s", 7, "a\nlevel=error msg=\"forged\""));
    ck_assert_ptr_nonnull(
        strstr(text, " level=warn msg=\"upload failed\" upload=7 reason=a?level"));
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
    CAPTURE(text, log_info("plain", ""));
    ck_assert_str_eq(text + strlen(text) - strlen("msg=\"plain\"\n"), "msg=\"plain\"\n");
}
END_TEST

START_TEST(levels)
{
    char text[8192];
    enum log_level level;
    ck_assert(log_level_parse("WARN", &level));
    ck_assert_int_eq(level, LOG_WARN);
    ck_assert(!log_level_parse("loud", &level));
    log_set_level(LOG_WARN);
    CAPTURE(text, {
        log_info("not this", "");
        log_error("this", "");
    });
    ck_assert_ptr_null(strstr(text, "not this"));
    ck_assert_ptr_nonnull(strstr(text, "this"));
}
END_TEST

START_TEST(long_lines_are_cut_with_their_newline)
{
    char value[6000], text[8192];
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    CAPTURE(text, log_info("long", "value=%s", value));
    ck_assert_uint_le(strlen(text), 4096);
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

START_TEST(quoting)
{
    char out[32];
    ck_assert_str_eq(log_quote("a \"b\" \\ \n", out, sizeof(out)), "\"a \\\"b\\\" \\\\ ?\"");
    ck_assert_str_eq(log_quote(NULL, out, sizeof(out)), "\"\"");
    ck_assert_uint_lt(
        strlen(log_quote("a very long value that does not fit here", out, sizeof(out))),
        sizeof(out));
    ck_assert_str_eq(log_quote("x", out, 2), "");
}
END_TEST

/* A pipe that nobody reads: nobody waits for it for ever, and it is said afterwards. */
START_TEST(a_reader_that_stopped_holds_nobody_up)
{
    char value[3000], text[65536 * 2];
    int fds[2], before = dup(STDERR_FILENO);
    size_t len = 0;
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    ck_assert_int_eq(pipe(fds), 0);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    for (int i = 0; i < 60; i++) /* more than a pipe holds */
        log_error("many", "value=%s", value);
    while (len < 4096)
        len += (size_t)read(fds[0], text + len, sizeof(text) - 1 - len);
    log_error("after", "");
    dup2(before, STDERR_FILENO);
    for (ssize_t n = 1; n > 0; len += (size_t)n) {
        n = read(fds[0], text + len, sizeof(text) - 1 - len);
        ck_assert_int_ge(n, 0);
    }
    text[len] = 0;
    close(before);
    close(fds[0]);
    const char *told = strstr(text, "level=warn msg=\"log lines dropped\" count=");
    ck_assert_ptr_nonnull(told);
    ck_assert_ptr_nonnull(strstr(told, "msg=\"after\""));
}
END_TEST

UNIT_MAIN("log", a_reader_that_stopped_holds_nobody_up, one_line_each, levels,
          long_lines_are_cut_with_their_newline, quoting)
