/*
 * options.c - the command line of paperboyd.
 */
#include "daemon/options.h"

static const char description[] =
    "Collects new papers, matches them against the filters of its subscribers, and\n"
    "mails each of them a digest. Runs in the foreground until SIGTERM.";

static const char after_options[] =
    "Exit status: 0 success; 65 invalid input; 75 temporary failure (a source failed, "
    "a\n"
    "message is waiting); 78 invalid configuration; others as in sysexits.h.\n\n"
    "See also paperboyctl(8), which manages subscribers and shows the status.";

bool
options_parse(struct options *options, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
	    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
	        "Read FILE instead of " PAPERBOY_SYSCONFDIR "/paperboy.conf", "FILE"},
	    {"check", 0, 0, G_OPTION_ARG_NONE, &options->is_check,
	        "Check the configuration, report errors and exit", NULL},
	    {"once", 0, 0, G_OPTION_ARG_NONE, &options->is_once,
	        "Collect, match and send what is due now, then exit", NULL},
	    {"now", 0, 0, G_OPTION_ARG_STRING, &options->now,
	        "Start the clock at TIME, such as 2026-11-20T09:00:00Z", "TIME"},
	    {"version", 0, 0, G_OPTION_ARG_NONE, &options->is_version,
	        "Print the version and exit", NULL},
	    {0},
	};
	GOptionContext *context = g_option_context_new(NULL);
	bool is_ok;

	g_option_context_set_summary(context, description);
	g_option_context_set_description(context, after_options);
	g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	if (is_ok && *argc > 1) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "unexpected argument '%s'", (*argv)[1]);
		return false;
	}
	return is_ok;
}

void
options_clear(struct options *options)
{
	g_free(options->config);
	g_free(options->now);
}
