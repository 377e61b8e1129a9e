/*
 * settings.c - the table of settings.
 */
#include "config/settings.h"

#include <string.h>

#include "base/bounds.h"
#include "config/setting.h"

static const char *const delivery_choices[] = {"smtp", "maildir", NULL};
static const char *const tls_choices[] = {"auto", "off", "starttls", "implicit", NULL};

static const char *const policy_choices[] = {
    "open", "domains", "approval", "closed", NULL};

static const char *const protocol_choices[] = {"smtp", "lmtp", NULL};

static const char *const login_choices[] = {"password", "oauth", NULL};

static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};

#define ROW(member, title, kind, value, ...)             \
	{.name = (title),                                \
	    .type = (kind),                              \
	    .offset = offsetof(struct settings, member), \
	    value,                                       \
	    __VA_ARGS__},
#define TEXT(member, title, value, least, about, ...)                      \
	ROW(member, title, TYPE_TEXT, .text = (value), .minimum = (least), \
	    .help = (about), __VA_ARGS__)
#define INT(member, title, value, least, most, about)                       \
	ROW(member, title, TYPE_INT, .number = (value), .minimum = (least), \
	    .maximum = (most), .help = (about))
#define BOOL(member, title, value, about) \
	ROW(member, title, TYPE_BOOL, .number = (value), .help = (about))
#define CHOICE(member, title, value, list, about)                             \
	ROW(member, title, TYPE_CHOICE, .number = (value), .choices = (list), \
	    .help = (about))
#define SOURCES(member, title, about) \
	ROW(member, title, TYPE_SOURCES, .number = 0, .help = (about))
const struct setting setting_table[] = {
#include "config/setting_rows.h"
};

const size_t setting_count = G_N_ELEMENTS(setting_table);

const struct source_option source_option_table[] = {
    {.name = "name", .type = OPTION_TEXT},
    {.name = "kind", .type = OPTION_TEXT},
    {.name = "url", .type = OPTION_TEXT},
    {.name = "api_url", .type = OPTION_TEXT},
    {.name = "feed_url", .type = OPTION_TEXT},
    {.name = "categories", .type = OPTION_LIST},
    {.name = "list", .type = OPTION_TEXT},
    {.name = "query", .type = OPTION_TEXT},
    {.name = "issn", .type = OPTION_TEXT},
    {.name = "prefix", .type = OPTION_TEXT},
    {.name = "request_interval_s",
        .type = OPTION_INT,
        .minimum = 0,
        .maximum = 600,
        .expected = "a whole number from 0 to 600"},
    {.name = "interval_min",
        .type = OPTION_INT,
        .minimum = 0,
        .maximum = 10080,
        .expected = "a whole number from 0 to 10080"},
    {.name = "days",
        .type = OPTION_INT,
        .minimum = 1,
        .maximum = 14,
        .expected = "a whole number from 1 to 14"},
    {.name = "private", .type = OPTION_BOOL},
    {.name = "enabled", .type = OPTION_BOOL},
};

const size_t source_option_count = G_N_ELEMENTS(source_option_table);

struct settings_source *
settings_source_new(void)
{
	struct settings_source *source = g_new0(struct settings_source, 1);

	source->options =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return source;
}

static void
settings_source_free(void *data)
{
	struct settings_source *source = data;

	g_hash_table_unref(source->options);
	g_free(source->place);
	g_free(source);
}

const char *
settings_get_option(const struct settings_source *source, const char *name)
{
	const char *value = g_hash_table_lookup(source->options, name);

	return value ? value : "";
}

void
settings_set_option(struct settings_source *source, const char *name, const char *value)
{
	g_hash_table_insert(source->options, g_strdup(name), g_strdup(value));
}

static GPtrArray *
new_default_sources(void)
{
	GPtrArray *sources = g_ptr_array_new_with_free_func(settings_source_free);
	struct settings_source *source = settings_source_new();

	source->place = g_strdup("");
	settings_set_option(source, "name", "hf");
	settings_set_option(source, "kind", "huggingface");
	g_ptr_array_add(sources, source);
	return sources;
}

struct settings *
settings_new(void)
{
	struct settings *settings = g_new0(struct settings, 1);

	settings->origins = g_new0(struct setting_origin, setting_count);
	for (size_t i = 0; i < setting_count; i++) {
		switch (setting_table[i].type) {
		case TYPE_TEXT:
			*setting_get_text(settings, &setting_table[i]) =
			    g_strdup(setting_table[i].text);
			break;
		case TYPE_BOOL:
			*setting_get_bool(settings, &setting_table[i]) =
			    setting_table[i].number;
			break;
		case TYPE_INT:
		case TYPE_CHOICE:
			*setting_get_int(settings, &setting_table[i]) =
			    setting_table[i].number;
			break;
		case TYPE_SOURCES:
			settings->sources = new_default_sources();
			break;
		}
	}
	return settings;
}

void
settings_free(struct settings *settings)
{
	if (!settings)
		return;
	for (size_t i = 0; i < setting_count; i++) {
		if (setting_table[i].type == TYPE_TEXT)
			g_free(*setting_get_text(settings, &setting_table[i]));
		g_free(settings->origins[i].file);
	}
	g_free(settings->origins);
	g_ptr_array_unref(settings->sources);
	g_free(settings->path);
	g_free(settings);
}

/* libconfig has no octal escapes and takes non-ASCII text unescaped. */
char *
settings_quote(const char *text)
{
	GString *out = g_string_new("\"");

	for (const char *p = text; *p; p++) {
		if (g_ascii_iscntrl(*p)) {
			g_string_append_printf(out, "\\x%02X", (unsigned)*p);
			continue;
		}
		if (*p == '"' || *p == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *p);
	}
	g_string_append_c(out, '"');
	return g_string_free(out, FALSE);
}

char *
settings_format_source(const struct settings_source *source)
{
	GString *out = g_string_new("{ ");

	for (size_t i = 0; i < source_option_count; i++) {
		const struct source_option *option = &source_option_table[i];
		const char *value = settings_get_option(source, option->name);
		bool is_list = option->type == OPTION_LIST;
		g_auto(GStrv) texts = g_strsplit(value, "\n", -1);
		g_autofree char *joined = NULL;

		if (!*value)
			continue;
		for (char **at = texts; *at; at++)
			if (is_list || option->type == OPTION_TEXT) {
				g_autofree char *text = *at;

				*at = settings_quote(text);
			}
		joined = g_strjoinv(", ", texts);
		g_string_append_printf(
		    out, is_list ? "%s = [ %s ]; " : "%s = %s; ", option->name, joined);
	}
	return g_string_free(g_string_append_c(out, '}'), FALSE);
}

static char *
format_sources(const GPtrArray *sources)
{
	GString *out = g_string_new("(");

	for (unsigned i = 0; i < sources->len; i++) {
		g_autofree char *group = settings_format_source(sources->pdata[i]);

		g_string_append_printf(out, "%s%s", i ? ", " : " ", group);
	}
	return g_string_free(g_string_append(out, " )"), FALSE);
}

static char *
format_value(const struct setting *setting, struct settings *settings)
{
	switch (setting->type) {
	case TYPE_TEXT:
		return settings_quote(*setting_get_text(settings, setting));
	case TYPE_INT:
		return g_strdup_printf("%d", *setting_get_int(settings, setting));
	case TYPE_BOOL:
		return g_strdup(
		    *setting_get_bool(settings, setting) ? "true" : "false");
	case TYPE_CHOICE:
		return g_strdup_printf(
		    "\"%s\"", setting->choices[*setting_get_int(settings, setting)]);
	case TYPE_SOURCES:
		return format_sources(settings->sources);
	}
	return NULL;
}

static char *
format_range(const struct setting *setting)
{
	g_autofree char *list = NULL;

	switch (setting->type) {
	case TYPE_INT:
		return g_strdup_printf(
		    "from %d to %d", setting->minimum, setting->maximum);
	case TYPE_CHOICE:
		list = g_strjoinv("\", \"", (char **)setting->choices);
		return g_strdup_printf("one of \"%s\"", list);
	case TYPE_BOOL:
	case TYPE_TEXT:
	case TYPE_SOURCES:
		break;
	}
	return g_strdup("");
}

/* The addresses of etc/paperboy.conf. */
bool
settings_is_default(const struct settings *settings)
{
	return g_ascii_strcasecmp(settings->mail_from, "paperboy@example.org") == 0 ||
	       g_ascii_strcasecmp(settings->mail_owner, "postmaster@example.org") == 0;
}

void
settings_foreach(const struct settings *settings,
    void (*callback)(const struct settings_row *row, void *data), void *data)
{
	for (size_t i = 0; i < setting_count; i++) {
		g_autofree char *value =
		    format_value(&setting_table[i], (struct settings *)settings);
		g_autofree char *range = format_range(&setting_table[i]);
		const struct settings_row row = {setting_table[i].name,
		    setting_table[i].help, range, value,
		    setting_table[i].needs_restart};

		callback(&row, data);
	}
}

GPtrArray *
settings_list_changes(
    const struct settings *before, const struct settings *after, bool needs_restart)
{
	GPtrArray *names = g_ptr_array_new();

	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		g_autofree char *old = format_value(setting, (struct settings *)before);
		g_autofree char *new = format_value(setting, (struct settings *)after);

		if (strcmp(old, new) != 0 && (setting->needs_restart || !needs_restart))
			g_ptr_array_add(names, (gpointer)setting->name);
	}
	return names;
}
