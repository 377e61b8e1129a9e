/*
 * smtpsend.c - delivers files over SMTP, so that scripts can test against real hosts.
 *
 * Prints a line for each file: outcome, scope, stage, code, enhanced, operator, text.
 * Ends with 0 when all were sent, 1 when one was not, 2 on wrong usage.
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
	bool is_lf; /* files have LF line ends */
	char **files;
};

static bool
parse_arguments(int *argc, char ***argv, struct arguments *arguments, GError **error)
{
	gboolean is_lf = FALSE;
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
	    {"to", 0, 0, G_OPTION_ARG_STRING, &arguments->to, "recipient", "ADDRESS"},
	    {"hello", 0, 0, G_OPTION_ARG_STRING, &arguments->hello, "our name", "NAME"},
	    {"wait", 0, 0, G_OPTION_ARG_INT, &arguments->wait_ms, "each wait", "MS"},
	    {"use", 0, 0, G_OPTION_ARG_INT, &arguments->use_messages,
	        "messages a connection", "N"},
	    {"maildir", 0, 0, G_OPTION_ARG_FILENAME, &arguments->maildir,
	        "deliver there and not over SMTP", "FOLDER"},
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
	if (!arguments->from || !arguments->to || !arguments->files ||
	    (!arguments->maildir && (!arguments->host || arguments->port <= 0))) {
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

static bool
deliver_file(
    struct transport *transport, const struct arguments *arguments, const char *path)
{
	g_autoptr(GBytes) message = load_message(path, arguments->is_lf);
	struct envelope envelope = {.id = path,
	    .sender = arguments->from,
	    .recipient = arguments->to,
	    .message = message};
	struct delivery result = {0};
	bool is_sent;

	if (!message) {
		fprintf(stderr, "cannot read %s\n", path);
		return false;
	}
	transport_deliver(transport, &envelope, &result);
	printf("%s scope=%s stage=%s code=%d enhanced=%s operator=%s text=%s\n",
	    delivery_outcome_get_name(result.outcome),
	    delivery_scope_get_name(result.scope), smtp_stage_get_name(result.stage),
	    result.code, *result.enhanced ? result.enhanced : "-",
	    result.needs_operator ? "yes" : "no", result.text);
	fflush(stdout);
	is_sent = result.outcome == DELIVERY_SENT;
	delivery_clear(&result);
	return is_sent;
}

static int
run(const struct arguments *arguments)
{
	g_autofree char *password =
	    arguments->password_file ? load_password(arguments->password_file) : NULL;
	pb_auto(transport) transport = NULL;
	bool is_all_sent = true;
	struct smtp_options options = {
	    .stream = {.host = arguments->host,
	        .port = (uint16_t)arguments->port,
	        .ca_file = arguments->ca,
	        .user = arguments->user,
	        .password = password,
	        .hello = arguments->hello ? arguments->hello : "client.example"},
	    .times = SMTP_TIMES_STANDARD,
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
	for (char **file = arguments->files; *file; file++)
		is_all_sent &= deliver_file(transport, arguments, *file);
	return is_all_sent ? 0 : 1;
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
