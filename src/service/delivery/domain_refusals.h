/*
 * domain_refusals.h - the meaning of refusals, and the domains that are paused for
 * them.
 *
 * Connects the classification (transport/bounce_class.h), the throttle of the domains
 * and the stored pauses (store/mail/bounces.h), which reports change, too.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_DOMAIN_REFUSALS_H
#define PAPERBOY_SERVICE_DELIVERY_DOMAIN_REFUSALS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "service/delivery/domain_throttle.h"
#include "store/core/store.h"

struct domain_refusals;

/** @param throttle  borrowed */
struct domain_refusals *
domain_refusals_new(struct store *store, struct domain_throttle *throttle);
void domain_refusals_free(struct domain_refusals *refusals);
PB_DEFINE_AUTO(domain_refusals, domain_refusals_free);

/**
 * Apply the meaning of a refusal to the result of a delivery: our own faults are
 * temporary and concern the domain (is_policy); a dead address is permanent, also as
 * "5.7.1".
 */
void domain_refusals_classify(struct delivery *delivery);

/** Report a classified result; logs when it pauses or resumes the domain. */
void domain_refusals_report(struct domain_refusals *refusals, const char *recipient,
    const struct delivery *delivery, int64_t now);

/** Apply the stored pauses. */
bool
domain_refusals_load(struct domain_refusals *refusals, int64_t now, GError **error);

/** Save changes, in the caller's transaction, after whose commit they are dropped. */
bool domain_refusals_save(struct domain_refusals *refusals, GError **error);
void domain_refusals_drop(struct domain_refusals *refusals);

/** End all pauses; the stored ones at the next load. */
void domain_refusals_resume(struct domain_refusals *refusals);

#endif
