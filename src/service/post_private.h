/*
 * post_private.h - what the files of the post share.
 */
#ifndef PAPERBOY_SERVICE_POST_PRIVATE_H
#define PAPERBOY_SERVICE_POST_PRIVATE_H

#include "base/token.h"
#include "service/domains.h"
#include "service/generation.h"
#include "service/post.h"
#include "service/senders.h"
#include "store/outbox.h"
#include "store/shelf.h"
#include "transport/breaker.h"
#include "transport/pace.h"

struct post {
	struct post_options options;
	struct senders *senders;
	struct shelf *shelf; /* the papers that digests are composed of */
	struct token_maker *tokens;
	struct pulse *pulse; /* of the thread that runs it, or NULL */
	struct breaker breaker;
	GQueue claimed;     /* of struct outbox_job *: claimed, not handed out */
	GPtrArray *results; /* of struct outbox_result *: not committed yet */
	unsigned in_flight;
	struct pace per_second, per_hour;
	struct domains *domains;
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
struct outbox_result *
post_add_result(struct post *post, const struct outbox_job *job, enum outbox_end end,
    int64_t next_try_at, const struct delivery *delivery, const char *reply);

/** Judge what a sender brings back: result, log, breaker and domain. */
void
post_record(struct post *post, const struct task *task, struct post_report *report);

/**
 * Decide about a message that was in flight when the daemon was killed, or whose result
 * the store has refused.
 */
void post_record_lost(struct post *post, const struct outbox_job *job, bool is_crash);

/** A claim has ended for nobody wants it any more: count and log it. */
void post_count_cancelled(const struct outbox_job *job, struct post_report *report);

/** Ask the limits of a domain (struct outbox_claim). @param data  the post */
bool post_allow_domain(void *data, const char *recipient, int64_t *next_at);

/**
 * Compose the next message that was claimed, if it may go now, and hand it to the
 * senders.
 *
 * @return false when the store fails; then it is the next one still
 */
bool post_hand_out(struct post *post, struct post_report *report, GError **error);

#endif
