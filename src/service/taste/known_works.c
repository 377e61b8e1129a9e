/*
 * known_works.c - marks works as known to a subscriber: they are never sent.
 */
#include "service/taste/known_works.h"

#include "base/error.h"
#include "service/taste/answers.h"
#include "store/paper/papers.h"
#include "store/subscriber/known.h"

/* @param seqs  gets those of papers that are here, of int64_t */
static bool
add_names(struct store *store, struct known_works *works, GArray *seqs, GError **error)
{
	for (unsigned i = 0; i < works->names->len; i++) {
		const char *name = works->names->pdata[i];
		pb_auto(stored_paper) stored = NULL;
		bool is_new;

		if (!known_add(store, works->subscriber_id, name, works->now, &is_new,
		        error) ||
		    !papers_find(store, name, &stored, error))
			return false;
		works->added += is_new;
		if (stored && is_new)
			g_array_append_val(seqs, stored->seq);
	}
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

	works->added = 0;
	if (!known_count(store, works->subscriber_id, &count, error))
		return false;
	if (count + works->names->len > KNOWN_MAX)
		return pb_error_set(error, PB_ERROR_LIMIT,
		    N_("{most} papers can be known, which is the most."), "most",
		    G_STRINGIFY(KNOWN_MAX), NULL);
	if (!add_names(store, works, seqs, error))
		return false;
	liked.papers = (const int64_t *)seqs->data;
	liked.count = seqs->len;
	return !seqs->len || answers_save(store, &liked, &answers, error);
}
