/*
 * phrases.c - words and phrases of languages that mails are recognised by.
 */
#include "model/phrases.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/phrase_files.h"

#define FOLDER "/paperboy/phrases/"
/* Between a phrase and its value. */
#define EQUALS " = "

static const char *const section_names[] = {"writing", "greetings", "closings",
    "courtesies", "honorifics", "fillers", "consents", "agreements", "refusals",
    "neutral", "automatic", "verbs", "subscribe", "leave", "numbers", "units", "before",
    "until", "days", "hours", "times", NULL};

struct phrases {
	char *language;
	GHashTable *sections; /* static name -> GPtrArray of char *, NULL-terminated */
	GHashTable *values;   /* "section\nphrase" -> char * */
};

static char *
make_key(const char *section, const char *phrase)
{
	return g_strconcat(section, "\n", phrase, NULL);
}

/* @return false if there is no such section, or it is there already */
static bool
begin_section(struct phrases *phrases, const char *name, GPtrArray **section)
{
	for (size_t i = 0; section_names[i]; i++) {
		if (strcmp(section_names[i], name) != 0)
			continue;
		*section = g_ptr_array_new_with_free_func(g_free);
		return g_hash_table_insert(
		    phrases->sections, (char *)section_names[i], *section);
	}
	return false;
}

static void
add_phrase(
    struct phrases *phrases, GPtrArray *section, const char *name, const char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, EQUALS, 2);

	/* Editors remove blanks at the end of a line. */
	if (g_str_has_suffix(parts[0], "_"))
		parts[0][strlen(parts[0]) - 1] = ' ';

	if (parts[1])
		g_hash_table_insert(
		    phrases->values, make_key(name, parts[0]), g_strdup(parts[1]));
	g_ptr_array_add(section, g_strdup(parts[0]));
}

struct phrases *
phrases_parse(const char *name, const char *text, GError **error)
{
	pb_auto(phrases) phrases = g_new0(struct phrases, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autofree char *section_name = NULL;
	GPtrArray *section = NULL;
	GHashTableIter iter;
	gpointer each;

	phrases->language = g_strdup(name);
	phrases->sections = g_hash_table_new_full(
	    g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
	phrases->values =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (unsigned i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]);
		size_t size = strlen(line);

		if (!size || *line == '#')
			continue;
		if (*line == '[') {
			g_free(section_name);
			section_name = g_strndup(line + 1, size < 2 ? 0 : size - 2);
			if (line[size - 1] == ']' &&
			    begin_section(phrases, section_name, &section))
				continue;
			pb_fail(error, PB_ERROR_INPUT,
			    "%s:%u: unknown or repeated section: %s", name, i + 1,
			    line);
			return NULL;
		}
		if (!section || !g_utf8_validate(line, -1, NULL)) {
			pb_fail(error, PB_ERROR_INPUT,
			    "%s:%u: expected UTF-8 after a line [section]", name,
			    i + 1);
			return NULL;
		}
		add_phrase(phrases, section, section_name, line);
	}
	g_hash_table_iter_init(&iter, phrases->sections);
	while (g_hash_table_iter_next(&iter, NULL, &each))
		g_ptr_array_add(each, NULL);
	return g_steal_pointer(&phrases);
}

void
phrases_free(struct phrases *phrases)
{
	if (!phrases)
		return;
	g_free(phrases->language);
	g_hash_table_unref(phrases->sections);
	g_hash_table_unref(phrases->values);
	g_free(phrases);
}

static void *
load_all(void *unused)
{
	GResource *resource = phrase_files_get_resource();
	g_auto(GStrv) files = g_resource_enumerate_children(resource, FOLDER, 0, NULL);
	GPtrArray *all = g_ptr_array_new();

	(void)unused;
	qsort(files, g_strv_length(files), sizeof(*files), text_compare_pointers);
	for (char **file = files; *file; file++) {
		g_autofree char *path = g_strconcat(FOLDER, *file, NULL);
		g_autoptr(GBytes) bytes =
		    g_resource_lookup_data(resource, path, 0, NULL);
		g_autoptr(GError) error = NULL;

		/* GLib ends them with a NUL. */
		g_ptr_array_add(
		    all, phrases_parse(*file, g_bytes_get_data(bytes, NULL), &error));
		g_assert_no_error(error);
	}
	g_ptr_array_add(all, NULL);
	return g_ptr_array_free(all, FALSE);
}

const struct phrases *const *
phrases_get_all(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load_all, NULL);
}

const char *
phrases_get_language(const struct phrases *phrases)
{
	return phrases->language;
}

const char *const *
phrases_get(const struct phrases *phrases, const char *section)
{
	static const char *const none[] = {NULL};
	const GPtrArray *list = g_hash_table_lookup(phrases->sections, section);

	return list ? (const char *const *)list->pdata : none;
}

const char *
phrases_find_value(const char *section, const char *phrase)
{
	g_autofree char *key = make_key(section, phrase);
	const struct phrases *const *language = phrases_get_all();
	const char *value = NULL;

	for (; *language && !value; language++)
		value = g_hash_table_lookup((*language)->values, key);
	return value;
}
