/*
 * collect.h - ask the sources, and store what they say.
 *
 * Each source is asked for today and three days back, once a day for days 4 to
 * 14 too.  Each answer is one commit with its papers; a bad one is recorded as failed,
 * none of it is used, and the next poll mends it.  One source failing stops no other.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_COLLECT_H
#define PAPERBOY_SERVICE_COLLECT_COLLECT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"
#include "sources/arxiv.h"
#include "sources/source.h"
#include "store/core/store.h"

struct collect_report {
	unsigned answers; /* days asked for */
	unsigned failed;
	unsigned fresh;   /* papers never seen before */
	unsigned changed; /* papers whose votes or other numbers are new */
	int64_t retry_at; /* when the first source that is in a pause may be asked, s;
	                   * 0: none is */
};

struct collect {
	struct store *store;
	struct http *http;
	struct source **sources;
	unsigned source_count;
	const struct arxiv_options *arxiv; /* asked about papers; NULL: not */
	int64_t wait_s;  /* so long editions wait for a list that is late */
	bool is_part;    /* there are other sources that are switched on */
	const int *stop; /* not 0: come back soon; or NULL */
	/* Told before each question, for a progress line; or NULL. */
	void (*progress)(void *data, const char *source, const char *day);
	void *progress_data;
};

/**
 * Ask every source that is not in a pause for the days that are due.
 *
 * A source that fails is asked no further in this run, and is left alone for as
 * long as it said, or for 1, 2, 4 ... up to 60 minutes.  A day that is malformed is
 * a matter of that day alone: the others are asked for.
 *
 * @param is_all  days 4 to 14 too, whether or not they are due, and no pause is kept
 * @return false only when the store fails
 */
bool collect_run(const struct collect *collect, bool is_all, int64_t now,
    struct collect_report *report, GError **error);

/** Whether a source that failed has another address now, and is to be asked at once. */
bool collect_is_moved(
    struct store *store, const GPtrArray *sources, bool *is_moved, GError **error);

/**
 * Ask a source for one past day again, whole, and store what it says as if it were said
 * then.  What was delivered is not sent again, and what is too old is not sent.
 *
 * @param path    a file that has the answer, instead of asking; or NULL
 * @param report  answers stays 0 when the source does not know the day
 * @return false with the source's error; then nothing is recorded
 */
bool
collect_replay(const struct collect *collect, struct source *source, const char *day,
    const char *path, int64_t now, struct collect_report *report, GError **error);

#endif
