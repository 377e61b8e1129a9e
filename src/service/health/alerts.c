/*
 * alerts.c - mail to the owner about what wants a person.
 */
#include "service/health/alerts.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "render/wrap.h"
#include "service/delivery/system_mail.h"
#include "service/health/status.h"

/* Cursors that keep when a subject was told. */
#define CURSOR "alert "

struct work {
	const struct alerts *alerts;
	int64_t now;
	GPtrArray *reported; /* of char *: names of their cursors */
	char *first;         /* the one line of the first subject */
	GString *text;       /* an item for each */
};

/*
 * Take one up, if it is due.
 *
 * @param what  "source x fails"; the letter's subject when it is the only one
 * @param text  with what to do about it
 */
static bool
tell(struct work *work, const char *subject, const char *what, const char *text,
    GError **error)
{
	g_autofree char *name = g_strconcat(CURSOR, subject, NULL);
	int64_t reported_at;

	if (!store_load_cursor(work->alerts->store, name, -1, &reported_at, error))
		return false;
	/* In the future: the clock was set back. */
	if (reported_at >= 0 && reported_at <= work->now &&
	    work->now - reported_at < CLOCK_DAY_S)
		return true;
	if (!work->reported->len)
		work->first = g_strdup(what);
	g_string_append_printf(work->text, "  * %s\n", text);
	g_ptr_array_add(work->reported, g_steal_pointer(&name));
	return true;
}

static bool
tell_problem(struct work *work, const struct status_problem *problem, GError **error)
{
	g_autofree char *subject = NULL;
	g_autofree char *what = NULL;

	switch (problem->kind) {
	case STATUS_PROBLEM_SOURCE:
		if (problem->since >= 0 && work->now - problem->since < ALERTS_SOURCE_S)
			return true;
		subject = g_strconcat("source ", problem->about, NULL);
		what = g_strdup_printf("source %s", problem->about);
		break;
	case STATUS_PROBLEM_QUARANTINE:
		subject = g_strdup("quarantine");
		what = g_strdup("letters are quarantined");
		break;
	case STATUS_PROBLEM_DISK:
		subject = g_strdup("disk");
		what = g_strdup("the disk is nearly full");
		break;
	case STATUS_PROBLEM_CRASH:
		subject = g_strdup("crash");
		what = g_strdup("a message is held after crashes");
		break;
	case STATUS_PROBLEM_CLOCK:
		subject = g_strdup("clock");
		what = g_strdup("the clock jumped");
		break;
	case STATUS_PROBLEM_STALE:
		subject = g_strdup("store");
		what = g_strdup("the database is older than the mail that was sent");
		break;
	case STATUS_PROBLEM_DROPPED:
		subject = g_strdup("dropped");
		what = g_strdup("requests to subscribe are dropped");
		break;
	case STATUS_PROBLEM_RELAY: /* the post knows since when */
	case STATUS_PROBLEM_OTHER:
		return true;
	}
	return tell(work, subject, what, problem->text, error);
}

static bool
tell_relay(struct work *work, const struct mailer_relay *relay, GError **error)
{
	g_autoptr(GDateTime) since = g_date_time_new_from_unix_utc(relay->since);
	g_autofree char *day =
	    since ? g_date_time_format(since, "%Y-%m-%d %H:%M UTC") : NULL;
	g_autofree char *text = g_strdup_printf(
	    "%s since %s: paperboyctl status tells what it says, paperboyctl queue "
	    "retry all tries it now",
	    relay->is_auth_failed ? "the relay refuses our login (smtp.user)"
	                          : "the relay does not take mail",
	    day ? day : "long ago");

	if (!relay->is_away || work->now - relay->since < ALERTS_RELAY_S)
		return true;
	return tell(work, "relay", "the relay does not take mail", text, error);
}

static bool
tell_domains(struct work *work, const struct mailer_relay *relay, GError **error)
{
	g_autofree char *text = NULL;

	if (!relay->paused)
		return true;
	text = g_strdup_printf(
	    "%s%s our mail by policy, and is left alone for some "
	    "hours: paperboyctl queue list --state DEFERRED tells what "
	    "was said; look at SPF, DKIM and DMARC of your domain",
	    relay->domain, relay->paused > 1 ? ", as others do, refuses" : " refuses");
	return tell(work, "domain", "a domain refuses our mail", text, error);
}

/* Sources and the relay concern nobody before the first person has asked for mail. */
static bool
has_people(const struct status *status)
{
	for (int state = SUBSCRIBER_PENDING; state < SUBSCRIBER_GONE; state++)
		if (status->people[state] > 0)
			return true;
	return false;
}

static bool
look(struct work *work, GError **error)
{
	const struct alerts *alerts = work->alerts;
	const struct status_daemon daemon = {.is_running = true};
	struct status status;
	bool is_ok, is_used;

	if (!status_load(
	        alerts->store, alerts->settings, &daemon, work->now, &status, error))
		return false;
	is_ok = true;
	is_used = has_people(&status);
	for (unsigned i = 0; is_ok && i < status.problems->len; i++) {
		const struct status_problem *problem = status.problems->pdata[i];

		if (is_used || problem->kind != STATUS_PROBLEM_SOURCE)
			is_ok = tell_problem(work, problem, error);
	}
	status_clear(&status);
	return is_ok && (!is_used || !alerts->relay ||
	                    (tell_relay(work, alerts->relay, error) &&
	                        tell_domains(work, alerts->relay, error)));
}

static bool
put_mail(const struct work *work, GError **error)
{
	const struct alerts *alerts = work->alerts;
	const struct system_mailer system_mailer = {alerts->store, alerts->settings,
	    alerts->own_addresses, alerts->random, work->now};
	g_autofree char *subject =
	    work->reported->len == 1
	        ? g_strdup_printf("paperboy: %s", work->first)
	        : g_strdup_printf("paperboy: %u things want you", work->reported->len);
	g_autofree char *list = wrap_format_text(work->text->str, BOUNDS_TEXT_COLUMNS);
	g_autofree char *text = g_strdup_printf(
	    "paperboy at %s needs a person:\n\n%s\n"
	    "As long as it lasts you are told once a day. How all is now:\n\n"
	    "    paperboyctl status\n\n"
	    "Without these mails: mail: { alerts = false; }; in paperboy.conf.\n",
	    alerts->own_addresses->domain, list);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = alerts->settings->mail_owner,
	    .sender = "",
	    .subject = subject,
	    .text = text,
	};
	pb_transaction transaction = {0};
	int64_t id;

	if (!store_begin(alerts->store, &transaction, error))
		return false;
	for (unsigned i = 0; i < work->reported->len; i++)
		if (!store_save_cursor(
		        alerts->store, work->reported->pdata[i], work->now, error))
			return false;
	return system_mail_send(&system_mailer, &mail, &id, error) &&
	       store_commit(&transaction, error);
}

bool
alerts_run(const struct alerts *alerts, int64_t now, unsigned *reported, GError **error)
{
	struct work work = {.alerts = alerts, .now = now};
	bool is_ok;

	*reported = 0;
	/* Nobody is to get mail for what was only installed. */
	if (!alerts->settings->mail_alerts || !*alerts->settings->mail_owner ||
	    settings_is_default(alerts->settings))
		return true;
	work.reported = g_ptr_array_new_with_free_func(g_free);
	work.text = g_string_new(NULL);
	/* One writer: nobody else tells them in between. */
	is_ok = look(&work, error) && (!work.reported->len || put_mail(&work, error));
	if (is_ok)
		*reported = work.reported->len;
	g_ptr_array_unref(work.reported);
	g_string_free(work.text, TRUE);
	g_free(work.first);
	return is_ok;
}
