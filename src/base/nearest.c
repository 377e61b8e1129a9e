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

/* Levenshtein's distance: letters to change, to add or to take away. */
static unsigned
measure(const char *a, const char *b)
{
	unsigned row[LONGEST + 1];
	size_t size = strlen(b);

	if (strlen(a) > LONGEST || size > LONGEST)
		return G_MAXUINT;
	for (size_t j = 0; j <= size; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned before = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < size; j++) {
			unsigned changed = before + (a[i] != b[j]);

			before = row[j + 1];
			row[j + 1] = MIN(changed, MIN(before, row[j]) + 1);
		}
	}
	return row[size];
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
