/*
 * texts.h - lists of texts, as one text with "|" between them.
 */
#pragma once

#include <glib.h>

/* @param texts  or NULL @return a new string */
static inline char *
texts_join(const GPtrArray *texts)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; texts && i < texts->len; i++)
		g_string_append_printf(
		    out, "%s%s", i ? "|" : "", (char *)texts->pdata[i]);
	return g_string_free(out, FALSE);
}
