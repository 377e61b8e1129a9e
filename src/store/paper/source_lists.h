/*
 * source_lists.h - the configured source lists, and their state on a day.
 *
 * Written by the collector, so that the scheduler knows which lists to expect.
 */
#ifndef PAPERBOY_STORE_PAPER_SOURCE_LISTS_H
#define PAPERBOY_STORE_PAPER_SOURCE_LISTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"

/* One list of a source. */
struct source_list {
	char *name;      /* as in batches: "arxiv/cs.CL" */
	char *label;     /* for people: "arXiv cs.CL" */
	int expected_by; /* the minute of a working day, UTC; -1: any day will do */
	int64_t wait_s;  /* so long an edition waits for it previous that */
};

void source_list_free(struct source_list *list);
PB_DEFINE_AUTO(source_list, source_list_free);

/** Write down what is collected from now on. @param lists of struct list * */
bool source_lists_save(struct store *store, const GPtrArray *lists, GError **error);

/** @return of struct list *, in the order of source_lists_save() */
GPtrArray *source_lists_load(struct store *store, GError **error);

/* State of a list for one day. */
struct source_list_day {
	int64_t listed;  /* in the last good answer; -1: there was none */
	int64_t read;    /* papers that are kept as listed on that day */
	bool is_empty;   /* an answer said that the day has no papers */
	char status[16]; /* of the last answer; "" for none */
};

bool source_lists_load_day(struct store *store, const char *name, const char *day,
    struct source_list_day *found, GError **error);

/* State of a list over all days.  Times are s, -1 for never. */
struct list_baseline {
	int64_t fetched_at;  /* first */
	int64_t good_at;     /* last */
	int64_t listed;      /* in the last answer with papers; -1: there was none */
	bool is_failing;     /* so was the last answer */
	char newest_day[11]; /* of a good answer with papers; "" */
};

bool source_lists_load_baseline(struct store *store, const char *name,
    struct list_baseline *previous, GError **error);

#endif
