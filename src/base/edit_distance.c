/*
 * edit_distance.c - suggestions for misspelled names (Damerau-Levenshtein distance).
 */
#include "base/edit_distance.h"

#include <stdbool.h>
#include <string.h>

/* Number of bytes of a name that are compared; the rest is ignored. */
#define LONGEST 40

/* Minimum length of a part that identifies a name. */
#define SHORTEST_PART 3

/* One edit is allowed per this number of characters. */
#define CHARS_PER_SLIP 3

static char *
fold(const char *text)
{
	char *folded = g_ascii_strdown(text, -1);

	return g_strdelimit(folded, " -", '_');
}

unsigned
edit_distance_count_slips(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned d[LONGEST + 1][LONGEST + 1];

	a_size = MIN(a_size, LONGEST);
	b_size = MIN(b_size, LONGEST);
	for (unsigned i = 0; i <= a_size; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= b_size; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		for (size_t j = 1; j <= b_size; j++) {
			unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, d[i - 1][j] + 1);
			best = MIN(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[a_size][b_size];
}

/* Check whether the known name contains the typed one, or the typed one begins with the
 * known one, as "vote" and "votes". */
static bool
is_within(const char *typed, const char *known)
{
	return strlen(typed) >= SHORTEST_PART && strlen(known) >= SHORTEST_PART &&
	       (strstr(known, typed) || g_str_has_prefix(typed, known));
}

unsigned
edit_distance_measure(const char *typed, const char *known)
{
	if (strcmp(typed, known) == 0)
		return 0;
	return is_within(typed, known) ? 1
	                               : edit_distance_count_slips(typed, strlen(typed),
	                                     known, strlen(known));
}

static const char *
get_last_part(const char *name)
{
	const char *part = name;

	for (; *name; name++)
		if (*name == '/' || *name == '.')
			part = name + 1;
	return part;
}

/* @return twice the distance, plus one if only the last component was compared */
static unsigned
measure_name(const char *text, const char *name)
{
	g_autofree char *folded = fold(name);
	const char *typed_part = get_last_part(text),
	           *known_part = get_last_part(folded);
	unsigned whole =
	    edit_distance_count_slips(text, strlen(text), folded, strlen(folded));
	unsigned part = edit_distance_count_slips(
	    typed_part, strlen(typed_part), known_part, strlen(known_part));
	unsigned best = G_MAXUINT;

	if (whole <= strlen(text) / CHARS_PER_SLIP)
		best = whole * 2;
	if (part <= strlen(typed_part) / CHARS_PER_SLIP)
		best = MIN(best, part * 2 + 1);
	return best;
}

const char *
edit_distance_find_closest(const char *text, const char *const *names)
{
	g_autofree char *folded = fold(text);
	const char *nearest = NULL;
	unsigned least = G_MAXUINT;

	for (; *names; names++) {
		unsigned distance = measure_name(folded, *names);

		if (distance < least) {
			least = distance;
			nearest = *names;
		}
	}
	return nearest;
}
