/*
 * test_prescan.c - each limit of a message at its bound and one beyond.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "parser/prescan.h"

#define MESSAGE "Content-Type: message/rfc822\n\n"

struct row {
	const char *name;
	const char *words; /* of the error one beyond the bound */
	unsigned bound;
	/* A message with a text that is repeated, unless a function makes it. */
	const char *start, *repeated, *end;
	void (*make)(GString *out, unsigned count);
};

static void
repeat(GString *out, const char *text, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		g_string_append(out, text);
}

static void
make_bytes(GString *out, unsigned count)
{
	g_string_append(out, "A: b\n\n");
	while (out->len + 2 <= count)
		g_string_append(out, "x\n");
	if (out->len < count)
		g_string_append_c(out, 'x');
}

static void
make_header(GString *out, unsigned count)
{
	while (count - out->len > 2000) {
		g_string_append(out, "A: ");
		repeat(out, "x", 996);
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "B:");
	repeat(out, "x", count - (unsigned)out->len - 1);
	g_string_append(out, "\n\nbody\n");
}

static void
make_depth_of_multiparts(GString *out, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		g_string_append_printf(out,
		    "Content-Type:\n\tMultipart/Mixed; x=y; Boundary = \"b %u\"\n\n"
		    "--b %u \n",
		    i, i);
}

/* Closed parts do not count. */
static void
make_depth_after_closing(GString *out, unsigned count)
{
	g_string_append(out, "Content-Type: multipart/mixed; boundary=top\n\n");
	repeat(out,
	    "--top\nContent-Type: multipart/mixed; boundary=in\n\n"
	    "--in\nContent-Type: message/rfc822\n\nA: b\n\n--in--\n",
	    20);
	g_string_append(out, "--top\n");
	repeat(out, MESSAGE, count - 1);
}

static void
make_nuls(GString *out, unsigned count)
{
	g_string_append(out, "A: b\n\nx");
	g_string_append_len(out, "\0\0\0", count);
}

static const struct row rows[] = {
    {"bytes", "bytes", BOUNDS_MAIL_BYTES, .make = make_bytes},
    {"a header", "bytes in a header", BOUNDS_MAIL_HEADER_BYTES, .make = make_header},
    {"fields", "fields in a header", BOUNDS_MAIL_FIELDS, "", "A: b\n c\n", "\nB: c\n",
        NULL},
    {"messages in messages", "nested parts", BOUNDS_MAIL_DEPTH, "", MESSAGE, "", NULL},
    {"multiparts in multiparts", "nested parts", BOUNDS_MAIL_DEPTH,
        .make = make_depth_of_multiparts},
    {"depth behind closed parts", "nested parts", BOUNDS_MAIL_DEPTH,
        .make = make_depth_after_closing},
    {"parts", "parts", BOUNDS_MAIL_PARTS,
        "Content-Type: multipart/mixed; boundary=b\n\n", "--b\n\nx\n", "--b--\n", NULL},
    /* In a body, too: another parser may see headers there. */
    {"content types", "content types", 2 * BOUNDS_MAIL_PARTS, "A: b\n\n",
        "content-TYPE : text/plain\n", "", NULL},
    {"boundaries", "boundaries", BOUNDS_MAIL_BOUNDARIES, "A: b\n\nContent-Type: x/y",
        ";\n boundary*0=b", "\n", NULL},
    {"a boundary", "in a boundary", BOUNDS_MAIL_BOUNDARY_BYTES,
        "Content-Type: multipart/mixed; boundary=", "b", "\n\nx\n", NULL},
    {"parentheses", "parentheses", BOUNDS_MAIL_PARENTHESES, "A: (((\nB: ", "(\n ",
        "\nC: (((\n\n", NULL},
    {"a line", "in a line", BOUNDS_MAIL_LINE_BYTES, "A: b\n\n", "x", "\nx", NULL},
    {"NULs", "NUL", BOUNDS_MAIL_NULS, .make = make_nuls},
    {"CRs in the header", "CR", BOUNDS_MAIL_HEADER_CRS, "A: b", "\rB: c",
        "\r\nC: d\r\r\n\r\nx\ry\r", NULL},
};

static bool
scan(const GString *raw, GError **error)
{
	size_t size = 0;
	g_autofree char *text = prescan_normalize(raw->str, raw->len, &size, error);

	return text && prescan_check(text, size, error);
}

static void
make(GString *out, const struct row *row, unsigned count)
{
	if (row->make) {
		row->make(out, count);
		return;
	}
	g_string_append(out, row->start);
	repeat(out, row->repeated, count);
	g_string_append(out, row->end);
}

static void
test_bound(const void *data)
{
	const struct row *row = data;
	g_autoptr(GString) at = g_string_new(NULL);
	g_autoptr(GString) beyond = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	make(at, row, row->bound);
	g_assert_true(scan(at, &error));
	g_assert_no_error(error);
	make(beyond, row, row->bound + 1);
	g_assert_false(scan(beyond, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, row->words));
}

TEST(line_ends_are_normalized)
{
	CASES_FOREACH(row, "prescan_line_ends", *raw, *text) {
		size_t size = 0;
		g_autofree char *text =
		    prescan_normalize(row->raw, strlen(row->raw), &size, NULL);

		g_assert_cmpstr(text, ==, row->text);
		g_assert_cmpuint(size, ==, strlen(row->text));
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *name =
		    g_strdup_printf("/letter_scan/%s are bounded", rows[i].name);

		g_test_add_data_func(name, &rows[i], test_bound);
	}
	unit_add_all();
	return g_test_run();
}
