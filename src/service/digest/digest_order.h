/*
 * digest_order.h - order and detail of the papers of a digest.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_DIGEST_ORDER_H
#define PAPERBOY_SERVICE_DIGEST_DIGEST_ORDER_H

#include <glib.h>
#include <stdbool.h>

#include "model/subscriber.h"
#include "service/digest/digest_cache.h"

/**
 * Sort papers as the subscriber prefers: those shown in full first, then titles, then
 * those only counted.
 *
 * At most the subscriber's max are shown in full (in the digest after a pause, the
 * number requested), and at most a filter's own max for each filter. A paper with
 * several matches is shown in full while one of these filters has a place left, and
 * uses one place of each.
 *
 * @param items       of struct digest_record_item *, by votes
 * @param candidates  of struct candidate *, which the items index
 * @return false with the store's error
 */
bool digest_order_items(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, GPtrArray *items, GError **error);

#endif
