/*
 * web_page.c - replies of paperboyd as HTML pages and feeds.
 */
#include "web/web_page.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "render/catalog.h"
#include "render/template.h"
#include "render/view.h"
#include "web/page_values.h"

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

/* ---- a feed as JSON Feed 1 ---- */

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
		                                 TEMPLATE_HTML, page_value_names, error)
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
	struct page_values_context context = {
	    pages->catalog, rendering.pages->language};
	pb_auto(view) view = NULL;

	if (reply->page == WEB_PAGE_NONE) {
		set_body(body, TYPE_TEXT, g_strdup(""), web_policy_format(""));
		return true;
	}
	if (reply->page == WEB_PAGE_DIGEST && reply->status == WEB_STATUS_OK)
		return render_digest(reply, body, error);
	view = page_values_convert(&context, reply->values);
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
