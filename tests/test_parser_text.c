/*
 * test_parser_text.c - HTML, flowed text, charsets, encoded words and quotes, one by
 * one.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/entity.h"
#include "base/html.h"
#include "lib/unit.h"
#include "message/parser_proto.h"
#include "parser/authentication.h"
#include "parser/charset.h"
#include "parser/encoded_word.h"
#include "parser/flowed.h"
#include "parser/headers.h"
#include "parser/quote_strip.h"

struct pair {
	const char *from, *to;
};

static const struct pair html[] = {
    {"", ""},
    {"text", "text\n"},
    {"a<br>b", "a\nb\n"},
    {"a<br><br>b", "a\n\nb\n"},
    {"a<br/>b</br>c", "a\nb\nc\n"},
    {"<div>a</div><div>b</div>", "a\nb\n"},
    {"<div>a<br></div><div>b</div>", "a\nb\n"},
    {"<div>a</div><div><br></div><div>b</div>", "a\n\nb\n"},
    {"<div>a</div><div>&nbsp;</div><div>b</div>", "a\n\nb\n"},
    {"<p>a</p><p>b</p>", "a\n\nb\n"},
    {"<p>a<p>b", "a\n\nb\n"},
    {"<p class=MsoNormal>a<p class=MsoNormal>b", "a\nb\n"},
    {"<p>a<div>b</div>", "a\n\nb\n"},
    {"  a \n\t b  ", "a b\n"},
    {"a <b> b </b> c", "a b c\n"},
    {"a<b>b</b>c", "abc\n"},
    {"a&nbsp;&nbsp; b", "a b\n"},
    {"<pre>a\n  b</pre>c", "a\n  b\n\nc\n"},
    {"1 < 2 <= 3 </ 4 <", "1 < 2 <= 3 </ 4 <\n"},
    {"a<!-- b -->c<!d>e<?f?>g", "aceg\n"},
    {"a<!-->b", "ab\n"},
    {"a<!-- never ended", "a\n"},
    {"a<b never='ended", "a\n"},
    {"a<script>b<c></script>d", "ad\n"},
    {"a<SCRIPT>b</SCRIPTx></script >d", "ad\n"},
    {"a<style>b", "a\n"},
    {"<head>a<title>b</title></head>c", "c\n"},
    {"<head>a<body>c", "c\n"},
    {"a<textarea>b</textarea>c", "ac\n"},
    {"a<span style='color:red; Display : NONE'>b</span>c", "ac\n"},
    {"a<span style='font-size:0'>b</span>c", "ac\n"},
    {"a<span style='font-size:0.9em'>b</span>c", "abc\n"},
    {"a<span style='xfont-size:0'>b</span>c", "abc\n"},
    {"a<i hidden>b</i>c", "ac\n"},
    {"a<div style=display:none>b<div>c</div>d</div>e", "a\ne\n"},
    {"a<div style=display:none>b<i></div>c", "a\nc\n"},
    {"</div>a</span>", "a\n"},
    {"a<blockquote>b<br>c</blockquote>d", "a\n>\n> b\n> c\n\nd\n"},
    {"<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>>\n>> b\n"},
    {"a<div id=divRplyFwdMsg>b</div>c", "a\n> b\n> c\n"},
    {"a<div id=x_divRplyFwdMsg>b</div>c", "a\n> b\n> c\n"},
    {"a<div id=notdivRplyFwdMsg>b</div>c", "a\nb\nc\n"},
    {"a<div class='x gmail_attr'>b</div>c", "a\n> b\nc\n"},
    {"a<div class=gmail_signature>b</div>c", "a\nc\n"},
    {"<ul><li>a<li>b</ul>", "a\nb\n"},
    {"<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc\n"},
    {"<a href=\"x>y\">a</a>", "a\n"},
    {"<a b='c\"d>' e>f", "f\n"},
    {"<a b=c/d>e", "e\n"},
    {"<a =b>c", "c\n"},
    {"<aaaaaaaaaaaaaaaaaaaaaaaaaaa>b</aaaaaaaaaaaaaaaaaaaaaaaaaaa>c", "bc\n"},
};

static const struct pair entities[] = {
    {"&amp;", "&\n"},
    {"&lt;b&gt;", "<b>\n"},
    {"&eacute;&Uuml;&yuml;&nbsp;x", "éÜÿ x\n"},
    {"&hellip;&euro;", "…€\n"},
    {"&#65;&#x42;&#X43;", "ABC\n"},
    {"&#65", "A\n"},
    {"&#0;&#xd800;&#x110000;&#99999999;", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                          "\xef\xbf\xbd"
                                          "9;\n"},
    {"&", "&\n"},
    {"&;", "&;\n"},
    {"&#;", "&#;\n"},
    {"&#x;", "&#x;\n"},
    {"&copy=1&lt", "&copy=1&lt\n"},
    {"&nothing;", "&nothing;\n"},
    {"&AMP;", "&AMP;\n"},
    {"&aaaaaaaaaaaaaaaaaaaaaaaaa;", "&aaaaaaaaaaaaaaaaaaaaaaaaa;\n"},
};

static const struct pair flowed[] = {
    {"", ""},
    {"a \nb\n", "a b\n"},
    {"a\nb\n", "a\nb\n"},
    {"a \n b\n", "a b\n"},
    {" > a\n", "> a\n"},
    {"a \n\nb\n", "a \nb\n"},
    {"> a \n> b\n", "> a b\n"},
    {"> a \n>> b\n", "> a \n>> b\n"},
    {">>a \n>> b\nc", ">> a b\nc\n"},
    {"a \n-- \nb\n", "a \n-- \nb\n"},
    {"> -- \n> b\n", "> -- \n> b\n"},
    {"a ", "a \n"},
};

static const struct pair quotes[] = {
    {"", ""},
    {"\n\n", ""},
    {"a\n\n\n\nb  \n", "a\n\nb\n"},
    {"  a\n", "  a\n"},
    {"a\n> b\nc\n", "a\nc\n"},
    {">\n>a\n  > b\n", ""},
    {"a\n-- \nb\n", "a\n"},
    {"a\n--\nb\n", "a\n"},
    {"a\n---\nb\n", "a\n---\nb\n"},
    {"a\n-----Original Message-----\nb\n", "a\n"},
    {"a\n---------- x ---\nb\n", "a\n"},
    {"a\n-------\nb\n", "a\n-------\nb\n"},
    {"a\n____________________\nb\n", "a\n"},
    {"a\n___________________\nb\n", "a\n___________________\nb\n"},
    {"a\nFrom: x\nSent: y\nTo: z\nb\n", "a\n"},
    {"a\n*From:* x\n*Sent:* y\n*To:* z\nb\n", "a\n"},
    {"a\nFrom: x\n\nSent: y\n\nTo: z\nb\n", "a\n"},
    {"a\nFrom: x\nSent: y\nb\n", "a\nFrom: x\nSent: y\nb\n"},
    {"a\nFrom : x\nb\nc\nd\ne\nf\nSent: y\nTo: z\n",
        "a\nFrom : x\nb\nc\nd\ne\nf\nSent: y\nTo: z\n"},
    {"a\nOn 1.1., b wrote:\nc\n", "a\n"},
    {"a\nOn 1.1., b wrote:\n> c\nd\n", "a\nd\n"},
    {"a\nOn 1.1., b wrote:\n\n> c\nd\n", "a\n\nd\n"},
    {"a\nOn 1.1., b wrote:\n", "a\n"},
    {"a\nOn 1.1., b wrote\nc\n", "a\nOn 1.1., b wrote\nc\n"},
    {"a\nb wrote:\nc\n", "a\nb wrote:\nc\n"},
    {"a\nb wrote:\n> c\n", "a\n"},
    {"a\nOn 1.1.\nb <c@d>\nwrote:\n> e\nf\n", "a\nf\n"},
    {"On 1.1.\n\nwrote:\nb\n", "On 1.1.\n\nwrote:\nb\n"},
    {"a\nSent from my iPhone\n", "a\n"},
    {"a\nSent from my iPhone\n> b\n", "a\n"},
    {"Sent from my iPhone\nb\n", "Sent from my iPhone\nb\n"},
    {"-----BEGIN PGP SIGNED MESSAGE-----\nHash: x\n\na\n"
     "-----BEGIN PGP SIGNATURE-----\nb\n",
        "a\n"},
};

static void
check_all(const struct pair *pairs, size_t count, char *(*function)(const char *))
{
	for (size_t i = 0; i < count; i++) {
		/* Exact size, so that sanitizers detect reads beyond it. */
		g_autofree char *from = g_strdup(pairs[i].from);
		g_autofree char *to = function(from);

		if (strcmp(to, pairs[i].to) != 0)
			g_error("%s\nis      %s\nnot     %s", from, to, pairs[i].to);
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
	check_all(html, G_N_ELEMENTS(html), format_html);
}

TEST(character_references_are_read)
{
	check_all(entities, G_N_ELEMENTS(entities), format_html);
}

TEST(flowed_lines_are_joined)
{
	g_autofree char *deleted = flowed_decode("a \nb \n> c \n> d\n", true);

	check_all(flowed, G_N_ELEMENTS(flowed), decode_flowed);
	g_assert_cmpstr(deleted, ==, "ab\n> cd\n");
}

TEST(quotes_are_removed)
{
	check_all(quotes, G_N_ELEMENTS(quotes), quote_strip);
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

static const struct {
	const char *name, *bytes, *text;
} charsets[] = {
    {NULL, "a\xc3\xbc", "aü"},
    {NULL, "a\xfc", "aü"},
    {"us-ascii", "a\x80", "a€"},
    {"ISO-8859-1", "\x93x\x94 \xfc", "“x” ü"},
    {"utf-8",
        "a\xff"
        "b",
        "a\xef\xbf\xbd"
        "b"},
    {"UTF8", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"koi8-r", "\xf0\xd2\xc9", "При"},
    {"windows-1251", "\xcf\xf0\xe8", "При"},
    {"iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本"},
    {"shift_jis", "\x93\xfa\x96{", "日本"},
    {"euc-jp", "\xc6\xfc\xcb\xdc", "日本"},
    {"gb2312", "\xd6\xd0", "中"},
    {"gb18030", "\x81\x30\x81\x30", "\xc2\x80"},
    {"big5", "\xa4\xa4", "中"},
    {"ks_c_5601-1987", "\xb0\xa1", "가"},
    {"iso-8859-15", "\xa4", "€"},
    {"tis-620", "\xa1", "ก"},
    {"utf-7", "+AOQ-", "ä"},
    {"x-unknown", "\xfc", "ü"},
    {"", "\xfc", "ü"},
    {"gb18030",
        "a\xff\xff"
        "b",
        "a\xef\xbf\xbd\xef\xbf\xbd"
        "b"},
};

TEST(charsets_are_converted_to_utf_8)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(charsets); i++) {
		pb_auto(charset_set) set = NULL;
		g_autofree char *text = NULL;

		g_string_printf(names, "Content-Type: x; CharSet*0*=\"%s\"",
		    charsets[i].name ? charsets[i].name : "");
		set = charset_set_new(names->str, names->len);
		text = charset_decode(set, charsets[i].name, charsets[i].bytes,
		    strlen(charsets[i].bytes), 100);
		if (strcmp(text, charsets[i].text) != 0)
			g_error("%s: %s", charsets[i].name, text);
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

static const struct pair words[] = {
    {"", ""},
    {" plain \n\ttext ", "plain text"},
    {"=?utf-8?q?a_b?=", "a b"},
    {"=?utf-8?q?a?= =?utf-8?q?b?=", "ab"},
    {"=?utf-8?q?a?= b =?utf-8?q?c?=", "a b c"},
    {"=?utf-8?B?w7w=?=", "ü"},
    {"=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=", "ü"},
    {"=?utf-8?B?ww==?=\n =?UTF-8?Q?=BC?=", "ü"},
    {"=?iso-8859-1?q?=fc?= =?utf-8?q?=C3=BC?=", "üü"},
    {"=?utf-8?q?a?b", "=?utf-8?q?a?b"},
    {"=?utf-8?x?a?=", "=?utf-8?x?a?="},
    {"=??q?=fc?=", "ü"},
    {"=?", "=?"},
    {"=?=?=?utf-8?q?a?=", "=?=?a"},
    {"=?utf-8?q?\?=", ""},
    {"=?utf-8?q?=0D=0AX:=00?=", "X:\xef\xbf\xbd"},
    {"=?utf-8?q?=Zx=4?=", "=Zx=4"},
    {"=?utf-8?b?!!!!?=", ""},
};

static char *
decode_word(const char *text)
{
	pb_auto(charset_set) set = charset_set_new(text, strlen(text));

	return encoded_word_decode(set, text, strlen(text), 100);
}

TEST(encoded_words_are_decoded)
{
	check_all(words, G_N_ELEMENTS(words), decode_word);
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
