/*
 * receivers.c - the mailboxes at work: each in a thread and with a store of its own.
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
#include "store/mail/skipped.h"

/* A mailbox that could not go on is started again after that. */
#define TROUBLE_MS (30 * 1000)

/* Between two letters, or a letter and a wait, is less: the slowest server's answers,
 * and a store that is busy. */
#define WORK_S (30 * 60)

#define BYTES_PER_MB (INT64_C(1000) * 1000)

struct receiver_thread {
	const struct receivers_options *options;
	struct receiver *mailbox;
	struct store *store;
	struct config_snapshot
	    *config_snapshot; /* of the thread, for how letters are stored */
	struct config_snapshot_holder next;
	struct heartbeat *heartbeat;
	GThread *thread;
	int stop_fd;
	_Atomic bool is_failing;
	char *problem; /* what was told last; of the thread, as the next */
	_Atomic bool is_store_failing; /* it was about storing */
};

struct receivers {
	struct receivers_options options;
	struct config_snapshot *config_snapshot;
	struct receiver_thread
	    *members[FACTORY_RECEIVERS]; /* by receiver; NULL: not configured */
};

/* ---- the sink ---- */

static int64_t
rest(void *data)
{
	const struct receiver_thread *receiver_thread = data;

	return heartbeat_idle(receiver_thread->heartbeat);
}

static void
rise(void *data)
{
	const struct receiver_thread *receiver_thread = data;

	heartbeat_arm(receiver_thread->heartbeat, WORK_S);
}

static void
note(void *data, const GError *problem)
{
	struct receiver_thread *receiver_thread = data;

	/* Once: who tries again in vain has nothing new to say. */
	if (problem && g_strcmp0(problem->message, receiver_thread->problem) != 0)
		event_log(EVENT_RECEIVER_FAILED,
		    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
		    EVENT_TEXT(problem->message));
	else if (!problem && receiver_thread->is_failing)
		event_log(EVENT_RECEIVER_RECOVERED,
		    EVENT_WORD("receiver", receiver_thread->mailbox->receiver));
	receiver_thread->is_failing = problem != NULL;
	g_free(receiver_thread->problem);
	receiver_thread->problem = problem ? g_strdup(problem->message) : NULL;
}

/* What goes well again here may still be wrong elsewhere in the mailbox. */
static void
note_storing(struct receiver_thread *receiver_thread, const GError *problem)
{
	if (problem || receiver_thread->is_store_failing)
		note(receiver_thread, problem);
	receiver_thread->is_store_failing = problem != NULL;
}

static void
take_snapshot(struct receiver_thread *receiver_thread)
{
	struct config_snapshot *next = config_snapshot_take(&receiver_thread->next);

	if (!next)
		return;
	config_snapshot_unref(receiver_thread->config_snapshot);
	receiver_thread->config_snapshot = next;
}

/* An extension of our address that means nothing is nobody's. */
static bool
is_known(void *data, const char *recipient)
{
	struct receiver_thread *receiver_thread = data;
	const struct own_addresses *own_addresses;
	enum subaddress_kind kind;
	g_autofree char *token = NULL;

	take_snapshot(receiver_thread);
	own_addresses = receiver_thread->config_snapshot->own_addresses;
	if (!own_addresses->has_commands ||
	    !subaddress_parse(&own_addresses->commands, recipient, &kind, &token) ||
	    kind != SUBADDRESS_UNKNOWN)
		return true;
	event_log(EVENT_INBOX_REJECTED,
	    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
	    EVENT_TEXT("unknown extension of the recipient address"));
	return false;
}

/* By the newest settings. */
static struct inbox_process_rules
get_rules(struct receiver_thread *receiver_thread)
{
	const struct settings *settings;

	take_snapshot(receiver_thread);
	settings = receiver_thread->config_snapshot->settings;
	return (struct inbox_process_rules){
	    .state_dir = settings->state_dir,
	    .disk_floor_bytes = settings->min_free_mb * BYTES_PER_MB,
	    .recipient_header = settings->recipient_header,
	};
}

static bool
take(void *data, const struct receive_mail *mail, GError **error)
{
	struct receiver_thread *receiver_thread = data;
	const struct inbox_process_rules rules = get_rules(receiver_thread);
	GError *problem = NULL;
	bool is_fresh;

	rise(receiver_thread);
	if (!inbox_process_store(receiver_thread->store, &rules,
	        receiver_thread->mailbox->receiver, mail,
	        clock_get_now(receiver_thread->options->clock), &is_fresh, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
			event_log(EVENT_INBOX_REJECTED,
			    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
			    EVENT_INT("size", (int64_t)mail->size),
			    EVENT_TEXT(problem->message));
		else
			note_storing(receiver_thread, problem);
		g_propagate_error(error, problem);
		return false;
	}
	note_storing(receiver_thread, NULL);
	if (!is_fresh)
		return true;
	event_log(EVENT_INBOX_STORED,
	    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
	    EVENT_INT("size", (int64_t)mail->size));
	receiver_thread->options->arrived(receiver_thread->options->data);
	return true;
}

static bool
skip(void *data, const char *name, const struct receive_mail *head, const char *reason,
    GError **error)
{
	struct receiver_thread *receiver_thread = data;
	const struct inbox_process_rules rules = get_rules(receiver_thread);
	GError *problem = NULL;
	bool is_new, is_fresh;

	rise(receiver_thread);
	if (!inbox_process_skip(receiver_thread->store, &rules,
	        receiver_thread->mailbox->receiver, name, head, reason,
	        clock_get_now(receiver_thread->options->clock), &is_new, &is_fresh,
	        &problem)) {
		note_storing(receiver_thread, problem);
		g_propagate_error(error, problem);
		return false;
	}
	note_storing(receiver_thread, NULL);
	if (is_new)
		event_log(EVENT_INBOX_SKIPPED,
		    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
		    EVENT_TEXT(reason));
	if (is_fresh)
		receiver_thread->options->arrived(receiver_thread->options->data);
	return true;
}

static bool
unskip(void *data, const char *name, GError **error)
{
	struct receiver_thread *receiver_thread = data;
	bool was_there;

	if (!skipped_delete(receiver_thread->store, receiver_thread->mailbox->receiver,
	        name, &was_there, error))
		return false;
	if (was_there)
		event_log(EVENT_INBOX_SKIP_CLEARED,
		    EVENT_WORD("receiver", receiver_thread->mailbox->receiver),
		    EVENT_TEXT(name));
	return true;
}

static GPtrArray *
load_skipped(void *data, GError **error)
{
	const struct receiver_thread *receiver_thread = data;

	return skipped_load_names(
	    receiver_thread->store, receiver_thread->mailbox->receiver, error);
}

static struct receiver_sink
make_sink(struct receiver_thread *receiver_thread)
{
	return (struct receiver_sink){
	    .take = take,
	    .is_known = is_known,
	    .skip = skip,
	    .unskip = unskip,
	    .load_skipped = load_skipped,
	    .note = note,
	    .data = receiver_thread,
	    .rest = rest,
	    .rise = rise,
	};
}

/* ---- one mailbox ---- */

/* @return whether it is to end */
static bool
wait_for_stop(const struct receiver_thread *receiver_thread, int time_ms)
{
	struct pollfd stop = {.fd = receiver_thread->stop_fd, .events = POLLIN};
	int count;

	do {
		count = poll(&stop, 1, time_ms);
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

static gpointer
run(gpointer data)
{
	struct receiver_thread *receiver_thread = data;
	const struct receiver_sink sink = make_sink(receiver_thread);

	rise(receiver_thread);
	while (!wait_for_stop(receiver_thread, 0)) {
		g_autoptr(GError) problem = NULL;

		if (receiver_run(receiver_thread->mailbox, &sink,
		        receiver_thread->stop_fd, &problem))
			break;
		note(receiver_thread, problem);
		rise(receiver_thread);
		if (wait_for_stop(receiver_thread, TROUBLE_MS))
			break;
	}
	return NULL;
}

static void
receiver_thread_free(struct receiver_thread *receiver_thread)
{
	uint64_t one = 1;

	if (!receiver_thread)
		return;
	if (receiver_thread->thread) {
		ssize_t size = write(receiver_thread->stop_fd, &one, sizeof(one));

		/* A fresh counter takes it. */
		(void)size;
		g_thread_join(receiver_thread->thread);
	}
	if (receiver_thread->stop_fd >= 0)
		close(receiver_thread->stop_fd);
	heartbeat_free(receiver_thread->heartbeat);
	receiver_free(receiver_thread->mailbox);
	store_free(receiver_thread->store);
	config_snapshot_unref(config_snapshot_take(&receiver_thread->next));
	config_snapshot_unref(receiver_thread->config_snapshot);
	g_free(receiver_thread->problem);
	g_free(receiver_thread);
}

/* @return NULL without an error where there is no such mailbox */
static struct receiver_thread *
receiver_thread_new(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, enum factory_receiver receiver,
    GError **error)
{
	struct receiver_thread *receiver_thread = g_new0(struct receiver_thread, 1);

	receiver_thread->options = options;
	receiver_thread->config_snapshot = config_snapshot_ref(config_snapshot);
	receiver_thread->stop_fd = -1;
	receiver_thread->store = factory_open_store(config_snapshot->settings, error);
	if (receiver_thread->store &&
	    factory_new_receiver(config_snapshot->settings, options->credentials,
	        receiver, &receiver_thread->store, &receiver_thread->mailbox, error)) {
		if (receiver_thread->mailbox)
			return receiver_thread;
		/* Nobody looks any more whether they are there. */
		skipped_delete_all(
		    receiver_thread->store, factory_get_receiver_name(receiver), error);
	}
	receiver_thread_free(receiver_thread);
	return NULL;
}

static bool
receiver_thread_start(struct receiver_thread *receiver_thread, GError **error)
{
	receiver_thread->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (receiver_thread->stop_fd < 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot make an event: %s", g_strerror(errno));
		return false;
	}
	receiver_thread->heartbeat = heartbeat_new(
	    receiver_thread->options->heartbeats, receiver_thread->mailbox->receiver);
	receiver_thread->thread = g_thread_try_new(
	    receiver_thread->mailbox->receiver, run, receiver_thread, error);
	return receiver_thread->thread != NULL;
}

/* ---- all of them ---- */

static bool
start_receiver(
    struct receivers *receivers, enum factory_receiver receiver, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct receiver_thread *receiver_thread = receiver_thread_new(
	    &receivers->options, receivers->config_snapshot, receiver, &problem);

	if (receiver_thread && receiver_thread_start(receiver_thread, &problem)) {
		receivers->members[receiver] = receiver_thread;
		return true;
	}
	receiver_thread_free(receiver_thread);
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
		receiver_thread_free(receivers->members[receiver]);
	config_snapshot_unref(receivers->config_snapshot);
	g_free(receivers);
}

/* The settings of a mailbox begin with its name: receive.lmtp_socket. */
static bool
is_changed(const GPtrArray *names, const char *receiver)
{
	g_autofree char *prefix = g_strdup_printf("receive.%s", receiver);

	for (unsigned i = 0; i < names->len; i++)
		if (g_str_has_prefix(names->pdata[i], prefix))
			return true;
	return false;
}

void
receivers_reload(struct receivers *receivers, struct config_snapshot *config_snapshot)
{
	g_autoptr(GPtrArray) names = settings_list_changes(
	    receivers->config_snapshot->settings, config_snapshot->settings, false);

	config_snapshot_unref(receivers->config_snapshot);
	receivers->config_snapshot = config_snapshot_ref(config_snapshot);
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		const char *name = factory_get_receiver_name(receiver);
		g_autoptr(GError) problem = NULL;

		struct receiver_thread *receiver_thread = receivers->members[receiver];

		/* What fails may do so by what is no setting: a password in a file. The
		 * store is asked at each letter anyway. */
		if (!is_changed(names, name) &&
		    !(receiver_thread && receiver_thread->is_failing &&
		        !receiver_thread->is_store_failing)) {
			if (receiver_thread)
				config_snapshot_publish(
				    &receiver_thread->next, config_snapshot);
			continue;
		}
		g_clear_pointer(&receivers->members[receiver], receiver_thread_free);
		if (!start_receiver(receivers, receiver, &problem))
			event_log(EVENT_RECEIVER_FAILED, EVENT_WORD("receiver", name),
			    EVENT_TEXT(problem->message));
	}
}

char *
receivers_format(struct receivers *receivers)
{
	GString *text = g_string_new(NULL);

	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		const struct receiver_thread *receiver_thread =
		    receivers->members[receiver];

		if (receiver_thread)
			g_string_append_printf(text, "%s%s:%s", text->len ? "," : "",
			    factory_get_receiver_name(receiver),
			    receiver_thread->is_failing ? "fails" : "ok");
	}
	if (!text->len)
		g_string_append(text, "none");
	return g_string_free(text, FALSE);
}

bool
receivers_poll(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, bool *is_clean, GError **error)
{
	*is_clean = true;
	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++) {
		g_autoptr(GError) problem = NULL;
		struct receiver_thread *receiver_thread =
		    receiver_thread_new(options, config_snapshot, receiver, &problem);
		const struct receiver_sink sink = make_sink(receiver_thread);

		if (receiver_thread &&
		    !receiver_poll_once(receiver_thread->mailbox, &sink, &problem))
			note(receiver_thread, problem);
		if (!receiver_thread && problem)
			return pb_error_forward(error, &problem);
		if (receiver_thread && receiver_thread->is_failing)
			*is_clean = false;
		receiver_thread_free(receiver_thread);
	}
	return true;
}
