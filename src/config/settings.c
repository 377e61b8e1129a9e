/*
 * settings.c - everything that paperboy.conf can say.
 */
#include "config/settings.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <libconfig.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "config/numbers.h"

enum setting_type { TYPE_TEXT, TYPE_INT, TYPE_BOOL, TYPE_CHOICE };

struct setting {
	const char *name; /* with its group, "smtp.port" */
	enum setting_type type;
	size_t offset;
	const char *text;           /* default of a text */
	int number;                 /* default of the others */
	int minimum, maximum;       /* of an int; of a text the least length */
	const char *const *choices; /* of a choice, by value */
	const char *help;
};

static const char *const delivery_choices[] = {"smtp", "maildir", NULL};
static const char *const tls_choices[] = {"auto", "off", "starttls", "implicit", NULL};

#define TEXT(n, field, value, least, about)                                  \
	{                                                                    \
		.name = (n), .type = TYPE_TEXT,                              \
		.offset = offsetof(struct settings, field), .text = (value), \
		.minimum = (least), .help = (about)                          \
	}
#define INT(n, field, value, least, most, about)                               \
	{                                                                      \
		.name = (n), .type = TYPE_INT,                                 \
		.offset = offsetof(struct settings, field), .number = (value), \
		.minimum = (least), .maximum = (most), .help = (about)         \
	}
#define BOOL(n, field, value, about)                                           \
	{                                                                      \
		.name = (n), .type = TYPE_BOOL,                                \
		.offset = offsetof(struct settings, field), .number = (value), \
		.help = (about)                                                \
	}
#define CHOICE(n, field, value, list, about)                                   \
	{                                                                      \
		.name = (n), .type = TYPE_CHOICE,                              \
		.offset = offsetof(struct settings, field), .number = (value), \
		.choices = (list), .help = (about)                             \
	}

/* A text whose least length is 1 must be set when there is no default. */
static const struct setting table[] = {
    TEXT("state_dir", state_dir, PAPERBOY_STATEDIR, 1,
        "folder of the store and the key; only its owner may enter"),
    TEXT("template_dir", template_dir, PAPERBOY_TEMPLATEDIR, 1,
        "folder of the templates"),
    TEXT("log_level", log_level, "info", 1, "error, warning, info or debug"),
    TEXT("mail.from", mail_from, "", 1, "address that digests come from"),
    TEXT("mail.from_name", mail_from_name, "paperboy", 0, "name beside it"),
    TEXT("mail.owner", mail_owner, "", 1, "address of the person who answers for it"),
    TEXT("mail.envelope_from", mail_envelope_from, "", 0,
        "address for bounces; empty: mail.from"),
    TEXT("mail.domain", mail_domain, "", 0,
        "domain of Message-IDs; empty: that of mail.from"),
    TEXT("mail.list_id", mail_list_id, "", 0, "List-Id; empty: digest.DOMAIN"),
    TEXT("digest.zone", digest_zone, "UTC", 1, "time zone of a new subscriber"),
    TEXT("digest.at", digest_at, "07:30", 1, "local hour of a new subscriber's digest"),
    INT("digest.max", digest_max, 20, 1, 200,
        "papers with abstract in a new subscriber's digest"),
    INT("collect.interval_s", collect_interval_s, 1800, 60, 86400,
        "seconds between two looks at the sources"),
    TEXT("collect.contact", collect_contact, "", 0,
        "contact in the User-Agent; empty: mail.owner"),
    BOOL("huggingface.enabled", huggingface_enabled, true,
        "collect Hugging Face's Daily Papers"),
    TEXT("huggingface.url", huggingface_url, "https://huggingface.co", 1,
        "the service, or a mirror; file:///folder reads daily_papers-DAY.json there"),
    CHOICE("delivery.method", delivery, SETTINGS_DELIVERY_SMTP, delivery_choices,
        "smtp, or maildir for a local folder"),
    TEXT("delivery.maildir", maildir, "", 0, "the folder, when the method is maildir"),
    INT("delivery.give_up_h", give_up_h, 36, 1, 120,
        "hours after which a digest that cannot be sent is given up"),
    TEXT("smtp.host", smtp_host, "localhost", 1, "the relay"),
    INT("smtp.port", smtp_port, 25, 1, 65535, "its port"),
    CHOICE("smtp.tls", smtp_tls, SETTINGS_TLS_AUTO, tls_choices,
        "auto (starttls, but off on loopback), off, starttls or implicit"),
    TEXT("smtp.ca_file", smtp_ca_file, "", 0,
        "certificates to trust; empty: those of the system"),
    TEXT("smtp.user", smtp_user, "", 0, "log in as; empty: do not log in"),
    TEXT("smtp.password_file", smtp_password_file, "", 0,
        "file with the password, mode 0600; a bare name is a systemd credential"),
    TEXT("smtp.ehlo_name", smtp_ehlo_name, "", 0, "our name; empty: mail.domain"),
    INT("smtp.connections", smtp_connections, 2, 1, 50, "connections at a time"),
};

static char **
text_of(struct settings *settings, const struct setting *setting)
{
	return (char **)((char *)settings + setting->offset);
}

static int *
int_of(struct settings *settings, const struct setting *setting)
{
	return (int *)((char *)settings + setting->offset);
}

static bool *
bool_of(struct settings *settings, const struct setting *setting)
{
	return (bool *)((char *)settings + setting->offset);
}

struct settings *
settings_new(void)
{
	struct settings *settings = g_new0(struct settings, 1);

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		switch (table[i].type) {
		case TYPE_TEXT:
			*text_of(settings, &table[i]) = g_strdup(table[i].text);
			break;
		case TYPE_BOOL:
			*bool_of(settings, &table[i]) = table[i].number;
			break;
		case TYPE_INT:
		case TYPE_CHOICE:
			*int_of(settings, &table[i]) = table[i].number;
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
	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (table[i].type == TYPE_TEXT)
			g_free(*text_of(settings, &table[i]));
	g_free(settings);
}

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
	g_free(*text_of(reading->settings, setting));
	*text_of(reading->settings, setting) = g_strdup(text);
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
		*int_of(reading->settings, setting) = (int)number;
}

static void
read_choice(
    struct reading *reading, const struct setting *setting, const config_setting_t *at)
{
	const char *text = config_setting_get_string(at);
	g_autofree char *list = g_strjoinv("\", \"", (char **)setting->choices);

	for (int i = 0; text && setting->choices[i]; i++) {
		if (strcmp(text, setting->choices[i]) == 0) {
			*int_of(reading->settings, setting) = i;
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
			*bool_of(reading->settings, setting) =
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

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (strncmp(table[i].name, name, length) == 0 &&
		    table[i].name[length] == '.')
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
		while (row < G_N_ELEMENTS(table) && strcmp(table[row].name, name) != 0)
			row++;
		if (row == G_N_ELEMENTS(table))
			add_problem(reading, at, "unknown setting \"%s\"", name);
		else
			read_setting(reading, &table[row], at);
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
	static const char *const levels[] = {"error", "warning", "info", "debug", NULL};
	struct settings *settings = reading->settings;

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (table[i].type == TYPE_TEXT && table[i].minimum > 0 &&
		    !**text_of(settings, &table[i]))
			add_problem(reading, NULL, "%s is not set: %s", table[i].name,
			    table[i].help);
	if (!g_strv_contains(levels, settings->log_level))
		add_problem(reading, NULL,
		    "log_level must be one of \"error\", \"warning\", \"info\", "
		    "\"debug\"");
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

/* As libconfig reads it back: it knows no octal, and letters beyond ASCII as they are.
 */
static char *
format_text(const char *text)
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

static char *
format_value(const struct setting *setting, struct settings *settings)
{
	switch (setting->type) {
	case TYPE_TEXT:
		return format_text(*text_of(settings, setting));
	case TYPE_INT:
		return g_strdup_printf("%d", *int_of(settings, setting));
	case TYPE_BOOL:
		return g_strdup(*bool_of(settings, setting) ? "true" : "false");
	case TYPE_CHOICE:
		return g_strdup_printf(
		    "\"%s\"", setting->choices[*int_of(settings, setting)]);
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
		break;
	}
	return g_strdup("");
}

void
settings_visit(const struct settings *settings,
    void (*visit)(const struct settings_row *row, void *data), void *data)
{
	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *value =
		    format_value(&table[i], (struct settings *)settings);
		g_autofree char *range = format_range(&table[i]);
		const struct settings_row row = {
		    table[i].name, table[i].help, range, value};

		visit(&row, data);
	}
}

/* Configuration text as it grows, and the group that is open. */
struct writing {
	GString *text;
	char *group; /* or NULL */
};

static void
write_setting(const struct settings_row *row, void *data)
{
	struct writing *writing = data;
	const char *dot = strchr(row->name, '.');
	g_autofree char *group =
	    dot ? g_strndup(row->name, (gsize)(dot - row->name)) : NULL;

	if (g_strcmp0(group, writing->group) != 0) {
		g_string_append_printf(
		    writing->text, "%s%s: {\n", writing->group ? "};\n" : "", group);
		g_free(writing->group);
		writing->group = g_steal_pointer(&group);
	}
	g_string_append_printf(writing->text, "%s# %s\n%s%s = %s;\n", dot ? "\t" : "",
	    row->help, dot ? "\t" : "", dot ? dot + 1 : row->name, row->value);
}

char *
settings_format(const struct settings *settings)
{
	struct writing writing = {.text = g_string_new(NULL)};

	settings_visit(settings, write_setting, &writing);
	if (writing.group)
		g_string_append(writing.text, "};\n");
	g_free(writing.group);
	return g_string_free(writing.text, FALSE);
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
