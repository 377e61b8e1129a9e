/*
 * status_line.c - the STATUS= line of sd_notify(3), for systemctl status.
 */
#include "daemon/status_line.h"

#include "base/day.h"
#include "store/subscriber/subscribers.h"

static void
append_time(GString *line, const char *words, int64_t at)
{
	g_autofree char *text = day_format_minute(at);

	g_string_append_printf(line, "%s %s", words, text);
}

char *
status_line_format(const struct status_line *status_line)
{
	const struct mailer_relay *relay = &status_line->relay;
	GString *line =
	    g_string_new(status_line->activity ? status_line->activity : "idle");

	if (relay->is_away) {
		append_time(line,
		    relay->is_auth_failed ? "; relay rejects our login since"
		                          : "; relay unavailable since",
		    relay->since);
		append_time(line, ", next attempt", relay->retry_at);
	}
	if (relay->paused)
		g_string_append_printf(line, "; %s%s our mail by policy", relay->domain,
		    relay->paused > 1 ? " and others reject" : " rejects");
	if (status_line->next_digest_at >= 0)
		append_time(line, "; next digest", status_line->next_digest_at);
	if (status_line->waiting)
		g_string_append_printf(line, "; %" G_GINT64_FORMAT " message%s queued",
		    status_line->waiting, status_line->waiting == 1 ? "" : "s");
	return g_string_free(line, FALSE);
}

bool
status_line_load(
    struct store *store, int64_t *next_digest_at, int64_t *waiting, GError **error)
{
	int64_t next_at, queued, sending;

	if (!subscribers_load_next_due(store, &next_at, error) ||
	    !store_load_count(store, "outbox queued", &queued, error) ||
	    !store_load_count(store, "outbox SENDING", &sending, error))
		return false;
	*next_digest_at = next_at;
	*waiting = queued + sending;
	return true;
}
