/*
 * mailer_record.c - what a delivery comes to: for its row, the log, the relay.
 */
#include <string.h>

#include "net/stream.h"
#include "service/delivery/mailer_private.h"
#include "service/log/event.h"
#include "transport/backoff.h"

struct outbox_result *
mailer_add_result(struct mailer *mailer, const struct outbox_job *job,
    enum outbox_status end, int64_t next_try_at, const struct delivery *delivery,
    const char *reply)
{
	struct outbox_result *result = g_new0(struct outbox_result, 1);

	result->id = job->id;
	result->end = end;
	result->next_try_at = next_try_at;
	result->was_unknown = job->was_unknown;
	result->message_hash = job->message_hash;
	result->copies = job->copies;
	result->crashes = job->crashes;
	result->code = delivery && delivery->code ? delivery->code : -1;
	result->reply = g_strdup(delivery ? delivery->text : reply);
	g_ptr_array_add(mailer->results, result);
	return result;
}

/* How long a message is worth trying, s. */
static int64_t
get_age(const struct mailer *mailer, enum outbox_kind kind)
{
	switch (kind) {
	case OUTBOX_DIGEST:
		return mailer->options.expire_s;
	case OUTBOX_CONFIRMATION:
		return BACKOFF_AGE_CONFIRMATION_S;
	case OUTBOX_ANSWER:
	case OUTBOX_NOTICE:
		return BACKOFF_AGE_ANSWER_S;
	}
	g_assert_not_reached();
}

/*
 * When to try a message again; -1 when it has been tried long enough.
 *
 * @param attempts  of the kind that the wait grows with
 */
static int64_t
next_try(const struct mailer *mailer, const struct outbox_job *job, unsigned attempts,
    int64_t now)
{
	const struct backoff_policy attempt = {
	    .queued_at = job->queued_at,
	    .now = now,
	    .attempts = attempts,
	    .id = (uint64_t)job->id,
	    .expire_s = get_age(mailer, job->kind),
	};
	int64_t next;

	return backoff_next(&attempt, &next, NULL) ? next : -1;
}

/* Nobody waits for the relay any more: a silence may be ours. */
static bool
is_hurried(const struct mailer *mailer)
{
	const int *stop_fd = mailer->options.stop_fd;

	return stop_fd && stream_is_stopped(*stop_fd);
}

/* What a delivery comes to: a line of the log, and when it is tried again, or -1. */
struct verdict {
	enum event_kind kind;
	int64_t next;
	unsigned copies; /* that may have arrived, by now */
};

static struct verdict
record_deferred(struct mailer *mailer, const struct delivery_task *delivery_task,
    int64_t now, struct mailer_report *report)
{
	const struct outbox_job *job = delivery_task->job;
	/* What was sent up to its dot has been tried, whoever is to blame. */
	bool is_tried =
	    delivery_task->delivery_job.result.scope == DELIVERY_SCOPE_MESSAGE ||
	    delivery_task->delivery_job.result.stage >= SMTP_STAGE_DATA;
	/* What we broke off ourselves is not given up for that. */
	int64_t next = !is_tried && is_hurried(mailer)
	                   ? now
	                   : next_try(mailer, job, job->attempt, now);
	struct verdict verdict = {
	    EVENT_DELIVERY_DEFERRED, is_tried ? next : -1, job->copies};
	enum outbox_status end = is_tried ? OUTBOX_DEFERRED : OUTBOX_RETURNED;

	if (next < 0) {
		/* An earlier copy may have arrived: then its papers count as read. */
		end = job->was_unknown ? OUTBOX_UNKNOWN : OUTBOX_FAILED;
		report->failed++;
		verdict.kind = EVENT_DELIVERY_EXPIRED;
	} else {
		report->deferred++;
		if (is_tried && job->was_unknown)
			end = OUTBOX_UNKNOWN;
		if (end == OUTBOX_RETURNED)
			next = now;
	}
	mailer_add_result(
	    mailer, job, end, next, &delivery_task->delivery_job.result, NULL);
	return verdict;
}

static struct verdict
record_unknown(struct mailer *mailer, const struct delivery_task *delivery_task,
    int64_t now, struct mailer_report *report)
{
	const struct outbox_job *job = delivery_task->job;
	unsigned copies = job->copies + 1;
	int64_t next =
	    copies < OUTBOX_COPIES_MAX ? next_try(mailer, job, copies, now) : -1;

	report->unknown++;
	mailer_add_result(mailer, job, OUTBOX_UNKNOWN, next,
	    &delivery_task->delivery_job.result, NULL)
	    ->copies = copies;
	return (struct verdict){
	    next < 0 ? EVENT_DELIVERY_EXPIRED : EVENT_DELIVERY_UNKNOWN, next, copies};
}

void
mailer_record_lost(struct mailer *mailer, const struct outbox_job *job, bool is_crash)
{
	struct outbox_result *result =
	    mailer_add_result(mailer, job, OUTBOX_UNKNOWN, -1, NULL, NULL);
	int64_t now = clock_get_now(mailer->options.clock);
	/* However old it is: it was not the relay that put it off. */
	struct backoff_policy attempt = {.queued_at = now,
	    .now = now,
	    .attempts = ++result->copies,
	    .id = (uint64_t)job->id,
	    .expire_s = CLOCK_DAY_S};
	enum event_kind kind;

	result->crashes += is_crash;
	if (is_crash && result->crashes >= OUTBOX_CRASHES_HELD) {
		result->end = OUTBOX_HELD;
		kind = EVENT_DELIVERY_HELD;
	} else if (result->copies >= OUTBOX_COPIES_MAX) {
		kind = EVENT_DELIVERY_EXPIRED;
	} else {
		backoff_next(&attempt, &result->next_try_at, NULL);
		return;
	}
	event_log(kind, EVENT_INT("outbox", job->id),
	    EVENT_INT("attempt", job->attempt), EVENT_INT("copies", result->copies),
	    EVENT_INT("crashes", result->crashes));
}

/*
 * A policy that refuses one message after the other is not about any of them; and
 * where they are for several domains it is the relay's.
 */
static bool
is_shut_out(struct mailer *mailer, const struct outbox_job *job,
    const struct delivery *delivery)
{
	const char *at = strrchr(job->recipient, '@');
	const char *domain = at ? at + 1 : "";

	if (!delivery->is_policy) {
		if (delivery->scope == DELIVERY_SCOPE_MESSAGE)
			mailer->policies = 0;
		return false;
	}
	if (mailer->policies++ == 0) {
		g_free(mailer->policy_domain);
		mailer->policy_domain = g_ascii_strdown(domain, -1);
	} else if (mailer->policy_domain &&
	           g_ascii_strcasecmp(mailer->policy_domain, domain) != 0) {
		g_clear_pointer(&mailer->policy_domain, g_free);
	}
	return mailer->policies >= BREAKER_FAILURES && !mailer->policy_domain;
}

/* One line when a domain is left alone. */
static void
report_domain(struct mailer *mailer, const struct outbox_job *job,
    const struct delivery *delivery, int64_t now)
{
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);
	int64_t pause_s;
	const char *domain = domain_throttle_report(
	    mailer->domains, job->recipient, delivery, now, &pause_s);

	if (domain)
		event_log(EVENT_DOMAIN_PAUSED, EVENT_WORD("domain", domain),
		    EVENT_SECONDS("next_in", pause_s), EVENT_TEXT(g_strchomp(code)));
}

/* Whether the relay has said something about the message itself. */
static bool
is_answer(const struct delivery *delivery)
{
	return delivery->scope == DELIVERY_SCOPE_MESSAGE &&
	       (delivery->outcome == DELIVERY_SENT ||
	           delivery->stage != SMTP_STAGE_NONE);
}

/*
 * One line when the relay stops working and one when it works again.  Who has been
 * told of a reader may name him, in any shape: of such an answer only the code goes
 * into log and status, the rest stays in the queue.
 */
static void
report_relay(struct mailer *mailer, const struct outbox_job *job,
    const struct delivery *delivery, int64_t now)
{
	enum breaker_state before = mailer->breaker.state;
	bool was_login = mailer->breaker.is_login;
	const struct breaker *breaker = &mailer->breaker;
	struct delivery seen = *delivery;
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);

	if (delivery->code && delivery->stage >= SMTP_STAGE_MAIL)
		seen.text = g_strchomp(code);
	if (is_shut_out(mailer, job, delivery))
		seen.scope = DELIVERY_SCOPE_RELAY;
	breaker_report(&mailer->breaker, &seen, now);
	if (seen.scope == DELIVERY_SCOPE_MESSAGE)
		mailer->is_proven = true;
	if (mailer->is_failure_logged && breaker->state == BREAKER_CLOSED &&
	    is_answer(&seen)) {
		mailer->is_failure_logged = false;
		event_log(EVENT_RELAY_RECOVERED);
	}
	if (breaker->state != BREAKER_OPEN ||
	    (before == BREAKER_OPEN && was_login == breaker->is_login))
		return;
	mailer->is_proven = false;
	mailer->is_failure_logged = true;
	event_log(breaker->is_login ? EVENT_RELAY_AUTH_FAILED : EVENT_RELAY_FAILED,
	    EVENT_SECONDS("next_in", breaker->wait_s), EVENT_TEXT(breaker->text));
}

static void
log_delivery(const struct delivery_task *delivery_task, const struct verdict *verdict,
    int64_t now)
{
	const struct delivery *delivery = &delivery_task->delivery_job.result;
	bool is_sent = delivery->outcome == DELIVERY_SENT;

	event_log(verdict->kind, EVENT_INT("outbox", delivery_task->job->id),
	    EVENT_INT("attempt", delivery_task->job->attempt),
	    EVENT_INT("copies", verdict->copies ? (int64_t)verdict->copies : -1),
	    EVENT_WORD(
	        "scope", is_sent ? NULL : delivery_scope_get_name(delivery->scope)),
	    EVENT_WORD("stage", is_sent ? NULL : smtp_stage_get_name(delivery->stage)),
	    EVENT_INT("code", delivery->code), EVENT_WORD("status", delivery->enhanced),
	    EVENT_SECONDS("next_in", verdict->next < 0 ? -1 : verdict->next - now));
	event_log(EVENT_DELIVERY_REPLY, EVENT_INT("outbox", delivery_task->job->id),
	    EVENT_WORD("recipient", delivery_task->job->recipient),
	    EVENT_TEXT(delivery->text));
}

void
mailer_record(struct mailer *mailer, const struct delivery_task *delivery_task,
    struct mailer_report *report)
{
	const struct delivery *delivery = &delivery_task->delivery_job.result;
	const struct outbox_job *job = delivery_task->job;
	int64_t now = clock_get_now(mailer->options.clock);
	struct verdict verdict = {EVENT_DELIVERY_SENT, -1, job->copies};

	switch (delivery->outcome) {
	case DELIVERY_SENT:
		report->sent++;
		mailer_add_result(mailer, job, OUTBOX_SENT, -1, delivery, NULL);
		break;
	case DELIVERY_DEFERRED:
		verdict = record_deferred(mailer, delivery_task, now, report);
		break;
	case DELIVERY_FAILED:
		report->failed++;
		verdict.kind = EVENT_DELIVERY_FAILED;
		mailer_add_result(mailer, job,
		    delivery->stage >= SMTP_STAGE_DATA ? OUTBOX_REJECTED
		                                       : OUTBOX_FAILED,
		    -1, delivery, NULL);
		break;
	case DELIVERY_UNKNOWN:
		verdict = record_unknown(mailer, delivery_task, now, report);
		break;
	}
	/* A trial that failed has one line, the relay's: its message was not tried. */
	if (mailer->breaker.state != BREAKER_TRIAL ||
	    delivery->scope == DELIVERY_SCOPE_MESSAGE ||
	    delivery->stage >= SMTP_STAGE_DATA)
		log_delivery(delivery_task, &verdict, now);
	report_domain(mailer, job, delivery, now);
	report_relay(mailer, job, delivery, now);
}
