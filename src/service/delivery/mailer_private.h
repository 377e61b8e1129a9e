/*
 * mailer_private.h - what the files of the post share.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_MAILER_PRIVATE_H
#define PAPERBOY_SERVICE_DELIVERY_MAILER_PRIVATE_H

#include "base/token.h"
#include "service/delivery/connection_pool.h"
#include "service/delivery/domain_throttle.h"
#include "service/delivery/mailer.h"
#include "service/state/generation.h"
#include "store/mail/outbox.h"
#include "store/paper/paper_cache.h"
#include "transport/breaker.h"
#include "transport/token_bucket.h"

struct mailer {
	struct mailer_options options;
	struct connection_pool *senders;
	struct paper_cache *paper_cache; /* the papers that digests are composed of */
	struct token_signer *tokens;
	struct heartbeat *heartbeat; /* of the thread that runs it, or NULL */
	struct breaker breaker;
	GQueue claimed;     /* of struct outbox_job *: claimed, not handed out */
	GPtrArray *results; /* of struct outbox_result *: not committed yet */
	unsigned in_flight;
	struct token_bucket per_second, per_hour;
	struct domain_throttle *domains;
	unsigned policies;   /* refusals by policy (5.7.x) in a row */
	char *policy_domain; /* the domain of all of them; NULL: of several */
	bool is_proven; /* the relay has answered for a message since it last failed */
	struct generation *generation; /* NULL without a state directory */
	bool is_failure_logged;        /* and its end is not */
	bool is_unsettled; /* the store failed: rows may be SENDING that nobody sends */
	bool is_alone;     /* what is in flight is one message that is sent alone */
	bool is_more;      /* more messages are due than the last claim looked at */
};

/**
 * Note what became of a job.
 *
 * @param delivery  or NULL, then
 * @param reply     or NULL
 * @return the result, to be changed by the caller
 */
struct outbox_result *mailer_add_result(struct mailer *mailer,
    const struct outbox_job *job, enum outbox_status end, int64_t next_try_at,
    const struct delivery *delivery, const char *reply);

/** Judge what a sender brings back: result, log, breaker and domain. */
void mailer_record(struct mailer *mailer, const struct delivery_task *delivery_task,
    struct mailer_report *report);

/**
 * Decide about a message that was in flight when the daemon was killed, or whose result
 * the store has refused.
 */
void
mailer_record_lost(struct mailer *mailer, const struct outbox_job *job, bool is_crash);

/** A claim has ended for nobody wants it any more: count and log it. */
void mailer_count_cancelled(const struct outbox_job *job, struct mailer_report *report);

/** Ask the limits of a domain (struct outbox_claim). @param data  the post */
bool mailer_allow_domain(void *data, const char *recipient, int64_t *next_at);

/**
 * Compose the next message that was claimed, if it may go now, and hand it to the
 * senders.
 *
 * @return false when the store fails; then it is the next one still
 */
bool
mailer_start_due(struct mailer *mailer, struct mailer_report *report, GError **error);

#endif
