/*
 * pages.c - a list that is loaded a page at a time: a table for people, or JSON.
 */
#include "ctl/pages.h"

#include <stdio.h>

#include "ctl/print.h"

/* One of the two is filled. */
struct shown {
	GPtrArray *table; /* of char **, the head first */
	json_t *list;
};

static bool
load_all(const struct ctl *ctl, const struct pages *pages, struct shown *shown,
    GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) rows = pages->load(pages->data, error);

		if (!rows)
			return false;
		if (!rows->len)
			return true;
		for (unsigned i = 0; i < rows->len; i++) {
			if (ctl->is_json)
				json_array_append_new(
				    shown->list, pages->pack(rows->pdata[i]));
			else
				g_ptr_array_add(
				    shown->table, pages->format(rows->pdata[i]));
		}
	}
}

bool
pages_show(const struct ctl *ctl, const struct pages *pages, GError **error)
{
	struct shown shown = {
	    .table = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev),
	    .list = json_array(),
	};
	bool is_ok;

	g_ptr_array_add(shown.table, pages->head);
	is_ok = load_all(ctl, pages, &shown, error);
	if (is_ok && ctl->is_json)
		print_json(json_incref(shown.list));
	else if (is_ok && shown.table->len > 1)
		print_table(shown.table);
	else if (is_ok)
		puts(pages->when_empty);
	json_decref(shown.list);
	g_ptr_array_unref(shown.table);
	return is_ok;
}
