/*
 * field.c - the fields that a filter can name: one table.
 */
#include "query/field.h"

#include <glib.h>
#include <string.h>

/* A longer name is compared by its beginning only. */
#define LONGEST_NAME  32
/* So much of a name says which one is meant. */
#define SHORTEST_PART 3

static const struct field fields[] = {
    {.name = "text",
        .alias = "all",
        .kind = FIELD_WORDS,
        .texts = FIELD_IN_TITLE | FIELD_IN_ABSTRACT},
    {.name = "title", .alias = "ti", .kind = FIELD_WORDS, .texts = FIELD_IN_TITLE},
    {.name = "abstract",
        .alias = "abs",
        .kind = FIELD_WORDS,
        .texts = FIELD_IN_ABSTRACT},
    {.name = "author", .alias = "au", .kind = FIELD_NAME, .hit = QUERY_FIELD_AUTHOR},
    {.name = "upvotes",
        .kind = FIELD_NUMBER,
        .hit = QUERY_FIELD_UPVOTES,
        .changes = true},
    {.name = "first", .kind = FIELD_LATER},
    {.name = "cat", .kind = FIELD_LATER},
    {.name = "primary", .kind = FIELD_LATER},
    {.name = "source", .kind = FIELD_LATER},
    {.name = "org", .kind = FIELD_LATER},
    {.name = "kw", .kind = FIELD_LATER},
    {.name = "comment", .alias = "co", .kind = FIELD_LATER},
    {.name = "journal", .alias = "jr", .kind = FIELD_LATER},
    {.name = "doi", .kind = FIELD_LATER},
    {.name = "id", .kind = FIELD_LATER},
    {.name = "has", .kind = FIELD_LATER},
    {.name = "comments", .kind = FIELD_LATER},
    {.name = "stars", .kind = FIELD_LATER},
    {.name = "authors", .kind = FIELD_LATER},
    {.name = "date", .kind = FIELD_LATER},
    {.name = "type", .kind = FIELD_LATER},
};

static bool
is_name(const char *known, const char *name, size_t len)
{
	return known && strlen(known) == len &&
	       g_ascii_strncasecmp(known, name, len) == 0;
}

const struct field *
field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (is_name(fields[i].name, name, len) ||
		    is_name(fields[i].alias, name, len))
			return &fields[i];
	return NULL;
}

/*
 * Letters to add, drop, change or swap with a neighbour (optimal string
 * alignment) to get from one name to another.
 */
static unsigned
measure_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned d[LONGEST_NAME + 1][LONGEST_NAME + 1];

	a_len = MIN(a_len, LONGEST_NAME);
	b_len = MIN(b_len, LONGEST_NAME);
	for (size_t i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			unsigned change = a[i - 1] != b[j - 1];
			unsigned best = d[i - 1][j - 1] + change;

			best = MIN(best, d[i - 1][j] + 1);
			best = MIN(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[a_len][b_len];
}

/* One name within the other is nearer than any slip: votes, category. */
static bool
is_within(const char *typed, const char *known)
{
	return strlen(typed) >= SHORTEST_PART && strlen(known) >= SHORTEST_PART &&
	       (strstr(known, typed) || g_str_has_prefix(typed, known));
}

const struct field *
field_find_nearest(const char *name, size_t len)
{
	const struct field *nearest = &fields[0];
	g_autofree char *typed = g_ascii_strdown(name, (gssize)len);
	unsigned least = G_MAXUINT;

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		const char *const spellings[] = {fields[i].name, fields[i].alias};

		for (size_t j = 0; j < G_N_ELEMENTS(spellings); j++) {
			unsigned distance;

			if (!spellings[j])
				continue;
			distance = is_within(typed, spellings[j])
			               ? 1
			               : measure_distance(typed, len, spellings[j],
			                     strlen(spellings[j]));
			if (distance < least) {
				least = distance;
				nearest = &fields[i];
			}
		}
	}
	return nearest;
}

const struct field *
field_get_text(void)
{
	return &fields[0];
}
