/*
 * print.c - JSON values and single lines of output.
 */
#include "ctl/print.h"

#include <stddef.h>
#include <stdio.h>

void
print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
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
