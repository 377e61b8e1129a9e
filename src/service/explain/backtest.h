/*
 * backtest.h - what a filter would have found, before anybody waits for it.
 *
 * Over the papers of the last days as they are known now; what was not told of a
 * paper counts as false.  With it comes what helps to mend a filter: words that no
 * paper has and the nearest one, what short forms stand for, warnings.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_BACKTEST_H
#define PAPERBOY_SERVICE_EXPLAIN_BACKTEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "query/query_error.h"
#include "store/core/store.h"

/* Days that are looked at when nothing else is said, and when those had nothing. */
#define BACKTEST_DAYS      30
#define BACKTEST_LONG_DAYS 90

/* More papers a day than this are more than anybody reads. */
#define BACKTEST_MANY_A_DAY 50

#define BACKTEST_NEWEST 5

struct backtest_request {
	const char *text;      /* as typed */
	int64_t subscriber_id; /* whose other filters are compared with; 0: nobody's */
	int number;            /* which of that person's filters it is; 0: a new one */
	bool is_block;         /* it would take papers away from the others */
	unsigned days;         /* 1 to BOUNDS_BACKTEST_DAYS; 0: BACKTEST_DAYS */
	int64_t now;
	/* For what was hit: of a language, by enum msg_id; NULL is English */
	const char *const *texts;
};

struct backtest_paper {
	char *id;
	char *title;
	char day[DAY_BYTES];
	char *words; /* what was hit, for a reader */
};

struct backtest {
	char *canonical;
	unsigned days;
	unsigned covered_days; /* of them the archive knows these */
	unsigned found;
	double a_day;
	unsigned known;    /* of them another filter of the person finds, too */
	unsigned blocked;  /* of them a block of the person takes away */
	GPtrArray *newest; /* of struct backtest_paper *, at most BACKTEST_NEWEST */
	GPtrArray *notes;  /* of struct msg *: warnings and help */
};

/**
 * Test a filter on the archive.
 *
 * @param problem  NULL, or cleared by the caller: filled when the text is refused
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT or what the store says
 */
struct backtest *
backtest_run(struct store *store, const struct backtest_request *request,
    struct query_error *problem, GError **error);
void backtest_free(struct backtest *backtest);

/* What two filters would have found; in papers. */
struct backtest_difference {
	unsigned before, after, both;
};

/** Compare two filters by their canonical forms; days as above. */
bool backtest_compare(struct store *store, const char *before, const char *after,
    unsigned days, int64_t now, struct backtest_difference *difference, GError **error);

/** Only count what a filter would have found, by its canonical form. */
bool backtest_count(struct store *store, const char *canonical, unsigned days,
    int64_t now, unsigned *found, GError **error);
PB_DEFINE_AUTO(backtest, backtest_free);

#endif
