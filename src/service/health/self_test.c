/*
 * self_test.c - self-test of sending, receiving and one-click unsubscribing.
 */
#include "service/health/self_test.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"
#include "message/compose.h"
#include "message/sanitize.h"
#include "net/http.h"
#include "render/sender.h"
#include "service/delivery/mail_token.h"
#include "service/state/one_click.h"
#include "service/state/own_addresses.h"
#include "store/mail/inbox.h"

/* Maximum length of a detail, which may quote a foreign server. */
#define DETAIL_CHARS 300

/* Poll interval for the mail, and number of the newest inbox rows searched. */
#define POLL_US (G_USEC_PER_SEC / 5)
#define NEWEST  50

#define BOUNDARY "paperboy-check"

const struct self_test_row self_test_rows[SELF_TEST_FAULTS] = {
    [SELF_TEST_FAULT_NONE] = {"", false, "", NULL},
    [SELF_TEST_FAULT_MAIL] = {"mail", false, "a mail to itself did not come back",
        "paperboyctl check shows where it was lost"},
    [SELF_TEST_FAULT_HEADER] = {"header", true,
        "a mail to itself came back without its unsubscribe link as the only https "
        "link, or without List-Unsubscribe-Post",
        "find the relay, filter or list manager that removes, rewrites or folds these "
        "header fields, or adds a link, and let it keep them"},
    [SELF_TEST_FAULT_SIGNATURE] = {"signature", true,
        "the DKIM signature does not cover the unsubscribe link, or is not valid",
        "add both fields to the signed headers (opendkim: SignHeaders; rspamd: "
        "sign_headers), and let the mail server sign mail from this host; if the "
        "signature is not valid, check the DNS record of its key, and that nothing "
        "changes the mail after it was signed"},
    [SELF_TEST_FAULT_NETWORK] = {"network", false, "the page cannot be reached",
        "check that the web server runs, its port and load, and the name in web.url. "
        "If the page can be reached from outside, the router does not let this host "
        "reach its own public address (hairpin NAT): add the name with a local address "
        "to /etc/hosts"},
    [SELF_TEST_FAULT_TLS] = {"tls", true,
        "the page has no valid certificate, or no TLS",
        "let the web server speak TLS 1.2 or 1.3 with a certificate for the name in "
        "web.url that has not expired (certbot renew) and its whole chain "
        "(fullchain.pem); for a private authority set web.ca_file, but mailbox "
        "providers will not trust it"},
    [SELF_TEST_FAULT_HTTP] = {"http", true,
        "the page does not answer one-click unsubscribing as providers require",
        "check that paperboyd and paperboy-web run (for 502 to 504), and that the web "
        "server passes requests for /u/ on as they are, whatever the link and "
        "Content-Type, without redirect, login, CAPTCHA, limit per address or page of "
        "its own: see doc/mail.md"},
    [SELF_TEST_FAULT_NOT_ARRIVED] = {"not-arrived", true,
        "one-click unsubscribing is answered, but did not arrive here",
        "check that web.url and the web server lead to the paperboy-web of this host, "
        "and that nothing caches POST requests or removes their Content-Type"},
};

enum self_test_fault
self_test_find_fault(const char *name)
{
	for (int fault = SELF_TEST_FAULT_NONE; fault < SELF_TEST_FAULTS; fault++)
		if (strcmp(self_test_rows[fault].name, name) == 0)
			return (enum self_test_fault)fault;
	return SELF_TEST_FAULT_NONE;
}

void
self_test_result_clear(struct self_test_result *result)
{
	g_clear_pointer(&result->detail, g_free);
}

/* Replaces what was set before.  @param detail  untrusted */
static void
set_result(
    struct self_test_result *result, enum self_test_fault fault, const char *detail)
{
	g_free(result->detail);
	result->fault = fault;
	result->detail = sanitize_line(detail, DETAIL_CHARS);
}

/* Replace the token of a link in a text, since tokens are not logged, not even this
 * one, which belongs to no subscriber. @return a new string */
static char *
mask_token(const char *text, const char *link)
{
	GString *masked = g_string_new(text);

	g_string_replace(masked, strrchr(link, '/') + 1, "TOKEN", 0);
	return g_string_free(masked, FALSE);
}

char *
self_test_format(enum self_test_fault fault, const char *detail)
{
	return g_strconcat(
	    self_test_rows[fault].text, *detail ? ": " : "", detail, NULL);
}

bool
self_test_has_page(const struct settings *settings)
{
	return g_str_has_prefix(settings->web_url, "https://");
}

static bool
is_stopped(const struct self_test *test)
{
	return test->stop && g_atomic_int_get(test->stop);
}

static char *
format_link(const struct self_test *test, int64_t number)
{
	g_autofree char *token = mail_token_format_check(test->key, number);

	return g_strconcat(test->settings->web_url, "/u/", token, NULL);
}

/* Random, so that the POST of an earlier test cannot be taken for this one; even for
 * the daemon. */
static int64_t
new_number(const struct self_test *test)
{
	uint8_t bytes[6];
	int64_t number = 0;

	test->random->fill(test->random->data, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		number = number << 8 | bytes[i];
	return number * 2 + !test->is_daemon;
}

char *
self_test_new_link(const struct self_test *test)
{
	return format_link(test, new_number(test));
}

/* ---- the mail ---- */

/* A mail to ourselves.  Strings are owned. */
struct test_mail {
	const struct self_test *test;
	struct own_addresses *own_addresses;
	char *token, *id, *address, *subject;
};

static void
test_mail_clear(struct test_mail *test_mail)
{
	g_clear_pointer(&test_mail->own_addresses, own_addresses_free);
	g_free(test_mail->token);
	g_free(test_mail->id);
	g_free(test_mail->address);
	g_free(test_mail->subject);
}

static bool
test_mail_init(struct test_mail *test_mail, const struct self_test *test, bool is_bare,
    GError **error)
{
	struct subaddress_base base;
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	g_autofree char *tag = NULL;

	test_mail->test = test;
	test_mail->own_addresses = own_addresses_new(test->settings, error);
	if (!test_mail->own_addresses)
		return false;
	base = test_mail->own_addresses->commands;
	if (is_bare)
		base.delimiter = 0;
	test->random->fill(test->random->data, bytes, sizeof(bytes));
	test_mail->token = token_format_random(bytes);
	test_mail->id = g_strdup_printf(
	    "check.%s@%s", test_mail->token, test_mail->own_addresses->domain);
	test_mail->address =
	    subaddress_format(&base, SUBADDRESS_CHECK, test_mail->token);
	tag = subaddress_format_tag(SUBADDRESS_CHECK, test_mail->token);
	test_mail->subject = g_strconcat("paperboyctl check",
	    base.delimiter ? NULL : " ", base.delimiter ? NULL : tag, NULL);
	return true;
}

static GBytes *
compose(const struct test_mail *test_mail, const char *link, GError **error)
{
	static const char text[] = "paperboy has sent this to itself, as a test.\r\n";
	const struct compose_span run = {text, strlen(text)};
	const struct settings *settings = test_mail->test->settings;
	const struct own_addresses *own_addresses = test_mail->own_addresses;
	const char *list_id = *settings->mail_list_id ? settings->mail_list_id : NULL;
	g_autofree char *list =
	    list_id ? g_strdup_printf("<%s>", list_id)
	            : g_strdup_printf("<digest.%s>", own_addresses->domain);
	g_autofree char *mail_link = g_strdup_printf("mailto:%s", test_mail->address);
	g_autofree char *leave = sender_format_unsubscribe(link, mail_link);
	g_autofree char *feedback = sender_format_feedback(&own_addresses->commands);
	const struct compose_header extra[] = {
	    {"Auto-Submitted", "auto-generated"},
	    {"List-Id", list},
	    {"List-Unsubscribe", leave},
	    {"List-Unsubscribe-Post", SENDER_ONE_CLICK},
	    {"CFBL-Address", feedback},
	};
	const struct compose_headers fields = {
	    .date = clock_get_now(test_mail->test->clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, test_mail->address},
	    .subject = test_mail->subject,
	    .message_id = test_mail->id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return compose_message(&fields, error);
}

/* @param reason  set on failure */
static bool
send_mail(const struct test_mail *test_mail, GBytes *message, char **reason)
{
	pb_auto(transport) transport =
	    factory_new_transport(test_mail->test->transport);
	const struct envelope envelope = {
	    .id = test_mail->id,
	    .sender = factory_get_envelope_from(test_mail->test->settings),
	    .recipient = test_mail->address,
	    .message = message,
	};
	pb_local(delivery) result = {0};

	transport->stop_fd = test_mail->test->stop_fd;
	transport_deliver(transport, &envelope, &result);
	if (result.outcome == DELIVERY_SENT)
		return true;
	*reason = g_strdup_printf("the relay does not accept it: %s", result.text);
	return false;
}

/* @return whether it was received */
static bool
find_mail(const struct test_mail *test_mail, struct check_mail *mail)
{
	g_autoptr(GPtrArray) rows =
	    inbox_load_batch(test_mail->test->store, "done", INT64_MAX, NEWEST, NULL);

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct inbox_row *row = rows->pdata[i];

		if (row->verdict &&
		    check_mail_parse(row->verdict, test_mail->token, mail))
			return true;
	}
	return false;
}

bool
self_test_send_mail(const struct self_test *test, const char *link, bool is_bare,
    struct check_mail *mail, char **reason)
{
	pb_local(test_mail) test_mail = {0};
	g_autoptr(GBytes) message = NULL;
	g_autoptr(GError) error = NULL;
	int64_t end;

	if (test_mail_init(&test_mail, test, is_bare, &error))
		message = compose(&test_mail, link, &error);
	if (!message) {
		*reason = g_strdup(error->message);
		return false;
	}
	if (!send_mail(&test_mail, message, reason))
		return false;
	end = g_get_monotonic_time() + test->mail_s * G_USEC_PER_SEC;
	while (!find_mail(&test_mail, mail)) {
		if (g_get_monotonic_time() >= end || is_stopped(test)) {
			*reason =
			    g_strdup_printf("accepted by the relay, but not "
			                    "received within %" G_GINT64_FORMAT " s",
			        test->mail_s);
			return false;
		}
		g_usleep(POLL_US);
	}
	return true;
}

/* A server that verifies no signature reports none. */
static bool
is_signature_invalid(const struct check_mail *mail)
{
	return !strstr(mail->results, "dkim:pass") &&
	       (strstr(mail->results, "dkim:fail") ||
	           strstr(mail->results, "dkim:permerror") ||
	           strstr(mail->results, "dkim:policy") ||
	           strstr(mail->results, "dkim:neutral"));
}

void
self_test_check_mail(
    const struct check_mail *mail, const char *link, struct self_test_result *result)
{
	g_autofree char *returned = mask_token(mail->link, link);
	g_autofree char *missing = g_strconcat("not signed: ", mail->missing, NULL);

	if (strcmp(mail->link, link) != 0)
		set_result(result, SELF_TEST_FAULT_HEADER, returned);
	else if (!*mail->signers)
		set_result(result, SELF_TEST_FAULT_SIGNATURE, "there is no signature");
	else if (strstr(mail->missing, "list-unsubscribe"))
		set_result(result, SELF_TEST_FAULT_SIGNATURE, missing);
	else if (is_signature_invalid(mail))
		set_result(result, SELF_TEST_FAULT_SIGNATURE, mail->results);
	else
		set_result(result, SELF_TEST_FAULT_NONE, "");
}

/* ---- the page ---- */

/* Requests of link scanners and providers; the first POST is that of the RFC.  Nobody
 * may learn from the response whether a link is valid. */
static const struct request {
	const char *name;
	const char *type; /* NULL: none */
	const char *body; /* NULL: a GET request, which must not unsubscribe */
	bool is_forged;
} requests[] = {
    {"opening the link", NULL, NULL, false},
    {"application/x-www-form-urlencoded", "application/x-www-form-urlencoded",
        SENDER_ONE_CLICK, false},
    {"multipart/form-data", "multipart/form-data; boundary=" BOUNDARY,
        "--" BOUNDARY "\r\n"
        "Content-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n"
        "One-Click\r\n"
        "--" BOUNDARY "--\r\n",
        false},
    {"a form without Content-Type", NULL, SENDER_ONE_CLICK, false},
    {"an empty body", NULL, "", false},
    {"a forged link", "application/x-www-form-urlencoded", SENDER_ONE_CLICK, true},
};

static enum self_test_fault
classify_failure(const struct http *http)
{
	switch (http_get_failure(http)) {
	case HTTP_FAILURE_TLS:
	case HTTP_FAILURE_UNTRUSTED:
		return SELF_TEST_FAULT_TLS;
	case HTTP_FAILURE_SIZE:
		return SELF_TEST_FAULT_HTTP;
	case HTTP_FAILURE_NONE:
	case HTTP_FAILURE_NETWORK:
		break;
	}
	return SELF_TEST_FAULT_NETWORK;
}

/* @param is_arrived  paperboyd recorded the request as one to unsubscribe */
static void
check_response(struct self_test_result *result, const struct request *request,
    const struct http_response *response, const char *link, bool is_arrived)
{
	size_t size = g_bytes_get_size(response->body);
	const char *url = response->redirect_url ? response->redirect_url : "";
	g_autofree char *target = mask_token(url, link);
	g_autofree char *detail = g_strdup_printf("status %d%s%s%s for %s",
	    response->status, *target ? " to " : "", target, size ? " with a body" : "",
	    request->name);

	if (!request->body && is_arrived)
		set_result(result, SELF_TEST_FAULT_HTTP,
		    "opening the link already unsubscribes, as link scanners do");
	else if (request->body && (response->status != 200 || size))
		set_result(result, SELF_TEST_FAULT_HTTP, detail);
	else if (request->body && !request->is_forged && !is_arrived)
		set_result(result, SELF_TEST_FAULT_NOT_ARRIVED, detail);
}

static bool
send_request(const struct self_test *test, struct http *http,
    const struct request *request, struct self_test_result *result, GError **error)
{
	int64_t number = new_number(test);
	g_autofree char *link = format_link(test, number);
	char *mac = strrchr(link, '/') + 2; /* after the key character */
	pb_local(http_response) response = {0};
	g_autoptr(GError) failure = NULL;
	bool is_sent, is_arrived = false;

	if (request->is_forged)
		*mac = *mac == 'a' ? 'b' : 'a';
	is_sent = request->body ? http_post(http, link, request->type, NULL,
	                              request->body, &response, &failure)
	                        : http_get(http, link, NULL, &response, &failure);
	if (!is_sent) {
		set_result(result, classify_failure(http), failure->message);
		return true;
	}
	if (!mail_token_find_check(test->store, number, &is_arrived, error))
		return false;
	check_response(result, request, &response, link, is_arrived);
	return true;
}

bool
self_test_check_page(
    const struct self_test *test, struct self_test_result *result, GError **error)
{
	const char *ca_file = test->settings->web_ca_file;
	const struct http_settings settings = {
	    .user_agent = "paperboy/" PACKAGE_VERSION " (self-test)",
	    .ca_file = *ca_file ? ca_file : NULL,
	    .total_ms = test->response_s * 1000,
	    .connect_ms = test->response_s * 1000,
	    .body_bytes = BOUNDS_WEB_CHECK_BYTES,
	    /* The operator has configured the host. */
	    .allow_private = true,
	    .no_redirects = true,
	    .stop = test->stop,
	};
	pb_auto(http) http = http_new(&settings);

	set_result(result, SELF_TEST_FAULT_NONE, "");
	for (size_t i = 0; i < G_N_ELEMENTS(requests) && !result->fault; i++)
		if (!send_request(test, http, &requests[i], result, error))
			return false;
	return true;
}

/* ---- the result ---- */

const struct self_test_result *
self_test_save(const struct self_test *test, const struct self_test_result *mail,
    const struct self_test_result *page, bool *is_offered, GError **error)
{
	bool is_mail = self_test_rows[mail->fault].is_wrong || !page->fault ||
	               (mail->fault && !self_test_rows[page->fault].is_wrong);
	const struct self_test_result *result = is_mail ? mail : page;
	const struct self_test_row *row = &self_test_rows[result->fault];
	int64_t now = clock_get_now(test->clock);
	pb_local(one_click) state = {0};

	one_click_load(test->settings, &state);
	if (strcmp(state.fault, row->name) != 0 || state.checked_at < 0)
		state.since = now;
	if (!result->fault || row->is_wrong)
		state.is_offered = !result->fault;
	else if (state.checked_at < 0)
		state.is_offered = true;
	state.checked_at = now;
	one_click_clear(&state);
	state.fault = g_strdup(row->name);
	state.detail = g_strdup(result->detail);
	/* Not read again: paperboyd may have tested another web.url by then. */
	*is_offered = state.is_offered;
	return one_click_save(test->settings, &state, error) ? result : NULL;
}

int64_t
self_test_get_due(const struct settings *settings, int64_t now)
{
	pb_local(one_click) state = {0};
	int64_t interval_s;

	if (!self_test_has_page(settings) || settings_is_default(settings))
		return -1;
	one_click_load(settings, &state);
	interval_s = *state.fault ? SELF_TEST_RETRY_S : SELF_TEST_INTERVAL_S;
	/* In the future: the clock was set back. */
	if (state.checked_at < 0 || state.checked_at > now)
		return now;
	return state.checked_at + interval_s;
}

bool
self_test_run(const struct self_test *test, struct self_test_result *result,
    bool *is_offered, GError **error)
{
	g_autofree char *link = self_test_new_link(test);
	pb_local(check_mail) test_mail = {0};
	pb_local(self_test_result) mail = {0};
	pb_local(self_test_result) page = {0};
	const struct self_test_result *saved;
	g_autofree char *reason = NULL;

	set_result(&mail, SELF_TEST_FAULT_NONE, "");
	/* Nothing comes back from a Maildir. */
	if (test->settings->delivery == SETTINGS_DELIVERY_MAILDIR)
		;
	else if (self_test_send_mail(test, link, false, &test_mail, &reason))
		self_test_check_mail(&test_mail, link, &mail);
	else
		set_result(&mail, SELF_TEST_FAULT_MAIL, reason);
	if (!is_stopped(test) && !self_test_check_page(test, &page, error))
		return false;
	if (is_stopped(test))
		return pb_fail(error, PB_ERROR_TEMPORARY, "interrupted");
	saved = self_test_save(test, &mail, &page, is_offered, error);
	if (saved)
		set_result(result, saved->fault, saved->detail);
	return saved != NULL;
}
