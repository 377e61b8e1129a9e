/*
 * test_csv.c - CSV: all accepted forms, without loss.
 */
#include "base/csv.h"

#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"

/* Format the records: fields in brackets, one record a line, errors as "! message". */
static char *
read_all(const char *text, size_t size)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
	GString *out = g_string_new(NULL);
	struct csv csv;

	csv_init(&csv, text, size);
	for (;;) {
		g_autoptr(GError) error = NULL;
		unsigned line = 0;
		enum csv_step step = csv_read(&csv, fields, &line, &error);

		if (step == CSV_END)
			return g_string_free(out, FALSE);
		g_string_append_printf(out, "%s%u:", out->len ? "/" : "", line);
		if (step == CSV_BAD)
			g_string_append_printf(out, "! %s", error->message);
		for (unsigned i = 0; step == CSV_RECORD && i < fields->len; i++)
			g_string_append_printf(out, "[%s]", (char *)fields->pdata[i]);
		g_assert_true((step == CSV_BAD) == (error != NULL));
	}
}

TEST(records_are_read_in_every_form)
{
	CASES_FOREACH(row, "csv", *text, *wanted) {
		g_autofree char *got = read_all(row->text, strlen(row->text));

		g_assert_cmpstr(got, ==, row->wanted);
	}
}

TEST(invalid_records_are_reported_with_their_lines)
{
	static const struct {
		const char *text;
		size_t size;
		const char *wanted;
	} rows[] = {
	    {"a\nb\"c\nd", 7,
	        "1:[a]/2:! quotation mark inside a field: quote the field and double "
	        "that mark/3:[d]"},
	    {"\"a\"b\nc", 6,
	        "1:! text after a closing quotation mark: double a quotation mark "
	        "inside "
	        "a field/2:[c]"},
	    {"a\nb,\"c\nd\ne\n", 11, "1:[a]/2:! missing closing quotation mark"},
	    {"a\xff\nb", 4, "1:! invalid UTF-8: save the file as UTF-8/2:[b]"},
	    {"a\0b\nc", 5, "1:! a NUL byte/2:[c]"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got = read_all(rows[i].text, rows[i].size);

		g_assert_cmpstr(got, ==, rows[i].wanted);
	}
}

TEST(columns_and_length_have_their_limits)
{
	for (int more = 0; more <= 1; more++) {
		g_autofree char *commas =
		    g_strnfill(BOUNDS_CSV_COLUMNS - 1 + more, ',');
		g_autofree char *messages =
		    g_strnfill(BOUNDS_CSV_RECORD_BYTES + more, 'x');
		g_autofree char *wide = read_all(commas, strlen(commas));
		g_autofree char *tall = read_all(messages, strlen(messages));

		g_assert_true(!!strstr(wide, "too many columns") == more);
		g_assert_true(!!strstr(tall, "the line is too long") == more);
	}
}

TEST(round_trip_is_lossless_and_formulas_are_escaped)
{
	static const char messages[] = "ab,\"'=+-@\t\r\n\xc3\xa4 ";
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (int round = 0; round < 2000; round++) {
		g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
		g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
		g_autoptr(GString) text = g_string_new(NULL);
		struct csv csv;
		unsigned line;

		g_ptr_array_add(cells, g_strdup("first"));
		for (int i = 0; i < 4; i++) {
			GString *cell = g_string_new(NULL);

			for (int j = g_rand_int_range(random, 0, 6); j > 0; j--) {
				int at = g_rand_int_range(random, 0, 14);

				/* Both bytes of the character that has two. */
				if (messages[at] & (char)0x80)
					g_string_append(cell, "\xc3\xa4");
				else
					g_string_append_c(cell, messages[at]);
			}
			g_ptr_array_add(cells, g_string_free(cell, FALSE));
		}
		for (unsigned i = 0; i < cells->len; i++)
			csv_append(text, cells->pdata[i], i == 0);
		csv_append_end(text);
		csv_init(&csv, text->str, text->len);
		g_assert_cmpint(csv_read(&csv, fields, &line, NULL), ==, CSV_RECORD);
		g_assert_cmpuint(fields->len, ==, cells->len);
		for (unsigned i = 0; i < cells->len; i++)
			g_assert_cmpstr(fields->pdata[i], ==, cells->pdata[i]);
		g_assert_cmpint(csv_read(&csv, fields, &line, NULL), ==, CSV_END);
		/* A cell begins after a comma, or after its opening quotation mark. */
		g_assert_false(g_regex_match_simple(
		    "^first(,(\"([^\"]|\"\")*\"|[^,\"]*))*,\"?[=+@\\t-]", text->str,
		    G_REGEX_DOTALL, 0));
	}
}

UNIT_MAIN
