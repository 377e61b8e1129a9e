/*
 * page.c - the parts of a digest around its papers.
 */
#include "render/page.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/header.h"
#include "message/sanitize.h"
#include "render/view.h"

/* Maximum number of cached pages; a day has some hundred. */
#define PAGES_MAX 1000

/* Control characters, which templates and sanitized text cannot contain. */
#define MARKER_PAPERS "\x01"
#define MARKER_TITLES "\x02"

const char *const page_names[] = {"change_url", "count_new", "count_papers", "coverage",
    "date", "date_long", "first_title", "has_titles", "is_grouped", "is_note",
    "list_name", "owner", "papers", "preheader", "recipient", "rest", "stop_url",
    "subject", "titles", "titles_start", "view_url", NULL};

struct pages {
	struct page_settings settings;
	GHashTable *entries; /* parameters as text -> struct page * */
	GString *lookup_key;
	struct template_buffer text, html; /* reused for all messages */
};

static void
clear_part(struct page_part *part)
{
	compiled_template_free(part->head);
	compiled_template_free(part->middle);
	compiled_template_free(part->tail);
}

static void
page_free(struct page *page)
{
	if (!page)
		return;
	compiled_template_free(page->subject);
	g_free(page->fixed_subject);
	g_free(page->subject_field);
	clear_part(&page->text);
	clear_part(&page->html);
	g_free(page);
}
PB_DEFINE_AUTO(page, page_free);

struct pages *
pages_new(const struct page_settings *settings)
{
	struct pages *pages = g_new0(struct pages, 1);

	pages->settings = *settings;
	pages->entries = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)page_free);
	pages->lookup_key = g_string_new(NULL);
	template_buffer_init(&pages->text);
	template_buffer_init(&pages->html);
	return pages;
}

void
pages_free(struct pages *pages)
{
	if (!pages)
		return;
	g_hash_table_unref(pages->entries);
	g_string_free(pages->lookup_key, TRUE);
	template_buffer_clear(&pages->text);
	template_buffer_clear(&pages->html);
	g_free(pages);
}

struct template_buffer *
pages_get_buffer(struct pages *pages, bool is_html)
{
	struct template_buffer *buffer = is_html ? &pages->html : &pages->text;

	g_string_truncate(buffer->encoded, 0);
	buffer->stats = (struct chunk_stats){0};
	return buffer;
}

/* Cut the line of a marker out of a text. @param rest  set to what follows it */
static bool
cut_at(char *text, const char *marker, char **rest)
{
	char *found = strstr(text, marker);

	if (!found || strstr(found + 1, marker) || found[1] != '\n' ||
	    (found > text && found[-1] != '\n'))
		return false;
	*found = '\0';
	*rest = found + 2;
	return true;
}

/* @param label  the template's name in errors */
static bool
init_part(struct page_part *part, const char *label, const struct template *template,
    const struct view *view, unsigned columns, GError **error)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	bool has_titles = view_is_true(view_find(view, "has_titles"));
	char *middle;
	char *tail = NULL;

	template_append(template, view, whole);
	if (!cut_at(whole->str, MARKER_PAPERS, &middle) ||
	    (has_titles ? !cut_at(middle, MARKER_TITLES, &tail)
	                : strstr(middle, MARKER_TITLES) != NULL))
		return pb_fail(error, PB_ERROR_INPUT,
		    "%s: expected {{{papers}}} once, and after it {{{titles}}} once "
		    "where has_titles is true, each alone on a line",
		    label);
	part->head = compiled_template_new(whole->str, columns);
	part->middle = compiled_template_new(middle, columns);
	part->tail = compiled_template_new(tail ? tail : "", columns);
	return true;
}

static void
put_placeholder(struct view *view, const char *name, enum page_value value)
{
	char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];

	compiled_template_format_placeholder(value, placeholder);
	view_put_text(view, name, placeholder);
}

static void
put_counts(struct view *view, const struct locale_format *format,
    const struct page_params *params)
{
	g_autofree char *count_new =
	    params->is_note ? locale_format_text(format, "no_new_papers")
	                    : locale_format_count(format, params->total, "new_papers");
	g_autofree char *count_papers =
	    params->is_note ? locale_format_text(format, "no_papers")
	                    : locale_format_count(format, params->total, "papers");
	g_autofree char *first_title =
	    sanitize_paper_text(params->first_title, BOUNDS_SUBJECT_TITLE_CHARS);
	g_autofree char *sentence =
	    g_strconcat(count_new, params->is_note ? "" : ": ", first_title, NULL);
	g_autofree char *preheader = sanitize_line(sentence, BOUNDS_PREHEADER_CHARS);
	g_autofree char *start = g_strdup_printf("%u", params->titles_start);

	view_put_text(view, "count_new", count_new);
	view_put_text(view, "count_papers", count_papers);
	view_put_text(view, "first_title", first_title);
	view_put_text(view, "preheader", preheader);
	view_put_text(view, "titles_start", start);
	if (params->shown < params->total) {
		g_autofree char *rest = locale_format_count(
		    format, params->total - params->shown, "more_papers");

		view_put_text(view, "rest", rest);
	}
}

/* @return NULL for an invalid date */
static struct view *
new_view(const struct page_settings *settings, const struct page_params *params)
{
	g_autofree char *list_name = sanitize_line(settings->list_name, 0);
	g_autofree char *date =
	    locale_format_day(settings->format, params->date, LOCALE_FORMAT_SHORT);
	g_autofree char *date_long =
	    locale_format_day(settings->format, params->date, LOCALE_FORMAT_LONG);
	g_autofree char *coverage =
	    params->coverage ? sanitize_line(params->coverage, 0) : NULL;
	struct view *view;

	if (!date)
		return NULL;
	view = view_new_map();
	view_put_text(view, "list_name", list_name);
	view_put_text(view, "owner", settings->owner);
	if (settings->change_url) {
		view_put_text(view, "change_url", settings->change_url);
	} else {
		put_placeholder(view, "change_url", PAGE_CHANGE_URL);
		put_placeholder(view, "view_url", PAGE_VIEW_URL);
	}
	view_put_text(view, "date", date);
	view_put_text(view, "date_long", date_long);
	view_put_text(view, "coverage", coverage);
	view_put_text(view, "papers", MARKER_PAPERS);
	view_put_text(view, "titles", MARKER_TITLES);
	view_put(view, "has_titles", view_new_bool(params->has_titles));
	view_put(view, "is_grouped", view_new_bool(params->is_grouped));
	view_put(view, "is_note", view_new_bool(params->is_note));
	put_placeholder(view, "recipient", PAGE_RECIPIENT);
	put_placeholder(view, "stop_url", PAGE_STOP_URL);
	put_counts(view, settings->format, params);
	return view;
}

char *
page_format_subject(const struct compiled_template *subject, const char *const *values)
{
	g_autoptr(GString) line = g_string_new(NULL);

	compiled_template_append_plain(subject, values, line);
	return sanitize_line(line->str, BOUNDS_SUBJECT_CHARS);
}

/* The subject is rendered first: both parts may show it. */
static void
init_subject(struct page *page, const struct template *template, struct view *view)
{
	static const char *const no_values[PAGE_VALUES] = {0};
	g_autoptr(GString) text = g_string_new(NULL);
	struct compiled_template *subject;
	GString *field;

	template_append(template, view, text);
	subject = compiled_template_new(text->str, 0);
	if (compiled_template_has_placeholder(subject)) {
		page->subject = subject;
		put_placeholder(view, "subject", PAGE_SUBJECT);
		return;
	}
	page->fixed_subject = page_format_subject(subject, no_values);
	compiled_template_free(subject);
	field = g_string_new(NULL);
	header_append_text(field, "Subject", page->fixed_subject);
	page->subject_field = g_string_free(field, FALSE);
	view_put_text(view, "subject", page->fixed_subject);
}

static struct page *
new_page(const struct page_settings *settings, const struct page_params *params,
    GError **error)
{
	pb_auto(view) view = new_view(settings, params);
	pb_auto(page) page = g_new0(struct page, 1);

	if (!view) {
		pb_fail(
		    error, PB_ERROR_INPUT, "invalid digest date '%s'", params->date);
		return NULL;
	}
	init_subject(page, settings->subject, view);
	if (!init_part(&page->text, "digest.txt", settings->text, view,
	        BOUNDS_TEXT_COLUMNS, error) ||
	    !init_part(&page->html, "digest.html", settings->html, view, 0, error))
		return NULL;
	return g_steal_pointer(&page);
}

static void
set_key(GString *key, const struct page_params *params)
{
	const char *coverage = params->coverage ? params->coverage : "";
	const unsigned numbers[] = {params->total, params->shown, params->has_titles,
	    params->titles_start, params->is_note, params->is_grouped,
	    (unsigned)strlen(coverage)};

	g_string_assign(key, params->date);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		/* Seven bits per byte, and never a NUL. */
		for (unsigned rest = numbers[i]; rest; rest >>= 7)
			g_string_append_c(key, (char)(rest | 128));
		g_string_append_c(key, '\n');
	}
	g_string_append(key, coverage);
	g_string_append(key, params->first_title);
}

const struct page *
pages_get(struct pages *pages, const struct page_params *params, GError **error)
{
	struct page *page;

	set_key(pages->lookup_key, params);
	page = g_hash_table_lookup(pages->entries, pages->lookup_key->str);
	if (page)
		return page;
	page = new_page(&pages->settings, params, error);
	if (!page)
		return NULL;
	if (g_hash_table_size(pages->entries) >= PAGES_MAX)
		g_hash_table_remove_all(pages->entries);
	g_hash_table_insert(pages->entries, g_strdup(pages->lookup_key->str), page);
	return page;
}
