/*
 * include.h - the text of a configuration with all that it includes, line by line.
 *
 * A file is a regular file of text: octet order marks and carriage returns go, and
 * what is none is told.  `@include "file"` on a line of its own stands for the lines of
 * that file, named beside the main one.  So libconfig gets one text, opens nothing
 * itself, and each line still knows where it came from.
 */
#ifndef PAPERBOY_CONFIG_INCLUDE_H
#define PAPERBOY_CONFIG_INCLUDE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct source_map {
	GString *text;
	GArray *origins;  /* of struct source_map_origin, one a line */
	GPtrArray *files; /* of char * */
};

struct source_map_origin {
	const char *file;
	unsigned line; /* 1 is the first */
	bool is_wrong; /* and was told: no word more about its setting */
};

/**
 * Read a file and those that it includes.
 *
 * @param problems  of char *, `file:line: message`; an include that cannot be read is
 *                  told and left out
 * @return NULL, and one problem, when the file itself cannot be read
 */
struct source_map *source_map_load(const char *path, GPtrArray *problems);

/** Where a line of the text came from. @param line  1 is the first; one past the last
 * is the last */
const struct source_map_origin *
source_map_find(const struct source_map *lines, unsigned line);

/** Say what is wrong on a line: `file:line: message`. */
void source_map_add_problem(const struct source_map *lines, GPtrArray *problems,
    unsigned line, const char *format, ...) G_GNUC_PRINTF(4, 5);

/** Where a line begins in the text, and how long it is without its end. */
char *source_map_find_line(const struct source_map *lines, unsigned line, size_t *size);

void source_map_free(struct source_map *lines);
PB_DEFINE_AUTO(source_map, source_map_free);

#endif
