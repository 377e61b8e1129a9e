/*
 * ctl.c - functions that the commands of paperboyctl share.
 */
#include "ctl/ctl.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "service/setup/startup.h"

/* GLib keeps the "--" when something like -x follows. */
static void
remove_separator(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		memmove(&argv[i], &argv[i + 1],
		    (size_t)(*argc - i) * sizeof(*argv)); /* with the NULL */
		(*argc)--;
		return;
	}
}

/* Add a hint to an error of GLib's option parser. */
static void
set_option_error(GError **error, const GError *problem)
{
	if (problem->domain != G_OPTION_ERROR)
		pb_fail(error, PB_ERROR_INPUT, "the value of an option is not UTF-8");
	else
		g_set_error(error, G_OPTION_ERROR, problem->code, "%s%s",
		    problem->code == G_OPTION_ERROR_UNKNOWN_OPTION
		        ? "write -- before an argument that begins with -: "
		        : "",
		    problem->message);
}

bool
ctl_parse_some(const GOptionEntry *entries, int least, int most, int *argc,
    char ***argv, GError **error)
{
	GOptionContext *context = g_option_context_new(NULL);
	g_autoptr(GError) problem = NULL;
	bool is_ok;

	g_option_context_set_help_enabled(context, FALSE);
	if (entries)
		g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, &problem);
	g_option_context_free(context);
	if (!is_ok) {
		set_option_error(error, problem);
		return false;
	}
	remove_separator(argc, *argv);
	if (*argc - 1 < least) {
		g_set_error(
		    error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "missing argument");
		return false;
	}
	if (most >= 0 && *argc - 1 > most) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "unexpected argument '%s'", (*argv)[most + 1]);
		return false;
	}
	return true;
}

bool
ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error)
{
	return ctl_parse_some(entries, wanted, wanted, argc, argv, error);
}

GBytes *
ctl_load_key(const struct ctl *ctl, GError **error)
{
	return startup_load_key(ctl->settings, ctl->store, error);
}

bool
ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &number, NULL))
		return pb_fail(error, PB_ERROR_INPUT, "invalid %s id '%s'", what, text);
	*id = (int64_t)number;
	return true;
}

bool
ctl_confirm(bool is_yes, const char *question, GError **error)
{
	char answer[16] = "";

	if (is_yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return pb_fail(error, PB_ERROR_INPUT,
		    "not done: confirmation needs a terminal, or --yes");
	fprintf(stderr, "%s? [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) &&
	    (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
	        g_ascii_strcasecmp(answer, "yes") == 0))
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "not done");
}

bool
ctl_check_replaceable(const char *path, GError **error)
{
	GStatBuf status;

	if (g_stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "'%s' is not a regular file", path);
}

GString *
ctl_read_stream(FILE *file, size_t limit)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char part[64 * 1024];
	size_t size;

	while (text->len <= limit && (size = fread(part, 1, sizeof(part), file)) > 0)
		g_string_append_len(text, part, (gssize)size);
	return ferror(file) ? NULL : g_steal_pointer(&text);
}

static GSocketConnection *
connect_daemon(const struct ctl *ctl)
{
	g_autofree char *path =
	    g_build_filename(ctl->settings->state_dir, "control", NULL);
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
	g_autoptr(GSocketClient) client = g_socket_client_new();

	g_socket_client_set_timeout(client, 5);
	return g_socket_client_connect(
	    client, G_SOCKET_CONNECTABLE(address), NULL, NULL);
}

bool
ctl_is_daemon_running(const struct ctl *ctl)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);

	return connection != NULL;
}

char *
ctl_ask_daemon(const struct ctl *ctl, const char *command)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);
	g_autofree char *line = g_strdup_printf("%s\n", command);
	char reply[BOUNDS_CONTROL_ANSWER_BYTES];
	gsize size = 0;

	if (!connection)
		return NULL;
	g_output_stream_write_all(
	    g_io_stream_get_output_stream(G_IO_STREAM(connection)), line, strlen(line),
	    NULL, NULL, NULL);
	/* The daemon closes after its reply; use what arrived before a failure. */
	g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
	    reply, sizeof(reply), &size, NULL, NULL);
	return g_strchomp(g_utf8_make_valid(reply, (gssize)size));
}

void
ctl_wake_daemon(const struct ctl *ctl)
{
	g_free(ctl_ask_daemon(ctl, "wake"));
}

bool
ctl_print_query_error(
    const char *text, const struct query_error *problem, GError **error)
{
	g_autofree char *lines = NULL;

	if (!problem->message)
		return false;
	lines = query_error_format(problem, text, 0);
	fputs(lines, stderr);
	g_clear_error(error);
	return pb_fail(error, problem->code, "invalid filter%s%s",
	    problem->example ? "; example: " : "",
	    problem->example ? problem->example : "");
}

void
ctl_print_warnings(GPtrArray *warnings)
{
	for (unsigned i = 0; warnings && i < warnings->len; i++)
		fprintf(
		    stderr, "warning: %s\n", ((struct msg *)warnings->pdata[i])->text);
}
