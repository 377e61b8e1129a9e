/*
 * document.h - a paper made ready for many queries: every word and its places.
 */
#ifndef PAPERBOY_QUERY_DOCUMENT_H
#define PAPERBOY_QUERY_DOCUMENT_H

#include <stdint.h>

#include "query/name.h"
#include "query/phrase.h"
#include "query/query.h"

/* QUERY_FIELD_TITLE and QUERY_FIELD_ABSTRACT. */
#define DOCUMENT_TEXTS 2

/* A distinct folded word; the table's key is its beginning. */
struct document_word {
	struct phrase_key key;
	int first[DOCUMENT_TEXTS]; /* its first token in each text, or -1 */
	int last[DOCUMENT_TEXTS];
};

struct document_token {
	const struct document_word *word;
	const char *plain;
	size_t start; /* in the text, octets */
	size_t end;
	int next; /* the next token that is the same word, or -1 */
};

/* A plain word and the texts it is in, as bits: what prefixes are looked up in. */
struct document_plain {
	const char *text;
	unsigned texts;
};

struct query_document {
	char *texts[DOCUMENT_TEXTS];
	size_t text_len[DOCUMENT_TEXTS];
	GArray *tokens[DOCUMENT_TEXTS]; /* of struct document_token */
	GHashTable *words;              /* of struct document_word */
	GArray *plains;                 /* of struct document_plain, sorted, distinct */
	GStringChunk *strings;
	GPtrArray *authors; /* of char *, as printed */
	GPtrArray *names;   /* of struct name *, beside them; NULL without any word */
	int64_t upvotes;
};

/** Tell whether a phrase is in one of some texts (bits of FIELD_IN_...). */
bool document_has_phrase(
    const struct query_document *document, const struct phrase *phrase, unsigned texts);

/**
 * Find a phrase in one text.
 *
 * @param from  the first token to look at
 * @return the token where it begins, or -1
 */
int document_find_phrase(const struct query_document *document,
    const struct phrase *phrase, unsigned text, int from);

const struct document_token *
document_get_token(const struct query_document *document, unsigned text, int at);

/** Get a number of the paper, or PAPER_UNKNOWN. */
int64_t
document_get_number(const struct query_document *document, enum query_field field);

#endif
