/*
 * query_error.c - syntax error of a filter, with its column.
 */
#include "query/query_error.h"

/* Maximum number of characters of the text that are shown. */
#define SHOWN_CHARS 64
#define INDENT      "         "

void
query_error_clear(struct query_error *problem)
{
	msg_unref(problem->message);
	*problem = (struct query_error){0};
}

void
query_error_set(struct query_error *problem, enum pb_error code, unsigned column,
    const char *example, const char *message, ...)
{
	va_list args;

	if (problem->message)
		return;
	problem->code = code;
	problem->column = column;
	problem->example = example;
	va_start(args, message);
	problem->message = msg_new_valist(message, args);
	va_end(args);
}

void
query_error_set_error(const struct query_error *problem, GError **error)
{
	if (!error)
		return;
	pb_fail(error, (int)problem->code, "column %u: %s", problem->column,
	    problem->message->text);
	pb_error_attach(*error, problem->message);
}

/* Width of a character in terminal cells. */
static unsigned
measure_cells(gunichar c)
{
	if (g_unichar_iszerowidth(c))
		return 0;
	return g_unichar_iswide(c) ? 2 : 1;
}

char *
query_error_format(const struct query_error *problem, const char *text, unsigned lead)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	GString *out = g_string_new(NULL);
	g_autoptr(GString) caret = g_string_new(INDENT);
	glong chars = g_utf8_strlen(valid, -1);
	glong at = MIN((glong)problem->column - 1, chars);
	glong first = 0;
	glong last = chars;
	const char *p;

	if (chars > SHOWN_CHARS) {
		first = CLAMP(at - SHOWN_CHARS / 2, 0, chars - SHOWN_CHARS);
		last = first + SHOWN_CHARS;
	}
	g_string_append_printf(out, "error  column %u: %s\n" INDENT "%s",
	    problem->column + lead, problem->message->text, first > 0 ? "..." : "");
	if (first > 0)
		g_string_append(caret, "   ");
	p = g_utf8_offset_to_pointer(valid, first);
	for (glong i = first; i < last; i++, p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (g_unichar_iscntrl(c))
			c = '?';
		g_string_append_unichar(out, c);
		for (unsigned cell = 0; i < at && cell < measure_cells(c); cell++)
			g_string_append_c(caret, ' ');
	}
	g_string_append_printf(out, "%s\n%s^\n", last < chars ? "..." : "", caret->str);
	return g_string_free(out, FALSE);
}
