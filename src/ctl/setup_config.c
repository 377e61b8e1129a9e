/*
 * setup_config.c - the configuration that paperboyctl setup composes.
 */
#include "ctl/setup_config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "service/setup/startup.h"

/* A line of the configuration.  Names are interned. */
struct entry {
	const char *group; /* "": none */
	const char *name;
	const char *comment; /* static; or NULL */
	char *value;         /* as libconfig reads it */
	bool is_fixed;
};

static void
entry_free(void *data)
{
	struct entry *entry = data;

	g_free(entry->value);
	g_free(entry);
}

/* @param source  a struct entry */
static void *
copy_entry(const void *source, void *data)
{
	struct entry *entry = g_memdup2(source, sizeof(*entry));

	(void)data;
	entry->value = g_strdup(entry->value);
	return entry;
}

void
setup_config_init(struct setup_config *config, const char *path)
{
	config->path = path;
	config->entries = g_ptr_array_new_with_free_func(entry_free);
}

void
setup_config_clear(struct setup_config *config)
{
	g_clear_pointer(&config->entries, g_ptr_array_unref);
}

GPtrArray *
setup_config_copy(const struct setup_config *config)
{
	return g_ptr_array_copy(config->entries, copy_entry, NULL);
}

void
setup_config_restore(struct setup_config *config, GPtrArray *entries)
{
	g_ptr_array_unref(config->entries);
	config->entries = entries;
}

/* @return NULL if it is not set */
static struct entry *
find_entry(const struct setup_config *config, const char *group, const char *name)
{
	for (unsigned i = 0; i < config->entries->len; i++) {
		struct entry *entry = config->entries->pdata[i];

		if (strcmp(entry->group, group) == 0 && strcmp(entry->name, name) == 0)
			return entry;
	}
	return NULL;
}

/* Set a value; NULL removes it.  @param value  taken */
static void
put(struct setup_config *config, const char *setting, char *value, const char *comment,
    bool is_fixed)
{
	g_auto(GStrv) parts = g_strsplit(setting, ".", 2);
	const char *group = g_intern_string(parts[1] ? parts[0] : "");
	const char *name = g_intern_string(parts[1] ? parts[1] : parts[0]);
	struct entry *entry = find_entry(config, group, name);

	if (!value || (entry && entry->is_fixed && !is_fixed)) {
		if (entry && !entry->is_fixed)
			g_ptr_array_remove(config->entries, entry);
		g_free(value);
		return;
	}
	if (!entry) {
		entry = g_new0(struct entry, 1);
		entry->group = group;
		entry->name = name;
		g_ptr_array_add(config->entries, entry);
	}
	g_free(entry->value);
	entry->value = value;
	entry->comment = comment;
	entry->is_fixed = is_fixed;
}

static char *
quote(const char *text)
{
	GString *out = g_string_new("\"");

	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *text);
	}
	return g_string_free(g_string_append_c(out, '"'), FALSE);
}

void
setup_config_put(struct setup_config *config, const char *setting, const char *text,
    const char *comment)
{
	put(config, setting, text ? quote(text) : NULL, comment, false);
}

void
setup_config_put_number(struct setup_config *config, const char *setting, int number)
{
	put(config, setting, g_strdup_printf("%d", number), NULL, false);
}

bool
setup_config_fix(struct setup_config *config, const char *text, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, "=", 2);
	bool is_plain;

	if (!*parts[0] || !parts[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "--set: expected NAME=VALUE, not '%s'", text);
	is_plain = strcmp(parts[1], "true") == 0 || strcmp(parts[1], "false") == 0 ||
	           (*parts[1] && !parts[1][strspn(parts[1], "0123456789")]);
	put(config, parts[0], is_plain ? g_strdup(parts[1]) : quote(parts[1]), NULL,
	    true);
	return true;
}

/* @param without  as for setup_config_load() */
static bool
is_left_out(const struct entry *entry, const char *without)
{
	g_autofree char *setting = g_strconcat(entry->group, ".", entry->name, NULL);

	return without && g_str_has_prefix(setting, without);
}

static void
append_group(const struct setup_config *config, const char *group, const char *without,
    GString *out)
{
	const char *indent = *group ? "\t" : "";

	g_string_append_printf(out, *group ? "\n%s: {\n" : "\n%s", group);
	for (unsigned i = 0; i < config->entries->len; i++) {
		const struct entry *entry = config->entries->pdata[i];

		if (entry->group != group || is_left_out(entry, without))
			continue;
		if (entry->comment)
			g_string_append_printf(out, "%s# %s\n", indent, entry->comment);
		g_string_append_printf(
		    out, "%s%s = %s;\n", indent, entry->name, entry->value);
	}
	g_string_append(out, *group ? "};\n" : "");
}

static char *
format(const struct setup_config *config, const char *without)
{
	GString *out =
	    g_string_new("# Configuration of paperboyd and paperboyctl, made by "
	                 "paperboyctl setup.\n"
	                 "# paperboy.conf(5) has all settings.  Check a change "
	                 "with: paperboyd --check\n");
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < config->entries->len; i++) {
		const struct entry *entry = config->entries->pdata[i];

		if (g_hash_table_add(done, (void *)entry->group))
			append_group(config, entry->group, without, out);
	}
	return g_string_free(out, FALSE);
}

char *
setup_config_format(const struct setup_config *config)
{
	return format(config, NULL);
}

bool
setup_config_write_file(const char *path, const char *text, int mode, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!g_file_set_contents_full(
	        path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, mode, &problem))
		return pb_fail(error, PB_ERROR_PERMANENT, "%s", problem->message);
	/* The umask is for the state directory. */
	if (g_chmod(path, mode) != 0)
		return file_set_error("cannot chmod", path, PB_ERROR_PERMANENT, error);
	return true;
}

char *
setup_config_make_file(const char *path, GError **error)
{
	g_autofree char *template = g_strconcat(path, ".XXXXXX", NULL);
	int fd = g_mkstemp(template); /* mode 0600 */

	if (fd < 0) {
		file_set_error("cannot create", template, PB_ERROR_PERMANENT, error);
		return NULL;
	}
	close(fd);
	return g_steal_pointer(&template);
}

/*
 * Remove the file and the line of "file:line: setting: message", and the setting if an
 * answer gave its value.
 */
static const char *
skip_names(const struct setup_config *config, const char *problem)
{
	const char *start = strstr(problem, ": ");
	g_auto(GStrv) parts = g_strsplit(start ? start + 2 : problem, ": ", 2);
	g_auto(GStrv) names = g_strsplit(parts[0], ".", 2);
	const struct entry *entry =
	    parts[1] && names[1] ? find_entry(config, names[0], names[1]) : NULL;

	if (entry && !entry->is_fixed)
		return start + 2 + strlen(parts[0]) + 2;
	return start ? start + 2 : problem;
}

struct settings *
setup_config_load(
    const struct setup_config *config, const char *without, GError **error)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = format(config, without);
	g_autofree char *path = setup_config_make_file(config->path, error);
	struct settings *settings = NULL;

	if (!path || !setup_config_write_file(path, text, 0644, error))
		return NULL;
	settings = startup_load_checked(path, NULL, problems);
	g_unlink(path);
	if (settings)
		return settings;
	pb_fail(error, PB_ERROR_INPUT, "%s",
	    problems->len ? skip_names(config, problems->pdata[0])
	                  : "invalid configuration");
	return NULL;
}
