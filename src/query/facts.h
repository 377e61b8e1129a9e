/*
 * facts.h - what a paper is besides its words and people: its categories, numbers,
 * days and links.
 *
 * Lists of values are cut into words when the first filter asks for them.
 */
#ifndef PAPERBOY_QUERY_FACTS_H
#define PAPERBOY_QUERY_FACTS_H

#include <glib.h>
#include <stdint.h>

#include "query/tree.h"

#define FACTS_FIELDS  (QUERY_FIELD_HAS + 1)
#define FACTS_NUMBERS (QUERY_FIELD_AUTHORS - QUERY_FIELD_UPVOTES + 1)

/* A day on which the paper was listed. */
struct facts_day {
	unsigned day; /* as in date.h */
	bool is_late; /* see struct appearance */
};

struct facts {
	enum query_settlement settled;
	unsigned first_day;              /* relative dates are measured from it */
	int64_t numbers[FACTS_NUMBERS];  /* from QUERY_FIELD_UPVOTES on */
	GArray *days;                    /* of struct facts_day */
	GPtrArray *values[FACTS_FIELDS]; /* of char *, by field; NULL: not told */
	GArray *passages[FACTS_FIELDS];  /* of struct passage, made of them, or NULL */
	GStringChunk *strings;           /* of the passages, or NULL */
	const struct tokenizer *tokenizer; /* borrowed */
};

/** As query_document_new() takes them. */
struct facts *facts_new(const struct paper *paper, const char *first_day,
    const struct tokenizer *tokenizer);
void facts_free(struct facts *facts);

/** Get a number of the paper, or PAPER_UNKNOWN. */
int64_t facts_get_number(const struct facts *facts, const struct field *field);

/** Count the values of a field of NODE_FACT, told or not. */
unsigned facts_count_values(const struct facts *facts, const struct field *field);
const char *
facts_get_value(const struct facts *facts, const struct field *field, unsigned i);

/**
 * Get the values of a field of NODE_FACT_WORDS, cut into words.
 *
 * @return of struct passage; NULL when they are not told, or the tokenizer failed
 */
const GArray *facts_get_passages(struct facts *facts, const struct field *field);

/** Tell whether a value is the one that a NODE_FACT asks for. */
bool facts_is_value(const struct node *node, const char *value);

/* The truth of a clause, each for its kind of node. */
enum query_truth facts_evaluate_words(struct facts *facts, const struct node *node);
enum query_truth
facts_evaluate_value(const struct facts *facts, const struct node *node);
enum query_truth facts_evaluate_number(
    const struct facts *facts, const struct node *node, enum query_mode mode);
enum query_truth
facts_evaluate_date(const struct facts *facts, const struct node *node);

/** Tell whether a day of the paper is one that a NODE_DATE asks for. */
bool facts_is_day(
    const struct facts *facts, const struct node *node, const struct facts_day *day);

#endif
