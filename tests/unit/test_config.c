#include "server/config.c"
#include "server/config_keys.c"
#include "server/config_values.c"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/ingest/ingest.h"
#include "tests/support/unit.h"

#define CONF "conf/stallsymd.conf"

static char file_name[64];

static const char *file_with(const char *text)
{
    snprintf(file_name, sizeof(file_name), "/tmp/stallsym-config-XXXXXX");
    int fd = mkstemp(file_name);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return file_name;
}

static struct config defaults(void)
{
    struct config c;
    struct error err;
    ck_assert_msg(config_load(NULL, NULL, &c, NULL, &err) == ERR_OK, "%s", err.text);
    return c;
}

/* Loads `text`, wants failure, and every one of `wanted` (NULL-ended) as a line of the problems. */
static void refuses(const char *text, const char *const *wanted)
{
    struct config c;
    struct error err;
    struct buf problems;
    const char *path = file_with(text);
    buf_init(&problems, 1 << 16);
    ck_assert_int_eq(config_load(path, NULL, &c, &problems, &err), ERR_INVALID);
    size_t count = 0;
    for (; wanted[count]; count++) {
        char line[512];
        snprintf(line, sizeof(line), "%s%s\n", path, wanted[count]);
        ck_assert_msg(strstr(problems.data, line) != NULL, "missing: %sin:\n%s", line,
                      problems.data);
    }
    for (const char *p = problems.data; (p = strchr(p, '\n')) != NULL; p++)
        count--;
    ck_assert_msg(count == 0, "other problems:\n%s", problems.data);
    ck_assert_int_eq(strncmp(err.text, path, strlen(path)), 0);
    buf_done(&problems);
    unlink(path);
}

START_TEST(defaults_are_inside_their_bounds)
{
    struct config c = defaults();
    ck_assert_uint_eq(c.http.port, 8640);
    ck_assert_str_eq(c.http.address, "127.0.0.1");
    ck_assert_uint_eq(c.http.body_bytes, 8u << 20);
    ck_assert_uint_eq(c.symbols.child_data_bytes, (uint64_t)4 << 30);
    ck_assert(!c.http.metrics_open);
    ck_assert(c.symbols.keep_objects);
    ck_assert_str_eq(c.clusters.rules, "");
    config_done(&c);
    config_done(&c);
}
END_TEST

START_TEST(ingest_defaults_are_the_library_s)
{
    struct config c = defaults();
    const struct ingest_limits *l = &INGEST_LIMITS_DEFAULT;
    ck_assert_uint_eq(c.ingest.reports, l->reports);
    ck_assert_uint_eq(c.ingest.frames, l->frames);
    ck_assert_uint_eq(c.ingest.images, l->images);
    ck_assert_uint_eq(c.ingest.samples, l->samples);
    ck_assert_uint_eq(c.ingest.threads, l->threads);
    ck_assert_uint_eq(c.ingest.path_bytes, l->path_bytes);
    ck_assert_uint_eq(c.ingest.tags, l->tags);
    ck_assert_uint_eq(c.ingest.memory_bytes, l->arena_bytes);
    config_done(&c);
}
END_TEST

/* Each key once, in the file and in the table, under its section, with its true default. */
START_TEST(conf_names_every_key_with_its_default)
{
    struct config c = defaults();
    struct error err;
    struct buf text;
    size_t count;
    const struct config_key *keys = config_keys(&count);
    unsigned seen[FIRST_LINE_MAX] = {0};
    char section[64] = "";
    buf_init(&text, CONFIG_FILE_MAX);
    ck_assert_msg(read_file(CONF, &text, &err) == ERR_OK, "%s", err.text);
    for (char *next = text.data; next;) {
        char *line = next;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (*line == '[')
            snprintf(section, sizeof(section), "%.*s", (int)strcspn(line + 1, "]"), line + 1);
        if (*line != '#' || !islower((unsigned char)line[1]))
            continue;
        char *equals = strchr(line, '=');
        ck_assert_msg(equals != NULL, "no key: %s", line);
        *equals = 0;
        const struct config_key *key = find_key(section, trim(line + 1));
        ck_assert_msg(key != NULL, "[%s] %s is no key", section, line + 1);
        seen[key - keys]++;
        struct buf value;
        buf_init(&value, 4096);
        buf_puts(&value, "");
        config_print_value(&c, key, &value);
        ck_assert_str_eq(trim(equals + 1), value.data);
        buf_done(&value);
    }
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(seen[i] == 1, "[%s] %s stands %u times", keys[i].section, keys[i].name,
                      seen[i]);
    buf_done(&text);
    config_done(&c);
}
END_TEST

START_TEST(conf_changes_nothing)
{
    struct config c = defaults(), d;
    struct error err;
    size_t count;
    const struct config_key *keys = config_keys(&count);
    ck_assert_msg(config_load(CONF, NULL, &d, NULL, &err) == ERR_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(config_equal(&c, &d, &keys[i]), "%s", keys[i].name);
    config_done(&c);
    config_done(&d);
}
END_TEST

START_TEST(reads_what_is_set)
{
    struct config c;
    struct error err;
    const char *path = file_with("; comment\n# comment\n\n[http]\n\tport=0 \r\nmetrics_open = On\n"
                                 "body_bytes = 3m\naddress = ::1\n[ log ]\nlevel = debug\n"
                                 "[storage]\ndir = /tmp/a b = c");
    ck_assert_msg(config_load(path, NULL, &c, NULL, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(c.http.port, 0);
    ck_assert(c.http.metrics_open);
    ck_assert_uint_eq(c.http.body_bytes, 3u << 20);
    ck_assert_str_eq(c.http.address, "::1");
    ck_assert_str_eq(c.log.level, "debug");
    ck_assert_str_eq(c.storage.dir, "/tmp/a b = c");
    ck_assert_uint_eq(c.storage.group_ops, 512);
    config_done(&c);
    unlink(path);
}
END_TEST

START_TEST(printed_it_loads_to_the_same)
{
    struct config c, d;
    struct error err;
    size_t count;
    const struct config_key *keys = config_keys(&count);
    struct buf text;
    const char *path = file_with("[http]\nport = 1\nbody_bytes = 65537\nport_file = /x\n"
                                 "[symbols]\nkeep_objects = 0\nfree_bytes_min = 0\n");
    buf_init(&text, CONFIG_FILE_MAX);
    ck_assert_msg(config_load(path, NULL, &c, NULL, &err) == ERR_OK, "%s", err.text);
    unlink(path);
    ck_assert(config_print(&c, &text));
    path = file_with(text.data);
    ck_assert_msg(config_load(path, NULL, &d, NULL, &err) == ERR_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(config_equal(&c, &d, &keys[i]), "%s", keys[i].name);
    ck_assert_uint_eq(d.http.body_bytes, 65537);
    unlink(path);
    buf_done(&text);
    config_done(&c);
    config_done(&d);
}
END_TEST

START_TEST(names_every_mistake_with_its_line)
{
    static const char *const wanted[] = {
        ":1: a setting before the first [section]",
        ":3: there is no key \"prot\" in [http]; \"port\" is one",
        ":4: [http] port = 65536: a number from 0 to 65535 is wanted",
        ":5: [http] threads = -1: a number from 0 to 256 is wanted",
        ":6: [http] body_bytes = 8MB: a size (K, M, G) from 64K to 1G is wanted",
        ":7: [http] metrics_open = maybe: yes or no is wanted",
        ":8: \"name = value\" is wanted, not \"oops\"",
        ":9: there is no section [htpp]; [http] is one",
        ":12: [log] level = loud: one of \"error warn info debug\" is wanted",
        ":13: [log] level is set twice, first in line 12",
        ":14: \"]\" is missing",
        NULL};
    refuses("port = 1\n[http]\nprot = 1\nport = 65536\nthreads = -1\nbody_bytes = 8MB\n"
            "metrics_open = maybe\noops\n[htpp]\nport = 5\n[log]\nlevel = loud\nlevel = info\n"
            "[log",
            wanted);
}
END_TEST

START_TEST(unknown_names_are_told_what_was_meant)
{
    static const char *const wanted[] = {
        ":2: there is no key \"Ports\" in [http]; \"port\" is one",
        ":3: there is no key \"backend\" in [http]; [storage] has it",
        ":4: there is no key \"colour\" in [http]", ":5: there is no section [nonsense]", NULL};
    refuses("[http]\nPorts = 1\nbackend = memory\ncolour = red\n[nonsense]\n", wanted);
}
END_TEST

START_TEST(texts_of_a_form_are_refused_with_their_line)
{
    static const char *const wanted[] = {":2: [http] address = 127.0.0.1:80: an IP address or a "
                                         "host's name is wanted; the port is a "
                                         "key of its own, and IPv6 has no brackets here",
                                         ":3: [http] cors_origins = * https://a/: an origin has no "
                                         "path, not even a \"/\" at its end",
                                         ":5: [alerts] public_url = stalls.example.com: a URL is "
                                         "wanted that begins with https:// or "
                                         "http://",
                                         NULL};
    refuses("[http]\naddress = 127.0.0.1:80\ncors_origins = * https://a/\n[alerts]\n"
            "public_url = stalls.example.com\n",
            wanted);
}
END_TEST

START_TEST(quotes_and_comments_are_no_part_of_a_value)
{
    static const char *const wanted[] = {
        ":2: [http] port = \"80\": a value is written without quotes",
        ":3: [http] threads = 2 # cores: a comment has a line of its own",
        ":4: [http] address = '::1': a value is written without quotes",
        ":6: [storage] dir = \"/data\": a value is written without quotes",
        ":8: [backup] dir = /backups\t# nightly: a comment has a line of its own",
        NULL};
    struct config c;
    struct error err;
    char *const env[] = {(char *)"STALLSYM_STORAGE_DIR='/data'", NULL};
    refuses("[http]\nport = \"80\"\nthreads = 2 # cores\naddress = '::1'\n[storage]\n"
            "dir = \"/data\"\n[backup]\ndir = /backups\t# nightly\n",
            wanted);
    ck_assert_int_eq(config_load(NULL, env, &c, NULL, &err), ERR_INVALID);
    const char *path = file_with("[storage]\ndir = /a#b/\"c\"\n");
    ck_assert_msg(config_load(path, NULL, &c, NULL, &err) == ERR_OK, "%s", err.text);
    ck_assert_str_eq(c.storage.dir, "/a#b/\"c\"");
    config_done(&c);
    unlink(path);
}
END_TEST

START_TEST(forms_of_texts)
{
    static const struct {
        const char *(*check)(const char *value);
        const char *good[8], *bad[12];
    } forms[] = {
        {config_check_origins,
         {"", "*", "null", "https://a", " https://a.example:8443\thttp://[::1]:80 ",
          "app+x://local"},
         {"a", "https://", "https://a/", "https://a/b", "https://a,https://b",
          "https://a:", "https://a:x", "https://a:123456", "https://u@a", "https://a https://b/",
          "://a", "https://\xc3\xa4"}},
        {config_check_url,
         {"", "https://a", "http://a:80/", "https://[::1]:8640/b/c"},
         {"a", "ftp://a", "https://", "https:///b", "https://a b", "https://a?b", "https://a#b",
          "https://u:p@a", "https://a\"", "https://a:b/"}},
        {config_check_address,
         {"", "0.0.0.0", "::", "::1", "fe80::1%eth0", "localhost", "a-b.example"},
         {"127.0.0.1:80", "[::1]", "a b", "http://a", "*", "a/24", "::1::2"}},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        for (size_t k = 0; k < 8 && forms[i].good[k]; k++)
            ck_assert_msg(!forms[i].check(forms[i].good[k]), "%zu: %s", i, forms[i].good[k]);
        for (size_t k = 0; k < 12 && forms[i].bad[k]; k++)
            ck_assert_msg(forms[i].check(forms[i].bad[k]) != NULL, "%zu: %s", i, forms[i].bad[k]);
    }
    char link[900];
    snprintf(link, sizeof(link), "https://a/%0800d", 0);
    ck_assert_ptr_nonnull(config_check_url(link));
}
END_TEST

START_TEST(bounds_are_inclusive)
{
    static const char *const below[] = {
        ":2: [retention] retry_days = 2: a number from 3 to 60 is wanted", NULL};
    static const char *const above[] = {
        ":2: [retention] retry_days = 61: a number from 3 to 60 is wanted", NULL};
    static const char *const huge[] = {
        ":2: [http] upload_bytes = 17179869184G: a size (K, M, G) from 1M to 1024G is wanted",
        ":3: [http] port = 18446744073709551616: a number from 0 to 65535 is wanted",
        ":4: [http] threads = : a number from 0 to 256 is wanted", NULL};
    struct config c;
    struct error err;
    refuses("[retention]\nretry_days = 2\n", below);
    refuses("[retention]\nretry_days = 61\n", above);
    refuses("[http]\nupload_bytes = 17179869184G\nport = 18446744073709551616\nthreads =\n", huge);
    const char *path = file_with("[retention]\nretry_days = 3\nreport_days = 3650\n");
    ck_assert_msg(config_load(path, NULL, &c, NULL, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(c.retention.retry_days, 3);
    config_done(&c);
    unlink(path);
}
END_TEST

START_TEST(values_that_contradict_each_other)
{
    struct config c;
    struct error err;
    const char *path = file_with("[storage]\nqueue = 100\nqueue_high = 101\n");
    ck_assert_int_eq(config_load(path, NULL, &c, NULL, &err), ERR_INVALID);
    ck_assert_str_eq(err.text, "[storage] queue_high = 101 is above queue = 100");
    unlink(path);
}
END_TEST

START_TEST(environment_overrides)
{
    struct config c;
    struct error err;
    char *const env[] = {(char *)"HOME=/root", (char *)"STALLSYM_HTTP_PORT=99",
                         (char *)"STALLSYM_STORAGE_DIR=/data", (char *)"STALLSYM_LOG_LEVEL=warn",
                         NULL};
    char *const bad[] = {(char *)"STALLSYM_HTTP_PORT=tcp://10.0.0.1:80", NULL};
    const char *path = file_with("[http]\nport = 5\nthreads = 3\n");
    ck_assert_msg(config_load(path, env, &c, NULL, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(c.http.port, 99);
    ck_assert_uint_eq(c.http.threads, 3);
    ck_assert_str_eq(c.storage.dir, "/data");
    ck_assert_str_eq(c.log.level, "warn");
    config_done(&c);
    ck_assert_int_eq(config_load(NULL, bad, &c, NULL, &err), ERR_INVALID);
    ck_assert_str_eq(err.text, "STALLSYM_HTTP_PORT: [http] port = tcp://10.0.0.1:80: a number from "
                               "0 to 65535 is wanted");
    unlink(path);
}
END_TEST

START_TEST(misspelt_variables_are_seen)
{
    char *const env[] = {
        (char *)"STALLSYM_HTTP_PROT=99", (char *)"STALLSYM_HTTP_PORT=99",
        (char *)"STALLSYM_ADMIN_TOKEN=x", (char *)"STALLSYM_LOG=x", (char *)"STALLSYM_LOG_LEVELS=x",
        (char *)"OTHER_HTTP_PROT=1", (char *)"STALLSYM_HTPP_PORT=99",
        (char *)"STALLSYM_http_port=99", (char *)"STALLSYM_PORT=99", (char *)"STALLSYM_URL=x",
        (char *)"STALLSYM_TOKEN=x",
        /* of a service of Kubernetes' that is named stallsym */
        (char *)"STALLSYM_SERVICE_HOST=10.0.0.1", (char *)"STALLSYM_SERVICE_PORT_HTTP=80",
        (char *)"STALLSYM_PORT=tcp://10.0.0.1:80", (char *)"STALLSYM_PORT_80_TCP_ADDR=10.0.0.1",
        NULL};
    struct buf out;
    buf_init(&out, 4096);
    config_unknown_environment(env, &out);
    ck_assert_str_eq(out.data, "STALLSYM_HTTP_PROT names no key; STALLSYM_HTTP_PORT does\n"
                               "STALLSYM_LOG names no key\n"
                               "STALLSYM_LOG_LEVELS names no key; STALLSYM_LOG_LEVEL does\n"
                               "STALLSYM_HTPP_PORT names no key; STALLSYM_HTTP_PORT does\n"
                               "STALLSYM_http_port names no key; STALLSYM_HTTP_PORT does\n"
                               "STALLSYM_PORT names no key; STALLSYM_HTTP_PORT does\n");
    buf_done(&out);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    struct config c;
    struct error err;
    ck_assert_int_eq(config_load("/nonexistent/x.conf", NULL, &c, NULL, &err), ERR_IO);
    ck_assert_str_eq(err.text, "cannot open /nonexistent/x.conf: No such file or directory");
    ck_assert_int_eq(config_load("/tmp", NULL, &c, NULL, &err), ERR_IO);
    ck_assert_int_eq(config_load("/dev/zero", NULL, &c, NULL, &err), ERR_LIMIT);
    const char *path = file_with("[http]\n");
    int fd = open(path, O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(fd, "\0x", 2), 2);
    close(fd);
    ck_assert_int_eq(config_load(path, NULL, &c, NULL, &err), ERR_FORMAT);
    unlink(path);
    path = file_with("");
    ck_assert_int_eq(config_load(path, NULL, &c, NULL, &err), ERR_OK);
    config_done(&c);
    unlink(path);
}
END_TEST

UNIT_MAIN("config", defaults_are_inside_their_bounds, ingest_defaults_are_the_library_s,
          conf_names_every_key_with_its_default, conf_changes_nothing, reads_what_is_set,
          printed_it_loads_to_the_same, names_every_mistake_with_its_line,
          unknown_names_are_told_what_was_meant, texts_of_a_form_are_refused_with_their_line,
          quotes_and_comments_are_no_part_of_a_value, forms_of_texts, bounds_are_inclusive,
          values_that_contradict_each_other, environment_overrides, misspelt_variables_are_seen,
          files_that_cannot_be_read)
