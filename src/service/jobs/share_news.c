/*
 * share_news.c - tell followers of a shared filter that it has changed.
 */
#include "service/jobs/share_news.h"

#include <string.h>

#include "base/error.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/digest/digest_news.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

#define BATCH_CHANGES     20
#define BATCH_SUBSCRIBERS 200

/* ---- effects ---- */

static char *
join(GPtrArray *clauses)
{
	g_ptr_array_add(clauses, NULL);
	return g_strjoinv("\n", (char **)clauses->pdata);
}

/* @return false with PB_ERROR_INPUT for a text that is no longer valid */
static bool
compute(struct store *store, struct share_change *change, int64_t now, GError **error)
{
	const struct tokenizer *tokenizer = store_get_tokenizer(store);
	pb_auto(query) before =
	    query_parse(change->from_text, tokenizer, NULL, NULL, error);
	pb_auto(query) after =
	    before ? query_parse(change->to_text, tokenizer, NULL, NULL, error) : NULL;
	g_autofree char *old = after ? query_format(before) : NULL;
	g_autofree char *new = after ? query_format(after) : NULL;
	g_autoptr(GPtrArray) added = NULL, removed = NULL;
	g_autofree char *adds = NULL, *removes = NULL;
	struct backtest_difference difference;

	if (!after)
		return false;
	if (strcmp(old, new) == 0)
		return shares_skip_change(store, change, error);
	if (!backtest_compare(store, old, new, BACKTEST_DAYS, now, &difference, error))
		return false;
	added = query_list_new_clauses(before, after);
	removed = query_list_new_clauses(after, before);
	change->added = adds = join(added);
	change->removed = removes = join(removed);
	change->gained = difference.after - difference.both;
	change->lost = difference.before - difference.both;
	return shares_save_change(store, change, error);
}

static bool
compute_or_skip(
    struct store *store, struct share_change *change, int64_t now, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (compute(store, change, now, &problem))
		return true;
	return g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT)
	           ? shares_skip_change(store, change, error)
	           : pb_error_forward(error, &problem);
}

static bool
compute_changes(struct store *store, int64_t now, unsigned *count, GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) changes =
		    shares_load_changes(store, BATCH_CHANGES, error);

		if (!changes)
			return false;
		/* Each statement is its own transaction. */
		for (unsigned i = 0; i < changes->len; i++)
			if (!compute_or_skip(store, changes->pdata[i], now, error))
				return false;
		*count += changes->len;
		if (changes->len < BATCH_CHANGES)
			return true;
	}
}

/* ---- proposals ---- */

/* A refused version is not news any more. */
static bool
offer(struct store *store, const struct share_news *news,
    const struct subscription *filter, int64_t now, GError **error)
{
	g_autofree char *command =
	    g_strdup_printf("follow %s version=%d", news->name, news->news);
	g_autofree char *term =
	    g_strdup_printf("%s version %d", news->name, news->news);
	const struct proposal proposal = {
	    .subscriber_id = filter->subscriber_id,
	    .term = term,
	    .command = command,
	    .gained = news->gained,
	    .lost = news->lost,
	    .days = BACKTEST_DAYS,
	    .title = "",
	};
	g_autofree struct proposal *offered = NULL;

	return proposals_offer(store, &proposal, filter, now, &offered, error) &&
	       (offered || shares_clear_news(store, filter->id, news->news, error));
}

static bool
offer_all(struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) news =
	    shares_load_news(store, subscriber_id, now + DIGEST_NEWS_PROPOSAL_S, error);
	g_autoptr(GPtrArray) own =
	    news ? subscribers_load_subscriptions(store, subscriber_id, error) : NULL;

	for (unsigned i = 0; own && i < news->len; i++) {
		const struct share_news *one = news->pdata[i];
		const struct subscription *filter =
		    subscription_find_id(own, one->subscription_id);

		if (filter && one->news > 0 && one->added && one->proposal < 0 &&
		    !offer(store, one, filter, now, error))
			return false;
	}
	return own != NULL;
}

/* A batch of subscribers. */
struct batch {
	int64_t now;
	int64_t after; /* the last subscriber of the batch before */
	int64_t last;  /* of this one */
	bool is_end;
};

static bool
offer_batch(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;
	g_autoptr(GArray) ids = shares_load_unoffered(store, batch->after,
	    batch->now + DIGEST_NEWS_PROPOSAL_S, BATCH_SUBSCRIBERS, error);

	if (!ids)
		return false;
	for (unsigned i = 0; i < ids->len; i++) {
		batch->last = g_array_index(ids, int64_t, i);
		if (!offer_all(store, batch->last, batch->now, error))
			return false;
	}
	batch->is_end = ids->len < BATCH_SUBSCRIBERS;
	return true;
}

bool
share_news_run(struct store *store, int64_t now, unsigned *count, GError **error)
{
	struct batch batch = {.now = now};
	bool has;

	*count = 0;
	if (!shares_has_news(store, &has, error))
		return false;
	if (!has)
		return true;
	if (!compute_changes(store, now, count, error))
		return false;
	while (!batch.is_end && !store_is_stopped(store)) {
		if (!store_transact(store, offer_batch, &batch, error))
			return false;
		batch.after = batch.last;
		store_call_between(store);
	}
	return true;
}
