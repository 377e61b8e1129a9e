/*
 * include.c - expand @include, keeping the origin of each line.
 */
#include "config/include.h"

#include <string.h>

#include "base/bounds.h"
#include "config/text_file.h"

/* A file being read. */
struct reader {
	struct source_map *map;
	GPtrArray *problems;
	const char *directory; /* of the main file */
	const struct reader *outer;
	const char *file;
	struct text_file text;
	unsigned line;
	unsigned depth;
};

static bool read_file(struct reader *reader, const char *path);

static void
    G_GNUC_PRINTF(2, 3) add_problem(struct reader *reader, const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(reader->problems,
	    reader->line
	        ? g_strdup_printf("%s:%u: %s", reader->file, reader->line, message)
	        : g_strdup_printf("%s: %s", reader->file, message));
}

/*
 * Scan a line for comments and strings: libconfig accepts @include only outside of
 * them.
 *
 * @param is_comment  whether a comment is open, before and after
 * @return whether a string is unterminated; strings of several lines are not allowed
 */
static bool
scan_line(const char *at, size_t size, bool *is_comment)
{
	bool is_text = false;

	for (const char *end = at + size; at < end; at++) {
		if (is_text) {
			if (*at == '\\')
				at++;
			else if (*at == '"')
				is_text = false;
		} else if (*is_comment) {
			if (g_str_has_prefix(at, "*/")) {
				*is_comment = false;
				at++;
			}
		} else if (*at == '"') {
			is_text = true;
		} else if (g_str_has_prefix(at, "/*")) {
			*is_comment = true;
			at++;
		} else if (*at == '#' || g_str_has_prefix(at, "//")) {
			break;
		}
	}
	return is_text;
}

static void
add_line(struct reader *reader, const char *text, size_t size)
{
	struct source_map *map = reader->map;
	struct source_map_origin origin = {reader->file, reader->line, false};

	g_string_append_len(map->text, text, (gssize)size);
	g_string_append_c(map->text, '\n');
	g_array_append_val(map->origins, origin);
}

/* Report an open text and close it, so that the rest can be parsed. */
static void
close_text(struct reader *reader)
{
	GString *text = reader->map->text;
	GArray *origins = reader->map->origins;

	g_array_index(origins, struct source_map_origin, origins->len - 1).is_invalid =
	    true;
	add_problem(reader, "unterminated text (missing quote?)");
	/* A backslash must not precede the quote. */
	text->str[text->len - 1] = ' ';
	g_string_append(text, "\"\n");
}

static bool
is_include(const char *text, size_t size)
{
	size_t blanks = strspn(text, " \t");

	return blanks < size && g_str_has_prefix(text + blanks, "@include") &&
	       !g_ascii_isalnum(text[blanks + strlen("@include")]);
}

/* Parse `@include "name"` and an optional comment. @return NULL if invalid */
static char *
parse_include(const char *text, size_t size)
{
	g_autofree char *line = g_strndup(text, size);
	g_autoptr(GRegex) regex = g_regex_new(
	    "^[ \t]*@include[ \t]*\"([^\"\\\\]+)\"[ \t]*;?[ \t]*((#|//).*)?$", 0, 0,
	    NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return g_regex_match(regex, line, 0, &match) ? g_match_info_fetch(match, 1)
	                                             : NULL;
}

static bool
is_open(const struct reader *reader, const struct text_file *file)
{
	for (; reader; reader = reader->outer)
		if (text_file_is_same(&reader->text, file))
			return true;
	return false;
}

static void
include(struct reader *outer, const char *name)
{
	bool is_absolute =
	    g_path_is_absolute(name) || strcmp(outer->directory, ".") == 0;
	g_autofree char *path = is_absolute
	                            ? g_strdup(name)
	                            : g_build_filename(outer->directory, name, NULL);
	struct reader reader = {
	    .map = outer->map,
	    .problems = outer->problems,
	    .directory = outer->directory,
	    .outer = outer,
	    .depth = outer->depth + 1,
	};
	g_autofree char *problem = NULL;

	if (reader.depth > BOUNDS_SETTINGS_DEPTH ||
	    outer->map->files->len > BOUNDS_SETTINGS_FILES) {
		add_problem(outer,
		    "cannot include '%s': limit of %d files, nested %d deep", name,
		    BOUNDS_SETTINGS_FILES, BOUNDS_SETTINGS_DEPTH);
		return;
	}
	problem = text_file_load(&reader.text, path, BOUNDS_SETTINGS_BYTES);
	if (problem)
		add_problem(outer, "cannot include '%s': %s", path, problem);
	else if (is_open(outer, &reader.text))
		add_problem(outer, "'%s' includes itself", path);
	else
		read_file(&reader, path);
	text_file_clear(&reader.text);
}

static bool
read_line(struct reader *reader, const char *text, size_t size)
{
	g_autofree char *name = NULL;

	if (reader->map->text->len + size >= BOUNDS_SETTINGS_BYTES) {
		add_problem(reader, "the configuration is larger than %d bytes",
		    BOUNDS_SETTINGS_BYTES);
		return false;
	}
	if (!is_include(text, size)) {
		add_line(reader, text, size);
		return true;
	}
	name = parse_include(text, size);
	if (name)
		include(reader, name);
	else
		add_problem(reader, "expected @include \"FILE\" on a line of its own");
	return true;
}

/* @return false when the configuration is too large */
static bool
read_file(struct reader *reader, const char *path)
{
	const char *at = reader->text.text;
	bool is_comment = false, has_room = true;
	unsigned comment_line = 1;

	reader->file = g_strdup(path);
	g_ptr_array_add(reader->map->files, (gpointer)reader->file);
	while (*at && has_room) {
		size_t size = strcspn(at, "\n");

		reader->line++;
		if (is_comment)
			add_line(reader, at, size);
		else
			has_room = read_line(reader, at, size);
		if (!is_comment)
			comment_line = reader->line;
		if (scan_line(at, size, &is_comment))
			close_text(reader);
		at += size + (at[size] == '\n');
	}
	/* libconfig would silently end such a comment with the file. */
	reader->line = comment_line;
	if (is_comment)
		add_problem(reader, "unterminated comment (missing */?)");
	return has_room;
}

struct source_map *
source_map_load(const char *path, GPtrArray *problems)
{
	pb_auto(source_map) map = g_new0(struct source_map, 1);
	g_autofree char *directory = g_path_get_dirname(path);
	struct reader reader = {
	    .map = map, .problems = problems, .directory = directory, .file = path};
	g_autofree char *problem =
	    text_file_load(&reader.text, path, BOUNDS_SETTINGS_BYTES);

	map->text = g_string_new(NULL);
	map->origins = g_array_new(FALSE, FALSE, sizeof(struct source_map_origin));
	map->files = g_ptr_array_new_with_free_func(g_free);
	if (problem)
		add_problem(&reader, "cannot read the file: %s", problem);
	else
		read_file(&reader, path);
	/* Errors need a line to refer to. */
	if (!map->origins->len)
		add_line(&reader, "", 0);
	text_file_clear(&reader.text);
	return problem ? NULL : g_steal_pointer(&map);
}

const struct source_map_origin *
source_map_find(const struct source_map *map, unsigned line)
{
	return &g_array_index(map->origins, struct source_map_origin,
	    CLAMP(line, 1, map->origins->len) - 1);
}

void
source_map_add_problem(const struct source_map *map, GPtrArray *problems, unsigned line,
    const char *format, ...)
{
	const struct source_map_origin *origin = source_map_find(map, line);
	g_autofree char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(problems,
	    g_strdup_printf("%s:%u: %s", origin->file, origin->line, message));
}

char *
source_map_find_line(const struct source_map *map, unsigned line, size_t *size)
{
	char *at = map->text->str;

	for (line = CLAMP(line, 1, map->origins->len); line > 1; line--)
		at = strchr(at, '\n') + 1;
	*size = strcspn(at, "\n");
	return at;
}

void
source_map_free(struct source_map *map)
{
	if (!map)
		return;
	g_string_free(map->text, TRUE);
	g_array_unref(map->origins);
	g_ptr_array_unref(map->files);
	g_free(map);
}
