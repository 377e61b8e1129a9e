/*
 * settings_parse.c - parse paperboy.conf and check its values.
 */
#include <libconfig.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/error.h"
#include "config/include.h"
#include "config/recover.h"
#include "config/setting.h"
#include "config/settings.h"

struct parse {
	struct settings *settings;
	GPtrArray *problems;
	struct source_map *map;
	bool is_truncated; /* by a syntax error */
};

#define add_problem(parse, at, ...)                             \
	source_map_add_problem((parse)->map, (parse)->problems, \
	    config_setting_source_line(at), __VA_ARGS__)

/* The type of a value, for error messages. */
static const char *
get_type_name(const config_setting_t *at)
{
	switch (config_setting_type(at)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a number";
	case CONFIG_TYPE_FLOAT:
		return "a number with a fraction";
	case CONFIG_TYPE_STRING:
		return "a quoted text";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_GROUP:
		return "a group";
	default: /* Array or list; libconfig has no enum for it. */
		return "a list";
	}
}

static bool
has_control(const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		if (g_unichar_iscntrl(g_utf8_get_char(text)))
			return true;
	return false;
}

static bool
report_choice(
    struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	g_autofree char *list = g_strjoinv("\", \"", (char **)setting->choices);

	add_problem(parse, at, "%s must be one of \"%s\"", setting->name, list);
	return false;
}

static bool
read_text(
    struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	const char *text = config_setting_get_string(at);

	if (!text)
		add_problem(parse, at, "%s must be a quoted text, not %s",
		    setting->name, get_type_name(at));
	else if (!g_utf8_validate(text, -1, NULL) || has_control(text))
		add_problem(parse, at,
		    "%s must be UTF-8 on one line, without control characters",
		    setting->name);
	else if ((int)strlen(text) < setting->minimum)
		add_problem(parse, at, "%s must not be empty", setting->name);
	else if (setting->choices && !g_strv_contains(setting->choices, text))
		return report_choice(parse, setting, at);
	else {
		g_free(*setting_get_text(parse->settings, setting));
		*setting_get_text(parse->settings, setting) = g_strdup(text);
		return true;
	}
	return false;
}

static bool
read_int(struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	long long number = config_setting_type(at) == CONFIG_TYPE_INT64
	                       ? config_setting_get_int64(at)
	                       : config_setting_get_int(at);

	if (config_setting_type(at) != CONFIG_TYPE_INT &&
	    config_setting_type(at) != CONFIG_TYPE_INT64) {
		add_problem(parse, at, "%s must be a whole number, not %s",
		    setting->name, get_type_name(at));
		return false;
	}
	if (number < setting->minimum || number > setting->maximum) {
		add_problem(parse, at, "%s must be from %d to %d", setting->name,
		    setting->minimum, setting->maximum);
		return false;
	}
	*setting_get_int(parse->settings, setting) = (int)number;
	return true;
}

static bool
read_bool(
    struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	if (config_setting_type(at) != CONFIG_TYPE_BOOL) {
		add_problem(parse, at,
		    "%s must be true or false, without quotes, not %s", setting->name,
		    get_type_name(at));
		return false;
	}
	*setting_get_bool(parse->settings, setting) = config_setting_get_bool(at);
	return true;
}

static bool
read_choice(
    struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	const char *text = config_setting_get_string(at);

	for (int i = 0; text && setting->choices[i]; i++) {
		if (strcmp(text, setting->choices[i]) == 0) {
			*setting_get_int(parse->settings, setting) = i;
			return true;
		}
	}
	return report_choice(parse, setting, at);
}

static bool
read_value(
    struct parse *parse, const struct setting *setting, const config_setting_t *at)
{
	switch (setting->type) {
	case TYPE_TEXT:
		return read_text(parse, setting, at);
	case TYPE_INT:
		return read_int(parse, setting, at);
	case TYPE_BOOL:
		return read_bool(parse, setting, at);
	case TYPE_CHOICE:
		return read_choice(parse, setting, at);
	}
	return false;
}

static void
read_setting(struct parse *parse, size_t row, const config_setting_t *at)
{
	const struct source_map_origin *origin =
	    source_map_find(parse->map, config_setting_source_line(at));
	struct setting_origin *setting_origin = &parse->settings->origins[row];

	setting_origin->line = origin->line;
	g_free(setting_origin->file);
	setting_origin->file = g_strdup(origin->file);
	setting_origin->is_invalid =
	    origin->is_invalid || !read_value(parse, &setting_table[row], at);
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

/* "port" of "smtp.port" */
static const char *
get_own_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

/* @return the most similar setting; NULL when none is similar */
static const struct setting *
suggest_setting(const char *name)
{
	g_autofree const char **names = g_new0(const char *, setting_count + 1);
	const char *nearest;

	/* The same name in another group. */
	for (size_t i = 0; i < setting_count; i++)
		if (strcmp(get_own_name(setting_table[i].name), get_own_name(name)) ==
		    0)
			return &setting_table[i];
	for (size_t i = 0; i < setting_count; i++)
		names[i] = setting_table[i].name;
	nearest = edit_distance_find_closest(name, names);
	for (size_t i = 0; nearest && i < setting_count; i++)
		if (setting_table[i].name == nearest)
			return &setting_table[i];
	return NULL;
}

/* @return the most similar group, a new string; NULL when none is similar */
static char *
suggest_group(const char *name)
{
	g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < setting_count; i++) {
		const char *known = setting_table[i].name;
		size_t size = (size_t)(get_own_name(known) - known);

		if (size)
			g_ptr_array_add(groups, g_strndup(known, size - 1));
	}
	g_ptr_array_add(groups, NULL);
	return g_strdup(
	    edit_distance_find_closest(name, (const char *const *)groups->pdata));
}

static void
report_unknown(struct parse *parse, const char *name, const config_setting_t *at)
{
	bool is_group = config_setting_is_group(at) && !strchr(name, '.');
	g_autofree char *group = is_group ? suggest_group(name) : NULL;
	const struct setting *suggested = is_group ? NULL : suggest_setting(name);
	const char *own = suggested ? get_own_name(suggested->name) : NULL;

	if (group)
		add_problem(parse, at, "unknown group \"%s\": did you mean \"%s\"?",
		    name, group);
	else if (is_group)
		add_problem(parse, at, "unknown group \"%s\"", name);
	else if (!suggested)
		add_problem(parse, at, "unknown setting \"%s\"", name);
	else if (strcmp(own, get_own_name(name)) != 0)
		add_problem(parse, at, "unknown setting \"%s\": did you mean \"%s\"?",
		    name, suggested->name);
	else if (own == suggested->name)
		add_problem(parse, at,
		    "unknown setting \"%s\": %s does not belong to a group", name, own);
	else
		add_problem(parse, at,
		    "unknown setting \"%s\": write it as %.*s: { %s = ...; };", name,
		    (int)(own - suggested->name - 1), suggested->name, own);
}

static void
read_group(struct parse *parse, const config_setting_t *group, const char *prefix)
{
	for (int i = 0; i < config_setting_length(group); i++) {
		const config_setting_t *at =
		    config_setting_get_elem(group, (unsigned)i);
		g_autofree char *name =
		    g_strconcat(prefix, config_setting_name(at), NULL);
		size_t row = 0;

		/* A syntax error in it has been reported. */
		if (config_setting_type(at) == CONFIG_TYPE_NONE)
			continue;
		if (!*prefix && is_group(name)) {
			g_autofree char *inner = g_strconcat(name, ".", NULL);

			if (config_setting_is_group(at))
				read_group(parse, at, inner);
			else
				add_problem(parse, at,
				    "%s is a group: write %s: { ... };", name, name);
			continue;
		}
		while (
		    row < setting_count && strcmp(setting_table[row].name, name) != 0)
			row++;
		if (row == setting_count)
			report_unknown(parse, name, at);
		else
			read_setting(parse, row, at);
	}
}

static const struct setting_origin *
get_origin(const struct settings *settings, const char *name)
{
	size_t row = 0;

	while (row < setting_count && strcmp(setting_table[row].name, name) != 0)
		row++;
	g_assert(row < setting_count);
	return &settings->origins[row];
}

static void G_GNUC_PRINTF(3, 4)
    add_combined(struct parse *parse, const char *name, const char *format, ...)
{
	g_autofree char *place = settings_format_place(parse->settings, name);
	g_autofree char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(parse->problems, g_strdup_printf("%s: %s", place, message));
}

/* Invalid combinations of valid values, and missing settings. */
static void
check_combinations(struct parse *parse)
{
	struct settings *settings = parse->settings;

	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].type == TYPE_TEXT &&
		    setting_table[i].minimum > 0 && !settings->origins[i].is_invalid &&
		    !parse->is_truncated &&
		    !**setting_get_text(settings, &setting_table[i]))
			add_combined(parse, setting_table[i].name, "%s is not set: %s",
			    setting_table[i].name, setting_table[i].help);
	if (settings->delivery == SETTINGS_DELIVERY_MAILDIR && !*settings->maildir &&
	    !settings_has_error(settings, "delivery.maildir") && !parse->is_truncated)
		add_combined(parse, "delivery.method",
		    "delivery.method is maildir, but delivery.maildir is not set");
	if (settings->smtp_login == SETTINGS_LOGIN_OAUTH && !*settings->smtp_user &&
	    !settings_has_error(settings, "smtp.user") && !parse->is_truncated)
		add_combined(
		    parse, "smtp.login", "smtp.login is set, but smtp.user is not");
	if (settings->smtp_login == SETTINGS_LOGIN_PASSWORD && *settings->smtp_user &&
	    !*settings->smtp_password_file &&
	    !settings_has_error(settings, "smtp.login") &&
	    !settings_has_error(settings, "smtp.password_file") && !parse->is_truncated)
		add_combined(parse, "smtp.user",
		    "smtp.user is set, but smtp.password_file is not");
	if (settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP && *settings->smtp_user)
		add_combined(
		    parse, "smtp.user", "smtp.user is set, but LMTP has no login");
	if (settings->smtp_protocol == SETTINGS_PROTOCOL_LMTP &&
	    settings->smtp_tls != SETTINGS_TLS_AUTO &&
	    settings->smtp_tls != SETTINGS_TLS_OFF)
		add_combined(parse, "smtp.tls", "smtp.tls is set, but LMTP has no TLS");
}

char *
settings_format_place(const struct settings *settings, const char *name)
{
	const struct setting_origin *origin = get_origin(settings, name);

	return origin->file ? g_strdup_printf("%s:%u", origin->file, origin->line)
	                    : g_strdup(settings->path ? settings->path : "defaults");
}

bool
settings_has_error(const struct settings *settings, const char *name)
{
	return get_origin(settings, name)->is_invalid;
}

struct settings *
settings_read(const char *path, GPtrArray *problems)
{
	pb_auto(source_map) map = source_map_load(path, problems);
	pb_auto(settings) settings = NULL;
	struct parse parse = {NULL, problems, map, false};
	config_t config;

	if (!map)
		return NULL;
	settings = settings_new();
	settings->path = g_strdup(path);
	parse.settings = settings;
	config_init(&config);
	parse.is_truncated = !recover_parse(&config, map, problems);
	read_group(&parse, config_root_setting(&config), "");
	check_combinations(&parse);
	config_destroy(&config);
	return g_steal_pointer(&settings);
}

struct settings *
settings_load(const char *path, GPtrArray *problems, GError **error)
{
	unsigned before = problems->len;
	pb_auto(settings) settings = settings_read(path, problems);

	if (problems->len == before)
		return g_steal_pointer(&settings);
	pb_fail(error, PB_ERROR_INPUT, "'%s' has %u error%s", path,
	    problems->len - before, problems->len - before == 1 ? "" : "s");
	return NULL;
}
