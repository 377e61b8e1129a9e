/*
 * lines.h - the text of a configuration with all that it includes, line by line.
 *
 * A file is a regular file of text: octet order marks and carriage returns go, and
 * what is none is told.  `@include "file"` on a line of its own stands for the lines of
 * that file, named beside the main one.  So libconfig gets one text, opens nothing
 * itself, and each line still knows where it came from.
 */
#ifndef PAPERBOY_CONFIG_LINES_H
#define PAPERBOY_CONFIG_LINES_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"

struct lines {
	GString *text;
	GArray *origins;  /* of struct lines_origin, one a line */
	GPtrArray *files; /* of char * */
};

struct lines_origin {
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
struct lines *lines_load(const char *path, GPtrArray *problems);

/** Where a line of the text came from. @param line  1 is the first; one past the last
 * is the last */
const struct lines_origin *lines_locate(const struct lines *lines, unsigned line);

/** Say what is wrong on a line: `file:line: message`. */
void lines_add_problem(const struct lines *lines, GPtrArray *problems, unsigned line,
    const char *format, ...) G_GNUC_PRINTF(4, 5);

/** Where a line begins in the text, and how long it is without its end. */
char *lines_find(const struct lines *lines, unsigned line, size_t *size);

void lines_free(struct lines *lines);
PB_DEFINE_AUTO(lines, lines_free);

#endif
