/*
 * command_results.c - what replies say of filters, proposals and shares.
 */
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "model/phrases.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/advice/suggest.h"
#include "service/command/command_private.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

#define REFERENCE_DIGITS 20

GPtrArray *
command_load_filters(struct request *request, GError **error)
{
	return subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
}

/* Pending lines name filters by content, since numbers may be reused. */
char *
command_format_reference(const struct subscription *subscription)
{
	g_autofree char *hash = g_compute_checksum_for_string(
	    G_CHECKSUM_SHA256, subscription->canonical, -1);

	return g_strdup_printf("#%.*s", REFERENCE_DIGITS, hash);
}

char *
command_format_references(struct request *request, const char *line, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);
	char *text = own ? g_strdup(line) : NULL;

	for (unsigned i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		g_autofree char *reference = command_format_reference(one);
		g_autofree char *number = g_strdup_printf("%d", one->number);
		g_auto(GStrv) parts = g_strsplit(text, reference, -1);

		g_free(text);
		text = g_strjoinv(number, parts);
	}
	return text;
}

/* Minimum size of a stem, and maximum of an ending that may be missing, bytes. */
#define STEM_BYTES   4
#define ENDING_BYTES 2

char *
command_fold_words(const char *text)
{
	pb_auto(phrases_text) words = phrases_text_new(text);
	GString *folded = g_string_new(NULL);

	for (guint i = 0; i < words->words->len; i++)
		if (!phrases_get_word(words, i)->mark)
			g_string_append_printf(folded, "%s%s", folded->len ? " " : "",
			    phrases_get_word(words, i)->plain);
	return g_string_free(folded, FALSE);
}

/* "proteine" is "protein". */
static bool
is_same_word(const char *one, const char *other)
{
	size_t a = strlen(one), b = strlen(other), least = MIN(a, b);

	return strcmp(one, other) == 0 ||
	       (least >= STEM_BYTES && MAX(a, b) - least <= ENDING_BYTES &&
	           strncmp(one, other, least) == 0);
}

bool
command_has_same_words(const char *one, const char *other)
{
	g_autofree char *left = command_fold_words(one);
	g_autofree char *right = command_fold_words(other);
	g_auto(GStrv) a = g_strsplit(left, " ", -1), b = g_strsplit(right, " ", -1);
	unsigned i = 0;

	while (a[i] && b[i] && is_same_word(a[i], b[i]))
		i++;
	return i && !a[i] && !b[i];
}

/*
 * @param word  a number, a name or a reference
 * @return an element of own
 */
struct subscription *
command_find_filter(
    struct request *request, const GPtrArray *own, const char *word, GError **error)
{
	g_autofree char *shown = NULL;

	for (unsigned i = 0; i < own->len; i++) {
		struct subscription *one = own->pdata[i];
		g_autofree char *number = g_strdup_printf("%d", one->number);
		g_autofree char *reference = command_format_reference(one);

		if (strcmp(word, number) == 0 || strcmp(word, reference) == 0 ||
		    (one->name && g_ascii_strcasecmp(word, one->name) == 0))
			return one;
	}
	if (*word == '#' && request->is_confirmed) {
		command_fail(request, error,
		    N_("this filter was removed or has changed since. Nothing was done "
		       "for this line."));
		return NULL;
	}
	shown = reply_text_quote(&request->text, word);
	command_fail(request, error,
	    N_("you have no filter \"{filter}\". \"list\" shows their numbers and "
	       "names."),
	    "filter", shown);
	return NULL;
}

char *
command_format_canonical(
    const struct request *request, const char *canonical, const char *typed)
{
	return query_format_accented(
	    canonical, typed, store_get_tokenizer(request->store));
}

/* 'filter 3 "rlhf": canonical' */
char *
command_describe_filter(
    struct request *request, const struct subscription *subscription)
{
	g_autofree char *name =
	    subscription->name ? reply_text_quote(&request->text, subscription->name)
	                       : NULL;
	g_autofree char *called =
	    name ? g_strdup_printf(" \"%s\"", name) : g_strdup("");
	g_autofree char *accented = command_format_canonical(
	    request, subscription->canonical, subscription->text);
	g_autofree char *filter = reply_text_quote(&request->text, accented);

	return reply_text_format(&request->text,
	    subscription->is_block ? N_("block {number}{name}: {filter}")
	                           : N_("filter {number}{name}: {filter}"),
	    "number", MSG_INT(subscription->number), "name", called, "filter", filter);
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

void
command_add_filter(
    struct request *request, const char *margin, const struct subscription *filter)
{
	g_autofree char *what = command_describe_filter(request, filter);

	reply_text_add(&request->text, margin, what);
}

bool
command_add_changed_filter(
    struct request *request, int64_t subscription_id, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);

	const struct subscription *filter =
	    own ? subscription_find_id(own, subscription_id) : NULL;

	if (filter)
		command_add_filter(request, "", filter);
	return own != NULL;
}

/* ---- proposals ---- */

struct msg *
command_format_effect(const struct proposal *proposal)
{
	int64_t count = proposal->gained ? proposal->gained : proposal->lost;
	const char *text =
	    proposal->gained ? PL_("{term}: 1 more paper in {days} days: {title}",
	                           "{term}: {count} more papers in {days} days, the "
	                           "latest: {title}")
	                     : PL_("{term}: it removes {count} of the papers in {days} "
	                           "days, the latest: {title}",
	                           "{term}: it removes {count} of the papers in {days} "
	                           "days, the latest: {title}");

	return count ? msg_new_count(text, count, "term", proposal->term, "days",
	                   MSG_INT(proposal->days), "title", proposal->title, NULL)
	             : msg_new("{term}", "term", proposal->term, NULL);
}

static void
add_proposal(struct request *request, const struct proposal *proposal)
{
	pb_auto(msg) effect = command_format_effect(proposal);
	g_autofree char *text = reply_text_format_msg(&request->text, effect);
	g_autofree char *number = g_strdup_printf("%u", proposal->number);
	g_autofree char *shown = reply_text_quote(&request->text, proposal->command);

	reply_phrase(&request->text, "",
	    N_("{number}. {effect}\n"
	       "   {command}"),
	    "number", number, "effect", text, "command", shown);
	if (!request->reply.shown)
		request->reply.shown = g_array_new(FALSE, FALSE, sizeof(unsigned));
	g_array_append_val(request->reply.shown, proposal->number);
}

void
command_add_proposals(struct request *request, const GPtrArray *proposals)
{
	const struct proposal *first = proposals->len ? proposals->pdata[0] : NULL;
	g_autofree char *number = NULL;

	if (!first)
		return;
	reply_phrase(&request->text, "",
	    proposals->len == 1 ? N_("A suggestion:") : N_("Suggestions:"));
	for (unsigned i = 0; i < proposals->len; i++)
		add_proposal(request, proposals->pdata[i]);
	number = g_strdup_printf("%u", first->number);
	reply_phrase(&request->text, "",
	    N_("To take one, reply \"yes {number}\"; it can be undone. \"no {number}\" "
	       "means: never suggest it again."),
	    "number", number);
}

/* ---- backtests ---- */

static void
add_papers(struct request *request, const struct backtest *backtest)
{
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];
		g_autofree char *title =
		    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_CHARS);
		g_autofree char *shown = g_strdup_printf("%s  %s", paper->id, title);

		reply_text_add(&request->text, "", shown);
		if (paper->words && *paper->words) {
			g_autofree char *words = sanitize_paper_text(paper->words, 0);
			g_autofree char *hit = reply_text_format(
			    &request->text, "            [{words}]", "words", words);

			reply_text_add(&request->text, "", hit);
		}
	}
}

static void
add_found(struct request *request, const struct backtest *backtest, bool is_block)
{
	g_autofree char *days = reply_text_format_count(
	    &request->text, PL_("1 day", "{count} days"), backtest->covered_days);
	g_autofree char *span =
	    backtest->covered_days < backtest->days
	        ? reply_text_format(&request->text,
	              N_("{days}, as far back as the archive goes"), "days", days)
	        : g_strdup(days);
	g_autofree char *papers = reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), backtest->found);
	g_autofree char *known = g_strdup_printf("%u", backtest->known);
	g_autofree char *blocked = g_strdup_printf("%u", backtest->blocked);
	g_autofree char *forecast =
	    reply_text_format_forecast(&request->text, &backtest->forecast);
	const char *name = N_("{days}: {papers}.");

	if (is_block)
		name = N_(
		    "{days}: {papers}. It removes {known} of them from your filters.");
	else if (!backtest->found)
		name = N_("{days}: no paper yet.");
	else if (backtest->known)
		name = N_(
		    "{days}: {papers} (your other filters find {known} of them, too).");
	reply_phrase(
	    &request->text, "", name, "days", span, "papers", papers, "known", known);
	if (backtest->blocked && !is_block)
		reply_phrase(&request->text, "",
		    N_("One of your blocks removes {blocked} of them."), "blocked",
		    blocked);
	if (forecast)
		reply_text_add(&request->text, "", forecast);
}

/* An applied one is enough for a reply. */
static bool
has_suggestions(const struct request *request, bool is_block)
{
	return request->subscriber && !is_block && !request->is_applying;
}

/* @param number  of the filter; 0: of none */
static bool
add_suggestions(struct request *request, const char *text, int number, GError **error)
{
	g_autoptr(GPtrArray) own = command_load_filters(request, error);
	struct subscription typed = {
	    .subscriber_id = request->subscriber->id, .text = (char *)text};
	const struct subscription *filter = &typed;
	g_autoptr(GPtrArray) proposals = NULL;

	if (!own)
		return false;
	if (number && subscription_find_number(own, number))
		filter = subscription_find_number(own, number);
	proposals = suggest_offer(request->store, filter, request->now, error);
	if (!proposals)
		return false;
	/* Pages have a list of them. */
	if (!request->text.results && proposals->len)
		command_add_proposals(request, proposals);
	return true;
}

bool
command_add_backtest(struct request *request, const char *text, int number,
    bool is_block, unsigned days, GError **error)
{
	struct backtest_request wanted = {
	    .text = text,
	    .subscriber_id = request->subscriber ? request->subscriber->id : 0,
	    .number = number,
	    .is_block = is_block,
	    .days = days,
	    .now = request->now,
	    .has_suggestions = has_suggestions(request, is_block),
	    .po = reply_text_get_po(&request->text),
	};
	pb_auto(backtest) backtest = backtest_run(request->store, &wanted, NULL, error);

	if (!backtest)
		return false;
	add_found(request, backtest, is_block);
	if (backtest->newest->len && !is_block && !request->text.results) {
		reply_phrase(&request->text, "", N_("The newest:"));
		add_papers(request, backtest);
	}
	command_add_warnings(request, backtest->notes);
	return !wanted.has_suggestions || add_suggestions(request, text, number, error);
}

bool
command_add_edited(struct request *request, const struct subscription *before,
    const struct subscription *after, const char *query, GError **error)
{
	struct backtest_difference difference;
	g_autofree char *what = command_describe_filter(request, after);
	g_autofree char *accented =
	    command_format_canonical(request, before->canonical, before->text);
	g_autofree char *old = reply_text_quote(&request->text, accented);
	bool is_ok;

	reply_text_add(&request->text, "ok", what);
	reply_phrase(&request->text, "", N_("before: {filter}"), "filter", old);
	is_ok = backtest_compare(request->store, before->canonical, after->canonical,
	    BACKTEST_DAYS, request->now, &difference, error);
	if (is_ok)
		reply_phrase(&request->text, "",
		    N_("30 days: {before} papers before, {after} now; {come} added, "
		       "{go} removed."),
		    "before", MSG_INT(difference.before), "after",
		    MSG_INT(difference.after), "come",
		    MSG_INT(difference.after - difference.both), "go",
		    MSG_INT(difference.before - difference.both));
	return is_ok && command_add_backtest(
	                    request, query, after->number, after->is_block, 0, error);
}

/* ---- shares ---- */

static void
add_follow(struct request *request, const struct follow *follow)
{
	const char *phrase = N_("   follows {name}, version {version}");

	/* Its news is still to be told. */
	if (!follow->name)
		return;
	if (follow->is_fork)
		phrase = N_("   from {name}, version {version}");
	else if (follow->newest > follow->version)
		phrase = N_("   follows {name}, version {version}; version {newest} is "
		            "out: follow {name}");
	reply_phrase(&request->text, "", phrase, "name", follow->name, "version",
	    MSG_INT(follow->version), "newest", MSG_INT(follow->newest));
}

bool
command_add_shares(
    struct request *request, const struct subscription *filter, GError **error)
{
	int64_t owner = filter->subscriber_id;
	g_autoptr(GPtrArray) shares = shares_load_own(request->store, owner, error);
	g_autoptr(GPtrArray) follows =
	    shares ? shares_load_follows(request->store, owner, error) : NULL;

	if (!follows)
		return false;
	for (unsigned i = 0; i < shares->len; i++) {
		const struct share *one = shares->pdata[i];

		if (one->subscription_id == filter->id)
			reply_phrase(&request->text, "",
			    N_("   shared as {name}, version {version}"), "name",
			    one->name, "version", MSG_INT(one->version));
	}
	for (unsigned i = 0; i < follows->len; i++) {
		const struct follow *one = follows->pdata[i];

		if (one->subscription_id == filter->id)
			add_follow(request, one);
	}
	return true;
}

bool
command_append_shares(struct request *request, GString *lines, GError **error)
{
	int64_t owner = request->subscriber->id;
	g_autoptr(GPtrArray) shares = shares_load_own(request->store, owner, error);
	g_autoptr(GPtrArray) follows =
	    shares ? shares_load_follows(request->store, owner, error) : NULL;

	if (!follows)
		return false;
	for (unsigned i = 0; i < shares->len; i++) {
		const struct share *one = shares->pdata[i];

		g_string_append_printf(
		    lines, "share %d as %s\n", one->number, one->name);
	}
	for (unsigned i = 0; i < follows->len; i++) {
		const struct follow *one = follows->pdata[i];

		if (one->name && !one->is_fork)
			g_string_append_printf(
			    lines, "follow %s version=%d\n", one->name, one->version);
	}
	return true;
}
