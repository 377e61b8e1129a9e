/*
 * doc_values.c - what a paper is besides its words and people.
 */
#include "query/eval/doc_values.h"

#include <string.h>

#include "query/text/text_field.h"

static void
clear_passage(void *data)
{
	text_field_clear(data);
}

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

/* One value or none: a list all the same. */
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

/* A new version of a cross-list is both. */
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
add_days(struct doc_values *facts, const struct paper *paper)
{
	facts->days = g_array_new(FALSE, FALSE, sizeof(struct doc_values_day));
	facts->values[QUERY_FIELD_SOURCE] = new_list();
	facts->values[QUERY_FIELD_TYPE] = new_list();
	for (guint i = 0; i < paper->listings->len; i++) {
		const struct paper_listing *paper_listing =
		    &g_array_index(paper->listings, struct paper_listing, i);
		struct doc_values_day day = {
		    date_read_day(paper_listing->day), paper_listing->is_late};

		g_array_append_val(facts->days, day);
		add_value(facts->values[QUERY_FIELD_SOURCE], paper_listing->source);
		add_types(facts->values[QUERY_FIELD_TYPE], paper_listing->listing_type);
	}
}

static void
set_first_day(struct doc_values *facts, const char *first_day)
{
	facts->first_day = first_day ? date_read_day(first_day) : DATE_NONE;
	if (facts->first_day != DATE_NONE)
		return;
	for (guint i = 0; i < facts->days->len; i++)
		facts->first_day = MAX(facts->first_day,
		    g_array_index(facts->days, struct doc_values_day, i).day);
}

static void
add_links(struct doc_values *facts, const struct paper *paper)
{
	GPtrArray *links = facts->values[QUERY_FIELD_HAS] = new_list();

	add_value(links, paper->code_url ? "code" : NULL);
	add_value(links, paper->project_url ? "project" : NULL);
	add_value(links, paper->video_url ? "video" : NULL);
}

struct doc_values *
doc_values_new(
    const struct paper *paper, const char *first_day, const struct tokenizer *tokenizer)
{
	struct doc_values *facts = g_new0(struct doc_values, 1);
	GPtrArray **values = facts->values;

	facts->tokenizer = tokenizer;
	facts->numbers[0] = paper->upvotes;
	facts->numbers[QUERY_FIELD_COMMENTS - QUERY_FIELD_UPVOTES] = paper->comments;
	facts->numbers[QUERY_FIELD_STARS - QUERY_FIELD_UPVOTES] = paper->stars;
	facts->numbers[QUERY_FIELD_AUTHORS - QUERY_FIELD_UPVOTES] = paper->authors->len;
	values[QUERY_FIELD_ID] = new_list_of(paper->id);
	if (paper->categories) {
		values[QUERY_FIELD_CATEGORY] = copy_list(paper->categories);
		values[QUERY_FIELD_PRIMARY] =
		    g_ptr_array_ref(values[QUERY_FIELD_CATEGORY]);
		values[QUERY_FIELD_COMMENT] = new_list_of(paper->comment);
		values[QUERY_FIELD_JOURNAL] = new_list_of(paper->journal);
		values[QUERY_FIELD_DOI] = new_list_of(paper->doi);
	}
	if (paper->organization)
		values[QUERY_FIELD_ORGANIZATION] = new_list_of(paper->organization);
	if (paper->keywords)
		values[QUERY_FIELD_KEYWORD] = copy_list(paper->keywords);
	add_links(facts, paper);
	add_days(facts, paper);
	set_first_day(facts, first_day);
	return facts;
}

void
doc_values_free(struct doc_values *facts)
{
	if (!facts)
		return;
	g_array_unref(facts->days);
	for (unsigned i = 0; i < DOC_VALUES_FIELDS; i++) {
		g_clear_pointer(&facts->values[i], g_ptr_array_unref);
		g_clear_pointer(&facts->passages[i], g_array_unref);
	}
	g_clear_pointer(&facts->strings, g_string_chunk_free);
	g_free(facts);
}

int64_t
doc_values_get_number(const struct doc_values *facts, const struct field *field)
{
	return facts->numbers[field->hit - QUERY_FIELD_UPVOTES];
}

unsigned
doc_values_count_values(const struct doc_values *facts, const struct field *field)
{
	const GPtrArray *values = facts->values[field->hit];
	unsigned n = values ? values->len : 0;

	return field->is_first ? MIN(n, 1) : n;
}

const char *
doc_values_get_value(
    const struct doc_values *facts, const struct field *field, unsigned i)
{
	return g_ptr_array_index(facts->values[field->hit], i);
}

const GArray *
doc_values_get_passages(struct doc_values *facts, const struct field *field)
{
	const GPtrArray *values = facts->values[field->hit];
	g_autoptr(GArray) passages = NULL;

	if (facts->passages[field->hit] || !values)
		return facts->passages[field->hit];
	if (!facts->strings)
		facts->strings = g_string_chunk_new(512);
	passages = g_array_new(FALSE, TRUE, sizeof(struct text_field));
	g_array_set_clear_func(passages, clear_passage);
	for (guint i = 0; i < values->len; i++) {
		struct text_field passage;
		bool is_split;

		text_field_init(&passage, g_ptr_array_index(values, i));
		is_split = text_field_split(&passage, facts->strings, facts->tokenizer);
		g_array_append_val(passages, passage);
		if (!is_split)
			return NULL;
	}
	facts->passages[field->hit] = g_steal_pointer(&passages);
	return facts->passages[field->hit];
}

bool
doc_values_is_value(const struct node *node, const char *value)
{
	size_t len = strlen(node->value);

	if (!node->is_beginning)
		return g_ascii_strcasecmp(node->value, value) == 0;
	if (g_ascii_strncasecmp(node->value, value, len) != 0)
		return false;
	/* cs is cs.CL, and math is not math-ph. */
	return node->field->kind != FIELD_CATEGORY || value[len] == '\0' ||
	       value[len] == '.';
}

/* What a clause is that holds for nothing that is told. */
static enum query_verdict
evaluate_missing(const struct doc_values *facts, const struct field *field)
{
	bool is_settled = true;

	switch (field->wait) {
	case FIELD_WAITS_NEVER:
		break;
	case FIELD_WAITS_FOR_ENRICHMENT:
		is_settled = facts->values[QUERY_FIELD_CATEGORY] ||
		             facts->settled >= QUERY_SETTLED_ENRICHED;
		break;
	case FIELD_WAITS_FINALLY:
		is_settled = facts->settled >= QUERY_SETTLED_FINALLY;
		break;
	}
	return is_settled ? QUERY_FALSE : QUERY_UNKNOWN;
}

enum query_verdict
doc_values_evaluate_number(
    const struct doc_values *facts, const struct node *node, enum query_mode mode)
{
	int64_t number = doc_values_get_number(facts, node->field);

	if (mode == QUERY_MAY_CHANGE && node->field->changes &&
	    facts->settled < QUERY_SETTLED_FINALLY)
		return QUERY_UNKNOWN;
	if (number == PAPER_UNKNOWN)
		return evaluate_missing(facts, node->field);
	return number >= node->min && number <= node->max ? QUERY_TRUE : QUERY_FALSE;
}

enum query_verdict
doc_values_evaluate_words(struct doc_values *facts, const struct node *node)
{
	const GArray *passages = doc_values_get_passages(facts, node->field);

	if (!facts->values[node->field->hit])
		return evaluate_missing(facts, node->field);
	/* Told, but there was no memory to cut it. */
	if (!passages)
		return QUERY_UNKNOWN;
	for (guint i = 0; i < passages->len; i++)
		if (text_field_find_phrase(
		        &g_array_index(passages, struct text_field, i), node->phrase,
		        0) >= 0)
			return QUERY_TRUE;
	return QUERY_FALSE;
}

enum query_verdict
doc_values_evaluate_value(const struct doc_values *facts, const struct node *node)
{
	unsigned n = doc_values_count_values(facts, node->field);

	for (unsigned i = 0; i < n; i++)
		if (doc_values_is_value(
		        node, doc_values_get_value(facts, node->field, i)))
			return QUERY_TRUE;
	/* Without a link to code: one may still come. */
	return evaluate_missing(facts, node->field);
}

bool
doc_values_is_day(const struct doc_values *facts, const struct node *node,
    const struct doc_values_day *day)
{
	if (day->is_late && date_is_relative(&node->dates))
		return false;
	return date_is_within(&node->dates, day->day, facts->first_day);
}

enum query_verdict
doc_values_evaluate_date(const struct doc_values *facts, const struct node *node)
{
	for (guint i = 0; i < facts->days->len; i++)
		if (doc_values_is_day(facts, node,
		        &g_array_index(facts->days, struct doc_values_day, i)))
			return QUERY_TRUE;
	return QUERY_FALSE;
}
