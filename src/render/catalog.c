/*
 * catalog.c - what answers say, in each language that there is a file for.
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

/* A file under way. */
struct reading {
	const char *path;
	GHashTable *phrases;
	char *name; /* of the phrase that is being read, or NULL */
	GString *text;
};

static bool
set_error(GError **error, const struct reading *reading, unsigned line,
    const char *message, const char *what)
{
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "%s:%u: %s%s", reading->path, line,
	    message, what);
	return false;
}

static void
end_phrase(struct reading *reading)
{
	if (!reading->name)
		return;
	g_strchomp(reading->text->str);
	g_hash_table_insert(reading->phrases, g_steal_pointer(&reading->name),
	    g_strdup(reading->text->str));
	g_string_truncate(reading->text, 0);
}

static bool
read_line(struct reading *reading, const char *line, unsigned number, GError **error)
{
	size_t size = strlen(line);

	if (*line == '#')
		return true;
	if (*line == '[' && size > 2 && line[size - 1] == ']') {
		end_phrase(reading);
		reading->name = g_strndup(line + 1, size - 2);
		if (g_hash_table_contains(reading->phrases, reading->name))
			return set_error(error, reading, number, "there twice: ", line);
		return true;
	}
	if (!reading->name && *line)
		return set_error(
		    error, reading, number, "a line [name] is wanted before ", line);
	if (reading->name)
		g_string_append_printf(reading->text, "%s\n", line);
	return true;
}

/* @return of char * -> char *; NULL with an error */
static GHashTable *
load_file(const char *path, GError **error)
{
	g_autoptr(GHashTable) phrases =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GString) text = g_string_new(NULL);
	struct reading reading = {.path = path, .phrases = phrases, .text = text};
	g_autofree char *bytes = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GError) problem = NULL;
	size_t size;
	bool is_ok = true;

	if (!g_file_get_contents(path, &bytes, &size, &problem)) {
		g_set_error(
		    error, PB_ERROR, PB_ERROR_NOT_FOUND, "%s", problem->message);
		return NULL;
	}
	if (size > BOUNDS_TEMPLATE_BYTES ||
	    !g_utf8_validate(bytes, (gssize)size, NULL)) {
		set_error(error, &reading, 1, "too large, or not UTF-8", "");
		return NULL;
	}
	lines = g_strsplit(bytes, "\n", -1);
	for (unsigned i = 0; is_ok && lines[i]; i++)
		is_ok = read_line(&reading, lines[i], i + 1, error);
	end_phrase(&reading);
	return is_ok ? g_steal_pointer(&phrases) : NULL;
}

/* Another language says what English says, with the same words to be put in. */
static bool
check_against(GHashTable *english, GHashTable *other, const char *path, GError **error)
{
	g_autoptr(GRegex) word = g_regex_new("\\{[a-z_]+\\}", 0, 0, NULL);
	GHashTableIter iter;
	gpointer name, text;

	g_hash_table_iter_init(&iter, other);
	while (g_hash_table_iter_next(&iter, &name, &text)) {
		const char *original = g_hash_table_lookup(english, name);
		g_autoptr(GMatchInfo) match = NULL;

		if (!original) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "%s: English has no phrase [%s]", path, (char *)name);
			return false;
		}
		g_regex_match(word, text, 0, &match);
		for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
			g_autofree char *found = g_match_info_fetch(match, 0);

			if (strstr(original, found))
				continue;
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "%s: [%s] has no %s in English", path, (char *)name, found);
			return false;
		}
	}
	return true;
}

static bool
load_others(struct catalog *book, const char *folder, GError **error)
{
	GHashTable *english = g_hash_table_lookup(book->languages, ENGLISH);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *file;

	while (dir && (file = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, file, NULL);
		GHashTable *phrases;

		if (!g_regex_match_simple("^answers\\.[a-z]{2}\\z", file, 0, 0) ||
		    strcmp(file, FILE_PREFIX ENGLISH) == 0)
			continue;
		phrases = load_file(path, error);
		if (!phrases)
			return false;
		g_hash_table_insert(
		    book->languages, g_strdup(file + strlen(FILE_PREFIX)), phrases);
		if (!check_against(english, phrases, path, error))
			return false;
	}
	return true;
}

/* @return NULL when no language has it */
static const char *
find(const struct catalog *book, const char *language, const char *name)
{
	GHashTable *phrases =
	    language ? g_hash_table_lookup(book->languages, language) : NULL;
	const char *text = phrases ? g_hash_table_lookup(phrases, name) : NULL;

	return text ? text
	            : g_hash_table_lookup(
	                  g_hash_table_lookup(book->languages, ENGLISH), name);
}

/* The messages have their English with them. */
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

/* For those who have no names at hand but ids. */
static void
list_texts(struct catalog *book)
{
	GHashTableIter iter;
	gpointer language;

	g_hash_table_iter_init(&iter, book->languages);
	while (g_hash_table_iter_next(&iter, &language, NULL)) {
		const char **texts = g_new0(const char *, MSG_COUNT);

		for (int id = MSG_NONE + 1; id < MSG_COUNT; id++) {
			g_autofree char *name = msg_format_name((enum msg_id)id);

			texts[id] = find(book, language, name);
		}
		g_hash_table_insert(book->texts, language, texts);
	}
}

const char *const *
catalog_get_texts(const struct catalog *book, const char *language)
{
	const char *const *texts =
	    language ? g_hash_table_lookup(book->texts, language) : NULL;

	return texts ? texts : g_hash_table_lookup(book->texts, ENGLISH);
}

struct catalog *
catalog_load(const char *template_dir, GError **error)
{
	g_autofree char *path =
	    g_build_filename(template_dir, FILE_PREFIX ENGLISH, NULL);
	GHashTable *english = load_file(path, error);
	pb_auto(catalog) book = NULL;

	if (!english)
		return NULL;
	add_messages(english);
	book = g_new0(struct catalog, 1);
	book->languages = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
	g_hash_table_insert(book->languages, g_strdup(ENGLISH), english);
	if (!load_others(book, template_dir, error))
		return NULL;
	book->texts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	list_texts(book);
	return g_steal_pointer(&book);
}

void
catalog_free(struct catalog *book)
{
	if (!book)
		return;
	g_clear_pointer(&book->texts, g_hash_table_unref);
	g_hash_table_unref(book->languages);
	g_free(book);
}

bool
catalog_has_language(const struct catalog *book, const char *language)
{
	return g_hash_table_contains(book->languages, language);
}

char *
catalog_format_languages(const struct catalog *book)
{
	GList *names =
	    g_list_sort(g_hash_table_get_keys(book->languages), (GCompareFunc)strcmp);
	GString *text = g_string_new(NULL);

	for (GList *name = names; name; name = name->next)
		g_string_append_printf(
		    text, "%s%s", text->len ? ", " : "", (char *)name->data);
	g_list_free(names);
	return g_string_free(text, FALSE);
}

bool
catalog_has(const struct catalog *book, const char *name)
{
	return find(book, NULL, name) != NULL;
}

GPtrArray *
catalog_list(const struct catalog *book)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer name;

	g_hash_table_iter_init(&iter, g_hash_table_lookup(book->languages, ENGLISH));
	while (g_hash_table_iter_next(&iter, &name, NULL))
		g_ptr_array_add(list, name);
	return list;
}

char *
catalog_format(const struct catalog *book, const char *language, const char *name, ...)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	const char *text = find(book, language, name);
	const char *word;
	va_list args;

	va_start(args, name);
	while ((word = va_arg(args, const char *))) {
		g_ptr_array_add(values, (char *)word);
		g_ptr_array_add(values, (char *)va_arg(args, const char *));
	}
	va_end(args);
	g_ptr_array_add(values, NULL);
	/* An older English file than the program: better this than no answer. */
	return text ? msg_fill(text, (const char *const *)values->pdata)
	            : g_strdup(name);
}

char *
catalog_format_count(
    const struct catalog *book, const char *language, const char *name, int64_t count)
{
	g_autofree char *whole = g_strconcat(name, count == 1 ? ".one" : ".many", NULL);
	g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, count);

	return catalog_format(book, language, whole, "count", number, NULL);
}
