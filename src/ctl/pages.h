/*
 * pages.h - a list that is loaded a page at a time: a table for people, or JSON.
 */
#ifndef PAPERBOY_CTL_PAGES_H
#define PAPERBOY_CTL_PAGES_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "ctl/ctl.h"

/* Rows of a page. */
#define PAGES_ROWS 500

struct pages {
	char **head; /* of the table, by print_row(); taken */
	/* Load what follows the last page. @return empty at the end, NULL with an error
	 */
	GPtrArray *(*load)(void *data, GError **error);
	void *data;
	char **(*format)(const void *row); /* by print_row() */
	json_t *(*pack)(const void *row);
	const char *when_empty; /* said instead of a table */
};

/** Print all rows.  Nothing is printed when one page cannot be loaded. */
bool pages_show(const struct ctl *ctl, const struct pages *pages, GError **error);

#endif
