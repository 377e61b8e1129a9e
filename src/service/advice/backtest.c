/*
 * backtest.c - tests a filter on the papers of the last days.
 */
#include "service/advice/backtest.h"

#include <math.h>
#include <string.h>

#include "base/bigram.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/msg.h"
#include "message/sanitize.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/canonical.h"
#include "query/parse/tree.h"
#include "query/parse/widen.h"
#include "query/query.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"
#include "service/match/search.h"
#include "service/people/filters.h"
#include "store/paper/archive.h"
#include "store/paper/matches.h"
#include "store/paper/paper_history.h"
#include "store/paper/papers.h"
#include "store/subscriber/subscribers.h"

/* ---- notes on words that no paper has, and on alternatives to a clause ---- */

/* Maximum number of alternatives to a clause, those that most papers define first. */
#define FORMS_MAX 2

/* Maximum length of the title of a further paper. */
#define TITLE_CHARS 60

/* Papers in which the spelling of a short form is looked for. */
#define SHOWN_IN_MAX 10

/* State of a collection. */
struct query_stats {
	struct store *store;
	const struct query *query;
	const struct search_scope *scope;
	const GArray *found; /* int64_t: matches of the query, newest first */
	GPtrArray *notes;
	GHashTable *reported; /* words handled so far, char * */
};

/* Papers that a changed query finds and the query does not. */
struct gain {
	const struct tokenizer *tokenizer;
	GArray *found;      /* as in struct query_stats */
	const char *folded; /* a short form, of one word; or NULL */
	unsigned papers;
	char *title; /* of the latest one */
	char *shown; /* the short form as that paper writes it; or NULL */
};

static void
gain_clear(struct gain *gain)
{
	g_free(gain->title);
	g_free(gain->shown);
}

/* Find a word as a text writes it, in the singular. */
static char *
find_word(const struct tokenizer *tokenizer, const char *text, const char *folded)
{
	g_autoptr(GArray) tokens = tokens_split(tokenizer, text, strlen(text));

	for (unsigned i = 0; tokens && i < tokens->len; i++) {
		struct token *token = &g_array_index(tokens, struct token, i);
		g_autofree char *singular =
		    stem_plural(token->text, strlen(token->text));
		size_t plural = strlen(token->text) - strlen(singular);

		if (g_str_equal(singular, folded))
			return g_strndup(
			    text + token->start, token->end - token->start - plural);
	}
	return NULL;
}

static int
compare_seqs(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left < *right) - (*left > *right);
}

static bool
count_gain(void *data, struct search_match *match, GError **error)
{
	struct gain *gain = data;
	bool wants_form = gain->folded && !gain->shown && gain->papers < SHOWN_IN_MAX;
	const struct paper *paper;

	if (g_array_binary_search(gain->found, &match->seq, compare_seqs, NULL))
		return true;
	gain->papers++;
	if (gain->title && !wants_form)
		return true;
	if (!search_match_load(match, error))
		return false;
	paper = match->stored->paper;
	if (!gain->title)
		gain->title = sanitize_paper_text(paper->title, TITLE_CHARS);
	if (wants_form)
		gain->shown = find_word(gain->tokenizer, paper->title, gain->folded);
	if (wants_form && !gain->shown)
		gain->shown = find_word(gain->tokenizer, paper->abstract, gain->folded);
	return true;
}

/* Count the papers that an alternative to a clause adds. @param text  unquoted */
static bool
add_alternative(const struct query_stats *query_stats, const struct node *clause,
    const char *text, bool is_short, GError **error)
{
	struct store *store = query_stats->store;
	bool is_word = is_short && !strchr(text, ' ');
	g_autofree char *quoted = g_strdup_printf(is_word ? "%s" : "\"%s\"", text);
	pb_auto(query) gained = query_replace(
	    query_stats->query, clause, clause, quoted, store_get_tokenizer(store));
	g_autoptr(GString) form = g_string_new(NULL);
	pb_local(gain) gain = {.tokenizer = store_get_tokenizer(store),
	    .found = (GArray *)query_stats->found,
	    .folded = is_word ? text : NULL};
	unsigned step;

	if (!gained)
		return true;
	if (!search_foreach(
	        store, gained, query_stats->scope, count_gain, &gain, &step, error))
		return false;
	if (!gain.papers)
		return true;
	gain.papers *= step;
	node_append_clause(clause, form);
	g_string_append(form, CANONICAL_OR);
	node_append_field(clause, form);
	g_string_append(form, gain.shown ? gain.shown : quoted);
	g_ptr_array_add(query_stats->notes,
	    msg_new_count(PL_("1 more paper with {form}: {title}",
	                      "{count} more papers with {form}, the latest: {title}"),
	        gain.papers, "form", form->str, "title", gain.title, NULL));
	return true;
}

/* Add notes on the long forms of an acronym, or on the acronyms of a phrase. */
static bool
add_alternatives(
    const struct query_stats *query_stats, const struct node *clause, GError **error)
{
	const struct phrase *phrase = clause->phrase;
	/* Look for the acronyms of a phrase; else for the long forms of a word. */
	bool is_short = phrase->words->len > 1;
	g_autofree char *folded = phrase_join(phrase);
	g_autoptr(GPtrArray) forms = NULL;

	if (phrase->is_prefix || !query_stats->scope)
		return true;
	forms = archive_load_forms(query_stats->store, folded, FORMS_MAX, error);
	if (!forms)
		return false;
	for (unsigned i = 0; i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];

		if (!add_alternative(query_stats, clause, form->shown, is_short, error))
			return false;
	}
	return true;
}

static bool
add_unknown(const struct query_stats *query_stats, const char *folded, GError **error)
{
	g_autofree char *near = NULL, *near_folded = NULL;
	int64_t papers;

	if (!archive_find_nearest(query_stats->store, folded, &near, error))
		return false;
	if (!near) {
		g_ptr_array_add(query_stats->notes,
		    msg_new(N_("{word}: in no paper"), "word", folded, NULL));
		return true;
	}
	near_folded = stem_plural(near, strlen(near));
	if (!archive_count_papers(query_stats->store, near_folded, &papers, error))
		return false;
	g_ptr_array_add(query_stats->notes,
	    msg_new(N_("{word}: in no paper; {near} is in {count}"), "word", folded,
	        "near", near, "count", MSG_INT(papers), NULL));
	return true;
}

static bool
add_phrase(struct query_stats *query_stats, const struct phrase *phrase, GError **error)
{
	for (guint i = 0; i < phrase->words->len; i++) {
		const char *text = phrase_get_word(phrase, i)->key.text;
		bool is_prefix = phrase->is_prefix && i + 1 == phrase->words->len;
		int64_t papers;

		/* Text without spaces is a phrase of pairs of characters, most of
		 * which are not words: only a pair alone is reported. */
		if (bigram_is_at(text, -1) && phrase->words->len > 1)
			continue;
		if (!g_hash_table_add(query_stats->reported,
		        g_strdup_printf("%s%s", text, is_prefix ? "*" : "")))
			continue;
		if (is_prefix ? !archive_count_prefix(
		                    query_stats->store, text, &papers, error)
		              : !archive_count_class(
		                    query_stats->store, text, &papers, error))
			return false;
		if (!papers && is_prefix && !phrase_get_word(phrase, i)->is_char)
			g_ptr_array_add(query_stats->notes,
			    msg_new(N_("{word}*: no word starts with this"), "word",
			        text, NULL));
		else if (!papers && !add_unknown(query_stats, text, error))
			return false;
	}
	return true;
}

/* Words under a NOT need no suggestions. */
static bool
add_node(struct query_stats *query_stats, const struct node *node, GError **error)
{
	GPtrArray *phrases = node->kind == NODE_NEAR ? node->phrases : NULL;

	if (node->kind == NODE_WORDS)
		return add_phrase(query_stats, node->phrase, error) &&
		       add_alternatives(query_stats, node, error);
	for (guint i = 0; phrases && i < phrases->len; i++)
		if (!add_phrase(query_stats, phrases->pdata[i], error))
			return false;
	if (node->kind != NODE_AND && node->kind != NODE_OR)
		return true;
	for (guint i = 0; i < node->operands->len; i++)
		if (!add_node(query_stats, node->operands->pdata[i], error))
			return false;
	return true;
}

/*
 * Add suggestions for the words of a query:
 *   difusion: in no paper; diffusion is in 214
 *   12 more papers with lora OR "low-rank adaptation", the latest: ...
 * The latter replaces a clause of the query; none is added if it finds no more papers.
 *
 * @param scope  in which further papers are counted; NULL: no acronyms
 * @param found  int64_t: seqs of the papers that the query finds there, newest first
 * @param notes  of struct msg *, added to
 */
static bool
query_stats_add(struct store *store, const struct query *query,
    const struct search_scope *scope, const GArray *found, GPtrArray *notes,
    GError **error)
{
	g_autoptr(GHashTable) reported =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct query_stats query_stats = {store, query, scope, found, notes, reported};
	int64_t newest;

	/* In an empty archive every word is unknown. */
	return papers_load_newest_revision(store, &newest, error) &&
	       (!newest || add_node(&query_stats, query->root, error));
}

/* ---- narrower filters, for one that finds too many papers ---- */

/* Papers a day. */
#define NARROWER_TARGET 10

/* Papers per day of a narrower filter: about NARROWER_TARGET, and fewer than without.
 */
#define RATE_MIN  5.0
#define RATE_MAX  15.0
#define RATE_LESS 0.8

/* Maximum number of narrower filters offered, one of each kind. */
#define NARROWER_MAX 3

/* Maximum number of matches that are read to find clauses, and of those that are
 * evaluated to count what a narrower filter keeps, evenly spread: all of them would
 * take longer than the test of the filter.  Of 1000, a tenth is counted to within 10 %.
 */
#define SAMPLE       200
#define COUNT_SAMPLE 1000

/* An additional word has at least so many characters, and is so many times as frequent
 * in the matches as in all papers. */
#define WORD_CHARS 4
#define WORD_LIFT  1.2

enum clause_kind {
	CLAUSE_CODE,
	CLAUSE_VOTES,
	CLAUSE_CATEGORY,
	CLAUSE_WORD,
	CLAUSE_KINDS,
};

/* A clause that narrows the filter. */
struct clause {
	char *text; /* key of the hash table: has:code, cat:cs.CV; a word is folded */
	enum clause_kind kind;
	unsigned count; /* matches of the sample that it keeps */
	unsigned last;  /* the last of them */
};

struct tally {
	const struct forecast *forecast;
	struct store *store;
	const char *text;
	const struct query *query; /* of the text */
	GHashTable *clauses;       /* char * -> struct clause * */
	const GArray *matches;     /* of int64_t, newest first; every step-th */
	unsigned step;
	unsigned sampled; /* matches that were read */
	/* Of each kind the clause with the largest compute_value(), or NULL. */
	const struct clause *closest[CLAUSE_KINDS];
};

/* A narrower filter, counted. */
struct narrower {
	char *text;
	double rate; /* papers per day */
};

static void
clause_free(void *data)
{
	struct clause *clause = data;

	g_free(clause->text);
	g_free(clause);
}

static void
narrower_clear(void *data)
{
	g_free(((struct narrower *)data)->text);
}

/* ---- clauses of a sample ---- */

/* Count a clause of the current match once. */
static void
add_one(
    struct tally *tally, enum clause_kind kind, const char *prefix, const char *text)
{
	char *key = g_strconcat(prefix, text, NULL);
	struct clause *clause = g_hash_table_lookup(tally->clauses, key);

	if (clause) {
		g_free(key);
	} else {
		clause = g_new0(struct clause, 1);
		clause->text = key;
		clause->kind = kind;
		g_hash_table_insert(tally->clauses, key, clause);
	}
	clause->count += clause->last != tally->sampled;
	clause->last = tally->sampled;
}

static void
add_votes(struct tally *tally, int64_t upvotes)
{
	static const char *const least[] = {"5", "10", "20", "50", "100"};

	for (size_t i = 0; i < G_N_ELEMENTS(least); i++)
		if (upvotes >= g_ascii_strtoll(least[i], NULL, 10))
			add_one(tally, CLAUSE_VOTES, "upvotes:>=", least[i]);
}

static bool
is_word(const char *folded)
{
	if (g_utf8_strlen(folded, -1) < WORD_CHARS)
		return false;
	for (const char *at = folded; *at; at = g_utf8_next_char(at))
		if (!g_unichar_isalpha(g_utf8_get_char(at)))
			return false;
	return true;
}

static void
add_words(struct tally *tally, const struct text_field *text_field)
{
	for (guint at = 0; at < text_field->tokens->len; at++) {
		const char *word = text_field_get_token(text_field, (int)at)->key.text;

		if (is_word(word))
			add_one(tally, CLAUSE_WORD, "", word);
	}
}

static bool
tally_paper(struct tally *tally, int64_t seq, GError **error)
{
	pb_local(search_match) match = {.store = tally->store, .seq = seq};
	const struct paper *paper;

	if (!search_match_load(&match, error))
		return false;
	paper = match.stored->paper;
	tally->sampled++;
	add_votes(tally, paper->upvotes);
	if (paper->code_url)
		add_one(tally, CLAUSE_CODE, "has:code", "");
	for (guint i = 0; paper->categories && i < paper->categories->len; i++)
		add_one(tally, CLAUSE_CATEGORY, "cat:", paper->categories->pdata[i]);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		add_words(tally, &match.document->texts[i]);
	return true;
}

static double
get_share(const struct tally *tally, const struct clause *clause)
{
	return (double)clause->count / tally->sampled;
}

/* ---- choice ---- */

static bool
is_about_target(const struct tally *tally, double rate)
{
	return rate >= RATE_MIN && rate <= RATE_MAX &&
	       rate <= RATE_LESS * tally->forecast->a_day;
}

/*
 * Compute how well a clause narrows the filter: for a word, matches with it, times the
 * log of its lift; for another clause, how close its rate is to NARROWER_TARGET.
 *
 * @param value  set; 0: not at all
 */
static bool
compute_value(const struct tally *tally, const struct clause *clause, double *value,
    GError **error)
{
	double share = get_share(tally, clause);
	double rate = tally->forecast->a_day * share, lift = 0;
	struct archive_size size;
	int64_t papers;

	*value = 0;
	if (!is_about_target(tally, rate))
		return true;
	if (clause->kind != CLAUSE_WORD) {
		*value = 1 / (1 + fabs(log(rate / NARROWER_TARGET)));
		return true;
	}
	if (!archive_load_size(tally->store, &size, error) ||
	    !archive_count_class(tally->store, clause->text, &papers, error))
		return false;
	if (papers)
		lift = share / ((double)papers / (double)size.papers);
	*value = lift >= WORD_LIFT ? clause->count * log(lift) : 0;
	return true;
}

static bool
choose_clauses(struct tally *tally, GError **error)
{
	double best[CLAUSE_KINDS] = {0};
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, tally->clauses);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct clause *clause = value;
		const struct clause **closest = &tally->closest[clause->kind];
		double own;

		if (!compute_value(tally, clause, &own, error))
			return false;
		if (own > best[clause->kind] ||
		    (own > 0 && own >= best[clause->kind] &&
		        strcmp(clause->text, (*closest)->text) < 0)) {
			best[clause->kind] = own;
			*closest = clause;
		}
	}
	return true;
}

/* ---- narrower filters ---- */

static bool
count_narrowed(void *data, struct search_match *match, GError **error)
{
	(void)error;
	forecast_count(data, match->day);
	return true;
}

/*
 * Join a filter with a clause that narrows it: "TEXT CLAUSE", with parentheses around
 * an OR.  A clause of one word has the folded text of its plural class, in place of
 * which the first word of the class is used, as people write it.
 *
 * @return a new string
 */
static char *
join_clause(const struct tally *tally, const struct clause *clause)
{
	bool is_word = clause->kind == CLAUSE_WORD;
	g_autoptr(GPtrArray) words =
	    is_word ? archive_load_class(tally->store, clause->text, NULL) : NULL;

	return g_strdup_printf(
	    tally->query->root->kind == NODE_OR ? "(%s) %s" : "%s %s", tally->text,
	    words && words->len ? (char *)words->pdata[0] : clause->text);
}

/* Add the filter with a clause, counted: the few matches read only estimate. */
static bool
add_narrower(const struct tally *tally, const struct clause *clause, GArray *filters,
    GError **error)
{
	struct narrower narrower = {.text = join_clause(tally, clause)};
	pb_auto(query) query = query_parse(
	    narrower.text, store_get_tokenizer(tally->store), NULL, NULL, NULL);
	const struct search_scope scope = {.oldest_day = tally->forecast->oldest,
	    .only = tally->matches,
	    .sample = COUNT_SAMPLE,
	    .now = tally->forecast->now};
	struct forecast forecast;
	unsigned step = 1;

	g_array_append_val(filters, narrower);
	forecast_init(&forecast, tally->forecast->now);
	if (query && !search_foreach(tally->store, query, &scope, count_narrowed,
	                 &forecast, &step, error))
		return false;
	forecast_scale(&forecast, step * tally->step);
	if (!forecast_compute(&forecast, tally->store, error))
		return false;
	/* It may have become too long, or find too few. */
	if (is_about_target(tally, forecast.a_day))
		g_array_index(filters, struct narrower, filters->len - 1).rate =
		    forecast.a_day;
	else
		g_array_set_size(filters, filters->len - 1);
	return true;
}

static int
compare_distance(const void *a, const void *b)
{
	double first = fabs(log(((const struct narrower *)a)->rate / NARROWER_TARGET));
	double second = fabs(log(((const struct narrower *)b)->rate / NARROWER_TARGET));

	return first < second ? -1 : first > second;
}

static void
list_filters(const struct tally *tally, GArray *filters, GPtrArray *notes)
{
	int64_t a_day = (int64_t)(tally->forecast->a_day + 0.5);

	g_array_sort(filters, compare_distance);
	g_ptr_array_add(notes,
	    msg_new(
	        filters->len
	            ? N_("{count} papers a day are many; narrower filters find fewer")
	            : N_("{count} papers a day are many: narrow the filter with "
	                 "another word, or NOT"),
	        "count", MSG_INT(a_day), NULL));
	for (guint i = 0; i < MIN(filters->len, NARROWER_MAX); i++) {
		const struct narrower *one =
		    &g_array_index(filters, struct narrower, i);

		g_ptr_array_add(notes, msg_new(BACKTEST_NARROWER, "count",
		                           MSG_INT((int64_t)(one->rate + 0.5)),
		                           "filter", one->text, NULL));
	}
}

/*
 * Add notes that there are many papers, and with which filters there are fewer.
 *
 * @param text     as typed
 * @param query    parsed from it
 * @param matches  of int64_t: seqs of those since forecast->oldest
 * @param part     every how many-th of them these are
 * @param notes    gets struct msg *
 */
static bool
narrower_add_notes(struct store *store, const struct forecast *forecast,
    const char *text, const struct query *query, const GArray *matches, unsigned part,
    GPtrArray *notes, GError **error)
{
	g_autoptr(GHashTable) clauses =
	    g_hash_table_new_full(g_str_hash, g_str_equal, NULL, clause_free);
	g_autoptr(GArray) filters = g_array_new(FALSE, FALSE, sizeof(struct narrower));
	struct tally tally = {.forecast = forecast,
	    .store = store,
	    .text = text,
	    .query = query,
	    .clauses = clauses,
	    .matches = matches,
	    .step = part};
	guint step = (matches->len + SAMPLE - 1) / SAMPLE;

	g_array_set_clear_func(filters, narrower_clear);
	for (guint i = 0; i < matches->len; i += step)
		if (!tally_paper(&tally, g_array_index(matches, int64_t, i), error))
			return false;
	if (!choose_clauses(&tally, error))
		return false;
	for (unsigned kind = 0; kind < CLAUSE_KINDS; kind++)
		if (tally.closest[kind] &&
		    !add_narrower(&tally, tally.closest[kind], filters, error))
			return false;
	list_filters(&tally, filters, notes);
	return true;
}

/* ---- backtest ---- */

/* State of a test. */
struct test {
	const struct query *query;
	GArray *found;  /* of int64_t: seqs of the matches, newest first */
	GArray *window; /* of int64_t: those of the forecast */
	unsigned step;  /* of search_foreach() */
	struct backtest *backtest;
	char oldest[DAY_BYTES]; /* first day of the test; the forecast may need more */
	const struct po *po;
};

static void
backtest_paper_free(void *data)
{
	struct backtest_paper *paper = data;

	g_free(paper->id);
	g_free(paper->title);
	g_free(paper->url);
	g_free(paper->words);
	g_free(paper);
}

void
backtest_free(struct backtest *backtest)
{
	if (!backtest)
		return;
	g_free(backtest->canonical);
	g_array_unref(backtest->by_day);
	g_ptr_array_unref(backtest->newest);
	g_ptr_array_unref(backtest->notes);
	g_free(backtest);
}

static struct backtest *
backtest_new(unsigned days, int64_t now)
{
	struct backtest *backtest = g_new0(struct backtest, 1);

	backtest->days = days;
	backtest->first_day_at = (now / CLOCK_DAY_S - days) * CLOCK_DAY_S;
	backtest->by_day = g_array_sized_new(FALSE, TRUE, sizeof(unsigned), days + 1);
	g_array_set_size(backtest->by_day, days + 1);
	backtest->newest = g_ptr_array_new_with_free_func(backtest_paper_free);
	backtest->notes = g_ptr_array_new_with_free_func((GDestroyNotify)msg_unref);
	return backtest;
}

static const struct backtest_paper *
get_last(const GPtrArray *papers)
{
	return papers->pdata[papers->len - 1];
}

/* Compare a match with a paper by day and id. @param is_newer  set */
static bool
is_newer_than(const struct search_match *match, const struct backtest_paper *paper,
    bool *is_newer, GError **error)
{
	int by_day = strcmp(match->day, paper->day);
	g_autofree char *id = NULL;

	*is_newer = by_day > 0;
	if (by_day)
		return true;
	if (!papers_find_id(match->store, match->seq, &id, error))
		return false;
	*is_newer = g_strcmp0(id, paper->id) > 0;
	return true;
}

/* Keep a paper that is among the newest, by day and id. */
static bool
keep_newest(struct test *test, struct search_match *match, GError **error)
{
	GPtrArray *newest = test->backtest->newest;
	struct backtest_paper *paper;
	const struct stored_paper *stored;
	guint at = newest->len;
	bool is_newer = at < BACKTEST_NEWEST;

	if (!is_newer && !is_newer_than(match, get_last(newest), &is_newer, error))
		return false;
	if (!is_newer)
		return true;
	if (!search_match_load(match, error))
		return false;
	stored = match->stored;
	for (; at > 0; at--) {
		const struct backtest_paper *before = newest->pdata[at - 1];
		int by_day = strcmp(before->day, stored->day);

		if (by_day > 0 ||
		    (by_day == 0 && strcmp(before->id, stored->paper->id) > 0))
			break;
	}
	paper = g_new0(struct backtest_paper, 1);
	paper->id = g_strdup(stored->paper->id);
	paper->title = g_strdup(stored->paper->title);
	paper->url = g_strdup(stored->paper->url);
	g_strlcpy(paper->day, stored->day, sizeof(paper->day));
	paper->words = query_explain_text(test->query, match->document, test->po);
	g_ptr_array_insert(newest, (int)at, paper);
	if (newest->len > BACKTEST_NEWEST)
		g_ptr_array_remove_index(newest, BACKTEST_NEWEST);
	return true;
}

static void
count_day(struct backtest *backtest, const char *day)
{
	int64_t at = (day_start(day) - backtest->first_day_at) / CLOCK_DAY_S;

	/* Listed for tomorrow, perhaps, by a source in another zone. */
	if (at >= 0)
		g_array_index(backtest->by_day, unsigned,
		    MIN(at, (int64_t)backtest->by_day->len - 1))++;
}

static bool
count_paper(void *data, struct search_match *match, GError **error)
{
	struct test *test = data;

	forecast_count(&test->backtest->forecast, match->day);
	if (strcmp(match->day, test->backtest->forecast.oldest) >= 0)
		g_array_append_val(test->window, match->seq);
	if (strcmp(match->day, test->oldest) < 0)
		return true;
	test->backtest->found++;
	count_day(test->backtest, match->day);
	g_array_append_val(test->found, match->seq);
	return keep_newest(test, match, error);
}

/* ---- other filters of the subscriber ---- */

enum { IS_KNOWN = 1, IS_BLOCKED = 2 };

static bool
add_seq(void *data, struct search_match *match, GError **error)
{
	(void)error;
	g_array_append_val((GArray *)data, match->seq);
	return true;
}

/* Load the papers that a filter has found, or that are among those of the test. */
static GArray *
load_found(struct store *store, const struct test *test, int64_t now,
    const struct subscription *other, GError **error)
{
	const struct search_scope scope = {
	    .oldest_day = test->oldest, .only = test->found, .now = now};
	g_autoptr(GArray) seqs = NULL;
	pb_auto(query) query = NULL;
	bool is_old;

	if (!matches_has_filter_at(store, other->filter_id,
	        now - BACKTEST_DAYS * (int64_t)CLOCK_DAY_S, &is_old, error))
		return NULL;
	if (is_old && test->backtest->days <= BACKTEST_DAYS)
		return matches_load_seqs(store, other->filter_id, error);
	seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	query =
	    query_parse_canonical(other->canonical, store_get_tokenizer(store), NULL);
	if (query && !search_foreach(store, query, &scope, add_seq, seqs, NULL, error))
		return NULL;
	return g_steal_pointer(&seqs);
}

static bool
count_others(struct store *store, const struct backtest_request *request,
    struct test *test, GError **error)
{
	g_autofree uint8_t *marks = g_new0(uint8_t, test->found->len);
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, request->subscriber_id, error);

	for (unsigned i = 0; own && i < own->len; i++) {
		const struct subscription *other = own->pdata[i];
		g_autoptr(GArray) seqs = NULL;
		guint at;

		if (other->number == request->number)
			continue;
		seqs = load_found(store, test, request->now, other, error);
		if (!seqs)
			return false;
		for (unsigned n = 0; n < seqs->len; n++)
			if (g_array_binary_search(test->found,
			        &g_array_index(seqs, int64_t, n), compare_seqs, &at))
				marks[at] |= other->is_block ? IS_BLOCKED : IS_KNOWN;
	}
	for (guint i = 0; i < test->found->len; i++) {
		test->backtest->known += (marks[i] & IS_KNOWN) != 0;
		test->backtest->blocked += (marks[i] & IS_BLOCKED) != 0;
	}
	return own != NULL;
}

/* @param days  set to the number of days from the archive's first to today */
static bool
load_known_days(struct store *store, int64_t now, int64_t *days, GError **error)
{
	char first[DAY_BYTES];

	if (!paper_history_load_first_day(store, first, error))
		return false;
	*days = *first ? (now - day_start(first)) / CLOCK_DAY_S + 1 : 0;
	return true;
}

/* Number of days that the archive covers, and matches per day. */
static bool
load_covered(
    struct store *store, int64_t now, struct backtest *backtest, GError **error)
{
	int64_t known;

	if (!load_known_days(store, now, &known, error))
		return false;
	backtest->covered_days = (unsigned)CLAMP(known, 0, (int64_t)backtest->days);
	if (backtest->covered_days)
		backtest->a_day =
		    (double)backtest->found / (double)backtest->covered_days;
	return true;
}

static void
add_note(struct backtest *backtest, struct msg *note)
{
	g_ptr_array_add(backtest->notes, note);
}

/* Without matches, test a longer time. */
static bool
add_nothing_note(struct store *store, const struct query *query, int64_t now,
    struct backtest *backtest, GError **error)
{
	char day[DAY_BYTES];
	const struct search_scope scope = {
	    .oldest_day = day, .sample = BOUNDS_SEARCH_EVALUATED, .now = now};
	g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	unsigned found, step;
	int64_t known, more;

	if (!load_known_days(store, now, &known, error))
		return false;
	more = MIN(known, BACKTEST_LONG_DAYS);
	if (backtest->covered_days >= more)
		return true;
	day_format(now - BACKTEST_LONG_DAYS * (int64_t)CLOCK_DAY_S, day);
	if (!search_foreach(store, query, &scope, add_seq, seqs, &step, error))
		return false;
	found = seqs->len * step;
	add_note(backtest,
	    found
	        ? msg_new(N_("no papers in {days} days, but {count} in {more} days"),
	              "days", MSG_INT(backtest->days), "count", MSG_INT(found), "more",
	              MSG_INT(more), NULL)
	        : msg_new(N_("no papers in {days} days: is this the intended filter?"),
	              "days", MSG_INT(more), NULL));
	return true;
}

static bool
add_notes(struct store *store, const struct backtest_request *request,
    const struct test *test, GError **error)
{
	struct backtest *backtest = test->backtest;
	int64_t now = request->now;
	char day[DAY_BYTES];
	const struct search_scope scope = {
	    .oldest_day = day, .sample = BOUNDS_SEARCH_EVALUATED, .now = now};

	day_format(now - backtest->days * (int64_t)CLOCK_DAY_S, day);
	if (!backtest->found && backtest->covered_days &&
	    !add_nothing_note(store, test->query, now, backtest, error))
		return false;
	return query_stats_add(store, test->query,
	    request->has_suggestions || test->step > 1 ? NULL : &scope, test->found,
	    backtest->notes, error);
}

/* Compute the forecast, and narrower filters if there are too many papers. */
static bool
add_forecast(struct store *store, const struct backtest_request *request,
    const struct test *test, GError **error)
{
	struct backtest *backtest = test->backtest;
	pb_auto(subscriber) subscriber = NULL;

	if (request->is_block)
		return true;
	if (request->subscriber_id) {
		subscriber = subscribers_load(store, request->subscriber_id, error);
		if (!subscriber)
			return false;
	}
	if (!forecast_compute(&backtest->forecast, store, error))
		return false;
	return !forecast_is_flood(&backtest->forecast,
	           subscriber ? (unsigned)subscriber->max_full : 0) ||
	       narrower_add_notes(store, &backtest->forecast, request->text,
	           test->query, test->window, test->step, backtest->notes, error);
}

/* The matches counted are a sample. */
static void
scale(struct test *test)
{
	struct backtest *backtest = test->backtest;

	backtest->found *= test->step;
	backtest->known *= test->step;
	backtest->blocked *= test->step;
	for (guint i = 0; i < backtest->by_day->len; i++)
		g_array_index(backtest->by_day, unsigned, i) *= test->step;
	forecast_scale(&backtest->forecast, test->step);
	add_note(backtest,
	    msg_new(N_("estimated: only one in {step} of the papers was tested"),
	        "step", MSG_INT(test->step), NULL));
}

static bool
find(struct store *store, const struct backtest_request *request, struct test *test,
    GError **error)
{
	struct backtest *backtest = test->backtest;
	const char *window = backtest->forecast.oldest;
	struct search_scope scope = {.oldest_day = test->oldest,
	    .sample = BOUNDS_SEARCH_EVALUATED,
	    .now = request->now};

	day_format(request->now - backtest->days * (int64_t)CLOCK_DAY_S, test->oldest);
	if (strcmp(window, test->oldest) < 0)
		scope.oldest_day = window;
	if (!search_foreach(
	        store, test->query, &scope, count_paper, test, &test->step, error) ||
	    (request->subscriber_id && !count_others(store, request, test, error)))
		return false;
	if (test->step > 1)
		scale(test);
	return load_covered(store, request->now, backtest, error) &&
	       add_forecast(store, request, test, error) &&
	       add_notes(store, request, test, error);
}

struct backtest *
backtest_run(struct store *store, const struct backtest_request *request,
    struct query_error *problem, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	pb_auto(query) query = NULL;
	pb_auto(backtest) backtest = NULL;
	struct test test = {0};
	bool is_ok;

	if (request->days > BOUNDS_BACKTEST_DAYS) {
		pb_fail(error, PB_ERROR_INPUT, "a test covers 1 to %d days",
		    BOUNDS_BACKTEST_DAYS);
		return NULL;
	}
	query = query_parse(
	    request->text, store_get_tokenizer(store), &warnings, problem, error);
	if (!query)
		return NULL;
	backtest =
	    backtest_new(request->days ? request->days : BACKTEST_DAYS, request->now);
	backtest->canonical = query_format(query);
	forecast_init(&backtest->forecast, request->now);
	g_ptr_array_unref(backtest->notes);
	backtest->notes = g_steal_pointer(&warnings);
	test.query = query;
	test.found = g_array_new(FALSE, FALSE, sizeof(int64_t));
	test.window = g_array_new(FALSE, FALSE, sizeof(int64_t));
	test.backtest = backtest;
	test.po = request->po;
	is_ok = filters_add_notes(
	            store, query, request->is_block, backtest->notes, error) &&
	        find(store, request, &test, error);
	g_array_unref(test.found);
	g_array_unref(test.window);
	return is_ok ? g_steal_pointer(&backtest) : NULL;
}

/* @return int64_t: the matches, newest first; NULL with an error */
static GArray *
collect(struct store *store, const char *canonical, unsigned days, int64_t now,
    GError **error)
{
	g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	pb_auto(query) query =
	    query_parse_canonical(canonical, store_get_tokenizer(store), error);
	char day[DAY_BYTES];
	const struct search_scope scope = {.oldest_day = day, .now = now};

	day_format(now - days * (int64_t)CLOCK_DAY_S, day);
	if (!query || !search_foreach(store, query, &scope, add_seq, seqs, NULL, error))
		return NULL;
	return g_steal_pointer(&seqs);
}

bool
backtest_compare(struct store *store, const char *before, const char *after,
    unsigned days, int64_t now, struct backtest_difference *difference, GError **error)
{
	g_autoptr(GArray) one = collect(store, before, days, now, error);
	g_autoptr(GArray) other = one ? collect(store, after, days, now, error) : NULL;

	if (!other)
		return false;
	*difference =
	    (struct backtest_difference){.before = one->len, .after = other->len};
	for (guint i = 0; i < one->len; i++)
		difference->both += g_array_binary_search(
		    other, &g_array_index(one, int64_t, i), compare_seqs, NULL);
	return true;
}

bool
backtest_limit_days(struct store *store, int64_t now, unsigned *days, GError **error)
{
	int64_t known;

	if (!load_known_days(store, now, &known, error))
		return false;
	*days = (unsigned)CLAMP(known, 1, (int64_t)*days);
	return true;
}

bool
backtest_count(struct store *store, const char *canonical, unsigned days, int64_t now,
    unsigned *found, GError **error)
{
	g_autoptr(GArray) seqs = collect(store, canonical, days, now, error);

	if (seqs)
		*found = seqs->len;
	return seqs != NULL;
}

/* ---- stored filters ---- */

static void
add_stored(struct backtest *backtest, const struct matches_paper *match)
{
	struct backtest_paper *paper;

	backtest->found++;
	count_day(backtest, match->day);
	if (backtest->newest->len == BACKTEST_NEWEST)
		return;
	paper = g_new0(struct backtest_paper, 1);
	paper->id = g_strdup(match->id);
	paper->title = g_strdup(match->title);
	paper->url = g_strdup(match->url);
	g_strlcpy(paper->day, match->day, sizeof(paper->day));
	g_ptr_array_add(backtest->newest, paper);
}

static struct backtest *
load_matches(struct store *store, const struct subscription *subscription, int64_t now,
    GError **error)
{
	pb_auto(backtest) backtest = backtest_new(BACKTEST_DAYS, now);
	g_autoptr(GPtrArray) papers = NULL;
	char day[DAY_BYTES];

	day_format(backtest->first_day_at, day);
	papers = matches_load_papers(store, subscription->filter_id, day, error);
	if (!papers)
		return NULL;
	backtest->canonical = g_strdup(subscription->canonical);
	for (unsigned i = 0; i < papers->len; i++)
		add_stored(backtest, papers->pdata[i]);
	return load_covered(store, now, backtest, error) ? g_steal_pointer(&backtest)
	                                                 : NULL;
}

struct backtest *
backtest_load(struct store *store, const struct subscription *subscription, int64_t now,
    GError **error)
{
	const struct backtest_request request = {
	    .text = subscription->canonical, .now = now};
	bool is_old;

	if (!matches_has_filter_at(store, subscription->filter_id,
	        now - BACKTEST_DAYS * (int64_t)CLOCK_DAY_S, &is_old, error))
		return NULL;
	return is_old ? load_matches(store, subscription, now, error)
	              : backtest_run(store, &request, NULL, error);
}
