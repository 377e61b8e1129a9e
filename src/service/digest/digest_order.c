/*
 * digest_order.c - order and detail of the papers of a digest.
 */
#include "service/digest/digest_order.h"

#include <string.h>

#include "base/bounds.h"

/* The score of a paper is that of its best match. */
static bool
load_scores(struct digest_cache *cache, const GPtrArray *candidates, GPtrArray *items,
    GError **error)
{
	for (unsigned i = 0; i < items->len; i++) {
		struct digest_record_item *item = items->pdata[i];

		for (unsigned at = item->at; at < item->at + item->finds; at++) {
			double score;

			if (!digest_cache_get_score(
			        cache, candidates->pdata[at], &score, error))
				return false;
			item->score = MAX(item->score, score);
		}
	}
	return true;
}

static const struct digest_record_item *
item_of(gconstpointer pointer)
{
	return *(const struct digest_record_item *const *)pointer;
}

static int
compare_scores(gconstpointer a, gconstpointer b)
{
	double one = item_of(a)->score, other = item_of(b)->score;

	return (one < other) - (one > other);
}

static int
compare_days(gconstpointer a, gconstpointer b)
{
	return strcmp(item_of(b)->day, item_of(a)->day);
}

static int
compare_details(gconstpointer a, gconstpointer b)
{
	return (int)item_of(a)->shown - (int)item_of(b)->shown;
}

/* Stable: equal papers stay in the order of votes. */
static bool
sort_items(struct digest_cache *cache, enum preference_order order,
    const GPtrArray *candidates, GPtrArray *items, GError **error)
{
	switch (order) {
	case PREFERENCE_ORDER_VOTES:
		break;
	case PREFERENCE_ORDER_SCORE:
		if (!load_scores(cache, candidates, items, error))
			return false;
		g_ptr_array_sort(items, compare_scores);
		break;
	case PREFERENCE_ORDER_DATE:
		g_ptr_array_sort(items, compare_days);
		break;
	}
	return true;
}

/* @param taken  filter number -> places used */
static bool
has_place(GHashTable *taken, const struct candidate *candidate)
{
	gpointer number = GINT_TO_POINTER(candidate->number);

	return candidate->max_papers == 0 || GPOINTER_TO_INT(g_hash_table_lookup(taken,
	                                         number)) < candidate->max_papers;
}

static bool
take_places(GHashTable *taken, const struct digest_record_item *item,
    const GPtrArray *candidates)
{
	bool has_any = false;

	for (unsigned at = item->at; at < item->at + item->finds; at++)
		has_any = has_any || has_place(taken, candidates->pdata[at]);
	for (unsigned at = item->at; has_any && at < item->at + item->finds; at++) {
		const struct candidate *candidate = candidates->pdata[at];
		gpointer number = GINT_TO_POINTER(candidate->number);
		int count = GPOINTER_TO_INT(g_hash_table_lookup(taken, number));

		g_hash_table_insert(taken, number, GINT_TO_POINTER(count + 1));
	}
	return has_any;
}

static void
choose_details(const struct subscriber *subscriber, const GPtrArray *candidates,
    const GPtrArray *items)
{
	g_autoptr(GHashTable) taken = g_hash_table_new(NULL, NULL);
	unsigned max = (unsigned)(subscriber->catch_up ? subscriber->catch_up
	                                               : subscriber->max_full);
	unsigned full = 0, titles = 0;

	for (unsigned i = 0; i < items->len; i++) {
		struct digest_record_item *item = items->pdata[i];

		if (full < max && take_places(taken, item, candidates)) {
			item->shown = DIGEST_DETAIL_FULL;
			full++;
		} else if (titles < BOUNDS_DIGEST_TITLES_MAX) {
			item->shown = DIGEST_DETAIL_TITLE;
			titles++;
		} else {
			item->shown = DIGEST_DETAIL_COUNT;
		}
	}
}

bool
digest_order_items(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, GPtrArray *items, GError **error)
{
	int order = subscriber->preferences.choice[PREFERENCE_ORDER];

	if (!sort_items(cache, (enum preference_order)order, candidates, items, error))
		return false;
	choose_details(subscriber, candidates, items);
	g_ptr_array_sort(items, compare_details);
	return true;
}
