/*
 * alerts.c - mail to the owner about problems.
 */
#include "service/health/alerts.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "render/wrap.h"
#include "service/delivery/system_mail.h"
#include "service/health/health.h"

/* Prefix of the cursors with the time of the last alert of each kind. */
#define CURSOR "alert "

struct work {
	const struct alerts *alerts;
	int64_t now;
	GPtrArray *reported; /* of char *: cursors of the alerts in the mail */
	char *first;         /* subject of the first alert */
	GString *text;       /* one item per alert */
};

/* Add a problem to the mail, unless it was mailed within a day. */
static bool
add_alert(struct work *work, const struct health_finding *problem, GError **error)
{
	const struct health_check *check = problem->check;
	g_autofree char *cursor =
	    problem->about ? g_strconcat(CURSOR, check->name, " ", problem->about, NULL)
	                   : g_strconcat(CURSOR, check->name, NULL);
	g_autofree char *line = NULL;
	int64_t reported_at;

	if (!store_load_cursor(work->alerts->store, cursor, -1, &reported_at, error))
		return false;
	/* In the future: the clock was set back. */
	if (reported_at >= 0 && reported_at <= work->now &&
	    work->now - reported_at < CLOCK_DAY_S)
		return true;
	if (!work->reported->len)
		work->first = check->subject
		                  ? g_strdup(check->subject)
		                  : g_strdup_printf("source %s", problem->about);
	line = health_finding_format(problem);
	g_string_append_printf(work->text, "  * %s\n", line);
	g_ptr_array_add(work->reported, g_steal_pointer(&cursor));
	return true;
}

static bool
has_users(const struct status *status)
{
	for (int state = SUBSCRIBER_PENDING; state < SUBSCRIBER_GONE; state++)
		if (status->people[state] > 0)
			return true;
	return false;
}

static bool
is_alert(const struct work *work, const struct health_finding *problem, bool has_users)
{
	const struct health_check *check = problem->check;

	return check->severity == HEALTH_ALERT && (has_users || !check->needs_users) &&
	       (problem->since < 0 ||
	           work->now - problem->since >= check->alert_after_s);
}

static bool
collect_alerts(struct work *work, GError **error)
{
	const struct alerts *alerts = work->alerts;
	struct status_daemon daemon = STATUS_DAEMON_NONE;
	const struct health_options options = {
	    .settings = alerts->settings, .daemon = &daemon, .now = work->now};
	g_autoptr(GPtrArray) problems = NULL;
	pb_local(status) status = {0};
	bool is_ok = true;

	daemon.is_running = true;
	if (alerts->relay)
		daemon.relay = *alerts->relay;
	if (!status_load(alerts->store, alerts->settings, work->now, &status, error))
		return false;
	problems = health_find_problems(&options, &status);
	for (unsigned i = 0; is_ok && i < problems->len; i++)
		if (is_alert(work, problems->pdata[i], has_users(&status)))
			is_ok = add_alert(work, problems->pdata[i], error);
	return is_ok;
}

static bool
put_mail(struct store *store, void *data, GError **error)
{
	const struct work *work = data;
	const struct alerts *alerts = work->alerts;
	const struct system_mailer system_mailer = {
	    store, alerts->settings, alerts->own_addresses, alerts->random, work->now};
	g_autofree char *subject =
	    work->reported->len == 1
	        ? g_strdup_printf("paperboy: %s", work->first)
	        : g_strdup_printf("paperboy: %u problems", work->reported->len);
	g_autofree char *list = wrap_format_text(work->text->str, BOUNDS_TEXT_COLUMNS);
	g_autofree char *text = g_strdup_printf(
	    "paperboy at %s needs attention:\n\n%s\n"
	    "This is reported once a day while it lasts. To see the current status:\n\n"
	    "    paperboyctl status\n\n"
	    "To disable these mails: mail: { alerts = false; }; in paperboy.conf.\n",
	    alerts->own_addresses->domain, list);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = alerts->settings->mail_owner,
	    .sender = "",
	    .subject = subject,
	    .text = text,
	};
	int64_t id;

	for (unsigned i = 0; i < work->reported->len; i++)
		if (!store_save_cursor(
		        store, work->reported->pdata[i], work->now, error))
			return false;
	return system_mail_send(&system_mailer, &mail, &id, error);
}

bool
alerts_run(const struct alerts *alerts, int64_t now, unsigned *reported, GError **error)
{
	struct work work = {.alerts = alerts, .now = now};
	bool is_ok;

	*reported = 0;
	/* An unconfigured installation sends no mail. */
	if (!alerts->settings->mail_alerts || !*alerts->settings->mail_owner ||
	    settings_is_default(alerts->settings))
		return true;
	work.reported = g_ptr_array_new_with_free_func(g_free);
	work.text = g_string_new(NULL);
	/* Only this thread writes the cursors, so no transaction is needed yet. */
	is_ok = collect_alerts(&work, error) &&
	        (!work.reported->len ||
	            store_transact(alerts->store, put_mail, &work, error));
	if (is_ok)
		*reported = work.reported->len;
	g_ptr_array_unref(work.reported);
	g_string_free(work.text, TRUE);
	g_free(work.first);
	return is_ok;
}
