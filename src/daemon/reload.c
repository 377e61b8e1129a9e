/*
 * reload.c - reloading the configuration.
 */
#include "daemon/reload.h"

#include <signal.h>

#include "service/log/event.h"
#include "service/setup/startup.h"

static void
check_fixed(
    const struct settings *current, const struct settings *fresh, GPtrArray *problems)
{
	g_autoptr(GPtrArray) names = settings_list_changes(current, fresh, true);

	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *place = settings_format_place(fresh, name);

		g_ptr_array_add(problems,
		    g_strdup_printf("%s: %s needs a restart to change", place, name));
	}
}

struct config_snapshot *
reload_load(const char *config, const char *credentials,
    const struct config_snapshot *current, GPtrArray *problems)
{
	pb_auto(settings) settings =
	    startup_load_checked(config, credentials, problems);
	g_autoptr(GError) problem = NULL;
	struct config_snapshot *fresh;

	if (!settings)
		return NULL;
	check_fixed(current->settings, settings, problems);
	if (problems->len)
		return NULL;
	fresh = config_snapshot_new(g_steal_pointer(&settings), credentials,
	    current->clock, current->key, &problem);
	/* A file may have changed since the check. */
	if (!fresh)
		g_ptr_array_add(
		    problems, g_strdup_printf("%s: %s", startup_get_config(config),
		                  problem->message));
	return fresh;
}

void
reload_log(const struct config_snapshot *current, const struct config_snapshot *fresh,
    const GPtrArray *problems)
{
	g_autoptr(GPtrArray) names = NULL;
	g_autofree char *list = NULL;

	if (!fresh) {
		for (unsigned i = 0; i < problems->len; i++)
			event_log(EVENT_CONFIG_ERROR, EVENT_TEXT(problems->pdata[i]));
		event_log(EVENT_CONFIG_REFUSED, EVENT_INT("problems", problems->len));
		return;
	}
	names = settings_list_changes(current->settings, fresh->settings, false);
	g_ptr_array_add(names, NULL);
	list = g_strjoinv(", ", (char **)names->pdata);
	event_log(EVENT_CONFIG_RELOADED, EVENT_INT("changed", names->len - 1),
	    EVENT_TEXT(list));
}

char *
reload_format_answer(const GPtrArray *problems)
{
	GString *answer;

	if (!problems->len)
		return NULL;
	answer = g_string_new("refused");
	for (unsigned i = 0; i < problems->len; i++)
		g_string_append_printf(answer, "\n%s", (char *)problems->pdata[i]);
	return g_string_free(answer, FALSE);
}

void
reload_hold(bool is_held)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(is_held ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
}
