/*
 * maintenance.h - daily deletion of expired data.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Days for which rows are stored; deliveries: DIGEST_DELIVERED_DAYS. */
#define MAINTENANCE_MATCH_DAYS        45
#define MAINTENANCE_OUTBOX_DAYS       14
#define MAINTENANCE_FETCH_DAYS        30
/* Text of quarantined messages; and inbox rows, whose keys detect duplicates. */
#define MAINTENANCE_QUARANTINE_DAYS   14
#define MAINTENANCE_INBOX_DAYS        30
/* Digests, to which replies are accepted for 30 days (delivery/mail_token.h); and
 * papers in rejected messages. */
#define MAINTENANCE_DIGEST_DAYS       31
#define MAINTENANCE_REJECTED_DAYS     60
/* Evidence from bounces and complaints. */
#define MAINTENANCE_BOUNCE_DAYS       60
/* Pauses of domains, after their end. */
#define MAINTENANCE_PAUSE_DAYS        1
/* Confirmations, after they expire, so that late replies are recognised. */
#define MAINTENANCE_CONFIRMATION_DAYS 7
/* Mail that counts for rate limits, of which the longest is for a month. */
#define MAINTENANCE_RATE_LOG_DAYS     31
/* After they expire: an applied proposal can be undone for 30 days. */
#define MAINTENANCE_PROPOSAL_DAYS     31
/* Versions of shared filters that nobody has, nor gets back by undo. */
#define MAINTENANCE_VERSION_DAYS      61

/**
 * Delete expired rows and unused filters, and repair the index.  Does nothing while a
 * jump of the clock is unconfirmed (clock_watch.h).
 */
bool maintenance_run(struct store *store, int64_t now, GError **error);

/** @param at set to the time of the next run, s; in the past if it is due */
bool
maintenance_load_due(struct store *store, int64_t now, int64_t *at, GError **error);
