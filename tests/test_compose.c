/*
 * test_compose.c - composed messages, byte for byte, and rejected input.
 */
#include "base/bounds.h"
#include "base/error.h"
#include "lib/unit.h"
#include "message/compose.h"

/* In two spans. */
static const struct compose_span text_runs[] = {{"te", 2}, {"xt\r\n", 4}};
static const struct compose_span html_run = {"PGI+\r\n", 6};

static const struct compose_headers base = {
    .date = 0,
    .from = {"A", "a@one.example"},
    .to = {NULL, "b@two.example"},
    .subject = "Hello",
    .message_id = "x@one.example",
    .boundary = "=_b",
    .text = {text_runs, G_N_ELEMENTS(text_runs), ENCODING_QUOTED_PRINTABLE},
    .html = {&html_run, 1, ENCODING_BASE64},
};

static void
check_message(const struct compose_headers *fields, const char *wanted)
{
	g_autoptr(GBytes) message = NO_ERROR(compose_message(fields, &error));
	g_autofree char *text = NULL;
	size_t size;
	const char *data;

	data = g_bytes_get_data(message, &size);
	text = g_strndup(data, size);
	g_assert_cmpstr(text, ==, wanted);
}

#define HEADER                                     \
	"Date: Thu, 1 Jan 1970 00:00:00 +0000\r\n" \
	"From: A <a@one.example>\r\n"              \
	"To: b@two.example\r\n"                    \
	"Subject: Hello\r\n"                       \
	"Message-ID: <x@one.example>\r\n"          \
	"MIME-Version: 1.0\r\n"

TEST(has_text_first_and_html_last)
{
	static const struct compose_header extra[] = {{"Precedence", "bulk"}};
	struct compose_headers fields = base;

	fields.extra = extra;
	fields.extra_count = 1;
	check_message(&fields,
	    HEADER "Precedence: bulk\r\n"
	           "Content-Type: multipart/alternative; boundary=\"=_b\"\r\n"
	           "\r\n"
	           "--=_b\r\n"
	           "Content-Type: text/plain; charset=utf-8\r\n"
	           "Content-Transfer-Encoding: quoted-printable\r\n"
	           "\r\n"
	           "text\r\n"
	           "\r\n"
	           "--=_b\r\n"
	           "Content-Type: text/html; charset=utf-8\r\n"
	           "Content-Transfer-Encoding: base64\r\n"
	           "\r\n"
	           "PGI+\r\n"
	           "\r\n"
	           "--=_b--\r\n");
}

TEST(is_plain_without_html)
{
	struct compose_headers fields = base;

	fields.html.spans = NULL;
	fields.boundary = NULL;
	check_message(&fields, HEADER "Content-Type: text/plain; charset=utf-8\r\n"
	                              "Content-Transfer-Encoding: quoted-printable\r\n"
	                              "\r\n"
	                              "text\r\n");
}

static void
refuse(const struct compose_headers *fields)
{
	FAILS(PB_ERROR_INPUT, compose_message(fields, &error));
}

TEST(rejects_invalid_fields)
{
	static const struct compose_header own = {"subject", "again"};
	static const struct compose_header twice[] = {
	    {"List-Id", "x"}, {"LIST-ID", "y"}};
	static const struct compose_header injected = {"X-Y", "x\r\nBcc: y"};
	struct compose_headers fields = base;

	fields.extra = &own;
	fields.extra_count = 1;
	refuse(&fields);
	fields.extra = &injected;
	refuse(&fields);
	fields.extra = twice;
	fields.extra_count = 2;
	refuse(&fields);
	fields = base;
	fields.to.address = "b@two.example>\r\nRCPT TO:<c@three.example";
	refuse(&fields);
	fields = base;
	fields.from.address = "nobody";
	refuse(&fields);
	fields = base;
	fields.message_id = "x";
	refuse(&fields);
	fields = base;
	fields.date = INT64_MAX;
	refuse(&fields);
}

TEST(rejects_invalid_boundaries)
{
	g_autofree char *at = g_strnfill(BOUNDS_BOUNDARY_BYTES, 'b');
	g_autofree char *beyond = g_strnfill(BOUNDS_BOUNDARY_BYTES + 1, 'b');
	const char *const bad[] = {NULL, "", beyond, "a b", "a\"b", "a\r\nb", "\u00FC",
	    /* These two occur in the parts. */
	    "text", "PGI+"};
	struct compose_headers fields = base;
	g_autoptr(GBytes) message = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		fields.boundary = bad[i];
		refuse(&fields);
	}
	fields.boundary = at;
	message = compose_message(&fields, NULL);
	g_assert_nonnull(message);
}

UNIT_MAIN
