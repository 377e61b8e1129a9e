/*
 * startup.c - what every program does first: the clock and the settings.
 */
#include "service/startup.h"

#include "service/assembly.h"

static int64_t
read_wall(const struct clock *clock)
{
	return g_get_real_time() / G_USEC_PER_SEC + clock->offset_s;
}

bool
startup_init_clock(struct clock *clock, const char *now, GError **error)
{
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) time = NULL;

	*clock = (struct clock){.read = read_wall};
	if (!now)
		return true;
	time = g_date_time_new_from_iso8601(now, utc);
	if (!time) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "'%s' is no time: 2026-11-20T09:00:00Z is one", now);
		return false;
	}
	clock->offset_s = g_date_time_to_unix(time) - read_wall(clock);
	return true;
}

struct settings *
startup_load_settings(const char *path, const char *credentials, GPtrArray *problems)
{
	const char *file = path ? path : PAPERBOY_SYSCONFDIR "/paperboy.conf";
	pb_auto(settings) settings = settings_load(file, problems, NULL);
	g_autoptr(GPtrArray) more = g_ptr_array_new_with_free_func(g_free);

	if (settings)
		assembly_check(settings, credentials, more);
	for (unsigned i = 0; i < more->len; i++)
		g_ptr_array_add(
		    problems, g_strdup_printf("%s: %s", file, (char *)more->pdata[i]));
	return problems->len ? NULL : g_steal_pointer(&settings);
}
