/*
 * indexed_doc.c - in-memory index of a paper: its words and their places.
 */
#include "query/eval/indexed_doc.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

static bool
add_texts(struct query_document *document, const struct paper *paper)
{
	if (paper->summary) {
		document->summary = g_new0(struct text_field, 1);
		text_field_init(document->summary, paper->summary);
	}
	text_field_init(&document->texts[HIT_FIELD_TITLE], paper->title);
	text_field_init(&document->texts[HIT_FIELD_ABSTRACT], paper->abstract);
	for (unsigned i = 0; i < DOCUMENT_TEXTS; i++)
		if (!text_field_split(
		        &document->texts[i], document->strings, document->tokenizer))
			return false;
	return true;
}

const struct text_field *
document_get_summary(const struct query_document *document)
{
	struct text_field *summary = document->summary;

	if (summary && !summary->tokens &&
	    !text_field_split(summary, document->strings, document->tokenizer))
		return NULL;
	return summary;
}

static GArray *
new_values(void)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(struct text_field));

	g_array_set_clear_func(values, (GDestroyNotify)text_field_clear);
	return values;
}

static void
add_value(GArray *values, const char *text)
{
	struct text_field value;

	if (!text)
		return;
	text_field_init(&value, text);
	g_array_append_val(values, value);
}

/* A list with one value, or none. */
static GArray *
new_values_of(const char *text)
{
	GArray *values = new_values();

	add_value(values, text);
	return values;
}

static GArray *
copy_values(const GPtrArray *texts)
{
	GArray *values = new_values();

	for (guint i = 0; i < texts->len; i++)
		add_value(values, g_ptr_array_index(texts, i));
	return values;
}

static bool
add_authors(struct query_document *document, const struct paper *paper)
{
	document->values[HIT_FIELD_AUTHOR] = copy_values(paper->authors);
	for (guint i = 0; i < paper->authors->len; i++) {
		const char *author = g_ptr_array_index(paper->authors, i);
		struct name *name;

		if (!name_parse(author, strlen(author), document->tokenizer, &name))
			return false;
		g_ptr_array_add(document->names, name);
	}
	return true;
}

/* A replaced cross-list is both. */
static void
add_types(GArray *types, enum listing_type listing_type)
{
	if (listing_type != LISTING_REPLACE_CROSS) {
		add_value(types, listing_type_name(listing_type));
		return;
	}
	add_value(types, listing_type_name(LISTING_REPLACE));
	add_value(types, listing_type_name(LISTING_CROSS));
}

static void
add_days(struct query_document *document, const struct paper *paper)
{
	document->days = g_array_new(FALSE, FALSE, sizeof(struct document_day));
	document->values[HIT_FIELD_SOURCE] = new_values();
	document->values[HIT_FIELD_TYPE] = new_values();
	for (guint i = 0; i < paper->listings->len; i++) {
		const struct paper_listing *paper_listing =
		    &g_array_index(paper->listings, struct paper_listing, i);
		struct document_day day = {
		    date_read_day(paper_listing->day), paper_listing->is_late};

		g_array_append_val(document->days, day);
		add_value(document->values[HIT_FIELD_SOURCE], paper_listing->source);
		add_types(
		    document->values[HIT_FIELD_TYPE], paper_listing->listing_type);
	}
}

static void
set_first_day(struct query_document *document, const char *first_day)
{
	document->first_day = first_day ? date_read_day(first_day) : DATE_NONE;
	if (document->first_day != DATE_NONE)
		return;
	for (guint i = 0; i < document->days->len; i++)
		document->first_day = MAX(document->first_day,
		    g_array_index(document->days, struct document_day, i).day);
}

static void
add_links(struct query_document *document, const struct paper *paper)
{
	GArray *links = document->values[HIT_FIELD_HAS] = new_values();

	add_value(links, paper->code_url ? "code" : NULL);
	add_value(links, paper->project_url ? "project" : NULL);
	add_value(links, paper->video_url ? "video" : NULL);
}

static void
add_values(struct query_document *document, const struct paper *paper)
{
	GArray **values = document->values;

	document->numbers[0] = paper->upvotes;
	document->numbers[HIT_FIELD_COMMENTS - HIT_FIELD_UPVOTES] = paper->comments;
	document->numbers[HIT_FIELD_STARS - HIT_FIELD_UPVOTES] = paper->stars;
	document->numbers[HIT_FIELD_AUTHORS - HIT_FIELD_UPVOTES] = paper->authors->len;
	values[HIT_FIELD_ID] = new_values_of(paper->id);
	document->awaited = paper_find_lookups(paper);
	if (paper->categories && paper->categories->len) {
		values[HIT_FIELD_CATEGORY] = copy_values(paper->categories);
		values[HIT_FIELD_PRIMARY] = g_array_ref(values[HIT_FIELD_CATEGORY]);
	}
	if (paper->comment)
		values[HIT_FIELD_COMMENT] = new_values_of(paper->comment);
	if (paper->journal)
		values[HIT_FIELD_JOURNAL] = new_values_of(paper->journal);
	for (guint i = 0; paper->journal_names && i < paper->journal_names->len; i++)
		add_value(values[HIT_FIELD_JOURNAL], paper->journal_names->pdata[i]);
	if (paper->doi)
		values[HIT_FIELD_DOI] = new_values_of(paper->doi);
	if (paper->mesh && paper->mesh->len)
		values[HIT_FIELD_MESH] = copy_values(paper->mesh);
	if (paper->pmid || paper->pmcid) {
		values[HIT_FIELD_PMID] = new_values_of(paper->pmid);
		add_value(values[HIT_FIELD_PMID], paper->pmcid);
		add_value(values[HIT_FIELD_ID], paper->pmid);
		add_value(values[HIT_FIELD_ID], paper->pmcid);
	}
	if (paper->organization)
		values[HIT_FIELD_ORGANIZATION] = new_values_of(paper->organization);
	if (paper->keywords)
		values[HIT_FIELD_KEYWORD] = copy_values(paper->keywords);
	add_links(document, paper);
}

struct query_document *
query_document_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer, GError **error)
{
	pb_auto(query_document) document = g_new0(struct query_document, 1);

	document->strings = g_string_chunk_new(4096);
	document->tokenizer = tokenizer;
	document->names = g_ptr_array_new_with_free_func((GDestroyNotify)name_free);
	add_values(document, paper);
	add_days(document, paper);
	set_first_day(document, first_day);
	if (!add_authors(document, paper) || !add_texts(document, paper)) {
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
	for (unsigned i = 0; i < DOCUMENT_FIELDS; i++)
		g_clear_pointer(&document->values[i], g_array_unref);
	g_array_unref(document->days);
	g_ptr_array_unref(document->names);
	g_string_chunk_free(document->strings);
	g_free(document);
}

void
query_document_finalize(struct query_document *document, enum query_finality finality)
{
	document->finality = finality;
}

/* ---- words ---- */

static bool
has_phrase(const struct query_document *document, const struct node *node)
{
	for (unsigned text = 0; text < DOCUMENT_TEXTS; text++)
		if (node->field->texts & 1U << text &&
		    text_field_find_phrase(&document->texts[text], node->phrase, 0) >=
		        0)
			return true;
	return false;
}

/* @return the next place of a phrase of a NODE_NEAR */
static int
find_next(const struct query_document *document, const struct node *node, unsigned text,
    guint phrase, int after)
{
	return text_field_find_phrase(&document->texts[text],
	    g_ptr_array_index(node->phrases, phrase), after + 1);
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

/* ---- other values ---- */

unsigned
document_count_values(const struct query_document *document, const struct field *field)
{
	const GArray *values = document->values[field->hit];
	unsigned n = values ? values->len : 0;

	return field->is_first ? MIN(n, 1) : n;
}

bool
document_is_author(
    const struct query_document *document, const struct node *node, unsigned i)
{
	const struct name *name = g_ptr_array_index(document->names, i);

	return name && name_is_match(node->name, name);
}

bool
document_is_value(
    const struct query_document *document, const struct node *node, unsigned i)
{
	const char *value = document_get_value(document, node->field, i)->text;
	size_t len = strlen(node->value);

	if (!node->is_prefix)
		return g_ascii_strcasecmp(node->value, value) == 0;
	if (g_ascii_strncasecmp(node->value, value, len) != 0)
		return false;
	/* cs matches cs.CL, but math does not match math-ph. */
	return node->field->kind != FIELD_CATEGORY || value[len] == '\0' ||
	       value[len] == '.';
}

bool
document_is_day(
    const struct query_document *document, const struct node *node, unsigned i)
{
	const struct document_day *day =
	    &g_array_index(document->days, struct document_day, i);

	if (day->is_late && date_is_relative(&node->dates))
		return false;
	return date_is_within(&node->dates, day->day, document->first_day);
}

/* ---- evaluation ---- */

/* Verdict of a clause that no reported value satisfies. */
static enum query_verdict
evaluate_missing(const struct query_document *document, const struct field *field)
{
	bool is_settled = true;

	switch (field->availability) {
	case FIELD_AVAILABLE_AT_ONCE:
		break;
	case FIELD_AVAILABLE_LOOKED_UP:
		is_settled = document->values[field->hit] ||
		             !(document->awaited & field->lookups) ||
		             document->finality >= QUERY_FINALITY_LOOKED_UP;
		break;
	case FIELD_AVAILABLE_LATE:
		is_settled = document->finality >= QUERY_FINALITY_ALL;
		break;
	}
	return is_settled ? QUERY_FALSE : QUERY_UNKNOWN;
}

static enum query_verdict
evaluate_number(const struct query_document *document, const struct node *node,
    enum query_mode mode)
{
	int64_t number = document_get_number(document, node->field);

	if (mode == QUERY_MAY_CHANGE && node->field->changes &&
	    document->finality < QUERY_FINALITY_ALL)
		return QUERY_UNKNOWN;
	if (number == PAPER_UNKNOWN)
		return evaluate_missing(document, node->field);
	return number >= node->min && number <= node->max ? QUERY_TRUE : QUERY_FALSE;
}

static enum query_verdict
evaluate_words(const struct query_document *document, const struct node *node)
{
	const GArray *values = document->values[node->field->hit];
	enum query_verdict verdict = QUERY_FALSE;

	if (!values)
		return evaluate_missing(document, node->field);
	for (guint i = 0; i < values->len; i++) {
		struct text_field *value = &g_array_index(values, struct text_field, i);

		if (!value->tokens &&
		    !text_field_split(value, document->strings, document->tokenizer))
			return QUERY_UNKNOWN;
		if (text_field_find_phrase(value, node->phrase, 0) >= 0)
			verdict = QUERY_TRUE;
	}
	return verdict;
}

/* Whether any of `count` values satisfies a clause. */
static bool
has_any(const struct query_document *document, const struct node *node, unsigned count,
    bool (*is_match)(const struct query_document *, const struct node *, unsigned))
{
	for (unsigned i = 0; i < count; i++)
		if (is_match(document, node, i))
			return true;
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
	bool is_true = false;

	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
		return evaluate_operands(node, document, mode);
	case NODE_NOT:
		return QUERY_TRUE - node_evaluate(g_ptr_array_index(node->operands, 0),
		                        document, mode);
	case NODE_WORDS:
		is_true = has_phrase(document, node);
		break;
	case NODE_NEAR:
		is_true = has_near(document, node);
		break;
	case NODE_NAME:
		is_true = has_any(document, node,
		    document_count_values(document, node->field), document_is_author);
		break;
	case NODE_VALUE_WORDS:
		return evaluate_words(document, node);
	case NODE_VALUE:
		/* A link may still be reported. */
		return has_any(document, node,
		           document_count_values(document, node->field),
		           document_is_value)
		           ? QUERY_TRUE
		           : evaluate_missing(document, node->field);
	case NODE_NUMBER:
		return evaluate_number(document, node, mode);
	case NODE_DATE:
		is_true = has_any(document, node, document->days->len, document_is_day);
		break;
	}
	return is_true ? QUERY_TRUE : QUERY_FALSE;
}

enum query_verdict
query_evaluate(const struct query *query, const struct query_document *document,
    enum query_mode mode)
{
	return node_evaluate(query->root, document, mode);
}
