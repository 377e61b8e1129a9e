/*
 * indexed_doc.c - in-memory index of a paper: its words and their places.
 */
#include "query/eval/indexed_doc.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "query/parse/tree.h"
#include "query/query.h"
#include "query/text/text_field.h"

static bool
add_authors(struct query_document *document, const struct paper *paper,
    const struct tokenizer *tokenizer)
{
	for (guint i = 0; i < paper->authors->len; i++) {
		const char *author = g_ptr_array_index(paper->authors, i);
		struct name *name;

		if (!name_parse(author, strlen(author), tokenizer, &name))
			return false;
		g_ptr_array_add(document->authors, g_strdup(author));
		g_ptr_array_add(document->names, name);
	}
	return true;
}

static void
index_tokens(const struct text_field *text_field, int *first)
{
	for (unsigned i = 0; i < DOCUMENT_BUCKETS; i++)
		first[i] = -1;
	for (guint at = text_field->tokens->len; at-- > 0;) {
		struct text_field_token *token =
		    &g_array_index(text_field->tokens, struct text_field_token, at);
		int *bucket = &first[token->key.hash % DOCUMENT_BUCKETS];

		token->next = *bucket;
		*bucket = (int)at;
	}
}

static bool
add_texts(struct query_document *document, const struct paper *paper,
    const struct tokenizer *tokenizer)
{
	if (paper->summary) {
		document->summary = g_new0(struct text_field, 1);
		text_field_init(document->summary, paper->summary);
	}
	text_field_init(&document->texts[HIT_FIELD_TITLE], paper->title);
	text_field_init(&document->texts[HIT_FIELD_ABSTRACT], paper->abstract);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++) {
		if (!text_field_split(
		        &document->texts[i], document->strings, tokenizer))
			return false;
		index_tokens(&document->texts[i], document->first[i]);
	}
	return true;
}

const struct text_field *
document_get_summary(const struct query_document *document)
{
	struct text_field *summary = document->summary;

	if (summary && !summary->tokens->len &&
	    !text_field_split(summary, document->strings, document->tokenizer))
		return NULL;
	return summary;
}

struct query_document *
query_document_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer, GError **error)
{
	pb_auto(query_document) document = g_new0(struct query_document, 1);

	document->strings = g_string_chunk_new(4096);
	document->tokenizer = tokenizer;
	document->authors = g_ptr_array_new_with_free_func(g_free);
	document->names = g_ptr_array_new_with_free_func((GDestroyNotify)name_free);
	document->doc_values = doc_values_new(paper, first_day, tokenizer);
	if (!add_authors(document, paper, tokenizer) ||
	    !add_texts(document, paper, tokenizer)) {
		pb_fail(
		    error, PB_ERROR_TEMPORARY, "cannot tokenize paper %s", paper->id);
		return NULL;
	}
	return g_steal_pointer(&document);
}

void
query_document_free(struct query_document *document)
{
	if (!document)
		return;
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		text_field_clear(&document->texts[i]);
	if (document->summary)
		text_field_clear(document->summary);
	g_free(document->summary);
	g_clear_pointer(&document->strings, g_string_chunk_free);
	g_ptr_array_unref(document->authors);
	g_ptr_array_unref(document->names);
	doc_values_free(document->doc_values);
	g_free(document);
}

void
query_document_finalize(struct query_document *document, enum query_finality settled)
{
	document->doc_values->settled = settled;
}

int
document_find_phrase(const struct query_document *document, const struct phrase *phrase,
    unsigned text, int after)
{
	const struct text_field *text_field = &document->texts[text];
	unsigned hash = phrase_get_word(phrase, 0)->key.hash;
	int at = after >= 0 ? text_field_get_token(text_field, after)->next
	                    : document->first[text][hash % DOCUMENT_BUCKETS];

	if (phrase->is_prefix && phrase->words->len == 1)
		return text_field_find_phrase(text_field, phrase, after + 1);
	while (at >= 0 && !text_field_has_phrase_at(text_field, phrase, at))
		at = text_field_get_token(text_field, at)->next;
	return at;
}

bool
document_has_phrase(
    const struct query_document *document, const struct phrase *phrase, unsigned texts)
{
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		if (texts & 1U << text &&
		    document_find_phrase(document, phrase, text, -1) >= 0)
			return true;
	return false;
}

/* @return the next place of a phrase of a NODE_NEAR */
static int
find_next(const struct query_document *document, const struct node *node, unsigned text,
    guint phrase, int after)
{
	return document_find_phrase(
	    document, g_ptr_array_index(node->phrases, phrase), text, after);
}

/* As FTS5 does: advance the phrase that is too far behind the last one. */
static bool
find_interval(const struct query_document *document, const struct node *node,
    unsigned text, int *places)
{
	guint n = node->phrases->len;
	int last = places[0];
	bool has_moved = true;

	for (guint i = 1; i < n; i++)
		last = MAX(last, places[i]);
	while (has_moved) {
		has_moved = false;
		for (guint i = 0; i < n; i++) {
			const struct phrase *phrase =
			    g_ptr_array_index(node->phrases, i);
			int earliest =
			    last - (int)node->distance - (int)phrase->words->len;

			while (places[i] >= 0 && places[i] < earliest)
				places[i] =
				    find_next(document, node, text, i, places[i]);
			if (places[i] < 0)
				return false;
			has_moved |= places[i] > last;
			last = MAX(last, places[i]);
		}
	}
	return true;
}

bool
document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places)
{
	bool is_first = places[0] < 0;
	guint earliest = 0;

	for (guint i = 1; i < node->phrases->len; i++)
		if (places[i] < places[earliest])
			earliest = i;
	for (guint i = 0; i < node->phrases->len; i++) {
		if (!is_first && i != earliest)
			continue;
		places[i] = find_next(document, node, text, i, places[i]);
		if (places[i] < 0)
			return false;
	}
	return find_interval(document, node, text, places);
}

/* ---- values other than texts and authors ---- */

static GPtrArray *
new_list(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

static void
add_value(GPtrArray *list, const char *value)
{
	if (value)
		g_ptr_array_add(list, g_strdup(value));
}

/* A list with one value, or none. */
static GPtrArray *
new_list_of(const char *value)
{
	GPtrArray *list = new_list();

	add_value(list, value);
	return list;
}

static GPtrArray *
copy_list(const GPtrArray *values)
{
	GPtrArray *list = g_ptr_array_new_full(values->len, g_free);

	for (guint i = 0; i < values->len; i++)
		add_value(list, g_ptr_array_index(values, i));
	return list;
}

/* A replaced cross-list is both. */
static void
add_types(GPtrArray *types, enum listing_type listing_type)
{
	if (listing_type != LISTING_REPLACE_CROSS) {
		add_value(types, listing_type_name(listing_type));
		return;
	}
	add_value(types, listing_type_name(LISTING_REPLACE));
	add_value(types, listing_type_name(LISTING_CROSS));
}

static void
add_days(struct doc_values *doc_values, const struct paper *paper)
{
	doc_values->days = g_array_new(FALSE, FALSE, sizeof(struct doc_values_day));
	doc_values->values[HIT_FIELD_SOURCE] = new_list();
	doc_values->values[HIT_FIELD_TYPE] = new_list();
	for (guint i = 0; i < paper->listings->len; i++) {
		const struct paper_listing *paper_listing =
		    &g_array_index(paper->listings, struct paper_listing, i);
		struct doc_values_day day = {
		    date_read_day(paper_listing->day), paper_listing->is_late};

		g_array_append_val(doc_values->days, day);
		add_value(doc_values->values[HIT_FIELD_SOURCE], paper_listing->source);
		add_types(
		    doc_values->values[HIT_FIELD_TYPE], paper_listing->listing_type);
	}
}

static void
set_first_day(struct doc_values *doc_values, const char *first_day)
{
	doc_values->first_day = first_day ? date_read_day(first_day) : DATE_NONE;
	if (doc_values->first_day != DATE_NONE)
		return;
	for (guint i = 0; i < doc_values->days->len; i++)
		doc_values->first_day = MAX(doc_values->first_day,
		    g_array_index(doc_values->days, struct doc_values_day, i).day);
}

static void
add_links(struct doc_values *doc_values, const struct paper *paper)
{
	GPtrArray *links = doc_values->values[HIT_FIELD_HAS] = new_list();

	add_value(links, paper->code_url ? "code" : NULL);
	add_value(links, paper->project_url ? "project" : NULL);
	add_value(links, paper->video_url ? "video" : NULL);
}

struct doc_values *
doc_values_new(
    const struct paper *paper, const char *first_day, const struct tokenizer *tokenizer)
{
	struct doc_values *doc_values = g_new0(struct doc_values, 1);
	GPtrArray **values = doc_values->values;

	doc_values->tokenizer = tokenizer;
	doc_values->numbers[0] = paper->upvotes;
	doc_values->numbers[HIT_FIELD_COMMENTS - HIT_FIELD_UPVOTES] = paper->comments;
	doc_values->numbers[HIT_FIELD_STARS - HIT_FIELD_UPVOTES] = paper->stars;
	doc_values->numbers[HIT_FIELD_AUTHORS - HIT_FIELD_UPVOTES] =
	    paper->authors->len;
	values[HIT_FIELD_ID] = new_list_of(paper->id);
	if (paper->categories) {
		values[HIT_FIELD_CATEGORY] = copy_list(paper->categories);
		values[HIT_FIELD_PRIMARY] = g_ptr_array_ref(values[HIT_FIELD_CATEGORY]);
	}
	if (paper->comment || paper->is_enriched)
		values[HIT_FIELD_COMMENT] = new_list_of(paper->comment);
	if (paper->journal || paper->is_enriched)
		values[HIT_FIELD_JOURNAL] = new_list_of(paper->journal);
	if (paper->doi || paper->is_enriched)
		values[HIT_FIELD_DOI] = new_list_of(paper->doi);
	if (paper->organization)
		values[HIT_FIELD_ORGANIZATION] = new_list_of(paper->organization);
	if (paper->keywords)
		values[HIT_FIELD_KEYWORD] = copy_list(paper->keywords);
	add_links(doc_values, paper);
	add_days(doc_values, paper);
	set_first_day(doc_values, first_day);
	return doc_values;
}

void
doc_values_free(struct doc_values *doc_values)
{
	if (!doc_values)
		return;
	g_array_unref(doc_values->days);
	for (unsigned i = 0; i < DOC_VALUES_FIELDS; i++) {
		g_clear_pointer(&doc_values->values[i], g_ptr_array_unref);
		g_clear_pointer(&doc_values->text_fields[i], g_array_unref);
	}
	g_clear_pointer(&doc_values->strings, g_string_chunk_free);
	g_free(doc_values);
}

int64_t
doc_values_get_number(const struct doc_values *doc_values, const struct field *field)
{
	return doc_values->numbers[field->hit - HIT_FIELD_UPVOTES];
}

unsigned
doc_values_count_values(const struct doc_values *doc_values, const struct field *field)
{
	const GPtrArray *values = doc_values->values[field->hit];
	unsigned n = values ? values->len : 0;

	return field->is_first ? MIN(n, 1) : n;
}

const char *
doc_values_get_value(
    const struct doc_values *doc_values, const struct field *field, unsigned i)
{
	return g_ptr_array_index(doc_values->values[field->hit], i);
}

const GArray *
doc_values_get_text_fields(struct doc_values *doc_values, const struct field *field)
{
	const GPtrArray *values = doc_values->values[field->hit];
	g_autoptr(GArray) text_fields = NULL;

	if (doc_values->text_fields[field->hit] || !values)
		return doc_values->text_fields[field->hit];
	if (!doc_values->strings)
		doc_values->strings = g_string_chunk_new(512);
	text_fields = g_array_new(FALSE, TRUE, sizeof(struct text_field));
	g_array_set_clear_func(text_fields, (GDestroyNotify)text_field_clear);
	for (guint i = 0; i < values->len; i++) {
		struct text_field text_field;
		bool is_split;

		text_field_init(&text_field, g_ptr_array_index(values, i));
		is_split = text_field_split(
		    &text_field, doc_values->strings, doc_values->tokenizer);
		g_array_append_val(text_fields, text_field);
		if (!is_split)
			return NULL;
	}
	doc_values->text_fields[field->hit] = g_steal_pointer(&text_fields);
	return doc_values->text_fields[field->hit];
}

bool
doc_values_is_value(const struct node *node, const char *value)
{
	size_t len = strlen(node->value);

	if (!node->is_prefix)
		return g_ascii_strcasecmp(node->value, value) == 0;
	if (g_ascii_strncasecmp(node->value, value, len) != 0)
		return false;
	/* cs matches cs.CL, but math does not match math-ph. */
	return node->field->kind != FIELD_CATEGORY || value[len] == '\0' ||
	       value[len] == '.';
}

/* Verdict of a clause that no reported value satisfies. */
static enum query_verdict
evaluate_missing(const struct doc_values *doc_values, const struct field *field)
{
	bool is_settled = true;

	switch (field->availability) {
	case FIELD_AVAILABLE_AT_ONCE:
		break;
	case FIELD_AVAILABLE_ENRICHED:
		is_settled = doc_values->values[field->hit] ||
		             doc_values->settled >= QUERY_FINALITY_ENRICHED;
		break;
	case FIELD_AVAILABLE_LATE:
		is_settled = doc_values->settled >= QUERY_FINALITY_ALL;
		break;
	}
	return is_settled ? QUERY_FALSE : QUERY_UNKNOWN;
}

enum query_verdict
doc_values_evaluate_number(
    const struct doc_values *doc_values, const struct node *node, enum query_mode mode)
{
	int64_t number = doc_values_get_number(doc_values, node->field);

	if (mode == QUERY_MAY_CHANGE && node->field->changes &&
	    doc_values->settled < QUERY_FINALITY_ALL)
		return QUERY_UNKNOWN;
	if (number == PAPER_UNKNOWN)
		return evaluate_missing(doc_values, node->field);
	return number >= node->min && number <= node->max ? QUERY_TRUE : QUERY_FALSE;
}

enum query_verdict
doc_values_evaluate_words(struct doc_values *doc_values, const struct node *node)
{
	const GArray *text_fields = doc_values_get_text_fields(doc_values, node->field);

	if (!doc_values->values[node->field->hit])
		return evaluate_missing(doc_values, node->field);
	/* Reported, but out of memory while tokenizing it. */
	if (!text_fields)
		return QUERY_UNKNOWN;
	for (guint i = 0; i < text_fields->len; i++)
		if (text_field_find_phrase(
		        &g_array_index(text_fields, struct text_field, i), node->phrase,
		        0) >= 0)
			return QUERY_TRUE;
	return QUERY_FALSE;
}

enum query_verdict
doc_values_evaluate_value(const struct doc_values *doc_values, const struct node *node)
{
	unsigned n = doc_values_count_values(doc_values, node->field);

	for (unsigned i = 0; i < n; i++)
		if (doc_values_is_value(
		        node, doc_values_get_value(doc_values, node->field, i)))
			return QUERY_TRUE;
	/* A link may still be reported. */
	return evaluate_missing(doc_values, node->field);
}

bool
doc_values_is_day(const struct doc_values *doc_values, const struct node *node,
    const struct doc_values_day *day)
{
	if (day->is_late && date_is_relative(&node->dates))
		return false;
	return date_is_within(&node->dates, day->day, doc_values->first_day);
}

enum query_verdict
doc_values_evaluate_date(const struct doc_values *doc_values, const struct node *node)
{
	for (guint i = 0; i < doc_values->days->len; i++)
		if (doc_values_is_day(doc_values, node,
		        &g_array_index(doc_values->days, struct doc_values_day, i)))
			return QUERY_TRUE;
	return QUERY_FALSE;
}

/* ---- evaluation ---- */

static bool
has_author(const struct query_document *document, const struct node *node)
{
	guint n = document->names->len;

	for (guint i = 0; i < (node->field->is_first ? MIN(n, 1) : n); i++) {
		const struct name *name = g_ptr_array_index(document->names, i);

		if (name && name_is_match(node->name, name))
			return true;
	}
	return false;
}

static bool
has_near(const struct query_document *document, const struct node *node)
{
	int places[BOUNDS_QUERY_TERMS];

	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++) {
		if (!(node->field->texts & 1U << text))
			continue;
		for (guint i = 0; i < node->phrases->len; i++)
			places[i] = -1;
		if (document_find_near(document, node, text, places))
			return true;
	}
	return false;
}

/* Minimum of the operands' verdicts for AND, maximum for OR. */
static enum query_verdict
evaluate_operands(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	bool is_and = node->kind == NODE_AND;
	enum query_verdict decisive = is_and ? QUERY_FALSE : QUERY_TRUE;
	enum query_verdict truth = is_and ? QUERY_TRUE : QUERY_FALSE;

	for (guint i = 0; i < node->operands->len && truth != decisive; i++) {
		enum query_verdict one =
		    node_evaluate(g_ptr_array_index(node->operands, i), document, mode);

		truth = is_and ? MIN(truth, one) : MAX(truth, one);
	}
	return truth;
}

enum query_verdict
node_evaluate(const struct node *node, const struct query_document *document,
    enum query_mode mode)
{
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return evaluate_operands(node, document, mode);
	case NODE_NOT:
		return QUERY_TRUE - node_evaluate(g_ptr_array_index(node->operands, 0),
		                        document, mode);
	case NODE_WORDS:
		return document_has_phrase(document, node->phrase, node->field->texts)
		           ? QUERY_TRUE
		           : QUERY_FALSE;
	case NODE_NEAR:
		return has_near(document, node) ? QUERY_TRUE : QUERY_FALSE;
	case NODE_NAME:
		return has_author(document, node) ? QUERY_TRUE : QUERY_FALSE;
	case NODE_VALUE_WORDS:
		return doc_values_evaluate_words(document->doc_values, node);
	case NODE_VALUE:
		return doc_values_evaluate_value(document->doc_values, node);
	case NODE_NUMBER:
		return doc_values_evaluate_number(document->doc_values, node, mode);
	case NODE_DATE:
		return doc_values_evaluate_date(document->doc_values, node);
	}
	g_assert_not_reached();
}

enum query_verdict
query_evaluate(const struct query *query, const struct query_document *document,
    enum query_mode mode)
{
	return node_evaluate(query->root, document, mode);
}
