/*
 * doc_values.h - values of a paper other than texts and authors: categories, numbers,
 * days and links.
 *
 * Lists of values are tokenized on first use.
 */
#ifndef PAPERBOY_QUERY_EVAL_DOC_VALUES_H
#define PAPERBOY_QUERY_EVAL_DOC_VALUES_H

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/parse/tree.h"

#define DOC_VALUES_FIELDS  (HIT_FIELD_HAS + 1)
#define DOC_VALUES_NUMBERS (HIT_FIELD_AUTHORS - HIT_FIELD_UPVOTES + 1)

/* A day on which the paper was listed. */
struct doc_values_day {
	unsigned day; /* as in date.h */
	bool is_late; /* see struct paper_listing */
};

struct doc_values {
	enum query_finality settled;
	unsigned first_day;                  /* origin of relative dates */
	int64_t numbers[DOC_VALUES_NUMBERS]; /* from HIT_FIELD_UPVOTES on */
	GArray *days;                        /* of struct doc_values_day */
	GPtrArray
	    *values[DOC_VALUES_FIELDS]; /* of char *, by field; NULL: not reported */
	GArray *text_fields[DOC_VALUES_FIELDS]; /* of struct text_field, tokenized
	                                           values; or NULL */
	GStringChunk *strings;                  /* of the text fields, or NULL */
	const struct tokenizer *tokenizer;      /* borrowed */
};

/** Parameters as for query_document_new(). */
struct doc_values *doc_values_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer);
void doc_values_free(struct doc_values *doc_values);
PB_DEFINE_AUTO(doc_values, doc_values_free);

/** Get a number of the paper, or PAPER_UNKNOWN. */
int64_t
doc_values_get_number(const struct doc_values *doc_values, const struct field *field);

/** Count the reported values of a NODE_VALUE field. */
unsigned
doc_values_count_values(const struct doc_values *doc_values, const struct field *field);
const char *doc_values_get_value(
    const struct doc_values *doc_values, const struct field *field, unsigned i);

/**
 * Get the tokenized values of a NODE_VALUE_WORDS field.
 *
 * @return of struct text_field; NULL when not reported, or the tokenizer failed
 */
const GArray *
doc_values_get_text_fields(struct doc_values *doc_values, const struct field *field);

/** Whether a value satisfies a NODE_VALUE. */
bool doc_values_is_value(const struct node *node, const char *value);

/* Evaluate a clause; one function for each kind of node. */
enum query_verdict
doc_values_evaluate_words(struct doc_values *doc_values, const struct node *node);
enum query_verdict
doc_values_evaluate_value(const struct doc_values *doc_values, const struct node *node);
enum query_verdict doc_values_evaluate_number(
    const struct doc_values *doc_values, const struct node *node, enum query_mode mode);
enum query_verdict
doc_values_evaluate_date(const struct doc_values *doc_values, const struct node *node);

/** Whether a day of the paper satisfies a NODE_DATE. */
bool doc_values_is_day(const struct doc_values *doc_values, const struct node *node,
    const struct doc_values_day *day);

#endif
