/*
 * suggest.c - words and phrases that would find more papers like those of a filter.
 */
#include "service/explain/suggest.h"

#include <string.h>

#include "base/error.h"
#include "query/parse/canonical.h"
#include "query/parse/tree.h"
#include "query/text/acronym.h"
#include "service/explain/suggest_trial.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* Terms that are related, and those of them that are tried; more of narrow filters, for
 * which few papers speak. */
#define TERMS_FOUND        100
#define TERMS_MAX          16
#define TERMS_FOUND_NARROW 300
#define TERMS_MAX_NARROW   100

/* Share of its papers that the filter finds, as estimated before a search: a paper
 * with two forms of a word counts twice. */
#define PRECISION_ESTIMATED 0.12

/* Terms that are offered together. */
#define GROUP_MAX 2

/* Acronyms or long forms of a clause, those that most papers define first. */
#define FORMS_MAX 2

/* Share of the papers with an acronym that have the phrase, too: others may mean
 * something else. */
#define FORM_PRECISION_MIN 0.25

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
is_fragment(const struct suggest_trial *trial, const char *term)
{
	g_autofree char *inner = g_strconcat(term, " ", NULL);
	g_autofree char *end = g_strconcat(" ", term, NULL);

	for (guint i = 0; strchr(term, ' ') && i < trial->hits->acronyms->len; i++) {
		const struct acronym *acronym = trial->hits->acronyms->pdata[i];
		g_autofree char *text = g_utf8_strdown(acronym->long_text, -1);

		g_strdelimit(text, "-/", ' ');
		if (g_str_has_suffix(text, end) || strstr(text, inner))
			return true;
	}
	return false;
}

/* Whether it is a subject that is far more frequent in the filter's papers. */
static bool
is_specific(const struct suggest_trial *trial, const struct related_term *term)
{
	return term->precision >= PRECISION_ESTIMATED &&
	       suggest_hits_get_lift(trial->hits, term->precision) >=
	           SUGGEST_LIFT_MIN &&
	       is_presentable(term->text) && !is_fragment(trial, term->text);
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
try_group(struct suggest_trial *trial, const GPtrArray *tried, GPtrArray *suggestions,
    GError **error)
{
	g_autoptr(GPtrArray) members = g_ptr_array_new();
	g_autoptr(GPtrArray) made =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	g_autoptr(GString) terms = g_string_new(NULL);
	struct suggest_candidate candidate = {.is_group = true};

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
	if (!suggest_trial_run(trial, &candidate, made, error))
		return false;
	if (made->len && gains_more(made->pdata[0], members)) {
		g_ptr_array_set_size(suggestions, 0);
		g_ptr_array_extend_and_steal(suggestions, g_steal_pointer(&made));
	}
	return true;
}

static unsigned
get_terms_max(const struct suggest_trial *trial)
{
	return suggest_hits_are_narrow(trial->hits)
	           ? TERMS_MAX_NARROW
	           : TERMS_MAX * 2 / (1 + trial->places->len);
}

/* Try words and phrases of the filter's papers. */
static bool
try_related(struct suggest_trial *trial, GPtrArray *suggestions, GError **error)
{
	const struct related_source source = suggest_hits_get_source(trial->hits);
	g_autoptr(GPtrArray) terms = related_find(trial->hits->query, &source,
	    suggest_hits_are_narrow(trial->hits) ? TERMS_FOUND_NARROW : TERMS_FOUND);
	g_autoptr(GPtrArray) tried =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	unsigned left = get_terms_max(trial);

	if (trial->hits->problem) {
		g_propagate_error(error, g_steal_pointer(&trial->hits->problem));
		return false;
	}
	g_ptr_array_sort(terms, compare_value);
	for (unsigned i = 0; i < terms->len && left; i++) {
		const struct related_term *term = terms->pdata[i];
		struct suggest_candidate candidate = {
		    .term = term->text, .titles = term->titles};
		uint32_t number;

		if (!is_specific(trial, term))
			continue;
		if (matrix_find_term(trial->hits->matrix, term->text, &number))
			candidate.shared =
			    matrix_get_term(trial->hits->matrix, number)->papers;
		left--;
		if (!suggest_trial_run(trial, &candidate, tried, error))
			return false;
	}
	g_ptr_array_sort(tried, compare_suggestions);
	if (suggest_hits_are_narrow(trial->hits) &&
	    !try_group(trial, tried, suggestions, error))
		return false;
	add_best(tried, suggestions);
	return true;
}

/* Whether papers that have an acronym are mostly on the filter's subject. */
static bool
is_own_form(struct suggest_trial *trial, const char *form)
{
	unsigned sampled = matrix_count_papers(trial->hits->matrix);
	unsigned shared = 0;
	int64_t papers;
	uint32_t term;

	if (strchr(form, ' ') || strchr(form, '-'))
		return true;
	if (matrix_find_term(trial->hits->matrix, form, &term))
		shared = matrix_get_term(trial->hits->matrix, term)->papers;
	papers = suggest_hits_count_word(trial->hits, form);
	return !sampled || (double)shared * MAX(trial->hits->matching, sampled) >=
	                       FORM_PRECISION_MIN * (double)papers * sampled;
}

/* Try acronyms of a phrase, or long forms of an acronym, that papers define. */
static bool
try_forms(struct suggest_trial *trial, const struct node *node, GPtrArray *suggestions,
    GError **error)
{
	g_autoptr(GString) folded = g_string_new(NULL);
	g_autoptr(GPtrArray) forms = NULL;

	for (guint i = 0; node->kind == NODE_OR && i < node->operands->len; i++)
		if (!try_forms(trial, node->operands->pdata[i], suggestions, error))
			return false;
	if (node->kind != NODE_WORDS || node->phrase->is_prefix)
		return true;
	for (guint i = 0; i < node->phrase->words->len; i++)
		g_string_append_printf(folded, "%s%s", i ? " " : "",
		    phrase_get_word(node->phrase, i)->key.text);
	forms = node->phrase->words->len > 1
	            ? archive_load_acronyms_of(
	                  trial->hits->store, folded->str, FORMS_MAX, error)
	            : archive_load_acronyms(
	                  trial->hits->store, folded->str, FORMS_MAX, error);
	for (unsigned i = 0; forms && i < forms->len; i++) {
		const struct archive_acronym *form = forms->pdata[i];

		if (suggestions->len < SUGGEST_MAX && is_own_form(trial, form->shown) &&
		    !suggest_trial_run(trial,
		        &(const struct suggest_candidate){
		            .term = form->shown, .is_form = true},
		        suggestions, error))
			return false;
	}
	return forms != NULL;
}

static bool
find(struct suggest_trial *trial, GPtrArray *suggestions, GError **error)
{
	if (!trial->places->len)
		return true;
	if (!suggest_hits_load(trial->hits, error))
		return false;
	if (matrix_count_papers(trial->hits->matrix)) {
		const struct likeness_source source = {.query = trial->hits->query,
		    .matrix = trial->hits->matrix,
		    .papers = trial->hits->papers,
		    .count = suggest_hits_count_word,
		    .data = trial->hits};

		trial->likeness = likeness_new(trial->hits->store, &source);
	}
	for (guint i = 0; i < trial->places->len; i++)
		if (!try_forms(
		        trial, suggest_trial_get_part(trial, i), suggestions, error))
			return false;
	return !matrix_count_papers(trial->hits->matrix) ||
	       try_related(trial, suggestions, error);
}

GPtrArray *
suggest_find(struct store *store, const struct suggest_request *request, GError **error)
{
	g_autoptr(GPtrArray) suggestions =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suggestion_free);
	pb_auto(query) query =
	    query_parse(request->text, store_get_tokenizer(store), NULL, NULL, error);
	struct suggest_hits hits;
	struct suggest_trial trial;
	pb_snapshot snapshot = {0};
	bool is_ok;

	if (!query || !archive_cache_refresh(store, error) ||
	    !store_begin_reading(store, &snapshot, error))
		return NULL;
	suggest_hits_init(&hits, store, request, query);
	suggest_trial_init(&trial, &hits);
	is_ok = find(&trial, suggestions, error);
	suggest_trial_clear(&trial);
	suggest_hits_clear(&hits);
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
