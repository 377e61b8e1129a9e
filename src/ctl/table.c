/*
 * table.c - lists and records from one table of columns.
 */
#include "ctl/table.h"

#include <stdio.h>

#include "ctl/print.h"

static bool
is_end(const struct table_column *column)
{
	return !column->title && !column->key;
}

static int64_t
get_int64(const struct table_column *column, const void *member)
{
	switch (column->type) {
	case TABLE_INT64:
	case TABLE_TIME:
		return *(const int64_t *)member;
	case TABLE_INT:
		return *(const int *)member;
	case TABLE_COUNT:
		return *(const unsigned *)member;
	case TABLE_BOOL:
		return *(const bool *)member;
	case TABLE_TEXT:
	case TABLE_CHARS:
	case TABLE_STRING:
	case TABLE_JSON:
		break;
	}
	return -1;
}

/* @return a new string; NULL for none */
static char *
format_cell(const struct table_column *column, const void *row)
{
	const char *member = (const char *)row + column->offset;
	int64_t number = get_int64(column, member);

	switch (column->type) {
	case TABLE_TEXT:
		return g_strdup(*(char *const *)member);
	case TABLE_CHARS:
		return *member ? g_strdup(member) : NULL;
	case TABLE_STRING:
		return column->format(row);
	case TABLE_BOOL:
		return g_strdup(number ? "yes" : "no");
	case TABLE_TIME:
		return number < 0 ? NULL : day_format_minute(number);
	case TABLE_INT64:
	case TABLE_INT:
	case TABLE_COUNT:
		return number < 0 ? NULL : g_strdup_printf("%" G_GINT64_FORMAT, number);
	case TABLE_JSON:
		break;
	}
	return NULL;
}

static json_t *
pack_cell(const struct table_column *column, const void *row)
{
	int64_t number = get_int64(column, (const char *)row + column->offset);
	g_autofree char *text = NULL;

	switch (column->type) {
	case TABLE_TEXT:
	case TABLE_CHARS:
	case TABLE_STRING:
		text = format_cell(column, row);
		return print_json_text(text);
	case TABLE_BOOL:
		return json_boolean(number);
	case TABLE_TIME:
	case TABLE_INT64:
	case TABLE_INT:
	case TABLE_COUNT:
		return print_json_number(number);
	case TABLE_JSON:
		break;
	}
	return column->pack(row);
}

json_t *
table_to_json(const struct table_column *columns, const void *row)
{
	json_t *object = json_object();

	for (; !is_end(columns); columns++)
		if (columns->key)
			json_object_set_new(
			    object, columns->key, pack_cell(columns, row));
	return object;
}

json_t *
table_rows_to_json(const struct table_column *columns, const GPtrArray *rows)
{
	json_t *list = json_array();

	for (unsigned i = 0; rows && i < rows->len; i++)
		json_array_append_new(list, table_to_json(columns, rows->pdata[i]));
	return list;
}

/* @param row  NULL for the titles  @return the cells, as many for every row */
static char **
format_row(const struct table_column *columns, const void *row)
{
	GPtrArray *cells = g_ptr_array_new();

	for (; !is_end(columns); columns++) {
		g_autofree char *cell = NULL;

		if (!columns->title)
			continue;
		cell = row ? format_cell(columns, row) : g_strdup(columns->title);
		g_ptr_array_add(cells, cell ? g_steal_pointer(&cell) : g_strdup("-"));
	}
	g_ptr_array_add(cells, NULL);
	return (char **)g_ptr_array_free(cells, FALSE);
}

/* The width below which no column is cut, in characters. */
#define COLUMN_WIDTH_MIN 12

/* Make the widest columns narrower until a row has at most that width. */
static void
fit_columns(long *widths, guint columns, long width)
{
	long left = 2 * ((long)columns - 1) - width;
	guint widest;

	for (guint i = 0; i < columns; i++)
		left += widths[i];
	for (; left > 0; left--) {
		widest = 0;
		for (guint i = 1; i < columns; i++)
			if (widths[i] > widths[widest])
				widest = i;
		if (widths[widest] <= COLUMN_WIDTH_MIN)
			return;
		widths[widest]--;
	}
}

/*
 * Every column is as wide as its widest cell, if the terminal is wide enough; the last
 * one is not padded.
 */
static void
print_cells(const GPtrArray *rows, unsigned width)
{
	guint columns = g_strv_length(rows->pdata[0]);
	g_autofree long *widths = g_new0(long, columns + 1);

	for (unsigned i = 0; i < rows->len; i++)
		for (guint j = 0; j < columns; j++)
			widths[j] = MAX(
			    widths[j], g_utf8_strlen(((char **)rows->pdata[i])[j], -1));
	if (width)
		fit_columns(widths, columns, width);
	for (unsigned i = 0; i < rows->len; i++) {
		char **row = rows->pdata[i];

		for (guint j = 0; j < columns; j++) {
			g_autofree char *cell =
			    print_dup_cut(row[j], (unsigned)widths[j]);

			if (j + 1 < columns)
				printf("%s%*s  ", cell,
				    (int)(widths[j] - g_utf8_strlen(cell, -1)), "");
			else
				puts(cell);
		}
	}
}

/* The output so far; one of the two is filled. */
struct output {
	GPtrArray *cells; /* of char **, the titles first */
	json_t *list;
};

static void
add_rows(const struct ctl *ctl, const struct table *table, const GPtrArray *rows,
    struct output *output)
{
	for (unsigned i = 0; i < rows->len; i++) {
		if (ctl->is_json)
			json_array_append_new(output->list,
			    table_to_json(table->columns, rows->pdata[i]));
		else
			g_ptr_array_add(
			    output->cells, format_row(table->columns, rows->pdata[i]));
	}
}

static struct output
start_output(const struct table *table)
{
	struct output output = {
	    .cells = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev),
	    .list = json_array(),
	};

	g_ptr_array_add(output.cells, format_row(table->columns, NULL));
	return output;
}

static void
print_output(const struct ctl *ctl, const struct table *table, struct output *output)
{
	if (ctl->is_json)
		print_json(json_incref(output->list));
	else if (output->cells->len > 1)
		print_cells(output->cells, print_get_width(ctl));
	else
		puts(table->empty_text);
}

static void
clear_output(struct output *output)
{
	json_decref(output->list);
	g_ptr_array_unref(output->cells);
}

void
table_print(const struct ctl *ctl, const struct table *table, const GPtrArray *rows)
{
	struct output output = start_output(table);

	add_rows(ctl, table, rows, &output);
	print_output(ctl, table, &output);
	clear_output(&output);
}

void
table_print_newest(const struct ctl *ctl, const struct table *table,
    const GPtrArray *rows, unsigned limit)
{
	table_print(ctl, table, rows);
	if (rows->len >= limit && !ctl->is_json)
		printf("The newest %u; more with --limit.\n", limit);
}

bool
table_print_pages(const struct ctl *ctl, const struct table *table, GError **error)
{
	struct output output = start_output(table);
	g_autoptr(GPtrArray) before = NULL;
	bool is_ok = true, is_last = false;

	while (is_ok && !is_last) {
		const void *last = before ? before->pdata[before->len - 1] : NULL;
		GPtrArray *rows = table->load(table->data, last, error);

		is_ok = rows != NULL;
		is_last = rows && !rows->len;
		if (rows)
			add_rows(ctl, table, rows, &output);
		g_clear_pointer(&before, g_ptr_array_unref);
		before = rows;
	}
	if (is_ok)
		print_output(ctl, table, &output);
	clear_output(&output);
	return is_ok;
}

void
table_print_record(
    const struct table_column *columns, const void *row, const char *indent)
{
	for (; !is_end(columns); columns++) {
		g_autofree char *cell =
		    columns->title ? format_cell(columns, row) : NULL;
		g_autofree char *line = cell ? print_dup_line(cell) : NULL;

		if (line)
			printf("%s%-12s %s\n", indent, columns->title, line);
	}
}
