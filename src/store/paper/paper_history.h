/*
 * paper_history.h - history of a paper: its listings, and its digests for a subscriber.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/digest.h"
#include "store/core/store.h"

/* A listing by a source. */
struct paper_history_listing {
	int64_t paper_seq;
	const char *source;
	char day[11];
	const char *listing_type; /* "new" */
	int64_t first_seen_at;    /* s */
};

/** @return of struct paper_history_listing *, in the order in which they were seen */
GPtrArray *
paper_history_load_listings(struct store *store, int64_t paper_seq, GError **error);

/* A subscriber's digest that contains the paper. */
struct paper_history_digest {
	int64_t id;
	int64_t created_at;
	const char *state; /* live, sent, failed, cancelled */
	enum digest_detail shown;
	const char *message; /* state of its message: NEW, HELD ...; NULL: pruned */
	unsigned copies;     /* copies of the message that may have arrived */
	int64_t next_try_at; /* or -1 */
	int64_t ended_at;    /* or -1 */
	const char *reply;   /* of the relay, or NULL */
};

/** @return of struct paper_history_digest *, oldest first; recent weeks only */
GPtrArray *paper_history_load_digests(
    struct store *store, int64_t subscriber_id, int64_t paper_seq, GError **error);

struct paper_history_delivery {
	int64_t at; /* last time of delivery, s; -1: not delivered */
	int64_t digest_id;
	int64_t replacement; /* the newest version delivered; 0: the first */
	int64_t refusals;    /* number of messages with it refused for their content */
};

/**
 * Load all that was delivered to a subscriber within DIGEST_DELIVERED_DAYS.
 *
 * @return paper.seq -> struct paper_history_delivery *, without refusals
 */
GHashTable *paper_history_load_deliveries(
    struct store *store, int64_t subscriber_id, GError **error);

/** Load it for one paper, with refusals. */
bool paper_history_load_delivery(struct store *store, int64_t subscriber_id,
    int64_t paper_seq, struct paper_history_delivery *delivery, GError **error);

/* The papers last listed on a day. */
struct paper_history_day {
	char day[11];
	int64_t papers;
};

/** Count papers by day. @return of struct paper_history_day *, oldest first */
GPtrArray *
paper_history_load_days(struct store *store, const char *oldest_day, GError **error);

/** Load the earliest last day of all papers. @param day  set; "" for an empty store */
bool paper_history_load_first_day(struct store *store, char day[11], GError **error);
