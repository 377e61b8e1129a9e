/*
 * domain_throttle.h - how fast each domain may be written to, and which ones are left
 * alone.
 *
 * A domain whose policy refuses DOMAIN_THROTTLE_REFUSALS messages in a row (5.7.x: our
 * signature, our name, our volume) is paused: no message and no reader is to blame,
 * and asking on makes it worse.  The pause begins with DOMAIN_THROTTLE_PAUSE_S and is
 * doubled, up to DOMAIN_THROTTLE_PAUSE_MAX_S, as long as nothing is taken.  Then one
 * message tries it.
 *
 * Kept in memory: a restart forgets it, and learns it again from as many refusals.
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
void domain_throttle_free(struct domain_throttle *domains);
PB_DEFINE_AUTO(domain_throttle, domain_throttle_free);

/** Another limit; pauses stay. */
void domain_throttle_set_limit(struct domain_throttle *domains, unsigned per_hour);

/** End all pauses: an operator says so. */
void domain_throttle_resume(struct domain_throttle *domains);

/**
 * Ask for leave to send to an address.  Leave is counted, so it is to be used.
 *
 * @param next  set when there is none: when to ask again, s.  Messages that are put
 *              off one after the other get times one after the other.
 */
bool domain_throttle_allow(
    struct domain_throttle *domains, const char *recipient, int64_t now, int64_t *next);

/**
 * Tell what became of a delivery.
 *
 * @return the domain when it is paused because of this one, borrowed; else NULL
 */
const char *
domain_throttle_report(struct domain_throttle *domains, const char *recipient,
    const struct delivery *delivery, int64_t now, int64_t *pause_s);

/** How many are paused. @param name  set to one of them, or NULL; borrowed */
unsigned domain_throttle_count_paused(
    const struct domain_throttle *domains, int64_t now, const char **name);

#endif
