/*
 * text_file.c - read a small text file of the operator.
 */
#include "config/text_file.h"

#include <string.h>

#include "base/file.h"

#define BOM_UTF8 "\xef\xbb\xbf"

static unsigned
count_lines(const char *text)
{
	unsigned count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

char *
text_file_load(struct text_file *file, const char *path, size_t max_bytes)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = file_read(path, max_bytes, &file->status, &error);
	g_autoptr(GString) text = NULL;

	if (!bytes)
		return g_strdup(error->message);
	text = g_string_new_len((const char *)bytes->data, bytes->len);
	if (bytes->len)
		explicit_bzero(bytes->data, bytes->len);
	if (g_str_has_prefix(text->str, "\xff\xfe") ||
	    g_str_has_prefix(text->str, "\xfe\xff"))
		return g_strdup("UTF-16 (expected UTF-8)");
	if (strlen(text->str) != text->len)
		return g_strdup_printf(
		    "not a text file: it contains a NUL byte (line %u)",
		    count_lines(text->str));
	if (g_str_has_prefix(text->str, BOM_UTF8))
		g_string_erase(text, 0, (gssize)strlen(BOM_UTF8));
	g_string_replace(text, "\r\n", "\n", 0);
	file->text = g_string_free(g_steal_pointer(&text), FALSE);
	return NULL;
}

void
text_file_clear(struct text_file *file)
{
	/* The text may be a secret. */
	if (file->text)
		explicit_bzero(file->text, strlen(file->text));
	g_clear_pointer(&file->text, g_free);
}
