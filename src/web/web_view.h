/*
 * web_view.h - the values of a reply (message/web_proto.h) as input of templates.
 *
 * Unknown names are dropped, control characters replaced.  Values that templates cannot
 * compute are added: see the second half of web_view_names.
 */
#ifndef PAPERBOY_WEB_WEB_VIEW_H
#define PAPERBOY_WEB_WEB_VIEW_H

#include <glib.h>

#include "render/catalog.h"
#include "render/view.h"

/* Names that the templates may use; ends with NULL. */
extern const char *const web_view_names[];

/* Both are borrowed. */
struct web_view_context {
	const struct catalog *catalog;
	const char *language;
};

/** @param values  of type a{sv} @return a map; owned by the caller */
struct view *web_view_convert(const struct web_view_context *context, GVariant *values);

#endif
