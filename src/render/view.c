/*
 * view.c - the input of a template: a tree of texts, booleans, lists and maps.
 */
#include "render/view.h"

static struct view *
new_view(enum view_kind kind)
{
	struct view *view = g_new0(struct view, 1);

	view->kind = kind;
	return view;
}

struct view *
view_new_text(const char *text)
{
	struct view *view = new_view(VIEW_TEXT);

	view->text = g_strdup(text ? text : "");
	return view;
}

struct view *
view_new_bool(bool truth)
{
	struct view *view = new_view(VIEW_BOOL);

	view->truth = truth;
	return view;
}

struct view *
view_new_list(void)
{
	struct view *view = new_view(VIEW_LIST);

	view->list = g_ptr_array_new_with_free_func((GDestroyNotify)view_free);
	return view;
}

struct view *
view_new_map(void)
{
	struct view *view = new_view(VIEW_MAP);

	view->map = g_hash_table_new_full(
	    g_str_hash, g_str_equal, NULL, (GDestroyNotify)view_free);
	return view;
}

void
view_free(struct view *view)
{
	if (!view)
		return;
	switch (view->kind) {
	case VIEW_TEXT:
		g_free(view->text);
		break;
	case VIEW_BOOL:
		break;
	case VIEW_LIST:
		g_ptr_array_unref(view->list);
		break;
	case VIEW_MAP:
		g_hash_table_unref(view->map);
		break;
	}
	g_free(view);
}

void
view_put(struct view *map, const char *name, struct view *member)
{
	g_assert(map->kind == VIEW_MAP);
	/* The table does not write to its keys. */
	g_hash_table_replace(map->map, (char *)name, member);
}

void
view_put_text(struct view *map, const char *name, const char *text)
{
	if (text)
		view_put(map, name, view_new_text(text));
}

void
view_append(struct view *list, struct view *item)
{
	g_assert(list->kind == VIEW_LIST);
	g_ptr_array_add(list->list, item);
}

const struct view *
view_find(const struct view *view, const char *name)
{
	return view->kind == VIEW_MAP ? g_hash_table_lookup(view->map, name) : NULL;
}

bool
view_is_true(const struct view *view)
{
	if (!view)
		return false;
	switch (view->kind) {
	case VIEW_TEXT:
		return view->text[0] != '\0';
	case VIEW_BOOL:
		return view->truth;
	case VIEW_LIST:
		return view->list->len > 0;
	case VIEW_MAP:
		return true;
	}
	g_assert_not_reached();
}
