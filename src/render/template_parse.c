/*
 * template_parse.c - templates: a text becomes nodes.
 */
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "render/template_private.h"

struct parser {
	const char *label;
	const char *text;
	size_t pos;
	const char *const *names;
	GArray *nodes;
	size_t open[BOUNDS_TEMPLATE_DEPTH];    /* index of each open section */
	size_t open_at[BOUNDS_TEMPLATE_DEPTH]; /* where its tag is */
	size_t depth;
};

/* One tag as it stands: text[start..end), its sigil ('\0' for none), its name (owned).
 */
struct tag {
	size_t start;
	size_t end;
	char sigil;
	char *name;
};

static unsigned
get_line(const struct parser *parser, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += parser->text[i] == '\n';
	return line;
}

G_GNUC_PRINTF(5, 6)
static bool
refuse(const struct parser *parser, size_t at, enum pb_error code, GError **error,
    const char *format, ...)
{
	g_autofree char *why = NULL;
	size_t line_start = at;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	while (line_start > 0 && parser->text[line_start - 1] != '\n')
		line_start--;
	g_set_error(error, PB_ERROR, code, "%s:%u:%ld: %s", parser->label,
	    get_line(parser, at),
	    g_utf8_strlen(parser->text + line_start, (gssize)(at - line_start)) + 1,
	    why);
	return false;
}

static bool
is_name(const char *name)
{
	if (strcmp(name, ".") == 0)
		return true;
	for (const char *p = name; *p; p++) {
		if (!g_ascii_isalnum(*p) && *p != '_' && *p != '-')
			return false;
	}
	return name[0] != '\0';
}

static bool
check_name(const struct parser *parser, const struct tag *tag, GError **error)
{
	if (!is_name(tag->name))
		return refuse(parser, tag->start, PB_ERROR_INPUT, error,
		    "a tag wants a name of letters, digits, '_' and '-'");
	if (parser->names && tag->sigil != '/' && strcmp(tag->name, ".") != 0 &&
	    !g_strv_contains(parser->names, tag->name))
		return refuse(parser, tag->start, PB_ERROR_INPUT, error,
		    "there is no '%s' here", tag->name);
	return true;
}

/* Read the tag at text[start], which is "{{". */
static bool
read_tag(const struct parser *parser, size_t start, struct tag *tag, GError **error)
{
	const char *inner = parser->text + start + 2;
	bool is_triple = *inner == '{';
	const char *close = is_triple ? "}}}" : "}}";
	const char *end = strstr(inner, close);

	tag->start = start;
	if (!end)
		return refuse(parser, start, PB_ERROR_INPUT, error,
		    "this tag has no '%s'", close);
	tag->end = (size_t)(end - parser->text) + strlen(close);
	while (*inner == ' ' || *inner == '\t')
		inner++;
	tag->sigil = '\0';
	/* A third brace behind a blank is none: nothing would ask for its partner. */
	if (is_triple || strchr("&#^/!>=", *inner))
		tag->sigil = *inner++;
	if (tag->sigil == '!')
		return true;
	if (tag->sigil == '>' || tag->sigil == '=')
		return refuse(parser, start, PB_ERROR_INPUT, error,
		    "there are no %s in these templates",
		    tag->sigil == '>' ? "partials" : "other delimiters");
	tag->name = g_strstrip(g_strndup(inner, (size_t)(end - inner)));
	return check_name(parser, tag, error);
}

/*
 * A tag that is alone on its line takes the whole line (Mustache's standalone
 * rule); values never do.
 */
static bool
find_standalone(
    const struct parser *parser, const struct tag *tag, size_t *from, size_t *to)
{
	size_t start = tag->start;
	size_t end = tag->end;

	if (tag->sigil == '\0' || tag->sigil == '{' || tag->sigil == '&')
		return false;
	while (start > 0 &&
	       (parser->text[start - 1] == ' ' || parser->text[start - 1] == '\t'))
		start--;
	if (start > 0 && parser->text[start - 1] != '\n')
		return false;
	end += strspn(parser->text + end, " \t");
	if (parser->text[end] == '\r' && parser->text[end + 1] == '\n')
		end++;
	if (parser->text[end] != '\n' && parser->text[end] != '\0')
		return false;
	*from = start;
	*to = parser->text[end] == '\n' ? end + 1 : end;
	return true;
}

static void
add_node(
    struct parser *parser, enum template_node_kind kind, const char *text, size_t size)
{
	struct template_node node = {
	    .kind = kind, .text = g_strndup(text, size), .size = size};

	g_array_append_val(parser->nodes, node);
}

static bool
close_section(struct parser *parser, const struct tag *tag, GError **error)
{
	struct template_node *node;

	if (parser->depth == 0)
		return refuse(parser, tag->start, PB_ERROR_INPUT, error,
		    "section '%s' is closed, but none is open", tag->name);
	node = &g_array_index(
	    parser->nodes, struct template_node, parser->open[parser->depth - 1]);
	if (strcmp(node->text, tag->name) != 0)
		return refuse(parser, tag->start, PB_ERROR_INPUT, error,
		    "section '%s' is closed, but '%s' is open since line %u", tag->name,
		    node->text, get_line(parser, parser->open_at[parser->depth - 1]));
	node->end = parser->nodes->len;
	parser->depth--;
	return true;
}

static bool
add_tag(struct parser *parser, const struct tag *tag, GError **error)
{
	enum template_node_kind kind = TEMPLATE_VALUE;

	if (tag->sigil == '!')
		return true;
	if (tag->sigil == '/')
		return close_section(parser, tag, error);
	if (tag->sigil == '{' || tag->sigil == '&')
		kind = TEMPLATE_RAW;
	if (tag->sigil == '#' || tag->sigil == '^') {
		kind = tag->sigil == '#' ? TEMPLATE_SECTION : TEMPLATE_INVERTED;
		if (parser->depth == BOUNDS_TEMPLATE_DEPTH)
			return refuse(parser, tag->start, PB_ERROR_LIMIT, error,
			    "sections are more than %d deep", BOUNDS_TEMPLATE_DEPTH);
		parser->open[parser->depth] = parser->nodes->len;
		parser->open_at[parser->depth] = tag->start;
		parser->depth++;
	}
	add_node(parser, kind, tag->name, strlen(tag->name));
	return true;
}

static bool
parse_nodes(struct parser *parser, GError **error)
{
	for (;;) {
		const char *rest = parser->text + parser->pos;
		const char *open = strstr(rest, "{{");
		struct tag tag = {0};
		size_t from;
		size_t to;
		bool is_fine;

		if (!open) {
			add_node(parser, TEMPLATE_LITERAL, rest, strlen(rest));
			break;
		}
		if (!read_tag(parser, (size_t)(open - parser->text), &tag, error)) {
			g_free(tag.name);
			return false;
		}
		if (!find_standalone(parser, &tag, &from, &to)) {
			from = tag.start;
			to = tag.end;
		}
		if (from > parser->pos)
			add_node(parser, TEMPLATE_LITERAL, rest, from - parser->pos);
		parser->pos = to;
		is_fine = add_tag(parser, &tag, error);
		g_free(tag.name);
		if (!is_fine)
			return false;
	}
	if (parser->depth > 0) {
		const struct template_node *node = &g_array_index(parser->nodes,
		    struct template_node, parser->open[parser->depth - 1]);

		return refuse(parser, parser->open_at[parser->depth - 1],
		    PB_ERROR_INPUT, error, "section '%s' is never closed", node->text);
	}
	return true;
}

static bool
check_text(const struct parser *parser, GError **error)
{
	const char *bad;

	if (strlen(parser->text) > BOUNDS_TEMPLATE_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "%s:1:1: a template has at most %d octets", parser->label,
		    BOUNDS_TEMPLATE_BYTES);
		return false;
	}
	if (!g_utf8_validate(parser->text, -1, &bad))
		return refuse(parser, (size_t)(bad - parser->text), PB_ERROR_INPUT,
		    error, "this is not valid UTF-8");
	for (const char *p = parser->text; *p; p++) {
		if (g_ascii_iscntrl(*p) && !strchr("\t\r\n", *p))
			return refuse(parser, (size_t)(p - parser->text),
			    PB_ERROR_INPUT, error, "this is a control character");
	}
	return true;
}

static void
clear_node(void *data)
{
	struct template_node *node = data;

	g_free(node->text);
}

struct template *
template_parse(const char *label, const char *text, enum template_kind kind,
    const char *const *names, GError **error)
{
	struct parser parser = {.label = label, .text = text, .names = names};
	struct template *template;

	if (!check_text(&parser, error))
		return NULL;
	parser.nodes = g_array_new(FALSE, FALSE, sizeof(struct template_node));
	g_array_set_clear_func(parser.nodes, clear_node);
	if (!parse_nodes(&parser, error)) {
		g_array_unref(parser.nodes);
		return NULL;
	}
	template = g_new0(struct template, 1);
	template->kind = kind;
	template->nodes = parser.nodes;
	return template;
}

void
template_free(struct template *template)
{
	if (!template)
		return;
	g_array_unref(template->nodes);
	g_free(template);
}
