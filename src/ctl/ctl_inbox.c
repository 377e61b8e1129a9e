/*
 * ctl_inbox.c - the commands on received mail: inbox list, show, retry, drop; receive.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "message/dedup_key.h"
#include "service/command/command.h"
#include "service/inbound/inbox_process.h"
#include "store/mail/inbox.h"
#include "transport/lmtp.h"

/* Header fields printed by inbox show. */
static const char *const header_fields[] = {
    "From", "To", "Subject", "Date", "Message-ID", NULL};

/* ---- list ---- */

/* The envelope sender in the notation of mail servers. */
static char *
format_sender(const void *data)
{
	const struct inbox_row *row = data;

	return g_strdup(row->sender && !*row->sender ? "<>" : row->sender);
}

static const struct table_column row_columns[] = {
    TABLE_COLUMN("ID", "id", TABLE_INT64, inbox_row, id),
    TABLE_COLUMN("STATE", "state", TABLE_TEXT, inbox_row, state),
    TABLE_COLUMN("RECEIVER", "receiver", TABLE_TEXT, inbox_row, receiver),
    TABLE_COLUMN("RECEIVED", "received_at", TABLE_TIME, inbox_row, received_at),
    TABLE_COLUMN("BYTES", "size", TABLE_INT64, inbox_row, size),
    TABLE_COLUMN("ATTEMPTS", "attempts", TABLE_COUNT, inbox_row, tries),
    TABLE_COLUMN_STRING("SENDER", NULL, format_sender),
    TABLE_COLUMN("VERDICT", "verdict", TABLE_TEXT, inbox_row, verdict),
    TABLE_COLUMN(NULL, "sender", TABLE_TEXT, inbox_row, sender),
    TABLE_COLUMN(NULL, "recipient", TABLE_TEXT, inbox_row, recipient),
    TABLE_COLUMN(NULL, "next_try_at", TABLE_TIME, inbox_row, next_try_at),
    TABLE_COLUMN(NULL, "ended_at", TABLE_TIME, inbox_row, ended_at),
    {0},
};

struct inbox_choice {
	struct store *store;
	const char *state; /* NULL: new and quarantined */
};

static GPtrArray *
load_batch(void *data, const void *last, GError **error)
{
	const struct inbox_choice *choice = data;
	const struct inbox_row *before = last;

	return inbox_load_batch(choice->store, choice->state,
	    before ? before->id : INT64_MAX, TABLE_BATCH_ROWS, error);
}

static bool
check_state(char *state, GError **error)
{
	static const char *const names[] = {"new", "done", "quarantined", NULL};

	for (char *at = state; at && *at; at++)
		*at = g_ascii_tolower(*at);
	if (!state || g_strv_contains(names, state))
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "invalid state '%s' (expected new, done or quarantined)", state);
}

bool
ctl_run_inbox_list(struct ctl *ctl, GError **error)
{
	struct inbox_choice choice = {.store = ctl->store};
	struct table table = {
	    row_columns, "No new or quarantined messages.", load_batch, &choice};

	if (!check_state(ctl->options.state, error))
		return false;
	choice.state = ctl->options.state;
	if (ctl->options.state)
		table.empty_text = "No such messages.";
	return table_print_pages(ctl, &table, error);
}

/* ---- show ---- */

static char *
format_state(const void *data)
{
	const struct inbox_row *row = data;

	return g_strdup_printf("%s: %s", row->state,
	    strcmp(row->state, "quarantined") == 0
	        ? "processing failed; paperboyctl inbox retry, or inbox drop"
	    : strcmp(row->state, "new") == 0 ? "waiting to be processed"
	                                     : "processed; its text is deleted");
}

/* Stored one a line. */
static char *
format_recipients(const void *data)
{
	const struct inbox_row *row = data;
	g_auto(GStrv) recipients =
	    row->recipient ? g_strsplit(row->recipient, "\n", -1) : NULL;

	return recipients ? g_strjoinv(", ", recipients) : NULL;
}

static const struct table_column mail_columns[] = {
    TABLE_COLUMN("message", NULL, TABLE_INT64, inbox_row, id),
    TABLE_COLUMN_STRING("state", NULL, format_state),
    TABLE_COLUMN("receiver", NULL, TABLE_TEXT, inbox_row, receiver),
    TABLE_COLUMN("bytes", NULL, TABLE_INT64, inbox_row, size),
    TABLE_COLUMN("received", NULL, TABLE_TIME, inbox_row, received_at),
    TABLE_COLUMN_STRING("sender", NULL, format_sender),
    TABLE_COLUMN_STRING("recipient", NULL, format_recipients),
    TABLE_COLUMN("attempts", NULL, TABLE_COUNT, inbox_row, tries),
    TABLE_COLUMN("next try", NULL, TABLE_TIME, inbox_row, next_try_at),
    TABLE_COLUMN("ended", NULL, TABLE_TIME, inbox_row, ended_at),
    TABLE_COLUMN("verdict", NULL, TABLE_TEXT, inbox_row, verdict),
    {0},
};

static void
print_mail(const struct inbox_row *row, GBytes *raw)
{
	table_print_record(mail_columns, row, "");
	for (const char *const *name = header_fields; raw && *name; name++) {
		gsize size;
		const void *bytes = g_bytes_get_data(raw, &size);
		g_autofree char *value = dedup_key_find_field(bytes, size, *name);
		g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;
		g_autofree char *line = valid ? print_dup_line(valid) : NULL;

		if (line)
			printf("%-12s %s\n", *name, line);
	}
	if (raw)
		printf("its bytes    paperboyctl inbox show %" G_GINT64_FORMAT
		       " --raw\n",
		    row->id);
}

static bool
print_raw(const struct inbox_row *row, GBytes *raw, GError **error)
{
	gsize size;
	const void *bytes;

	if (!raw)
		return pb_fail(error, PB_ERROR_NOT_FOUND,
		    "message %" G_GINT64_FORMAT
		    " was processed, and its text is deleted",
		    row->id);
	bytes = g_bytes_get_data(raw, &size);
	fwrite(bytes, 1, size, stdout);
	return true;
}

bool
ctl_run_inbox_show(struct ctl *ctl, GError **error)
{
	g_autofree struct inbox_row *row = NULL;
	g_autoptr(GBytes) raw = NULL;
	int64_t id;

	if (!ctl_parse_id(ctl->argv[1], "message", &id, error))
		return false;
	row = inbox_load(ctl->store, id, &raw, error);
	if (!row)
		return false;
	if (ctl->options.is_raw)
		return print_raw(row, raw, error);
	if (ctl->is_json)
		print_json(table_to_json(row_columns, row));
	else
		print_mail(row, raw);
	return true;
}

/* ---- retry and drop ---- */

static const char *const done_texts[] = {
    [QUARANTINE_RETRY] = "due now",
    [QUARANTINE_DROP] = "dropped; further copies are ignored",
};

static void
print_counts(const struct ctl *ctl, enum quarantine_action action, unsigned done,
    unsigned unchanged)
{
	if (ctl->is_json)
		print_json(json_pack(
		    "{s:i, s:i}", "done", (int)done, "unchanged", (int)unchanged));
	else if (done)
		printf("%u %s: %s\n", done, done == 1 ? "message" : "messages",
		    done_texts[action]);
	else if (!unchanged)
		puts("No quarantined messages.");
}

static bool
change_named(struct ctl *ctl, const struct quarantine_request *request, int count,
    char **arguments, GError **error)
{
	g_autofree int64_t *ids = g_new0(int64_t, (gsize)count);
	g_autofree bool *is_done = g_new0(bool, (gsize)count);
	unsigned unchanged = 0;

	for (int i = 0; i < count; i++)
		if (!ctl_parse_id(arguments[i], "message", &ids[i], error))
			return false;
	if (!quarantine_change(
	        ctl->store, request, ids, (unsigned)count, is_done, error))
		return false;
	for (int i = 0; i < count; i++)
		unchanged += is_done[i];
	print_counts(ctl, request->action, (unsigned)count - unchanged, unchanged);
	if (!unchanged)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "%u of them %s already processed; not changed", unchanged,
	    unchanged == 1 ? "was" : "were");
}

/* Change the messages of the arguments: "all", or ids. */
static bool
change(struct ctl *ctl, enum quarantine_action action, GError **error)
{
	const struct quarantine_request request = {
	    .action = action,
	    .who = ctl->who,
	    .now = clock_get_now(&ctl->clock),
	};
	bool is_all = strcmp(ctl->argv[1], "all") == 0, is_ok;
	unsigned count = 0;

	if (is_all && ctl->argc > 2) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "'all' cannot be combined with ids");
		return false;
	}
	if (is_all) {
		is_ok = quarantine_change_all(ctl->store, &request, &count, error);
		if (is_ok)
			print_counts(ctl, action, count, 0);
	} else {
		is_ok =
		    change_named(ctl, &request, ctl->argc - 1, ctl->argv + 1, error);
	}
	if (action == QUARANTINE_RETRY)
		ctl_wake_daemon(ctl);
	return is_ok;
}

bool
ctl_run_inbox_retry(struct ctl *ctl, GError **error)
{
	return change(ctl, QUARANTINE_RETRY, error);
}

bool
ctl_run_inbox_drop(struct ctl *ctl, GError **error)
{
	bool is_all;

	is_all = strcmp(ctl->argv[1], "all") == 0;
	return ctl_confirm(ctl,
	           is_all ? "Drop all quarantined messages"
	                  : "Drop these messages without processing them",
	           error) &&
	       change(ctl, QUARANTINE_DROP, error);
}

/* ---- try ---- */

static const char *const kind_names[] = {
    [PROSE_COMMAND] = "command",
    [PROSE_WISH] = "intent",
    [PROSE_CUT] = "cut",
    [PROSE_DOUBT] = "doubt",
    [PROSE_UNREAD] = "not read",
};

static json_t *
json_of_item(const struct prose_item *item, const char *commands)
{
	json_t *values = json_array();

	for (guint i = 0; item->wish.values && i < item->wish.values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(item->wish.values, struct phrases_value, i);

		json_array_append_new(values,
		    json_pack("{s:s, s:s}", "name", value->name, "text", value->text));
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "line", item->line, "kind",
	    kind_names[item->kind], "intent", print_json_text(item->wish.intent),
	    "values", values, "reason", print_json_text(item->reason), "commands",
	    print_json_text(commands));
}

static void
print_item(const struct prose_item *item, const char *commands)
{
	g_autofree char *line = print_dup_line(item->line);
	g_autofree char *shown = commands ? g_strdup(commands) : NULL;

	printf("%-8s  %s\n", kind_names[item->kind], line);
	if (item->reason)
		printf("          (%s)\n", item->reason);
	if (item->kind == PROSE_WISH)
		printf("          %s: %s\n", item->wish.intent,
		    shown ? g_strdelimit(shown, "\n", ';') : "cannot be done so");
}

bool
ctl_run_inbox_try(struct ctl *ctl, GError **error)
{
	pb_auto(inmail) mail = ctl_parse_mail(ctl->argv[1], error);
	pb_auto(prose) prose = NULL;
	const struct settings settings = {.digest_zone = (char *)"UTC"};
	struct request request = {
	    .settings = &settings, .now = clock_get_now(&ctl->clock)};
	json_t *items = json_array();

	if (!mail) {
		json_decref(items);
		return false;
	}
	prose = command_read_prose(mail, false);
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		g_autofree char *commands = command_format_wish(&request, item);

		if (ctl->is_json)
			json_array_append_new(items, json_of_item(item, commands));
		else
			print_item(item, commands);
	}
	if (ctl->is_json)
		print_json(json_pack("{s:o, s:s, s:O}", "language",
		    print_json_text(prose->language), "reply",
		    command_get_reply_kind(prose), "items", items));
	else
		printf("reply: %s; language: %s\n", command_get_reply_kind(prose),
		    prose->language ? prose->language : "not known");
	json_decref(items);
	return true;
}

/* ---- receive ---- */

static GString *
read_input(GError **error)
{
	g_autoptr(GString) mail = ctl_read_stream(stdin, BOUNDS_MAIL_BYTES);

	if (!mail)
		pb_fail(error, PB_ERROR_TEMPORARY, "cannot read standard input");
	else if (mail->len > BOUNDS_MAIL_BYTES)
		pb_fail(error, PB_ERROR_LIMIT, "the message is larger than %d bytes",
		    BOUNDS_MAIL_BYTES);
	else if (!mail->len)
		pb_fail(error, PB_ERROR_INPUT, "standard input is empty");
	else
		return g_steal_pointer(&mail);
	return NULL;
}

/* Remove an mbox From_ line: "From anna@example.org Sat Nov 21 ...". */
static char *
take_from_line(GString *mail)
{
	const char *end = memchr(mail->str, '\n', mail->len);
	char *sender;

	if (!end || strncmp(mail->str, "From ", 5) != 0)
		return NULL;
	sender = g_strndup(mail->str + 5, strcspn(mail->str + 5, " \r\n"));
	g_string_erase(mail, 0, end + 1 - mail->str);
	return sender;
}

/* Not the null sender by default: that would make it a bounce (RFC 5321 4.5.5). */
static char *
find_sender(GString *mail, const char *option)
{
	g_autofree char *from_line = take_from_line(mail);
	char *found;

	if (option)
		return g_strdup(strcmp(option, "<>") == 0 ? "" : option);
	found = dedup_key_find_address(mail->str, mail->len, "Return-Path");
	if (found)
		return found;
	if (from_line && strchr(from_line, '@'))
		return g_steal_pointer(&from_line);
	found = dedup_key_find_address(mail->str, mail->len, "From");
	return found ? found : g_strdup("");
}

bool
ctl_run_receive(struct ctl *ctl, GError **error)
{
	const struct ctl_options *options = &ctl->options;
	const char *path =
	    options->socket_path ? options->socket_path : ctl->settings->lmtp_socket;
	g_autofree char *from = NULL;
	g_autoptr(GError) problem = NULL;
	GString *mail;
	bool is_ok;

	if (!*path)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "receive.lmtp_socket is not set, and there is no --socket");
	mail = read_input(error);
	if (!mail)
		return false;
	from = find_sender(mail, options->sender);
	is_ok = lmtp_send(path, from,
	    options->recipient ? options->recipient : ctl->settings->mail_from,
	    mail->str, mail->len, &problem);
	g_string_free(mail, TRUE);
	/* Success, although rejected: the mail server would send a bounce to a
	 * sender that may be forged.  The daemon has logged it. */
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return true;
	pb_error_forward(error, &problem);
	return is_ok;
}
