/*
 * template.c - Mustache templates: parsing and rendering.
 */
#include "render/template.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

enum node_kind {
	NODE_LITERAL,
	NODE_VALUE,
	NODE_RAW,
	NODE_SECTION,
	NODE_INVERTED,
};

/* The body of a section is the nodes between it and `end`. */
struct node {
	enum node_kind kind;
	char *text; /* the literal, or the name */
	size_t size;
	size_t end;
};

struct template
{
	enum template_kind kind;
	GArray *nodes; /* of struct node */
};

/* ---- parsing ---- */

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

/* One tag: text[start..end), its sigil ('\0' for none), its name (owned). */
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
set_error(const struct parser *parser, size_t at, enum pb_error code, GError **error,
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
	return pb_fail(error, code, "%s:%u:%ld: %s", parser->label,
	    get_line(parser, at),
	    g_utf8_strlen(parser->text + line_start, (gssize)(at - line_start)) + 1,
	    why);
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
		return set_error(parser, tag->start, PB_ERROR_INPUT, error,
		    "invalid tag name (expected letters, digits, '_', '-')");
	if (parser->names && tag->sigil != '/' && strcmp(tag->name, ".") != 0 &&
	    !g_strv_contains(parser->names, tag->name))
		return set_error(parser, tag->start, PB_ERROR_INPUT, error,
		    "unknown name '%s'", tag->name);
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
		return set_error(
		    parser, start, PB_ERROR_INPUT, error, "tag without '%s'", close);
	tag->end = (size_t)(end - parser->text) + strlen(close);
	while (*inner == ' ' || *inner == '\t')
		inner++;
	tag->sigil = '\0';
	/* A brace after a blank is not a sigil: no third brace would close it. */
	if (is_triple || strchr("&#^/!>=", *inner))
		tag->sigil = *inner++;
	if (tag->sigil == '!')
		return true;
	if (tag->sigil == '>' || tag->sigil == '=')
		return set_error(parser, start, PB_ERROR_INPUT, error,
		    "%s are not supported",
		    tag->sigil == '>' ? "partials" : "other delimiters");
	tag->name = g_strstrip(g_strndup(inner, (size_t)(end - inner)));
	return check_name(parser, tag, error);
}

/* Mustache's standalone rule: a tag alone on its line, except a value, takes the line.
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
add_node(struct parser *parser, enum node_kind kind, const char *text, size_t size)
{
	struct node node = {.kind = kind, .text = g_strndup(text, size), .size = size};

	g_array_append_val(parser->nodes, node);
}

static bool
close_section(struct parser *parser, const struct tag *tag, GError **error)
{
	struct node *node;

	if (parser->depth == 0)
		return set_error(parser, tag->start, PB_ERROR_INPUT, error,
		    "section '%s' is closed but was not opened", tag->name);
	node =
	    &g_array_index(parser->nodes, struct node, parser->open[parser->depth - 1]);
	if (strcmp(node->text, tag->name) != 0)
		return set_error(parser, tag->start, PB_ERROR_INPUT, error,
		    "section '%s' is closed inside section '%s' of line %u", tag->name,
		    node->text, get_line(parser, parser->open_at[parser->depth - 1]));
	node->end = parser->nodes->len;
	parser->depth--;
	return true;
}

static bool
add_tag(struct parser *parser, const struct tag *tag, GError **error)
{
	enum node_kind kind = NODE_VALUE;

	if (tag->sigil == '!')
		return true;
	if (tag->sigil == '/')
		return close_section(parser, tag, error);
	if (tag->sigil == '{' || tag->sigil == '&')
		kind = NODE_RAW;
	if (tag->sigil == '#' || tag->sigil == '^') {
		kind = tag->sigil == '#' ? NODE_SECTION : NODE_INVERTED;
		if (parser->depth == BOUNDS_TEMPLATE_DEPTH)
			return set_error(parser, tag->start, PB_ERROR_LIMIT, error,
			    "sections are nested more than %d deep",
			    BOUNDS_TEMPLATE_DEPTH);
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
		bool is_ok;

		if (!open) {
			add_node(parser, NODE_LITERAL, rest, strlen(rest));
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
			add_node(parser, NODE_LITERAL, rest, from - parser->pos);
		parser->pos = to;
		is_ok = add_tag(parser, &tag, error);
		g_free(tag.name);
		if (!is_ok)
			return false;
	}
	if (parser->depth > 0) {
		const struct node *node = &g_array_index(
		    parser->nodes, struct node, parser->open[parser->depth - 1]);

		return set_error(parser, parser->open_at[parser->depth - 1],
		    PB_ERROR_INPUT, error, "section '%s' is not closed", node->text);
	}
	return true;
}

static bool
check_text(const struct parser *parser, GError **error)
{
	const char *bad;

	if (strlen(parser->text) > BOUNDS_TEMPLATE_BYTES)
		return pb_fail(error, PB_ERROR_LIMIT,
		    "%s:1:1: template is larger than %d bytes", parser->label,
		    BOUNDS_TEMPLATE_BYTES);
	if (!g_utf8_validate(parser->text, -1, &bad))
		return set_error(parser, (size_t)(bad - parser->text), PB_ERROR_INPUT,
		    error, "invalid UTF-8");
	for (const char *p = parser->text; *p; p++) {
		if (g_ascii_iscntrl(*p) && !strchr("\t\r\n", *p))
			return set_error(parser, (size_t)(p - parser->text),
			    PB_ERROR_INPUT, error, "control character");
	}
	return true;
}

static void
clear_node(void *data)
{
	struct node *node = data;

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
	parser.nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
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

/* ---- rendering ---- */

void
template_append_escaped(GString *out, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "&<>\"'");

		g_string_append_len(out, text, plain);
		text += plain;
		switch (*text) {
		case '&':
			g_string_append(out, "&amp;");
			break;
		case '<':
			g_string_append(out, "&lt;");
			break;
		case '>':
			g_string_append(out, "&gt;");
			break;
		case '"':
			g_string_append(out, "&quot;");
			break;
		case '\'':
			g_string_append(out, "&#39;");
			break;
		default:
			return;
		}
		text++;
	}
}

bool
template_is_blank(const struct template *template)
{
	for (size_t i = 0; i < template->nodes->len; i++) {
		const struct node *node =
		    &g_array_index(template->nodes, struct node, i);

		if (node->kind == NODE_VALUE || node->kind == NODE_RAW)
			return false;
		if (node->kind == NODE_LITERAL &&
		    strspn(node->text, " \t\r\n") < node->size)
			return false;
	}
	return true;
}

/* Views that names are looked up in, the innermost last. */
struct stack {
	const struct view *views[BOUNDS_TEMPLATE_DEPTH + 1];
	size_t depth;
};

static const struct view *
find_name(const struct stack *stack, const char *name)
{
	if (strcmp(name, ".") == 0)
		return stack->views[stack->depth - 1];
	for (size_t i = stack->depth; i-- > 0;) {
		const struct view *found = view_find(stack->views[i], name);

		if (found)
			return found;
	}
	return NULL;
}

static void append_nodes(const struct template *template, size_t from, size_t to,
    struct stack *stack, GString *out);

/* The parser has checked the depth. */
static void
append_section(
    const struct template *template, size_t index, struct stack *stack, GString *out)
{
	const struct node *node = &g_array_index(template->nodes, struct node, index);
	const struct view *view = find_name(stack, node->text);
	bool is_list = view && view->kind == VIEW_LIST;
	size_t times = is_list ? view->list->len : 1;

	if (view_is_true(view) != (node->kind == NODE_SECTION))
		return;
	if (node->kind == NODE_INVERTED) {
		append_nodes(template, index + 1, node->end, stack, out);
		return;
	}
	for (size_t i = 0; i < times; i++) {
		stack->views[stack->depth++] = is_list ? view->list->pdata[i] : view;
		append_nodes(template, index + 1, node->end, stack, out);
		stack->depth--;
	}
}

/* RFC 8259 section 7. */
static void
append_json(GString *out, const char *text)
{
	for (; *text; text++)
		if (g_ascii_iscntrl(*text))
			g_string_append_printf(out, "\\u%04x", (unsigned char)*text);
		else
			g_string_append_printf(
			    out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
}

static void
append_variable(const struct view *view, enum template_kind kind, GString *out)
{
	if (!view || view->kind != VIEW_TEXT)
		return;
	if (kind == TEMPLATE_HTML)
		template_append_escaped(out, view->text);
	else if (kind == TEMPLATE_JSON)
		append_json(out, view->text);
	else
		g_string_append(out, view->text);
}

static void
append_nodes(const struct template *template, size_t from, size_t to,
    struct stack *stack, GString *out)
{
	for (size_t i = from; i < to; i++) {
		const struct node *node =
		    &g_array_index(template->nodes, struct node, i);

		switch (node->kind) {
		case NODE_LITERAL:
			g_string_append_len(out, node->text, node->size);
			break;
		case NODE_VALUE:
			append_variable(
			    find_name(stack, node->text), template->kind, out);
			break;
		case NODE_RAW:
			append_variable(
			    find_name(stack, node->text), TEMPLATE_TEXT, out);
			break;
		case NODE_SECTION:
		case NODE_INVERTED:
			append_section(template, i, stack, out);
			i = node->end - 1;
			break;
		}
	}
}

void
template_append(const struct template *template, const struct view *view, GString *out)
{
	struct stack stack = {.views = {view}, .depth = 1};

	append_nodes(template, 0, template->nodes->len, &stack, out);
}

/* ---- files ---- */

char *
template_load_file(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;
	size_t size;

	if (!g_file_get_contents(path, &text, &size, &problem)) {
		pb_fail(error,
		    g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT)
		        ? PB_ERROR_NOT_FOUND
		        : PB_ERROR_INPUT,
		    "%s", problem->message);
		return NULL;
	}
	if (strlen(text) != size) {
		pb_fail(error, PB_ERROR_INPUT, "'%s' contains a NUL byte", path);
		return NULL;
	}
	return g_steal_pointer(&text);
}
