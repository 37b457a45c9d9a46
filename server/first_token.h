/*
 * first_token - the admin token a fresh daemon begins with.
 *
 * Purpose: STALLSYM_ADMIN_TOKEN, or the file that STALLSYM_ADMIN_TOKEN_FILE names, is made an admin
 * token at every start (so it can be changed there); without them, and without any token in the
 * database, one is generated and written once to DIR/admin-token, mode 0600.
 *
 * Invariants: only the hash is stored. The file is on disk before the token is valid. An empty
 * variable is no token. Nothing of a token is ever logged.
 *
 * Threads: main, before the door opens. Memory: none.
 */
#ifndef STALLSYM_SERVER_FIRST_TOKEN_H
#define STALLSYM_SERVER_FIRST_TOKEN_H

#include "base/error.h"
#include "server/data_dir.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

#define TOKEN_FILE_NAME  "admin-token"
#define TOKEN_LENGTH_MIN 8
#define TOKEN_LENGTH_MAX 256

/* `token` and `token_file`: the values of the two variables, NULL when not set. */
enum err first_token_ensure(struct storage *storage, struct writer *writer,
                            const struct data_dir *dir, const char *token, const char *token_file,
                            struct error *err);

#endif
