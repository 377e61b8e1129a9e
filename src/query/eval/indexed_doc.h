/*
 * indexed_doc.h - in-memory index of a paper: its words and their places.
 */
#ifndef PAPERBOY_QUERY_EVAL_INDEXED_DOC_H
#define PAPERBOY_QUERY_EVAL_INDEXED_DOC_H

#include <stdint.h>

#include "query/eval/doc_values.h"
#include "query/query.h"
#include "query/text/text_field.h"

/* HIT_FIELD_TITLE and HIT_FIELD_ABSTRACT. */
#define DOCUMENT_TEXTS 2

/* Chains of tokens by the hash of their words; a paper has about 200 tokens. */
#define DOCUMENT_BUCKETS 256

/* An unfolded word and the bits of its texts, for prefix lookups. */
struct indexed_doc_word {
	const char *text;
	unsigned texts;
};

struct query_document {
	struct text_field texts[DOCUMENT_TEXTS];
	struct text_field *summary;        /* see document_get_summary(), or NULL */
	const struct tokenizer *tokenizer; /* borrowed */
	/* First token of each chain, or -1; the tokens continue it in order. */
	int first[DOCUMENT_TEXTS][DOCUMENT_BUCKETS];
	GArray *plains; /* see document_get_plains() */
	GStringChunk *strings;
	GPtrArray *authors; /* of char *, as printed */
	GPtrArray *names; /* of struct name *, parallel to authors; NULL for one without
	                     words */
	struct doc_values *doc_values;
};

/**
 * Get the unfolded words: of struct indexed_doc_word, sorted, distinct; built on first
 * use.
 */
const GArray *document_get_plains(const struct query_document *document);

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

#endif
