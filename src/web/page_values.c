/*
 * page_values.c - the values of a reply as input of templates.
 */
#include "web/page_values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "message/sanitize.h"
#include "render/locale_format.h"

/* The bar chart: 10 units a day; the width of a bar is the stroke's, in the style. */
#define CHART_DAY    10
#define CHART_HEIGHT 40
#define CHART_DAYS   120

/* Maximum characters of a filter or a title in a list. */
#define SHORT_CHARS 120

/* An error in a filter is shown in a line that fits into 320 px. */
#define EXCERPT_CHARS  32
#define EXCERPT_BEFORE 20

#define REPLACEMENT "\xef\xbf\xbd"

/* Names before `content` come from paperboyd, the others are added here. */
const char *const page_value_names[] = {
    "abstract",
    "address",
    "authors",
    "backtest",
    "blocks",
    "canonical",
    "column",
    "count",
    "csrf",
    "day",
    "days",
    "entries",
    "etag",
    "feeds",
    "field",
    "filters",
    "forecast",
    "form_address",
    "form_filter",
    "form_max",
    "form_name",
    "form_note",
    "has_search",
    "html",
    "id",
    "is_applied",
    "is_first",
    "is_last",
    "is_selected",
    "is_sent",
    "key",
    "kind",
    "label",
    "line",
    "max",
    "messages",
    "name",
    "next",
    "next_page",
    "note",
    "number",
    "options",
    "owner",
    "page",
    "pages",
    "papers",
    "path",
    "paused_until",
    "previous_page",
    "proposals",
    "published",
    "query",
    "reasons",
    "service",
    "settings",
    "sharing",
    "show",
    "state",
    "subscriber",
    "text",
    "title",
    "undo",
    "updated",
    "url",
    "valid_until",
    "value",
    /* of pages */
    "content",
    "base",
    "lang",
    "languages",
    "code",
    "own_name",
    "is_current",
    "is_preferences",
    "link_query",
    "found",
    "suggestions",
    /* of messages */
    "has_messages",
    "is_ok",
    "is_error",
    "is_wait",
    "has_error",
    "has_wait",
    "excerpt",
    "caret",
    "error_address",
    "error_filter",
    "error_max",
    "error_name",
    "error_until",
    /* of preferences */
    "is_active",
    "is_paused",
    "is_suspended",
    "is_filters",
    "is_filter",
    "is_blocks",
    "is_settings",
    "is_account",
    "has_blocks",
    "has_feeds",
    "has_options",
    "groups",
    "hint",
    "problem",
    "has_pager",
    "short",
    /* of papers by day */
    "bars",
    "chart_width",
    "busiest",
    "first_day",
    "last_day",
    "day_text",
    "has_papers",
    NULL,
};
#define FIRST_ADDED "content"

/* Flags that follow from a text. */
static const struct {
	const char *name;
	const char *value;
	const char *flag;
} flags[] = {
    {"kind", "ok", "is_ok"},
    {"kind", "error", "is_error"},
    {"kind", "wait", "is_wait"},
    {"state", "active", "is_active"},
    {"state", "paused", "is_paused"},
    {"state", "suspended", "is_suspended"},
    {"show", "", "is_filters"},
    {"show", "filter", "is_filter"},
    {"show", "blocks", "is_blocks"},
    {"show", "settings", "is_settings"},
    {"show", "account", "is_account"},
};

/* Flags for lists that a section cannot ask for without repeating its content. */
static const struct {
	const char *name;
	const char *flag;
} list_flags[] = {
    {"blocks", "has_blocks"},
    {"feeds", "has_feeds"},
    {"messages", "has_messages"},
    {"options", "has_options"},
    {"papers", "has_papers"},
};

/* Fields of forms whose errors are shown beside them. */
static const struct {
	const char *field;
	const char *name;
} field_errors[] = {
    {"address", "error_address"},
    {"filter", "error_filter"},
    {"max", "error_max"},
    {"name", "error_name"},
    {"until", "error_until"},
};

/* Settings in the order of the form; keys that are not listed come last. */
#define GROUP_KEYS 12
static const struct {
	const char *phrase;
	const char *keys[GROUP_KEYS];
} setting_groups[] = {
    {N_("When digests come"), {"when", "days", "at", "tz"}},
    {N_("Which papers they contain"), {"max", "order", "abstract", "group", "updates",
                                          "crosslist", "quiet", "feedback", "checkup"}},
    {N_("How they look"), {"language", "name", "format", "attach"}},
    {N_("Other settings"), {NULL}},
};

/* Labels of settings, and of their values; "hint" is a sentence about the field. */
static const struct {
	const char *key, *value, *text;
} setting_texts[] = {
    {"when", NULL, N_("How often")},
    {"when", "now", N_("as soon as there are papers")},
    {"when", "daily", N_("daily")},
    {"when", "weekdays", N_("on weekdays")},
    {"when", "weekly", N_("weekly")},
    {"days", NULL, N_("Days")},
    {"days", "hint", N_("For weekly digests: such as mon or mon,thu")},
    {"at", NULL, N_("Time")},
    {"at", "hint", N_("Such as 07:30")},
    {"tz", NULL, N_("Time zone")},
    {"tz", "hint", N_("Such as Europe/Berlin")},
    {"max", NULL, N_("Papers with abstract")},
    {"max", "hint", N_("1 to 200; further ones are listed by title")},
    {"order", NULL, N_("Order")},
    {"order", "votes", N_("most votes first")},
    {"order", "score", N_("best match first")},
    {"order", "date", N_("newest first")},
    {"abstract", NULL, N_("Abstracts")},
    {"abstract", "full", N_("whole")},
    {"abstract", "brief", N_("one sentence; the first three in full")},
    {"abstract", "short", N_("the first two sentences")},
    {"abstract", "none", NC_("abstract", "none")},
    {"group", NULL, N_("Group by filter")},
    {"group", "on", N_("yes")},
    {"group", "off", N_("no")},
    {"updates", NULL, N_("New versions of papers")},
    {"updates", "on", N_("include")},
    {"updates", "off", N_("leave out")},
    {"crosslist", NULL, N_("Papers from other sections")},
    {"crosslist", "on", N_("include")},
    {"crosslist", "off", N_("leave out")},
    {"quiet", NULL, N_("Days without papers")},
    {"quiet", "off", N_("no mail")},
    {"quiet", "note", N_("a short note")},
    {"language", NULL, N_("Language")},
    {"name", NULL, N_("Your name")},
    {"format", NULL, N_("Format")},
    {"format", "both", N_("HTML and text")},
    {"format", "text", N_("text only")},
    {"format", "html", N_("HTML only")},
    {"feedback", NULL, N_("Like and hide")},
    {"feedback", "off", N_("no links")},
    {"feedback", "on", N_("links with each paper")},
    {"checkup", NULL, N_("Monthly report")},
    {"checkup", "on", N_("what could be better about my filters")},
    {"checkup", "off", NC_("checkup", "none")},
    {"attach", NULL, N_("Attachment")},
    {"attach", "none", NC_("attach", "none")},
    {"attach", "bibtex", N_("BibTeX")},
    {"attach", "ris", N_("RIS")},
    {"attach", "markdown", N_("Markdown")},
};

static struct view *
convert_map(const struct page_values_context *context, GVariant *values);

/* ---- conversion ---- */

/* @return the static name, or NULL unless paperboyd may send it */
static const char *
find_name(const char *name)
{
	for (size_t i = 0; strcmp(page_value_names[i], FIRST_ADDED) != 0; i++)
		if (strcmp(page_value_names[i], name) == 0)
			return page_value_names[i];
	return NULL;
}

/* XML 1.0 has no control characters, and no U+FFFE and U+FFFF. */
static bool
is_allowed(gunichar c)
{
	return (c >= ' ' && c != 0x7f && c != 0xfffe && c != 0xffff) || c == '\n' ||
	       c == '\t';
}

static struct view *
convert_text(const char *name, const char *text)
{
	g_autoptr(GString) out = NULL;
	bool is_link = strcmp(name, "url") == 0;

	if (is_link && !g_str_has_prefix(text, "http://") &&
	    !g_str_has_prefix(text, "https://"))
		return view_new_text(NULL);
	out = g_string_new(NULL);
	for (const char *at = text; *at; at = g_utf8_next_char(at)) {
		if (is_allowed(g_utf8_get_char(at)))
			g_string_append_len(out, at, g_utf8_next_char(at) - at);
		else
			g_string_append(out, REPLACEMENT);
	}
	return view_new_text(out->str);
}

static struct view *
convert_list(const struct page_values_context *context, GVariant *values)
{
	struct view *list = view_new_list();
	GVariantIter iter;
	GVariant *item;

	g_variant_iter_init(&iter, values);
	while ((item = g_variant_iter_next_value(&iter))) {
		view_append(list, convert_map(context, item));
		g_variant_unref(item);
	}
	return list;
}

static struct view *
convert_value(
    const struct page_values_context *context, const char *name, GVariant *value)
{
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
		return convert_text(name, g_variant_get_string(value, NULL));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
		return view_new_bool(g_variant_get_boolean(value));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_VARDICT))
		return convert_map(context, value);
	if (g_variant_is_of_type(value, G_VARIANT_TYPE("aa{sv}")))
		return convert_list(context, value);
	return view_new_text(NULL);
}

static const char *
get_text(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_TEXT ? found->text : NULL;
}

static const GPtrArray *
get_list(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_LIST ? found->list : NULL;
}

/* ---- values that templates cannot compute ---- */

static void
add_flags(struct view *map)
{
	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
		const char *text = get_text(map, flags[i].name);

		if (text)
			view_put(map, flags[i].flag,
			    view_new_bool(strcmp(text, flags[i].value) == 0));
	}
}

/* Append one column of an error's line, and what stands below it. */
static void
append_column(GString *excerpt, GString *below, gunichar c, bool is_before)
{
	bool is_invisible = c < ' ' || text_is_stripped_char(c) ||
	                    g_unichar_iszerowidth(c) || !is_allowed(c);

	g_string_append_unichar(excerpt, is_invisible ? 0xfffd : c);
	if (is_before)
		g_string_append(below, g_unichar_iswide(c) ? "  " : " ");
}

/* Cut the line of an error around its column, and put a caret below it. */
static void
add_caret(struct view *message)
{
	const char *line = get_text(message, "line");
	const char *column_text = get_text(message, "column");
	g_autoptr(GString) excerpt = g_string_new(NULL);
	g_autoptr(GString) below = g_string_new(NULL);
	long column = column_text ? strtol(column_text, NULL, 10) : 0;
	long length = line ? g_utf8_strlen(line, -1) : 0;
	long from, number;

	if (!line || column < 1 || column > length + 1)
		return;
	from = length > EXCERPT_CHARS && column > EXCERPT_BEFORE
	           ? column - EXCERPT_BEFORE
	           : 0;
	if (from > 0)
		append_column(excerpt, below, 0x2026, true);
	number = from + 1;
	for (const char *at = g_utf8_offset_to_pointer(line, from);
	     *at && number <= from + EXCERPT_CHARS; at = g_utf8_next_char(at)) {
		append_column(excerpt, below, g_utf8_get_char(at), number < column);
		number++;
	}
	if (number <= length)
		g_string_append(excerpt, "\xe2\x80\xa6");
	g_string_append_c(below, '^');
	view_put_text(message, "excerpt", excerpt->str);
	view_put_text(message, "caret", below->str);
}

/* Put flags for the kinds of messages, and errors of fields by their names. */
static void
add_errors(
    const struct page_values_context *context, struct view *map, GVariant *values)
{
	g_autoptr(GVariant) messages =
	    g_variant_lookup_value(values, "messages", G_VARIANT_TYPE("aa{sv}"));
	gsize count = messages ? g_variant_n_children(messages) : 0;

	for (gsize i = 0; i < count; i++) {
		g_autoptr(GVariant) message = g_variant_get_child_value(messages, i);
		const char *kind = "", *field = "";

		g_variant_lookup(message, "kind", "&s", &kind);
		g_variant_lookup(message, "field", "&s", &field);
		if (strcmp(kind, "wait") == 0)
			view_put(map, "has_wait", view_new_bool(true));
		if (strcmp(kind, "error") != 0)
			continue;
		view_put(map, "has_error", view_new_bool(true));
		for (size_t f = 0; f < G_N_ELEMENTS(field_errors); f++)
			if (strcmp(field_errors[f].field, field) == 0)
				view_put(map, field_errors[f].name,
				    convert_map(context, message));
	}
}

/* @return NULL if it is invalid */
static char *
format_day(const struct page_values_context *context, const char *day)
{
	const struct locale_format format = {context->catalog, context->language};

	return locale_format_day(&format, day, LOCALE_FORMAT_NO_YEAR);
}

static long
get_papers(const struct view *day)
{
	const char *text = get_text(day, "papers");
	long papers = text ? strtol(text, NULL, 10) : 0;

	return CLAMP(papers, 0, 99999);
}

/* The day with the most papers. @param days  not empty */
static const struct view *
find_busiest(const GPtrArray *days)
{
	const struct view *busiest = days->pdata[0];

	for (unsigned i = 1; i < days->len; i++)
		if (get_papers(days->pdata[i]) > get_papers(busiest))
			busiest = days->pdata[i];
	return busiest;
}

static void
add_busiest(
    const struct page_values_context *context, struct view *map, const struct view *day)
{
	g_autofree char *papers = catalog_format_count(context->catalog,
	    context->language, PL_("1 paper", "{count} papers"), get_papers(day));
	g_autofree char *text = catalog_format(context->catalog, context->language,
	    N_("Most on {day}: {papers}"), "day", get_text(day, "day_text"), "papers",
	    papers, NULL);

	view_put_text(map, "busiest", text);
}

/* Draw papers by day as one path of vertical lines (SVG 2 section 9.3). */
static void
add_chart(const struct page_values_context *context, struct view *map)
{
	const GPtrArray *days = get_list(map, "days");
	g_autoptr(GString) bars = g_string_new(NULL);
	g_autofree char *width = NULL;
	long most;

	if (!days || days->len == 0 || days->len > CHART_DAYS)
		return;
	for (unsigned i = 0; i < days->len; i++)
		if (!get_text(days->pdata[i], "day_text"))
			return;
	most = get_papers(find_busiest(days));
	for (unsigned i = 0; i < days->len; i++) {
		long papers = get_papers(days->pdata[i]);
		long height = papers ? MAX(papers * CHART_HEIGHT / most, 2) : 0;

		if (papers)
			g_string_append_printf(bars, "M%u %dv-%ld",
			    i * CHART_DAY + CHART_DAY / 2, CHART_HEIGHT, height);
	}
	if (most == 0)
		return;
	width = g_strdup_printf("%u", days->len * CHART_DAY);
	view_put_text(map, "bars", bars->str);
	view_put_text(map, "chart_width", width);
	view_put_text(map, "first_day", get_text(days->pdata[0], "day_text"));
	view_put_text(
	    map, "last_day", get_text(days->pdata[days->len - 1], "day_text"));
	add_busiest(context, map, find_busiest(days));
}

/* Get a text of a setting. @return NULL if there is none */
static char *
find_text(const struct page_values_context *context, const char *key, const char *value)
{
	/* Languages are named in themselves. */
	if (value && strcmp(key, "language") == 0 &&
	    catalog_has_language(context->catalog, value))
		return catalog_format(context->catalog, value, CATALOG_OWN_NAME, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(setting_texts); i++)
		if (strcmp(setting_texts[i].key, key) == 0 &&
		    g_strcmp0(setting_texts[i].value, value) == 0)
			return catalog_format(context->catalog, context->language,
			    setting_texts[i].text, NULL);
	return NULL;
}

/* Labels of a setting and its options; their names if there is no text. */
static void
add_labels(const struct page_values_context *context, struct view *setting)
{
	const char *key = get_text(setting, "key");
	g_autofree char *label = find_text(context, key, NULL);
	g_autofree char *hint = find_text(context, key, "hint");
	const GPtrArray *options = get_list(setting, "options");

	view_put_text(setting, "label", label ? label : key);
	view_put_text(setting, "hint", hint);
	for (unsigned i = 0; options && i < options->len; i++) {
		const char *value = get_text(options->pdata[i], "value");
		g_autofree char *text = value ? find_text(context, key, value) : NULL;

		view_put_text(options->pdata[i], "label", text ? text : value);
	}
}

/* The error of a setting, beside its field. */
static void
add_problem(struct view *setting, const GPtrArray *messages)
{
	const char *key = get_text(setting, "key");

	for (unsigned i = 0; messages && i < messages->len; i++)
		if (view_is_true(view_find(messages->pdata[i], "is_error")) &&
		    g_strcmp0(get_text(messages->pdata[i], "field"), key) == 0)
			view_put_text(
			    setting, "problem", get_text(messages->pdata[i], "text"));
}

/* @return index of setting_groups[] */
static size_t
find_group(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(setting_groups); i++)
		if (g_strv_contains(setting_groups[i].keys, key))
			return i;
	return G_N_ELEMENTS(setting_groups) - 1;
}

/* @return owned by the caller */
static struct view *
format_group(const struct page_values_context *context, GVariant *settings,
    size_t group, const GPtrArray *messages)
{
	struct view *list = view_new_list();
	gsize count = g_variant_n_children(settings);

	for (gsize i = 0; i < count; i++) {
		g_autoptr(GVariant) values = g_variant_get_child_value(settings, i);
		const char *key = NULL;
		struct view *setting;

		if (!g_variant_lookup(values, "key", "&s", &key) ||
		    find_group(key) != group)
			continue;
		setting = convert_map(context, values);
		add_problem(setting, messages);
		view_append(list, setting);
	}
	return list;
}

static void
add_groups(
    const struct page_values_context *context, struct view *map, GVariant *values)
{
	g_autoptr(GVariant) settings =
	    g_variant_lookup_value(values, "settings", G_VARIANT_TYPE("aa{sv}"));
	struct view *groups;

	if (!settings)
		return;
	groups = view_new_list();
	for (size_t i = 0; i < G_N_ELEMENTS(setting_groups); i++) {
		struct view *group = view_new_map();
		g_autofree char *title = catalog_format(context->catalog,
		    context->language, setting_groups[i].phrase, NULL);

		view_put_text(group, "title", title);
		view_put(group, "settings",
		    format_group(context, settings, i, get_list(map, "messages")));
		if (view_is_true(view_find(group, "settings")))
			view_append(groups, group);
		else
			view_free(group);
	}
	view_put(map, "groups", groups);
}

static void
append_parameter(GString *query, const struct view *map, const char *name)
{
	const char *value = get_text(map, name);
	g_autofree char *escaped =
	    value ? g_uri_escape_string(value, NULL, false) : NULL;

	if (escaped && *escaped)
		g_string_append_printf(query, "&%s=%s", name, escaped);
}

/* Parameters for the language switch, so that it shows the same view. */
static void
add_link_query(struct view *map)
{
	g_autoptr(GString) query = g_string_new(NULL);
	const char *show = get_text(map, "show");
	const GPtrArray *filters = get_list(map, "filters");

	if (!show)
		return;
	append_parameter(query, map, "show");
	if (strcmp(show, "filter") == 0 && filters && filters->len > 0)
		append_parameter(query, filters->pdata[0], "number");
	else
		append_parameter(query, map, "page");
	view_put_text(map, "link_query", query->str);
}

static void
add_derived(
    const struct page_values_context *context, struct view *map, GVariant *values)
{
	const char *day = get_text(map, "day");
	const char *query = get_text(map, "query");
	const char *title = get_text(map, "title");
	g_autofree char *day_text = day ? format_day(context, day) : NULL;
	g_autofree char *shortened =
	    query || title ? sanitize_line(query ? query : title, SHORT_CHARS) : NULL;

	view_put_text(map, "day_text", day_text);
	view_put_text(map, "short", shortened);
	for (size_t i = 0; i < G_N_ELEMENTS(list_flags); i++) {
		const GPtrArray *list = get_list(map, list_flags[i].name);

		if (list)
			view_put(map, list_flags[i].flag, view_new_bool(list->len > 0));
	}
	if (get_text(map, "key"))
		add_labels(context, map);
	if (get_text(map, "previous_page") || get_text(map, "next_page"))
		view_put(map, "has_pager",
		    view_new_bool(*get_text(map, "previous_page") ||
		                  *get_text(map, "next_page")));
	if (query && g_strcmp0(query, get_text(map, "canonical")) == 0)
		view_put_text(map, "canonical", "");
	add_caret(map);
	add_chart(context, map);
	add_groups(context, map, values);
	add_link_query(map);
}

static struct view *
convert_map(const struct page_values_context *context, GVariant *values)
{
	struct view *map = view_new_map();
	GVariantIter iter;
	const char *sent_name;
	GVariant *value;

	g_variant_iter_init(&iter, values);
	while (g_variant_iter_next(&iter, "{&sv}", &sent_name, &value)) {
		const char *name = find_name(sent_name);

		if (name)
			view_put(map, name, convert_value(context, name, value));
		g_variant_unref(value);
	}
	add_flags(map);
	add_errors(context, map, values);
	add_derived(context, map, values);
	return map;
}

struct view *
page_values_convert(const struct page_values_context *context, GVariant *values)
{
	return convert_map(context, values);
}
