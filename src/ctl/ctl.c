/*
 * ctl.c - what the commands of paperboyctl share.
 */
#include "ctl/ctl.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

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
    {"filter", "add", "ADDRESS QUERY [--name NAME] [--block]",
        "give a subscriber a filter, or a block",
        "A query, in single quotes for the shell, and behind -- when it begins with a\n"
        "minus sign:\n"
        "  diffusion model              both words, in title or abstract\n"
        "  \"diffusion model\"            the phrase\n"
        "  quantiz*  =RAG  c++          a beginning; these very letters; signs\n"
        "  a OR b  (a OR b) -survey     either; either, without surveys\n"
        "  reward NEAR/5 hacking        at most five words between\n"
        "  speech^3 synthesis           speech weighs three times in the order\n"
        "  title: abstract:             there only; also before a group (...)\n"
        "  author:\"Y. LeCun\"  first:    one author; the first one\n"
        "  cs.CL  cat:cs  primary:      arXiv's categories\n"
        "  org: kw: comment: journal:   words of them\n"
        "  doi: id: source: has: type:  values, as in has:code and type:new\n"
        "  upvotes:>=20 authors:<=3     numbers; comments: and stars: too\n"
        "  date:7d..  date:2026-07      the day it was listed\n"
        "What is not told yet (votes, categories, code) is waited for. What a block\n"
        "finds is taken away from the person's other filters. All of it:\n"
        "paperboy-filters(7).",
        ctl_run_filter_add},
    {"filter", "list", "ADDRESS", "list a subscriber's filters", NULL,
        ctl_run_filter_list},
    {"filter", "remove", "ADDRESS NUMBER", "take a filter away", NULL,
        ctl_run_filter_remove},
    {"filter", "test", "QUERY|NUMBER [--address ADDRESS] [--days N]",
        "show what a filter would have found; nothing is stored",
        "Looks back 30 days. With --address it is compared with that person's\n"
        "other filters, and a NUMBER is one of them.",
        ctl_run_filter_test},
    {"filter", "explain", "QUERY [PAPER-ID]",
        "show what a filter means, and what each clause says of a paper", NULL,
        ctl_run_filter_explain},
    {"search", NULL, "QUERY [--limit N] [--since DAY]",
        "search all papers ever seen, the best first",
        "20 papers unless --limit says otherwise; DAY as in 2026-11-01.",
        ctl_run_search},
    {"why", NULL, "ADDRESS PAPER-ID",
        "say why a paper is, or is not, in somebody's digest",
        "A PAPER-ID is the number of arXiv, such as 2611.10010.", ctl_run_why},
    {"fetch", NULL, "", "ask the sources now, for the last two weeks",
        "Also while the daemon runs. Ends with status 75 when a source failed.",
        ctl_run_fetch},
    {"preview", NULL, "ADDRESS [--html|--raw]",
        "show the digest that an address would get now; nothing is sent or stored",
        NULL, ctl_run_preview},
    {"digest", "show", "last|NUMBER [--html|--raw]",
        "show a digest that was made, as its reader got it",
        "Numbers are in the queue, under DIGEST; last is the newest.",
        ctl_run_digest_show},
    {"queue", NULL, "[--all]", "list messages that wait, or all of the last two weeks",
        NULL, ctl_run_queue},
    {"status", NULL, "", "say how everything is", NULL, ctl_run_status},
    {0},
};

/* The "--" that ends the options stays in when something like -x follows. */
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

/* What GLib says of a command line, in words that help. */
static void
set_option_error(GError **error, const GError *problem)
{
	if (problem->domain != G_OPTION_ERROR)
		g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT,
		    "the value of an option is not UTF-8");
	else
		g_set_error(error, G_OPTION_ERROR, problem->code, "%s%s",
		    problem->code == G_OPTION_ERROR_UNKNOWN_OPTION
		        ? "write -- before what begins with - and is no option: "
		        : "",
		    problem->message);
}

bool
ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error)
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
	if (*argc - 1 == wanted)
		return true;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
	    *argc - 1 < wanted ? "an argument is missing"
	                       : "one argument too many: '%s'",
	    (*argv)[wanted + 1]);
	return false;
}

bool
ctl_confirm(bool is_yes, const char *question, GError **error)
{
	char answer[16] = "";

	if (is_yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "not done: there is no terminal to ask on; --yes says that it is "
		    "meant");
		return false;
	}
	fprintf(stderr, "%s? [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) &&
	    (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
	        g_ascii_strcasecmp(answer, "yes") == 0))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "not done");
	return false;
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

void
ctl_poke_daemon(const struct ctl *ctl)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);
	char answer[16];

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
ctl_explain_problem(
    const char *text, const struct query_problem *problem, GError **error)
{
	g_autofree char *lines = NULL;

	if (!problem->message)
		return;
	lines = query_problem_format(problem, text, 0);
	fputs(lines, stderr);
	g_clear_error(error);
	g_set_error(error, PB_ERROR, problem->code,
	    "the filter was refused, and nothing was stored%s%s",
	    problem->example ? "; an example: " : "",
	    problem->example ? problem->example : "");
}

void
ctl_print_warnings(GPtrArray *warnings)
{
	for (unsigned i = 0; warnings && i < warnings->len; i++)
		fprintf(stderr, "warning: %s\n", (char *)warnings->pdata[i]);
}
