/*
 * csv.c - CSV reader and writer (RFC 4180).
 */
#include "base/csv.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* First characters that start a formula in a spreadsheet, and the escape character. */
#define GUARDED "=+-@\t\r'"

void
csv_init(struct csv *csv, const char *data, size_t size)
{
	static const char mark[] = "\xef\xbb\xbf";

	csv->at = data;
	csv->end = size ? data + size : data;
	csv->line = 1;
	csv->separator = ',';
	if (size >= strlen(mark) && memcmp(data, mark, strlen(mark)) == 0)
		csv->at += strlen(mark);
}

static bool
is_line_end(const struct csv *csv)
{
	return csv->at == csv->end || *csv->at == '\n' ||
	       (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n');
}

static void
skip_line_end(struct csv *csv)
{
	if (csv->at < csv->end && *csv->at == '\r')
		csv->at++;
	if (csv->at < csv->end) {
		csv->at++;
		csv->line++;
	}
}

static void
skip_line(struct csv *csv)
{
	while (!is_line_end(csv))
		csv->at++;
	skip_line_end(csv);
}

/* @return false if the closing quote is missing */
static bool
read_quoted(struct csv *csv, GString *field)
{
	for (csv->at++; csv->at < csv->end; csv->at++) {
		if (*csv->at == '"') {
			if (csv->at + 1 == csv->end || csv->at[1] != '"') {
				csv->at++;
				return true;
			}
			csv->at++;
		}
		csv->line += *csv->at == '\n';
		g_string_append_c(field, *csv->at);
	}
	return false;
}

/* @return an error message, or NULL */
static const char *
read_field(struct csv *csv, GString *field)
{
	if (csv->at < csv->end && *csv->at == '"') {
		if (!read_quoted(csv, field))
			return "missing closing quotation mark";
		if (!is_line_end(csv) && *csv->at != csv->separator)
			return "text after a closing quotation mark: double a "
			       "quotation mark inside a "
			       "field";
	}
	while (!is_line_end(csv) && *csv->at != csv->separator) {
		if (*csv->at == '"')
			return "quotation mark inside a field: quote the field and "
			       "double that mark";
		g_string_append_c(field, *csv->at++);
	}
	if (memchr(field->str, '\0', field->len))
		return "a NUL byte";
	if (!g_utf8_validate(field->str, (gssize)field->len, NULL))
		return "invalid UTF-8: save the file as UTF-8";
	return NULL;
}

/* Remove the apostrophe that protects against formula evaluation. */
static void
remove_guard(GString *field)
{
	if (field->len > 1 && field->str[0] == '\'' && strchr(GUARDED, field->str[1]))
		g_string_erase(field, 0, 1);
}

/* @return an error message with *code set, or NULL */
static const char *
read_record(struct csv *csv, GPtrArray *fields, int *code)
{
	const char *start = csv->at;
	const char *problem = NULL;

	*code = PB_ERROR_INPUT;
	for (;;) {
		GString *field = g_string_new(NULL);

		problem = read_field(csv, field);
		remove_guard(field);
		g_ptr_array_add(fields, g_string_free(field, FALSE));
		if (problem)
			return problem;
		*code = PB_ERROR_LIMIT;
		if (csv->at - start > BOUNDS_CSV_RECORD_BYTES)
			return "the line is too long";
		if (fields->len > BOUNDS_CSV_COLUMNS)
			return "too many columns";
		*code = PB_ERROR_INPUT;
		if (is_line_end(csv))
			return NULL;
		csv->at++;
	}
}

enum csv_step
csv_read(struct csv *csv, GPtrArray *fields, unsigned *line, GError **error)
{
	const char *problem;
	int code;

	while (csv->at < csv->end && is_line_end(csv))
		skip_line_end(csv);
	g_ptr_array_set_size(fields, 0);
	*line = csv->line;
	if (csv->at == csv->end)
		return CSV_END;
	problem = read_record(csv, fields, &code);
	if (!problem) {
		skip_line_end(csv);
		return CSV_RECORD;
	}
	g_set_error_literal(error, PB_ERROR, code, problem);
	skip_line(csv);
	return CSV_BAD;
}

void
csv_append(GString *out, const char *text, bool is_first)
{
	bool is_quoted = strpbrk(text, "\",\r\n") != NULL;

	if (!is_first)
		g_string_append_c(out, ',');
	if (is_quoted)
		g_string_append_c(out, '"');
	if (*text && strchr(GUARDED, *text))
		g_string_append_c(out, '\'');
	for (; *text; text++) {
		if (*text == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *text);
	}
	if (is_quoted)
		g_string_append_c(out, '"');
}

void
csv_append_end(GString *out)
{
	g_string_append(out, "\r\n");
}
