/*
 * bounce.c - act on bounces and complaints.
 */
#include "service/bounce/bounce.h"

#include <string.h>

#include "base/error.h"
#include "service/log/event.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
#include "store/mail/bounces.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

/* Subscribers per batch, and failures per commit. */
#define BATCH_ROWS 500

/* ---- decisions ---- */

static int64_t
get_day(int64_t at)
{
	return at / CLOCK_DAY_S;
}

static bool
is_dead(const struct bounce_row *row)
{
	return strcmp(row->class, "dead") == 0;
}

/*
 * Count the different days before `before_day` that have a row of class "dead".
 *
 * @param last_day  set to the last of them, or -1
 */
static unsigned
count_dead_days(const GPtrArray *rows, int64_t before_day, int64_t *last_day)
{
	unsigned count = 0;

	*last_day = -1;
	for (guint i = 0; i < rows->len; i++) {
		const struct bounce_row *row = rows->pdata[i];

		if (!is_dead(row) || get_day(row->at) >= before_day)
			continue;
		count += get_day(row->at) != *last_day;
		*last_day = get_day(row->at);
	}
	return count;
}

/* Whether mail has been returned for weeks without a longer gap, until recently. */
static bool
is_long_run(const GPtrArray *rows, int64_t now)
{
	int64_t next = now, first = now;
	unsigned count = 0;

	for (guint i = rows->len; i > 0; i--) {
		const struct bounce_row *row = rows->pdata[i - 1];

		if (next - row->at > BOUNCE_RUN_GAP_S)
			break;
		first = next = row->at;
		count++;
	}
	return count >= BOUNCE_RUN_MIN && now - first >= BOUNCE_RUN_S;
}

/*
 * The row of the probe, or of another message that was returned on a day after it: as
 * dead, or after weeks for any reason, since a full mailbox may accept a short message.
 */
static const struct bounce_row *
find_answer(
    const GPtrArray *rows, const struct bounce_probe *probe, bool is_after_weeks)
{
	g_autofree char *name =
	    g_strdup_printf("mail-%" G_GINT64_FORMAT, probe->outbox_id);

	for (guint i = 0; i < rows->len; i++) {
		const struct bounce_row *row = rows->pdata[i];

		if (strcmp(row->message, name) == 0 ||
		    ((is_dead(row) || is_after_weeks) &&
		        get_day(row->at) > get_day(probe->sent_at)))
			return row;
	}
	return NULL;
}

static enum bounce_decision
decide_after_probe(const GPtrArray *rows, const struct bounce_probe *probe,
    int64_t last_built, int64_t now)
{
	const bool is_after_weeks = is_long_run(rows, probe->sent_at);
	const struct bounce_row *answer = find_answer(rows, probe, is_after_weeks);
	int64_t last_day;

	if (!answer)
		return now - probe->sent_at >
		               (is_after_weeks ? BOUNCE_RUN_GAP_S : BOUNCE_PROBE_S)
		           ? BOUNCE_CLEAR
		           : BOUNCE_WAIT;
	if (is_after_weeks ||
	    (is_dead(answer) && count_dead_days(rows, get_day(probe->sent_at),
	                            &last_day) >= BOUNCE_DEAD_DAYS))
		return BOUNCE_SUSPEND;
	if (!is_dead(answer)) /* the mailbox exists */
		return BOUNCE_CLEAR;
	/* An early probe was only the second message that died. */
	return get_day(now) > get_day(MAX(probe->sent_at, last_built)) ? BOUNCE_PROBE
	                                                               : BOUNCE_WAIT;
}

enum bounce_decision
bounce_decide(const GPtrArray *rows, const struct bounce_probe *probe,
    int64_t last_built, int64_t now)
{
	int64_t last_day;
	unsigned dead_days = count_dead_days(rows, G_MAXINT64, &last_day);

	if (last_built > now) /* the clock was set back */
		last_built = -1;
	if (probe && probe->sent_at <= now)
		return decide_after_probe(rows, probe, last_built, now);
	if (dead_days == 0)
		return is_long_run(rows, now) ? BOUNCE_PROBE : BOUNCE_WAIT;
	/* One message a day. */
	if (last_day >= get_day(now) ||
	    (last_built >= 0 && get_day(last_built) >= get_day(now)))
		return BOUNCE_WAIT;
	if (dead_days >= BOUNCE_DEAD_DAYS || is_long_run(rows, now))
		return BOUNCE_PROBE;
	last_built = MAX(last_built, last_day * CLOCK_DAY_S);
	return now - last_built >= BOUNCE_QUIET_S ? BOUNCE_PROBE : BOUNCE_WAIT;
}

bool
bounce_is_outage(const struct bounce_domain *counts)
{
	return counts->bounced >= BOUNCE_OUTAGE_PEOPLE &&
	       counts->bounced * 100 > counts->subscribers * BOUNCE_OUTAGE_PERCENT;
}

/*
 * Load the domains of which so many subscribers bounce that it is not about addresses.
 *
 * @return set of char *, in lower case
 */
static GHashTable *
load_outages(const struct bounce_context *context, GError **error)
{
	g_autoptr(GPtrArray) domains = bounces_load_domains(context->mailer.store,
	    context->mailer.now - BOUNCE_OUTAGE_S, BOUNCE_OUTAGE_PEOPLE, error);
	GHashTable *outages;

	if (!domains)
		return NULL;
	outages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < domains->len; i++) {
		const struct bounce_domain *domain = domains->pdata[i];

		if (bounce_is_outage(domain))
			g_hash_table_add(outages, g_strdup(domain->domain));
	}
	return outages;
}

static bool
is_outage(GHashTable *outages, const char *address)
{
	g_autofree char *domain = g_ascii_strdown(strrchr(address, '@') + 1, -1);

	return g_hash_table_contains(outages, domain);
}

/* ---- actions ---- */

static int64_t
get_time(const struct bounce_context *context, const struct bounce_subject *subject)
{
	return subject->at ? MIN(subject->at, context->mailer.now)
	                   : context->mailer.now;
}

/* No digest before a later day (UTC): at most one message a day to a suspect. */
static bool
postpone_digest(const struct bounce_context *context,
    const struct subscriber *subscriber, int64_t since, unsigned days, GError **error)
{
	int64_t next = (get_day(since) + days) * CLOCK_DAY_S;

	return subscriber->next_due_at < 0 || subscriber->next_due_at >= next ||
	       subscribers_postpone(context->mailer.store, subscriber->id, next, error);
}

/*
 * The longer an address is dead, the rarer are its digests: while an outage of the
 * provider forbids to suspend it, these are all it gets.
 */
static bool
space_digests(const struct bounce_context *context, const struct subscriber *subscriber,
    int64_t since, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    bounces_load_scored(context->mailer.store, subscriber->id,
	        context->mailer.now - BOUNCE_DECAY_S, context->mailer.now, error);
	int64_t last_day;
	unsigned dead_days;

	if (!rows)
		return false;
	dead_days = count_dead_days(rows, G_MAXINT64, &last_day);
	return postpone_digest(context, subscriber, since,
	    1U << CLAMP((int)dead_days - BOUNCE_DEAD_DAYS, 0, 4), error);
}

/* Phrases of a message that is sent to see whether it is returned. */
struct check_phrases {
	const char *subject, *body;
};
static const struct check_phrases probe_phrases = {N_("Does this address still work?"),
    N_("Mail from {service} to {address} was returned to us.\n\n"
       "This message checks whether the address works. If you can read it, there\n"
       "is nothing to do: your digests continue.")};
static const struct check_phrases test_phrases = {
    N_("Does mail from {service} reach you?"),
    N_("Mail from {service} to other people at your mail provider was returned\n"
       "to us. This message checks whether {address} gets our mail. If you can\n"
       "read it, there is nothing to do: your digests continue.")};

/* @param id  set */
static bool
send_check(const struct bounce_context *context, const struct subscriber *subscriber,
    const struct check_phrases *phrases, int64_t *id, GError **error)
{
	const struct system_mailer *mailer = &context->mailer;
	const char *language = *subscriber->language ? subscriber->language : "en";
	const char *service = mailer->own_addresses->domain;
	g_autofree char *subject = catalog_format(
	    context->catalog, language, phrases->subject, "service", service, NULL);
	g_autofree char *body = catalog_format(context->catalog, language,
	    phrases->body, "address", subscriber->address, "service", service, NULL);
	g_autofree char *text = g_strconcat(body, "\n", NULL);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .subscriber_id = subscriber->id,
	    .recipient = subscriber->address,
	    .sender = "",
	    .subject = subject,
	    .text = text,
	};

	return system_mail_send(mailer, &mail, id, error);
}

static bool
send_probe(const struct bounce_context *context, const struct subscriber *subscriber,
    GError **error)
{
	const struct system_mailer *mailer = &context->mailer;
	struct bounce_probe probe = {.sent_at = mailer->now};

	return send_check(
	           context, subscriber, &probe_phrases, &probe.outbox_id, error) &&
	       bounces_save_probe(mailer->store, subscriber->id, &probe, error) &&
	       postpone_digest(context, subscriber, mailer->now, 1, error);
}

static bool
suspend(
    const struct bounce_context *context, struct subscriber *subscriber, GError **error)
{
	struct store *store = context->mailer.store;
	int64_t now = context->mailer.now;

	subscriber->state = SUBSCRIBER_SUSPENDED;
	subscriber->next_due_at = -1;
	event_log_committed(
	    store, EVENT_SUBSCRIBER_SUSPENDED, EVENT_INT("subscriber", subscriber->id));
	return subscribers_update(store, subscriber, error) &&
	       outbox_cancel(store, subscriber->id, now, error) &&
	       audit_insert(store, now, "bounce", "subscriber suspended",
	           subscriber->id, NULL, error);
}

static bool
apply(const struct bounce_context *context, struct subscriber *subscriber,
    enum bounce_decision decision, struct bounce_run_report *report, GError **error)
{
	switch (decision) {
	case BOUNCE_PROBE:
		report->probes++;
		return send_probe(context, subscriber, error);
	case BOUNCE_SUSPEND:
		report->suspended++;
		return suspend(context, subscriber, error);
	case BOUNCE_CLEAR:
		report->cleared++;
		return bounces_reset(context->mailer.store, subscriber->id, error);
	case BOUNCE_WAIT:
		break;
	}
	return true;
}

/* Bounces and probe of a subscriber, for bounce_decide(). */
struct evidence {
	GPtrArray *rows; /* scored, of struct bounce_row * */
	struct bounce_probe *probe;
	int64_t last_built;
};

static void
evidence_clear(struct evidence *evidence)
{
	g_clear_pointer(&evidence->rows, g_ptr_array_unref);
	g_clear_pointer(&evidence->probe, g_free);
}

static bool
load_evidence(struct store *store, int64_t subscriber_id, int64_t now,
    struct evidence *evidence, GError **error)
{
	evidence->rows =
	    bounces_load_scored(store, subscriber_id, now - BOUNCE_DECAY_S, now, error);
	return evidence->rows &&
	       bounces_find_probe(store, subscriber_id, &evidence->probe, error) &&
	       digests_load_last_built(
	           store, subscriber_id, &evidence->last_built, error);
}

/* Load what is known about a subscriber, and decide. @param subscriber  set */
static bool
decide(const struct bounce_context *context, GHashTable *outages, int64_t subscriber_id,
    struct subscriber **subscriber, enum bounce_decision *decision, GError **error)
{
	struct store *store = context->mailer.store;
	int64_t now = context->mailer.now;
	pb_local(evidence) evidence = {0};

	if (!load_evidence(store, subscriber_id, now, &evidence, error) ||
	    !subscribers_find_id(store, subscriber_id, subscriber, error))
		return false;
	*decision = BOUNCE_WAIT;
	if (!*subscriber || (*subscriber)->state != SUBSCRIBER_ACTIVE)
		return true;
	*decision =
	    bounce_decide(evidence.rows, evidence.probe, evidence.last_built, now);
	if (*decision != BOUNCE_CLEAR && is_outage(outages, (*subscriber)->address))
		*decision = BOUNCE_WAIT;
	return true;
}

/* A subscriber with evidence. */
struct suspect {
	const struct bounce_context *context;
	GHashTable *outages;
	int64_t id;
	struct bounce_run_report before, report;
};

static bool
decide_and_apply(struct store *store, void *data, GError **error)
{
	struct suspect *suspect = data;
	pb_auto(subscriber) subscriber = NULL;
	enum bounce_decision decision;

	(void)store;
	suspect->report = suspect->before;
	return decide(suspect->context, suspect->outages, suspect->id, &subscriber,
	           &decision, error) &&
	       apply(suspect->context, subscriber, decision, &suspect->report, error);
}

/* Decide, and again in a transaction unless the decision is to wait, as most are. */
static bool
decide_one(const struct bounce_context *context, GHashTable *outages,
    int64_t subscriber_id, struct bounce_run_report *report, GError **error)
{
	struct suspect suspect = {context, outages, subscriber_id, *report, *report};
	pb_auto(subscriber) seen = NULL;
	enum bounce_decision decision;

	if (!decide(context, outages, subscriber_id, &seen, &decision, error))
		return false;
	if (decision != BOUNCE_WAIT &&
	    !store_transact(context->mailer.store, decide_and_apply, &suspect, error))
		return false;
	*report = suspect.report;
	return true;
}

/* ---- evidence ---- */

static bool is_scored(enum bounce_class class)
{
	return class == BOUNCE_DEAD || class == BOUNCE_FULL ||
	       class == BOUNCE_TEMPORARY;
}

/* @return owned by the caller */
static char *
format_message(const struct bounce_subject *subject)
{
	if (subject->digest_id)
		return g_strdup_printf("digest-%" G_GINT64_FORMAT, subject->digest_id);
	if (subject->outbox_id)
		return g_strdup_printf("mail-%" G_GINT64_FORMAT, subject->outbox_id);
	return g_strdup("complaint"); /* by the token to unsubscribe */
}

static bool
save_evidence(const struct bounce_context *context,
    const struct bounce_subject *subject, const struct subscriber *subscriber,
    const struct bounce_report *report, bool *is_new, GError **error)
{
	g_autofree char *message = format_message(subject);
	const struct bounce_row row = {
	    .subscriber_id = subject->subscriber_id,
	    .message = message,
	    .at = get_time(context, subject),
	    .class = bounce_class_get_name(report->verdict.class),
	    .is_scored = is_scored(report->verdict.class),
	    .is_domain_fault = report->verdict.fault == BOUNCE_FAULT_DOMAIN,
	    .rule = report->verdict.rule,
	    .status = report->status,
	    .code = report->code ? report->code : -1,
	    .agent = report->agent,
	    .line = report->line,
	};

	if (!bounces_save(context->mailer.store, &row, is_new, error))
		return false;
	if (*is_new)
		event_log_committed(context->mailer.store, EVENT_BOUNCE_RECORDED,
		    EVENT_INT("subscriber", subscriber->id),
		    EVENT_WORD("domain", strrchr(subscriber->address, '@') + 1),
		    EVENT_WORD("message", message), EVENT_WORD("class", row.class),
		    EVENT_WORD("rule", row.rule), EVENT_WORD("status", row.status),
		    EVENT_INT("code", row.code));
	return true;
}

/* ---- domains that refuse our mail ---- */

/* A domain, and the last message that tested it. */
struct tested_domain {
	char *name;   /* lower case */
	char *cursor; /* name of the number of that message in the table cursor */
	struct domain_pause *pause; /* the last one, or NULL */
	int64_t test_id;            /* 0: none */
	int64_t tested_at;          /* when it was sent, or else queued */
};

static void
tested_domain_clear(struct tested_domain *domain)
{
	g_clear_pointer(&domain->name, g_free);
	g_clear_pointer(&domain->cursor, g_free);
	g_clear_pointer(&domain->pause, g_free);
}

/* @param domain  set; tested_domain_clear() it */
static bool
load_domain(const struct bounce_context *context, const struct subscriber *subscriber,
    struct tested_domain *domain, GError **error)
{
	struct store *store = context->mailer.store;
	g_autofree struct outbox_message *mail = NULL;
	g_autoptr(GError) problem = NULL;

	*domain = (struct tested_domain){
	    .name = g_ascii_strdown(strrchr(subscriber->address, '@') + 1, -1)};
	domain->cursor = g_strconcat("domain test ", domain->name, NULL);
	if (!domain_pauses_find(store, domain->name, &domain->pause, error) ||
	    !store_load_cursor(store, domain->cursor, 0, &domain->test_id, error))
		return false;
	if (!domain->test_id)
		return true;
	mail = outbox_load_message(store, domain->test_id, &problem);
	if (!mail) {
		domain->test_id = 0;
		return g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND) ||
		       pb_error_forward(error, &problem);
	}
	domain->tested_at = MAX(mail->queued_at, mail->claimed_at);
	return true;
}

static bool
send_test(const struct bounce_context *context, const struct tested_domain *domain,
    const struct subscriber *subscriber, GError **error)
{
	int64_t id;

	return send_check(context, subscriber, &test_phrases, &id, error) &&
	       store_save_cursor(context->mailer.store, domain->cursor, id, error);
}

/* Ask a subscriber who reported nothing, once there are reports enough. */
static bool
test_domain(const struct bounce_context *context, const struct subscriber *reporter,
    const struct tested_domain *domain, enum bounce_effect *effect, GError **error)
{
	struct store *store = context->mailer.store;
	int64_t now = context->mailer.now, since = now - CLOCK_DAY_S, people, other;
	pb_auto(subscriber) subscriber = NULL;

	if (domain->test_id && now < domain->tested_at + BOUNCE_TEST_GAP_S)
		return true;
	if (!bounces_count_refused(store, reporter->address, since, &people, error))
		return false;
	if (people < BOUNCE_TEST_PEOPLE)
		return true;
	if (!bounces_find_unaffected(store, reporter->address, since, &other, error) ||
	    !subscribers_find_id(store, other, &subscriber, error))
		return false;
	if (!subscriber)
		return true;
	*effect = BOUNCE_EFFECT_QUEUED;
	return send_test(context, domain, subscriber, error);
}

static bool
requeue_digest(const struct bounce_context *context, int64_t digest_id,
    enum bounce_effect *effect, GError **error)
{
	int64_t now = context->mailer.now;
	bool is_requeued;

	if (!outbox_requeue_returned(context->mailer.store, digest_id,
	        now - BOUNCE_RETURN_S, now + BOUNCE_PAUSE_S, &is_requeued, error))
		return false;
	if (!is_requeued)
		return true;
	*effect = BOUNCE_EFFECT_QUEUED;
	return bounces_mark_requeued(context->mailer.store, digest_id, error);
}

/* Send the digests again whose reports led to a pause. */
static bool
requeue_refused(const struct bounce_context *context,
    const struct subscriber *subscriber, enum bounce_effect *effect, GError **error)
{
	g_autoptr(GArray) ids = bounces_load_refused(context->mailer.store,
	    subscriber->address, context->mailer.now - CLOCK_DAY_S, error);

	for (guint i = 0; ids && i < ids->len; i++)
		if (!requeue_digest(
		        context, g_array_index(ids, int64_t, i), effect, error))
			return false;
	return ids != NULL;
}

/* The test was returned.  The next one is the first message after the pause. */
static bool
pause_domain(const struct bounce_context *context, const struct subscriber *subscriber,
    const struct tested_domain *domain, const struct bounce_report *report,
    enum bounce_effect *effect, GError **error)
{
	struct store *store = context->mailer.store;
	int64_t now = context->mailer.now, paused_s = 0;
	struct domain_pause pause = {.domain = domain->name,
	    .since = now,
	    .rule = report->verdict.rule,
	    .reply = report->line ? report->line : ""};

	if (domain->pause && domain->pause->until >= now - DOMAIN_PAUSE_GAP_S)
		paused_s = now - domain->pause->since;
	/* As long again as the domain has been paused. */
	pause.until = now + CLAMP(paused_s, BOUNCE_PAUSE_S, BOUNCE_PAUSE_MAX_S);
	event_log_committed(store, EVENT_DOMAIN_PAUSED,
	    EVENT_WORD("domain", domain->name),
	    EVENT_SECONDS("next_in", pause.until - now),
	    EVENT_WORD("rule", report->verdict.rule));
	return domain_pauses_save(store, &pause, error) &&
	       requeue_refused(context, subscriber, effect, error) &&
	       send_test(context, domain, subscriber, error);
}

/* Our fault: nothing counts against the subscriber. */
static bool
process_fault(const struct bounce_context *context,
    const struct bounce_subject *subject, const struct subscriber *subscriber,
    const struct bounce_report *report, enum bounce_effect *effect, GError **error)
{
	int64_t now = context->mailer.now;
	pb_local(tested_domain) domain = {0};

	if (report->verdict.fault != BOUNCE_FAULT_DOMAIN)
		return true;
	if (!load_domain(context, subscriber, &domain, error))
		return false;
	if (domain.pause && now < domain.pause->until)
		return !subject->digest_id ||
		       requeue_digest(context, subject->digest_id, effect, error);
	if (domain.test_id && subject->outbox_id == domain.test_id &&
	    now <= domain.tested_at + BOUNCE_TEST_S)
		return pause_domain(
		    context, subscriber, &domain, report, effect, error);
	return test_domain(context, subscriber, &domain, effect, error);
}

/* ---- complaints ---- */

static bool
process_complaint(const struct bounce_context *context, struct subscriber *subscriber,
    enum bounce_effect *effect, GError **error)
{
	struct store *store = context->mailer.store;
	g_autofree char *hash = suppression_hash(context->key, subscriber->address_key);

	*effect = BOUNCE_EFFECT_UNSUBSCRIBED;
	if (!suppression_insert(store, hash, "complaint", context->mailer.now, error))
		return false;
	if (subscriber->state == SUBSCRIBER_GONE)
		return true;
	return subscribe_remove_now(store, subscriber, context->mailer.now, error) &&
	       audit_insert(store, context->mailer.now, "complaint",
	           "subscriber removed", subscriber->id, NULL, error);
}

/*
 * Whether to process a complaint that names no message although one is recorded, for
 * which there is one row for each subscriber.  The subscriber may have left and
 * subscribed again since: the complaint contained a token to unsubscribe, which is
 * valid for the present subscription only.
 */
static bool
is_again(const struct bounce_subject *subject, const struct subscriber *subscriber)
{
	return !subject->digest_id && !subject->outbox_id &&
	       subscriber->state != SUBSCRIBER_GONE;
}

bool
bounce_record(const struct bounce_context *context,
    const struct bounce_subject *subject, const struct bounce_report *report,
    enum bounce_effect *effect, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	bool is_new;

	*effect = BOUNCE_EFFECT_NONE;
	if ((report->kind != BOUNCE_KIND_BOUNCE &&
	        report->kind != BOUNCE_KIND_COMPLAINT) ||
	    report->verdict.class == BOUNCE_UNKNOWN)
		return true;
	if (!subscribers_find_id(
	        context->mailer.store, subject->subscriber_id, &subscriber, error))
		return false;
	if (!subscriber)
		return true;
	if (!save_evidence(context, subject, subscriber, report, &is_new, error))
		return false;
	if (is_new)
		*effect = BOUNCE_EFFECT_RECORDED;
	switch (report->verdict.class) {
	case BOUNCE_DEAD:
		return !is_new || space_digests(context, subscriber,
		                      get_time(context, subject), error);
	case BOUNCE_SENDER:
		return !is_new || process_fault(context, subject, subscriber, report,
		                      effect, error);
	case BOUNCE_COMPLAINT:
		return !(is_new || is_again(subject, subscriber)) ||
		       process_complaint(context, subscriber, effect, error);
	default:
		return true;
	}
}

/* ---- the periodic run ---- */

static bool
classify_failure(const struct bounce_context *context,
    const struct outbox_failure *failure, GError **error)
{
	const struct bounce_refusal refusal = {
	    .stage = failure->stage,
	    .code = MAX(failure->code, 0),
	    .text = failure->reply,
	};
	const struct bounce_subject subject = {
	    .subscriber_id = failure->subscriber_id,
	    .digest_id = MAX(failure->digest_id, 0),
	    .outbox_id = failure->id,
	    .at = failure->ended_at,
	};
	struct bounce_report *report = bounce_report_new_from_reply(&refusal);
	enum bounce_effect effect;
	bool is_ok = (!failure->is_current ||
	                 bounce_record(context, &subject, report, &effect, error)) &&
	             outbox_mark_classified(context->mailer.store, failure->id, error);

	bounce_report_free(report);
	return is_ok;
}

struct failures {
	const struct bounce_context *context;
	const GPtrArray *batch; /* of struct outbox_failure * */
};

static bool
classify_batch(struct store *store, void *data, GError **error)
{
	const struct failures *failures = data;

	(void)store;
	for (guint i = 0; i < failures->batch->len; i++)
		if (!classify_failure(
		        failures->context, failures->batch->pdata[i], error))
			return false;
	return true;
}

static bool
classify_failures(const struct bounce_context *context, unsigned *count, GError **error)
{
	struct store *store = context->mailer.store;

	for (;;) {
		g_autoptr(GPtrArray) batch =
		    outbox_load_failures(store, BATCH_ROWS, error);
		struct failures failures = {context, batch};

		if (!batch || batch->len == 0)
			return batch != NULL;
		if (!store_transact(store, classify_batch, &failures, error))
			return false;
		*count += batch->len;
	}
}

bool
bounce_run(const struct bounce_context *context, struct bounce_run_report *report,
    GError **error)
{
	g_autoptr(GHashTable) outages = NULL;
	int64_t after = 0;

	*report = (struct bounce_run_report){0};
	if (!classify_failures(context, &report->classified, error) ||
	    !(outages = load_outages(context, error)))
		return false;
	for (;;) {
		g_autoptr(GArray) suspects = bounces_load_suspects(
		    context->mailer.store, after, BATCH_ROWS, error);

		if (!suspects)
			return false;
		for (guint i = 0; i < suspects->len; i++) {
			after = g_array_index(suspects, int64_t, i);
			if (!decide_one(context, outages, after, report, error))
				return false;
		}
		if (suspects->len < BATCH_ROWS)
			return true;
	}
}

bool
bounce_restore(struct store *store, struct subscriber *subscriber, const char *who,
    int64_t now, GError **error)
{
	if (subscriber->state != SUBSCRIBER_SUSPENDED)
		return true;
	subscriber->state = SUBSCRIBER_ACTIVE;
	/* As after a pause: one digest with what was missed. */
	subscriber->is_first_due = true;
	subscriber->next_due_at = now;
	return bounces_reset(store, subscriber->id, error) &&
	       subscribers_update(store, subscriber, error) &&
	       audit_insert(
	           store, now, who, "subscriber restored", subscriber->id, NULL, error);
}

/* ---- what operators see and clear ---- */

/* Days until all evidence has decayed. */
#define FORECAST_DAYS (BOUNCE_DECAY_S / CLOCK_DAY_S + 1)

/* Decide for now and the start of each following day. @param at  set */
static enum bounce_decision
forecast(const struct evidence *evidence, int64_t now, int64_t *at)
{
	for (int day = 0; day < FORECAST_DAYS; day++) {
		g_autoptr(GPtrArray) rows = g_ptr_array_new();
		enum bounce_decision decision;

		*at = day ? (now / CLOCK_DAY_S + day) * CLOCK_DAY_S : now;
		for (unsigned i = 0; i < evidence->rows->len; i++) {
			const struct bounce_row *row = evidence->rows->pdata[i];

			if (row->at >= *at - BOUNCE_DECAY_S)
				g_ptr_array_add(rows, evidence->rows->pdata[i]);
		}
		decision =
		    bounce_decide(rows, evidence->probe, evidence->last_built, *at);
		if (decision != BOUNCE_WAIT)
			return decision;
	}
	return BOUNCE_WAIT;
}

static char *
explain_evidence(const struct evidence *evidence, int64_t now)
{
	int64_t at;
	enum bounce_decision decision = forecast(evidence, now, &at);
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);
	g_autofree char *day = g_date_time_format(time, "%Y-%m-%d");

	switch (decision) {
	case BOUNCE_PROBE:
		return g_strdup_printf("a probe message is sent by %s; if it is "
		                       "returned, too, after mail of %d days, the "
		                       "subscriber is suspended",
		    day, BOUNCE_DEAD_DAYS);
	case BOUNCE_SUSPEND:
		return g_strdup_printf(
		    "the probe message was returned: the subscriber is suspended by %s",
		    day);
	case BOUNCE_CLEAR:
		return g_strdup_printf(
		    "a probe message has been sent: if it is returned, "
		    "the subscriber is suspended, otherwise the "
		    "evidence is cleared by %s",
		    day);
	case BOUNCE_WAIT:
		break;
	}
	return g_strdup_printf("digests continue; a probe message follows if mail is "
	                       "returned for %d days",
	    (int)(BOUNCE_RUN_S / CLOCK_DAY_S));
}

char *
bounce_admin_explain(struct store *store, const struct subscriber *subscriber,
    int64_t now, GError **error)
{
	pb_local(evidence) evidence = {0};
	struct bounce_domain counts;

	switch (subscriber->state) {
	case SUBSCRIBER_PENDING:
		return g_strdup("nothing: the subscription is not confirmed yet");
	case SUBSCRIBER_PAUSED:
		return g_strdup("nothing until the subscriber resumes");
	case SUBSCRIBER_SUSPENDED:
		return g_strdup("nothing is sent until the subscriber writes, or until "
		                "paperboyctl bounce forget");
	case SUBSCRIBER_GONE:
		return g_strdup("nothing is sent: the subscriber has left");
	case SUBSCRIBER_ACTIVE:
		break;
	}
	if (!load_evidence(store, subscriber->id, now, &evidence, error) ||
	    !bounces_count_domain(
	        store, subscriber->address, now - BOUNCE_OUTAGE_S, &counts, error))
		return NULL;
	if (!evidence.rows->len && !evidence.probe)
		return g_strdup("digests continue: nothing counts against the address");
	if (bounce_is_outage(&counts))
		return g_strdup(
		    "digests continue: many subscribers of the domain bounce, "
		    "so nobody there is probed or suspended");
	return explain_evidence(&evidence, now);
}

static bool
forget(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	bool *is_restored = change->data;

	*is_restored = subscriber->state == SUBSCRIBER_SUSPENDED;
	return bounces_reset(store, subscriber->id, error) &&
	       bounce_restore(store, subscriber, change->who, change->now, error) &&
	       audit_insert(store, change->now, change->who, "bounces forgotten",
	           subscriber->id, NULL, error);
}

struct subscriber *
bounce_admin_forget(struct store *store, const char *address, const char *who,
    int64_t now, bool *is_restored, GError **error)
{
	const struct person_change change = {address, who, now, forget, is_restored};

	return person_transact(store, &change, error);
}
