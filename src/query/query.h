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
 *   =word           these very letters: capitals, accents, no plural
 *   a NEAR/5 b, NEAR(a b, 5)   in one text, at most so many words between the end
 *                   of each and the beginning of the last (FTS5 section 3.8)
 *   title: abstract: text:  there only; text is both, as without a field
 *   author: first:  within one author.  Several words are a name: the last name
 *                   whole, the given names in order, equal or as initials, the
 *                   first given name first; middle names may be missing.  One
 *                   word is any whole word of a name, or a part of a given name
 *                   with a hyphen or an apostrophe.  A comma turns the order:
 *                   "LeCun, Yann"; "LeCun," is a last name alone
 *   cat: primary:   a category of arXiv or a whole archive; a category's name alone
 *                   is cat: too
 *   org: kw: comment: journal:   words within one such value
 *   doi: id: source: has: type:  the whole value; doi and id have prefixes
 *   upvotes: comments: stars: authors:   >=, <=, >, <, = or a range, 10..20; a bare
 *                   20 is =20
 *   date:           a day on which it was listed: 2026-07, 2026-07..2026-08-15, 7d..
 *                   Relative days are measured from the one on which the paper was
 *                   first seen, so that the clause keeps its truth while others wait
 * What may be told later is unknown until it is told or settled (below).
 */
#ifndef PAPERBOY_QUERY_QUERY_H
#define PAPERBOY_QUERY_QUERY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "model/paper.h"
#include "query/query_error.h"
#include "query/tokenizer_ops.h"

struct query;
struct query_document;

/* Ordered: AND is the least of its operands, OR the greatest. */
enum query_verdict {
	QUERY_FALSE,
	QUERY_UNKNOWN,
	QUERY_TRUE,
};

/* What to take for a field that may be told or corrected later. */
enum query_mode {
	QUERY_AS_REPORTED, /* not told yet is unknown, and so is NOT of it */
	QUERY_MAY_CHANGE,  /* what changes with time is unknown though it is told: is
	                    * there a way for a "no" to become a "yes"? */
};

/* How long a paper has been waited for: what was not told by then is false. */
enum query_finality {
	QUERY_SETTLED_NOTHING,
	QUERY_SETTLED_ENRICHED, /* after two hours: categories, comment, journal, doi */
	QUERY_SETTLED_FINALLY,  /* after 14 days: everything, and nothing changes */
};

/* In the order in which a reader is told of them. */
enum query_field {
	QUERY_FIELD_TITLE,
	QUERY_FIELD_ABSTRACT,
	QUERY_FIELD_AUTHOR,
	QUERY_FIELD_ORGANIZATION,
	QUERY_FIELD_KEYWORD,
	QUERY_FIELD_COMMENT,
	QUERY_FIELD_JOURNAL,
	QUERY_FIELD_PRIMARY, /* the first category */
	QUERY_FIELD_CATEGORY,
	QUERY_FIELD_SOURCE,
	QUERY_FIELD_TYPE,
	QUERY_FIELD_DATE,
	QUERY_FIELD_ID,
	QUERY_FIELD_DOI,
	QUERY_FIELD_UPVOTES,
	QUERY_FIELD_COMMENTS,
	QUERY_FIELD_STARS,
	QUERY_FIELD_AUTHORS, /* how many */
	QUERY_FIELD_HAS,     /* code, project, video */
};

/* Where a query hit a document. */
struct query_hit {
	enum query_field field;
	unsigned item; /* of authors, keywords, categories: which one, from 0; else 0 */
	size_t start;  /* in that text, octets; what has no text: 0 */
	size_t end;
	char *words;  /* as the paper writes it: "State Spaces", "Yann LeCun", "23" */
	char *folded; /* equal for hits that only differ in capitals or plural */
	bool is_near; /* from the first to the last of several: reward near hacking */
};

enum query_step_kind {
	QUERY_STEP_AND,
	QUERY_STEP_OR,
	QUERY_STEP_NOT,
	QUERY_STEP_CLAUSE,
};

/* One line of the tree that a filter is, with its truth for one paper. */
struct query_step {
	enum query_step_kind kind;
	unsigned depth; /* of the whole filter 0 */
	unsigned boost; /* 1 when none was given */
	char *text;     /* a clause in canonical form, without boost; else "AND", ... */
	enum query_verdict truth; /* as told */
	bool is_final;   /* nothing that may be told or change later turns it */
	GPtrArray *hits; /* of struct query_hit *; clauses under a NOT have them too */
};

/**
 * Parse what a person typed.
 *
 * @param tokenizer  borrowed for the call
 * @param warnings   NULL, or where to put a new array of struct msg *, empty when
 *                   there are none: "column 3: ..."; set on success only
 * @param problem    NULL, or cleared by the caller: filled on failure only
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT (over BOUNDS_QUERY_BYTES, _TERMS,
 *         _DEPTH, BOUNDS_NUMBER_DIGITS) or PB_ERROR_TEMPORARY (the tokenizer
 *         failed); the message begins with "column 14: "
 */
struct query *query_parse(const char *text, const struct tokenizer *tokenizer,
    GPtrArray **warnings, struct query_error *problem, GError **error);

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

/**
 * Tell whether the answer can wait or change though the texts do not: a clause is on
 * what arXiv tells (query_needs_enrichment()), on votes, comments, stars, links,
 * organization or keywords.
 */
bool query_is_time_dependent(const struct query *query);

/* A clause on a field that sources give up to 14 days after the paper. */
struct query_slow {
	const char *name; /* of the field; of has: what is wanted, "code" */
	char *text;       /* in canonical form, "NOT " before it when it is negated */
	bool is_negated;
};

/** List the slow clauses in reading order. @return of struct query_slow * */
GPtrArray *query_list_slow(const struct query *query);

/** Tell whether a clause has a date that is relative. */
bool query_has_relative_date(const struct query *query);

/** List the names behind `source:`. @return of const char *, borrowed from the query */
GPtrArray *query_list_sources(const struct query *query);

/** Tell whether it has a clause that waits for arXiv's answer, two hours at most. */
bool query_needs_enrichment(const struct query *query);

/**
 * Prepare a paper for many queries.
 *
 * Title, abstract, authors, id and appearances count as told, the rest when it is.
 * What few filters ask for is made ready when it is first asked for, so a
 * document belongs to one thread.
 *
 * @param paper      borrowed for the call
 * @param first_day  YYYY-MM-DD, UTC: when the paper was first seen, for relative
 *                   dates; NULL: the day of its last appearance
 * @param tokenizer  borrowed as long as the document lives
 * @return NULL with PB_ERROR_TEMPORARY when the tokenizer failed
 */
struct query_document *query_document_new(const struct paper *paper,
    const char *first_day, const struct tokenizer *tokenizer, GError **error);

/** Say what counts as told from now on; a new document has settled nothing. */
void
query_document_finalize(struct query_document *document, enum query_finality settled);

void query_document_free(struct query_document *document);
PB_DEFINE_AUTO(query_document, query_document_free);

/** What a query says of a paper. @param mode  what to take for what may change */
enum query_verdict query_evaluate(const struct query *query,
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
 * Walk the whole tree for one paper, in reading order: an operator stands before
 * its operands, which are one deeper.
 *
 * @return of struct query_step *, at least one
 */
GPtrArray *
query_explain_tree(const struct query *query, const struct query_document *document);
void query_step_free(struct query_step *step);

/**
 * Tell a reader on one line why the paper is there:
 * `"state space", mamba in the title; ssm in the abstract; cs.LG; 23 votes; code`.
 *
 * Each word is told once, where it is first.  At most
 * BOUNDS_QUERY_EXPLAIN_CHARS characters, cut at a word.
 *
 * @param texts  of a language, by enum msg_id; NULL is English
 */
char *query_explain_text(const struct query *query,
    const struct query_document *document, const char *const *texts);

#endif
