/*
 * helper_imap.c - run the IMAP receiver alone against a server.
 *
 * Each mail is stored in --out.  Calls of the sink are printed: "take FILE", "skip NAME
 * HEADER-BYTES REASON", "unskip NAME", and "note TEXT" or "note -" for errors.  Ends at
 * the end of standard input, with "end ok" and the peak memory in KiB.
 */
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "receive/imap.h"

struct run {
	char *out, *mark_file;
	int kill_after, postpone; /* mails; offers to postpone */
	int n_taken;
	char *refuse;  /* refuse mails that contain this */
	char *skipped; /* name of a message skipped before */
};

static bool
take(void *data, const struct receive_mail *mail, GError **error)
{
	struct run *run = data;
	g_autofree char *name = NULL;

	if (run->postpone > 0) {
		run->postpone--;
		printf("postpone\n");
		fflush(stdout);
		g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY, "busy");
		return false;
	}
	if (run->refuse && g_strstr_len(mail->raw, (gssize)mail->size, run->refuse)) {
		printf("refuse\n");
		fflush(stdout);
		g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, "not a mail");
		return false;
	}
	name = g_strdup_printf("%s/%d-%d", run->out, (int)getpid(), ++run->n_taken);
	if (!g_file_set_contents(name, mail->raw, (gssize)mail->size, error))
		return false;
	printf("take %s\n", name);
	fflush(stdout);
	if (run->n_taken == run->kill_after)
		raise(SIGKILL);
	return true;
}

static bool
skip(void *data, const char *name, const struct receive_mail *head, const char *reason,
    GError **error)
{
	(void)data;
	(void)error;
	printf("skip %s %zu %s\n", name, head ? head->size : 0, reason);
	fflush(stdout);
	return true;
}

static bool
unskip(void *data, const char *name, GError **error)
{
	(void)data;
	(void)error;
	printf("unskip %s\n", name);
	fflush(stdout);
	return true;
}

static GPtrArray *
load_skipped(void *data, GError **error)
{
	const struct run *run = data;
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	(void)error;
	if (run->skipped)
		g_ptr_array_add(names, g_strdup(run->skipped));
	return names;
}

static void
note(void *data, const GError *problem)
{
	(void)data;
	printf("note %s\n", problem ? problem->message : "-");
	fflush(stdout);
}

static void
load_mark(void *data, struct imap_cursor *mark)
{
	const struct run *run = data;
	g_autofree char *text = NULL;

	if (run->mark_file && g_file_get_contents(run->mark_file, &text, NULL, NULL))
		sscanf(text, "%u %u", &mark->uidvalidity, &mark->uid);
}

static bool
save_mark(void *data, const struct imap_cursor *mark, GError **error)
{
	const struct run *run = data;
	g_autofree char *text =
	    g_strdup_printf("%u %u\n", mark->uidvalidity, mark->uid);

	return !run->mark_file || g_file_set_contents(run->mark_file, text, -1, error);
}

static double
get_half(void *data)
{
	(void)data;
	return 0.5;
}

static enum stream_tls
find_tls(const char *name)
{
	if (strcmp(name, "implicit") == 0)
		return STREAM_TLS_IMPLICIT;
	if (strcmp(name, "detect") == 0)
		return STREAM_TLS_DETECT;
	return strcmp(name, "starttls") == 0 ? STREAM_TLS_STARTTLS : STREAM_TLS_OFF;
}

/* getrusage() would include the parent before exec. */
static long
get_peak_kib(void)
{
	g_autofree char *text = NULL;
	const char *found = NULL;

	if (g_file_get_contents("/proc/self/status", &text, NULL, NULL))
		found = strstr(text, "VmHWM:");
	return found ? strtol(found + strlen("VmHWM:"), NULL, 10) : -1;
}

static int
serve(struct run *run, struct imap_options *options)
{
	const struct receiver_sink sink = {.take = take,
	    .skip = skip,
	    .unskip = unskip,
	    .load_skipped = load_skipped,
	    .report = note,
	    .data = run};
	g_autoptr(GError) error = NULL;
	pb_auto(receiver) mailbox = NULL;

	options->cursor_store =
	    (struct imap_cursor_store){load_mark, save_mark, NULL, run};
	options->random = get_half;
	mailbox = imap_receiver_new(options, &error);
	if (!mailbox || !receiver_run(mailbox, &sink, STDIN_FILENO, &error)) {
		printf("end %s\n", error->message);
		return 1;
	}
	printf("end ok %ld\n", get_peak_kib());
	return 0;
}

int
main(int argc, char **argv)
{
	static char *host, *tls, *ca, *user, *password, *folder, *move_to;
	static int port, command_ms = 5000, idle_s = 60, poll_s = 60;
	static gboolean expunge;
	static struct run run;
	const GOptionEntry entries[] = {
	    {"host", 0, 0, G_OPTION_ARG_STRING, &host, "", NULL},
	    {"port", 0, 0, G_OPTION_ARG_INT, &port, "", NULL},
	    {"tls", 0, 0, G_OPTION_ARG_STRING, &tls, "", NULL},
	    {"ca", 0, 0, G_OPTION_ARG_FILENAME, &ca, "", NULL},
	    {"user", 0, 0, G_OPTION_ARG_STRING, &user, "", NULL},
	    {"password", 0, 0, G_OPTION_ARG_STRING, &password, "", NULL},
	    {"folder", 0, 0, G_OPTION_ARG_STRING, &folder, "", NULL},
	    {"move-to", 0, 0, G_OPTION_ARG_STRING, &move_to, "", NULL},
	    {"expunge", 0, 0, G_OPTION_ARG_NONE, &expunge, "", NULL},
	    {"out", 0, 0, G_OPTION_ARG_FILENAME, &run.out, "", NULL},
	    {"mark-file", 0, 0, G_OPTION_ARG_FILENAME, &run.mark_file, "", NULL},
	    {"kill-after", 0, 0, G_OPTION_ARG_INT, &run.kill_after, "", NULL},
	    {"postpone", 0, 0, G_OPTION_ARG_INT, &run.postpone, "", NULL},
	    {"refuse", 0, 0, G_OPTION_ARG_STRING, &run.refuse, "", NULL},
	    {"skipped", 0, 0, G_OPTION_ARG_STRING, &run.skipped, "", NULL},
	    {"command", 0, 0, G_OPTION_ARG_INT, &command_ms, "", NULL},
	    {"idle", 0, 0, G_OPTION_ARG_INT, &idle_s, "", NULL},
	    {"poll", 0, 0, G_OPTION_ARG_INT, &poll_s, "", NULL},
	    G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	struct imap_options options;
	int status;

	signal(SIGPIPE, SIG_IGN);
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, NULL) || !host || !run.out)
		return 2;
	options = (struct imap_options){.host = host,
	    .port = (uint16_t)port,
	    .tls = find_tls(tls ? tls : "off"),
	    .ca_file = ca,
	    .user = user,
	    .password = password,
	    .folder = folder ? folder : "INBOX",
	    .move_to = move_to,
	    .expunge = expunge,
	    .times = {.connect_ms = (unsigned)command_ms,
	        .open_ms = (unsigned)command_ms,
	        .command_ms = (unsigned)command_ms,
	        .mail_ms = (unsigned)command_ms,
	        .idle_s = (unsigned)idle_s,
	        .poll_s = (unsigned)poll_s,
	        .retry_ms = 20,
	        .retry_max_ms = 200,
	        .login_failed_ms = 500,
	        .postponed_ms = 20}};
	status = serve(&run, &options);
	g_free(host), g_free(tls), g_free(ca), g_free(user), g_free(password);
	g_free(folder), g_free(move_to), g_free(run.out), g_free(run.mark_file);
	g_free(run.refuse), g_free(run.skipped);
	return status;
}
