/*
 * locale.c - what digests say in one language: templates, words, and what they made.
 */
#include "render/locale.h"

#include <string.h>

#include "base/error.h"
#include "render/entry_block_view.h"

#define OPEN  "{{"
#define CLOSE "}}"
#define BLANK " \t"

static const struct {
	const char *name;
	enum template_kind kind;
	const char *const *names;
} files[LOCALE_FILES] = {
    [LOCALE_SUBJECT] = {"digest.subject", TEMPLATE_TEXT, page_names},
    [LOCALE_TEXT] = {"digest.txt", TEMPLATE_TEXT, page_names},
    [LOCALE_HTML] = {"digest.html", TEMPLATE_HTML, page_names},
    [LOCALE_PAPER_TEXT] = {"paper.txt", TEMPLATE_TEXT, entry_block_view_names},
    [LOCALE_PAPER_HTML] = {"paper.html", TEMPLATE_HTML, entry_block_view_names},
};

const char *
locale_get_file_name(enum locale_file file)
{
	return files[file].name;
}

/* Find the next tag that stands for a phrase. @param name  set to what follows ">" */
static const char *
find_phrase(const char *text, const char **name)
{
	for (const char *at = strstr(text, OPEN); at;
	     at = strstr(at + strlen(OPEN), OPEN)) {
		const char *sign = at + strlen(OPEN) + strspn(at + strlen(OPEN), BLANK);

		if (*sign == '>') {
			*name = sign + 1;
			return at;
		}
	}
	return NULL;
}

/* Put the phrases in; one has no further tag of that kind. @return a new string */
static char *
put_phrases(
    const struct words *words, const char *label, const char *text, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	const char *at, *begin;

	while ((at = find_phrase(text, &begin))) {
		const char *end = strstr(begin, CLOSE);
		g_autofree char *name =
		    g_strstrip(g_strndup(begin, end ? (size_t)(end - begin) : 0));
		g_autofree char *whole = g_strconcat("digest.", name, NULL);
		g_autofree char *phrase = NULL;

		if (!catalog_has(words->book, whole)) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "%s: there is no phrase [%s] in answers.en", label, whole);
			return NULL;
		}
		phrase = locale_format_text(words, name);
		g_string_append_len(out, text, at - text);
		g_string_append(out, phrase);
		text = end + strlen(CLOSE);
	}
	g_string_append(out, text);
	return g_string_free(g_steal_pointer(&out), FALSE);
}

struct locale *
locale_new(const struct catalog *book, const char *language, char *const *texts,
    GError **error)
{
	pb_auto(locale) locale = g_new0(struct locale, 1);

	locale->language = g_strdup(language);
	locale->words = (struct words){book, locale->language};
	for (size_t i = 0; i < LOCALE_FILES; i++) {
		g_autofree char *text =
		    put_phrases(&locale->words, files[i].name, texts[i], error);

		locale->templates[i] = text ? template_parse(files[i].name, text,
		                                  files[i].kind, files[i].names, error)
		                            : NULL;
		if (!locale->templates[i])
			return NULL;
	}
	if (template_is_blank(locale->templates[LOCALE_SUBJECT])) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "%s is empty: digests need a subject", files[LOCALE_SUBJECT].name);
		return NULL;
	}
	locale->cache = entry_block_cache_new(locale->templates[LOCALE_PAPER_TEXT],
	    locale->templates[LOCALE_PAPER_HTML], &locale->words);
	return g_steal_pointer(&locale);
}

void
locale_free(struct locale *locale)
{
	if (!locale)
		return;
	entry_block_cache_free(locale->cache);
	pages_free(locale->frames);
	for (size_t i = 0; i < LOCALE_FILES; i++)
		template_free(locale->templates[i]);
	g_free(locale->language);
	g_free(locale);
}
