/*
 * banned - calls this project does not make.
 *
 * Purpose: a call of one of these is a compile error. The build force-includes this file into every
 * translation unit, so nobody includes it. Each of them has no bound, hides truncation, or is not
 * safe with threads.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_BASE_BANNED_H
#define STALLSYM_BASE_BANNED_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets
#pragma GCC poison strtok gmtime localtime ctime asctime mktime
#pragma GCC poison atoi atol atoll atof tmpnam mktemp

/* Names that others use for other things: only the call is an error. */
#undef alloca
#define alloca(size)    alloca_is_banned
#define system(command) system_is_banned

#endif
