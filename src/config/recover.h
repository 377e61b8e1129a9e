/*
 * recover.h - the text of a configuration through libconfig, whatever form it has.
 */
#ifndef PAPERBOY_CONFIG_RECOVER_H
#define PAPERBOY_CONFIG_RECOVER_H

#include <libconfig.h>
#include <stdbool.h>

#include "config/include.h"

/**
 * Parse a text.
 *
 * A setting that is said twice is told and left out; any other mistake in the form ends
 * the parsing, and what stands before it is there all the same.  A number that
 * libconfig would cut to 32 bits is read as INT_MAX, which no setting may be.
 *
 * @param config    initialised
 * @param lines     its text is changed
 * @param problems  of char *, `file:line: message`
 * @return whether all of the text was parsed
 */
bool recover_parse(config_t *config, struct source_map *lines, GPtrArray *problems);

#endif
