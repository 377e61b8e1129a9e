/*
 * fuzz_csv.c - read any bytes as a CSV file of subscribers.
 *
 * The reader ends and reports a line for each record; a record that it accepts is the
 * same after writing and reading it again.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/csv.h"
#include "fuzz.h"

static void
check_again(const GPtrArray *fields)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) again = g_ptr_array_new_with_free_func(g_free);
	struct csv csv;
	unsigned line;

	for (unsigned i = 0; i < fields->len; i++)
		csv_append(text, fields->pdata[i], i == 0);
	csv_append_end(text);
	/* One empty cell is written as a line without anything; a record that has
	 * grown by quotation marks and guards may be too long to be read. */
	if (fields->len == 1 && !*(char *)fields->pdata[0])
		return;
	if (text->len > BOUNDS_CSV_RECORD_BYTES)
		return;
	/* A mark at the very beginning is no part of the first cell. */
	g_string_prepend(text, "\xef\xbb\xbf");
	csv_init(&csv, text->str, text->len);
	g_assert(csv_read(&csv, again, &line, NULL) == CSV_RECORD);
	g_assert(again->len == fields->len);
	for (unsigned i = 0; i < fields->len; i++)
		g_assert_cmpstr(again->pdata[i], ==, fields->pdata[i]);
	g_assert(csv_read(&csv, again, &line, NULL) == CSV_END);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) bytes = fuzz_take_bytes(&input);
	const char *text = g_bytes_get_data(bytes, NULL);
	struct csv csv;
	unsigned before = 0, line;

	csv_init(&csv, text, size);
	for (;;) {
		g_autoptr(GError) error = NULL;
		enum csv_step step = csv_read(&csv, fields, &line, &error);

		g_assert(csv.at <= csv.end && line <= csv.line);
		if (step == CSV_END)
			return 0;
		g_assert(line > before);
		before = line;
		if (step == CSV_BAD) {
			fuzz_check_error(error);
			continue;
		}
		g_assert(fields->len > 0 && fields->len <= BOUNDS_CSV_COLUMNS);
		check_again(fields);
	}
}
