/*
 * main.c - paperboyd: options, settings, exit status.
 */
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "base/error.h"
#include "daemon/daemon.h"
#include "daemon/reload.h"
#include "service/log/log.h"
#include "service/setup/startup.h"
#include "service/state/one_click.h"
#include "sources/json.h"

/* ---- the command line of paperboyd ---- */

struct options {
	char *config; /* or NULL */
	char *now;    /* or NULL */
	gboolean is_once, is_check, is_version;
};

static const char description[] =
    "Collects new papers, matches them against the filters of its subscribers, and\n"
    "mails each of them a digest. Runs in the foreground until SIGTERM.";

static const char after_options[] =
    "Exit status: 0 success; 65 invalid input; 75 temporary failure (a source failed, "
    "a\n"
    "message is waiting); 78 invalid configuration; others as in sysexits.h.\n\n"
    "See also paperboyctl(8), which manages subscribers and shows the status.";

/* @return false with an error of G_OPTION_ERROR */
static bool
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

static void
options_clear(struct options *options)
{
	g_free(options->config);
	g_free(options->now);
}

/* ---- main ---- */

static struct settings *
load_settings(const struct options *options, const char *credentials)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	struct settings *settings =
	    startup_load_checked(options->config, credentials, problems);

	for (unsigned i = 0; i < problems->len; i++)
		fprintf(stderr, "paperboyd: %s\n", (char *)problems->pdata[i]);
	return settings;
}

static int
run(const struct options *options, struct clock *clock)
{
	const char *credentials = g_getenv("CREDENTIALS_DIRECTORY");
	pb_auto(settings) settings = load_settings(options, credentials);
	struct daemon_options daemon = {
	    .config = options->config, .clock = clock, .credentials = credentials};
	g_autoptr(GError) error = NULL;
	bool is_clean = true, is_ok;

	if (!settings)
		return EX_CONFIG;
	if (settings_is_default(settings))
		fputs("paperboyd: mail.from or mail.owner is still the shipped "
		      "default: no mail is sent or received before you set your own "
		      "addresses\n",
		    stderr);
	/* The page asks a running paperboyd, which also tests it. */
	if (options->is_once && *settings->web_url && !one_click_is_offered(settings))
		fputs("paperboyd: web.url needs a running paperboyd: digests offer to "
		      "unsubscribe by mail only\n",
		    stderr);
	if (options->is_check)
		return settings_is_default(settings) ? EX_CONFIG : EX_OK;
	daemon.log = log_start(settings->log_level, NULL);
	daemon.settings = g_steal_pointer(&settings);
	is_ok = options->is_once ? daemon_run_once(&daemon, &is_clean, &error)
	                         : daemon_run(&daemon, &error);
	if (is_ok)
		return is_clean ? EX_OK : EX_TEMPFAIL;
	fprintf(stderr, "paperboyd: %s\n", error->message);
	return pb_error_exit_status(error);
}

static void
hold_reload(void)
{
	reload_hold(true);
}

/* Before constructors of libraries, which take ms: an early SIGHUP would kill us. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(
    void) = hold_reload;

int
main(int argc, char **argv)
{
	pb_local(options) options = {0};
	struct clock clock;
	g_autoptr(GError) error = NULL;
	int status;

	setlocale(LC_ALL, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	/* A core file would contain the relay's password and addresses. */
	prctl(PR_SET_DUMPABLE, 0);
	json_init();
	if (!options_parse(&options, &argc, &argv, &error) ||
	    !startup_init_clock(&clock, options.now, !options.is_once, &error)) {
		fprintf(
		    stderr, "paperboyd: %s\nTry 'paperboyd --help'.\n", error->message);
		return EX_USAGE;
	}
	if (options.is_version) {
		printf("paperboyd %s\n", PACKAGE_VERSION);
		status = EX_OK;
	} else {
		/* The daemon reloads after the start; --once ends. */
		if (options.is_once)
			reload_hold(false);
		status = run(&options, &clock);
	}
	return status;
}
