/*
 * recover.h - parse a configuration with libconfig despite syntax errors.
 */
#ifndef PAPERBOY_CONFIG_RECOVER_H
#define PAPERBOY_CONFIG_RECOVER_H

#include <libconfig.h>
#include <stdbool.h>

#include "config/include.h"

/**
 * Parse a text and report its syntax errors.
 *
 * A duplicate setting is skipped; any other error ends the parse, and the settings
 * before it are used.  An integer over 32 bits is read as INT_MAX, which no setting
 * allows.
 *
 * @param config    initialised
 * @param map       its text is modified
 * @param problems  of char *, `file:line: message`
 * @return whether the whole text was parsed
 */
bool recover_parse(config_t *config, struct source_map *map, GPtrArray *problems);

/**
 * Find the next integer over 32 bits without a suffix L, outside comments and strings.
 * libconfig 1.5 silently keeps the lower 32 bits: 4294967321 would be read as 25.
 *
 * @param text  a configuration, or its rest after the previous result
 * @param line  incremented by the lines passed; 1 at the start
 * @param size  set to the number's bytes
 * @return NULL when there is none
 */
const char *recover_find_overflow(const char *text, unsigned *line, size_t *size);

#endif
