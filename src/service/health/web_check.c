/*
 * web_check.c - self-test of one-click unsubscribing (RFC 8058).
 */
#include "service/health/web_check.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/sanitize.h"
#include "render/sender.h"
#include "service/delivery/mail_token.h"
#include "service/health/self_mail.h"
#include "service/state/one_click.h"
#include "service/state/own_addresses.h"

#define DETAIL_CHARS 300

#define BOUNDARY "paperboy-check"

const struct web_fault_row web_fault_rows[WEB_FAULTS] = {
    [WEB_FAULT_NONE] = {"", false, "", NULL},
    [WEB_FAULT_LOST_MAIL] = {"lost-mail", false, "a mail to itself did not come back",
        "paperboyctl check shows where it was lost"},
    [WEB_FAULT_UNSIGNED] = {"unsigned", true,
        "the DKIM signature does not cover the unsubscribe link",
        "add both fields to the signed headers (opendkim: SignHeaders; rspamd: "
        "sign_headers), and let the mail server sign mail from this host"},
    [WEB_FAULT_INVALID_SIGNATURE] = {"invalid-signature", true,
        "the DKIM signature of a mail to itself is not valid",
        "check the DNS record of the key, and that nothing changes the mail after it "
        "was signed"},
    [WEB_FAULT_NO_LINK] = {"no-link", true,
        "a mail to itself came back without the unsubscribe link or without "
        "List-Unsubscribe-Post",
        "find the relay or filter that removes header fields, and let it keep them"},
    [WEB_FAULT_SEVERAL_LINKS] = {"several-links", true,
        "a mail to itself came back with two https links in List-Unsubscribe",
        "find the relay or list manager that adds its own: there may be only one"},
    [WEB_FAULT_BROKEN_LINK] = {"broken-link", true,
        "a mail to itself came back with an unsubscribe link that is broken across "
        "lines",
        "find the relay or filter that folds header fields within a word: it may fold "
        "at blanks only (RFC 5322 section 2.2.3)"},
    [WEB_FAULT_OTHER_LINK] = {"other-link", true,
        "a mail to itself came back with another unsubscribe link",
        "find the filter that rewrites links, and exclude List-Unsubscribe"},
    [WEB_FAULT_NAME] = {"name", false, "the host name of web.url cannot be resolved",
        "check the name in web.url, its DNS records, and the resolver of this host"},
    [WEB_FAULT_CONNECTION] = {"connection", false,
        "cannot connect to the host of web.url",
        "start the web server, and open its port. If the page can be reached from "
        "outside, the router does not let this host reach its own public address "
        "(hairpin NAT): add the name with a local address to /etc/hosts"},
    [WEB_FAULT_TIMEOUT] = {"timeout", false, "the page does not respond in time",
        "check the load of the web server and its route to paperboy-web. If the page "
        "responds from outside, see hairpin NAT in paperboyctl(8)"},
    [WEB_FAULT_NETWORK] = {"network", false, "the connection to the page was cut",
        "see the log of the web server"},
    [WEB_FAULT_TLS] = {"tls", true, "no TLS connection to the page is possible",
        "let the web server speak TLS 1.2 or 1.3 on the port of web.url"},
    [WEB_FAULT_EXPIRED] = {"expired", true, "the certificate of the page has expired",
        "renew it and reload the web server; see why the renewal did not run "
        "(certbot renew)"},
    [WEB_FAULT_WRONG_HOST] = {"wrong-host", true,
        "the certificate of the page is for another host name",
        "get a certificate for the name in web.url, or correct web.url"},
    [WEB_FAULT_UNTRUSTED] = {"untrusted", true,
        "the certificate of the page is not from an authority that is trusted",
        "let the web server send the whole chain (fullchain.pem); for a private "
        "authority set web.ca_file, but mailbox providers will not trust it"},
    [WEB_FAULT_ACTING_GET] = {"acting-get", true,
        "opening the link already unsubscribes, as link scanners do",
        "let the web server pass requests on with their method: see README"},
    [WEB_FAULT_REDIRECT] = {"redirect", true,
        "the page answers one-click unsubscribing with a redirect, which providers "
        "take for a failure",
        "put the final address into web.url, and let the web server pass /u/ on "
        "without a redirect to another scheme, name or path"},
    [WEB_FAULT_UNAVAILABLE] = {"unavailable", true, "the page is not available",
        "see systemctl status paperboyd paperboy-web and their logs"},
    [WEB_FAULT_SERVER_ERROR] = {"server-error", true,
        "the web server answers one-click unsubscribing with an error",
        "for 502 and 504 check that paperboy-web runs and the address that the web "
        "server passes requests on to; see its log"},
    [WEB_FAULT_REFUSED] = {"refused", true,
        "the page does not accept one-click unsubscribing",
        "let the web server pass POST requests for /u/ on, without login, CAPTCHA "
        "or limits per address"},
    [WEB_FAULT_CONTENT_TYPE] = {"content-type", true,
        "the page does not accept one-click unsubscribing in every form",
        "providers send it as application/x-www-form-urlencoded, as "
        "multipart/form-data, or without a type: let the web server pass all of them "
        "on"},
    [WEB_FAULT_BODY] = {"body", true,
        "something else than paperboy-web answers one-click unsubscribing",
        "let the web server, or a service before it, pass POST requests for /u/ on "
        "without a page of its own"},
    [WEB_FAULT_NOT_ARRIVED] = {"not-arrived", true,
        "one-click unsubscribing is answered, but did not arrive here",
        "check that web.url and the web server lead to the paperboy-web of this host, "
        "and that nothing caches POST requests"},
    [WEB_FAULT_FORGED_TOKEN] = {"forged-token", false,
        "the page answers a forged unsubscribe link in another way, which tells who is "
        "subscribed",
        "let the web server pass all requests for /u/ on, whatever the link is"},
};

enum web_fault
web_fault_find(const char *name)
{
	for (int fault = WEB_FAULT_NONE; fault < WEB_FAULTS; fault++)
		if (strcmp(web_fault_rows[fault].name, name) == 0)
			return (enum web_fault)fault;
	return WEB_FAULT_NONE;
}

void
web_problem_clear(struct web_problem *problem)
{
	g_clear_pointer(&problem->detail, g_free);
}

/* Replaces what was set before.  @param detail  untrusted */
static void
set_problem(struct web_problem *problem, enum web_fault fault, const char *detail)
{
	g_free(problem->detail);
	problem->fault = fault;
	problem->detail = sanitize_line(detail, DETAIL_CHARS);
}

/* Tokens are not logged, not even those of nobody. @return a new string */
static char *
mask_token(const char *text, const char *link)
{
	GString *masked = g_string_new(text);

	g_string_replace(masked, strrchr(link, '/') + 1, "TOKEN", 0);
	return g_string_free(masked, FALSE);
}

char *
web_problem_format(enum web_fault fault, const char *detail)
{
	return *detail ? g_strdup_printf("%s: %s", web_fault_rows[fault].text, detail)
	               : g_strdup(web_fault_rows[fault].text);
}

const struct web_problem *
web_problem_get_worst(const struct web_problem *one, const struct web_problem *other)
{
	if (web_fault_rows[one->fault].is_wrong || !other->fault)
		return one;
	return web_fault_rows[other->fault].is_wrong || !one->fault ? other : one;
}

bool
web_check_is_possible(const struct settings *settings)
{
	return g_str_has_prefix(settings->web_url, "https://");
}

static char *
format_link(const struct web_check *check, int64_t number)
{
	g_autofree char *token = mail_token_format_check(check->key, number);

	return g_strconcat(check->settings->web_url, "/u/", token, NULL);
}

/* Random, so that the POST of an earlier test cannot be taken for this one; even for
 * the daemon. */
static int64_t
new_number(const struct web_check *check)
{
	uint8_t bytes[6];
	int64_t number = 0;

	check->random->fill(check->random->data, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		number = number << 8 | bytes[i];
	return number * 2 + !check->is_daemon;
}

char *
web_check_new_link(const struct web_check *check)
{
	return format_link(check, new_number(check));
}

/* ---- the mail ---- */

static char *
join(const GPtrArray *words)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();

	for (unsigned i = 0; i < words->len; i++)
		g_ptr_array_add(list, words->pdata[i]);
	g_ptr_array_add(list, NULL);
	return g_strjoinv(", ", (char **)list->pdata);
}

static bool
has_word(const GPtrArray *words, const char *word)
{
	return g_ptr_array_find_with_equal_func(
	    (GPtrArray *)words, word, g_str_equal, NULL);
}

/* A server that verifies no signature reports none. */
static bool
is_signature_invalid(const struct probe_mail *mail)
{
	if (has_word(mail->results, "dkim:pass"))
		return false;
	return has_word(mail->results, "dkim:fail") ||
	       has_word(mail->results, "dkim:permerror") ||
	       has_word(mail->results, "dkim:policy") ||
	       has_word(mail->results, "dkim:neutral");
}

void
web_check_examine_mail(
    const struct probe_mail *mail, const char *link, struct web_problem *problem)
{
	static const enum web_fault faults[] = {
	    [PROBE_LINK_ONE] = WEB_FAULT_NONE,
	    [PROBE_LINK_NONE] = WEB_FAULT_NO_LINK,
	    [PROBE_LINK_SEVERAL] = WEB_FAULT_SEVERAL_LINKS,
	    [PROBE_LINK_BROKEN] = WEB_FAULT_BROKEN_LINK,
	};
	g_autofree char *missing = mail ? join(mail->missing) : NULL;
	g_autofree char *other = mail ? mask_token(mail->link, link) : NULL;

	if (!mail)
		set_problem(problem, WEB_FAULT_LOST_MAIL, "");
	else if (faults[mail->link_state])
		set_problem(problem, faults[mail->link_state], "");
	else if (strcmp(mail->link, link) != 0)
		set_problem(problem, WEB_FAULT_OTHER_LINK, other);
	else if (!mail->signers->len)
		set_problem(problem, WEB_FAULT_UNSIGNED, "there is no signature");
	else if (has_word(mail->missing, "list-unsubscribe") ||
	         has_word(mail->missing, "list-unsubscribe-post"))
		set_problem(problem, WEB_FAULT_UNSIGNED, missing);
	else if (is_signature_invalid(mail))
		set_problem(problem, WEB_FAULT_INVALID_SIGNATURE, "");
	else
		set_problem(problem, WEB_FAULT_NONE, "");
}

/* ---- the requests ---- */

static void
set_failure(struct web_problem *problem, const struct web_check *check,
    const struct http *http, const GError *failure)
{
	static const enum web_fault faults[] = {
	    [HTTP_FAILURE_NONE] = WEB_FAULT_NETWORK,
	    [HTTP_FAILURE_NAME] = WEB_FAULT_NAME,
	    [HTTP_FAILURE_CONNECT] = WEB_FAULT_CONNECTION,
	    [HTTP_FAILURE_TIMEOUT] = WEB_FAULT_TIMEOUT,
	    [HTTP_FAILURE_TLS] = WEB_FAULT_TLS,
	    [HTTP_FAILURE_EXPIRED] = WEB_FAULT_EXPIRED,
	    [HTTP_FAILURE_WRONG_HOST] = WEB_FAULT_WRONG_HOST,
	    [HTTP_FAILURE_UNTRUSTED] = WEB_FAULT_UNTRUSTED,
	    [HTTP_FAILURE_SIZE] = WEB_FAULT_BODY,
	    [HTTP_FAILURE_OTHER] = WEB_FAULT_NETWORK,
	};
	enum web_fault fault = faults[http_get_failure(http)];
	g_autofree char *limit = g_strdup_printf(
	    "no response within %g s", (double)check->response_ms / 1000);

	set_problem(
	    problem, fault, fault == WEB_FAULT_TIMEOUT ? limit : failure->message);
}

/* The forms in which providers send it; the first one is that of the RFC. */
static const struct {
	const char *type; /* NULL: none */
	const char *body;
	const char *name;
} forms[] = {
    {"application/x-www-form-urlencoded", SENDER_ONE_CLICK,
        "application/x-www-form-urlencoded"},
    {"multipart/form-data; boundary=" BOUNDARY,
        "--" BOUNDARY "\r\n"
        "Content-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n"
        "One-Click\r\n"
        "--" BOUNDARY "--\r\n",
        "multipart/form-data"},
    {NULL, SENDER_ONE_CLICK, "a form without Content-Type"},
    {NULL, "", "an empty body"},
};

static enum web_fault
classify_status(int status, bool is_first)
{
	if (status == 200)
		return WEB_FAULT_NONE;
	if (status >= 300 && status < 400)
		return WEB_FAULT_REDIRECT;
	if (status == 503)
		return WEB_FAULT_UNAVAILABLE;
	if (status >= 500)
		return WEB_FAULT_SERVER_ERROR;
	return is_first ? WEB_FAULT_REFUSED : WEB_FAULT_CONTENT_TYPE;
}

/* Check the response to a form. @param is_arrived  its POST was recorded */
static void
examine_response(struct web_problem *problem, const struct http_response *response,
    const char *link, size_t form, bool is_arrived)
{
	enum web_fault fault = classify_status(response->status, form == 0);
	g_autofree char *detail = NULL;
	g_autofree char *target =
	    mask_token(response->redirect_url ? response->redirect_url : "", link);

	if (!fault && g_bytes_get_size(response->body))
		fault = WEB_FAULT_BODY;
	if (!fault && !is_arrived)
		fault = form ? WEB_FAULT_CONTENT_TYPE : WEB_FAULT_NOT_ARRIVED;
	if (fault == WEB_FAULT_REDIRECT && *target)
		detail = g_strdup_printf("status %d to %s", response->status, target);
	else if (fault == WEB_FAULT_CONTENT_TYPE)
		detail = g_strdup_printf(
		    "status %d for %s", response->status, forms[form].name);
	else if (fault)
		detail = g_strdup_printf("status %d", response->status);
	set_problem(problem, fault, detail ? detail : "");
}

static bool
send_form(const struct web_check *check, struct http *http, size_t form,
    struct web_problem *problem, GError **error)
{
	int64_t number = new_number(check);
	g_autofree char *link = format_link(check, number);
	pb_local(http_response) response = {0};
	g_autoptr(GError) failure = NULL;
	bool is_arrived = false;

	if (!http_send_form(
	        http, link, forms[form].type, forms[form].body, &response, &failure)) {
		set_failure(problem, check, http, failure);
		return true;
	}
	if (!mail_token_find_check(check->store, number, &is_arrived, error))
		return false;
	examine_response(problem, &response, link, form, is_arrived);
	return true;
}

/* Open the link as a link scanner does. */
static bool
open_link(const struct web_check *check, struct http *http, struct web_problem *problem,
    GError **error)
{
	int64_t number = new_number(check);
	g_autofree char *link = format_link(check, number);
	pb_local(http_response) response = {0};
	g_autoptr(GError) failure = NULL;
	bool is_arrived = false;

	if (!http_get(http, link, NULL, &response, &failure))
		set_failure(problem, check, http, failure);
	if (!mail_token_find_check(check->store, number, &is_arrived, error))
		return false;
	if (is_arrived)
		set_problem(problem, WEB_FAULT_ACTING_GET, "");
	return true;
}

/* Nobody may learn whether a link is valid. */
static void
send_forged(
    const struct web_check *check, struct http *http, struct web_problem *problem)
{
	g_autofree char *link = web_check_new_link(check);
	char *mac = strrchr(link, '/') + 2; /* after the key character */
	pb_local(http_response) response = {0};
	g_autoptr(GError) failure = NULL;
	g_autofree char *detail = NULL;

	*mac = *mac == 'a' ? 'b' : 'a';
	if (!http_send_form(
	        http, link, forms[0].type, forms[0].body, &response, &failure)) {
		set_failure(problem, check, http, failure);
		return;
	}
	detail = g_strdup_printf("status %d", response.status);
	if (response.status != 200 || g_bytes_get_size(response.body))
		set_problem(problem, WEB_FAULT_FORGED_TOKEN, detail);
}

bool
web_check_request(
    const struct web_check *check, struct web_problem *problem, GError **error)
{
	const char *ca_file = check->settings->web_ca_file;
	const struct http_settings settings = {
	    .user_agent = "paperboy/" PACKAGE_VERSION " (self-test)",
	    .ca_file = *ca_file ? ca_file : NULL,
	    .total_ms = check->response_ms,
	    .connect_ms = check->response_ms,
	    .body_bytes = BOUNDS_WEB_CHECK_BYTES,
	    /* The operator has configured the host. */
	    .allow_private = true,
	    .no_redirects = true,
	    .stop = check->stop,
	};
	pb_auto(http) http = http_new(&settings);

	set_problem(problem, WEB_FAULT_NONE, "");
	if (!open_link(check, http, problem, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(forms) && !problem->fault; i++)
		if (!send_form(check, http, i, problem, error))
			return false;
	if (!problem->fault)
		send_forged(check, http, problem);
	return true;
}

/* ---- the result ---- */

bool
web_check_save(const struct web_check *check, const struct web_problem *problem,
    bool *is_changed, GError **error)
{
	const struct web_fault_row *row = &web_fault_rows[problem->fault];
	int64_t now = clock_get_now(check->clock);
	pb_local(one_click) state = {0};
	bool was_offered;

	one_click_load(check->settings, &state);
	was_offered = state.is_offered;
	if (strcmp(state.fault, row->name) != 0 || state.checked_at < 0)
		state.since = now;
	if (!problem->fault || row->is_wrong)
		state.is_offered = !problem->fault;
	else if (state.checked_at < 0)
		state.is_offered = true;
	state.checked_at = now;
	one_click_clear(&state);
	state.fault = g_strdup(row->name);
	state.detail = g_strdup(problem->detail);
	*is_changed = state.is_offered != was_offered;
	return one_click_save(check->settings, &state, error);
}

int64_t
web_check_get_due(const struct settings *settings, int64_t now)
{
	pb_local(one_click) state = {0};
	int64_t interval_s;

	if (!web_check_is_possible(settings) || settings_is_default(settings))
		return -1;
	one_click_load(settings, &state);
	interval_s = *state.fault ? WEB_CHECK_RETRY_S : WEB_CHECK_INTERVAL_S;
	/* In the future: the clock was set back. */
	if (state.checked_at < 0 || state.checked_at > now)
		return now;
	return state.checked_at + interval_s;
}

/* @return false if interrupted */
static bool
run_mail(const struct web_check *check, const struct factory_transport *transport,
    const int *stop_fd, struct web_problem *problem)
{
	g_autofree char *link = web_check_new_link(check);
	const struct self_mail self_mail = {
	    .settings = check->settings,
	    .store = check->store,
	    .clock = check->clock,
	    .random = check->random,
	    .transport = transport,
	    .link = link,
	    .wait_s = WEB_CHECK_MAIL_S,
	    .stop = check->stop,
	    .stop_fd = stop_fd,
	};
	pb_local(probe_mail) mail = {0};
	g_autofree char *reason = NULL;

	switch (self_mail_run(&self_mail, &mail, &reason)) {
	case SELF_MAIL_RECEIVED:
		web_check_examine_mail(&mail, link, problem);
		break;
	case SELF_MAIL_REJECTED:
	case SELF_MAIL_LOST:
		set_problem(problem, WEB_FAULT_LOST_MAIL, reason ? reason : "");
		break;
	}
	return !check->stop || !g_atomic_int_get(check->stop);
}

bool
web_check_run(const struct web_check *check, const struct factory_transport *transport,
    const int *stop_fd, struct web_problem *problem, bool *is_changed, GError **error)
{
	pb_local(web_problem) mail = {0};
	pb_local(web_problem) page = {0};
	const struct web_problem *worst;

	set_problem(&mail, WEB_FAULT_NONE, "");
	/* Nothing comes back from a Maildir. */
	if (check->settings->delivery != SETTINGS_DELIVERY_MAILDIR &&
	    !run_mail(check, transport, stop_fd, &mail))
		return pb_fail(error, PB_ERROR_TEMPORARY, "interrupted");
	if (!web_check_request(check, &page, error))
		return false;
	if (check->stop && g_atomic_int_get(check->stop))
		return pb_fail(error, PB_ERROR_TEMPORARY, "interrupted");
	worst = web_problem_get_worst(&mail, &page);
	set_problem(problem, worst->fault, worst->detail);
	return web_check_save(check, problem, is_changed, error);
}
