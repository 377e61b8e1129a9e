/*
 * voices.c - what digests say, in every language that there is.
 */
#include "render/voices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "render/render_key.h"

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
hash_phrases(const struct phrasebook *book, const char *language, GChecksum *sum)
{
	g_autoptr(GPtrArray) names = phrases_list(book);

	g_ptr_array_sort(names, compare_names);
	render_key_add(sum, language);
	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *text = NULL;

		if (!g_str_has_prefix(name, "digest.") && strcmp(name, "weekdays") &&
		    strcmp(name, "months") && strcmp(name, "date_year"))
			continue;
		text = phrases_format(book, language, name, NULL);
		render_key_add(sum, name);
		render_key_add(sum, text);
	}
}

static bool
add_voice(struct voices *voices, const char *language, char *const *texts,
    GChecksum *sum, GError **error)
{
	struct voice *voice = voice_new(voices->book, language, texts, error);

	if (!voice)
		return false;
	g_ptr_array_add(voices->list, voice);
	hash_phrases(voices->book, language, sum);
	return true;
}

bool
voices_load(struct voices *voices, const char *dir, GChecksum *sum, GError **error)
{
	g_auto(GStrv) texts = g_new0(char *, VOICE_FILES + 1);
	g_autofree char *known = NULL;
	g_auto(GStrv) languages = NULL;

	voices->list = g_ptr_array_new_with_free_func((GDestroyNotify)voice_free);
	for (size_t i = 0; i < VOICE_FILES; i++) {
		const char *name = voice_get_file_name((enum voice_file)i);
		g_autofree char *path = g_build_filename(dir, name, NULL);

		texts[i] = load_file(path, error);
		if (!texts[i])
			return false;
		render_key_add(sum, texts[i]);
	}
	voices->book = phrasebook_load(dir, error);
	if (!voices->book || !add_voice(voices, ENGLISH, texts, sum, error))
		return false;
	known = phrasebook_format_languages(voices->book);
	languages = g_strsplit(known, ", ", -1);
	for (char **language = languages; *language; language++)
		if (strcmp(*language, ENGLISH) != 0 &&
		    !add_voice(voices, *language, texts, sum, error))
			return false;
	return true;
}

void
voices_clear(struct voices *voices)
{
	g_clear_pointer(&voices->list, g_ptr_array_unref);
	g_clear_pointer(&voices->book, phrasebook_free);
}

struct voice *
voices_get(const struct voices *voices, const char *language)
{
	for (unsigned i = 0; i < voices->list->len; i++) {
		struct voice *voice = voices->list->pdata[i];

		if (strcmp(voice->language, language) == 0)
			return voice;
	}
	return voices->list->pdata[0];
}
