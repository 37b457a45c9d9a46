/*
 * swift_cases - tables of mangled Swift names and what they are to print.
 *
 * Purpose: the tests of the Swift demangler are tables; this checks them and says which row is wrong.
 */
#ifndef STALLSYM_TESTS_SWIFT_CASES_H
#define STALLSYM_TESTS_SWIFT_CASES_H

#include <stddef.h>

struct swift_case {
    const char *name;
    const char *full;       /* NULL: the name is not valid and printed as it is */
    const char *simplified; /* NULL: as the full form */
};

void swift_check(const struct swift_case *cases, size_t count);

#define SWIFT_CHECK(cases) swift_check(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
