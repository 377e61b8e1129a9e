/*
 * filters.h - a person's filters: given, changed, named, and put in another order.
 *
 * Each of the calls on an address is one commit with its line in the audit.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_FILTERS_H
#define PAPERBOY_SERVICE_PEOPLE_FILTERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/subscriber.h"
#include "query/query.h"
#include "query/query_error.h"
#include "service/people/subscribe.h"
#include "store/core/store.h"

/* Numbers that a filter can have. */
#define FILTERS_NUMBER_MAX 9999

/* Where a filter that is new now begins: the same for all that are given at once. */
struct filters_start {
	int64_t matched_revision; /* a filter that nobody had looks at later papers */
	char since_day[DAY_BYTES];
};

/**
 * Warn of clauses that no source decides, or that can make papers late, and of sources
 * that are not collected.
 *
 * @param is_block  a block takes papers away as they are then: nothing is late
 * @param notes     of struct msg *, added to
 */
bool filters_note_untold(struct store *store, const struct query *query, bool is_block,
    GPtrArray *notes, GError **error);

/** Where a filter that is given now begins. @param start  set on success */
bool filters_load_start(
    struct store *store, int64_t now, struct filters_start *start, GError **error);

struct filters_insertion {
	int64_t subscriber_id;
	const struct filters_start *start;
	int64_t now;
	struct query_error *problem; /* NULL, or filled when the query is refused */
	GPtrArray **warnings;        /* NULL, or set to of struct msg * on success */
};

/**
 * Check a new filter against the ones that a subscriber has; nothing is stored.
 *
 * @param own  of struct subscription *
 * @return with text, canonical form, number and labels; NULL with PB_ERROR_INPUT or
 *         PB_ERROR_LIMIT
 */
struct subscription *filters_prepare(struct store *store, const GPtrArray *own,
    const struct subscribe_filter *filter, struct query_error *problem, GError **error);

/**
 * Give a filter to somebody, in the caller's transaction.
 *
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct subscription *
filters_insert(struct store *store, const struct filters_insertion *to,
    const struct subscribe_filter *filter, GError **error);

/** One of a person's filters. @return NULL with PB_ERROR_NOT_FOUND */
struct subscription *
filters_load(struct store *store, const char *address, int number, GError **error);

/**
 * Give a filter another number.  One that is free is simply taken; else the filters
 * between the two places move by one towards the old one.
 *
 * @param to  1..FILTERS_NUMBER_MAX
 */
bool filters_move(struct store *store, const char *address, int from, int to,
    const char *who, int64_t now, GError **error);

/** @param name  NULL or "" takes the name away */
bool filters_rename(struct store *store, const char *address, int number,
    const char *name, const char *who, int64_t now, GError **error);

struct filters_change {
	const char *address;
	int number;
	const char *text; /* the new query, as typed */
	const char *name; /* NULL: stays; "" takes it away; as for a new one */
	const char *note; /* the same */
	int max_papers;   /* 0: stays */
	const char *who;  /* for the audit */
};

/**
 * Check an edit against the filters that a subscriber has; nothing is stored.
 *
 * @param own  of struct subscription *
 * @return the filter as it would be; errors as filters_edit()
 */
struct subscription *filters_prepare_edit(struct store *store, const GPtrArray *own,
    const struct filters_change *change, struct query_error *problem, GError **error);

/**
 * Replace the query of a filter; its number stays.
 *
 * Papers that only the new query matches are eligible as those of a new filter: from
 * the last DIGEST_FIRST_DAYS days.  Papers listed since the subscriber's last slot (or
 * during the pause) stay due in any case.
 *
 * @param problem   NULL, or cleared by the caller: filled when the query is refused
 * @param warnings  NULL, or set to of struct msg * on success
 * @return as it is now; NULL with PB_ERROR_INPUT or PB_ERROR_NOT_FOUND
 */
struct subscription *
filters_edit(struct store *store, const struct filters_change *change, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error);

#endif
