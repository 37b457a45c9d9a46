/*
 * app_version - which of two app versions is the newer one.
 *
 * Purpose: the order in which App Store versions compare, for regressions ("comes back in a newer
 * version than the one it was resolved in") and "newest version seen". Dotted parts, compared as
 * numbers of any length, a missing part is 0: 7.10 > 7.9 = 7.9.0. What follows a part's digits makes
 * it older than the bare part ("7.3-beta.2", "7.3b2" < "7.3"), digits inside it compare as numbers;
 * what follows a "+" is no part of the version. A "v" before the first digit and blanks around are
 * skipped.
 *
 * Invariants: a total order over every string. Strings that do not begin with a number ("", "dev",
 * "(other)") are unknown: equal to each other, older than every known one, and never newer than
 * anything.
 *
 * Threads: any. Memory: none; nothing is copied.
 */
#ifndef STALLSYM_BASE_APP_VERSION_H
#define STALLSYM_BASE_APP_VERSION_H

#include <stdbool.h>

/* Whether the text is a version at all. */
bool app_version_known(const char *version);
/* < 0: `a` is older; 0: the same; > 0: newer. NULL is unknown. */
int app_version_order(const char *a, const char *b);
/* First the versions, then, where they are the same, the builds. */
int app_release_order(const char *version_a, const char *build_a, const char *version_b,
                      const char *build_b);
/* The same, ties by bytes: which of several to name. */
int app_release_pick(const char *version_a, const char *build_a, const char *version_b,
                     const char *build_b);
/* A report of `version` (`build`) is newer than the release `than`. An unknown version is not; for
 * the same version the build decides where both are known. */
bool app_release_newer(const char *version, const char *build, const char *than_version,
                       const char *than_build);

#endif
