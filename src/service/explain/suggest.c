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
#include "service/explain/likeness.h"
#include "service/explain/recall_search.h"
#include "service/explain/widen_text.h"
#include "service/match/search.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* The filter's papers: those of these days, or all if they are few; a sample of them.
 */
#define HITS_DAYS   60
#define HITS_FEW    30
#define HITS_SAMPLE 150

/* Terms that are related, and those of them that are tried; more of narrow filters, for
 * which few papers speak. */
#define TERMS_FOUND        100
#define TERMS_MAX          16
#define TERMS_FOUND_NARROW 300
#define TERMS_MAX_NARROW   100

/* Maximum number of papers that a suggestion adds: times those of the filter, or so
 * many. */
#define GAIN_RATIO 2
#define GAIN_SMALL 20

/* New papers that are compared with the filter's own; of a term whose first ones are
 * unlike them, no more. */
#define COMPARED_MAX    12
#define COMPARED_NARROW 24
#define COMPARED_FIRST  6
#define COMPARED_LIKE   1
#define PHRASE_FEW      6

/* A related term: share of its papers that the filter finds, and how many times that of
 * all papers. */
#define PRECISION_MIN 0.22
#define LIFT_MIN      5

/* The share as estimated before a search: a paper with two forms of a word counts
 * twice.
 */
#define PRECISION_ESTIMATED 0.12

/* Likeness of a paper that resembles the filter's own. */
#define SIMILAR 2

/* A subject of the filter's papers: lift; papers with it; mean likeness and share of
 * similar ones among the new papers, %. */
#define SUBJECT_LIFT    13
#define SUBJECT_SHARED  3
#define SUBJECT_LIKE    2.2
#define SUBJECT_SIMILAR 50

/* A term of which nearly all papers resemble the filter's: likewise; new papers; of
 * all that were compared, share with it in the title, %, which many need not have. */
#define ALIKE_LIKE     3.2
#define ALIKE_SIMILAR  60
#define ALIKE_COMPARED 5
#define ALIKE_TITLED   10
#define ALIKE_MANY     10

/* Terms that are offered together. */
#define GROUP_MAX 2

/* Acronyms or long forms of a clause, those that most papers define first. */
#define FORMS_MAX 2

/* Share of the papers with an acronym that have the phrase, too: others may mean
 * something else. */
#define FORM_PRECISION_MIN 0.25

/* Share of its new papers that resemble the filter's own, %. */
#define FORM_SIMILAR 10

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
	GHashTable *counts; /* word -> int64_t *: papers of the archive */
	struct likeness *likeness;
	unsigned missed; /* other papers with a form of a clause */
	GError *problem; /* of count_term() */
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
	likeness_free(state->likeness);
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

/* ---- frequencies ---- */

static int64_t
count_word(void *data, const char *folded)
{
	struct state *state = data;
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
	const char *term;
	unsigned papers; /* of the last SUGGEST_DAYS days */
	unsigned all;
	unsigned compared, similar, titled;
	double likeness;        /* sum of those compared */
	bool is_part;           /* the latest has the term within compounds */
	char *title, *abstract; /* of the latest */
};

static void
gain_clear(struct gain *gain)
{
	g_free(gain->title);
	g_free(gain->abstract);
}

/* Whether a text has a pair of words first as a part of compounds: "time streaming" in
 * "real-time streaming" */
static bool
is_part(struct state *state, const char *text, const char *term)
{
	g_autoptr(GArray) tokens =
	    tokens_split(store_get_tokenizer(state->store), text, strlen(text));
	g_auto(GStrv) words = g_strsplit(term, " ", -1);

	if (g_strv_length(words) != 2)
		return false;
	for (guint i = 0; tokens && i + 1 < tokens->len; i++) {
		const struct token *first = &g_array_index(tokens, struct token, i);
		const struct token *second = first + 1;
		g_autofree char *one = stem_plural(first->text, strlen(first->text));
		g_autofree char *other =
		    stem_plural(second->text, strlen(second->text));

		if (strcmp(one, words[0]) == 0 && strcmp(other, words[1]) == 0)
			return (first->start && text[first->start - 1] == '-') ||
			       text[second->end] == '-';
	}
	return false;
}

/* Few papers are compared in the whole archive. */
static bool
is_narrow(const struct state *state)
{
	return !state->since;
}

static bool
is_too_much(const struct state *state, const struct gain *gain)
{
	return gain->papers > MAX(GAIN_RATIO * state->recent, GAIN_SMALL) ||
	       (is_narrow(state) &&
	           gain->all > MAX(GAIN_RATIO * state->hits->len, GAIN_SMALL));
}

static bool
add_gain(void *data, struct search_match *match, GError **error)
{
	struct gain *gain = data;
	struct state *state = gain->state;
	g_autofree struct archive_text *text = NULL;
	struct likeness_paper paper = {0};

	if (g_hash_table_contains(state->own, &match->seq))
		return true;
	gain->all++;
	gain->papers += strcmp(match->day, state->recent_day) >= 0;
	if (gain->compared == (is_narrow(state) ? COMPARED_NARROW : COMPARED_MAX) ||
	    is_too_much(state, gain) ||
	    (gain->compared >= COMPARED_FIRST &&
	        gain->likeness < COMPARED_LIKE * gain->compared))
		return true;
	if (state->likeness &&
	    !likeness_compute(state->likeness, match->seq, gain->term, &paper, error))
		return false;
	gain->compared++;
	gain->similar += paper.value >= SIMILAR;
	gain->likeness += paper.value;
	gain->titled += paper.is_titled;
	if (gain->title)
		return true;
	if (!archive_find_text(state->store, match->seq, &text, error))
		return false;
	gain->title = g_strdup(text ? text->title : "");
	gain->abstract = g_strdup(text ? text->abstract : "");
	gain->is_part = is_part(state, gain->title, gain->term) ||
	                is_part(state, gain->abstract, gain->term);
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
	quoted = widen_text_quote(shown);
	widened = query_widen(state->query, place->part, place->clause, quoted,
	    store_get_tokenizer(state->store));
	if (!widened)
		return NULL;
	suggestion = g_new0(struct suggestion, 1);
	suggestion->term = g_strdup(shown);
	suggestion->text =
	    widen_text_format(&(const struct widen_text){state->request->text,
	                          place->clause, quoted, widened},
	        store_get_tokenizer(state->store));
	suggestion->gained = gain->papers;
	suggestion->similar = gain->similar * 100 / gain->compared;
	suggestion->title = sanitize_paper_text(gain->title, TITLE_CHARS);
	return suggestion;
}

/*
 * Share of the papers with a term that the filter finds, of those that were searched;
 * of few papers, at most about that.
 */
static double
get_precision(const struct state *state, const char *term, unsigned others)
{
	double shared = 0;
	uint32_t number;

	if (matrix_find_term(state->matrix, term, &number))
		shared = (double)matrix_get_term(state->matrix, number)->papers *
		         state->hits->len / matrix_count_papers(state->matrix);
	return (shared + 1) / (shared + others + 1);
}

/* How many times as often as all papers the filter finds those with a term. */
static double
get_lift(const struct state *state, double precision)
{
	return precision * (double)state->papers / MAX(state->matching, 1);
}

/* A term to be tried. */
struct candidate {
	const char *term;
	bool is_form;    /* an acronym or long form of what the filter has */
	bool is_group;   /* several terms, each of which is good */
	unsigned shared; /* papers of the sample with it */
	unsigned titles; /* of these, in the title */
};

static bool
is_subject(const struct gain *gain, const struct candidate *candidate, double lift)
{
	return lift >= SUBJECT_LIFT && candidate->titles &&
	       candidate->shared >= SUBJECT_SHARED &&
	       gain->likeness >= SUBJECT_LIKE * gain->compared &&
	       gain->similar * 100 >= SUBJECT_SIMILAR * gain->compared;
}

static bool
is_alike(const struct gain *gain, const struct candidate *candidate)
{
	return gain->compared >= ALIKE_COMPARED &&
	       gain->likeness >= ALIKE_LIKE * gain->compared &&
	       gain->similar * 100 >= ALIKE_SIMILAR * gain->compared &&
	       (gain->compared >= ALIKE_MANY ||
	           (gain->titled + candidate->titles) * 100 >=
	               ALIKE_TITLED * (gain->compared + candidate->shared));
}

static bool
is_good(const struct state *state, const struct gain *gain,
    const struct candidate *candidate)
{
	double precision = get_precision(state, candidate->term, gain->all);
	double lift = get_lift(state, precision);

	if (!gain->papers || is_too_much(state, gain))
		return false;
	if (candidate->is_group)
		return true;
	/* Others may use the same letters; phrases are compared if there are some. */
	if (candidate->is_form)
		return gain->similar * 100 > FORM_SIMILAR * gain->compared ||
		       (strchr(candidate->term, ' ') && gain->compared < PHRASE_FEW);
	return !gain->is_part && precision >= PRECISION_MIN && lift >= LIFT_MIN &&
	       (is_subject(gain, candidate, lift) || is_alike(gain, candidate));
}

/* Try a term as an alternative in one place. @param made  set; NULL: not suggested */
static bool
try_place(struct state *state, const struct place *place,
    const struct candidate *candidate, struct suggestion **made, GError **error)
{
	const char *term = candidate->term;
	g_autofree char *quoted = widen_text_quote(term);
	pb_auto(query) replaced = query_replace(state->query, place->part,
	    place->clause, quoted, store_get_tokenizer(state->store));
	const struct search_scope scope = {
	    .oldest_day = state->since, .now = state->request->now};
	pb_local(gain) gain = {.state = state, .term = term};

	*made = NULL;
	if (!replaced)
		return true;
	if (!search_foreach(
	        state->store, replaced, &scope, add_gain, &gain, NULL, error))
		return false;
	if (candidate->is_form)
		state->missed += gain.all;
	if (!is_good(state, &gain, candidate))
		return true;
	*made = make_suggestion(state, place, term, &gain);
	if (!*made)
		return true;
	(*made)->value = gain.likeness / gain.compared * sqrt(gain.all);
	(*made)->is_sure = candidate->is_form || is_alike(&gain, candidate);
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
try_term(struct state *state, const struct candidate *candidate, GPtrArray *suggestions,
    GError **error)
{
	struct suggestion *best = NULL;
	bool is_no;

	for (guint i = 0; i < state->places->len; i++) {
		struct suggestion *made;

		if (!try_place(state, &g_array_index(state->places, struct place, i),
		        candidate, &made, error)) {
			suggestion_free(best);
			return false;
		}
		if (made && (!best || made->value > best->value)) {
			suggestion_free(best);
			best = made;
		} else {
			suggestion_free(made);
		}
	}
	if (!best)
		return true;
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
	    "feed", "survey", "report", NULL};
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

/* Whether it is a subject that is far more frequent in the filter's papers. */
static bool
is_specific(const struct state *state, const struct related_term *term)
{
	return term->precision >= PRECISION_ESTIMATED &&
	       get_lift(state, term->precision) >= LIFT_MIN &&
	       is_presentable(term->text) && !is_fragment(state, term->text);
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

static int
compare_suggestions(const void *a, const void *b)
{
	const struct suggestion *first = *(struct suggestion *const *)a;
	const struct suggestion *second = *(struct suggestion *const *)b;

	if (first->value != second->value)
		return first->value > second->value ? -1 : 1;
	return strcmp(first->term, second->term);
}

/* Add the best that say something new. */
static void
add_best(GPtrArray *tried, GPtrArray *suggestions)
{
	for (guint i = 0; i < tried->len && suggestions->len < SUGGEST_MAX; i++)
		if (!is_known(suggestions, tried->pdata[i]))
			g_ptr_array_add(suggestions, g_steal_pointer(&tried->pdata[i]));
}

static bool
gains_more(const struct suggestion *group, const GPtrArray *members)
{
	for (guint i = 0; i < members->len; i++) {
		const struct suggestion *one = members->pdata[i];

		if (group->gained <= one->gained)
			return false;
	}
	return true;
}

/*
 * Offer forms and the best terms together: the few papers of a narrow filter say little
 * of what it misses, and one term adds few.
 *
 * @param tried        the best first
 * @param suggestions  forms; replaced by those together
 */
static bool
try_group(
    struct state *state, const GPtrArray *tried, GPtrArray *suggestions, GError **error)
{
	g_autoptr(GPtrArray) members = g_ptr_array_new();
	g_autoptr(GPtrArray) made =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	g_autoptr(GString) terms = g_string_new(NULL);
	struct candidate candidate = {.is_group = true};

	for (guint i = 0; i < suggestions->len; i++)
		g_ptr_array_add(members, suggestions->pdata[i]);
	for (guint i = 0; i < tried->len; i++) {
		struct suggestion *one = tried->pdata[i];

		if (members->len < GROUP_MAX && one->is_sure && !is_known(members, one))
			g_ptr_array_add(members, one);
	}
	if (members->len != GROUP_MAX || suggestions->len == GROUP_MAX)
		return true;
	for (guint i = 0; i < members->len; i++)
		g_string_append_printf(terms, "%s%s", i ? CANONICAL_OR : "",
		    ((struct suggestion *)members->pdata[i])->term);
	candidate.term = terms->str;
	if (!try_term(state, &candidate, made, error))
		return false;
	if (made->len && gains_more(made->pdata[0], members)) {
		g_ptr_array_set_size(suggestions, 0);
		g_ptr_array_extend_and_steal(suggestions, g_steal_pointer(&made));
	}
	return true;
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

/* Each place is a search. */
static unsigned
get_terms_max(const struct state *state)
{
	return is_narrow(state) ? TERMS_MAX_NARROW
	                        : TERMS_MAX * 2 / (1 + state->places->len);
}

/* Try words and phrases of the filter's papers. */
static bool
try_related(struct state *state, GPtrArray *suggestions, GError **error)
{
	const struct related_source source = get_source(state);
	g_autoptr(GPtrArray) terms = related_find(
	    state->query, &source, is_narrow(state) ? TERMS_FOUND_NARROW : TERMS_FOUND);
	g_autoptr(GPtrArray) tried =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	unsigned left = get_terms_max(state);

	if (state->problem) {
		g_propagate_error(error, g_steal_pointer(&state->problem));
		return false;
	}
	g_ptr_array_sort(terms, compare_value);
	for (unsigned i = 0; i < terms->len && left; i++) {
		const struct related_term *term = terms->pdata[i];
		struct candidate candidate = {
		    .term = term->text, .titles = term->titles};
		uint32_t number;

		if (!is_specific(state, term))
			continue;
		if (matrix_find_term(state->matrix, term->text, &number))
			candidate.shared =
			    matrix_get_term(state->matrix, number)->papers;
		left--;
		if (!try_term(state, &candidate, tried, error))
			return false;
	}
	g_ptr_array_sort(tried, compare_suggestions);
	if (is_narrow(state) && !try_group(state, tried, suggestions, error))
		return false;
	add_best(tried, suggestions);
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
		    !try_term(state,
		        &(const struct candidate){.term = form->shown, .is_form = true},
		        suggestions, error))
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
	if (matrix_count_papers(state->matrix)) {
		const struct likeness_source source = {.query = state->query,
		    .matrix = state->matrix,
		    .papers = state->papers,
		    .count = count_word,
		    .data = state};

		state->likeness = likeness_new(state->store, &source);
	}
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
	pb_snapshot snapshot = {0};
	bool is_ok;

	if (!query || !archive_cache_refresh(store, error) ||
	    !store_begin_reading(store, &snapshot, error))
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

bool
suggest_offer_one(struct store *store, const struct subscription *subscription,
    const struct suggestion *suggestion, int64_t now, struct proposal **offered,
    GError **error)
{
	g_autofree char *command = format_command(subscription, suggestion->text);
	const struct proposal proposal = {.subscriber_id = subscription->subscriber_id,
	    .term = suggestion->term,
	    .command = command,
	    .gained = suggestion->gained,
	    .days = SUGGEST_DAYS,
	    .title = suggestion->title};

	return proposals_offer(store, &proposal, subscription->id ? subscription : NULL,
	    now, offered, error);
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
		struct proposal *one;

		if (!suggest_offer_one(
		        store, subscription, found->pdata[i], now, &one, error))
			return NULL;
		if (one)
			g_ptr_array_add(offered, one);
	}
	return found ? g_steal_pointer(&offered) : NULL;
}
