/*
 * setting.h - one row of the table of settings; private to src/config.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/settings.h"

enum setting_type { TYPE_TEXT, TYPE_INT, TYPE_BOOL, TYPE_CHOICE, TYPE_SOURCES };

struct setting {
	const char *name; /* with its group, "smtp.port" */
	enum setting_type type;
	size_t offset;
	const char *text;           /* default of a text */
	int number;                 /* default of the other types */
	int minimum, maximum;       /* of an int; minimum length of a text */
	const char *const *choices; /* names by value; for a text or NULL */
	const char *help;
	bool needs_restart; /* a running program cannot change it */
};

/* Where a setting is set. */
struct setting_origin {
	char *file; /* NULL: not set */
	unsigned line;
	bool is_invalid;
};

/* In the order of printing (setting_rows.h). */
extern const struct setting setting_table[];
extern const size_t setting_count;

/* Options of a group of `sources`, in the order of printing. */
struct source_option {
	const char *name;
	enum { OPTION_TEXT, OPTION_LIST, OPTION_INT, OPTION_BOOL } type;
	int minimum, maximum; /* of OPTION_INT */
	const char *expected; /* the same in words */
};
extern const struct source_option source_option_table[];
extern const size_t source_option_count;

struct settings_source *settings_source_new(void);

/* Pointers to the value; a choice is an int. */

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
