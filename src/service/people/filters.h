/*
 * filters.h - add, edit, rename and reorder a subscriber's filters.
 *
 * Each function that takes an address is one commit, with its entry in the audit log.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "base/po.h"
#include "model/subscriber.h"
#include "query/query.h"
#include "query/query_error.h"
#include "service/people/subscribe.h"
#include "store/core/store.h"

/* Errors that callers recognise, by struct msg. */
#define FILTERS_NAME_NUMBER                                                        \
	N_("a filter's name cannot be a number: \"{name}\" would mean the filter " \
	   "with that number")
#define FILTERS_NAME_TAKEN N_("the name \"{name}\" is already used by filter {number}")

/* Maximum number of a filter. */
#define FILTERS_NUMBER_MAX 9999

/* In a change: removes the limit on papers in one digest. */
#define FILTERS_NO_MAX -1

/* Where new filters begin to match; shared by filters that are added together. */
struct filters_start {
	/* Papers after this revision are matched, unless the store has the filter
	 * already, of another subscriber: then matching continues for that. */
	int64_t matched_revision;
	char since_day[DAY_BYTES];
};

/**
 * Warn about clauses on data that no source reports or that arrives late, and about
 * sources that are not collected.
 *
 * @param is_block  blocks never delay papers, so that warning is omitted
 * @param notes     of struct msg *, appended to
 */
bool filters_add_notes(struct store *store, const struct query *query, bool is_block,
    GPtrArray *notes, GError **error);

/** Load the start of a filter that is added now. @param start  set on success */
bool filters_load_start(
    struct store *store, int64_t now, struct filters_start *start, GError **error);

struct filters_insertion {
	int64_t subscriber_id;
	const struct filters_start *start;
	int64_t now;
	struct query_error *problem; /* NULL, or filled if the query is rejected */
	GPtrArray **warnings;        /* NULL, or set on success: of struct msg * */
};

/**
 * Check a new filter against the subscriber's others; nothing is stored.
 *
 * @param own  of struct subscription *
 * @return text, canonical form, number and labels are set; NULL with PB_ERROR_INPUT or
 *         PB_ERROR_LIMIT
 */
struct subscription *filters_prepare(struct store *store, const GPtrArray *own,
    const struct subscribe_filter *filter, struct query_error *problem, GError **error);

/**
 * Add a filter to a subscriber, in the caller's transaction.
 *
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct subscription *
filters_insert(struct store *store, const struct filters_insertion *to,
    const struct subscribe_filter *filter, GError **error);

/** Load a filter by its number. @return NULL with PB_ERROR_NOT_FOUND */
struct subscription *
filters_load(struct store *store, const char *address, int number, GError **error);

/**
 * Change the number of a filter.  If the new number is in use, the filters between the
 * two positions move by one towards the old one.
 *
 * @param to  1..FILTERS_NUMBER_MAX
 */
bool filters_move(struct store *store, const char *address, int from, int to,
    const char *who, int64_t now, GError **error);

/** Rename a filter. @param name  NULL or "" removes the name */
bool filters_rename(struct store *store, const char *address, int number,
    const char *name, const char *who, int64_t now, GError **error);

struct filters_change {
	const char *address;
	int number;
	const char *text; /* the new query, as typed */
	const char *name; /* NULL: unchanged; "" removes it */
	const char *note; /* NULL: unchanged; "" removes it */
	int max_papers;   /* 0: unchanged; FILTERS_NO_MAX: no limit */
	const char *who;  /* for the audit log */
};

/**
 * Check an edit against the subscriber's other filters; nothing is stored.
 *
 * @param own  of struct subscription *
 * @return the edited filter; errors as filters_edit()
 */
struct subscription *filters_prepare_edit(struct store *store, const GPtrArray *own,
    const struct filters_change *change, struct query_error *problem, GError **error);

/**
 * Replace the query of a filter; its number does not change.
 *
 * Papers that only the new query matches are eligible as for a new filter: from
 * the last DIGEST_FIRST_DAYS days.  Papers listed since the subscriber's last slot (or
 * during the pause) remain due.
 *
 * @param problem   NULL, or cleared by the caller: filled if the query is rejected
 * @param warnings  NULL, or set on success: of struct msg *
 * @return the edited filter; NULL with PB_ERROR_INPUT or PB_ERROR_NOT_FOUND
 */
struct subscription *
filters_edit(struct store *store, const struct filters_change *change, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error);
