/*
 * frame.c - what stands around the papers in one part of a digest.
 */
#include "render/frame.h"

#include <string.h>

#include "base/error.h"
#include "render/view.h"
#include "render/wrap.h"

const char *const frame_names[] = {"change_url", "count_new", "count_papers",
    "coverage", "date", "date_long", "first_title", "has_titles", "list_name", "owner",
    "papers", "preheader", "recipient", "rest", "stop_url", "subject", "titles", NULL};

/*
 * A place is a control character, which neither a template may hold nor a
 * text that was made inert: so nobody can forge one.
 */
#define PLACE_PAPERS "\x01"
#define PLACE_TITLES "\x02"

void
frame_put_places(struct view *view, bool has_titles)
{
	view_put_text(view, "papers", PLACE_PAPERS);
	view_put_text(view, "titles", PLACE_TITLES);
	view_put(view, "has_titles", view_new_bool(has_titles));
}

/*
 * Cut the line of a place out of a text.  On success *rest is what follows.
 */
static bool
cut_at(char *text, const char *place, char **rest)
{
	char *found = strstr(text, place);

	if (!found || strstr(found + 1, place) || found[1] != '\n' ||
	    (found > text && found[-1] != '\n'))
		return false;
	*found = '\0';
	*rest = found + 2;
	return true;
}

static void
init_piece(struct piece *piece, const char *text, unsigned columns)
{
	g_autofree char *wrapped = columns > 0 ? wrap_format_text(text, columns) : NULL;

	piece_init(piece, g_string_new(wrapped ? wrapped : text));
}

bool
frame_init(struct frame *frame, const char *label, const struct template *template,
    const struct view *view, unsigned columns, GError **error)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	bool has_titles = view_is_true(view_find(view, "has_titles"));
	char *middle;
	char *tail = NULL;

	template_append(template, view, whole);
	if (!cut_at(whole->str, PLACE_PAPERS, &middle) ||
	    (has_titles ? !cut_at(middle, PLACE_TITLES, &tail)
	                : strstr(middle, PLACE_TITLES) != NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "%s wants {{{papers}}} once, and after it {{{titles}}} once where "
		    "has_titles is true, each alone on a line",
		    label);
		return false;
	}
	init_piece(&frame->head, whole->str, columns);
	init_piece(&frame->middle, middle, columns);
	init_piece(&frame->tail, tail ? tail : "", columns);
	return true;
}

void
frame_clear(struct frame *frame)
{
	piece_clear(&frame->head);
	piece_clear(&frame->middle);
	piece_clear(&frame->tail);
}
