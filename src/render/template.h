/*
 * template.h - templates: the part of Mustache that mails need.
 *
 * `{{x}}` escaped, `{{{x}}}` and `{{&x}}` as it is, `{{#x}}…{{/x}}` for what is
 * true or once an item of a list, `{{^x}}…{{/x}}` for what is not, `{{.}}` for
 * the item itself, `{{! … }}` a comment.  A section or comment that stands alone on
 * its line takes the line with it.  Nothing else: no partials, no lambdas, no
 * other delimiters (`{{>x}}` is render/locale.h's).  Values are data: `{{` in one of
 * them means nothing.
 */
#ifndef PAPERBOY_RENDER_TEMPLATE_H
#define PAPERBOY_RENDER_TEMPLATE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "render/view.h"

enum template_kind {
	TEMPLATE_TEXT, /* nothing is escaped */
	TEMPLATE_HTML, /* & < > " ' are, in content and quoted attributes alike */
};

struct template;

/**
 * Compile a template.
 *
 * @param label  what errors call it, such as a file name
 * @param text   UTF-8 without controls but tab and line ends; at most
 *               BOUNDS_TEMPLATE_BYTES, sections at most BOUNDS_TEMPLATE_DEPTH deep
 * @param names  every name that views for it may have, ended by NULL, so that a
 *               misspelled one is told; NULL to take any
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT, its message starting with
 *         `label:line:column: `
 */
struct template *template_parse(const char *label, const char *text,
    enum template_kind kind, const char *const *names, GError **error);
void template_free(struct template *template);
PB_DEFINE_AUTO(template, template_free);

/** Tell whether a template makes nothing but white space of every view. */
bool template_is_blank(const struct template *template);

/**
 * Tell whether what stands in the sections of one name uses some names alone, so that
 * they can be made without the rest of the view.
 *
 * @param names  ends with NULL
 */
bool template_is_apart(
    const struct template *template, const char *section, const char *const *names);

/** Append as template_append() does, but a mark for every section of that name. */
void template_append_around(const struct template *template, const struct view *view,
    const char *section, const char *mark, GString *out);

/** Append the first section of that name alone; nothing where there is none. */
void template_append_section(const struct template *template, const struct view *view,
    const char *section, GString *out);

/** Append a text with & < > " ' escaped. */
void template_append_escaped(GString *out, const char *text);

/** Append what the template makes of a view.  A name that is not there is empty. */
void
template_append(const struct template *template, const struct view *view, GString *out);

#endif
