/*
 * backtest.h - tests a filter on the papers of the last days.
 *
 * Papers are evaluated as known now; a field that is not reported counts as false.
 * Includes warnings, suggestions for unknown words and acronyms, and a forecast.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "base/po.h"
#include "model/subscriber.h"
#include "query/query_error.h"
#include "service/advice/forecast.h"
#include "store/core/store.h"

/* A note that callers recognise, by struct msg. */
#define BACKTEST_NARROWER N_("about {count} a day: {filter}")

/* Default number of days, and that to try when there are no matches. */
#define BACKTEST_DAYS      30
#define BACKTEST_LONG_DAYS 90

#define BACKTEST_NEWEST 5

struct backtest_request {
	const char *text;      /* as typed */
	int64_t subscriber_id; /* compare with its other filters; 0: no comparison */
	int number;            /* number of the filter; 0: new */
	bool is_block;         /* it is a block */
	unsigned days;         /* 1 to BOUNDS_BACKTEST_DAYS; 0: BACKTEST_DAYS */
	int64_t now;
	/* The caller adds suggestions (suggest.h): notes suggest no acronyms. */
	bool has_suggestions;
	/* Translations of explanations; NULL: English */
	const struct po *po;
};

struct backtest_paper {
	char *id;
	char *title;
	char *url;
	char day[DAY_BYTES];
	char *words; /* explanation */
};

struct backtest {
	char *canonical;
	unsigned days;
	unsigned covered_days; /* days that the archive covers */
	unsigned found;
	double a_day;
	unsigned known;       /* of these, matches of another filter */
	unsigned blocked;     /* of these, excluded by a block */
	int64_t first_day_at; /* start of the first day in by_day, s */
	GArray *by_day;       /* unsigned: matches of each day up to today */
	GPtrArray *newest;    /* of struct backtest_paper *, at most BACKTEST_NEWEST */
	struct forecast forecast; /* not of a block */
	GPtrArray *notes;         /* of struct msg *: warnings and suggestions */
};

/**
 * Test a filter on the archive.
 *
 * @param problem  NULL, or cleared by the caller: filled on a syntax error
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT or the store's error
 */
struct backtest *
backtest_run(struct store *store, const struct backtest_request *request,
    struct query_error *problem, GError **error);
void backtest_free(struct backtest *backtest);

/* Matches of two filters, in papers. */
struct backtest_difference {
	unsigned before, after, both;
};

/** Compare two filters by their canonical texts; days as above. */
bool backtest_compare(struct store *store, const char *before, const char *after,
    unsigned days, int64_t now, struct backtest_difference *difference, GError **error);

/** Limit days to those that the archive covers, at least 1. @param days  set */
bool
backtest_limit_days(struct store *store, int64_t now, unsigned *days, GError **error);

/** Count the matches of a filter by its canonical text. */
bool backtest_count(struct store *store, const char *canonical, unsigned days,
    int64_t now, unsigned *found, GError **error);
PB_DEFINE_AUTO(backtest, backtest_free);

/**
 * Load what a stored filter found in BACKTEST_DAYS, from its matches; a newer filter is
 * tested on the archive.  Without notes and other filters.
 */
struct backtest *backtest_load(struct store *store,
    const struct subscription *subscription, int64_t now, GError **error);
