/*
 * config_json - a remote configuration as JSON.
 *
 * Purpose: {"defaults":{SETTINGS},"rules":[{"name","off","if":{CONDITIONS},"set":{SETTINGS}}]} to
 * struct remote_config, checked; and what a client gets. Unknown members are refused: a misspelt
 * condition would meet everybody.
 *
 * Invariants: ERR_INVALID names the place, "rules[2].if.version: …".
 *
 * Threads: any. Memory: texts are copied into the arena.
 */
#ifndef STALLSYM_HTTP_CONFIG_JSON_H
#define STALLSYM_HTTP_CONFIG_JSON_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/analysis/remote_config.h"
#include "server/http/jout.h"

#define CONFIG_JSON_MAX ((size_t)256 << 10) /* bytes of a stored configuration */

/* Conditions that name nothing ("device": []) would meet everybody; ERR_INVALID. Old ones that are
 * stored mean what they meant. */
enum err config_json_refuse_empty(json_t *body, struct error *err);
/* `body` may have other members beside the two. */
enum err config_json_read(json_t *body, struct arena *arena, struct remote_config *ret,
                          struct error *err);
/* A configuration as it is stored. */
enum err config_json_parse(const char *text, struct arena *arena, struct remote_config *ret,
                           struct error *err);
/* What is stored of `body`; NULL without memory or above CONFIG_JSON_MAX. */
const char *config_json_store(json_t *body, struct arena *arena);

void config_json_print(struct jout *j, const struct config_values *values);

#endif
