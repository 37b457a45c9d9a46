/*
 * descriptors - a process that can open no file more.
 *
 * Threads: the whole process, until they are given back. Memory: none.
 */
#ifndef STALLSYM_TESTS_DESCRIPTORS_H
#define STALLSYM_TESTS_DESCRIPTORS_H

#include <sys/resource.h>

void descriptors_take(struct rlimit *before);
void descriptors_give(const struct rlimit *before);

#endif
