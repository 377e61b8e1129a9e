/*
 * narrower.c - narrower filters, for one that finds too many papers.
 */
#include "service/explain/narrower.h"

#include <math.h>
#include <string.h>

#include "base/msg.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/tree.h"
#include "service/match/search.h"
#include "store/paper/archive.h"

/* Papers per day of a narrower filter: about NARROWER_TARGET, and fewer than without.
 */
#define RATE_MIN  5.0
#define RATE_MAX  15.0
#define RATE_LESS 0.8

/* Maximum number of narrower filters offered, one of each kind. */
#define NARROWER_MAX 3

/* Maximum number of matches that are read to find clauses, evenly spread: reading all
 * would take longer than the test of the filter. */
#define SAMPLE 200

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
	const struct query *query;                  /* of the text */
	GHashTable *clauses;                        /* char * -> struct clause * */
	unsigned sampled;                           /* matches that were read */
	const struct clause *closest[CLAUSE_KINDS]; /* to the target; of words the most
	                                              typical */
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

/* Value of a word: matches with it, times the log of its lift; of another clause: how
 * close it is to the target. */
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
count_match(void *data, struct search_match *match, GError **error)
{
	(void)error;
	forecast_count(data, match->day);
	return true;
}

/* "TEXT CLAUSE", with parentheses if they are necessary; a word as people write it: its
 * class has the singular and the plural. */
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

/* Add the filter with a clause, counted: a sample only estimates. */
static bool
add_narrower(const struct tally *tally, const struct clause *clause, GArray *filters,
    GError **error)
{
	struct narrower narrower = {.text = join_clause(tally, clause)};
	pb_auto(query) query = query_parse(
	    narrower.text, store_get_tokenizer(tally->store), NULL, NULL, NULL);
	const struct search_scope scope = {
	    .oldest_day = tally->forecast->oldest, .now = tally->forecast->now};
	struct forecast forecast;
	unsigned step = 1;

	g_array_append_val(filters, narrower);
	forecast_init(&forecast, tally->forecast->now);
	if (query && !search_foreach(tally->store, query, &scope, count_match,
	                 &forecast, &step, error))
		return false;
	forecast_scale(&forecast, step);
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
add_notes(const struct tally *tally, GArray *filters, GPtrArray *notes)
{
	int64_t a_day = (int64_t)(tally->forecast->a_day + 0.5);

	g_array_sort(filters, compare_distance);
	g_ptr_array_add(notes, msg_new(filters->len ? MSG_NOTE_MANY_BUT : MSG_NOTE_MANY,
	                           "count", MSG_INT(a_day), NULL));
	for (guint i = 0; i < MIN(filters->len, NARROWER_MAX); i++) {
		const struct narrower *one =
		    &g_array_index(filters, struct narrower, i);

		g_ptr_array_add(notes, msg_new(MSG_NOTE_NARROWER, "count",
		                           MSG_INT((int64_t)(one->rate + 0.5)),
		                           "filter", one->text, NULL));
	}
}

bool
narrower_add_notes(struct store *store, const struct forecast *forecast,
    const char *text, const struct query *query, const GArray *matches,
    GPtrArray *notes, GError **error)
{
	g_autoptr(GHashTable) clauses =
	    g_hash_table_new_full(g_str_hash, g_str_equal, NULL, clause_free);
	g_autoptr(GArray) filters = g_array_new(FALSE, FALSE, sizeof(struct narrower));
	struct tally tally = {.forecast = forecast,
	    .store = store,
	    .text = text,
	    .query = query,
	    .clauses = clauses};

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
	add_notes(&tally, filters, notes);
	return true;
}
