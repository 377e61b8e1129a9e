/*
 * startup.c - start of a program: clock, settings, key.
 */
#include "service/setup/startup.h"

#include <string.h>

#include "base/random.h"
#include "service/setup/factory.h"
#include "service/state/oauth_login.h"
#include "service/state/secret.h"
#include "store/admin/backup.h"

static int64_t
read_running(const struct clock *clock)
{
	return g_get_real_time() / G_USEC_PER_SEC + clock->offset_s;
}

static int64_t
read_fixed(const struct clock *clock)
{
	return clock->at_s;
}

bool
startup_init_clock(
    struct clock *clock, const char *now, bool is_running, GError **error)
{
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) time = NULL;

	*clock = (struct clock){.read = read_running};
	if (!now)
		return true;
	time = g_date_time_new_from_iso8601(now, utc);
	if (!time) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "'%s' is not a time (expected 2026-11-20T09:00:00Z)", now);
		return false;
	}
	clock->at_s = g_date_time_to_unix(time);
	if (is_running)
		clock->offset_s = clock->at_s - clock_get_now(clock);
	else
		*clock = (struct clock){read_fixed, 0, clock->at_s, true};
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

struct settings *
startup_recover_settings(const char *path)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	pb_auto(settings) settings = settings_read(startup_get_config(path), problems);

	return settings && !settings_has_error(settings, "state_dir")
	           ? g_steal_pointer(&settings)
	           : NULL;
}

/* @param size  set to that of the file name
 * @return the line of "file:line: message", or 0 */
static int64_t
line_of(const char *problem, size_t *size)
{
	const char *end = strstr(problem, ": ");
	const char *colon = end;

	while (colon > problem && g_ascii_isdigit(colon[-1]))
		colon--;
	if (!end || colon == end || colon == problem || colon[-1] != ':') {
		*size = end ? (size_t)(end - problem) : strlen(problem);
		return 0;
	}
	*size = (size_t)(colon - 1 - problem);
	return g_ascii_strtoll(colon, NULL, 10);
}

/* By file, then by line. */
static int
compare_problems(gconstpointer a, gconstpointer b)
{
	const char *one = *(char *const *)a, *other = *(char *const *)b;
	size_t one_size, other_size;
	int64_t one_line = line_of(one, &one_size);
	int64_t other_line = line_of(other, &other_size);
	int files = strncmp(one, other, MIN(one_size, other_size));

	if (files || one_size != other_size)
		return files ? files
		             : (one_size > other_size) - (one_size < other_size);
	if (one_line != other_line)
		return (one_line > other_line) - (one_line < other_line);
	return strcmp(one, other);
}

struct settings *
startup_load_checked(const char *path, const char *credentials, GPtrArray *problems)
{
	pb_auto(settings) settings = settings_read(startup_get_config(path), problems);

	if (settings)
		factory_check(settings, credentials, problems);
	g_ptr_array_sort(problems, compare_problems);
	return problems->len ? NULL : g_steal_pointer(&settings);
}

/*
 * A restored store contains its key and OAuth logins, which the first program that
 * loads it writes to their files: so replacing the store restores all in one step.
 */
static bool
adopt_key(const struct settings *settings, struct store *store, GError **error)
{
	const char *state_dir = settings->state_dir;
	g_autoptr(GBytes) key = NULL;
	g_autofree char *oauth = NULL;

	if (!backup_load_key(store, &key, error))
		return false;
	return !key ||
	       (secret_replace_key(state_dir, key, error) &&
	           backup_load_oauth(store, &oauth, error) &&
	           (!oauth || oauth_login_restore_file(state_dir, oauth, error)) &&
	           backup_delete_key(store, error));
}

GBytes *
startup_load_key(const struct settings *settings, struct store *store, GError **error)
{
	guint8 fresh[SECRET_KEY_BYTES];
	g_autofree char *known_mac = NULL;
	g_autofree char *mac = NULL;
	g_autoptr(GBytes) keys = NULL;

	if (!adopt_key(settings, store, error) ||
	    !store_load_key_check(store, &known_mac, error))
		return NULL;
	random_system.fill(random_system.data, fresh, sizeof(fresh));
	keys = secret_load_key(settings->state_dir, known_mac ? NULL : fresh, error);
	if (!keys || !secret_check_mac(settings->state_dir, keys, known_mac, error))
		return NULL;
	mac = secret_format_mac(keys);
	if (!known_mac && !store_save_key_check(store, mac, error))
		return NULL;
	return g_steal_pointer(&keys);
}
