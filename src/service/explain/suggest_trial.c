/*
 * suggest_trial.c - trying a term as an alternative in a filter.
 */
#include "service/explain/suggest_trial.h"

#include <math.h>
#include <string.h>

#include "message/sanitize.h"
#include "query/parse/tree.h"
#include "query/parse/widen.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"
#include "service/explain/widen_text.h"
#include "service/match/search.h"
#include "store/paper/archive.h"

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

/* Share of the papers with a related term that the filter finds. */
#define PRECISION_MIN 0.22

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

/* Share of its new papers that resemble the filter's own, %. */
#define FORM_SIMILAR 10

#define TITLE_CHARS 70

/* A part of the filter to which an alternative can be added. */
struct place {
	const struct node *part;   /* an operand of AND, or the root */
	const struct node *clause; /* NODE_WORDS in it, for field and boost */
};

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
add_place(struct suggest_trial *trial, const struct node *part)
{
	struct place place = {part, find_clause(part)};

	if (place.clause)
		g_array_append_val(trial->places, place);
}

static void
find_places(struct suggest_trial *trial)
{
	const struct node *root = trial->hits->query->root;

	add_place(trial, root);
	for (guint i = 0; root->kind == NODE_AND && i < root->operands->len; i++)
		add_place(trial, root->operands->pdata[i]);
}

void
suggest_trial_init(struct suggest_trial *trial, struct suggest_hits *hits)
{
	*trial = (struct suggest_trial){
	    .hits = hits, .places = g_array_new(FALSE, FALSE, sizeof(struct place))};
	find_places(trial);
}

void
suggest_trial_clear(struct suggest_trial *trial)
{
	g_array_unref(trial->places);
	likeness_free(trial->likeness);
}

const struct node *
suggest_trial_get_part(const struct suggest_trial *trial, unsigned place)
{
	return g_array_index(trial->places, struct place, place).part;
}

/* ---- candidates ---- */

/* Papers that a candidate adds. */
struct gain {
	struct suggest_trial *trial;
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
is_part(struct suggest_trial *trial, const char *text, const char *term)
{
	g_autoptr(GArray) tokens =
	    tokens_split(store_get_tokenizer(trial->hits->store), text, strlen(text));
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

static bool
is_too_much(const struct suggest_trial *trial, const struct gain *gain)
{
	return gain->papers > MAX(GAIN_RATIO * trial->hits->recent, GAIN_SMALL) ||
	       (suggest_hits_are_narrow(trial->hits) &&
	           gain->all > MAX(GAIN_RATIO * trial->hits->seqs->len, GAIN_SMALL));
}

static bool
add_gain(void *data, struct search_match *match, GError **error)
{
	struct gain *gain = data;
	struct suggest_trial *trial = gain->trial;
	g_autofree struct archive_text *text = NULL;
	struct likeness_paper paper = {0};

	if (g_hash_table_contains(trial->hits->own, &match->seq))
		return true;
	gain->all++;
	gain->papers += strcmp(match->day, trial->hits->recent_day) >= 0;
	if (gain->compared == (suggest_hits_are_narrow(trial->hits) ? COMPARED_NARROW
	                                                            : COMPARED_MAX) ||
	    is_too_much(trial, gain) ||
	    (gain->compared >= COMPARED_FIRST &&
	        gain->likeness < COMPARED_LIKE * gain->compared))
		return true;
	if (trial->likeness &&
	    !likeness_compute(trial->likeness, match->seq, gain->term, &paper, error))
		return false;
	gain->compared++;
	gain->similar += paper.value >= SIMILAR;
	gain->likeness += paper.value;
	gain->titled += paper.is_titled;
	if (gain->title)
		return true;
	if (!archive_find_text(trial->hits->store, match->seq, &text, error))
		return false;
	gain->title = g_strdup(text ? text->title : "");
	gain->abstract = g_strdup(text ? text->abstract : "");
	gain->is_part = is_part(trial, gain->title, gain->term) ||
	                is_part(trial, gain->abstract, gain->term);
	return true;
}

/* Find a word as a text writes it, in the singular, if it has two capitals. */
static char *
find_written(struct suggest_trial *trial, const char *text, const char *folded)
{
	g_autoptr(GArray) tokens =
	    tokens_split(store_get_tokenizer(trial->hits->store), text, strlen(text));

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
make_suggestion(struct suggest_trial *trial, const struct place *place,
    const char *term, const struct gain *gain)
{
	bool is_word = !strchr(term, ' ');
	g_autofree char *written =
	    is_word ? find_written(trial, gain->title, term) : NULL;
	struct suggestion *suggestion;
	const char *shown;
	g_autofree char *quoted = NULL;
	pb_auto(query) widened = NULL;

	if (is_word && !written)
		written = find_written(trial, gain->abstract, term);
	shown = written ? written : term;
	quoted = widen_text_quote(shown);
	widened = query_widen(trial->hits->query, place->part, place->clause, quoted,
	    store_get_tokenizer(trial->hits->store));
	if (!widened)
		return NULL;
	suggestion = g_new0(struct suggestion, 1);
	suggestion->term = g_strdup(shown);
	suggestion->text =
	    widen_text_format(&(const struct widen_text){trial->hits->request->text,
	                          place->clause, quoted, widened},
	        store_get_tokenizer(trial->hits->store));
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
get_precision(const struct suggest_trial *trial, const char *term, unsigned others)
{
	double shared = 0;
	uint32_t number;

	if (matrix_find_term(trial->hits->matrix, term, &number))
		shared = (double)matrix_get_term(trial->hits->matrix, number)->papers *
		         trial->hits->seqs->len /
		         matrix_count_papers(trial->hits->matrix);
	return (shared + 1) / (shared + others + 1);
}

static bool
is_subject(
    const struct gain *gain, const struct suggest_candidate *candidate, double lift)
{
	return lift >= SUBJECT_LIFT && candidate->titles &&
	       candidate->shared >= SUBJECT_SHARED &&
	       gain->likeness >= SUBJECT_LIKE * gain->compared &&
	       gain->similar * 100 >= SUBJECT_SIMILAR * gain->compared;
}

static bool
is_alike(const struct gain *gain, const struct suggest_candidate *candidate)
{
	return gain->compared >= ALIKE_COMPARED &&
	       gain->likeness >= ALIKE_LIKE * gain->compared &&
	       gain->similar * 100 >= ALIKE_SIMILAR * gain->compared &&
	       (gain->compared >= ALIKE_MANY ||
	           (gain->titled + candidate->titles) * 100 >=
	               ALIKE_TITLED * (gain->compared + candidate->shared));
}

static bool
is_good(const struct suggest_trial *trial, const struct gain *gain,
    const struct suggest_candidate *candidate)
{
	double precision = get_precision(trial, candidate->term, gain->all);
	double lift = suggest_hits_get_lift(trial->hits, precision);

	if (!gain->papers || is_too_much(trial, gain))
		return false;
	if (candidate->is_group)
		return true;
	/* Others may use the same letters; phrases are compared if there are some. */
	if (candidate->is_form)
		return gain->similar * 100 > FORM_SIMILAR * gain->compared ||
		       (strchr(candidate->term, ' ') && gain->compared < PHRASE_FEW);
	return !gain->is_part && precision >= PRECISION_MIN &&
	       lift >= SUGGEST_LIFT_MIN &&
	       (is_subject(gain, candidate, lift) || is_alike(gain, candidate));
}

/* Try a term as an alternative in one place. @param made  set; NULL: not suggested */
static bool
try_place(struct suggest_trial *trial, const struct place *place,
    const struct suggest_candidate *candidate, struct suggestion **made, GError **error)
{
	const char *term = candidate->term;
	g_autofree char *quoted = widen_text_quote(term);
	pb_auto(query) replaced = query_replace(trial->hits->query, place->part,
	    place->clause, quoted, store_get_tokenizer(trial->hits->store));
	const struct search_scope scope = {
	    .oldest_day = trial->hits->since, .now = trial->hits->request->now};
	pb_local(gain) gain = {.trial = trial, .term = term};

	*made = NULL;
	if (!replaced)
		return true;
	if (!search_foreach(
	        trial->hits->store, replaced, &scope, add_gain, &gain, NULL, error))
		return false;
	if (!is_good(trial, &gain, candidate))
		return true;
	*made = make_suggestion(trial, place, term, &gain);
	if (!*made)
		return true;
	(*made)->value = gain.likeness / gain.compared * sqrt(gain.all);
	(*made)->is_sure = candidate->is_form || is_alike(&gain, candidate);
	return true;
}

static bool
is_refused(struct suggest_trial *trial, const char *term, bool *is, GError **error)
{
	const struct suggest_request *request = trial->hits->request;

	*is = false;
	return !request->subscriber_id ||
	       proposals_is_refused(trial->hits->store, request->subscriber_id,
	           request->subscription_id, term, is, error);
}

bool
suggest_trial_run(struct suggest_trial *trial,
    const struct suggest_candidate *candidate, GPtrArray *suggestions, GError **error)
{
	struct suggestion *best = NULL;
	bool is_no;

	for (guint i = 0; i < trial->places->len; i++) {
		struct suggestion *made;

		if (!try_place(trial, &g_array_index(trial->places, struct place, i),
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
	if (!is_refused(trial, best->term, &is_no, error) || is_no) {
		suggestion_free(best);
		return is_no;
	}
	g_ptr_array_add(suggestions, best);
	return true;
}
