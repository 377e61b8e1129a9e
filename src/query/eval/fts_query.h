/*
 * fts_query.h - FTS5 query that preselects papers of the archive for a filter
 * (https://sqlite.org/fts5.html section 3), and what its index says about them.
 *
 * The expression matches a superset: the distance of NEAR, signs, exact words, the
 * order of names, fields without words and a NOT with any of these are ignored. The
 * places of words in the index decide about NEAR, the evaluator about the others.
 */
#ifndef PAPERBOY_QUERY_EVAL_FTS_QUERY_H
#define PAPERBOY_QUERY_EVAL_FTS_QUERY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/eval/rank.h"
#include "query/query.h"

/* Columns of the index: HIT_FIELD_TITLE, HIT_FIELD_ABSTRACT and this. */
#define FTS_AUTHORS HIT_FIELD_AUTHOR
#define FTS_COLUMNS 3

/* Words of an archive. */
struct term_frequencies {
	/* Words that fold to the same singular. @return of char *, owned */
	GPtrArray *(*load_class)(void *data, const char *folded, GError **error);
	void *data;
};

/* A clause, and what is known of the papers that it matches. */
struct fts_clause {
	const struct node *node;
	/* Without words: whether it may match, by seq; set by the caller, owned.  NULL:
	 * not known. */
	uint8_t *papers;
	unsigned first;   /* of its phrases in the expression ... */
	unsigned phrases; /* ... 0: it is not in the expression */
	GArray *near;     /* NODE_NEAR: of struct fts_near; or NULL */
	bool is_exact;    /* it matches where its phrases are, or all of papers */
};

/* A phrase of a NODE_NEAR. */
struct fts_near {
	unsigned first, phrases; /* as above */
	/* Where it begins in the columns of the current paper: of int, ascending */
	GArray *places[FTS_COLUMNS];
	guint next; /* place to look at */
};

struct fts_query {
	const struct node *root; /* of the query */
	char *expression;        /* NULL: the query has no words */
	bool is_required;        /* a paper that it does not match is not a match */
	bool is_match;           /* ... and each that it matches is one */
	bool has_prefix;         /* the expression has one */
	GArray *clauses;         /* of struct fts_clause, in the order of struct rank */
	GArray *negated;         /* likewise, of those under a NOT */
	GPtrArray *phrases; /* of char *: those of the expression, without columns */
};

/**
 * Translate a query.
 *
 * A query that papers without any of its words may match gets an expression for the
 * papers with some of them.
 *
 * @param query  borrowed for the life of the result
 * @return NULL with the lexicon's error
 */
struct fts_query *fts_query_new(
    const struct query *query, const struct term_frequencies *lexicon, GError **error);
void fts_query_free(struct fts_query *fts);
PB_DEFINE_AUTO(fts_query, fts_query_free);

/** Whether fts_query_classify() always decides. */
bool fts_query_is_exact(const struct fts_query *fts);

/* A paper that is not read. */
struct fts_paper {
	int64_t seq;
	/* Add the places of a phrase of the expression to the columns of the row. */
	void (*count)(void *row, unsigned phrase, unsigned columns[FTS_COLUMNS]);
	/* Likewise, add them to arrays of int. */
	void (*list)(void *row, unsigned phrase, GArray *const columns[FTS_COLUMNS]);
	void *row; /* NULL: the expression does not match the paper */
};

/** Count the places of a clause, as fts_query_classify(). */
void fts_query_count_clause(const struct fts_clause *clause,
    const struct fts_paper *paper, struct rank_hits *hits);

/**
 * Evaluate the query as far as this is possible; a field that is not reported is false.
 *
 * @param hits   set for each clause: at least as many as the paper has, and as many if
 *               fts_query_is_exact()
 * @param found  set to what fts_query_decide() needs
 * @return QUERY_UNKNOWN when only the evaluator can decide
 */
enum query_verdict fts_query_classify(const struct fts_query *fts,
    const struct fts_paper *paper, struct rank_hits *hits, uint64_t *found);

/** Evaluate a clause that is not exact. */
typedef enum query_verdict (*fts_decide)(const void *data, const struct node *node);

/** Evaluate the query with the missing verdicts. @param found  of the paper */
enum query_verdict fts_query_decide(
    const struct fts_query *fts, uint64_t found, fts_decide decide, const void *data);

#endif
