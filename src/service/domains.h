/*
 * domains.h - how fast each domain may be written to, and which ones are left alone.
 *
 * A domain whose policy refuses DOMAINS_REFUSALS messages in a row (5.7.x: our
 * signature, our name, our volume) is paused: no message and no reader is to blame,
 * and asking on makes it worse.  The pause begins with DOMAINS_PAUSE_S and is doubled,
 * up to DOMAINS_PAUSE_MAX_S, as long as nothing is taken.  Then one message tries it.
 *
 * Kept in memory: a restart forgets it, and learns it again from as many refusals.
 */
#ifndef PAPERBOY_SERVICE_DOMAINS_H
#define PAPERBOY_SERVICE_DOMAINS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "transport/delivery.h"

#define DOMAINS_REFUSALS    5
#define DOMAINS_PAUSE_S     3600
#define DOMAINS_PAUSE_MAX_S (12 * 3600)

struct domains;

/** @param per_hour  messages to one domain; 0: no limit */
struct domains *domains_new(unsigned per_hour);
void domains_free(struct domains *domains);
PB_DEFINE_AUTO(domains, domains_free);

/** Another limit; pauses stay. */
void domains_set_limit(struct domains *domains, unsigned per_hour);

/** End all pauses: an operator says so. */
void domains_resume(struct domains *domains);

/**
 * Ask for leave to send to an address.  Leave is counted, so it is to be used.
 *
 * @param next  set when there is none: when to ask again, s.  Messages that are put
 *              off one after the other get times one after the other.
 */
bool domains_allow(
    struct domains *domains, const char *recipient, int64_t now, int64_t *next);

/**
 * Tell what became of a delivery.
 *
 * @return the domain when it is paused because of this one, borrowed; else NULL
 */
const char *domains_report(struct domains *domains, const char *recipient,
    const struct delivery *delivery, int64_t now, int64_t *pause_s);

/** How many are paused. @param name  set to one of them, or NULL; borrowed */
unsigned
domains_count_paused(const struct domains *domains, int64_t now, const char **name);

#endif
