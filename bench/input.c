/*
 * input.c - the store that fill.c made.
 */
#include "input.h"

#include <glib.h>

struct store *
input_open_store(const char *path)
{
	g_autoptr(GError) error = NULL;
	struct store *store = store_open(path, &error);

	g_assert_no_error(error);
	return store;
}
