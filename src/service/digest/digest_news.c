/*
 * digest_news.c - lines of a digest about filters that the subscriber follows, and
 * about retracted papers.
 */
#include "service/digest/digest_news.h"

#include "base/clock.h"
#include "base/day.h"
#include "base/msg.h"
#include "base/text.h"
#include "render/locale_format.h"
#include "store/paper/paper_events.h"
#include "store/paper/paper_history.h"
#include "store/paper/works.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/shares.h"

/* Maximum characters of the clauses that are added, and of those removed. */
#define CLAUSES_CHARS 100
#define LABEL_CHARS   60

/* Maximum characters of the title of a paper to which something happened. */
#define EVENT_TITLE_CHARS 100

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

/*
 * Find when a paper, or another record of its work, was delivered.
 *
 * @param all  paper_history_load_deliveries()
 * @param at   -1: never
 */
static bool
find_delivery(struct digest_cache *cache, GHashTable *all,
    const struct paper_event *event, int64_t *at, GError **error)
{
	const struct paper_history_delivery *delivery =
	    g_hash_table_lookup(all, &event->paper_seq);
	const GPtrArray *records = NULL;

	if (!delivery && event->work) {
		records = digest_cache_get_records(cache, event->work, error);
		if (!records)
			return false;
	}
	for (unsigned i = 0; records && i < records->len && !delivery; i++)
		delivery = g_hash_table_lookup(
		    all, &((const struct work_record *)records->pdata[i])->seq);
	*at = delivery ? delivery->at : -1;
	return true;
}

static void
append_line(GString *lines, const struct msg *msg, const struct po *po)
{
	g_autofree char *line = msg_format(msg, po);

	g_string_append_printf(lines, "%s%s", lines->len ? "\n" : "", line);
}

/* "Fri 18 Sep 2026", in the language of a subscriber */
static char *
format_day(
    const struct digest_cache *cache, const struct subscriber *subscriber, int64_t at)
{
	const struct locale_format format = {cache->book, subscriber->language};
	char day[DAY_BYTES];

	day_format(at, day);
	return cache->book ? locale_format_day(&format, day, LOCALE_FORMAT_SHORT)
	                   : g_strdup(day);
}

/* Append the line of a retraction. @param day  when the paper was delivered */
static void
append_retraction(GString *lines, const struct paper_event *event, const char *day,
    const struct po *po)
{
	g_autofree char *title = text_quote(event->title, EVENT_TITLE_CHARS);
	pb_auto(msg) msg = NULL;

	msg = msg_new(N_("A paper that you were sent on {sent} was retracted: "
	                 "\"{title}\" ({id})"),
	    "sent", day, "title", title, "id", event->paper_id, NULL);
	append_line(lines, msg, po);
}

static struct msg *
describe_event(const struct paper_event *event)
{
	g_autofree char *comment =
	    event->comment ? text_quote(event->comment, EVENT_TITLE_CHARS) : NULL;

	switch (event->kind) {
	case PAPER_EVENT_RETRACTED:
		return msg_new(N_("it was retracted"), NULL);
	case PAPER_EVENT_PUBLISHED:
		return event->journal ? msg_new(N_("it was published in {journal}"),
		                            "journal", event->journal, NULL)
		                      : msg_new(N_("it was published"), NULL);
	case PAPER_EVENT_VERSION:
		return comment ? msg_new(N_("version {version} is out: {comment}"),
		                     "version", MSG_INT(event->version), "comment",
		                     comment, NULL)
		               : msg_new(N_("version {version} is out"), "version",
		                     MSG_INT(event->version), NULL);
	case PAPER_EVENT_CODE:
		return msg_new(N_("it has code now: {url}"), "url",
		    event->code_url ? event->code_url : "", NULL);
	}
	return NULL;
}

/* Append a line about a paper that the subscriber watches. */
static void
append_watched(GString *lines, const char *title, const char *id,
    const struct msg *event, const struct po *po)
{
	g_autofree char *quoted = text_quote(title, EVENT_TITLE_CHARS);
	g_autofree char *words = msg_format(event, po);
	pb_auto(msg) msg = msg_new(N_("You watch \"{title}\" ({id}): {event}"), "title",
	    quoted, "id", id, "event", words, NULL);

	append_line(lines, msg, po);
}

/* Days that are left to answer a digest that comes only since a watch ends. */
#define ANSWER_DAYS 7

/* Maximum number of watches that end soon, by name. */
#define ENDING_MAX 10

static bool
append_ending(struct digest_cache *cache, const struct subscriber *subscriber,
    const struct watched_paper *watched, GString *lines, GError **error)
{
	pb_auto(stored_paper) stored = papers_load(cache->store, watched->work, error);
	g_autofree char *day = format_day(cache, subscriber, watched->until);
	pb_auto(msg) event = NULL;

	if (!stored)
		return false;
	event = msg_new(N_("this ends on {day}. For another year, reply: watch {id}"),
	    "day", day, "id", stored->paper->id, NULL);
	append_watched(
	    lines, stored->paper->title, stored->paper->id, event, cache->po);
	return true;
}

/*
 * Append a line for each watch that ends soon, in the first digest of its last days.
 *
 * @param all      of struct watched_paper *
 * @param made_at  when the last digest was created, s
 * @param is_due   set if there may be no other digest in time
 */
static bool
find_ending(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *all, int64_t made_at, GString *lines, bool *is_due, GError **error)
{
	int64_t next = digest_cache_get_slots(cache, subscriber)->next.at;
	unsigned count = 0;

	for (unsigned i = 0; i < all->len; i++) {
		const struct watched_paper *watched = all->pdata[i];
		int64_t from =
		    watched->until - PAPER_EVENTS_ENDING_DAYS * (int64_t)CLOCK_DAY_S;

		if (cache->now < from || made_at >= from)
			continue;
		if (count++ < ENDING_MAX &&
		    !append_ending(cache, subscriber, watched, lines, error))
			return false;
		*is_due |= next + ANSWER_DAYS * (int64_t)CLOCK_DAY_S > watched->until;
	}
	if (count > ENDING_MAX) {
		pb_auto(msg) msg = msg_new(N_("Other papers that you watch for less "
		                              "than a month from now: {count}. To see "
		                              "them, reply: list"),
		    "count", MSG_INT(count - ENDING_MAX), NULL);

		append_line(lines, msg, cache->po);
	}
	return true;
}

/* @param watched  of struct watched_paper * */
static bool
is_watched(const GPtrArray *watched, const struct paper_event *event)
{
	int64_t work = event->work ? event->work : event->paper_seq;

	for (unsigned i = 0; i < watched->len; i++) {
		const struct watched_paper *paper = watched->pdata[i];

		if (paper->work == work && paper->since <= event->at)
			return true;
	}
	return false;
}

static bool
find_events(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *watched, int64_t reported, GString *lines, GError **error)
{
	const GPtrArray *all = digest_cache_get_events(cache, error);
	g_autoptr(GHashTable) delivered = NULL;
	int64_t at;

	for (unsigned i = 0; all && i < all->len; i++) {
		const struct paper_event *event = all->pdata[i];
		bool has_mail = false, is_own;

		if (event->id <= reported)
			continue;
		if (event->kind == PAPER_EVENT_RETRACTED &&
		    !paper_events_has_retraction(
		        cache->store, subscriber->id, event->id, &has_mail, error))
			return false;
		if (has_mail)
			continue;
		is_own = is_watched(watched, event);
		if (is_own) {
			pb_auto(msg) what = describe_event(event);

			append_watched(
			    lines, event->title, event->paper_id, what, cache->po);
		}
		if (is_own || event->kind != PAPER_EVENT_RETRACTED)
			continue;
		if (!delivered)
			delivered = paper_history_load_deliveries(
			    cache->store, subscriber->id, error);
		if (!delivered || !find_delivery(cache, delivered, event, &at, error))
			return false;
		if (at >= 0) {
			g_autofree char *day = format_day(cache, subscriber, at);

			append_retraction(lines, event, day, cache->po);
		}
	}
	return all != NULL;
}

bool
digest_news_find_events(struct digest_cache *cache, const struct subscriber *subscriber,
    GString *lines, bool *is_due, GError **error)
{
	const GPtrArray *all = digest_cache_get_events(cache, error);
	bool has_watched =
	    digest_cache_get_previous(cache, subscriber->id)->has_watched;
	g_autoptr(GPtrArray) watched = NULL;
	int64_t reported, made_at;

	*is_due = false;
	if (!all || (!all->len && !has_watched))
		return all != NULL;
	watched = has_watched ? paper_events_load_watched(
	                            cache->store, subscriber->id, cache->now, error)
	                      : g_ptr_array_new();
	if (!watched ||
	    !digests_load_reported(
	        cache->store, subscriber->id, cache->now, &reported, &made_at, error) ||
	    !find_events(cache, subscriber, watched, reported, lines, error))
		return false;
	*is_due = lines->len > 0;
	return find_ending(cache, subscriber, watched, made_at, lines, is_due, error);
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
