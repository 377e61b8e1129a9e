/*
 * post.c - from the outbox to the relay: claims, composes, records.
 */
#include "service/post.h"

#include "base/error.h"
#include "service/event.h"
#include "service/post_private.h"
#include "service/status.h"

/* Maximum number of messages that a run looks at without waiting for a result. */
#define ROUND_MESSAGES 50

/* How long a run waits for a result before it looks at its limits again. */
#define RESULT_US (G_USEC_PER_SEC / 10)

/* Where there was no room, it is looked for so often. */
#define ROOM_S 60

/* One round of a run: a group is claimed, composed or committed. */
#define ROUND_S (10 * 60)

static void
set_paces(struct post *post)
{
	if (post->per_second.most != post->options.per_second)
		pace_init(&post->per_second, post->options.per_second, 1);
	if (post->per_hour.most != post->options.per_hour)
		pace_init(&post->per_hour, post->options.per_hour, CLOCK_HOUR_S);
	domains_set_limit(post->domains, post->options.domain_per_hour);
}

/* How many messages the relay may be asked to take now. */
static unsigned
get_allowance(const struct post *post, int64_t now)
{
	if (post->breaker.state == BREAKER_CLOSED)
		return ROUND_MESSAGES;
	/* A wait longer than the longest: the clock was wrong when it began. */
	return now >= post->breaker.retry_at ||
	               post->breaker.retry_at > now + BREAKER_WAIT_MAX_S
	           ? 1
	           : 0;
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

/*
 * Every message that is SENDING may have been accepted: each needs a result.
 *
 * @param is_crash  the daemon was killed; else the store has refused the result
 */
static bool
recover(struct post *post, bool is_crash, GError **error)
{
	g_autoptr(GPtrArray) jobs =
	    outbox_load_in_flight(post->options.store, post->options.key, error);

	if (!jobs)
		return false;
	for (unsigned i = 0; i < jobs->len; i++)
		post_record_lost(post, jobs->pdata[i], is_crash);
	if (!commit_results(post, error))
		return false;
	if (jobs->len)
		event_log(EVENT_OUTBOX_RECOVERED, EVENT_INT("unknown", jobs->len));
	return true;
}

struct post *
post_new(const struct post_options *options, GError **error)
{
	struct post *post = g_new0(struct post, 1);

	post->options = *options;
	post->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)outbox_result_free);
	post->shelf = shelf_new(options->store);
	post->tokens = token_maker_new(options->key);
	g_queue_init(&post->claimed);
	breaker_init(&post->breaker);
	post->domains = domains_new(options->domain_per_hour);
	set_paces(post);
	if (options->state_dir)
		post->generation = generation_new(options->store, options->state_dir,
		    clock_get_now(options->clock), error);
	if ((options->state_dir && !post->generation) || !recover(post, true, error)) {
		post_free(post);
		return NULL;
	}
	post->senders = senders_new(options->senders, options->new_transport,
	    options->data, options->pulses, options->stop_fd, error);
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
	domains_free(post->domains);
	generation_free(post->generation);
	g_free(post->policy_domain);
	shelf_free(post->shelf);
	token_maker_free(post->tokens);
	g_ptr_array_unref(post->results);
	g_queue_clear_full(&post->claimed, (GDestroyNotify)outbox_job_free);
	g_free(post);
}

/* Wait for a result, and take all that are there. */
static void
take_results(struct post *post, struct post_report *report)
{
	struct task *task = senders_pop(post->senders, RESULT_US);

	while (task) {
		post->in_flight--;
		post_record(post, task, report);
		task_free(task);
		task = senders_pop(post->senders, 0);
	}
}

/*
 * How many more messages may be with the senders.  The first goes alone: where the
 * relay is down or our login wrong, all senders would find that out, and each
 * refused login brings the account nearer to being locked.
 */
static unsigned
get_room(const struct post *post)
{
	unsigned most = post->is_proven ? post->options.senders * POST_AHEAD : 1;

	if (post->is_alone && post->in_flight)
		return 0;
	return most > post->in_flight ? most - post->in_flight : 0;
}

/* How many messages may be claimed now. */
static unsigned
get_limit(const struct post *post, int64_t now)
{
	unsigned most = MIN(get_room(post), get_allowance(post, now));

	return pace_get_allowance(
	    &post->per_second, now, pace_get_allowance(&post->per_hour, now, most));
}

static GPtrArray *
claim(struct post *post, unsigned limit, GError **error)
{
	const struct outbox_claim request = {
	    .now = clock_get_now(post->options.clock),
	    .limit = limit,
	    .is_idle = post->in_flight == 0,
	    .render_key = renderer_get_key(post->options.renderer),
	    .key = post->options.key,
	    .allow = post_allow_domain,
	    .data = post,
	};

	return outbox_claim(post->options.store, &request, &post->is_more, error);
}

static void
take_claimed(struct post *post, GPtrArray *jobs, struct post_report *report)
{
	for (unsigned i = 0; i < jobs->len; i++) {
		struct outbox_job *job = g_steal_pointer(&jobs->pdata[i]);

		if (job->is_wanted) {
			post->is_alone = outbox_is_sent_alone(job);
			g_queue_push_tail(&post->claimed, job);
			continue;
		}
		post_count_cancelled(job, report);
		outbox_job_free(job);
	}
}

/*
 * Record all results and claim the next messages in one commit, as soon as there is a
 * result: what the relay has accepted and we have not recorded is sent again after a
 * crash.  So no more messages are SENDING than the senders may have at hand.
 */
static bool
commit_round(struct post *post, struct post_report *report, GError **error)
{
	int64_t now = clock_get_now(post->options.clock);
	unsigned limit = get_limit(post, now);
	g_autoptr(GPtrArray) jobs = NULL;
	pb_transaction transaction = {0};

	post->is_more = false;
	if (!limit)
		return commit_results(post, error);
	if (!store_begin(post->options.store, &transaction, error) ||
	    !outbox_save_results(post->options.store, post->results, now, error))
		return false;
	jobs = claim(post, limit, error);
	if (!jobs || !store_commit(&transaction, error))
		return false;
	g_ptr_array_set_size(post->results, 0);
	take_claimed(post, jobs, report);
	return !post->generation || g_queue_is_empty(&post->claimed) ||
	       generation_save(post->generation, post->options.store, error);
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
		post_add_result(post, task->job, OUTBOX_RETURNED, now, NULL, NULL);
		task_free(task);
	}
	while ((job = g_queue_pop_head(&post->claimed))) {
		post_add_result(post, job, OUTBOX_RETURNED, now, NULL, NULL);
		outbox_job_free(job);
	}
}

static bool
has_room(const struct post *post)
{
	const char *state_dir = post->options.state_dir;
	int64_t free_bytes = state_dir ? status_get_disk_free(state_dir) : -1;

	/* Unknown is no reason to keep mail back. */
	return free_bytes < 0 || free_bytes >= post->options.disk_least_bytes;
}

static bool
is_held(const struct post *post, const int *stop)
{
	const int *pause = post->options.pause;

	return (stop && g_atomic_int_get(stop)) || (pause && g_atomic_int_get(pause)) ||
	       !get_allowance(post, clock_get_now(post->options.clock)) ||
	       !has_room(post);
}

static bool
run(struct post *post, const int *stop, struct post_report *report, GError **error)
{
	for (;;) {
		bool is_stopped = is_held(post, stop);

		pulse_promise(post->pulse, ROUND_S);
		if (is_stopped)
			return_claimed(post);
		if (is_stopped ? !commit_results(post, error)
		               : !commit_round(post, report, error))
			return false;
		while (!g_queue_is_empty(&post->claimed))
			if (!post_hand_out(post, report, error))
				return false;
		if (post->in_flight)
			take_results(post, report);
		else if (!post->results->len && (is_stopped || !post->is_more))
			return true;
	}
}

/* After a failure of the store: what the senders still bring is kept for the next
 * run, and so is what was claimed and not handed out. */
static void
settle(struct post *post, struct post_report *report)
{
	while (post->in_flight) {
		struct task *task = senders_pop(post->senders, G_USEC_PER_SEC);

		pulse_promise(post->pulse, ROUND_S);
		if (!task)
			continue;
		post->in_flight--;
		post_record(post, task, report);
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
	if (!recover(post, false, error))
		return false;
	post->is_unsettled = false;
	return true;
}

bool
post_run(struct post *post, const int *stop, struct post_report *report, int64_t *next,
    GError **error)
{
	int64_t due, now;

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
	now = clock_get_now(post->options.clock);
	*next = due;
	if (due >= 0 && post->breaker.state != BREAKER_CLOSED)
		*next = MAX(due, post->breaker.retry_at);
	if (due >= 0)
		*next = MAX(MAX(*next, pace_get_next(&post->per_second, now)),
		    pace_get_next(&post->per_hour, now));
	if (due >= 0 && !has_room(post))
		*next = MAX(*next, now + ROOM_S);
	return true;
}

bool
post_reload(struct post *post, const struct post_options *options, bool is_other_relay,
    GError **error)
{
	struct senders *senders;

	g_assert(!post->in_flight && g_queue_is_empty(&post->claimed));
	senders = senders_new(options->senders, options->new_transport, options->data,
	    options->pulses, options->stop_fd, error);
	if (!senders)
		return false;
	senders_free(post->senders);
	post->senders = senders;
	post->options = *options;
	token_maker_free(post->tokens);
	post->tokens = token_maker_new(options->key);
	set_paces(post);
	if (is_other_relay) {
		domains_resume(post->domains);
		breaker_init(&post->breaker);
		post->policies = 0;
		post->is_proven = false;
	}
	return true;
}

void
post_set_pulse(struct post *post, struct pulse *pulse)
{
	post->pulse = pulse;
}

void
post_try_now(struct post *post)
{
	/* Nothing is in flight between two runs: no trial can come back. */
	breaker_init(&post->breaker);
	domains_resume(post->domains);
	post->is_proven = false;
}

char *
post_format_relay(const struct post *post)
{
	int64_t now = clock_get_now(post->options.clock);
	g_autofree char *line = breaker_format(&post->breaker, now);
	g_autofree char *masked = event_mask_addresses(line);
	const char *name;
	unsigned paused = domains_count_paused(post->domains, now, &name);

	if (!paused)
		return g_steal_pointer(&masked);
	return g_strdup_printf("%s; %s%s refused by policy and left alone", masked,
	    name, paused > 1 ? " and others are" : " is");
}

void
post_relay_clear(struct post_relay *relay)
{
	g_clear_pointer(&relay->domain, g_free);
	*relay = (struct post_relay){0};
}

void
post_describe_relay(const struct post *post, struct post_relay *relay)
{
	const struct breaker *breaker = &post->breaker;
	int64_t now = clock_get_now(post->options.clock);
	const char *name;

	*relay = (struct post_relay){
	    .is_away = breaker->state != BREAKER_CLOSED,
	    .is_login = breaker->is_login,
	    .since = breaker->opened_at,
	    .retry_at = breaker->retry_at,
	};
	relay->paused = domains_count_paused(post->domains, now, &name);
	relay->domain = g_strdup(name);
}
