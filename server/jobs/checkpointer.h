/*
 * checkpointer - copies the write-ahead log into the database while commits go on.
 *
 * Purpose: the log begins anew when all of it is copied at a moment at which nobody commits; what
 * is copied then, commits wait for (server/jobs/writer.c). So nearly all is copied before, beside
 * them: a pass copies what came during the one before it and brings it to the disk, until a pass was
 * short, or PASSES_MAX of them no shorter.
 *
 * Threads: one of its own; ask and forget from one other. Memory: checkpointer_start/_stop.
 */
#ifndef STALLSYM_JOBS_CHECKPOINTER_H
#define STALLSYM_JOBS_CHECKPOINTER_H

#include <stdbool.h>

#include "base/error.h"
#include "storage/storage.h"

struct checkpointer;

enum err checkpointer_start(struct storage *storage, struct checkpointer **ret, struct error *err);
void checkpointer_stop(struct checkpointer *c);

/* True, once, when passes that were asked for have ended: little is left to copy, unless readers or
 * the disk were in the way. False: they are under way, or begin now. */
bool checkpointer_ask(struct checkpointer *c);
/* The log has begun anew: passes that ended before say nothing of it. */
void checkpointer_forget(struct checkpointer *c);

#endif
