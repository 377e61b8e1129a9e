/*
 * web_options.c - the command line of paperboy-web.
 */
#include "web/web_options.h"

#include "config/web_url.h"
#include "web/client_network.h"
#include "web/web_listen.h"

#define DEFAULT_CONFIG PAPERBOY_SYSCONFDIR "/paperboy.conf"

static const char description[] =
    "Serves the page of paperboyd, behind a web server with TLS. Takes its listening\n"
    "sockets from systemd, or listens on web.listen. Runs in the foreground until\n"
    "SIGTERM.";

static const char after_options[] =
    "Exit status: 0 success; 78 invalid configuration; others as in sysexits.h.";

bool
web_options_parse(struct web_options *options, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
	    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
	        "Read FILE instead of " DEFAULT_CONFIG, "FILE"},
	    {"check", 0, 0, G_OPTION_ARG_NONE, &options->is_check,
	        "Check the configuration, report errors and exit", NULL},
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
web_options_clear(struct web_options *options)
{
	g_free(options->config);
}

/* @param error  taken */
static void
add_problem(GPtrArray *problems, const char *path, const char *name, GError **error)
{
	g_ptr_array_add(
	    problems, g_strdup_printf("%s: %s: %s", path, name, (*error)->message));
	g_clear_error(error);
}

struct settings *
web_options_load(const struct web_options *options, GPtrArray *problems)
{
	const char *path = options->config ? options->config : DEFAULT_CONFIG;
	pb_auto(settings) settings = settings_load(path, problems, NULL);
	g_autoptr(GArray) proxies = NULL;
	g_autoptr(GError) error = NULL;

	if (!settings)
		return NULL;
	if (!*settings->web_url)
		g_ptr_array_add(
		    problems, g_strdup_printf("%s: web.url is not set", path));
	else if (!web_url_check(settings->web_url, &error))
		add_problem(problems, path, "web.url", &error);
	if (!web_listen_check(settings->web_listen, &error))
		add_problem(problems, path, "web.listen", &error);
	proxies = client_network_parse_proxies(settings->web_trusted_proxy, &error);
	if (!proxies)
		add_problem(problems, path, "web.trusted_proxy", &error);
	return problems->len == 0 ? g_steal_pointer(&settings) : NULL;
}
