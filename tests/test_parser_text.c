/*
 * test_parser_text.c - HTML, flowed text, charsets, encoded words and quotes, one by
 * one.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/html.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/parser_proto.h"
#include "parser/authentication.h"
#include "parser/charset.h"
#include "parser/encoded_word.h"
#include "parser/flowed.h"
#include "parser/headers.h"
#include "parser/quote_strip.h"

static void
check_all(const char *table, char *(*function)(const char *))
{
	CASES_FOREACH(row, table, *from, *to) {
		/* Exact size, so that sanitizers detect reads beyond it. */
		g_autofree char *from = g_strdup(row->from);
		g_autofree char *to = function(from);

		if (strcmp(to, row->to) != 0)
			g_error("%s\nis      %s\nnot     %s", from, to, row->to);
	}
}

static char *
format_html(const char *text)
{
	g_autofree char *exact = g_memdup2(text, strlen(text));

	return html_format_text(exact ? exact : "", strlen(text));
}

static char *
decode_flowed(const char *text)
{
	return flowed_decode(text, false);
}

TEST(html_becomes_text)
{
	check_all("parser_text_html", format_html);
}

TEST(character_references_are_read)
{
	check_all("parser_text_entities", format_html);
}

TEST(flowed_lines_are_joined)
{
	g_autofree char *deleted = flowed_decode("a \nb \n> c \n> d\n", true);

	check_all("parser_text_flowed", decode_flowed);
	g_assert_cmpstr(deleted, ==, "ab\n> cd\n");
}

TEST(quotes_are_removed)
{
	check_all("parser_text_quotes", quote_strip);
}

/* Elements beyond the bound have no effect; earlier ones do. */
TEST(html_elements_are_bounded)
{
	for (unsigned beyond = 0; beyond < 2; beyond++) {
		g_autoptr(GString) deep = g_string_new(NULL);
		g_autofree char *text = NULL;

		for (unsigned i = 0; i < BOUNDS_HTML_DEPTH - 1 + beyond; i++)
			g_string_append(deep, "<b>");
		g_string_append(deep, "<i hidden>x</i>y");
		text = html_format_text(deep->str, deep->len);
		g_assert_cmpstr(text, ==, beyond ? "xy\n" : "y\n");
	}
}

TEST(html_tags_are_bounded)
{
	for (unsigned beyond = 0; beyond < 2; beyond++) {
		g_autofree char *blanks =
		    g_strnfill(BOUNDS_HTML_TAG_BYTES - 3 + beyond, ' ');
		g_autofree char *page = g_strconcat("<b", blanks, ">x", NULL);
		g_autofree char *text = html_format_text(page, strlen(page));

		g_assert_cmpstr(text, ==, beyond ? ">x\n" : "x\n");
	}
}

TEST(quotes_in_quotes_are_bounded)
{
	g_autoptr(GString) deep = g_string_new(NULL);
	g_autofree char *text = NULL;

	for (unsigned i = 0; i < BOUNDS_MAIL_QUOTES + 1; i++)
		g_string_append(deep, "<blockquote>");
	g_string_append(deep, "x");
	text = html_format_text(deep->str, deep->len);
	g_assert_cmpuint(strlen(text), ==, BOUNDS_MAIL_QUOTES + strlen(" x\n"));
	g_string_assign(deep, "");
	for (unsigned i = 0; i < BOUNDS_MAIL_QUOTES + 1; i++)
		g_string_append(deep, ">");
	g_free(text);
	text = flowed_decode(deep->str, false);
	g_assert_cmpuint(strlen(text), ==, BOUNDS_MAIL_QUOTES + strlen(" \n"));
}

TEST(text_of_html_is_bounded)
{
	g_autofree char *page = g_strnfill(4 * BOUNDS_MAIL_DECODE_BYTES, 'x');
	g_autofree char *text = html_format_text(page, strlen(page));

	g_assert_cmpuint(strlen(text), ==, BOUNDS_MAIL_DECODE_BYTES + 1);
}

TEST(charsets_are_converted_to_utf_8)
{
	g_autoptr(GString) names = g_string_new(NULL);

	CASES_FOREACH(row, "parser_text_charsets", *name, *bytes, *text) {
		pb_auto(charset_set) set = NULL;
		g_autofree char *text = NULL;

		g_string_printf(names, "Content-Type: x; CharSet*0*=\"%s\"",
		    row->name ? row->name : "");
		set = charset_set_new(names->str, names->len);
		text =
		    charset_decode(set, row->name, row->bytes, strlen(row->bytes), 100);
		if (strcmp(text, row->text) != 0)
			g_error("%s: %s", row->name, text);
	}
}

TEST(charsets_are_bounded)
{
	static const char *const names[BOUNDS_MAIL_CHARSETS + 1] = {"iso-8859-2",
	    "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7",
	    "iso-8859-8", "iso-8859-9", "iso-8859-10", "iso-8859-11", "iso-8859-13",
	    "iso-8859-14", "iso-8859-15", "iso-8859-16", "windows-1250", "koi8-r",
	    "koi8-u"};
	g_autoptr(GString) text = g_string_new(NULL);
	pb_auto(charset_set) set = NULL;
	g_autofree char *at = NULL;
	g_autofree char *beyond = NULL;

	/* Another label of the same charset is already open. */
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_string_append_printf(text, "=?%s?q?a?= =?latin2?q?a?=\n", names[i]);
	set = charset_set_new(text->str, text->len);
	at = charset_decode(set, "koi8-r", "\xf0", 1, 100);
	beyond = charset_decode(set, "koi8-u", "\xf0", 1, 100);
	g_assert_cmpstr(at, ==, "П");
	g_assert_cmpstr(beyond, ==, "ð");
}

TEST(text_is_cut_at_a_character)
{
	pb_auto(charset_set) set = charset_set_new("", 0);
	g_autofree char *at = charset_decode(set, "utf-8", "aü", 3, 3);
	g_autofree char *beyond = charset_decode(set, "utf-8", "aü", 3, 2);

	g_assert_cmpstr(at, ==, "aü");
	g_assert_cmpstr(beyond, ==, "a");
}

static char *
decode_word(const char *text)
{
	pb_auto(charset_set) set = charset_set_new(text, strlen(text));

	return encoded_word_decode(set, text, strlen(text), 100);
}

TEST(encoded_words_are_decoded)
{
	check_all("parser_text_words", decode_word);
}

TEST(header_fields_are_split)
{
	static const char text[] =
	    "A: b\n c\nD:e\nF : g\nno field\n h\n: x\nI:\n\nJ: k\n";
	g_autoptr(GArray) fields = headers_parse(text, strlen(text));
	const struct headers_entry *a = headers_find(fields, "a");
	g_autoptr(GString) many = g_string_new(NULL);
	g_autoptr(GPtrArray) groups = NULL;

	g_assert_cmpuint(fields->len, ==, 3);
	g_assert_nonnull(a);
	g_assert_cmpmem(a->value, a->value_size, " b\n c\n", 6);
	g_assert_null(headers_find(fields, "F"));
	g_assert_null(headers_find(fields, "J"));
	for (unsigned i = 0; i < BOUNDS_REPORT_GROUPS + 1; i++)
		g_string_append(many, "A: b\n\n\n");
	groups = headers_parse_groups(many->str, many->len);
	g_assert_cmpuint(groups->len, ==, BOUNDS_REPORT_GROUPS);
}

TEST(results_are_bounded)
{
	GVariantBuilder out;
	g_autoptr(GVariant) records = NULL;
	g_autofree char *text = NULL;
	unsigned left = 1;

	g_variant_builder_init(&out, G_VARIANT_TYPE(PROTO_TYPE));
	authentication_append(&out, "a; x=pass; y=pass", &left);
	records = g_variant_ref_sink(g_variant_builder_end(&out));
	text = g_variant_print(records, FALSE);
	g_assert_cmpuint(left, ==, 0);
	g_assert_nonnull(strstr(text, "'x pass "));
	g_assert_null(strstr(text, "'y pass "));
}

UNIT_MAIN
