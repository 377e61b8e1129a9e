/*
 * command_papers.c - commands on papers: test, search, why, last, status, sources.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/zone.h"
#include "message/sanitize.h"
#include "model/natural_time.h"
#include "service/advice/backtest.h"
#include "service/advice/why.h"
#include "service/collect/source_status.h"
#include "service/command/command_private.h"
#include "service/match/search.h"
#include "store/mail/bounces.h"
#include "store/mail/digests.h"
#include "store/paper/paper_history.h"

/* Default and maximum of max= of `search`. */
#define SEARCH_RESULTS     10
#define SEARCH_RESULTS_MAX 50

/* Age of the bounces that status counts. */
#define STATUS_BOUNCE_DAYS 45

/* Maximum number of digests searched for a date. */
#define DIGESTS_SEARCHED 100

static bool
take_days(struct request *request, const char **arguments, unsigned *days,
    bool *is_found, GError **error)
{
	g_autofree char *text = command_take_option(arguments, "since");

	*is_found = text != NULL;
	return !text || command_parse_days(request, text, days, error);
}

bool
command_run_test(struct request *request, const char *arguments, GError **error)
{
	const char *query = arguments;
	pb_local(query_error) problem = {0};
	unsigned days = BACKTEST_DAYS;
	bool has_days;
	pb_auto(why_filter) filter = NULL;

	if (!take_days(request, &query, &days, &has_days, error))
		return false;
	filter = why_explain(
	    request->store, query, NULL, request->now, NULL, &problem, error);
	if (!filter)
		return command_set_query_error(request, query, &problem, error);
	{
		g_autofree char *accented =
		    command_format_canonical(request, filter->canonical, query);
		g_autofree char *shown = reply_text_quote(&request->text, accented);

		reply_phrase(&request->text, "ok",
		    N_("{filter} (test only, not saved)"), "filter", shown);
	}
	return command_add_backtest(request, query, 0, false, days, error);
}

static void
add_result(struct request *request, const struct search_result *result)
{
	const struct paper *paper = result->stored->paper;
	g_autofree char *title =
	    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *shown =
	    g_strdup_printf("%s  %s  %s", paper->id, result->stored->day, title);

	reply_text_add(&request->text, "", shown);
	if (result->words && *result->words && !request->text.is_guarded) {
		g_autofree char *words = sanitize_paper_text(result->words, 0);

		reply_phrase(
		    &request->text, "", "            [{words}]", "words", words);
	}
}

static bool
add_results(
    struct request *request, const struct search_answer *found, const char *query)
{
	g_autofree char *papers = reply_text_format_count(&request->text,
	    found->is_more ? PL_("at least 1 paper", "at least {count} papers")
	                   : PL_("1 paper", "{count} papers"),
	    found->found);
	g_autofree char *accented =
	    command_format_canonical(request, found->canonical, query);
	g_autofree char *filter = reply_text_quote(&request->text, accented);

	reply_phrase(&request->text, "ok",
	    found->results->len < found->found || found->is_more
	        ? N_("{papers} for {filter}, of which these {shown} are the best:")
	        : N_("{papers} for {filter}"),
	    "papers", papers, "shown", MSG_INT(found->results->len), "filter", filter);
	for (unsigned i = 0; i < found->results->len; i++)
		add_result(request, found->results->pdata[i]);
	command_add_warnings(request, found->warnings);
	return true;
}

bool
command_run_search(struct request *request, const char *arguments, GError **error)
{
	const char *query = arguments;
	pb_local(query_error) problem = {0};
	struct search_scope scope = {
	    .now = request->now, .po = reply_text_get_po(&request->text)};
	unsigned days = 0, most = SEARCH_RESULTS;
	char day[DAY_BYTES];
	pb_auto(search_answer) found = NULL;

	for (bool is_more = true; is_more;) {
		g_autofree char *max = NULL;

		if (!take_days(request, &query, &days, &is_more, error))
			return false;
		max = command_take_option(&query, "max");
		if (max && !command_parse_number(
		               request, "max", max, SEARCH_RESULTS_MAX, &most, error))
			return false;
		is_more = is_more || max;
	}
	if (days) {
		day_format(scope.now - days * (int64_t)CLOCK_DAY_S, day);
		scope.oldest_day = day;
	}
	found = search_run(request->store, query, &scope, most, &problem, error);
	if (!found)
		command_set_query_error(request, query, &problem, error);
	return found && add_results(request, found, query);
}

char *
command_find_paper(
    struct request *request, const char *word, struct digest **digest, GError **error)
{
	g_autoptr(GError) problem = NULL;
	guint64 number;

	if (!g_ascii_string_to_unsigned(word, 10, 1, 9999, &number, NULL))
		return why_find_id(request->store, word, request->now, error);
	if (!request->digest_id) {
		command_fail(request, error,
		    N_("which digest is meant? A number works in a reply to a digest. "
		       "Otherwise write the paper's id, such as why 2605.15202."),
		    "number", word);
		return NULL;
	}
	if (!*digest)
		*digest = digests_load(request->store, request->digest_id, &problem);
	if (!*digest || (*digest)->subscriber_id != request->subscriber->id) {
		command_fail(request, error, N_("that digest has no paper {number}."),
		    "number", word);
		return NULL;
	}
	if (number > (*digest)->entries->len) {
		g_autofree char *papers = reply_text_format_count(&request->text,
		    PL_("1 paper", "{count} papers"), (*digest)->entries->len);

		command_fail(request, error,
		    N_("that digest has {papers}, and so no paper {number}."), "papers",
		    papers, "number", word);
		return NULL;
	}
	return g_strdup(
	    ((struct digest_entry *)(*digest)->entries->pdata[number - 1])->paper->id);
}

/* Whether a filter finds a paper, and whether one of its clauses is true. */
static const struct {
	const char *filter, *clause;
} verdict_texts[] = {
    [QUERY_FALSE] = {N_("does not find it"), N_("no")},
    [QUERY_UNKNOWN] = {N_("cannot tell yet"), "?"},
    [QUERY_TRUE] = {N_("finds it"), N_("yes")},
};

static void
add_why_filter(struct request *request, const struct why_filter *filter)
{
	g_autofree char *reported =
	    reply_text_format(&request->text, verdict_texts[filter->truth].filter);
	g_autofree char *label = reply_text_quote(&request->text, filter->label);

	reply_text_add_blank(&request->text);
	reply_phrase(&request->text, "",
	    filter->is_block ? N_("block {number}, {label}: {truth}")
	                     : N_("filter {number}, {label}: {truth}"),
	    "number", MSG_INT(filter->number), "label", label, "truth", reported);
	for (unsigned i = 0; filter->steps && i < filter->steps->len; i++) {
		const struct query_step *step = filter->steps->pdata[i];
		g_autofree char *word = reply_text_format(
		    &request->text, verdict_texts[step->truth].clause);
		g_autofree char *text = reply_text_quote(&request->text, step->text);
		g_autofree char *gap =
		    g_strnfill((gsize)MAX(4 - g_utf8_strlen(word, -1), 1), ' ');
		g_autofree char *line = g_strdup_printf(
		    "%*s%s%s%s", 2 + 2 * (int)step->depth, "", word, gap, text);

		reply_text_add(&request->text, "", line);
	}
}

static const char *const outcome_texts[] = {
    [WHY_SENT] = N_("It was mailed to you on {time}."),
    [WHY_READ] = N_("It was in a digest of {time} whose delivery is uncertain."),
    [WHY_IN_DELIVERY] = N_("It is in a digest that is on its way to you."),
    [WHY_REFUSED] = N_("Your mail server refused the messages it was in, twice."),
    [WHY_UNSUBSCRIBED] = N_("You were unsubscribed."),
    [WHY_NO_FILTER] = N_("You have no filter."),
    [WHY_NOT_MATCHED_YET] =
        N_("It has not been matched with your filters yet; it will be in a moment."),
    [WHY_NO_CLAUSE] = N_("None of your filters finds it."),
    [WHY_TOO_LATE] =
        N_("A filter finds it now, but did not in time: votes or links came too late."),
    [WHY_NOT_STORED] = N_(
        "It is too old to say: which digests had a paper is not kept for that long."),
    [WHY_WAITING] = N_("A filter depends on data that is not known yet."),
    [WHY_NOT_SUBSCRIBED] = N_("It was listed before you subscribed."),
    [WHY_FILTER_NEWER] = N_("It was listed before you had the filter that finds it."),
    [WHY_UNWANTED] = N_("It was only cross-listed, or replaced by a new version, and "
                        "your settings exclude such papers."),
    [WHY_BLOCKED] = N_("One of your blocks removes it."),
    [WHY_BLOCK_WAITING] = N_("It waits: a block needs data that has not arrived yet."),
    [WHY_TOO_OLD] = N_("It was listed too long ago for a digest."),
    [WHY_NOT_ACTIVE] = N_("Your mail is paused or stopped."),
    [WHY_NEXT] = N_("It will be in your next digest, {time}."),
};

static void
add_why(struct request *request, const struct why *why)
{
	const struct paper *paper = why->stored->paper;
	g_autofree char *words =
	    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *title = g_strdup_printf("%s  %s", paper->id, words);
	g_autofree char *time =
	    reply_text_format_time(&request->text, why->at, request->subscriber->zone);

	reply_text_add(&request->text, "ok", title);
	reply_phrase(&request->text, "", outcome_texts[why->outcome], "time", time);
	for (unsigned i = 0; i < why->listings->len; i++) {
		const struct paper_history_listing *listing = why->listings->pdata[i];
		g_autofree char *day =
		    reply_text_format_day(&request->text, listing->day);

		reply_phrase(&request->text, "", N_("listed by {source} on {day}"),
		    "source", listing->source, "day", day);
	}
	if (why->taste.raised && *why->taste.raised)
		reply_phrase(&request->text, "",
		    N_("In a digest it comes earlier because of what you liked: "
		       "{words}"),
		    "words", why->taste.raised);
	if (why->taste.lowered && *why->taste.lowered)
		reply_phrase(&request->text, "",
		    N_("In a digest it comes later because of what you hid: {words}"),
		    "words", why->taste.lowered);
	for (unsigned i = 0; i < why->filters->len; i++)
		add_why_filter(request, why->filters->pdata[i]);
}

bool
command_run_why(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	pb_auto(digest) digest = NULL;
	g_autofree char *id =
	    word ? command_find_paper(request, word, &digest, error) : NULL;
	g_autoptr(GError) problem = NULL;
	pb_auto(why) why = NULL;

	if (!id)
		return false;
	why = why_find_outcome(
	    request->store, request->address, id, request->now, &problem);
	if (why) {
		add_why(request, why);
		return true;
	}
	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return pb_error_forward(error, &problem);
	{
		g_autofree char *shown = reply_text_quote(&request->text, id);

		return command_fail(request, error,
		    N_("no source has listed a paper \"{id}\"."), "id", shown);
	}
}

/* @return the newest digest, of that day if one is given; 0 if there is none */
static int64_t
choose_digest(const GPtrArray *rows, const char *day)
{
	for (unsigned i = 0; i < rows->len; i++) {
		const struct digest_row *row = rows->pdata[i];

		if (strcmp(row->state, "cancelled") != 0 &&
		    (!*day || strcmp(row->date, day) == 0))
			return row->id;
	}
	return 0;
}

bool
command_run_last(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	g_autofree char *text = NULL;
	g_autofree char *day = NULL;
	g_autoptr(GTimeZone) zone = zone_load_or_utc(request->subscriber->zone);
	g_autoptr(GDateTime) here = g_date_time_new_from_unix_utc(request->now);
	g_autoptr(GDateTime) local = g_date_time_to_timezone(here, zone);
	pb_auto(digest) digest = NULL;
	char wanted[DAY_BYTES] = "";
	int64_t id;

	if (day_parse_time(arguments, &id, NULL))
		g_strlcpy(wanted, arguments, sizeof(wanted));
	else if (*arguments && !natural_time_parse_day(arguments, local, wanted))
		return command_fail(
		    request, error, N_("a day is written like this: 2026-11-20"));
	rows = digests_load_newest(
	    request->store, request->subscriber->id, DIGESTS_SEARCHED, error);
	if (!rows)
		return false;
	id = choose_digest(rows, wanted);
	if (!id)
		return command_fail(request, error,
		    *arguments ? N_("there is no digest of that day. Only digests of "
		                    "the last weeks are stored.")
		               : N_("no digest has been made for you yet."));
	digest = digests_load(request->store, id, error);
	text = digest ? renderer_format_text(request->renderer, digest, error) : NULL;
	if (!text)
		return false;
	day = reply_text_format_day(&request->text, digest->date);
	reply_phrase(&request->text, "ok", N_("the digest of {day}:"), "day", day);
	reply_text_add_blank(&request->text);
	g_string_append(request->text.text, text);
	return true;
}

static void
add_source(struct request *request, const struct source_status_source *source)
{
	g_autofree char *asked = reply_text_format_time(&request->text, source->good_at,
	    request->subscriber ? request->subscriber->zone
	                        : request->settings->digest_zone);
	g_autofree char *papers = reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), MAX(source->papers, 0));
	g_autofree char *day =
	    source->papers_day
	        ? reply_text_format_day(&request->text, source->papers_day)
	        : reply_text_format(&request->text, N_("never"));
	const char *name = N_("{source}: {papers} on {day}; last read {time}");

	if (source->good_at < 0)
		name = N_("{source}: not read yet");
	else if (source->is_late || *source->missing_day)
		name = N_("{source}: late. {papers} on {day}; last read {time}");
	reply_phrase(&request->text, "", name, "source", source->name, "papers", papers,
	    "day", day, "time", asked);
}

bool
command_run_sources(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) sources =
	    source_status_load(request->store, request->sources,
	        request->settings->collect_interval_s, request->now, error);

	(void)arguments;
	if (!sources)
		return false;
	reply_phrase(&request->text, "ok", N_("where papers come from:"));
	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (source->is_on)
			add_source(request, source);
	}
	return true;
}

struct named_text {
	const char *name, *text;
};

/* Texts about the last digest, by its state. */
static const struct named_text digest_texts[] = {
    {"live", N_("Your last digest, of {day}, is on its way ({papers}).")},
    {"sent", N_("Your last digest, of {day}, was sent ({papers}).")},
    {"failed", N_("Your last digest, of {day}, could not be delivered. Its papers come "
                  "in the next one.")},
    {"cancelled", N_("Your last digest, of {day}, was cancelled. Its papers come in "
                     "the next one.")},
    {NULL, NULL}};

/* Reasons for which a message came back, by the class of the bounce. */
static const struct named_text bounce_texts[] = {
    {"dead", N_("your server said that the address does not exist")},
    {"full", N_("your mailbox was full")},
    {"temporary", N_("your server could not take it")},
    {"sender", N_("your server refused our mail, which is not your fault")},
    {NULL, NULL}};

/* The name itself if there is no text. */
static const char *
find_text(const struct named_text *texts, const char *name)
{
	for (; texts->name; texts++)
		if (strcmp(texts->name, name) == 0)
			return texts->text;
	return name;
}

/* Summarize the messages returned lately. @param is_any  set */
static bool
add_bounces(struct request *request, bool *is_any, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    bounces_load_person(request->store, request->subscriber->id, error);
	const struct bounce_row *last = NULL;
	g_autofree char *messages = NULL, *reason = NULL, *line = NULL, *time = NULL;
	int64_t count = 0;

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct bounce_row *row = rows->pdata[i];

		if (row->at < request->now - STATUS_BOUNCE_DAYS * CLOCK_DAY_S ||
		    strcmp(row->class, "complaint") == 0)
			continue;
		count++;
		last = row;
	}
	*is_any = count > 0;
	if (!count)
		return rows != NULL;
	messages = reply_text_format_count(&request->text,
	    PL_("1 message to you came back", "{count} messages to you came back"),
	    count);
	reason =
	    reply_text_format(&request->text, find_text(bounce_texts, last->class));
	line = reply_text_quote(&request->text, last->line ? last->line : "-");
	time =
	    reply_text_format_time(&request->text, last->at, request->subscriber->zone);
	reply_phrase(&request->text, "",
	    N_("{messages} in the last {days} days, the last on {time}: {reason} "
	       "({line})."),
	    "messages", messages, "days", G_STRINGIFY(STATUS_BOUNCE_DAYS), "time", time,
	    "reason", reason, "line", line);
	return true;
}

static const char *const state_texts[] = {
    [SUBSCRIBER_ACTIVE] = N_("No problem with your mail is known."),
    [SUBSCRIBER_PAUSED] = N_("You have paused your mail."),
    [SUBSCRIBER_SUSPENDED] =
        N_("Mail to you bounced, so nothing is sent at present. Reply to a digest, or "
           "write \"resume\", to start it again."),
};

bool
command_run_status(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	bool has_bounces;

	if (!command_run_sources(request, arguments, error))
		return false;
	rows = digests_load_newest(request->store, request->subscriber->id, 1, error);
	if (!rows)
		return false;
	if (rows->len) {
		const struct digest_row *row = rows->pdata[0];
		g_autofree char *day = reply_text_format_day(&request->text, row->date);
		g_autofree char *papers = reply_text_format_count(
		    &request->text, PL_("1 paper", "{count} papers"), row->papers);

		reply_phrase(&request->text, "", find_text(digest_texts, row->state),
		    "day", day, "papers", papers);
	} else {
		reply_phrase(
		    &request->text, "", N_("No digest has been made for you yet."));
	}
	if (!add_bounces(request, &has_bounces, error))
		return false;
	if (!has_bounces || request->subscriber->state != SUBSCRIBER_ACTIVE)
		reply_phrase(
		    &request->text, "", state_texts[request->subscriber->state]);
	return true;
}
