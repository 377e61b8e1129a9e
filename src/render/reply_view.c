/*
 * reply_view.c - the view of a reply for the template reply.html.
 */
#include "render/reply_view.h"

#include <string.h>

const char *const reply_names[] = {"lang", "subject", "is_titled", "blocks", "title",
    "link", "is_confirm", "quote", "lines", "text", NULL};

static bool
is_link(const char *block)
{
	return g_regex_match_simple("^https?://\\S+$", block, 0, 0);
}

/* Indented, quoted, or after a word in the margin. */
static bool
has_lines(const char *block)
{
	return g_regex_match_simple(
	    "^(?:> | +\\S|[\\w-]+ {2,}|confirm |undo )", block, G_REGEX_MULTILINE, 0);
}

#define ITEM "-      " /* as wide as the margin of what goes on below it */
#define REST "       "

/* Items are lines of any length. */
static char *
join_items(char *const *lines)
{
	GString *text = g_string_new(NULL);
	bool is_item = false;

	for (; *lines; lines++) {
		bool goes_on = is_item && g_str_has_prefix(*lines, REST);

		is_item = goes_on || g_str_has_prefix(*lines, ITEM);
		g_string_append(text, goes_on ? " " : text->len ? "\n" : "");
		g_string_append(text, is_item && !goes_on ? "\u2022 " : "");
		g_string_append(text, *lines + (is_item ? strlen(ITEM) : 0));
	}
	return g_string_free(text, FALSE);
}

static void
add_block(struct view *blocks, const char *block, bool is_first, bool is_confirm)
{
	struct view *map = view_new_map();
	g_auto(GStrv) lines = g_strsplit(block, "\n", -1);
	g_autofree char *joined = g_strjoinv(" ", lines);
	g_autofree char *items = join_items(lines);

	if (is_link(block)) {
		view_put_text(map, "link", block);
		view_put(map, "is_confirm", view_new_bool(is_confirm));
	} else if (!strchr(block, '\n') && g_str_has_prefix(block, "> ")) {
		view_put_text(map, "quote", block + strlen("> "));
	} else {
		bool is_text = !has_lines(block);

		view_put_text(map,
		    !is_text   ? "lines"
		    : is_first ? "title"
		               : "text",
		    is_text ? joined : items);
	}
	view_append(blocks, map);
}

struct view *
reply_view_new(const char *language, const char *subject, const char *text)
{
	struct view *view = view_new_map(), *blocks = view_new_list();
	g_auto(GStrv) parts = g_strsplit(text, "\n\n", -1);

	view_put(view, "is_titled", view_new_bool(!has_lines(parts[0])));
	for (char **part = parts; *part; part++) {
		/* Blanks at the start of a line are of its block. */
		while (**part == '\n')
			memmove(*part, *part + 1, strlen(*part));
		if (*g_strchomp(*part))
			add_block(
			    blocks, *part, part == parts, strstr(text, "\nconfirm "));
	}
	view_put_text(view, "lang", language);
	view_put_text(view, "subject", subject);
	view_put(view, "blocks", blocks);
	return view;
}
