/*
 * suggest.c - words and phrases that would find more papers like those of a filter.
 */
#include "service/advice/suggest.h"

#include <math.h>
#include <string.h>

#include "base/bigram.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "message/sanitize.h"
#include "query/parse/canonical.h"
#include "query/parse/tree.h"
#include "query/parse/widen.h"
#include "query/query.h"
#include "query/text/stem.h"
#include "query/text/tokens.h"
#include "service/advice/related.h"
#include "service/match/search.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* Age, in days, of the filter's papers that are compared; of a filter with fewer than
 * HITS_FEW of them all papers are, since few say little. */
#define HITS_DAYS 60
#define HITS_FEW  30

/* Maximum number of the filter's papers whose texts are read: more take longer, and
 * rank terms hardly better. */
#define SAMPLE_MAX 150

/* Maximum number of related terms that are tried with a search each. */
#define TERMS_MAX 24

/* Maximum number of acronyms or long forms of a clause, those that most papers define.
 */
#define FORMS_MAX 2

/* Minimum share of the papers with a suggested term that the filter finds, and minimum
 * ratio of this to the filter's share of all papers: below, most of what the term adds
 * is about something else. */
#define SHARE_MIN 0.2
#define LIFT_MIN  5

/* Minimum log-likelihood ratio of a suggested term: of 100 terms that are tested, one
 * by chance in 100 cases (chi-squared, one degree of freedom, p = 0.0001). */
#define RATIO_MIN 15.1

/* Minimum part of the papers with a suggested term that have it in their titles: titles
 * name subjects, "however" and "outperform" are in abstracts. */
#define TITLE_PART 0.25

/* Minimum log-likelihood ratio of an acronym or long form, of which a filter has few:
 * one by chance in 20 cases. */
#define FORM_RATIO_MIN 3.84

/* Part of the places of a word or phrase that are within a longer phrase, from which on
 * it is a fragment of that. */
#define FRAGMENT_PART 0.5

/* Maximum number of words that complete a fragment on either side. */
#define PHRASE_MORE 3

#define TITLE_CHARS 70

/* A part of the filter to which an alternative can be added. */
struct place {
	const struct node *part;   /* an operand of AND, or the root */
	const struct node *clause; /* NODE_WORDS in it, for field and boost */
};

/* A filter, the papers that it finds, and what is suggested for it. */
struct search {
	struct store *store;
	const struct tokenizer *tokenizer;
	const struct suggest_request *request;
	const struct query *query;
	struct place place;    /* for related terms */
	GHashTable *own;       /* int64_t seq of the papers that it finds */
	GArray *newest;        /* of int64_t seq: of these, to be read */
	const char *since;     /* oldest of their days; NULL: all */
	struct matrix *matrix; /* of those that were read */
	GString *texts;        /* their words: " . low rank adaptation . we " */
	GHashTable *written; /* char *: words of their abstracts, folded -> as written,
	                        in lower case unless they are acronyms */
	int64_t papers;      /* in the archive */
	int64_t searched;    /* of these, of the days since then */
	char oldest[DAY_BYTES], recent_day[DAY_BYTES];
	GPtrArray *suggestions;
	GError *problem; /* of counting */
};

static void
suggestion_free(struct suggestion *suggestion)
{
	g_free(suggestion->term);
	g_free(suggestion->text);
	g_free(suggestion->title);
	g_free(suggestion);
}

/* ---- places ---- */

/*
 * Find the first clause with words in a part of a filter.  An AND has one only if each
 * of its operands has: others are conditions, such as cat:cs.CL.
 *
 * @return NULL if there is none
 */
static const struct node *
find_clause(const struct node *node)
{
	const struct node *first = NULL;

	if (node->kind == NODE_WORDS)
		return node;
	if (node->kind != NODE_AND && node->kind != NODE_OR)
		return NULL;
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *found = find_clause(node->operands->pdata[i]);

		if (!found && node->kind == NODE_AND)
			return NULL;
		if (!first)
			first = found;
	}
	return first;
}

/*
 * Find where related terms are added with OR: to the whole filter or, if it has
 * conditions that papers with these terms must meet, too, to its first operand with
 * words.
 *
 * @return false if the filter has no words
 */
static bool
find_place(const struct node *root, struct place *place)
{
	*place = (struct place){root, find_clause(root)};
	for (guint i = 0;
	     !place->clause && root->kind == NODE_AND && i < root->operands->len; i++) {
		place->part = root->operands->pdata[i];
		place->clause = find_clause(place->part);
	}
	return place->clause != NULL;
}

static void
search_init(struct search *search, const struct suggest_request *request)
{
	search->request = request;
	search->own = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	search->newest = g_array_new(FALSE, FALSE, sizeof(int64_t));
	search->matrix = matrix_new(search->tokenizer, true);
	search->texts = g_string_new(" . ");
	search->written =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	search->suggestions =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	day_format(request->now - HITS_DAYS * (int64_t)CLOCK_DAY_S, search->oldest);
	day_format(
	    request->now - SUGGEST_DAYS * (int64_t)CLOCK_DAY_S, search->recent_day);
}

static void
search_clear(struct search *search)
{
	g_hash_table_unref(search->own);
	g_array_unref(search->newest);
	matrix_free(search->matrix);
	g_string_free(search->texts, TRUE);
	g_hash_table_unref(search->written);
	g_ptr_array_unref(search->suggestions);
	g_clear_error(&search->problem);
}

/* ---- the filter's papers ---- */

/* @param step  NULL: find all papers; else as of search_foreach() */
static bool
search_papers(const struct search *search, const struct query *query,
    search_found found, void *data, unsigned *step, GError **error)
{
	const struct search_scope scope = {.oldest_day = search->since,
	    .sample = step ? BOUNDS_SEARCH_EVALUATED : 0,
	    .now = search->request->now};

	return search_foreach(search->store, query, &scope, found, data, step, error);
}

static bool
add_own(void *data, struct search_match *match, GError **error)
{
	struct search *search = data;

	(void)error;
	g_hash_table_add(search->own, g_memdup2(&match->seq, sizeof(match->seq)));
	if (search->newest->len < SAMPLE_MAX)
		g_array_append_val(search->newest, match->seq);
	return true;
}

/* @param step  set; 1: all papers were found */
static bool
find_own(struct search *search, unsigned *step, GError **error)
{
	struct archive_size size;

	search->since = search->oldest;
	if (!archive_load_size(search->store, &size, error) ||
	    !archive_count_since(
	        search->store, search->oldest, &search->searched, error) ||
	    !search_papers(search, search->query, add_own, search, step, error))
		return false;
	search->papers = size.papers;
	if (*step > 1 || g_hash_table_size(search->own) >= HITS_FEW)
		return true;
	search->since = NULL;
	search->searched = size.papers;
	g_hash_table_remove_all(search->own);
	g_array_set_size(search->newest, 0);
	return search_papers(search, search->query, add_own, search, step, error);
}

/* Keep how papers write a word: the shortest spelling, of the newest that has it. */
static void
keep_written(struct search *search, const char *word, const char *text,
    const struct token *token)
{
	const char *known = g_hash_table_lookup(search->written, word);
	unsigned capitals = 0;
	size_t end = token->end;

	if (known && strlen(known) <= strlen(token->text))
		return;
	for (size_t at = token->start; at < end; at++)
		capitals += g_ascii_isupper(text[at]);
	if (text[end - 1] == 's') /* LLMs, but UKPDS is a study */
		end -= strlen(token->text) - strlen(word);
	g_hash_table_insert(search->written, g_strdup(word),
	    capitals < 2 ? g_strdup(token->text)
	                 : g_strndup(text + token->start, end - token->start));
}

/* Append words with folded plurals, and a full stop where a phrase cannot continue. */
static void
append_words(struct search *search, const char *text, bool is_title)
{
	g_autoptr(GArray) tokens = tokens_split(search->tokenizer, text, strlen(text));
	size_t end = 0;

	for (guint i = 0; tokens && i < tokens->len; i++) {
		const struct token *token = &g_array_index(tokens, struct token, i);
		g_autofree char *word = stem_plural(token->text, strlen(token->text));

		if (bigram_is_at(token->text, -1)) {
			g_string_append(search->texts, ". ");
			continue;
		}
		if (end + strcspn(text + end, ".,;:!?()") < token->start)
			g_string_append(search->texts, ". ");
		g_string_append_printf(search->texts, "%s ", word);
		end = token->end;
		/* A title may be in capitals. */
		if (!is_title)
			keep_written(search, word, text, token);
	}
	g_string_append(search->texts, ". ");
}

static bool
read_own(struct search *search, GError **error)
{
	for (guint i = 0; i < search->newest->len; i++) {
		g_autofree struct archive_text *text = NULL;

		if (!archive_find_text(search->store,
		        g_array_index(search->newest, int64_t, i), &text, error))
			return false;
		if (!text)
			continue;
		if (!matrix_add(search->matrix, text->title, text->abstract, error))
			return false;
		append_words(search, text->title, true);
		append_words(search, text->abstract, false);
	}
	return true;
}

/* ---- phrases ---- */

static bool
is_function_word(const struct search *search, const char *word)
{
	uint32_t term;

	return !matrix_find_term(search->matrix, word, &term);
}

/* Find the word that is mostly beside a phrase. @return a new string, or NULL */
static char *
find_neighbour(const struct search *search, const char *phrase, bool is_before)
{
	g_autoptr(GHashTable) counts =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree char *spaced = g_strconcat(" ", phrase, " ", NULL);
	const char *best = NULL;
	guint most = 0, places = 0;

	for (const char *at = strstr(search->texts->str, spaced); at;
	     at = strstr(at + 1, spaced)) {
		const char *from = at + strlen(spaced);
		const char *end = is_before ? at : from + strcspn(from, " ");
		char *word;
		guint count;

		if (is_before)
			for (from = at; from[-1] != ' ';)
				from--;
		word = g_strndup(from, (size_t)(end - from));
		count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, word)) + 1;
		g_hash_table_replace(counts, word, GUINT_TO_POINTER(count));
		places++;
		if (count > most) {
			most = count;
			best = word;
		}
	}
	return most > FRAGMENT_PART * places && strcmp(best, ".") != 0 ? g_strdup(best)
	                                                               : NULL;
}

/*
 * Complete a fragment: "augmented generation" is "retrieval augmented generation".
 * Function words are within a phrase only: "chain of thought".
 *
 * @return a new string
 */
static char *
complete_phrase(const struct search *search, const char *term)
{
	char *phrase = g_strdup(term);

	for (int is_before = 0; is_before <= 1; is_before++) {
		g_autofree char *longer = g_strdup(phrase);

		for (unsigned words = 0; words < PHRASE_MORE; words++) {
			g_autofree char *shorter = longer;
			g_autofree char *word =
			    find_neighbour(search, longer, is_before);

			longer = !word       ? g_strdup(shorter)
			         : is_before ? g_strconcat(word, " ", shorter, NULL)
			                     : g_strconcat(shorter, " ", word, NULL);
			if (word && !is_function_word(search, word)) {
				g_free(phrase);
				phrase = g_strdup(longer);
			}
		}
	}
	return phrase;
}

/* Whether a text reads as a phrase: no word twice, none of digits only. */
static bool
is_readable(const char *phrase)
{
	g_auto(GStrv) words = g_strsplit(phrase, " ", -1);

	for (char **word = words; *word; word++)
		if (!(*word)[strspn(*word, "0123456789")] ||
		    g_strv_contains((const char *const *)word + 1, *word))
			return false;
	return true;
}

/* Write a folded term as papers do: some words have no singular. */
static char *
write_term(const struct search *search, const char *term)
{
	g_auto(GStrv) words = g_strsplit(term, " ", -1);

	for (char **word = words; *word; word++) {
		const char *written = g_hash_table_lookup(search->written, *word);

		if (written) {
			g_free(*word);
			*word = g_strdup(written);
		}
	}
	return g_strjoinv(" ", words);
}

/* ---- the text of the changed filter ---- */

static char *
quote(const char *term)
{
	return g_strdup_printf(strchr(term, ' ') ? "\"%s\"" : "%s", term);
}

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
is_format(const struct tokenizer *tokenizer, const char *text, const char *canonical)
{
	pb_auto(query) query = query_parse(text, tokenizer, NULL, NULL, NULL);
	g_autofree char *own = query ? query_format(query) : NULL;

	return g_strcmp0(own, canonical) == 0;
}

/*
 * Add an alternative to a clause in the text as typed.
 *
 * @param quoted     the alternative
 * @param canonical  of the changed filter: returned if no change of the text gives it
 */
static char *
format_text(const struct search *search, const struct node *clause, const char *quoted,
    const char *canonical)
{
	const char *typed = search->request->text;
	g_autoptr(GString) field = g_string_new(NULL);
	g_autofree char *head = NULL, *own = NULL;
	const char *from, *to;

	node_append_field(clause, field);
	if (clause->column < 1 || clause->column > (unsigned)g_utf8_strlen(typed, -1))
		return g_strdup(canonical);
	from = g_utf8_offset_to_pointer(typed, clause->column - 1);
	to = skip_clause(from);
	head = g_strndup(typed, (size_t)(from - typed));
	own = g_strndup(from, (size_t)(to - from));
	for (unsigned i = 0; i < 5; i++) {
		g_autofree char *text =
		    i == 0 ? g_strconcat(typed, " OR ", field->str, quoted, NULL)
		    : i == 1
		        ? g_strconcat(head, own, " OR ", field->str, quoted, to, NULL)
		    : i == 2
		        ? g_strconcat(head, "(", own, " OR ", quoted, ")", to, NULL)
		    : i == 3 ? g_strconcat(head, "(", own, " OR ", field->str, quoted,
		                   ")", to, NULL)
		             : g_strconcat(head, own, " OR ", quoted, to, NULL);

		if (is_format(search->tokenizer, text, canonical))
			return g_steal_pointer(&text);
	}
	return g_strdup(canonical);
}

/* ---- trials ---- */

/* Papers of a query, of those that were searched. */
struct count {
	const struct search *search;
	unsigned shared; /* papers that the filter finds, too */
	unsigned others; /* papers that the filter does not find */
	unsigned gained; /* those of `others` of the last SUGGEST_DAYS days */
	int64_t latest;  /* seq of the newest of `gained` */
};

static bool
count_paper(void *data, struct search_match *match, GError **error)
{
	struct count *count = data;

	(void)error;
	if (g_hash_table_contains(count->search->own, &match->seq)) {
		count->shared++;
		return true;
	}
	count->others++;
	if (strcmp(match->day, count->search->recent_day) < 0)
		return true;
	if (!count->gained++)
		count->latest = match->seq;
	return true;
}

static double
compute_ratio(const struct search *search, const struct count *count)
{
	return related_compute_ratio((double)search->searched,
	    g_hash_table_size(search->own), count->shared + count->others,
	    count->shared);
}

/* Whether at least TITLE_PART of the papers with a term have it in their titles. */
static bool
is_subject(const struct search *search, const char *quoted, double papers, bool *is,
    GError **error)
{
	g_autofree char *text = g_strconcat("title:", quoted, NULL);
	pb_auto(query) query = query_parse(text, search->tokenizer, NULL, NULL, NULL);
	struct count titles = {.search = search};

	if (query && !search_papers(search, query, count_paper, &titles, NULL, error))
		return false;
	*is = titles.shared && titles.shared + titles.others >= TITLE_PART * papers;
	return true;
}

/* Whether a term is on the filter's subject. @param is_form  an acronym or long form */
static bool
is_good(const struct search *search, const char *quoted, const struct count *count,
    bool is_form, bool *is, GError **error)
{
	double papers = count->shared + count->others;
	double part = (double)g_hash_table_size(search->own) / (double)search->searched;

	*is = compute_ratio(search, count) >= (is_form ? FORM_RATIO_MIN : RATIO_MIN);
	if (!*is || is_form)
		return true;
	*is = count->shared >= SHARE_MIN * papers &&
	      count->shared >= LIFT_MIN * part * papers;
	return !*is || is_subject(search, quoted, papers, is, error);
}

static bool
is_known(const GPtrArray *suggestions, const char *term)
{
	g_autofree char *text = g_utf8_casefold(term, -1);

	g_strdelimit(text, "-", ' ');
	for (guint i = 0; i < suggestions->len; i++) {
		const struct suggestion *other = suggestions->pdata[i];
		g_autofree char *known = g_utf8_casefold(other->term, -1);

		g_strdelimit(known, "-", ' ');
		if (strstr(text, known) || strstr(known, text))
			return true;
	}
	return false;
}

/* @param is  set: the subscriber refused it before, or something better has it */
static bool
is_superfluous(const struct search *search, const char *term, bool *is, GError **error)
{
	const struct suggest_request *request = search->request;

	*is = is_known(search->suggestions, term);
	return *is || !request->subscriber_id ||
	       proposals_is_refused(search->store, request->subscriber_id,
	           request->subscription_id, term, is, error);
}

/* @param count  papers with the term in that place */
static bool
add_suggestion(struct search *search, const struct place *place, const char *term,
    const struct count *count, GError **error)
{
	g_autofree char *quoted = quote(term), *canonical = NULL;
	pb_auto(query) widened = query_widen(
	    search->query, place->part, place->clause, quoted, search->tokenizer);
	g_autofree struct archive_text *text = NULL;
	struct suggestion *suggestion;

	if (!archive_find_text(search->store, count->latest, &text, error))
		return false;
	if (!widened || !text)
		return true;
	canonical = query_format(widened);
	suggestion = g_new0(struct suggestion, 1);
	suggestion->term = g_strdup(term);
	suggestion->text = format_text(search, place->clause, quoted, canonical);
	suggestion->gained = count->gained;
	suggestion->title = sanitize_paper_text(text->title, TITLE_CHARS);
	g_ptr_array_add(search->suggestions, suggestion);
	return true;
}

/* Suggest a term, unless it is bad or adds nothing. @param is_form  see is_good() */
static bool
try_term(struct search *search, const struct place *place, const char *folded,
    bool is_form, GError **error)
{
	g_autofree char *term = write_term(search, folded);
	g_autofree char *quoted = quote(term);
	pb_auto(query) replaced = query_replace(
	    search->query, place->part, place->clause, quoted, search->tokenizer);
	struct count count = {.search = search};
	bool is_no = true, is = false;

	/* Nearly all papers have the information technology of "IT". */
	if (!replaced || search->suggestions->len == SUGGEST_MAX ||
	    (!strpbrk(folded, " -") && is_function_word(search, folded)))
		return true;
	if (!is_superfluous(search, term, &is_no, error) ||
	    (!is_no &&
	        !search_papers(search, replaced, count_paper, &count, NULL, error)) ||
	    (count.gained && !is_good(search, quoted, &count, is_form, &is, error)))
		return false;
	return !is || add_suggestion(search, place, term, &count, error);
}

/* Try acronyms of a phrase, or long forms of an acronym, that papers define. */
static bool
try_forms(struct search *search, const struct node *node, GError **error)
{
	const struct place place = {node, node};
	g_autofree char *folded = NULL;
	g_autoptr(GPtrArray) forms = NULL;

	if (node->kind == NODE_AND || node->kind == NODE_OR)
		for (guint i = 0; i < node->operands->len; i++)
			if (!try_forms(search, node->operands->pdata[i], error))
				return false;
	if (node->kind != NODE_WORDS || node->phrase->is_prefix)
		return true;
	folded = phrase_join(node->phrase);
	forms = archive_load_forms(search->store, folded, FORMS_MAX, error);
	for (guint i = 0; forms && i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];

		if (!try_term(search, &place, form->shown, true, error))
			return false;
	}
	return forms != NULL;
}

/* ---- related terms ---- */

static unsigned
count_word(struct search *search, const char *folded)
{
	int64_t papers = 0;

	if (!search->problem)
		archive_count_class(search->store, folded, &papers, &search->problem);
	return (unsigned)papers;
}

/* Estimate the papers with a pair, between those of the filter and those of its rarer
 * word: to count them takes longer than all else, and a trial counts them. */
static unsigned
estimate_papers(void *data, const struct matrix_term *term, unsigned at_least)
{
	struct search *search = data;
	g_auto(GStrv) words = g_strsplit(term->text, " ", 2);
	unsigned papers = count_word(search, words[0]);

	if (words[1])
		papers = (unsigned)sqrt(
		    (double)MIN(papers, count_word(search, words[1])) * at_least);
	return MAX(papers, at_least);
}

/* Whether papers define an acronym otherwise: no long form ends with a word of the
 * filter, as "diabetic retinopathy" for DR if the filter has "deep research". */
static bool
is_defined_otherwise(
    const struct search *search, const char *term, bool *is, GError **error)
{
	g_autoptr(GPtrArray) forms =
	    archive_load_forms(search->store, term, FORMS_MAX, error);
	g_autofree char *typed = g_utf8_strdown(search->request->text, -1);

	*is = forms && forms->len;
	for (guint i = 0; forms && i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];
		g_autofree char *text = g_utf8_strdown(form->shown, -1);
		const char *space = strrchr(text, ' ');
		const char *last = space ? space + 1 : text;
		g_autofree char *word = stem_plural(last, strlen(last));

		*is &= !strstr(typed, word);
	}
	return forms != NULL;
}

/* Whether it is an acronym by its letters, and written as one. */
static bool
is_acronym(const struct search *search, const struct related_term *term)
{
	const char *written = g_hash_table_lookup(search->written, term->text);
	g_autofree char *lower = written ? g_ascii_strdown(written, -1) : NULL;

	return term->is_acronym && g_strcmp0(written, lower) != 0;
}

static bool
try_related_term(struct search *search, const struct related_term *term, GError **error)
{
	g_autofree char *phrase = NULL;
	bool is_other;

	if (is_acronym(search, term))
		return is_defined_otherwise(search, term->text, &is_other, error) &&
		       (is_other ||
		           try_term(search, &search->place, term->text, true, error));
	phrase = complete_phrase(search, term->text);
	return !is_readable(phrase) ||
	       try_term(search, &search->place, phrase, false, error);
}

static bool
try_related(struct search *search, GError **error)
{
	unsigned own = g_hash_table_size(search->own);
	struct related_source source = {.matrix = search->matrix,
	    .papers = (unsigned)search->papers,
	    .matching = (unsigned)(own * search->papers / MAX(search->searched, 1)),
	    .count = estimate_papers,
	    .data = search};
	g_autoptr(GPtrArray) terms = related_find(search->query, &source, TERMS_MAX);

	if (search->problem) {
		g_propagate_error(error, g_steal_pointer(&search->problem));
		return false;
	}
	for (guint i = 0; i < terms->len; i++)
		if (!try_related_term(search, terms->pdata[i], error))
			return false;
	return true;
}

static bool
find(struct search *search, GError **error)
{
	unsigned step;

	if (!find_place(search->query->root, &search->place))
		return true;
	if (!find_own(search, &step, error))
		return false;
	/* To evaluate all its candidates would take seconds. */
	if (step > 1)
		return true;
	if (!read_own(search, error))
		return false;
	if (!try_forms(search, search->query->root, error))
		return false;
	return !matrix_count_papers(search->matrix) || try_related(search, error);
}

GPtrArray *
suggest_find(struct store *store, const struct suggest_request *request, GError **error)
{
	pb_auto(query) query =
	    query_parse(request->text, store_get_tokenizer(store), NULL, NULL, error);
	struct search search = {
	    .store = store, .tokenizer = store_get_tokenizer(store), .query = query};
	GPtrArray *suggestions = NULL;
	pb_snapshot snapshot = {0};

	if (!query || !archive_cache_refresh(store, error) ||
	    !store_begin_reading(store, &snapshot, error))
		return NULL;
	search_init(&search, request);
	if (find(&search, error))
		suggestions = g_ptr_array_ref(search.suggestions);
	search_clear(&search);
	return suggestions;
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
    GError **error)
{
	const struct suggest_request request = {.text = subscription->text,
	    .subscriber_id = subscription->subscriber_id,
	    .subscription_id = subscription->id,
	    .now = now};
	g_autoptr(GPtrArray) offered = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) found = NULL;

	if (subscription->is_block)
		return g_steal_pointer(&offered);
	found = suggest_find(store, &request, error);
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
