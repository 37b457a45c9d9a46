/*
 * file_limit - how many descriptors the daemon may have.
 *
 * Purpose: the soft limit is raised to the hard one; connections that would not leave enough for
 * the daemon's own files (database, indexes, uploads, the indexer's child) are told and not opened.
 *
 * Threads: at start. Memory: none.
 */
#ifndef STALLSYM_FILE_LIMIT_H
#define STALLSYM_FILE_LIMIT_H

#include <stddef.h>

#define FILE_LIMIT_OWN 256 /* what the daemon needs besides connections and uploads */

/* As many of `connections` as there is room for beside `others`, at least one. */
size_t file_limit_connections(size_t connections, size_t others);

#endif
