/*
 * category.c - names of arXiv categories and archives.
 */
#include "query/parse/category.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

/* The archive is the part before the dot; a name without a dot is both. */
static const char *const categories[] = {
#include "query/parse/categories.h"
};

const char *
category_find(const char *word, size_t len)
{
	/* A category has a dot or a hyphen; few words have. */
	if (!memchr(word, '.', len) && !memchr(word, '-', len))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
		if (strlen(categories[i]) == len &&
		    g_ascii_strncasecmp(categories[i], word, len) == 0)
			return categories[i];
	return NULL;
}

char *
category_find_archive(const char *word, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
		if (len > 0 && strcspn(categories[i], ".") == len &&
		    g_ascii_strncasecmp(categories[i], word, len) == 0)
			return g_strndup(categories[i], len);
	return NULL;
}

static void
compare_name(const char *typed, char *name, unsigned *least, char **nearest)
{
	g_autofree char *known = g_ascii_strdown(name, -1);
	unsigned distance = edit_distance_measure(typed, known);

	if (distance < *least) {
		*least = distance;
		g_free(*nearest);
		*nearest = name;
	} else {
		g_free(name);
	}
}

char *
category_find_nearest(const char *word, size_t len)
{
	g_autofree char *typed = g_ascii_strdown(word, (gssize)len);
	unsigned least = G_MAXUINT;
	char *nearest = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++) {
		size_t archive_len = strcspn(categories[i], ".");

		compare_name(typed, g_strdup(categories[i]), &least, &nearest);
		compare_name(
		    typed, g_strndup(categories[i], archive_len), &least, &nearest);
	}
	return nearest;
}

const char *
category_get(size_t i)
{
	return i < G_N_ELEMENTS(categories) ? categories[i] : NULL;
}
