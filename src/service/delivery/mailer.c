/*
 * mailer.c - from the outbox to the relay: claims, composes, records.
 */
#include "service/delivery/mailer.h"

#include "base/disk.h"
#include "base/error.h"
#include "service/delivery/mailer_private.h"
#include "service/log/event.h"

/* Maximum number of messages that a run looks at without waiting for a result. */
#define ROUND_MESSAGES 50

/* How long a run waits for a result before it looks at its limits again. */
#define RESULT_US (G_USEC_PER_SEC / 10)

/* Where there was no room, it is looked for so often. */
#define ROOM_S 60

/* One round of a run: a group is claimed, composed or committed. */
#define ROUND_S (10 * 60)

static void
set_paces(struct mailer *mailer)
{
	if (mailer->per_second.limit != mailer->options.per_second)
		token_bucket_init(&mailer->per_second, mailer->options.per_second, 1);
	if (mailer->per_hour.limit != mailer->options.per_hour)
		token_bucket_init(
		    &mailer->per_hour, mailer->options.per_hour, CLOCK_HOUR_S);
	domain_throttle_set_limit(mailer->domains, mailer->options.domain_per_hour);
}

/* How many messages the relay may be asked to take now. */
static unsigned
get_allowance(const struct mailer *mailer, int64_t now)
{
	if (mailer->breaker.state == BREAKER_CLOSED)
		return ROUND_MESSAGES;
	/* A wait longer than the longest: the clock was wrong when it began. */
	return now >= mailer->breaker.retry_at ||
	               mailer->breaker.retry_at > now + BREAKER_WAIT_MAX_S
	           ? 1
	           : 0;
}

static bool
commit_results(struct mailer *mailer, GError **error)
{
	if (!mailer->results->len)
		return true;
	if (!outbox_save_results(mailer->options.store, mailer->results,
	        clock_get_now(mailer->options.clock), error))
		return false;
	g_ptr_array_set_size(mailer->results, 0);
	return true;
}

/*
 * Every message that is SENDING may have been accepted: each needs a result.
 *
 * @param is_crash  the daemon was killed; else the store has refused the result
 */
static bool
recover(struct mailer *mailer, bool is_crash, GError **error)
{
	g_autoptr(GPtrArray) jobs =
	    outbox_load_in_flight(mailer->options.store, mailer->options.key, error);

	if (!jobs)
		return false;
	for (unsigned i = 0; i < jobs->len; i++)
		mailer_record_lost(mailer, jobs->pdata[i], is_crash);
	if (!commit_results(mailer, error))
		return false;
	if (jobs->len)
		event_log(EVENT_OUTBOX_RECOVERED, EVENT_INT("unknown", jobs->len));
	return true;
}

struct mailer *
mailer_new(const struct mailer_options *options, GError **error)
{
	struct mailer *mailer = g_new0(struct mailer, 1);

	mailer->options = *options;
	mailer->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)outbox_result_free);
	mailer->paper_cache = paper_cache_new(options->store);
	mailer->tokens = token_signer_new(options->key);
	g_queue_init(&mailer->claimed);
	breaker_init(&mailer->breaker);
	mailer->domains = domain_throttle_new(options->domain_per_hour);
	set_paces(mailer);
	if (options->state_dir)
		mailer->generation = generation_new(options->store, options->state_dir,
		    clock_get_now(options->clock), error);
	if ((options->state_dir && !mailer->generation) ||
	    !recover(mailer, true, error)) {
		mailer_free(mailer);
		return NULL;
	}
	mailer->senders = connection_pool_new(options->senders, options->new_transport,
	    options->data, options->heartbeats, options->stop_fd, error);
	if (!mailer->senders) {
		mailer_free(mailer);
		return NULL;
	}
	return mailer;
}

void
mailer_free(struct mailer *mailer)
{
	if (!mailer)
		return;
	connection_pool_free(mailer->senders);
	domain_throttle_free(mailer->domains);
	generation_free(mailer->generation);
	g_free(mailer->policy_domain);
	paper_cache_free(mailer->paper_cache);
	token_signer_free(mailer->tokens);
	g_ptr_array_unref(mailer->results);
	g_queue_clear_full(&mailer->claimed, (GDestroyNotify)outbox_job_free);
	g_free(mailer);
}

/* Wait for a result, and take all that are there. */
static void
take_results(struct mailer *mailer, struct mailer_report *report)
{
	struct delivery_task *delivery_task =
	    connection_pool_pop(mailer->senders, RESULT_US);

	while (delivery_task) {
		mailer->in_flight--;
		mailer_record(mailer, delivery_task, report);
		delivery_task_free(delivery_task);
		delivery_task = connection_pool_pop(mailer->senders, 0);
	}
}

/*
 * How many more messages may be with the senders.  The first goes alone: where the
 * relay is down or our login wrong, all senders would find that out, and each
 * refused login brings the account nearer to being locked.
 */
static unsigned
get_room(const struct mailer *mailer)
{
	unsigned most = mailer->is_proven ? mailer->options.senders * MAILER_AHEAD : 1;

	if (mailer->is_alone && mailer->in_flight)
		return 0;
	return most > mailer->in_flight ? most - mailer->in_flight : 0;
}

/* How many messages may be claimed now. */
static unsigned
get_limit(const struct mailer *mailer, int64_t now)
{
	unsigned most = MIN(get_room(mailer), get_allowance(mailer, now));

	return token_bucket_get_available(&mailer->per_second, now,
	    token_bucket_get_available(&mailer->per_hour, now, most));
}

static GPtrArray *
claim(struct mailer *mailer, unsigned limit, GError **error)
{
	const struct outbox_claim request = {
	    .now = clock_get_now(mailer->options.clock),
	    .limit = limit,
	    .is_idle = mailer->in_flight == 0,
	    .cache_key = renderer_get_cache_key(mailer->options.renderer),
	    .key = mailer->options.key,
	    .allow = mailer_allow_domain,
	    .data = mailer,
	};

	return outbox_claim(mailer->options.store, &request, &mailer->is_more, error);
}

static void
take_claimed(struct mailer *mailer, GPtrArray *jobs, struct mailer_report *report)
{
	for (unsigned i = 0; i < jobs->len; i++) {
		struct outbox_job *job = g_steal_pointer(&jobs->pdata[i]);

		if (job->is_wanted) {
			mailer->is_alone = outbox_is_sent_alone(job);
			g_queue_push_tail(&mailer->claimed, job);
			continue;
		}
		mailer_count_cancelled(job, report);
		outbox_job_free(job);
	}
}

/*
 * Record all results and claim the next messages in one commit, as soon as there is a
 * result: what the relay has accepted and we have not recorded is sent again after a
 * crash.  So no more messages are SENDING than the senders may have at hand.
 */
static bool
commit_round(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	int64_t now = clock_get_now(mailer->options.clock);
	unsigned limit = get_limit(mailer, now);
	g_autoptr(GPtrArray) jobs = NULL;
	pb_transaction transaction = {0};

	mailer->is_more = false;
	if (!limit)
		return commit_results(mailer, error);
	if (!store_begin(mailer->options.store, &transaction, error) ||
	    !outbox_save_results(mailer->options.store, mailer->results, now, error))
		return false;
	jobs = claim(mailer, limit, error);
	if (!jobs || !store_commit(&transaction, error))
		return false;
	g_ptr_array_set_size(mailer->results, 0);
	take_claimed(mailer, jobs, report);
	return !mailer->generation || g_queue_is_empty(&mailer->claimed) ||
	       generation_save(mailer->generation, mailer->options.store, error);
}

/*
 * What was claimed and no sender has begun goes back as it was: it would only
 * knock at a closed door again, or keep us from ending.  A trial goes its way.
 */
static void
return_claimed(struct mailer *mailer)
{
	int64_t now = clock_get_now(mailer->options.clock);
	struct outbox_job *job;
	struct delivery_task *delivery_task;

	while (mailer->breaker.state != BREAKER_TRIAL &&
	       (delivery_task = connection_pool_take_back(mailer->senders))) {
		mailer->in_flight--;
		mailer_add_result(
		    mailer, delivery_task->job, OUTBOX_RETURNED, now, NULL, NULL);
		delivery_task_free(delivery_task);
	}
	while ((job = g_queue_pop_head(&mailer->claimed))) {
		mailer_add_result(mailer, job, OUTBOX_RETURNED, now, NULL, NULL);
		outbox_job_free(job);
	}
}

static bool
has_room(const struct mailer *mailer)
{
	const char *state_dir = mailer->options.state_dir;
	int64_t free_bytes = state_dir ? disk_get_free(state_dir) : -1;

	/* Unknown is no reason to keep mail back. */
	return free_bytes < 0 || free_bytes >= mailer->options.disk_least_bytes;
}

static bool
is_held(const struct mailer *mailer, const int *stop)
{
	const int *pause = mailer->options.pause;

	return (stop && g_atomic_int_get(stop)) || (pause && g_atomic_int_get(pause)) ||
	       !get_allowance(mailer, clock_get_now(mailer->options.clock)) ||
	       !has_room(mailer);
}

static bool
run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    GError **error)
{
	for (;;) {
		bool is_stopped = is_held(mailer, stop);

		heartbeat_arm(mailer->heartbeat, ROUND_S);
		if (is_stopped)
			return_claimed(mailer);
		if (is_stopped ? !commit_results(mailer, error)
		               : !commit_round(mailer, report, error))
			return false;
		while (!g_queue_is_empty(&mailer->claimed))
			if (!mailer_start_due(mailer, report, error))
				return false;
		if (mailer->in_flight)
			take_results(mailer, report);
		else if (!mailer->results->len && (is_stopped || !mailer->is_more))
			return true;
	}
}

/* After a failure of the store: what the senders still bring is kept for the next
 * run, and so is what was claimed and not handed out. */
static void
settle(struct mailer *mailer, struct mailer_report *report)
{
	while (mailer->in_flight) {
		struct delivery_task *delivery_task =
		    connection_pool_pop(mailer->senders, G_USEC_PER_SEC);

		heartbeat_arm(mailer->heartbeat, ROUND_S);
		if (!delivery_task)
			continue;
		mailer->in_flight--;
		mailer_record(mailer, delivery_task, report);
		delivery_task_free(delivery_task);
	}
	return_claimed(mailer);
	mailer->is_unsettled = true;
}

/* Record what a run before could not. */
static bool
catch_up(struct mailer *mailer, GError **error)
{
	GError *problem = NULL;

	if (!mailer->is_unsettled)
		return true;
	if (!commit_results(mailer, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT)) {
			g_propagate_error(error, problem);
			return false;
		}
		/* Refused for what they are; that would be so the next time too. */
		event_log(EVENT_OUTBOX_IN_DOUBT,
		    EVENT_INT("results", mailer->results->len),
		    EVENT_TEXT(problem->message));
		g_error_free(problem);
		g_ptr_array_set_size(mailer->results, 0);
	}
	/* What is SENDING now has lost its result: it may have arrived. */
	if (!recover(mailer, false, error))
		return false;
	mailer->is_unsettled = false;
	return true;
}

bool
mailer_run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    int64_t *next, GError **error)
{
	int64_t due, now;

	if (!outbox_retry_now(
	        mailer->options.store, clock_get_now(mailer->options.clock), error) ||
	    !catch_up(mailer, error))
		return false;
	if (!run(mailer, stop, report, error)) {
		settle(mailer, report);
		return false;
	}
	if (!outbox_load_next_try(mailer->options.store, &due, error))
		return false;
	now = clock_get_now(mailer->options.clock);
	*next = due;
	if (due >= 0 && mailer->breaker.state != BREAKER_CLOSED)
		*next = MAX(due, mailer->breaker.retry_at);
	if (due >= 0)
		*next = MAX(MAX(*next, token_bucket_get_next(&mailer->per_second, now)),
		    token_bucket_get_next(&mailer->per_hour, now));
	if (due >= 0 && !has_room(mailer))
		*next = MAX(*next, now + ROOM_S);
	return true;
}

bool
mailer_reload(struct mailer *mailer, const struct mailer_options *options,
    bool is_other_relay, GError **error)
{
	struct connection_pool *senders;

	g_assert(!mailer->in_flight && g_queue_is_empty(&mailer->claimed));
	senders = connection_pool_new(options->senders, options->new_transport,
	    options->data, options->heartbeats, options->stop_fd, error);
	if (!senders)
		return false;
	connection_pool_free(mailer->senders);
	mailer->senders = senders;
	mailer->options = *options;
	token_signer_free(mailer->tokens);
	mailer->tokens = token_signer_new(options->key);
	set_paces(mailer);
	if (is_other_relay) {
		domain_throttle_resume(mailer->domains);
		breaker_init(&mailer->breaker);
		mailer->policies = 0;
		mailer->is_proven = false;
	}
	return true;
}

void
mailer_set_heartbeat(struct mailer *mailer, struct heartbeat *heartbeat)
{
	mailer->heartbeat = heartbeat;
}

void
mailer_reset_breakers(struct mailer *mailer)
{
	/* Nothing is in flight between two runs: no trial can come back. */
	breaker_init(&mailer->breaker);
	domain_throttle_resume(mailer->domains);
	mailer->is_proven = false;
}

char *
mailer_format_relay(const struct mailer *mailer)
{
	int64_t now = clock_get_now(mailer->options.clock);
	g_autofree char *line = breaker_format(&mailer->breaker, now);
	g_autofree char *masked = event_mask_addresses(line);
	const char *name;
	unsigned paused = domain_throttle_count_paused(mailer->domains, now, &name);

	if (!paused)
		return g_steal_pointer(&masked);
	return g_strdup_printf("%s; %s%s refused by policy and left alone", masked,
	    name, paused > 1 ? " and others are" : " is");
}

void
mailer_relay_clear(struct mailer_relay *relay)
{
	g_clear_pointer(&relay->domain, g_free);
	*relay = (struct mailer_relay){0};
}

void
mailer_describe_relay(const struct mailer *mailer, struct mailer_relay *relay)
{
	const struct breaker *breaker = &mailer->breaker;
	int64_t now = clock_get_now(mailer->options.clock);
	const char *name;

	*relay = (struct mailer_relay){
	    .is_away = breaker->state != BREAKER_CLOSED,
	    .is_login = breaker->is_login,
	    .since = breaker->opened_at,
	    .retry_at = breaker->retry_at,
	};
	relay->paused = domain_throttle_count_paused(mailer->domains, now, &name);
	relay->domain = g_strdup(name);
}
