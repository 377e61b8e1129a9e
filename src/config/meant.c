/*
 * meant.c - which setting or group somebody meant whose name is wrong.
 */
#include "config/meant.h"

#include <glib.h>
#include <string.h>

#include "base/nearest.h"

const char *
meant_get_own_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

const struct setting *
meant_find(const char *name)
{
	const struct setting *nearest = NULL;
	size_t size = strlen(name);
	unsigned least = MAX(1, MIN(size / 3, 4));

	/* Right but for its group: it is another's, or was forgotten. */
	for (size_t i = 0; i < setting_count; i++)
		if (strcmp(meant_get_own_name(setting_table[i].name),
		        meant_get_own_name(name)) == 0)
			return &setting_table[i];
	for (size_t i = 0; i < setting_count; i++) {
		const char *known = setting_table[i].name;
		unsigned distance =
		    nearest_measure_slips(name, size, known, strlen(known));

		if (distance < least + 1 && (!nearest || distance < least)) {
			least = distance;
			nearest = &setting_table[i];
		}
	}
	return nearest;
}

char *
meant_find_group(const char *name)
{
	char *nearest = NULL;
	unsigned least = 3;

	for (size_t i = 0; i < setting_count; i++) {
		const char *known = setting_table[i].name;
		size_t size = (size_t)(meant_get_own_name(known) - known);
		unsigned distance;

		if (!size)
			continue;
		distance = nearest_measure_slips(name, strlen(name), known, size - 1);
		if (distance < least) {
			least = distance;
			g_free(nearest);
			nearest = g_strndup(known, size - 1);
		}
	}
	return nearest;
}
