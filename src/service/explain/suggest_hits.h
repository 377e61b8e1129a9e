/*
 * suggest_hits.h - the papers of a filter, and how frequent their words are.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_SUGGEST_HITS_H
#define PAPERBOY_SERVICE_EXPLAIN_SUGGEST_HITS_H

#include "base/day.h"
#include "query/taste/related.h"
#include "service/explain/suggest.h"

/* Maximum number of papers that are read. */
#define SUGGEST_HITS_SAMPLE 150

struct suggest_hits {
	struct store *store;
	const struct suggest_request *request;
	const struct query *query;
	GArray *seqs;          /* of int64_t: papers, newest first */
	GHashTable *own;       /* int64_t seq of each */
	unsigned recent;       /* of the last SUGGEST_DAYS days */
	const char *since;     /* oldest of their days; NULL: all */
	struct matrix *matrix; /* of a sample of them */
	GPtrArray *acronyms;   /* defined in them */
	int64_t papers;        /* in the archive */
	int64_t searched;      /* of these, of the days since then */
	unsigned matching;     /* of these, about */
	char oldest[DAY_BYTES], recent_day[DAY_BYTES];
	GHashTable *counts; /* word -> int64_t *: papers of the archive */
	GError *problem;    /* of counting */
};

/* @param request, query  live as long as the hits */
void suggest_hits_init(struct suggest_hits *hits, struct store *store,
    const struct suggest_request *request, const struct query *query);
void suggest_hits_clear(struct suggest_hits *hits);

/** Find the papers, and read a sample of them. */
bool suggest_hits_load(struct suggest_hits *hits, GError **error);

/** Whether they are so few that the whole archive was searched. */
bool suggest_hits_are_narrow(const struct suggest_hits *hits);

/** How many times as often as all papers the filter finds those with a term. */
double suggest_hits_get_lift(const struct suggest_hits *hits, double precision);

/**
 * Count the papers of the archive with a word.
 *
 * @param data  struct suggest_hits *; an error is set in it, for the caller to report
 */
int64_t suggest_hits_count_word(void *data, const char *folded);

/** For related_find(); valid as long as the hits. */
struct related_source suggest_hits_get_source(struct suggest_hits *hits);

#endif
