/*
 * lookup.h - collects the papers of the archive that may match a query; for search.c.
 *
 * The full-text index joins the words of the query: paper by paper, as its expression
 * says, or clause by clause (service/match/lookup_clauses.h).
 */
#ifndef PAPERBOY_SERVICE_MATCH_LOOKUP_H
#define PAPERBOY_SERVICE_MATCH_LOOKUP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/eval/fts_query.h"
#include "query/eval/rank.h"
#include "store/core/store.h"
#include "store/paper/paper_values.h"

/* A paper that may match. */
struct candidate {
	int64_t seq;
	double bound;    /* of its score; 0 without a ranking */
	double others;   /* relevance of the clauses without =word, likewise */
	uint64_t found;  /* of fts_query_classify() */
	int32_t day;     /* last listed, since the epoch */
	uint8_t verdict; /* enum query_verdict */
	bool is_decided; /* the verdict was unknown before */
	bool is_single;  /* it was not looked for in the index */
};

/* A clause, and how much it can add to the relevance of a paper. */
struct lookup_cap {
	unsigned clause;
	double most;
	double rest; /* of this and all clauses that follow */
};

/* A score that a paper has at least. */
struct lookup_best {
	double score;
	int64_t seq;
};

/* Factors of the rank that are kept: ages in days, and votes. */
#define LOOKUP_AGES  8192
#define LOOKUP_VOTES 256

/* A collection of candidates. */
struct lookup {
	const struct fts_query *fts;
	bool is_exact;                    /* fts_query_is_exact() */
	const struct rank *rank;          /* or NULL */
	const struct paper_value *values; /* by seq */
	guint papers;                     /* number of these */
	int64_t now;
	int32_t oldest; /* skips papers last listed before, as their day */
	struct rank_hits *hits;
	guint next;         /* paper to classify; at first the one to begin with */
	GArray *candidates; /* of struct candidate, oldest first */
	unsigned limit;     /* number of results */
	GArray *best; /* of struct lookup_best: scores that are certain, descending */
	GArray *caps; /* of struct lookup_cap: all clauses, the highest first */
	double *ages; /* factors by days; 0: not yet known */
	double votes[LOOKUP_VOTES]; /* factors */
	unsigned matches;           /* papers that certainly match ... */
	unsigned unknown;           /* ... and those that may; not all are candidates */
};

/* Makes up for rounding when shares are added in another order, and as float. */
#define LOOKUP_ROUNDING (1 + 1e-5)

/**
 * Begin a lookup.
 *
 * @param oldest  as in the structure
 * @param first   of paper_values_find_first(): papers that it skips are not ranked
 */
void lookup_init(struct lookup *lookup, const struct fts_query *fts, int32_t oldest,
    guint first, int64_t now);
void lookup_clear(struct lookup *lookup);

/** Rank the candidates. @param limit  number of results */
void lookup_set_rank(struct lookup *lookup, const struct rank *rank, unsigned limit);

/** Collect the candidates, the oldest first, in a transaction. */
bool lookup_run(struct lookup *lookup, struct store *store, GError **error);

/** Age of a paper. @param day  last listed, since the epoch */
int64_t lookup_get_age_days(int64_t now, int64_t day);

/** Score of a paper, the same as rank_blend(). */
double
lookup_blend(struct lookup *lookup, double relevance, const struct paper_value *value);

/** Whether the index does not know how often a clause is true: it has =word. */
bool lookup_has_exact_words(const struct node *node);

/**
 * Compute a bound of the score of a candidate, from its texts.
 *
 * @param texts  title and abstract
 */
double lookup_compute_bound(struct lookup *lookup, const struct candidate *candidate,
    const char *const texts[2]);

/** Count a match. @param verdict  of the index */
void lookup_count(struct lookup *lookup, enum query_verdict verdict);

/** Whether all candidates are to be evaluated, so that the number of matches is exact.
 */
bool lookup_wants_all(const struct lookup *lookup);

/** Score that a paper must reach to be among the results. */
double lookup_get_threshold(const struct lookup *lookup);

/** Remember a score that a match has at least, instead of an earlier one of it. */
void lookup_add_best(struct lookup *lookup, int64_t seq, double score);

#endif
