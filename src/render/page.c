/*
 * page.c - the parts of a digest around its papers.
 */
#include "render/page.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/sanitize.h"
#include "render/view.h"

/* Numbers of pages or subjects, counts and titles after which all are replaced by empty
 * tables (pages_renew_if_full()); a day has some hundred titles. */
#define PAGES_MAX  1000
#define COUNTS_MAX 5000
#define TITLES_MAX 5000

/* Control characters, which templates and sanitized text cannot contain. */
#define MARKER_PAPERS "\x01"
#define MARKER_TITLES "\x02"

const char *const page_names[] = {"change_url", "commands", "count", "count_new",
    "count_papers", "coverage", "date", "date_long", "edit_url", "fewer_address",
    "fewer_url", "filters", "first_title", "has_counts", "has_edit", "has_subjects",
    "has_titles", "is_grouped", "is_first", "is_last", "is_note", "is_overlapping",
    "label", "lang", "list_name", "more_filters", "notices", "number", "owner",
    "owner_url", "papers", "pause_address", "pause_url", "preheader", "recipient",
    "rest", "stop_address", "stop_url", "subject", "title", "titles", "titles_start",
    "top", "url", "view_url", "weekly_address", "weekly_url", NULL};

struct pages {
	struct page_settings settings;
	char *phrases[PAGE_PHRASES];
	GMutex lock;          /* of the tables, also while a value is made */
	GHashTable *entries;  /* parameters as text -> struct page * */
	GHashTable *subjects; /* parameters as text -> struct compiled_template * */
	GHashTable *counts;   /* number and phrase -> char * */
	GHashTable *titles;   /* title -> struct page_title * */
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
	clear_part(&page->text);
	clear_part(&page->html);
	g_free(page);
}
PB_DEFINE_AUTO(page, page_free);

static void
free_title(void *data)
{
	struct page_title *title = data;

	g_free(title->line);
	g_free(title->short_line);
	g_free(title);
}

struct pages *
pages_new(const struct page_settings *settings)
{
	static const char *const phrases[] = {
	    [PAGE_PHRASE_ALSO] = N_("Also:"),
	    [PAGE_PHRASE_NOTHING_NEW] =
	        N_("Nothing new matched your filters since the last digest."),
	    [PAGE_PHRASE_NO_NEW_PAPERS] = N_("No new papers"),
	    [PAGE_PHRASE_NO_PAPERS] = N_("No papers"),
	};
	struct pages *pages = g_atomic_rc_box_new0(struct pages);

	g_mutex_init(&pages->lock);
	pages->settings = *settings;
	pages->entries = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)page_free);
	pages->subjects = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)compiled_template_free);
	pages->counts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	pages->titles =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_title);
	for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++)
		pages->phrases[i] = locale_format_text(settings->format, phrases[i]);
	return pages;
}

static void
clear(void *data)
{
	struct pages *pages = data;

	g_hash_table_unref(pages->entries);
	g_hash_table_unref(pages->subjects);
	g_hash_table_unref(pages->counts);
	g_hash_table_unref(pages->titles);
	for (size_t i = 0; i < PAGE_PHRASES; i++)
		g_free(pages->phrases[i]);
	g_mutex_clear(&pages->lock);
}

struct pages *
pages_ref(struct pages *pages)
{
	return g_atomic_rc_box_acquire(pages);
}

void
pages_unref(struct pages *pages)
{
	if (pages)
		g_atomic_rc_box_release_full(pages, clear);
}

void
pages_renew_if_full(struct pages **pages)
{
	struct pages *old = *pages;
	bool is_full;

	g_mutex_lock(&old->lock);
	is_full = g_hash_table_size(old->entries) >= PAGES_MAX ||
	          g_hash_table_size(old->subjects) >= PAGES_MAX ||
	          g_hash_table_size(old->counts) >= COUNTS_MAX ||
	          g_hash_table_size(old->titles) >= TITLES_MAX;
	g_mutex_unlock(&old->lock);
	if (!is_full)
		return;
	*pages = pages_new(&old->settings);
	pages_unref(old);
}

const char *
pages_get_phrase(const struct pages *pages, enum page_phrase phrase)
{
	return pages->phrases[phrase];
}

const struct page_title *
pages_get_title(struct pages *pages, const char *text)
{
	struct page_title *title;

	g_mutex_lock(&pages->lock);
	title = g_hash_table_lookup(pages->titles, text);
	if (!title) {
		title = g_new0(struct page_title, 1);
		title->line = sanitize_paper_text(text, BOUNDS_SUBJECT_TITLE_CHARS);
		title->short_line =
		    sanitize_line(title->line, BOUNDS_PREHEADER_TITLE_CHARS);
		g_hash_table_insert(pages->titles, g_strdup(text), title);
	}
	g_mutex_unlock(&pages->lock);
	return title;
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

/* ---- counts and dates ---- */

/* @param phrase  a number for this text */
static const char *
get_count(struct pages *pages, unsigned number, unsigned phrase, const char *text)
{
	void *key = GSIZE_TO_POINTER((size_t)number * 4 + phrase);
	char *count;

	g_mutex_lock(&pages->lock);
	count = g_hash_table_lookup(pages->counts, key);
	if (!count) {
		count = locale_format_count(pages->settings.format, number, text);
		g_hash_table_insert(pages->counts, key, count);
	}
	g_mutex_unlock(&pages->lock);
	return count;
}

void
pages_set_counts(
    struct pages *pages, const struct page_params *params, const char **values)
{
	if (params->is_note) {
		values[PAGE_COUNT_NEW] = pages->phrases[PAGE_PHRASE_NO_NEW_PAPERS];
		values[PAGE_COUNT_PAPERS] = pages->phrases[PAGE_PHRASE_NO_PAPERS];
	} else {
		values[PAGE_COUNT_NEW] = get_count(
		    pages, params->total, 0, PL_("1 new paper", "{count} new papers"));
		values[PAGE_COUNT_PAPERS] = get_count(
		    pages, params->total, 1, PL_("1 paper", "{count} papers"));
	}
	if (params->shown < params->total)
		values[PAGE_REST] = get_count(pages, params->total - params->shown, 2,
		    PL_("1 more paper", "{count} more papers"));
}

static void
put_counts(struct view *view, const struct page_params *params)
{
	g_autofree char *start = g_strdup_printf("%u", params->titles_start);

	compiled_template_put_placeholder(view, "count_new", PAGE_COUNT_NEW);
	compiled_template_put_placeholder(view, "count_papers", PAGE_COUNT_PAPERS);
	view_put_text(view, "titles_start", start);
	if (params->shown < params->total)
		compiled_template_put_placeholder(view, "rest", PAGE_REST);
}

/* ---- links of the reader ---- */

/* Put an address or link with the token of the reader. */
static void
put_with_token(struct view *view, const char *name,
    const struct subaddress_template *template, const char *end)
{
	char token[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];
	g_autofree char *text = NULL;
	g_autofree char *whole = NULL;

	compiled_template_format_placeholder(PAGE_LEAVE_TOKEN, token);
	text = subaddress_template_expand(template, token);
	whole = g_strconcat(text, end, NULL);
	view_put_text(view, name, whole);
}

static void
put_page_url(struct view *view, const char *name, const char *base, const char *path,
    enum page_value value, const char *fragment)
{
	char token[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];
	g_autofree char *url = NULL;

	compiled_template_format_placeholder(value, token);
	url = g_strconcat(base, path, token, fragment, NULL);
	view_put_text(view, name, url);
}

/* Put links to the web page.  Digests are forwarded, so that none leads to the
 * preferences: with "change_url" the page mails a link to them to the subscriber. */
static void
put_page_links(struct view *view, const char *base)
{
	static const char *const links[][2] = {{"stop_url", ""},
	    {"pause_url", "#pause"}, {"weekly_url", "#weekly"}, {"fewer_url", "#fewer"},
	    {"change_url", "#preferences"}};

	for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
		put_page_url(
		    view, links[i][0], base, "/u/", PAGE_LEAVE_TOKEN, links[i][1]);
	put_page_url(view, "view_url", base, "/d/", PAGE_VIEW_TOKEN, "");
}

static void
put_mail_links(struct view *view, const struct sender_identity *sender)
{
	static const char *const links[][2] = {
	    [SENDER_STOP] = {"stop_url", "stop_address"},
	    [SENDER_PAUSE] = {"pause_url", "pause_address"},
	    [SENDER_WEEKLY] = {"weekly_url", "weekly_address"},
	    [SENDER_FEWER] = {"fewer_url", "fewer_address"},
	};

	if (!sender->has_commands) {
		view_put_text(view, "stop_url", sender->stop_url);
		return;
	}
	if (!sender->has_subaddresses)
		view_put(view, "has_subjects", view_new_bool(true));
	for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
		const struct sender_link *link = &sender->links[i];

		put_with_token(view, links[i][0], &link->url, link->end);
		put_with_token(view, links[i][1], &link->address, "");
	}
}

static void
put_links(struct view *view, const struct sender_identity *sender)
{
	view_put_text(view, "owner", sender->owner);
	view_put_text(view, "owner_url", sender->change_url);
	if (sender->has_commands)
		view_put_text(view, "commands", sender->owner);
	if (sender->web_url)
		put_page_links(view, sender->web_url);
	else
		put_mail_links(view, sender);
}

/* ---- the overview ---- */

static struct view *
new_filters(const struct page_params *params, bool has_edit)
{
	static const char *const names[] = {
	    [PAGE_FILTER_NUMBER] = "number",
	    [PAGE_FILTER_LABEL] = "label",
	    [PAGE_FILTER_COUNT] = "count",
	    [PAGE_FILTER_EDIT_URL] = "edit_url",
	};
	struct view *list = view_new_list();

	for (unsigned i = 0; i < params->filters; i++) {
		struct view *filter = view_new_map();

		for (unsigned j = 0; j < G_N_ELEMENTS(names); j++)
			if (j != PAGE_FILTER_EDIT_URL || has_edit)
				compiled_template_put_placeholder(filter, names[j],
				    PAGE_FILTERS + i * PAGE_FILTER_VALUES + j);
		view_put(filter, "is_last", view_new_bool(i + 1 == params->filters));
		view_append(list, filter);
	}
	return list;
}

static struct view *
new_top(const struct page_params *params)
{
	static const char *const names[] = {
	    [PAGE_TOP_NUMBER] = "number",
	    [PAGE_TOP_TITLE] = "title",
	    [PAGE_TOP_URL] = "url",
	};
	struct view *list = view_new_list();

	for (unsigned i = 0; i < params->top; i++) {
		struct view *paper = view_new_map();

		for (unsigned j = 0; j < G_N_ELEMENTS(names); j++)
			if (j != PAGE_TOP_URL || params->top_linked & 1U << i)
				compiled_template_put_placeholder(paper, names[j],
				    PAGE_TOP + i * PAGE_TOP_VALUES + j);
		view_put(paper, "is_first", view_new_bool(i == 0));
		view_put(paper, "is_last", view_new_bool(i + 1 == params->top));
		view_append(list, paper);
	}
	return list;
}

static void
put_overview(struct view *view, const struct page_settings *settings,
    const struct page_params *params)
{
	struct view *notices = view_new_list();

	for (unsigned i = 0; i < params->notices; i++) {
		char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];

		compiled_template_format_placeholder(PAGE_NOTICES + i, placeholder);
		view_append(notices, view_new_text(placeholder));
	}
	view_put(view, "notices", notices);
	view_put(view, "top", new_top(params));
	view_put(view, "filters", new_filters(params, settings->sender->has_commands));
	view_put(view, "has_edit",
	    view_new_bool(params->filters > 0 && settings->sender->has_commands));
	view_put(view, "has_counts", view_new_bool(params->filters > 1));
	view_put(view, "is_overlapping", view_new_bool(params->is_overlapping));
	if (params->more_filters) {
		g_autofree char *more = locale_format_count(settings->format,
		    params->more_filters, PL_("and 1 more", "and {count} more"));

		view_put_text(view, "more_filters", more);
	}
}

/* @return NULL for an invalid date */
static struct view *
new_view(const struct page_settings *settings, const struct page_params *params,
    GError **error)
{
	const struct sender_identity *sender = settings->sender;
	g_autofree char *list_name = sanitize_line(sender->list_name, 0);
	g_autofree char *date =
	    locale_format_day(settings->format, params->date, LOCALE_FORMAT_SHORT);
	g_autofree char *date_long =
	    locale_format_day(settings->format, params->date, LOCALE_FORMAT_LONG);
	g_autofree char *coverage =
	    params->coverage ? sanitize_line(params->coverage, 0) : NULL;
	struct view *view;

	if (!date) {
		pb_fail(
		    error, PB_ERROR_INPUT, "invalid digest date '%s'", params->date);
		return NULL;
	}
	view = view_new_map();
	view_put_text(view, "list_name", list_name);
	view_put_text(view, "date", date);
	view_put_text(view, "lang", settings->format->language);
	view_put_text(view, "date_long", date_long);
	view_put_text(view, "coverage", coverage);
	view_put_text(view, "papers", MARKER_PAPERS);
	view_put_text(view, "titles", MARKER_TITLES);
	view_put(view, "has_titles", view_new_bool(params->has_titles));
	view_put(view, "is_grouped", view_new_bool(params->is_grouped));
	view_put(view, "is_note", view_new_bool(params->is_note));
	compiled_template_put_placeholder(view, "recipient", PAGE_RECIPIENT);
	compiled_template_put_placeholder(view, "preheader", PAGE_PREHEADER);
	put_counts(view, params);
	put_links(view, sender);
	return view;
}

static struct compiled_template *
new_subject(struct pages *pages, const struct page_params *params, bool has_title,
    GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	pb_auto(view) view = new_view(&pages->settings, params, error);

	if (!view)
		return NULL;
	if (has_title)
		compiled_template_put_placeholder(
		    view, "first_title", PAGE_FIRST_TITLE);
	template_append(pages->settings.subject, view, text);
	return compiled_template_new(text->str, 0);
}

static struct page *
new_page(const struct page_settings *settings, const struct page_params *params,
    GError **error)
{
	pb_auto(view) view = new_view(settings, params, error);
	pb_auto(page) page = g_new0(struct page, 1);

	if (!view)
		return NULL;
	put_overview(view, settings, params);
	compiled_template_put_placeholder(view, "subject", PAGE_SUBJECT);
	if (!params->is_note)
		compiled_template_put_placeholder(
		    view, "first_title", PAGE_FIRST_TITLE);
	if (!init_part(&page->text, "digest.txt", settings->text, view,
	        BOUNDS_TEXT_COLUMNS, error) ||
	    !init_part(&page->html, "digest.html", settings->html, view, 0, error))
		return NULL;
	return g_steal_pointer(&page);
}

/* Date, numbers and coverage. */
static char *
format_key(const struct page_params *params, const unsigned *numbers, size_t count)
{
	GString *key = g_string_sized_new(256);

	g_string_append(key, params->date);
	for (size_t i = 0; i < count; i++) {
		/* Seven bits per byte, and never a NUL. */
		for (unsigned rest = numbers[i]; rest; rest >>= 7)
			g_string_append_c(key, (char)(rest | 128));
		g_string_append_c(key, '\n');
	}
	g_string_append(key, params->coverage ? params->coverage : "");
	return g_string_free(key, FALSE);
}

const struct page *
pages_get(struct pages *pages, const struct page_params *params, GError **error)
{
	const unsigned numbers[] = {params->shown < params->total, params->has_titles,
	    params->titles_start, params->is_note, params->is_grouped, params->notices,
	    params->top, params->top_linked, params->filters, params->more_filters,
	    params->is_overlapping};
	g_autofree char *key = format_key(params, numbers, G_N_ELEMENTS(numbers));
	struct page *page;

	g_mutex_lock(&pages->lock);
	page = g_hash_table_lookup(pages->entries, key);
	if (!page) {
		page = new_page(&pages->settings, params, error);
		if (page)
			g_hash_table_insert(
			    pages->entries, g_steal_pointer(&key), page);
	}
	g_mutex_unlock(&pages->lock);
	return page;
}

char *
pages_format_subject(struct pages *pages, const struct page_params *params,
    const char *const *values, GError **error)
{
	bool has_title = values[PAGE_FIRST_TITLE][0] != '\0';
	const unsigned numbers[] = {params->shown < params->total, params->has_titles,
	    params->titles_start, params->is_note, params->is_grouped, has_title};
	g_autofree char *key = format_key(params, numbers, G_N_ELEMENTS(numbers));
	g_autoptr(GString) line = g_string_new(NULL);
	struct compiled_template *subject;

	g_mutex_lock(&pages->lock);
	subject = g_hash_table_lookup(pages->subjects, key);
	if (!subject) {
		subject = new_subject(pages, params, has_title, error);
		if (subject)
			g_hash_table_insert(
			    pages->subjects, g_steal_pointer(&key), subject);
	}
	g_mutex_unlock(&pages->lock);
	if (!subject)
		return NULL;
	compiled_template_append_plain(subject, values, line);
	return sanitize_line(line->str, BOUNDS_SUBJECT_CHARS);
}
