/*
 * ctl_queue.c - the commands on messages that wait.
 */
#include "service/delivery/queue.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/pages.h"
#include "ctl/print.h"
#include "service/people/subscribe.h"
#include "store/mail/outbox.h"
#include "store/mail/outbox_queue.h"

/* ---- list and show ---- */

static json_t *
json_of_row(const void *data)
{
	const struct outbox_row *row = data;

	return json_pack("{s:I, s:s, s:o, s:s, s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o,"
	                 " s:i, s:i}",
	    "id", (json_int_t)row->id, "kind", row->kind, "digest",
	    print_json_number(row->digest_id), "recipient", row->recipient, "state",
	    row->state, "attempts", (int)row->attempt, "queued_at",
	    (json_int_t)row->queued_at, "next_try_at",
	    print_json_number(row->next_try_at), "ended_at",
	    print_json_number(row->ended_at), "code", print_json_number(row->code),
	    "reply", print_json_text(row->reply), "held_why",
	    print_json_text(row->held_why), "possible_copies", (int)row->copies,
	    "crashes", (int)row->crashes);
}

static char **
table_row(const void *data)
{
	const struct outbox_row *row = data;
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, row->id);
	g_autofree char *digest =
	    row->digest_id < 0 ? g_strdup("-")
	                       : g_strdup_printf("%" G_GINT64_FORMAT, row->digest_id);
	g_autofree char *attempts = g_strdup_printf("%u", row->attempt);
	g_autofree char *next =
	    ctl_format_time(row->ended_at >= 0 ? row->ended_at : row->next_try_at);
	g_autofree char *held =
	    row->held_why ? g_strdup_printf("held: %s", row->held_why) : NULL;
	g_autofree char *copies =
	    row->copies ? g_strdup_printf("possible copies: %u", row->copies) : NULL;

	return print_row(id, row->kind, digest, row->state, attempts, next,
	    row->recipient,
	    held         ? held
	    : row->reply ? row->reply
	    : copies     ? copies
	                 : "-",
	    NULL);
}

static bool
is_state_name(const char *name)
{
	static const char *const names[] = {"NEW", "SENDING", "DEFERRED", "UNKNOWN",
	    "HELD", "SENT", "FAILED", "CANCELLED", NULL};

	return g_strv_contains(names, name);
}

/* @param state  made upper case; NULL stays */
static bool
check_state(char *state, GError **error)
{
	for (char *at = state; at && *at; at++)
		*at = g_ascii_toupper(*at);
	if (!state || is_state_name(state))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "'%s' is no state: NEW, SENDING, DEFERRED, UNKNOWN, HELD, SENT, FAILED or "
	    "CANCELLED is wanted",
	    state);
	return false;
}

/* What has ended is asked for by its state alone, too. */
static bool
is_ended_state(const char *state)
{
	return state && (strcmp(state, "SENT") == 0 || strcmp(state, "FAILED") == 0 ||
	                    strcmp(state, "CANCELLED") == 0);
}

/* How far the list has come. */
struct messages {
	struct store *store;
	const struct outbox_filter *choice;
	int64_t after;
};

static GPtrArray *
load_page(void *data, GError **error)
{
	struct messages *messages = data;
	GPtrArray *rows = outbox_load_rows(
	    messages->store, messages->choice, messages->after, PAGES_ROWS, error);

	if (rows && rows->len)
		messages->after =
		    ((const struct outbox_row *)rows->pdata[rows->len - 1])->id;
	return rows;
}

static bool
list_rows(struct ctl *ctl, const struct outbox_filter *choice, GError **error)
{
	struct messages messages = {.store = ctl->store, .choice = choice};
	const struct pages pages = {
	    .head = print_row("ID", "KIND", "DIGEST", "STATE", "TRIES",
	        choice->is_all ? "NEXT TRY OR END" : "NEXT TRY", "RECIPIENT",
	        "LAST ANSWER", NULL),
	    .load = load_page,
	    .data = &messages,
	    .format = table_row,
	    .pack = json_of_row,
	    .when_empty = choice->state || choice->subscriber_id
	                      ? "There are no such messages."
	                      : "The queue is empty.",
	};

	return pages_show(ctl, &pages, error);
}

bool
ctl_run_queue_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_all = FALSE;
	g_autofree char *state = NULL, *address = NULL;
	const GOptionEntry entries[] = {
	    {"all", 0, 0, G_OPTION_ARG_NONE, &is_all, NULL, NULL},
	    {"state", 0, 0, G_OPTION_ARG_STRING, &state, NULL, NULL},
	    {"address", 0, 0, G_OPTION_ARG_STRING, &address, NULL, NULL},
	    {0},
	};
	struct outbox_filter choice = {0};

	if (!ctl_parse(entries, 0, &argc, &argv, error) || !check_state(state, error))
		return false;
	if (address &&
	    !subscribe_load_id(ctl->store, address, &choice.subscriber_id, error))
		return false;
	choice.is_all = is_all || is_ended_state(state);
	choice.state = state;
	return list_rows(ctl, &choice, error);
}

static json_t *
json_of_message(const struct outbox_message *message)
{
	json_t *row = json_pack("{s:I, s:s, s:o, s:s, s:o, s:s, s:i, s:I}", "id",
	    (json_int_t)message->id, "kind", message->kind, "digest",
	    print_json_number(message->digest_id), "recipient", message->recipient,
	    "recipient_state", print_json_text(message->recipient_state), "state",
	    message->state, "attempts", (int)message->attempt, "queued_at",
	    (json_int_t)message->queued_at);
	json_t *more = json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I,"
	    " s:o}",
	    "next_try_at", print_json_number(message->next_try_at), "claimed_at",
	    print_json_number(message->claimed_at), "ended_at",
	    print_json_number(message->ended_at), "code",
	    print_json_number(message->code), "reply", print_json_text(message->reply),
	    "held_from", print_json_text(message->held_from), "held_why",
	    print_json_text(message->held_why), "slot", print_json_text(message->slot),
	    "date", print_json_text(message->date), "digest_state",
	    print_json_text(message->digest_state), "papers",
	    (json_int_t)message->papers, "newest_day",
	    print_json_text(message->newest_day));

	json_object_update(row, more);
	json_object_set_new(row, "possible_copies", json_integer(message->copies));
	json_object_set_new(row, "crashes", json_integer(message->crashes));
	json_decref(more);
	return row;
}

/* What a state means, for who is about to do something. */
static const char *
explain(const struct outbox_message *message)
{
	static const char *const rows[][2] = {
	    {"NEW", "waits for its first try"},
	    {"SENDING",
	        "is being sent at this moment, or was when paperboyd was killed"},
	    {"DEFERRED", "was put off, and is tried again by itself"},
	    {"UNKNOWN", "may have arrived: it is sent again with the same Message-ID"},
	    {"SENT", "the relay has taken it"},
	    {"FAILED", "was given up; its papers come with the next digest"},
	    {"CANCELLED", "is not sent: the person left, or it was dropped"},
	};

	if (message->digest_id < 0 && strcmp(message->state, "FAILED") == 0)
		return "was given up";
	if (g_strcmp0(message->held_why, "crash") == 0)
		return "waits for you: paperboyd was killed each time while it was "
		       "sent, "
		       "at last with nothing else in flight; queue release tries once "
		       "more, queue drop gives it up";
	if (strcmp(message->state, "HELD") == 0)
		return g_strcmp0(message->held_why, "restore") == 0
		           ? "waits for you: it may have been sent since the backup "
		             "was "
		             "made"
		           : "waits for you: paperboyctl queue release, or queue drop";
	if (strcmp(message->state, "UNKNOWN") == 0 && message->ended_at >= 0)
		return "may have arrived; it is not tried any more";
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(message->state, rows[i][0]) == 0)
			return rows[i][1];
	return "";
}

static void
print_time(const char *name, int64_t at)
{
	g_autofree char *text = ctl_format_time(at);

	if (at >= 0)
		printf("%-12s %s\n", name, text);
}

static void
print_message(const struct outbox_message *message)
{
	g_autofree char *reply = message->reply ? print_dup_line(message->reply) : NULL;

	printf("message      %" G_GINT64_FORMAT "\n", message->id);
	printf("state        %s: %s\n", message->state, explain(message));
	printf("recipient    %s (%s)\n", message->recipient,
	    message->recipient_state ? message->recipient_state : "no subscriber");
	if (message->digest_id < 0)
		printf("kind         %s\n", message->kind);
	else
		printf("digest       %" G_GINT64_FORMAT
		       " of %s, slot %s, %" G_GINT64_FORMAT " papers, %s\n",
		    message->digest_id, message->date, message->slot, message->papers,
		    message->digest_state);
	print_time("queued", message->queued_at);
	printf("tries        %u\n", message->attempt);
	if (message->copies)
		printf("copies       %u may have arrived; killed while sending: %u\n",
		    message->copies, message->crashes);
	print_time("last try", message->claimed_at);
	print_time("next try", message->next_try_at);
	print_time("ended", message->ended_at);
	if (reply)
		printf("last answer  %s\n", reply);
	if (message->held_from)
		printf("held from    %s\n", message->held_from);
	if (message->digest_id >= 0)
		printf("its octets   paperboyctl digest show %" G_GINT64_FORMAT
		       " --raw\n",
		    message->digest_id);
}

bool
ctl_run_queue_show(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(outbox_message) message = NULL;
	int64_t id;

	if (!ctl_parse(NULL, 1, &argc, &argv, error) ||
	    !ctl_parse_id(argv[1], "message", &id, error))
		return false;
	message = outbox_load_message(ctl->store, id, error);
	if (!message)
		return false;
	if (ctl->is_json)
		print_json(json_of_message(message));
	else
		print_message(message);
	return true;
}

/* ---- change ---- */

/* How outcomes are told, by scripts' name and in words behind a count. */
static const struct {
	const char *name, *words;
} outcome_rows[QUEUE_OUTCOMES] = {
    [QUEUE_DONE] = {"done", NULL},
    [QUEUE_DOUBTFUL] = {"doubtful",
        "may have arrived before: sent again, with the same "
        "Message-ID and octets"},
    [QUEUE_DELIVERED] = {"delivered", "dropped; what is in it counts as read"},
    [QUEUE_TOO_OLD] = {"too_old",
        "cancelled: all in it is older than 30 days, or an answer than 3"},
    [QUEUE_SENDING] = {"sending", "being sent at this moment: left alone"},
    [QUEUE_HAS_ENDED] = {"ended", "ended already: left alone"},
    [QUEUE_IS_HELD] = {"held", "held: left alone (queue release sends it)"},
    [QUEUE_NOT_HELD] = {"not_held", "not held: left alone"},
};

static const char *const done_words[] = {
    [QUEUE_RETRY] = "due now",
    [QUEUE_HOLD] = "held until you release it",
    [QUEUE_RELEASE] = "due now",
    [QUEUE_DROP] = "dropped; what is in it comes with the next digest",
    [QUEUE_DROP_DELIVERED] = "dropped",
};

static const char *
locale_format_of(enum queue_action action, enum queue_outcome outcome)
{
	return outcome == QUEUE_DONE ? done_words[action] : outcome_rows[outcome].words;
}

/* What was asked for by number and left alone ends with a status of its own. */
static bool
judge(const unsigned counts[QUEUE_OUTCOMES], GError **error)
{
	if (counts[QUEUE_SENDING]) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "what is being sent was left alone: try again in a moment");
		return false;
	}
	if (counts[QUEUE_HAS_ENDED] || counts[QUEUE_IS_HELD] ||
	    counts[QUEUE_NOT_HELD]) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "not all could be done: paperboyctl queue show tells why");
		return false;
	}
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
		    object, outcome_rows[i].name, json_integer(counts[i]));
		if (!counts[i])
			continue;
		is_any = true;
		if (!ctl->is_json)
			printf("%u %s: %s\n", counts[i],
			    counts[i] == 1 ? "message" : "messages",
			    locale_format_of(action, i));
	}
	if (ctl->is_json)
		print_json(object);
	else
		json_decref(object);
	if (!ctl->is_json && !is_any)
		puts("There are no such messages.");
}

static bool
change_named(struct ctl *ctl, const struct queue_request *request, int count,
    char **words, GError **error)
{
	g_autofree int64_t *ids = g_new0(int64_t, (gsize)count);
	g_autofree enum queue_outcome *outcomes =
	    g_new0(enum queue_outcome, (gsize)count);
	unsigned counts[QUEUE_OUTCOMES] = {0};

	for (int i = 0; i < count; i++)
		if (!ctl_parse_id(words[i], "message", &ids[i], error))
			return false;
	if (!queue_change(ctl->store, request, ids, (unsigned)count, outcomes, error))
		return false;
	for (int i = 0; i < count; i++) {
		counts[outcomes[i]]++;
		if (!ctl->is_json)
			printf("message %" G_GINT64_FORMAT ": %s\n", ids[i],
			    locale_format_of(request->action, outcomes[i]));
	}
	if (ctl->is_json)
		print_counts(ctl, request->action, counts);
	return judge(counts, error);
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

/* argv[1] is "all", or the first number.  @param state  only with all; or NULL */
static bool
change(struct ctl *ctl, enum queue_action action, const char *state, int argc,
    char **argv, GError **error)
{
	const struct queue_request request = {
	    .action = action,
	    .who = ctl->who,
	    .now = clock_get_now(&ctl->clock),
	};
	bool is_all = strcmp(argv[1], "all") == 0;
	bool is_ok;

	if (is_all && argc > 2) {
		g_set_error(
		    error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'all' stands alone");
		return false;
	}
	if (!is_all && state) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "--state goes with all");
		return false;
	}
	is_ok = is_all ? change_all(ctl, &request, state, error)
	               : change_named(ctl, &request, argc - 1, argv + 1, error);
	/* Also when some were left alone: the others are to go. */
	if (action == QUEUE_RETRY || action == QUEUE_RELEASE) {
		g_autofree char *answer = ctl_ask_daemon(ctl, "retry");
	}
	ctl_poke_daemon(ctl);
	return is_ok;
}

bool
ctl_run_queue_retry(struct ctl *ctl, int argc, char **argv, GError **error)
{
	return ctl_parse_some(NULL, 1, -1, &argc, &argv, error) &&
	       change(ctl, QUEUE_RETRY, NULL, argc, argv, error);
}

bool
ctl_run_queue_hold(struct ctl *ctl, int argc, char **argv, GError **error)
{
	return ctl_parse_some(NULL, 1, -1, &argc, &argv, error) &&
	       change(ctl, QUEUE_HOLD, NULL, argc, argv, error);
}

bool
ctl_run_queue_release(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	g_autofree char *question = NULL;
	int64_t count;

	if (!ctl_parse_some(entries, 1, -1, &argc, &argv, error))
		return false;
	if (strcmp(argv[1], "all") == 0) {
		if (!outbox_count_held(ctl->store, NULL, &count, error))
			return false;
		question =
		    g_strdup_printf("Send %" G_GINT64_FORMAT " held messages", count);
		if (count && !ctl_confirm(is_yes, question, error))
			return false;
	}
	return change(ctl, QUEUE_RELEASE, NULL, argc, argv, error);
}

bool
ctl_run_queue_drop(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE, is_delivered = FALSE;
	g_autofree char *state = NULL;
	const GOptionEntry entries[] = {
	    {"delivered", 0, 0, G_OPTION_ARG_NONE, &is_delivered, NULL, NULL},
	    {"state", 0, 0, G_OPTION_ARG_STRING, &state, NULL, NULL},
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL},
	    {0},
	};
	g_autofree char *question = NULL;

	if (!ctl_parse_some(entries, 1, -1, &argc, &argv, error) ||
	    !check_state(state, error))
		return false;
	question = g_strdup_printf("Never send %s, and let what is in %s %s",
	    strcmp(argv[1], "all") == 0 ? "any message that waits" : "these messages",
	    strcmp(argv[1], "all") == 0 || argc > 2 ? "them" : "it",
	    is_delivered ? "count as read" : "come with the next digest");
	return ctl_confirm(is_yes, question, error) &&
	       change(ctl, is_delivered ? QUEUE_DROP_DELIVERED : QUEUE_DROP, state,
	           argc, argv, error);
}
