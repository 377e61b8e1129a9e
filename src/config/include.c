/*
 * include.c - the text of a configuration with all that it includes, line by line.
 */
#include "config/include.h"

#include <string.h>

#include "base/bounds.h"
#include "config/text_file.h"

/* One file under way, and those that include it. */
struct mime_parser {
	struct source_map *lines;
	GPtrArray *problems;
	const char *folder; /* of the main file */
	const struct mime_parser *outer;
	const char *file;
	struct text_file plain;
	unsigned line;
	unsigned depth;
};

static bool read_file(struct mime_parser *reader, const char *path);

static void
    G_GNUC_PRINTF(2, 3) add_problem(struct mime_parser *reader, const char *format, ...)
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
 * Go on to behind a line.  libconfig knows @include outside of comments and texts only.
 *
 * @param is_comment  whether a comment is open, before and after
 * @return whether a text was left open: none that is wanted has a line end in it
 */
static bool
skip_line(const char *at, size_t size, bool *is_comment)
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
add_line(struct mime_parser *reader, const char *text, size_t size)
{
	struct source_map *lines = reader->lines;
	struct source_map_origin origin = {reader->file, reader->line, false};

	g_string_append_len(lines->text, text, (gssize)size);
	g_string_append_c(lines->text, '\n');
	g_array_append_val(lines->origins, origin);
}

/* Told here, where it is sure, and ended, so that the rest can be read. */
static void
end_text(struct mime_parser *reader)
{
	GString *text = reader->lines->text;
	GArray *origins = reader->lines->origins;

	g_array_index(origins, struct source_map_origin, origins->len - 1).is_wrong =
	    true;
	add_problem(reader, "a text begins here and does not end: is a quote missing?");
	/* No backslash may be before the quote. */
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

/* The name in `@include "name"`, with nothing but a comment behind it; or NULL. */
static char *
parse_include(const char *text, size_t size)
{
	g_autofree char *line = g_strndup(text, size);
	g_autoptr(GRegex) shape = g_regex_new(
	    "^[ \t]*@include[ \t]*\"([^\"\\\\]+)\"[ \t]*;?[ \t]*((#|//).*)?$", 0, 0,
	    NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return g_regex_match(shape, line, 0, &match) ? g_match_info_fetch(match, 1)
	                                             : NULL;
}

static bool
is_open(const struct mime_parser *reader, const struct text_file *plain)
{
	for (; reader; reader = reader->outer)
		if (text_file_is_same(&reader->plain, plain))
			return true;
	return false;
}

static void
include(struct mime_parser *outer, const char *name)
{
	bool is_whole = g_path_is_absolute(name) || strcmp(outer->folder, ".") == 0;
	g_autofree char *path =
	    is_whole ? g_strdup(name) : g_build_filename(outer->folder, name, NULL);
	struct mime_parser reader = {
	    .lines = outer->lines,
	    .problems = outer->problems,
	    .folder = outer->folder,
	    .outer = outer,
	    .depth = outer->depth + 1,
	};
	g_autofree char *problem = NULL;

	if (reader.depth > BOUNDS_SETTINGS_DEPTH ||
	    outer->lines->files->len > BOUNDS_SETTINGS_FILES) {
		add_problem(outer,
		    "'%s' is not read: at most %d files are included, "
		    "%d deep",
		    name, BOUNDS_SETTINGS_FILES, BOUNDS_SETTINGS_DEPTH);
		return;
	}
	problem = text_file_load(&reader.plain, path, BOUNDS_SETTINGS_BYTES);
	if (problem)
		add_problem(outer, "cannot include '%s': %s", path, problem);
	else if (is_open(outer, &reader.plain))
		add_problem(
		    outer, "'%s' includes itself here: take this line out", path);
	else
		read_file(&reader, path);
	text_file_clear(&reader.plain);
}

static bool
read_line(struct mime_parser *reader, const char *text, size_t size)
{
	g_autofree char *name = NULL;

	if (reader->lines->text->len + size >= BOUNDS_SETTINGS_BYTES) {
		add_problem(reader, "all files together have more than %d octets",
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
		add_problem(reader, "write @include \"FILE\" on a line of its own");
	return true;
}

/* The lines of a file that is loaded.  @return false when there is no room for more */
static bool
read_file(struct mime_parser *reader, const char *path)
{
	const char *at = reader->plain.text;
	bool is_comment = false, has_room = true;
	unsigned comment_line = 1;

	reader->file = g_strdup(path);
	g_ptr_array_add(reader->lines->files, (gpointer)reader->file);
	while (*at && has_room) {
		size_t size = strcspn(at, "\n");

		reader->line++;
		if (is_comment)
			add_line(reader, at, size);
		else
			has_room = read_line(reader, at, size);
		if (!is_comment)
			comment_line = reader->line;
		if (skip_line(at, size, &is_comment))
			end_text(reader);
		at += size + (at[size] == '\n');
	}
	/* For libconfig such a comment ends with the file, and nobody would know. */
	reader->line = comment_line;
	if (is_comment)
		add_problem(
		    reader, "a comment begins here and does not end: is a */ missing?");
	return has_room;
}

struct source_map *
source_map_load(const char *path, GPtrArray *problems)
{
	pb_auto(source_map) lines = g_new0(struct source_map, 1);
	g_autofree char *folder = g_path_get_dirname(path);
	struct mime_parser reader = {
	    .lines = lines, .problems = problems, .folder = folder, .file = path};
	g_autofree char *problem =
	    text_file_load(&reader.plain, path, BOUNDS_SETTINGS_BYTES);

	lines->text = g_string_new(NULL);
	lines->origins = g_array_new(FALSE, FALSE, sizeof(struct source_map_origin));
	lines->files = g_ptr_array_new_with_free_func(g_free);
	if (problem)
		add_problem(&reader, "cannot read it: %s", problem);
	else
		read_file(&reader, path);
	/* So that there is always a line to point at. */
	if (!lines->origins->len)
		add_line(&reader, "", 0);
	text_file_clear(&reader.plain);
	return problem ? NULL : g_steal_pointer(&lines);
}

const struct source_map_origin *
source_map_find(const struct source_map *lines, unsigned line)
{
	return &g_array_index(lines->origins, struct source_map_origin,
	    CLAMP(line, 1, lines->origins->len) - 1);
}

void
source_map_add_problem(const struct source_map *lines, GPtrArray *problems,
    unsigned line, const char *format, ...)
{
	const struct source_map_origin *origin = source_map_find(lines, line);
	g_autofree char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(problems,
	    g_strdup_printf("%s:%u: %s", origin->file, origin->line, message));
}

char *
source_map_find_line(const struct source_map *lines, unsigned line, size_t *size)
{
	char *at = lines->text->str;

	for (line = CLAMP(line, 1, lines->origins->len); line > 1; line--)
		at = strchr(at, '\n') + 1;
	*size = strcspn(at, "\n");
	return at;
}

void
source_map_free(struct source_map *lines)
{
	if (!lines)
		return;
	g_string_free(lines->text, TRUE);
	g_array_unref(lines->origins);
	g_ptr_array_unref(lines->files);
	g_free(lines);
}
