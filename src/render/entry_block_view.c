/*
 * entry_block_view.c - what the templates of a paper see.
 */
#include "render/entry_block_view.h"

#include "base/bounds.h"
#include "message/sanitize.h"
#include "render/excerpt.h"

const char *const entry_block_view_names[] = {"abstract", "authors", "code_url", "day",
    "filter", "full", "has_links", "number", "project_url", "reasons", "title", "url",
    "votes", "words", NULL};

const char *const entry_block_view_reason_names[] = {"filter", "words", ".", NULL};

static void
put_line(struct view *map, const char *name, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);

	view_put_text(map, name, line);
}

static void
put_url(struct view *map, const char *name, const char *url)
{
	if (sanitize_is_web_url(url))
		view_put_text(map, name, url);
}

struct view *
entry_block_view_new_reasons(const GPtrArray *reasons)
{
	struct view *list = view_new_list();

	for (unsigned i = 0; i < reasons->len; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		struct view *item = view_new_map();

		put_line(item, "filter", reason->filter);
		put_line(item, "words", reason->words);
		view_append(list, item);
	}
	return list;
}

static void
put_abstract(struct view *view, const char *abstract, enum entry_block_depth depth)
{
	g_autofree char *excerpt = NULL;

	switch (depth) {
	case ENTRY_BLOCK_TITLE:
	case ENTRY_BLOCK_BARE:
		break;
	case ENTRY_BLOCK_SHORT:
		excerpt = excerpt_format(abstract);
		view_put_text(view, "abstract", excerpt);
		break;
	case ENTRY_BLOCK_WHOLE:
		put_line(view, "abstract", abstract);
		break;
	}
}

struct view *
entry_block_view_new(const struct words *words, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = sanitize_line(paper->title, 0);
	g_autofree char *day = locale_format_format_day(words, entry->day, WORDS_SHORT);
	g_autofree char *authors = NULL;
	g_autofree char *votes = NULL;

	if (!*title) {
		g_free(title);
		title = locale_format_text(words, "untitled");
	}
	view_put_text(view, "number", ENTRY_BLOCK_VIEW_NUMBER);
	view_put_text(view, "title", title);
	put_url(view, "url", paper->url);
	view_put_text(view, "day", day);
	if (entry->upvotes > 0) {
		votes = locale_format_format_count(words, entry->upvotes, "votes");
		view_put_text(view, "votes", votes);
	}
	if (depth == ENTRY_BLOCK_TITLE)
		return view;
	view_put(view, "full", view_new_bool(true));
	authors =
	    locale_format_format_names(words, paper->authors, BOUNDS_DIGEST_AUTHORS);
	view_put_text(view, "authors", authors);
	put_url(view, "code_url", paper->code_url);
	put_url(view, "project_url", paper->project_url);
	view_put(view, "has_links",
	    view_new_bool(
	        view_find(view, "code_url") || view_find(view, "project_url")));
	view_put(view, "reasons", entry_block_view_new_reasons(entry->reasons));
	put_abstract(view, paper->abstract, depth);
	return view;
}
