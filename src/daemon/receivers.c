/*
 * receivers.c - the threads that receive mail: LMTP, Maildir, IMAP.
 */
#include "daemon/receivers.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "service/inbound/inbox_process.h"
#include "service/log/event.h"
#include "service/setup/factory.h"
#include "store/core/instances.h"
#include "store/mail/skipped.h"

/* Pause before a failed receiver is restarted. */
#define RESTART_MS (30 * 1000)

/* Longest time between two messages, or a message and a pause: a slow server and a
 * busy store. */
#define WORK_S (30 * 60)

/* Maximum time to wait for each result of a database server, so that an LMTP client
 * gets its reply within 30 s, also if the handle has to connect first. */
#define LMTP_STORE_WAIT_S 15

#define BYTES_PER_MB (INT64_C(1000) * 1000)

struct receiver_thread {
	const struct receivers_options *options;
	struct receiver *receiver;
	enum job job; /* of the receiver; or JOB_NONE */
	struct store *store;
	struct config_snapshot *config_snapshot; /* of the thread */
	struct config_snapshot_slot next;
	struct heartbeat *heartbeat;
	GThread *gthread;
	int stop_fd;
	_Atomic bool is_failing;
	char *problem;                 /* last logged error; of the thread */
	_Atomic bool is_store_failing; /* the error was the store's */
};

struct receivers {
	struct receivers_options options;
	struct config_snapshot *config_snapshot;
	struct receiver_thread *threads[FACTORY_RECEIVERS]; /* NULL: not configured */
};

/* ---- the sink ---- */

static int64_t
pause_heartbeat(void *data)
{
	const struct receiver_thread *thread = data;

	return heartbeat_idle(thread->heartbeat);
}

static void
arm_heartbeat(void *data)
{
	const struct receiver_thread *thread = data;

	heartbeat_arm(thread->heartbeat, WORK_S);
}

static void
set_problem(void *data, const GError *problem)
{
	struct receiver_thread *thread = data;
	bool was_failing = thread->is_failing;

	/* Before the event, so that the control socket never contradicts the log. */
	thread->is_failing = problem != NULL;
	/* The same error is logged once. */
	if (problem && g_strcmp0(problem->message, thread->problem) != 0)
		event_log(EVENT_RECEIVER_FAILED,
		    EVENT_WORD("receiver", thread->receiver->kind),
		    EVENT_TEXT(problem->message));
	else if (!problem && was_failing)
		event_log(EVENT_RECEIVER_RECOVERED,
		    EVENT_WORD("receiver", thread->receiver->kind));
	g_free(thread->problem);
	thread->problem = problem ? g_strdup(problem->message) : NULL;
}

/* Success of the store does not clear an error of the receiver. */
static void
set_store_problem(struct receiver_thread *thread, const GError *problem)
{
	bool was_failing = thread->is_store_failing;

	thread->is_store_failing = problem != NULL;
	if (problem || was_failing)
		set_problem(thread, problem);
}

/* Reject unknown subaddresses of the command address. */
static bool
is_known(void *data, const char *recipient)
{
	struct receiver_thread *thread = data;
	const struct own_addresses *own_addresses;
	enum subaddress_kind kind;
	g_autofree char *token = NULL;

	config_snapshot_switch(&thread->config_snapshot, &thread->next);
	own_addresses = thread->config_snapshot->own_addresses;
	if (!own_addresses->has_commands ||
	    !subaddress_parse(&own_addresses->commands, recipient, &kind, &token) ||
	    kind != SUBADDRESS_UNKNOWN)
		return true;
	event_log(EVENT_INBOX_REJECTED, EVENT_WORD("receiver", thread->receiver->kind),
	    EVENT_TEXT("unknown subaddress of the recipient"));
	return false;
}

/* Of the newest settings. */
static struct inbox_process_rules
get_rules(struct receiver_thread *thread)
{
	const struct settings *settings;

	config_snapshot_switch(&thread->config_snapshot, &thread->next);
	settings = thread->config_snapshot->settings;
	return (struct inbox_process_rules){
	    .state_dir = settings->state_dir,
	    .min_free_bytes = settings->min_free_mb * BYTES_PER_MB,
	    .recipient_header = settings->recipient_header,
	};
}

/* @param is_held  set: false while another instance receives */
static bool
take_job(struct receiver_thread *thread, bool *is_held, GError **error)
{
	*is_held = true;
	return thread->job == JOB_NONE ||
	       lease_take_job(thread->options->lease, thread->store, thread->job,
	           clock_get_now(thread->options->clock), is_held, error);
}

static bool
check_job(struct receiver_thread *thread, GError **error)
{
	bool is_held;

	if (!take_job(thread, &is_held, error))
		return false;
	return is_held || pb_fail(error, PB_ERROR_TEMPORARY,
	                      "another instance has taken over the mailbox");
}

static bool
take(void *data, const struct receive_mail *mail, GError **error)
{
	struct receiver_thread *thread = data;
	const struct inbox_process_rules rules = get_rules(thread);
	GError *problem = NULL;
	bool is_stored;

	arm_heartbeat(thread);
	if (!check_job(thread, &problem) ||
	    !inbox_process_store(thread->store, &rules, thread->receiver->kind, mail,
	        clock_get_now(thread->options->clock), &is_stored, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
			event_log(EVENT_INBOX_REJECTED,
			    EVENT_WORD("receiver", thread->receiver->kind),
			    EVENT_INT("size", (int64_t)mail->size),
			    EVENT_TEXT(problem->message));
		else
			set_store_problem(thread, problem);
		g_propagate_error(error, problem);
		return false;
	}
	set_store_problem(thread, NULL);
	if (!is_stored)
		return true;
	event_log(EVENT_INBOX_STORED, EVENT_WORD("receiver", thread->receiver->kind),
	    EVENT_INT("size", (int64_t)mail->size));
	thread->options->arrived(thread->options->data);
	return true;
}

static bool
skip(void *data, const char *name, const struct receive_mail *head, const char *reason,
    GError **error)
{
	struct receiver_thread *thread = data;
	const struct inbox_process_rules rules = get_rules(thread);
	GError *problem = NULL;
	bool is_new, is_stored;

	arm_heartbeat(thread);
	if (!inbox_process_skip(thread->store, &rules, thread->receiver->kind, name,
	        head, reason, clock_get_now(thread->options->clock), &is_new,
	        &is_stored, &problem)) {
		set_store_problem(thread, problem);
		g_propagate_error(error, problem);
		return false;
	}
	set_store_problem(thread, NULL);
	if (is_new)
		event_log(EVENT_INBOX_SKIPPED,
		    EVENT_WORD("receiver", thread->receiver->kind), EVENT_TEXT(reason));
	if (is_stored)
		thread->options->arrived(thread->options->data);
	return true;
}

static bool
unskip(void *data, const char *name, GError **error)
{
	struct receiver_thread *thread = data;
	bool was_there;

	if (!skipped_delete(
	        thread->store, thread->receiver->kind, name, &was_there, error))
		return false;
	if (was_there)
		event_log(EVENT_INBOX_SKIP_CLEARED,
		    EVENT_WORD("receiver", thread->receiver->kind), EVENT_TEXT(name));
	return true;
}

static GPtrArray *
load_skipped(void *data, GError **error)
{
	const struct receiver_thread *thread = data;

	return skipped_load_names(thread->store, thread->receiver->kind, error);
}

static struct receiver_sink
make_sink(struct receiver_thread *thread)
{
	return (struct receiver_sink){
	    .take = take,
	    .is_known = is_known,
	    .skip = skip,
	    .unskip = unskip,
	    .load_skipped = load_skipped,
	    .report = set_problem,
	    .data = thread,
	    .pause = pause_heartbeat,
	    .wake = arm_heartbeat,
	};
}

/* ---- one receiver ---- */

/* @return whether the thread is to end */
static bool
wait_for_stop(const struct receiver_thread *thread, int time_ms)
{
	struct pollfd stop = {.fd = thread->stop_fd, .events = POLLIN};
	int count;

	do {
		count = poll(&stop, 1, time_ms);
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

static gpointer
run(gpointer data)
{
	struct receiver_thread *thread = data;
	const struct receiver_sink sink = make_sink(thread);

	arm_heartbeat(thread);
	while (!wait_for_stop(thread, 0)) {
		g_autoptr(GError) problem = NULL;
		bool is_held;
		bool is_ok = take_job(thread, &is_held, &problem);

		if (is_ok && !is_held) {
			arm_heartbeat(thread);
			wait_for_stop(thread, INSTANCES_RENEW_S * 1000);
			continue;
		}
		if (is_ok &&
		    receiver_run(thread->receiver, &sink, thread->stop_fd, &problem))
			break;
		set_problem(thread, problem);
		arm_heartbeat(thread);
		if (wait_for_stop(thread, RESTART_MS))
			break;
	}
	return NULL;
}

static void
receiver_thread_free(struct receiver_thread *thread)
{
	uint64_t one = 1;

	if (!thread)
		return;
	if (thread->gthread) {
		ssize_t size = write(thread->stop_fd, &one, sizeof(one));

		/* Cannot fail: the counter is 0. */
		(void)size;
		g_thread_join(thread->gthread);
	}
	if (thread->stop_fd >= 0)
		close(thread->stop_fd);
	heartbeat_free(thread->heartbeat);
	receiver_free(thread->receiver);
	store_free(thread->store);
	config_snapshot_unref(config_snapshot_take(&thread->next));
	config_snapshot_unref(thread->config_snapshot);
	g_free(thread->problem);
	g_free(thread);
}

/*
 * @return NULL without an error for a receiver that is not configured, or while the
 *         addresses are not: senders keep the mail
 */
static struct receiver_thread *
receiver_thread_new(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, enum factory_receiver receiver,
    GError **error)
{
	struct receiver_thread *thread;

	if (settings_is_default(config_snapshot->settings))
		return NULL;
	thread = g_new0(struct receiver_thread, 1);
	thread->options = options;
	thread->config_snapshot = config_snapshot_ref(config_snapshot);
	thread->stop_fd = -1;
	thread->job = receiver == FACTORY_RECEIVER_IMAP ? JOB_IMAP : JOB_NONE;
	thread->store = factory_open_store(config_snapshot->settings, error);
	if (thread->store && receiver == FACTORY_RECEIVER_LMTP)
		store_set_wait(thread->store, LMTP_STORE_WAIT_S);
	if (thread->store &&
	    factory_new_receiver(config_snapshot->settings, options->credentials,
	        receiver, options->clock, &thread->store, &thread->receiver, error)) {
		if (thread->receiver)
			return thread;
		/* A disabled receiver does not check any more whether they exist. */
		skipped_delete_all(
		    thread->store, factory_get_receiver_name(receiver), error);
	}
	receiver_thread_free(thread);
	return NULL;
}

static bool
receiver_thread_start(struct receiver_thread *thread, GError **error)
{
	thread->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (thread->stop_fd < 0)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "cannot create an event file descriptor: %s", g_strerror(errno));
	thread->heartbeat =
	    heartbeat_new(thread->options->heartbeats, thread->receiver->kind);
	thread->gthread = g_thread_try_new(thread->receiver->kind, run, thread, error);
	return thread->gthread != NULL;
}

/* ---- all of them ---- */

static bool
start_receiver(
    struct receivers *receivers, enum factory_receiver receiver, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct receiver_thread *thread = receiver_thread_new(
	    &receivers->options, receivers->config_snapshot, receiver, &problem);

	if (thread && receiver_thread_start(thread, &problem)) {
		receivers->threads[receiver] = thread;
		return true;
	}
	receiver_thread_free(thread);
	return pb_error_forward(error, &problem);
}

struct receivers *
receivers_new(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, GError **error)
{
	struct receivers *receivers = g_new0(struct receivers, 1);

	receivers->options = *options;
	receivers->config_snapshot = config_snapshot_ref(config_snapshot);
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++)
		if (!start_receiver(receivers, receiver, error)) {
			receivers_free(receivers);
			return NULL;
		}
	return receivers;
}

void
receivers_free(struct receivers *receivers)
{
	if (!receivers)
		return;
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++)
		receiver_thread_free(receivers->threads[receiver]);
	config_snapshot_unref(receivers->config_snapshot);
	g_free(receivers);
}

/* The settings of a receiver begin with its name: receive.lmtp_socket. */
static bool
is_changed(const struct settings *before, const struct settings *after,
    enum factory_receiver receiver)
{
	g_autoptr(GPtrArray) names = settings_list_changes(before, after, false);
	g_autofree char *prefix =
	    g_strdup_printf("receive.%s", factory_get_receiver_name(receiver));

	if (settings_is_default(before) != settings_is_default(after))
		return true;
	for (unsigned i = 0; i < names->len; i++)
		if (g_str_has_prefix(names->pdata[i], prefix) ||
		    (receiver == FACTORY_RECEIVER_IMAP &&
		        g_str_has_prefix(names->pdata[i], "oauth.")))
			return true;
	return false;
}

void
receivers_reload(struct receivers *receivers, struct config_snapshot *config_snapshot)
{
	struct config_snapshot *before = receivers->config_snapshot;

	receivers->config_snapshot = config_snapshot_ref(config_snapshot);
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		const char *name = factory_get_receiver_name(receiver);
		g_autoptr(GError) problem = NULL;
		struct receiver_thread *thread = receivers->threads[receiver];

		/* A failed receiver is restarted too: a password file may have changed.
		 * The store is retried with each message anyway. */
		if (!is_changed(before->settings, config_snapshot->settings,
		        (enum factory_receiver)receiver) &&
		    !(thread && thread->is_failing && !thread->is_store_failing)) {
			if (thread)
				config_snapshot_publish(&thread->next, config_snapshot);
			continue;
		}
		g_clear_pointer(&receivers->threads[receiver], receiver_thread_free);
		if (!start_receiver(receivers, receiver, &problem))
			event_log(EVENT_RECEIVER_FAILED, EVENT_WORD("receiver", name),
			    EVENT_TEXT(problem->message));
	}
	config_snapshot_unref(before);
}

char *
receivers_format(struct receivers *receivers)
{
	GString *text = g_string_new(NULL);

	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		const struct receiver_thread *thread = receivers->threads[receiver];

		if (thread)
			g_string_append_printf(text, "%s%s:%s", text->len ? "," : "",
			    factory_get_receiver_name(receiver),
			    thread->is_failing ? "failed" : "ok");
	}
	if (!text->len)
		g_string_append(text, "none");
	return g_string_free(text, FALSE);
}

static bool
poll_once(struct receiver_thread *thread, GError **error)
{
	const struct receiver_sink sink = make_sink(thread);
	bool is_held;

	return take_job(thread, &is_held, error) &&
	       (!is_held || receiver_poll_once(thread->receiver, &sink, error));
}

bool
receivers_poll(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, bool *is_clean, GError **error)
{
	*is_clean = true;
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		g_autoptr(GError) problem = NULL;
		struct receiver_thread *thread =
		    receiver_thread_new(options, config_snapshot, receiver, &problem);

		if (thread && !poll_once(thread, &problem))
			set_problem(thread, problem);
		if (!thread && problem)
			return pb_error_forward(error, &problem);
		if (thread && thread->is_failing)
			*is_clean = false;
		receiver_thread_free(thread);
	}
	return true;
}
