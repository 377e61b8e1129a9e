/*
 * suggest.c - words and phrases that would find more papers like those of a filter.
 */
#include "service/explain/suggest.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "message/sanitize.h"
#include "query/parse/canonical.h"
#include "query/parse/tree.h"
#include "query/parse/widen.h"
#include "query/taste/recall.h"
#include "query/taste/related.h"
#include "query/text/acronym.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"
#include "service/explain/recall_search.h"
#include "service/match/search.h"
#include "store/paper/archive.h"

/* The filter's papers: those of these days, or all if they are few; a sample of them.
 */
#define HITS_DAYS   60
#define HITS_FEW    30
#define HITS_SAMPLE 150

/* Terms that are related, and those of them that are tried. */
#define TERMS_FOUND 60
#define TERMS_MAX   16

/* Maximum number of papers that a suggestion adds: times those of the filter, or so
 * many. */
#define GAIN_RATIO 2
#define GAIN_SMALL 20

/* Words typical of the filter's papers, and how many new papers are compared. */
#define TYPICAL_MAX  60
#define COMPARED_MAX 12
#define COMPARED_MIN 2
#define PHRASE_FEW   6

#define SHRINKING 8

/* A related term: share of its papers that the filter finds, and how many times that of
 * all papers. */
#define PRECISION_MIN 0.1
#define LIFT_MIN      13

/* Acronyms or long forms of a clause, those that most papers define first. */
#define FORMS_MAX 2

/* Share of the papers with an acronym that have the phrase, too: others may mean
 * something else. */
#define FORM_PRECISION_MIN 0.25

/* Share of the new papers that resemble the filter's own, %. */
#define SIMILAR_MIN 50

#define TITLE_CHARS 70

/* A part of the filter to which an alternative can be added. */
struct place {
	const struct node *part;   /* an operand of AND, or the root */
	const struct node *clause; /* NODE_WORDS in it, for field and boost */
};

struct state {
	struct store *store;
	const struct suggest_request *request;
	const struct query *query;
	GArray *hits;          /* of int64_t: the filter's papers, newest first */
	GHashTable *own;       /* int64_t seq of each */
	unsigned recent;       /* of the last SUGGEST_DAYS days */
	const char *since;     /* oldest of their days; NULL: all */
	struct matrix *matrix; /* of a sample of the hits */
	GPtrArray *acronyms;   /* defined in them */
	GArray *places;        /* of struct place */
	int64_t papers;        /* in the archive */
	int64_t searched;      /* of these, of the days since then */
	unsigned matching;     /* of these, about */
	char oldest[DAY_BYTES], recent_day[DAY_BYTES];
	GHashTable *counts;  /* word -> int64_t *: papers of the archive */
	GHashTable *typical; /* word -> double *: weight */
	double threshold;    /* score of a paper that resembles the hits */
	unsigned missed;     /* other papers with a form of a clause */
	GError *problem;     /* of count_term() */
};

void
suggestion_free(struct suggestion *suggestion)
{
	if (!suggestion)
		return;
	g_free(suggestion->term);
	g_free(suggestion->text);
	g_free(suggestion->title);
	g_free(suggestion);
}

static void
state_clear(struct state *state)
{
	g_array_unref(state->hits);
	g_hash_table_unref(state->own);
	matrix_free(state->matrix);
	g_ptr_array_unref(state->acronyms);
	g_array_unref(state->places);
	g_hash_table_unref(state->typical);
	g_hash_table_unref(state->counts);
	g_clear_error(&state->problem);
}

static void
state_init(struct state *state)
{
	state->hits = g_array_new(FALSE, FALSE, sizeof(int64_t));
	state->own = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	state->matrix = matrix_new(store_get_tokenizer(state->store), true);
	state->acronyms = g_ptr_array_new_with_free_func((GDestroyNotify)acronym_free);
	state->places = g_array_new(FALSE, FALSE, sizeof(struct place));
	state->typical = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	day_format(
	    state->request->now - HITS_DAYS * (int64_t)CLOCK_DAY_S, state->oldest);
	day_format(state->request->now - SUGGEST_DAYS * (int64_t)CLOCK_DAY_S,
	    state->recent_day);
	state->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* ---- the filter's papers ---- */

static bool
add_hit(void *data, struct search_match *match, GError **error)
{
	struct state *state = data;

	(void)error;
	g_array_append_val(state->hits, match->seq);
	g_hash_table_add(state->own, g_memdup2(&match->seq, sizeof(match->seq)));
	state->recent += strcmp(match->day, state->recent_day) >= 0;
	return true;
}

static bool
find_hits(struct state *state, GError **error)
{
	struct search_scope scope = {
	    .oldest_day = state->oldest, .now = state->request->now};
	struct archive_size size;

	state->since = state->oldest;
	if (!archive_load_size(state->store, &size, error) ||
	    !archive_count_since(
	        state->store, state->oldest, &state->searched, error) ||
	    !search_foreach(
	        state->store, state->query, &scope, add_hit, state, NULL, error))
		return false;
	state->papers = size.papers;
	if (state->hits->len >= HITS_FEW) {
		state->matching = (unsigned)(state->hits->len * size.papers /
		                             MAX(state->searched, 1));
		return true;
	}
	state->since = scope.oldest_day = NULL;
	state->searched = size.papers;
	state->recent = 0;
	g_array_set_size(state->hits, 0);
	if (!search_foreach(
	        state->store, state->query, &scope, add_hit, state, NULL, error))
		return false;
	state->matching = state->hits->len;
	return true;
}

static bool
read_hits(struct state *state, GError **error)
{
	for (unsigned i = 0; i < MIN(state->hits->len, HITS_SAMPLE); i++) {
		int64_t seq = g_array_index(state->hits, int64_t, i);
		g_autofree struct archive_text *text = NULL;
		g_autoptr(GPtrArray) defined = NULL;

		if (!archive_find_text(state->store, seq, &text, error))
			return false;
		if (!text)
			continue;
		if (!matrix_add(state->matrix, text->title, text->abstract, error))
			return false;
		defined = acronym_find(text->abstract);
		g_ptr_array_extend_and_steal(
		    state->acronyms, g_steal_pointer(&defined));
	}
	return true;
}

/* ---- typical words ---- */

static int64_t
count_word(struct state *state, const char *folded)
{
	int64_t *known = g_hash_table_lookup(state->counts, folded);
	int64_t papers = 0;

	if (known)
		return *known;
	if (!state->problem)
		archive_count_class(state->store, folded, &papers, &state->problem);
	g_hash_table_insert(
	    state->counts, g_strdup(folded), g_memdup2(&papers, sizeof(papers)));
	return papers;
}

/* About: between its papers here and those of its rarer word.  Counting takes longer
 * than all else, and the papers that it adds are counted later. */
static unsigned
estimate_pair(struct state *state, const char *text, unsigned at_least)
{
	g_auto(GStrv) words = g_strsplit(text, " ", 2);
	int64_t rarer = MIN(count_word(state, words[0]), count_word(state, words[1]));

	return (unsigned)sqrt((double)rarer * at_least);
}

static unsigned
count_term(void *data, const struct matrix_term *term, unsigned at_least)
{
	struct state *state = data;

	if (term->papers < 2)
		return at_least;
	if (term->is_pair)
		return MAX(estimate_pair(state, term->text, at_least), at_least);
	return MAX((unsigned)count_word(state, term->text), at_least);
}

/* A word, and how much more frequent it is in the filter's papers. */
struct typical {
	const char *word;
	double weight, order;
};

static int
compare_typical(const void *a, const void *b)
{
	const struct typical *first = a, *second = b;

	return first->order > second->order ? -1 : first->order < second->order;
}

static double
get_logit(double part, double all)
{
	return log((part + 0.5) / (all - part + 0.5));
}

static double
score_paper(const struct state *state, unsigned paper)
{
	double score = 0;
	size_t count;
	const struct matrix_count *counts =
	    matrix_get_counts(state->matrix, paper, &count);

	for (size_t i = 0; i < count; i++) {
		const struct matrix_term *term =
		    matrix_get_term(state->matrix, counts[i].term);
		const double *weight = g_hash_table_lookup(state->typical, term->text);

		score += weight ? *weight : 0;
	}
	return score;
}

/* Two standard deviations above the mean score of all papers. */
static double
get_usual(struct state *state)
{
	double mean = 0, variance = 0;
	GHashTableIter iter;
	gpointer word, weight;

	g_hash_table_iter_init(&iter, state->typical);
	while (g_hash_table_iter_next(&iter, &word, &weight)) {
		double share, points = *(double *)weight;

		share = MIN(1, (double)count_word(state, word) / state->papers);
		mean += points * share;
		variance += points * points * share * (1 - share);
	}
	return mean + 2 * sqrt(variance);
}

static int
compare_scores(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return first < second ? -1 : first > second;
}

/*
 * Most of the filter's papers are above it, and few of all others.  The fewer papers
 * the words were chosen by, the less typical they are of other ones.
 */
static void
set_threshold(struct state *state)
{
	unsigned papers = matrix_count_papers(state->matrix);
	g_autofree double *scores = g_new(double, papers);

	for (unsigned i = 0; i < papers; i++)
		scores[i] = score_paper(state, i);
	qsort(scores, papers, sizeof(*scores), compare_scores);
	state->threshold =
	    MAX(scores[papers / 4] * papers / (papers + SHRINKING), get_usual(state));
}

/* The words of the filter say nothing: all of its papers have them. */
static void
collect_own_words(const struct node *node, GHashTable *words)
{
	for (guint i = 0; node->phrase && i < node->phrase->words->len; i++)
		g_hash_table_add(
		    words, (void *)phrase_get_word(node->phrase, i)->key.text);
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		collect_own_words(node->operands->pdata[i], words);
}

static void
find_typical(struct state *state)
{
	g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned papers = matrix_count_papers(state->matrix);
	g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(struct typical));

	collect_own_words(state->query->root, own);
	for (uint32_t i = 0; i < matrix_count_terms(state->matrix); i++) {
		const struct matrix_term *term = matrix_get_term(state->matrix, i);
		struct typical word = {.word = term->text};
		int64_t all;

		if (term->is_pair || term->papers < MIN(3, papers) ||
		    g_hash_table_contains(own, term->text))
			continue;
		all = count_word(state, term->text);
		word.weight = get_logit(term->papers, papers) -
		              get_logit(MIN(all, state->papers), state->papers);
		word.order = word.weight * term->papers;
		if (word.weight > 1)
			g_array_append_val(words, word);
	}
	g_array_sort(words, compare_typical);
	for (guint i = 0; i < MIN(words->len, TYPICAL_MAX); i++) {
		const struct typical *word = &g_array_index(words, struct typical, i);

		g_hash_table_insert(state->typical, (void *)word->word,
		    g_memdup2(&word->weight, sizeof(word->weight)));
	}
	set_threshold(state);
}

/* ---- places ---- */

static const struct node *
find_clause(const struct node *node)
{
	if (node->kind == NODE_WORDS)
		return node;
	for (guint i = 0; node->kind == NODE_OR && i < node->operands->len; i++) {
		const struct node *found = find_clause(node->operands->pdata[i]);

		if (found)
			return found;
	}
	return NULL;
}

static void
add_place(struct state *state, const struct node *part)
{
	struct place place = {part, find_clause(part)};

	if (place.clause)
		g_array_append_val(state->places, place);
}

static void
find_places(struct state *state)
{
	const struct node *root = state->query->root;

	add_place(state, root);
	for (guint i = 0; root->kind == NODE_AND && i < root->operands->len; i++)
		add_place(state, root->operands->pdata[i]);
}

/* ---- candidates ---- */

/* Papers that a candidate adds. */
struct gain {
	struct state *state;
	unsigned papers; /* of the last SUGGEST_DAYS days */
	unsigned all;
	unsigned compared, similar;
	char *title, *abstract; /* of the latest */
};

static void
gain_clear(struct gain *gain)
{
	g_free(gain->title);
	g_free(gain->abstract);
}

/* Score a text by the typical words, without those of the term. */
static bool
is_similar(struct state *state, const struct archive_text *text)
{
	const char *const texts[] = {text->title, text->abstract};
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	double score = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GArray) tokens = tokens_split(
		    store_get_tokenizer(state->store), texts[i], strlen(texts[i]));

		for (guint k = 0; tokens && k < tokens->len; k++) {
			const char *word = g_array_index(tokens, struct token, k).text;
			char *folded = stem_plural(word, strlen(word));
			const double *weight =
			    g_hash_table_lookup(state->typical, folded);

			if (g_hash_table_add(seen, folded) && weight)
				score += *weight;
		}
	}
	return score >= state->threshold;
}

static bool
add_gain(void *data, struct search_match *match, GError **error)
{
	struct gain *gain = data;
	struct state *state = gain->state;
	g_autofree struct archive_text *text = NULL;

	if (g_hash_table_contains(state->own, &match->seq))
		return true;
	gain->all++;
	gain->papers += strcmp(match->day, state->recent_day) >= 0;
	if (gain->compared == COMPARED_MAX)
		return true;
	if (!archive_find_text(state->store, match->seq, &text, error))
		return false;
	if (!text)
		return true;
	if (!gain->title) {
		gain->title = g_strdup(text->title);
		gain->abstract = g_strdup(text->abstract);
	}
	gain->compared++;
	gain->similar += is_similar(state, text);
	return true;
}

/* Find a word as a text writes it, in the singular, if it has two capitals. */
static char *
find_written(struct state *state, const char *text, const char *folded)
{
	g_autoptr(GArray) tokens =
	    tokens_split(store_get_tokenizer(state->store), text, strlen(text));

	for (guint i = 0; tokens && i < tokens->len; i++) {
		struct token *token = &g_array_index(tokens, struct token, i);
		g_autofree char *singular =
		    stem_plural(token->text, strlen(token->text));
		size_t plural = strlen(token->text) - strlen(singular);
		unsigned capitals = 0;
		char *written;

		if (strcmp(singular, folded) != 0)
			continue;
		written =
		    g_strndup(text + token->start, token->end - token->start - plural);
		for (const char *at = written; *at; at++)
			capitals += g_ascii_isupper(*at);
		if (capitals >= 2)
			return written;
		g_free(written);
	}
	return NULL;
}

/* ---- the text of the changed filter ---- */

/* @return the end of the clause that begins there */
static const char *
skip_clause(const char *at)
{
	bool is_quoted = false;

	for (; *at; at = g_utf8_next_char(at)) {
		if (*at == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && strchr(" ()|&", *at))
			break;
	}
	return at;
}

static bool
is_format(struct state *state, const char *text, const char *canonical)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(state->store), NULL, NULL, NULL);
	g_autofree char *own = query ? query_format(query) : NULL;

	return g_strcmp0(own, canonical) == 0;
}

/* Keep what was typed, if the change can be made in it. @return a new string */
static char *
format_text(struct state *state, const struct place *place, const char *quoted,
    const struct query *widened)
{
	const char *typed = state->request->text;
	g_autofree char *canonical = query_format(widened);
	g_autoptr(GString) field = g_string_new(NULL);
	const char *from, *to;
	unsigned column = place->clause->column;

	node_append_field(place->clause, field);
	if (column < 1 || column > (unsigned)g_utf8_strlen(typed, -1))
		return g_steal_pointer(&canonical);
	from = g_utf8_offset_to_pointer(typed, column - 1);
	to = skip_clause(from);
	{
		int before = (int)(from - typed), inside = (int)(to - from);
		char *tries[] = {
		    g_strdup_printf("%s OR %s%s", typed, field->str, quoted),
		    g_strdup_printf("%.*s OR %s%s%s", before + inside, typed,
		        field->str, quoted, to),
		    g_strdup_printf(
		        "%.*s(%.*s OR %s)%s", before, typed, inside, from, quoted, to),
		    g_strdup_printf("%.*s(%.*s OR %s%s)%s", before, typed, inside, from,
		        field->str, quoted, to),
		    g_strdup_printf("%.*s OR %s%s", before + inside, typed, quoted, to),
		};
		char *found = NULL;

		for (size_t i = 0; i < G_N_ELEMENTS(tries); i++)
			if (!found && is_format(state, tries[i], canonical))
				found = tries[i];
			else
				g_free(tries[i]);
		return found ? found : g_steal_pointer(&canonical);
	}
}

/* ---- choice ---- */

static struct suggestion *
make_suggestion(struct state *state, const struct place *place, const char *term,
    const struct gain *gain)
{
	bool is_word = !strchr(term, ' ');
	g_autofree char *written =
	    is_word ? find_written(state, gain->title, term) : NULL;
	struct suggestion *suggestion;
	const char *shown;
	g_autofree char *quoted = NULL;
	pb_auto(query) widened = NULL;

	if (is_word && !written)
		written = find_written(state, gain->abstract, term);
	shown = written ? written : term;
	quoted = g_strdup_printf(is_word ? "%s" : "\"%s\"", shown);
	widened = query_widen(state->query, place->part, place->clause, quoted,
	    store_get_tokenizer(state->store));
	if (!widened)
		return NULL;
	suggestion = g_new0(struct suggestion, 1);
	suggestion->term = g_strdup(shown);
	suggestion->text = format_text(state, place, quoted, widened);
	suggestion->gained = gain->papers;
	suggestion->similar = gain->similar * 100 / gain->compared;
	suggestion->title = sanitize_paper_text(gain->title, TITLE_CHARS);
	return suggestion;
}

/* Share of the papers with a term that the filter finds, of those that were searched.
 */
static double
get_precision(const struct state *state, const char *term, unsigned others)
{
	double shared = 0;
	uint32_t number;

	if (matrix_find_term(state->matrix, term, &number))
		shared = (double)matrix_get_term(state->matrix, number)->papers *
		         state->hits->len / matrix_count_papers(state->matrix);
	return shared / MAX(shared + others, 1);
}

static bool
is_precise(const struct state *state, double precision)
{
	double usual = (double)state->matching / (double)state->papers;

	return precision >= PRECISION_MIN && precision >= LIFT_MIN * usual;
}

/* @param is_alike  an acronym or long form of what the filter has */
static bool
is_good(
    const struct state *state, const struct gain *gain, const char *term, bool is_alike)
{
	unsigned most = MAX(GAIN_RATIO * state->recent, GAIN_SMALL);

	if (!gain->papers || gain->papers > most)
		return false;
	/* Others may use the same letters; phrases are compared if there are some. */
	if (is_alike)
		return gain->similar ||
		       (strchr(term, ' ') && gain->compared < PHRASE_FEW);
	return is_precise(state, get_precision(state, term, gain->all)) &&
	       gain->compared >= COMPARED_MIN &&
	       gain->similar * 100 >= SIMILAR_MIN * gain->compared;
}

/* Try a term as an alternative in one place. @param made  set; NULL: not suggested */
static bool
try_place(struct state *state, const struct place *place, const char *term,
    bool is_alike, struct suggestion **made, GError **error)
{
	bool is_word = !strchr(term, ' ');
	g_autofree char *quoted = g_strdup_printf(is_word ? "%s" : "\"%s\"", term);
	pb_auto(query) replaced = query_replace(state->query, place->part,
	    place->clause, quoted, store_get_tokenizer(state->store));
	const struct search_scope scope = {
	    .oldest_day = state->since, .now = state->request->now};
	pb_local(gain) gain = {.state = state};

	*made = NULL;
	if (!replaced)
		return true;
	if (!search_foreach(
	        state->store, replaced, &scope, add_gain, &gain, NULL, error))
		return false;
	if (is_alike)
		state->missed += gain.all;
	if (is_good(state, &gain, term, is_alike))
		*made = make_suggestion(state, place, term, &gain);
	return true;
}

static bool
is_refused(struct state *state, const char *term, bool *is, GError **error)
{
	const struct suggest_request *request = state->request;

	*is = false;
	return !request->subscriber_id ||
	       proposals_is_refused(state->store, request->subscriber_id,
	           request->subscription_id, term, is, error);
}

/* Whether its words are in another suggestion, or the reverse. */
static bool
is_known(const GPtrArray *suggestions, const struct suggestion *one)
{
	g_autofree char *text = g_utf8_casefold(one->term, -1);

	for (guint i = 0; i < suggestions->len; i++) {
		const struct suggestion *other = suggestions->pdata[i];
		g_autofree char *known = g_utf8_casefold(other->term, -1);

		if (strstr(text, known) || strstr(known, text))
			return true;
	}
	return false;
}

static bool
try_term(struct state *state, const char *term, bool is_alike, GPtrArray *suggestions,
    GError **error)
{
	struct suggestion *best = NULL;
	bool is_no;

	for (guint i = 0; i < state->places->len; i++) {
		struct suggestion *made;

		if (!try_place(state, &g_array_index(state->places, struct place, i),
		        term, is_alike, &made, error)) {
			suggestion_free(best);
			return false;
		}
		if (made && (!best || made->similar > best->similar)) {
			suggestion_free(best);
			best = made;
		} else {
			suggestion_free(made);
		}
	}
	if (!best)
		return true;
	if (is_known(suggestions, best)) {
		suggestion_free(best);
		return true;
	}
	if (!is_refused(state, best->term, &is_no, error) || is_no) {
		suggestion_free(best);
		return is_no;
	}
	g_ptr_array_add(suggestions, best);
	return true;
}

/* Whether people would use it in a filter. */
static bool
is_presentable(const char *term)
{
	static const char *const parts[] = {"http", "https", "github", "com", "www",
	    "arxiv", "available", "code", "project", "page", "io", "based", "wise",
	    "feed", NULL};
	g_auto(GStrv) words = g_strsplit(term, " ", -1);

	for (char **word = words; *word; word++) {
		bool has_alpha = false;

		for (const char *at = *word; *at; at = g_utf8_next_char(at))
			has_alpha |= g_unichar_isalpha(g_utf8_get_char(at));
		if (!has_alpha || g_utf8_strlen(*word, -1) < 3 ||
		    g_strv_contains(parts, *word))
			return false;
	}
	return true;
}

/* Whether a pair is a part of a longer term: "augmented generation" */
static bool
is_fragment(const struct state *state, const char *term)
{
	g_autofree char *inner = g_strconcat(term, " ", NULL);
	g_autofree char *end = g_strconcat(" ", term, NULL);

	for (guint i = 0; strchr(term, ' ') && i < state->acronyms->len; i++) {
		const struct acronym *acronym = state->acronyms->pdata[i];
		g_autofree char *text = g_utf8_strdown(acronym->long_text, -1);

		g_strdelimit(text, "-/", ' ');
		if (g_str_has_suffix(text, end) || strstr(text, inner))
			return true;
	}
	return false;
}

/* Subjects are in titles; of many papers, one is chance. */
static unsigned
get_titles_min(const struct state *state)
{
	return matrix_count_papers(state->matrix) < HITS_FEW ? 1 : 2;
}

/* Whether it is a subject that is far more frequent in the filter's papers. */
static bool
is_specific(const struct state *state, const struct related_term *term)
{
	return is_precise(state, term->precision) &&
	       term->titles >= get_titles_min(state) && is_presentable(term->text) &&
	       !is_fragment(state, term->text);
}

static int
compare_value(const void *a, const void *b)
{
	const struct related_term *first = *(struct related_term *const *)a;
	const struct related_term *second = *(struct related_term *const *)b;
	double one = first->score * first->precision;
	double other = second->score * second->precision;

	if (one != other)
		return one > other ? -1 : 1;
	return strchr(first->text, ' ') ? -1 : strchr(second->text, ' ') != NULL;
}

static struct related_source
get_source(struct state *state)
{
	return (struct related_source){.matrix = state->matrix,
	    .acronyms = state->acronyms,
	    .papers = (unsigned)state->papers,
	    .matching = MAX(state->matching, matrix_count_papers(state->matrix)),
	    .count = count_term,
	    .data = state};
}

/* Try words and phrases of the filter's papers. */
static bool
try_related(struct state *state, GPtrArray *suggestions, GError **error)
{
	const struct related_source source = get_source(state);
	g_autoptr(GPtrArray) terms = related_find(state->query, &source, TERMS_FOUND);
	unsigned left = TERMS_MAX;

	if (state->problem) {
		g_propagate_error(error, g_steal_pointer(&state->problem));
		return false;
	}
	g_ptr_array_sort(terms, compare_value);
	for (unsigned i = 0; i < terms->len && left; i++) {
		const struct related_term *term = terms->pdata[i];

		if (suggestions->len == SUGGEST_MAX)
			break;
		if (!is_specific(state, term))
			continue;
		left--;
		if (!try_term(state, term->text, false, suggestions, error))
			return false;
	}
	return true;
}

/* Whether papers that have an acronym are mostly on the filter's subject. */
static bool
is_own_form(struct state *state, const char *form)
{
	unsigned sampled = matrix_count_papers(state->matrix);
	unsigned shared = 0;
	int64_t papers;
	uint32_t term;

	if (strchr(form, ' ') || strchr(form, '-'))
		return true;
	if (matrix_find_term(state->matrix, form, &term))
		shared = matrix_get_term(state->matrix, term)->papers;
	papers = count_word(state, form);
	return !sampled || (double)shared * MAX(state->matching, sampled) >=
	                       FORM_PRECISION_MIN * (double)papers * sampled;
}

/* Try acronyms of a phrase, or long forms of an acronym, that papers define. */
static bool
try_forms(struct state *state, const struct node *node, GPtrArray *suggestions,
    GError **error)
{
	g_autoptr(GString) folded = g_string_new(NULL);
	g_autoptr(GPtrArray) forms = NULL;

	for (guint i = 0; node->kind == NODE_OR && i < node->operands->len; i++)
		if (!try_forms(state, node->operands->pdata[i], suggestions, error))
			return false;
	if (node->kind != NODE_WORDS || node->phrase->is_prefix)
		return true;
	for (guint i = 0; i < node->phrase->words->len; i++)
		g_string_append_printf(folded, "%s%s", i ? " " : "",
		    phrase_get_word(node->phrase, i)->key.text);
	forms =
	    node->phrase->words->len > 1
	        ? archive_load_acronyms_of(state->store, folded->str, FORMS_MAX, error)
	        : archive_load_acronyms(state->store, folded->str, FORMS_MAX, error);
	for (unsigned i = 0; forms && i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];

		if (suggestions->len < SUGGEST_MAX && is_own_form(state, form->shown) &&
		    !try_term(state, form->shown, true, suggestions, error))
			return false;
	}
	return forms != NULL;
}

static bool
find(struct state *state, GPtrArray *suggestions, GError **error)
{
	find_places(state);
	if (!state->places->len || !find_hits(state, error) || !read_hits(state, error))
		return state->places->len == 0;
	if (matrix_count_papers(state->matrix))
		find_typical(state);
	for (guint i = 0; i < state->places->len; i++)
		if (!try_forms(state,
		        g_array_index(state->places, struct place, i).part, suggestions,
		        error))
			return false;
	return !matrix_count_papers(state->matrix) ||
	       try_related(state, suggestions, error);
}

/* The days that were searched stand for all. */
static bool
estimate_recall(struct state *state, double *recall, GError **error)
{
	const struct related_source source = get_source(state);
	const struct search_scope scope = {
	    .oldest_day = state->since, .now = state->request->now};
	const struct recall_request request = {.query = state->query,
	    .source = &source,
	    .sampled = state->hits,
	    .scope = &scope,
	    .papers = (unsigned)state->searched,
	    .hits = state->own};

	*recall = -1;
	if (state->missed) {
		*recall = recall_estimate_forms(state->hits->len, state->missed);
		return true;
	}
	if (!matrix_count_papers(state->matrix))
		return true;
	g_array_set_size(state->hits, MIN(state->hits->len, HITS_SAMPLE));
	return recall_search(state->store, &request, recall, error);
}

GPtrArray *
suggest_find(struct store *store, const struct suggest_request *request, double *recall,
    GError **error)
{
	g_autoptr(GPtrArray) suggestions =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	pb_auto(query) query =
	    query_parse(request->text, store_get_tokenizer(store), NULL, NULL, error);
	struct state state = {.store = store, .request = request, .query = query};
	pb_transaction transaction = {0};
	bool is_ok;

	if (!query || !store_begin_reading(store, &transaction, error))
		return NULL;
	state_init(&state);
	is_ok = find(&state, suggestions, error) &&
	        (!recall || estimate_recall(&state, recall, error));
	state_clear(&state);
	return is_ok ? g_steal_pointer(&suggestions) : NULL;
}

/* ---- proposals ---- */

static char *
format_command(const struct subscription *subscription, const char *text)
{
	return subscription->id
	           ? g_strdup_printf("edit %d %s", subscription->number, text)
	           : g_strdup_printf("add %s", text);
}

GPtrArray *
suggest_offer(struct store *store, const struct subscription *subscription, int64_t now,
    double *recall, GError **error)
{
	const struct suggest_request request = {.text = subscription->text,
	    .subscriber_id = subscription->subscriber_id,
	    .subscription_id = subscription->id,
	    .now = now};
	g_autoptr(GPtrArray) offered = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) found = NULL;

	if (recall)
		*recall = -1;
	if (subscription->is_block)
		return g_steal_pointer(&offered);
	found = suggest_find(store, &request, recall, error);
	for (unsigned i = 0; found && i < found->len; i++) {
		const struct suggestion *suggestion = found->pdata[i];
		g_autofree char *command =
		    format_command(subscription, suggestion->text);
		const struct proposal proposal = {
		    .subscriber_id = subscription->subscriber_id,
		    .term = suggestion->term,
		    .command = command,
		    .gained = suggestion->gained,
		    .days = SUGGEST_DAYS,
		    .title = suggestion->title};
		struct proposal *one;

		if (!proposals_offer(store, &proposal,
		        subscription->id ? subscription : NULL, now, &one, error))
			return NULL;
		if (one)
			g_ptr_array_add(offered, one);
	}
	return found ? g_steal_pointer(&offered) : NULL;
}
