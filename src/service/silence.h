/*
 * silence.h - proof that nothing new means nothing new.
 *
 * Each list of a source is expected by a minute of each working day (Monday to Friday,
 * UTC).  What came, or did not, is told in one line of every digest and of status.
 */
#ifndef PAPERBOY_SERVICE_SILENCE_H
#define PAPERBOY_SERVICE_SILENCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/day.h"
#include "store/store.h"

enum silence_state {
	SILENCE_OK,     /* the list of the day was read */
	SILENCE_QUIET,  /* the source said that the day has no papers */
	SILENCE_LATE,   /* it should be there and is not */
	SILENCE_STALE,  /* the list of an earlier day came under this day's date */
	SILENCE_FAILED, /* the last answer was none */
	SILENCE_NEW,    /* it has never been asked */
};

struct silence_list {
	char *name;
	char *label;
	enum silence_state state;
	char day[DAY_BYTES];       /* the last one that was expected; "" for any */
	char since_day[DAY_BYTES]; /* of LATE, STALE and FAILED: the first that is
	                              missing */
	int64_t listed;            /* of OK: in the source's answer */
	int64_t read;              /* of OK: papers kept of it; -1: not counted */
	int64_t expected_at;       /* s; -1 for any */
	int64_t wait_s;
};

struct silence {
	GPtrArray *lists; /* of struct silence_list * */
	/* Editions that are due at this time or later wait; -1: none does. */
	int64_t held_from;
	int64_t held_until; /* and not longer than until then */
	int64_t now;
};

/** Look at all lists that are collected. @return NULL when the store fails */
struct silence *silence_load(struct store *store, int64_t now, GError **error);

/**
 * Format the state of all lists in one line: "arXiv: 12 listed; Hugging Face late since
 * Tue".
 *
 * @param texts  of a language, by enum msg_id; NULL is English
 * @return a new string; "" when nothing is collected
 */
char *silence_format_line(const struct silence *silence, const char *const *texts);
void silence_free(struct silence *silence);
PB_DEFINE_AUTO(silence, silence_free);

#endif
