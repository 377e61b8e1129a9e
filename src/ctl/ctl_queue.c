/*
 * ctl_queue.c - the commands on queued messages: queue list, show, retry, hold, ...
 */
#include "service/delivery/queue.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/person.h"
#include "store/admin/backup.h"
#include "store/mail/outbox.h"

/* ---- list ---- */

static char *
format_row_time(const void *data)
{
	const struct outbox_row *row = data;
	int64_t at = row->ended_at >= 0 ? row->ended_at : row->next_try_at;

	return at < 0 ? NULL : day_format_minute(at);
}

static char *
format_row_reply(const void *data)
{
	const struct outbox_row *row = data;

	if (row->held_why)
		return g_strdup_printf("held: %s", row->held_why);
	if (row->reply)
		return g_strdup(row->reply);
	return row->copies ? g_strdup_printf("possible copies: %u", row->copies) : NULL;
}

static const struct table_column row_columns[] = {
    TABLE_COLUMN("ID", "id", TABLE_INT64, outbox_row, id),
    TABLE_COLUMN("KIND", "kind", TABLE_TEXT, outbox_row, kind),
    TABLE_COLUMN("DIGEST", "digest", TABLE_INT64, outbox_row, digest_id),
    TABLE_COLUMN("STATE", "state", TABLE_TEXT, outbox_row, state),
    TABLE_COLUMN("ATTEMPTS", "attempts", TABLE_COUNT, outbox_row, attempt),
    TABLE_COLUMN_STRING("NEXT TRY OR END", NULL, format_row_time),
    TABLE_COLUMN("RECIPIENT", "recipient", TABLE_TEXT, outbox_row, recipient),
    TABLE_COLUMN_STRING("LAST REPLY", NULL, format_row_reply),
    TABLE_COLUMN(NULL, "queued_at", TABLE_TIME, outbox_row, queued_at),
    TABLE_COLUMN(NULL, "next_try_at", TABLE_TIME, outbox_row, next_try_at),
    TABLE_COLUMN(NULL, "ended_at", TABLE_TIME, outbox_row, ended_at),
    TABLE_COLUMN(NULL, "code", TABLE_INT, outbox_row, code),
    TABLE_COLUMN(NULL, "reply", TABLE_TEXT, outbox_row, reply),
    TABLE_COLUMN(NULL, "held_why", TABLE_TEXT, outbox_row, held_why),
    TABLE_COLUMN(NULL, "possible_copies", TABLE_COUNT, outbox_row, copies),
    TABLE_COLUMN(NULL, "crashes", TABLE_COUNT, outbox_row, crashes),
    {0},
};

static bool
is_state_name(const char *name)
{
	static const char *const names[] = {"NEW", "SENDING", "DEFERRED", "UNKNOWN",
	    "HELD", "SENT", "FAILED", "CANCELLED", NULL};

	return g_strv_contains(names, name);
}

/* @param state  converted to upper case; may be NULL */
static bool
check_state(char *state, GError **error)
{
	for (char *at = state; at && *at; at++)
		*at = g_ascii_toupper(*at);
	if (!state || is_state_name(state))
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "invalid state '%s' (expected NEW, SENDING, DEFERRED, UNKNOWN, HELD, SENT, "
	    "FAILED or CANCELLED)",
	    state);
}

/* Final states, which --state lists without --all. */
static bool
is_ended_state(const char *state)
{
	return state && (strcmp(state, "SENT") == 0 || strcmp(state, "FAILED") == 0 ||
	                    strcmp(state, "CANCELLED") == 0);
}

struct queue_choice {
	struct store *store;
	struct outbox_filter filter;
};

static GPtrArray *
load_batch(void *data, const void *last, GError **error)
{
	const struct queue_choice *choice = data;
	const struct outbox_row *before = last;

	return outbox_load_rows(choice->store, &choice->filter, before ? before->id : 0,
	    TABLE_BATCH_ROWS, error);
}

/* Messages may wait for the relay although each is due. */
static void
print_paused_relay(const struct ctl *ctl)
{
	pb_local(status_daemon) daemon = {0};

	if (ctl->is_json)
		return;
	ctl_load_daemon(ctl, &daemon);
	if (daemon.relay.is_away || daemon.relay.paused) {
		printf("relay        %s\n", daemon.relay_text);
		puts("             paperboyctl queue retry all tries it now\n");
	}
}

/* @return NULL; a new string if messages are not there yet but will be HELD */
static char *
format_none_held(const struct ctl *ctl, const char *state)
{
	int64_t people = 0;

	if (g_strcmp0(state, "HELD") == 0)
		store_load_count(ctl->store, "next held", &people, NULL);
	return people
	           ? g_strdup_printf("None yet: the next digests of %" G_GINT64_FORMAT
	                             " %s will be HELD, once paperboyd\n"
	                             "has polled the sources.",
	                 people, people == 1 ? "subscriber" : "subscribers")
	           : NULL;
}

bool
ctl_run_queue_list(struct ctl *ctl, GError **error)
{
	g_autofree char *none = NULL;
	struct queue_choice choice = {.store = ctl->store};
	struct outbox_filter *filter = &choice.filter;
	struct table table = {row_columns, "The queue is empty.", load_batch, &choice};

	if (!check_state(ctl->options.state, error))
		return false;
	if (ctl->options.address && !person_load_id(ctl->store, ctl->options.address,
	                                &filter->subscriber_id, error))
		return false;
	filter->is_all = ctl->options.is_all || is_ended_state(ctl->options.state);
	filter->state = ctl->options.state;
	none = format_none_held(ctl, ctl->options.state);
	if (ctl->options.state || ctl->options.address)
		table.empty_text = none ? none : "No such messages.";
	print_paused_relay(ctl);
	return table_print_pages(ctl, &table, error);
}

/* ---- show ---- */

/* The meaning of a state, and the operator's options. */
static const char *
explain(const struct outbox_message *message)
{
	static const char *const rows[][2] = {
	    {"NEW", "waiting for the first attempt"},
	    {"SENDING", "being sent now, or paperboyd was killed while sending it"},
	    {"DEFERRED", "failed temporarily; retried automatically"},
	    {"UNKNOWN", "may have arrived; retried with the same Message-ID"},
	    {"SENT", "accepted by the relay"},
	    {"FAILED", "failed permanently; its papers are in the next digest"},
	    {"CANCELLED", "not sent: the subscriber left, or it was dropped"},
	};

	if (message->digest_id < 0 && strcmp(message->state, "FAILED") == 0)
		return "failed permanently";
	if (g_strcmp0(message->held_why, "crash") == 0)
		return "held: paperboyd was killed each time it was sent, the last "
		       "time "
		       "with no other message in flight; queue release tries once "
		       "more, "
		       "queue drop cancels it";
	if (strcmp(message->state, "HELD") == 0)
		return g_strcmp0(message->held_why, "restore") == 0
		           ? "held: it may have been sent since the backup was made"
		           : "held: paperboyctl queue release, or queue drop";
	if (strcmp(message->state, "UNKNOWN") == 0 && message->ended_at >= 0)
		return "may have arrived; not retried any more";
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(message->state, rows[i][0]) == 0)
			return rows[i][1];
	return "";
}

static char *
format_state(const void *data)
{
	const struct outbox_message *message = data;

	return g_strdup_printf("%s: %s", message->state, explain(message));
}

static char *
format_recipient(const void *data)
{
	const struct outbox_message *message = data;

	return g_strdup_printf("%s (%s)", message->recipient,
	    message->recipient_state ? message->recipient_state : "not a subscriber");
}

static char *
format_digest(const void *data)
{
	const struct outbox_message *message = data;

	return message->digest_id < 0
	           ? NULL
	           : g_strdup_printf("%" G_GINT64_FORMAT
	                             " of %s, slot %s, %" G_GINT64_FORMAT " papers, %s",
	                 message->digest_id, message->date, message->slot,
	                 message->papers, message->digest_state);
}

static char *
format_copies(const void *data)
{
	const struct outbox_message *message = data;

	return message->copies
	           ? g_strdup_printf("%u may have arrived; killed while sending: %u",
	                 message->copies, message->crashes)
	           : NULL;
}

static char *
format_raw_command(const void *data)
{
	const struct outbox_message *message = data;

	return message->digest_id < 0
	           ? NULL
	           : g_strdup_printf("paperboyctl digest show %" G_GINT64_FORMAT
	                             " --raw",
	                 message->digest_id);
}

static const struct table_column message_columns[] = {
    TABLE_COLUMN("message", "id", TABLE_INT64, outbox_message, id),
    TABLE_COLUMN_STRING("state", NULL, format_state),
    TABLE_COLUMN_STRING("recipient", NULL, format_recipient),
    TABLE_COLUMN("kind", "kind", TABLE_TEXT, outbox_message, kind),
    TABLE_COLUMN_STRING("digest", NULL, format_digest),
    TABLE_COLUMN("queued", "queued_at", TABLE_TIME, outbox_message, queued_at),
    TABLE_COLUMN("attempts", "attempts", TABLE_COUNT, outbox_message, attempt),
    TABLE_COLUMN_STRING("copies", NULL, format_copies),
    TABLE_COLUMN("last try", "claimed_at", TABLE_TIME, outbox_message, claimed_at),
    TABLE_COLUMN("next try", "next_try_at", TABLE_TIME, outbox_message, next_try_at),
    TABLE_COLUMN("ended", "ended_at", TABLE_TIME, outbox_message, ended_at),
    TABLE_COLUMN("last reply", "reply", TABLE_TEXT, outbox_message, reply),
    TABLE_COLUMN("held from", "held_from", TABLE_TEXT, outbox_message, held_from),
    TABLE_COLUMN_STRING("its bytes", NULL, format_raw_command),
    TABLE_COLUMN(NULL, "digest", TABLE_INT64, outbox_message, digest_id),
    TABLE_COLUMN(NULL, "recipient", TABLE_TEXT, outbox_message, recipient),
    TABLE_COLUMN(NULL, "recipient_state", TABLE_TEXT, outbox_message, recipient_state),
    TABLE_COLUMN(NULL, "state", TABLE_TEXT, outbox_message, state),
    TABLE_COLUMN(NULL, "code", TABLE_INT, outbox_message, code),
    TABLE_COLUMN(NULL, "held_why", TABLE_TEXT, outbox_message, held_why),
    TABLE_COLUMN(NULL, "slot", TABLE_TEXT, outbox_message, slot),
    TABLE_COLUMN(NULL, "date", TABLE_TEXT, outbox_message, date),
    TABLE_COLUMN(NULL, "digest_state", TABLE_TEXT, outbox_message, digest_state),
    TABLE_COLUMN(NULL, "papers", TABLE_INT64, outbox_message, papers),
    TABLE_COLUMN(NULL, "newest_day", TABLE_TEXT, outbox_message, newest_day),
    TABLE_COLUMN(NULL, "possible_copies", TABLE_COUNT, outbox_message, copies),
    TABLE_COLUMN(NULL, "crashes", TABLE_COUNT, outbox_message, crashes),
    {0},
};

bool
ctl_run_queue_show(struct ctl *ctl, GError **error)
{
	g_autofree struct outbox_message *message = NULL;
	int64_t id;

	if (!ctl_parse_id(ctl->argv[1], "message", &id, error))
		return false;
	message = outbox_load_message(ctl->store, id, error);
	if (!message)
		return false;
	if (ctl->is_json)
		print_json(table_to_json(message_columns, message));
	else
		table_print_record(message_columns, message, "");
	return true;
}

/* ---- change ---- */

/* By outcome: its key in JSON, and the text after the number of messages; NULL: that of
 * the command (done_texts). */
static const struct {
	const char *key, *text;
} outcome_rows[QUEUE_OUTCOMES] = {
    [QUEUE_DONE] = {"done", NULL},
    [QUEUE_DOUBTFUL] = {"doubtful",
        "may have arrived; sent again with the same Message-ID and bytes"},
    [QUEUE_DELIVERED] = {"delivered", "dropped; its papers count as read"},
    [QUEUE_TOO_OLD] = {"too_old",
        "cancelled: a digest older than 30 days, or a reply older than 3"},
    [QUEUE_SENDING] = {"sending", "being sent now; not changed"},
    [QUEUE_HAS_ENDED] = {"ended", "already ended; not changed"},
    [QUEUE_IS_HELD] = {"held", "held; not changed (use queue release)"},
    [QUEUE_NOT_HELD] = {"not_held", "not held; not changed"},
};

static const char *const done_texts[] = {
    [QUEUE_RETRY] = "due now",
    [QUEUE_HOLD] = "held until you release it",
    [QUEUE_RELEASE] = "due now",
    [QUEUE_DROP] = "dropped; its papers are in the next digest",
    [QUEUE_DROP_DELIVERED] = "dropped",
};

static const char *
get_outcome_text(enum queue_action action, enum queue_outcome outcome)
{
	return outcome == QUEUE_DONE ? done_texts[action] : outcome_rows[outcome].text;
}

/* Fail when some of the messages named were not changed. */
static bool
check_counts(const unsigned counts[QUEUE_OUTCOMES], GError **error)
{
	if (counts[QUEUE_SENDING])
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "messages being sent were not changed: try again in a moment");
	if (counts[QUEUE_HAS_ENDED] || counts[QUEUE_IS_HELD] || counts[QUEUE_NOT_HELD])
		return pb_fail(error, PB_ERROR_INPUT,
		    "some messages were not changed: see paperboyctl queue show");
	return true;
}

static void
print_counts(const struct ctl *ctl, enum queue_action action,
    const unsigned counts[QUEUE_OUTCOMES])
{
	json_t *object = json_object();
	bool is_any = false;

	for (unsigned i = 0; i < QUEUE_OUTCOMES; i++) {
		json_object_set_new(
		    object, outcome_rows[i].key, json_integer(counts[i]));
		if (!counts[i])
			continue;
		is_any = true;
		if (!ctl->is_json)
			printf("%u %s: %s\n", counts[i],
			    counts[i] == 1 ? "message" : "messages",
			    get_outcome_text(action, i));
	}
	if (ctl->is_json)
		print_json(object);
	else
		json_decref(object);
	if (!ctl->is_json && !is_any)
		puts("No such messages.");
}

static bool
change_named(struct ctl *ctl, const struct queue_request *request, int count,
    char **arguments, GError **error)
{
	g_autofree int64_t *ids = g_new0(int64_t, (gsize)count);
	g_autofree enum queue_outcome *outcomes =
	    g_new0(enum queue_outcome, (gsize)count);
	unsigned counts[QUEUE_OUTCOMES] = {0};

	for (int i = 0; i < count; i++)
		if (!ctl_parse_id(arguments[i], "message", &ids[i], error))
			return false;
	if (!queue_change(ctl->store, request, ids, (unsigned)count, outcomes, error))
		return false;
	for (int i = 0; i < count; i++) {
		counts[outcomes[i]]++;
		if (!ctl->is_json)
			printf("message %" G_GINT64_FORMAT ": %s\n", ids[i],
			    get_outcome_text(request->action, outcomes[i]));
	}
	if (ctl->is_json)
		print_counts(ctl, request->action, counts);
	return check_counts(counts, error);
}

static bool
change_all(struct ctl *ctl, const struct queue_request *request, const char *state,
    GError **error)
{
	unsigned counts[QUEUE_OUTCOMES] = {0};

	if (!queue_change_all(ctl->store, request, state, counts, error))
		return false;
	print_counts(ctl, request->action, counts);
	return true;
}

/* Change the messages of the arguments: "all", or ids. */
static bool
change(struct ctl *ctl, enum queue_action action, GError **error)
{
	const char *state = ctl->options.state;
	const struct queue_request request = {
	    .action = action,
	    .who = ctl->who,
	    .now = clock_get_now(&ctl->clock),
	};
	bool is_all = strcmp(ctl->argv[1], "all") == 0;
	bool is_ok;

	if (is_all && ctl->argc > 2) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "'all' cannot be combined with ids");
		return false;
	}
	if (!is_all && state) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "--state needs 'all'");
		return false;
	}
	is_ok = is_all
	            ? change_all(ctl, &request, state, error)
	            : change_named(ctl, &request, ctl->argc - 1, ctl->argv + 1, error);
	/* Also when some were not changed: the others are due. */
	if (action == QUEUE_RETRY || action == QUEUE_RELEASE)
		g_free(ctl_ask_daemon(ctl, "retry"));
	ctl_wake_daemon(ctl);
	return is_ok;
}

bool
ctl_run_queue_retry(struct ctl *ctl, GError **error)
{
	return change(ctl, QUEUE_RETRY, error);
}

bool
ctl_run_queue_hold(struct ctl *ctl, GError **error)
{
	return change(ctl, QUEUE_HOLD, error);
}

bool
ctl_run_queue_release(struct ctl *ctl, GError **error)
{
	g_autofree char *question = NULL;
	bool is_superseded;
	int64_t count;

	if (strcmp(ctl->argv[1], "all") == 0) {
		if (!store_load_count(ctl->store, "outbox HELD", &count, error) ||
		    !backup_is_superseded(ctl->store, &is_superseded, error))
			return false;
		question = g_strdup_printf("Send %" G_GINT64_FORMAT " held messages%s",
		    count,
		    is_superseded ? " and all others, although another machine has a "
		                    "newer copy of the store"
		                  : "");
		if (((count || is_superseded) && !ctl_confirm(ctl, question, error)) ||
		    (is_superseded && !backup_supersede(ctl->store, 0, error)))
			return false;
	}
	return change(ctl, QUEUE_RELEASE, error);
}

bool
ctl_run_queue_drop(struct ctl *ctl, GError **error)
{
	g_autofree char *question = NULL;

	if (!check_state(ctl->options.state, error))
		return false;
	question = g_strdup_printf("Never send %s, and let the papers in %s %s",
	    strcmp(ctl->argv[1], "all") == 0 ? "any queued message" : "these messages",
	    strcmp(ctl->argv[1], "all") == 0 || ctl->argc > 2 ? "them" : "it",
	    ctl->options.is_delivered ? "count as read" : "be in the next digest");
	return ctl_confirm(ctl, question, error) &&
	       change(ctl,
	           ctl->options.is_delivered ? QUEUE_DROP_DELIVERED : QUEUE_DROP,
	           error);
}

static bool
set_pause(struct ctl *ctl, bool is_paused, GError **error)
{
	int64_t since;

	if (!queue_pause(ctl->store, is_paused, ctl->who, clock_get_now(&ctl->clock),
	        &since, error))
		return false;
	ctl_wake_daemon(ctl);
	return print_result(ctl, json_pack("{s:b}", "paused", (int)is_paused), "%s%s\n",
	    is_paused ? "digests are paused until paperboyctl delivery resume; replies "
	                "and other mail are sent"
	              : "digests are built and sent",
	    is_paused == (since >= 0) ? ", as before" : "");
}

bool
ctl_run_delivery_pause(struct ctl *ctl, GError **error)
{
	return set_pause(ctl, true, error);
}

bool
ctl_run_delivery_resume(struct ctl *ctl, GError **error)
{
	return set_pause(ctl, false, error);
}
