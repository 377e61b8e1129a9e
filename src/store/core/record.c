/*
 * record.c - structs loaded from the rows of a statement, by a table of their columns.
 */
#include "store/core/record.h"

#include <string.h>

enum sql_step
record_step(
    struct sql_statement *statement, const struct record_layout *layout, GError **error)
{
	enum sql_step step = sql_step(statement, error);

	g_assert(
	    step != SQL_STEP_ROW || (int)layout->count <= sql_count_columns(statement));
	for (size_t i = 0; step == SQL_STEP_ROW && i < layout->count; i++) {
		const struct record_column *column = &layout->columns[i];
		struct enumeration_column checked = {
		    (int)i, column->which, column->shape, column->row};

		if (!enumeration_check(statement, &checked, error))
			return SQL_STEP_FAILED;
	}
	return step;
}

/* @param block  where to copy to, advanced; NULL for the heap */
static char *
copy_text(struct sql_statement *row, int i, char **block)
{
	const char *text = sql_get_text(row, i);
	char *copy = *block;
	size_t size;

	if (!text || !copy)
		return g_strdup(text);
	size = strlen(text) + 1;
	*block += size;
	return memcpy(copy, text, size);
}

static void
load_member(struct sql_statement *row, int i, const struct record_column *column,
    void *member, char **block)
{
	const char *text;

	switch (column->type) {
	case RECORD_INT64:
		*(int64_t *)member = sql_get_int(row, i);
		break;
	case RECORD_INT:
		*(int *)member = column->shape == ENUMERATION_NONE
		                     ? (int)sql_get_int(row, i)
		                     : enumeration_get_value(row, i, column->which);
		break;
	case RECORD_BOOL:
		*(bool *)member = sql_get_int(row, i) == 1;
		break;
	case RECORD_TEXT:
		*(char **)member = copy_text(row, i, block);
		break;
	case RECORD_CHARS:
		text = sql_get_text(row, i);
		g_strlcpy(member, text ? text : "", column->size);
		break;
	}
}

static size_t
measure_texts(struct sql_statement *row, const struct record_layout *layout)
{
	size_t size = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const char *text = layout->columns[i].type == RECORD_TEXT
		                       ? sql_get_text(row, (int)i)
		                       : NULL;

		size += text ? strlen(text) + 1 : 0;
	}
	return size;
}

void *
record_load(struct sql_statement *row, const struct record_layout *layout)
{
	char *record = layout->make
	                   ? layout->make()
	                   : g_malloc0(layout->size + measure_texts(row, layout));
	char *block = layout->make ? NULL : record + layout->size;

	for (size_t i = 0; i < layout->count; i++)
		load_member(row, (int)i, &layout->columns[i],
		    record + layout->columns[i].offset, &block);
	return record;
}

bool
record_find(struct sql_statement *statement, const struct record_layout *layout,
    void *found, GError **error)
{
	enum sql_step step =
	    statement ? record_step(statement, layout, error) : SQL_STEP_FAILED;
	void *record;

	if (step == SQL_STEP_FAILED)
		return false;
	record = step == SQL_STEP_ROW ? record_load(statement, layout) : NULL;
	memcpy(found, &record, sizeof(record));
	return true;
}

GPtrArray *
record_load_all(
    struct sql_statement *statement, const struct record_layout *layout, GError **error)
{
	g_autoptr(GPtrArray) records =
	    g_ptr_array_new_with_free_func(layout->free ? layout->free : g_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = record_step(statement, layout, error)) == SQL_STEP_ROW)
		g_ptr_array_add(records, record_load(statement, layout));
	return step == SQL_STEP_DONE ? g_steal_pointer(&records) : NULL;
}
