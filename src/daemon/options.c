/*
 * options.c - what paperboyd can be told on its command line.
 */
#include "daemon/options.h"

static const char description[] =
    "Collects new papers, matches them with people's filters, and mails each person a\n"
    "digest of their own. Runs in the foreground until SIGTERM.";

static const char after_options[] =
    "Exit status: 0 done; 65 wrong input; 75 something is to be tried again (a source\n"
    "failed, a message waits); 78 wrong configuration; others as in sysexits.h.\n\n"
    "paperboyctl(8) adds subscribers and shows what goes on.";

bool
options_parse(struct options *options, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
	    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
	        "Read FILE instead of " PAPERBOY_SYSCONFDIR "/paperboy.conf", "FILE"},
	    {"check", 0, 0, G_OPTION_ARG_NONE, &options->is_check,
	        "Check the configuration, say what is wrong, and end", NULL},
	    {"once", 0, 0, G_OPTION_ARG_NONE, &options->is_once,
	        "Collect, match and send what is due now, then end", NULL},
	    {"now", 0, 0, G_OPTION_ARG_STRING, &options->now,
	        "Start the clock at TIME, such as 2026-11-20T09:00:00Z", "TIME"},
	    {"version", 0, 0, G_OPTION_ARG_NONE, &options->is_version,
	        "Print the version and end", NULL},
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
		    "no arguments are wanted, and '%s' is one", (*argv)[1]);
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
