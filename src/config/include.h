/*
 * include.h - expand @include, keeping the origin of each line.
 *
 * `@include "file"` on a line of its own is replaced by the lines of that file, which
 * is relative to the main file.  So libconfig gets one text and opens no files, and
 * each line of the text maps to its file and line (a source map).
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
	unsigned line;   /* 1 is the first */
	bool is_invalid; /* and reported: do not report its setting again */
};

/**
 * Read a file and those that it includes.
 *
 * @param problems  of char *, `file:line: message`; an include that cannot be read is
 *                  reported and skipped
 * @return NULL, and one problem, when the file itself cannot be read
 */
struct source_map *source_map_load(const char *path, GPtrArray *problems);

/** The origin of a line. @param line  from 1; clamped to the last */
const struct source_map_origin *
source_map_find(const struct source_map *map, unsigned line);

/** Add a problem: `file:line: message`. */
void source_map_add_problem(const struct source_map *map, GPtrArray *problems,
    unsigned line, const char *format, ...) G_GNUC_PRINTF(4, 5);

/** The start of a line in the text. @param size  set to its bytes without the newline
 */
char *source_map_find_line(const struct source_map *map, unsigned line, size_t *size);

void source_map_free(struct source_map *map);
PB_DEFINE_AUTO(source_map, source_map_free);

#endif
