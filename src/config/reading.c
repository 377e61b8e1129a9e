/*
 * reading.c - paperboy.conf, and the files with secrets, into settings.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <libconfig.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "config/numbers.h"
#include "config/setting.h"
#include "config/settings.h"

/* What a reader needs to say where something is wrong. */
struct reading {
	struct settings *settings;
	GPtrArray *problems;
	const char *path;
	GHashTable *files; /* a set: const char *, included ones as well */
};

/* Where a file is: libconfig knows an included one by the name in @include. */
static char *
locate(const struct reading *reading, const char *file)
{
	g_autofree char *folder = g_path_get_dirname(reading->path);

	if (!file || strcmp(file, reading->path) == 0)
		return g_strdup(reading->path);
	return g_path_is_absolute(file) ? g_strdup(file)
	                                : g_build_filename(folder, file, NULL);
}

static void G_GNUC_PRINTF(3, 4) add_problem(
    struct reading *reading, const config_setting_t *at, const char *format, ...)
{
	g_autofree char *file =
	    locate(reading, at ? config_setting_source_file(at) : NULL);
	GString *line = g_string_new(NULL);
	va_list arguments;

	if (at)
		g_string_append_printf(
		    line, "%s:%d: ", file, (int)config_setting_source_line(at));
	else
		g_string_append_printf(line, "%s: ", file);
	va_start(arguments, format);
	g_string_append_vprintf(line, format, arguments);
	va_end(arguments);
	g_ptr_array_add(reading->problems, g_string_free(line, FALSE));
}

static bool
has_control(const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		if (g_unichar_iscntrl(g_utf8_get_char(text)))
			return true;
	return false;
}

static void
read_text(
    struct reading *reading, const struct setting *setting, const config_setting_t *at)
{
	const char *text = config_setting_get_string(at);

	if (!text) {
		add_problem(reading, at, "%s must be a text in quotes", setting->name);
		return;
	}
	if (!g_utf8_validate(text, -1, NULL) || has_control(text)) {
		add_problem(reading, at,
		    "%s must be UTF-8 on one line, without control characters",
		    setting->name);
		return;
	}
	if ((int)strlen(text) < setting->minimum) {
		add_problem(reading, at, "%s must not be empty", setting->name);
		return;
	}
	if (setting->choices && !g_strv_contains(setting->choices, text)) {
		g_autofree char *list = g_strjoinv("\", \"", (char **)setting->choices);

		add_problem(
		    reading, at, "%s must be one of \"%s\"", setting->name, list);
		return;
	}
	g_free(*setting_get_text(reading->settings, setting));
	*setting_get_text(reading->settings, setting) = g_strdup(text);
}

static void
read_int(
    struct reading *reading, const struct setting *setting, const config_setting_t *at)
{
	/* libconfig wraps a number of over 32 bits in silence unless it ends in L. */
	long long number = config_setting_type(at) == CONFIG_TYPE_INT64
	                       ? config_setting_get_int64(at)
	                       : config_setting_get_int(at);

	if (config_setting_type(at) != CONFIG_TYPE_INT &&
	    config_setting_type(at) != CONFIG_TYPE_INT64)
		add_problem(reading, at, "%s must be a whole number", setting->name);
	else if (number < setting->minimum || number > setting->maximum)
		add_problem(reading, at, "%s must be from %d to %d", setting->name,
		    setting->minimum, setting->maximum);
	else
		*setting_get_int(reading->settings, setting) = (int)number;
}

static void
read_choice(
    struct reading *reading, const struct setting *setting, const config_setting_t *at)
{
	const char *text = config_setting_get_string(at);
	g_autofree char *list = g_strjoinv("\", \"", (char **)setting->choices);

	for (int i = 0; text && setting->choices[i]; i++) {
		if (strcmp(text, setting->choices[i]) == 0) {
			*setting_get_int(reading->settings, setting) = i;
			return;
		}
	}
	add_problem(reading, at, "%s must be one of \"%s\"", setting->name, list);
}

static void
read_setting(
    struct reading *reading, const struct setting *setting, const config_setting_t *at)
{
	switch (setting->type) {
	case TYPE_TEXT:
		read_text(reading, setting, at);
		break;
	case TYPE_INT:
		read_int(reading, setting, at);
		break;
	case TYPE_BOOL:
		if (config_setting_type(at) == CONFIG_TYPE_BOOL)
			*setting_get_bool(reading->settings, setting) =
			    config_setting_get_bool(at);
		else
			add_problem(
			    reading, at, "%s must be true or false", setting->name);
		break;
	case TYPE_CHOICE:
		read_choice(reading, setting, at);
		break;
	}
}

static bool
is_group(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < setting_count; i++)
		if (strncmp(setting_table[i].name, name, length) == 0 &&
		    setting_table[i].name[length] == '.')
			return true;
	return false;
}

static void
read_group(struct reading *reading, const config_setting_t *group, const char *prefix)
{
	for (int i = 0; i < config_setting_length(group); i++) {
		const config_setting_t *at =
		    config_setting_get_elem(group, (unsigned)i);
		g_autofree char *name =
		    g_strconcat(prefix, config_setting_name(at), NULL);
		const char *file = config_setting_source_file(at);
		size_t row = 0;

		if (file)
			g_hash_table_add(reading->files, (gpointer)file);

		if (!*prefix && is_group(name)) {
			g_autofree char *inner = g_strconcat(name, ".", NULL);

			if (config_setting_is_group(at))
				read_group(reading, at, inner);
			else
				add_problem(reading, at,
				    "%s is a group: write %s: { ... };", name, name);
			continue;
		}
		while (
		    row < setting_count && strcmp(setting_table[row].name, name) != 0)
			row++;
		if (row == setting_count)
			add_problem(reading, at, "unknown setting \"%s\"", name);
		else
			read_setting(reading, &setting_table[row], at);
	}
}

/* Numbers that are something else by the time they get here. */
static void
check_numbers(struct reading *reading, const char *file)
{
	g_autofree char *path = locate(reading, file);
	g_autofree char *text = NULL;
	const char *at;
	unsigned line = 1;
	size_t size = 0;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	for (at = text; (at = numbers_find_large(at, &line, &size)); at += size)
		g_ptr_array_add(reading->problems,
		    g_strdup_printf("%s:%u: %.*s is too large a number", path, line,
		        (int)MIN(size, 40), at));
}

/* What is wrong although each value alone is right. */
static void
check_whole(struct reading *reading)
{
	struct settings *settings = reading->settings;

	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].type == TYPE_TEXT &&
		    setting_table[i].minimum > 0 &&
		    !**setting_get_text(settings, &setting_table[i]))
			add_problem(reading, NULL, "%s is not set: %s",
			    setting_table[i].name, setting_table[i].help);
	if (settings->delivery == SETTINGS_DELIVERY_MAILDIR && !*settings->maildir)
		add_problem(reading, NULL,
		    "delivery.method is maildir, but delivery.maildir is not set");
	if (*settings->smtp_user && !*settings->smtp_password_file)
		add_problem(
		    reading, NULL, "smtp.user is set, but smtp.password_file is not");
}

static void
read_file(struct reading *reading, config_t *config)
{
	g_autofree char *folder = g_path_get_dirname(reading->path);
	GHashTableIter iter;
	gpointer file;

	/* Relative @include names are found beside the file, not beside the caller. */
	config_set_include_dir(config, folder);
	errno = 0;
	if (config_read_file(config, reading->path) == CONFIG_TRUE) {
		g_hash_table_add(reading->files, (gpointer)reading->path);
		read_group(reading, config_root_setting(config), "");
		check_whole(reading);
		g_hash_table_iter_init(&iter, reading->files);
		while (g_hash_table_iter_next(&iter, &file, NULL))
			check_numbers(reading, file);
		return;
	}
	if (config_error_type(config) == CONFIG_ERR_PARSE) {
		g_autofree char *where = locate(reading, config_error_file(config));

		g_ptr_array_add(reading->problems,
		    g_strdup_printf("%s:%d: %s", where, config_error_line(config),
		        config_error_text(config)));
		return;
	}
	add_problem(reading, NULL, "cannot read it: %s",
	    errno ? g_strerror(errno) : "file error");
}

struct settings *
settings_load(const char *path, GPtrArray *problems, GError **error)
{
	pb_auto(settings) settings = settings_new();
	g_autoptr(GHashTable) files = g_hash_table_new(g_str_hash, g_str_equal);
	struct reading reading = {settings, problems, path, files};
	unsigned before = problems->len;
	config_t config;

	config_init(&config);
	read_file(&reading, &config);
	config_destroy(&config);
	if (problems->len == before)
		return g_steal_pointer(&settings);
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "'%s' has %u error%s", path,
	    problems->len - before, problems->len - before == 1 ? "" : "s");
	return NULL;
}

char *
settings_load_secret(const char *path, const char *credentials, GError **error)
{
	g_autofree char *full = NULL;
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;
	bool is_credential = !g_path_is_absolute(path);
	GStatBuf status;

	if (!is_credential) {
		full = g_strdup(path);
	} else if (credentials) {
		full = g_build_filename(credentials, path, NULL);
	} else {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is a systemd credential, and there are none here: write the "
		    "whole path of a file, or LoadCredential= into the unit",
		    path);
		return NULL;
	}
	if (g_stat(full, &status) != 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "cannot read '%s': %s",
		    full, g_strerror(errno));
		return NULL;
	}
	/* systemd lets nobody else into its folder, but where it gives the file to its
	 * user by an ACL, the mask of that shows as the rights of a group. */
	if (status.st_mode & (is_credential ? S_IRWXO : S_IRWXG | S_IRWXO)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' holds a secret and others may read it: chmod 600 it", full);
		return NULL;
	}
	if (!g_file_get_contents(full, &text, NULL, &problem)) {
		g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, problem->message);
		return NULL;
	}
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is empty, where a secret is wanted", full);
		return NULL;
	}
	return g_steal_pointer(&text);
}
