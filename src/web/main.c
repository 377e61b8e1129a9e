/*
 * main.c - paperboy-web: options, settings, exit status.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sysexits.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/bounds.h"
#include "base/error.h"
#include "base/sandbox.h"
#include "web/respond.h"
#include "web/server.h"
#include "web/web_listen.h"
#include "web/web_options.h"

/* They only wait for paperboyd, which answers two requests at a time. */
#define THREADS 8

static void
notify(const char *state)
{
#ifdef HAVE_SYSTEMD
	sd_notify(0, state);
#else
	(void)state;
#endif
}

static bool
serve(const struct settings *settings, struct responder *responder, GError **error)
{
	g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
	struct server_options options = {.max_connections = BOUNDS_WEB_CONNECTIONS,
	    .threads = THREADS,
	    .answer = responder_answer,
	    .refuse = responder_refuse,
	    .data = responder};
	pb_auto(server) server = NULL;
	bool is_filtered;

	if (!web_listen_open(settings->web_listen, fds, error))
		return false;
	options.listeners = (const int *)(void *)fds->data;
	options.listener_count = fds->len;
	server = server_new(&options, error);
	if (!server)
		return false;
	if (!sandbox_limit(SANDBOX_SERVER) ||
	    !sandbox_enter(SANDBOX_SERVER, &is_filtered))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "the kernel refuses to take permissions away");
	fprintf(stderr, "paperboy-web: paperboy-web %s started%s\n", PACKAGE_VERSION,
	    is_filtered ? "" : ", without a filter of system calls");
	notify("READY=1");
	server_run(server);
	notify("STOPPING=1");
	fputs("paperboy-web: paperboy-web ended\n", stderr);
	return true;
}

static int
run(const struct web_options *options)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	pb_auto(settings) settings = web_options_load(options, problems);
	pb_auto(responder) responder = NULL;
	g_autoptr(GError) error = NULL;

	for (unsigned i = 0; i < problems->len; i++)
		fprintf(stderr, "paperboy-web: %s\n", (char *)problems->pdata[i]);
	if (!settings)
		return EX_CONFIG;
	responder = responder_new(settings, &error);
	if (responder && (options->is_check || serve(settings, responder, &error)))
		return EX_OK;
	fprintf(stderr, "paperboy-web: %s\n", error->message);
	return pb_error_exit_status(error);
}

int
main(int argc, char **argv)
{
	pb_local(web_options) options = {0};
	g_autoptr(GError) error = NULL;

	setlocale(LC_ALL, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	if (!web_options_parse(&options, &argc, &argv, &error)) {
		fprintf(stderr, "paperboy-web: %s\nTry 'paperboy-web --help'.\n",
		    error->message);
		return EX_USAGE;
	}
	if (!options.is_version)
		return run(&options);
	printf("paperboy-web %s\n", PACKAGE_VERSION);
	return EX_OK;
}
