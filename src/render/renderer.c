/*
 * renderer.c - a digest as a message.
 */
#include "render/renderer.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "message/compose.h"
#include "render/attach.h"
#include "render/catalog.h"
#include "render/entry.h"
#include "render/locale_format.h"
#include "render/page.h"
#include "render/sender.h"

/* ---- the view of a reply for the template reply.html ---- */

static const char *const reply_names[] = {"lang", "subject", "is_titled", "blocks",
    "title", "link", "is_confirm", "quote", "lines", "text", NULL};

static bool
is_link(const char *block)
{
	return g_regex_match_simple("^https?://\\S+$", block, 0, 0);
}

/* Whether a block keeps its line breaks (service/command/reply_text.h). */
static bool
has_lines(const char *block)
{
	return g_regex_match_simple(
	    "^(?:> | +\\S|[\\w-]+ {2,}|confirm |undo )", block, G_REGEX_MULTILINE, 0);
}

/* Start of a list item in a text part, and of its further lines. */
#define ITEM "-      "
#define REST "       "

/* Append a line; one with two columns, an example and its meaning, becomes an item. */
static void
append_line(GString *text, const char *line)
{
	g_auto(GStrv) parts =
	    g_regex_split_simple("^  (\\S.*?) {2,}(\\S.*)$", line, 0, 0);

	if (g_strv_length(parts) > 1)
		g_string_append_printf(text, "\u2022 %s \u2013 %s", parts[1], parts[2]);
	else
		g_string_append(text, line);
}

/* Join the lines of a block, of an item to one line. */
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
		append_line(text, *lines + (is_item ? strlen(ITEM) : 0));
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

static struct view *
new_reply_view(const char *language, const char *subject, const char *text)
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

/* ---- the templates of each language, with their caches ---- */

enum locale_file {
	LOCALE_SUBJECT,
	LOCALE_TEXT,
	LOCALE_HTML,
	LOCALE_PAPER_TEXT,
	LOCALE_PAPER_HTML,
	LOCALE_REPLY_HTML,
	LOCALE_FILES
};

struct locale {
	char *language;
	struct locale_format format;
	struct template *templates[LOCALE_FILES];
	struct entry_cache *cache;
};

struct locales {
	struct catalog *catalog;
	GPtrArray *list; /* of struct locale *, English first */
};

#define ENGLISH "en"

/* To be changed with code that changes the output. */
#define CACHE_KEY_VERSION "17"

static const struct {
	const char *name;
	enum template_kind kind;
	const char *const *names;
} files[LOCALE_FILES] = {
    [LOCALE_SUBJECT] = {"digest.subject", TEMPLATE_TEXT, page_names},
    [LOCALE_TEXT] = {"digest.txt", TEMPLATE_TEXT, page_names},
    [LOCALE_HTML] = {"digest.html", TEMPLATE_HTML, page_names},
    [LOCALE_PAPER_TEXT] = {"paper.txt", TEMPLATE_TEXT, entry_names},
    [LOCALE_PAPER_HTML] = {"paper.html", TEMPLATE_HTML, entry_names},
    [LOCALE_REPLY_HTML] = {"reply.html", TEMPLATE_HTML, reply_names},
};

static void
locale_free(struct locale *locale)
{
	if (!locale)
		return;
	entry_cache_free(locale->cache);
	for (size_t i = 0; i < LOCALE_FILES; i++)
		template_free(locale->templates[i]);
	g_free(locale->language);
	g_free(locale);
}
PB_DEFINE_AUTO(locale, locale_free);

/* @param texts  of the templates, by enum locale_file */
static struct locale *
locale_new(const struct catalog *catalog, const char *language, char *const *texts,
    const struct sender_identity *sender, GError **error)
{
	pb_auto(locale) locale = g_new0(struct locale, 1);

	locale->language = g_strdup(language);
	locale->format = (struct locale_format){catalog, locale->language};
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		g_autofree char *text =
		    catalog_expand(catalog, language, files[i].name, texts[i], error);

		locale->templates[i] = text ? template_parse(files[i].name, text,
		                                  files[i].kind, files[i].names, error)
		                            : NULL;
		if (!locale->templates[i])
			return NULL;
	}
	if (template_is_blank(locale->templates[LOCALE_SUBJECT])) {
		pb_fail(
		    error, PB_ERROR_INPUT, "%s is empty", files[LOCALE_SUBJECT].name);
		return NULL;
	}
	locale->cache = entry_cache_new(locale->templates[LOCALE_PAPER_TEXT],
	    locale->templates[LOCALE_PAPER_HTML], &locale->format, sender);
	return g_steal_pointer(&locale);
}

static bool
add_locale(struct locales *locales, const char *language, char *const *texts,
    const struct sender_identity *sender, GError **error)
{
	struct locale *locale =
	    locale_new(locales->catalog, language, texts, sender, error);

	if (locale)
		g_ptr_array_add(locales->list, locale);
	return locale != NULL;
}

/*
 * Load the templates of a directory and the catalogue.
 *
 * @param locales   zeroed by the caller; to be passed to locales_clear() even after
 *                  a failure
 * @param sender    borrowed for their lifetime
 * @param checksum  updated with everything read, for renderer_get_cache_key()
 * @return false with PB_ERROR_INPUT, PB_ERROR_NOT_FOUND or PB_ERROR_LIMIT
 */
static bool
locales_load(struct locales *locales, const struct renderer_settings *settings,
    const struct sender_identity *sender, GChecksum *checksum, GError **error)
{
	const char *const *languages;

	g_auto(GStrv) texts = g_new0(char *, LOCALE_FILES + 1);

	locales->list = g_ptr_array_new_with_free_func((GDestroyNotify)locale_free);
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		const char *name = files[i].name;
		g_autofree char *path =
		    g_build_filename(settings->template_dir, name, NULL);

		texts[i] = template_load_file(path, error);
		if (!texts[i])
			return false;
		sender_hash_text(checksum, texts[i]);
	}
	locales->catalog = catalog_load(settings->po_dir, error);
	if (!locales->catalog)
		return false;
	catalog_add_to_checksum(locales->catalog, checksum);
	languages = catalog_get_languages(locales->catalog);
	for (; *languages; languages++)
		if (!add_locale(locales, *languages, texts, sender, error))
			return false;
	return true;
}

static void
locales_clear(struct locales *locales)
{
	g_clear_pointer(&locales->list, g_ptr_array_unref);
	g_clear_pointer(&locales->catalog, catalog_free);
}

/* Get the locale of a language, or English. */
static struct locale *
locales_get(const struct locales *locales, const char *language)
{
	for (unsigned i = 0; i < locales->list->len; i++) {
		struct locale *locale = locales->list->pdata[i];

		if (strcmp(locale->language, language) == 0)
			return locale;
	}
	return locales->list->pdata[0];
}

/* ---- renderer ---- */

struct renderer {
	struct sender_identity sender;
	struct locales locales;
	char *key;
};

/* Render sample digests: some errors in templates show only when they are used. */
static bool
check_locale(struct renderer *renderer, const struct locale *locale, GError **error)
{
	for (unsigned titles = 0; titles <= 1; titles++) {
		pb_auto(digest) digest = digest_new();
		g_autoptr(GBytes) message = NULL;

		g_strlcpy(digest->style.language, locale->language,
		    sizeof(digest->style.language));
		digest->recipient = g_strdup("reader@example.org");
		g_strlcpy(digest->date, "2000-01-01", sizeof(digest->date));
		for (unsigned i = 0; i <= titles; i++) {
			struct paper *paper = paper_new();
			struct digest_entry *entry;

			paper->id = g_strdup("0000.00000");
			paper->title = g_strdup("Title");
			paper->abstract = g_strdup("Abstract");
			paper->url = g_strdup("https://example.org/");
			entry = digest_entry_new(paper, digest->date);
			entry->shown =
			    i == 0 ? DIGEST_DETAIL_FULL : DIGEST_DETAIL_TITLE;
			g_ptr_array_add(
			    entry->reasons, digest_reason_new("filter", hits_new()));
			g_ptr_array_add(digest->entries, entry);
		}
		message = renderer_compose(renderer, digest, error);
		if (!message)
			return false;
	}
	return true;
}

static bool
check_templates(struct renderer *renderer, GError **error)
{
	for (unsigned i = 0; i < renderer->locales.list->len; i++)
		if (!check_locale(renderer, renderer->locales.list->pdata[i], error))
			return false;
	return true;
}

struct renderer *
renderer_new(const struct renderer_settings *settings, GError **error)
{
	pb_auto(renderer) renderer = g_new0(struct renderer, 1);
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);

	if (!sender_identity_init(&renderer->sender, settings, error) ||
	    !locales_load(
	        &renderer->locales, settings, &renderer->sender, checksum, error))
		return NULL;
	sender_hash_text(checksum, CACHE_KEY_VERSION);
	sender_identity_hash(&renderer->sender, checksum);
	renderer->key = g_strdup(g_checksum_get_string(checksum));
	if (!check_templates(renderer, error))
		return NULL;
	return g_steal_pointer(&renderer);
}

void
renderer_free(struct renderer *renderer)
{
	if (!renderer)
		return;
	locales_clear(&renderer->locales);
	sender_identity_clear(&renderer->sender);
	g_free(renderer->key);
	g_free(renderer);
}

const struct catalog *
renderer_get_catalog(const struct renderer *renderer)
{
	return renderer->locales.catalog;
}

const char *
renderer_get_cache_key(const struct renderer *renderer)
{
	return renderer->key;
}

static bool
init_page(struct page *page, struct renderer *renderer, const struct digest *digest,
    const struct sender_links *links, bool is_page, GError **error)
{
	const struct locale *locale =
	    locales_get(&renderer->locales, digest->style.language);
	const struct page_settings settings = {
	    .subject = locale->templates[LOCALE_SUBJECT],
	    .text = locale->templates[LOCALE_TEXT],
	    .html = locale->templates[LOCALE_HTML],
	    .format = &locale->format,
	    .sender = &renderer->sender,
	    .cache = locale->cache,
	    .is_page = is_page,
	};

	return page_init(page, &settings, digest, links, error);
}

/* Referenced by the fields of a message. */
struct attached_file {
	char *name;
	GString *encoded;
	struct compose_span span;
};

static void
attached_file_clear(struct attached_file *file)
{
	g_free(file->name);
	if (file->encoded)
		g_string_free(file->encoded, TRUE);
}

/* Attach the papers, if the subscriber wants that. */
static void
attach_file(struct compose_headers *fields, struct attached_file *file,
    const struct renderer *renderer, const struct digest *digest,
    const struct page *page)
{
	const struct locale *locale =
	    locales_get(&renderer->locales, digest->style.language);
	const struct attach_format *format = attach_get_format(digest->style.attach);
	const struct attach_input input = {
	    .digest = digest,
	    .page = page,
	    .format = &locale->format,
	    .list_name = renderer->sender.list_name,
	};
	g_autoptr(GString) text = NULL;
	enum encoding encoding;

	if (!format || !page->shown)
		return;
	text = attach_new_file(format, &input);
	file->name = g_strdup_printf("paperboy-%s.%s", digest->date, format->extension);
	file->encoded = g_string_new(NULL);
	encoding = encoding_append_text(file->encoded, text->str, text->len);
	file->span = (struct compose_span){file->encoded->str, file->encoded->len};
	fields->file = (struct compose_attachment){
	    .name = file->name,
	    .type = format->mime_type,
	    .part = {&file->span, 1, encoding},
	};
}

static GBytes *
build_message(const struct renderer *renderer, const struct digest *digest,
    const struct sender_links *links, const struct page *page, GError **error)
{
	const char *token = digest->message_token ? digest->message_token : "preview";
	g_autofree char *id = digest->message_token
	                          ? token_format_with_id(token, digest->subscriber_id)
	                          : g_strdup(token);
	g_autofree char *reply_to =
	    sender_identity_format_reply_to(&renderer->sender, digest);
	const struct sender_identity *sender = &renderer->sender;
	const struct compose_header extra[] = {
	    {"List-Id", sender->list_id_value},
	    {"List-Help", sender->list_help_value},
	    {"List-Subscribe", sender->list_subscribe_value},
	    {"List-Owner", sender->list_owner_value},
	    {"List-Post", "NO"},
	    {"List-Unsubscribe-Post", sender->has_one_click ? SENDER_ONE_CLICK : NULL},
	    {"CFBL-Address", sender->feedback_value},
	    {"Auto-Submitted", "auto-generated"},
	    {"Precedence", "bulk"},
	    /* Not "All", which would suppress delivery reports too (MS-OXCMAIL). */
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	    {"Reply-To", reply_to},
	    {"List-Unsubscribe", links->list_value},
	};
	g_autofree char *message_id =
	    g_strconcat("digest.", id, "@", renderer->sender.message_domain, NULL);
	/* "=_" cannot occur in either encoding (RFC 2045 section 6.7). */
	g_autofree char *boundary = g_strconcat("=_", token, NULL);
	const struct compose_span text = {page->text->str, page->text->len};
	const struct compose_span html = {page->html->str, page->html->len};
	pb_local(attached_file) file = {0};
	struct compose_headers fields = {
	    .date = digest->created_at,
	    .from = {sender->from_name, sender->from_address},
	    .to = {digest->recipient_name, digest->recipient},
	    .subject = page->subject,
	    .message_id = message_id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .boundary = boundary,
	    .text = {&text, 1, ENCODING_QUOTED_PRINTABLE},
	    .html = {&html, 1, ENCODING_QUOTED_PRINTABLE},
	};

	if (digest->style.format == PREFERENCE_FORMAT_HTML)
		fields.text = (struct compose_part){0};
	if (digest->style.format == PREFERENCE_FORMAT_TEXT)
		fields.html = (struct compose_part){0};
	attach_file(&fields, &file, renderer, digest, page);
	return compose_message(&fields, error);
}

GBytes *
renderer_compose(struct renderer *renderer, const struct digest *digest, GError **error)
{
	pb_local(sender_links) links = {0};
	struct page page;
	GBytes *message = NULL;

	sender_links_init(&links, &renderer->sender, digest);
	if (init_page(&page, renderer, digest, &links, false, error)) {
		message = build_message(renderer, digest, &links, &page, error);
		page_clear(&page);
	}
	return message;
}

static char *
format_part(struct renderer *renderer, const struct digest *digest, bool is_html,
    bool is_page, GError **error)
{
	pb_local(sender_links) links = {0};
	struct page page;
	GString *part, *plain;

	sender_links_init(&links, &renderer->sender, digest);
	if (!init_page(&page, renderer, digest, &links, is_page, error))
		return NULL;
	part = is_html ? page.html : page.text;
	plain = g_string_sized_new(part->len);
	encoding_append_decoded(plain, part->str, part->len);
	page_clear(&page);
	return g_string_free(plain, FALSE);
}

char *
renderer_format_text(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, false, false, error);
}

char *
renderer_format_html(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, true, false, error);
}

char *
renderer_format_page(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, true, true, error);
}

char *
renderer_format_reply(struct renderer *renderer, const char *language,
    const char *subject, const char *text)
{
	const struct locale *locale = locales_get(&renderer->locales, language);
	pb_auto(view) view = new_reply_view(locale->language, subject, text);
	GString *html = g_string_new(NULL);

	template_append(locale->templates[LOCALE_REPLY_HTML], view, html);
	return g_string_free(html, FALSE);
}
