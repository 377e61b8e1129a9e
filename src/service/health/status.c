/*
 * status.c - everything that one screen tells of how paperboy is doing.
 */
#include "service/health/status.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "service/collect/coverage.h"
#include "service/collect/source_status.h"
#include "service/setup/factory.h"
#include "service/state/generation.h"
#include "store/mail/inbox.h"
#include "store/mail/outbox.h"
#include "store/mail/rate_log.h"
#include "store/mail/skipped.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

#define BYTES_PER_MB (INT64_C(1024) * 1024)

/* What waits longer than this has more than a bad hour. */
#define LONG_WAIT_S (4 * CLOCK_HOUR_S)

/* Messages in mailboxes of which each is shown. */
#define SKIPPED_SHOWN 3

#define STALE_REPORT_S (3 * CLOCK_DAY_S)

void
status_clear(struct status *status)
{
	g_clear_pointer(&status->sources, g_ptr_array_unref);
	g_clear_pointer(&status->oldest, outbox_message_free);
	g_clear_pointer(&status->deferred_first, outbox_message_free);
	g_clear_pointer(&status->coverage, g_free);
	g_clear_pointer(&status->problems, g_ptr_array_unref);
}

static int64_t
size_of(const char *folder, const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	GStatBuf file;

	return g_stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

static bool
load_counts(struct store *store, int64_t now, struct status *status, GError **error)
{
	return papers_count(store, &status->papers, error) &&
	       subscribers_count_filters(store, &status->filters, error) &&
	       matches_count(store, true, &status->matches, error) &&
	       matches_count(store, false, &status->waiting, error) &&
	       subscribers_count_states(store, status->people, error) &&
	       subscribers_load_next_due(store, &status->next_due, error) &&
	       outbox_count(store, "NEW", &status->fresh, error) &&
	       outbox_count(store, "SENDING", &status->sending, error) &&
	       outbox_count(store, "DEFERRED", &status->deferred, error) &&
	       outbox_count(store, "UNKNOWN", &status->unknown, error) &&
	       outbox_count(store, "HELD", &status->held, error) &&
	       outbox_count_held(store, "restore", &status->held_by_restore, error) &&
	       outbox_count_held(store, "crash", &status->held_by_crash, error) &&
	       outbox_count_failed(store, &status->failed, error) &&
	       outbox_count_failed_since(
	           store, now - CLOCK_DAY_S, &status->failed_lately, error) &&
	       inbox_count_new(
	           store, &status->messages, &status->inbox_oldest_at, error) &&
	       inbox_count_quarantined(store, &status->quarantined, error) &&
	       skipped_count(store, &status->skipped, error) &&
	       confirmations_count_pending(store, now, &status->pending, error) &&
	       rate_log_count_all(store, RATE_CONFIRMATION, now - CLOCK_HOUR_S,
	           &status->asked_hour, error) &&
	       rate_log_load_dropped(store, &status->dropped, error) &&
	       backup_load_restored_from(store, &status->past, error);
}

static void
problem_free(gpointer data)
{
	struct status_problem *problem = data;

	g_free(problem->about);
	g_free(problem->text);
	g_free(problem);
}

static struct status_problem *G_GNUC_PRINTF(3, 4)
    add(struct status *status, enum status_problem_kind kind, const char *format, ...)
{
	struct status_problem *problem = g_new0(struct status_problem, 1);
	va_list arguments;

	problem->kind = kind;
	problem->since = -1;
	va_start(arguments, format);
	problem->text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(status->problems, problem);
	return problem;
}

static void
add_source(struct status *status, const struct source_status_source *source,
    int64_t since, const char *how, const char *advice)
{
	struct status_problem *problem = add(status, STATUS_PROBLEM_SOURCE,
	    "source %s %s: %s", source->name, how, advice);

	problem->about = g_strdup(source->name);
	problem->since = since;
}

static void
add_missing(struct status *status, const struct source_status_source *source)
{
	g_autofree char *advice = g_strdup_printf(
	    "it answers, but its list of %s has not come; paperboyctl source fetch "
	    "asks it now",
	    source->missing_day);

	add_source(status, source, source->missing_since, "is late", advice);
}

static void
find_source_problems(struct status *status, const struct status_daemon *daemon)
{
	bool is_any = false;

	for (unsigned i = 0; i < status->sources->len; i++) {
		const struct source_status_source *source = status->sources->pdata[i];

		is_any |= source->is_on;
		if (!source->is_on)
			continue;
		if (source->fetched_at < 0)
			add(status, STATUS_PROBLEM_OTHER,
			    "source %s has never been asked: %s", source->name,
			    daemon->is_running ? "wait a moment"
			                       : "start paperboyd, or paperboyctl "
			                         "source fetch");
		else if (source->error)
			add_source(status, source, source->good_at, "fails",
			    "paperboyctl source list tells why");
		else if (source->is_late)
			add_source(status, source, source->good_at, "is late",
			    daemon->is_running ? "paperboyctl source fetch asks it now"
			                       : "start paperboyd");
		else if (*source->missing_day)
			add_missing(status, source);
	}
	if (!is_any)
		add(status, STATUS_PROBLEM_OTHER,
		    "no source is switched on: see paperboy.conf(5)");
}

static void
find_settings_problems(struct status *status, const struct settings *settings)
{
	if (settings_is_default(settings))
		add(status, STATUS_PROBLEM_OTHER,
		    "mail.from or mail.owner is as it was shipped: put your own "
		    "addresses into paperboy.conf, and your relay into smtp.host");
}

/* As long as anything is held; and for some days, since more than mail was lost. */
static bool
is_reported_stale(const struct status *status, int64_t now)
{
	const struct backup_restored_from *past = &status->past;

	return past->restored_at >= 0 && past->made_at < 0 &&
	       (status->held_by_restore || past->people ||
	           now - past->restored_at < STALE_REPORT_S);
}

static void
find_queue_problems(
    struct status *status, const struct status_daemon *daemon, int64_t now)
{
	int64_t held = status->held - status->held_by_restore - status->held_by_crash;

	if (status->is_stale || is_reported_stale(status, now))
		add(status, STATUS_PROBLEM_STALE,
		    "the database is older than the mail that was sent: an older copy "
		    "of it was put back, or its log was lost. What may have been "
		    "mailed %s held: paperboyctl queue list --state HELD, then queue "
		    "release or queue drop; see STALE DATABASE in paperboyd(8)",
		    status->is_stale ? "will be" : "is");
	else if (status->held_by_restore || status->past.people)
		add(status, STATUS_PROBLEM_OTHER,
		    "a backup was restored: paperboyctl queue list --state HELD, then "
		    "queue release or queue drop");
	if (status->held_by_crash)
		add(status, STATUS_PROBLEM_CRASH,
		    "paperboyd was killed each time while it sent %s, which %s held: "
		    "see paperboyctl queue list --state HELD and the system log; queue "
		    "release tries once more, queue drop gives up",
		    status->held_by_crash == 1 ? "a message" : "some messages",
		    status->held_by_crash == 1 ? "is" : "are");
	if (held > 0)
		add(status, STATUS_PROBLEM_OTHER,
		    "%" G_GINT64_FORMAT
		    " %s held: paperboyctl queue release all sends %s",
		    held, held == 1 ? "message is" : "messages are",
		    held == 1 ? "it" : "them");
	if (status->failed_lately)
		add(status, STATUS_PROBLEM_OTHER,
		    "%" G_GINT64_FORMAT
		    " %s given up since yesterday: paperboyctl queue list "
		    "--state FAILED tells why",
		    status->failed_lately,
		    status->failed_lately == 1 ? "message was" : "messages were");
	if (daemon->relay && g_str_has_prefix(daemon->relay, "open"))
		add(status, STATUS_PROBLEM_RELAY,
		    "the relay does not take mail: paperboyctl queue retry all "
		    "tries it "
		    "now");
	if (status->oldest && now - status->oldest->queued_at > LONG_WAIT_S)
		add(status, STATUS_PROBLEM_OTHER,
		    "message %" G_GINT64_FORMAT " has waited for %" G_GINT64_FORMAT
		    " hours: paperboyctl queue show %" G_GINT64_FORMAT,
		    status->oldest->id,
		    (now - status->oldest->queued_at) / CLOCK_HOUR_S,
		    status->oldest->id);
}

static void
find_inbox_problems(
    struct status *status, const struct status_daemon *daemon, int64_t now)
{
	if (status->quarantined)
		add(status, STATUS_PROBLEM_QUARANTINE,
		    "%" G_GINT64_FORMAT
		    " %s quarantined: paperboyctl inbox list tells why",
		    status->quarantined,
		    status->quarantined == 1 ? "letter is" : "letters are");
	if (status->messages && now - status->inbox_oldest_at > CLOCK_HOUR_S)
		add(status, STATUS_PROBLEM_OTHER,
		    "letters have waited for %" G_GINT64_FORMAT " hours: %s",
		    (now - status->inbox_oldest_at) / CLOCK_HOUR_S,
		    daemon->is_running ? "the log of paperboyd tells why"
		                       : "start paperboyd");
	if (daemon->receivers && strstr(daemon->receivers, ":failed"))
		add(status, STATUS_PROBLEM_OTHER,
		    "letters cannot come in (%s): the log of paperboyd tells why",
		    daemon->receivers);
}

/* Each message that stays in a mailbox, up to a few. */
static bool
find_skipped_problems(struct status *status, struct store *store, GError **error)
{
	g_autoptr(GPtrArray) reasons =
	    skipped_load_reasons(store, SKIPPED_SHOWN, error);

	for (unsigned i = 0; reasons && i < reasons->len; i++)
		add(status, STATUS_PROBLEM_OTHER,
		    "%s: it stays there until you move or delete it",
		    (const char *)reasons->pdata[i]);
	if (status->skipped > SKIPPED_SHOWN)
		add(status, STATUS_PROBLEM_OTHER,
		    "%" G_GINT64_FORMAT
		    " more messages stay in a mailbox: the log of paperboyd has "
		    "each (inbox-skipped)",
		    status->skipped - SKIPPED_SHOWN);
	return reasons != NULL;
}

static void
find_autoreply_problems(struct status *status, const struct settings *settings,
    const struct status_daemon *daemon, int64_t now)
{
	if (status->dropped.last_at > now - CLOCK_DAY_S)
		add(status, STATUS_PROBLEM_DROPPED,
		    "%" G_GINT64_FORMAT
		    " %s dropped, since limits.confirmations_per_hour or "
		    "limits.confirmations_per_domain_hour was reached: if they are "
		    "forged, "
		    "%s; if not, raise the limit",
		    status->dropped.lately,
		    status->dropped.lately == 1 ? "request to subscribe was"
		                                : "requests to subscribe were",
		    *settings->commands_authserv_id
		        ? "senders that your mail server vouches for still get through"
		        : "set commands.authserv_id, so that senders that your mail "
		          "server vouches for get through");
	if (daemon->receivers && strchr(daemon->receivers, ':') &&
	    !*settings->commands_address)
		add(status, STATUS_PROBLEM_OTHER,
		    "letters come in and none is answered: set "
		    "commands.address");
}

static void
find_disk_problems(struct status *status, const struct settings *settings)
{
	int64_t inbox_floor = settings->min_free_mb * BYTES_PER_MB;
	int64_t free_bytes = status->disk_free_bytes;

	if (free_bytes >= 0 && free_bytes < STATUS_DISK_LEAST)
		add(status, STATUS_PROBLEM_DISK,
		    "the disk of the state folder is full: nothing is sent, since what "
		    "comes of it could not be recorded: make room");
	else if (free_bytes >= 0 && free_bytes < inbox_floor)
		add(status, STATUS_PROBLEM_DISK,
		    "the disk of the state folder is nearly full, and letters are told "
		    "to come later (receive.min_free_mb): make room");
	else if (free_bytes >= 0 && free_bytes < STATUS_DISK_FLOOR)
		add(status, STATUS_PROBLEM_DISK,
		    "the disk of the state folder is nearly full: make room before it "
		    "is");
	if (status->log_bytes > STATUS_LOG_MOST)
		add(status, STATUS_PROBLEM_OTHER,
		    "the store's log has grown: paperboyctl doctor");
}

static void
find_clock_problem(struct status *status)
{
	const struct clock_jump *jump = &status->jump;
	int64_t hours = ABS(jump->by_s) / CLOCK_HOUR_S;
	int64_t left_s = MAX(CLOCK_WATCH_TRUST_S - jump->ran_s, 0);
	struct status_problem *problem;

	if (!jump->by_s)
		return;
	problem = add(status, STATUS_PROBLEM_CLOCK,
	    "the clock jumped %s by %" G_GINT64_FORMAT
	    " %s, and no source has confirmed it: nothing is deleted for its "
	    "age%s before it has run on for %" G_GINT64_FORMAT
	    " more hours; check the clock (timedatectl)",
	    jump->by_s < 0 ? "back" : "forward", hours < 48 ? hours : hours / 24,
	    hours < 48 ? "hours" : "days",
	    jump->is_held ? ", and no digest is built," : "",
	    (left_s + CLOCK_HOUR_S - 1) / CLOCK_HOUR_S);
	problem->since = jump->at;
}

bool
status_load(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, int64_t now, struct status *status,
    GError **error)
{
	struct status found = {0};
	pb_auto(coverage) coverage = NULL;
	g_autoptr(GPtrArray) enabled = factory_new_sources(settings);

	found.sources = source_status_load(
	    store, enabled, settings->collect_interval_s, now, error);
	coverage = found.sources ? coverage_load(store, now, error) : NULL;
	if (!coverage || !load_counts(store, now, &found, error) ||
	    !clock_watch_load(store, &found.jump, error) ||
	    !generation_is_stale(store, settings->state_dir, &found.is_stale, error) ||
	    !outbox_find_oldest(store, false, &found.oldest, error) ||
	    !outbox_find_oldest(store, true, &found.deferred_first, error)) {
		status_clear(&found);
		return false;
	}
	found.asked_most = settings->limit_confirmations_per_hour;
	found.disk_free_bytes = disk_get_free(settings->state_dir);
	found.store_bytes = size_of(settings->state_dir, "paperboy.db");
	found.log_bytes = size_of(settings->state_dir, "paperboy.db-wal");
	found.coverage = coverage_format_line(coverage, NULL);
	found.problems = g_ptr_array_new_with_free_func(problem_free);
	find_settings_problems(&found, settings);
	find_source_problems(&found, daemon);
	find_queue_problems(&found, daemon, now);
	find_inbox_problems(&found, daemon, now);
	if (!find_skipped_problems(&found, store, error)) {
		status_clear(&found);
		return false;
	}
	find_autoreply_problems(&found, settings, daemon, now);
	find_disk_problems(&found, settings);
	find_clock_problem(&found);
	*status = found;
	return true;
}
