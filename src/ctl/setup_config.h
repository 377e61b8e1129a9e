/*
 * setup_config.h - the configuration that paperboyctl setup composes.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"

struct setup_config {
	const char *path;   /* of the file; drafts are made beside it */
	GPtrArray *entries; /* private, in the order of the file */
};

void setup_config_init(struct setup_config *config, const char *path);
void setup_config_clear(struct setup_config *config);

/** Copy the settings, for setup_config_restore(). */
GPtrArray *setup_config_copy(const struct setup_config *config);

/** Return to the settings of setup_config_copy(). @param entries  taken */
void setup_config_restore(struct setup_config *config, GPtrArray *entries);

/**
 * Set a text, or remove the setting.
 *
 * @param setting  "group.name", or "name"
 * @param text     NULL removes it
 * @param comment  static, for the line above; or NULL
 */
void setup_config_put(struct setup_config *config, const char *setting,
    const char *text, const char *comment);

/** Set a number, without a comment. */
void
setup_config_put_number(struct setup_config *config, const char *setting, int number);

/** Set "NAME=VALUE" for good: other functions do not change it. */
bool setup_config_fix(struct setup_config *config, const char *text, GError **error);

/** Format the file. @return a new string */
char *setup_config_format(const struct setup_config *config);

/**
 * Load and check it as paperboyd does.
 *
 * @param without  settings to leave out: how their names begin; or NULL
 * @return NULL with the first problem; it begins with the name of the setting, unless
 * that was set by setup_config_put(): then an answer is wrong, not a setting
 */
struct settings *setup_config_load(
    const struct setup_config *config, const char *without, GError **error);

/** Replace a file. */
bool
setup_config_write_file(const char *path, const char *text, int mode, GError **error);

/** Create an empty file beside another one, mode 0600. @return its path, a new string;
 * or NULL */
char *setup_config_make_file(const char *path, GError **error);
