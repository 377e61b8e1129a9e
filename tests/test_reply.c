/*
 * test_reply.c - replies are parsed within limits, and classified by the table.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"
#include "transport/classify.h"
#include "transport/reply.h"

#define BYTES(literal) literal, sizeof(literal) - 1

/* One reply; code 0: malformed; code -1: incomplete. */
struct row {
	const char *bytes;
	size_t size;
	int code;
	const char *enhanced;
	const char *text;
};

/* With NUL bytes, which are not in the table. */
static const struct row with_nul[] = {
    {BYTES("250 o\0k\r\n"), 0, NULL, NULL},
    {BYTES("\0\0\0\0\r\n"), 0, NULL, NULL},
    {BYTES("25\0 ok\r\n"), 0, NULL, NULL},
    {BYTES("250-a\0\r\n250 b\r\n"), 0, NULL, NULL},
    {BYTES("\x16\x03\x01\x02\x00\n"), 0, NULL, NULL},
};

/* Parse in chunks of one size; the whole reply must be consumed. */
static void
check_row(const struct row *row, size_t piece)
{
	enum reply_progress wanted = row->code > 0    ? REPLY_COMPLETE
	                             : row->code == 0 ? REPLY_MALFORMED
	                                              : REPLY_MORE;
	enum reply_progress found = REPLY_MORE;
	pb_local(reply_parser) parser;

	reply_parser_init(&parser);
	for (size_t at = 0; at < row->size && found == REPLY_MORE;) {
		size_t n_used = 0;

		found = reply_parser_feed(
		    &parser, row->bytes + at, MIN(piece, row->size - at), &n_used);
		at += n_used;
	}
	if (found != wanted)
		g_error("'%s' in pieces of %zu: wanted %d, found %d", row->bytes, piece,
		    wanted, found);
	if (found == REPLY_COMPLETE) {
		const struct reply *reply = reply_parser_get(&parser);

		g_assert_cmpint(reply->code, ==, row->code);
		g_assert_cmpstr(reply->enhanced, ==, row->enhanced);
		g_assert_cmpstr(reply->text, ==, row->text);
	}
}

TEST(replies_are_parsed_in_chunks_of_any_size)
{
	CASES_FOREACH(row, "replies", *bytes, *code, *enhanced, *text) {
		const struct row reply = {row->bytes, strlen(row->bytes),
		    (int)cases_number(row->code), row->enhanced, row->text};

		for (size_t piece = 1; piece < 20; piece++)
			check_row(&reply, piece);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(with_nul); i++)
		for (size_t piece = 1; piece < 20; piece++)
			check_row(&with_nul[i], piece);
}

static enum reply_progress
feed_all(const GString *bytes, struct reply *reply)
{
	enum reply_progress progress;
	pb_local(reply_parser) parser;
	size_t n_used;

	reply_parser_init(&parser);
	progress = reply_parser_feed(&parser, bytes->str, bytes->len, &n_used);
	if (progress == REPLY_COMPLETE)
		*reply = *reply_parser_get(&parser);
	else if (progress == REPLY_MALFORMED)
		g_assert_cmpint(reply_parser_feed(&parser, "250 ok\r\n", 8, &n_used),
		    ==, REPLY_MALFORMED);
	return progress;
}

TEST(line_length_is_limited)
{
	static const struct {
		size_t n_line;
		const char *end;
		enum reply_progress wanted;
	} cases[] = {
	    {BOUNDS_REPLY_LINE_BYTES, "\r\n", REPLY_COMPLETE},
	    {BOUNDS_REPLY_LINE_BYTES, "\n", REPLY_COMPLETE},
	    {BOUNDS_REPLY_LINE_BYTES + 1, "\r\n", REPLY_MALFORMED},
	    {BOUNDS_REPLY_LINE_BYTES + 1, "\n", REPLY_MALFORMED},
	    {1024 * 1024, "\r\n", REPLY_MALFORMED},
	    {1024 * 1024, "", REPLY_MALFORMED},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) bytes = g_string_new("250 ");
		struct reply reply;

		while (bytes->len < cases[i].n_line)
			g_string_append_c(bytes, 'x');
		g_string_append(bytes, cases[i].end);
		g_assert_cmpint(feed_all(bytes, &reply), ==, cases[i].wanted);
	}
}

TEST(number_of_lines_is_limited)
{
	for (unsigned n = BOUNDS_REPLY_LINES; n <= BOUNDS_REPLY_LINES + 1; n++) {
		g_autoptr(GString) bytes = g_string_new(NULL);
		struct reply reply;

		for (unsigned i = 1; i < n; i++)
			g_string_append(bytes, "250-x\r\n");
		g_string_append(bytes, "250 x\r\n");
		g_assert_cmpint(feed_all(bytes, &reply), ==,
		    n <= BOUNDS_REPLY_LINES ? REPLY_COMPLETE : REPLY_MALFORMED);
	}
}

TEST(text_is_cut_at_a_character)
{
	static const char umlaut[] = "\xc3\xb6";

	for (size_t n_before = 495; n_before <= 501; n_before++) {
		g_autoptr(GString) bytes = g_string_new("250 ");
		struct reply reply;

		while (bytes->len < n_before)
			g_string_append_c(bytes, 'x');
		g_string_append_printf(bytes, "%s%s%s\r\n", umlaut, umlaut, umlaut);
		g_assert_cmpint(feed_all(bytes, &reply), ==, REPLY_COMPLETE);
		g_assert_cmpuint(strlen(reply.text), <=, BOUNDS_REPLY_TEXT_BYTES);
		g_assert_cmpuint(
		    strlen(reply.text), >=, MIN(n_before, BOUNDS_REPLY_TEXT_BYTES - 1));
		g_assert_true(g_utf8_validate(reply.text, -1, NULL));
	}
}

TEST(consecutive_replies_are_separated)
{
	static const char bytes[] =
	    "250 2.1.0 a\r\n550-5.1.1 b\r\n550 5.1.1 c\r\n354 d\r\n4";
	static const char *const texts[] = {"250 2.1.0 a", "550 5.1.1 b c", "354 d"};
	pb_local(reply_parser) parser;
	size_t at = 0, n_used;

	reply_parser_init(&parser);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_assert_cmpint(
		    reply_parser_feed(&parser, bytes + at, strlen(bytes) - at, &n_used),
		    ==, REPLY_COMPLETE);
		g_assert_cmpstr(reply_parser_get(&parser)->text, ==, texts[i]);
		at += n_used;
	}
	g_assert_cmpint(
	    reply_parser_feed(&parser, bytes + at, strlen(bytes) - at, &n_used), ==,
	    REPLY_MORE);
}

/* Rows with enhanced codes; test_smtp has the plain codes. */
TEST(enhanced_codes_decide_scope_and_policy)
{
	static const struct {
		enum smtp_stage stage;
		const char *line;
		const char
		    *wanted; /* outcome, scope, "!" policy, "-" connection lost */
	} cases[] = {
	    {SMTP_STAGE_CONNECT, "554 5.7.1 blocked\r\n", "dr-"},
	    {SMTP_STAGE_STARTTLS, "454 4.7.0 not now\r\n", "dr-"},
	    {SMTP_STAGE_AUTH, "454 4.7.0 not now\r\n", "dr-"},
	    {SMTP_STAGE_AUTH, "535 5.7.8 wrong\r\n", "dl-"},
	    {SMTP_STAGE_AUTH, "504 5.5.4 what?\r\n", "dl-"},
	    {SMTP_STAGE_AUTH, "421 4.7.0 too many\r\n", "dr-"},
	    {SMTP_STAGE_MAIL, "530 5.7.0 log in first\r\n", "dl-"},
	    {SMTP_STAGE_MAIL, "450 4.7.1 too much mail\r\n", "dr-"},
	    {SMTP_STAGE_MAIL, "452 4.3.1 no room\r\n", "dr-"},
	    {SMTP_STAGE_MAIL, "451 4.3.4 too big now\r\n", "dm"},
	    {SMTP_STAGE_MAIL, "451 4.3.40 other\r\n", "dr-"},
	    {SMTP_STAGE_MAIL, "450 4.1.8 no such domain\r\n", "dm"},
	    {SMTP_STAGE_MAIL, "550 5.7.1 not you\r\n", "dr-"},
	    {SMTP_STAGE_MAIL, "552 5.3.4 too big\r\n", "fm"},
	    {SMTP_STAGE_RCPT, "450 4.7.1 greylisted\r\n", "dm"},
	    {SMTP_STAGE_RCPT, "450 4.2.0 greylisted\r\n", "dm"},
	    {SMTP_STAGE_RCPT, "451 4.3.0 lookup failed\r\n", "dr-"},
	    {SMTP_STAGE_RCPT, "452 4.3.1 no room\r\n", "dr-"},
	    {SMTP_STAGE_RCPT, "452 4.5.3 too many\r\n", "dm"},
	    {SMTP_STAGE_RCPT, "452 4.2.2 full\r\n", "dm"},
	    {SMTP_STAGE_RCPT, "552 5.2.2 full\r\n", "dm"},
	    {SMTP_STAGE_RCPT, "550 5.7.1 relay denied\r\n", "dm!"},
	    {SMTP_STAGE_RCPT, "550 5.1.1 nobody\r\n", "fm"},
	    {SMTP_STAGE_RCPT, "503 5.5.1 out of step\r\n", "dm-"},
	    {SMTP_STAGE_DATA, "554 5.5.1 no valid recipients\r\n", "fm"},
	    {SMTP_STAGE_DOT, "451 4.3.0 queue file\r\n", "dr-"},
	    {SMTP_STAGE_DOT, "452 4.3.1 no room\r\n", "dr-"},
	    {SMTP_STAGE_DOT, "452 4.2.2 full\r\n", "dm"},
	    {SMTP_STAGE_DOT, "550 5.7.26 not authentic\r\n", "dm!"},
	    {SMTP_STAGE_DOT, "554 5.6.0 content\r\n", "fm"},
	    {SMTP_STAGE_DOT, "552 5.2.2 full\r\n", "dm"},
	    {SMTP_STAGE_DOT, "552 5.2.3 too big\r\n", "fm"},
	    {SMTP_STAGE_DOT, "250 2.0.0 queued\r\n", "sm"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) bytes = g_string_new(cases[i].line);
		g_autofree char *found = NULL;
		struct reply_class meaning;
		struct reply reply;

		g_assert_cmpint(feed_all(bytes, &reply), ==, REPLY_COMPLETE);
		meaning = classify_reply(cases[i].stage, &reply);
		found = g_strdup_printf("%c%c%s%s", "sdfu"[meaning.outcome],
		    delivery_scope_get_name(meaning.scope)[0],
		    meaning.is_policy ? "!" : "", meaning.is_last ? "-" : "");
		if (strcmp(found, cases[i].wanted) != 0)
			g_error("%s at %s: wanted %s, found %s", reply.text,
			    smtp_stage_get_name(cases[i].stage), cases[i].wanted,
			    found);
	}
}

TEST(all_codes_are_classified_at_all_stages)
{
	for (int code = 200; code <= 599; code++) {
		for (enum smtp_stage stage = SMTP_STAGE_CONNECT;
		     stage <= SMTP_STAGE_DOT; stage++) {
			struct reply reply = {.code = code};
			struct reply_class meaning = classify_reply(stage, &reply);

			g_assert_cmpint(meaning.outcome == DELIVERY_SENT, ==,
			    stage == SMTP_STAGE_DOT && code < 300);
			g_assert_true(meaning.scope == DELIVERY_SCOPE_MESSAGE ||
			              meaning.outcome == DELIVERY_DEFERRED ||
			              meaning.outcome == DELIVERY_UNKNOWN);
			if (stage < SMTP_STAGE_MAIL)
				g_assert_true(meaning.is_last);
		}
	}
}

UNIT_MAIN
