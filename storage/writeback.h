/*
 * writeback - brings to the disk what was written to a file, a piece of the file at a time.
 *
 * Purpose: a checkpoint writes tens of thousands of pages all over the database, and the one that lets
 * the log begin anew syncs them, while nobody commits. What the system has written to the disk by then
 * need not be waited for. Piece by piece, so that a commit of the same time finds a short queue at the
 * disk.
 *
 * Invariants: whoever wants to be sure still syncs. It has a descriptor of its own, and the system tells
 * each descriptor of an error of the disk: one that is met here is not hidden from that sync. To close
 * any descriptor of a file ends the locks that the process has on it: writeback_done() comes after the
 * file's last connection.
 *
 * Threads: one at a time. Memory: writeback_open/writeback_done; zeros stand for no file.
 */
#ifndef STALLSYM_STORAGE_WRITEBACK_H
#define STALLSYM_STORAGE_WRITEBACK_H

#include "base/error.h"

struct writeback {
    int fd; /* 0: none */
};

/* A file that cannot be opened stays as slow as it is. */
void writeback_open(struct writeback *w, const char *path);
void writeback_done(struct writeback *w);
/* Any error: the disk did not take all of it. No file, or a file system that cannot do this, is no error:
 * whoever wants to be sure syncs. */
enum err writeback_run(const struct writeback *w, struct error *err);

#endif
