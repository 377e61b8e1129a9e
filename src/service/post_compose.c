/*
 * post_compose.c - from a claimed job to a message that a sender has.
 */
#include "base/error.h"
#include "base/fingerprint.h"
#include "service/event.h"
#include "service/post_private.h"
#include "service/proof.h"
#include "store/editions.h"

/* So long at most is a message of a slow domain put off at once. */
#define PUT_OFF_MOST_S (20 * CLOCK_HOUR_S)

void
post_count_cancelled(const struct outbox_job *job, struct post_report *report)
{
	report->cancelled++;
	event_log(EVENT_DELIVERY_CANCELLED, EVENT_INT("outbox", job->id));
}

/* The same at every attempt, and never that of another store's message. */
static char *
format_envelope_id(const struct post *post, const struct outbox_job *job)
{
	bool is_digest = job->kind == OUTBOX_DIGEST;
	int64_t id = is_digest ? job->digest_id : job->id;
	g_autofree char *token =
	    token_maker_derive(post->tokens, is_digest ? "envelope" : "letter", id);

	return g_strdup_printf(
	    "%s-%" G_GINT64_FORMAT ".%s", is_digest ? "digest" : "letter", id, token);
}

static bool
load_parts(struct post *post, const struct outbox_job *job, struct digest **digest,
    GBytes **message, GError **error)
{
	if (job->kind == OUTBOX_DIGEST)
		*digest = editions_load_shared(
		    post->options.store, post->shelf, job->digest_id, error);
	else
		*message = outbox_load_letter(post->options.store, job->id, error);
	return *digest || *message;
}

/*
 * What a claimed job is made of; a person who was forgotten meanwhile has neither
 * digest nor letter.
 */
static bool
load_job(struct post *post, const struct outbox_job *job, bool *is_wanted,
    struct digest **digest, GBytes **message, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!outbox_is_wanted(
	        post->options.store, job, post->options.key, is_wanted, error))
		return false;
	if (!*is_wanted || load_parts(post, job, digest, message, &problem))
		return true;
	*is_wanted = false;
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return true;
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

static GBytes *
compose(struct post *post, const struct outbox_job *job, const struct digest *digest,
    GError **error)
{
	const char *key = renderer_get_key(post->options.renderer);

	if (job->render_key && !g_str_equal(job->render_key, key))
		event_log(EVENT_DIGEST_CHANGED, EVENT_INT("digest", job->digest_id),
		    EVENT_INT("outbox", job->id));
	return renderer_compose(post->options.renderer, digest, error);
}

/* It will never go: what it is made of cannot be read as a message. */
static void
fail_broken(struct post *post, struct outbox_job *job, const char *why,
    struct post_report *report)
{
	event_log(EVENT_DIGEST_BROKEN, EVENT_INT("digest", job->digest_id),
	    EVENT_INT("outbox", job->id), EVENT_TEXT(why));
	report->failed++;
	post_add_result(post, job, OUTBOX_FAILED, -1, NULL, why);
	outbox_job_free(job);
}

static void
cancel_job(struct post *post, struct outbox_job *job, struct post_report *report)
{
	post_count_cancelled(job, report);
	post_add_result(post, job, OUTBOX_CANCELLED, -1, NULL, NULL);
	outbox_job_free(job);
}

bool
post_allow_domain(void *data, const char *recipient, int64_t *next_at)
{
	struct post *post = data;
	int64_t now = clock_get_now(post->options.clock);
	int64_t at = now;

	if (domains_allow(post->domains, recipient, now, &at))
		return true;
	/* Messages that wait for more than a day are retried by outbox_pull_in(). */
	*next_at = MIN(at, now + PUT_OFF_MOST_S);
	return false;
}

/*
 * May it go now?  While the relay is tried with one message the others wait, as if
 * they had not been claimed.
 */
static bool
has_leave(struct post *post, struct outbox_job *job)
{
	int64_t now = clock_get_now(post->options.clock);

	if (breaker_allow(&post->breaker, now)) {
		pace_take(&post->per_second, now);
		pace_take(&post->per_hour, now);
		return true;
	}
	post_add_result(post, job, OUTBOX_RETURNED, now, NULL, NULL);
	return false;
}

/* What comes back tells by its address which digest it is about. */
static char *
format_sender(const struct post *post, const struct digest *digest)
{
	g_autofree char *token =
	    proof_format_bounce(post->tokens, digest->id, digest->created_at);

	return extension_format(post->options.bounces, EXTENSION_BOUNCE, token);
}

bool
post_hand_out(struct post *post, struct post_report *report, GError **error)
{
	struct outbox_job *job = g_queue_pop_head(&post->claimed);
	pb_auto(digest) digest = NULL;
	g_autoptr(GError) problem = NULL;
	GBytes *message = NULL;
	bool is_wanted;

	if (!load_job(post, job, &is_wanted, &digest, &message, error)) {
		g_queue_push_head(&post->claimed, job);
		return false;
	}
	if (!is_wanted) {
		cancel_job(post, job, report);
		return true;
	}
	if (!has_leave(post, job)) {
		g_clear_pointer(&message, g_bytes_unref);
		outbox_job_free(job);
		return true;
	}
	if (!message)
		message = compose(post, job, digest, &problem);
	if (!message) {
		fail_broken(post, job, problem->message, report);
		return true;
	}
	job->octets = fingerprint_of(message);
	if (digest && post->options.bounces)
		job->sender = format_sender(post, digest);
	post->in_flight++;
	senders_push(post->senders,
	    task_new(job, message, format_envelope_id(post, job),
	        job->sender ? job->sender : post->options.envelope_from));
	return true;
}
