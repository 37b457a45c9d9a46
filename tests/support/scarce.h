/*
 * scarce - malloc says no, once, at a call of the test's choice.
 *
 * A test that uses it stands in SCARCE of tests/tests.mk: it is linked so that every malloc() of
 * our own code (jansson's too, see server/jobs/json_text.h) comes through here.
 *
 * Threads: one. Memory: none.
 */
#ifndef STALLSYM_TESTS_SCARCE_H
#define STALLSYM_TESTS_SCARCE_H

#include <stdbool.h>

/* The nth malloc from now on fails, from 1. */
void scarce_begin(unsigned nth);
/* Whether it came to that. */
bool scarce_end(void);

#endif
