/*
 * subscribers.h - subscribers, their filters, and the filters of everybody.
 *
 * A filter is one row however many people have it.  None of these functions
 * opens a transaction; callers do, so that what belongs together is one
 * commit.
 */
#ifndef PAPERBOY_STORE_SUBSCRIBER_SUBSCRIBERS_H
#define PAPERBOY_STORE_SUBSCRIBER_SUBSCRIBERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/** Insert a subscriber; its id is set. @return PB_ERROR_INPUT when the address is there
 */
bool
subscribers_insert(struct store *store, struct subscriber *subscriber, GError **error);

/** Write all that can change of a subscriber: name, state, rhythm, consent, due time.
 */
bool subscribers_update(
    struct store *store, const struct subscriber *subscriber, GError **error);

/** Write another address with its key, which nobody else may have. */
bool subscribers_change_address(
    struct store *store, const struct subscriber *subscriber, GError **error);

/** Find by address key or id, in any state. @param subscriber  set; NULL for none */
bool subscribers_find(struct store *store, const char *address_key,
    struct subscriber **subscriber, GError **error);
bool subscribers_find_id(
    struct store *store, int64_t id, struct subscriber **subscriber, GError **error);

/** @return NULL with PB_ERROR_NOT_FOUND when there is none */
struct subscriber *subscribers_load(struct store *store, int64_t id, GError **error);

/**
 * Load a page of subscribers who are not gone, by id.
 *
 * @param after  the last id of the page before, 0 at first
 */
GPtrArray *subscribers_load_page(
    struct store *store, int64_t after, unsigned limit, GError **error);

/**
 * Load a page of active subscribers whose digest is due, earliest first.
 *
 * A subscriber with a filter that has not been matched with the newest papers is left
 * out: the digest waits for the match.
 *
 * @param through  before now: who is due later is left out too, unless the edition is
 *                 one that comes at once, or hour by hour
 */
GPtrArray *subscribers_load_due(
    struct store *store, int64_t now, int64_t through, unsigned limit, GError **error);

/** Load a page of active subscribers whose edition is due only after a time. */
GPtrArray *subscribers_load_due_after(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Load a page of paused subscribers whose pause has ended, earliest first. */
GPtrArray *subscribers_load_pause_ended(
    struct store *store, int64_t now, unsigned limit, GError **error);

/** Let no filter look back to a day after today: they look back to since_day instead.
 */
bool subscribers_limit_since_day(
    struct store *store, const char *today, const char *since_day, GError **error);

/** When the next edition of anybody is due, or somebody's pause ends. @param due_at -1
 * for never */
bool subscribers_load_next_due(struct store *store, int64_t *due_at, GError **error);

/** Move a subscriber's due time on; the first edition counts as made, and what
 * was missed in a pause as caught up. */
bool subscribers_save_due(
    struct store *store, int64_t id, int64_t next_due_at, GError **error);

/** Let a subscriber's next edition wait until a time; it stays what it is. */
bool
subscribers_postpone(struct store *store, int64_t id, int64_t due_at, GError **error);

/** Count subscribers by state. @param counts  one for each enum subscriber_state */
bool subscribers_count_states(struct store *store, int64_t *counts, GError **error);

/** The filters of a person, by number. @return of struct subscription * */
GPtrArray *subscribers_load_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error);

/**
 * Give a person a filter: with its number, which must be free, or with 0 for the
 * smallest that is; it is set.
 *
 * @param hash             of the canonical form
 * @param matched_revision  for a filter that nobody had before
 * @return PB_ERROR_INPUT when the person has this filter already
 */
bool
subscribers_insert_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error);

/**
 * Give a subscription another filter, with its text, first day, name, limit and note;
 * the number stays.
 *
 * @return PB_ERROR_INPUT when another one of the person has that filter
 */
bool
subscribers_change_subscription(struct store *store, struct subscription *subscription,
    const char *hash, int64_t matched_revision, int64_t now, GError **error);

/** @param name  NULL for none */
bool subscribers_name_subscription(
    struct store *store, int64_t id, const char *name, GError **error);

/** Give a subscription another number, which must be free. */
bool subscribers_number_subscription(
    struct store *store, int64_t id, int number, GError **error);

/** Take a filter away. @return PB_ERROR_NOT_FOUND when there is no such number */
bool subscribers_delete_subscription(
    struct store *store, int64_t subscriber_id, int number, GError **error);
bool subscribers_delete_subscriptions(
    struct store *store, int64_t subscriber_id, GError **error);

/** Forget up to a limit of filters that nobody has, with their matches. @param count
 * set */
bool subscribers_prune_filters(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

bool subscribers_count_filters(struct store *store, int64_t *count, GError **error);

#endif
