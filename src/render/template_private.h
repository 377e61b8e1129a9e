/*
 * template_private.h - what the files of templates share; for them only.
 */
#ifndef PAPERBOY_RENDER_TEMPLATE_PRIVATE_H
#define PAPERBOY_RENDER_TEMPLATE_PRIVATE_H

#include <glib.h>
#include <stddef.h>

#include "render/template.h"

enum template_node_kind {
	TEMPLATE_LITERAL,
	TEMPLATE_VALUE,
	TEMPLATE_RAW,
	TEMPLATE_SECTION,
	TEMPLATE_INVERTED,
};

/* A section's body is the nodes between it and `end`. */
struct template_node {
	enum template_node_kind kind;
	char *text; /* the literal, or the name */
	size_t size;
	size_t end;
};

struct template
{
	enum template_kind kind;
	GArray *nodes; /* of struct template_node */
};

#endif
