/*
 * command_filters.c - the commands on filters: add, block, edit, del, unblock, list.
 */
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "query/query.h"
#include "service/command/command_private.h"
#include "service/explain/backtest.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

/* What stands before a filter: `name=rlhf max=5 note="..."`. */
struct options {
	char *name, *note;
	unsigned max, number;
	const char *query; /* what follows */
};

static void
options_clear(struct options *options)
{
	g_free(options->name);
	g_free(options->note);
}

static bool
parse_options(struct command_work *work, const char *arguments, struct options *out,
    GError **error)
{
	for (;;) {
		g_autofree char *max = NULL;
		g_autofree char *number = NULL;
		char *text;

		if ((text = command_take_option(&arguments, "name"))) {
			g_free(out->name);
			out->name = text;
		} else if ((text = command_take_option(&arguments, "note"))) {
			g_free(out->note);
			out->note = text;
		} else if ((max = command_take_option(&arguments, "max"))) {
			if (!command_parse_number(work, "max", max,
			        BOUNDS_DIGEST_FULL_MAX, &out->max, error))
				return false;
		} else if ((number = command_take_option(&arguments, "number"))) {
			if (!command_parse_number(work, "number", number,
			        FILTERS_NUMBER_MAX, &out->number, error))
				return false;
		} else {
			break;
		}
	}
	out->query = arguments;
	return true;
}

/* 'filter 3 "rlhf": canonical', or a block */
static char *
format_filter(struct command_work *work, const struct subscription *subscription)
{
	g_autofree char *number = g_strdup_printf("%d", subscription->number);
	g_autofree char *name =
	    subscription->name ? reply_text_quote(&work->answer, subscription->name)
	                       : NULL;
	g_autofree char *called =
	    name ? g_strdup_printf(" \"%s\"", name) : g_strdup("");
	g_autofree char *filter =
	    reply_text_quote(&work->answer, subscription->canonical);

	return reply_text_format(&work->answer,
	    subscription->is_block ? "block_is" : "filter_is", "number", number, "name",
	    called, "filter", filter);
}

static void
say_papers(struct command_work *work, const struct backtest *backtest)
{
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];
		g_autofree char *title =
		    sanitize_line(paper->title, BOUNDS_SUBJECT_CHARS);
		g_autofree char *shown = g_strdup_printf("%s  %s", paper->id, title);

		reply_text_add(&work->answer, "", shown);
		if (paper->words && *paper->words) {
			g_autofree char *hit = reply_text_format(
			    &work->answer, "hit", "words", paper->words);

			reply_text_add(&work->answer, "", hit);
		}
	}
}

static void
say_found(struct command_work *work, const struct backtest *backtest, bool is_block)
{
	g_autofree char *days =
	    reply_text_format_count(&work->answer, "days", backtest->covered_days);
	g_autofree char *span =
	    backtest->covered_days < backtest->days
	        ? reply_text_format(&work->answer, "days_covered", "days", days)
	        : g_strdup(days);
	g_autofree char *papers =
	    reply_text_format_count(&work->answer, "papers", backtest->found);
	g_autofree char *rate = g_strdup_printf("%.1f", backtest->a_day);
	g_autofree char *known = g_strdup_printf("%u", backtest->known);
	g_autofree char *blocked = g_strdup_printf("%u", backtest->blocked);
	const char *name = "found";

	if (is_block)
		name = "found_block";
	else if (!backtest->found)
		name = "found_none";
	else if (backtest->known)
		name = "found_known";
	reply_phrase(&work->answer, "", name, "days", span, "papers", papers, "rate",
	    rate, "known", known);
	if (backtest->blocked && !is_block)
		reply_phrase(&work->answer, "", "found_blocked", "blocked", blocked);
}

void
command_say_notes(struct command_work *work, const GPtrArray *notes)
{
	for (unsigned i = 0; i < notes->len; i++) {
		g_autofree char *text =
		    reply_text_format_msg(&work->answer, notes->pdata[i]);

		reply_phrase(&work->answer, "", "note", "text", text);
	}
}

bool
command_say_backtest(struct command_work *work, const char *text, int number,
    bool is_block, unsigned days, GError **error)
{
	struct backtest_request request = {
	    .text = text,
	    .subscriber_id = work->subscriber ? work->subscriber->id : 0,
	    .number = number,
	    .is_block = is_block,
	    .days = days,
	    .now = work->context->now,
	    .texts = reply_text_get_texts(&work->answer),
	};
	pb_auto(backtest) backtest =
	    backtest_run(work->context->store, &request, NULL, error);

	if (!backtest)
		return false;
	say_found(work, backtest, is_block);
	/* Whose words these are is not sure: titles are enough then. */
	if (backtest->newest->len && !is_block) {
		reply_phrase(&work->answer, "", "newest");
		say_papers(work, backtest);
	}
	command_say_notes(work, backtest->notes);
	return true;
}

static bool
give(struct command_work *work, const char *arguments, bool is_block, GError **error)
{
	struct options options = {0};
	struct query_error problem = {0};
	struct subscribe_filter filter = {.is_block = is_block};
	pb_auto(subscription) subscription = NULL;
	bool is_ok;

	if (!parse_options(work, arguments, &options, error)) {
		options_clear(&options);
		return false;
	}
	filter.text = options.query;
	filter.name = options.name && *options.name ? options.name : NULL;
	filter.note = options.note && *options.note ? options.note : NULL;
	filter.max_papers = (int)options.max;
	filter.number = (int)options.number;
	subscription = subscribe_add_filter(work->context->store, work->address,
	    &filter, work->context->who, work->context->now, &problem, NULL, error);
	if (!subscription)
		command_note_problem(work, options.query, &problem, error);
	query_error_clear(&problem);
	is_ok = subscription != NULL;
	if (is_ok && work->is_rehearsal) {
		g_free(work->rehearsed);
		work->rehearsed = g_strdup(subscription->canonical);
	} else if (is_ok) {
		g_autofree char *what = format_filter(work, subscription);

		reply_text_add(&work->answer, "ok", what);
		is_ok = command_say_backtest(
		    work, options.query, subscription->number, is_block, 0, error);
		work->reply->is_changed = true;
	}
	options_clear(&options);
	return is_ok;
}

bool
command_run_add(struct command_work *work, const char *arguments, GError **error)
{
	return give(work, arguments, false, error);
}

bool
command_run_block(struct command_work *work, const char *arguments, GError **error)
{
	return give(work, arguments, true, error);
}

char *
command_format_filter(const struct subscription *subscription, bool has_number)
{
	GString *line = g_string_new(subscription->is_block ? "block" : "add");

	if (has_number)
		g_string_append_printf(line, " number=%d", subscription->number);
	if (subscription->name)
		g_string_append_printf(line, " name=\"%s\"", subscription->name);
	if (subscription->max_papers)
		g_string_append_printf(line, " max=%d", subscription->max_papers);
	if (subscription->note)
		g_string_append_printf(line, " note=\"%s\"", subscription->note);
	g_string_append_printf(line, " %s", subscription->text);
	return g_string_free(line, FALSE);
}

static bool
take_away(
    struct command_work *work, const char *arguments, bool blocks_only, GError **error)
{
	g_autoptr(GPtrArray) found =
	    command_find_references(work, arguments, blocks_only, error);

	if (!found)
		return false;
	for (unsigned i = 0; i < found->len; i++) {
		const struct subscription *one = found->pdata[i];
		g_autofree char *what = format_filter(work, one);

		if (!subscribe_remove_filter(work->context->store, work->address,
		        one->number, work->context->who, work->context->now, error))
			return false;
		reply_phrase(&work->answer, "ok", "removed", "what", what);
	}
	reply_phrase(&work->answer, "", "paste_back");
	for (unsigned i = 0; i < found->len; i++) {
		g_autofree char *line = command_format_filter(found->pdata[i], false);

		reply_text_add_command(&work->answer, line);
	}
	return true;
}

bool
command_run_del(struct command_work *work, const char *arguments, GError **error)
{
	return take_away(work, arguments, false, error);
}

bool
command_run_unblock(struct command_work *work, const char *arguments, GError **error)
{
	return take_away(work, arguments, true, error);
}

static bool
say_edited(struct command_work *work, const struct subscription *before,
    const struct subscription *after, const char *query, GError **error)
{
	struct backtest_difference difference;
	g_autofree char *what = format_filter(work, after);
	g_autofree char *old = reply_text_quote(&work->answer, before->canonical);
	bool is_ok;

	reply_text_add(&work->answer, "ok", what);
	reply_phrase(&work->answer, "", "before", "filter", old);
	is_ok = backtest_compare(work->context->store, before->canonical,
	    after->canonical, BACKTEST_DAYS, work->context->now, &difference, error);
	if (is_ok) {
		char *count[] = {g_strdup_printf("%u", difference.before),
		    g_strdup_printf("%u", difference.after),
		    g_strdup_printf("%u", difference.after - difference.both),
		    g_strdup_printf("%u", difference.before - difference.both)};

		reply_phrase(&work->answer, "", "difference", "before", count[0],
		    "after", count[1], "come", count[2], "go", count[3]);
		for (size_t i = 0; i < G_N_ELEMENTS(count); i++)
			g_free(count[i]);
	}
	return is_ok && command_say_backtest(
	                    work, query, after->number, after->is_block, 0, error);
}

/* The filter that is meant, as it is now, and the query that it gets. */
static bool
edit(struct command_work *work, const struct subscription *before,
    const struct options *options, GError **error)
{
	struct query_error problem = {0};
	struct filters_change change = {.address = work->address,
	    .number = before->number,
	    .text = *options->query ? options->query : before->text,
	    .name = options->name,
	    .note = options->note,
	    .max_papers = (int)options->max,
	    .who = work->context->who};
	pb_auto(subscription) after = filters_edit(
	    work->context->store, &change, work->context->now, &problem, NULL, error);

	if (!after)
		command_note_problem(work, options->query, &problem, error);
	query_error_clear(&problem);
	if (!after)
		return false;
	if (work->is_rehearsal) {
		g_free(work->rehearsed);
		work->rehearsed = g_strdup(after->canonical);
		return true;
	}
	work->reply->is_changed = true;
	return say_edited(work, before, after, change.text, error);
}

bool
command_run_edit(struct command_work *work, const char *arguments, GError **error)
{
	const char *rest = arguments;
	g_autofree char *word = command_take_word(&rest);
	pb_auto(subscription) before =
	    word ? command_find_reference(work, word, error) : NULL;
	struct options options = {0};
	bool is_ok = before && parse_options(work, rest, &options, error);

	if (is_ok && !*rest)
		is_ok = command_fail(work, error, "edit_wants_query");
	is_ok = is_ok && edit(work, before, &options, error);
	options_clear(&options);
	return is_ok;
}

static bool
say_filter(struct command_work *work, const struct subscription *one, GError **error)
{
	g_autofree char *what = format_filter(work, one);
	g_autofree char *papers = NULL;
	unsigned found;

	if (!backtest_count(work->context->store, one->canonical, BACKTEST_DAYS,
	        work->context->now, &found, error))
		return false;
	papers = reply_text_format_count(&work->answer, "papers", found);
	reply_phrase(&work->answer, "", "list_filter", "what", what, "papers", papers);
	if (one->max_papers) {
		g_autofree char *max = g_strdup_printf("%d", one->max_papers);

		reply_phrase(&work->answer, "", "list_max", "max", max);
	}
	if (one->note) {
		g_autofree char *note = reply_text_quote(&work->answer, one->note);

		reply_phrase(&work->answer, "", "list_note", "note", note);
	}
	return true;
}

static void
say_settings(struct command_work *work)
{
	const struct subscriber *subscriber = work->subscriber;
	g_autofree char *when = profile_format_frequency(&subscriber->schedule);
	g_autofree char *at = g_strdup_printf("%02d:%02d",
	    subscriber->schedule.minute / 60, subscriber->schedule.minute % 60);
	g_autofree char *max = g_strdup_printf("%d", subscriber->max_full);
	g_autoptr(GString) words = g_string_new(NULL);

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		g_string_append_printf(words, "%s%s %s", words->len ? ", " : "",
		    preferences_get_name((enum preference)i),
		    preferences_get_word(&subscriber->preferences, (enum preference)i));
	reply_phrase(&work->answer, "", "list_settings", "when", when, "at", at, "zone",
	    subscriber->zone, "max", max, "words", words->str);
}

bool
command_say_list(struct command_work *work, GError **error)
{
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    work->context->store, work->subscriber->id, error);

	if (!own)
		return false;
	reply_phrase(&work->answer, "ok", own->len ? "list_head" : "list_none");
	for (unsigned i = 0; i < own->len; i++)
		if (!say_filter(work, own->pdata[i], error))
			return false;
	say_settings(work);
	return true;
}

bool
command_run_list(struct command_work *work, const char *arguments, GError **error)
{
	(void)arguments;
	return command_say_list(work, error);
}
