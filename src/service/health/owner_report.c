/*
 * owner_report.c - a weekly mail to the operator: what happened, and what needs a
 * decision.
 */
#include "service/health/owner_report.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "render/wrap.h"
#include "service/collect/source_status.h"
#include "service/health/health.h"
#include "store/mail/digests.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/confirmations.h"

/* Number of the last week that was reported. */
#define REPORTED "owner report"

/* Weeks begin on Monday at 6:00 UTC; the first of 1970 is a Thursday. */
#define WEEK_S  (7 * CLOCK_DAY_S)
#define SHIFT_S (3 * CLOCK_DAY_S - 6 * CLOCK_HOUR_S)

/* Problems that are shown in full: the mail is one screen. */
#define PROBLEMS_MAX 4

struct week {
	const struct alerts *alerts;
	int64_t now;
	const struct status *status;
	int64_t joined, left, suspended, digests, approvals;
};

static bool
load_week(struct week *week, GError **error)
{
	const struct {
		const char *what;
		int64_t *count;
	} rows[] = {
	    {"subscriber added", &week->joined},
	    {"subscriber imported", &week->joined},
	    {"subscriber removed", &week->left},
	    {"subscriber forgotten", &week->left},
	    {"subscriber suspended", &week->suspended},
	};
	struct store *store = week->alerts->store;
	int64_t since = week->now - WEEK_S;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (!audit_add_count(store, rows[i].what, since, rows[i].count, error))
			return false;
	return digests_count_sent(store, since, &week->digests, error) &&
	       confirmations_count_approvals(store, week->now, &week->approvals, error);
}

static void
add_people(const struct week *week, GString *text)
{
	const int64_t *people = week->status->people;

	g_string_append_printf(text,
	    "People   %" G_GINT64_FORMAT " active, %" G_GINT64_FORMAT
	    " paused, %" G_GINT64_FORMAT " suspended; this week %" G_GINT64_FORMAT
	    " joined, %" G_GINT64_FORMAT " left, %" G_GINT64_FORMAT " suspended\n",
	    people[SUBSCRIBER_ACTIVE], people[SUBSCRIBER_PAUSED],
	    people[SUBSCRIBER_SUSPENDED], week->joined, week->left, week->suspended);
}

static void
add_mail(const struct week *week, GString *text)
{
	const struct status *status = week->status;
	const struct bounce_summary *bounces = &status->bounces;

	g_string_append_printf(text,
	    "Digests  %" G_GINT64_FORMAT " sent\n"
	    "Bounces  %" G_GINT64_FORMAT " dead, %" G_GINT64_FORMAT
	    " full, %" G_GINT64_FORMAT " temporary; %" G_GINT64_FORMAT " complaints\n"
	    "Queue    %" G_GINT64_FORMAT " new, %" G_GINT64_FORMAT
	    " deferred, %" G_GINT64_FORMAT " held, %" G_GINT64_FORMAT
	    " failed; received: %" G_GINT64_FORMAT " waiting, %" G_GINT64_FORMAT
	    " quarantined\n",
	    week->digests, bounces->dead, bounces->full, bounces->temporary,
	    bounces->complaint, status->fresh, status->deferred, status->held,
	    status->failed, status->messages, status->quarantined);
}

static void
add_sources(const struct week *week, GString *text)
{
	int64_t missed = 0;
	unsigned on = 0, good = 0;

	for (unsigned i = 0; i < week->status->sources->len; i++) {
		const struct source_status_source *source =
		    week->status->sources->pdata[i];

		if (!source->is_on)
			continue;
		on++;
		good += !source->error && !source->is_late && !*source->missing_day;
		missed += MAX(source->missed, 0);
	}
	g_string_append_printf(text,
	    "Sources  %u of %u in order; %" G_GINT64_FORMAT
	    " papers had been missed, by audits\n",
	    good, on, missed);
}

static void
add_disk(const struct week *week, GString *text)
{
	const struct status *status = week->status;
	g_autofree char *size = g_format_size((guint64)status->store_bytes);
	g_autofree char *room = g_format_size((guint64)MAX(status->disk_free_bytes, 0));
	g_autofree char *backup = day_format_minute(status->restore.last_made_at);

	g_string_append_printf(text, "Disk     %s free; database %s; last backup %s\n",
	    room, status->instances ? "on a server" : size, backup);
}

/* @param decisions  set to their number */
static void
add_decisions(const struct week *week, GString *text, unsigned *decisions)
{
	const struct alerts *alerts = week->alerts;
	struct status_daemon daemon = STATUS_DAEMON_NONE;
	const struct health_options options = {
	    .settings = alerts->settings, .daemon = &daemon, .now = week->now};
	g_autoptr(GPtrArray) problems = NULL;

	daemon.is_running = true;
	if (alerts->relay)
		daemon.relay = *alerts->relay;
	problems = health_find_problems(&options, week->status);
	*decisions = problems->len + (week->approvals > 0);
	g_string_append(
	    text, *decisions ? "\nFor you to decide:\n" : "\nNothing to decide.\n");
	if (week->approvals)
		g_string_append_printf(text,
		    "  * %" G_GINT64_FORMAT
		    " requests to subscribe wait for your reply "
		    "to their mail\n",
		    week->approvals);
	for (unsigned i = 0; i < MIN(problems->len, PROBLEMS_MAX); i++) {
		g_autofree char *line = health_finding_format(problems->pdata[i]);

		g_string_append_printf(text, "  * %s\n", line);
	}
	if (problems->len > PROBLEMS_MAX)
		g_string_append_printf(text, "  * %u more: paperboyctl status\n",
		    problems->len - PROBLEMS_MAX);
}

static char *
format_text(const struct week *week, unsigned *decisions)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *lines = NULL;
	char from[DAY_BYTES], to[DAY_BYTES];

	day_format(week->now - WEEK_S, from);
	day_format(week->now, to);
	g_string_append_printf(text, "paperboy at %s from %s to %s:\n\n",
	    week->alerts->own_addresses->domain, from, to);
	add_people(week, text);
	add_mail(week, text);
	add_sources(week, text);
	add_disk(week, text);
	add_decisions(week, text, decisions);
	return wrap_format_text(text->str, BOUNDS_TEXT_COLUMNS);
}

static bool
put_mail(struct store *store, void *data, GError **error)
{
	struct week *week = data;
	unsigned decisions;
	g_autofree char *text = format_text(week, &decisions);
	g_autofree char *subject =
	    g_strdup_printf("paperboy: %" G_GINT64_FORMAT " digests this week, "
	                    "%u to decide",
	        week->digests, decisions);

	return store_save_cursor(
	           store, REPORTED, (week->now + SHIFT_S) / WEEK_S, error) &&
	       alerts_queue_mail(week->alerts, subject, text, week->now, error);
}

bool
owner_report_run(const struct alerts *alerts, int64_t now, GError **error)
{
	const struct settings *settings = alerts->settings;
	struct week week = {.alerts = alerts, .now = now};
	int64_t number = (now + SHIFT_S) / WEEK_S, reported;
	pb_local(status) status = {0};

	if (!settings->mail_owner_report || settings_is_default(settings))
		return true;
	if (!store_load_cursor(alerts->store, REPORTED, -1, &reported, error))
		return false;
	if (reported == number)
		return true;
	/* The first time, or the clock was set back. */
	if (reported < 0 || reported > number)
		return store_save_cursor(alerts->store, REPORTED, number, error);
	if (!load_week(&week, error) ||
	    !status_load(alerts->store, settings, now, &status, error))
		return false;
	week.status = &status;
	return store_transact(alerts->store, put_mail, &week, error);
}
