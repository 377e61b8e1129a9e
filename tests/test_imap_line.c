/*
 * test_imap_line.c - lines of an IMAP server are checked before libetpan sees them.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "receive/imap_line.h"

struct row {
	const char *text;
	enum imap_line_kind kind;
	uint32_t number;
	int64_t literal; /* -1: none */
};

static const struct row good[] = {
    {"* OK ready\r\n", IMAP_LINE_STATUS, 0, -1},
    {"* NO [ALERT] soon\n", IMAP_LINE_STATUS, 0, -1},
    {"* BYE\r\n", IMAP_LINE_BYE, 0, -1},
    {"* bye for now\r\n", IMAP_LINE_BYE, 0, -1},
    {"* BYEBYE\r\n", IMAP_LINE_OTHER, 0, -1},
    {"* 17 EXISTS\r\n", IMAP_LINE_EXISTS, 17, -1},
    {"* 4294967295 exists\r\n", IMAP_LINE_EXISTS, 4294967295, -1},
    {"* 4294967296 EXISTS\r\n", IMAP_LINE_OTHER, 0, -1},
    {"* 3 EXPUNGE\r\n", IMAP_LINE_EXPUNGED, 3, -1},
    {"* 3 RECENT\r\n", IMAP_LINE_DATA, 3, -1},
    {"* 3 FETCH (FLAGS ())\r\n", IMAP_LINE_FETCH, 3, -1},
    {"* 3 FETCH FLAGS\r\n", IMAP_LINE_OTHER, 3, -1},
    {"* 3 FETCH (UID 9 BODY[]<0> {12}\r\n", IMAP_LINE_FETCH, 3, 12},
    {"* 3 FETCH (UID 9 BODY[]<0> {0}\r\n", IMAP_LINE_FETCH, 3, 0},
    {"* 3 FETCH (X {12} Y)\r\n", IMAP_LINE_FETCH, 3, -1},
    {"* 3 FETCH (X {}\r\n", IMAP_LINE_FETCH, 3, -1},
    {"* SEARCH 1 2 3\r\n", IMAP_LINE_DATA, 0, -1},
    {"* SEARCH\r\n", IMAP_LINE_DATA, 0, -1},
    {"* CAPABILITY IMAP4rev1\r\n", IMAP_LINE_DATA, 0, -1},
    {"* FLAGS (\\Seen)\r\n", IMAP_LINE_DATA, 0, -1},
    {"* LIST () \"/\" a\r\n", IMAP_LINE_OTHER, 0, -1},
    {"* THREAD (1)(2)\r\n", IMAP_LINE_OTHER, 0, -1},
    {"* VANISHED 1:9\r\n", IMAP_LINE_OTHER, 0, -1},
    {"12 OK done\r\n", IMAP_LINE_RESULT, 0, -1},
    {"idle1 BAD what\r\n", IMAP_LINE_RESULT, 0, -1},
    {"12 NO\r\n", IMAP_LINE_RESULT, 0, -1},
    {"12 MAYBE\r\n", IMAP_LINE_OTHER, 0, -1},
    {"+ idling\r\n", IMAP_LINE_CONTINUE, 0, -1},
    {"+\r\n", IMAP_LINE_CONTINUE, 0, -1},
    {"\r\n", IMAP_LINE_OTHER, 0, -1},
    {"*\r\n", IMAP_LINE_OTHER, 0, -1},
    {"* \r\n", IMAP_LINE_OTHER, 0, -1},
};

TEST(lines_are_classified)
{
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		const struct row *row = &good[i];
		struct imap_line line;

		g_test_message("%s", row->text);
		g_assert_true(NO_ERROR(imap_line_parse(
		    row->text, strlen(row->text), false, &line, &error)));
		g_assert_cmpint(line.kind, ==, row->kind);
		g_assert_cmpuint(line.number, ==, row->number);
		g_assert_cmpint(line.has_literal ? (int64_t)line.literal_bytes : -1, ==,
		    row->literal);
	}
}

static void
check_refused(const char *text, size_t size, bool is_rest)
{
	struct imap_line line = {.number = 77};

	g_test_message("%s", text);
	FAILS(PB_ERROR_TEMPORARY, imap_line_parse(text, size, is_rest, &line, &error));
	g_assert_cmpuint(line.number, ==, 77);
}

TEST(invalid_lines_are_rejected)
{
	CASES_FOREACH(row, "imap_line_bad", *text)
		check_refused(row->text, strlen(row->text), false);
	check_refused("* OK a\0b\r\n", 10, false);
	check_refused(" FLAGS \0\r\n", 10, true);
}

TEST(literals_are_limited_to_the_size_of_a_message)
{
	g_autofree char *most =
	    g_strdup_printf("* 1 FETCH (BODY[] {%d}\r\n", BOUNDS_MAIL_BYTES + 1);
	g_autofree char *beyond =
	    g_strdup_printf("* 1 FETCH (BODY[] {%d}\r\n", BOUNDS_MAIL_BYTES + 2);
	g_autofree char *rest = g_strdup_printf(" X {%d}\r\n", BOUNDS_MAIL_BYTES + 2);
	struct imap_line line;

	g_assert_true(imap_line_parse(most, strlen(most), false, &line, NULL));
	g_assert_cmpuint(line.literal_bytes, ==, BOUNDS_MAIL_BYTES + 1);
	check_refused(beyond, strlen(beyond), false);
	check_refused(rest, strlen(rest), true);
	g_assert_true(imap_line_parse(" X {5}\r\n", 8, true, &line, NULL));
	g_assert_cmpint(line.kind, ==, IMAP_LINE_AFTER_LITERAL);
	g_assert_cmpuint(line.literal_bytes, ==, 5);
}

/* Closed ones count as well: libetpan may see them within quotes. */
TEST(parentheses_are_limited_open_or_closed)
{
	g_autoptr(GString) text = g_string_new("* 1 FETCH ");
	struct imap_line line;

	for (int i = 0; i < BOUNDS_IMAP_PARENTHESES; i++)
		g_string_append(text, "()");
	g_assert_true(imap_line_parse(text->str, text->len, false, &line, NULL));
	g_string_append(text, "(");
	check_refused(text->str, text->len, false);
}

UNIT_MAIN
