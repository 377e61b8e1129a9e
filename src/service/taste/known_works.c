/*
 * known_works.c - marks works as known to a subscriber: they are never sent.
 */
#include "service/taste/known_works.h"

#include "base/error.h"
#include "service/taste/answers.h"
#include "store/paper/papers.h"
#include "store/subscriber/known.h"

/* @param seqs  gets papers that are here and were not known, of int64_t */
static bool
add_work(struct store *store, struct known_works *works, const char *work, GArray *seqs,
    GError **error)
{
	g_auto(GStrv) names = g_strsplit(work, " ", -1);
	bool is_any_new = false, is_here = false;

	for (char **name = names; *name; name++) {
		pb_auto(stored_paper) stored = NULL;
		bool is_new;

		if (!known_add(store, works->subscriber_id, *name, works->now, &is_new,
		        error) ||
		    !papers_find(store, *name, &stored, error))
			return false;
		if (stored && is_new && !is_here)
			g_array_append_val(seqs, stored->seq);
		is_any_new |= is_new;
		is_here |= stored != NULL;
	}
	works->added += is_any_new;
	works->absent += !is_here;
	return true;
}

bool
known_works_save(struct store *store, struct known_works *works, GError **error)
{
	g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct answers_request liked = {
	    .subscriber_id = works->subscriber_id,
	    .is_like = true,
	    .source = works->source,
	    .now = works->now,
	};
	pb_local(answers) answers = {0};
	int64_t count;

	works->added = works->absent = 0;
	for (unsigned i = 0; i < works->works->len; i++)
		if (!add_work(store, works, works->works->pdata[i], seqs, error))
			return false;
	if (!known_count(store, works->subscriber_id, &count, error))
		return false;
	if (works->added && count > KNOWN_MAX)
		return pb_error_set(error, PB_ERROR_LIMIT,
		    N_("{most} papers can be known, which is the most."), "most",
		    G_STRINGIFY(KNOWN_MAX), NULL);
	liked.papers = (const int64_t *)seqs->data;
	liked.count = seqs->len;
	return !seqs->len || answers_save(store, &liked, &answers, error);
}
