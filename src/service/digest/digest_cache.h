/*
 * digest_cache.h - what many people's editions share: papers, filters and words made
 * ready.
 *
 * Made when first asked for and kept while the run lasts; when there is too much of a
 * kind, all of it is forgotten and made again.  So what is got is borrowed until the
 * next call that gets one of the same kind.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_DIGEST_CACHE_H
#define PAPERBOY_SERVICE_DIGEST_DIGEST_CACHE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/subscriber.h"
#include "query/query.h"
#include "render/catalog.h"
#include "service/collect/coverage.h"
#include "store/core/store.h"
#include "store/mail/digests.h"

struct digest_cache {
	struct store *store;
	struct token_signer *tokens; /* borrowed; NULL in a preview */
	int64_t now;
	const struct catalog *book; /* or NULL: English */
	GHashTable *documents;      /* paper seq -> struct digest_cache_paper * */
	GHashTable *filters;        /* filter id -> struct digest_cache_filter * */
	GHashTable *words;  /* struct digest_cache_hit -> what it hit, in words */
	GHashTable *scores; /* the same -> double: how well it fits */
	GHashTable *zones;  /* name -> GTimeZone *: slow to load, and few */
	bool is_restored;   /* from a backup: some next editions are HELD */
	bool is_asked;      /* all sources were asked since that */
	int64_t through;    /* editions due later wait, as a rule */
	const struct coverage *coverage; /* which lists they are made of */
	/* Texts of the language of the reader at hand, by enum msg_id; NULL: English */
	const char *const *texts;
	GHashTable
	    *coverage_lines; /* such texts -> the state of the lists in that language */
};

/* A paper made ready for the filters of many people. */
struct digest_cache_paper {
	char *id;
	struct query_document *document;
	bool is_bare; /* what arXiv will tell is still waited for */
	/* The last day on which it was listed as something for those who want
	 * cross-lists, or not, and updates, or not; "" for never. */
	char wanted_day[2][2][DAY_BYTES];
};

void digest_cache_init(struct digest_cache *cache, struct store *store, int64_t now);
void digest_cache_clear(struct digest_cache *cache);

/** Get a paper. @return NULL with the store's error */
const struct digest_cache_paper *
digest_cache_get_paper(struct digest_cache *cache, int64_t seq, GError **error);

/** Get a filter. @return NULL for a stored one that this program cannot read */
const struct query *
digest_cache_get_query(struct digest_cache *cache, const struct candidate *candidate);

/** Get what a filter hit in a paper, for a reader. @return NULL with an error */
const char *digest_cache_get_words(
    struct digest_cache *cache, const struct candidate *candidate, GError **error);

/**
 * Get how well a paper fits a filter, with its votes and age (query/eval/rank.h).
 *
 * @param score  0 for a filter that this program cannot read
 */
bool digest_cache_get_score(struct digest_cache *cache,
    const struct candidate *candidate, double *score, GError **error);

/** Get the state of the lists in the language of the reader at hand. */
const char *digest_cache_get_coverage(struct digest_cache *cache);

/** Get a person's zone; UTC for one that the system does not have any more. */
GTimeZone *
digest_cache_get_zone(struct digest_cache *cache, const struct subscriber *subscriber);

#endif
