/*
 * category - what a stall is about: lock, network_sync, database, file_io, parsing, image, layout,
 * render, javascript, ipc, allocation, launch, cpu, idle, or what a rule says.
 *
 * Purpose: design/clustering.md section 5. The first `category=` rule of the file that meets any
 * frame, system ones included, decides; what no rule speaks about is `cpu` when the app's own code
 * was running, else `unknown`.
 *
 * Invariants: pure. Frames beyond a boundary do not count.
 *
 * Threads: any. Memory: the answer borrows from the rules.
 */
#ifndef STALLSYM_ANALYSIS_CATEGORY_H
#define STALLSYM_ANALYSIS_CATEGORY_H

#include "server/analysis/cluster_key.h"
#include "server/analysis/frame_fates.h"

const char *category_of(const struct fated_stack *stack, enum cluster_kind kind);

#endif
