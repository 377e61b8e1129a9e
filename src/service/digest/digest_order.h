/*
 * digest_order.h - the order of a new digest's papers, and how each of them is shown.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_DIGEST_ORDER_H
#define PAPERBOY_SERVICE_DIGEST_DIGEST_ORDER_H

#include <glib.h>
#include <stdbool.h>

#include "model/subscriber.h"
#include "service/digest/digest_cache.h"

/**
 * Bring a person's papers into the order that the person chose: what is shown in full
 * comes first, then what is shown by title, then what is counted only.
 *
 * At most the person's max are shown in full (of the digest that follows a pause: as
 * many as were asked for), and of each filter at most its own max.  A paper that more
 * than one filter found is shown in full while one of them has a place left, and
 * takes one of each.
 *
 * @param items       of struct digest_record_item *, by votes
 * @param candidates  of struct candidate *, to which the items point
 * @return false with the store's error
 */
bool digest_order_items(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, GPtrArray *items, GError **error);

#endif
