/*
 * collect.h - fetches the lists of the sources and stores them.
 *
 * Fetched are today and the three days before, once a day also days 4 to 14.  Each
 * answer is one commit with its papers; a malformed one is recorded as failed and not
 * used. Sources fail independently.
 *
 * Once a week a random older day of a source is fetched again: its new papers had been
 * missed (struct source_status_source).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"
#include "sources/source.h"
#include "store/core/store.h"

/* Services at which papers are looked up (enrich.h). */
enum collect_lookup {
	COLLECT_LOOKUP_ARXIV,
	COLLECT_LOOKUP_EUROPEPMC,
	COLLECT_LOOKUP_CROSSREF,
	COLLECT_LOOKUP_HUGGINGFACE,
	COLLECT_LOOKUPS
};

struct collect_report {
	unsigned answers; /* lists fetched */
	unsigned failed;
	unsigned fresh;   /* new papers */
	unsigned changed; /* papers with new votes or other numbers */
	int64_t retry_at; /* end of the first pause of a source, s; 0: none */
};

struct collect {
	struct store *store;
	struct http *http;
	struct source **sources;
	unsigned source_count;
	struct source_options lookups[COLLECT_LOOKUPS]; /* without url: off */
	int64_t wait_s;  /* maximum time that digests wait for a late list */
	bool is_part;    /* some enabled sources are left out */
	const int *stop; /* not 0: return soon; or NULL */
	/* Called before each request, for a progress line; or NULL. */
	void (*progress)(void *data, const char *source, const char *day);
	void *progress_data;
};

/**
 * Fetch the due days of every source that is not paused.
 *
 * A source that fails is paused, for its Retry-After or 1, 2, 4 ... up to 60 minutes.
 * After a malformed list the other days are still fetched.
 *
 * @param is_all  fetch days 4 to 14 even if they are not due, and ignore pauses
 * @return false only if the store fails
 */
bool collect_run(const struct collect *collect, bool is_all, int64_t now,
    struct collect_report *report, GError **error);

/** Whether the address of a paused source has changed, so that it is to be fetched now.
 */
bool collect_is_moved(
    struct store *store, const GPtrArray *sources, bool *is_moved, GError **error);

/**
 * Fetch a past day again without ETag and store it.  Papers that were delivered or are
 * too old are not mailed.
 *
 * @param path    a file with a saved answer to be used instead; or NULL
 * @param report  answers stays 0 if the source does not have the day
 * @return false with the source's error; then nothing is recorded
 */
bool
collect_replay(const struct collect *collect, struct source *source, const char *day,
    const char *path, int64_t now, struct collect_report *report, GError **error);
