/*
 * command_filters.c - commands on filters: add, block, edit, del, unblock, list.
 */
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/advice/suggest.h"
#include "service/command/command_private.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* ---- references ---- */

/* @return the filters named in arguments, borrowed from own, without duplicates */
static GPtrArray *
find_filters(struct request *request, const GPtrArray *own, const char *arguments,
    bool blocks_only, GError **error)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new();

	/* "del protein folding" */
	for (guint i = 0; i < own->len && !found->len; i++) {
		struct subscription *one = own->pdata[i];

		if ((one->is_block || !blocks_only) &&
		    command_has_same_words(arguments, one->text))
			g_ptr_array_add(found, one);
	}
	if (found->len)
		return g_steal_pointer(&found);
	for (unsigned i = 0; *arguments; i++) {
		g_autofree char *word = command_take_word(&arguments);
		struct subscription *one;

		g_strdelimit(word, ",", ' ');
		g_strstrip(word);
		if (!*word)
			continue;
		if (i == BOUNDS_COMMAND_ARGUMENTS) {
			command_fail(request, error,
			    N_("that is too much for one line. Use several."));
			return NULL;
		}
		one = command_find_filter(request, own, word, error);
		if (!one)
			return NULL;
		if (blocks_only && !one->is_block) {
			command_fail(request, error,
			    N_("{filter} is a filter, not a block. To remove it: del "
			       "{filter}"),
			    "filter", word);
			return NULL;
		}
		if (!g_ptr_array_find(found, one, NULL))
			g_ptr_array_add(found, one);
	}
	return g_steal_pointer(&found);
}

/* ---- add, block ---- */

/* Options before a filter: `name=rlhf max=5 note="..."`. */
struct options {
	char *name, *note;
	unsigned max, number;
	bool is_unlimited; /* max=none */
	const char *query;
};

static void
options_clear(struct options *options)
{
	g_free(options->name);
	g_free(options->note);
}

static bool
parse_options(
    struct request *request, const char *arguments, struct options *out, GError **error)
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
			out->is_unlimited = g_ascii_strcasecmp(max, "none") == 0;
			if (!out->is_unlimited &&
			    !command_parse_number(request, "max", max,
			        BOUNDS_DIGEST_FULL_MAX, &out->max, error))
				return false;
		} else if ((number = command_take_option(&arguments, "number"))) {
			if (!command_parse_number(request, "number", number,
			        FILTERS_NUMBER_MAX, &out->number, error))
				return false;
		} else {
			break;
		}
	}
	out->query = arguments;
	return true;
}

/* Whether the command is block or unblock. */
static bool
is_of_blocks(const struct request *request)
{
	return g_str_has_suffix(request->row->verb, "block");
}

static struct subscribe_filter
get_filter(const struct request *request, const struct options *options)
{
	return (struct subscribe_filter){
	    .text = options->query,
	    .name = options->name && *options->name ? options->name : NULL,
	    .note = options->note && *options->note ? options->note : NULL,
	    .max_papers = (int)options->max,
	    .number = (int)options->number,
	    .is_block = is_of_blocks(request),
	    /* Those of an undo have a number; all of them come back. */
	    .most = options->number ? 0 : request->settings->subscribe_filters,
	};
}

bool
command_decide_add(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	pb_local(options) options = {0};
	pb_local(query_error) problem = {0};
	struct subscribe_filter filter;
	struct subscription *subscription;

	if (!parse_options(request, arguments, &options, error))
		return false;
	filter = get_filter(request, &options);
	subscription = filters_prepare(
	    request->store, request->planned_filters, &filter, &problem, error);
	if (!subscription)
		return command_set_query_error(request, options.query, &problem, error);
	decision->filter = command_format_canonical(
	    request, subscription->canonical, subscription->text);
	g_ptr_array_add(request->planned_filters, subscription);
	return true;
}

bool
command_run_add(struct request *request, const char *arguments, GError **error)
{
	pb_local(options) options = {0};
	pb_local(query_error) problem = {0};
	struct subscribe_filter filter;
	g_autofree char *what = NULL;
	pb_auto(subscription) subscription = NULL;

	if (!parse_options(request, arguments, &options, error))
		return false;
	filter = get_filter(request, &options);
	subscription = subscribe_add_filter(request->store, request->address, &filter,
	    request->actor, request->now, &problem, NULL, error);
	if (!subscription)
		return command_set_query_error(request, options.query, &problem, error);
	request->reply.is_changed = true;
	what = command_describe_filter(request, subscription);
	/* Without the line that it answers. */
	if (request->is_confirmed)
		reply_phrase(&request->text, "ok", N_("added: {what}"), "what", what);
	else
		reply_text_add(&request->text, "ok", what);
	return command_add_backtest(
	    request, options.query, subscription->number, filter.is_block, 0, error);
}

/* ---- del, unblock ---- */

bool
command_decide_del(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	g_autoptr(GPtrArray) found = find_filters(
	    request, request->planned_filters, arguments, is_of_blocks(request), error);
	GString *line, *what;

	if (!found)
		return false;
	line = g_string_new(NULL);
	what = g_string_new(NULL);
	for (unsigned i = 0; i < found->len; i++) {
		struct subscription *one = found->pdata[i];
		g_autofree char *reference = command_format_reference(one);

		g_string_append_printf(line, "%s%s", i ? " " : "", reference);
		g_string_append_printf(what, "%s%s", i ? "; " : "", one->text);
		g_ptr_array_remove(request->planned_filters, one);
	}
	decision->arguments = g_string_free(line, FALSE);
	decision->what = g_string_free(what, FALSE);
	return true;
}

/* The command that restores a removed filter: a followed one is followed again. */
static char *
format_restoration(const struct subscription *removed, const GPtrArray *follows)
{
	const struct follow *followed = shares_get_followed(follows, removed->id);

	return followed ? g_strdup_printf(
	                      "follow %s version=%d", followed->name, followed->version)
	                : command_format_filter(removed, false);
}

bool
command_run_del(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);
	g_autoptr(GPtrArray) found =
	    own ? find_filters(request, own, arguments, is_of_blocks(request), error)
	        : NULL;
	g_autoptr(GPtrArray) follows =
	    found ? shares_load_follows(request->store, request->subscriber->id, error)
	          : NULL;

	if (!follows)
		return false;
	for (unsigned i = 0; i < found->len; i++) {
		const struct subscription *one = found->pdata[i];
		g_autofree char *what = command_describe_filter(request, one);

		if (!subscribe_remove_filter(request->store, request->address,
		        one->number, request->actor, request->now, error))
			return false;
		reply_phrase(&request->text, "ok", N_("removed: {what}"), "what", what);
	}
	if (!request->text.results)
		reply_phrase(&request->text, "", N_("To restore it, send:"));
	for (unsigned i = 0; i < found->len; i++) {
		g_autofree char *line = format_restoration(found->pdata[i], follows);

		reply_text_add_command(&request->text, line);
	}
	return true;
}

/* ---- edit ---- */

/* @param before set to an element of own */
static bool
parse_edit(struct request *request, const GPtrArray *own, const char *arguments,
    struct subscription **before, struct options *options, GError **error)
{
	const char *rest = arguments;
	g_autofree char *word = command_take_word(&rest);

	*before = word ? command_find_filter(request, own, word, error) : NULL;
	return *before && parse_options(request, rest, options, error) &&
	       (*rest || command_fail(request, error,
	                     N_("give the filter's number, then the new text.")));
}

static struct filters_change
get_change(const struct request *request, const struct subscription *before,
    const struct options *options)
{
	return (struct filters_change){
	    .address = request->address,
	    .number = before->number,
	    .text = *options->query ? options->query : before->text,
	    .name = options->name,
	    .note = options->note,
	    .max_papers = options->is_unlimited ? FILTERS_NO_MAX : (int)options->max,
	    .who = request->actor,
	};
}

static struct subscription *
prepare_edit(struct request *request, const struct subscription *before,
    const struct options *options, GError **error)
{
	const struct filters_change change = get_change(request, before, options);
	pb_local(query_error) problem = {0};
	struct subscription *after = filters_prepare_edit(
	    request->store, request->planned_filters, &change, &problem, error);

	if (!after)
		command_set_query_error(request, options->query, &problem, error);
	return after;
}

bool
command_decide_edit(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	GPtrArray *own = request->planned_filters;
	pb_local(options) options = {0};
	struct subscription *before, *after = NULL;

	if (parse_edit(request, own, arguments, &before, &options, error))
		after = prepare_edit(request, before, &options, error);
	if (after) {
		g_autofree char *reference = command_format_reference(before);

		g_free(command_take_word(&arguments));
		decision->arguments = g_strconcat(reference, " ", arguments, NULL);
		decision->filter =
		    command_format_canonical(request, after->canonical, after->text);
		g_ptr_array_remove(own, before);
		g_ptr_array_add(own, after);
	}
	return after != NULL;
}

static bool
edit(struct request *request, const struct subscription *before,
    const struct options *options, GError **error)
{
	const struct filters_change change = get_change(request, before, options);
	pb_local(query_error) problem = {0};
	pb_auto(subscription) after =
	    filters_edit(request->store, &change, request->now, &problem, NULL, error);

	if (!after)
		return command_set_query_error(
		    request, options->query, &problem, error);
	request->reply.is_changed = true;
	return command_add_edited(request, before, after, change.text, error);
}

bool
command_run_edit(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);
	pb_local(options) options = {0};
	struct subscription *before;

	return own && parse_edit(request, own, arguments, &before, &options, error) &&
	       edit(request, before, &options, error);
}

/* ---- list ---- */

static bool
add_filter(struct request *request, const struct subscription *one, GError **error)
{
	g_autofree char *what = command_describe_filter(request, one);
	g_autofree char *papers = NULL;
	unsigned found;

	if (!backtest_count(request->store, one->canonical, BACKTEST_DAYS, request->now,
	        &found, error))
		return false;
	papers = reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), found);
	reply_phrase(
	    &request->text, "", "{what}\n   {papers}", "what", what, "papers", papers);
	if (!command_add_shares(request, one, error))
		return false;
	if (one->max_papers) {
		reply_phrase(&request->text, "", N_("   at most {max} in one digest"),
		    "max", MSG_INT(one->max_papers));
	}
	if (one->note) {
		g_autofree char *note = reply_text_quote(&request->text, one->note);

		reply_phrase(&request->text, "", N_("   note: {note}"), "note", note);
	}
	return true;
}

static void
add_settings(struct request *request)
{
	const struct subscriber *subscriber = request->subscriber;
	g_autofree char *when = profile_format_frequency(&subscriber->schedule);
	g_autofree char *at = g_strdup_printf("%02d:%02d",
	    subscriber->schedule.minute / 60, subscriber->schedule.minute % 60);
	g_autoptr(GString) words = g_string_new(NULL);

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		g_string_append_printf(words, "%s%s %s", words->len ? ", " : "",
		    preferences_get_name((enum preference)i),
		    preferences_get_word(&subscriber->preferences, (enum preference)i));
	reply_phrase(&request->text, "",
	    N_("settings: when {when}, at {at}, tz {zone}, max {max}, {words}"), "when",
	    when, "at", at, "zone", subscriber->zone, "max",
	    MSG_INT(subscriber->max_full), "words", words->str);
}

/* List the papers that the subscriber watches. */
static bool
add_watched(struct request *request, GError **error)
{
	g_autoptr(GPtrArray) watched = paper_events_load_watched(
	    request->store, request->subscriber->id, request->now, error);

	if (watched && watched->len)
		reply_phrase(&request->text, "", N_("papers that you watch:"));
	for (unsigned i = 0; watched && i < watched->len; i++) {
		const struct watched_paper *one = watched->pdata[i];
		pb_auto(stored_paper) stored =
		    papers_load(request->store, one->work, error);
		g_autofree char *title = NULL, *shown = NULL, *until = NULL,
		                *line = NULL;
		char day[DAY_BYTES];

		if (!stored)
			return false;
		title = sanitize_paper_text(stored->paper->title, BOUNDS_SUBJECT_CHARS);
		day_format(one->until, day);
		shown = reply_text_format_day(&request->text, day);
		until =
		    reply_text_format(&request->text, N_("until {day}"), "day", shown);
		line =
		    g_strdup_printf("   %s  %s (%s)", stored->paper->id, title, until);
		reply_text_add(&request->text, "", line);
	}
	return watched != NULL;
}

bool
command_add_list(struct request *request, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);

	if (!own)
		return false;
	reply_phrase(&request->text, "ok",
	    own->len
	        ? N_("your filters, with what they found in the last 30 days:")
	        : N_("you have no filters yet, so nothing comes. Try: add diffusion"));
	for (unsigned i = 0; i < own->len; i++)
		if (!add_filter(request, own->pdata[i], error))
			return false;
	if (!add_watched(request, error))
		return false;
	add_settings(request);
	return true;
}

bool
command_run_list(struct request *request, const char *arguments, GError **error)
{
	(void)arguments;
	return command_add_list(request, error);
}
