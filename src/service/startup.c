/*
 * startup.c - what every program does first: the clock, the settings, the key.
 */
#include "service/startup.h"

#include <sys/random.h>

#include "base/error.h"
#include "service/assembly.h"
#include "service/secret.h"
#include "store/backup.h"
#include "store/editions.h"
#include "store/suppression.h"

static int64_t
read_wall(const struct clock *clock)
{
	(void)clock;
	return g_get_real_time() / G_USEC_PER_SEC;
}

static int64_t
read_standing(const struct clock *clock)
{
	return clock->at_s;
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
	*clock =
	    (struct clock){.read = read_standing, .at_s = g_date_time_to_unix(time)};
	return true;
}

const char *
startup_get_config(const char *path)
{
	return path ? path : PAPERBOY_SYSCONFDIR "/paperboy.conf";
}

struct settings *
startup_load_settings(const char *path, GPtrArray *problems)
{
	return settings_load(startup_get_config(path), problems, NULL);
}

bool
startup_check_settings(const char *path, const struct settings *settings,
    const char *credentials, GPtrArray *problems)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

	assembly_check(settings, credentials, found);
	for (unsigned i = 0; i < found->len; i++)
		g_ptr_array_add(
		    problems, g_strdup_printf("%s: %s", startup_get_config(path),
		                  (char *)found->pdata[i]));
	return found->len == 0;
}

/*
 * A store that was restored brings its key.  It goes into its file here, whoever asks
 * first: so the exchange of the store alone has restored both.
 */
static bool
adopt_key(const struct settings *settings, struct store *store, GError **error)
{
	g_autoptr(GBytes) key = NULL;

	return backup_load_key(store, &key, error) &&
	       (!key || (secret_replace_key(settings->state_dir, key, error) &&
	                    backup_forget_key(store, error)));
}

GBytes *
startup_load_key(const struct settings *settings, struct store *store, GError **error)
{
	guint8 fresh[SECRET_KEY_BYTES];
	bool has_digests, has_suppressions;

	if (!adopt_key(settings, store, error) ||
	    !editions_has_any(store, &has_digests, error) ||
	    !suppression_has_any(store, &has_suppressions, error))
		return NULL;
	if (getrandom(fresh, sizeof(fresh), 0) != sizeof(fresh)) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the system gives no random octets");
		return NULL;
	}
	return secret_load_key(
	    settings->state_dir, has_digests || has_suppressions ? NULL : fresh, error);
}
