/*
 * template.c - templates: nodes and a view become a text.
 */
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "render/template_private.h"

void
template_append_escaped(GString *out, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "&<>\"'");

		g_string_append_len(out, text, (gssize)plain);
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
		const struct template_node *node =
		    &g_array_index(template->nodes, struct template_node, i);

		if (node->kind == TEMPLATE_VALUE || node->kind == TEMPLATE_RAW)
			return false;
		if (node->kind == TEMPLATE_LITERAL &&
		    strspn(node->text, " \t\r\n") < node->size)
			return false;
	}
	return true;
}

/* The views that names are looked up in, the innermost last. */
struct stack {
	const struct view *views[BOUNDS_TEMPLATE_DEPTH + 1];
	size_t depth;
	const char *marked; /* a section that gets a mark in its place, or NULL */
	const char *mark;
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

/* The stack is as deep as the sections, which were counted when it was parsed. */
static void
append_section(
    const struct template *template, size_t index, struct stack *stack, GString *out)
{
	const struct template_node *node =
	    &g_array_index(template->nodes, struct template_node, index);
	const struct view *view = find_name(stack, node->text);
	bool is_list = view && view->kind == VIEW_LIST;
	size_t times = is_list ? view->list->len : 1;

	if (view_is_true(view) != (node->kind == TEMPLATE_SECTION))
		return;
	if (stack->marked && node->kind == TEMPLATE_SECTION &&
	    strcmp(node->text, stack->marked) == 0) {
		g_string_append(out, stack->mark);
		return;
	}
	if (node->kind == TEMPLATE_INVERTED) {
		append_nodes(template, index + 1, node->end, stack, out);
		return;
	}
	for (size_t i = 0; i < times; i++) {
		stack->views[stack->depth++] = is_list ? view->list->pdata[i] : view;
		append_nodes(template, index + 1, node->end, stack, out);
		stack->depth--;
	}
}

static void
append_value(const struct view *view, bool is_escaped, GString *out)
{
	if (!view || view->kind != VIEW_TEXT)
		return;
	if (is_escaped)
		template_append_escaped(out, view->text);
	else
		g_string_append(out, view->text);
}

static void
append_nodes(const struct template *template, size_t from, size_t to,
    struct stack *stack, GString *out)
{
	for (size_t i = from; i < to; i++) {
		const struct template_node *node =
		    &g_array_index(template->nodes, struct template_node, i);

		switch (node->kind) {
		case TEMPLATE_LITERAL:
			g_string_append_len(out, node->text, (gssize)node->size);
			break;
		case TEMPLATE_VALUE:
			append_value(find_name(stack, node->text),
			    template->kind == TEMPLATE_HTML, out);
			break;
		case TEMPLATE_RAW:
			append_value(find_name(stack, node->text), false, out);
			break;
		case TEMPLATE_SECTION:
		case TEMPLATE_INVERTED:
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

void
template_append_around(const struct template *template, const struct view *view,
    const char *section, const char *mark, GString *out)
{
	struct stack stack = {
	    .views = {view}, .depth = 1, .marked = section, .mark = mark};

	append_nodes(template, 0, template->nodes->len, &stack, out);
}

/* @return its index, or how many nodes there are */
static size_t
find_section(const struct template *template, const char *section, size_t from)
{
	for (size_t i = from; i < template->nodes->len; i++) {
		const struct template_node *node =
		    &g_array_index(template->nodes, struct template_node, i);

		if (node->kind == TEMPLATE_SECTION && strcmp(node->text, section) == 0)
			return i;
	}
	return template->nodes->len;
}

void
template_append_section(const struct template *template, const struct view *view,
    const char *section, GString *out)
{
	size_t at = find_section(template, section, 0);
	struct stack stack = {.views = {view}, .depth = 1};

	if (at < template->nodes->len)
		append_section(template, at, &stack, out);
}

bool
template_is_apart(
    const struct template *template, const char *section, const char *const *names)
{
	size_t count = template->nodes->len;

	for (size_t at = find_section(template, section, 0); at < count;
	     at = find_section(template, section, at + 1)) {
		size_t end =
		    g_array_index(template->nodes, struct template_node, at).end;

		for (size_t i = at + 1; i < end; i++) {
			const struct template_node *node =
			    &g_array_index(template->nodes, struct template_node, i);

			if (node->kind != TEMPLATE_LITERAL &&
			    !g_strv_contains(names, node->text))
				return false;
		}
	}
	return true;
}
