/*
 * version - what this build calls itself.
 *
 * Purpose: `stallsymd version`, the API's description and the exporter say the same.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_BASE_VERSION_H
#define STALLSYM_BASE_VERSION_H

#define STALLSYM_VERSION "0.1.0"

#endif
