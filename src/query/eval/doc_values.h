/*
 * doc_values.h - what a paper is besides its words and people: its categories, numbers,
 * days and links.
 *
 * Lists of values are cut into words when the first filter asks for them.
 */
#ifndef PAPERBOY_QUERY_EVAL_DOC_VALUES_H
#define PAPERBOY_QUERY_EVAL_DOC_VALUES_H

#include <glib.h>
#include <stdint.h>

#include "query/parse/tree.h"

#define DOC_VALUES_FIELDS  (QUERY_FIELD_HAS + 1)
#define DOC_VALUES_NUMBERS (QUERY_FIELD_AUTHORS - QUERY_FIELD_UPVOTES + 1)

/* A day on which the paper was listed. */
struct doc_values_day {
	unsigned day; /* as in date.h */
	bool is_late; /* see struct appearance */
};

struct doc_values {
	enum query_finality settled;
	unsigned first_day;                   /* relative dates are measured from it */
	int64_t numbers[DOC_VALUES_NUMBERS];  /* from QUERY_FIELD_UPVOTES on */
	GArray *days;                         /* of struct doc_values_day */
	GPtrArray *values[DOC_VALUES_FIELDS]; /* of char *, by field; NULL: not told */
	GArray
	    *passages[DOC_VALUES_FIELDS]; /* of struct passage, made of them, or NULL */
	GStringChunk *strings;            /* of the passages, or NULL */
	const struct tokenizer *tokenizer; /* borrowed */
};

/** As query_document_new() takes them. */
struct doc_values *doc_values_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer);
void doc_values_free(struct doc_values *facts);

/** Get a number of the paper, or PAPER_UNKNOWN. */
int64_t
doc_values_get_number(const struct doc_values *facts, const struct field *field);

/** Count the values of a field of NODE_FACT, told or not. */
unsigned
doc_values_count_values(const struct doc_values *facts, const struct field *field);
const char *doc_values_get_value(
    const struct doc_values *facts, const struct field *field, unsigned i);

/**
 * Get the values of a field of NODE_FACT_WORDS, cut into words.
 *
 * @return of struct passage; NULL when they are not told, or the tokenizer failed
 */
const GArray *
doc_values_get_passages(struct doc_values *facts, const struct field *field);

/** Tell whether a value is the one that a NODE_FACT asks for. */
bool doc_values_is_value(const struct node *node, const char *value);

/* The truth of a clause, each for its kind of node. */
enum query_verdict
doc_values_evaluate_words(struct doc_values *facts, const struct node *node);
enum query_verdict
doc_values_evaluate_value(const struct doc_values *facts, const struct node *node);
enum query_verdict doc_values_evaluate_number(
    const struct doc_values *facts, const struct node *node, enum query_mode mode);
enum query_verdict
doc_values_evaluate_date(const struct doc_values *facts, const struct node *node);

/** Tell whether a day of the paper is one that a NODE_DATE asks for. */
bool doc_values_is_day(const struct doc_values *facts, const struct node *node,
    const struct doc_values_day *day);

#endif
