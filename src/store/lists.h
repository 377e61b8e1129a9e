/*
 * lists.h - the lists that are collected, and what came of each on a day.
 *
 * Who collects writes them down, so that who makes editions knows what is expected.
 */
#ifndef PAPERBOY_STORE_LISTS_H
#define PAPERBOY_STORE_LISTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "store/store.h"

/* One list of a source. */
struct list {
	char *name;      /* as in batches: "arxiv/cs.CL" */
	char *label;     /* for people: "arXiv cs.CL" */
	int expected_by; /* the minute of a working day, UTC; -1: any day will do */
	int64_t wait_s;  /* so long an edition waits for it past that */
};

void list_free(struct list *list);
PB_DEFINE_AUTO(list, list_free);

/** Write down what is collected from now on. @param lists of struct list * */
bool lists_save(struct store *store, const GPtrArray *lists, GError **error);

/** @return of struct list *, in the order of lists_save() */
GPtrArray *lists_load(struct store *store, GError **error);

/* What is known of one list for one day. */
struct list_day {
	int64_t listed;  /* in the last good answer; -1: there was none */
	int64_t read;    /* papers that are kept as listed on that day */
	bool is_empty;   /* an answer said that the day has no papers */
	char status[16]; /* of the last answer; "" for none */
};

bool lists_load_day(struct store *store, const char *name, const char *day,
    struct list_day *found, GError **error);

/* What is known of one list at all.  Times are s, -1 for never. */
struct list_past {
	int64_t asked_at;    /* first */
	int64_t good_at;     /* last */
	int64_t listed;      /* in the last answer with papers; -1: there was none */
	bool is_failing;     /* so was the last answer */
	char newest_day[11]; /* of a good answer with papers; "" */
};

bool lists_load_past(
    struct store *store, const char *name, struct list_past *past, GError **error);

#endif
