/*
 * test_http.c - HTTP requests end within their limits, whatever the server does.
 */
#include <arpa/inet.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/paperserver.h"
#include "lib/unit.h"
#include "net/http.h"
#include "net/peer.h"

static struct http_settings
local_settings(void)
{
	return (struct http_settings){
	    .user_agent = "paperboy/test (postmaster@example.org)",
	};
}

#define http_response_auto \
	__attribute__((cleanup(http_response_clear))) struct http_response

static bool
get(const struct paperserver *server, const struct http_settings *settings,
    const char *mode, const char *etag, struct http_response *response, GError **error)
{
	pb_auto(http) http = http_new(settings);
	g_autofree char *url = paperserver_mode_url(server, mode);

	return http_get(http, url, etag, response, error);
}

/* A test that gets a server; skipped without one. */
#define SERVER_TEST(function)                                                \
	UNIT_CALLER(function, struct paperserver *)                          \
	{                                                                    \
		pb_auto(paperserver) server = paperserver_start(NULL, NULL); \
		if (server)                                                  \
			function(server);                                    \
	}                                                                    \
	static void function(struct paperserver *server)

SERVER_TEST(status_and_headers_are_reported)
{
	struct http_settings settings = local_settings();

	CASES_FOREACH(row, "http_answers", *mode, *etag, *status, *wait_s, *got_etag) {
		http_response_auto response = {0};

		g_test_message("%s", row->mode);
		NO_ERROR(
		    get(server, &settings, row->mode, row->etag, &response, &error));
		g_assert_cmpint(response.status, ==, cases_number(row->status));
		g_assert_cmpint(response.retry_after_s, ==, cases_number(row->wait_s));
		g_assert_cmpstr(response.etag, ==, row->got_etag);
		g_assert_cmpint(response.served_at, ==, 1795003200);
		g_assert_nonnull(response.body);
	}
}

SERVER_TEST(failures_have_error_codes)
{
	static const struct {
		const char *mode;
		enum pb_error code;
		const char *says;
	} rows[] = {
	    {"close", PB_ERROR_TEMPORARY, "cannot fetch from 127.0.0.1"},
	    {"garbage", PB_ERROR_TEMPORARY, "cannot fetch"},
	    {"cut-length", PB_ERROR_TEMPORARY, "cannot fetch"},
	    {"gzip-bad", PB_ERROR_TEMPORARY, "cannot fetch"},
	    {"bomb", PB_ERROR_LIMIT, "larger than 33554432 bytes"},
	    {"endless", PB_ERROR_LIMIT, "larger than 33554432 bytes"},
	    {"headers", PB_ERROR_LIMIT, "headers of 127.0.0.1 are larger than 65536"},
	    {"redirect-4", PB_ERROR_LIMIT, "more than 3 redirects"},
	    {"redirect-loop", PB_ERROR_LIMIT, "more than 3 redirects"},
	    {"redirect-file", PB_ERROR_PERMANENT, "redirect of 127.0.0.1 to 'file:"},
	    {"redirect-user", PB_ERROR_PERMANENT, "refused the redirect"},
	    {"redirect-host", PB_ERROR_PERMANENT, "localhost: address is not public"},
	    {"redirect-port", PB_ERROR_PERMANENT, "redirect of 127.0.0.1 to 'http:"},
	};
	struct http_settings settings = local_settings();

	settings.allow_file = true;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		http_response_auto response = {0};
		g_autoptr(GError) error = NULL;

		g_test_message("%s", rows[i].mode);
		g_assert_false(
		    get(server, &settings, rows[i].mode, NULL, &response, &error));
		g_assert_error(error, PB_ERROR, (gint)rows[i].code);
		g_assert_nonnull(strstr(error->message, rows[i].says));
		g_assert_null(response.body);
	}
}

SERVER_TEST(redirects_are_followed_up_to_the_limit)
{
	struct http_settings settings = local_settings();
	http_response_auto response = {0};

	NO_ERROR(get(server, &settings, "redirect-3", NULL, &response, &error));
	g_assert_cmpint(response.status, ==, 200);
	g_assert_nonnull(strstr(response.final_url, "/api/daily_papers"));
}

SERVER_TEST(body_size_is_limited)
{
	struct http_settings settings = local_settings();

	settings.body_bytes = 1000;
	CASES_FOREACH(row, "http_sizes", *mode, *fits) {
		http_response_auto response = {0};
		g_autoptr(GError) error = NULL;
		bool ok = get(server, &settings, row->mode, NULL, &response, &error);

		g_test_message("%s", row->mode);
		g_assert_cmpint(ok, ==, cases_is_yes(row->fits));
		if (!ok)
			g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	}
}

SERVER_TEST(compressed_body_is_decompressed)
{
	struct http_settings settings = local_settings();
	http_response_auto response = {0};

	g_assert_true(get(server, &settings, "gzip", NULL, &response, NULL));
	g_assert_true(
	    g_str_has_prefix(g_bytes_get_data(response.body, NULL), "[{\"paper\""));
}

SERVER_TEST(total_time_is_limited)
{
	static const char *const modes[] = {"drip", "hang", "stall"};
	struct http_settings settings = local_settings();

	settings.total_ms = 200;
	for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
		http_response_auto response = {0};

		FAILS(PB_ERROR_TEMPORARY,
		    get(server, &settings, modes[i], NULL, &response, &error));
	}
}

SERVER_TEST(stalled_transfer_is_aborted_early)
{
	struct http_settings settings = local_settings();
	http_response_auto response = {0};
	g_autoptr(GError) error = NULL;

	settings.stall_s = 1;
	g_assert_false(get(server, &settings, "stall", NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "slow"));
}

struct stop_case {
	const struct paperserver *server;
	int stop;
	GError *error;
};

static void *
fetch_until_stopped(void *data)
{
	struct stop_case *stop = data;
	struct http_settings settings = local_settings();
	http_response_auto response = {0};

	settings.stop = &stop->stop;
	g_assert_false(
	    get(stop->server, &settings, "hang", NULL, &response, &stop->error));
	return NULL;
}

SERVER_TEST(transfer_can_be_interrupted)
{
	struct stop_case stop = {.server = server};
	g_autofree char *line = NULL;
	GThread *thread;

	thread = g_thread_new("fetch", fetch_until_stopped, &stop);
	line = paperserver_read_line(server);
	g_assert_true(g_str_has_prefix(line, "GET /hang"));
	g_atomic_int_set(&stop.stop, 1);
	g_thread_join(thread);
	g_assert_error(stop.error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(stop.error->message, "interrupted"));
	g_clear_error(&stop.error);
}

SERVER_TEST(names_with_private_addresses_are_rejected)
{
	struct http_settings settings = local_settings();

	CASES_FOREACH(row, "http_private", *host, *allowed, *is_ok) {
		g_autofree char *url = g_strconcat(
		    "http://", row->host, strrchr(server->url, ':'), "/empty", NULL);
		pb_auto(http) http = http_new(&settings);
		http_response_auto response = {0};
		g_autoptr(GError) error = NULL;

		g_test_message("%s %s", row->host, row->allowed);
		if (row->allowed)
			http_allow_private(http, row->allowed);
		g_assert_cmpint(http_get(http, url, NULL, &response, &error), ==,
		    cases_is_yes(row->is_ok));
		if (cases_is_yes(row->is_ok))
			continue;
		g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
		g_assert_nonnull(
		    strstr(error->message, "address is not public (private = true"));
	}
}

/* Create a self-signed certificate for localhost. @return false if that is not
 * possible */
static bool
make_certificate(const char *pem)
{
	g_autoptr(GSubprocess) process = g_subprocess_new(
	    G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
	    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
	    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
	    "-addext", "subjectAltName=DNS:localhost", "-keyout", pem, "-out", pem,
	    NULL);

	return process && g_subprocess_wait_check(process, NULL, NULL);
}

TEST(certificates_and_names_are_verified)
{
	static const struct {
		const char *host;
		const char *mode;
		bool has_ca;
		int code; /* -1: success */
		const char *says;
		enum http_failure failure;
	} rows[] = {
	    {"localhost", "empty", true, -1, NULL, HTTP_FAILURE_NONE},
	    {"localhost", "empty", false, PB_ERROR_TEMPORARY, "certificate",
	        HTTP_FAILURE_UNTRUSTED},
	    {"127.0.0.1", "empty", true, PB_ERROR_TEMPORARY, "certificate",
	        HTTP_FAILURE_TLS},
	    {"localhost", "redirect-3", true, -1, NULL, HTTP_FAILURE_NONE},
	    {"localhost", "redirect-down", true, PB_ERROR_PERMANENT,
	        "refused the redirect of localhost to 'http:", HTTP_FAILURE_NONE},
	};
	g_autofree char *directory = g_dir_make_tmp("paperboy-tls-XXXXXX", NULL);
	g_autofree char *pem = g_build_filename(directory, "server.pem", NULL);
	bool has_pem = make_certificate(pem);
	pb_auto(paperserver) server = has_pem ? paperserver_start(NULL, pem) : NULL;

	if (!has_pem)
		g_test_skip("no openssl");
	for (size_t i = 0; server && i < G_N_ELEMENTS(rows); i++) {
		struct http_settings settings = local_settings();
		http_response_auto response = {0};
		pb_auto(http) http = NULL;
		g_autoptr(GError) error = NULL;
		g_autofree char *url = g_strconcat("https://", rows[i].host,
		    strrchr(server->url, ':'), "/", rows[i].mode, NULL);
		bool ok;

		g_test_message("%s", url);
		settings.ca_file = rows[i].has_ca ? pem : NULL;
		http = http_new(&settings);
		ok = http_get(http, url, NULL, &response, &error);
		if (rows[i].code < 0)
			g_assert_no_error(error);
		else
			g_assert_error(error, PB_ERROR, rows[i].code);
		g_assert_cmpint(ok, ==, rows[i].code < 0);
		g_assert_cmpint(http_get_failure(http), ==, (int)rows[i].failure);
		if (!ok && !strstr(error->message, rows[i].says))
			g_error("'%s' lacks '%s'", error->message, rows[i].says);
	}
	g_unlink(pem);
	g_rmdir(directory);
}

SERVER_TEST(forms_are_sent_without_following_redirects)
{
	struct http_settings settings = local_settings();
	pb_auto(http) http = http_new(&settings);

	CASES_FOREACH(row, "http_forms", *mode, *type, *form, *status, *body) {
		http_response_auto response = {0};
		g_autofree char *url = paperserver_mode_url(server, row->mode);
		g_autofree char *body = NULL;
		size_t size;
		const char *data;

		NO_ERROR(http_post(
		    http, url, row->type, NULL, row->form, &response, &error));
		g_assert_cmpint(response.status, ==, cases_number(row->status));
		data = g_bytes_get_data(response.body, &size);
		body = g_strndup(size ? data : "", size);
		g_assert_cmpstr(body, ==, row->body);
		g_assert_cmpint(response.redirect_url != NULL, ==,
		    cases_number(row->status) == 302);
	}
}

TEST(failures_of_the_network_have_reasons)
{
	/* A label is too long for DNS, and nobody listens on port 1. */
	static const struct {
		const char *url;
		enum http_failure failure;
	} rows[] = {
	    {"http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
	     "example/",
	        HTTP_FAILURE_NETWORK},
	    {"http://127.0.0.1:1/", HTTP_FAILURE_NETWORK},
	};
	struct http_settings settings = local_settings();
	pb_auto(http) http = http_new(&settings);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		http_response_auto response = {0};

		g_assert_false(
		    http_post(http, rows[i].url, NULL, NULL, "", &response, NULL));
		g_assert_cmpint(http_get_failure(http), ==, (int)rows[i].failure);
	}
}

TEST(invalid_requests_are_rejected)
{
	static const char *const urls[] = {"", "ftp://example.org/",
	    "gopher://example.org/", "http://user@127.0.0.1/", "127.0.0.1/x",
	    "file:///etc/hostname"};
	struct http_settings settings = local_settings();
	pb_auto(http) http = http_new(&settings);
	g_autofree char *tail = g_strnfill(BOUNDS_HTTP_URL_BYTES, 'x');
	g_autofree char *url = g_strconcat("http://127.0.0.1:1/", tail, NULL);
	g_autofree char *long_etag = g_strnfill(BOUNDS_HTTP_HEADER + 1, 'x');
	const char *etags[] = {"a\r\nX: y", "", "\x7f", long_etag};
	http_response_auto response = {0};
	GError *error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(urls); i++) {
		g_assert_false(http_get(http, urls[i], NULL, &response, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_clear_error(&error);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(etags); i++) {
		g_assert_false(
		    http_get(http, "http://127.0.0.1:1/", etags[i], &response, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_clear_error(&error);
	}
	url[BOUNDS_HTTP_URL_BYTES + 1] = '\0';
	g_assert_false(http_get(http, url, NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	/* At the limits it gets as far as a closed port. */
	url[BOUNDS_HTTP_URL_BYTES] = '\0';
	long_etag[BOUNDS_HTTP_HEADER] = '\0';
	g_assert_false(http_get(http, url, long_etag, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_clear_error(&error);
}

SERVER_TEST(user_agent_is_one_line)
{
	struct http_settings settings = local_settings();
	http_response_auto response = {0};

	settings.user_agent = "a\r\nX-Injected: b";
	g_assert_true(get(server, &settings, "agent", NULL, &response, NULL));
	g_assert_cmpmem(g_bytes_get_data(response.body, NULL),
	    g_bytes_get_size(response.body), "a  X-Injected: b", 16);
}

TEST(files_are_read_if_allowed)
{
	g_autofree char *directory = g_dir_make_tmp("paperboy-http-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "day.json", NULL);
	g_autofree char *url = g_filename_to_uri(path, NULL, NULL);
	g_autofree char *directory_url = g_filename_to_uri(directory, NULL, NULL);
	struct http_settings settings = local_settings();
	http_response_auto response = {0};
	pb_auto(http) http = NULL;
	GError *error = NULL;

	settings.allow_file = true;
	settings.body_bytes = 4;
	http = http_new(&settings);
	g_assert_false(http_get(http, url, NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_clear_error(&error);
	g_assert_false(http_get(http, directory_url, NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_false(http_get(http, "file://example.org/x", NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_true(g_file_set_contents(path, "[12]", 4, NULL));
	g_assert_true(http_get(http, url, NULL, &response, &error));
	g_assert_cmpint(response.status, ==, 200);
	g_assert_cmpmem(g_bytes_get_data(response.body, NULL),
	    g_bytes_get_size(response.body), "[12]", 4);
	http_response_clear(&response);
	g_assert_true(g_file_set_contents(path, "[123]", 5, NULL));
	g_assert_false(http_get(http, url, NULL, &response, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_clear_error(&error);
	g_unlink(path);
	g_rmdir(directory);
}

TEST(public_addresses_are_recognised)
{
	CASES_FOREACH(row, "http_addresses", *address, *is_public) {
		struct sockaddr_in in = {.sin_family = AF_INET};
		struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
		bool is_public;

		g_test_message("%s", row->address);
		if (inet_pton(AF_INET, row->address, &in.sin_addr) == 1) {
			is_public = peer_is_public((struct sockaddr *)&in, sizeof(in));
		} else {
			g_assert_cmpint(
			    inet_pton(AF_INET6, row->address, &in6.sin6_addr), ==, 1);
			is_public =
			    peer_is_public((struct sockaddr *)&in6, sizeof(in6));
		}
		g_assert_cmpint(is_public, ==, cases_is_yes(row->is_public));
	}
}

UNIT_MAIN
