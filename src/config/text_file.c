/*
 * text_file.c - read a small text file of the operator.
 */
#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BOM_UTF8 "\xef\xbb\xbf"

static unsigned
count_lines(const char *text)
{
	unsigned count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static char *
read_descriptor(struct text_file *file, int fd, size_t max_bytes)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char buffer[8192];
	ssize_t got;

	if (fstat(fd, &file->status) != 0)
		return g_strdup(g_strerror(errno));
	if (S_ISDIR(file->status.st_mode))
		return g_strdup("is a directory");
	if (!S_ISREG(file->status.st_mode))
		return g_strdup("not a regular file");
	while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return g_strdup(g_strerror(errno));
		if ((size_t)got > max_bytes - text->len)
			return g_strdup_printf("larger than %zu bytes", max_bytes);
		g_string_append_len(text, buffer, got);
	}
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

char *
text_file_load(struct text_file *file, const char *path, size_t max_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *problem;

	if (fd < 0)
		return g_strdup(g_strerror(errno));
	problem = read_descriptor(file, fd, max_bytes);
	close(fd);
	return problem;
}

void
text_file_clear(struct text_file *file)
{
	/* The text may be a secret. */
	if (file->text)
		explicit_bzero(file->text, strlen(file->text));
	g_clear_pointer(&file->text, g_free);
}
