/* What is noted of a file, and a look at all of it.
 * Covers: storage/sqlite_check.c */
#include "storage/storage_health.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/storage_read.h"
#include "tests/support/ops.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define PAGE 2048

static struct error err;

START_TEST(the_first_trouble_is_kept_and_damage_outdoes_it)
{
    struct storage_health h;
    char text[64];
    storage_health_init(&h);
    ck_assert_int_eq(storage_health_get(&h, text, sizeof(text)), STORAGE_SOUND);
    ck_assert_str_eq(text, "");
    storage_health_note(&h, STORAGE_UNREADABLE, "one");
    storage_health_note(&h, STORAGE_UNREADABLE, "two");
    ck_assert_int_eq(storage_health_get(&h, text, sizeof(text)), STORAGE_UNREADABLE);
    ck_assert_str_eq(text, "one");
    storage_health_note(&h, STORAGE_DAMAGED, "three");
    storage_health_note(&h, STORAGE_UNREADABLE, "four");
    ck_assert_int_eq(storage_health_get(&h, text, sizeof(text)), STORAGE_DAMAGED);
    ck_assert_str_eq(text, "three");
    storage_health_done(&h);
}
END_TEST

START_TEST(what_is_noted_during_a_check_stays)
{
    struct storage_health h;
    storage_health_init(&h);
    storage_health_note(&h, STORAGE_DAMAGED, "one");
    uint64_t mark = storage_health_mark(&h);
    storage_health_note(&h, STORAGE_DAMAGED, "two");
    storage_health_clear(&h, mark);
    ck_assert_int_eq(storage_health_get(&h, NULL, 0), STORAGE_DAMAGED);
    storage_health_clear(&h, storage_health_mark(&h));
    ck_assert_int_eq(storage_health_get(&h, NULL, 0), STORAGE_SOUND);
    storage_health_done(&h);
}
END_TEST

START_TEST(the_last_checkpoint_counts)
{
    struct storage_health h;
    struct error failed = {.code = ERR_IO, .text = "no disk"};
    storage_health_init(&h);
    ck_assert_int_eq(storage_health_last_checkpoint(&h, &err), ERR_OK);
    storage_health_checkpoint(&h, &failed);
    ck_assert_int_eq(storage_health_last_checkpoint(&h, &err), ERR_IO);
    ck_assert_str_eq(err.text, "no disk");
    storage_health_checkpoint(&h, NULL);
    ck_assert_int_eq(storage_health_last_checkpoint(&h, &err), ERR_OK);
    storage_health_done(&h);
}
END_TEST

static bool yes(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static struct storage *open_at(const char *path)
{
    struct storage *s = NULL;
    const struct storage_options o = {.backend = "sqlite",
                                      .path = path,
                                      .busy_ms = 5000,
                                      .retry_days = 14,
                                      .daily_values = 100,
                                      .daily_stacks = 100000,
                                      .migrate = true};
    ck_assert_msg(storage_open(&o, &s, &err) == ERR_OK, "%s", err.text);
    return s;
}

/* All pages of tables and of indexes but the first ones: no page is what it was. */
static void turn_pages(const char *path, off_t from)
{
    uint8_t page[PAGE];
    struct stat st;
    int fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    for (off_t at = from; at < st.st_size; at += PAGE) {
        ck_assert_int_eq(pread(fd, page, PAGE, at), PAGE);
        for (size_t i = 0; i < PAGE; i++)
            page[i] ^= 0xa5;
        ck_assert_int_eq(pwrite(fd, page, PAGE, at), PAGE);
    }
    close(fd);
}

START_TEST(damage_in_the_middle_is_noted_until_it_is_gone)
{
    char *dir = temp_dir_new();
    char path[512], text[256];
    int asked = 0;
    snprintf(path, sizeof(path), "%s/db", dir);
    struct storage *s = open_at(path);
    ck_assert_int_eq(storage_check(s, yes, &asked, &err), ERR_OK);
    storage_close(s); /* all of it is in the file */

    s = open_at(path);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    const off_t from = st.st_size / PAGE / 2 * PAGE;
    turn_pages(path, from);
    ck_assert_int_eq(storage_trouble(s, text, sizeof(text)), STORAGE_SOUND);
    ck_assert_int_eq(storage_check(s, yes, &asked, &err), ERR_FORMAT);
    ck_assert_int_eq(storage_trouble(s, text, sizeof(text)), STORAGE_DAMAGED);
    ck_assert_str_ne(text, "");
    turn_pages(path, from);
    ck_assert_int_eq(storage_trouble(s, NULL, 0), STORAGE_DAMAGED); /* until somebody looks */
    ck_assert_int_eq(storage_check(s, yes, &asked, &err), ERR_OK);
    ck_assert_int_eq(storage_trouble(s, text, sizeof(text)), STORAGE_SOUND);
    ck_assert_str_eq(text, "");
    storage_close(s);
    temp_dir_free(dir);
}
END_TEST

/* Whoever asks, a reader or the writer. */
START_TEST(a_reader_that_meets_damage_notes_it)
{
    char *dir = temp_dir_new();
    char path[512];
    int asked = 0;
    struct arena arena;
    snprintf(path, sizeof(path), "%s/db", dir);
    storage_close(open_at(path));
    struct storage *s = open_at(path);
    struct storage_reader *r = NULL;
    ck_assert_int_eq(storage_reader_open(s, &r, &err), ERR_OK);
    arena_init(&arena, 1 << 20);
    turn_pages(path, PAGE * 2);
    struct token_row *tokens = NULL;
    struct upload_waiting *ids = NULL;
    size_t count = 0;
    enum err rc = read_tokens(r, &arena, &tokens, &count, &err);
    if (rc == ERR_OK) /* its page may be in memory */
        rc = read_uploads_waiting(r, &arena, &ids, &count, &err);
    ck_assert_int_eq(rc, ERR_INTERNAL);
    ck_assert_int_eq(err.code, ERR_INTERNAL);
    ck_assert_int_eq(storage_trouble(s, NULL, 0), STORAGE_DAMAGED);
    turn_pages(path, PAGE * 2);
    ck_assert_int_eq(storage_check(s, yes, &asked, &err), ERR_OK);
    storage_reader_close(r);
    storage_close(s);
    arena_done(&arena);
    temp_dir_free(dir);
}
END_TEST

UNIT_MAIN("storage_health", the_last_checkpoint_counts,
          the_first_trouble_is_kept_and_damage_outdoes_it, what_is_noted_during_a_check_stays,
          damage_in_the_middle_is_noted_until_it_is_gone, a_reader_that_meets_damage_notes_it)
