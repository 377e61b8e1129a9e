/*
 * locale.c - the templates of each language, with their caches.
 */
#include "render/locale.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "render/cache_key.h"
#include "render/entry_reasons.h"

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
		g_autofree char *text = catalog_expand(
		    catalog, language, "digest.", files[i].name, texts[i], error);

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

/* Hash the phrases that digests use; those of replies do not matter here. */
static void
hash_phrases(const struct catalog *catalog, const char *language, GChecksum *checksum)
{
	g_autoptr(GPtrArray) names = catalog_list(catalog);

	g_ptr_array_sort(names, text_compare_pointers);
	cache_key_add(checksum, language);
	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *text = NULL;

		if (!g_str_has_prefix(name, "digest.") &&
		    !g_str_has_prefix(name, "msg.hit_") && strcmp(name, "weekdays") &&
		    strcmp(name, "months") && strcmp(name, "date_year"))
			continue;
		text = catalog_format(catalog, language, name, NULL);
		cache_key_add(checksum, name);
		cache_key_add(checksum, text);
	}
}

static bool
add_locale(struct locales *locales, const char *language, char *const *texts,
    GChecksum *checksum, GError **error)
{
	struct locale *locale = locale_new(locales->catalog, language, texts, error);

	if (!locale)
		return false;
	g_ptr_array_add(locales->list, locale);
	hash_phrases(locales->catalog, language, checksum);
	return true;
}

bool
locales_load(
    struct locales *locales, const char *dir, GChecksum *checksum, GError **error)
{
	g_auto(GStrv) texts = g_new0(char *, LOCALE_FILES + 1);
	g_autofree char *joined = NULL;
	g_auto(GStrv) languages = NULL;

	locales->list = g_ptr_array_new_with_free_func((GDestroyNotify)locale_free);
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		const char *name = files[i].name;
		g_autofree char *path = g_build_filename(dir, name, NULL);

		texts[i] = template_load_file(path, error);
		if (!texts[i])
			return false;
		cache_key_add(checksum, texts[i]);
	}
	locales->catalog = catalog_load(dir, error);
	if (!locales->catalog || !add_locale(locales, ENGLISH, texts, checksum, error))
		return false;
	joined = catalog_format_languages(locales->catalog);
	languages = g_strsplit(joined, ", ", -1);
	for (char **language = languages; *language; language++)
		if (strcmp(*language, ENGLISH) != 0 &&
		    !add_locale(locales, *language, texts, checksum, error))
			return false;
	return true;
}

void
locales_clear(struct locales *locales)
{
	g_clear_pointer(&locales->list, g_ptr_array_unref);
	g_clear_pointer(&locales->catalog, catalog_free);
}

struct locale *
locales_get(const struct locales *locales, const char *language)
{
	for (unsigned i = 0; i < locales->list->len; i++) {
		struct locale *locale = locales->list->pdata[i];

		if (strcmp(locale->language, language) == 0)
			return locale;
	}
	return locales->list->pdata[0];
}
