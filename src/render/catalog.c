/*
 * catalog.c - the texts of mails and pages in each language.
 */
#include "render/catalog.h"

#include <stdarg.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/msg.h"
#include "base/text.h"
#include "render/po_files.h"

#define ENGLISH "en"
#define SUFFIX  ".po"

struct catalog {
	GHashTable *languages; /* char * -> struct po * */
	GPtrArray *names;      /* of char *, NULL-terminated; English first */
	struct po *known;      /* all texts of the program */
	GChecksum *checksum;   /* of all files */
};

/* ---- loading ---- */

static bool
parse(struct catalog *catalog, struct po *po, const char *label, const char *text,
    const struct po *known, GError **error)
{
	g_checksum_update(catalog->checksum, (const guchar *)text, -1);
	return po_parse(po, label, text, known, error);
}

static bool
parse_file(struct catalog *catalog, struct po *po, const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;
	size_t size;

	if (!g_file_get_contents(path, &text, &size, &problem))
		return pb_fail(error, PB_ERROR_INPUT, "%s", problem->message);
	if (size > BOUNDS_PO_BYTES)
		return pb_fail(error, PB_ERROR_LIMIT, "%s: larger than %d bytes", path,
		    BOUNDS_PO_BYTES);
	return parse(catalog, po, path, text, catalog->known, error);
}

/* Get the catalogue of a language, a new one if there is none. */
static struct po *
add_language(struct catalog *catalog, const char *file)
{
	g_autofree char *language = g_strndup(file, strlen(file) - strlen(SUFFIX));
	struct po *po = g_hash_table_lookup(catalog->languages, language);

	if (!po) {
		po = po_new();
		g_hash_table_insert(catalog->languages, g_steal_pointer(&language), po);
	}
	return po;
}

static bool
is_po_file(const char *file)
{
	return g_regex_match_simple("^[a-z]{2}\\.po\\z", file, 0, 0);
}

static bool
load_shipped(struct catalog *catalog, GError **error)
{
	/* The template is first. */
	if (!parse(catalog, catalog->known, po_files[0].name, po_files[0].text, NULL,
	        error))
		return false;
	for (const struct po_file *file = &po_files[1]; file->name; file++)
		if (!parse(catalog, add_language(catalog, file->name), file->name,
		        file->text, catalog->known, error))
			return false;
	return true;
}

static bool
load_dir(struct catalog *catalog, const char *po_dir, GError **error)
{
	g_autoptr(GDir) dir = po_dir ? g_dir_open(po_dir, 0, NULL) : NULL;
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	const char *file;

	while (dir && (file = g_dir_read_name(dir)))
		if (is_po_file(file))
			g_ptr_array_add(files, g_strdup(file));
	g_ptr_array_sort(files, text_compare_pointers);
	for (unsigned i = 0; i < files->len; i++) {
		g_autofree char *path = g_build_filename(po_dir, files->pdata[i], NULL);

		if (!parse_file(
		        catalog, add_language(catalog, files->pdata[i]), path, error))
			return false;
	}
	return true;
}

static void
list_languages(struct catalog *catalog)
{
	GHashTableIter iter;
	gpointer name;

	g_hash_table_iter_init(&iter, catalog->languages);
	while (g_hash_table_iter_next(&iter, &name, NULL))
		if (strcmp(name, ENGLISH) != 0)
			g_ptr_array_add(catalog->names, name);
	g_ptr_array_sort(catalog->names, text_compare_pointers);
	g_ptr_array_insert(catalog->names, 0, (char *)ENGLISH);
	g_ptr_array_add(catalog->names, NULL);
}

struct catalog *
catalog_load(const char *po_dir, GError **error)
{
	pb_auto(catalog) catalog = g_new0(struct catalog, 1);

	catalog->languages = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)po_free);
	catalog->names = g_ptr_array_new();
	catalog->known = po_new();
	catalog->checksum = g_checksum_new(G_CHECKSUM_SHA256);
	if (!load_shipped(catalog, error) || !load_dir(catalog, po_dir, error))
		return NULL;
	list_languages(catalog);
	return g_steal_pointer(&catalog);
}

void
catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	g_ptr_array_unref(catalog->names);
	g_hash_table_unref(catalog->languages);
	po_free(catalog->known);
	g_checksum_free(catalog->checksum);
	g_free(catalog);
}

/* ---- languages ---- */

const char *const *
catalog_get_languages(const struct catalog *catalog)
{
	return (const char *const *)catalog->names->pdata;
}

bool
catalog_has_language(const struct catalog *catalog, const char *language)
{
	return g_strv_contains(catalog_get_languages(catalog), language);
}

char *
catalog_format_languages(const struct catalog *catalog)
{
	g_autoptr(GPtrArray) names = g_ptr_array_copy(catalog->names, NULL, NULL);

	g_ptr_array_set_size(names, (int)names->len - 1);
	g_ptr_array_sort(names, text_compare_pointers);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(", ", (char **)names->pdata);
}

const struct po *
catalog_get_po(const struct catalog *catalog, const char *language)
{
	const struct po *po =
	    language ? g_hash_table_lookup(catalog->languages, language) : NULL;

	return po ? po : g_hash_table_lookup(catalog->languages, ENGLISH);
}

void
catalog_add_to_checksum(const struct catalog *catalog, GChecksum *checksum)
{
	g_checksum_update(
	    checksum, (const guchar *)g_checksum_get_string(catalog->checksum), -1);
}

/* ---- texts ---- */

char *
catalog_format(
    const struct catalog *catalog, const char *language, const char *text, ...)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	const char *word;
	va_list args;

	va_start(args, text);
	while ((word = va_arg(args, const char *))) {
		g_ptr_array_add(values, (char *)word);
		g_ptr_array_add(values, (char *)va_arg(args, const char *));
	}
	va_end(args);
	g_ptr_array_add(values, NULL);
	return msg_fill(po_get(catalog_get_po(catalog, language), text),
	    (const char *const *)values->pdata);
}

char *
catalog_format_count(const struct catalog *catalog, const char *language,
    const char *text, int64_t count)
{
	const char *const values[] = {"count", MSG_INT(count), NULL};

	return msg_fill(
	    po_get_count(catalog_get_po(catalog, language), text, count), values);
}

/* ---- templates ---- */

#define OPEN  "{{#_"
#define CLOSE "{{/_}}"

char *
catalog_expand(const struct catalog *catalog, const char *language, const char *label,
    const char *text, GError **error)
{
	g_autoptr(GRegex) word = g_regex_new("\\{([a-z_]+)\\}", 0, 0, NULL);
	g_autoptr(GRegex) space = g_regex_new("\\s+", 0, 0, NULL);
	g_autoptr(GString) out = g_string_new(NULL);

	for (const char *at; (at = strstr(text, OPEN));) {
		const char *begin = strstr(at, "}}"), *end = strstr(at, CLOSE);
		g_autofree char *context = NULL, *raw = NULL, *key = NULL, *tags = NULL;

		if (!begin || !end || end < begin) {
			pb_fail(error, PB_ERROR_INPUT, "%s: " OPEN "}} without " CLOSE,
			    label);
			return NULL;
		}
		context = g_strstrip(
		    g_strndup(at + strlen(OPEN), (size_t)(begin - at) - strlen(OPEN)));
		raw = g_strndup(begin + 2, (size_t)(end - begin) - 2);
		key = g_regex_replace_literal(space, raw, -1, 0, " ", 0, NULL);
		if (*context) {
			g_autofree char *plain = g_steal_pointer(&key);

			key = g_strconcat(context, "\004", plain, NULL);
		}
		tags = g_regex_replace(word,
		    po_get(catalog_get_po(catalog, language), key), -1, 0, "{{\\1}}", 0,
		    NULL);
		g_string_append_len(out, text, at - text);
		g_string_append(out, tags);
		text = end + strlen(CLOSE);
	}
	g_string_append(out, text);
	return g_string_free(g_steal_pointer(&out), FALSE);
}
