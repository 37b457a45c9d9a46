/*
 * config_values - texts that have a form: is one of it, and what is wrong with it?
 *
 * Purpose: the checks that a row of the table in config_keys.c may name, so that a slip is told with
 * its line at the start, not found out by its effect.
 *
 * Invariants: NULL is good; else words that end the sentence "a text is wanted: ...". "" is good.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_SERVER_CONFIG_VALUES_H
#define STALLSYM_SERVER_CONFIG_VALUES_H

/* "*", "null", "https://board.example.com:8443", blank-separated. */
const char *config_check_origins(const char *value);
/* "https://stalls.example.com/behind/a/proxy" */
const char *config_check_url(const char *value);
/* "0.0.0.0", "::1", "localhost"; whether a name has an address is not asked. */
const char *config_check_address(const char *value);

#endif
