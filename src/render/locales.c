/*
 * locales.c - what digests say, in every language that there is.
 */
#include "render/locales.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "render/cache_key.h"

#define ENGLISH "en"

/* The size is known before the text is kept: a template may be any file. */
static char *
load_file(const char *path, GError **error)
{
	g_autofree char *text = g_malloc(BOUNDS_TEMPLATE_BYTES + 2);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, BOUNDS_TEMPLATE_BYTES + 1, file) : 0;
	int saved = errno;
	bool is_read = file && !ferror(file);

	if (file)
		fclose(file);
	if (!is_read) {
		g_set_error(error, PB_ERROR,
		    saved == ENOENT ? PB_ERROR_NOT_FOUND : PB_ERROR_INPUT,
		    "cannot read '%s': %s", path, g_strerror(saved));
		return NULL;
	}
	if (size > BOUNDS_TEMPLATE_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "'%s' has more than %d octets", path, BOUNDS_TEMPLATE_BYTES);
		return NULL;
	}
	text[size] = '\0';
	if (strlen(text) != size) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' has a zero octet in it", path);
		return NULL;
	}
	return g_steal_pointer(&text);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The phrases of digests, and the dates; what answers say does not matter here. */
static void
hash_phrases(const struct catalog *book, const char *language, GChecksum *sum)
{
	g_autoptr(GPtrArray) names = catalog_list(book);

	g_ptr_array_sort(names, compare_names);
	cache_key_add(sum, language);
	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *text = NULL;

		if (!g_str_has_prefix(name, "digest.") && strcmp(name, "weekdays") &&
		    strcmp(name, "months") && strcmp(name, "date_year"))
			continue;
		text = catalog_format(book, language, name, NULL);
		cache_key_add(sum, name);
		cache_key_add(sum, text);
	}
}

static bool
add_locale(struct locales *locales, const char *language, char *const *texts,
    GChecksum *sum, GError **error)
{
	struct locale *locale = locale_new(locales->book, language, texts, error);

	if (!locale)
		return false;
	g_ptr_array_add(locales->list, locale);
	hash_phrases(locales->book, language, sum);
	return true;
}

bool
locales_load(struct locales *locales, const char *dir, GChecksum *sum, GError **error)
{
	g_auto(GStrv) texts = g_new0(char *, LOCALE_FILES + 1);
	g_autofree char *known = NULL;
	g_auto(GStrv) languages = NULL;

	locales->list = g_ptr_array_new_with_free_func((GDestroyNotify)locale_free);
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		const char *name = locale_get_file_name((enum locale_file)i);
		g_autofree char *path = g_build_filename(dir, name, NULL);

		texts[i] = load_file(path, error);
		if (!texts[i])
			return false;
		cache_key_add(sum, texts[i]);
	}
	locales->book = catalog_load(dir, error);
	if (!locales->book || !add_locale(locales, ENGLISH, texts, sum, error))
		return false;
	known = catalog_format_languages(locales->book);
	languages = g_strsplit(known, ", ", -1);
	for (char **language = languages; *language; language++)
		if (strcmp(*language, ENGLISH) != 0 &&
		    !add_locale(locales, *language, texts, sum, error))
			return false;
	return true;
}

void
locales_clear(struct locales *locales)
{
	g_clear_pointer(&locales->list, g_ptr_array_unref);
	g_clear_pointer(&locales->book, catalog_free);
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
