/*
 * settings_parse.c - parse paperboy.conf and check its values.
 */
#include <libconfig.h>
#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/text.h"
#include "config/setting.h"
#include "config/settings.h"
#include "config/text_file.h"

/* Maximum number of characters of a line that an error message quotes. */
#define QUOTE_CHARS 50

/* Setting after the last line: missing from the result when a comment is not ended,
 * which libconfig does not report. */
#define END_NAME "*end"

/*
 * libconfig reads one text, in which we have replaced each @include: libconfig 1.5 ends
 * the process when the included file is a directory, waits for a pipe, and does not
 * find an absolute name.
 */
struct parse {
	struct settings *settings;
	GPtrArray *problems;
	char *directory; /* of the main file, to which names are relative */
	GString *text;
	GArray *lines;                  /* of struct line, those of the text */
	GPtrArray *files;               /* of char *, the names in lines */
	bool is_truncated;              /* by a problem, which has been reported */
	const config_setting_t *former; /* from before the list `sources`, or NULL */
	char *where; /* before messages, "source \"hf\": "; or NULL */
};

struct line {
	const char *file;
	unsigned number; /* in the file, from 1; 0: the whole file */
	size_t offset;   /* in the text */
};

static void
parse_clear(struct parse *parse)
{
	settings_free(parse->settings);
	g_free(parse->directory);
	g_string_free(parse->text, TRUE);
	g_array_unref(parse->lines);
	g_ptr_array_unref(parse->files);
}

/* @return "file:line", a new string */
static char *
format_place(const struct line *line)
{
	return line->number ? g_strdup_printf("%s:%u", line->file, line->number)
	                    : g_strdup(line->file);
}

static void G_GNUC_PRINTF(3, 4)
    report(struct parse *parse, const struct line *line, const char *format, ...)
{
	g_autofree char *place = format_place(line);
	g_autofree char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(parse->problems,
	    g_strconcat(place, ": ", parse->where ? parse->where : "", message, NULL));
}

/* @param number  in the text, from 1; one after its end is that of the last line */
static const struct line *
find_line(const struct parse *parse, unsigned number)
{
	return &g_array_index(
	    parse->lines, struct line, CLAMP(number, 1, parse->lines->len) - 1);
}

#define add_problem(parse, at, ...) \
	report((parse), find_line((parse), config_setting_source_line(at)), __VA_ARGS__)

static bool
add_file(struct parse *parse, const char *path, const struct line *includer);

/* @param text  from "@include" on */
static bool
add_included(struct parse *parse, const char *text, const struct line *line)
{
	g_auto(GStrv) parts = g_strsplit(text, "\"", 3);
	g_autofree char *path = NULL;

	g_strstrip(parts[0]);
	if (strcmp(parts[0], "@include") != 0 || g_strv_length(parts) < 3 ||
	    !*parts[1] || !strchr("#/;", *g_strchug(parts[2]))) {
		report(parse, line, "expected @include \"FILE\" on a line of its own");
		return false;
	}
	path = g_path_is_absolute(parts[1]) || strcmp(parse->directory, ".") == 0
	           ? g_strdup(parts[1])
	           : g_build_filename(parse->directory, parts[1], NULL);
	return add_file(parse, path, line);
}

/* @return false after the first problem, which has been reported */
static bool
add_file(struct parse *parse, const char *path, const struct line *includer)
{
	struct line line = {.file = g_strdup(path)};
	g_autofree char *problem = NULL;
	pb_local(text_file) file = {0};

	g_ptr_array_add(parse->files, (gpointer)line.file);
	problem = parse->files->len > BOUNDS_SETTINGS_FILES
	              ? g_strdup_printf("more than %d files (does one include itself?)",
	                    BOUNDS_SETTINGS_FILES)
	              : text_file_load(&file, path, BOUNDS_SETTINGS_BYTES);
	if (problem) {
		report(parse, includer ? includer : &line,
		    includer ? "cannot include '%s': %s"
		             : "%.0scannot read the file: %s",
		    path, problem);
		return false;
	}
	for (char *at = file.text, *end; at; at = end) {
		const char *text = at + strspn(at, " \t");

		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		line.number++;
		line.offset = parse->text->len;
		if (g_str_has_prefix(text, "@include")) {
			if (!add_included(parse, text, &line))
				return false;
			continue;
		}
		g_string_append_printf(parse->text, "%s\n", at);
		g_array_append_val(parse->lines, line);
	}
	return true;
}

static void
report_syntax_error(struct parse *parse, const config_t *config)
{
	unsigned number = (unsigned)config_error_line(config);
	const struct line *line = find_line(parse, number);
	const char *text = parse->text->str + line->offset;
	g_autofree char *copy = g_strndup(text, strcspn(text, "\n"));
	g_autofree char *quoted = NULL;

	g_strdelimit(copy, "\t", ' ');
	quoted = text_quote(g_strstrip(copy), QUOTE_CHARS);
	if (number > parse->lines->len)
		report(parse, line, "unexpected end of file (missing '}' or quote?)");
	else if (strstr(config_error_text(config), "duplicate"))
		report(parse, line, "duplicate setting: %s", quoted);
	else
		report(parse, line,
		    "syntax error here or before (missing quote, '=', ';' or ','?): %s",
		    quoted);
}

static void
read_lines(struct parse *parse, config_t *config)
{
	bool is_read, has_end;

	g_string_append(parse->text, END_NAME " = true;\n");
	is_read = config_read_string(config, parse->text->str) == CONFIG_TRUE;
	has_end = config_lookup(config, END_NAME);
	if (parse->is_truncated)
		return;
	parse->is_truncated = !is_read || !has_end;
	if (!is_read)
		report_syntax_error(parse, config);
	else if (!has_end)
		report(parse, find_line(parse, parse->lines->len),
		    "unexpected end of file (missing */?)");
}

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

/*
 * libconfig 1.5 keeps the lower 32 bits of a larger number without the suffix L:
 * 4294967321 would be 25.  No setting allows nine digits.
 */
static bool
has_nine_digits(const struct parse *parse, const config_setting_t *at)
{
	const struct line *line = find_line(parse, config_setting_source_line(at));
	g_autofree char *pattern =
	    g_strdup_printf("[^\n]*?\\b%s(?:\\s|[=:]|#[^\n]*|//[^\n]*|/\\*.*?\\*/)*"
	                    "[-+]?(0[xX])?[[:xdigit:]]{9}",
	        config_setting_name(at));
	g_autoptr(GRegex) regex =
	    g_regex_new(pattern, G_REGEX_RAW | G_REGEX_DOTALL, 0, NULL);

	return g_regex_match(
	    regex, parse->text->str + line->offset, G_REGEX_MATCH_ANCHORED, NULL);
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
	if (number < setting->minimum || number > setting->maximum ||
	    has_nine_digits(parse, at)) {
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

/* ---- sources ---- */

/* Append a text that read_text() takes, too. */
static bool
append_text(const char *text, GString *out)
{
	if (!text || !*text || !g_utf8_validate(text, -1, NULL) || has_control(text))
		return false;
	g_string_append_printf(out, "%s%s", out->len ? "\n" : "", text);
	return true;
}

/* @param out  set to the value of an option. @return NULL, or what is expected */
static const char *
read_option(const struct parse *parse, const struct source_option *option,
    const config_setting_t *at, GString *out)
{
	int type = config_setting_type(at), number = config_setting_get_int(at);
	bool is_ok = false;

	switch (option->type) {
	case OPTION_TEXT:
		return append_text(config_setting_get_string(at), out)
		           ? NULL
		           : "a quoted text on one line";
	case OPTION_LIST:
		is_ok = config_setting_is_aggregate(at) && config_setting_length(at);
		for (int i = 0; is_ok && i < config_setting_length(at); i++)
			is_ok = append_text(config_setting_get_string_elem(at, i), out);
		return is_ok ? NULL : "a list of quoted texts, [ \"...\", \"...\" ]";
	case OPTION_INT:
		g_string_printf(out, "%d", number);
		is_ok = type == CONFIG_TYPE_INT && number >= option->minimum &&
		        number <= option->maximum && !has_nine_digits(parse, at);
		return is_ok ? NULL : option->expected;
	case OPTION_BOOL:
		g_string_assign(out, config_setting_get_bool(at) ? "true" : "false");
		return type == CONFIG_TYPE_BOOL ? NULL
		                                : "true or false, without quotes";
	}
	return NULL;
}

static void
add_option(
    struct parse *parse, struct settings_source *source, const config_setting_t *at)
{
	g_autofree const char **names = g_new0(const char *, source_option_count + 1);
	const char *name = config_setting_name(at), *nearest, *expected;
	g_autoptr(GString) value = g_string_new(NULL);

	for (size_t i = 0; i < source_option_count; i++) {
		names[i] = source_option_table[i].name;
		if (strcmp(names[i], name) != 0)
			continue;
		expected = read_option(parse, &source_option_table[i], at, value);
		if (expected)
			add_problem(parse, at, "%s must be %s", name, expected);
		else
			settings_set_option(source, name, value->str);
		return;
	}
	nearest = edit_distance_find_closest(name, names);
	add_problem(parse, at, "unknown option \"%s\"%s%s%s", name,
	    nearest ? ": did you mean \"" : "", nearest ? nearest : "",
	    nearest ? "\"?" : "");
}

/* Check the name, which its lists in the store have.  @param sources  those before */
static void
check_name(struct parse *parse, const char *name, const GPtrArray *sources,
    const config_setting_t *group)
{
	/* Not what ids of papers begin with ("doi:"), nor the name under which the
	 * store has the state of a lookup. */
	if (*name && !g_regex_match_simple(
	                 "^(?!(doi|pmid|pmcid|(arxiv|europepmc|crossref)-api)$)"
	                 "[a-z][a-z0-9-]{0,29}$",
	                 name, 0, 0))
		add_problem(parse, group,
		    "invalid name (expected a letter, then a to z, digits and hyphens, "
		    "at most 30, and not doi)");
	for (unsigned i = 0; *name && i < sources->len; i++)
		if (strcmp(settings_get_option(sources->pdata[i], "name"), name) == 0)
			add_problem(parse, group, "duplicate name: choose another one");
}

/* @param number  in the list, from 1 */
static struct settings_source *
read_source(struct parse *parse, const GPtrArray *sources, int number,
    const config_setting_t *group)
{
	struct settings_source *source = settings_source_new();
	g_autofree char *place =
	    format_place(find_line(parse, config_setting_source_line(group)));
	unsigned before = parse->problems->len;
	const char *name = NULL;
	g_autofree char *quoted = NULL;

	config_setting_lookup_string(group, "name", &name);
	quoted = text_quote(name ? name : "", QUOTE_CHARS);
	parse->where = name ? g_strdup_printf("source \"%s\": ", quoted)
	                    : g_strdup_printf("source %d: ", number);
	source->place = g_strconcat(place, ": ", parse->where, NULL);
	for (int i = 0; i < config_setting_length(group); i++)
		add_option(parse, source, config_setting_get_elem(group, (unsigned)i));
	check_name(parse, settings_get_option(source, "name"), sources, group);
	for (unsigned i = 0; i < 2; i++) /* name and kind */
		if (!config_setting_get_member(group, source_option_table[i].name))
			add_problem(parse, group, "%s is missing: write %s = \"...\";",
			    source_option_table[i].name, source_option_table[i].name);
	source->is_invalid = parse->problems->len > before;
	g_clear_pointer(&parse->where, g_free);
	return source;
}

static bool
read_sources(struct parse *parse, const config_setting_t *at)
{
	GPtrArray *sources = parse->settings->sources;
	int count = config_setting_is_list(at) ? config_setting_length(at) : -1;

	/* The last group would be reported as incomplete. */
	if (parse->is_truncated)
		return true;
	if (count >= 0)
		g_ptr_array_set_size(sources, 0);
	for (int i = 0; i < count; i++) {
		const config_setting_t *group =
		    config_setting_get_elem(at, (unsigned)i);

		if (config_setting_is_group(group))
			g_ptr_array_add(
			    sources, read_source(parse, sources, i + 1, group));
	}
	if ((int)sources->len == count)
		return true;
	add_problem(parse, at,
	    "sources must be a list of groups: ( { name = \"...\"; kind = \"...\"; }, "
	    "... )");
	return false;
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
	case TYPE_SOURCES:
		return read_sources(parse, at);
	}
	return false;
}

static void
read_setting(struct parse *parse, size_t row, const config_setting_t *at)
{
	const struct line *line = find_line(parse, config_setting_source_line(at));
	struct setting_origin *origin = &parse->settings->origins[row];

	origin->line = line->number;
	g_free(origin->file);
	origin->file = g_strdup(line->file);
	origin->is_invalid = !read_value(parse, &setting_table[row], at);
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

/* Settings instead of which there is the list `sources`. */
static const struct {
	const char *name, *instead;
} replaced[] = {
    {"huggingface", "sources = ( { name = \"hf\"; kind = \"huggingface\"; }, ... );"},
    {"arxiv",
        "sources = ( { name = \"arxiv\"; kind = \"arxiv\"; categories = [ \"cs.CL\" ]; "
        "}, ... ); and for the lookup of papers enrich: { arxiv = true; };"},
    {"feeds",
        "sources = ( { name = \"lab\"; kind = \"feed\"; url = \"https://...\"; }, "
        "... );"},
    {"collect.private", "sources = ( { name = \"lab\"; ... private = true; }, ... );"},
};

static bool
report_replaced(struct parse *parse, const char *name, const config_setting_t *at)
{
	for (size_t i = 0; i < G_N_ELEMENTS(replaced); i++)
		if (strcmp(replaced[i].name, name) == 0) {
			add_problem(parse, at, "%s is not a setting: write %s", name,
			    replaced[i].instead);
			return true;
		}
	return false;
}

/*
 * Read a setting from before the list `sources`, which the usual sources need only.
 *
 * @param name  "url" of "huggingface"
 * @return false for others
 */
static bool
read_former(struct parse *parse, const char *group, const config_setting_t *at)
{
	const char *name = config_setting_name(at);
	const char *text = config_setting_get_string(at);
	bool is_bool = config_setting_type(at) == CONFIG_TYPE_BOOL;
	bool is_on = is_bool && config_setting_get_bool(at);
	g_autofree char *place = NULL;
	struct settings_source *usual =
	    parse->settings->sources->len ? parse->settings->sources->pdata[0] : NULL;

	if (strcmp(group, "arxiv") == 0 && strcmp(name, "enrich") == 0 && is_bool) {
		parse->settings->enrich_arxiv = is_on;
		parse->settings->enrich_europepmc = is_on;
		parse->settings->enrich_crossref = is_on;
		return true;
	}
	if (strcmp(group, "huggingface") != 0 || !usual)
		return false;
	parse->former = at;
	place = format_place(find_line(parse, config_setting_source_line(at)));
	g_free(usual->place);
	usual->place = g_strconcat(place, ": huggingface: ", NULL);
	if (strcmp(name, "url") == 0 && text && *text)
		settings_set_option(usual, name, text);
	else if (strcmp(name, "enabled") == 0 && is_bool)
		settings_set_option(usual, name, is_on ? "true" : "false");
	else
		return false;
	return true;
}

/* Read a group; @return whether it has former settings only. */
static bool
read_former_group(struct parse *parse, const char *name, const config_setting_t *at)
{
	bool is_former = config_setting_is_group(at) && config_setting_length(at);

	for (int i = 0; is_former && i < config_setting_length(at); i++)
		is_former =
		    read_former(parse, name, config_setting_get_elem(at, (unsigned)i));
	return is_former;
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

		/* A setting with a syntax error, which has been reported, and the end
		 * that was added to the text. */
		if (config_setting_type(at) == CONFIG_TYPE_NONE ||
		    strcmp(config_setting_name(at), END_NAME) == 0 ||
		    read_former_group(parse, name, at) ||
		    report_replaced(parse, name, at))
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
		    !**setting_get_text(settings, &setting_table[i]))
			add_combined(parse, setting_table[i].name, "%s is not set: %s",
			    setting_table[i].name, setting_table[i].help);
	if (settings->delivery == SETTINGS_DELIVERY_MAILDIR && !*settings->maildir &&
	    !settings_has_error(settings, "delivery.maildir"))
		add_combined(parse, "delivery.method",
		    "delivery.method is maildir, but delivery.maildir is not set");
	if (settings->smtp_login == SETTINGS_LOGIN_OAUTH && !*settings->smtp_user &&
	    !settings_has_error(settings, "smtp.user"))
		add_combined(
		    parse, "smtp.login", "smtp.login is set, but smtp.user is not");
	if (settings->smtp_login == SETTINGS_LOGIN_PASSWORD && *settings->smtp_user &&
	    !*settings->smtp_password_file &&
	    !settings_has_error(settings, "smtp.login") &&
	    !settings_has_error(settings, "smtp.password_file"))
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
	pb_local(parse) parse = {
	    .problems = problems,
	    .directory = g_path_get_dirname(path),
	    .text = g_string_new(NULL),
	    .lines = g_array_new(FALSE, FALSE, sizeof(struct line)),
	    .files = g_ptr_array_new_with_free_func(g_free),
	};
	config_t config;

	parse.is_truncated = !add_file(&parse, path, NULL);
	if (!parse.lines->len)
		return NULL;
	parse.settings = settings_new();
	parse.settings->path = g_strdup(path);
	config_init(&config);
	read_lines(&parse, &config);
	/* Of a truncated text libconfig has the settings before the problem. */
	read_group(&parse, config_root_setting(&config), "");
	if (parse.former && get_origin(parse.settings, "sources")->file)
		add_problem(&parse, parse.former,
		    "huggingface and sources are both set: remove huggingface");
	if (!parse.is_truncated)
		check_combinations(&parse);
	config_destroy(&config);
	return g_steal_pointer(&parse.settings);
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
