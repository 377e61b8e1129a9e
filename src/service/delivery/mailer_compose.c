/*
 * mailer_compose.c - from a claimed job to a message that a sender has.
 */
#include "base/error.h"
#include "base/fnv1a.h"
#include "service/delivery/mail_token.h"
#include "service/delivery/mailer_private.h"
#include "service/log/event.h"
#include "store/mail/digests.h"

/* So long at most is a message of a slow domain put off at once. */
#define PUT_OFF_MOST_S (20 * CLOCK_HOUR_S)

void
mailer_count_cancelled(const struct outbox_job *job, struct mailer_report *report)
{
	report->cancelled++;
	event_log(EVENT_DELIVERY_CANCELLED, EVENT_INT("outbox", job->id));
}

/* The same at every attempt, and never that of another store's message. */
static char *
format_envelope_id(const struct mailer *mailer, const struct outbox_job *job)
{
	bool is_digest = job->kind == OUTBOX_DIGEST;
	int64_t id = is_digest ? job->digest_id : job->id;
	g_autofree char *token =
	    token_signer_derive(mailer->tokens, is_digest ? "envelope" : "letter", id);

	return g_strdup_printf(
	    "%s-%" G_GINT64_FORMAT ".%s", is_digest ? "digest" : "letter", id, token);
}

static bool
load_parts(struct mailer *mailer, const struct outbox_job *job, struct digest **digest,
    GBytes **message, GError **error)
{
	if (job->kind == OUTBOX_DIGEST)
		*digest = digests_load_shared(
		    mailer->options.store, mailer->paper_cache, job->digest_id, error);
	else
		return outbox_find_mail(mailer->options.store, job->id, message, error);
	return *digest != NULL;
}

/*
 * What a claimed job is made of; a person who was forgotten meanwhile has neither
 * digest nor letter.
 */
static bool
load_job(struct mailer *mailer, const struct outbox_job *job, bool *is_wanted,
    struct digest **digest, GBytes **message, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!outbox_is_wanted(
	        mailer->options.store, job, mailer->options.key, is_wanted, error))
		return false;
	if (*is_wanted && !load_parts(mailer, job, digest, message, &problem) &&
	    !g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return pb_error_forward(error, &problem);
	*is_wanted = *digest || *message;
	return true;
}

static GBytes *
compose(struct mailer *mailer, const struct outbox_job *job,
    const struct digest *digest, GError **error)
{
	const char *key = renderer_get_cache_key(mailer->options.renderer);

	if (job->cache_key && !g_str_equal(job->cache_key, key))
		event_log(EVENT_DIGEST_CHANGED, EVENT_INT("digest", job->digest_id),
		    EVENT_INT("outbox", job->id));
	return renderer_compose(mailer->options.renderer, digest, error);
}

/* It will never go: what it is made of cannot be read as a message. */
static void
fail_broken(struct mailer *mailer, struct outbox_job *job, const char *why,
    struct mailer_report *report)
{
	event_log(EVENT_DIGEST_BROKEN, EVENT_INT("digest", job->digest_id),
	    EVENT_INT("outbox", job->id), EVENT_TEXT(why));
	report->failed++;
	mailer_add_result(mailer, job, OUTBOX_FAILED, -1, NULL, why);
	outbox_job_free(job);
}

static void
cancel_job(struct mailer *mailer, struct outbox_job *job, struct mailer_report *report)
{
	mailer_count_cancelled(job, report);
	mailer_add_result(mailer, job, OUTBOX_CANCELLED, -1, NULL, NULL);
	outbox_job_free(job);
}

bool
mailer_allow_domain(void *data, const char *recipient, int64_t *next_at)
{
	struct mailer *mailer = data;
	int64_t now = clock_get_now(mailer->options.clock);
	int64_t at = now;

	if (domain_throttle_allow(mailer->domains, recipient, now, &at))
		return true;
	/* Messages that wait for more than a day are retried by outbox_retry_now(). */
	*next_at = MIN(at, now + PUT_OFF_MOST_S);
	return false;
}

/*
 * May it go now?  While the relay is tried with one message the others wait, as if
 * they had not been claimed.
 */
static bool
has_leave(struct mailer *mailer, struct outbox_job *job)
{
	int64_t now = clock_get_now(mailer->options.clock);

	if (breaker_allow(&mailer->breaker, now)) {
		token_bucket_take(&mailer->per_second, now);
		token_bucket_take(&mailer->per_hour, now);
		return true;
	}
	mailer_add_result(mailer, job, OUTBOX_RETURNED, now, NULL, NULL);
	return false;
}

/* What comes back tells by its address which digest it is about. */
static char *
format_sender(const struct mailer *mailer, const struct digest *digest)
{
	g_autofree char *token =
	    mail_token_format_bounce(mailer->tokens, digest->id, digest->created_at);

	return subaddress_format(mailer->options.bounces, SUBADDRESS_BOUNCE, token);
}

bool
mailer_start_due(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	struct outbox_job *job = g_queue_pop_head(&mailer->claimed);
	pb_auto(digest) digest = NULL;
	g_autoptr(GError) problem = NULL;
	GBytes *message = NULL;
	bool is_wanted;

	if (!load_job(mailer, job, &is_wanted, &digest, &message, error)) {
		g_queue_push_head(&mailer->claimed, job);
		return false;
	}
	if (!is_wanted) {
		cancel_job(mailer, job, report);
		return true;
	}
	if (!has_leave(mailer, job)) {
		g_clear_pointer(&message, g_bytes_unref);
		outbox_job_free(job);
		return true;
	}
	if (!message)
		message = compose(mailer, job, digest, &problem);
	if (!message) {
		fail_broken(mailer, job, problem->message, report);
		return true;
	}
	job->message_hash = fnv1a_hash(message);
	if (digest && mailer->options.bounces)
		job->sender = format_sender(mailer, digest);
	mailer->in_flight++;
	connection_pool_push(mailer->senders,
	    delivery_task_new(job, message, format_envelope_id(mailer, job),
	        job->sender ? job->sender : mailer->options.envelope_from));
	return true;
}
