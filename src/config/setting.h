/*
 * setting.h - one row of the table of settings; for files of this folder only.
 */
#ifndef PAPERBOY_CONFIG_SETTING_H
#define PAPERBOY_CONFIG_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "config/settings.h"

enum setting_type { TYPE_TEXT, TYPE_INT, TYPE_BOOL, TYPE_CHOICE };

struct setting {
	const char *name; /* with its group, "smtp.port" */
	enum setting_type type;
	size_t offset;
	const char *text;           /* default of a text */
	int number;                 /* default of the others */
	int minimum, maximum;       /* of an int; of a text the least length */
	const char *const *choices; /* of a choice, by value; of a text, or NULL */
	const char *help;
	bool needs_restart; /* a running program cannot change it */
};

/* What is known of a setting in the file that was read. */
struct setting_origin {
	char *file; /* NULL: it is not said */
	unsigned line;
	bool is_wrong;
};

/* All of them, in the order in which they are told (settings.c). */
extern const struct setting setting_table[];
extern const size_t setting_count;

/* Where its value lies, by the setting's type; a choice is an int. */

static inline char **
setting_get_text(struct settings *settings, const struct setting *setting)
{
	return (char **)((char *)settings + setting->offset);
}

static inline int *
setting_get_int(struct settings *settings, const struct setting *setting)
{
	return (int *)((char *)settings + setting->offset);
}

static inline bool *
setting_get_bool(struct settings *settings, const struct setting *setting)
{
	return (bool *)((char *)settings + setting->offset);
}

#endif
