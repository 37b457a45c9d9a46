/*
 * banned - calls this project does not make.
 *
 * Purpose: a call of one of these is a compile error with the reason in its name. The build
 * force-includes this file after the system's headers (see Makefile, LINT), so nobody includes it.
 * Each of them either has no bound, hides truncation, or is not safe with threads.
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
#pragma GCC poison atoi atol atoll atof alloca tmpnam mktemp system

#endif
