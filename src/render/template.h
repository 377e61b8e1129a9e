/*
 * template.h - templates: a subset of Mustache.
 *
 * `{{x}}` is escaped, `{{{x}}}` and `{{&x}}` are not; `{{#x}}…{{/x}}` is shown if x is
 * true, or once per list item; `{{^x}}…{{/x}}` if it is false; `{{.}}` is the item
 * itself; `{{! … }}` is a comment.  A section tag or comment alone on its line takes
 * the line with it.  There are no partials, lambdas or other delimiters
 * (catalog_expand() handles `{{#_}}`).  Tags in values are not expanded.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "render/view.h"

enum template_kind {
	TEMPLATE_TEXT, /* no escaping */
	TEMPLATE_HTML, /* & < > " ' are escaped, in content and quoted attributes */
	TEMPLATE_JSON, /* " \ and controls are escaped, in strings */
};

struct template;

/**
 * Load the text of a template from a file.
 *
 * @return NULL with PB_ERROR_NOT_FOUND or PB_ERROR_INPUT; owned by the caller
 */
char *template_load_file(const char *path, GError **error);

/**
 * Parse a template.
 *
 * @param label  its name in errors, such as a file name
 * @param text   UTF-8 without controls but tab and line ends; at most
 *               BOUNDS_TEMPLATE_BYTES, sections at most BOUNDS_TEMPLATE_DEPTH deep
 * @param names  allowed names, ended by NULL, so that misspelled ones are
 *               reported; NULL for any
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT, its message starting with
 *         `label:line:column: `
 */
struct template *template_parse(const char *label, const char *text,
    enum template_kind kind, const char *const *names, GError **error);
void template_free(struct template *template);
PB_DEFINE_AUTO(template, template_free);

/** Whether every view gives white space only. */
bool template_is_blank(const struct template *template);

/** Append a text with & < > " ' escaped. */
void template_append_escaped(GString *out, const char *text);

/** Render a template.  Names missing in the view are empty. */
void
template_append(const struct template *template, const struct view *view, GString *out);
