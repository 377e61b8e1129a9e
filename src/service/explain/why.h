/*
 * why.h - why a paper is, or is not, in somebody's digest.
 *
 * For a person and a paper: who listed it and when, what each of the person's filters
 * and blocks says of it, clause by clause, which digests it was in, and the one thing
 * that decided.  For a filter and a paper: the clauses alone.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_WHY_H
#define PAPERBOY_SERVICE_EXPLAIN_WHY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "query/query.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* What decided. */
enum why_outcome {
	WHY_SENT, /* it was mailed */
	WHY_READ, /* its message was dropped, or given up in doubt: it counts as read */
	WHY_ON_ITS_WAY, /* it is in a digest that has not ended yet */
	WHY_REFUSED,    /* messages with it were refused for their content, twice */
	WHY_GONE,       /* the person has left */
	WHY_NO_FILTER,  /* the person has none */
	WHY_NOT_MATCHED_YET, /* the filters have not seen it: in a moment */
	WHY_NO_CLAUSE,       /* no filter finds it */
	WHY_WAITING,         /* a filter waits for something that was not told yet */
	WHY_NOT_SUBSCRIBED,  /* it was listed before the person subscribed */
	WHY_FILTER_NEWER,    /* it was listed before the person had that filter */
	WHY_UNWANTED, /* it was cross-listed or replaced, which the person leaves out */
	WHY_BLOCKED,  /* a block takes it away */
	WHY_BLOCK_WAITING, /* a block waits to know; it is kept back until then */
	WHY_TOO_OLD,       /* it was listed too long ago for a digest */
	WHY_NOT_ACTIVE,    /* the person is paused, suspended or not confirmed */
	WHY_NEXT,          /* it will be in the next digest */
};

/* What one filter says of the paper. */
struct why_filter {
	int number;  /* 0: of nobody */
	char *label; /* its name, else its text */
	char *canonical;
	bool is_block;
	bool is_readable; /* else this program cannot read it, and steps is empty */
	char since_day[DAY_BYTES];
	enum query_verdict truth; /* now, with what is known */
	bool is_found;            /* it was found once, and that stays */
	int64_t found_at;         /* s, or -1 */
	int64_t waits_until;      /* s, or -1: it does not wait */
	bool waits_for_arxiv;     /* else for votes and the like */
	GPtrArray *steps;         /* of struct query_step * */
};

struct why {
	struct stored_paper *stored; /* owned */
	GPtrArray *listings;         /* of struct paper_history_listing * */
	GPtrArray *filters;          /* of struct why_filter *, by number */
	GPtrArray *digests; /* of struct paper_history_digest *, oldest first */
	enum why_outcome outcome;
	char *sentence; /* the outcome in words, without a full stop */
	int64_t at;     /* when that was or will be, or -1 */
};

/**
 * Ask for a person.
 *
 * @param paper_id  canonical
 * @return NULL with PB_ERROR_NOT_FOUND when nobody of that address was ever here, or
 *         when no source has listed the paper
 */
struct why *why_ask(struct store *store, const char *address, const char *paper_id,
    int64_t now, GError **error);
void why_free(struct why *why);
PB_DEFINE_AUTO(why, why_free);

/**
 * Ask for a filter alone.
 *
 * @param text      as typed
 * @param stored    the paper; NULL: the clauses only, their truth says nothing
 * @param warnings  NULL, or set to of struct msg *
 * @param problem   NULL, or cleared by the caller: filled when the text is refused
 */
struct why_filter *
why_explain(struct store *store, const char *text, const struct stored_paper *stored,
    int64_t now, GPtrArray **warnings, struct query_error *problem, GError **error);
void why_filter_free(struct why_filter *filter);
PB_DEFINE_AUTO(why_filter, why_filter_free);

/** "sent", "no-clause" ... for scripts */
const char *why_outcome_name(enum why_outcome outcome);

/** "arXiv:2611.10010v2" is the paper 2611.10010, and so is the link to it. */
char *why_clean_id(const char *text);

/** "true", "false", "unknown" */
const char *why_verdict_name(enum query_verdict truth);

#endif
