/*
 * voice.c - what digests say in one language: templates, words, and what they made.
 */
#include "render/voice.h"

#include <string.h>

#include "base/error.h"
#include "render/fragment_view.h"

#define OPEN  "{{"
#define CLOSE "}}"
#define BLANK " \t"

static const struct {
	const char *name;
	enum template_kind kind;
	const char *const *names;
} files[VOICE_FILES] = {
    [VOICE_SUBJECT] = {"digest.subject", TEMPLATE_TEXT, frame_names},
    [VOICE_TEXT] = {"digest.txt", TEMPLATE_TEXT, frame_names},
    [VOICE_HTML] = {"digest.html", TEMPLATE_HTML, frame_names},
    [VOICE_PAPER_TEXT] = {"paper.txt", TEMPLATE_TEXT, fragment_view_names},
    [VOICE_PAPER_HTML] = {"paper.html", TEMPLATE_HTML, fragment_view_names},
};

const char *
voice_get_file_name(enum voice_file file)
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

		if (!phrases_has(words->book, whole)) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "%s: there is no phrase [%s] in answers.en", label, whole);
			return NULL;
		}
		phrase = words_say(words, name);
		g_string_append_len(out, text, at - text);
		g_string_append(out, phrase);
		text = end + strlen(CLOSE);
	}
	g_string_append(out, text);
	return g_string_free(g_steal_pointer(&out), FALSE);
}

struct voice *
voice_new(const struct phrasebook *book, const char *language, char *const *texts,
    GError **error)
{
	pb_auto(voice) voice = g_new0(struct voice, 1);

	voice->language = g_strdup(language);
	voice->words = (struct words){book, voice->language};
	for (size_t i = 0; i < VOICE_FILES; i++) {
		g_autofree char *text =
		    put_phrases(&voice->words, files[i].name, texts[i], error);

		voice->templates[i] = text ? template_parse(files[i].name, text,
		                                 files[i].kind, files[i].names, error)
		                           : NULL;
		if (!voice->templates[i])
			return NULL;
	}
	if (template_is_blank(voice->templates[VOICE_SUBJECT])) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "%s is empty: digests need a subject", files[VOICE_SUBJECT].name);
		return NULL;
	}
	voice->cache = fragment_cache_new(voice->templates[VOICE_PAPER_TEXT],
	    voice->templates[VOICE_PAPER_HTML], &voice->words);
	return g_steal_pointer(&voice);
}

void
voice_free(struct voice *voice)
{
	if (!voice)
		return;
	fragment_cache_free(voice->cache);
	frames_free(voice->frames);
	for (size_t i = 0; i < VOICE_FILES; i++)
		template_free(voice->templates[i]);
	g_free(voice->language);
	g_free(voice);
}
