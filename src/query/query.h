/*
 * query.h - filter language: parse, format, evaluate and explain filters.
 *
 * A filter is parsed once and evaluated for many documents. No I/O, no clock, no SQL;
 * the caller supplies the tokenizer. A parsed query is immutable, so threads may share
 * it.
 *
 * Semantics of clauses:
 *   word, phrase, prefix*   in title or abstract (a phrase within one of them); plurals
 *                   are folded, prefixes match the unfolded word; the signs + and #
 *                   and inner dots of a typed word must follow it in the paper too
 *                   (c++, node.js); a word of a script without spaces is a phrase of
 *                   pairs of characters (base/bigram.h)
 *   =word           exactly as typed: case, accents, no plural
 *   a NEAR/5 b, NEAR(a b, 5)   in one text, at most that many words between the end
 *                   of each and the beginning of the last (FTS5 section 3.8)
 *   title: abstract: text:  in that text; text is both and the default
 *   author: first:  within one author.  Several words are a name: the last name
 *                   whole, the given names in order, equal or as initials, the
 *                   first given name first; middle names may be missing.  One
 *                   word matches any whole word of a name, or a part of a given
 *                   name with a hyphen or an apostrophe.  A comma inverts the
 *                   order: "LeCun, Yann"; "LeCun," is a last name alone
 *   cat: primary:   an arXiv category or archive; a bare category name is cat: too
 *   org: kw: comment: journal:   words within one such value
 *   doi: id: source: has: type:  the whole value; doi and id allow prefixes
 *   upvotes: comments: stars: authors:   >=, <=, >, <, = or a range, 10..20; a bare
 *                   20 is =20
 *   date:           a day on which it was listed: 2026-07, 2026-07..2026-08-15, 7d..
 *                   Relative days count from the day on which the paper was first
 *                   seen, so that the verdict does not change while others wait
 * A field that a source may still report is unknown until it is reported or final (enum
 * query_finality).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/po.h"
#include "model/hit.h"
#include "model/paper.h"
#include "query/query_error.h"
#include "query/tokenizer_ops.h"

struct query;
struct query_document;

/* Kleene logic; ordered: AND is the minimum of its operands, OR the maximum. */
enum query_verdict {
	QUERY_FALSE,
	QUERY_UNKNOWN,
	QUERY_TRUE,
};

/* Treatment of fields that may be reported or change later. */
enum query_mode {
	QUERY_AS_REPORTED, /* missing is unknown, and so is its NOT */
	QUERY_MAY_CHANGE,  /* values that may change are unknown too */
};

/* Fields that are final, by the time since a paper was first seen
 * (service/match/match.h): a missing value is false, not unknown. */
enum query_finality {
	QUERY_FINALITY_NONE,
	QUERY_FINALITY_LOOKED_UP, /* after two hours: fields that are looked up */
	/* After 14 days: all fields; present values, such as votes, are final, too. */
	QUERY_FINALITY_ALL,
};

/* Warning of a filter such as `a OR b c`: {meant} is how it is read, {reading} the
 * other reading. */
#define QUERY_MIXED                                                              \
	N_("AND binds before OR: this is read as {meant}. The other reading is " \
	   "{reading}")

/* A place where a query matches a document. */
struct query_hit {
	enum hit_field field;
	unsigned item; /* index in authors, keywords or categories; else 0 */
	size_t start;  /* in that text, bytes; 0 for other fields */
	size_t end;
	char *words;  /* as in the paper: "State Spaces", "Yann LeCun", "23" */
	char *folded; /* equal for hits that differ only in case or plural */
	/* For NEAR, whose words are `reward near hacking`: its phrases as in the
	 * paper, separated by HIT_SEPARATOR; else NULL. */
	char *phrases;
};

enum query_step_kind {
	QUERY_STEP_AND,
	QUERY_STEP_OR,
	QUERY_STEP_NOT,
	QUERY_STEP_CLAUSE,
};

/* A node of a filter's tree, with its verdict for one paper. */
struct query_step {
	enum query_step_kind kind;
	unsigned depth; /* 0 for the root */
	unsigned boost; /* 1 by default */
	char *text;     /* canonical text of a clause, without boost; else "AND", ... */
	enum query_verdict truth; /* as reported */
	bool is_final;            /* will not change */
	GPtrArray *hits; /* of struct query_hit *; also for clauses under a NOT */
};

/**
 * Parse a filter as typed.
 *
 * @param tokenizer  borrowed for the call
 * @param warnings   NULL, or set on success to a new array of struct msg *, possibly
 *                   empty: "column 3: ..."
 * @param problem    NULL, or cleared by the caller: filled on failure only
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT (over BOUNDS_QUERY_BYTES, _TERMS,
 *         _DEPTH, BOUNDS_NUMBER_DIGITS) or PB_ERROR_TEMPORARY (tokenizer failed); the
 *         message begins with "column 14: "
 */
struct query *query_parse(const char *text, const struct tokenizer *tokenizer,
    GPtrArray **warnings, struct query_error *problem, GError **error);

/**
 * Parse text from query_format(), up to BOUNDS_QUERY_CANONICAL_BYTES: it is longer than
 * typed text, since every word has its field.
 */
struct query *query_parse_canonical(
    const char *text, const struct tokenizer *tokenizer, GError **error);

void query_free(struct query *query);
PB_DEFINE_AUTO(query, query_free);

/**
 * Format the canonical text: full field names on each clause, capital operators,
 * minimal parentheses, operands sorted and distinct, words as folded tokens. Filters
 * that differ in order, spelling, plural or case have one text, and parsing it gives
 * the same text again.
 */
char *query_format(const struct query *query);

/**
 * Format a canonical text for the person who typed the filter: its words have the
 * accents that were typed. It is not canonical any more, but parses to the same filter.
 */
char *query_format_accented(
    const char *canonical, const char *typed, const struct tokenizer *tokenizer);

/** Hash the canonical text: SHA-256 in 64 lower-case hexadecimal digits. */
char *query_hash(const struct query *query);

/**
 * Whether the verdict may be unknown or change though the texts do not: a clause is on
 * a field that is looked up (query_get_lookups()), votes, comments, stars, links,
 * organization or keywords.
 */
bool query_is_time_dependent(const struct query *query);

/* A clause on a field that sources report up to 14 days after the paper. */
struct query_slow {
	const char *name; /* of the field; for has: its value, "code" */
	char *text;       /* canonical, prefixed by "NOT " when negated */
	bool is_negated;
};

/** List the slow clauses in reading order. @return of struct query_slow * */
GPtrArray *query_list_slow(const struct query *query);

/**
 * List the clauses of a query that another one lacks, in reading order.
 *
 * @return of char *, canonical, prefixed by "NOT " when negated
 */
GPtrArray *
query_list_new_clauses(const struct query *before, const struct query *after);

bool query_has_relative_date(const struct query *query);

/** List the values of source: clauses. @return of const char *, borrowed */
GPtrArray *query_list_sources(const struct query *query);

/**
 * Get the services that clauses may wait for, up to two hours.
 *
 * @return a set of enum paper_lookup; 0: there is no clause on such a field
 */
unsigned query_get_lookups(const struct query *query);

/**
 * Index a paper for many queries.
 *
 * Title, abstract, authors, id and listings are known; other fields may be unknown.
 * Rarely used parts are built on first use, so a document belongs to one thread.
 *
 * @param paper      borrowed for the call
 * @param first_day  YYYY-MM-DD, UTC: day on which the paper was first seen, for
 *                   relative dates; NULL: its last listing
 * @param tokenizer  borrowed for the life of the document
 * @return NULL with PB_ERROR_TEMPORARY when the tokenizer failed
 */
struct query_document *query_document_new(const struct paper *paper,
    const char *first_day, const struct tokenizer *tokenizer, GError **error);

/** Set which fields are final from now on; none are in a new document. */
void
query_document_finalize(struct query_document *document, enum query_finality finality);

void query_document_free(struct query_document *document);
PB_DEFINE_AUTO(query_document, query_document_free);

enum query_verdict query_evaluate(const struct query *query,
    const struct query_document *document, enum query_mode mode);

/**
 * Find each place of each clause that is true as reported and not under a NOT.
 *
 * @return of struct query_hit *, by field and place, distinct; empty when the query is
 *         false
 */
GPtrArray *
query_explain(const struct query *query, const struct query_document *document);

/**
 * List the nodes of the tree in reading order: an operator before its operands, which
 * are one level deeper.
 *
 * @return of struct query_step *, at least one
 */
GPtrArray *
query_explain_tree(const struct query *query, const struct query_document *document);

/**
 * List the hits to store with a match: each word with the first field that has it,
 * then as repeated hits its other forms and fields, and those in the summary (as
 * HIT_FIELD_ABSTRACT).  Ends where hits_format() would cut.
 *
 * @return of struct hit *, by field
 */
GPtrArray *
query_list_hits(const struct query *query, const struct query_document *document);

/** Explain on one line why the paper matches: hits_format() of these. */
char *query_explain_text(const struct query *query,
    const struct query_document *document, const struct po *po);
