/*
 * digest_news.c - lines of a digest about filters that the subscriber follows, and
 * about retracted papers.
 */
#include "service/digest/digest_news.h"

#include "base/day.h"
#include "base/msg.h"
#include "base/text.h"
#include "store/paper/paper_history.h"
#include "store/paper/papers.h"
#include "store/paper/works.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/shares.h"

/* Maximum characters of the clauses that are added, and of those removed. */
#define CLAUSES_CHARS 100
#define LABEL_CHARS   60

/* Maximum characters of the title of a retracted paper. */
#define RETRACTED_CHARS 100

/* Append "adds A, B", or nothing. */
static void
append_clauses(GString *text, const char *id, const char *clauses, const struct po *po)
{
	g_auto(GStrv) lines = g_strsplit(clauses, "\n", -1);
	g_autofree char *list = g_strjoinv(", ", lines);
	g_autofree char *part = text_quote(list, CLAUSES_CHARS);
	pb_auto(msg) msg = NULL;
	g_autofree char *words = NULL;

	if (!*clauses)
		return;
	msg = msg_new(id, "clauses", part, NULL);
	words = msg_format(msg, po);
	g_string_append_printf(text, "%s%s", text->len ? "; " : "", words);
}

char *
digest_news_format_change(const char *added, const char *removed, const struct po *po)
{
	g_autoptr(GString) text = g_string_new(NULL);
	pb_auto(msg) same = msg_new(N_("other combination of the same clauses"), NULL);

	append_clauses(text, N_("adds {clauses}"), added, po);
	append_clauses(text, N_("removes {clauses}"), removed, po);
	return text->len ? g_strdup(text->str) : msg_format(same, po);
}

static char *
format_news(const struct share_news *news, const struct po *po)
{
	g_autofree char *label = text_quote(news->label, LABEL_CHARS);
	g_autofree char *change = NULL;
	pb_auto(msg) msg = NULL;

	if (!news->news) {
		msg = msg_new(N_("Filter {number} ({filter}) is no longer shared by "
		                 "its owner. It stays as it is, and is your own now"),
		    "number", MSG_INT(news->number), "filter", label, NULL);
	} else {
		change = digest_news_format_change(news->added, news->removed, po);
		msg = msg_new(N_("\"{name}\" (your filter {number}) has a version "
		                 "{version}: {change}; papers of 30 days: {gained} "
		                 "more, {lost} less. Reply \"yes {proposal}\" to take "
		                 "it, \"no {proposal}\" to keep version {own}"),
		    "number", MSG_INT(news->number), "name", news->name, "version",
		    MSG_INT(news->news), "own", MSG_INT(news->version), "change",
		    change, "gained", MSG_INT(news->gained), "lost",
		    MSG_INT(news->lost), "proposal", MSG_INT(news->proposal), NULL);
	}
	return msg_format(msg, po);
}

void
digest_news_prepend(struct digest_contents *contents, const char *lines)
{
	const char *notices = contents->notices;
	g_autofree char *all =
	    g_strconcat(lines, *lines && *notices ? "\n" : "", notices, NULL);

	contents->notices = digest_contents_keep(contents, all);
}

/* Find when a paper, or another record of its work, was delivered. @param at  -1: never
 */
static bool
find_delivery(struct digest_cache *cache, int64_t subscriber_id,
    const struct retraction *retraction, int64_t *at, GError **error)
{
	struct paper_history_delivery delivery;
	const GPtrArray *records;

	if (!paper_history_load_delivery(
	        cache->store, subscriber_id, retraction->paper_seq, &delivery, error))
		return false;
	*at = delivery.at;
	if (*at >= 0 || !retraction->work)
		return true;
	records = digest_cache_get_records(cache, retraction->work, error);
	for (unsigned i = 0; records && i < records->len && *at < 0; i++) {
		const struct work_record *record = records->pdata[i];

		if (!paper_history_load_delivery(
		        cache->store, subscriber_id, record->seq, &delivery, error))
			return false;
		*at = delivery.at;
	}
	return records != NULL;
}

/* Append the line of a retraction. @param at  when the paper was delivered, s */
static void
append_retraction(GString *lines, const struct retraction *retraction, int64_t at,
    const struct po *po)
{
	g_autofree char *title = text_quote(retraction->title, RETRACTED_CHARS);
	char day[DAY_BYTES];
	pb_auto(msg) msg = NULL;
	g_autofree char *line = NULL;

	day_format(at, day);
	msg = msg_new(N_("A paper that you were sent on {sent} was retracted: "
	                 "\"{title}\" ({id})"),
	    "sent", day, "title", title, "id", retraction->paper_id, NULL);
	line = msg_format(msg, po);
	g_string_append_printf(lines, "%s%s", lines->len ? "\n" : "", line);
}

bool
digest_news_find_retractions(
    struct digest_cache *cache, int64_t subscriber_id, GString *lines, GError **error)
{
	const GPtrArray *all = digest_cache_get_retractions(cache, error);
	int64_t reported, at;

	if (!all || !all->len)
		return all != NULL;
	if (!digests_load_retraction(cache->store, subscriber_id, &reported, error))
		return false;
	for (unsigned i = 0; i < all->len; i++) {
		const struct retraction *retraction = all->pdata[i];

		if (retraction->id <= reported)
			continue;
		if (!find_delivery(cache, subscriber_id, retraction, &at, error))
			return false;
		if (at >= 0)
			append_retraction(lines, retraction, at, cache->po);
	}
	return true;
}

/* Whether it can be reported: its effect is known, and it is proposed. */
static bool
is_ready(const struct share_news *news)
{
	return !news->news || (news->added && news->proposal > 0);
}

bool
digest_news_add(struct store *store, int64_t subscriber_id, int64_t now,
    const struct po *po, struct digest_contents *contents, GArray *reported,
    GError **error)
{
	g_autoptr(GPtrArray) all = shares_load_news(
	    store, subscriber_id, now + DIGEST_NEWS_PROPOSAL_S / 2, error);
	g_autoptr(GString) notices = g_string_new(NULL);

	for (unsigned i = 0; all && i < all->len && reported->len < DIGEST_NEWS_MAX;
	     i++) {
		const struct share_news *news = all->pdata[i];
		g_autofree char *line = is_ready(news) ? format_news(news, po) : NULL;

		if (!line)
			continue;
		g_string_append_printf(notices, "%s%s", notices->len ? "\n" : "", line);
		g_array_append_val(
		    reported, ((struct digest_news){news->subscription_id, news->news,
		                  news->news ? (unsigned)news->proposal : 0}));
	}
	if (!all || !reported->len)
		return all != NULL;
	digest_news_prepend(contents, notices->str);
	return true;
}

bool
digest_news_save(struct store *store, const struct digest_record *digest,
    const GArray *reported, GError **error)
{
	g_autofree char *message = g_strconcat("digest.", digest->message_token, NULL);

	for (unsigned i = 0; i < reported->len; i++) {
		const struct digest_news *one =
		    &g_array_index(reported, struct digest_news, i);

		if (!shares_clear_news(store, one->subscription_id, one->news, error) ||
		    (one->proposal &&
		        !proposals_save_shown(store, digest->subscriber_id,
		            one->proposal, message, digest->created_at, error)))
			return false;
	}
	return true;
}
