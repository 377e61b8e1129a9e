/*
 * indexed_doc.h - in-memory index of a paper: its words and their places.
 */
#ifndef PAPERBOY_QUERY_EVAL_INDEXED_DOC_H
#define PAPERBOY_QUERY_EVAL_INDEXED_DOC_H

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/parse/tree.h"
#include "query/query.h"
#include "query/text/text_field.h"

/* Number of indexed texts, by hit field: HIT_FIELD_TITLE, HIT_FIELD_ABSTRACT. */
#define DOCUMENT_TEXTS 2

/* Buckets of the hash table of a text's tokens; a paper has about 200 tokens. */
#define DOCUMENT_BUCKETS 256

struct query_document {
	struct text_field texts[DOCUMENT_TEXTS];
	/* Its words are split by document_get_summary(); NULL: the paper has none. */
	struct text_field *summary;
	const struct tokenizer *tokenizer; /* borrowed */
	/* First token of each bucket, or -1; each token has the index of the next. */
	int first[DOCUMENT_TEXTS][DOCUMENT_BUCKETS];
	GStringChunk *strings;
	GPtrArray *authors; /* of char *, as printed */
	GPtrArray *names; /* of struct name *, parallel to authors; NULL for one without
	                     words */
	struct doc_values *doc_values;
};

/**
 * Get the summary, which no filter asks for; split on first use.
 *
 * @return NULL without a summary, or if the tokenizer fails
 */
const struct text_field *document_get_summary(const struct query_document *document);

/** Whether a phrase is in one of the texts (bits FIELD_IN_...). */
bool document_has_phrase(
    const struct query_document *document, const struct phrase *phrase, unsigned texts);

/**
 * Find a phrase in one text.
 *
 * @param after  index of its previous place, or -1
 * @return index of its next first token, or -1
 */
int document_find_phrase(const struct query_document *document,
    const struct phrase *phrase, unsigned text, int after);

/**
 * Find the phrases of a NODE_NEAR near each other in one text: at most `distance` words
 * between the end of each and the beginning of the last.
 *
 * @param places  index for each phrase: all -1, or the previous result; set to the next
 * @return false when there is no further place
 */
bool document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places);

/* ---- values other than texts and authors ---- */

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

/* ---- evaluation ---- */

/** As query_evaluate(), for any node of the tree. */
enum query_verdict node_evaluate(const struct node *node,
    const struct query_document *document, enum query_mode mode);

#endif
