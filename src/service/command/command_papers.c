/*
 * command_papers.c - commands on papers: test, search, why, last, status, sources.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/zone.h"
#include "message/prose_time.h"
#include "message/sanitize.h"
#include "service/advice/backtest.h"
#include "service/advice/why.h"
#include "service/collect/source_status.h"
#include "service/command/command_private.h"
#include "service/match/search.h"
#include "store/mail/bounces.h"
#include "store/mail/digests.h"
#include "store/paper/paper_history.h"

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

		reply_phrase(&request->text, "ok", "tested", "filter", shown);
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

		reply_phrase(&request->text, "", "hit", "words", words);
	}
}

static bool
add_results(
    struct request *request, const struct search_answer *found, const char *query)
{
	g_autofree char *papers = reply_text_format_count(
	    &request->text, found->is_more ? "papers_least" : "papers", found->found);
	g_autofree char *accented =
	    command_format_canonical(request, found->canonical, query);
	g_autofree char *filter = reply_text_quote(&request->text, accented);

	reply_phrase(&request->text, "ok",
	    found->results->len < found->found || found->is_more ? "searched_more"
	                                                         : "searched",
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
	    .now = request->now, .texts = reply_text_get_texts(&request->text)};
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
		return why_clean_id(word);
	if (!request->digest_id) {
		command_fail(request, error, "why_no_digest", "number", word);
		return NULL;
	}
	if (!*digest)
		*digest = digests_load(request->store, request->digest_id, &problem);
	if (!*digest || (*digest)->subscriber_id != request->subscriber->id ||
	    number > (*digest)->entries->len) {
		command_fail(request, error, "why_no_number", "number", word);
		return NULL;
	}
	return g_strdup(
	    ((struct digest_entry *)(*digest)->entries->pdata[number - 1])->paper->id);
}

static void
add_why_filter(struct request *request, const struct why_filter *filter)
{
	g_autofree char *truth =
	    g_strconcat("truth_", why_verdict_name(filter->truth), NULL);
	g_autofree char *reported = reply_text_format(&request->text, truth);
	g_autofree char *label = reply_text_quote(&request->text, filter->label);

	reply_text_add_blank(&request->text);
	reply_phrase(&request->text, "", filter->is_block ? "why_block" : "why_filter",
	    "number", MSG_INT(filter->number), "label", label, "truth", reported);
	for (unsigned i = 0; filter->steps && i < filter->steps->len; i++) {
		const struct query_step *step = filter->steps->pdata[i];
		g_autofree char *mark =
		    g_strconcat("mark_", why_verdict_name(step->truth), NULL);
		g_autofree char *word = reply_text_format(&request->text, mark);
		g_autofree char *text = reply_text_quote(&request->text, step->text);
		g_autofree char *gap =
		    g_strnfill((gsize)MAX(4 - g_utf8_strlen(word, -1), 1), ' ');
		g_autofree char *line = g_strdup_printf(
		    "%*s%s%s%s", 2 + 2 * (int)step->depth, "", word, gap, text);

		reply_text_add(&request->text, "", line);
	}
}

static void
add_why(struct request *request, const struct why *why)
{
	const struct paper *paper = why->stored->paper;
	g_autofree char *words =
	    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *title = g_strdup_printf("%s  %s", paper->id, words);
	g_autofree char *name = g_strdelimit(
	    g_strconcat("why_", why_outcome_name(why->outcome), NULL), "-", '_');
	g_autofree char *time =
	    reply_text_format_time(&request->text, why->at, request->subscriber->zone);

	reply_text_add(&request->text, "ok", title);
	reply_phrase(&request->text, "", name, "time", time);
	for (unsigned i = 0; i < why->listings->len; i++) {
		const struct paper_history_listing *listing = why->listings->pdata[i];
		g_autofree char *day =
		    reply_text_format_day(&request->text, listing->day);

		reply_phrase(&request->text, "", "why_listed", "source",
		    listing->source, "day", day);
	}
	if (why->taste.raised && *why->taste.raised)
		reply_phrase(
		    &request->text, "", "why_raised", "words", why->taste.raised);
	if (why->taste.lowered && *why->taste.lowered)
		reply_phrase(
		    &request->text, "", "why_lowered", "words", why->taste.lowered);
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

		return command_fail(request, error, "why_no_paper", "id", shown);
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

/* A date, or a day in words: "yesterday". @param arguments  set to the date */
static bool
find_day(const struct request *request, const char **arguments, char named[DAY_BYTES],
    int64_t *at)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(request->subscriber->zone);
	g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(request->now);
	g_autoptr(GDateTime) here = g_date_time_to_timezone(utc, zone);

	if (day_parse_time(*arguments, at, NULL))
		return true;
	if (!prose_parse_day(*arguments, here, named))
		return false;
	*arguments = named;
	return true;
}

bool
command_run_last(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	g_autofree char *text = NULL;
	g_autofree char *day = NULL;
	pb_auto(digest) digest = NULL;
	char named[DAY_BYTES];
	int64_t id;

	if (*arguments && !find_day(request, &arguments, named, &id))
		return command_fail(request, error, "wrong_day");
	rows = digests_load_newest(
	    request->store, request->subscriber->id, DIGESTS_SEARCHED, error);
	if (!rows)
		return false;
	id = choose_digest(rows, arguments);
	if (!id)
		return command_fail(
		    request, error, *arguments ? "last_none_day" : "last_none");
	digest = digests_load(request->store, id, error);
	text = digest ? renderer_format_text(request->renderer, digest, error) : NULL;
	if (!text)
		return false;
	day = reply_text_format_day(&request->text, digest->date);
	reply_phrase(&request->text, "ok", "last_is", "day", day);
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
	g_autofree char *papers =
	    reply_text_format_count(&request->text, "papers", MAX(source->papers, 0));
	g_autofree char *day =
	    source->papers_day
	        ? reply_text_format_day(&request->text, source->papers_day)
	        : reply_text_format(&request->text, "never");
	const char *name = "source_is";

	if (source->good_at < 0)
		name = "source_never";
	else if (source->is_late || *source->missing_day)
		name = "source_late";
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
	reply_phrase(&request->text, "ok", "sources_head");
	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (source->is_on)
			add_source(request, source);
	}
	return true;
}

/* Summarize the messages returned lately. @param is_any  set */
static bool
add_bounces(struct request *request, bool *is_any, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    bounces_load_person(request->store, request->subscriber->id, error);
	const struct bounce_row *last = NULL;
	g_autofree char *messages = NULL, *name = NULL, *reason = NULL, *line = NULL,
	                *time = NULL;
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
	messages = reply_text_format_count(&request->text, "bounces", count);
	name = g_strconcat("bounce_", last->class, NULL);
	reason = reply_text_format(&request->text, name);
	line = reply_text_quote(&request->text, last->line ? last->line : "-");
	time =
	    reply_text_format_time(&request->text, last->at, request->subscriber->zone);
	reply_phrase(&request->text, "", "status_bounces", "messages", messages, "days",
	    G_STRINGIFY(STATUS_BOUNCE_DAYS), "time", time, "reason", reason, "line",
	    line);
	return true;
}

bool
command_run_status(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	g_autofree char *state = g_strconcat(
	    "state_", subscriber_state_name(request->subscriber->state), NULL);
	bool has_bounces;

	if (!command_run_sources(request, arguments, error))
		return false;
	rows = digests_load_newest(request->store, request->subscriber->id, 1, error);
	if (!rows)
		return false;
	if (rows->len) {
		const struct digest_row *row = rows->pdata[0];
		g_autofree char *day = reply_text_format_day(&request->text, row->date);
		g_autofree char *papers =
		    reply_text_format_count(&request->text, "papers", row->papers);
		g_autofree char *name = g_strconcat("status_", row->state, NULL);

		reply_phrase(&request->text, "", name, "day", day, "papers", papers);
	} else {
		reply_phrase(&request->text, "", "status_none");
	}
	if (!add_bounces(request, &has_bounces, error))
		return false;
	if (!has_bounces || request->subscriber->state != SUBSCRIBER_ACTIVE)
		reply_phrase(&request->text, "", state);
	return true;
}
