/*
 * fuzz_http_request.c - feed any bytes to the HTTP reader, and requests to the routes.
 *
 * Input in pieces of any size gives the same request as the whole.  What is accepted
 * satisfies RFC 9112 line by line, as a second, simpler reader finds.  What the routes
 * accept is a valid request to paperboyd.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "fuzz.h"
#include "web/client_network.h"
#include "web/negotiate.h"
#include "web/routes.h"

static int
read_pieces(struct http_request *request, const struct fuzz_input *input, size_t piece)
{
	int status = 0;

	for (size_t at = 0; at < input->left; at += piece) {
		size_t part = MIN(piece, input->left - at);
		/* Exact size, so that sanitizers detect reads beyond it. */
		g_autofree char *copy = g_memdup2(input->at + at, part);

		status = http_request_feed(request, copy, part);
		g_assert(request->head_space <= BOUNDS_WEB_HEAD_BYTES + 1);
	}
	return status;
}

/* The head of an accepted request. */
static void
check_head(const struct fuzz_input *input)
{
	const char *end =
	    g_strstr_len((const char *)input->at, (gssize)input->left, "\r\n\r\n");
	g_auto(GStrv) lines = NULL;
	g_autofree char *head = NULL;
	unsigned hosts = 0, lengths = 0;

	g_assert_nonnull(end);
	head =
	    g_strndup((const char *)input->at, (gsize)(end - (const char *)input->at));
	g_assert(head + strlen(head) - head == end - (const char *)input->at);
	g_assert_cmpuint(strlen(head), <=, BOUNDS_WEB_HEAD_BYTES - 4);
	lines = g_strsplit(head, "\r\n", -1);
	g_assert(g_str_has_suffix(lines[0], " HTTP/1.0") ||
	         g_str_has_suffix(lines[0], " HTTP/1.1"));
	for (unsigned i = 0; lines[i]; i++) {
		g_assert(!strpbrk(lines[i], "\r\n"));
		if (i == 0)
			continue;
		g_assert(strcspn(lines[i], ":") > 0 && strchr(lines[i], ':'));
		g_assert(strcspn(lines[i], " \t") > strcspn(lines[i], ":"));
		hosts += g_ascii_strncasecmp(lines[i], "host:", 5) == 0;
		lengths += g_ascii_strncasecmp(lines[i], "content-length:", 15) == 0;
		g_assert(g_ascii_strncasecmp(lines[i], "transfer-encoding", 17) != 0 ||
		         lines[i][17] != ':');
	}
	g_assert(hosts <= 1 && lengths <= 1);
	g_assert(hosts == 1 || g_str_has_suffix(lines[0], "0"));
}

static void
check_same(const struct http_request *one, const struct http_request *other)
{
	g_assert(one->method == other->method);
	g_assert_cmpstr(one->path, ==, other->path);
	g_assert_cmpstr(one->query, ==, other->query);
	g_assert_cmpmem(one->body, one->body_size, other->body, other->body_size);
	for (unsigned i = 0; i < HTTP_FIELDS; i++)
		g_assert_cmpstr(one->fields[i], ==, other->fields[i]);
}

static void
check_routes(const struct http_request *request)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	/* Loaded once: it takes longer than a run. */
	static struct web_pages *pages;
	static GArray *proxies;
	struct route_refusal refusal;
	pb_auto(web_request) asked = NULL;
	pb_auto(web_request) read = NULL;
	g_autoptr(GBytes) frame = NULL;
	g_autoptr(GBytes) rest = NULL;
	g_autoptr(GError) error = NULL;

	if (!pages)
		pages = web_pages_load(
		    directory, NULL, "https://papers.example.org", &error);
	if (!proxies)
		proxies = client_network_parse_proxies("::/0", &error);
	g_assert_no_error(error);
	asked = routes_parse(&(struct routes){.pages = pages,
	                         .origin = "https://papers.example.org",
	                         .proxies = proxies},
	    request, &refusal);
	if (!asked) {
		g_assert(refusal.status >= 400 && refusal.status <= 415);
		g_assert((refusal.status == 405) == (refusal.allow != NULL));
		return;
	}
	g_assert(request->method == HTTP_POST ||
	         (asked->op != WEB_OP_ONE_CLICK && asked->op != WEB_OP_LEAVE &&
	             asked->op != WEB_OP_SUBSCRIBE && asked->op != WEB_OP_CONFIRM &&
	             asked->op != WEB_OP_PREFERENCES));
	frame = web_request_write(asked);
	g_assert_nonnull(frame);
	rest = g_bytes_new_from_bytes(frame, 4, g_bytes_get_size(frame) - 4);
	read = web_request_parse(rest, &error);
	g_assert_no_error(error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	size_t piece = 1 + fuzz_take_byte(&input) % 64;
	pb_auto(http_request) whole = http_request_new();
	pb_auto(http_request) pieces = http_request_new();
	int status = read_pieces(whole, &input, MAX(input.left, 1));

	g_assert(read_pieces(pieces, &input, piece) == status);
	if (status != HTTP_OK) {
		g_assert(status == 0 || (status >= 400 && status <= 501));
		return 0;
	}
	check_head(&input);
	check_same(whole, pieces);
	check_routes(whole);
	return 0;
}
