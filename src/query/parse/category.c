/*
 * category.c - names of categories: of arXiv, and of bioRxiv and medRxiv.
 */
#include "query/parse/category.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

/* The archive is the part before the dot; a name without a dot is both. */
static const char *const categories[] = {
#include "query/parse/categories.h"
};

static const char *const preprint_categories[] = {
#include "query/parse/preprint_categories.h"
};

static const char *
find(const char *const *names, size_t count, const char *word, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == len &&
		    g_ascii_strncasecmp(names[i], word, len) == 0)
			return names[i];
	return NULL;
}

const char *
category_find(const char *word, size_t len)
{
	/* A category has a dot or a hyphen; few words have. */
	if (!memchr(word, '.', len) && !memchr(word, '-', len))
		return NULL;
	return find(categories, G_N_ELEMENTS(categories), word, len);
}

const char *
category_find_preprint(const char *word, size_t len)
{
	return find(preprint_categories, G_N_ELEMENTS(preprint_categories), word, len);
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
	for (size_t i = 0; i < G_N_ELEMENTS(preprint_categories); i++)
		compare_name(typed, g_strdup(preprint_categories[i]), &least, &nearest);
	return nearest;
}

const char *
category_get(size_t i)
{
	return i < G_N_ELEMENTS(categories) ? categories[i] : NULL;
}
