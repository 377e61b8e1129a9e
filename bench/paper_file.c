/*
 * paper_file.c - a file of papers: one JSON object a line.
 */
#include "paper_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"

/* Maximum length of a line: every character of a paper escaped, and other members. */
#define LINE_BYTES (1024 * 1024)

void
paper_file_fail(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fprintf(stderr, "%s: ", g_get_prgname());
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
	exit(65);
}

static char *
dup_text(json_t *object, const char *name, size_t most)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text_normalize(text, strlen(text), most) : g_strdup("");
}

static struct paper *
parse_paper(const char *line, size_t len, const char *path, unsigned number)
{
	json_error_t where;
	json_t *object = json_loadb(line, len, 0, &where);
	struct paper *paper = paper_new();

	if (!json_is_object(object))
		paper_file_fail("%s:%u: not a JSON object", path, number);
	paper->id = dup_text(object, "id", BOUNDS_PAPER_ID_BYTES);
	paper->title = dup_text(object, "title", BOUNDS_PAPER_TITLE_BYTES);
	paper->abstract = dup_text(object, "summary", BOUNDS_PAPER_ABSTRACT_BYTES);
	paper->url = g_strdup("https://example.org/");
	json_decref(object);
	if (!*paper->id)
		paper_file_fail("%s:%u: no id", path, number);
	return paper;
}

GPtrArray *
paper_file_read(const char *path)
{
	GPtrArray *papers = g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!file)
		paper_file_fail("cannot open '%s': %s", path, g_strerror(errno));
	for (unsigned number = 1; (len = getline(&line, &size, file)) >= 0; number++) {
		struct paper *paper;

		if (len > LINE_BYTES)
			paper_file_fail("%s:%u: line too long", path, number);
		if (papers->len >= BOUNDS_MATRIX_PAPERS)
			paper_file_fail(
			    "%s: more than %d papers", path, BOUNDS_MATRIX_PAPERS);
		paper = parse_paper(line, (size_t)len, path, number);
		g_ptr_array_add(papers, paper);
		if (!g_hash_table_add(ids, paper->id))
			paper_file_fail("%s:%u: repeated id", path, number);
	}
	free(line);
	fclose(file);
	return papers;
}
