/*
 * checks_service.c - checks of sources, queue, relay, inbox and clock.
 */
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "service/bounce/bounce.h"
#include "service/collect/source_status.h"
#include "service/health/checks.h"
#include "service/health/self_test.h"
#include "service/inbound/parser_process.h"
#include "service/setup/factory.h"
#include "service/state/one_click.h"

/* Age at which a message or inbox row needs an operator. */
#define LONG_WAIT_S (4 * CLOCK_HOUR_S)
#define DEFERRED_S  (2 * CLOCK_HOUR_S)

/* A stale database is reported for at least this long, even if nothing is held. */
#define STALE_REPORT_S (3 * CLOCK_DAY_S)

/* Maximum length of a quoted reply, bytes. */
#define REPLY_BYTES 160

static const char *
plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

void
check_daemon(struct health *health)
{
	if (health->options->daemon->is_running)
		return;
	if (status_count_live(health->status) > 0)
		health_add(health, NULL, "paperboyd is not running on this machine");
	else
		health_add(health, NULL,
		    "paperboyd is not running, so nothing is collected, sent or "
		    "received")
		    ->is_failure = true;
}

/* ---- configuration ---- */

void
check_configuration(struct health *health)
{
	const GPtrArray *errors = health->options->config_errors;

	if (!errors || !errors->len)
		return;
	health_add(health,
	    health->options->daemon->is_running
	        ? NULL
	        : "correct it (paperboyd --check lists all errors), then start "
	          "paperboyd",
	    "the configuration on disk has %u %s (%s)%s", errors->len,
	    plural(errors->len, "error", "errors"), (char *)errors->pdata[0],
	    health->options->daemon->is_running
	        ? "; paperboyd uses the one that it loaded before"
	        : "");
}

/* With errors, settings are defaults in part. */
static bool
is_config_valid(const struct health *health)
{
	return !health->options->config_errors || !health->options->config_errors->len;
}

void
check_addresses(struct health *health)
{
	if (is_config_valid(health) && settings_is_default(health->options->settings))
		health_add(health, NULL,
		    "mail.from or mail.owner is still the shipped default, so no mail "
		    "is sent or received")
		    ->is_failure = true;
}

/* ---- sources ---- */

static void
add_source(struct health *health, const struct source_status_source *source,
    int64_t since, const char *problem, const char *action)
{
	struct health_finding *finding =
	    health_add(health, action, "source %s %s", source->name, problem);

	finding->about = g_strdup(source->name);
	finding->since = since;
}

static void
check_source(struct health *health, const struct source_status_source *source)
{
	bool is_running = health->options->daemon->is_running;
	g_autofree char *missing = NULL;

	if (source->fetched_at < 0) {
		add_source(health, source, health->options->now, "was never polled",
		    is_running ? NULL : "start paperboyd, or paperboyctl source fetch");
	} else if (source->error) {
		add_source(health, source, source->good_at, "fails",
		    "paperboyctl source list shows the error; check the network and "
		    "the URL");
	} else if (source->is_late) {
		add_source(health, source, source->good_at, "is late",
		    is_running ? NULL : "start paperboyd");
	} else if (*source->missing_day) {
		missing = g_strdup_printf(
		    "is late: it answers, but its list of %s is missing",
		    source->missing_day);
		add_source(health, source, source->missing_since, missing, NULL);
	}
}

void
check_sources(struct health *health)
{
	const GPtrArray *sources = health->status->sources;
	unsigned enabled = 0;

	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (!source->is_on)
			continue;
		enabled++;
		check_source(health, source);
	}
	if (!enabled && is_config_valid(health))
		health_add(
		    health, "enable one in paperboy.conf(5)", "no source is enabled")
		    ->since = health->options->now;
}

/* ---- held mail ---- */

/* Reported while mail is held, and for some days after: more than mail may be lost. */
static bool
is_stale_reported(const struct status *status, int64_t now)
{
	const struct backup_restored_from *restored = &status->restore;

	return restored->restored_at >= 0 && restored->made_at < 0 &&
	       (status->held_by_restore || restored->people ||
	           now - restored->restored_at < STALE_REPORT_S);
}

void
check_generation(struct health *health)
{
	const struct status *status = health->status;

	if (status->is_superseded)
		health_add(health,
		    "stop paperboyd here; if this machine is to send, stop it on the "
		    "other one, then paperboyctl queue release all: see STALE DATABASE "
		    "in paperboyd(8)",
		    "another machine has a newer copy of the database: nothing is sent "
		    "here");
	if (status->is_stale)
		health_add(health,
		    "start paperboyd, which holds mail that may have been sent; then "
		    "see STALE DATABASE in paperboyd(8)",
		    "the database is older than the mail that was sent: an "
		    "older copy was put back, or its log was lost");
	else if (is_stale_reported(status, health->options->now))
		health_add(health,
		    "paperboyctl queue list --state HELD, then queue release or queue "
		    "drop; see STALE DATABASE in paperboyd(8)",
		    "the database was older than the mail that had been sent, "
		    "and mail that may have been sent is held");
}

void
check_restored(struct health *health)
{
	const struct status *status = health->status;

	if (!status->is_stale && !is_stale_reported(status, health->options->now) &&
	    (status->held_by_restore || status->restore.people))
		health_add(health, NULL,
		    "a backup was restored, and mail that may have been sent "
		    "since is held");
}

void
check_crashed(struct health *health)
{
	int64_t count = health->status->held_by_crash;

	if (count)
		health_add(health, NULL,
		    "paperboyd was killed each time while it sent "
		    "%" G_GINT64_FORMAT " %s",
		    count, plural(count, "message, now held", "messages, now held"));
}

void
check_held(struct health *health)
{
	const struct status *status = health->status;
	int64_t count = status->held - status->held_by_restore - status->held_by_crash;

	if (count > 0)
		health_add(health, NULL, "%" G_GINT64_FORMAT " %s held", count,
		    plural(count, "message is", "messages are"));
}

/* ---- delivery ---- */

void
check_delivery_pause(struct health *health)
{
	int64_t since = health->status->paused_since;
	g_autofree char *at = day_format_minute(since);

	if (since >= 0)
		health_add(health, NULL,
		    "digests are paused since %s: none is built or sent", at)
		    ->since = since;
}

void
check_relay(struct health *health)
{
	const struct mailer_relay *relay = &health->options->daemon->relay;
	g_autofree char *day = day_format_minute(relay->since);
	struct health_finding *finding;

	if (!relay->is_away)
		return;
	finding = health_add(health,
	    relay->is_auth_failed
	        ? (factory_uses_oauth(health->options->settings, OAUTH_USE_SMTP)
	                  ? "paperboyctl status shows its reply; run paperboyctl login "
	                    "smtp, or correct smtp.user, then paperboyctl reload"
	                  : "correct smtp.user and smtp.password_file, then "
	                    "paperboyctl reload")
	        : "paperboyctl status shows its reply; check the relay, then "
	          "paperboyctl queue retry all",
	    "the relay %s since %s",
	    relay->is_auth_failed ? "rejects our login (smtp.user)"
	                          : "does not accept mail",
	    day);
	finding->since = relay->since;
	finding->is_failure = true;
}

static void
examine_login(struct health *health, enum oauth_use use)
{
	const struct settings *settings = health->options->settings;
	pb_local(oauth_login) login = {0};
	g_autoptr(GError) problem = NULL;
	g_autofree char *action = NULL, *day = NULL;
	const char *name = oauth_use_get_name(use);
	struct health_finding *finding;
	bool is_restored;

	if (!factory_uses_oauth(settings, use))
		return;
	if (!oauth_login_find(settings->state_dir, use, &login, &problem)) {
		health_add(health, CHECKS_FILE_ACTION, "%s", problem->message);
		return;
	}
	is_restored =
	    health->status && health->status->restore.restored_at >= login.logged_in_at;
	action = g_strdup_printf("run paperboyctl login %s%s",
	    oauth_use_get_name(login.token_url ? login.use : use),
	    !login.token_url ? ": each machine needs its own"
	    : is_restored    ? ": a login from a backup or another machine is replaced "
	                       "when that uses it"
	                     : "");
	day =
	    day_format_minute(login.rejection ? login.rejected_at : login.logged_in_at);
	if (login.token_url && !login.rejection) {
		health_add_ok(health, "logged in for %s since %s", name, day);
		return;
	}
	finding = login.token_url ? health_add(health, action,
	                                "the OAuth login for %s ended at %s, %s", name,
	                                day, login.rejection)
	                          : health_add(health, action,
	                                "there is no OAuth login for %s yet", name);
	/* During the set-up; no alert. */
	finding->since = login.token_url ? login.rejected_at : health->options->now;
	finding->is_failure = true;
}

void
check_oauth(struct health *health)
{
	examine_login(health, OAUTH_USE_IMAP);
	examine_login(health, OAUTH_USE_SMTP);
}

/*
 * Whether a reply refuses relaying: "554 5.7.1 <a@b>: Relay access denied" (Postfix),
 * "550 relay not permitted" (Exim), "550 5.7.1 Relaying denied" (Sendmail).
 */
static bool
is_relay_denied(const struct outbox_message *message)
{
	g_autofree char *reply = NULL;

	if (!message || !message->reply || message->code < 500)
		return false;
	reply = g_ascii_strdown(message->reply, -1);
	return strstr(reply, "relay access denied") || strstr(reply, "relaying") ||
	       strstr(reply, "relay not permitted") || strstr(reply, "unable to relay");
}

void
check_relay_denied(struct health *health)
{
	const struct status *status = health->status;
	const struct outbox_message *message =
	    is_relay_denied(status->oldest_deferred) ? status->oldest_deferred
	    : is_relay_denied(status->last_failed)   ? status->last_failed
	                                             : NULL;

	if (message)
		health_add(health, NULL,
		    "the relay does not relay for this host (message "
		    "%" G_GINT64_FORMAT ": %.*s)",
		    message->id, REPLY_BYTES, message->reply)
		    ->is_failure = true;
}

/* Advice by the rule of a refusal (etc/bounces/rules). */
static const char *
get_refusal_advice(const char *rule)
{
	static const struct {
		const char *rule, *advice;
	} rows[] = {
	    {"authentication", "check SPF, DKIM and DMARC of the domain in mail.from"},
	    {"reputation", "look up the address of the relay and the domain in "
	                   "mail.from on blocklists, and send less at a time "
	                   "(delivery.domain_per_hour)"},
	    {"blocked",
	        "look up the address of the relay on blocklists, and follow the "
	        "link or the contact in the reply"},
	    {"rate", "send less at a time (delivery.domain_per_hour)"},
	    {"reverse-dns", "give the address of the relay a PTR record with a name "
	                    "that resolves to it, and let it use that name in EHLO"},
	    {"sender-address", "make sure that mail.from and mail.envelope_from accept "
	                       "mail, and that their domains have MX records"},
	    {"relaying", "check the routing of the relay for the domain, and its "
	                 "credentials"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(rows[i].rule, rule) == 0)
			return rows[i].advice;
	return "check SPF, DKIM, DMARC and blocklists, then ask the postmaster of the "
	       "domain";
}

void
check_paused_domains(struct health *health)
{
	const GPtrArray *pauses = health->status->pauses;

	for (unsigned i = 0; i < pauses->len; i++) {
		const struct domain_pause *pause = pauses->pdata[i];
		g_autofree char *action = g_strconcat(get_refusal_advice(pause->rule),
		    "; once it is fixed, paperboyctl queue retry all", NULL);

		health_add(health, action,
		    "%s refuses our mail, which waits and is tried again every few "
		    "hours (%.*s)",
		    pause->domain, REPLY_BYTES, pause->reply)
		    ->about = g_strdup(pause->domain);
	}
}

void
check_outages(struct health *health)
{
	const GPtrArray *domains = health->status->bounce_domains;

	for (unsigned i = 0; i < domains->len; i++) {
		const struct bounce_domain *counts = domains->pdata[i];

		if (bounce_is_outage(counts))
			health_add(health, NULL,
			    "mail to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
			    " subscribers at %s was returned within a week",
			    counts->bounced, counts->subscribers, counts->domain)
			    ->about = g_strdup(counts->domain);
	}
}

void
check_deferred(struct health *health)
{
	const struct outbox_message *message = health->status->oldest_deferred;
	int64_t age_s = message ? health->options->now - message->queued_at : 0;
	g_autofree char *action = NULL;

	if (age_s <= DEFERRED_S || is_relay_denied(message))
		return;
	action = g_strdup_printf("%s, then paperboyctl queue retry %" G_GINT64_FORMAT,
	    message->code / 100 == 4
	        ? "exempt this host from greylisting and rate limits of the relay"
	        : "remove the cause",
	    message->id);
	health_add(health, action,
	    "message %" G_GINT64_FORMAT " has been deferred for "
	    "%" G_GINT64_FORMAT " hours (%.*s)",
	    message->id, age_s / CLOCK_HOUR_S, REPLY_BYTES,
	    message->reply ? message->reply : "no reply");
}

void
check_waiting(struct health *health)
{
	const struct outbox_message *message = health->status->oldest;
	const struct outbox_message *deferred = health->status->oldest_deferred;
	int64_t age_s = message ? health->options->now - message->queued_at : 0;

	if (age_s <= LONG_WAIT_S || (deferred && deferred->id == message->id))
		return;
	health_add(health,
	    health->options->daemon->is_running ? "paperboyctl queue retry all"
	                                        : "start paperboyd",
	    "message %" G_GINT64_FORMAT " has waited for "
	    "%" G_GINT64_FORMAT " hours",
	    message->id, age_s / CLOCK_HOUR_S);
}

void
check_failed(struct health *health)
{
	int64_t count = health->status->failed_lately;

	if (count)
		health_add(health, NULL, "%" G_GINT64_FORMAT " %s since yesterday",
		    count, plural(count, "message failed", "messages failed"));
}

/* ---- received mail ---- */

void
check_quarantine(struct health *health)
{
	int64_t count = health->status->quarantined;

	if (count)
		health_add(health, NULL, "%" G_GINT64_FORMAT " received %s quarantined",
		    count, plural(count, "message is", "messages are"));
}

#define PARSER_ACTION "install paperboy-parser there, or set receive.parser"

static bool
can_run_parser(const struct health *health, GError **error)
{
	const char *program = health->options->settings->parser_program;

	return parser_process_check(*program ? program : NULL, error);
}

void
check_commands(struct health *health)
{
	const struct settings *settings = health->options->settings;
	const struct status_daemon *daemon = health->options->daemon;
	bool is_received = *settings->lmtp_socket || *settings->lmtp_listen ||
	                   *settings->receive_maildir || *settings->imap_host;
	g_autoptr(GError) problem = NULL;

	if (!is_config_valid(health))
		return;
	if (!is_received)
		health_add_ok(health, "no receiver is configured");
	else if (!can_run_parser(health, &problem))
		health_add(health, PARSER_ACTION, "received mail is not processed: %s",
		    problem->message)
		    ->is_failure = true;
	else if (daemon->is_inbox_failing)
		health_add(health,
		    "correct the error that paperboyd logs as inbox-error",
		    "received mail is not processed")
		    ->is_failure = true;
	else if (daemon->receivers && strchr(daemon->receivers, ':') &&
	         !*settings->commands_address)
		health_add(health, "set commands.address",
		    "mail is received but not processed");
}

void
check_inbox(struct health *health)
{
	const struct status *status = health->status;
	int64_t age_s = health->options->now - status->inbox_oldest_at;

	if (!status->messages || age_s <= CLOCK_HOUR_S)
		return;
	health_add(health,
	    !can_run_parser(health, NULL) ? PARSER_ACTION
	    : health->options->daemon->is_running
	        ? "correct the error that paperboyd logs as inbox-error or "
	          "inbox-failed"
	        : "start paperboyd",
	    "received mail has waited for %" G_GINT64_FORMAT " %s",
	    age_s / CLOCK_HOUR_S, plural(age_s / CLOCK_HOUR_S, "hour", "hours"));
}

void
check_receivers(struct health *health)
{
	const char *receivers = health->options->daemon->receivers;

	if (receivers && strstr(receivers, ":failed"))
		health_add(health, NULL, "mail cannot be received (%s)", receivers)
		    ->is_failure = true;
}

void
check_skipped(struct health *health)
{
	const GPtrArray *reasons = health->status->skip_reasons;
	int64_t more = health->status->skipped - reasons->len;

	for (unsigned i = 0; i < reasons->len; i++)
		health_add(health, NULL, "%s", (char *)reasons->pdata[i]);
	if (more > 0)
		health_add(health,
		    "move or delete those that paperboyd logs as inbox-skipped",
		    "%" G_GINT64_FORMAT " more %s left in a mailbox", more,
		    plural(more, "message was", "messages were"));
}

void
check_confirmations(struct health *health)
{
	const struct rate_log_dropped *dropped = &health->status->dropped;

	if (dropped->last_at <= health->options->now - CLOCK_DAY_S)
		return;
	health_add(health,
	    *health->options->settings->commands_authserv_id
	        ? "raise the limit, unless they are forged: mail whose sender your "
	          "mail server verifies has a limit of its own"
	        : "raise the limit; or, when they are forged, set "
	          "commands.authserv_id, so that mail whose sender your mail server "
	          "verifies has a limit of its own",
	    "%" G_GINT64_FORMAT " %s dropped, since limits.confirmations_per_hour or "
	    "limits.confirmations_per_domain_hour was reached",
	    dropped->lately,
	    plural(dropped->lately, "request to subscribe was",
	        "requests to subscribe were"));
}

/* ---- the page ---- */

/* Add the result of the last test, which a copy of this process may have made. */
void
check_backup(struct health *health)
{
	int64_t days = health->options->settings->alerts_backup_days;
	int64_t made_at = health->status->restore.last_made_at;
	g_autofree char *at = day_format_minute(made_at);

	if (days && made_at >= 0 && health->options->now - made_at > days * CLOCK_DAY_S)
		health_add(health, NULL, "the last backup was made at %s", at)->since =
		    made_at + days * CLOCK_DAY_S;
}

/* A standby that lacks more than this is reported. */
#define STANDBY_BEHIND_BYTES (INT64_C(1) << 30)

void
check_standby(struct health *health)
{
	const struct instances_standbys *standbys = &health->status->standbys;
	g_autofree char *behind = g_format_size((guint64)standbys->behind);

	if (standbys->gone)
		health_add(health,
		    "start it; of one that does not return drop the replication slot, "
		    "which fills the disk",
		    "%" G_GINT64_FORMAT " %s not connected to the database server and "
		    "%s behind",
		    standbys->gone,
		    plural(standbys->gone, "standby is", "standbys are"), behind);
	else if (standbys->behind > STANDBY_BEHIND_BYTES)
		health_add(health, "check the network and the disk of the standby",
		    "a standby of the database server is %s behind", behind);
}

void
check_one_click(struct health *health)
{
	const struct settings *settings = health->options->settings;
	pb_local(one_click) state = {0};
	enum self_test_fault fault;
	g_autofree char *text = NULL;

	if (!*settings->web_url)
		return;
	if (!self_test_has_page(settings)) {
		health_add_ok(health, "not offered, since web.url is not https");
		return;
	}
	one_click_load(settings, &state);
	fault = self_test_find_fault(state.fault);
	text = self_test_format(fault, state.detail);
	if (state.checked_at < 0)
		health_add_ok(health, "not tested yet (paperboyctl check)");
	else if (!fault)
		health_add_ok(health, "the page unsubscribes with one click");
	else
		health_add(health, self_test_rows[fault].action, "%s (digests %s)",
		    text,
		    state.is_offered
		        ? "still offer one-click unsubscribing"
		        : "do not offer one-click unsubscribing until paperboyctl "
		          "check passes")
		    ->since = state.since;
}

/* ---- clock ---- */

void
check_clock_jump(struct health *health)
{
	const struct clock_jump *jump = &health->status->jump;
	int64_t hours = ABS(jump->by_s) / CLOCK_HOUR_S;
	int64_t left_s = MAX(CLOCK_WATCH_TRUST_S - jump->ran_s, 0);
	struct health_finding *finding;

	if (!jump->by_s)
		return;
	finding = health_add(health, NULL,
	    "the clock jumped %s by %" G_GINT64_FORMAT
	    " %s, and no source has confirmed it; nothing is deleted by "
	    "age%s for %" G_GINT64_FORMAT " more hours of running time",
	    jump->by_s < 0 ? "back" : "forward", hours < 48 ? hours : hours / 24,
	    hours < 48 ? "hours" : "days",
	    jump->is_held ? ", and no digest is built," : "",
	    (left_s + CLOCK_HOUR_S - 1) / CLOCK_HOUR_S);
	finding->since = jump->at;
	finding->is_failure = jump->is_held;
}
