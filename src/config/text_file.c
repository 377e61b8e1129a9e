/*
 * text_file.c - read a small text file that an operator names, whatever it turns out to
 * be.
 */
#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MARK_UTF8 "\xef\xbb\xbf"

static char *
read_descriptor(struct text_file *plain, int fd, size_t most)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char buffer[8192];
	ssize_t got;

	if (fstat(fd, &plain->status) != 0)
		return g_strdup(g_strerror(errno));
	if (S_ISDIR(plain->status.st_mode))
		return g_strdup("it is a folder, where a file is wanted");
	if (!S_ISREG(plain->status.st_mode))
		return g_strdup("it is no regular file");
	while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return g_strdup(g_strerror(errno));
		if ((size_t)got > most - text->len)
			return g_strdup_printf("it has more than %zu octets", most);
		g_string_append_len(text, buffer, got);
	}
	if (g_str_has_prefix(text->str, "\xff\xfe") ||
	    g_str_has_prefix(text->str, "\xfe\xff"))
		return g_strdup("it is UTF-16: save it as UTF-8");
	if (strlen(text->str) != text->len)
		return g_strdup("it has a zero octet in it, and is no text");
	if (g_str_has_prefix(text->str, MARK_UTF8))
		g_string_erase(text, 0, (gssize)strlen(MARK_UTF8));
	g_string_replace(text, "\r\n", "\n", 0);
	plain->text = g_string_free(g_steal_pointer(&text), FALSE);
	return NULL;
}

char *
text_file_load(struct text_file *plain, const char *path, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *problem;

	if (fd < 0)
		return g_strdup(g_strerror(errno));
	problem = read_descriptor(plain, fd, most);
	close(fd);
	return problem;
}

bool
text_file_is_same(const struct text_file *one, const struct text_file *other)
{
	return one->status.st_dev == other->status.st_dev &&
	       one->status.st_ino == other->status.st_ino;
}

void
text_file_clear(struct text_file *plain)
{
	/* It may be a secret. */
	if (plain->text)
		explicit_bzero(plain->text, strlen(plain->text));
	g_clear_pointer(&plain->text, g_free);
}
