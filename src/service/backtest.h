/*
 * backtest.h - what a filter would have found; nothing is stored.
 */
#ifndef PAPERBOY_SERVICE_BACKTEST_H
#define PAPERBOY_SERVICE_BACKTEST_H

#include <glib.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/day.h"
#include "query/problem.h"
#include "store/store.h"

/* What is looked at unless something else is said. */
#define BACKTEST_DAYS 30

/* So many papers are told, the newest first. */
#define BACKTEST_NEWEST 5

struct backtest_day {
	char day[DAY_BYTES];
	unsigned papers; /* last listed on that day */
	unsigned found;
};

struct backtest_paper {
	char *id;
	char *title;
	char *url;
	char day[DAY_BYTES];
	int64_t upvotes; /* or PAPER_UNKNOWN */
	char *words;     /* why: what was hit, in words */
};

struct backtest {
	char *canonical;
	GPtrArray *warnings; /* of char * */
	int days;            /* that were looked at, today among them */
	unsigned papers;     /* in these days */
	unsigned found;
	unsigned waiting;  /* not found, but more votes could turn that */
	GArray *per_day;   /* of struct backtest_day, newest first; days with papers */
	GPtrArray *newest; /* of struct backtest_paper *; at most BACKTEST_NEWEST */
};

void backtest_free(struct backtest *backtest);
PB_DEFINE_AUTO(backtest, backtest_free);

/**
 * Try a query on the papers that are in the store.
 *
 * @param text     as typed
 * @param days     1..BOUNDS_BACKTEST_DAYS
 * @param problem  NULL, or cleared by the caller: filled when the query is refused
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct backtest *backtest_run(struct store *store, const char *text, int days,
    int64_t now, struct query_problem *problem, GError **error);

#endif
