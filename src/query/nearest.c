/*
 * nearest.c - how far a misspelt name is from a known one.
 */
#include "query/nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* A longer name is compared by its beginning only. */
#define LONGEST_NAME  32
/* So much of a name says which one is meant. */
#define SHORTEST_PART 3

/*
 * Letters to add, drop, change or swap with a neighbour (optimal string
 * alignment) to get from one name to another.
 */
static unsigned
measure_slips(const char *a, size_t a_len, const char *b, size_t b_len)
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

unsigned
nearest_measure(const char *typed, const char *known)
{
	if (strcmp(typed, known) == 0)
		return 0;
	return is_within(typed, known)
	           ? 1
	           : measure_slips(typed, strlen(typed), known, strlen(known));
}
