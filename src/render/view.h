/*
 * view.h - the input of a template: a tree of texts, booleans, lists and maps.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

enum view_kind {
	VIEW_TEXT,
	VIEW_BOOL,
	VIEW_LIST,
	VIEW_MAP,
};

struct view_member {
	const char *name; /* a string literal */
	struct view *value;
};

struct view {
	enum view_kind kind;
	union {
		const char *text; /* in the same allocation */
		bool truth;
		GPtrArray *list; /* of struct view * */
		GArray *map;     /* of struct view_member: a few */
	};
};

/** Allocate a text. @param text  NULL for an empty one */
struct view *view_new_text(const char *text);
struct view *view_new_bool(bool truth);
struct view *view_new_list(void);
struct view *view_new_map(void);
void view_free(struct view *view);
PB_DEFINE_AUTO(view, view_free);

/** Put a member into a map. @param name a string literal; @param member taken */
void view_put(struct view *map, const char *name, struct view *member);

/** Put a text into a map; NULL is left out, so that sections on it are skipped. */
void view_put_text(struct view *map, const char *name, const char *text);

/** Append to a list. @param item taken */
void view_append(struct view *list, struct view *item);

/** Find a member. @return NULL if the view is not a map or lacks it */
const struct view *view_find(const struct view *view, const char *name);

/** Whether sections on this view are shown: false for NULL, false and empty values. */
bool view_is_true(const struct view *view);
