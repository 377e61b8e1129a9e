/*
 * ctl.c - what the commands of paperboyctl share.
 */
#include "ctl/ctl.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>

const struct ctl_command ctl_commands[] = {
    {"subscriber", "add", "ADDRESS --consent TEXT [--filter QUERY]...",
        "add a subscriber whose consent you have",
        "The first digest comes at once, with the papers of the last three days.",
        ctl_run_subscriber_add},
    {"subscriber", "list", "", "list subscribers", NULL, ctl_run_subscriber_list},
    {"subscriber", "show", "ADDRESS", "show one with filters, rhythm and consent", NULL,
        ctl_run_subscriber_show},
    {"subscriber", "remove", "ADDRESS", "stop all mail to an address",
        "Filters are removed and unsent mail is cancelled.", ctl_run_subscriber_remove},
    {"filter", "add", "ADDRESS QUERY [--name NAME]", "give a subscriber a filter",
        "Queries: words, \"phrases\", prefix*, AND OR NOT ( ), title: abstract: "
        "author:\n"
        "upvotes:>=20. Put the query in single quotes for the shell.",
        ctl_run_filter_add},
    {"filter", "list", "ADDRESS", "list a subscriber's filters", NULL,
        ctl_run_filter_list},
    {"filter", "remove", "ADDRESS NUMBER", "take a filter away", NULL,
        ctl_run_filter_remove},
    {"fetch", NULL, "", "ask the sources now, for the last two weeks",
        "Also while the daemon runs. Ends with status 75 when a source failed.",
        ctl_run_fetch},
    {"preview", NULL, "ADDRESS [--html|--raw]",
        "show the digest that an address would get now; nothing is sent or stored",
        NULL, ctl_run_preview},
    {"digest", "show", "last|NUMBER [--html|--raw]",
        "show a digest that was made, as its reader got it",
        "Numbers are in the queue; last is the newest.", ctl_run_digest_show},
    {"queue", NULL, "[--all]", "list messages that wait, or all of the last two weeks",
        NULL, ctl_run_queue},
    {"status", NULL, "", "say how everything is", NULL, ctl_run_status},
    {0},
};

bool
ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error)
{
	GOptionContext *context = g_option_context_new(NULL);
	bool is_ok;

	g_option_context_set_help_enabled(context, FALSE);
	if (entries)
		g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	/* The "--" that ends the options stays in when something like -x follows. */
	if (is_ok && *argc > 1 && g_str_equal((*argv)[1], "--")) {
		(*argv)[1] = (*argv)[0];
		(*argv)++;
		(*argc)--;
	}
	if (!is_ok || *argc - 1 == wanted)
		return is_ok;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
	    *argc - 1 < wanted ? "an argument is missing"
	                       : "one argument too many: '%s'",
	    (*argv)[wanted + 1]);
	return false;
}

void
ctl_poke_daemon(const struct ctl *ctl)
{
	g_autofree char *path =
	    g_build_filename(ctl->settings->state_dir, "control", NULL);
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
	g_autoptr(GSocketClient) client = g_socket_client_new();
	g_autoptr(GSocketConnection) connection = NULL;
	char answer[16];

	g_socket_client_set_timeout(client, 5);
	connection =
	    g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, NULL);
	if (!connection)
		return;
	g_output_stream_write_all(
	    g_io_stream_get_output_stream(G_IO_STREAM(connection)), "look\n", 5, NULL,
	    NULL, NULL);
	g_input_stream_read(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
	    answer, sizeof(answer), NULL, NULL);
}

char *
ctl_format_time(int64_t at)
{
	g_autoptr(GDateTime) time = at < 0 ? NULL : g_date_time_new_from_unix_utc(at);

	return time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : g_strdup("-");
}

void
ctl_print_problem(const char *text, const struct query_problem *problem)
{
	g_autofree char *lines = NULL;

	if (!problem->message)
		return;
	lines = query_problem_format(problem, text, 0);
	fputs(lines, stderr);
	if (problem->example)
		fprintf(stderr, "  example: %s\n", problem->example);
}
