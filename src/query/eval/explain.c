/*
 * explain.c - explains why a filter matches a paper, on one line or as a tree.
 */
#include "query/query.h"

#include <inttypes.h>
#include <string.h>

#include "base/bounds.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/canonical.h"

/* ---- finds where a clause of a filter matches a paper ---- */

static void
query_hit_free(struct query_hit *hit)
{
	if (!hit)
		return;
	g_free(hit->words);
	g_free(hit->folded);
	g_free(hit->phrases);
	g_free(hit);
}

static GPtrArray *
highlight_new_list(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)query_hit_free);
}

/* Find the bytes of a phrase, and its folded words. */
static void
measure_phrase(const struct text_field *text_field, const struct phrase *phrase, int at,
    struct query_hit *hit, GString *folded)
{
	const struct phrase_word *last =
	    phrase_get_word(phrase, phrase->words->len - 1);

	for (guint i = 0; i < phrase->words->len; i++) {
		const struct phrase_word *word = phrase_get_word(phrase, i);
		const struct text_field_token *token =
		    text_field_get_token(text_field, at + (int)i);
		size_t start;

		text_field_find_word(
		    text_field, at + (int)i, phrase, i, &start, &hit->end);
		if (i == 0)
			hit->start = start;
		else
			g_string_append_c(folded, ' ');
		g_string_append(
		    folded, word->is_char ? word->key.text : token->key.text);
	}
	if (last->signs) {
		hit->end += strlen(last->signs);
		g_string_append(folded, last->signs);
	}
}

/* Add every place of a phrase in a text. @param item  of the hits */
static void
add_phrase(GPtrArray *hits, const struct text_field *text_field,
    const struct phrase *phrase, enum hit_field field, unsigned item)
{
	int at = -1;

	while ((at = text_field_find_phrase(text_field, phrase, at + 1)) >= 0) {
		struct query_hit *hit = g_new0(struct query_hit, 1);
		GString *folded = g_string_new(NULL);

		measure_phrase(text_field, phrase, at, hit, folded);
		hit->field = field;
		hit->item = item;
		hit->words =
		    g_strndup(text_field->text + hit->start, hit->end - hit->start);
		hit->folded = g_string_free(folded, FALSE);
		g_ptr_array_add(hits, hit);
	}
}

static void
add_words(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		if (node->field->texts & 1U << text)
			add_phrase(hits, &document->texts[text], node->phrase,
			    (enum hit_field)text, 0);
}

/* "chain of thought" near faithful */
static void
append_part(GString *words, GString *phrases, const struct text_field *text_field,
    const struct query_hit *part, bool is_later)
{
	const char *text = text_field->text + part->start;
	size_t len = part->end - part->start;
	bool is_quoted = memchr(text, ' ', len) != NULL;

	g_string_append_printf(words, is_quoted ? "%s\"%.*s\"" : "%s%.*s",
	    is_later ? " near " : "", (int)len, text);
	g_string_append_printf(
	    phrases, "%s%.*s", is_later ? HIT_SEPARATOR : "", (int)len, text);
}

/* Hit of NEAR: its phrases in text order, "reward near hacking". */
static struct query_hit *
make_near_hit(
    const struct text_field *text_field, const struct node *node, const int *places)
{
	struct query_hit *hit = g_new0(struct query_hit, 1);
	GString *words = g_string_new(NULL);
	GString *phrases = g_string_new(NULL);
	GString *folded = g_string_new(NULL);
	int before = -1;

	for (guint reported = 0; reported < node->phrases->len;) {
		int next = G_MAXINT;

		for (guint i = 0; i < node->phrases->len; i++)
			if (places[i] > before && places[i] < next)
				next = places[i];
		for (guint i = 0; i < node->phrases->len; i++) {
			struct query_hit part = {0};

			if (places[i] != next)
				continue;
			g_string_append(folded, reported ? " near " : "");
			measure_phrase(text_field, g_ptr_array_index(node->phrases, i),
			    next, &part, folded);
			append_part(words, phrases, text_field, &part, reported > 0);
			hit->start = reported ? hit->start : part.start;
			hit->end = MAX(hit->end, part.end);
			reported++;
		}
		before = next;
	}
	hit->phrases = g_string_free(phrases, FALSE);
	hit->words = g_string_free(words, FALSE);
	hit->folded = g_string_free(folded, FALSE);
	return hit;
}

static void
add_near(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	int places[BOUNDS_QUERY_TERMS];

	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		if (!(node->field->texts & 1U << text))
			continue;
		for (guint i = 0; i < node->phrases->len; i++)
			places[i] = -1;
		while (document_find_near(document, node, text, places)) {
			struct query_hit *hit =
			    make_near_hit(&document->texts[text], node, places);

			hit->field = (enum hit_field)text;
			g_ptr_array_add(hits, hit);
		}
	}
}

/* Add hits in a list of values; the item is the index of the value. */
static void
add_value_words(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	const GArray *values = document->values[node->field->hit];

	for (guint i = 0; i < values->len; i++)
		add_phrase(hits, &g_array_index(values, struct text_field, i),
		    node->phrase, node->field->hit, i);
}

/* Add a whole value: a name, a category, a number. */
static void
add_whole(GPtrArray *hits, enum hit_field field, unsigned item, const char *words)
{
	struct query_hit *hit = g_new0(struct query_hit, 1);

	hit->field = field;
	hit->item = item;
	hit->end = strlen(words);
	hit->words = g_strdup(words);
	hit->folded = g_utf8_casefold(words, -1);
	g_ptr_array_add(hits, hit);
}

/* @param is_match  whether an author or a value satisfies the clause */
static void
add_values(GPtrArray *hits, const struct node *node,
    const struct query_document *document,
    bool (*is_match)(const struct query_document *, const struct node *, unsigned))
{
	unsigned n = document_count_values(document, node->field);

	for (unsigned i = 0; i < n; i++)
		if (is_match(document, node, i))
			add_whole(hits, node->field->hit, i,
			    document_get_value(document, node->field, i)->text);
}

static void
add_number(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	struct query_hit *hit = g_new0(struct query_hit, 1);

	hit->field = node->field->hit;
	hit->words =
	    g_strdup_printf("%" PRId64, document_get_number(document, node->field));
	hit->folded = g_strdup(hit->words);
	g_ptr_array_add(hits, hit);
}

static void
add_days(
    GPtrArray *hits, const struct node *node, const struct query_document *document)
{
	for (guint i = 0; i < document->days->len; i++) {
		unsigned day =
		    g_array_index(document->days, struct document_day, i).day;
		g_autoptr(GString) text = g_string_new(NULL);
		const struct date_range alone = {
		    {DATE_DAY, day, 0, 0}, {DATE_DAY, day, 0, 0}};

		if (!document_is_day(document, node, i))
			continue;
		date_append(&alone, text);
		add_whole(hits, HIT_FIELD_DATE, i, text->str);
	}
}

/* Add every place of a clause; none unless it is true as reported. */
static void
highlight_add_clause(
    GPtrArray *hits, const struct node *clause, const struct query_document *document)
{
	/* Words are false where no place of them is found. */
	if (clause->kind != NODE_WORDS &&
	    node_evaluate(clause, document, QUERY_AS_REPORTED) != QUERY_TRUE)
		return;
	switch (clause->kind) {
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
		break;
	case NODE_WORDS:
		add_words(hits, clause, document);
		break;
	case NODE_NEAR:
		add_near(hits, clause, document);
		break;
	case NODE_VALUE_WORDS:
		add_value_words(hits, clause, document);
		break;
	case NODE_NAME:
		add_values(hits, clause, document, document_is_author);
		break;
	case NODE_VALUE:
		add_values(hits, clause, document, document_is_value);
		break;
	case NODE_NUMBER:
		add_number(hits, clause, document);
		break;
	case NODE_DATE:
		add_days(hits, clause, document);
		break;
	}
}

/* Add every place of the phrases of a clause on the abstract in the summary. */
static void
highlight_add_summary(
    GPtrArray *hits, const struct node *clause, const struct query_document *document)
{
	bool is_text = clause->kind == NODE_WORDS || clause->kind == NODE_NEAR;
	const struct text_field *summary =
	    is_text && clause->field->texts & 1U << HIT_FIELD_ABSTRACT
	        ? document_get_summary(document)
	        : NULL;

	if (!summary)
		return;
	if (clause->kind == NODE_WORDS)
		add_phrase(hits, summary, clause->phrase, HIT_FIELD_ABSTRACT, 0);
	for (guint i = 0; clause->kind == NODE_NEAR && i < clause->phrases->len; i++)
		add_phrase(hits, summary, g_ptr_array_index(clause->phrases, i),
		    HIT_FIELD_ABSTRACT, 0);
}

static int
compare_places(const struct query_hit *a, const struct query_hit *b)
{
	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Longer first: a phrase before its first word. */
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return 0;
}

static int
compare_hits(const void *a, const void *b)
{
	return compare_places(
	    *(const struct query_hit *const *)a, *(const struct query_hit *const *)b);
}

/* Sort hits by field and place, and drop duplicates. */
static void
highlight_sort(GPtrArray *hits)
{
	guint at = 1;

	g_ptr_array_sort(hits, compare_hits);
	while (at < hits->len) {
		if (compare_places(g_ptr_array_index(hits, at - 1),
		        g_ptr_array_index(hits, at)) == 0)
			g_ptr_array_remove_index(hits, at);
		else
			at++;
	}
}

/* ---- explain ---- */

/*
 * False parts have no hits, nor have parts under a NOT; all operands of a false OR are
 * false.
 *
 * @param summary  gets hits in the summary, which filters do not search; or NULL
 */
static void
add_hits(GPtrArray *hits, GPtrArray *summary, const struct node *node,
    const struct query_document *document)
{
	guint before = hits->len;

	if (node->kind == NODE_AND &&
	    node_evaluate(node, document, QUERY_AS_REPORTED) == QUERY_FALSE)
		return;
	if (node->kind == NODE_AND || node->kind == NODE_OR) {
		for (guint i = 0; i < node->operands->len; i++)
			add_hits(hits, summary, node->operands->pdata[i], document);
		return;
	}
	highlight_add_clause(hits, node, document);
	if (summary && hits->len > before)
		highlight_add_summary(summary, node, document);
}

GPtrArray *
query_explain(const struct query *query, const struct query_document *document)
{
	GPtrArray *hits = highlight_new_list();

	add_hits(hits, NULL, query->root, document);
	highlight_sort(hits);
	return hits;
}

struct hit_list {
	GPtrArray *hits;     /* of struct hit * */
	GPtrArray *repeated; /* of struct hit *: of words that another hit has */
	GArray *words;       /* of struct listed_word */
	size_t chars, repeated_chars;
};

/* A word, or a form of it, that the list has; few of them, so that a scan is fast. */
struct listed_word {
	unsigned kind;
	const char *text; /* borrowed */
};

/* @return false if the list has it */
static bool
add_listed(struct hit_list *list, unsigned kind, const char *text)
{
	const struct listed_word added = {kind, text};

	for (guint i = 0; i < list->words->len; i++) {
		const struct listed_word *word =
		    &g_array_index(list->words, struct listed_word, i);

		if (word->kind == kind && strcmp(word->text, text) == 0)
			return false;
	}
	g_array_append_val(list->words, added);
	return true;
}

/* Add a word once for all texts; 3 votes and 3 authors are different. */
static bool
add_listed_word(struct hit_list *list, const struct query_hit *hit)
{
	unsigned field = hit_field_is_text(hit->field)     ? HIT_FIELD_TITLE
	                 : hit->field == HIT_FIELD_PRIMARY ? HIT_FIELD_CATEGORY
	                                                   : (unsigned)hit->field;

	return add_listed(list, field, hit->folded);
}

/* Add a form of a word once per text, for marking. Kinds from HIT_FIELDS on keep forms
 * apart from words. */
static bool
add_listed_form(struct hit_list *list, enum hit_field field, const char *words)
{
	return add_listed(list, HIT_FIELDS + (unsigned)field, words);
}

static void
add_hit(
    struct hit_list *list, enum hit_field field, bool is_repeated, const char *words)
{
	size_t *chars = is_repeated ? &list->repeated_chars : &list->chars;

	if (*chars > BOUNDS_QUERY_EXPLAIN_CHARS)
		return;
	if (is_repeated && !add_listed_form(list, field, words))
		return;
	*chars += (size_t)g_utf8_strlen(words, -1);
	g_ptr_array_add(is_repeated ? list->repeated : list->hits,
	    hit_new(field, is_repeated, words));
}

static void
add_document_hits(struct hit_list *list, const GPtrArray *hits)
{
	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);
		const char *words = hit->phrases ? hit->phrases : hit->words;
		bool is_repeated = !add_listed_word(list, hit);

		if (!is_repeated)
			add_listed_form(list, hit->field, words);
		if (!is_repeated || hit->field <= HIT_FIELD_ABSTRACT)
			add_hit(list, hit->field, is_repeated, words);
	}
}

GPtrArray *
query_list_hits(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) found = highlight_new_list();
	g_autoptr(GPtrArray) summary = highlight_new_list();
	g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(struct listed_word));
	struct hit_list list = {
	    .hits = hits_new(), .repeated = hits_new(), .words = words};

	add_hits(found, summary, query->root, document);
	highlight_sort(found);
	add_document_hits(&list, found);
	for (guint i = 0; i < summary->len; i++)
		add_hit(&list, HIT_FIELD_ABSTRACT, true,
		    ((const struct query_hit *)g_ptr_array_index(summary, i))->words);
	g_ptr_array_extend_and_steal(list.hits, list.repeated);
	return list.hits;
}

char *
query_explain_text(const struct query *query, const struct query_document *document,
    const struct po *po)
{
	g_autoptr(GPtrArray) hits = query_list_hits(query, document);

	return hits_format(hits, po);
}

static void
query_step_free(struct query_step *step)
{
	if (!step)
		return;
	g_free(step->text);
	g_ptr_array_unref(step->hits);
	g_free(step);
}

static struct query_step *
make_step(
    const struct node *node, unsigned depth, const struct query_document *document)
{
	static const char *const names[] = {"AND", "OR", "NOT"};
	struct query_step *step = g_new0(struct query_step, 1);
	GString *text = g_string_new(NULL);

	step->kind = node->kind <= NODE_NOT ? (enum query_step_kind)node->kind
	                                    : QUERY_STEP_CLAUSE;
	step->depth = depth;
	step->boost = node->boost;
	if (step->kind == QUERY_STEP_CLAUSE)
		node_append_clause(node, text);
	else
		g_string_append(text, names[step->kind]);
	step->text = g_string_free(text, FALSE);
	step->truth = node_evaluate(node, document, QUERY_AS_REPORTED);
	step->is_final =
	    node_evaluate(node, document, QUERY_MAY_CHANGE) != QUERY_UNKNOWN;
	step->hits = highlight_new_list();
	highlight_add_clause(step->hits, node, document);
	highlight_sort(step->hits);
	return step;
}

static void
add_steps(GPtrArray *steps, const struct node *node, unsigned depth,
    const struct query_document *document)
{
	g_ptr_array_add(steps, make_step(node, depth, document));
	for (guint i = 0; node->operands && i < node->operands->len; i++)
		add_steps(
		    steps, g_ptr_array_index(node->operands, i), depth + 1, document);
}

GPtrArray *
query_explain_tree(const struct query *query, const struct query_document *document)
{
	GPtrArray *steps =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_step_free);

	add_steps(steps, query->root, 0, document);
	return steps;
}
