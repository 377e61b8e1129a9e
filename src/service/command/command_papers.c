/*
 * command_papers.c - the commands that look: test, search, why, last, status,
 * sources.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "message/sanitize.h"
#include "service/collect/source_status.h"
#include "service/command/command_private.h"
#include "service/explain/backtest.h"
#include "service/explain/why.h"
#include "service/match/search.h"
#include "store/mail/digests.h"
#include "store/paper/paper_history.h"

#define SEARCH_RESULTS     10
#define SEARCH_RESULTS_MAX 50

/* Digests that are looked through for a date. */
#define DIGESTS_BACK 100

static bool
take_days(struct command_work *work, const char **arguments, unsigned *days,
    bool *has_taken, GError **error)
{
	g_autofree char *text = command_take_option(arguments, "since");

	*has_taken = text != NULL;
	return !text || command_parse_days(work, text, days, error);
}

bool
command_run_test(struct command_work *work, const char *arguments, GError **error)
{
	const char *query = arguments;
	struct query_error problem = {0};
	unsigned days = BACKTEST_DAYS;
	bool has_days, is_ok;
	pb_auto(why_filter) filter = NULL;

	if (!take_days(work, &query, &days, &has_days, error))
		return false;
	filter = why_explain(work->context->store, query, NULL, work->context->now,
	    NULL, &problem, error);
	is_ok = filter != NULL;
	if (!is_ok)
		command_note_problem(work, query, &problem, error);
	query_error_clear(&problem);
	if (!is_ok)
		return false;
	{
		g_autofree char *shown =
		    reply_text_quote(&work->answer, filter->canonical);

		reply_phrase(&work->answer, "ok", "tested", "filter", shown);
	}
	return command_say_backtest(work, query, 0, false, days, error);
}

static void
say_result(struct command_work *work, const struct search_result *result)
{
	const struct paper *paper = result->stored->paper;
	g_autofree char *title = sanitize_line(paper->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *shown =
	    g_strdup_printf("%s  %s  %s", paper->id, result->stored->day, title);

	reply_text_add(&work->answer, "", shown);
	if (result->words && *result->words && !work->answer.is_guarded)
		reply_phrase(&work->answer, "", "hit", "words", result->words);
}

static bool
say_results(struct command_work *work, const struct search_answer *found)
{
	g_autofree char *papers =
	    reply_text_format_count(&work->answer, "papers", found->found);
	g_autofree char *shown = g_strdup_printf("%u", found->results->len);
	g_autofree char *filter = reply_text_quote(&work->answer, found->canonical);

	reply_phrase(&work->answer, "ok",
	    found->results->len < found->found ? "searched_more" : "searched", "papers",
	    papers, "shown", shown, "filter", filter);
	for (unsigned i = 0; i < found->results->len; i++)
		say_result(work, found->results->pdata[i]);
	command_say_notes(work, found->warnings);
	return true;
}

bool
command_run_search(struct command_work *work, const char *arguments, GError **error)
{
	const char *query = arguments;
	struct query_error problem = {0};
	struct search_scope scope = {
	    .now = work->context->now, .texts = reply_text_get_texts(&work->answer)};
	unsigned days = 0, most = SEARCH_RESULTS;
	char day[DAY_BYTES];
	pb_auto(search_answer) found = NULL;

	for (bool is_more = true; is_more;) {
		g_autofree char *max = NULL;

		if (!take_days(work, &query, &days, &is_more, error))
			return false;
		max = command_take_option(&query, "max");
		if (max && !command_parse_number(
		               work, "max", max, SEARCH_RESULTS_MAX, &most, error))
			return false;
		is_more = is_more || max;
	}
	if (days) {
		day_format(scope.now - days * (int64_t)CLOCK_DAY_S, day);
		scope.oldest_day = day;
	}
	found = search_run(work->context->store, query, &scope, most, &problem, error);
	if (!found)
		command_note_problem(work, query, &problem, error);
	query_error_clear(&problem);
	return found && say_results(work, found);
}

/* The paper that a number in the digest stands for; else the id as it was typed. */
static char *
find_paper(struct command_work *work, const char *word, GError **error)
{
	g_autoptr(GError) problem = NULL;
	pb_auto(digest) digest = NULL;
	guint64 number;

	if (!g_ascii_string_to_unsigned(word, 10, 1, 9999, &number, NULL))
		return why_clean_id(word);
	if (!work->user->digest_id) {
		command_fail(work, error, "why_no_digest", "number", word);
		return NULL;
	}
	digest = digests_load(work->context->store, work->user->digest_id, &problem);
	if (!digest || digest->subscriber_id != work->subscriber->id ||
	    number > digest->entries->len) {
		command_fail(work, error, "why_no_number", "number", word);
		return NULL;
	}
	return g_strdup(
	    ((struct digest_entry *)digest->entries->pdata[number - 1])->paper->id);
}

static void
say_why_filter(struct command_work *work, const struct why_filter *filter)
{
	g_autofree char *number = g_strdup_printf("%d", filter->number);
	g_autofree char *truth =
	    g_strconcat("truth_", why_verdict_name(filter->truth), NULL);
	g_autofree char *reported = reply_text_format(&work->answer, truth);
	g_autofree char *label = reply_text_quote(&work->answer, filter->label);

	reply_text_add_blank(&work->answer);
	reply_phrase(&work->answer, "", filter->is_block ? "why_block" : "why_filter",
	    "number", number, "label", label, "truth", reported);
	for (unsigned i = 0; filter->steps && i < filter->steps->len; i++) {
		const struct query_step *step = filter->steps->pdata[i];
		g_autofree char *mark =
		    g_strconcat("mark_", why_verdict_name(step->truth), NULL);
		g_autofree char *word = reply_text_format(&work->answer, mark);
		g_autofree char *text = reply_text_quote(&work->answer, step->text);
		g_autofree char *gap =
		    g_strnfill((gsize)MAX(4 - g_utf8_strlen(word, -1), 1), ' ');
		g_autofree char *line = g_strdup_printf(
		    "%*s%s%s%s", 2 + 2 * (int)step->depth, "", word, gap, text);

		reply_text_add(&work->answer, "", line);
	}
}

static void
say_why(struct command_work *work, const struct why *why)
{
	const struct paper *paper = why->stored->paper;
	g_autofree char *words = sanitize_line(paper->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *title = g_strdup_printf("%s  %s", paper->id, words);
	g_autofree char *name = g_strdelimit(
	    g_strconcat("why_", why_outcome_name(why->outcome), NULL), "-", '_');
	g_autofree char *time =
	    reply_text_format_time(&work->answer, why->at, work->subscriber->zone);

	reply_text_add(&work->answer, "ok", title);
	reply_phrase(&work->answer, "", name, "time", time);
	for (unsigned i = 0; i < why->listings->len; i++) {
		const struct paper_history_listing *listing = why->listings->pdata[i];
		g_autofree char *day =
		    reply_text_format_day(&work->answer, listing->day);

		reply_phrase(&work->answer, "", "why_listed", "source", listing->source,
		    "day", day);
	}
	for (unsigned i = 0; i < why->filters->len; i++)
		say_why_filter(work, why->filters->pdata[i]);
}

bool
command_run_why(struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	g_autofree char *id = word ? find_paper(work, word, error) : NULL;
	g_autoptr(GError) problem = NULL;
	pb_auto(why) why = NULL;

	if (!id)
		return false;
	why = why_ask(
	    work->context->store, work->address, id, work->context->now, &problem);
	if (why) {
		say_why(work, why);
		return true;
	}
	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return pb_error_forward(error, &problem);
	{
		g_autofree char *shown = reply_text_quote(&work->answer, id);

		return command_fail(work, error, "why_no_paper", "id", shown);
	}
}

/* The digest of a day, the newest one of it; or the newest of all. */
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
command_run_last(struct command_work *work, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	g_autofree char *text = NULL;
	g_autofree char *day = NULL;
	pb_auto(digest) digest = NULL;
	int64_t id;

	if (*arguments && !day_parse_time(arguments, &id, NULL))
		return command_fail(work, error, "wrong_day");
	rows = digests_load_newest(
	    work->context->store, work->subscriber->id, DIGESTS_BACK, error);
	if (!rows)
		return false;
	id = choose_digest(rows, arguments);
	if (!id)
		return command_fail(
		    work, error, *arguments ? "last_none_day" : "last_none");
	digest = digests_load(work->context->store, id, error);
	text = digest ? renderer_format_text(work->context->renderer, digest, error)
	              : NULL;
	if (!text)
		return false;
	day = reply_text_format_day(&work->answer, digest->date);
	reply_phrase(&work->answer, "ok", "last_is", "day", day);
	reply_text_add_blank(&work->answer);
	g_string_append(work->answer.text, text);
	return true;
}

static void
say_source(struct command_work *work, const struct source_status_source *source)
{
	g_autofree char *asked = reply_text_format_time(&work->answer, source->good_at,
	    work->subscriber ? work->subscriber->zone
	                     : work->context->settings->digest_zone);
	g_autofree char *papers =
	    reply_text_format_count(&work->answer, "papers", MAX(source->papers, 0));
	g_autofree char *day =
	    source->papers_day
	        ? reply_text_format_day(&work->answer, source->papers_day)
	        : reply_text_format(&work->answer, "never");
	const char *name = "source_is";

	if (source->good_at < 0)
		name = "source_never";
	else if (source->is_late || *source->missing_day)
		name = "source_late";
	reply_phrase(&work->answer, "", name, "source", source->name, "papers", papers,
	    "day", day, "time", asked);
}

bool
command_run_sources(struct command_work *work, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) sources =
	    source_status_load(work->context->store, work->context->sources,
	        work->context->settings->collect_interval_s, work->context->now, error);

	(void)arguments;
	if (!sources)
		return false;
	reply_phrase(&work->answer, "ok", "sources_head");
	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (source->is_on)
			say_source(work, source);
	}
	return true;
}

bool
command_run_status(struct command_work *work, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) rows = NULL;
	g_autofree char *state =
	    g_strconcat("state_", subscriber_state_name(work->subscriber->state), NULL);

	if (!command_run_sources(work, arguments, error))
		return false;
	rows =
	    digests_load_newest(work->context->store, work->subscriber->id, 1, error);
	if (!rows)
		return false;
	if (rows->len) {
		const struct digest_row *row = rows->pdata[0];
		g_autofree char *day = reply_text_format_day(&work->answer, row->date);
		g_autofree char *papers =
		    reply_text_format_count(&work->answer, "papers", row->papers);
		g_autofree char *name = g_strconcat("status_", row->state, NULL);

		reply_phrase(&work->answer, "", name, "day", day, "papers", papers);
	} else {
		reply_phrase(&work->answer, "", "status_none");
	}
	reply_phrase(&work->answer, "", state);
	return true;
}
