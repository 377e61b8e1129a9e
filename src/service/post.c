/*
 * post.c - from the outbox to the relay: claims, composes, records.
 */
#include "service/post.h"

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/token.h"
#include "service/event.h"
#include "service/senders.h"
#include "store/editions.h"
#include "store/outbox.h"
#include "store/shelf.h"
#include "transport/backoff.h"
#include "transport/breaker.h"

/* Results wait for company at most so long; what waits is in doubt after a crash. */
#define GROUP_US (G_USEC_PER_SEC / 10)

/* So often at most is a message sent that is cut off after its dot every time. */
#define DOUBTFUL_TRIES 5

/* Messages handed to one sender and not answered: one on its way, one ready. */
#define AHEAD 2

struct post {
	struct post_options options;
	struct senders *senders;
	struct shelf *shelf; /* the papers that digests are composed of */
	struct breaker breaker;
	GQueue claimed;      /* of struct outbox_job *: claimed, not handed out */
	GPtrArray *results;  /* of struct outbox_result *: not committed yet */
	int64_t group_since; /* monotonic, us: when the first of them came */
	unsigned in_flight;
	unsigned policies; /* refusals by policy (5.7.x) in a row */
	bool is_proven; /* the relay has answered for a message since it last failed */
	bool is_unsettled; /* the store failed: rows may be SENDING that nobody sends */
};

struct post *
post_new(const struct post_options *options, GError **error)
{
	struct post *post = g_new0(struct post, 1);
	unsigned unknown;

	post->options = *options;
	post->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)outbox_result_free);
	post->shelf = shelf_new(options->store);
	g_queue_init(&post->claimed);
	breaker_init(&post->breaker);
	if (!outbox_recover(
	        options->store, clock_get_now(options->clock), &unknown, error)) {
		post_free(post);
		return NULL;
	}
	if (unknown)
		event_log(EVENT_OUTBOX_RECOVERED, EVENT_INT("unknown", unknown));
	post->senders = senders_new(options->senders, options->envelope_from,
	    options->new_transport, options->data, error);
	if (!post->senders) {
		post_free(post);
		return NULL;
	}
	return post;
}

void
post_free(struct post *post)
{
	if (!post)
		return;
	senders_free(post->senders);
	shelf_free(post->shelf);
	g_ptr_array_unref(post->results);
	g_queue_clear_full(&post->claimed, (GDestroyNotify)outbox_job_free);
	g_free(post);
}

static void
add_result(struct post *post, const struct outbox_job *job, enum outbox_end end,
    int64_t next_try_at, const struct delivery *delivery, const char *reply)
{
	struct outbox_result *result = g_new0(struct outbox_result, 1);

	result->id = job->id;
	result->end = end;
	result->next_try_at = next_try_at;
	result->was_unknown = job->was_unknown;
	result->octets = job->octets;
	result->code = delivery && delivery->code ? delivery->code : -1;
	result->reply = g_strdup(delivery ? delivery->text : reply);
	if (!post->results->len)
		post->group_since = g_get_monotonic_time();
	g_ptr_array_add(post->results, result);
}

/* When to try a message again; -1 when it has been tried long enough. */
static int64_t
next_try(const struct post *post, const struct outbox_job *job, int64_t now)
{
	const struct backoff_case attempt = {
	    .queued_at = job->queued_at,
	    .now = now,
	    .attempts = job->attempt,
	    .id = (uint64_t)job->id,
	    .give_up_s = post->options.give_up_s,
	};
	int64_t next;

	return backoff_next(&attempt, &next, NULL) ? next : -1;
}

/* How many messages the relay may be asked to take now. */
static unsigned
get_allowance(const struct post *post, int64_t now)
{
	if (post->breaker.state == BREAKER_CLOSED)
		return POST_GROUP;
	/* A wait longer than the longest: the clock was wrong when it began. */
	return now >= post->breaker.retry_at ||
	               post->breaker.retry_at > now + BREAKER_WAIT_MAX_S
	           ? 1
	           : 0;
}

/* What a delivery comes to: a line of the log, and when it is tried again, or -1. */
struct verdict {
	enum event_kind kind;
	int64_t next;
};

static struct verdict
record_deferred(
    struct post *post, const struct task *task, int64_t now, struct post_report *report)
{
	const struct outbox_job *job = task->job;
	/* What was sent up to its dot has been tried, whoever is to blame. */
	bool is_tried = task->delivery.scope == DELIVERY_SCOPE_MESSAGE ||
	                task->delivery.stage >= SMTP_STAGE_DATA;
	int64_t next = next_try(post, job, now);
	struct verdict verdict = {EVENT_DELIVERY_DEFERRED, is_tried ? next : -1};
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
	add_result(post, job, end, next, &task->delivery, NULL);
	return verdict;
}

static struct verdict
record_unknown(
    struct post *post, const struct task *task, int64_t now, struct post_report *report)
{
	const struct outbox_job *job = task->job;
	/* Each try may be a copy more: a few, then it counts as arrived. */
	int64_t next = job->attempt < DOUBTFUL_TRIES ? next_try(post, job, now) : -1;

	report->unknown++;
	add_result(post, job, OUTBOX_UNKNOWN, next, &task->delivery, NULL);
	return (struct verdict){
	    next < 0 ? EVENT_DELIVERY_GIVEN_UP : EVENT_DELIVERY_UNKNOWN, next};
}

/* A policy that refuses one message after the other is not about any of them. */
static bool
is_shut_out(struct post *post, const struct delivery *delivery)
{
	if (delivery->is_policy)
		post->policies++;
	else if (delivery->scope == DELIVERY_SCOPE_MESSAGE)
		post->policies = 0;
	return post->policies >= BREAKER_FAILURES;
}

/*
 * One line when the relay stops working and one when it works again.  Who has been
 * told of a reader may name him, in any shape: of such an answer only the code goes
 * into log and status, the rest stays in the queue.
 */
static void
report_relay(struct post *post, const struct delivery *delivery, int64_t now)
{
	enum breaker_state before = post->breaker.state;
	bool was_login = post->breaker.is_login;
	const struct breaker *breaker = &post->breaker;
	struct delivery seen = *delivery;
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);

	if (delivery->code && delivery->stage >= SMTP_STAGE_MAIL)
		seen.text = g_strchomp(code);
	if (is_shut_out(post, delivery))
		seen.scope = DELIVERY_SCOPE_RELAY;
	breaker_report(&post->breaker, &seen, now);
	if (seen.scope == DELIVERY_SCOPE_MESSAGE)
		post->is_proven = true;
	if (breaker->state == BREAKER_CLOSED && before != BREAKER_CLOSED)
		event_log(EVENT_RELAY_WELL);
	if (breaker->state != BREAKER_OPEN ||
	    (before == BREAKER_OPEN && was_login == breaker->is_login))
		return;
	post->is_proven = false;
	event_log(breaker->is_login ? EVENT_RELAY_LOGIN : EVENT_RELAY_FAILS,
	    EVENT_SECONDS("next_in", breaker->wait_s), EVENT_TEXT(breaker->text));
}

static void
log_delivery(const struct task *task, const struct verdict *verdict, int64_t now)
{
	const struct delivery *delivery = &task->delivery;
	bool is_sent = delivery->outcome == DELIVERY_SENT;

	event_log(verdict->kind, EVENT_INT("outbox", task->job->id),
	    EVENT_INT("attempt", task->job->attempt),
	    EVENT_WORD(
	        "scope", is_sent ? NULL : delivery_scope_get_name(delivery->scope)),
	    EVENT_WORD("stage", is_sent ? NULL : smtp_stage_get_name(delivery->stage)),
	    EVENT_INT("code", delivery->code), EVENT_WORD("status", delivery->enhanced),
	    EVENT_SECONDS("next_in", verdict->next < 0 ? -1 : verdict->next - now));
	event_log(EVENT_DELIVERY_ANSWER, EVENT_INT("outbox", task->job->id),
	    EVENT_WORD("recipient", task->job->recipient), EVENT_TEXT(delivery->text));
}

static void
record(struct post *post, const struct task *task, struct post_report *report)
{
	const struct delivery *delivery = &task->delivery;
	const struct outbox_job *job = task->job;
	int64_t now = clock_get_now(post->options.clock);
	struct verdict verdict = {EVENT_DELIVERY_SENT, -1};

	switch (delivery->outcome) {
	case DELIVERY_SENT:
		report->sent++;
		add_result(post, job, OUTBOX_SENT, -1, delivery, NULL);
		break;
	case DELIVERY_DEFERRED:
		verdict = record_deferred(post, task, now, report);
		break;
	case DELIVERY_FAILED:
		report->failed++;
		verdict.kind = EVENT_DELIVERY_FAILED;
		add_result(post, job,
		    delivery->stage >= SMTP_STAGE_DATA ? OUTBOX_REFUSED : OUTBOX_FAILED,
		    -1, delivery, NULL);
		break;
	case DELIVERY_UNKNOWN:
		verdict = record_unknown(post, task, now, report);
		break;
	}
	log_delivery(task, &verdict, now);
	report_relay(post, delivery, now);
}

static bool
commit_results(struct post *post, GError **error)
{
	if (!post->results->len)
		return true;
	if (!outbox_save_results(post->options.store, post->results,
	        clock_get_now(post->options.clock), error))
		return false;
	g_ptr_array_set_size(post->results, 0);
	return true;
}

/* Wait for an answer of a sender, take all that are there, commit when it is time. */
static bool
take_results(struct post *post, struct post_report *report, GError **error)
{
	int64_t wait_us = GROUP_US;
	struct task *task;

	if (post->results->len)
		wait_us = MAX(1, post->group_since + GROUP_US - g_get_monotonic_time());
	task = senders_pop(post->senders, wait_us);
	while (task) {
		post->in_flight--;
		record(post, task, report);
		task_free(task);
		task = post->results->len < POST_GROUP ? senders_pop(post->senders, 0)
		                                       : NULL;
	}
	if (post->results->len >= POST_GROUP ||
	    (post->results->len &&
	        g_get_monotonic_time() - post->group_since >= GROUP_US))
		return commit_results(post, error);
	return true;
}

static void
count_cancelled(const struct outbox_job *job, struct post_report *report)
{
	report->cancelled++;
	event_log(EVENT_DELIVERY_CANCELLED, EVENT_INT("outbox", job->id));
}

static bool
claim(struct post *post, struct post_report *report, GError **error)
{
	const char *key = renderer_get_key(post->options.renderer);
	int64_t now = clock_get_now(post->options.clock);
	unsigned most = get_allowance(post, now);
	g_autoptr(GPtrArray) jobs = NULL;

	if (!most)
		return true;
	jobs =
	    outbox_claim(post->options.store, now, most, key, post->options.key, error);
	if (!jobs)
		return false;
	while (jobs->len) {
		struct outbox_job *job = g_ptr_array_steal_index(jobs, 0);

		if (job->is_wanted) {
			g_queue_push_tail(&post->claimed, job);
			continue;
		}
		count_cancelled(job, report);
		outbox_job_free(job);
	}
	return true;
}

/* The same at every attempt, and never that of another store's message. */
static char *
format_envelope_id(const struct post *post, const struct outbox_job *job)
{
	g_autofree char *token =
	    token_derive(post->options.key, "envelope", job->digest_id);

	return g_strdup_printf("digest-%" G_GINT64_FORMAT ".%s", job->digest_id, token);
}

/* What a claimed job is about; a person who was forgotten meanwhile has no digest. */
static bool
load_job(struct post *post, const struct outbox_job *job, bool *is_wanted,
    struct digest **digest, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!outbox_is_wanted(post->options.store, job, is_wanted, error))
		return false;
	if (!*is_wanted)
		return true;
	*digest = editions_load_shared(
	    post->options.store, post->shelf, job->digest_id, &problem);
	if (*digest)
		return true;
	*is_wanted = false;
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return true;
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

/* Compose the next message and hand it to the senders. */
static bool
hand_out(struct post *post, struct post_report *report, GError **error)
{
	struct outbox_job *job = g_queue_pop_head(&post->claimed);
	pb_auto(digest) digest = NULL;
	g_autoptr(GError) problem = NULL;
	GBytes *message;
	struct task *task;
	bool is_wanted;

	if (!load_job(post, job, &is_wanted, &digest, error)) {
		g_queue_push_head(&post->claimed, job);
		return false;
	}
	if (!is_wanted) {
		count_cancelled(job, report);
		add_result(post, job, OUTBOX_CANCELLED, -1, NULL, NULL);
		outbox_job_free(job);
		return true;
	}
	if (job->render_key &&
	    !g_str_equal(job->render_key, renderer_get_key(post->options.renderer)))
		event_log(EVENT_DIGEST_CHANGED, EVENT_INT("digest", job->digest_id),
		    EVENT_INT("outbox", job->id));
	message = renderer_compose(post->options.renderer, digest, &problem);
	if (!message) {
		event_log(EVENT_DIGEST_BROKEN, EVENT_INT("digest", job->digest_id),
		    EVENT_INT("outbox", job->id), EVENT_TEXT(problem->message));
		report->failed++;
		add_result(post, job, OUTBOX_FAILED, -1, NULL, problem->message);
		outbox_job_free(job);
		return true;
	}
	if (!breaker_allow(&post->breaker, clock_get_now(post->options.clock))) {
		/* A trial is under way: this one waits for what it brings. */
		g_bytes_unref(message);
		add_result(post, job, OUTBOX_RETURNED,
		    clock_get_now(post->options.clock), NULL, NULL);
		outbox_job_free(job);
		return true;
	}
	job->octets = fingerprint_of(message);
	task = g_new0(struct task, 1);
	task->job = job;
	task->message = message;
	task->id = format_envelope_id(post, job);
	post->in_flight++;
	senders_push(post->senders, task);
	return true;
}

/*
 * What was claimed and no sender has begun goes back as it was: it would only
 * knock at a closed door again, or keep us from ending.  A trial goes its way.
 */
static void
return_claimed(struct post *post)
{
	int64_t now = clock_get_now(post->options.clock);
	struct outbox_job *job;
	struct task *task;

	while (post->breaker.state != BREAKER_TRIAL &&
	       (task = senders_take_back(post->senders))) {
		post->in_flight--;
		add_result(post, task->job, OUTBOX_RETURNED, now, NULL, NULL);
		task_free(task);
	}
	while ((job = g_queue_pop_head(&post->claimed))) {
		add_result(post, job, OUTBOX_RETURNED, now, NULL, NULL);
		outbox_job_free(job);
	}
}

/*
 * How many messages may be with the senders.  The first goes alone: where the
 * relay is down or our login wrong, all senders would find that out, and each
 * refused login brings the account nearer to being locked.
 */
static unsigned
get_room(const struct post *post)
{
	return post->is_proven ? post->options.senders * AHEAD : 1;
}

static bool
is_held(const struct post *post, const int *stop)
{
	const int *pause = post->options.pause;

	return (stop && g_atomic_int_get(stop)) || (pause && g_atomic_int_get(pause)) ||
	       !get_allowance(post, clock_get_now(post->options.clock));
}

static bool
run(struct post *post, const int *stop, struct post_report *report, GError **error)
{
	for (;;) {
		bool is_stopped = is_held(post, stop);

		if (!is_stopped && g_queue_is_empty(&post->claimed) &&
		    !claim(post, report, error))
			return false;
		if (is_stopped)
			return_claimed(post);
		while (!g_queue_is_empty(&post->claimed) &&
		       post->in_flight < get_room(post))
			if (!hand_out(post, report, error))
				return false;
		if (!post->in_flight) {
			unsigned had = post->results->len;

			if (!commit_results(post, error))
				return false;
			if (!had && g_queue_is_empty(&post->claimed))
				return true;
			continue;
		}
		if (!take_results(post, report, error))
			return false;
	}
}

/* After a failure of the store: what the senders still bring is kept for the next
 * run, and so is what was claimed and not handed out. */
static void
settle(struct post *post, struct post_report *report)
{
	while (post->in_flight) {
		struct task *task = senders_pop(post->senders, -1);

		post->in_flight--;
		record(post, task, report);
		task_free(task);
	}
	return_claimed(post);
	post->is_unsettled = true;
}

/* Record what a run before could not. */
static bool
catch_up(struct post *post, GError **error)
{
	GError *problem = NULL;
	unsigned unknown;

	if (!post->is_unsettled)
		return true;
	if (!commit_results(post, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT)) {
			g_propagate_error(error, problem);
			return false;
		}
		/* Refused for what they are; that would be so the next time too. */
		event_log(EVENT_OUTBOX_DROPPED,
		    EVENT_INT("results", post->results->len),
		    EVENT_TEXT(problem->message));
		g_error_free(problem);
		g_ptr_array_set_size(post->results, 0);
	}
	/* What is SENDING now has lost its result: it may have arrived. */
	if (!outbox_recover(post->options.store, clock_get_now(post->options.clock),
	        &unknown, error))
		return false;
	post->is_unsettled = false;
	return true;
}

bool
post_run(struct post *post, const int *stop, struct post_report *report, int64_t *next,
    GError **error)
{
	int64_t due;

	if (!outbox_pull_in(
	        post->options.store, clock_get_now(post->options.clock), error) ||
	    !catch_up(post, error))
		return false;
	if (!run(post, stop, report, error)) {
		settle(post, report);
		return false;
	}
	if (!outbox_load_next_try(post->options.store, &due, error))
		return false;
	*next = due;
	if (due >= 0 && post->breaker.state != BREAKER_CLOSED)
		*next = MAX(due, post->breaker.retry_at);
	return true;
}

bool
post_reload(struct post *post, const struct post_options *options, bool is_other_relay,
    GError **error)
{
	struct senders *senders;

	g_assert(!post->in_flight && g_queue_is_empty(&post->claimed));
	senders = senders_new(options->senders, options->envelope_from,
	    options->new_transport, options->data, error);
	if (!senders)
		return false;
	senders_free(post->senders);
	post->senders = senders;
	post->options = *options;
	if (is_other_relay) {
		breaker_init(&post->breaker);
		post->policies = 0;
		post->is_proven = false;
	}
	return true;
}

void
post_try_now(struct post *post)
{
	/* Nothing is in flight between two runs: no trial can come back. */
	breaker_init(&post->breaker);
	post->is_proven = false;
}

char *
post_format_relay(const struct post *post)
{
	g_autofree char *line =
	    breaker_format(&post->breaker, clock_get_now(post->options.clock));

	return event_mask_addresses(line);
}
