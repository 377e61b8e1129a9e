/*
 * nearest.c - what somebody may have meant who typed a name wrong.
 */
#include "base/nearest.h"

#include <string.h>

/* Longer texts are no slips of a finger, and the work grows with the square. */
#define LONGEST 64

/* In a name of so many letters one may be wrong. */
#define LETTERS_A_SLIP 3

static char *
fold(const char *text)
{
	char *folded = g_ascii_strdown(text, -1);

	return g_strdelimit(folded, " -", '_');
}

/* Letters to change, to add, to take away or to swap with a neighbour (optimal string
 * alignment). */
static unsigned
measure(const char *a, const char *b)
{
	unsigned d[LONGEST + 1][LONGEST + 1];
	size_t a_size = strlen(a), b_size = strlen(b);

	if (a_size > LONGEST || b_size > LONGEST)
		return G_MAXUINT;
	for (unsigned j = 0; j <= b_size; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		d[i][0] = (unsigned)i;
		for (size_t j = 1; j <= b_size; j++) {
			unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, MIN(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[a_size][b_size];
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

/* Twice the distance, and one more where only the last part is compared. */
static unsigned
judge(const char *text, const char *name)
{
	g_autofree char *folded = fold(name);
	unsigned whole = measure(text, folded);
	unsigned part = measure(get_last_part(text), get_last_part(folded));
	unsigned best = G_MAXUINT;

	if (whole <= strlen(text) / LETTERS_A_SLIP)
		best = whole * 2;
	if (part <= strlen(get_last_part(text)) / LETTERS_A_SLIP)
		best = MIN(best, part * 2 + 1);
	return best;
}

const char *
nearest_find(const char *text, const char *const *names)
{
	g_autofree char *folded = fold(text);
	const char *nearest = NULL;
	unsigned least = G_MAXUINT;

	for (; *names; names++) {
		unsigned distance = judge(folded, *names);

		if (distance < least) {
			least = distance;
			nearest = *names;
		}
	}
	return nearest;
}
