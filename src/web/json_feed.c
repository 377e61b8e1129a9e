/*
 * json_feed.c - a feed as JSON Feed 1.1.
 */
#include "web/json_feed.h"

#include <jansson.h>
#include <stdlib.h>

#define FEED_VERSION "https://jsonfeed.org/version/1.1"

static const char *
get_text(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_TEXT ? found->text : "";
}

/* Set a member unless it is empty. */
static void
set_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(object, key, json_string(text));
}

static const GPtrArray *
get_list(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_LIST ? found->list : NULL;
}

static json_t *
format_authors(const GPtrArray *authors)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < authors->len; i++)
		json_array_append_new(list,
		    json_pack("{ss}", "name", get_text(authors->pdata[i], "name")));
	return list;
}

/* Each item has content, even if it is only its title (section "Items"). */
static json_t *
format_item(const struct view *entry)
{
	const char *abstract = get_text(entry, "abstract");
	const char *title = get_text(entry, "title");
	const GPtrArray *authors = get_list(entry, "authors");
	json_t *item = json_object();

	set_text(item, "id", get_text(entry, "id"));
	set_text(item, "url", get_text(entry, "url"));
	set_text(item, "title", title);
	json_object_set_new(
	    item, "content_text", json_string(*abstract ? abstract : title));
	set_text(item, "summary", get_text(entry, "reasons"));
	set_text(item, "date_published", get_text(entry, "published"));
	set_text(item, "date_modified", get_text(entry, "updated"));
	if (authors && authors->len > 0)
		json_object_set_new(item, "authors", format_authors(authors));
	return item;
}

char *
json_feed_format(const struct view *view)
{
	const char *base = get_text(view, "base");
	g_autofree char *home = g_strconcat(base, "/", NULL);
	g_autofree char *self = g_strconcat(base, get_text(view, "path"), NULL);
	const GPtrArray *entries = get_list(view, "entries");
	json_t *feed = json_object();
	json_t *items = json_array();
	char *dumped, *text;

	set_text(feed, "version", FEED_VERSION);
	set_text(feed, "title", get_text(view, "title"));
	set_text(feed, "home_page_url", home);
	set_text(feed, "feed_url", self);
	set_text(feed, "language", get_text(view, "lang"));
	for (unsigned i = 0; entries && i < entries->len; i++)
		json_array_append_new(items, format_item(entries->pdata[i]));
	json_object_set_new(feed, "items", items);
	dumped = json_dumps(feed, JSON_COMPACT);
	json_decref(feed);
	/* GLib frees with free(), but need not. */
	text = g_strdup(dumped);
	free(dumped);
	return text;
}
