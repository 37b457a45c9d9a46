#include "server/first_token.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/http/auth.h"
#include "storage/storage_read.h"

#define SCOPES_ALL (SCOPE_INGEST | SCOPE_SYMBOLS | SCOPE_READ | SCOPE_ADMIN)
#define READ_ARENA ((size_t)64 * 1024 * 1024)
#define OP_ARENA   ((size_t)64 * 1024)

static enum err check_token(const char *token, const char *from, struct error *err)
{
    size_t n = strlen(token);
    if (n < TOKEN_LENGTH_MIN || n > TOKEN_LENGTH_MAX)
        return error_set(err, ERR_INVALID,
                         "the token in %s has %zu characters, %d to %d are wanted", from, n,
                         TOKEN_LENGTH_MIN, TOKEN_LENGTH_MAX);
    for (const char *p = token; *p; p++) {
        if (*p <= ' ' || *p > '~')
            return error_set(err, ERR_INVALID,
                             "the token in %s has a blank, or another character that no HTTP "
                             "header carries",
                             from);
    }
    return ERR_OK;
}

/* The file's text without the line's end. */
static enum err read_token_file(const char *path, char *out, size_t size, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open STALLSYM_ADMIN_TOKEN_FILE %s", path);
    ssize_t n = read(fd, out, size - 1);
    int problem = errno;
    close(fd);
    if (n < 0)
        return error_errno(err, problem, "cannot read STALLSYM_ADMIN_TOKEN_FILE %s", path);
    while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == '\r'))
        n--;
    out[n] = 0;
    return check_token(out, "STALLSYM_ADMIN_TOKEN_FILE", err);
}

static enum err store(struct writer *writer, const char *token, const char *name, struct error *err)
{
    struct write_op *op = write_op_new(WRITE_TOKEN, OP_ARENA);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for a token");
    sha256_of(token, strlen(token), op->u.token.hash);
    op->u.token.scopes = SCOPES_ALL;
    op->u.token.name = name;
    op->u.token.now_ms = clock_wall_ms();
    enum err rc = writer_call(writer, op, err);
    write_op_free(op);
    return rc == ERR_OK ? rc : error_prefix(err, "cannot store the admin token");
}

/* Are there tokens, and is this one of them? `token` may be NULL. */
static enum err look_up(struct storage *storage, const char *token, size_t *ret_count,
                        bool *ret_known, struct error *err)
{
    struct storage_reader *reader = NULL;
    struct token_row *rows = NULL;
    uint8_t hash[SHA256_SIZE] = {0};
    struct arena arena;
    arena_init(&arena, READ_ARENA);
    if (token)
        sha256_of(token, strlen(token), hash);
    enum err rc = storage_reader_open(storage, &reader, err);
    if (rc == ERR_OK)
        rc = read_tokens(reader, &arena, &rows, ret_count, err);
    *ret_known = false;
    for (size_t i = 0; rc == ERR_OK && token && i < *ret_count; i++)
        *ret_known = *ret_known || memcmp(rows[i].hash, hash, SHA256_SIZE) == 0;
    storage_reader_close(reader);
    arena_done(&arena);
    return rc;
}

static enum err make_first(struct writer *writer, const struct data_dir *dir, struct error *err)
{
    char token[AUTH_TOKEN_SIZE], line[AUTH_TOKEN_SIZE + 1], path[PATH_MAX], quoted[512];
    enum err rc = auth_token_make(token, err);
    if (rc == ERR_OK)
        rc = data_dir_path(dir, TOKEN_FILE_NAME, path, sizeof(path), err);
    if (rc != ERR_OK)
        return rc;
    snprintf(line, sizeof(line), "%s\n", token);
    rc = data_dir_write_file(path, 0600, line, err);
    if (rc == ERR_OK)
        rc = store(writer, token, "admin (first start)", err);
    if (rc == ERR_OK)
        log_info("admin token made", "file=%s", log_quote(path, quoted, sizeof(quoted)));
    return rc;
}

enum err first_token_ensure(struct storage *storage, struct writer *writer,
                            const struct data_dir *dir, const char *token, const char *token_file,
                            struct error *err)
{
    char from_file[TOKEN_LENGTH_MAX + 3];
    const char *given = token && *token ? token : NULL;
    size_t count = 0;
    bool known = false;
    enum err rc = given ? check_token(given, "STALLSYM_ADMIN_TOKEN", err) : ERR_OK;
    if (rc == ERR_OK && !given && token_file && *token_file) {
        rc = read_token_file(token_file, from_file, sizeof(from_file), err);
        given = from_file;
    }
    if (rc == ERR_OK)
        rc = look_up(storage, given, &count, &known, err);
    if (rc != ERR_OK)
        return rc;
    if (given)
        return known ? ERR_OK : store(writer, given, "admin (environment)", err);
    return count > 0 ? ERR_OK : make_first(writer, dir, err);
}
