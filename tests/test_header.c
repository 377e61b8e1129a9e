/*
 * test_header.c - header fields: folding, encoded words, injection.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/header.h"
#include "message/sanitize.h"

TEST(ascii_text_is_not_encoded)
{
	CASES_FOREACH(row, "header_ascii", *text, *field) {
		g_autoptr(GString) out = g_string_new(NULL);

		header_append_text(out, "Subject", row->text);
		g_assert_cmpstr(out->str, ==, row->field);
	}
}

/* Random text: short lines, whole words, only ASCII. */
TEST(long_text_respects_line_limits)
{
	static const char *const units[] = {"x", "word ", "\u00FC", "\u957F",
	    "\U0001F9EA", "a \u00FC \u957F ", "e\u0301", "=?"};

	for (size_t unit = 0; unit < G_N_ELEMENTS(units); unit++) {
		for (unsigned times = 1; times < 400; times += 7) {
			g_autoptr(GString) text = g_string_new(NULL);
			g_autoptr(GString) out = g_string_new(NULL);
			g_auto(GStrv) lines = NULL;

			for (unsigned i = 0; i < times; i++)
				g_string_append(text, units[unit]);
			header_append_text(out, "Subject", text->str);
			g_assert_true(g_str_is_ascii(out->str));
			g_assert_true(g_str_has_suffix(out->str, "\r\n"));
			g_string_truncate(out, out->len - 2);
			lines = g_strsplit(out->str, "\r\n", -1);
			for (char **line = lines; *line; line++) {
				bool is_encoded = strstr(*line, "=?") != NULL;

				g_assert_cmpuint(strlen(*line), <=,
				    is_encoded ? 76 : BOUNDS_LINE_SOFT_BYTES);
				g_assert_true(line == lines || (*line)[0] == ' ');
				g_assert_null(strpbrk(*line, "\r\n"));
			}
		}
	}
}

TEST(mailboxes_are_quoted_if_needed)
{
	CASES_FOREACH(row, "header_mailboxes", *name, *field) {
		const struct header_mailbox box = {row->name, "a@B.example"};
		g_autoptr(GString) out = g_string_new(NULL);

		g_assert_true(
		    NO_ERROR(header_append_mailboxes(out, "To", &box, 1, &error)));
		g_assert_cmpstr(out->str, ==, row->field);
	}
}

TEST(mailboxes_are_folded_and_validated)
{
	struct header_mailbox boxes[] = {{"Ada Example", "ada@one.example"},
	    {"Bo Sample", "bo@two.example"}, {"Chi Probe", "chi@three.example"}};
	g_autoptr(GString) out = g_string_new("X: y\r\n");

	g_assert_true(header_append_mailboxes(out, "To", boxes, 3, NULL));
	g_assert_cmpstr(out->str, ==,
	    "X: y\r\nTo: Ada Example <ada@one.example>, Bo Sample <bo@two.example>, "
	    "Chi "
	    "Probe\r\n <chi@three.example>\r\n");
	g_string_assign(out, "X: y\r\n");
	boxes[1].address = "a@b.example\r\nBcc: c@d.example";
	FAILS(PB_ERROR_INPUT, header_append_mailboxes(out, "To", boxes, 3, &error));
	g_assert_cmpstr(out->str, ==, "X: y\r\n");
}

TEST(long_name_is_cut_at_a_character)
{
	for (unsigned shift = 0; shift < 3; shift++) {
		g_autoptr(GString) name = g_string_new(NULL);
		struct header_mailbox box = {NULL, "a@b.example"};
		g_autoptr(GString) out = g_string_new(NULL);

		for (unsigned i = 0; i < shift; i++)
			g_string_append_c(name, 'x');
		while (name->len < BOUNDS_PERSON_NAME_BYTES + 30)
			g_string_append(name, "\u957F");
		box.name = name->str;
		g_assert_true(header_append_mailboxes(out, "To", &box, 1, NULL));
		/* U+FFFD is "77+9" at one of three offsets. */
		g_assert_null(strstr(out->str, "77+9"));
		g_assert_null(strstr(out->str, "++/v"));
		g_assert_cmpuint(out->len, <, 500);
	}
}

TEST(dates_are_english_and_numeric)
{
	static const struct {
		int64_t at;
		const char *field;
	} rows[] = {
	    {0, "Date: Thu, 1 Jan 1970 00:00:00 +0000\r\n"},
	    {1795242600, "Date: Sat, 21 Nov 2026 06:30:00 +0000\r\n"},
	    {951782399, "Date: Mon, 28 Feb 2000 23:59:59 +0000\r\n"},
	    {951782400, "Date: Tue, 29 Feb 2000 00:00:00 +0000\r\n"},
	    {253402300799, "Date: Fri, 31 Dec 9999 23:59:59 +0000\r\n"},
	};
	static const int64_t bad[] = {253402300800, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) out = g_string_new(NULL);

		g_assert_true(header_append_date(out, "Date", rows[i].at, NULL));
		g_assert_cmpstr(out->str, ==, rows[i].field);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GString) out = g_string_new(NULL);

		FAILS(PB_ERROR_INPUT, header_append_date(out, "Date", bad[i], &error));
		g_assert_cmpuint(out->len, ==, 0);
	}
}

TEST(message_ids_are_checked)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *filler = g_strnfill(BOUNDS_MESSAGE_ID_BYTES - 2, 'x');
	g_autofree char *at = g_strconcat(filler, "@y", NULL);
	g_autofree char *beyond = g_strconcat("x", at, NULL);

	g_assert_true(
	    header_append_message_id(out, "Message-ID", "digest.1.x@y.example", NULL));
	g_assert_cmpstr(out->str, ==, "Message-ID: <digest.1.x@y.example>\r\n");
	CASES_FOREACH(row, "header_bad", *text) {
		FAILS(PB_ERROR_INPUT,
		    header_append_message_id(out, "Message-ID", row->text, &error));
	}
	g_assert_true(header_is_message_id(at));
	g_assert_false(header_is_message_id(beyond));
}

TEST(values_are_folded_within_the_line_limit)
{
	g_autofree char *at = g_strnfill(BOUNDS_LINE_BYTES - strlen("X: "), 'v');
	g_autofree char *beyond = g_strconcat("v", at, NULL);
	g_autoptr(GString) out = g_string_new(NULL);

	g_assert_true(header_append_folded(out, "X", at, NULL));
	g_assert_cmpuint(out->len, ==, BOUNDS_LINE_BYTES + 2);
	g_string_truncate(out, 0);
	FAILS(PB_ERROR_INPUT, header_append_folded(out, "X", beyond, &error));
	g_assert_false(header_append_folded(out, "X", "a\r\nb", NULL));
	g_assert_false(header_append_folded(out, "X", "\u00FC", NULL));
	g_assert_cmpuint(out->len, ==, 0);
}

TEST(lines_are_cut_at_a_nearby_blank)
{
	CASES_FOREACH(row, "header_cut", *text, *limit, *line) {
		g_autofree char *line =
		    sanitize_line(row->text, cases_number(row->limit));

		g_assert_cmpstr(line, ==, row->line);
	}
}

TEST(only_web_links_are_links)
{
	static const char *const good[] = {"https://example.org",
	    "http://example.org/a?b=c&d#e", "HTTPS://example.org/%20",
	    "https://example.org/@user"};
	static const char *const bad[] = {"", "https://", "https:///x",
	    "javascript:alert(1)", "data:text/html,x", "ftp://example.org/",
	    "//example.org/", "example.org", "https://user@example.org/",
	    "https://user:pass@example.org", "https://:80/", "https://example.org/\"x",
	    "https://example.org/<", "https://example.org/a b",
	    "https://example.org/\r\n", "https://example.org/\u202E",
	    " https://example.org", "https://example.org\\@evil.example"};
	g_autofree char *at = g_strnfill(BOUNDS_PAPER_URL_BYTES, 'x');
	g_autofree char *beyond = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
		g_assert_true(sanitize_is_web_url(good[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
		g_assert_false(sanitize_is_web_url(bad[i]));
	g_assert_false(sanitize_is_web_url(NULL));
	memcpy(at, "https://", 8);
	beyond = g_strconcat(at, "x", NULL);
	g_assert_true(sanitize_is_web_url(at));
	g_assert_false(sanitize_is_web_url(beyond));
}

UNIT_MAIN
