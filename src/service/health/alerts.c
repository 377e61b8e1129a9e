/*
 * alerts.c - reports to the operator about problems, by mail and by HTTP.
 */
#include "service/health/alerts.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "net/http.h"
#include "net/oauth.h"
#include "render/wrap.h"
#include "service/delivery/system_mail.h"
#include "service/health/health.h"
#include "service/log/event.h"
#include "service/setup/factory.h"

/* Prefixes of the cursors: the time of the last report of each problem; negative: that
 * of its end. */
#define MAILED "alert "
#define POSTED "alert-post "

/* A problem that comes back is not reported sooner after its end. */
#define RELAPSE_S 3600

/* Timeouts of a request, which the building of digests waits for. */
#define CONNECT_MS 5000
#define TOTAL_MS   10000

/* Longest wait between two attempts to post. */
#define RETRY_MAX_S 3600

/* ---- what is to be reported, in one way ---- */

struct report {
	const struct alerts *alerts;
	int64_t now;
	const char *prefix;  /* of its cursors */
	GPtrArray *cursors;  /* of char *: of the problems, then of those that ended */
	GPtrArray *problems; /* of const struct health_finding * */
	GPtrArray *ended;    /* of char *: "source hf" */
};

static void
report_init(
    struct report *report, const struct alerts *alerts, int64_t now, const char *prefix)
{
	*report =
	    (struct report){alerts, now, prefix, g_ptr_array_new_with_free_func(g_free),
	        g_ptr_array_new(), g_ptr_array_new_with_free_func(g_free)};
}

static void
report_clear(struct report *report)
{
	g_ptr_array_unref(report->cursors);
	g_ptr_array_unref(report->problems);
	g_ptr_array_unref(report->ended);
}

static char *
format_cursor(const char *prefix, const struct health_finding *problem)
{
	return g_strconcat(prefix, problem->check->name, problem->about ? " " : "",
	    problem->about, NULL);
}

/* "the relay does not accept mail", "source hf" */
static char *
format_title(const struct health_finding *problem)
{
	return problem->check->subject
	           ? g_strdup(problem->check->subject)
	           : g_strdup_printf("%s %s", problem->check->name, problem->about);
}

/* The clock may have been set back since the last report. */
static bool
is_due(const struct report *report, int64_t cursor)
{
	int64_t age = report->now - ABS(cursor);

	return cursor == 0 || age < 0 || age >= (cursor < 0 ? RELAPSE_S : CLOCK_DAY_S);
}

static bool
add_problem(struct report *report, const struct health_finding *problem, GError **error)
{
	g_autofree char *name = format_cursor(report->prefix, problem);
	int64_t cursor;

	if (!store_load_cursor(report->alerts->store, name, 0, &cursor, error))
		return false;
	if (!is_due(report, cursor))
		return true;
	g_ptr_array_add(report->problems, (void *)problem);
	g_ptr_array_add(report->cursors, g_steal_pointer(&name));
	return true;
}

static bool
has_problem(const struct report *report, const GPtrArray *problems, const char *cursor)
{
	for (unsigned i = 0; i < problems->len; i++) {
		g_autofree char *name =
		    format_cursor(report->prefix, problems->pdata[i]);

		if (strcmp(name, cursor) == 0)
			return true;
	}
	return false;
}

/* The title of a problem by the end of its cursor: "relay", "source hf",
 * "domain-paused example.org". */
static char *
format_ended(const char *name)
{
	for (const struct health_check *check = health_checks; check->name; check++) {
		size_t size = strlen(check->name);

		if (!check->subject || !g_str_has_prefix(name, check->name))
			continue;
		if (!name[size])
			return g_strdup(check->subject);
		if (name[size] == ' ')
			return g_strdup_printf(
			    "%s: %s", check->subject, name + size + 1);
	}
	return g_strdup(name);
}

/* @param problems  all that there are, however short */
static bool
add_ended(struct report *report, const GPtrArray *problems, GError **error)
{
	size_t size = strlen(report->prefix);
	g_autoptr(GPtrArray) names =
	    store_list_cursors(report->alerts->store, report->prefix, error);

	for (unsigned i = 0; names && i < names->len; i++) {
		const char *name = names->pdata[i];

		if (has_problem(report, problems, name))
			continue;
		g_ptr_array_add(report->ended, format_ended(name + size));
		g_ptr_array_add(report->cursors, g_strdup(name));
	}
	return names != NULL;
}

static bool
save_cursors(struct store *store, void *data, GError **error)
{
	const struct report *report = data;

	for (unsigned i = 0; i < report->cursors->len; i++)
		if (!store_save_cursor(store, report->cursors->pdata[i],
		        i < report->problems->len ? report->now : -report->now, error))
			return false;
	return true;
}

static char *
format_subject(const struct report *report)
{
	unsigned problems = report->problems->len, ended = report->ended->len;
	g_autofree char *title =
	    problems == 1 ? format_title(report->problems->pdata[0]) : NULL;

	if (title)
		return g_strdup_printf("paperboy: %s", title);
	if (problems)
		return g_strdup_printf("paperboy: %u problems", problems);
	return ended == 1 ? g_strdup_printf(
	                        "paperboy: ended: %s", (char *)report->ended->pdata[0])
	                  : g_strdup_printf("paperboy: %u problems ended", ended);
}

/* A list with an item for each. */
static char *
format_text(const struct report *report)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < report->problems->len; i++) {
		g_autofree char *line =
		    health_finding_format(report->problems->pdata[i]);

		g_string_append_printf(text, "  * %s\n", line);
	}
	for (unsigned i = 0; i < report->ended->len; i++)
		g_string_append_printf(
		    text, "  * ended: %s\n", (char *)report->ended->pdata[i]);
	return g_string_free(text, FALSE);
}

/* ---- mail ---- */

bool
alerts_queue_mail(const struct alerts *alerts, const char *subject, const char *text,
    int64_t now, GError **error)
{
	const struct system_mailer system_mailer = {alerts->store, alerts->settings,
	    alerts->own_addresses, alerts->random, now};
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = alerts->settings->mail_owner,
	    .sender = "",
	    .subject = subject,
	    .text = text,
	};
	int64_t id;

	return system_mail_send(&system_mailer, &mail, &id, error);
}

static bool
put_mail(struct store *store, void *data, GError **error)
{
	struct report *report = data;
	const struct alerts *alerts = report->alerts;
	g_autofree char *subject = format_subject(report);
	g_autofree char *items = format_text(report);
	g_autofree char *list = wrap_format_text(items, BOUNDS_TEXT_COLUMNS);
	g_autofree char *text = g_strdup_printf(
	    "paperboy at %s %s:\n\n%s\n"
	    "A problem is reported once a day while it lasts, and when it has ended. "
	    "To see\nthe current status:\n\n"
	    "    paperboyctl status\n\n"
	    "To disable these mails: mail: { alerts = false; }; in paperboy.conf.\n",
	    alerts->own_addresses->domain,
	    report->problems->len ? "needs attention" : "reports", list);

	return save_cursors(store, report, error) &&
	       alerts_queue_mail(alerts, subject, text, report->now, error);
}

/* ---- HTTP ---- */

static struct view *
new_problem_view(const struct health_finding *problem, bool is_last)
{
	struct view *view = view_new_map();
	g_autofree char *title = format_title(problem);
	g_autoptr(GDateTime) since =
	    problem->since >= 0 ? g_date_time_new_from_unix_utc(problem->since) : NULL;
	g_autofree char *time = since ? g_date_time_format_iso8601(since) : NULL;

	view_put_text(view, "title", title);
	view_put_text(view, "check", problem->check->name);
	view_put_text(view, "about", problem->about);
	view_put_text(view, "since", time);
	view_put_text(view, "detail", problem->text);
	view_put_text(view, "action", problem->action);
	view_put(view, "is_last", view_new_bool(is_last));
	return view;
}

static struct view *
new_view(const struct report *report)
{
	struct view *view = view_new_map(), *problems = view_new_list(),
	            *ended = view_new_list();
	g_autofree char *subject = format_subject(report);
	g_autofree char *text = format_text(report);

	for (unsigned i = 0; i < report->problems->len; i++)
		view_append(problems, new_problem_view(report->problems->pdata[i],
		                          i + 1 == report->problems->len));
	for (unsigned i = 0; i < report->ended->len; i++) {
		struct view *item = view_new_map();

		view_put_text(item, "title", report->ended->pdata[i]);
		view_put(item, "is_last", view_new_bool(i + 1 == report->ended->len));
		view_append(ended, item);
	}
	view_put_text(view, "service", report->alerts->own_addresses->domain);
	view_put_text(view, "subject", subject);
	view_put_text(view, "text", text);
	view_put(view, "problems", problems);
	view_put(view, "ended", ended);
	return view;
}

/* The field of WebSub. @return NULL without a key, or with an error */
static char *
format_signature(const struct settings *settings, const char *body, GError **error)
{
	char *key;
	g_autofree char *mac = NULL;

	if (!*settings->alerts_secret_file)
		return NULL;
	key = settings_load_secret(
	    settings->alerts_secret_file, g_getenv("CREDENTIALS_DIRECTORY"), error);
	if (!key)
		return NULL;
	mac = g_compute_hmac_for_string(
	    G_CHECKSUM_SHA256, (const guint8 *)key, strlen(key), body, -1);
	oauth_secret_free(key);
	return g_strconcat("X-Hub-Signature: sha256=", mac, NULL);
}

static struct http *
new_http(const char *url)
{
	const struct http_settings options = {
	    .user_agent = "paperboy/" PACKAGE_VERSION,
	    .connect_ms = CONNECT_MS,
	    .total_ms = TOTAL_MS,
	};
	struct http *http = http_new(&options);

	http_allow_private(http, url);
	return http;
}

/* Statuses other than 2xx are failures. */
static bool
check_status(const char *setting, const struct http_response *response, GError **error)
{
	return response->status / 100 == 2 ||
	       pb_fail(error, PB_ERROR_TEMPORARY, "%s: the server answers with HTTP %d",
	           setting, response->status);
}

static bool
post(const struct report *report, GError **error)
{
	const struct settings *settings = report->alerts->settings;
	const char *type;
	pb_auto(template) template = factory_new_alert_template(settings, &type, error);
	pb_auto(view) view = new_view(report);
	pb_auto(http) http = new_http(settings->alerts_url);
	pb_local(http_response) response = {0};
	g_autoptr(GString) body = g_string_new(NULL);
	g_autoptr(GError) problem = NULL;
	g_autofree char *signature = NULL;

	if (!template)
		return false;
	template_append(template, view, body);
	signature = format_signature(settings, body->str, &problem);
	return pb_error_forward(error, &problem) &&
	       http_post(http, settings->alerts_url, type, signature, body->str,
	           &response, error) &&
	       check_status("alerts.url", &response, error);
}

/* Try again after two minutes, then four, and so on. */
static void
put_off(struct alerts_retry *retry, int64_t now, const GError *problem)
{
	retry->wait_s = CLAMP(retry->wait_s * 2, ALERTS_INTERVAL_S, RETRY_MAX_S);
	retry->at = now + retry->wait_s;
	event_log(EVENT_ALERT_NOT_POSTED, EVENT_SECONDS("next_in", retry->wait_s),
	    EVENT_TEXT(problem->message));
}

static bool
run_post(struct report *report, GError **error)
{
	const struct alerts *alerts = report->alerts;
	g_autoptr(GError) problem = NULL;

	if (!report->cursors->len)
		return true;
	if (!post(report, &problem)) {
		put_off(&alerts->retries->post, report->now, problem);
		return true;
	}
	alerts->retries->post = (struct alerts_retry){0};
	event_log(EVENT_ALERT_POSTED, EVENT_INT("problems", report->problems->len),
	    EVENT_INT("ended", report->ended->len));
	return store_transact(alerts->store, save_cursors, report, error);
}

static void
ping(const struct alerts *alerts, int64_t now)
{
	const char *url = alerts->settings->alerts_ping_url;
	pb_auto(http) http = new_http(url);
	pb_local(http_response) response = {0};
	g_autoptr(GError) problem = NULL;

	if (http_get(http, url, NULL, &response, &problem) &&
	    check_status("alerts.ping_url", &response, &problem))
		alerts->retries->ping = (struct alerts_retry){0};
	else
		put_off(&alerts->retries->ping, now, problem);
}

/* ---- the checks ---- */

static bool
has_users(const struct status *status)
{
	for (int state = SUBSCRIBER_PENDING; state < SUBSCRIBER_GONE; state++)
		if (status->people[state] > 0)
			return true;
	return false;
}

/* @return array of struct health_finding *: those of HEALTH_ALERT; NULL on an error */
static GPtrArray *
find_problems(const struct alerts *alerts, int64_t now, GError **error)
{
	struct status_daemon daemon = STATUS_DAEMON_NONE;
	const struct health_options options = {
	    .settings = alerts->settings, .daemon = &daemon, .now = now};
	pb_local(status) status = {0};
	GPtrArray *problems;

	daemon.is_running = true;
	if (alerts->relay)
		daemon.relay = *alerts->relay;
	if (!status_load(alerts->store, alerts->settings, now, &status, error))
		return NULL;
	problems = health_find_problems(&options, &status);
	for (unsigned i = problems->len; i-- > 0;) {
		const struct health_check *check =
		    ((const struct health_finding *)problems->pdata[i])->check;

		if (check->severity != HEALTH_ALERT ||
		    (check->needs_users && !has_users(&status)))
			g_ptr_array_remove_index(problems, i);
	}
	return problems;
}

/* Whether a problem has lasted as long as it must to be reported. */
static bool
has_lasted(const struct health_finding *problem, int64_t now)
{
	return problem->since < 0 ||
	       now - problem->since >= problem->check->alert_after_s;
}

static bool
has_alert(const GPtrArray *problems, int64_t now)
{
	for (unsigned i = 0; i < problems->len; i++)
		if (has_lasted(problems->pdata[i], now))
			return true;
	return false;
}

static bool
fill_report(struct report *report, const GPtrArray *problems, GError **error)
{
	for (unsigned i = 0; i < problems->len; i++)
		if (has_lasted(problems->pdata[i], report->now) &&
		    !add_problem(report, problems->pdata[i], error))
			return false;
	return add_ended(report, problems, error);
}

bool
alerts_run(const struct alerts *alerts, int64_t now, unsigned *mailed, GError **error)
{
	const struct settings *settings = alerts->settings;
	bool has_mail = settings->mail_alerts && *settings->mail_owner;
	pb_local(report) mail, posted;
	g_autoptr(GPtrArray) problems = NULL;

	report_init(&mail, alerts, now, MAILED);
	report_init(&posted, alerts, now, POSTED);
	*mailed = 0;
	/* An unconfigured installation reports nothing. */
	if (settings_is_default(settings))
		return true;
	problems = find_problems(alerts, now, error);
	/* Only this thread writes the cursors, so no transaction is needed yet. */
	if (!problems || (has_mail && !fill_report(&mail, problems, error)) ||
	    (*settings->alerts_url && !fill_report(&posted, problems, error)) ||
	    (mail.cursors->len &&
	        !store_transact(alerts->store, put_mail, &mail, error)))
		return false;
	*mailed = mail.cursors->len;
	if (*settings->alerts_ping_url && now >= alerts->retries->ping.at &&
	    !has_alert(problems, now))
		ping(alerts, now);
	return now < alerts->retries->post.at || run_post(&posted, error);
}
