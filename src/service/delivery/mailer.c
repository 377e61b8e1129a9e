/*
 * mailer.c - queue runner: claims messages, loads them, records the results.
 */
#include "service/delivery/mailer.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/fnv1a.h"
#include "base/token.h"
#include "model/digest.h"
#include "net/stream.h"
#include "service/delivery/domain_throttle.h"
#include "service/delivery/mail_token.h"
#include "service/delivery/relay_state.h"
#include "service/delivery/send_limits.h"
#include "service/delivery/takeover.h"
#include "service/log/event.h"
#include "service/state/generation.h"
#include "store/admin/backup.h"
#include "store/core/instances.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"
#include "store/paper/paper_cache.h"
#include "transport/backoff.h"

/* ---- delivery threads, with one transport each ---- */

/* All members are owned, those that are not needed any more are NULL. */
struct delivery_task {
	struct delivery_job delivery_job; /* first: the transport returns it */
	struct outbox_job *job;           /* lends the recipient */
	struct digest *digest;            /* to be composed, or NULL: */
	GBytes *message;
	char *id;      /* envelope id, the same for every attempt */
	char *sender;  /* envelope sender */
	char *field;   /* "Name: value" and CRLF, before the message; or NULL */
	GError *error; /* instead of a result: it cannot be composed */
};

/* Whether messages may be sent: the claims are ours.  Checked before each is started,
 * and before its content is written, from any thread. */
static bool may_send(const struct mailer *mailer);

/* Idle time after which a connection is closed. */
#define IDLE_US (5 * G_USEC_PER_SEC)

/* Added to network timeouts, for slow disks and busy machines. */
#define SLACK_S 60

/* Maximum wait for a group of results to be complete. */
#define GROUP_US (G_USEC_PER_SEC / 100)

struct connection {
	GThread *thread;
	struct connection_pool *pool;
	struct transport *transport;
	struct heartbeat *heartbeat;
	size_t largest;             /* size of the current message, bytes */
	struct delivery_task *next; /* composed, not started; in the pool's lock */
};

/*
 * No wake-up is lost: a thread checks its condition in the lock before it waits, and
 * the thread that makes the condition true wakes it.  A connection counts as idle from
 * before that check until after its wait, so a task that is added while none is idle is
 * found by the next check; the end of a pause wakes all.  The mailer waits for exactly
 * `wanted` results, or for any in a pause; only results begin a pause.
 *
 * A task is in `tasks`, in `next` of one connection, with a transport, or in `done`.
 */
struct connection_pool {
	const struct mailer *mailer;
	struct mailer_options options;
	struct connection *all;
	unsigned started;
	GMutex lock; /* of the members below */
	GCond has_task, has_results;
	GQueue tasks;    /* of struct delivery_task * */
	unsigned idle;   /* number of connections that wait for a task */
	GPtrArray *done; /* of struct delivery_task *, with results */
	unsigned wanted; /* number of results that end a wait */
	/* The relay has failed, or nothing may be sent: no other message is started
	 * until that is known. */
	bool is_paused;
	bool is_ending;
};

static void
delivery_task_free(struct delivery_task *task)
{
	if (!task)
		return;
	g_free(task->job);
	digest_free(task->digest);
	g_clear_pointer(&task->message, g_bytes_unref);
	g_clear_error(&task->error);
	g_free(task->id);
	g_free(task->sender);
	g_free(task->field);
	delivery_clear(&task->delivery_job.result);
	g_free(task);
}

/* The transport calls back in time, whatever the relay does. */
static void
arm_heartbeat(struct connection *connection)
{
	heartbeat_arm(connection->heartbeat,
	    SLACK_S + transport_get_wait_s(connection->transport, connection->largest));
}

/* Whether other messages may fail for the same reason (relay_state.h). */
static bool
is_failure_of_relay(const struct delivery *delivery)
{
	return delivery->scope != DELIVERY_SCOPE_MESSAGE || delivery->is_policy;
}

static void
finish_task(struct connection_pool *pool, struct delivery_task *task)
{
	bool is_awaited;

	g_mutex_lock(&pool->lock);
	g_ptr_array_add(pool->done, task);
	pool->is_paused |= is_failure_of_relay(&task->delivery_job.result);
	is_awaited = pool->is_paused || pool->done->len == pool->wanted;
	g_mutex_unlock(&pool->lock);
	if (is_awaited)
		g_cond_signal(&pool->has_results);
}

static void
prepend(const char *field, GBytes **message)
{
	g_autoptr(GBytes) bare = *message;
	gsize size;
	const char *bytes = g_bytes_get_data(bare, &size);
	GString *whole = g_string_sized_new(strlen(field) + size);

	g_string_append(whole, field);
	g_string_append_len(whole, bytes, (gssize)size);
	*message = g_string_free_to_bytes(whole);
}

static bool
compose(struct connection_pool *pool, struct delivery_task *task)
{
	if (!task->message)
		task->message = renderer_compose(
		    pool->options.renderer, task->digest, &task->error);
	g_clear_pointer(&task->digest, digest_free);
	if (!task->message)
		return false;
	if (task->field)
		prepend(task->field, &task->message);
	task->job->message_hash = fnv1a_hash_bytes(task->message);
	task->delivery_job.envelope = (struct envelope){
	    .id = task->id,
	    .sender = task->sender,
	    .recipient = task->job->recipient,
	    .message = task->message,
	};
	return true;
}

/* @param is_early  leave tasks to connections that are idle */
static struct delivery_task *
take_task(struct connection *connection, bool is_early)
{
	struct connection_pool *pool = connection->pool;
	struct delivery_task *task = NULL;

	g_mutex_lock(&pool->lock);
	if (connection->next && !is_early && !pool->is_paused)
		task = g_steal_pointer(&connection->next);
	else if (!connection->next && !pool->is_paused &&
	         pool->tasks.length > (is_early ? pool->idle : 0))
		task = g_queue_pop_head(&pool->tasks);
	g_mutex_unlock(&pool->lock);
	return task;
}

static struct delivery_task *
take_composed(struct connection *connection, bool is_early)
{
	struct delivery_task *task;

	while ((task = take_task(connection, is_early))) {
		arm_heartbeat(connection);
		/* A prepared message is composed already. */
		if (task->delivery_job.envelope.message ||
		    compose(connection->pool, task))
			break;
		finish_task(connection->pool, task);
	}
	return task;
}

static bool
may_write(void *data)
{
	return may_send(((const struct connection *)data)->pool->mailer);
}

/* Whether the relay has failed while a message was composed, or nothing may be sent any
 * more: it is not started then. */
static bool
keep_if_paused(struct connection *connection, struct delivery_task *task)
{
	struct connection_pool *pool = connection->pool;
	bool is_paused;

	g_mutex_lock(&pool->lock);
	is_paused = pool->is_paused |= !may_write(connection);
	if (is_paused)
		connection->next = task;
	g_mutex_unlock(&pool->lock);
	return is_paused;
}

/* Callbacks of struct job_queue (transport/transport.h). */
static struct delivery_job *
next_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = take_composed(connection, false);

	if (!task || keep_if_paused(connection, task))
		return NULL;
	connection->largest = MAX(connection->largest, g_bytes_get_size(task->message));
	arm_heartbeat(connection);
	return &task->delivery_job;
}

static void
prepare_task(void *data)
{
	struct connection *connection = data;
	struct delivery_task *task = take_composed(connection, true);

	if (!task)
		return;
	g_mutex_lock(&connection->pool->lock);
	connection->next = task;
	g_mutex_unlock(&connection->pool->lock);
}

static void
free_message(void *data, struct delivery_job *delivery_job)
{
	struct delivery_task *task = (struct delivery_task *)delivery_job;

	arm_heartbeat(data);
	delivery_job->envelope.message = NULL;
	g_clear_pointer(&task->message, g_bytes_unref);
}

static void
put_result(void *data, struct delivery_job *delivery_job)
{
	struct connection *connection = data;

	arm_heartbeat(connection);
	finish_task(connection->pool, (struct delivery_task *)delivery_job);
}

enum wait {
	WAIT_TASK,    /* there is a task */
	WAIT_TIMEOUT, /* none for IDLE_US */
	WAIT_END,     /* there will be none */
};

/* In the lock. */
static bool
has_task(const struct connection *connection)
{
	const struct connection_pool *pool = connection->pool;

	return (connection->next || pool->tasks.length) && !pool->is_paused;
}

static enum wait
wait_for_task(struct connection *connection, bool is_idle)
{
	struct connection_pool *pool = connection->pool;
	int64_t now = g_get_monotonic_time();
	int64_t end = is_idle ? INT64_MAX : now + IDLE_US;
	enum wait result;

	g_mutex_lock(&pool->lock);
	pool->idle++;
	while (!has_task(connection) && !pool->is_ending && now < end) {
		int64_t beat_s = heartbeat_idle(connection->heartbeat);

		if (is_idle && !beat_s)
			g_cond_wait(&pool->has_task, &pool->lock);
		else
			g_cond_wait_until(&pool->has_task, &pool->lock,
			    beat_s ? MIN(end, now + beat_s * G_USEC_PER_SEC) : end);
		now = g_get_monotonic_time();
	}
	pool->idle--;
	if (has_task(connection))
		result = WAIT_TASK;
	else
		result = pool->is_ending ? WAIT_END : WAIT_TIMEOUT;
	g_mutex_unlock(&pool->lock);
	return result;
}

static gpointer
run_connection(gpointer data)
{
	struct connection *connection = data;
	const struct job_queue queue = {
	    .next = next_task,
	    .may_write = may_write,
	    .written = free_message,
	    .waiting = prepare_task,
	    .done = put_result,
	    .data = connection,
	};
	enum wait wait = WAIT_TASK;

	while (wait != WAIT_END) {
		wait = wait_for_task(connection, wait == WAIT_TIMEOUT);
		connection->largest = 0;
		arm_heartbeat(connection);
		if (wait == WAIT_TASK)
			transport_run(connection->transport, &queue);
		else
			transport_close(connection->transport);
	}
	return NULL;
}

/* Stop the threads, which finish their tasks. */
static void
connection_pool_free(struct connection_pool *pool)
{
	if (!pool)
		return;
	g_mutex_lock(&pool->lock);
	pool->is_paused = false;
	pool->is_ending = true;
	g_cond_broadcast(&pool->has_task);
	g_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->started; i++) {
		if (pool->all[i].thread)
			g_thread_join(pool->all[i].thread);
		transport_free(pool->all[i].transport);
		heartbeat_free(pool->all[i].heartbeat);
	}
	g_mutex_clear(&pool->lock);
	g_cond_clear(&pool->has_task);
	g_cond_clear(&pool->has_results);
	g_ptr_array_unref(pool->done);
	g_free(pool->all);
	g_free(pool);
}

/*
 * Start the threads.
 *
 * @param options  copied
 * @return NULL if a thread cannot be started
 */
static struct connection_pool *
connection_pool_new(
    const struct mailer *mailer, const struct mailer_options *options, GError **error)
{
	struct connection_pool *pool = g_new0(struct connection_pool, 1);

	pool->mailer = mailer;
	pool->options = *options;
	g_mutex_init(&pool->lock);
	g_cond_init(&pool->has_task);
	g_cond_init(&pool->has_results);
	g_queue_init(&pool->tasks);
	pool->done = g_ptr_array_new();
	pool->all = g_new0(struct connection, options->connections);
	for (unsigned i = 0; i < options->connections; i++) {
		struct connection *connection = &pool->all[i];
		g_autofree char *name = g_strdup_printf("connection-%u", i + 1);

		connection->pool = pool;
		connection->transport = options->new_transport(options->data);
		connection->transport->stop_fd = options->stop_fd;
		connection->heartbeat = heartbeat_new(options->heartbeats, name);
		connection->thread =
		    g_thread_try_new(name, run_connection, connection, error);
		pool->started++;
		if (!connection->thread) {
			connection_pool_free(pool);
			return NULL;
		}
	}
	return pool;
}

static enum outbox_priority
get_priority(const struct delivery_task *task)
{
	return task->job->priority;
}

/* Queue a task, by priority. @param task  taken */
static void
connection_pool_push(struct connection_pool *pool, struct delivery_task *task)
{
	bool is_awaited;
	GList *at;

	g_mutex_lock(&pool->lock);
	at = pool->tasks.tail;
	while (at && get_priority(at->data) < get_priority(task))
		at = at->prev;
	g_queue_insert_after(&pool->tasks, at, task);
	is_awaited = pool->idle > 0;
	g_mutex_unlock(&pool->lock);
	if (is_awaited)
		g_cond_signal(&pool->has_task);
}

/* Take back a task that is not started yet. @return owned by the caller, or NULL */
static struct delivery_task *
connection_pool_reclaim(struct connection_pool *pool)
{
	struct delivery_task *task;

	g_mutex_lock(&pool->lock);
	task = g_queue_pop_head(&pool->tasks);
	for (unsigned i = 0; !task && i < pool->started; i++)
		task = g_steal_pointer(&pool->all[i].next);
	g_mutex_unlock(&pool->lock);
	return task;
}

/* In the lock. @return false on timeout */
static bool
wait_for_results(struct connection_pool *pool, unsigned count, int64_t wait_us)
{
	int64_t end = g_get_monotonic_time() + wait_us;

	pool->wanted = count;
	while (pool->done->len < count && !(pool->is_paused && pool->done->len))
		if (!g_cond_wait_until(&pool->has_results, &pool->lock, end))
			return false;
	return true;
}

/*
 * Collect tasks with their results: all there are, once there are enough, or a few
 * milliseconds after the call any.
 *
 * After a failure of the relay no task is started until the next call.
 *
 * @param count    enough results, at least 1
 * @param wait_us  timeout for any result
 * @return of struct delivery_task *, owned by the caller; empty on timeout
 */
static GPtrArray *
connection_pool_collect(struct connection_pool *pool, unsigned count, int64_t wait_us)
{
	GPtrArray *done;

	g_mutex_lock(&pool->lock);
	if (pool->is_paused)
		g_cond_broadcast(&pool->has_task);
	pool->is_paused = false;
	if (!wait_for_results(pool, count, MIN(GROUP_US, wait_us)))
		wait_for_results(pool, 1, wait_us);
	done = g_steal_pointer(&pool->done);
	pool->done = g_ptr_array_new();
	g_mutex_unlock(&pool->lock);
	return done;
}

/* Maximum time that a message to a throttled domain is postponed by. */
#define POSTPONE_MAX_S (20 * CLOCK_HOUR_S)

/* Maximum number of messages claimed without waiting for a result. */
#define ROUND_MESSAGES 100

/* Maximum number of messages whose recipients are checked at once. */
#define GROUP_MESSAGES 50

/* Timeout for a result, before limits are checked again. */
#define RESULT_US (G_USEC_PER_SEC / 10)

/* Interval of checks while the disk is full. */
#define DISK_CHECK_S 60

/* Heartbeat timeout of one round: claiming, loading or committing a group. */
#define ROUND_S (10 * 60)

struct mailer {
	struct mailer_options options;
	struct connection_pool *pool;
	struct paper_cache *paper_cache; /* for composing digests */
	struct token_signer *tokens;
	struct heartbeat *heartbeat; /* of the thread, or NULL */
	struct relay_state relay;
	GQueue claimed;     /* of struct outbox_job *, not with a connection yet */
	GPtrArray *results; /* of struct outbox_result *, not committed yet */
	unsigned in_flight;
	struct send_limits limits;
	struct domain_throttle *domains;
	struct generation *generation; /* NULL without a state directory */
	bool is_superseded;            /* logged: another machine has a newer copy */
	int64_t holder;      /* of the claimed messages; constant while there are any */
	bool needs_recovery; /* the store failed: SENDING rows may have lost their
	                        results */
	bool is_alone;       /* the message in flight is to be sent alone */
	bool is_more;        /* more messages are due than the last claim examined */
};

/* ---- results ---- */

static struct outbox_result *
add_result(struct mailer *mailer, const struct outbox_job *job, enum outbox_status end,
    int64_t next_try_at, const struct delivery *delivery, const char *reply)
{
	struct outbox_result *result = g_new0(struct outbox_result, 1);

	if (end == OUTBOX_SENT || end == OUTBOX_UNKNOWN)
		send_limits_count(&mailer->limits);
	result->id = job->id;
	result->end = end;
	result->next_try_at = next_try_at;
	result->was_unknown = job->was_unknown;
	result->message_hash = job->message_hash;
	result->copies = job->copies;
	result->crashes = job->crashes;
	result->code = delivery && delivery->code ? delivery->code : -1;
	result->stage = delivery ? (int)delivery->stage : -1;
	result->reply = g_strdup(delivery ? delivery->text : reply);
	g_ptr_array_add(mailer->results, result);
	return result;
}

/* Maximum time in the queue, s. */
static int64_t
get_max_age(const struct mailer *mailer, enum outbox_kind kind)
{
	switch (kind) {
	case OUTBOX_DIGEST:
		return mailer->options.expire_s;
	case OUTBOX_CONFIRMATION:
		return BACKOFF_AGE_CONFIRMATION_S;
	case OUTBOX_REPLY:
	case OUTBOX_NOTICE:
		return BACKOFF_AGE_ANSWER_S;
	}
	g_assert_not_reached();
}

/*
 * Get the time of the next attempt; -1 after the maximum time in the queue.
 *
 * @param attempts  that count for the backoff
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
	    .expire_s = get_max_age(mailer, job->kind),
	};
	int64_t next;

	return backoff_next(&attempt, &next, NULL) ? next : -1;
}

/* Connections are being cut: a timeout may be our doing. */
static bool
is_shutting_down(const struct mailer *mailer)
{
	const int *stop_fd = mailer->options.stop_fd;

	return stop_fd && stream_is_stopped(*stop_fd);
}

/* For the log: the event, the next attempt or -1, and copies that may have arrived. */
struct verdict {
	enum event_kind kind;
	int64_t next;
	unsigned copies;
};

static struct verdict
record_deferred(struct mailer *mailer, const struct delivery_task *task, int64_t now,
    struct mailer_report *report)
{
	const struct outbox_job *job = task->job;
	/* After DATA the message counts as tried, whatever the cause. */
	bool is_tried = task->delivery_job.result.scope == DELIVERY_SCOPE_MESSAGE ||
	                task->delivery_job.result.stage >= SMTP_STAGE_DATA;
	/* A message that we cut off does not expire for that. */
	int64_t next = !is_tried && is_shutting_down(mailer)
	                   ? now
	                   : next_try(mailer, job, job->attempt, now);
	struct verdict verdict = {
	    EVENT_DELIVERY_DEFERRED, is_tried ? next : -1, job->copies};
	enum outbox_status end = is_tried ? OUTBOX_DEFERRED : OUTBOX_RETURNED;

	if (next < 0) {
		/* An earlier copy may have arrived: its papers count as delivered. */
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
	add_result(mailer, job, end, next, &task->delivery_job.result, NULL);
	return verdict;
}

static struct verdict
record_unknown(struct mailer *mailer, const struct delivery_task *task, int64_t now,
    struct mailer_report *report)
{
	const struct outbox_job *job = task->job;
	unsigned copies = job->copies + 1;
	int64_t next =
	    copies < OUTBOX_COPIES_MAX ? next_try(mailer, job, copies, now) : -1;

	report->unknown++;
	add_result(mailer, job, OUTBOX_UNKNOWN, next, &task->delivery_job.result, NULL)
	    ->copies = copies;
	return (struct verdict){
	    next < 0 ? EVENT_DELIVERY_EXPIRED : EVENT_DELIVERY_UNKNOWN, next, copies};
}

static void
log_delivery(
    const struct delivery_task *task, const struct verdict *verdict, int64_t now)
{
	const struct delivery *delivery = &task->delivery_job.result;
	bool is_sent = delivery->outcome == DELIVERY_SENT;

	event_log(verdict->kind, EVENT_INT("outbox", task->job->id),
	    EVENT_INT("attempt", task->job->attempt),
	    EVENT_INT("copies", verdict->copies ? (int64_t)verdict->copies : -1),
	    EVENT_WORD(
	        "scope", is_sent ? NULL : delivery_scope_get_name(delivery->scope)),
	    EVENT_WORD("stage", is_sent ? NULL : smtp_stage_get_name(delivery->stage)),
	    EVENT_INT("code", delivery->code), EVENT_WORD("status", delivery->enhanced),
	    EVENT_SECONDS("next_in", verdict->next < 0 ? -1 : verdict->next - now));
	event_log(EVENT_DELIVERY_REPLY, EVENT_INT("outbox", task->job->id),
	    EVENT_WORD("recipient", task->job->recipient), EVENT_TEXT(delivery->text));
}

static void
record_delivery(
    struct mailer *mailer, struct delivery_task *task, struct mailer_report *report)
{
	const struct delivery *delivery = &task->delivery_job.result;
	const struct outbox_job *job = task->job;
	int64_t now = clock_get_now(mailer->options.clock);
	struct verdict verdict = {EVENT_DELIVERY_SENT, -1, job->copies};

	domain_throttle_classify(&task->delivery_job.result);
	switch (delivery->outcome) {
	case DELIVERY_SENT:
		report->sent++;
		add_result(mailer, job, OUTBOX_SENT, -1, delivery, NULL);
		break;
	case DELIVERY_DEFERRED:
		verdict = record_deferred(mailer, task, now, report);
		break;
	case DELIVERY_FAILED:
		report->failed++;
		verdict.kind = EVENT_DELIVERY_FAILED;
		add_result(mailer, job,
		    delivery->stage >= SMTP_STAGE_DATA ? OUTBOX_REJECTED
		                                       : OUTBOX_FAILED,
		    -1, delivery, NULL);
		break;
	case DELIVERY_UNKNOWN:
		verdict = record_unknown(mailer, task, now, report);
		break;
	}
	/* A failed trial is logged for the relay only: its message was not tried. */
	if (mailer->relay.breaker != BREAKER_HALF_OPEN ||
	    delivery->scope == DELIVERY_SCOPE_MESSAGE ||
	    delivery->stage >= SMTP_STAGE_DATA)
		log_delivery(task, &verdict, now);
	domain_throttle_report(mailer->domains, job->recipient, delivery, now);
	relay_state_report(&mailer->relay, job->recipient, delivery, now);
}

/* A message that cannot be composed fails, but an earlier copy may have arrived. */
static void
record_broken(struct mailer *mailer, const struct outbox_job *job,
    const GError *problem, struct mailer_report *report)
{
	event_log(EVENT_DIGEST_BROKEN, EVENT_INT("digest", job->digest_id),
	    EVENT_INT("outbox", job->id), EVENT_TEXT(problem->message));
	report->failed++;
	add_result(mailer, job, job->was_unknown ? OUTBOX_UNKNOWN : OUTBOX_FAILED, -1,
	    NULL, problem->message);
}

/* ---- starting ---- */

static void
count_cancelled(const struct outbox_job *job, struct mailer_report *report)
{
	report->cancelled++;
	event_log(EVENT_DELIVERY_CANCELLED, EVENT_INT("outbox", job->id));
}

/* The bytes will differ from those sent before. */
static void
report_change(const struct mailer *mailer, const struct outbox_job *job)
{
	const char *key = renderer_get_cache_key(mailer->options.renderer);

	if (job->cache_key && !g_str_equal(job->cache_key, key))
		event_log(EVENT_DIGEST_CHANGED, EVENT_INT("digest", job->digest_id),
		    EVENT_INT("outbox", job->id));
}

static void
cancel_job(struct mailer *mailer, struct outbox_job *job, struct mailer_report *report)
{
	count_cancelled(job, report);
	add_result(mailer, job, OUTBOX_CANCELLED, -1, NULL, NULL);
	g_free(job);
}

static bool
allow_domain(void *data, const char *recipient, int64_t *next_at)
{
	struct mailer *mailer = data;
	int64_t now = clock_get_now(mailer->options.clock);
	int64_t at = now;

	if (domain_throttle_allow(mailer->domains, recipient, now, &at))
		return true;
	/* Messages that wait for more than a day are retried by outbox_retry_now(). */
	*next_at = MIN(at, now + POSTPONE_MAX_S);
	return false;
}

/*
 * Check breaker and rate limits; during a trial other messages are returned unclaimed.
 */
static bool
take_permission(struct mailer *mailer, struct outbox_job *job)
{
	int64_t now = clock_get_now(mailer->options.clock);

	if (relay_state_allow(&mailer->relay, now)) {
		send_limits_take(&mailer->limits, now);
		return true;
	}
	add_result(mailer, job, OUTBOX_RETURNED, now, NULL, NULL);
	return false;
}

/*
 * Set the envelope sender: a VERP address for digests and notices to subscribers.
 * Replies keep the null sender, and confirmations the address they were stored with.
 */
static void
set_sender(const struct mailer *mailer, struct delivery_task *task)
{
	const struct subaddress_base *bounces = mailer->options.bounces;
	const struct outbox_job *job = task->job;
	g_autofree char *token = NULL;

	if (bounces && task->digest)
		token = mail_token_format_bounce(
		    mailer->tokens, task->digest->id, task->digest->created_at);
	else if (bounces && job->kind == OUTBOX_NOTICE && job->subscriber_id > 0)
		token = mail_token_format_bounce_mail(
		    mailer->tokens, job->id, job->queued_at);
	task->sender =
	    token ? subaddress_format(bounces, SUBADDRESS_BOUNCE, token)
	          : g_strdup(job->sender ? job->sender : mailer->options.envelope_from);
	if (token && !bounces->delimiter)
		task->field =
		    g_strconcat(SUBADDRESS_BOUNCE_FIELD, ": ", token, "\r\n", NULL);
}

/* @param job  taken, as are digest and message */
static struct delivery_task *
new_task(const struct mailer *mailer, struct outbox_job *job, struct digest *digest,
    GBytes *message)
{
	struct delivery_task *task = g_new0(struct delivery_task, 1);

	task->job = job;
	task->digest = digest;
	task->message = message;
	task->id =
	    mail_token_format_envelope(mailer->tokens, MAX(job->digest_id, 0), job->id);
	set_sender(mailer, task);
	return task;
}

/*
 * Load the digest of a message, or the bytes of a system mail; neither exists if the
 * subscriber was erased meanwhile.
 *
 * @param problem  set if the digest is damaged
 */
static bool
load_content(struct mailer *mailer, const struct outbox_job *job,
    struct digest **digest, GBytes **message, GError **problem, GError **error)
{
	struct store *store = mailer->options.store;

	if (job->kind != OUTBOX_DIGEST)
		return outbox_find_mail(store, job->id, message, error);
	*digest =
	    digests_load_shared(store, mailer->paper_cache, job->digest_id, problem);
	if (*digest || g_error_matches(*problem, PB_ERROR, PB_ERROR_DAMAGED) ||
	    g_error_matches(*problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return true;
	return pb_error_forward(error, problem);
}

/* Start the first claimed message. */
static bool
start_next(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	struct outbox_job *job = g_queue_peek_head(&mailer->claimed);
	pb_auto(digest) digest = NULL;
	g_autoptr(GBytes) message = NULL;
	g_autoptr(GError) problem = NULL;

	if (!load_content(mailer, job, &digest, &message, &problem, error))
		return false;
	g_queue_pop_head(&mailer->claimed);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_DAMAGED)) {
		record_broken(mailer, job, problem, report);
		g_free(job);
		return true;
	}
	if (job->is_cancelled || (!digest && !message)) {
		cancel_job(mailer, job, report);
		return true;
	}
	if (!take_permission(mailer, job)) {
		g_free(job);
		return true;
	}
	if (digest)
		report_change(mailer, job);
	mailer->in_flight++;
	connection_pool_push(mailer->pool,
	    new_task(mailer, job, g_steal_pointer(&digest), g_steal_pointer(&message)));
	return true;
}

/* Start the first claimed messages. */
static bool
start_group(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	struct outbox_job *jobs[GROUP_MESSAGES] = {0};
	unsigned count = 0;
	bool is_ok;

	for (GList *at = mailer->claimed.head; at && count < GROUP_MESSAGES;
	     at = at->next)
		jobs[count++] = at->data;
	is_ok = outbox_mark_cancelled(
	    mailer->options.store, mailer->options.key, jobs, count, error);
	for (unsigned i = 0; is_ok && i < count; i++)
		is_ok = start_next(mailer, report, error);
	return is_ok;
}

/*
 * Start all claimed messages from one snapshot of the store, without a lock for each.
 * Recipients are checked again: they may have left since the claim.
 */
static bool
start_claimed(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	pb_snapshot snapshot = {0};

	if (g_queue_is_empty(&mailer->claimed))
		return true;
	if (!store_begin_reading(mailer->options.store, &snapshot, error))
		return false;
	while (!g_queue_is_empty(&mailer->claimed))
		if (!start_group(mailer, report, error))
			return false;
	return true;
}

/* ---- the queue run ---- */

static void
set_rate_limits(struct mailer *mailer)
{
	send_limits_set(&mailer->limits, mailer->options.per_second,
	    mailer->options.per_hour, mailer->options.per_day);
	domain_throttle_set_limit(mailer->domains, mailer->options.domain_per_hour);
}

/* Of store_transact_rows(), with a mailer. */
static bool
save_results(struct store *store, void *data, GError **error)
{
	const struct mailer *mailer = data;

	return domain_throttle_save(mailer->domains, store, error) &&
	       outbox_save_results(
	           store, mailer->results, clock_get_now(mailer->options.clock), error);
}

/* On a shared store another instance has taken them over; else they were erased. */
static void
report_fenced(const struct mailer *mailer)
{
	unsigned count = 0;

	if (!store_is_shared(mailer->options.store))
		return;
	for (unsigned i = 0; i < mailer->results->len; i++)
		count += ((struct outbox_result *)mailer->results->pdata[i])->is_fenced;
	if (!count)
		return;
	event_log(EVENT_OUTBOX_FENCED, EVENT_INT("results", count));
	if (mailer->options.lease)
		lease_suspend(mailer->options.lease);
}

static void
drop_results(struct mailer *mailer)
{
	report_fenced(mailer);
	g_ptr_array_set_size(mailer->results, 0);
	domain_throttle_drop(mailer->domains);
}

/* One line for the messages of a commit: the queue has each of them. */
static void
log_sent(const struct mailer *mailer)
{
	int64_t count = 0, first = -1, last = -1;

	for (unsigned i = 0; i < mailer->results->len; i++) {
		const struct outbox_result *result = mailer->results->pdata[i];

		if (result->end != OUTBOX_SENT)
			continue;
		first = count++ ? MIN(first, result->id) : result->id;
		last = MAX(last, result->id);
	}
	if (count)
		event_log(EVENT_DELIVERIES_SENT, EVENT_INT("sent", count),
		    EVENT_INT("first", first), EVENT_INT("last", last));
}

static bool
commit_results(struct mailer *mailer, GError **error)
{
	if (!mailer->results->len)
		return true;
	if (!store_transact_rows(mailer->options.store, save_results, mailer, error))
		return false;
	log_sent(mailer);
	drop_results(mailer);
	return true;
}

/* @param is_crash  of instances that have ended; else of our own, without results */
static bool
recover_in_flight(struct mailer *mailer, bool is_crash, GError **error)
{
	const struct mailer_options *options = &mailer->options;
	int64_t now = clock_get_now(options->clock);
	unsigned count;

	if (!takeover_run(options->store, options->key, is_crash, now, &count, error))
		return false;
	for (unsigned i = 0; i < count; i++)
		send_limits_count(&mailer->limits);
	return true;
}

static bool
may_send(const struct mailer *mailer)
{
	return lease_is_held(mailer->options.lease, mailer->holder);
}

/* While there are no claims. */
static void
take_holder(struct mailer *mailer)
{
	if (!mailer->options.lease)
		return;
	mailer->holder = lease_get_holder(mailer->options.lease);
	store_set_holder(mailer->options.store, mailer->holder);
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
	mailer->domains = domain_throttle_new(options->domain_per_hour);
	set_rate_limits(mailer);
	take_holder(mailer);
	if (options->state_dir)
		mailer->generation = generation_new(options->store, options->state_dir,
		    clock_get_now(options->clock), error);
	if ((!options->state_dir || mailer->generation) &&
	    recover_in_flight(mailer, true, error))
		mailer->pool = connection_pool_new(mailer, options, error);
	if (!mailer->pool)
		g_clear_pointer(&mailer, mailer_free);
	return mailer;
}

void
mailer_free(struct mailer *mailer)
{
	if (!mailer)
		return;
	connection_pool_free(mailer->pool);
	domain_throttle_free(mailer->domains);
	generation_free(mailer->generation);
	relay_state_clear(&mailer->relay);
	paper_cache_free(mailer->paper_cache);
	token_signer_free(mailer->tokens);
	g_ptr_array_unref(mailer->results);
	g_queue_clear_full(&mailer->claimed, g_free);
	g_free(mailer);
}

/* Wait for results, and record all that are available. */
static void
collect_results(struct mailer *mailer, unsigned count, struct mailer_report *report)
{
	g_autoptr(GPtrArray) done =
	    connection_pool_collect(mailer->pool, count, RESULT_US);

	mailer->in_flight -= done->len;
	for (unsigned i = 0; i < done->len; i++) {
		struct delivery_task *task = done->pdata[i];

		if (task->error)
			record_broken(mailer, task->job, task->error, report);
		else
			record_delivery(mailer, task, report);
		delivery_task_free(task);
	}
}

/*
 * How many more messages may be in flight.  The first is sent alone: if the relay is
 * down or rejects the login, other connections would fail as well, and repeated login
 * failures may lock the account.
 */
static unsigned
get_free_slots(const struct mailer *mailer)
{
	unsigned max = mailer->relay.is_proven
	                   ? MAILER_IN_FLIGHT_MAX(mailer->options.connections)
	                   : 1;

	if (mailer->is_alone && mailer->in_flight)
		return 0;
	return max > mailer->in_flight ? max - mailer->in_flight : 0;
}

/* Maximum number of messages to claim now. */
static unsigned
get_limit(const struct mailer *mailer, int64_t now)
{
	unsigned max = MIN(get_free_slots(mailer), ROUND_MESSAGES);

	max = MIN(max, relay_state_get_limit(&mailer->relay, now));
	return send_limits_get_available(&mailer->limits, now, max, mailer->in_flight);
}

/* A transaction of commit_round(). */
struct round {
	struct mailer *mailer;
	unsigned limit;  /* of messages to claim */
	GPtrArray *jobs; /* of struct outbox_job *, claimed; or NULL */
	bool is_more;
};

static bool
save_and_claim(struct store *store, void *data, GError **error)
{
	struct round *round = data;
	struct mailer *mailer = round->mailer;
	const struct outbox_claim request = {
	    .now = clock_get_now(mailer->options.clock),
	    .limit = round->limit,
	    .is_idle = mailer->in_flight == 0,
	    .cache_key = renderer_get_cache_key(mailer->options.renderer),
	    .key = mailer->options.key,
	    .allow = allow_domain,
	    .data = mailer,
	};

	g_clear_pointer(&round->jobs, g_ptr_array_unref);
	domain_throttle_undo(mailer->domains);
	if (!save_results(store, mailer, error))
		return false;
	round->jobs = outbox_claim(store, &request, &round->is_more, error);
	return round->jobs != NULL;
}

static void
take_claimed(struct mailer *mailer, GPtrArray *jobs, struct mailer_report *report)
{
	for (unsigned i = 0; i < jobs->len; i++) {
		struct outbox_job *job = g_steal_pointer(&jobs->pdata[i]);

		if (!job->is_cancelled) {
			mailer->is_alone = outbox_is_sent_alone(job);
			g_queue_push_tail(&mailer->claimed, job);
			continue;
		}
		count_cancelled(job, report);
		g_free(job);
	}
}

static bool
save_generation(struct mailer *mailer, GError **error)
{
	return !mailer->generation || g_queue_is_empty(&mailer->claimed) ||
	       generation_save(mailer->generation, mailer->options.store, error);
}

/*
 * Record all results and claim the next messages in one commit, as soon as there is a
 * result: messages that were accepted but not recorded are sent again after a crash.
 * Only messages that connections have room for are SENDING.
 */
static bool
commit_round(struct mailer *mailer, struct mailer_report *report, GError **error)
{
	int64_t now = clock_get_now(mailer->options.clock);
	struct round round = {.mailer = mailer};
	bool is_ok;

	/* Reports may have paused a domain meanwhile. */
	if (!domain_throttle_load(mailer->domains, mailer->options.store, now, error) ||
	    !send_limits_update(&mailer->limits, mailer->options.store, now, error))
		return false;
	round.limit = get_limit(mailer, now);
	mailer->is_more = false;
	if (!round.limit)
		return commit_results(mailer, error);
	is_ok =
	    store_transact_rows(mailer->options.store, save_and_claim, &round, error);
	if (is_ok) {
		domain_throttle_commit(mailer->domains);
		mailer->is_more = round.is_more;
		log_sent(mailer);
		drop_results(mailer);
		take_claimed(mailer, round.jobs, report);
	} else {
		domain_throttle_undo(mailer->domains);
	}
	g_clear_pointer(&round.jobs, g_ptr_array_unref);
	return is_ok && save_generation(mailer, error);
}

/*
 * Return claimed messages that are not started yet: the breaker is open, the lease has
 * ended, or the run is to end.  A trial is completed while the lease is held.
 */
static void
return_claimed(struct mailer *mailer)
{
	int64_t now = clock_get_now(mailer->options.clock);
	struct outbox_job *job;
	struct delivery_task *task;

	if (mailer->relay.breaker == BREAKER_HALF_OPEN && !may_send(mailer))
		relay_state_reset(&mailer->relay);
	while (mailer->relay.breaker != BREAKER_HALF_OPEN &&
	       (task = connection_pool_reclaim(mailer->pool))) {
		mailer->in_flight--;
		add_result(mailer, task->job, OUTBOX_RETURNED, now, NULL, NULL);
		delivery_task_free(task);
	}
	while ((job = g_queue_pop_head(&mailer->claimed))) {
		add_result(mailer, job, OUTBOX_RETURNED, now, NULL, NULL);
		g_free(job);
	}
}

static bool
has_disk_space(const struct mailer *mailer)
{
	const char *state_dir = mailer->options.state_dir;
	int64_t free_bytes = state_dir ? file_get_free_bytes(state_dir) : -1;

	/* Unknown free space does not stop mail. */
	return free_bytes < 0 || free_bytes >= mailer->options.min_free_bytes;
}

static bool
must_stop(const struct mailer *mailer, const int *stop)
{
	const int *pause = mailer->options.pause;

	return !may_send(mailer) || (stop && g_atomic_int_get(stop)) ||
	       (pause && g_atomic_int_get(pause)) ||
	       !relay_state_get_limit(
	           &mailer->relay, clock_get_now(mailer->options.clock)) ||
	       !has_disk_space(mailer);
}

static bool
run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    GError **error)
{
	for (;;) {
		bool is_stopped = must_stop(mailer, stop);

		heartbeat_arm(mailer->heartbeat, ROUND_S);
		if (is_stopped)
			return_claimed(mailer);
		if (is_stopped ? !commit_results(mailer, error)
		               : !commit_round(mailer, report, error))
			return false;
		if (!start_claimed(mailer, report, error))
			return false;
		/* Connections have the other half meanwhile. */
		if (mailer->in_flight)
			collect_results(mailer, (mailer->in_flight + 1) / 2, report);
		else if (!mailer->results->len && (is_stopped || !mailer->is_more))
			return true;
	}
}

/* After a store failure: collect the results in flight for the next run. */
static void
drain(struct mailer *mailer, struct mailer_report *report)
{
	while (mailer->in_flight) {
		heartbeat_arm(mailer->heartbeat, ROUND_S);
		if (!may_send(mailer))
			return_claimed(mailer);
		collect_results(mailer, mailer->in_flight, report);
	}
	return_claimed(mailer);
	mailer->needs_recovery = true;
}

/* Record results that the last run could not. */
static bool
recover_results(struct mailer *mailer, GError **error)
{
	GError *local_error = NULL;

	if (!mailer->needs_recovery)
		return true;
	if (!commit_results(mailer, &local_error)) {
		if (!g_error_matches(local_error, PB_ERROR, PB_ERROR_INPUT)) {
			g_propagate_error(error, local_error);
			return false;
		}
		/* Invalid results would be rejected again. */
		event_log(EVENT_OUTBOX_IN_DOUBT,
		    EVENT_INT("results", mailer->results->len),
		    EVENT_TEXT(local_error->message));
		g_error_free(local_error);
		drop_results(mailer);
	}
	/* SENDING messages have lost their results: they may have arrived. */
	if (!recover_in_flight(mailer, false, error))
		return false;
	mailer->needs_recovery = false;
	return true;
}

/* Log that nothing is sent, once. */
static bool
check_superseded(struct mailer *mailer, GError **error)
{
	bool was_superseded = mailer->is_superseded;

	if (!backup_is_superseded(mailer->options.store, &mailer->is_superseded, error))
		return false;
	if (mailer->is_superseded && !was_superseded)
		event_log(EVENT_STORE_SUPERSEDED);
	return true;
}

bool
mailer_run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    int64_t *next, GError **error)
{
	int64_t due, now;

	if (!outbox_retry_now(
	        mailer->options.store, clock_get_now(mailer->options.clock), error) ||
	    !recover_results(mailer, error))
		return false;
	take_holder(mailer);
	if (!run(mailer, stop, report, error)) {
		drain(mailer, report);
		return false;
	}
	if (!outbox_load_next_try(mailer->options.store, &due, error) ||
	    !check_superseded(mailer, error))
		return false;
	now = clock_get_now(mailer->options.clock);
	*next = due;
	if (mailer->is_superseded)
		due = *next = -1;
	if (due >= 0 && store_is_shared(mailer->options.store))
		*next = MAX(due, now + INSTANCES_LOCKED_S);
	if (due >= 0 && mailer->relay.breaker != BREAKER_CLOSED)
		*next = MAX(*next, mailer->relay.retry_at);
	if (due >= 0)
		*next = MAX(*next, send_limits_get_next(&mailer->limits, now));
	if (due >= 0 && !has_disk_space(mailer))
		*next = MAX(*next, now + DISK_CHECK_S);
	if (due >= 0 && !may_send(mailer))
		*next = MAX(*next, now + INSTANCES_RENEW_S);
	return true;
}

bool
mailer_reload(struct mailer *mailer, const struct mailer_options *options,
    bool is_other_relay, GError **error)
{
	struct connection_pool *pool;

	g_assert(!mailer->in_flight && g_queue_is_empty(&mailer->claimed));
	pool = connection_pool_new(mailer, options, error);
	if (!pool)
		return false;
	connection_pool_free(mailer->pool);
	mailer->pool = pool;
	mailer->options = *options;
	token_signer_free(mailer->tokens);
	mailer->tokens = token_signer_new(options->key);
	set_rate_limits(mailer);
	if (is_other_relay) {
		domain_throttle_resume(mailer->domains);
		relay_state_reset(&mailer->relay);
		mailer->relay.policy_refusals = 0;
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
	/* Between runs nothing is in flight: no trial is pending. */
	relay_state_reset(&mailer->relay);
	domain_throttle_resume(mailer->domains);
}

char *
mailer_format_relay(const struct mailer *mailer)
{
	int64_t now = clock_get_now(mailer->options.clock);
	g_autofree char *line = relay_state_format(&mailer->relay, now);
	g_autofree char *masked = event_mask_addresses(line);
	const char *name;
	unsigned paused = domain_throttle_count_paused(mailer->domains, now, &name);

	if (!paused)
		return g_steal_pointer(&masked);
	return g_strdup_printf("%s; paused after policy rejections: %s%s", masked, name,
	    paused > 1 ? " and others" : "");
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
	const struct relay_state *state = &mailer->relay;
	int64_t now = clock_get_now(mailer->options.clock);
	const char *name;

	*relay = (struct mailer_relay){
	    .is_away = state->breaker != BREAKER_CLOSED,
	    .is_auth_failed = state->is_login,
	    .since = state->opened_at,
	    .retry_at = state->retry_at,
	};
	relay->paused = domain_throttle_count_paused(mailer->domains, now, &name);
	relay->domain = g_strdup(name);
}
