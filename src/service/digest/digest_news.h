/*
 * digest_news.h - lines of a digest about filters that the subscriber follows, and
 * about retracted papers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/po.h"
#include "model/digest_contents.h"
#include "service/digest/digest_cache.h"
#include "store/core/store.h"
#include "store/mail/digests.h"

/* Least time that a proposal is valid after the digest that names it. */
#define DIGEST_NEWS_PROPOSAL_S (7 * (int64_t)CLOCK_DAY_S)

/* Maximum number of news items in a digest; the rest is in later digests. */
#define DIGEST_NEWS_MAX 2

/* News that a digest tells. */
struct digest_news {
	int64_t subscription_id;
	int news;
	unsigned proposal; /* its number; 0: none */
};

/**
 * Add the news for a subscriber to the notices of a digest.
 *
 * @param po     translations; NULL: English
 * @param reported   gets struct digest_news, for digest_news_save()
 */
bool digest_news_add(struct store *store, int64_t subscriber_id, int64_t now,
    const struct po *po, struct digest_contents *contents, GArray *reported,
    GError **error);

/**
 * Find what a digest reports about papers that the subscriber watches, and those that
 * were retracted after they, or another record of their work, were delivered; and which
 * papers are watched for a few days only.
 *
 * @param lines   gets a line for each
 * @param is_due  set: they are a reason for a digest
 */
bool digest_news_find_events(struct digest_cache *cache,
    const struct subscriber *subscriber, GString *lines, bool *is_due, GError **error);

/** Put lines before the notices of a digest, of which only a few are shown. */
void digest_news_prepend(struct digest_contents *contents, const char *lines);

/** Record what a digest reports; in the transaction that stores it. */
bool digest_news_save(struct store *store, const struct digest_record *digest,
    const GArray *reported, GError **error);

/** Format "adds A, B; removes C". @param added, removed  one a line @return new */
char *
digest_news_format_change(const char *added, const char *removed, const struct po *po);
