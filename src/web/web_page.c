/*
 * web_page.c - replies of paperboyd as HTML pages and feeds.
 */
#include "web/web_page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "message/sanitize.h"
#include "render/locale_format.h"
#include "render/template.h"
#include "render/view.h"

/* ---- the Content-Security-Policy of a page ---- */

#define HASH_BYTES 32 /* SHA-256 */

/* Hashes are 53 characters; web servers limit the size of a header. */
#define HASHES_MAX 30

/* @param hashes  of char *, without duplicates */
static void
add_hash(GPtrArray *hashes, const char *style, gsize size)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *base64 = NULL;
	guint8 digest[HASH_BYTES];
	gsize length = sizeof digest;
	char *hash;

	g_checksum_update(checksum, (const guchar *)style, (gssize)size);
	g_checksum_get_digest(checksum, digest, &length);
	base64 = g_base64_encode(digest, length);
	hash = g_strdup_printf("'sha256-%s'", base64);
	if (hashes->len < HASHES_MAX &&
	    !g_ptr_array_find_with_equal_func(hashes, hash, g_str_equal, NULL))
		g_ptr_array_add(hashes, hash);
	else
		g_free(hash);
}

/* Add the hash of each text between two marks. @return whether there was one */
static bool
add_styles(GPtrArray *hashes, const char *html, const char *open, const char *close)
{
	bool has_any = false;
	const char *end;

	for (const char *at = strstr(html, open); at; at = strstr(end, open)) {
		at += strlen(open);
		end = strstr(at, close);
		if (!end)
			break;
		/* The hash is that of the decoded value; none of ours has entities. */
		add_hash(hashes, at, (gsize)(end - at));
		has_any = true;
	}
	return has_any;
}

/*
 * Format a policy (CSP Level 3) that allows nothing but forms to this site, images in
 * data: URLs, and the page's own styles, by their hashes.
 *
 * Style attributes need 'unsafe-hashes'; it is left out of pages without any.
 *
 * @param html  double quotes around attributes, & < > " ' of texts escaped
 * @return owned by the caller
 */
static char *
web_policy_format(const char *html)
{
	g_autoptr(GPtrArray) hashes = g_ptr_array_new_with_free_func(g_free);
	GString *policy = g_string_new("default-src 'none'");
	bool has_attributes;

	add_styles(hashes, html, "<style>", "</style>");
	has_attributes = add_styles(hashes, html, " style=\"", "\"");
	if (hashes->len > 0)
		g_string_append(policy, "; img-src data:; style-src");
	if (has_attributes)
		g_string_append(policy, " 'unsafe-hashes'");
	for (unsigned i = 0; i < hashes->len; i++)
		g_string_append_printf(policy, " %s", (char *)hashes->pdata[i]);
	g_string_append(
	    policy, "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'");
	return g_string_free(policy, FALSE);
}

/* ---- the values of a reply as input of templates ----
 *
 * Unknown names are dropped, control characters replaced.  Values that templates cannot
 * compute are added.
 */

/* The bar chart: 10 units a day; the width of a bar is the stroke's, in the style. */
#define CHART_DAY    10
#define CHART_HEIGHT 40
#define CHART_DAYS   120

/* Maximum characters of a filter or a title in a list. */
#define SHORT_CHARS 120

/* An error in a filter is shown in a line that fits into 320 px. */
#define EXCERPT_CHARS  32
#define EXCERPT_BEFORE 20

/* Of values that fill the fields of forms. */
#define FORM_PREFIX "form_"

#define REPLACEMENT "\xef\xbf\xbd"

/* Names before `content` come from paperboyd, the others are added here. */
static const char *const value_names[] = {"abstract", "address", "authors", "backtest",
    "blocks", "canonical", "column", "count", "csrf", "day", "days", "entries", "etag",
    "feeds", "field", "filters", "forecast", "form_address", "form_filter", "form_max",
    "form_name", "form_note", "form_zone", "has_search", "html", "id", "is_applied",
    "imprint_url", "is_ending", "is_first", "is_landing", "is_liked", "is_last",
    "is_selected", "is_sent", "key", "kind", "label", "line", "lowering", "max",
    "messages", "name", "next", "next_page", "note", "number", "options", "owner",
    "page", "pages", "papers", "path", "paused_until", "previous_page", "privacy_url",
    "proposals", "published", "query", "raising", "reasons", "service", "settings",
    "sharing", "show", "state", "subscriber", "text", "title", "undo", "updated", "url",
    "valid_until", "value", "watched", "zones", "content", "bars", "base", "busiest",
    "caret", "chart_width", "code", "day_text", "error_address", "error_filter",
    "error_max", "error_name", "error_until", "error_zone", "excerpt", "first_day",
    "found", "groups", "has_blocks", "has_error", "has_feeds", "has_messages",
    "has_options", "has_pager", "has_papers", "has_wait", "has_watched", "hint",
    "is_account", "is_active", "is_at", "is_blocks", "is_current", "is_days",
    "is_error", "is_filter", "is_ok", "is_paused", "is_preferences", "is_settings",
    "is_suspended", "is_taste", "is_tz", "is_wait", "lang", "languages", "last_day",
    "link_query", "own_name", "problem", "short", "short_words", "suggestions", "word",
    "words", NULL};
#define FIRST_ADDED "content"

/* Texts whose value makes a flag: with the kind "error", is_error is set. */
static const char *const flagged[] = {"key", "kind", "show", "state", NULL};

/* Sections of the settings, with their keys; the last one has all others. */
static const struct {
	const char *phrase;
	const char *keys[5];
} setting_groups[] = {
    {N_("When digests come"), {"when", "days", "at", "tz"}},
    {N_("What they contain, and how they look"), {NULL}},
};

/* Labels of settings, and of their values; "hint" is a sentence about the field. */
static const struct {
	const char *key, *value, *text;
} setting_texts[] = {
    {"when", NULL, N_("How often")},
    {"when", "now", N_("as soon as there are papers")},
    {"when", "daily", N_("daily")},
    {"when", "weekdays", N_("Monday to Friday")},
    {"when", "weekly", N_("weekly")},
    {"days", NULL, N_("Days")},
    {"days", "hint", N_("of weekly digests")},
    {"days", "mon", N_("Monday")},
    {"days", "tue", N_("Tuesday")},
    {"days", "wed", N_("Wednesday")},
    {"days", "thu", N_("Thursday")},
    {"days", "fri", N_("Friday")},
    {"days", "sat", N_("Saturday")},
    {"days", "sun", N_("Sunday")},
    {"at", NULL, N_("Time")},
    {"tz", NULL, N_("Time zone")},
    {"max", NULL, N_("Papers with abstract")},
    {"max", "hint", N_("1 to 200; further ones are listed by title")},
    {"order", NULL, N_("Order")},
    {"order", "votes", N_("most votes first")},
    {"order", "score", N_("best match first")},
    {"order", "date", N_("newest first")},
    {"abstract", NULL, N_("Abstracts")},
    {"abstract", "full", N_("whole")},
    {"abstract", "brief", N_("one sentence")},
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
    {"versions", NULL, N_("Preprint and article of a paper")},
    {"versions", "one", N_("the first one only")},
    {"versions", "all", N_("both")},
    {"retractions", NULL, N_("Retractions of papers that you watch")},
    {"retractions", "digest", N_("in the next digest")},
    {"retractions", "mail", N_("a mail at once")},
    {"attach", NULL, N_("Attachment")},
    {"attach", "none", NC_("attach", "none")},
    {"attach", "bibtex", N_("BibTeX")},
    {"attach", "ris", N_("RIS")},
    {"attach", "markdown", N_("Markdown")},
};

/* @return NULL if it is missing */
static const char *
find_text(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_TEXT ? found->text : NULL;
}

static const char *
get_text(const struct view *map, const char *name)
{
	const char *text = find_text(map, name);

	return text ? text : "";
}

static GPtrArray *
get_list(const struct view *map, const char *name)
{
	const struct view *found = view_find(map, name);

	return found && found->kind == VIEW_LIST ? found->list : NULL;
}

static struct view *convert_map(const struct locale_format *format, GVariant *values);

/*
 * Find a static name.
 *
 * @param end  the first name that is not considered; NULL: all are
 * @return NULL if there is none
 */
static const char *
find_name(const char *prefix, const char *text, const char *end)
{
	g_autofree char *wanted = g_strconcat(prefix, text, NULL);

	for (const char *const *name = value_names; *name && g_strcmp0(*name, end) != 0;
	     name++)
		if (strcmp(*name, wanted) == 0)
			return *name;
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
	bool is_link = g_str_has_suffix(name, "url");

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
convert_list(const struct locale_format *format, GVariant *values)
{
	struct view *list = view_new_list();
	GVariantIter iter;
	GVariant *item;

	g_variant_iter_init(&iter, values);
	while ((item = g_variant_iter_next_value(&iter))) {
		view_append(list, convert_map(format, item));
		g_variant_unref(item);
	}
	return list;
}

static struct view *
convert_value(const struct locale_format *format, const char *name, GVariant *value)
{
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
		return convert_text(name, g_variant_get_string(value, NULL));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
		return view_new_bool(g_variant_get_boolean(value));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_VARDICT))
		return convert_map(format, value);
	if (g_variant_is_of_type(value, G_VARIANT_TYPE("aa{sv}")))
		return convert_list(format, value);
	return view_new_text(NULL);
}

/* ---- values that templates cannot compute ---- */

/* A section cannot ask for a list without repeating its content: has_papers can. */
static void
add_flags(struct view *map)
{
	unsigned count = map->map->len;

	for (unsigned i = 0; i < count; i++) {
		const struct view_member member =
		    g_array_index(map->map, struct view_member, i);
		const char *flag = NULL;

		if (member.value->kind == VIEW_LIST)
			flag = find_name("has_", member.name, NULL);
		else if (member.value->kind == VIEW_TEXT &&
		         g_strv_contains(flagged, member.name))
			flag = find_name("is_", member.value->text, NULL);
		if (flag)
			view_put(map, flag, view_new_bool(view_is_true(member.value)));
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
	const char *line = find_text(message, "line");
	const char *column_text = find_text(message, "column");
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

/* Put has_wait and has_error, and errors of fields as error_FIELD. */
static void
add_errors(struct view *map)
{
	const GPtrArray *messages = get_list(map, "messages");

	for (unsigned i = 0; messages && i < messages->len; i++) {
		const struct view *message = messages->pdata[i];
		const char *field = find_text(message, "field"), *name;
		struct view *error;

		if (view_find(message, "is_wait"))
			view_put(map, "has_wait", view_new_bool(true));
		if (!view_find(message, "is_error"))
			continue;
		view_put(map, "has_error", view_new_bool(true));
		name = field ? find_name("error_", field, NULL) : NULL;
		if (!name)
			continue;
		error = view_new_map();
		view_put_text(error, "text", find_text(message, "text"));
		view_put_text(error, "excerpt", find_text(message, "excerpt"));
		view_put_text(error, "caret", find_text(message, "caret"));
		view_put(map, name, error);
	}
}

static long
get_papers(const struct view *day)
{
	const char *text = find_text(day, "papers");
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
    const struct locale_format *format, struct view *map, const struct view *day)
{
	g_autofree char *papers = locale_format_count(
	    format, get_papers(day), PL_("1 paper", "{count} papers"));
	g_autofree char *text = catalog_format(format->catalog, format->language,
	    N_("Most on {day}: {papers}"), "day", find_text(day, "day_text"), "papers",
	    papers, NULL);

	view_put_text(map, "busiest", text);
}

/* Draw papers by day as one path of vertical lines (SVG 2 section 9.3). */
static void
add_chart(const struct locale_format *format, struct view *map)
{
	const GPtrArray *days = get_list(map, "days");
	g_autoptr(GString) bars = g_string_new(NULL);
	g_autofree char *width = NULL;
	long most;

	if (!days || days->len == 0 || days->len > CHART_DAYS)
		return;
	for (unsigned i = 0; i < days->len; i++)
		if (!find_text(days->pdata[i], "day_text"))
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
	view_put_text(map, "first_day", find_text(days->pdata[0], "day_text"));
	view_put_text(
	    map, "last_day", find_text(days->pdata[days->len - 1], "day_text"));
	add_busiest(format, map, find_busiest(days));
}

/* Get a text of a setting. @return NULL if there is none */
static char *
format_label(const struct locale_format *format, const char *key, const char *value)
{
	/* Languages are named in themselves. */
	if (value && strcmp(key, "language") == 0 &&
	    catalog_has_language(format->catalog, value))
		return catalog_format(format->catalog, value, CATALOG_OWN_NAME, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(setting_texts); i++)
		if (strcmp(setting_texts[i].key, key) == 0 &&
		    g_strcmp0(setting_texts[i].value, value) == 0)
			return locale_format_text(format, setting_texts[i].text);
	return NULL;
}

/* Labels of a setting and its options; their names if there is no text. */
static void
add_labels(const struct locale_format *format, struct view *setting)
{
	const char *key = find_text(setting, "key");
	g_autofree char *label = format_label(format, key, NULL);
	g_autofree char *hint = format_label(format, key, "hint");
	const GPtrArray *options = get_list(setting, "options");

	view_put_text(setting, "label", label ? label : key);
	view_put_text(setting, "hint", hint);
	for (unsigned i = 0; options && i < options->len; i++) {
		const char *value = find_text(options->pdata[i], "value");
		g_autofree char *text = value ? format_label(format, key, value) : NULL;

		view_put_text(options->pdata[i], "label", text ? text : value);
	}
}

/* The error of a setting, beside its field. */
static void
add_problem(struct view *setting, const GPtrArray *messages)
{
	const char *key = find_text(setting, "key");
	const char *other = g_strcmp0(key, "tz") == 0 ? "zone" : key;

	for (unsigned i = 0; messages && i < messages->len; i++)
		if (view_is_true(view_find(messages->pdata[i], "is_error")) &&
		    g_strcmp0(find_text(messages->pdata[i], "field"), other) == 0)
			view_put_text(
			    setting, "problem", find_text(messages->pdata[i], "text"));
}

/* @return index of setting_groups[] */
static size_t
find_group(const struct view *setting)
{
	for (size_t i = 0; i + 1 < G_N_ELEMENTS(setting_groups); i++)
		if (g_strv_contains(setting_groups[i].keys, get_text(setting, "key")))
			return i;
	return G_N_ELEMENTS(setting_groups) - 1;
}

/* Settings move to groups. */
static void
add_groups(const struct locale_format *format, struct view *map)
{
	GPtrArray *settings = get_list(map, "settings");
	struct view *groups = settings ? view_new_list() : NULL;

	for (size_t i = 0; settings && i < G_N_ELEMENTS(setting_groups); i++) {
		struct view *group = view_new_map(), *list = view_new_list();
		g_autofree char *title =
		    locale_format_text(format, setting_groups[i].phrase);

		for (unsigned s = 0; s < settings->len;) {
			struct view *setting = settings->pdata[s++];

			if (find_group(setting) != i)
				continue;
			add_problem(setting, get_list(map, "messages"));
			view_append(list, g_ptr_array_steal_index(settings, --s));
		}
		view_put_text(group, "title", title);
		view_put(group, "settings", list);
		view_append(groups, group);
	}
	if (groups)
		view_put(map, "groups", groups);
}

static void
append_parameter(GString *query, const struct view *map, const char *name)
{
	const char *value = find_text(map, name);
	g_autofree char *escaped =
	    value ? g_uri_escape_string(value, NULL, false) : NULL;

	if (escaped && *escaped)
		g_string_append_printf(query, "&%s=%s",
		    g_str_has_prefix(name, FORM_PREFIX) ? name + strlen(FORM_PREFIX)
		                                        : name,
		    escaped);
}

/* Parameters for the language switch, so that it shows the same view. */
static void
add_link_query(struct view *map)
{
	g_autoptr(GString) query = g_string_new(NULL);
	const char *show = find_text(map, "show");
	const GPtrArray *filters = get_list(map, "filters");

	append_parameter(query, map, show ? "show" : FORM_PREFIX "filter");
	if (show && strcmp(show, "filter") == 0 && filters && filters->len > 0)
		append_parameter(query, filters->pdata[0], "number");
	else if (show)
		append_parameter(query, map, "page");
	view_put_text(map, "link_query", query->str);
}

/* The parts of a filter between blanks, which are not broken: a browser would break a
 * line after the hyphen of "-survey". */
static void
put_words(struct view *map, const char *name, const char *filter)
{
	g_auto(GStrv) parts = g_strsplit(filter, " ", -1);
	struct view *words = view_new_list();

	for (char **part = parts; *part; part++) {
		struct view *word = view_new_map();

		view_put_text(word, "word", *part);
		view_append(words, word);
	}
	view_put(map, name, words);
}

static void
add_derived(const struct locale_format *format, struct view *map)
{
	const char *day = find_text(map, "day");
	const char *query = find_text(map, "query");
	const char *title = find_text(map, "title");
	g_autofree char *day_text =
	    day ? locale_format_day(format, day, LOCALE_FORMAT_NO_YEAR) : NULL;
	g_autofree char *shortened =
	    query || title ? sanitize_line(query ? query : title, SHORT_CHARS) : NULL;

	view_put_text(map, "day_text", day_text);
	view_put_text(map, "short", shortened);
	if (query) {
		put_words(map, "words", query);
		put_words(map, "short_words", shortened);
	}
	if (find_text(map, "key"))
		add_labels(format, map);
	if (find_text(map, "previous_page") || find_text(map, "next_page"))
		view_put(map, "has_pager",
		    view_new_bool(*find_text(map, "previous_page") ||
		                  *find_text(map, "next_page")));
	if (query && g_strcmp0(query, find_text(map, "canonical")) == 0)
		view_put_text(map, "canonical", "");
	add_caret(map);
	add_chart(format, map);
	add_groups(format, map);
	add_link_query(map);
}

static struct view *
convert_map(const struct locale_format *format, GVariant *values)
{
	struct view *map = view_new_map();
	GVariantIter iter;
	const char *sent_name;
	GVariant *value;

	g_variant_iter_init(&iter, values);
	while (g_variant_iter_next(&iter, "{&sv}", &sent_name, &value)) {
		const char *name = find_name("", sent_name, FIRST_ADDED);

		if (name)
			view_put(map, name, convert_value(format, name, value));
		g_variant_unref(value);
	}
	add_flags(map);
	add_errors(map);
	add_derived(format, map);
	return map;
}

/* ---- a feed as JSON Feed 1 ---- */

#define FEED_VERSION "https://jsonfeed.org/version/1.1"

/* Set a member unless it is empty. */
static void
set_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(object, key, json_string(text));
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

/* @param view  the values of WEB_PAGE_FEED, base, path, lang @return owned by the
 * caller */
static char *
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

/* ---- pages ---- */

#define TYPE_HTML "text/html; charset=utf-8"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_ATOM "application/atom+xml; charset=utf-8"
#define TYPE_JSON "application/feed+json; charset=utf-8"

/* Templates; the views of the preferences have one each. */
enum file {
	FILE_LAYOUT,
	FILE_HOME,
	FILE_CONFIRM,
	FILE_LEAVE,
	FILE_LEFT,
	FILE_FILTERS,
	FILE_FILTER,
	FILE_BLOCKS,
	FILE_SETTINGS,
	FILE_TASTE,
	FILE_ACCOUNT,
	FILE_SEARCH,
	FILE_MESSAGE,
	FILE_FOUND,     /* part of others: what a filter found */
	FILE_PROPOSALS, /* part of others: commands proposed to the subscriber */
	FILE_ATOM,
	FILES
};

static const char *const file_names[FILES] = {
    [FILE_LAYOUT] = "web-layout.html",
    [FILE_HOME] = "web-home.html",
    [FILE_CONFIRM] = "web-confirm.html",
    [FILE_LEAVE] = "web-leave.html",
    [FILE_LEFT] = "web-left.html",
    [FILE_FILTERS] = "web-filters.html",
    [FILE_FILTER] = "web-filter.html",
    [FILE_BLOCKS] = "web-blocks.html",
    [FILE_SETTINGS] = "web-settings.html",
    [FILE_TASTE] = "web-taste.html",
    [FILE_ACCOUNT] = "web-account.html",
    [FILE_SEARCH] = "web-search.html",
    [FILE_MESSAGE] = "web-message.html",
    [FILE_FOUND] = "web-found.html",
    [FILE_PROPOSALS] = "web-proposals.html",
    [FILE_ATOM] = "web-feed.atom",
};

/* Views of the preferences (web_proto.h): the value of `show`. */
static const struct {
	const char *show;
	enum file file;
	const char *title;
} views[] = {
    {"", FILE_FILTERS, N_("Your filters")},
    {"filter", FILE_FILTER, N_("Filter {number}")},
    {"blocks", FILE_BLOCKS, N_("Your blocks")},
    {"settings", FILE_SETTINGS, N_("Your settings")},
    {"taste", FILE_TASTE, N_("What you like and hide")},
    {"account", FILE_ACCOUNT, N_("Address and data")},
};

/* Titles and texts of error pages; the last one is for all other HTTP statuses. */
static const struct {
	unsigned http_status;
	const char *title, *text;
} explained[] = {
    {400, N_("The request is invalid"),
        N_("The form was incomplete, or something in it could not be read. Nothing was "
           "done. Go back and try again.")},
    {403, N_("This form has expired"),
        N_("Nothing was done. Go back, load the page again, and send the form once "
           "more.")},
    {404, N_("This page does not exist"),
        N_("The link is incomplete or has expired. Links to your preferences are valid "
           "for 24 hours: ask for a new one with the unsubscribe link of any digest.")},
    {405, N_("This does not work here"),
        N_("The page cannot be used in this way. Nothing was done.")},
    {413, N_("The form is too large"),
        N_("Nothing was done. Please shorten what you typed.")},
    {429, N_("Too many requests"),
        N_("Nothing was done. Please try again later; by mail everything works "
           "meanwhile.")},
    {503, N_("Temporarily not available"),
        N_("Nothing was done. Please try again in a few minutes.")},
    {0, N_("Something went wrong"), N_("Nothing was done. Please try again later.")},
};

const unsigned web_page_statuses[WEB_STATUSES] = {
    [WEB_STATUS_OK] = 200,
    [WEB_STATUS_NOT_MODIFIED] = 304,
    [WEB_STATUS_BAD_REQUEST] = 400,
    [WEB_STATUS_FORBIDDEN] = 403,
    [WEB_STATUS_NOT_FOUND] = 404,
    [WEB_STATUS_LIMITED] = 429,
    [WEB_STATUS_UNAVAILABLE] = 503,
};

/* The templates of one language. */
struct pages {
	char *language;
	char *own_name; /* "Deutsch" */
	struct template *templates[FILES];
};

struct web_pages {
	struct catalog *catalog;
	char *url;
	GPtrArray *list; /* of struct pages *, English first */
};

void
web_body_clear(struct web_body *body)
{
	g_clear_pointer(&body->bytes, g_bytes_unref);
	g_clear_pointer(&body->content_policy, g_free);
}

/* ---- loading ---- */

static void
pages_free(struct pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < FILES; i++)
		template_free(pages->templates[i]);
	g_free(pages->language);
	g_free(pages->own_name);
	g_free(pages);
}
PB_DEFINE_AUTO(pages, pages_free);

/* @param texts  of the templates, by enum file */
static struct pages *
pages_new(const struct catalog *catalog, const char *language, char *const *texts,
    GError **error)
{
	pb_auto(pages) pages = g_new0(struct pages, 1);

	pages->language = g_strdup(language);
	pages->own_name = catalog_format(catalog, language, CATALOG_OWN_NAME, NULL);
	for (size_t i = 0; i < FILES; i++) {
		g_autofree char *text =
		    catalog_expand(catalog, language, file_names[i], texts[i], error);

		pages->templates[i] = text ? template_parse(file_names[i], text,
		                                 TEMPLATE_HTML, value_names, error)
		                           : NULL;
		if (!pages->templates[i])
			return NULL;
	}
	return g_steal_pointer(&pages);
}

static bool
add_language(
    struct web_pages *pages, const char *language, char *const *texts, GError **error)
{
	struct pages *added = pages_new(pages->catalog, language, texts, error);

	if (added)
		g_ptr_array_add(pages->list, added);
	return added != NULL;
}

static bool
load_texts(const char *template_dir, char **texts, GError **error)
{
	for (size_t i = 0; i < FILES; i++) {
		g_autofree char *path =
		    g_build_filename(template_dir, file_names[i], NULL);

		texts[i] = template_load_file(path, error);
		if (!texts[i])
			return false;
	}
	return true;
}

struct web_pages *
web_pages_load(
    const char *template_dir, const char *po_dir, const char *url, GError **error)
{
	pb_auto(web_pages) pages = g_new0(struct web_pages, 1);
	g_auto(GStrv) texts = g_new0(char *, FILES + 1);
	const char *const *languages;

	pages->list = g_ptr_array_new_with_free_func((GDestroyNotify)pages_free);
	pages->url = g_strdup(url);
	pages->catalog = catalog_load(po_dir, error);
	if (!pages->catalog || !load_texts(template_dir, texts, error))
		return NULL;
	languages = catalog_get_languages(pages->catalog);
	for (; *languages; languages++)
		if (!add_language(pages, *languages, texts, error))
			return NULL;
	return g_steal_pointer(&pages);
}

void
web_pages_free(struct web_pages *pages)
{
	if (!pages)
		return;
	g_ptr_array_unref(pages->list);
	g_clear_pointer(&pages->catalog, catalog_free);
	g_free(pages->url);
	g_free(pages);
}

bool
web_pages_has_language(const struct web_pages *pages, const char *language)
{
	return catalog_has_language(pages->catalog, language);
}

static const struct pages *
find_language(const struct web_pages *pages, const char *language)
{
	for (unsigned i = 0; i < pages->list->len; i++) {
		const struct pages *found = pages->list->pdata[i];

		if (strcmp(found->language, language) == 0)
			return found;
	}
	return pages->list->pdata[0];
}

/* ---- rendering ---- */

/* A page that is being rendered; all but the view is borrowed. */
struct rendering {
	const struct web_pages *all;
	const struct pages *pages; /* of the language */
	struct view *view;
	enum file file;
	char *title; /* owned */
};

static void
set_title(struct rendering *rendering, const char *title)
{
	g_free(rendering->title);
	rendering->title = catalog_format(
	    rendering->all->catalog, rendering->pages->language, title, NULL);
}

/* Add what the layout needs. */
static void
add_frame(const struct rendering *rendering)
{
	struct view *languages = view_new_list();

	for (unsigned i = 0; i < rendering->all->list->len; i++) {
		const struct pages *other = rendering->all->list->pdata[i];
		struct view *item = view_new_map();

		view_put_text(item, "code", other->language);
		view_put_text(item, "own_name", other->own_name);
		view_put(item, "is_current", view_new_bool(other == rendering->pages));
		view_append(languages, item);
	}
	view_put(rendering->view, "languages", languages);
	view_put_text(rendering->view, "lang", rendering->pages->language);
	view_put_text(rendering->view, "base", rendering->all->url);
	view_put_text(rendering->view, "title", rendering->title);
	if (!*get_text(rendering->view, "service"))
		view_put_text(rendering->view, "service", "paperboy");
}

/* Replace each backtest below a view by its HTML, as `found` beside it. */
static void
render_found(const struct template *template, struct view *view)
{
	g_autoptr(GString) found = NULL;

	if (view->kind == VIEW_LIST)
		for (unsigned i = 0; i < view->list->len; i++)
			render_found(template, view->list->pdata[i]);
	if (view->kind != VIEW_MAP)
		return;
	for (unsigned i = 0; i < view->map->len; i++)
		render_found(
		    template, g_array_index(view->map, struct view_member, i).value);
	found = g_string_new(NULL);
	if (view_find(view, "backtest"))
		template_append(template, view_find(view, "backtest"), found);
	/* Also an empty one: it hides that of the enclosing map. */
	view_put_text(view, "found", found->str);
}

static void
render_proposals(const struct template *template, struct view *view)
{
	g_autoptr(GString) html = g_string_new(NULL);

	if (view_is_true(view_find(view, "proposals")))
		template_append(template, view, html);
	view_put_text(view, "suggestions", html->str);
}

static void
finish_html(struct rendering *rendering, struct web_body *body)
{
	struct template *const *templates = rendering->pages->templates;
	g_autoptr(GString) content = g_string_new(NULL);
	GString *html = g_string_new(NULL);

	add_frame(rendering);
	render_found(templates[FILE_FOUND], rendering->view);
	render_proposals(templates[FILE_PROPOSALS], rendering->view);
	template_append(templates[rendering->file], rendering->view, content);
	view_put_text(rendering->view, "content", content->str);
	template_append(templates[FILE_LAYOUT], rendering->view, html);
	body->type = TYPE_HTML;
	body->content_policy = web_policy_format(html->str);
	body->bytes = g_string_free_to_bytes(html);
}

/* Title and text of an error page, as a message. */
static void
explain_status(struct rendering *rendering, unsigned http_status)
{
	g_autofree char *text = NULL;
	struct view *message = view_new_map(), *messages = view_new_list();
	size_t i = 0;

	while (explained[i].http_status && explained[i].http_status != http_status)
		i++;
	set_title(rendering, explained[i].title);
	text = catalog_format(rendering->all->catalog, rendering->pages->language,
	    explained[i].text, NULL);
	view_put_text(message, "text", text);
	view_append(messages, message);
	view_put(rendering->view, "messages", messages);
}

/* The title of a page with messages only says how it went. */
static void
choose_message(struct rendering *rendering, enum web_status status)
{
	if (status != WEB_STATUS_OK &&
	    !view_is_true(view_find(rendering->view, "messages")))
		explain_status(rendering, web_page_statuses[status]);
	else if (view_is_true(view_find(rendering->view, "has_error")))
		set_title(rendering, N_("That did not work"));
	else if (view_is_true(view_find(rendering->view, "has_wait")))
		set_title(rendering, N_("Please confirm by mail"));
	else
		set_title(rendering, N_("Done"));
}

/* The name of the filter that is shown, or its number. */
static void
set_filter_title(struct rendering *rendering)
{
	const struct view *filters = view_find(rendering->view, "filters");
	const struct view *filter;
	const char *name;

	if (!filters || filters->kind != VIEW_LIST || filters->list->len == 0)
		return;
	filter = filters->list->pdata[0];
	name = get_text(filter, "name");
	g_free(rendering->title);
	rendering->title = *name
	                       ? g_strdup(name)
	                       : catalog_format(rendering->all->catalog,
	                             rendering->pages->language, N_("Filter {number}"),
	                             "number", get_text(filter, "number"), NULL);
}

static void
choose_view(struct rendering *rendering)
{
	const char *show = get_text(rendering->view, "show");
	size_t found = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(views); i++)
		if (strcmp(views[i].show, show) == 0)
			found = i;
	rendering->file = views[found].file;
	set_title(rendering, views[found].title);
	if (rendering->file == FILE_FILTER)
		set_filter_title(rendering);
	view_put(rendering->view, "is_preferences", view_new_bool(true));
}

/* Template and title of each page; without a title, that of its message. */
static const struct {
	enum file file;
	const char *title;
} html_pages[WEB_PAGES] = {
    [WEB_PAGE_HOME] = {FILE_HOME, N_("New research papers by mail")},
    [WEB_PAGE_CONFIRM] = {FILE_CONFIRM, N_("Confirm your request")},
    [WEB_PAGE_LEAVE] = {FILE_LEAVE, NC_("page", "Unsubscribe")},
    [WEB_PAGE_LEFT] = {FILE_LEFT, NULL},
    [WEB_PAGE_SEARCH] = {FILE_SEARCH, N_("Search the archive")},
    [WEB_PAGE_MESSAGE] = {FILE_MESSAGE, NULL},
};

/* Choose template and title. @return false if it is not an HTML page of ours */
static bool
choose_page(struct rendering *rendering, const struct web_reply *reply)
{
	rendering->file = html_pages[reply->page].file;
	if (reply->page == WEB_PAGE_PREFERENCES)
		choose_view(rendering);
	else if (!rendering->file)
		return false;
	else if (!html_pages[reply->page].title)
		choose_message(rendering, reply->status);
	else
		set_title(rendering, html_pages[reply->page].title);
	if (reply->page == WEB_PAGE_HOME &&
	    view_is_true(view_find(rendering->view, "is_sent")))
		set_title(rendering, N_("Please check your mail"));
	return true;
}

static void
set_body(struct web_body *body, const char *type, char *text, char *policy)
{
	body->type = type;
	body->bytes = g_bytes_new_take(text, strlen(text));
	body->content_policy = policy;
}

static bool
render_digest(const struct web_reply *reply, struct web_body *body, GError **error)
{
	const char *html = NULL;

	if (!g_variant_lookup(reply->values, "html", "&s", &html))
		return pb_fail(error, PB_ERROR_INPUT, "a digest without HTML");
	set_body(body, TYPE_HTML, g_strdup(html), web_policy_format(html));
	return true;
}

static void
render_feed(const struct rendering *rendering, const char *path, struct web_body *body)
{
	g_autoptr(GString) out = NULL;

	view_put_text(rendering->view, "lang", rendering->pages->language);
	view_put_text(rendering->view, "base", rendering->all->url);
	view_put_text(rendering->view, "path", path);
	if (g_str_has_suffix(path, ".json")) {
		set_body(body, TYPE_JSON, json_feed_format(rendering->view),
		    web_policy_format(""));
		return;
	}
	out = g_string_new(NULL);
	template_append(rendering->pages->templates[FILE_ATOM], rendering->view, out);
	set_body(body, TYPE_ATOM, g_string_free(g_steal_pointer(&out), FALSE),
	    web_policy_format(""));
}

bool
web_page_render(const struct web_pages *pages, const struct web_reply *reply,
    const char *path, struct web_body *body, GError **error)
{
	struct rendering rendering = {
	    .all = pages, .pages = find_language(pages, reply->language)};
	const struct locale_format format = {pages->catalog, rendering.pages->language};
	pb_auto(view) view = NULL;

	if (reply->page == WEB_PAGE_NONE) {
		set_body(body, TYPE_TEXT, g_strdup(""), web_policy_format(""));
		return true;
	}
	if (reply->page == WEB_PAGE_DIGEST && reply->status == WEB_STATUS_OK)
		return render_digest(reply, body, error);
	view = convert_map(&format, reply->values);
	rendering.view = view;
	if (reply->page == WEB_PAGE_FEED && reply->status == WEB_STATUS_OK)
		render_feed(&rendering, path, body);
	else if (choose_page(&rendering, reply))
		finish_html(&rendering, body);
	else
		web_page_render_error(
		    pages, web_page_statuses[reply->status], reply->language, body);
	g_free(rendering.title);
	return true;
}

void
web_page_render_error(const struct web_pages *pages, unsigned http_status,
    const char *language, struct web_body *body)
{
	pb_auto(view) view = view_new_map();
	struct rendering rendering = {.all = pages,
	    .pages = find_language(pages, language),
	    .view = view,
	    .file = FILE_MESSAGE};

	explain_status(&rendering, http_status);
	finish_html(&rendering, body);
	g_free(rendering.title);
}
