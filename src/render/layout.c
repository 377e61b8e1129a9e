/*
 * layout.c - which papers of a digest are shown how, and both parts around them.
 */
#include "render/layout.h"

#include "base/bounds.h"
#include "base/error.h"
#include "mail/inert.h"
#include "render/view.h"
#include "render/words.h"

static void
choose_entries(struct layout *layout, const struct digest *digest)
{
	g_autoptr(GPtrArray) titles = g_ptr_array_new();

	for (unsigned i = 0; i < digest->entries->len; i++) {
		struct digest_entry *entry = digest->entries->pdata[i];

		switch (entry->shown) {
		case DIGEST_SHOWN_FULL:
			if (layout->entries->len < BOUNDS_DIGEST_FULL_MAX)
				g_ptr_array_add(layout->entries, entry);
			else
				g_ptr_array_add(titles, entry);
			break;
		case DIGEST_SHOWN_TITLE:
			g_ptr_array_add(titles, entry);
			break;
		case DIGEST_SHOWN_COUNT:
			break;
		}
	}
	layout->full = layout->entries->len;
	for (unsigned i = 0; i < MIN(titles->len, BOUNDS_DIGEST_TITLES_MAX); i++)
		g_ptr_array_add(layout->entries, titles->pdata[i]);
	layout->shown = layout->entries->len;
	layout->total = digest->entries->len;
}

static void
load_fragments(struct layout *layout, struct fragment_cache *cache)
{
	for (unsigned i = 0; i < layout->shown; i++)
		g_ptr_array_add(layout->fragments,
		    fragment_cache_get(
		        cache, layout->entries->pdata[i], i < layout->full));
}

static char *
get_first_title(const struct layout *layout, const struct digest *digest)
{
	const struct digest_entry *first = layout->entries->len > 0
	                                       ? layout->entries->pdata[0]
	                                       : digest->entries->pdata[0];

	return inert_format_line(first->paper->title, BOUNDS_SUBJECT_TITLE_CHARS);
}

/* What stays the same however many papers are shown. */
static struct view *
new_view(const struct layout *layout, const struct layout_settings *settings,
    const struct digest *digest)
{
	struct view *view = view_new_map();
	g_autofree char *recipient = inert_format_line(digest->recipient, 0);
	g_autofree char *list_name = inert_format_line(settings->list_name, 0);
	g_autofree char *count_new = words_format_count(layout->total, "new paper");
	g_autofree char *count_papers = words_format_count(layout->total, "paper");
	g_autofree char *date = words_format_day(digest->date, WORDS_SHORT);
	g_autofree char *date_long = words_format_day(digest->date, WORDS_LONG);
	g_autofree char *first_title = get_first_title(layout, digest);
	g_autofree char *sentence = g_strconcat(count_new, ": ", first_title, NULL);
	g_autofree char *preheader =
	    inert_format_line(sentence, BOUNDS_PREHEADER_CHARS);

	view_put_text(view, "recipient", recipient);
	view_put_text(view, "list_name", list_name);
	view_put_text(view, "owner", settings->owner);
	view_put_text(view, "stop_url", settings->stop_url);
	view_put_text(view, "change_url", settings->change_url);
	view_put_text(view, "count_new", count_new);
	view_put_text(view, "count_papers", count_papers);
	view_put_text(view, "date", date);
	view_put_text(view, "date_long", date_long);
	view_put_text(view, "first_title", first_title);
	if (digest->coverage && *digest->coverage) {
		g_autofree char *coverage = inert_format_line(digest->coverage, 0);

		view_put_text(view, "coverage", coverage);
	}
	view_put_text(view, "preheader", preheader);
	return view;
}

static void
put_shown(struct view *view, const struct layout *layout)
{
	if (layout->shown < layout->total) {
		g_autofree char *rest =
		    words_format_count(layout->total - layout->shown, "more paper");

		view_put_text(view, "rest", rest);
	}
	frame_put_places(view, layout->shown > layout->full);
}

static char *
format_subject(const struct template *template, const struct view *view)
{
	g_autoptr(GString) subject = g_string_new(NULL);

	template_append(template, view, subject);
	return inert_format_line(subject->str, BOUNDS_SUBJECT_CHARS);
}

/* Show one paper less: the last full one by title, or the last title not at all. */
static void
demote_last(struct layout *layout, struct fragment_cache *cache, struct piece_sum *sum)
{
	unsigned last = layout->full > 0 ? layout->full - 1 : layout->shown - 1;
	struct fragment *fragment = layout->fragments->pdata[last];

	piece_sum_subtract(sum, &fragment->html);
	fragment_unref(fragment);
	if (layout->full > 0) {
		fragment =
		    fragment_cache_get(cache, layout->entries->pdata[last], false);
		layout->fragments->pdata[last] = fragment;
		piece_sum_add(sum, &fragment->html);
		layout->full--;
	} else {
		layout->fragments->pdata[last] = NULL;
		g_ptr_array_set_size(layout->fragments, (int)last);
		layout->shown--;
	}
}

static struct piece_sum
measure_html(const struct layout *layout)
{
	g_autoptr(GPtrArray) pieces = layout_list_html(layout);
	struct piece_sum sum = {0};

	for (unsigned i = 0; i < pieces->len; i++)
		piece_sum_add(&sum, pieces->pdata[i]);
	return sum;
}

/*
 * The frame depends a little on what is shown, so it is made anew after papers
 * were demoted; each round demotes at least one.
 */
static bool
fit_html(struct layout *layout, const struct layout_settings *settings,
    struct view *view, GError **error)
{
	for (;;) {
		struct piece_sum sum;

		put_shown(view, layout);
		if (!frame_init(
		        &layout->html, "digest.html", settings->html, view, 0, error))
			return false;
		sum = measure_html(layout);
		if (piece_sum_get_part_bytes(&sum) <= BOUNDS_HTML_PART_BYTES)
			return frame_init(&layout->text, "digest.txt", settings->text,
			    view, BOUNDS_TEXT_COLUMNS, error);
		frame_clear(&layout->html);
		if (layout->shown == 0) {
			g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
			    "digest.html alone makes more than %d octets",
			    BOUNDS_HTML_PART_BYTES);
			return false;
		}
		while (layout->shown > 0 &&
		       piece_sum_get_part_bytes(&sum) > BOUNDS_HTML_PART_BYTES)
			demote_last(layout, settings->cache, &sum);
	}
}

bool
layout_init(struct layout *layout, const struct layout_settings *settings,
    const struct digest *digest, GError **error)
{
	g_autofree char *date = words_format_day(digest->date, WORDS_SHORT);
	pb_auto(view) view = NULL;
	struct layout made = {0};

	if (digest->entries->len == 0 || !date) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "digest %" G_GINT64_FORMAT " %s", digest->id,
		    date ? "has no papers" : "has no valid date");
		return false;
	}
	made.entries = g_ptr_array_new();
	made.fragments = g_ptr_array_new_with_free_func((GDestroyNotify)fragment_unref);
	choose_entries(&made, digest);
	load_fragments(&made, settings->cache);
	view = new_view(&made, settings, digest);
	put_shown(view, &made);
	made.subject = format_subject(settings->subject, view);
	view_put_text(view, "subject", made.subject);
	if (!fit_html(&made, settings, view, error)) {
		layout_clear(&made);
		return false;
	}
	*layout = made;
	return true;
}

void
layout_clear(struct layout *layout)
{
	g_clear_pointer(&layout->entries, g_ptr_array_unref);
	g_clear_pointer(&layout->fragments, g_ptr_array_unref);
	g_clear_pointer(&layout->subject, g_free);
	frame_clear(&layout->text);
	frame_clear(&layout->html);
}

static GPtrArray *
list_pieces(const struct layout *layout, const struct frame *frame, bool is_html)
{
	GPtrArray *pieces = g_ptr_array_sized_new(layout->shown + 3);

	/* The array has no const; its readers have. */
	g_ptr_array_add(pieces, (void *)&frame->head);
	for (unsigned i = 0; i <= layout->shown; i++) {
		struct fragment *fragment;

		if (i == layout->full)
			g_ptr_array_add(pieces, (void *)&frame->middle);
		if (i == layout->shown)
			break;
		fragment = layout->fragments->pdata[i];
		g_ptr_array_add(pieces, is_html ? &fragment->html : &fragment->text);
	}
	g_ptr_array_add(pieces, (void *)&frame->tail);
	return pieces;
}

GPtrArray *
layout_list_text(const struct layout *layout)
{
	return list_pieces(layout, &layout->text, false);
}

GPtrArray *
layout_list_html(const struct layout *layout)
{
	return list_pieces(layout, &layout->html, true);
}
