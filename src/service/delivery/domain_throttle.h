/*
 * domain_throttle.h - rate limits and pauses per recipient domain.
 *
 * A domain that refuses DOMAIN_THROTTLE_REFUSALS messages for our fault (signature,
 * reputation, policy) and DOMAIN_THROTTLE_PERCENT of those of a day is paused.  Pauses
 * start at DOMAIN_THROTTLE_PAUSE_S and double up to DOMAIN_THROTTLE_PAUSE_MAX_S until a
 * message is accepted; after each one message is tried first.  If the pause was caused
 * by reports, the others wait another DOMAIN_THROTTLE_REPORT_S for a report about it.
 *
 * Pauses are also rows of the store (store/mail/bounces.h), which reports of bounces
 * change, too; the rest of the state is in memory only.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"
#include "store/mail/bounces.h"
#include "transport/delivery.h"

/* Minimum number of refusals before a pause. */
#define DOMAIN_THROTTLE_REFUSALS 20

/* Minimum part of the messages of a day that were refused before a pause, %. */
#define DOMAIN_THROTTLE_PERCENT 5

/* Time for a report about the first message after a pause to arrive, s. */
#define DOMAIN_THROTTLE_REPORT_S (15 * 60)

/* Duration of the first pause, s. */
#define DOMAIN_THROTTLE_PAUSE_S 3600

/* Maximum duration of a pause, s. */
#define DOMAIN_THROTTLE_PAUSE_MAX_S (12 * 3600)

struct domain_throttle;

/** @param per_hour  messages to one domain; 0: no limit */
struct domain_throttle *domain_throttle_new(unsigned per_hour);
void domain_throttle_free(struct domain_throttle *throttle);
PB_DEFINE_AUTO(domain_throttle, domain_throttle_free);

/** Change the limit; pauses stay. */
void domain_throttle_set_limit(struct domain_throttle *throttle, unsigned per_hour);

/** End all pauses; the stored ones at the next load. */
void domain_throttle_resume(struct domain_throttle *throttle);

/**
 * Check whether a message to an address may be sent now, and count it if so.
 *
 * @param next  set if not: when to try again, s.  Postponed messages get successive
 *              times.
 */
bool domain_throttle_allow(struct domain_throttle *throttle, const char *recipient,
    int64_t now, int64_t *next);

/** End a claim: either all messages that were counted stay counted, or none. */
void domain_throttle_commit(struct domain_throttle *throttle);
void domain_throttle_undo(struct domain_throttle *throttle);

/** Apply the stored pauses. */
bool domain_throttle_load(
    struct domain_throttle *throttle, struct store *store, int64_t now, GError **error);

/** Apply one that is stored. */
void domain_throttle_set_pause(
    struct domain_throttle *throttle, const struct domain_pause *pause, int64_t now);

/** Save new pauses, in the caller's transaction, after whose commit they are dropped.
 */
bool domain_throttle_save(
    struct domain_throttle *throttle, struct store *store, GError **error);
void domain_throttle_drop(struct domain_throttle *throttle);

/**
 * Apply the meaning of a refusal (transport/bounce_class.h) to the result of a
 * delivery: our own faults are temporary and concern the domain (is_policy); a dead
 * address is permanent, also as "5.7.1".
 */
void domain_throttle_classify(struct delivery *delivery);

/** Report a classified result; logs when it pauses or resumes the domain. */
void domain_throttle_report(struct domain_throttle *throttle, const char *recipient,
    const struct delivery *delivery, int64_t now);

/** Count paused domains. @param name  set to one of them, or NULL; borrowed */
unsigned domain_throttle_count_paused(
    const struct domain_throttle *throttle, int64_t now, const char **name);
