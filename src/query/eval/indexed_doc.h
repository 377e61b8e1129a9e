/*
 * indexed_doc.h - a paper made ready for many queries: every word and its places.
 */
#ifndef PAPERBOY_QUERY_EVAL_INDEXED_DOC_H
#define PAPERBOY_QUERY_EVAL_INDEXED_DOC_H

#include <stdint.h>

#include "query/eval/doc_values.h"
#include "query/query.h"
#include "query/text/text_field.h"

/* QUERY_FIELD_TITLE and QUERY_FIELD_ABSTRACT. */
#define DOCUMENT_TEXTS 2

/* A distinct folded word; the table's key is its beginning. */
struct document_word {
	struct phrase_key key;
	int first[DOCUMENT_TEXTS]; /* its first token in each text, or -1 */
	int last[DOCUMENT_TEXTS];
};

/* A plain word and the texts it is in, as bits: what prefixes are looked up in. */
struct indexed_doc_word {
	const char *text;
	unsigned texts;
};

struct query_document {
	struct text_field texts[DOCUMENT_TEXTS]; /* equal words are chained by next */
	GHashTable *words;                       /* of struct document_word */
	GArray *plains;                          /* see document_get_plains() */
	GStringChunk *strings;
	GPtrArray *authors; /* of char *, as printed */
	GPtrArray *names;   /* of struct name *, beside them; NULL without any word */
	struct doc_values *facts;
};

/** Get the plain words: of struct indexed_doc_word, sorted, distinct; made at the first
 * call. */
const GArray *document_get_plains(const struct query_document *document);

/** Tell whether a phrase is in one of some texts (bits of FIELD_IN_...). */
bool document_has_phrase(
    const struct query_document *document, const struct phrase *phrase, unsigned texts);

/**
 * Find a phrase in one text.
 *
 * @param after  where it was found before, or -1
 * @return the token where it begins next, or -1
 */
int document_find_phrase(const struct query_document *document,
    const struct phrase *phrase, unsigned text, int after);

/**
 * Find the phrases of a NODE_NEAR near each other in one text: so that between the
 * end of each and the beginning of the last one there are at most so many words.
 *
 * @param places  one for each phrase: all -1, or where they were found before; set
 *                to where they begin next
 * @return false when there is no more
 */
bool document_find_near(const struct query_document *document, const struct node *node,
    unsigned text, int *places);

#endif
