/*
 * post_record.c - what a delivery comes to: for its row, the log, the relay.
 */
#include <string.h>

#include "net/stream.h"
#include "service/event.h"
#include "service/post_private.h"
#include "transport/backoff.h"

struct outbox_result *
post_add_result(struct post *post, const struct outbox_job *job, enum outbox_end end,
    int64_t next_try_at, const struct delivery *delivery, const char *reply)
{
	struct outbox_result *result = g_new0(struct outbox_result, 1);

	result->id = job->id;
	result->end = end;
	result->next_try_at = next_try_at;
	result->was_unknown = job->was_unknown;
	result->octets = job->octets;
	result->copies = job->copies;
	result->crashes = job->crashes;
	result->code = delivery && delivery->code ? delivery->code : -1;
	result->reply = g_strdup(delivery ? delivery->text : reply);
	g_ptr_array_add(post->results, result);
	return result;
}

/* How long a message is worth trying, s. */
static int64_t
get_age(const struct post *post, enum outbox_kind kind)
{
	switch (kind) {
	case OUTBOX_DIGEST:
		return post->options.give_up_s;
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
next_try(const struct post *post, const struct outbox_job *job, unsigned attempts,
    int64_t now)
{
	const struct backoff_case attempt = {
	    .queued_at = job->queued_at,
	    .now = now,
	    .attempts = attempts,
	    .id = (uint64_t)job->id,
	    .give_up_s = get_age(post, job->kind),
	};
	int64_t next;

	return backoff_next(&attempt, &next, NULL) ? next : -1;
}

/* Nobody waits for the relay any more: a silence may be ours. */
static bool
is_hurried(const struct post *post)
{
	const int *stop_fd = post->options.stop_fd;

	return stop_fd && stream_is_stopped(*stop_fd);
}

/* What a delivery comes to: a line of the log, and when it is tried again, or -1. */
struct verdict {
	enum event_kind kind;
	int64_t next;
	unsigned copies; /* that may have arrived, by now */
};

static struct verdict
record_deferred(
    struct post *post, const struct task *task, int64_t now, struct post_report *report)
{
	const struct outbox_job *job = task->job;
	/* What was sent up to its dot has been tried, whoever is to blame. */
	bool is_tried = task->parcel.result.scope == DELIVERY_SCOPE_MESSAGE ||
	                task->parcel.result.stage >= SMTP_STAGE_DATA;
	/* What we broke off ourselves is not given up for that. */
	int64_t next = !is_tried && is_hurried(post)
	                   ? now
	                   : next_try(post, job, job->attempt, now);
	struct verdict verdict = {
	    EVENT_DELIVERY_DEFERRED, is_tried ? next : -1, job->copies};
	enum outbox_end end = is_tried ? OUTBOX_DEFERRED : OUTBOX_RETURNED;

	if (next < 0) {
		/* An earlier copy may have arrived: then its papers count as read. */
		end = job->was_unknown ? OUTBOX_UNKNOWN : OUTBOX_FAILED;
		report->failed++;
		verdict.kind = EVENT_DELIVERY_GIVEN_UP;
	} else {
		report->deferred++;
		if (is_tried && job->was_unknown)
			end = OUTBOX_UNKNOWN;
		if (end == OUTBOX_RETURNED)
			next = now;
	}
	post_add_result(post, job, end, next, &task->parcel.result, NULL);
	return verdict;
}

static struct verdict
record_unknown(
    struct post *post, const struct task *task, int64_t now, struct post_report *report)
{
	const struct outbox_job *job = task->job;
	unsigned copies = job->copies + 1;
	int64_t next =
	    copies < OUTBOX_COPIES_MAX ? next_try(post, job, copies, now) : -1;

	report->unknown++;
	post_add_result(post, job, OUTBOX_UNKNOWN, next, &task->parcel.result, NULL)
	    ->copies = copies;
	return (struct verdict){
	    next < 0 ? EVENT_DELIVERY_GIVEN_UP : EVENT_DELIVERY_UNKNOWN, next, copies};
}

void
post_record_lost(struct post *post, const struct outbox_job *job, bool is_crash)
{
	struct outbox_result *result =
	    post_add_result(post, job, OUTBOX_UNKNOWN, -1, NULL, NULL);
	int64_t now = clock_get_now(post->options.clock);
	/* However old it is: it was not the relay that put it off. */
	struct backoff_case attempt = {.queued_at = now,
	    .now = now,
	    .attempts = ++result->copies,
	    .id = (uint64_t)job->id,
	    .give_up_s = CLOCK_DAY_S};
	enum event_kind kind;

	result->crashes += is_crash;
	if (is_crash && result->crashes >= OUTBOX_CRASHES_HELD) {
		result->end = OUTBOX_HELD;
		kind = EVENT_DELIVERY_HELD;
	} else if (result->copies >= OUTBOX_COPIES_MAX) {
		kind = EVENT_DELIVERY_GIVEN_UP;
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
is_shut_out(
    struct post *post, const struct outbox_job *job, const struct delivery *delivery)
{
	const char *at = strrchr(job->recipient, '@');
	const char *domain = at ? at + 1 : "";

	if (!delivery->is_policy) {
		if (delivery->scope == DELIVERY_SCOPE_MESSAGE)
			post->policies = 0;
		return false;
	}
	if (post->policies++ == 0) {
		g_free(post->policy_domain);
		post->policy_domain = g_ascii_strdown(domain, -1);
	} else if (post->policy_domain &&
	           g_ascii_strcasecmp(post->policy_domain, domain) != 0) {
		g_clear_pointer(&post->policy_domain, g_free);
	}
	return post->policies >= BREAKER_FAILURES && !post->policy_domain;
}

/* One line when a domain is left alone. */
static void
report_domain(struct post *post, const struct outbox_job *job,
    const struct delivery *delivery, int64_t now)
{
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);
	int64_t pause_s;
	const char *domain =
	    domains_report(post->domains, job->recipient, delivery, now, &pause_s);

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
report_relay(struct post *post, const struct outbox_job *job,
    const struct delivery *delivery, int64_t now)
{
	enum breaker_state before = post->breaker.state;
	bool was_login = post->breaker.is_login;
	const struct breaker *breaker = &post->breaker;
	struct delivery seen = *delivery;
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);

	if (delivery->code && delivery->stage >= SMTP_STAGE_MAIL)
		seen.text = g_strchomp(code);
	if (is_shut_out(post, job, delivery))
		seen.scope = DELIVERY_SCOPE_RELAY;
	breaker_report(&post->breaker, &seen, now);
	if (seen.scope == DELIVERY_SCOPE_MESSAGE)
		post->is_proven = true;
	if (post->is_failure_logged && breaker->state == BREAKER_CLOSED &&
	    is_answer(&seen)) {
		post->is_failure_logged = false;
		event_log(EVENT_RELAY_WELL);
	}
	if (breaker->state != BREAKER_OPEN ||
	    (before == BREAKER_OPEN && was_login == breaker->is_login))
		return;
	post->is_proven = false;
	post->is_failure_logged = true;
	event_log(breaker->is_login ? EVENT_RELAY_LOGIN : EVENT_RELAY_FAILS,
	    EVENT_SECONDS("next_in", breaker->wait_s), EVENT_TEXT(breaker->text));
}

static void
log_delivery(const struct task *task, const struct verdict *verdict, int64_t now)
{
	const struct delivery *delivery = &task->parcel.result;
	bool is_sent = delivery->outcome == DELIVERY_SENT;

	event_log(verdict->kind, EVENT_INT("outbox", task->job->id),
	    EVENT_INT("attempt", task->job->attempt),
	    EVENT_INT("copies", verdict->copies ? (int64_t)verdict->copies : -1),
	    EVENT_WORD(
	        "scope", is_sent ? NULL : delivery_scope_get_name(delivery->scope)),
	    EVENT_WORD("stage", is_sent ? NULL : smtp_stage_get_name(delivery->stage)),
	    EVENT_INT("code", delivery->code), EVENT_WORD("status", delivery->enhanced),
	    EVENT_SECONDS("next_in", verdict->next < 0 ? -1 : verdict->next - now));
	event_log(EVENT_DELIVERY_ANSWER, EVENT_INT("outbox", task->job->id),
	    EVENT_WORD("recipient", task->job->recipient), EVENT_TEXT(delivery->text));
}

void
post_record(struct post *post, const struct task *task, struct post_report *report)
{
	const struct delivery *delivery = &task->parcel.result;
	const struct outbox_job *job = task->job;
	int64_t now = clock_get_now(post->options.clock);
	struct verdict verdict = {EVENT_DELIVERY_SENT, -1, job->copies};

	switch (delivery->outcome) {
	case DELIVERY_SENT:
		report->sent++;
		post_add_result(post, job, OUTBOX_SENT, -1, delivery, NULL);
		break;
	case DELIVERY_DEFERRED:
		verdict = record_deferred(post, task, now, report);
		break;
	case DELIVERY_FAILED:
		report->failed++;
		verdict.kind = EVENT_DELIVERY_FAILED;
		post_add_result(post, job,
		    delivery->stage >= SMTP_STAGE_DATA ? OUTBOX_REFUSED : OUTBOX_FAILED,
		    -1, delivery, NULL);
		break;
	case DELIVERY_UNKNOWN:
		verdict = record_unknown(post, task, now, report);
		break;
	}
	/* A trial that failed has one line, the relay's: its message was not tried. */
	if (post->breaker.state != BREAKER_TRIAL ||
	    delivery->scope == DELIVERY_SCOPE_MESSAGE ||
	    delivery->stage >= SMTP_STAGE_DATA)
		log_delivery(task, &verdict, now);
	report_domain(post, job, delivery, now);
	report_relay(post, job, delivery, now);
}
