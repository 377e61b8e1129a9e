/*
 * smtpsend.c - deliver files over SMTP, so that scripts can test real servers.
 *
 * Prints a line per file: outcome, scope, stage, code, enhanced, text. Exit
 * status: 0 all sent, 1 not all sent, 2 usage error.
 */
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "transport/maildir.h"
#include "transport/smtp.h"

struct arguments {
	char *host, *tls, *ca, *user, *password_file, *from, *to, *hello, *maildir;
	int port, wait_ms, use_messages;
	bool is_lf;   /* files have LF line ends */
	bool is_lmtp; /* the host may be a socket path */
	char **files;
};

static bool
parse_arguments(int *argc, char ***argv, struct arguments *arguments, GError **error)
{
	gboolean is_lf = FALSE, is_lmtp = FALSE;
	const GOptionEntry entries[] = {
	    {"host", 0, 0, G_OPTION_ARG_STRING, &arguments->host, "relay", "NAME"},
	    {"port", 0, 0, G_OPTION_ARG_INT, &arguments->port, "its port", "N"},
	    {"tls", 0, 0, G_OPTION_ARG_STRING, &arguments->tls,
	        "off, starttls, implicit", "MODE"},
	    {"ca", 0, 0, G_OPTION_ARG_FILENAME, &arguments->ca, "trusted CAs, PEM",
	        "FILE"},
	    {"user", 0, 0, G_OPTION_ARG_STRING, &arguments->user, "log in as", "NAME"},
	    {"password-file", 0, 0, G_OPTION_ARG_FILENAME, &arguments->password_file,
	        "its first line is the password", "FILE"},
	    {"from", 0, 0, G_OPTION_ARG_STRING, &arguments->from, "sender", "ADDRESS"},
	    {"to", 0, 0, G_OPTION_ARG_STRING, &arguments->to,
	        "recipients, for a file each", "ADDRESS,..."},
	    {"hello", 0, 0, G_OPTION_ARG_STRING, &arguments->hello, "our name", "NAME"},
	    {"wait", 0, 0, G_OPTION_ARG_INT, &arguments->wait_ms, "each wait", "MS"},
	    {"use", 0, 0, G_OPTION_ARG_INT, &arguments->use_messages,
	        "messages a connection", "N"},
	    {"maildir", 0, 0, G_OPTION_ARG_FILENAME, &arguments->maildir,
	        "deliver there and not over SMTP", "FOLDER"},
	    {"lmtp", 0, 0, G_OPTION_ARG_NONE, &is_lmtp, "speak LMTP", NULL},
	    {"lf", 0, 0, G_OPTION_ARG_NONE, &is_lf, "files have LF line ends", NULL},
	    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments->files,
	        NULL, "FILE..."},
	    G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);

	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, argc, argv, error))
		return false;
	arguments->is_lf = is_lf;
	arguments->is_lmtp = is_lmtp;
	if (!arguments->from || !arguments->to || !arguments->files ||
	    (!arguments->maildir &&
	        (!arguments->host || (arguments->port <= 0 && !is_lmtp)))) {
		g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "wanted: --from, --to, files, and --host with --port or --maildir");
		return false;
	}
	return true;
}

static bool
find_tls(const char *name, enum stream_tls *tls)
{
	static const char *const names[] = {
	    [STREAM_TLS_OFF] = "off",
	    [STREAM_TLS_STARTTLS] = "starttls",
	    [STREAM_TLS_IMPLICIT] = "implicit",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*tls = (enum stream_tls)i;
			return true;
		}
	return false;
}

static char *
load_password(const char *path)
{
	char *text = NULL;

	if (g_file_get_contents(path, &text, NULL, NULL))
		text[strcspn(text, "\r\n")] = '\0';
	return text;
}

static GBytes *
load_message(const char *path, bool is_lf)
{
	g_autoptr(GString) message = g_string_new(NULL);
	g_autofree char *text = NULL;
	gsize size;

	if (!g_file_get_contents(path, &text, &size, NULL))
		return NULL;
	g_string_append_len(message, text, (gssize)size);
	if (is_lf)
		g_string_replace(message, "\n", "\r\n", 0);
	return g_string_free_to_bytes(g_steal_pointer(&message));
}

/* Queue of the files; the recipients are used in turn. */
struct line {
	const struct arguments *arguments;
	char **recipients;
	struct delivery_job *parcels;
	unsigned count, taken, sent;
};

static struct delivery_job *
take(void *data)
{
	struct line *line = data;

	return line->taken < line->count ? &line->parcels[line->taken++] : NULL;
}

static void
ignore(void *data, struct delivery_job *delivery_job)
{
	(void)data, (void)delivery_job;
}

static void
print_result(void *data, struct delivery_job *delivery_job)
{
	static const char *const outcomes[] = {"sent", "deferred", "failed", "unknown"};
	struct line *line = data;
	const struct delivery *result = &delivery_job->result;

	printf("%s scope=%s stage=%s code=%d enhanced=%s text=%s\n",
	    outcomes[result->outcome], delivery_scope_get_name(result->scope),
	    smtp_stage_get_name(result->stage), result->code,
	    *result->enhanced ? result->enhanced : "-", result->text);
	fflush(stdout);
	if (result->outcome == DELIVERY_SENT)
		line->sent++;
}

static bool
load_line(struct line *line)
{
	const struct arguments *arguments = line->arguments;

	line->recipients = g_strsplit(arguments->to, ",", -1);
	line->count = g_strv_length(arguments->files);
	line->parcels = g_new0(struct delivery_job, line->count);
	for (unsigned i = 0; i < line->count; i++) {
		const char *path = arguments->files[i];

		line->parcels[i].envelope = (struct envelope){.id = path,
		    .sender = arguments->from,
		    .recipient = line->recipients[i % g_strv_length(line->recipients)],
		    .message = load_message(path, arguments->is_lf)};
		if (!line->parcels[i].envelope.message) {
			fprintf(stderr, "cannot read %s\n", path);
			return false;
		}
	}
	return true;
}

static bool
deliver_files(struct transport *transport, const struct arguments *arguments)
{
	struct line line = {.arguments = arguments};
	const struct job_queue feed = {
	    .next = take, .written = ignore, .done = print_result, .data = &line};

	if (load_line(&line))
		transport_run(transport, &feed);
	for (unsigned i = 0; i < line.count; i++) {
		g_clear_pointer(
		    (GBytes **)&line.parcels[i].envelope.message, g_bytes_unref);
		delivery_clear(&line.parcels[i].result);
	}
	g_free(line.parcels);
	g_strfreev(line.recipients);
	return line.count > 0 && line.sent == line.count;
}

static int
run(const struct arguments *arguments)
{
	g_autofree char *password =
	    arguments->password_file ? load_password(arguments->password_file) : NULL;
	pb_auto(transport) transport = NULL;
	struct smtp_options options = {
	    .stream = {.host = arguments->host,
	        .port = (uint16_t)arguments->port,
	        .ca_file = arguments->ca,
	        .user = arguments->user,
	        .password = password,
	        .hello = arguments->hello ? arguments->hello : "client.example"},
	    .times = SMTP_TIMES_STANDARD,
	    .is_lmtp = arguments->is_lmtp,
	    .use_messages = arguments->use_messages > 0
	                        ? (unsigned)arguments->use_messages
	                        : SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S,
	};

	if (!find_tls(arguments->tls ? arguments->tls : "off", &options.stream.tls)) {
		fprintf(stderr, "there is no --tls %s\n", arguments->tls);
		return 2;
	}
	if (arguments->wait_ms > 0) {
		unsigned ms = (unsigned)arguments->wait_ms;

		options.times = (struct smtp_times){ms, ms, ms, ms, ms, ms, ms};
	}
	transport = arguments->maildir ? transport_maildir_new(arguments->maildir)
	                               : smtp_new(&options);
	return deliver_files(transport, arguments) ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {0};
	g_autoptr(GError) error = NULL;
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (!parse_arguments(&argc, &argv, &arguments, &error)) {
		fprintf(stderr, "smtpsend: %s\n", error->message);
		return 2;
	}
	status = run(&arguments);
	g_free(arguments.host);
	g_free(arguments.tls);
	g_free(arguments.ca);
	g_free(arguments.user);
	g_free(arguments.password_file);
	g_free(arguments.from);
	g_free(arguments.to);
	g_free(arguments.hello);
	g_free(arguments.maildir);
	g_strfreev(arguments.files);
	return status;
}
