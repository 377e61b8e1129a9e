/*
 * subscribers.h - subscribers, their filters, and the shared table of filters.
 *
 * A filter is one row, shared by all its subscribers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/**
 * Insert a subscriber; its id is set.
 *
 * @return false with PB_ERROR_INPUT if the address exists
 */
bool
subscribers_insert(struct store *store, struct subscriber *subscriber, GError **error);

/**
 * Update the mutable fields of a subscriber: name, state, schedule, consent, due time.
 */
bool subscribers_update(
    struct store *store, const struct subscriber *subscriber, GError **error);

/** Update the address and its key, which must be unique. */
bool subscribers_change_address(
    struct store *store, const struct subscriber *subscriber, GError **error);

/** Find by address key or id, in any state. @param subscriber  set; NULL for none */
bool subscribers_find(struct store *store, const char *address_key,
    struct subscriber **subscriber, GError **error);
bool subscribers_find_id(
    struct store *store, int64_t id, struct subscriber **subscriber, GError **error);

/** @return NULL with PB_ERROR_NOT_FOUND if there is none */
struct subscriber *subscribers_load(struct store *store, int64_t id, GError **error);

/**
 * Load a batch of subscribers who have not left, by id.
 *
 * @param after  the last id of the previous batch, 0 at first
 */
GPtrArray *subscribers_load_batch(
    struct store *store, int64_t after, unsigned limit, GError **error);

/**
 * Load a batch of active subscribers whose digest is due, earliest first: first digests
 * (is_first_due) and hourly ones (frequency "now"), then the others.
 *
 * Subscribers with a filter that has not been matched with the newest papers are
 * skipped: their digest waits for the match.
 *
 * @param through  before now; others that are due later are skipped
 */
GPtrArray *subscribers_load_due(
    struct store *store, int64_t now, int64_t through, unsigned limit, GError **error);

/** Load a batch of active subscribers whose digest is due after a time. */
GPtrArray *subscribers_load_due_after(
    struct store *store, int64_t after, unsigned limit, GError **error);

/* An active subscriber whose monthly report is due. */
struct checkup_due {
	int64_t subscriber_id;
	int64_t at; /* s */
};

/** Load a batch of them, earliest first. @return of struct checkup_due * */
GPtrArray *subscribers_load_checkups(
    struct store *store, int64_t now, unsigned limit, GError **error);
bool
subscribers_save_checkup(struct store *store, int64_t id, int64_t at, GError **error);

/** Save when the subscriber wrote last. */
bool
subscribers_save_wrote(struct store *store, int64_t id, int64_t at, GError **error);

/** Load when the next one is due. @param at  set; -1 for never */
bool subscribers_load_next_checkup(struct store *store, int64_t *at, GError **error);

/** Load a batch of paused subscribers whose pause has ended, earliest first. */
GPtrArray *subscribers_load_pause_ended(
    struct store *store, int64_t now, unsigned limit, GError **error);

/** Change the first day of filters from days after today to since_day. */
bool subscribers_limit_since_day(
    struct store *store, const char *today, const char *since_day, GError **error);

/**
 * Load when the next digest is due or the next pause ends. @param due_at -1 for never
 */
bool subscribers_load_next_due(struct store *store, int64_t *due_at, GError **error);

/* The next due time of a subscriber whose digest was decided. */
struct subscriber_due {
	int64_t id;
	int64_t next_at; /* s; -1: none */
};

/**
 * Advance the due times of subscribers that the transaction has locked.
 *
 * The first digest counts as created, and papers missed in a pause as caught up.
 */
bool subscribers_save_due(struct store *store, const struct subscriber_due *const *dues,
    unsigned count, GError **error);

/** Postpone the next digest until a time, if it is due earlier, without changing its
 * contents. */
bool
subscribers_postpone(struct store *store, int64_t id, int64_t due_at, GError **error);

/** Load the filters of a subscriber, by number. @return of struct subscription * */
GPtrArray *subscribers_load_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error);

/**
 * Add a filter to a subscriber, with its number, which must be free; 0: set to the
 * smallest free number.
 *
 * @param hash  of the canonical form
 * @param matched_revision  for a filter without other subscribers
 * @return false with PB_ERROR_INPUT if the subscriber has this filter
 */
bool
subscribers_insert_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error);

/**
 * Change the filter of a subscription, with its text, first day, name, limit and note;
 * the number stays.
 *
 * @return false with PB_ERROR_INPUT if another subscription of the subscriber has that
 *   filter
 */
bool
subscribers_change_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error);

/** Load filters as they were before a proposal was applied (proposals.h). */
GPtrArray *subscribers_load_before_change(
    struct store *store, int64_t proposal_id, GError **error);

/** Insert a deleted subscription with its id; its number and filter must be free. */
bool subscribers_restore_subscription(struct store *store,
    const struct subscription *subscription, int64_t matched_revision, int64_t now,
    GError **error);

/** @param name  NULL for none */
bool subscribers_name_subscription(
    struct store *store, int64_t id, const char *name, GError **error);

/** Change the number of a subscription; the new one must be free. */
bool subscribers_number_subscription(
    struct store *store, int64_t id, int number, GError **error);

/** Delete a subscription. @return false with PB_ERROR_NOT_FOUND if it does not exist */
bool subscribers_delete_subscription(
    struct store *store, int64_t subscriber_id, int number, GError **error);
bool subscribers_delete_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error);
