/*
 * bounces.h - evidence from bounces and complaints, probe messages, paused domains.
 *
 * One row per subscriber and message, so that a repeated report counts once.  None of
 * these functions opens a transaction.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* All borrowed when saved; of a loaded row, freed with it by g_free(). */
struct bounce_row {
	int64_t id;
	int64_t subscriber_id;
	const char *address; /* of the subscriber; loaded only */
	const char *state;   /* of the subscriber; loaded only */
	const char *message; /* "digest-12", "mail-7" */
	int64_t at;
	const char *class; /* "dead", "full", "temporary", "sender", "complaint" */
	bool is_scored;    /* counts against the address */
	/* Of class "sender": concerns all mail to the domain; false once the digest is
	 * sent again. */
	bool is_domain_fault;
	const char *rule;
	const char *status; /* RFC 3463, or NULL */
	int code;           /* or -1 */
	const char *agent;  /* or NULL */
	const char *line;   /* or NULL */
};

/**
 * Save evidence.  Of several reports about one message the first counts, except that
 * "dead" replaces another class, and "complaint" any, and the report about a digest
 * that was sent again replaces the one before.
 *
 * @param is_new  set: it was added or replaced
 */
bool bounces_save(
    struct store *store, const struct bounce_row *row, bool *is_new, GError **error);

/** Load the scored rows of a subscriber between two times, oldest first. */
GPtrArray *bounces_load_scored(struct store *store, int64_t subscriber_id,
    int64_t since, int64_t until, GError **error);

/** Load all rows of a subscriber, oldest first. */
GPtrArray *
bounces_load_person(struct store *store, int64_t subscriber_id, GError **error);

/** Load a batch of ids of active subscribers with scored rows. @return of int64_t */
GArray *bounces_load_suspects(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Forget the evidence and the probe of a subscriber: rows stay, but do not count. */
bool bounces_reset(struct store *store, int64_t subscriber_id, GError **error);

/* The rows of a subscriber by class; freed by g_free(). */
struct bounce_summary {
	int64_t subscriber_id;
	const char *address;
	const char *state;
	int64_t dead, full, temporary, sender, complaint; /* messages */
	int64_t last_at;
	const char *last_line; /* or NULL */
};

/** Load a batch of subscribers with evidence, by id. @return of struct bounce_summary
 */
GPtrArray *bounces_load_summaries(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Summarize a subscriber's rows since a time. @param summary  set; NULL for none */
bool bounces_find_summary(struct store *store, int64_t subscriber_id, int64_t since,
    struct bounce_summary **summary, GError **error);

/** Count the rows of all subscribers since a time; the texts are not set. */
bool bounces_load_totals(
    struct store *store, int64_t since, struct bounce_summary *totals, GError **error);

/* The subscribers of a domain, and those with scored rows. */
struct bounce_domain {
	const char *domain;
	int64_t subscribers; /* active or suspended */
	int64_t bounced;
};

/** Count for the domain of an address since a time; the domain is not set. */
bool bounces_count_domain(struct store *store, const char *address, int64_t since,
    struct bounce_domain *counts, GError **error);

/** Load domains of which at least `least` subscribers have scored rows. */
GPtrArray *
bounces_load_domains(struct store *store, int64_t since, int64_t least, GError **error);

/** Count subscribers with reports since a time that the domain of an address refuses
 * us.
 */
bool bounces_count_refused(struct store *store, const char *address, int64_t since,
    int64_t *people, GError **error);

/** Load the digests in these reports, for outbox_requeue_returned(). @return of int64_t
 */
GArray *bounces_load_refused(
    struct store *store, const char *address, int64_t since, GError **error);
bool bounces_mark_requeued(struct store *store, int64_t digest_id, GError **error);

/**
 * Find the active subscriber of a domain who was added first and has no report since a
 * time.  Somebody who forges reports would have to have been there before all others.
 *
 * @param subscriber_id  set; 0 for none
 */
bool bounces_find_unaffected(struct store *store, const char *address, int64_t since,
    int64_t *subscriber_id, GError **error);

/* ---- probes ---- */

struct bounce_probe {
	int64_t outbox_id;
	int64_t sent_at;
};

/** @param probe  set; NULL for none; g_free() it */
bool bounces_find_probe(struct store *store, int64_t subscriber_id,
    struct bounce_probe **probe, GError **error);
bool bounces_save_probe(struct store *store, int64_t subscriber_id,
    const struct bounce_probe *probe, GError **error);

/* ---- paused domains ---- */

/* A pause that begins within this time after another one continues it. */
#define DOMAIN_PAUSE_GAP_S 86400

struct domain_pause {
	const char *domain; /* lower case */
	int64_t since;
	int64_t until;
	const char *rule;  /* of the refusal */
	const char *reply; /* the refusal */
};

/** Save a pause; if it continues another one, `since` and the first refusal stay. */
bool domain_pauses_save(
    struct store *store, const struct domain_pause *pause, GError **error);
/** Delete a pause. @param domain  NULL: all */
bool domain_pauses_delete(struct store *store, const char *domain, GError **error);

/** @param pause  set; NULL for none; g_free() it */
bool domain_pauses_find(struct store *store, const char *domain,
    struct domain_pause **pause, GError **error);
/** Load the pauses that end after a time. */
GPtrArray *domain_pauses_load(struct store *store, int64_t after, GError **error);
