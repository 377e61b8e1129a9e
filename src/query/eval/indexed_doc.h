/*
 * indexed_doc.h - in-memory index of a paper: its words and their places.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/parse/tree.h"
#include "query/query.h"
#include "query/text/text_field.h"

/* Number of indexed texts, by hit field: HIT_FIELD_TITLE, HIT_FIELD_ABSTRACT. */
#define DOCUMENT_TEXTS 2

#define DOCUMENT_FIELDS  (HIT_FIELD_HAS + 1)
#define DOCUMENT_NUMBERS (HIT_FIELD_AUTHORS - HIT_FIELD_UPVOTES + 1)

/* A day on which the paper was listed. */
struct document_day {
	unsigned day; /* as in date.h */
	bool is_late; /* see struct paper_listing */
};

struct query_document {
	struct text_field texts[DOCUMENT_TEXTS];
	/* Its words are split by document_get_summary(); NULL: the paper has none. */
	struct text_field *summary;
	const struct tokenizer *tokenizer; /* borrowed */
	GStringChunk *strings;
	GPtrArray *names; /* of struct name *, one for each author; NULL for one without
	                     words */
	enum query_finality finality;
	unsigned awaited;   /* services of enum paper_lookup that have not reported */
	unsigned first_day; /* origin of relative dates */
	int64_t numbers[DOCUMENT_NUMBERS]; /* from HIT_FIELD_UPVOTES on */
	GArray *days;                      /* of struct document_day */
	/* Of struct text_field, by field; NULL: not reported.  Values in which words
	 * are searched are split on first use. */
	GArray *values[DOCUMENT_FIELDS];
};

/**
 * Get the summary, which no filter asks for; split on first use.
 *
 * @return NULL without a summary, or if the tokenizer fails
 */
const struct text_field *document_get_summary(const struct query_document *document);

/**
 * Find the phrases of a NODE_NEAR near each other in one text: at most `distance` words
 * between the end of each and the beginning of the last.
 *
 * @param places  index for each phrase: all -1, or the previous result; set to the next
 * @return false when there is no further place
 */
bool document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places);

/** Get a number of the paper, or PAPER_UNKNOWN. */
static inline int64_t
document_get_number(const struct query_document *document, const struct field *field)
{
	return document->numbers[field->hit - HIT_FIELD_UPVOTES];
}

/** Count the reported values of a field. */
unsigned
document_count_values(const struct query_document *document, const struct field *field);

/** @param i  less than document_count_values() */
static inline const struct text_field *
document_get_value(
    const struct query_document *document, const struct field *field, unsigned i)
{
	return &g_array_index(document->values[field->hit], struct text_field, i);
}

/** Whether an author satisfies a NODE_NAME. @param i  index of the author */
bool document_is_author(
    const struct query_document *document, const struct node *node, unsigned i);

/** Whether a value satisfies a NODE_VALUE. */
bool document_is_value(
    const struct query_document *document, const struct node *node, unsigned i);

/** Whether a day of the paper satisfies a NODE_DATE. */
bool document_is_day(
    const struct query_document *document, const struct node *node, unsigned i);

/** As query_evaluate(), for any node of the tree. */
enum query_verdict node_evaluate(const struct node *node,
    const struct query_document *document, enum query_mode mode);
