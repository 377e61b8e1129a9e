/*
 * domain_throttle.h - rate limits and pauses per recipient domain.
 *
 * A domain that rejects DOMAIN_THROTTLE_REFUSALS consecutive messages by policy (5.7.x:
 * signature, reputation, volume) is paused.  Pauses start at DOMAIN_THROTTLE_PAUSE_S
 * and double up to DOMAIN_THROTTLE_PAUSE_MAX_S until a message is accepted; after each
 * one message is tried first.
 *
 * The state is in memory only; a restart loses it.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_DOMAIN_THROTTLE_H
#define PAPERBOY_SERVICE_DELIVERY_DOMAIN_THROTTLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "transport/delivery.h"

#define DOMAIN_THROTTLE_REFUSALS    5
#define DOMAIN_THROTTLE_PAUSE_S     3600
#define DOMAIN_THROTTLE_PAUSE_MAX_S (12 * 3600)

struct domain_throttle;

/** @param per_hour  messages to one domain; 0: no limit */
struct domain_throttle *domain_throttle_new(unsigned per_hour);
void domain_throttle_free(struct domain_throttle *throttle);
PB_DEFINE_AUTO(domain_throttle, domain_throttle_free);

/** Change the limit; pauses stay. */
void domain_throttle_set_limit(struct domain_throttle *throttle, unsigned per_hour);

/** End all pauses. */
void domain_throttle_resume(struct domain_throttle *throttle);

/**
 * Check whether a message to an address may be sent now, and count it if so.
 *
 * @param next  set if not: when to try again, s.  Postponed messages get successive
 *              times.
 */
bool domain_throttle_allow(struct domain_throttle *throttle, const char *recipient,
    int64_t now, int64_t *next);

/**
 * Report the result of a delivery.
 *
 * @return the domain if this result pauses it, borrowed; else NULL
 */
const char *
domain_throttle_report(struct domain_throttle *throttle, const char *recipient,
    const struct delivery *delivery, int64_t now, int64_t *pause_s);

/** Count paused domains. @param name  set to one of them, or NULL; borrowed */
unsigned domain_throttle_count_paused(
    const struct domain_throttle *throttle, int64_t now, const char **name);

#endif
