/*
 * suggest.c - suggest a known setting or group for an unknown name.
 */
#include "config/suggest.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

const char *
suggest_get_own_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

const struct setting *
suggest_setting(const char *name)
{
	g_autofree const char **names = g_new0(const char *, setting_count + 1);
	const char *nearest;

	/* The same name in another group. */
	for (size_t i = 0; i < setting_count; i++)
		if (strcmp(suggest_get_own_name(setting_table[i].name),
		        suggest_get_own_name(name)) == 0)
			return &setting_table[i];
	for (size_t i = 0; i < setting_count; i++)
		names[i] = setting_table[i].name;
	nearest = edit_distance_find_closest(name, names);
	for (size_t i = 0; nearest && i < setting_count; i++)
		if (setting_table[i].name == nearest)
			return &setting_table[i];
	return NULL;
}

char *
suggest_group(const char *name)
{
	g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < setting_count; i++) {
		const char *known = setting_table[i].name;
		size_t size = (size_t)(suggest_get_own_name(known) - known);

		if (size)
			g_ptr_array_add(groups, g_strndup(known, size - 1));
	}
	g_ptr_array_add(groups, NULL);
	return g_strdup(
	    edit_distance_find_closest(name, (const char *const *)groups->pdata));
}
