/*
 * digest_overview.c - what a digest says about itself, frozen when it is built.
 */
#include "service/digest/digest_overview.h"

#include <string.h>

#include "base/msg.h"
#include "service/digest/digest_order.h"
#include "store/mail/digests.h"

#define LABEL_CHARS 60

/* Maximum number of new filters that are named. */
#define NEW_NAMES 3

/* Append the name of a filter, one line without tabs. */
static void
append_label(GString *text, const char *label)
{
	bool is_long = g_utf8_strlen(label, -1) > LABEL_CHARS;
	g_autofree char *part =
	    is_long ? g_utf8_substring(label, 0, LABEL_CHARS - 1) : g_strdup(label);

	g_strdelimit(part, "\t\n", ' ');
	g_string_append(text, part);
	if (is_long)
		g_string_append(text, "\xe2\x80\xa6");
}

/* A filter that matched papers of the digest. */
struct matched {
	const struct candidate_filter *filter;
	unsigned papers;
};

static int
compare_numbers(gconstpointer a, gconstpointer b)
{
	const struct matched *one = a, *other = b;

	return one->filter->number - other->filter->number;
}

static void
count_filter(GArray *filters, const struct candidate_filter *matched)
{
	struct matched added = {matched, 1};

	for (unsigned i = 0; i < filters->len; i++) {
		struct matched *filter = &g_array_index(filters, struct matched, i);

		if (filter->filter->number == matched->number) {
			filter->papers++;
			return;
		}
	}
	g_array_append_val(filters, added);
}

/* @return of struct matched, in the order of `list` */
static GArray *
count_filters(const GPtrArray *candidates, const GPtrArray *items)
{
	GArray *filters = g_array_new(FALSE, FALSE, sizeof(struct matched));

	for (unsigned i = 0; i < items->len; i++) {
		const struct digest_item *item = items->pdata[i];

		for (unsigned j = item->at; j < item->at + item->finds; j++)
			count_filter(filters,
			    ((const struct candidate *)candidates->pdata[j])->filter);
	}
	g_array_sort(filters, compare_numbers);
	return filters;
}

static void
add_filter(struct digest_contents *contents, const struct matched *matched)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct digest_filter filter = {
	    .number = matched->filter->number, .papers = matched->papers};

	append_label(text, matched->filter->label);
	filter.label = digest_contents_keep(contents, text->str);
	g_string_assign(text, matched->filter->text);
	g_strdelimit(text->str, "\t\n", ' ');
	filter.query = digest_contents_keep(contents, text->str);
	g_array_append_val(contents->filters, filter);
}

/* ---- what is unusual ---- */

/* @param msg  taken */
static void
append_notice(GString *notices, struct msg *msg, const struct po *po)
{
	g_autofree char *line = msg_format(msg, po);

	if (notices->len)
		g_string_append_c(notices, '\n');
	g_string_append(notices, line);
	msg_unref(msg);
}

/* Name the filters that were added since the last digest. */
static void
append_new_filters(GString *notices, const struct digest_history *history,
    const GArray *filters, const struct po *po)
{
	g_autoptr(GString) names = g_string_new(NULL);
	unsigned count = 0;

	if (!history->digests)
		return;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct candidate_filter *filter =
		    g_array_index(filters, struct matched, i).filter;

		if (filter->created_at <= history->latest_at)
			continue;
		if (count++)
			g_string_append(names, ", ");
		append_label(names, filter->label);
	}
	if (count > NEW_NAMES)
		append_notice(notices,
		    msg_new(N_("First papers for {count} new filters"), "count",
		        MSG_INT(count), NULL),
		    po);
	else if (count)
		append_notice(notices,
		    msg_new(
		        N_("First papers for {filters}"), "filters", names->str, NULL),
		    po);
}

unsigned
digest_overview_find_usual(const struct digest_history *history, int64_t now)
{
	double papers = (double)history->papers, digests = (double)history->digests;
	double span_s = (double)(history->latest_at - history->oldest_at);
	double usual, later;

	if (history->digests < DIGEST_USUAL_DIGESTS)
		return 0;
	usual = papers / digests;
	/* The papers of the oldest digest came before it. */
	later = (papers - usual) / MAX(span_s, 1) * (double)(now - history->latest_at);
	return (unsigned)(MAX(usual, later) + 0.5);
}

static void
append_many(GString *notices, const struct digest_history *history, unsigned papers,
    int64_t now, const struct po *po)
{
	unsigned usual = digest_overview_find_usual(history, now);

	if (history->digests >= DIGEST_USUAL_DIGESTS &&
	    papers > DIGEST_USUAL_FACTOR * usual &&
	    papers > usual + DIGEST_USUAL_MARGIN)
		append_notice(notices,
		    msg_new(N_("More papers than usual (about {usual})"), "usual",
		        MSG_INT(usual), NULL),
		    po);
}

static bool
load_history(struct digest_cache *cache, int64_t subscriber_id,
    struct digest_history *history, GError **error)
{
	const struct candidate_previous *previous =
	    digest_cache_get_previous(cache, subscriber_id);

	*history = (struct digest_history){.oldest_at = -1, .latest_at = -1};
	return (previous && !previous->has_digests) ||
	       digests_load_history(cache->store, subscriber_id, history, error);
}

bool
digest_overview_add(struct digest_cache *cache, int64_t subscriber_id,
    const GPtrArray *candidates, const GPtrArray *items,
    struct digest_contents *contents, GError **error)
{
	g_autoptr(GArray) filters = count_filters(candidates, items);
	const struct digest_cache_coverage *coverage;
	g_autoptr(GString) notices = NULL;
	struct digest_history history;

	if (!load_history(cache, subscriber_id, &history, error))
		return false;
	coverage = digest_cache_get_coverage(cache, history.latest_at, error);
	if (!coverage)
		return false;
	notices = g_string_new(coverage->missing);
	append_new_filters(notices, &history, filters, cache->po);
	append_many(notices, &history, items->len, cache->now, cache->po);
	contents->coverage = coverage->line;
	contents->notices = digest_contents_keep(contents, notices->str);
	for (unsigned i = 0; i < filters->len; i++)
		add_filter(contents, &g_array_index(filters, struct matched, i));
	return true;
}
