/*
 * digest_order.c - order and detail of the papers of a digest.
 */
#include "service/digest/digest_order.h"

#include <math.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "store/subscriber/feedback.h"

/* The score of a paper is that of its best match. */
static bool
load_scores(struct digest_cache *cache, const GPtrArray *candidates, GPtrArray *items,
    GError **error)
{
	for (unsigned i = 0; i < items->len; i++) {
		struct digest_item *item = items->pdata[i];

		for (unsigned at = item->at; at < item->at + item->finds; at++) {
			struct match_details match;

			if (!digest_cache_get_match(
			        cache, candidates->pdata[at], &match, error))
				return false;
			item->score = MAX(item->score, match.score);
		}
	}
	return true;
}

static const struct digest_item *
item_of(gconstpointer pointer)
{
	return *(const struct digest_item *const *)pointer;
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

/* ---- fair shares ---- */

/* A filter with papers in this digest. */
struct share {
	int number;     /* of the filter */
	int max_papers; /* its own; 0: none */
	unsigned papers;
	unsigned shown; /* in full, of those that count for it */
	unsigned next;  /* index of an item; those before are not for this filter */
};

static const struct candidate_filter *
get_filter(const GPtrArray *candidates, unsigned at)
{
	return ((const struct candidate *)candidates->pdata[at])->filter;
}

static int
compare_shares(gconstpointer a, gconstpointer b)
{
	const struct share *one = a, *other = b;

	if (one->papers != other->papers)
		return one->papers < other->papers ? -1 : 1;
	return (one->number > other->number) - (one->number < other->number);
}

static struct share *
find_share(GArray *shares, int number)
{
	for (unsigned i = 0; i < shares->len; i++) {
		struct share *share = &g_array_index(shares, struct share, i);

		if (share->number == number)
			return share;
	}
	return NULL;
}

/* @return of struct share, fewest papers first */
static GArray *
make_shares(const GPtrArray *candidates, const GPtrArray *items)
{
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(struct share));

	for (unsigned i = 0; i < items->len; i++) {
		const struct digest_item *item = items->pdata[i];

		for (unsigned at = item->at; at < item->at + item->finds; at++) {
			const struct candidate_filter *one = get_filter(candidates, at);
			struct share *share = find_share(shares, one->number);
			const struct share first = {
			    .number = one->number, .max_papers = one->max_papers};

			if (!share) {
				g_array_append_val(shares, first);
				share = find_share(shares, one->number);
			}
			share->papers++;
		}
	}
	g_array_sort(shares, compare_shares);
	return shares;
}

static bool
is_open(const struct share *share)
{
	return share->max_papers == 0 || share->shown < (unsigned)share->max_papers;
}

/*
 * Find the filter that a paper counts for: its rarest one that is open, else its
 * rarest one.
 *
 * @param by  set to the index of that match
 */
static const struct share *
find_owner(GArray *shares, const GPtrArray *candidates, const struct digest_item *item,
    unsigned *by)
{
	const struct share *owner = NULL;

	for (unsigned at = item->at; at < item->at + item->finds; at++) {
		const struct share *share =
		    find_share(shares, get_filter(candidates, at)->number);

		if (!owner || is_open(share) > is_open(owner) ||
		    (is_open(share) == is_open(owner) &&
		        compare_shares(share, owner) < 0)) {
			owner = share;
			*by = at;
		}
	}
	return owner;
}

/* Show the next paper of a filter in full. @return false if it has none left */
static bool
take_turn(GArray *shares, struct share *share, const GPtrArray *candidates,
    const GPtrArray *items)
{
	if (!is_open(share))
		return false;
	for (unsigned i = share->next; i < items->len; i++) {
		struct digest_item *item = items->pdata[i];

		if (item->shown == DIGEST_DETAIL_FULL ||
		    find_owner(shares, candidates, item, &item->by) != share)
			continue;
		item->shown = DIGEST_DETAIL_FULL;
		share->next = i + 1;
		share->shown++;
		return true;
	}
	return false;
}

/* A filter that closes leaves papers to others, which have passed them. */
static void
rewind_shares(GArray *shares)
{
	for (unsigned i = 0; i < shares->len; i++)
		g_array_index(shares, struct share, i).next = 0;
}

static void
share_places(
    GArray *shares, unsigned max, const GPtrArray *candidates, const GPtrArray *items)
{
	unsigned full = 0;
	bool is_any = true;

	while (is_any && full < max) {
		is_any = false;
		for (unsigned i = 0; i < shares->len && full < max; i++) {
			struct share *share = &g_array_index(shares, struct share, i);

			if (!take_turn(shares, share, candidates, items))
				continue;
			is_any = true;
			full++;
			if (!is_open(share))
				rewind_shares(shares);
		}
	}
}

static void
choose_details(const struct subscriber *subscriber, const GPtrArray *candidates,
    const GPtrArray *items)
{
	g_autoptr(GArray) shares = make_shares(candidates, items);
	int max = subscriber->catch_up ? subscriber->catch_up : subscriber->max_full;
	unsigned titles = 0;

	for (unsigned i = 0; i < items->len; i++)
		((struct digest_item *)items->pdata[i])->shown = DIGEST_DETAIL_COUNT;
	share_places(shares, (unsigned)max, candidates, items);
	for (unsigned i = 0; i < items->len; i++) {
		struct digest_item *item = items->pdata[i];

		if (item->shown == DIGEST_DETAIL_FULL)
			continue;
		find_owner(shares, candidates, item, &item->by);
		if (titles++ < BOUNDS_DIGEST_TITLES_MAX)
			item->shown = DIGEST_DETAIL_TITLE;
	}
}

/* ---- answers ---- */

static int
compare_ranks(gconstpointer a, gconstpointer b)
{
	double one = item_of(a)->rank, other = item_of(b)->rank;

	return (one < other) - (one > other);
}

/* Load what was learned; a damaged value counts as nothing learned, and doctor reports
 * it. */
static bool
load_taste(struct digest_cache *cache, int64_t subscriber_id,
    struct taste_vector *vector, GError **error)
{
	const struct candidate_previous *previous =
	    digest_cache_get_previous(cache, subscriber_id);
	g_autoptr(GError) problem = NULL;

	taste_vector_init(vector);
	if (!previous->has_taste)
		return true;
	if (feedback_load_taste(cache->store, subscriber_id, vector, &problem))
		return true;
	g_array_set_size(vector->weights, 0);
	return g_error_matches(problem, PB_ERROR, PB_ERROR_DAMAGED) ||
	       pb_error_forward(error, &problem);
}

static double
divide(double value, double largest)
{
	return largest > 0 ? value / largest : 0;
}

/* @param tastes  scores by the answers, one for each */
static void
set_ranks(const GPtrArray *known, const double *tastes, unsigned answers)
{
	double taste = 0, score = 0;

	for (unsigned i = 0; i < known->len; i++) {
		taste = MAX(taste, fabs(tastes[i]));
		score = MAX(score, ((struct digest_item *)known->pdata[i])->score);
	}
	for (unsigned i = 0; i < known->len; i++) {
		struct digest_item *item = known->pdata[i];

		item->rank = answers * divide(tastes[i], taste) +
		             DIGEST_ORDER_SCORE * divide(item->score, score);
	}
}

/* @return the word that raises papers most, of those that people recognize, or NULL */
static char *
find_liked(const struct taste_vector *vector)
{
	const struct taste_weight *best = NULL;

	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);

		if (weight->is_shown && weight->weight > (best ? best->weight : 0))
			best = weight;
	}
	return best ? g_strdup(best->word) : NULL;
}

/* Stable: papers that are only counted are sorted last, anyway. */
static bool
sort_by_answers(struct digest_cache *cache, const struct subscriber *subscriber,
    GPtrArray *items, char **liked, GError **error)
{
	pb_local(taste_vector) vector = {0};
	g_autoptr(GPtrArray) known = NULL;
	g_autofree int64_t *papers = NULL;
	g_autofree double *tastes = NULL;

	if (items->len < 2)
		return true;
	if (!load_taste(cache, subscriber->id, &vector, error))
		return false;
	if (!vector.weights->len)
		return true;
	known = g_ptr_array_sized_new(items->len);
	papers = g_new(int64_t, items->len);
	tastes = g_new(double, items->len);
	for (unsigned i = 0; i < items->len; i++) {
		struct digest_item *item = items->pdata[i];

		if (item->shown == DIGEST_DETAIL_COUNT)
			continue;
		papers[known->len] = item->paper_seq;
		g_ptr_array_add(known, item);
	}
	if (!scorer_run(cache->scorer, &vector, papers, known->len, tastes, error))
		return false;
	set_ranks(known, tastes, vector.answers);
	g_ptr_array_sort(items, compare_ranks);
	*liked = find_liked(&vector);
	return true;
}

/* ---- reading order ---- */

static int
compare_details(gconstpointer a, gconstpointer b)
{
	return (int)item_of(a)->shown - (int)item_of(b)->shown;
}

/* Groups are in the order of `list`. */
static int
compare_groups(gconstpointer a, gconstpointer b, gpointer candidates)
{
	int one = get_filter(candidates, item_of(a)->by)->number;
	int other = get_filter(candidates, item_of(b)->by)->number;

	return (one > other) - (one < other);
}

bool
digest_order_items(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, GPtrArray *items, char **liked, GError **error)
{
	const int *choice = subscriber->preferences.choice;

	*liked = NULL;
	if (!sort_items(cache, (enum preference_order)choice[PREFERENCE_ORDER],
	        candidates, items, error))
		return false;
	choose_details(subscriber, candidates, items);
	if (choice[PREFERENCE_ORDER] == PREFERENCE_ORDER_SCORE &&
	    !sort_by_answers(cache, subscriber, items, liked, error))
		return false;
	if (choice[PREFERENCE_GROUP] == PREFERENCE_GROUP_ON)
		g_ptr_array_sort_with_data(items, compare_groups, (gpointer)candidates);
	g_ptr_array_sort(items, compare_details);
	return true;
}
