/*
 * source_backoff.c - backoff state of the sources.
 */
#include "service/collect/source_backoff.h"

#include <string.h>

#include "base/clock.h"
#include "base/fnv1a.h"
#include "service/log/event.h"

#define PAUSE_FIRST_S 60
#define PAUSE_MAX_S   3600

/* A pause: its length, its end, and the hash of the address that failed. */
#define PAUSE        "pause"
#define PAUSED_UNTIL "paused until"
#define PAUSED_URL   "paused url"

static char *
format_name(const char *source, const char *key)
{
	return g_strdup_printf("%s %s", source, key);
}

bool
source_backoff_load(struct store *store, const char *source, const char *key,
    int64_t *value, GError **error)
{
	g_autofree char *name = format_name(source, key);

	/* One of them is a hash. */
	return store_load_int64(store, name, -1, value, error);
}

bool
source_backoff_save(struct store *store, const char *source, const char *key,
    int64_t value, GError **error)
{
	g_autofree char *name = format_name(source, key);

	return store_save_cursor(store, name, value, error);
}

static int64_t
hash_url(const char *url)
{
	g_autoptr(GBytes) bytes = g_bytes_new(url, url ? strlen(url) : 0);

	return fnv1a_hash_bytes(bytes);
}

bool
source_backoff_is_moved(struct store *store, const char *source, const char *url,
    bool *is_moved, GError **error)
{
	int64_t pause_s, paused_url;

	if (!source_backoff_load(store, source, PAUSE, &pause_s, error) ||
	    !source_backoff_load(store, source, PAUSED_URL, &paused_url, error))
		return false;
	*is_moved = pause_s > 0 && paused_url != hash_url(url);
	return true;
}

bool
source_backoff_load_pause(struct store *store, const char *source, const char *url,
    int64_t *pause_s, int64_t *until, GError **error)
{
	bool is_moved;

	if (!source_backoff_is_moved(store, source, url, &is_moved, error))
		return false;
	if (is_moved) {
		*pause_s = *until = -1;
		return true;
	}
	return source_backoff_load(store, source, PAUSE, pause_s, error) &&
	       source_backoff_load(store, source, PAUSED_UNTIL, until, error);
}

bool
source_backoff_find_pause(struct store *store, const char *source, const char *url,
    int64_t now, int64_t *until, GError **error)
{
	int64_t pause_s, paused_until;

	if (!source_backoff_load_pause(
	        store, source, url, &pause_s, &paused_until, error))
		return false;
	/* A pause has a maximum length, even if the clock was wrong when it began. */
	*until =
	    paused_until > now && paused_until <= now + CLOCK_DAY_S ? paused_until : -1;
	return true;
}

/* A pause being saved. */
struct pause {
	const char *source, *url;
	int64_t retry_after_s;
	int64_t now;
	int64_t wait_s; /* set */
};

static bool
save_pause(struct store *store, void *data, GError **error)
{
	struct pause *pause = data;
	const char *source = pause->source;
	int64_t last_s, until, pause_s;

	if (!source_backoff_load_pause(
	        store, source, pause->url, &last_s, &until, error))
		return false;
	pause_s = last_s > 0 ? MIN(last_s * 2, PAUSE_MAX_S) : PAUSE_FIRST_S;
	pause->wait_s = MAX(pause_s, pause->retry_after_s);
	return source_backoff_save(store, source, PAUSE, pause_s, error) &&
	       source_backoff_save(
	           store, source, PAUSED_UNTIL, pause->now + pause->wait_s, error) &&
	       source_backoff_save(
	           store, source, PAUSED_URL, hash_url(pause->url), error);
}

bool
source_backoff_save_pause(struct store *store, const char *source, const char *url,
    int64_t retry_after_s, int64_t now, GError **error)
{
	struct pause pause = {source, url, retry_after_s, now, 0};

	if (!store_transact(store, save_pause, &pause, error))
		return false;
	event_log(EVENT_SOURCE_PAUSED, EVENT_WORD("source", source),
	    EVENT_SECONDS("next_in", pause.wait_s));
	return true;
}

static bool
clear_pause(struct store *store, void *data, GError **error)
{
	return source_backoff_save(store, data, PAUSE, 0, error) &&
	       source_backoff_save(store, data, PAUSED_UNTIL, 0, error);
}

bool
source_backoff_clear_pause(struct store *store, const char *source, GError **error)
{
	int64_t last_s;

	if (!source_backoff_load(store, source, PAUSE, &last_s, error))
		return false;
	if (last_s <= 0)
		return true;
	if (!store_transact(store, clear_pause, (void *)source, error))
		return false;
	event_log(EVENT_SOURCE_RECOVERED, EVENT_WORD("source", source));
	return true;
}
