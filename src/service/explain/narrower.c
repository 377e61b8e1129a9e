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

/* Papers per day that are about NARROWER_TARGET, and fewer than without. */
#define RATE_MIN  5.0
#define RATE_MAX  15.0
#define RATE_LESS 0.8

#define NARROWER_MAX 3

/* Matches whose texts are read, evenly spread: the others are counted by votes only. */
#define SAMPLE 200

/* An additional word is at least this long, and this much more frequent than usual. */
#define WORD_CHARS 4
#define WORD_LIFT  1.2

enum narrower_kind {
	NARROWER_TITLE,
	NARROWER_CODE,
	NARROWER_VOTES,
	NARROWER_CATEGORY,
	NARROWER_WORD,
};

/* Numbers of votes to try. */
static const int least_upvotes[] = {5, 10, 20, 50, 100};

/* A narrower filter. */
struct narrower {
	enum narrower_kind kind;
	char *text;
	struct query *query;
	unsigned count; /* in the sample ... */
	unsigned of;    /* which has this number of matches */
};

/* A word or category of the sample; begins with the key of the hash table. */
struct feature {
	struct phrase_key key; /* owns its text */
	unsigned count;        /* matches with it */
	unsigned last;         /* the last of them */
};

struct tally {
	const struct forecast *forecast;
	struct store *store;
	const char *text;
	const struct query *query; /* of the text */
	const GArray *matches;     /* of struct narrower_match */
	unsigned sampled;          /* of these */
	GArray *narrower;          /* of struct narrower */
	GHashTable *words;         /* of struct feature *, folded words */
	GHashTable *categories;    /* likewise */
};

static void
narrower_clear(void *data)
{
	struct narrower *narrower = data;

	g_free(narrower->text);
	query_free(narrower->query);
}

/* "TEXT CLAUSE", with parentheses if they are necessary */
static char *
join_clause(const struct tally *tally, const char *clause)
{
	return g_strdup_printf(
	    tally->query->root->kind == NODE_OR ? "(%s) %s" : "%s %s", tally->text,
	    clause);
}

/* A filter that would be too long is left out. @param text  taken */
static void
add_query(struct tally *tally, enum narrower_kind kind, char *text)
{
	struct narrower narrower = {.kind = kind,
	    .text = text,
	    .query =
	        query_parse(text, store_get_tokenizer(tally->store), NULL, NULL, NULL)};

	if (narrower.query)
		g_array_append_val(tally->narrower, narrower);
	else
		g_free(text);
}

static void
feature_free(void *data)
{
	struct feature *feature = data;

	g_free((char *)feature->key.text);
	g_free(feature);
}

static GHashTable *
new_features(void)
{
	return g_hash_table_new_full(
	    phrase_key_hash, phrase_key_equal, feature_free, NULL);
}

/* Count a feature of the current match once. */
static void
add_one(GHashTable *features, const struct phrase_key *key, unsigned match)
{
	struct feature *feature = g_hash_table_lookup(features, key);

	if (!feature) {
		feature = g_new0(struct feature, 1);
		feature->key.hash = key->hash;
		feature->key.text = g_strdup(key->text);
		g_hash_table_add(features, feature);
	}
	feature->count += feature->last != match;
	feature->last = match;
}

static void
add_words(struct tally *tally, const struct text_field *text_field)
{
	for (guint at = 0; at < text_field->tokens->len; at++)
		add_one(tally->words, &text_field_get_token(text_field, (int)at)->key,
		    tally->sampled);
}

static bool
tally_paper(struct tally *tally, int64_t seq, GError **error)
{
	pb_local(search_match) match = {.store = tally->store, .seq = seq};
	const GPtrArray *categories;

	if (!search_match_load(&match, error))
		return false;
	categories = match.stored->paper->categories;
	tally->sampled++;
	for (unsigned i = 0; i < tally->narrower->len; i++) {
		struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, i);

		one->count += query_evaluate(one->query, match.document,
		                  QUERY_AS_REPORTED) == QUERY_TRUE;
	}
	for (unsigned i = 0; categories && i < categories->len; i++) {
		const char *category = categories->pdata[i];
		const struct phrase_key key = {g_str_hash(category), category};

		add_one(tally->categories, &key, tally->sampled);
	}
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		add_words(tally, &match.document->texts[i]);
	return true;
}

/* Read the texts of a sample. */
static bool
tally_sample(struct tally *tally, GError **error)
{
	guint step = (tally->matches->len + SAMPLE - 1) / SAMPLE;

	for (guint i = 0; i < tally->matches->len; i += step)
		if (!tally_paper(tally,
		        g_array_index(tally->matches, struct narrower_match, i).seq,
		        error))
			return false;
	for (unsigned i = 0; i < tally->narrower->len; i++)
		g_array_index(tally->narrower, struct narrower, i).of = tally->sampled;
	return true;
}

static unsigned
count_voted(const struct tally *tally, int64_t least)
{
	unsigned count = 0;

	for (guint i = 0; i < tally->matches->len; i++)
		count +=
		    g_array_index(tally->matches, struct narrower_match, i).upvotes >=
		    least;
	return count;
}

/* Papers per day if the filter had only so many of the matches. */
static double
get_rate(const struct tally *tally, unsigned count, unsigned of)
{
	return of ? tally->forecast->a_day * count / of : 0;
}

static bool
is_about_target(const struct tally *tally, double rate)
{
	return rate >= RATE_MIN && rate <= RATE_MAX &&
	       rate <= RATE_LESS * tally->forecast->a_day;
}

/* Distance from the target, as a ratio. */
static double
get_distance(double rate)
{
	return fabs(log(rate / NARROWER_TARGET));
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

/* Weight of a word among the matches: matches with it, times the log of its lift. */
static bool
score_word(const struct tally *tally, int64_t archive, const struct feature *word,
    double *score, GError **error)
{
	int64_t papers;
	double lift;

	if (!archive_count_class(tally->store, word->key.text, &papers, error))
		return false;
	lift = papers ? ((double)word->count / tally->sampled) /
	                    ((double)papers / (double)archive)
	              : 0;
	*score = lift >= WORD_LIFT ? word->count * log(lift) : 0;
	return true;
}

/* @param best  set to the most typical word, borrowed from the tally, or NULL */
static bool
find_word(const struct tally *tally, const struct feature **best, GError **error)
{
	double best_score = 0;
	struct archive_size size;
	GHashTableIter iter;
	gpointer key;

	*best = NULL;
	if (!archive_load_size(tally->store, &size, error))
		return false;
	g_hash_table_iter_init(&iter, tally->words);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct feature *word = key;
		double score;

		if (!is_about_target(
		        tally, get_rate(tally, word->count, tally->sampled)) ||
		    !is_word(word->key.text))
			continue;
		if (!score_word(tally, size.papers, word, &score, error))
			return false;
		if (score > best_score ||
		    (score > 0 && score >= best_score &&
		        strcmp(word->key.text, (*best)->key.text) < 0)) {
			best_score = score;
			*best = word;
		}
	}
	return true;
}

/* @return the category closest to the target, borrowed from the tally; or NULL */
static const struct feature *
find_category(const struct tally *tally)
{
	const struct feature *best = NULL;
	double best_distance = G_MAXDOUBLE;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, tally->categories);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct feature *category = key;
		double rate = get_rate(tally, category->count, tally->sampled);
		double distance =
		    is_about_target(tally, rate) ? get_distance(rate) : G_MAXDOUBLE;

		if (distance < best_distance ||
		    (best && distance <= best_distance &&
		        strcmp(category->key.text, best->key.text) < 0)) {
			best_distance = distance;
			best = category;
		}
	}
	return best;
}

/* Append the clause to the narrower filters. @param clause  taken */
static void
add_counted(struct tally *tally, enum narrower_kind kind, char *clause, unsigned count,
    unsigned of)
{
	unsigned before = tally->narrower->len;

	add_query(tally, kind, join_clause(tally, clause));
	if (tally->narrower->len > before) {
		struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, before);

		one->count = count;
		one->of = of;
	}
	g_free(clause);
}

static bool
count_match(void *data, struct search_match *match, GError **error)
{
	(void)match;
	(void)error;
	++*(unsigned *)data;
	return true;
}

/* Count the matches of a filter, if they can all be counted: the sample may err. */
static bool
count_exactly(const struct tally *tally, struct narrower *narrower, GError **error)
{
	const struct search_scope scope = {
	    .oldest_day = tally->forecast->oldest, .now = tally->forecast->now};
	unsigned count = 0, step;

	if (!search_foreach(tally->store, narrower->query, &scope, count_match, &count,
	        &step, error))
		return false;
	if (step == 1) {
		narrower->count = count;
		narrower->of = tally->matches->len;
	}
	return true;
}

/* The word as people write it: its class has the singular and the plural. */
static char *
format_word(struct store *store, const char *folded)
{
	g_autoptr(GPtrArray) words = archive_load_class(store, folded, NULL);

	return g_strdup(words && words->len ? words->pdata[0] : folded);
}

/* Find the narrower filter closest to the target. @return NULL if none is about it */
static const struct narrower *
find_closest(const struct tally *tally)
{
	const struct narrower *best = NULL;
	double best_distance = G_MAXDOUBLE;

	for (unsigned i = 0; i < tally->narrower->len; i++) {
		const struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, i);
		double rate = get_rate(tally, one->count, one->of);

		if (is_about_target(tally, rate) &&
		    get_distance(rate) < best_distance) {
			best = one;
			best_distance = get_distance(rate);
		}
	}
	return best;
}

/* One of each kind is enough. */
static void
drop_kind(struct tally *tally, enum narrower_kind kind)
{
	for (unsigned i = 0; i < tally->narrower->len; i++) {
		struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, i);

		if (one->kind == kind)
			one->count = 0;
	}
}

static void
add_notes(struct tally *tally, GPtrArray *notes)
{
	const struct narrower *best = find_closest(tally);
	int64_t a_day = (int64_t)(tally->forecast->a_day + 0.5);

	g_ptr_array_add(notes, msg_new(best ? MSG_NOTE_MANY_BUT : MSG_NOTE_MANY,
	                           "count", MSG_INT(a_day), NULL));
	for (unsigned i = 0; best && i < NARROWER_MAX; i++) {
		double rate = get_rate(tally, best->count, best->of);

		g_ptr_array_add(notes,
		    msg_new(MSG_NOTE_NARROWER, "count", MSG_INT((int64_t)(rate + 0.5)),
		        "filter", best->text, NULL));
		drop_kind(tally, best->kind);
		best = find_closest(tally);
	}
}

static bool
run_tally(struct tally *tally, GError **error)
{
	bool is_single = !strpbrk(tally->text, " ()\":^");
	const struct feature *category, *word;

	add_query(tally, NARROWER_TITLE,
	    g_strdup_printf(is_single ? "title:%s" : "title:(%s)", tally->text));
	add_query(tally, NARROWER_CODE, join_clause(tally, "has:code"));
	if (!tally_sample(tally, error) || !find_word(tally, &word, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(least_upvotes); i++)
		add_counted(tally, NARROWER_VOTES,
		    g_strdup_printf("upvotes:>=%d", least_upvotes[i]),
		    count_voted(tally, least_upvotes[i]), tally->matches->len);
	category = find_category(tally);
	if (category)
		add_counted(tally, NARROWER_CATEGORY,
		    g_strconcat("cat:", category->key.text, NULL), category->count,
		    tally->sampled);
	if (word)
		add_counted(tally, NARROWER_WORD,
		    format_word(tally->store, word->key.text), word->count,
		    tally->sampled);
	for (unsigned i = 0; i < tally->narrower->len; i++) {
		struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, i);

		if ((one->kind == NARROWER_TITLE || one->kind == NARROWER_WORD) &&
		    !count_exactly(tally, one, error))
			return false;
	}
	return true;
}

bool
narrower_add_notes(struct store *store, const struct forecast *forecast,
    const char *text, const struct query *query, const GArray *matches,
    GPtrArray *notes, GError **error)
{
	struct tally tally = {
	    .forecast = forecast,
	    .store = store,
	    .text = text,
	    .query = query,
	    .matches = matches,
	    .narrower = g_array_new(FALSE, FALSE, sizeof(struct narrower)),
	    .words = new_features(),
	    .categories = new_features(),
	};
	bool is_ok;

	g_array_set_clear_func(tally.narrower, narrower_clear);
	is_ok = run_tally(&tally, error);
	if (is_ok)
		add_notes(&tally, notes);
	g_array_unref(tally.narrower);
	g_hash_table_unref(tally.words);
	g_hash_table_unref(tally.categories);
	return is_ok;
}
