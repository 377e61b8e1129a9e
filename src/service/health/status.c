/*
 * status.c - counts and times of the service, and the state of the daemon.
 */
#include "service/health/status.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "config/provider.h"
#include "service/bounce/bounce.h"
#include "service/collect/coverage.h"
#include "service/collect/source_status.h"
#include "service/delivery/send_limits.h"
#include "service/setup/factory.h"
#include "service/state/generation.h"
#include "store/core/instances.h"
#include "store/core/jobs.h"
#include "store/mail/inbox.h"
#include "store/mail/skipped.h"
#include "store/paper/matches.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

/* Maximum number of skipped messages that are listed. */
#define SKIP_REASONS    3
/* Messages without a reply are counted for so long. */
#define UNANSWERED_DAYS 7

/* ---- the daemon ---- */

static const char *
get_relay_state(const struct mailer_relay *relay)
{
	return !relay->is_away         ? "ok"
	       : relay->is_auth_failed ? "auth-failed"
	                               : "failed";
}

char *
status_daemon_format(const struct status_daemon *daemon)
{
	const struct mailer_relay *relay = &daemon->relay;

	/* Text of the relay is arbitrary, and therefore last. */
	return g_strdup_printf(
	    "started=%" G_GINT64_FORMAT " collected=%" G_GINT64_FORMAT
	    " delivered=%" G_GINT64_FORMAT " receivers=%s inbox=%s relay_state=%s"
	    " relay_since=%" G_GINT64_FORMAT " relay_retry=%" G_GINT64_FORMAT
	    " paused_domains=%u paused_domain=%s relay=%s",
	    daemon->started_at, daemon->collected_at, daemon->delivered_at,
	    daemon->receivers, daemon->is_inbox_failing ? "failed" : "ok",
	    get_relay_state(relay), relay->since, relay->retry_at, relay->paused,
	    relay->domain ? relay->domain : "", daemon->relay_text);
}

/* @return the word after " name=", a new string; NULL if it is empty or missing */
static char *
find_word(const char *line, const char *name)
{
	g_autofree char *key = g_strdup_printf(" %s=", name);
	const char *at = strstr(line, key);
	size_t size;

	if (!at)
		return NULL;
	at += strlen(key);
	size = strcspn(at, " ");
	return size ? g_strndup(at, size) : NULL;
}

/* @return -1 if it is missing */
static int64_t
find_number(const char *line, const char *name)
{
	g_autofree char *word = find_word(line, name);

	return word ? g_ascii_strtoll(word, NULL, 10) : -1;
}

void
status_daemon_parse(const char *line, struct status_daemon *daemon)
{
	g_autofree char *spaced = g_strconcat(" ", line, NULL);
	g_autofree char *state = NULL, *inbox = NULL;
	char *text = strstr(spaced, " relay=");

	*daemon = STATUS_DAEMON_NONE;
	daemon->is_running = true;
	if (!text)
		return;
	daemon->relay_text = g_strdup(text + strlen(" relay="));
	*text = '\0';
	state = find_word(spaced, "relay_state");
	daemon->started_at = find_number(spaced, "started");
	daemon->collected_at = find_number(spaced, "collected");
	daemon->delivered_at = find_number(spaced, "delivered");
	daemon->receivers = find_word(spaced, "receivers");
	inbox = find_word(spaced, "inbox");
	daemon->is_inbox_failing = g_strcmp0(inbox, "failed") == 0;
	daemon->relay = (struct mailer_relay){
	    .is_away = g_strcmp0(state, "ok") != 0,
	    .is_auth_failed = g_strcmp0(state, "auth-failed") == 0,
	    .since = find_number(spaced, "relay_since"),
	    .retry_at = find_number(spaced, "relay_retry"),
	    .paused = (unsigned)MAX(find_number(spaced, "paused_domains"), 0),
	    .domain = find_word(spaced, "paused_domain"),
	};
}

void
status_daemon_clear(struct status_daemon *daemon)
{
	mailer_relay_clear(&daemon->relay);
	g_clear_pointer(&daemon->receivers, g_free);
	g_clear_pointer(&daemon->relay_text, g_free);
}

/* ---- the store ---- */

void
status_clear(struct status *status)
{
	g_clear_pointer(&status->sources, g_ptr_array_unref);
	g_clear_pointer(&status->oldest, g_free);
	g_clear_pointer(&status->oldest_deferred, g_free);
	g_clear_pointer(&status->last_failed, g_free);
	g_clear_pointer(&status->skip_reasons, g_ptr_array_unref);
	g_clear_pointer(&status->unanswered, g_ptr_array_unref);
	g_clear_pointer(&status->bounce_domains, g_ptr_array_unref);
	g_clear_pointer(&status->pauses, g_ptr_array_unref);
	g_clear_pointer(&status->coverage, g_free);
	g_clear_pointer(&status->instances, g_ptr_array_unref);
	g_clear_pointer(&status->jobs, g_ptr_array_unref);
}

static int64_t
get_file_size(const char *directory, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	GStatBuf file;

	return g_stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

static bool
load_row_counts(struct store *store, struct status *status, GError **error)
{
	int64_t *people = status->people;
	int64_t queued, unknown_queued, held_by_operator;
	const struct {
		const char *name;
		int64_t *count;
	} rows[] = {
	    {"paper", &status->papers},
	    {"filter", &status->filters},
	    {"match_pending", &status->waiting},
	    {"outbox queued", &queued},
	    {"outbox SENDING", &status->sending},
	    {"outbox DEFERRED", &status->deferred},
	    {"outbox UNKNOWN", &status->unknown},
	    {"outbox UNKNOWN queued", &unknown_queued},
	    {"held operator", &held_by_operator},
	    {"held restore", &status->held_by_restore},
	    {"held crash", &status->held_by_crash},
	    {"outbox FAILED", &status->failed},
	    {"subscriber", &people[SUBSCRIBER_ACTIVE]},
	    {"subscriber pending", &people[SUBSCRIBER_PENDING]},
	    {"subscriber paused", &people[SUBSCRIBER_PAUSED]},
	    {"subscriber suspended", &people[SUBSCRIBER_SUSPENDED]},
	    {"subscriber gone", &people[SUBSCRIBER_GONE]},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (!store_load_count(store, rows[i].name, rows[i].count, error))
			return false;
	/* Most are active, and most messages are NEW: those are not counted. */
	people[SUBSCRIBER_ACTIVE] -=
	    people[SUBSCRIBER_PENDING] + people[SUBSCRIBER_PAUSED] +
	    people[SUBSCRIBER_SUSPENDED] + people[SUBSCRIBER_GONE];
	status->fresh = queued - status->deferred - unknown_queued;
	status->held =
	    held_by_operator + status->held_by_restore + status->held_by_crash;
	return matches_load_total(store, &status->matches, error);
}

static bool
load_requests(struct store *store, int64_t now, struct status *status, GError **error)
{
	for (unsigned i = 0; i < RATE_BUDGETS; i++)
		if (!rate_log_count_all(store, RATE_CONFIRMATION, i, now - CLOCK_HOUR_S,
		        &status->requested_in_hour[i], error))
			return false;
	return confirmations_count_pending(store, now, &status->pending, error) &&
	       rate_log_load_dropped(store, &status->dropped, error);
}

static bool
load_counts(struct store *store, int64_t now, struct status *status, GError **error)
{
	return load_row_counts(store, status, error) &&
	       subscribers_load_next_due(store, &status->next_due, error) &&
	       outbox_count_failed_since(
	           store, now - CLOCK_DAY_S, &status->failed_lately, error) &&
	       inbox_count_new(
	           store, &status->messages, &status->inbox_oldest_at, error) &&
	       inbox_count_quarantined(store, &status->quarantined, error) &&
	       skipped_count(store, &status->skipped, error) &&
	       load_requests(store, now, status, error) &&
	       backup_load_restored_from(store, &status->restore, error);
}

static bool
load_messages(struct store *store, int64_t now, struct status *status, GError **error)
{
	return outbox_find_oldest(store, false, &status->oldest, error) &&
	       outbox_find_oldest(store, true, &status->oldest_deferred, error) &&
	       outbox_find_last_failed(
	           store, now - CLOCK_DAY_S, &status->last_failed, error);
}

/* @param data  int64_t *: sum */
static void
add_sent(void *data, int64_t at, int64_t count)
{
	int64_t *sum = data;

	(void)at;
	*sum += count;
}

static bool
load_limits(struct store *store, const struct settings *settings, int64_t now,
    struct status *status, GError **error)
{
	struct provider_limits maximum = provider_get_limits(settings);
	struct send_limits limits = {0};

	send_limits_set(&limits, 0, 0, maximum.per_day);
	if (!send_limits_update(&limits, store, now, error))
		return false;
	status->per_hour = maximum.per_hour;
	status->per_day = maximum.per_day;
	status->sent_in_day = limits.sum;
	status->next_in_day = send_limits_get_available(&limits, now, 1, 0)
	                          ? -1
	                          : send_limits_get_next(&limits, now);
	return !maximum.per_hour ||
	       outbox_foreach_sent(store, now - CLOCK_HOUR_S, CLOCK_HOUR_S, add_sent,
	           &status->sent_in_hour, error);
}

static bool
load_bounces(struct store *store, int64_t now, struct status *status, GError **error)
{
	int64_t since = now - BOUNCE_OUTAGE_S;

	status->bounce_domains =
	    bounces_load_domains(store, since, BOUNCE_OUTAGE_PEOPLE, error);
	/* A pause continues until the result of the message that follows it. */
	status->pauses = status->bounce_domains
	                     ? domain_pauses_load(store, now - CLOCK_HOUR_S, error)
	                     : NULL;
	return status->pauses &&
	       bounces_load_totals(store, since, &status->bounces, error);
}

static bool
load_sources(struct store *store, const struct settings *settings, int64_t now,
    struct status *status, GError **error)
{
	g_autoptr(GPtrArray) enabled = factory_new_sources(settings);
	pb_auto(coverage) coverage = coverage_load(store, now, error);

	if (!coverage)
		return false;
	status->coverage =
	    coverage_format_line(coverage, store, NULL, NULL, NULL, error);
	status->sources = status->coverage
	                      ? source_status_load(store, enabled,
	                            settings->collect_interval_s, now, error)
	                      : NULL;
	return status->sources != NULL;
}

static bool
load_instances(struct store *store, int64_t now, struct status *status, GError **error)
{
	if (!store_is_shared(store))
		return true;
	status->instances = instances_load_all(store, error);
	status->jobs = status->instances ? jobs_load_all(store, error) : NULL;
	return status->jobs &&
	       instances_load_time(store, now, &status->store_now, error) &&
	       instances_load_standbys(store, &status->standbys, error);
}

int64_t
status_count_live(const struct status *status)
{
	int64_t count = 0;

	if (!status->instances)
		return -1;
	for (unsigned i = 0; i < status->instances->len; i++) {
		const struct instance *instance = status->instances->pdata[i];

		count += instance->expires_at > status->store_now;
	}
	return count;
}

bool
status_load(struct store *store, const struct settings *settings, int64_t now,
    struct status *status, GError **error)
{
	struct status loaded = {0};
	const char *directory = settings->state_dir;

	if (!load_sources(store, settings, now, &loaded, error) ||
	    !load_counts(store, now, &loaded, error) ||
	    !load_messages(store, now, &loaded, error) ||
	    !load_limits(store, settings, now, &loaded, error) ||
	    !load_bounces(store, now, &loaded, error) ||
	    !load_instances(store, now, &loaded, error) ||
	    !clock_watch_load(store, &loaded.jump, error) ||
	    !outbox_load_pause(store, &loaded.paused_since, error) ||
	    !generation_is_stale(store, directory, &loaded.is_stale, error) ||
	    !backup_is_superseded(store, &loaded.is_superseded, error)) {
		status_clear(&loaded);
		return false;
	}
	loaded.skip_reasons = skipped_load_reasons(store, SKIP_REASONS, error);
	loaded.unanswered = loaded.skip_reasons
	                        ? inbox_load_unanswered(
	                              store, now - UNANSWERED_DAYS * CLOCK_DAY_S, error)
	                        : NULL;
	if (!loaded.skip_reasons || !loaded.unanswered) {
		status_clear(&loaded);
		return false;
	}
	loaded.request_limit = settings->limit_confirmations_per_hour;
	loaded.disk_free_bytes = file_get_free_bytes(directory);
	loaded.store_bytes = get_file_size(directory, "paperboy.db");
	loaded.wal_bytes = get_file_size(directory, "paperboy.db-wal");
	*status = loaded;
	return true;
}
