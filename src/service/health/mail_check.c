/*
 * mail_check.c - end-to-end check of configuration, sources, relay and receivers.
 */
#include "service/health/mail_check.h"

#include <string.h>

#include "base/day.h"
#include "net/http.h"
#include "receive/receiver.h"
#include "service/health/self_mail.h"
#include "service/health/web_check.h"
#include "service/setup/factory.h"
#include "service/state/one_click.h"
#include "sources/source.h"
#include "store/paper/papers.h"

struct work {
	const struct mail_check *check;
	GPtrArray *findings;
	bool is_relay_ok, is_receiver_ok;
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
	const struct settings *settings = work->check->settings;
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

	if (store_load_count(work->check->store, "paper", &count, &error))
		add(work, "store",
		    g_strdup_printf("%" G_GINT64_FORMAT " papers", count), NULL);
	else
		add(work, "store", g_strdup(error->message), "run paperboyctl doctor");
	if (!work->check->is_daemon_running)
		add(work, "daemon", g_strdup("paperboyd is not running"),
		    "systemctl start paperboyd");
}

static void
check_source(struct work *work, struct http *http, struct source *source)
{
	g_autofree char *name = g_strconcat("source ", source->name, NULL);
	g_autoptr(GDateTime) now =
	    g_date_time_new_from_unix_utc(clock_get_now(work->check->clock));
	g_autofree char *day = g_date_time_format(now, "%Y-%m-%d");
	pb_local(source_answer) answer = {0};
	g_autoptr(GError) error = NULL;

	source_answer_init(&answer);
	if (source_fetch_day(source, http, day, NULL, &answer, &error))
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
	const struct settings *settings = work->check->settings;
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
	const struct settings *settings = work->check->settings;
	pb_auto(oauth_source) source = NULL;
	const struct stream_tokens *tokens;
	char *token;

	if (!factory_uses_oauth(settings, use))
		return advice;
	source = factory_new_oauth(settings, use, NULL, work->check->clock, NULL);
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

	work->is_relay_ok = factory_probe_transport(options, &reported, &error);
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
	struct store *store = work->check->store;
	pb_auto(receiver) mailbox = NULL;
	g_autoptr(GError) error = NULL;
	char *reported;

	if (!factory_new_receiver(work->check->settings, NULL, receiver,
	        work->check->clock, &store, &mailbox, &error)) {
		add(work, name, g_strdup(error->message), advice[receiver]);
		(*count)++;
		return;
	}
	if (!mailbox)
		return;
	(*count)++;
	if (!receiver_probe(mailbox, &reported, &error)) {
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

/* @return a new string */
static char *
join(const GPtrArray *words)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < words->len; i++)
		g_string_append_printf(
		    text, "%s%s", i ? ", " : "", (const char *)words->pdata[i]);
	return g_string_free(text, FALSE);
}

static void
check_signature(struct work *work, const struct probe_mail *mail)
{
	g_autofree char *signers = join(mail->signers);
	g_autofree char *missing = join(mail->missing);

	if (!mail->signers->len) {
		add(work, "signature", g_strdup("received without DKIM-Signature"),
		    "let the mail server sign mail from this host (opendkim, "
		    "rspamd); large providers reject or hide unsigned mail. If a "
		    "host behind the relay signs, check a message sent through it");
		return;
	}
	add(work, "signature", g_strdup_printf("signed by %s", signers), NULL);
	if (mail->missing->len)
		add(work, "signed headers", g_strdup_printf("not signed: %s", missing),
		    "add them to the signed headers (opendkim: SignHeaders; rspamd: "
		    "sign_headers): one-click unsubscribing requires it (RFC 8058)");
	else
		add(work, "signed headers",
		    g_strdup("List-Id, List-Unsubscribe and List-Unsubscribe-Post"),
		    NULL);
}

/* Digests ask for complaints by mail once the signature is known to cover that. */
static void
check_feedback(struct work *work, const struct probe_mail *mail)
{
	const struct settings *settings = work->check->settings;
	bool had_feedback = factory_has_feedback(settings);

	if (!factory_save_feedback(settings, mail->has_feedback)) {
		add(work, "complaints", g_strdup("cannot write to the state directory"),
		    "run paperboyctl check as root or as the user of paperboyd");
		return;
	}
	add(work, "complaints",
	    g_strdup_printf("CFBL-Address is %ssigned; digests %s it%s",
	        mail->has_feedback ? "" : "not ",
	        mail->has_feedback ? "have" : "do not have",
	        had_feedback == mail->has_feedback
	            ? ""
	            : " after the next reload of paperboyd"),
	    NULL);
}

static void
check_results(struct work *work, const struct probe_mail *mail)
{
	g_autofree char *results = join(mail->results);
	bool is_failed = false;

	for (unsigned i = 0; i < mail->results->len; i++)
		is_failed |= g_str_has_suffix(mail->results->pdata[i], "fail") ||
		             g_str_has_suffix(mail->results->pdata[i], "error");
	if (!mail->results->len)
		add(work, "authentication",
		    g_strdup("no Authentication-Results from the mail server"), NULL);
	else
		add(work, "authentication", g_steal_pointer(&results),
		    is_failed ? "check the SPF, DKIM and DMARC records of the "
		                "domain of mail.from; paperboyctl does not query "
		                "them"
		              : NULL);
}

/* Report a mail to a subaddress that is not received while one to the address is. */
static bool
find_subaddress_problem(struct work *work, struct self_mail *self_mail)
{
	const struct settings *settings = work->check->settings;
	pb_local(probe_mail) mail = {0};
	g_autofree char *reason = NULL;

	if (!*settings->commands_delimiter)
		return false;
	self_mail->is_bare = true;
	if (self_mail_run(self_mail, &mail, &reason) != SELF_MAIL_RECEIVED)
		return false;
	add(work, "mail to itself",
	    g_strdup_printf("received at %s, but not at its subaddresses (%s)",
	        settings->commands_address, settings->commands_delimiter),
	    "enable them at the mail server, or set commands.delimiter = \"\" "
	    "(paperboyd(8), Incoming mail)");
	return true;
}

/* @param mail  set if true */
static bool
run_mail(struct work *work, const struct factory_transport *options, const char *link,
    struct probe_mail *mail)
{
	const struct mail_check *check = work->check;
	struct self_mail self_mail = {
	    .settings = check->settings,
	    .store = check->store,
	    .clock = check->clock,
	    .random = check->random,
	    .transport = options,
	    .link = link,
	    .wait_s = check->wait_s,
	};
	g_autofree char *reason = NULL;
	enum self_mail_result result = self_mail_run(&self_mail, mail, &reason);

	if (result == SELF_MAIL_RECEIVED) {
		bool is_usable =
		    mail->has_own_id || *check->settings->commands_delimiter;

		add(work, "mail to itself",
		    g_strdup(is_usable ? "received"
		                       : "received with another Message-ID: replies "
		                         "to digests need a confirmation"),
		    NULL);
		return true;
	}
	if (find_subaddress_problem(work, &self_mail))
		return false;
	if (result == SELF_MAIL_REJECTED) {
		add(work, "mail to itself", g_steal_pointer(&reason),
		    "the relay must accept commands.address and its subaddresses: see "
		    "paperboyd(8), Incoming mail");
		return false;
	}
	add(work, "mail to itself",
	    g_strdup_printf("accepted by the relay, but not received within "
	                    "%" G_GINT64_FORMAT " s",
	        check->wait_s),
	    "see the log of the mail server: mail to commands.address and "
	    "its subaddresses must reach a receiver (paperboyd(8), "
	    "Incoming mail); for a slow server use --wait 120");
	return false;
}

/* @param problem  set: of the unsubscribe link @return false if it was not tried */
static bool
check_mail(struct work *work, const struct factory_transport *options, const char *link,
    struct web_problem *problem)
{
	pb_local(probe_mail) mail = {0};
	bool is_received;

	if (settings_is_default(work->check->settings) ||
	    !*work->check->settings->commands_address || !work->is_relay_ok ||
	    !work->is_receiver_ok || !work->check->is_daemon_running) {
		add(work, "mail to itself",
		    g_strdup("not tried: needs your own addresses, commands.address, a "
		             "relay, a receiver and the daemon"),
		    NULL);
		return false;
	}
	is_received = run_mail(work, options, link, &mail);
	if (link)
		web_check_examine_mail(is_received ? &mail : NULL, link, problem);
	if (!is_received)
		return true;
	check_signature(work, &mail);
	check_feedback(work, &mail);
	check_results(work, &mail);
	return true;
}

/* ---- the page ---- */

static void
add_problem(struct work *work, const char *name, const struct web_problem *problem,
    const char *ok)
{
	add(work, name,
	    problem->fault ? web_problem_format(problem->fault, problem->detail)
	                   : g_strdup(ok),
	    web_fault_rows[problem->fault].action);
}

/* @param mail  the problem of the mail, to be saved with that of the page; or NULL: it
 * is not known, so nothing is saved */
static void
check_page(
    struct work *work, const struct web_check *web, const struct web_problem *mail)
{
	pb_local(web_problem) page = {0};
	g_autoptr(GError) error = NULL;
	bool is_changed;

	if (!work->check->is_daemon_running) {
		add(work, "page", g_strdup("not tried: needs the daemon"), NULL);
		return;
	}
	if (mail)
		add_problem(
		    work, "unsubscribe link", mail, "came back whole, and signed");
	if (!web_check_request(web, &page, &error)) {
		add(work, "page", g_strdup(error->message), "run paperboyctl doctor");
		return;
	}
	add_problem(work, "page", &page, "unsubscribes with one click");
	if (!mail)
		return;
	if (!web_check_save(
	        web, web_problem_get_worst(mail, &page), &is_changed, &error))
		add(work, "one click", g_strdup(error->message),
		    "run paperboyctl check as root or as the user of paperboyd");
	else
		add(work, "one click",
		    g_strdup_printf("digests %soffer it in their headers%s",
		        one_click_is_offered(work->check->settings) ? "" : "do not ",
		        is_changed ? ", from now on" : ""),
		    NULL);
}

/* The parts that need a running daemon. */
static void
check_round_trip(struct work *work, const struct factory_transport *options)
{
	const struct mail_check *check = work->check;
	const struct web_check web = {
	    .settings = check->settings,
	    .store = check->store,
	    .key = check->key,
	    .clock = check->clock,
	    .random = check->random,
	    .response_ms = (check->wait_s ? MIN(check->wait_s, WEB_CHECK_RESPONSE_S)
	                                  : WEB_CHECK_RESPONSE_S) *
	                   1000,
	};
	bool has_page = web_check_is_possible(check->settings);
	g_autofree char *link = has_page ? web_check_new_link(&web) : NULL;
	pb_local(web_problem) problem = {0};
	bool is_tried =
	    options && check->wait_s && check_mail(work, options, link, &problem);

	if (has_page)
		check_page(work, &web, is_tried ? &problem : NULL);
	else if (*check->settings->web_url)
		add(work, "page",
		    g_strdup("not tested: digests offer no one click, since web.url is "
		             "not https"),
		    NULL);
}

GPtrArray *
mail_check_run(const struct mail_check *check)
{
	struct work work = {.check = check};
	struct factory_transport *options;
	g_autoptr(GError) error = NULL;

	work.findings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)health_finding_free);
	check_configuration(&work);
	check_store(&work);
	check_sources(&work);
	options =
	    factory_new_transport_options(check->settings, NULL, check->clock, &error);
	if (options)
		check_relay(&work, options);
	else
		add(&work, "relay", g_strdup(error->message),
		    "the smtp group of paperboy.conf(5)");
	check_receivers(&work);
	check_round_trip(&work, options);
	if (options)
		factory_free_transport(options);
	return work.findings;
}
