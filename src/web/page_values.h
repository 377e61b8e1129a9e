/*
 * page_values.h - the values of a reply (message/web_proto.h) as input of templates.
 *
 * Unknown names are dropped, control characters replaced.  Values that templates cannot
 * compute are added: see the second half of page_value_names.
 */
#pragma once

#include <glib.h>

#include "render/catalog.h"
#include "render/view.h"

/* Names that the templates may use; ends with NULL. */
extern const char *const page_value_names[];

/* Both are borrowed. */
struct page_values_context {
	const struct catalog *catalog;
	const char *language;
};

/** @param values  of type a{sv} @return a map; owned by the caller */
struct view *
page_values_convert(const struct page_values_context *context, GVariant *values);
