/*
 * bounce.h - act on bounces and complaints.
 *
 * Each report and each failed message is one row of evidence (store/mail/bounces.h);
 * what follows is derived from the rows:
 *
 *  - dead on BOUNCE_DEAD_DAYS different days (UTC): a probe message on a later day.  If
 *    that is returned too, the subscriber is suspended.  After the first such bounce
 *    there is at most one message a day, and fewer while an outage of the provider
 *    forbids to suspend.
 *  - full or temporary at intervals of at most BOUNCE_RUN_GAP_S for BOUNCE_RUN_S: a
 *    probe.  If that or a later message is returned, the subscriber is suspended.
 *  - A probe that is not returned within BOUNCE_PROBE_S (after weeks: if nothing is
 *    returned within BOUNCE_RUN_GAP_S) clears the evidence; older evidence than
 *    BOUNCE_DECAY_S does not count.
 *  - Our own faults count for nobody.  If reports of BOUNCE_TEST_PEOPLE subscribers say
 *    that they concern a domain, a message to another one there tests that: anybody can
 *    subscribe, and report what has arrived.  If it is returned for such a fault within
 *    BOUNCE_TEST_S, mail to the domain is paused, and returned digests are sent again.
 *    The same person gets the first message after the pause.
 *  - If BOUNCE_OUTAGE_PEOPLE subscribers and more than BOUNCE_OUTAGE_PERCENT of a
 *    domain bounce within BOUNCE_OUTAGE_S, the provider has a problem: nobody there is
 *    probed or suspended.
 *  - A complaint unsubscribes and suppresses the address.
 *
 * A suspended subscriber is restored by any authenticated message.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "model/subscriber.h"
#include "render/catalog.h"
#include "service/bounce/bounce_report.h"
#include "service/delivery/system_mail.h"
#include "store/core/store.h"

/* Number of days with a dead bounce before a probe, and before a suspension. */
#define BOUNCE_DEAD_DAYS 2

/* Time without a digest before a probe is sent after one dead bounce, s: with rare
 * digests BOUNCE_DEAD_DAYS would take weeks. */
#define BOUNCE_QUIET_S (2 * CLOCK_DAY_S)

/* Time for a probe to be returned, s; after it the evidence is cleared. */
#define BOUNCE_PROBE_S (5 * CLOCK_DAY_S)

/* Minimum duration of a run of bounces of any kind before a probe, s. */
#define BOUNCE_RUN_S (28 * CLOCK_DAY_S)

/* Maximum interval between two bounces of a run, s. */
#define BOUNCE_RUN_GAP_S (10 * CLOCK_DAY_S)

/* Minimum number of bounces in a run. */
#define BOUNCE_RUN_MIN 4

/* Maximum age of evidence that counts, s. */
#define BOUNCE_DECAY_S (45 * CLOCK_DAY_S)

/* Minimum number of subscribers of a domain with bounces in an outage. */
#define BOUNCE_OUTAGE_PEOPLE 10

/* Part of the subscribers of a domain that is exceeded in an outage, %. */
#define BOUNCE_OUTAGE_PERCENT 5

/* Period for which bounces are counted to find an outage, s. */
#define BOUNCE_OUTAGE_S (7 * CLOCK_DAY_S)

/* Minimum number of subscribers of a domain with reports of a fault that concerns the
 * domain, within a day, before a test message is sent. */
#define BOUNCE_TEST_PEOPLE 3

/* Time for a test message to be returned, s. */
#define BOUNCE_TEST_S (2 * CLOCK_HOUR_S)

/* Minimum time between a test message that was not returned and the next one, s: its
 * recipient has nothing to do with the reports. */
#define BOUNCE_TEST_GAP_S (6 * CLOCK_HOUR_S)

/* Minimum duration of a pause of the mail to a domain, s. */
#define BOUNCE_PAUSE_S CLOCK_HOUR_S

/* Maximum duration, s: pauses become longer while tests are returned. */
#define BOUNCE_PAUSE_MAX_S (12 * CLOCK_HOUR_S)

/* Maximum age of a digest that was returned for our fault and is sent again, s. */
#define BOUNCE_RETURN_S (5 * CLOCK_DAY_S)

/* Borrowed. */
struct bounce_context {
	struct system_mailer mailer; /* with store and time */
	GBytes *key;                 /* keys of the state directory */
	const struct catalog *catalog;
};

/* The message that was returned. */
struct bounce_subject {
	int64_t subscriber_id;
	int64_t digest_id; /* or 0 */
	int64_t outbox_id; /* of system mail, or 0 */
	int64_t at;        /* of the bounce, s; 0: now */
};

enum bounce_effect {
	BOUNCE_EFFECT_NONE,
	BOUNCE_EFFECT_RECORDED,
	BOUNCE_EFFECT_QUEUED, /* there is mail to send: the mailer has to run */
	BOUNCE_EFFECT_UNSUBSCRIBED,
};

/**
 * Record a report that the recipient's server or a feedback loop has sent, in the
 * caller's transaction.
 *
 * @param effect  set
 */
bool bounce_record(const struct bounce_context *context,
    const struct bounce_subject *subject, const struct bounce_report *report,
    enum bounce_effect *effect, GError **error);

struct bounce_run_report {
	unsigned classified; /* failed messages */
	unsigned probes;
	unsigned suspended;
	unsigned cleared; /* subscribers whose probe did not bounce: evidence deleted */
};

/**
 * Classify messages that failed, and decide about all who have evidence.  Each decision
 * is one commit.
 */
bool bounce_run(const struct bounce_context *context, struct bounce_run_report *report,
    GError **error);

enum bounce_decision {
	BOUNCE_WAIT,
	BOUNCE_PROBE,
	BOUNCE_SUSPEND,
	BOUNCE_CLEAR,
};

struct bounce_domain;
struct bounce_row;
struct bounce_probe;

/**
 * Decide about a subscriber.
 *
 * @param rows        scored rows, oldest first: of struct bounce_row *
 * @param probe       or NULL
 * @param last_built  time of the last digest, s, or -1
 */
enum bounce_decision bounce_decide(const GPtrArray *rows,
    const struct bounce_probe *probe, int64_t last_built, int64_t now);

/** Whether the provider of a domain, not its addresses, has a problem. */
bool bounce_is_outage(const struct bounce_domain *counts);

/**
 * Restore a suspended subscriber who has proved to read mail, in the caller's
 * transaction.  Others are not changed.
 */
bool bounce_restore(struct store *store, struct subscriber *subscriber, const char *who,
    int64_t now, GError **error);

/* ---- what operators see and clear ---- */

/**
 * Describe what follows from the evidence of a subscriber if no further message is
 * returned: one sentence.
 *
 * @return a new string; NULL with an error of the store
 */
char *bounce_admin_explain(struct store *store, const struct subscriber *subscriber,
    int64_t now, GError **error);

/**
 * Clear the evidence and the probe of a subscriber who has not left, and restore one
 * who is suspended: one commit.
 *
 * @param is_restored  set
 * @return the subscriber; NULL with PB_ERROR_NOT_FOUND
 */
struct subscriber *bounce_admin_forget(struct store *store, const char *address,
    const char *who, int64_t now, bool *is_restored, GError **error);
