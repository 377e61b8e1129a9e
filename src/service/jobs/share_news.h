/*
 * share_news.h - tell followers of a shared filter that it has changed.
 *
 * An edit only marks the followers.  Here its effect is computed, once for all of them
 * that have the same version, and proposed to each as a command; the next digest of
 * each says so (service/digest/digest_news.h).  So no mail is sent for an edit.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Compute the changes, and propose them to active subscribers, in batches of one commit
 * each.
 *
 * @param count  set to the number of changes that were computed
 */
bool share_news_run(struct store *store, int64_t now, unsigned *count, GError **error);
