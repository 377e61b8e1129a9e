/*
 * ctl_check.c - paperboyctl check and doctor.
 *
 * check fetches each source once, connects to the relay and to each receiver, then
 * sends a mail to itself, which the running daemon receives, and requests to the page
 * (service/health/self_test.h).  Each step blocks for some seconds.  Only the row of
 * that mail and the result of the page are stored.  DNS is not queried for records of
 * mail.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/error.h"
#include "base/random.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "net/http.h"
#include "receive/receiver.h"
#include "service/health/health.h"
#include "service/health/self_test.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "sources/source.h"

/* ---- findings, and paperboyctl doctor ---- */

/* Findings of mail_check.h have no check. */
static bool
is_damage(const struct health_finding *finding)
{
	return finding->action &&
	       (!finding->check || finding->check->severity == HEALTH_DAMAGE);
}

static json_t *
json_of_finding(const struct health_finding *finding)
{
	return json_pack("{s:s, s:b, s:b, s:s, s:o}", "check", finding->name, "ok",
	    finding->action == NULL, "damage", (int)is_damage(finding), "found",
	    finding->text, "action", print_json_text(finding->action));
}

static void
print_finding(const struct health_finding *finding)
{
	g_autofree char *text = print_dup_line(finding->text);

	print_verdict(!finding->action     ? "ok"
	              : is_damage(finding) ? "WRONG"
	                                   : "TO DO",
	    6, !finding->action);
	printf(" %-24s %s\n", finding->name, text);
	if (finding->action)
		printf("       %-24s -> %s\n", "", finding->action);
}

/*
 * Print findings with their actions, and set the exit status.
 *
 * @param is_all  print those without a problem, too, instead of their number
 */
static void
print_findings(struct ctl *ctl, const GPtrArray *findings, bool is_all)
{
	json_t *list = json_array();
	unsigned good = 0;

	for (unsigned i = 0; i < findings->len; i++) {
		const struct health_finding *finding = findings->pdata[i];

		if (is_damage(finding))
			ctl->status = EX_DATAERR;
		else if (finding->action && !ctl->status)
			ctl->status = CTL_EXIT_WARNING;
		if (ctl->is_json)
			json_array_append_new(list, json_of_finding(finding));
		else if (is_all || finding->action)
			print_finding(finding);
		else
			good++;
	}
	if (good)
		printf("%u ok\n", good);
	if (ctl->is_json)
		print_json(list);
	else
		json_decref(list);
}

bool
ctl_run_doctor(struct ctl *ctl, GError **error)
{
	pb_local(status_daemon) daemon = {0};
	const struct health_options options = {
	    .settings = ctl->settings,
	    .daemon = &daemon,
	    .now = clock_get_now(&ctl->clock),
	};
	g_autoptr(GPtrArray) findings = NULL;

	(void)error;
	ctl_load_daemon(ctl, &daemon);
	print_progress("checking the store ... ");
	findings = health_examine(&options);
	print_progress_end();
	print_findings(ctl, findings, ctl->options.is_all);
	return true;
}

/* ---- check ---- */

/* Default and maximum of --wait, the timeout for the mail, s. */
#define WAIT_S     20
#define WAIT_MAX_S 600

struct work {
	const struct ctl *ctl;
	GPtrArray *findings;
	bool is_daemon_running, is_relay_ok, is_receiver_ok;
};

/* @param text  taken  @param action  NULL: no problem */
static void
add(struct work *work, const char *name, char *text, const char *action)
{
	struct health_finding *finding = g_new0(struct health_finding, 1);

	finding->name = g_strdup(name);
	finding->since = -1;
	finding->text = text;
	finding->action = g_strdup(action);
	g_ptr_array_add(work->findings, finding);
}

static void
check_configuration(struct work *work)
{
	const struct settings *settings = work->ctl->settings;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);

	factory_check(settings, NULL, problems);
	for (unsigned i = 0; i < problems->len; i++)
		add(work, "configuration", g_strdup(problems->pdata[i]),
		    "change that line: paperboy.conf(5), then paperboyd --check");
	if (settings_is_default(settings))
		add(work, "configuration",
		    g_strdup("mail.from or mail.owner is still the shipped default"),
		    "set your own addresses, and your relay in smtp.host");
	else if (!problems->len)
		add(work, "configuration",
		    g_strdup(settings->path ? settings->path : "defaults"), NULL);
}

static void
check_store(struct work *work)
{
	g_autoptr(GError) error = NULL;
	int64_t count;

	if (store_load_count(work->ctl->store, "paper", &count, &error))
		add(work, "store",
		    g_strdup_printf("%" G_GINT64_FORMAT " papers", count), NULL);
	else
		add(work, "store", g_strdup(error->message), "run paperboyctl doctor");
	if (!work->is_daemon_running)
		add(work, "daemon", g_strdup("paperboyd is not running"),
		    "systemctl start paperboyd");
}

static void
check_source(struct work *work, struct http *http, struct source *source)
{
	g_autofree char *name = g_strconcat("source ", source->name, NULL);
	g_autoptr(GDateTime) now =
	    g_date_time_new_from_unix_utc(clock_get_now(&work->ctl->clock));
	g_autofree char *day = g_date_time_format(now, "%Y-%m-%d");
	pb_local(source_answer) answer = {0};
	g_autoptr(GError) error = NULL;

	source_answer_init(&answer);
	if (source_fetch_current(source, http, day, &answer, &error))
		add(work, name,
		    g_strdup_printf("answers: %zu papers for %s", answer.count, day),
		    NULL);
	else
		add(work, name, g_strdup(error->message),
		    "check the network and the URL; see paperboyctl source list");
}

static void
check_sources(struct work *work)
{
	const struct settings *settings = work->ctl->settings;
	g_autoptr(GPtrArray) sources = factory_new_sources(settings);
	pb_auto(http) http = factory_new_http(settings, NULL);

	for (unsigned i = 0; i < sources->len; i++)
		check_source(work, http, sources->pdata[i]);
	if (!sources->len)
		add(work, "sources", g_strdup("none is enabled"),
		    "enable one in paperboy.conf(5)");
}

/* @param advice  on the mail server, which was not reached without an access token */
static const char *
choose_advice(const struct work *work, enum oauth_use use, const char *advice)
{
	const struct settings *settings = work->ctl->settings;
	pb_auto(oauth_source) source = NULL;
	const struct stream_tokens *tokens;
	char *token;

	if (!factory_uses_oauth(settings, use))
		return advice;
	source = factory_new_oauth(settings, use, NULL, &work->ctl->clock, NULL);
	tokens = source ? oauth_source_get_tokens(source) : NULL;
	token = tokens ? tokens->get(tokens->data, NULL, NULL, NULL) : NULL;
	if (!token)
		return "check that the OAuth server runs, oauth.token_url, client_id "
		       "and client_secret_file in paperboy.conf(5), and the login "
		       "(paperboyctl login)";
	oauth_secret_free(token);
	return advice;
}

static void
check_relay(struct work *work, const struct factory_transport *options)
{
	g_autoptr(GError) error = NULL;
	char *reported;

	work->is_relay_ok = factory_check_transport(options, &reported, &error);
	if (work->is_relay_ok)
		add(work, "relay", reported, NULL);
	else
		add(work, "relay", g_strdup(error->message),
		    choose_advice(work, OAUTH_USE_SMTP,
		        "check that the relay runs and accepts this host, and "
		        "smtp.host, port, tls, ca_file, user and password_file in "
		        "paperboy.conf(5)"));
}

static void
check_receiver(struct work *work, enum factory_receiver receiver, unsigned *count)
{
	static const char *const advice[] = {
	    [FACTORY_RECEIVER_LMTP] =
	        "start paperboyd with this configuration; its log shows errors",
	    [FACTORY_RECEIVER_MAILDIR] =
	        "the Maildir must exist and be writable for the user paperboy: see "
	        "paperboyd(8), Incoming mail",
	    [FACTORY_RECEIVER_IMAP] =
	        "receive.imap_host, port, tls, user, password_file "
	        "and folder in paperboy.conf(5)",
	};
	g_autofree char *name =
	    g_strconcat("receiver ", factory_get_receiver_name(receiver), NULL);
	struct store *store = work->ctl->store;
	pb_auto(receiver) mailbox = NULL;
	g_autoptr(GError) error = NULL;
	char *reported;

	if (!factory_new_receiver(work->ctl->settings, NULL, receiver,
	        &work->ctl->clock, &store, &mailbox, &error)) {
		add(work, name, g_strdup(error->message), advice[receiver]);
		(*count)++;
		return;
	}
	if (!mailbox)
		return;
	(*count)++;
	if (!receiver_check(mailbox, &reported, &error)) {
		add(work, name, g_strdup(error->message),
		    receiver == FACTORY_RECEIVER_IMAP
		        ? choose_advice(work, OAUTH_USE_IMAP, advice[receiver])
		        : advice[receiver]);
		return;
	}
	work->is_receiver_ok = true;
	add(work, name, reported, NULL);
}

static void
check_receivers(struct work *work)
{
	unsigned count = 0;

	for (int receiver = 0; receiver < FACTORY_RECEIVERS; receiver++)
		check_receiver(work, (enum factory_receiver)receiver, &count);
	if (!count)
		add(work, "receiver", g_strdup("none: no commands by mail"), NULL);
}

/* ---- the mail to itself ---- */

static void
check_signature(struct work *work, const struct check_mail *mail)
{
	if (!*mail->signers)
		add(work, "signature", g_strdup("received without DKIM-Signature"),
		    "let the mail server sign mail from this host (opendkim, "
		    "rspamd); large providers reject or hide unsigned mail. If a "
		    "host behind the relay signs, check a message sent through it");
	else if (*mail->missing)
		add(work, "signature",
		    g_strdup_printf(
		        "signed by %s, but not: %s", mail->signers, mail->missing),
		    "add them to the signed headers (opendkim: SignHeaders; rspamd: "
		    "sign_headers): one-click unsubscribing requires it (RFC 8058)");
	else
		add(work, "signature",
		    g_strdup_printf("signed by %s, with List-Id, List-Unsubscribe and "
		                    "List-Unsubscribe-Post",
		        mail->signers),
		    NULL);
}

/* Digests ask for complaints by mail once the signature is known to cover that. */
static void
check_feedback(struct work *work, const struct check_mail *mail)
{
	bool is_signed = mail->has_feedback;

	if (!factory_save_feedback(work->ctl->settings, is_signed))
		add(work, "complaints", g_strdup("cannot write to the state directory"),
		    "run paperboyctl check as root or as the user of paperboyd");
	else
		add(work, "complaints",
		    g_strdup(is_signed
		                 ? "CFBL-Address is signed; digests have it after "
		                   "the next reload of paperboyd"
		                 : "CFBL-Address is not signed; digests do not "
		                   "have it"),
		    NULL);
}

static void
check_results(struct work *work, const struct check_mail *mail)
{
	bool is_failed =
	    strstr(mail->results, "fail") || strstr(mail->results, "error");

	add(work, "authentication",
	    g_strdup(*mail->results ? mail->results
	                            : "no Authentication-Results from the mail server"),
	    is_failed ? "check the SPF, DKIM and DMARC records of the domain of "
	                "mail.from; paperboyctl does not query them"
	              : NULL);
}

/* @param reason  it was not received at the subaddress */
static void
report_lost_mail(struct work *work, const struct self_test *test, const char *reason)
{
	const struct settings *settings = work->ctl->settings;
	pb_local(check_mail) mail = {0};
	g_autofree char *other = NULL;

	if (*settings->commands_delimiter &&
	    self_test_send_mail(test, NULL, true, &mail, &other))
		add(work, "mail to itself",
		    g_strdup_printf("received at %s, but not at its subaddresses (%s)",
		        settings->commands_address, settings->commands_delimiter),
		    "enable them at the mail server, or set commands.delimiter = \"\" "
		    "(paperboyd(8), Incoming mail)");
	else
		add(work, "mail to itself", g_strdup(reason),
		    "see the log of the mail server: the relay must accept mail to "
		    "commands.address and its subaddresses, and it must reach a "
		    "receiver "
		    "(paperboyd(8), Incoming mail); for a slow server use --wait 120");
}

/* @param link  NULL: there is no page @param result  set: of the link
 * @return false if it was not tried */
static bool
check_mail(struct work *work, const struct self_test *test, const char *link,
    struct self_test_result *result)
{
	const struct settings *settings = work->ctl->settings;
	pb_local(check_mail) mail = {0};
	g_autofree char *reason = NULL;

	if (settings_is_default(settings) || !*settings->commands_address ||
	    !work->is_relay_ok || !work->is_receiver_ok || !work->is_daemon_running) {
		add(work, "mail to itself",
		    g_strdup("not tried: needs your own addresses, commands.address, a "
		             "relay, a receiver and the daemon"),
		    NULL);
		return false;
	}
	if (!self_test_send_mail(test, link, false, &mail, &reason)) {
		report_lost_mail(work, test, reason);
		*result = (struct self_test_result){
		    SELF_TEST_FAULT_MAIL, g_steal_pointer(&reason)};
		return true;
	}
	add(work, "mail to itself",
	    g_strdup(
	        mail.has_own_id || *settings->commands_delimiter
	            ? "received"
	            : "received with another Message-ID: replies to digests need a "
	              "confirmation"),
	    NULL);
	if (link)
		self_test_check_mail(&mail, link, result);
	check_signature(work, &mail);
	check_feedback(work, &mail);
	check_results(work, &mail);
	return true;
}

/* ---- the page ---- */

static void
add_result(struct work *work, const char *name, const struct self_test_result *result,
    const char *ok)
{
	add(work, name,
	    result->fault ? self_test_format(result->fault, result->detail)
	                  : g_strdup(ok),
	    self_test_rows[result->fault].action);
}

/* @param mail  the result of the mail, to be saved with that of the page; or NULL: it
 * is not known, so nothing is saved */
static void
check_page(struct work *work, const struct self_test *test,
    const struct self_test_result *mail)
{
	pb_local(self_test_result) page = {0};
	g_autoptr(GError) error = NULL;
	bool is_offered;

	if (!work->is_daemon_running) {
		add(work, "page", g_strdup("not tried: needs the daemon"), NULL);
		return;
	}
	if (mail)
		add_result(
		    work, "unsubscribe link", mail, "came back whole, and signed");
	if (!self_test_check_page(test, &page, &error)) {
		add(work, "page", g_strdup(error->message), "run paperboyctl doctor");
		return;
	}
	add_result(work, "page", &page, "unsubscribes with one click");
	if (mail && !self_test_save(test, mail, &page, &is_offered, &error))
		add(work, "one click", g_strdup(error->message),
		    "run paperboyctl check as root or as the user of paperboyd");
	else if (mail)
		add(work, "one click",
		    g_strdup_printf("digests %soffer it in their headers",
		        is_offered ? "" : "do not "),
		    NULL);
}

/* The parts that need a running daemon. */
static void
check_round_trip(struct work *work, const struct self_test *test)
{
	bool has_page = self_test_has_page(test->settings);
	g_autofree char *link = has_page ? self_test_new_link(test) : NULL;
	pb_local(self_test_result) result = {0};
	bool is_tried =
	    test->transport && test->mail_s && check_mail(work, test, link, &result);

	if (has_page)
		check_page(work, test, is_tried ? &result : NULL);
	else if (*test->settings->web_url)
		add(work, "page",
		    g_strdup("not tested: digests offer no one click, since web.url is "
		             "not https"),
		    NULL);
}

static void
check_all(struct work *work, struct self_test *test)
{
	g_autoptr(GError) error = NULL;
	struct factory_transport *options;

	check_configuration(work);
	check_store(work);
	check_sources(work);
	options =
	    factory_new_transport_options(test->settings, NULL, test->clock, &error);
	if (options)
		check_relay(work, options);
	else
		add(work, "relay", g_strdup(error->message),
		    "the smtp group of paperboy.conf(5)");
	check_receivers(work);
	test->transport = options;
	check_round_trip(work, test);
	if (options)
		factory_free_transport(options);
}

bool
ctl_run_check(struct ctl *ctl, GError **error)
{
	int wait_s = ctl_get_number(ctl->options.wait, WAIT_S);
	struct work work = {
	    .ctl = ctl, .is_daemon_running = ctl_is_daemon_running(ctl)};
	struct self_test test = {
	    .settings = ctl->settings,
	    .store = ctl->store,
	    .clock = &ctl->clock,
	    .random = &random_system,
	};
	g_autoptr(GBytes) key = NULL;
	g_autoptr(GPtrArray) findings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)health_finding_free);

	if (wait_s < 0 || wait_s > WAIT_MAX_S)
		return pb_fail(error, PB_ERROR_INPUT,
		    "--wait: expected 0 to %d seconds", WAIT_MAX_S);
	key = startup_load_key(ctl->settings, ctl->store, error);
	if (!key)
		return false;
	test.key = key;
	test.mail_s = wait_s;
	test.response_s =
	    wait_s ? MIN(wait_s, SELF_TEST_RESPONSE_S) : SELF_TEST_RESPONSE_S;
	work.findings = findings;
	print_progress("testing sources, relay and receivers ... ");
	check_all(&work, &test);
	print_progress_end();
	/* It may have changed what digests offer. */
	if (work.is_daemon_running && *ctl->settings->web_url)
		ctl_wake_daemon(ctl);
	print_findings(ctl, findings, true);
	return true;
}
