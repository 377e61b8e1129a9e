/*
 * flowed.c - decoder for format=flowed text (RFC 3676).
 */
#include "parser/flowed.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"

struct flow {
	GString *out;
	bool is_open; /* the last line ended with a soft break */
	size_t depth; /* quote depth of the last line */
};

static void
end_paragraph(struct flow *flow)
{
	if (flow->is_open)
		g_string_append_c(flow->out, '\n');
	flow->is_open = false;
}

static void
begin_paragraph(struct flow *flow, size_t depth)
{
	for (size_t i = 0; i < MIN(depth, BOUNDS_MAIL_QUOTES); i++)
		g_string_append_c(flow->out, '>');
	if (depth > 0)
		g_string_append_c(flow->out, ' ');
	flow->depth = depth;
}

static void
add_line(struct flow *flow, const char *line, size_t size, bool is_delsp)
{
	size_t depth = 0;
	bool is_soft, is_signature;

	while (depth < size && line[depth] == '>')
		depth++;
	line += depth;
	size -= depth;
	if (size > 0 && line[0] == ' ') {
		line++;
		size--;
	}
	/* RFC 3676 section 4.3: a signature separator is never flowed. */
	is_signature = size == 3 && memcmp(line, "-- ", 3) == 0;
	is_soft = !is_signature && size > 0 && line[size - 1] == ' ';
	if (flow->is_open && (flow->depth != depth || is_signature))
		end_paragraph(flow);
	if (!flow->is_open)
		begin_paragraph(flow, depth);
	g_string_append_len(
	    flow->out, line, (gssize)(size - (is_soft && is_delsp ? 1 : 0)));
	flow->is_open = true;
	if (!is_soft)
		end_paragraph(flow);
}

char *
flowed_decode(const char *text, bool is_delsp)
{
	struct flow flow = {.out = g_string_sized_new(strlen(text))};

	while (*text) {
		size_t size = strcspn(text, "\n");

		add_line(&flow, text, size, is_delsp);
		text += size;
		if (*text == '\n')
			text++;
	}
	end_paragraph(&flow);
	return g_string_free(flow.out, FALSE);
}
