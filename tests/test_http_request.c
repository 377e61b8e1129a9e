/*
 * test_http_request.c - the reader of HTTP requests, its limits, and responses.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "web/http_request.h"
#include "web/web_response.h"

#define HOST "Host: papers.example.org\r\n"

/* @return the status after all bytes, in pieces of a size; HTTP_OK also checks that
 * bytes behind the request change nothing */
static int
read_pieces(struct http_request *request, const char *text, size_t size, size_t piece)
{
	int status = 0;

	for (size_t at = 0; at < size; at += piece) {
		size_t part = MIN(piece, size - at);
		/* Exact size, so that sanitizers detect reads beyond it. */
		g_autofree char *copy = g_memdup2(text + at, part);

		status = http_request_feed(request, copy, part);
	}
	return status;
}

static int
read_sized(const char *text, size_t size)
{
	pb_auto(http_request) whole = http_request_new();
	pb_auto(http_request) pieces = http_request_new();
	int status = read_pieces(whole, text, size, size);

	g_assert_cmpint(read_pieces(pieces, text, size, 1), ==, status);
	if (status == HTTP_OK) {
		g_assert_cmpstr(pieces->path, ==, whole->path);
		g_assert_cmpmem(
		    pieces->body, pieces->body_size, whole->body, whole->body_size);
	}
	/* The verdict is final. */
	if (status)
		g_assert_cmpint(
		    http_request_feed(whole, "GET / HTTP/1.0\r\n\r\n", 18), ==, status);
	return status;
}

static int
read_status(const char *text)
{
	return read_sized(text, strlen(text));
}

struct row {
	const char *text;
	int status; /* 0: incomplete */
};

static void
check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int status = read_status(rows[i].text);

		if (status != rows[i].status)
			g_test_message("%s", rows[i].text);
		g_assert_cmpint(status, ==, rows[i].status);
	}
}

TEST(valid_requests_are_read)
{
	static const struct row rows[] = {
	    {"GET / HTTP/1.1\r\n" HOST "\r\n", 200},
	    {"GET / HTTP/1.0\r\n\r\n", 200},
	    {"HEAD /u/abc HTTP/1.1\r\nhOsT:a:80\r\n\r\n", 200},
	    {"GET /?lang=de HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200},
	    {"GET /?a[]={b}|^`\\%&c HTTP/1.1\r\n" HOST "\r\n", 200},
	    {"GET /%C3%A4 HTTP/1.1\r\nHost: paper_boy\r\n\r\n", 200},
	    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 200},
	    {"GET / HTTP/1.1\r\n" HOST "X: \t a\tb \t\r\nY:\r\n\r\n", 200},
	    {"GET / HTTP/1.1\r\n" HOST "X: \xc3\xa4\xff\r\n\r\n", 200},
	    {"GET / HTTP/1.1\r\n" HOST "Cookie: a\r\nCookie: b\r\n\r\n", 200},
	    {"POST /u/abc HTTP/1.1\r\n" HOST "\r\n", 200},
	    {"POST /u/abc HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\na=b", 200},
	    {"GET / HTTP/1.1\r\n" HOST "\r\nGET /second HTTP/1.1\r\n\r\n", 200},
	    {"", 0},
	    {"GET / HTTP/1.1\r\n" HOST, 0},
	    {"GET / HTTP/1.1\r\n" HOST "\r", 0},
	    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\na=b", 0},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

/* Each is followed by a second request, which must not be read. */
TEST(requests_that_smuggle_are_refused)
{
	CASES_FOREACH(row, "http_smuggling", *text) {
		g_autofree char *both = g_strconcat(
		    row->text, "GET /second HTTP/1.1\r\n" HOST "\r\n", NULL);

		check_rows(&(struct row){both, 400}, 1);
	}
}

/* Without waiting for the end of the head. */
TEST(wrong_line_ends_are_refused_at_once)
{
	static const struct row rows[] = {
	    {"\n", 400},
	    {"GET / HTTP/1.1\n", 400},
	    {"GET / HTTP/1.1\r\nHost: a\n", 400},
	    {"GET / HTTP/1.1\r\n\n", 400},
	    {"GET / HTTP/1.1\rX", 400},
	    {"GET / HTTP/1.1\r\r", 400},
	    {"GET / HTTP/1.1\r", 0},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(nul_is_refused_anywhere_in_the_head)
{
	static const char text[] = "GET / HTTP/1.1\r\n" HOST "X: a\r\n\r\n";

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		g_autofree char *copy = g_memdup2(text, sizeof(text));

		copy[i] = '\0';
		g_assert_cmpint(read_sized(copy, sizeof(text) - 1), ==, 400);
	}
}

TEST(bodies_may_contain_any_bytes)
{
	static const char text[] =
	    "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\n\0\n\r\xff";
	pb_auto(http_request) request = http_request_new();

	g_assert_cmpint(
	    http_request_feed(request, text, sizeof(text) - 1), ==, HTTP_OK);
	g_assert_cmpmem(request->body, request->body_size, "\0\n\r\xff", 4);
}

TEST(other_methods_and_expectations_have_statuses_of_their_own)
{
	static const struct row rows[] = {
	    {"OPTIONS / HTTP/1.1\r\n" HOST "\r\n", 405},
	    {"PUT / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", 405},
	    {"DELETE / HTTP/1.1\r\n" HOST "\r\n", 405},
	    {"BREW / HTTP/1.1\r\n" HOST "\r\n", 501},
	    {"get / HTTP/1.1\r\n" HOST "\r\n", 501},
	    {"POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n\r\n", 417},
	    {"OPTIONS / HTTP/1.1\r\n\r\n", 400},
	    {"BREW / HTTP/1.1\r\n" HOST "Transfer-Encoding: a\r\n\r\n", 400},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

/* @param size  of the target */
static int
read_target(size_t size)
{
	g_autofree char *name = g_strnfill(size - 1, 'a');
	g_autofree char *text =
	    g_strdup_printf("GET /%s HTTP/1.1\r\n" HOST "\r\n", name);

	return read_status(text);
}

/* @param size  of request line and header */
static int
read_head(size_t size)
{
	static const char start[] = "GET / HTTP/1.1\r\n" HOST "X: ";
	g_autofree char *value = g_strnfill(size - strlen(start) - 4, 'a');
	g_autofree char *text = g_strconcat(start, value, "\r\n\r\n", NULL);

	g_assert_cmpuint(strlen(text), ==, size);
	return read_status(text);
}

static int
read_fields(unsigned count)
{
	g_autoptr(GString) text = g_string_new("GET / HTTP/1.1\r\n" HOST);

	for (unsigned i = 1; i < count; i++)
		g_string_append(text, "X: a\r\n");
	g_string_append(text, "\r\n");
	return read_status(text->str);
}

static int
read_body(size_t size)
{
	g_autofree char *body = g_strnfill(size, 'a');
	g_autofree char *text = g_strdup_printf(
	    "POST / HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s", size, body);

	return read_status(text);
}

TEST(limits_hold)
{
	g_autofree char *endless = g_strnfill(100000, 'a');

	g_assert_cmpint(read_target(BOUNDS_WEB_TARGET_BYTES), ==, HTTP_OK);
	g_assert_cmpint(read_target(BOUNDS_WEB_TARGET_BYTES + 1), ==, 414);
	g_assert_cmpint(read_target(BOUNDS_WEB_HEAD_BYTES), ==, 414);
	g_assert_cmpint(read_head(BOUNDS_WEB_HEAD_BYTES), ==, HTTP_OK);
	g_assert_cmpint(read_head(BOUNDS_WEB_HEAD_BYTES + 1), ==, 431);
	g_assert_cmpint(read_fields(BOUNDS_WEB_HEAD_FIELDS), ==, HTTP_OK);
	g_assert_cmpint(read_fields(BOUNDS_WEB_HEAD_FIELDS + 1), ==, 431);
	g_assert_cmpint(read_body(BOUNDS_WEB_BODY_BYTES), ==, HTTP_OK);
	g_assert_cmpint(read_body(BOUNDS_WEB_BODY_BYTES + 1), ==, 413);
	g_assert_cmpint(read_status("POST / HTTP/1.1\r\n" HOST
	                            "Content-Length: 18446744073709551616\r\n\r\n"),
	    ==, 413);
	g_assert_cmpint(read_status(endless), ==, 414);
}

TEST(memory_is_not_taken_before_it_is_needed)
{
	pb_auto(http_request) request = http_request_new();
	static const char head[] =
	    "POST / HTTP/1.1\r\n" HOST "Content-Length: 16385\r\n\r\n";

	g_assert_null(request->head);
	g_assert_cmpint(http_request_feed(request, head, strlen(head)), ==, 413);
	g_assert_null(request->body_buffer);
	g_assert_cmpuint(request->head_space, <=, BOUNDS_WEB_HEAD_BYTES + 1);
}

TEST(fields_are_trimmed_and_the_first_one_counts)
{
	static const char text[] =
	    "GET /a?b=c HTTP/1.1\r\n" HOST "accept-language: \t de, en \t\r\n"
	    "Accept-Language: fr\r\nIF-NONE-MATCH:\"x\"\r\n\r\n";
	pb_auto(http_request) request = http_request_new();

	g_assert_cmpint(http_request_feed(request, text, strlen(text)), ==, HTTP_OK);
	g_assert_cmpstr(request->path, ==, "/a");
	g_assert_cmpstr(request->query, ==, "b=c");
	g_assert_cmpstr(request->fields[HTTP_ACCEPT_LANGUAGE], ==, "de, en");
	g_assert_cmpstr(request->fields[HTTP_IF_NONE_MATCH], ==, "\"x\"");
	g_assert_null(request->fields[HTTP_COOKIE]);
}

/* ---- responses ---- */

static char *
format(const struct web_response *response, bool without_body)
{
	/* 2026-11-22 09:08:07 */
	g_autoptr(GBytes) bytes =
	    web_response_format(response, 1795338487, without_body);
	gsize size;
	const char *data = g_bytes_get_data(bytes, &size);

	return g_strndup(data, size);
}

TEST(responses_close_and_are_not_stored)
{
	g_autoptr(GBytes) body = g_bytes_new_static("hello\n", 6);
	g_autofree char *page = format(&(struct web_response){.status = 200,
	                                   .type = "text/plain",
	                                   .content_policy = "default-src 'none'",
	                                   .is_private = true,
	                                   .body = body},
	    false);
	g_autofree char *head =
	    format(&(struct web_response){.status = 200, .body = body}, true);

	g_assert_cmpstr(page, ==,
	    "HTTP/1.1 200 OK\r\n"
	    "Date: Sun, 22 Nov 2026 09:08:07 GMT\r\n"
	    "Connection: close\r\n"
	    "Content-Type: text/plain\r\n"
	    "Content-Length: 6\r\n"
	    "Cache-Control: no-store\r\n"
	    "Content-Security-Policy: default-src 'none'\r\n"
	    "Referrer-Policy: no-referrer\r\n"
	    "X-Content-Type-Options: nosniff\r\n"
	    "X-Robots-Tag: noindex\r\n"
	    "\r\n"
	    "hello\n");
	g_assert_nonnull(strstr(head, "Content-Length: 6\r\n"));
	g_assert_true(g_str_has_suffix(head, "\r\n\r\n"));
}

TEST(feeds_are_validated_by_their_tag)
{
	g_autoptr(GBytes) body = g_bytes_new_static("feed", 4);
	g_autofree char *feed = format(
	    &(struct web_response){.status = 200, .tag = "a1", .body = body}, false);
	g_autofree char *same = format(
	    &(struct web_response){.status = 304, .tag = "a1", .body = body}, false);

	g_assert_nonnull(strstr(feed, "ETag: \"a1\"\r\n"));
	g_assert_nonnull(strstr(feed, "Cache-Control: private, no-cache\r\n"));
	g_assert_nonnull(strstr(same, "ETag: \"a1\"\r\n"));
	g_assert_null(strstr(same, "Content-Length"));
	g_assert_true(g_str_has_suffix(same, "\r\n\r\n"));
}

TEST(values_cannot_end_their_line)
{
	g_autofree char *text = format(
	    &(struct web_response){.status = 405, .allow = "GET\r\nX: y\n"}, false);

	g_assert_nonnull(strstr(text, "\r\nAllow: GETX: y\r\n"));
}

TEST(statuses_ask_for_a_retry)
{
	g_autofree char *text = format(&(struct web_response){.status = 503}, false);

	g_assert_true(g_str_has_prefix(text, "HTTP/1.1 503 Service Unavailable\r\n"));
	g_assert_nonnull(strstr(text, "Retry-After: 60\r\n"));
	g_assert_nonnull(strstr(text, "Content-Length: 0\r\n"));
}

UNIT_MAIN
