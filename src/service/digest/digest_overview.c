/*
 * digest_overview.c - what a digest says about itself, frozen when it is built.
 */
#include "service/digest/digest_overview.h"

#include <string.h>

#include "base/msg.h"
#include "service/digest/digest_order.h"

#define LABEL_CHARS 60

/* Days of a week on which sources list papers. */
#define WEEK_WORKING_DAYS 5

/* Maximum number of new filters that are named. */
#define NEW_NAMES 3

/* Characters that may precede a word of a filter, and those that end it. */
#define SIGNS " \t\n()=,"
#define ENDS  " \t\n(),"

/* Whether a word is an operator, or excludes papers. */
static bool
is_operator(const char *word, size_t size)
{
	static const char *const operators[] = {"AND", "OR", "NOT", "NEAR"};

	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
		if (size == strlen(operators[i]) &&
		    memcmp(word, operators[i], size) == 0)
			return true;
	return *word == '-';
}

/* Find the first word or phrase of a filter, without quotes and the field of a text.
 * @param size  set, bytes */
static const char *
find_first_word(const char *text, size_t *size)
{
	static const char *const fields[] = {"title:", "abstract:"};
	const char *word = text;

	for (;;) {
		word += strspn(word, SIGNS);
		for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
			if (g_str_has_prefix(word, fields[i]))
				word += strlen(fields[i]);
		word += strspn(word, SIGNS);
		if (*word == '"') {
			*size = strcspn(++word, "\"");
			return word;
		}
		*size = strcspn(word, ENDS);
		if (*size == 0 || !is_operator(word, *size))
			return word;
		word += *size;
	}
}

/* Append the name of a filter, one line without tabs; one without a name is called by
 * its first word or phrase. */
static void
append_label(GString *text, const struct candidate_filter *filter)
{
	const char *word = filter->label;
	size_t size = strlen(word);
	g_autofree char *label = NULL;
	bool is_long;

	if (strcmp(filter->label, filter->text) == 0)
		word = find_first_word(filter->text, &size);
	label = size ? g_strndup(word, size) : g_strdup(filter->label);
	is_long = g_utf8_strlen(label, -1) > LABEL_CHARS;
	if (is_long)
		*g_utf8_offset_to_pointer(label, LABEL_CHARS - 1) = '\0';
	g_strdelimit(label, "\t\n", ' ');
	g_string_append(text, label);
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

	append_label(text, matched->filter);
	filter.label = digest_contents_keep(contents, text->str);
	g_string_assign(text, matched->filter->text);
	g_strdelimit(text->str, "\t\n", ' ');
	filter.query = digest_contents_keep(contents, text->str);
	g_array_append_val(contents->filters, filter);
}

/* ---- what is unusual ---- */

static void
append_line(GString *notices, const char *line)
{
	if (notices->len && *line)
		g_string_append_c(notices, '\n');
	g_string_append(notices, line);
}

/* @param msg  taken */
static void
append_notice(GString *notices, struct msg *msg, const struct po *po)
{
	g_autofree char *line = msg_format(msg, po);

	append_line(notices, line);
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
		append_label(names, filter);
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

/* Papers of a usual day, from those of the days that the first digest covers. */
static unsigned
estimate_daily(const GPtrArray *items)
{
	g_autoptr(GHashTable) days = g_hash_table_new(g_str_hash, g_str_equal);

	for (unsigned i = 0; i < items->len; i++)
		g_hash_table_add(days, ((struct digest_item *)items->pdata[i])->day);
	return (items->len + g_hash_table_size(days) / 2) /
	       MAX(g_hash_table_size(days), 1);
}

/* Say what the first digest is, and what comes. */
static void
append_welcome(GString *notices, const struct subscriber *subscriber,
    const GPtrArray *items, const struct po *po)
{
	static const char *const texts[] = {
	    [SCHEDULE_DAILY] = N_("Welcome. These are the last three days; from "
	                          "tomorrow about {count} a day at {at}."),
	    [SCHEDULE_NOW] = N_("Welcome. These are the last three days; from now on "
	                        "about {count} a day, as they come."),
	    [SCHEDULE_WEEKDAYS] =
	        N_("Welcome. These are the last three days; from now on about {count} "
	           "a day, Monday to Friday at {at}."),
	    [SCHEDULE_WEEKLY] = N_("Welcome. These are the last three days; from now "
	                           "on about {count} a week at {at}."),
	};
	const struct schedule *schedule = &subscriber->schedule;
	bool is_weekly = schedule->frequency == SCHEDULE_WEEKLY;
	char time[SCHEDULE_MINUTE_BYTES];

	if (!items->len)
		return;
	schedule_format_minute(schedule->minute, time);
	append_notice(notices,
	    msg_new(texts[schedule->frequency], "count",
	        MSG_INT(estimate_daily(items) * (is_weekly ? WEEK_WORKING_DAYS : 1)),
	        "at", time, NULL),
	    po);
}

static bool
load_history(struct digest_cache *cache, int64_t subscriber_id,
    struct digest_history *history, GError **error)
{
	const struct candidate_previous *previous =
	    digest_cache_get_previous(cache, subscriber_id);

	*history = (struct digest_history){.oldest_at = -1, .latest_at = -1};
	return !previous->has_digests ||
	       digests_load_history(cache->store, subscriber_id, history, error);
}

bool
digest_overview_add(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, const GPtrArray *items,
    struct digest_contents *contents, GError **error)
{
	g_autoptr(GArray) filters = count_filters(candidates, items);
	const struct digest_cache_coverage *coverage;
	g_autoptr(GString) notices = NULL;
	struct digest_history history;

	if (!load_history(cache, subscriber->id, &history, error))
		return false;
	coverage = digest_cache_get_coverage(cache, history.latest_at, error);
	if (!coverage)
		return false;
	notices = g_string_new(NULL);
	/* A digest after a pause is due as the first one is. */
	if (subscriber->is_first_due &&
	    (history.latest_at < 0 || history.latest_at < subscriber->consent_at))
		append_welcome(notices, subscriber, items, cache->po);
	append_line(notices, coverage->missing);
	append_new_filters(notices, &history, filters, cache->po);
	append_many(notices, &history, items->len, cache->now, cache->po);
	append_line(notices, contents->notices);
	contents->coverage = coverage->line;
	contents->notices = digest_contents_keep(contents, notices->str);
	for (unsigned i = 0; i < filters->len; i++)
		add_filter(contents, &g_array_index(filters, struct matched, i));
	return true;
}
