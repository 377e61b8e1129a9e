/*
 * renderer.c - a digest as a message.
 */
#include "render/renderer.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "message/compose.h"
#include "render/assemble.h"
#include "render/attach.h"
#include "render/cache_key.h"
#include "render/catalog.h"
#include "render/entry_block.h"
#include "render/entry_reasons.h"
#include "render/locale_format.h"
#include "render/page.h"
#include "render/reply_view.h"
#include "render/sender.h"

/* ---- the templates of each language, with their caches ---- */

enum locale_file {
	LOCALE_SUBJECT,
	LOCALE_TEXT,
	LOCALE_HTML,
	LOCALE_PAPER_TEXT,
	LOCALE_PAPER_HTML,
	LOCALE_GROUP_TEXT,
	LOCALE_GROUP_HTML,
	LOCALE_ANSWER_TEXT,
	LOCALE_ANSWER_HTML,
	LOCALE_REPLY_HTML,
	LOCALE_FILES
};

struct locale {
	char *language;
	struct locale_format format;
	struct template *templates[LOCALE_FILES];
	struct entry_view_context *context;
	struct entry_block_cache *cache;
	struct pages *pages; /* set by the renderer, which has the settings */
};

struct locales {
	struct catalog *catalog;
	GPtrArray *list; /* of struct locale *, English first */
};

#define ENGLISH "en"

static const struct {
	const char *name;
	enum template_kind kind;
	const char *const *names;
} files[LOCALE_FILES] = {
    [LOCALE_SUBJECT] = {"digest.subject", TEMPLATE_TEXT, page_names},
    [LOCALE_TEXT] = {"digest.txt", TEMPLATE_TEXT, page_names},
    [LOCALE_HTML] = {"digest.html", TEMPLATE_HTML, page_names},
    [LOCALE_PAPER_TEXT] = {"paper.txt", TEMPLATE_TEXT, entry_view_names},
    [LOCALE_PAPER_HTML] = {"paper.html", TEMPLATE_HTML, entry_view_names},
    [LOCALE_GROUP_TEXT] = {"group.txt", TEMPLATE_TEXT, entry_block_heading_names},
    [LOCALE_GROUP_HTML] = {"group.html", TEMPLATE_HTML, entry_block_heading_names},
    [LOCALE_ANSWER_TEXT] = {"answer.txt", TEMPLATE_TEXT, entry_block_answer_names},
    [LOCALE_ANSWER_HTML] = {"answer.html", TEMPLATE_HTML, entry_block_answer_names},
    [LOCALE_REPLY_HTML] = {"reply.html", TEMPLATE_HTML, reply_names},
};

static void
locale_free(struct locale *locale)
{
	if (!locale)
		return;
	entry_block_cache_free(locale->cache);
	entry_view_context_free(locale->context);
	pages_unref(locale->pages);
	for (size_t i = 0; i < LOCALE_FILES; i++)
		template_free(locale->templates[i]);
	g_free(locale->language);
	g_free(locale);
}
PB_DEFINE_AUTO(locale, locale_free);

/* Reasons are rendered without the rest of the paper. */
static bool
check_reasons(const struct template *template, const char *name, GError **error)
{
	if (template_is_separable(template, "reasons", entry_reasons_names))
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "%s: expected {{#reasons}} at most once, with filter, words and "
	    "is_later only",
	    name);
}

/* @param texts  of the templates, by enum locale_file */
static struct locale *
locale_new(const struct catalog *catalog, const char *language, char *const *texts,
    GError **error)
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
		if (!locale->templates[i] ||
		    !check_reasons(locale->templates[i], files[i].name, error))
			return NULL;
	}
	if (template_is_blank(locale->templates[LOCALE_SUBJECT])) {
		pb_fail(
		    error, PB_ERROR_INPUT, "%s is empty", files[LOCALE_SUBJECT].name);
		return NULL;
	}
	locale->context = entry_view_context_new(&locale->format);
	locale->cache = entry_block_cache_new(&(struct entry_block_templates){
	    .text = locale->templates[LOCALE_PAPER_TEXT],
	    .html = locale->templates[LOCALE_PAPER_HTML],
	    .heading_text = locale->templates[LOCALE_GROUP_TEXT],
	    .heading_html = locale->templates[LOCALE_GROUP_HTML],
	    .answer_text = locale->templates[LOCALE_ANSWER_TEXT],
	    .answer_html = locale->templates[LOCALE_ANSWER_HTML],
	    .format = &locale->format,
	    .context = locale->context,
	});
	return g_steal_pointer(&locale);
}

static bool
add_locale(
    struct locales *locales, const char *language, char *const *texts, GError **error)
{
	struct locale *locale = locale_new(locales->catalog, language, texts, error);

	if (locale)
		g_ptr_array_add(locales->list, locale);
	return locale != NULL;
}

/*
 * Load the templates of a directory and the catalogue.
 *
 * @param locales   zeroed by the caller; to be passed to locales_clear() even after
 *                  a failure
 * @param checksum  updated with everything read, for renderer_get_cache_key()
 * @return false with PB_ERROR_INPUT, PB_ERROR_NOT_FOUND or PB_ERROR_LIMIT
 */
static bool
locales_load(struct locales *locales, const char *dir, const char *po_dir,
    GChecksum *checksum, GError **error)
{
	const char *const *languages;

	g_auto(GStrv) texts = g_new0(char *, LOCALE_FILES + 1);

	locales->list = g_ptr_array_new_with_free_func((GDestroyNotify)locale_free);
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		const char *name = files[i].name;
		g_autofree char *path = g_build_filename(dir, name, NULL);

		texts[i] = template_load_file(path, error);
		if (!texts[i])
			return false;
		cache_key_add(checksum, texts[i]);
	}
	locales->catalog = catalog_load(po_dir, error);
	if (!locales->catalog)
		return false;
	catalog_add_to_checksum(locales->catalog, checksum);
	languages = catalog_get_languages(locales->catalog);
	for (; *languages; languages++)
		if (!add_locale(locales, *languages, texts, error))
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
	GMutex lock; /* of the pages of all locales, to replace them */
};

static void
make_pages(struct renderer *renderer)
{
	for (unsigned i = 0; i < renderer->locales.list->len; i++) {
		struct locale *locale = renderer->locales.list->pdata[i];
		const struct page_settings settings = {
		    .subject = locale->templates[LOCALE_SUBJECT],
		    .text = locale->templates[LOCALE_TEXT],
		    .html = locale->templates[LOCALE_HTML],
		    .format = &locale->format,
		    .sender = &renderer->sender,
		};

		locale->pages = pages_new(&settings);
	}
}

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

	g_mutex_init(&renderer->lock);
	if (!sender_identity_init(&renderer->sender, settings, error) ||
	    !locales_load(&renderer->locales, settings->template_dir, settings->po_dir,
	        checksum, error))
		return NULL;
	cache_key_add(checksum, CACHE_KEY_VERSION);
	sender_identity_hash(&renderer->sender, checksum);
	renderer->key = g_strdup(g_checksum_get_string(checksum));
	make_pages(renderer);
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
	g_mutex_clear(&renderer->lock);
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

/* @return a reference */
static struct pages *
get_pages(struct renderer *renderer, struct locale *locale)
{
	struct pages *pages;

	g_mutex_lock(&renderer->lock);
	pages_renew_if_full(&locale->pages);
	pages = pages_ref(locale->pages);
	g_mutex_unlock(&renderer->lock);
	return pages;
}

/*
 * List the spans of one part.  Chunks are encoded in quoted-printable already; base64
 * cannot be concatenated and is encoded here.
 *
 * @param bytes  set to storage for base64, to be kept until the message is built
 */
static unsigned
list_part(const struct assembled_message *assembled, bool is_html, GArray *spans,
    GString **bytes, enum encoding *encoding)
{
	const struct assembled_part *part =
	    is_html ? &assembled->html : &assembled->text;
	unsigned before = spans->len;

	*encoding = chunk_stats_get_encoding(&part->stats);
	switch (*encoding) {
	case ENCODING_QUOTED_PRINTABLE:
		assemble_list_spans(assembled, is_html, spans);
		break;
	case ENCODING_BASE64: {
		g_autoptr(GString) plain = assemble_format_plain(assembled, is_html);
		struct compose_span span;

		*bytes = g_string_new(NULL);
		encoding_append_base64(*bytes, plain->str, plain->len);
		span = (struct compose_span){(*bytes)->str, (*bytes)->len};
		g_array_append_val(spans, span);
		break;
	}
	}
	return spans->len - before;
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
    const struct assembled_message *assembled)
{
	const struct locale *locale =
	    locales_get(&renderer->locales, digest->style.language);
	const struct attach_format *format = attach_get_format(digest->style.attach);
	const struct attach_input input = {
	    .digest = digest,
	    .assembled = assembled,
	    .format = &locale->format,
	    .list_name = renderer->sender.list_name,
	};
	g_autoptr(GString) text = NULL;
	enum encoding encoding;

	if (!format || !assembled->shown)
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
    const struct sender_links *links, const struct assembled_message *assembled,
    GError **error)
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
	g_autoptr(GString) text = NULL;
	g_autoptr(GString) html = NULL;
	pb_local(attached_file) file = {0};
	g_autoptr(GArray) spans =
	    g_array_new(FALSE, FALSE, sizeof(struct compose_span));
	struct compose_headers fields = {
	    .date = digest->created_at,
	    .from = {sender->from_name, sender->from_address},
	    .to = {digest->recipient_name, digest->recipient},
	    .subject = assemble_get_subject(assembled),
	    .message_id = message_id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .boundary = boundary,
	};

	fields.text.span_count =
	    list_part(assembled, false, spans, &text, &fields.text.encoding);
	fields.html.span_count =
	    list_part(assembled, true, spans, &html, &fields.html.encoding);
	fields.text.spans = (const struct compose_span *)(void *)spans->data;
	fields.html.spans = fields.text.spans + fields.text.span_count;
	if (digest->style.format == PREFERENCE_FORMAT_HTML)
		fields.text = (struct compose_part){0};
	if (digest->style.format == PREFERENCE_FORMAT_TEXT)
		fields.html = (struct compose_part){0};
	attach_file(&fields, &file, renderer, digest, assembled);
	return compose_message(&fields, error);
}

GBytes *
renderer_compose(struct renderer *renderer, const struct digest *digest, GError **error)
{
	struct locale *locale = locales_get(&renderer->locales, digest->style.language);
	pb_auto(pages) pages = get_pages(renderer, locale);
	pb_local(sender_links) links = {0};
	struct assembled_message assembled;
	GBytes *message = NULL;

	sender_links_init(&links, &renderer->sender, digest);
	if (assemble_init(&assembled, pages, locale->cache, digest, &renderer->sender,
	        &links, error)) {
		message = build_message(renderer, digest, &links, &assembled, error);
		assemble_clear(&assembled);
	}
	return message;
}

static char *
format_part(struct renderer *renderer, const struct digest *digest, bool is_html,
    GError **error)
{
	struct locale *locale = locales_get(&renderer->locales, digest->style.language);
	pb_auto(pages) pages = get_pages(renderer, locale);
	pb_local(sender_links) links = {0};
	struct assembled_message assembled;
	char *part = NULL;

	sender_links_init(&links, &renderer->sender, digest);
	if (assemble_init(&assembled, pages, locale->cache, digest, &renderer->sender,
	        &links, error)) {
		part = g_string_free(assemble_format_plain(&assembled, is_html), FALSE);
		assemble_clear(&assembled);
	}
	return part;
}

char *
renderer_format_text(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, false, error);
}

char *
renderer_format_reply(struct renderer *renderer, const char *language,
    const char *subject, const char *text)
{
	const struct locale *locale = locales_get(&renderer->locales, language);
	pb_auto(view) view = reply_view_new(locale->language, subject, text);
	GString *html = g_string_new(NULL);

	template_append(locale->templates[LOCALE_REPLY_HTML], view, html);
	return g_string_free(html, FALSE);
}

char *
renderer_format_html(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, true, error);
}
