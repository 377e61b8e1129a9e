/*
 * inlet.c - the mailboxes at work: each in a thread and with a store of its own.
 */
#include "daemon/inlet.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "service/assembly.h"
#include "service/event.h"
#include "service/intake.h"
#include "store/skipped.h"

/* A mailbox that could not go on is started again after that. */
#define TROUBLE_MS (30 * 1000)

/* Between two letters, or a letter and a wait, is less: the slowest server's answers,
 * and a store that is busy. */
#define WORK_S (30 * 60)

#define OCTETS_MB (INT64_C(1000) * 1000)

struct inlet {
	const struct inlet_options *options;
	struct mailbox *mailbox;
	struct store *store;
	struct snapshot *snapshot; /* of the thread, for how letters are stored */
	struct snapshot_slot next;
	struct pulse *pulse;
	GThread *thread;
	int stop_fd;
	_Atomic bool is_failing;
	char *problem; /* what was told last; of the thread, as the next */
	_Atomic bool is_store_failing; /* it was about storing */
};

struct inlets {
	struct inlet_options options;
	struct snapshot *snapshot;
	struct inlet *members[ASSEMBLY_ROADS]; /* by road; NULL: not configured */
};

/* ---- the sink ---- */

static int64_t
rest(void *data)
{
	const struct inlet *inlet = data;

	return pulse_rest(inlet->pulse);
}

static void
rise(void *data)
{
	const struct inlet *inlet = data;

	pulse_promise(inlet->pulse, WORK_S);
}

static void
note(void *data, const GError *problem)
{
	struct inlet *inlet = data;

	/* Once: who tries again in vain has nothing new to say. */
	if (problem && g_strcmp0(problem->message, inlet->problem) != 0)
		event_log(EVENT_MAILBOX_FAILS, EVENT_WORD("road", inlet->mailbox->road),
		    EVENT_TEXT(problem->message));
	else if (!problem && inlet->is_failing)
		event_log(EVENT_MAILBOX_WELL, EVENT_WORD("road", inlet->mailbox->road));
	inlet->is_failing = problem != NULL;
	g_free(inlet->problem);
	inlet->problem = problem ? g_strdup(problem->message) : NULL;
}

/* What goes well again here may still be wrong elsewhere in the mailbox. */
static void
note_storing(struct inlet *inlet, const GError *problem)
{
	if (problem || inlet->is_store_failing)
		note(inlet, problem);
	inlet->is_store_failing = problem != NULL;
}

static void
take_snapshot(struct inlet *inlet)
{
	struct snapshot *next = snapshot_take(&inlet->next);

	if (!next)
		return;
	snapshot_unref(inlet->snapshot);
	inlet->snapshot = next;
}

/* An extension of our address that means nothing is nobody's. */
static bool
is_known(void *data, const char *recipient)
{
	struct inlet *inlet = data;
	const struct house *house;
	enum extension_kind kind;
	g_autofree char *token = NULL;

	take_snapshot(inlet);
	house = inlet->snapshot->house;
	if (!house->has_commands ||
	    !extension_parse(&house->commands, recipient, &kind, &token) ||
	    kind != EXTENSION_UNKNOWN)
		return true;
	event_log(EVENT_LETTER_REFUSED, EVENT_WORD("road", inlet->mailbox->road),
	    EVENT_TEXT("unknown extension of the recipient address"));
	return false;
}

/* By the newest settings. */
static struct intake_rules
get_rules(struct inlet *inlet)
{
	const struct settings *settings;

	take_snapshot(inlet);
	settings = inlet->snapshot->settings;
	return (struct intake_rules){
	    .state_dir = settings->state_dir,
	    .disk_floor_bytes = settings->disk_floor_mb * OCTETS_MB,
	    .recipient_header = settings->recipient_header,
	};
}

static bool
take(void *data, const struct mailbox_letter *letter, GError **error)
{
	struct inlet *inlet = data;
	const struct intake_rules rules = get_rules(inlet);
	GError *problem = NULL;
	bool is_fresh;

	rise(inlet);
	if (!intake_save(inlet->store, &rules, inlet->mailbox->road, letter,
	        clock_get_now(inlet->options->clock), &is_fresh, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
			event_log(EVENT_LETTER_REFUSED,
			    EVENT_WORD("road", inlet->mailbox->road),
			    EVENT_INT("size", (int64_t)letter->size),
			    EVENT_TEXT(problem->message));
		else
			note_storing(inlet, problem);
		g_propagate_error(error, problem);
		return false;
	}
	note_storing(inlet, NULL);
	if (!is_fresh)
		return true;
	event_log(EVENT_LETTER_STORED, EVENT_WORD("road", inlet->mailbox->road),
	    EVENT_INT("size", (int64_t)letter->size));
	inlet->options->arrived(inlet->options->data);
	return true;
}

static bool
skip(void *data, const char *name, const struct mailbox_letter *head,
    const char *reason, GError **error)
{
	struct inlet *inlet = data;
	const struct intake_rules rules = get_rules(inlet);
	GError *problem = NULL;
	bool is_new, is_fresh;

	rise(inlet);
	if (!intake_skip(inlet->store, &rules, inlet->mailbox->road, name, head, reason,
	        clock_get_now(inlet->options->clock), &is_new, &is_fresh, &problem)) {
		note_storing(inlet, problem);
		g_propagate_error(error, problem);
		return false;
	}
	note_storing(inlet, NULL);
	if (is_new)
		event_log(EVENT_INBOX_SKIPPED, EVENT_WORD("road", inlet->mailbox->road),
		    EVENT_TEXT(reason));
	if (is_fresh)
		inlet->options->arrived(inlet->options->data);
	return true;
}

static bool
unskip(void *data, const char *name, GError **error)
{
	struct inlet *inlet = data;
	bool was_there;

	if (!skipped_delete(
	        inlet->store, inlet->mailbox->road, name, &was_there, error))
		return false;
	if (was_there)
		event_log(EVENT_INBOX_UNSKIPPED,
		    EVENT_WORD("road", inlet->mailbox->road), EVENT_TEXT(name));
	return true;
}

static GPtrArray *
load_skipped(void *data, GError **error)
{
	const struct inlet *inlet = data;

	return skipped_load_names(inlet->store, inlet->mailbox->road, error);
}

static struct mailbox_sink
make_sink(struct inlet *inlet)
{
	return (struct mailbox_sink){
	    .take = take,
	    .is_known = is_known,
	    .skip = skip,
	    .unskip = unskip,
	    .load_skipped = load_skipped,
	    .note = note,
	    .data = inlet,
	    .rest = rest,
	    .rise = rise,
	};
}

/* ---- one mailbox ---- */

/* @return whether it is to end */
static bool
wait_for_stop(const struct inlet *inlet, int time_ms)
{
	struct pollfd stop = {.fd = inlet->stop_fd, .events = POLLIN};
	int count;

	do {
		count = poll(&stop, 1, time_ms);
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

static gpointer
run(gpointer data)
{
	struct inlet *inlet = data;
	const struct mailbox_sink sink = make_sink(inlet);

	rise(inlet);
	while (!wait_for_stop(inlet, 0)) {
		g_autoptr(GError) problem = NULL;

		if (mailbox_serve(inlet->mailbox, &sink, inlet->stop_fd, &problem))
			break;
		note(inlet, problem);
		rise(inlet);
		if (wait_for_stop(inlet, TROUBLE_MS))
			break;
	}
	return NULL;
}

static void
inlet_free(struct inlet *inlet)
{
	uint64_t one = 1;

	if (!inlet)
		return;
	if (inlet->thread) {
		ssize_t size = write(inlet->stop_fd, &one, sizeof(one));

		/* A fresh counter takes it. */
		(void)size;
		g_thread_join(inlet->thread);
	}
	if (inlet->stop_fd >= 0)
		close(inlet->stop_fd);
	pulse_free(inlet->pulse);
	mailbox_free(inlet->mailbox);
	store_free(inlet->store);
	snapshot_unref(snapshot_take(&inlet->next));
	snapshot_unref(inlet->snapshot);
	g_free(inlet->problem);
	g_free(inlet);
}

/* @return NULL without an error where there is no such mailbox */
static struct inlet *
inlet_new(const struct inlet_options *options, struct snapshot *snapshot,
    enum assembly_road road, GError **error)
{
	struct inlet *inlet = g_new0(struct inlet, 1);

	inlet->options = options;
	inlet->snapshot = snapshot_ref(snapshot);
	inlet->stop_fd = -1;
	inlet->store = assembly_open_store(snapshot->settings, error);
	if (inlet->store &&
	    assembly_new_mailbox(snapshot->settings, options->credentials, road,
	        &inlet->store, &inlet->mailbox, error)) {
		if (inlet->mailbox)
			return inlet;
		/* Nobody looks any more whether they are there. */
		skipped_delete_all(inlet->store, assembly_get_road_name(road), error);
	}
	inlet_free(inlet);
	return NULL;
}

static bool
inlet_start(struct inlet *inlet, GError **error)
{
	inlet->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (inlet->stop_fd < 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot make an event: %s", g_strerror(errno));
		return false;
	}
	inlet->pulse = pulse_new(inlet->options->pulses, inlet->mailbox->road);
	inlet->thread = g_thread_try_new(inlet->mailbox->road, run, inlet, error);
	return inlet->thread != NULL;
}

/* ---- all of them ---- */

static bool
start_road(struct inlets *inlets, enum assembly_road road, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct inlet *inlet =
	    inlet_new(&inlets->options, inlets->snapshot, road, &problem);

	if (inlet && inlet_start(inlet, &problem)) {
		inlets->members[road] = inlet;
		return true;
	}
	inlet_free(inlet);
	if (!problem)
		return true;
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

struct inlets *
inlets_new(
    const struct inlet_options *options, struct snapshot *snapshot, GError **error)
{
	struct inlets *inlets = g_new0(struct inlets, 1);

	inlets->options = *options;
	inlets->snapshot = snapshot_ref(snapshot);
	for (int road = 0; road < ASSEMBLY_ROADS; road++)
		if (!start_road(inlets, road, error)) {
			inlets_free(inlets);
			return NULL;
		}
	return inlets;
}

void
inlets_free(struct inlets *inlets)
{
	if (!inlets)
		return;
	for (int road = 0; road < ASSEMBLY_ROADS; road++)
		inlet_free(inlets->members[road]);
	snapshot_unref(inlets->snapshot);
	g_free(inlets);
}

/* The settings of a mailbox begin with its name: mailbox.lmtp_socket. */
static bool
is_changed(const GPtrArray *names, const char *road)
{
	g_autofree char *prefix = g_strdup_printf("mailbox.%s", road);

	for (unsigned i = 0; i < names->len; i++)
		if (g_str_has_prefix(names->pdata[i], prefix))
			return true;
	return false;
}

void
inlets_use(struct inlets *inlets, struct snapshot *snapshot)
{
	g_autoptr(GPtrArray) names = settings_list_changes(
	    inlets->snapshot->settings, snapshot->settings, false);

	snapshot_unref(inlets->snapshot);
	inlets->snapshot = snapshot_ref(snapshot);
	for (int road = 0; road < ASSEMBLY_ROADS; road++) {
		const char *name = assembly_get_road_name(road);
		g_autoptr(GError) problem = NULL;

		struct inlet *inlet = inlets->members[road];

		/* What fails may do so by what is no setting: a password in a file. The
		 * store is asked at each letter anyway. */
		if (!is_changed(names, name) &&
		    !(inlet && inlet->is_failing && !inlet->is_store_failing)) {
			if (inlet)
				snapshot_offer(&inlet->next, snapshot);
			continue;
		}
		g_clear_pointer(&inlets->members[road], inlet_free);
		if (!start_road(inlets, road, &problem))
			event_log(EVENT_MAILBOX_FAILS, EVENT_WORD("road", name),
			    EVENT_TEXT(problem->message));
	}
}

char *
inlets_format(struct inlets *inlets)
{
	GString *text = g_string_new(NULL);

	for (int road = 0; road < ASSEMBLY_ROADS; road++) {
		const struct inlet *inlet = inlets->members[road];

		if (inlet)
			g_string_append_printf(text, "%s%s:%s", text->len ? "," : "",
			    assembly_get_road_name(road),
			    inlet->is_failing ? "fails" : "ok");
	}
	if (!text->len)
		g_string_append(text, "none");
	return g_string_free(text, FALSE);
}

bool
inlets_sweep(const struct inlet_options *options, struct snapshot *snapshot,
    bool *is_clean, GError **error)
{
	*is_clean = true;
	for (int road = 0; road < ASSEMBLY_ROADS; road++) {
		g_autoptr(GError) problem = NULL;
		struct inlet *inlet = inlet_new(options, snapshot, road, &problem);
		const struct mailbox_sink sink = make_sink(inlet);

		if (inlet && !mailbox_sweep(inlet->mailbox, &sink, &problem))
			note(inlet, problem);
		if (!inlet && problem) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
		if (inlet && inlet->is_failing)
			*is_clean = false;
		inlet_free(inlet);
	}
	return true;
}
