/*
 * command_feedback.c - commands on papers of a digest: like, hide, watch, more, taste.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/msg.h"
#include "message/bibliography.h"
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/advice/suggest.h"
#include "service/advice/why.h"
#include "service/command/command_private.h"
#include "service/taste/answers.h"
#include "service/taste/known_works.h"
#include "store/mail/digests.h"
#include "store/paper/paper_events.h"
#include "store/paper/works.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/feedback.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* Maximum number of learned words of each kind in a reply. */
#define WORDS_ANSWERED 6
#define WORDS_LISTED   20

/* Maximum number of entries of one `more`. */
#define MORE_MAX 10

/* Minimum number of papers with a proposed term among those of the newest answers. */
#define TERM_PAPERS  2
#define TERM_ANSWERS 200

/* Maximum number of learned words tried as a block, and of backtests of these. */
#define BLOCK_WORDS     10
#define BLOCK_BACKTESTS 3

/* Maximum number of filters for which one `like` looks for terms. */
#define EDIT_FILTERS 2

/* Days for which a paper is watched, and maximum papers that a subscriber watches. */
#define WATCH_DAYS 365
#define WATCH_MAX  200

/* Maximum number of papers from which to choose one. */
#define CHOICE_MAX 10

/* Maximum number of papers in one line of `known`. */
#define KNOWN_WORDS 200

/* ---- papers ---- */

/* "3", "2605.15202", "arXiv:2605.15202v2": a word that may name a paper. */
static bool
is_reference(const char *word)
{
	return strpbrk(word, "0123456789") != NULL;
}

bool
command_is_papers(const char *arguments)
{
	g_autofree char *word = command_take_word(&arguments);

	return word && is_reference(word);
}

/* @return of char *: words; "3, 5 and 7" are three */
static GPtrArray *
take_references(
    struct request *request, const char *arguments, unsigned most, GError **error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) parts = g_strsplit_set(arguments, " ,;#", -1);

	for (char **part = parts; *part; part++) {
		/* "Watch 3." */
		if (g_str_has_suffix(*part, "."))
			(*part)[strlen(*part) - 1] = '\0';
		if (is_reference(*part))
			g_ptr_array_add(words, g_strdup(*part));
	}
	if (words->len > most) {
		command_fail(request, error,
		    N_("that is too many at once: up to {most} papers."), "most",
		    MSG_INT(most));
		return NULL;
	}
	if (!words->len) {
		command_fail(request, error,
		    N_("which papers? Write their numbers in a reply to a digest, or "
		       "their ids, such as like 3 or hide 2605.15202."));
		return NULL;
	}
	return g_steal_pointer(&words);
}

/* @param digest  loaded on first use */
static struct stored_paper *
load_paper(
    struct request *request, const char *word, struct digest **digest, GError **error)
{
	g_autofree char *id = command_find_paper(request, word, digest, error);
	g_autofree char *shown = NULL;
	struct stored_paper *stored = NULL;

	if (!id || !papers_find(request->store, id, &stored, error) || stored)
		return stored;
	shown = reply_text_quote(&request->text, id);
	command_fail(
	    request, error, N_("no source has listed a paper \"{id}\"."), "id", shown);
	return NULL;
}

/* Whether notices have an id in brackets, also in those of Chinese. */
static bool
has_id(const char *notices, const char *id)
{
	g_autofree char *plain = g_strdup_printf("(%s)", id);
	g_autofree char *wide = g_strdup_printf("\uff08%s\uff09", id);

	return notices && (strstr(notices, plain) || strstr(notices, wide));
}

/* Whether a notice of a digest names a paper, or another record of its work. */
static bool
is_named(struct request *request, const struct digest *digest,
    const struct stored_paper *stored, bool *is, GError **error)
{
	g_autoptr(GPtrArray) records =
	    works_load_records(request->store, stored->work, error);

	*is = has_id(digest->notices, stored->paper->id);
	for (unsigned i = 0; records && i < records->len; i++)
		*is |= has_id(digest->notices,
		    ((const struct work_record *)records->pdata[i])->id);
	return records != NULL;
}

/* Papers that a command without one may mean. */
struct choice {
	GPtrArray *words; /* of char *: numbers or ids */
	GString *lines;   /* "watch 3 (Learning to walk); ..." */
};

static void
add_choice(struct request *request, struct choice *choice, const char *word,
    const struct paper *paper)
{
	g_autofree char *title =
	    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_TITLE_CHARS);

	g_ptr_array_add(choice->words, g_strdup(word));
	if (choice->words->len <= CHOICE_MAX)
		g_string_append_printf(choice->lines, "%s%s %s (%s)",
		    choice->lines->len ? "; " : "", request->row->verb, word, title);
	else if (choice->words->len == CHOICE_MAX + 1)
		g_string_append(choice->lines, "; ...");
}

/* @param digest  of which the notices name them; NULL: all that are watched */
static bool
add_watched(struct request *request, const struct digest *digest, struct choice *choice,
    GError **error)
{
	g_autoptr(GPtrArray) all = paper_events_load_watched(
	    request->store, request->subscriber->id, request->now, error);

	for (unsigned i = 0; all && i < all->len; i++) {
		const struct watched_paper *watched = all->pdata[i];
		pb_auto(stored_paper) stored =
		    papers_load(request->store, watched->work, error);
		bool is_meant = !digest;

		if (!stored ||
		    (digest && !is_named(request, digest, stored, &is_meant, error)))
			return false;
		if (is_meant)
			add_choice(request, choice, stored->paper->id, stored->paper);
	}
	return all != NULL;
}

/*
 * Add what is meant: the watched papers that the digest names which the mail answers;
 * or, to watch, all in it; else all that are watched.
 */
static bool
add_meant(struct request *request, struct choice *choice, GError **error)
{
	pb_auto(digest) digest =
	    request->digest_id ? digests_load(request->store, request->digest_id, NULL)
	                       : NULL;
	bool is_own = digest && digest->subscriber_id == request->subscriber->id;

	if (is_own && !add_watched(request, digest, choice, error))
		return false;
	if (is_own && !choice->words->len && strcmp(request->row->verb, "watch") == 0)
		for (unsigned i = 0; i < digest->entries->len; i++) {
			const struct digest_entry *entry = digest->entries->pdata[i];
			char number[MSG_INT_BYTES];

			add_choice(request, choice, msg_write_int(number, i + 1),
			    entry->paper);
		}
	return choice->words->len || add_watched(request, NULL, choice, error);
}

/* Find the only paper that can be meant. @return its word; "" if there is none */
static char *
find_meant(struct request *request, GError **error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) lines = g_string_new(NULL);
	struct choice choice = {words, lines};

	/* On the page the field was left empty. */
	if (!request->lines && !add_meant(request, &choice, error))
		return NULL;
	if (words->len < 2)
		return g_strdup(words->len ? words->pdata[0] : "");
	command_fail(request, error, N_("which paper? Reply with one of: {lines}"),
	    "lines", lines->str);
	return NULL;
}

/* @return of struct stored_paper *, distinct, in the order of the arguments */
static GPtrArray *
load_papers(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *meant =
	    *arguments ? g_strdup(arguments) : find_meant(request, error);
	g_autoptr(GPtrArray) words =
	    meant ? take_references(request, meant, BOUNDS_COMMAND_ARGUMENTS, error)
	          : NULL;
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	pb_auto(digest) digest = NULL;

	for (unsigned i = 0; words && i < words->len; i++) {
		struct stored_paper *stored =
		    load_paper(request, words->pdata[i], &digest, error);
		bool is_new = true;

		if (!stored)
			return NULL;
		for (unsigned j = 0; j < papers->len; j++)
			is_new &= ((struct stored_paper *)papers->pdata[j])->seq !=
			          stored->seq;
		if (is_new)
			g_ptr_array_add(papers, stored);
		else
			stored_paper_free(stored);
	}
	return words ? g_steal_pointer(&papers) : NULL;
}

static char *
format_title(const struct paper *paper)
{
	g_autofree char *title =
	    sanitize_paper_text(paper->title, BOUNDS_SUBJECT_CHARS);

	return g_strdup_printf("%s  %s", paper->id, title);
}

/* ---- learned words ---- */

/* @param words  of char * */
static void
add_words(
    struct request *request, const char *text, const GPtrArray *words, unsigned most)
{
	g_autofree char *list = answers_format_words(words, most);

	if (*list)
		reply_phrase(&request->text, "", text, "words", list);
}

/* List the words that order papers. */
static void
add_all_words(struct request *request, const struct answers *answers, unsigned most)
{
	add_words(request, N_("papers with these words come first: {words}"),
	    answers->raising, most);
	add_words(request, N_("papers with these words come last: {words}"),
	    answers->lowering, most);
}

static void
add_counts(struct request *request, const char *margin, const struct answers *answers)
{
	reply_phrase(&request->text, margin,
	    N_("{likes} liked and {hides} hidden so far."), "likes",
	    MSG_INT(answers->likes), "hides", MSG_INT(answers->hides));
}

/* ---- terms that separate liked from hidden papers ---- */

/* Several words are a phrase. @return a new string */
static char *
format_filter(const char *term)
{
	return strchr(term, ' ') ? g_strdup_printf("\"%s\"", term) : g_strdup(term);
}

static bool
matches(struct request *request, const char *filter, int64_t paper_seq, bool *is_match,
    struct stored_paper **stored, GError **error)
{
	pb_auto(stored_paper) paper = papers_load(request->store, paper_seq, error);
	pb_auto(why_filter) verdict = paper ? why_explain(request->store, filter, paper,
	                                          request->now, NULL, NULL, error)
	                                    : NULL;

	if (!verdict)
		return false;
	*is_match = verdict->truth == QUERY_TRUE;
	if (*is_match && !*stored)
		*stored = g_steal_pointer(&paper);
	return true;
}

/*
 * Whether several papers that were answered alike match a filter, and none that was
 * answered otherwise.
 *
 * @param newest  set: the newest of these papers, owned by the caller
 */
static bool
separates_answers(struct request *request, const char *filter, const GArray *all,
    bool is_like, bool *is_good, struct stored_paper **newest, GError **error)
{
	unsigned count = 0;

	*is_good = false;
	for (unsigned i = 0; i < MIN(all->len, TERM_ANSWERS); i++) {
		const struct feedback *one = &g_array_index(all, struct feedback, i);
		pb_auto(stored_paper) other = NULL;
		bool is_match;

		if (!matches(request, filter, one->paper_seq, &is_match,
		        one->is_like == is_like ? newest : &other, error))
			return false;
		if (is_match && one->is_like != is_like)
			return true;
		count += is_match;
	}
	*is_good = count >= TERM_PAPERS;
	return true;
}

/* @param offered  taken, or NULL; @param reason  says why, with its term */
static void
add_offered(struct request *request, struct proposal *offered, const char *reason)
{
	g_autoptr(GPtrArray) proposals = g_ptr_array_new_with_free_func(g_free);

	if (!offered)
		return;
	g_ptr_array_add(proposals, offered);
	reply_phrase(&request->text, "", reason, "term", offered->term);
	command_add_proposals(request, proposals);
}

/* ---- proposed blocks ---- */

/* Whether a filter asks for a word, or a block excludes it already. */
static bool
is_in_filters(const GPtrArray *own, const char *word)
{
	for (unsigned i = 0; i < own->len; i++)
		if (strcasestr(
		        ((const struct subscription *)own->pdata[i])->canonical, word))
			return true;
	return false;
}

/* @param offered  set: NULL if it would remove nothing, or was refused before */
static bool
offer_block(struct request *request, const char *word, const char *filter,
    const struct stored_paper *newest, struct proposal **offered, GError **error)
{
	const struct backtest_request wanted = {.text = filter,
	    .subscriber_id = request->subscriber->id,
	    .is_block = true,
	    .now = request->now};
	pb_auto(backtest) backtest = backtest_run(request->store, &wanted, NULL, error);
	g_autofree char *command = g_strconcat("block ", filter, NULL);
	g_autofree char *title = NULL;
	struct proposal proposal = {
	    .subscriber_id = request->subscriber->id, .term = word, .command = command};

	if (!backtest)
		return false;
	if (!backtest->known)
		return true;
	title = sanitize_paper_text(newest->paper->title, BOUNDS_SUBJECT_CHARS);
	proposal.lost = backtest->known;
	proposal.days = backtest->days;
	proposal.title = title;
	return proposals_offer(
	    request->store, &proposal, NULL, request->now, offered, error);
}

/* @param tests  backtests that are left */
static bool
try_block(struct request *request, const char *word, const GPtrArray *own,
    const GArray *all, unsigned *tests, struct proposal **offered, GError **error)
{
	g_autofree char *filter = format_filter(word);
	pb_auto(stored_paper) newest = NULL;
	pb_auto(why_filter) parsed =
	    why_explain(request->store, filter, NULL, request->now, NULL, NULL, NULL);
	bool is_good;

	/* Such as a word of the filter language. */
	if (!parsed || is_in_filters(own, word))
		return true;
	if (!separates_answers(request, filter, all, false, &is_good, &newest, error))
		return false;
	if (!is_good)
		return true;
	--*tests;
	return offer_block(request, word, filter, newest, offered, error);
}

/* Propose to block a word of several hidden papers and of no liked one. */
static bool
propose_block(struct request *request, const struct answers *answers, GError **error)
{
	g_autoptr(GPtrArray) own = NULL;
	g_autoptr(GArray) all = NULL;
	struct proposal *offered = NULL;
	unsigned tests = BLOCK_BACKTESTS;

	if (answers->hides < TERM_PAPERS)
		return true;
	own = subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
	all =
	    own ? feedback_load(request->store, request->subscriber->id, error) : NULL;
	if (!all)
		return false;
	for (unsigned i = 0;
	     i < MIN(answers->lowering->len, BLOCK_WORDS) && tests && !offered; i++) {
		const char *word = answers->lowering->pdata[i];

		if (!try_block(request, word, own, all, &tests, &offered, error))
			return false;
	}
	add_offered(request, offered,
	    N_("Several papers that you hid have \"{term}\" in them, and none that you "
	       "liked has."));
	return true;
}

/* ---- proposed edits ---- */

/* Whether liked papers have the term that a suggestion adds. */
static bool
is_good_edit(struct request *request, const struct suggestion *suggestion,
    const GArray *all, bool *is_good, GError **error)
{
	g_autofree char *filter = format_filter(suggestion->term);
	pb_auto(stored_paper) newest = NULL;

	return separates_answers(request, filter, all, true, is_good, &newest, error);
}

/* @param offered  set; NULL if no suggestion for the filter is good */
static bool
try_edit(struct request *request, const struct subscription *filter, const GArray *all,
    struct proposal **offered, GError **error)
{
	const struct suggest_request wanted = {.text = filter->text,
	    .subscriber_id = filter->subscriber_id,
	    .subscription_id = filter->id,
	    .now = request->now};
	g_autoptr(GPtrArray) found = suggest_find(request->store, &wanted, error);

	for (unsigned i = 0; found && i < found->len && !*offered; i++) {
		bool is_good;

		if (!is_good_edit(request, found->pdata[i], all, &is_good, error) ||
		    (is_good && !suggest_offer_one(request->store, filter,
		                    found->pdata[i], request->now, offered, error)))
			return false;
	}
	return found != NULL;
}

/* @param papers  of struct stored_paper * */
static bool
finds_one_of(struct request *request, const struct subscription *filter,
    const GPtrArray *papers, bool *finds, GError **error)
{
	*finds = false;
	for (unsigned i = 0; i < papers->len && !*finds; i++) {
		pb_auto(why_filter) verdict = why_explain(request->store, filter->text,
		    papers->pdata[i], request->now, NULL, NULL, error);

		if (!verdict)
			return false;
		*finds = verdict->truth == QUERY_TRUE;
	}
	return true;
}

/* Propose to add a word of several liked papers to a filter that found one of them. */
static bool
propose_edit(struct request *request, const GPtrArray *papers,
    const struct answers *answers, GError **error)
{
	const int64_t id = request->subscriber->id;
	g_autoptr(GPtrArray) own = NULL, follows = NULL;
	g_autoptr(GArray) all = NULL;
	struct proposal *offered = NULL;

	if (answers->likes < TERM_PAPERS)
		return true;
	own = subscribers_load_subscriptions(request->store, id, error);
	follows = own ? shares_load_follows(request->store, id, error) : NULL;
	all = follows ? feedback_load(request->store, id, error) : NULL;
	if (!all)
		return false;
	for (unsigned i = 0, tried = 0;
	     i < own->len && tried < EDIT_FILTERS && !offered; i++) {
		const struct subscription *filter = own->pdata[i];
		bool finds;

		/* A change would end the following of a shared filter. */
		if (filter->is_block || shares_get_followed(follows, filter->id))
			continue;
		if (!finds_one_of(request, filter, papers, &finds, error))
			return false;
		tried += finds;
		if (finds && !try_edit(request, filter, all, &offered, error))
			return false;
	}
	add_offered(request, offered,
	    N_("Several papers that you liked have \"{term}\" in them, and none that "
	       "you hid has."));
	return true;
}

/* ---- like, hide ---- */

static bool
is_like(const struct request *request)
{
	return request->row->run == command_run_like;
}

static void
add_answers(
    struct request *request, const GPtrArray *papers, const struct answers *answers)
{
	for (unsigned i = 0; i < papers->len; i++) {
		const struct stored_paper *stored = papers->pdata[i];
		g_autofree char *title = format_title(stored->paper);

		reply_phrase(&request->text, i ? "" : "ok",
		    is_like(request) ? N_("liked: {paper}") : N_("hidden: {paper}"),
		    "paper", title);
	}
	add_all_words(request, answers, WORDS_ANSWERED);
	add_counts(request, "", answers);
}

static bool
save_answers(struct request *request, const GPtrArray *papers, GError **error)
{
	g_autofree int64_t *seqs = g_new(int64_t, papers->len);
	const struct answers_request wanted = {
	    .subscriber_id = request->subscriber->id,
	    .papers = seqs,
	    .count = papers->len,
	    .is_like = is_like(request),
	    .source = request->lines ? "page" : "mail",
	    .now = request->now,
	};
	pb_local(answers) answers = {0};

	for (unsigned i = 0; i < papers->len; i++)
		seqs[i] = ((struct stored_paper *)papers->pdata[i])->seq;
	if (!answers_save(request->store, &wanted, &answers, error))
		return false;
	add_answers(request, papers, &answers);
	return is_like(request) ? propose_edit(request, papers, &answers, error)
	                        : propose_block(request, &answers, error);
}

bool
command_run_like(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) papers = load_papers(request, arguments, error);

	return papers && save_answers(request, papers, error);
}

bool
command_run_hide(struct request *request, const char *arguments, GError **error)
{
	return command_run_like(request, arguments, error);
}

/* Fix the papers, whose numbers are those of a digest. */
bool
command_decide_like(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	g_autoptr(GPtrArray) papers = load_papers(request, arguments, error);
	GString *ids, *titles;

	if (!papers)
		return false;
	ids = g_string_new(NULL);
	titles = g_string_new(NULL);
	for (unsigned i = 0; i < papers->len; i++) {
		const struct paper *one =
		    ((struct stored_paper *)papers->pdata[i])->paper;

		g_string_append_printf(ids, "%s%s", i ? " " : "", one->id);
		g_string_append_printf(titles, "%s%s", i ? "; " : "", one->title);
	}
	decision->arguments = g_string_free(ids, FALSE);
	decision->what = g_string_free(titles, FALSE);
	return true;
}

/* ---- watch, unwatch ---- */

static bool
run_watch(struct request *request, const struct stored_paper *stored, GError **error)
{
	int64_t id = request->subscriber->id;
	int64_t until = request->now + WATCH_DAYS * (int64_t)CLOCK_DAY_S;
	int64_t work = stored->work ? stored->work : stored->seq;
	bool is_known = false;
	g_autofree char *title = format_title(stored->paper);
	g_autoptr(GPtrArray) watched =
	    paper_events_load_watched(request->store, id, request->now, error);
	g_autofree char *shown = NULL;
	char day[DAY_BYTES];

	if (!watched)
		return false;
	for (unsigned i = 0; i < watched->len; i++)
		is_known |= ((struct watched_paper *)watched->pdata[i])->work == work;
	if (!is_known && watched->len >= WATCH_MAX)
		return command_fail(request, error,
		    N_("you watch {most} papers, which is the most. \"unwatch\" ends "
		       "one."),
		    "most", MSG_INT(WATCH_MAX));
	day_format(until, day);
	shown = reply_text_format_day(&request->text, day);
	reply_phrase(&request->text, "ok", N_("watched until {until}: {paper}"),
	    "until", shown, "paper", title);
	return paper_events_watch(
	    request->store, id, stored->seq, request->now, until, error);
}

static bool
run_unwatch(struct request *request, const struct stored_paper *stored, GError **error)
{
	g_autofree char *title = format_title(stored->paper);
	bool is_watched;

	if (!paper_events_unwatch(request->store, request->subscriber->id, stored->seq,
	        &is_watched, error))
		return false;
	reply_phrase(&request->text, "ok",
	    is_watched ? N_("no longer watched: {paper}")
	               : N_("you do not watch it: {paper}"),
	    "paper", title);
	return true;
}

/* Add what is reported about watched papers, and how. */
static void
add_reported(struct request *request)
{
	reply_phrase(&request->text, "",
	    request->subscriber->preferences.choice[PREFERENCE_RETRACTIONS] ==
	            PREFERENCE_RETRACTIONS_MAIL
	        ? N_("A digest says when it has code or a new version, or is "
	             "published; a mail at once when it is retracted.")
	        : N_("A digest says when it has code or a new version, is published or "
	             "retracted."));
}

bool
command_run_watch(struct request *request, const char *arguments, GError **error)
{
	bool is_on = strcmp(request->row->verb, "watch") == 0;
	g_autoptr(GPtrArray) papers = load_papers(request, arguments, error);

	for (unsigned i = 0; papers && i < papers->len; i++)
		if (!(is_on ? run_watch : run_unwatch)(
		        request, papers->pdata[i], error))
			return false;
	if (papers && is_on)
		add_reported(request);
	return papers != NULL;
}

/* ---- known ---- */

/* Whether all services call a paper by that name, also before a source lists it. */
static bool
is_public_id(const char *name)
{
	return paper_id_is_arxiv(name) || g_str_has_prefix(name, "doi:") ||
	       g_str_has_prefix(name, "pmid:") || g_str_has_prefix(name, "pmcid:");
}

/* @return of char *: works as in bibliography.works, of the arguments and, if there are
 * any, of attached files; also of those that no source has listed */
static GPtrArray *
find_works(
    struct request *request, const char *arguments, bool *has_file, GError **error)
{
	const struct inmail *mail = request->mail;
	g_autoptr(GPtrArray) works = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) words = NULL;
	pb_auto(digest) digest = NULL;

	*has_file = mail && mail->works->len;
	request->is_file_read |= *has_file;
	for (unsigned i = 0; *has_file && i < mail->works->len; i++)
		g_ptr_array_add(works, g_strdup(mail->works->pdata[i]));
	if (!*arguments && *has_file)
		return g_steal_pointer(&works);
	if (!*arguments)
		return command_fail(request, error,
		           mail && mail->unnamed_works
		               ? N_("no entry of the attached file has an id, or "
		                    "title and author.")
		               : N_("which papers? Write their ids, such as known "
		                    "2605.15202, or attach a .bib or .ris file with "
		                    "entries that have an id.")),
		       NULL;
	words = take_references(request, arguments, KNOWN_WORDS, error);
	for (unsigned i = 0; words && i < words->len; i++) {
		g_autofree char *name =
		    command_find_paper(request, words->pdata[i], &digest, error);
		pb_auto(stored_paper) stored =
		    name && !is_public_id(name)
		        ? load_paper(request, words->pdata[i], &digest, error)
		        : NULL;

		if (!name || (!stored && !is_public_id(name)))
			return NULL;
		if (!g_ptr_array_find_with_equal_func(works, name, g_str_equal, NULL))
			g_ptr_array_add(works, g_steal_pointer(&name));
	}
	return words ? g_steal_pointer(&works) : NULL;
}

static char *
format_papers(struct request *request, unsigned count)
{
	return reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), count);
}

/* @param unnamed  entries of a file without a name */
static bool
save_works(
    struct request *request, const GPtrArray *all, unsigned unnamed, GError **error)
{
	struct known_works works = {
	    .subscriber_id = request->subscriber->id,
	    .works = all,
	    .source = request->lines ? "page" : "mail",
	    .now = request->now,
	};
	g_autofree char *papers = NULL;

	if (!known_works_save(request->store, &works, error))
		return false;
	papers = format_papers(request, works.added);
	reply_phrase(&request->text, "ok",
	    N_("{papers} added to those that you know. They are never sent to you."),
	    "papers", papers);
	if (works.absent)
		reply_phrase(&request->text, "",
		    N_("Of all that you named, no source has listed {count} yet."),
		    "count", MSG_INT(works.absent));
	if (unnamed)
		reply_phrase(&request->text, "",
		    all->len < BIBLIOGRAPHY_ENTRIES
		        ? N_("Entries of the file without an id, which were left "
		             "aside: {count}")
		        : N_("Up to {most} entries of a file are read. Those that were "
		             "left aside: {count}"),
		    "count", MSG_INT(unnamed), "most", MSG_INT(BIBLIOGRAPHY_ENTRIES));
	return true;
}

bool
command_run_known(struct request *request, const char *arguments, GError **error)
{
	bool has_file;
	g_autoptr(GPtrArray) works = find_works(request, arguments, &has_file, error);

	return works && save_works(request, works,
	                    has_file ? request->mail->unnamed_works : 0, error);
}

bool
command_run_known_file(struct request *request, const char *arguments, GError **error)
{
	const char *rest = strchr(arguments, '\t');
	g_auto(GStrv) list = g_strsplit(rest ? rest + 1 : "", "\t", -1);
	g_autoptr(GPtrArray) works = g_ptr_array_new();

	for (char **work = list; *work; work++)
		g_ptr_array_add(works, *work);
	return save_works(request, works, (unsigned)atoi(arguments), error);
}

/* Fix the papers, whose numbers are those of a digest, or which are in a file. */
bool
command_decide_known(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	bool has_file;
	g_autoptr(GPtrArray) works = find_works(request, arguments, &has_file, error);
	g_autofree char *papers = NULL, *list = NULL;

	if (!works)
		return false;
	papers = format_papers(request, works->len);
	g_ptr_array_add(works, NULL);
	if (!has_file) {
		decision->arguments = g_strjoinv(" ", (char **)works->pdata);
		decision->what = g_strdup(decision->arguments);
		return true;
	}
	list = g_strjoinv("\t", (char **)works->pdata);
	decision->pending =
	    g_strdup_printf(COMMAND_KNOWN "%u\t%s", request->mail->unnamed_works, list);
	decision->what = reply_text_format(&request->text,
	    N_("{papers}, with those of the attached file"), "papers", papers);
	return true;
}

/* ---- more ---- */

static void
add_link(struct request *request, const char *name, const char *url)
{
	if (url)
		reply_phrase(&request->text, "", name, "url", url);
}

static void
add_more(struct request *request, const struct paper *paper)
{
	g_autofree char *title = format_title(paper);
	g_autofree char *authors = NULL, *abstract = NULL;
	g_autoptr(GString) names = g_string_new(NULL);

	for (unsigned i = 0; paper->authors && i < paper->authors->len; i++)
		g_string_append_printf(
		    names, "%s%s", i ? ", " : "", (char *)paper->authors->pdata[i]);
	authors = sanitize_paper_text(names->str, BOUNDS_BODY_LINE_BYTES * 10);
	abstract = sanitize_paper_text(paper->abstract, 0);
	reply_text_add(&request->text, "ok", title);
	if (*authors)
		reply_text_add(&request->text, "", authors);
	reply_text_add_blank(&request->text);
	if (*abstract)
		reply_text_add(&request->text, "", abstract);
	else
		reply_phrase(
		    &request->text, "", N_("No source has an abstract of it."));
	reply_text_add_blank(&request->text);
	reply_text_add(&request->text, "", paper->url);
	add_link(request, N_("code: {url}"), paper->code_url);
	add_link(request, N_("project: {url}"), paper->project_url);
	add_link(request, N_("video: {url}"), paper->video_url);
}

bool
command_run_more(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GPtrArray) papers = load_papers(request, arguments, error);

	if (!papers)
		return false;
	if (papers->len > MORE_MAX)
		return command_fail(request, error,
		    N_("that is too many at once: up to {most} papers."), "most",
		    MSG_INT(MORE_MAX));
	for (unsigned i = 0; i < papers->len; i++) {
		if (i)
			reply_text_add_blank(&request->text);
		add_more(request, ((struct stored_paper *)papers->pdata[i])->paper);
	}
	return true;
}

/* ---- taste ---- */

static bool
forget(struct request *request, GError **error)
{
	g_autofree char *answers = NULL;
	unsigned count;

	if (!feedback_delete(request->store, request->subscriber->id, &count, error) ||
	    !audit_insert(request->store, request->now, request->actor,
	        "answers deleted", request->subscriber->id, NULL, error))
		return false;
	if (!count) {
		reply_phrase(&request->text, "ok",
		    N_("nothing has been learned, so there is nothing to delete."));
		return true;
	}
	answers = reply_text_format_count(
	    &request->text, PL_("1 answer", "{count} answers"), count);
	reply_phrase(&request->text, "ok",
	    N_("{answers} and all that was learned from them were deleted. Your "
	       "digests are in the usual order again."),
	    "answers", answers);
	return true;
}

static bool
is_forget(const char *arguments)
{
	return g_ascii_strcasecmp(arguments, "forget") == 0 ||
	       g_ascii_strcasecmp(arguments, "reset") == 0;
}

static void
add_taste(struct request *request, const struct answers *answers)
{
	g_autofree char *rest = NULL;
	unsigned more = answers->other_words;

	if (!answers->likes && !answers->hides) {
		reply_phrase(&request->text, "ok",
		    N_("nothing has been learned yet. Reply to a digest with \"like "
		       "3\" or \"hide 2\": papers like those you liked then come first "
		       "in later digests."));
		return;
	}
	add_counts(request, "ok", answers);
	add_all_words(request, answers, WORDS_LISTED);
	more += MAX(answers->raising->len, WORDS_LISTED) - WORDS_LISTED;
	more += MAX(answers->lowering->len, WORDS_LISTED) - WORDS_LISTED;
	rest = g_strdup_printf("%u", more);
	if (more)
		reply_phrase(
		    &request->text, "", N_("and {count} more words."), "count", rest);
	reply_phrase(&request->text, "",
	    N_("These words order the papers of your digests. They never add or remove "
	       "a paper. \"taste forget\" deletes them."));
}

bool
command_run_taste(struct request *request, const char *arguments, GError **error)
{
	pb_local(answers) answers = {0};

	if (is_forget(arguments))
		return forget(request, error);
	if (*arguments)
		return command_decide_taste(request, arguments, NULL, error);
	if (!answers_load(request->store, request->subscriber->id, &answers, error))
		return false;
	add_taste(request, &answers);
	return true;
}

bool
command_decide_taste(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	(void)decision;
	return is_forget(arguments) ||
	       command_fail(request, error,
	           N_("write \"taste\" to see what was learned from your answers, or "
	              "\"taste forget\" to delete it."));
}
