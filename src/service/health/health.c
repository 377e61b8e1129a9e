/*
 * health.c - the health checks: one table for status, doctor, alerts and metrics.
 */
#include "service/health/health.h"

#include "base/clock.h"
#include "service/health/checks.h"

/* Time for which a source has to fail before the operator gets a mail, s. */
#define SOURCE_ALERT_S (3 * CLOCK_HOUR_S)

/* Time for which the relay has to fail before the operator gets a report, s: with
 * ALERTS_INTERVAL_S, it comes within five minutes. */
#define RELAY_ALERT_S (3 * 60)

/* Time for which an OAuth login has to fail before the operator gets a mail, s. */
#define OAUTH_ALERT_S 60

#define CHECK(check_name, kind, function, ...)                                  \
	{                                                                       \
		.name = check_name, .severity = HEALTH_##kind, .run = function, \
		__VA_ARGS__                                                     \
	}

/* In the order of doctor; status omits those with HEALTH_DAMAGE. */
const struct health_check health_checks[] = {
    CHECK("daemon", STATUS, check_daemon,
        .action = "systemctl start paperboyd; journalctl -u paperboyd shows why it "
                  "ended"),
    CHECK("directory", DAMAGE, check_directory,
        .action = "run paperboyctl and paperboyd as that user, or chown it"),
    CHECK("files", DAMAGE, check_files, .ok = "accessible to their owner only",
        .action = "chmod 600 them, and chown them to the owner of the directory"),
    CHECK("drafts", DAMAGE, check_drafts, .ok = "none left",
        .action = "remove the files; a directory among them has a store from before "
                  "or after a restore"),
    CHECK("disk", ALERT, check_disk, .ok = "size unknown", .action = "free some space",
        .subject = "the disk is nearly full"),
    CHECK("wal", WARNING, check_wal,
        .action = "end the program that keeps reading the store (fuser paperboy.db), "
                  "or restart paperboyd"),
    CHECK("store", DAMAGE, check_store),
    CHECK("pages", DAMAGE, check_pages, .ok = "all pages are intact",
        .action = CHECKS_RESTORE_ACTION, .needs_store = true),
    CHECK("references", DAMAGE, check_references, .ok = "no dangling references",
        .action = CHECKS_RESTORE_ACTION, .needs_store = true),
    CHECK("rows", DAMAGE, check_rows, .action = CHECKS_RESTORE_ACTION,
        .needs_store = true),
    CHECK("filters", DAMAGE, check_filters,
        .action = "the filter finds nothing: remove it and add it again for each of "
                  "its subscribers, or restore a backup",
        .needs_store = true),
    CHECK("zones", DAMAGE, check_zones,
        .action = "digests of these subscribers are scheduled in UTC: install tzdata "
                  "and tzdata-legacy",
        .needs_store = true),
    CHECK("index", DAMAGE, check_index, .ok = "contains every paper",
        .action = "wait for the daily maintenance of paperboyd, which rebuilds the "
                  "index",
        .needs_store = true),
    CHECK("clock", DAMAGE, check_clock, .ok = "no timestamp is in the future",
        .action = "set the clock, and keep it synchronised (timedatectl)",
        .needs_store = true),
    CHECK("key", DAMAGE, check_key, .ok = "the key of this store"),

    CHECK("configuration", WARNING, check_configuration, .ok = "no errors",
        .action = "correct it (paperboyd --check lists all errors), then paperboyctl "
                  "reload"),
    CHECK("addresses", WARNING, check_addresses,
        .ok = "mail.from and mail.owner are set",
        .action = "set your own addresses in paperboy.conf, and your relay in "
                  "smtp.host"),
    CHECK("source", ALERT, check_sources, .ok = "all enabled sources answer",
        .action = "paperboyctl source fetch polls it now",
        .alert_after_s = SOURCE_ALERT_S, .needs_users = true, .needs_store = true),
    CHECK("generation", ALERT, check_generation,
        .ok = "the database is not older than the mail that was sent",
        .subject = "the database is older than the mail that was sent",
        .needs_store = true),
    CHECK("restored", WARNING, check_restored, .ok = "no mail is held after a restore",
        .action = "paperboyctl queue list --state HELD, then queue release or queue "
                  "drop",
        .needs_store = true),
    CHECK("crash", ALERT, check_crashed, .ok = "no message is held after crashes",
        .action = "see paperboyctl queue list --state HELD and the system log; queue "
                  "release tries once more, queue drop cancels",
        .subject = "a message is held after crashes", .needs_store = true),
    CHECK("held", WARNING, check_held, .ok = "no message is held by an operator",
        .action = "paperboyctl queue release all sends them, queue drop cancels them",
        .needs_store = true),
    CHECK("delivery-paused", ALERT, check_delivery_pause,
        .ok = "digests are not paused",
        .action = "paperboyctl delivery resume builds and sends them",
        .subject = "digests are paused", .alert_after_s = CLOCK_DAY_S,
        .needs_store = true),
    CHECK("relay", ALERT, check_relay, .ok = "accepts mail",
        .subject = "the relay does not accept mail", .alert_after_s = RELAY_ALERT_S,
        .needs_users = true),
    CHECK("oauth", ALERT, check_oauth, .ok = "no login by OAuth is configured",
        .alert_after_s = OAUTH_ALERT_S,
        .subject = "paperboy has to log in to the mailbox again"),
    CHECK("relay-denied", WARNING, check_relay_denied, .ok = "relays for this host",
        .action = "permit this host on the relay (mynetworks in Postfix), or set "
                  "smtp.user and smtp.password_file",
        .needs_store = true),
    CHECK("domain-paused", ALERT, check_paused_domains,
        .ok = "no domain refuses our mail", .subject = "a domain refuses our mail",
        .needs_users = true, .needs_store = true),
    CHECK("provider-outage", ALERT, check_outages,
        .ok = "no provider returns mail to many subscribers",
        .action = "paperboyctl bounce list shows the replies; nobody there is probed "
                  "or suspended while this lasts",
        .subject = "a provider returns mail to many subscribers", .needs_users = true,
        .needs_store = true),
    CHECK("deferred", WARNING, check_deferred, .ok = "no message is deferred for hours",
        .needs_store = true),
    CHECK("waiting", WARNING, check_waiting, .ok = "no message has waited for hours",
        .needs_store = true),
    CHECK("failed", WARNING, check_failed, .ok = "no message failed since yesterday",
        .action = "paperboyctl queue list --state FAILED shows the replies; correct "
                  "the cause; subscribers whose address no longer exists are "
                  "suspended after a probe message",
        .needs_store = true),
    CHECK("inbox-quarantined", ALERT, check_quarantine,
        .ok = "no received message is quarantined",
        .action = "paperboyctl inbox list shows the reasons; inbox retry processes "
                  "them again, inbox drop deletes them",
        .subject = "received messages are quarantined", .needs_store = true),
    CHECK("inbox-waiting", WARNING, check_inbox,
        .ok = "no received message has waited for hours", .needs_store = true),
    CHECK("receivers", WARNING, check_receivers, .ok = "no receiver failed",
        .action = "paperboyctl check tests each receiver; correct the receive group "
                  "of paperboy.conf, then paperboyctl reload"),
    CHECK("skipped", WARNING, check_skipped, .ok = "no message was left in a mailbox",
        .action = "move or delete it there", .needs_store = true),
    CHECK("confirmations", ALERT, check_confirmations,
        .ok = "no request to subscribe was dropped",
        .subject = "requests to subscribe are dropped", .needs_store = true),
    CHECK("commands", ALERT, check_commands, .ok = "received mail is processed",
        .subject = "received mail is not processed"),
    CHECK("one-click", ALERT, check_one_click, .ok = "no page is configured (web.url)",
        .subject = "one-click unsubscribing does not work", .needs_users = true),
    CHECK("backup", ALERT, check_backup, .ok = "the last backup is not old",
        .action = "see why the timer or the script that runs paperboyctl backup "
                  "fails",
        .subject = "the last backup is old", .needs_store = true),
    CHECK("standby", ALERT, check_standby, .ok = "no standby is missing",
        .subject = "a standby of the database is missing", .needs_store = true),
    CHECK("clock-jump", ALERT, check_clock_jump, .ok = "the clock has not jumped",
        .action = "check the clock (timedatectl)", .subject = "the clock jumped",
        .needs_store = true),
    {0},
};

void
health_finding_free(struct health_finding *finding)
{
	if (!finding)
		return;
	g_free(finding->name);
	g_free(finding->about);
	g_free(finding->text);
	g_free(finding->action);
	g_free(finding);
}

char *
health_finding_format(const struct health_finding *problem)
{
	return g_strdup_printf("%s: %s", problem->text, problem->action);
}

static void
run(struct health *health, const struct health_check *check)
{
	unsigned before = health->findings->len;

	if (check->needs_store && health->is_store_damaged)
		return;
	health->check = check;
	check->run(health);
	if (health->findings->len == before && check->ok)
		health_add_ok(health, "%s", check->ok);
}

static void
init(struct health *health, const struct health_options *options)
{
	*health = (struct health){
	    .options = options,
	    .findings =
	        g_ptr_array_new_with_free_func((GDestroyNotify)health_finding_free),
	};
}

GPtrArray *
health_find_problems(const struct health_options *options, const struct status *status)
{
	struct health health;

	init(&health, options);
	health.status = status;
	for (const struct health_check *check = health_checks; check->name; check++)
		if (check->severity != HEALTH_DAMAGE)
			run(&health, check);
	for (unsigned i = health.findings->len; i-- > 0;) {
		const struct health_finding *finding = health.findings->pdata[i];

		if (!finding->action)
			g_ptr_array_remove_index(health.findings, i);
	}
	return health.findings;
}

/* Load the counts once the checks of the store have passed. */
static void
load_status(struct health *health, struct status *status)
{
	const struct health_options *options = health->options;
	g_autoptr(GError) problem = NULL;

	if (health->is_store_damaged)
		return;
	if (status_load(
	        health->store, options->settings, options->now, status, &problem)) {
		health->status = status;
		return;
	}
	health->is_store_damaged = true;
	health_add(health, CHECKS_RESTORE_ACTION, "%s", problem->message);
}

GPtrArray *
health_examine(const struct health_options *options)
{
	pb_local(status) status = {0};
	struct health health;
	bool is_loaded = false;

	init(&health, options);
	for (const struct health_check *check = health_checks; check->name; check++) {
		/* After the damage checks of the table. */
		if (!is_loaded && check->run == check_configuration) {
			load_status(&health, &status);
			is_loaded = true;
		}
		if (check->severity != HEALTH_STATUS)
			run(&health, check);
	}
	store_free(health.store);
	return health.findings;
}
