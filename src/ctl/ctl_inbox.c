/*
 * ctl_inbox.c - the commands on letters that came in, and handing one in.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/pages.h"
#include "ctl/print.h"
#include "message/dedup_key.h"
#include "receive/lmtp_client.h"
#include "service/inbound/quarantine.h"
#include "store/mail/inbox.h"

/* What is shown of a letter's header. */
static const char *const shown_fields[] = {
    "From", "To", "Subject", "Date", "Message-ID", NULL};

/* ---- list ---- */

static json_t *
json_of_row(const void *data)
{
	const struct inbox_row *row = data;

	return json_pack("{s:I, s:s, s:s, s:o, s:o, s:I, s:I, s:i, s:o, s:o, s:o}",
	    "id", (json_int_t)row->id, "state", row->state, "receiver", row->receiver,
	    "sender", print_json_text(row->sender), "recipient",
	    print_json_text(row->recipient), "received_at",
	    (json_int_t)row->received_at, "size", (json_int_t)row->size, "tries",
	    (int)row->tries, "next_try_at", print_json_number(row->next_try_at),
	    "ended_at", print_json_number(row->ended_at), "verdict",
	    print_json_text(row->verdict));
}

/* An envelope sender as a mail server shows it. */
static const char *
name_sender(const struct inbox_row *row)
{
	if (!row->sender)
		return "-";
	return *row->sender ? row->sender : "<>";
}

static char **
table_row(const void *data)
{
	const struct inbox_row *row = data;
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, row->id);
	g_autofree char *tries = g_strdup_printf("%u", row->tries);
	g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, row->size);
	g_autofree char *came = ctl_format_time(row->received_at);

	return print_row(id, row->state, row->receiver, came, size, tries,
	    name_sender(row), row->verdict ? row->verdict : "-", NULL);
}

/* How far the list has come. */
struct messages {
	struct store *store;
	const char *state; /* NULL: new and quarantined */
	int64_t before;
};

static GPtrArray *
load_page(void *data, GError **error)
{
	struct messages *messages = data;
	GPtrArray *rows = inbox_load_page(
	    messages->store, messages->state, messages->before, PAGES_ROWS, error);

	if (rows && rows->len)
		messages->before =
		    ((const struct inbox_row *)rows->pdata[rows->len - 1])->id;
	return rows;
}

static bool
check_state(char *state, GError **error)
{
	static const char *const names[] = {"new", "done", "quarantined", NULL};

	for (char *at = state; at && *at; at++)
		*at = g_ascii_tolower(*at);
	if (!state || g_strv_contains(names, state))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "'%s' is no state: new, done or quarantined is wanted", state);
	return false;
}

bool
ctl_run_inbox_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *state = NULL;
	const GOptionEntry entries[] = {
	    {"state", 0, 0, G_OPTION_ARG_STRING, &state, NULL, NULL},
	    {0},
	};
	struct messages messages = {.store = ctl->store, .before = INT64_MAX};
	struct pages pages = {.load = load_page,
	    .data = &messages,
	    .format = table_row,
	    .pack = json_of_row};

	if (!ctl_parse(entries, 0, &argc, &argv, error) || !check_state(state, error))
		return false;
	messages.state = state;
	pages.head = print_row("ID", "STATE", "ROAD", "CAME", "OCTETS", "TRIES",
	    "SENDER", "VERDICT", NULL);
	pages.when_empty = state ? "There are no such letters."
	                         : "No letter waits, and none is quarantined.";
	return pages_show(ctl, &pages, error);
}

/* ---- show ---- */

static void
print_time(const char *name, int64_t at)
{
	g_autofree char *text = ctl_format_time(at);

	if (at >= 0)
		printf("%-12s %s\n", name, text);
}

static const char *
explain(const struct inbox_row *row)
{
	if (strcmp(row->state, "quarantined") == 0)
		return "could not be handled; paperboyctl inbox retry, or inbox drop";
	return strcmp(row->state, "new") == 0 ? "waits to be handled"
	                                      : "was handled, and what it said is gone";
}

static void
print_mail(const struct inbox_row *row, GBytes *raw)
{
	printf("letter       %" G_GINT64_FORMAT "\n", row->id);
	printf("state        %s: %s\n", row->state, explain(row));
	printf("came         by %s, %" G_GINT64_FORMAT " octets\n", row->receiver,
	    row->size);
	print_time("at", row->received_at);
	if (row->sender)
		printf("sender       %s\n", name_sender(row));
	if (row->recipient) {
		g_auto(GStrv) recipients = g_strsplit(row->recipient, "\n", -1);
		g_autofree char *list = g_strjoinv(", ", recipients);

		printf("recipient    %s\n", list);
	}
	printf("tries        %u\n", row->tries);
	print_time("next try", row->next_try_at);
	print_time("ended", row->ended_at);
	if (row->verdict) {
		g_autofree char *verdict = print_dup_line(row->verdict);

		printf("verdict      %s\n", verdict);
	}
	for (const char *const *name = shown_fields; raw && *name; name++) {
		gsize size;
		const void *bytes = g_bytes_get_data(raw, &size);
		g_autofree char *value = dedup_key_find_field(bytes, size, *name);
		g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;
		g_autofree char *line = valid ? print_dup_line(valid) : NULL;

		if (line)
			printf("%-12s %s\n", *name, line);
	}
	if (raw)
		printf("its octets   paperboyctl inbox show %" G_GINT64_FORMAT
		       " --raw\n",
		    row->id);
}

static bool
print_raw(const struct inbox_row *row, GBytes *raw, GError **error)
{
	gsize size;
	const void *bytes;

	if (!raw) {
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "letter %" G_GINT64_FORMAT " was handled, and what it said is gone",
		    row->id);
		return false;
	}
	bytes = g_bytes_get_data(raw, &size);
	fwrite(bytes, 1, size, stdout);
	return true;
}

bool
ctl_run_inbox_show(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_raw = FALSE;
	const GOptionEntry entries[] = {
	    {"raw", 0, 0, G_OPTION_ARG_NONE, &is_raw, NULL, NULL}, {0}};
	pb_auto(inbox_row) row = NULL;
	g_autoptr(GBytes) raw = NULL;
	int64_t id;

	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    !ctl_parse_id(argv[1], "letter", &id, error))
		return false;
	row = inbox_load(ctl->store, id, &raw, error);
	if (!row)
		return false;
	if (is_raw)
		return print_raw(row, raw, error);
	if (ctl->is_json)
		print_json(json_of_row(row));
	else
		print_mail(row, raw);
	return true;
}

/* ---- retry and drop ---- */

static const char *const done_words[] = {
    [QUARANTINE_RETRY] = "due now",
    [QUARANTINE_DROP] = "dropped; when it comes again it is not taken",
};

static void
print_counts(
    const struct ctl *ctl, enum quarantine_action action, unsigned done, unsigned left)
{
	if (ctl->is_json)
		print_json(
		    json_pack("{s:i, s:i}", "done", (int)done, "left", (int)left));
	else if (done)
		printf("%u %s: %s\n", done, done == 1 ? "letter" : "letters",
		    done_words[action]);
	else if (!left)
		puts("No letter is quarantined.");
}

static bool
change_named(struct ctl *ctl, const struct quarantine_request *request, int count,
    char **words, GError **error)
{
	g_autofree int64_t *ids = g_new0(int64_t, (gsize)count);
	g_autofree bool *is_done = g_new0(bool, (gsize)count);
	unsigned left = 0;

	for (int i = 0; i < count; i++)
		if (!ctl_parse_id(words[i], "letter", &ids[i], error))
			return false;
	if (!quarantine_change(
	        ctl->store, request, ids, (unsigned)count, is_done, error))
		return false;
	for (int i = 0; i < count; i++)
		left += is_done[i];
	print_counts(ctl, request->action, (unsigned)count - left, left);
	if (!left)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "%u of them %s handled already, and left alone", left,
	    left == 1 ? "was" : "were");
	return false;
}

/* argv[1] is "all", or the first number. */
static bool
change(struct ctl *ctl, enum quarantine_action action, int argc, char **argv,
    GError **error)
{
	const struct quarantine_request request = {
	    .action = action,
	    .who = ctl->who,
	    .now = clock_get_now(&ctl->clock),
	};
	bool is_all = strcmp(argv[1], "all") == 0, is_ok;
	unsigned count = 0;

	if (is_all && argc > 2) {
		g_set_error(
		    error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'all' stands alone");
		return false;
	}
	if (is_all) {
		is_ok = quarantine_change_all(ctl->store, &request, &count, error);
		if (is_ok)
			print_counts(ctl, action, count, 0);
	} else {
		is_ok = change_named(ctl, &request, argc - 1, argv + 1, error);
	}
	if (action == QUARANTINE_RETRY)
		ctl_poke_daemon(ctl);
	return is_ok;
}

bool
ctl_run_inbox_retry(struct ctl *ctl, int argc, char **argv, GError **error)
{
	return ctl_parse_some(NULL, 1, -1, &argc, &argv, error) &&
	       change(ctl, QUARANTINE_RETRY, argc, argv, error);
}

bool
ctl_run_inbox_drop(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	bool is_all;

	if (!ctl_parse_some(entries, 1, -1, &argc, &argv, error))
		return false;
	is_all = strcmp(argv[1], "all") == 0;
	return ctl_confirm(is_yes,
	           is_all ? "Forget all letters that are quarantined"
	                  : "Forget these letters without handling them",
	           error) &&
	       change(ctl, QUARANTINE_DROP, argc, argv, error);
}

/* ---- receive ---- */

/* All of standard input, as far as it may be a letter; one octet more tells. */
static GString *
read_input(GError **error)
{
	GString *mail = g_string_new(NULL);
	char buffer[16 * 1024];
	size_t got;

	while (mail->len <= BOUNDS_MAIL_BYTES &&
	       (got = fread(buffer, 1, sizeof(buffer), stdin)) > 0)
		g_string_append_len(mail, buffer, (gssize)got);
	if (ferror(stdin))
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot read the letter from standard input");
	else if (mail->len > BOUNDS_MAIL_BYTES)
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "the letter has more than %d octets", BOUNDS_MAIL_BYTES);
	else if (!mail->len)
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "there is no letter on standard input");
	else
		return mail;
	g_string_free(mail, TRUE);
	return NULL;
}

/* "From anna@example.org Sat Nov 21 ...": some put that before a letter. */
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

/* What the mail server knows and did not say; the null sender would be a bounce. */
static char *
find_sender(GString *mail, const char *said)
{
	g_autofree char *from_line = take_from_line(mail);
	char *found;

	if (said)
		return g_strdup(strcmp(said, "<>") == 0 ? "" : said);
	found = dedup_key_find_address(mail->str, mail->len, "Return-Path");
	if (found)
		return found;
	if (from_line && strchr(from_line, '@'))
		return g_steal_pointer(&from_line);
	found = dedup_key_find_address(mail->str, mail->len, "From");
	return found ? found : g_strdup("");
}

bool
ctl_run_receive(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *recipient = NULL, *sender = NULL, *path = NULL;
	const GOptionEntry entries[] = {
	    {"recipient", 0, 0, G_OPTION_ARG_STRING, &recipient, NULL, NULL},
	    {"sender", 0, 0, G_OPTION_ARG_STRING, &sender, NULL, NULL},
	    {"socket", 0, 0, G_OPTION_ARG_FILENAME, &path, NULL, NULL},
	    {0},
	};
	g_autofree char *from = NULL;
	g_autoptr(GError) problem = NULL;
	GString *mail;
	bool is_ok;

	if (!ctl_parse(entries, 0, &argc, &argv, error))
		return false;
	if (!path)
		path = g_strdup(ctl->settings->lmtp_socket);
	if (!*path) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "receive.lmtp_socket is not set, and --socket was not said");
		return false;
	}
	mail = read_input(error);
	if (!mail)
		return false;
	from = find_sender(mail, sender);
	is_ok = lmtp_client_send(path, from,
	    recipient ? recipient : ctl->settings->mail_from, mail->str, mail->len,
	    &problem);
	g_string_free(mail, TRUE);
	/* The mail server would send a bounce, to a sender that may be forged; the
	 * daemon has logged it. */
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		return true;
	pb_error_forward(error, &problem);
	return is_ok;
}
