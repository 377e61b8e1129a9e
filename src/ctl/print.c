/*
 * print.c - JSON values, single lines, and what only a terminal is shown.
 */
#include "ctl/print.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void
print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
}

bool
print_result(const struct ctl *ctl, json_t *value, const char *format, ...)
{
	va_list arguments;

	if (ctl->is_json) {
		print_json(value);
		return true;
	}
	json_decref(value);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	return true;
}

void
print_json_line(json_t *value)
{
	json_dumpf(value, stdout, 0);
	putchar('\n');
	json_decref(value);
}

json_t *
print_json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *
print_json_texts(const GPtrArray *texts)
{
	json_t *list = json_array();

	for (unsigned i = 0; texts && i < texts->len; i++)
		json_array_append_new(list, json_string(texts->pdata[i]));
	return list;
}

json_t *
print_json_number(int64_t number)
{
	return number < 0 ? json_null() : json_integer(number);
}

char *
print_dup_line(const char *text)
{
	GString *line = g_string_new(NULL);

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c = g_utf8_get_char(text);

		g_string_append_unichar(line, g_unichar_iscntrl(c) ? '?' : c);
	}
	return g_string_free(line, FALSE);
}

/* ---- terminals ---- */

unsigned
print_get_width(const struct ctl *ctl)
{
	struct winsize size = {0};

	if (ctl->is_wide || !isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

char *
print_dup_cut(const char *text, unsigned width)
{
	g_autofree char *line = print_dup_line(text), *head = NULL;

	if (!width || g_utf8_strlen(line, -1) <= width)
		return g_steal_pointer(&line);
	head = g_utf8_substring(line, 0, width - 1);
	return g_strconcat(g_strchomp(head), "…", NULL);
}

/* https://no-color.org: no colours if it is set and not empty. */
static bool
has_colours(void)
{
	const char *refused = g_getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (!refused || !*refused);
}

void
print_verdict(const char *word, int width, bool is_ok)
{
	if (has_colours())
		printf("\033[%dm%-*s\033[0m", is_ok ? 32 : 31, width, word);
	else
		printf("%-*s", width, word);
}

void
print_progress(const char *format, ...)
{
	va_list arguments;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
}

/* ---- bounces by class ---- */

static const struct {
	const char *class;
	size_t offset;
} bounce_classes[] = {
    {"dead", offsetof(struct bounce_summary, dead)},
    {"full", offsetof(struct bounce_summary, full)},
    {"temporary", offsetof(struct bounce_summary, temporary)},
    {"sender", offsetof(struct bounce_summary, sender)},
    {"complaint", offsetof(struct bounce_summary, complaint)},
};

static int64_t
get_count(const struct bounce_summary *bounces, size_t i)
{
	return *(const int64_t *)((const char *)bounces + bounce_classes[i].offset);
}

char *
print_format_bounces(const struct bounce_summary *bounces)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(bounce_classes); i++)
		if (get_count(bounces, i))
			g_string_append_printf(text, "%s%" G_GINT64_FORMAT " %s",
			    text->len ? ", " : "", get_count(bounces, i),
			    bounce_classes[i].class);
	return g_string_free(text->len ? text : g_string_assign(text, "none"), FALSE);
}

json_t *
print_json_bounces(const struct bounce_summary *bounces)
{
	json_t *object = json_object();

	for (size_t i = 0; i < G_N_ELEMENTS(bounce_classes); i++)
		json_object_set_new(object, bounce_classes[i].class,
		    json_integer((json_int_t)get_count(bounces, i)));
	return object;
}
