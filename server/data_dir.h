/*
 * data_dir - the one folder that everything lies in, held by one daemon.
 *
 * Purpose: makes the folder, locks it (a second daemon on it would corrupt nothing, SQLite sees to
 * that, but both would index and expire), and writes the small files beside the database.
 *
 * Invariants: the lock ends with the process, however it ends. A file written by
 * data_dir_write_file appears whole or not at all.
 *
 * Threads: main. Memory: data_dir_open/data_dir_close.
 */
#ifndef STALLSYM_SERVER_DATA_DIR_H
#define STALLSYM_SERVER_DATA_DIR_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define DATABASE_NAME "stallsym.db"

struct data_dir;

/* Makes missing folders (mode 0750). ERR_BUSY: another process holds it. */
enum err data_dir_open(const char *path, struct data_dir **ret, struct error *err);
void data_dir_close(struct data_dir *d);

const char *data_dir_database(const struct data_dir *d);
/* "DIR/name"; ERR_LIMIT when it does not fit. */
enum err data_dir_path(const struct data_dir *d, const char *name, char *path, size_t size,
                       struct error *err);

/* Writes a small file aside, syncs and renames it, syncs the folder. */
enum err data_dir_write_file(const char *path, mode_t mode, const char *text, struct error *err);

#endif
