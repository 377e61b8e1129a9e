/*
 * view.c - the input of a template: a tree of texts, booleans, lists and maps.
 */
#include "render/view.h"

#include <string.h>

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
	const size_t bytes = (text ? strlen(text) : 0) + 1;
	struct view *view = g_malloc(sizeof(*view) + bytes);

	view->kind = VIEW_TEXT;
	view->text = memcpy(view + 1, text ? text : "", bytes);
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

static void
clear_member(void *data)
{
	view_free(((struct view_member *)data)->value);
}

struct view *
view_new_map(void)
{
	struct view *view = new_view(VIEW_MAP);

	view->map = g_array_sized_new(FALSE, FALSE, sizeof(struct view_member), 16);
	g_array_set_clear_func(view->map, clear_member);
	return view;
}

void
view_free(struct view *view)
{
	if (!view)
		return;
	switch (view->kind) {
	case VIEW_TEXT:
	case VIEW_BOOL:
		break;
	case VIEW_LIST:
		g_ptr_array_unref(view->list);
		break;
	case VIEW_MAP:
		g_array_unref(view->map);
		break;
	}
	g_free(view);
}

static struct view_member *
find_member(const struct view *map, const char *name)
{
	for (unsigned i = 0; i < map->map->len; i++) {
		struct view_member *member =
		    &g_array_index(map->map, struct view_member, i);

		if (member->name[0] == name[0] && strcmp(member->name, name) == 0)
			return member;
	}
	return NULL;
}

void
view_put(struct view *map, const char *name, struct view *member)
{
	struct view_member *old;

	g_assert(map->kind == VIEW_MAP);
	old = find_member(map, name);
	if (old) {
		view_free(old->value);
		old->value = member;
	} else {
		const struct view_member added = {name, member};

		g_array_append_val(map->map, added);
	}
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
	const struct view_member *member =
	    view->kind == VIEW_MAP ? find_member(view, name) : NULL;

	return member ? member->value : NULL;
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
