/*
 * near.c - places where the phrases of a NODE_NEAR are near each other.
 */
#include "query/eval/near.h"

/* As FTS5 does: advance the phrase that is too far behind the last one. */
static bool
find_interval(const struct node *node, near_next next, const void *data, int *places)
{
	guint n = node->phrases->len;
	int last = places[0];
	bool has_moved = true;

	for (guint i = 1; i < n; i++)
		last = MAX(last, places[i]);
	while (has_moved) {
		has_moved = false;
		for (guint i = 0; i < n; i++) {
			const struct phrase *phrase =
			    g_ptr_array_index(node->phrases, i);
			int earliest =
			    last - (int)node->distance - (int)phrase->words->len;

			while (places[i] >= 0 && places[i] < earliest)
				places[i] = next(data, i, places[i]);
			if (places[i] < 0)
				return false;
			has_moved |= places[i] > last;
			last = MAX(last, places[i]);
		}
	}
	return true;
}

bool
near_find(const struct node *node, near_next next, const void *data, int *places)
{
	bool is_first = places[0] < 0;
	guint earliest = 0;

	for (guint i = 1; i < node->phrases->len; i++)
		if (places[i] < places[earliest])
			earliest = i;
	for (guint i = 0; i < node->phrases->len; i++) {
		if (!is_first && i != earliest)
			continue;
		places[i] = next(data, i, places[i]);
		if (places[i] < 0)
			return false;
	}
	return find_interval(node, next, data, places);
}
