/*
 * catalog.c - message catalogue: the texts of replies and digests in each language.
 */
#include "render/catalog.h"

#include <stdarg.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/msg.h"

#define ENGLISH     "en"
#define FILE_PREFIX "answers."

struct catalog {
	GHashTable *languages; /* char * -> GHashTable of char * -> char * */
	GHashTable *texts;     /* char * -> const char *[MSG_COUNT] */
};

struct parser {
	const char *path;
	GHashTable *phrases;
	char *name; /* of the current phrase, or NULL */
	GString *text;
};

static bool
set_error(GError **error, const struct parser *parser, unsigned line,
    const char *message, const char *what)
{
	return pb_fail(
	    error, PB_ERROR_INPUT, "%s:%u: %s%s", parser->path, line, message, what);
}

static void
end_phrase(struct parser *parser)
{
	if (!parser->name)
		return;
	g_strchomp(parser->text->str);
	g_hash_table_insert(parser->phrases, g_steal_pointer(&parser->name),
	    g_strdup(parser->text->str));
	g_string_truncate(parser->text, 0);
}

static bool
read_line(struct parser *parser, const char *line, unsigned number, GError **error)
{
	size_t size = strlen(line);

	if (*line == '#')
		return true;
	if (*line == '[' && size > 2 && line[size - 1] == ']') {
		end_phrase(parser);
		parser->name = g_strndup(line + 1, size - 2);
		if (g_hash_table_contains(parser->phrases, parser->name))
			return set_error(
			    error, parser, number, "duplicate phrase ", line);
		return true;
	}
	if (!parser->name && *line)
		return set_error(
		    error, parser, number, "expected a line [name] before ", line);
	if (parser->name)
		g_string_append_printf(parser->text, "%s\n", line);
	return true;
}

/* @return of char * -> char *; NULL with an error */
static GHashTable *
load_file(const char *path, GError **error)
{
	g_autoptr(GHashTable) phrases =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GString) text = g_string_new(NULL);
	struct parser parser = {.path = path, .phrases = phrases, .text = text};
	g_autofree char *bytes = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GError) local_error = NULL;
	size_t size;
	bool is_ok = true;

	if (!g_file_get_contents(path, &bytes, &size, &local_error)) {
		pb_fail(error, PB_ERROR_NOT_FOUND, "%s", local_error->message);
		return NULL;
	}
	if (size > BOUNDS_TEMPLATE_BYTES ||
	    !g_utf8_validate(bytes, (gssize)size, NULL)) {
		set_error(error, &parser, 1, "too large or not UTF-8", "");
		return NULL;
	}
	lines = g_strsplit(bytes, "\n", -1);
	for (unsigned i = 0; is_ok && lines[i]; i++)
		is_ok = read_line(&parser, lines[i], i + 1, error);
	end_phrase(&parser);
	return is_ok ? g_steal_pointer(&phrases) : NULL;
}

/* Other languages have phrases and placeholders of the English file only. */
static bool
check_phrases(GHashTable *english, GHashTable *other, const char *path, GError **error)
{
	g_autoptr(GRegex) word = g_regex_new("\\{[a-z_]+\\}", 0, 0, NULL);
	GHashTableIter iter;
	gpointer name, text;

	g_hash_table_iter_init(&iter, other);
	while (g_hash_table_iter_next(&iter, &name, &text)) {
		const char *original = g_hash_table_lookup(english, name);
		g_autoptr(GMatchInfo) match = NULL;

		if (!original)
			return pb_fail(error, PB_ERROR_INPUT,
			    "%s: no such phrase in English: [%s]", path, (char *)name);
		g_regex_match(word, text, 0, &match);
		for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
			g_autofree char *found = g_match_info_fetch(match, 0);

			if (strstr(original, found))
				continue;
			return pb_fail(error, PB_ERROR_INPUT,
			    "%s: [%s] has no %s in English", path, (char *)name, found);
		}
	}
	return true;
}

static bool
load_others(struct catalog *catalog, const char *template_dir, GError **error)
{
	GHashTable *english = g_hash_table_lookup(catalog->languages, ENGLISH);
	g_autoptr(GDir) dir = g_dir_open(template_dir, 0, NULL);
	const char *file;

	while (dir && (file = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(template_dir, file, NULL);
		GHashTable *phrases;

		if (!g_regex_match_simple("^answers\\.[a-z]{2}\\z", file, 0, 0) ||
		    strcmp(file, FILE_PREFIX ENGLISH) == 0)
			continue;
		phrases = load_file(path, error);
		if (!phrases)
			return false;
		g_hash_table_insert(
		    catalog->languages, g_strdup(file + strlen(FILE_PREFIX)), phrases);
		if (!check_phrases(english, phrases, path, error))
			return false;
	}
	return true;
}

/* Find a phrase, in English if the language lacks it. @return NULL for none */
static const char *
find(const struct catalog *catalog, const char *language, const char *name)
{
	GHashTable *phrases =
	    language ? g_hash_table_lookup(catalog->languages, language) : NULL;
	const char *text = phrases ? g_hash_table_lookup(phrases, name) : NULL;

	return text ? text
	            : g_hash_table_lookup(
	                  g_hash_table_lookup(catalog->languages, ENGLISH), name);
}

/* Add the English texts of base/msg.h. */
static void
add_messages(GHashTable *english)
{
	for (int id = MSG_NONE + 1; id < MSG_COUNT; id++) {
		char *name = msg_format_name((enum msg_id)id);

		if (g_hash_table_contains(english, name))
			g_free(name);
		else
			g_hash_table_insert(
			    english, name, g_strdup(msg_get_english((enum msg_id)id)));
	}
}

/* Index the texts of base/msg.h by id. */
static void
list_texts(struct catalog *catalog)
{
	GHashTableIter iter;
	gpointer language;

	g_hash_table_iter_init(&iter, catalog->languages);
	while (g_hash_table_iter_next(&iter, &language, NULL)) {
		const char **texts = g_new0(const char *, MSG_COUNT);

		for (int id = MSG_NONE + 1; id < MSG_COUNT; id++) {
			g_autofree char *name = msg_format_name((enum msg_id)id);

			texts[id] = find(catalog, language, name);
		}
		g_hash_table_insert(catalog->texts, language, texts);
	}
}

const char *const *
catalog_get_texts(const struct catalog *catalog, const char *language)
{
	const char *const *texts =
	    language ? g_hash_table_lookup(catalog->texts, language) : NULL;

	return texts ? texts : g_hash_table_lookup(catalog->texts, ENGLISH);
}

struct catalog *
catalog_load(const char *template_dir, GError **error)
{
	g_autofree char *path =
	    g_build_filename(template_dir, FILE_PREFIX ENGLISH, NULL);
	GHashTable *english = load_file(path, error);
	pb_auto(catalog) catalog = NULL;

	if (!english)
		return NULL;
	add_messages(english);
	catalog = g_new0(struct catalog, 1);
	catalog->languages = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
	g_hash_table_insert(catalog->languages, g_strdup(ENGLISH), english);
	if (!load_others(catalog, template_dir, error))
		return NULL;
	catalog->texts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	list_texts(catalog);
	return g_steal_pointer(&catalog);
}

void
catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	g_clear_pointer(&catalog->texts, g_hash_table_unref);
	g_hash_table_unref(catalog->languages);
	g_free(catalog);
}

bool
catalog_has_language(const struct catalog *catalog, const char *language)
{
	return g_hash_table_contains(catalog->languages, language);
}

char *
catalog_format_languages(const struct catalog *catalog)
{
	GList *names = g_list_sort(
	    g_hash_table_get_keys(catalog->languages), (GCompareFunc)strcmp);
	GString *text = g_string_new(NULL);

	for (GList *name = names; name; name = name->next)
		g_string_append_printf(
		    text, "%s%s", text->len ? ", " : "", (char *)name->data);
	g_list_free(names);
	return g_string_free(text, FALSE);
}

bool
catalog_has(const struct catalog *catalog, const char *name)
{
	return find(catalog, NULL, name) != NULL;
}

GPtrArray *
catalog_list(const struct catalog *catalog)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer name;

	g_hash_table_iter_init(&iter, g_hash_table_lookup(catalog->languages, ENGLISH));
	while (g_hash_table_iter_next(&iter, &name, NULL))
		g_ptr_array_add(list, name);
	return list;
}

char *
catalog_format(
    const struct catalog *catalog, const char *language, const char *name, ...)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	const char *text = find(catalog, language, name);
	const char *word;
	va_list args;

	va_start(args, name);
	while ((word = va_arg(args, const char *))) {
		g_ptr_array_add(values, (char *)word);
		g_ptr_array_add(values, (char *)va_arg(args, const char *));
	}
	va_end(args);
	g_ptr_array_add(values, NULL);
	/* The English file is older than the program. */
	return text ? msg_fill(text, (const char *const *)values->pdata)
	            : g_strdup(name);
}

char *
catalog_format_count(const struct catalog *catalog, const char *language,
    const char *name, int64_t count)
{
	g_autofree char *full_name =
	    g_strconcat(name, count == 1 ? ".one" : ".many", NULL);
	g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, count);

	return catalog_format(catalog, language, full_name, "count", number, NULL);
}

/* ---- phrases in templates ---- */

#define OPEN  "{{"
#define CLOSE "}}"
#define BLANK " \t"

/* Find the next tag of a phrase. @param name  set to the text after ">" */
static const char *
find_tag(const char *text, const char **name)
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

/* Phrases do not nest. */
char *
catalog_expand(const struct catalog *catalog, const char *language, const char *prefix,
    const char *label, const char *text, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	const char *at, *begin;

	while ((at = find_tag(text, &begin))) {
		const char *end = strstr(begin, CLOSE);
		g_autofree char *name =
		    g_strstrip(g_strndup(begin, end ? (size_t)(end - begin) : 0));
		g_autofree char *whole = g_strconcat(prefix, name, NULL);
		g_autofree char *phrase = NULL;

		if (!catalog_has(catalog, whole)) {
			pb_fail(error, PB_ERROR_INPUT,
			    "%s: no such phrase in answers.en: [%s]", label, whole);
			return NULL;
		}
		phrase = catalog_format(catalog, language, whole, NULL);
		g_string_append_len(out, text, at - text);
		g_string_append(out, phrase);
		text = end + strlen(CLOSE);
	}
	g_string_append(out, text);
	return g_string_free(g_steal_pointer(&out), FALSE);
}
