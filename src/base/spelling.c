/*
 * spelling.c - how far one name is from another that may have been meant.
 */
#include "base/spelling.h"

#include <glib.h>

unsigned
spelling_measure_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned d[SPELLING_LONGEST + 1][SPELLING_LONGEST + 1];

	a_size = MIN(a_size, SPELLING_LONGEST);
	b_size = MIN(b_size, SPELLING_LONGEST);
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
