/*
 * version_range - which versions are meant.
 *
 * Purpose: comparisons that must all hold, blank-separated: ">=7.2 <8", "7.2.1", "!=7.3", and "7.2.*"
 * for 7.2 and all that begins with it; "7.2 || >=8.1" for one or the other. Numbers of any kind
 * (builds, megabytes) are versions of one part.
 *
 * Invariants: pure; the order is that of base/app_version.h. What is no version is in no range.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_ANALYSIS_VERSION_RANGE_H
#define STALLSYM_ANALYSIS_VERSION_RANGE_H

#include <stdbool.h>

bool version_range_valid(const char *range);
/* `range` is valid; `version` NULL or unknown: false. */
bool version_range_holds(const char *range, const char *version);

#endif
