/*
 * query.h - the filter language: what a person types to say which papers are
 * theirs.
 *
 * A text is parsed once into a query, which is in canonical form from then on
 * and is matched against many documents.  No I/O, no clock, no SQL; the
 * tokenizer comes in as a function.  A query is not changed after parsing, so
 * threads may share it.
 *
 * What is meant by a clause:
 *   word, phrase, prefix*   in the title or in the abstract (a phrase within one
 *                   of them); plurals are folded, prefixes are compared with
 *                   the plain word; the signs + and # and inner dots of a typed
 *                   word must stand in the paper too (c++, node.js)
 *   title: abstract: text:  there only; text is both, as without a field
 *   author:         within one author.  Several words are a name: the last name
 *                   whole, the given names in order, equal or as initials, the
 *                   first given name first; middle names may be missing.  One
 *                   word is any whole word of a name.  A comma turns the order:
 *                   "LeCun, Yann"; "LeCun," is a last name alone
 *   upvotes:        >=, <=, >, <, = or a range, 10..20; a bare 20 is =20
 * NEAR, ^, =word, bare categories and the language's other fields are refused
 * as not supported yet.
 */
#ifndef PAPERBOY_QUERY_QUERY_H
#define PAPERBOY_QUERY_QUERY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/auto.h"
#include "model/paper.h"
#include "query/problem.h"
#include "query/tokenizer.h"

struct query;
struct query_document;

/* Ordered: AND is the least of its operands, OR the greatest. */
enum query_truth {
	QUERY_FALSE,
	QUERY_UNKNOWN,
	QUERY_TRUE,
};

/* What to take for a field that may be told or corrected later. */
enum query_mode {
	QUERY_AS_TOLD,    /* not told yet is unknown, and so is NOT of it */
	QUERY_MAY_CHANGE, /* what changes with time is unknown though it is told: is
	                   * there a way for a "no" to become a "yes"? */
	QUERY_UNKNOWN_IS_FALSE, /* the last word: a clause on what was never told is
	                         * false, and NOT of it is true */
};

enum query_field {
	QUERY_FIELD_TITLE,
	QUERY_FIELD_ABSTRACT,
	QUERY_FIELD_AUTHOR,
	QUERY_FIELD_UPVOTES,
};

/* Where a query hit a document. */
struct query_hit {
	enum query_field field;
	unsigned item; /* of authors: which one, from 0; else 0 */
	size_t start;  /* in that text, octets; numbers have no text: 0 */
	size_t end;
	char *words;  /* as the paper writes it: "State Spaces", "Yann LeCun", "23" */
	char *folded; /* equal for hits that only differ in capitals or plural */
};

/**
 * Parse what a person typed.
 *
 * @param tokenizer  borrowed for the call
 * @param warnings   NULL, or where to put a new array of char *, empty when there
 *                   are none: "column 3: ..."; set on success only
 * @param problem    NULL, or cleared by the caller: filled on failure only
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT (over BOUNDS_QUERY_BYTES, _TERMS,
 *         _DEPTH, BOUNDS_NUMBER_DIGITS) or PB_ERROR_TEMPORARY (the tokenizer
 *         failed); the message begins with "column 14: "
 */
struct query *query_parse(const char *text, const struct tokenizer *tokenizer,
    GPtrArray **warnings, struct query_problem *problem, GError **error);

/**
 * Parse what query_format() made: longer than what people may type, since
 * every word has its field; up to BOUNDS_QUERY_CANONICAL_BYTES.
 */
struct query *query_parse_canonical(
    const char *text, const struct tokenizer *tokenizer, GError **error);

void query_free(struct query *query);
PB_DEFINE_AUTO(query, query_free);

/**
 * Format the canonical text: full field names on each clause, capital
 * operators, no needless parentheses, operands sorted and distinct, words as
 * folded tokens.  Filters that differ in order, spelling, plural or capitals
 * have one text, and parsing that gives it again.
 */
char *query_format(const struct query *query);

/** Hash the canonical text: SHA-256 in 64 lower-case hexadecimal digits. */
char *query_hash(const struct query *query);

/** Tell whether the answer can change with time though the texts do not. */
bool query_is_changing(const struct query *query);

/**
 * Prepare a paper for many queries.
 *
 * Title, abstract and authors count as told, the numbers when they are.
 *
 * @param paper      borrowed for the call
 * @param tokenizer  borrowed for the call
 * @return NULL with PB_ERROR_TEMPORARY when the tokenizer failed
 */
struct query_document *query_document_new(
    const struct paper *paper, const struct tokenizer *tokenizer, GError **error);
void query_document_free(struct query_document *document);
PB_DEFINE_AUTO(query_document, query_document_free);

enum query_truth query_evaluate(const struct query *query,
    const struct query_document *document, enum query_mode mode);

/**
 * Find what the query hit: every place of each clause that is true as told and
 * not under a NOT.
 *
 * @return of struct query_hit *, in the order of fields and places, distinct;
 *         empty when the query is false
 */
GPtrArray *
query_explain(const struct query *query, const struct query_document *document);
void query_hit_free(struct query_hit *hit);

/**
 * Tell a reader on one line why the paper is there:
 * `"state space", mamba in the title; ssm in the abstract; 23 votes`.
 *
 * Each word is told once, where it is first.  At most
 * BOUNDS_QUERY_EXPLAIN_CHARS characters, cut at a word.
 */
char *
query_explain_text(const struct query *query, const struct query_document *document);

#endif
