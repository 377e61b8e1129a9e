/*
 * compiled_template.c - a text whose lines are wrapped and encoded already, but for
 * those with a hole.
 */
#include "render/compiled_template.h"

#include <string.h>

#include "render/template.h"
#include "render/wrap.h"

/*
 * A hole is a control character, which neither a template may hold nor a text that
 * was made inert; then which one; then what shows whether the template escaped it.
 */
#define HOLE         '\x03'
#define HOLE_FIRST   'A'
#define HOLE_RAW     "<"
#define HOLE_ESCAPED "&lt;"

/* Lines without a hole, or one line with some. */
struct run {
	struct chunk piece;
	char *line; /* not wrapped yet, ends in LF; NULL where there is none */
};

struct compiled_template {
	unsigned columns;
	GArray *runs; /* of struct run */
};

void
compiled_template_format_hole(
    unsigned number, char placeholder[COMPILED_TEMPLATE_HOLE_BYTES])
{
	g_assert(number < COMPILED_TEMPLATE_HOLES_MAX);
	placeholder[0] = HOLE;
	placeholder[1] = (char)(HOLE_FIRST + number);
	placeholder[2] = HOLE_RAW[0];
	placeholder[3] = '\0';
}

static void
clear_run(void *data)
{
	struct run *run = data;

	chunk_clear(&run->piece);
	g_free(run->line);
}

static void
add_lines(struct compiled_template *pattern, const char *text, size_t size)
{
	g_autofree char *lines = g_strndup(text, size);
	struct run run = {0};

	if (size == 0)
		return;
	if (pattern->columns > 0) {
		g_autofree char *wrapped = wrap_format_text(lines, pattern->columns);

		chunk_init(&run.piece, g_string_new(wrapped));
	} else {
		chunk_init(&run.piece, g_string_new(lines));
	}
	g_array_append_val(pattern->runs, run);
}

static void
add_line_with_hole(struct compiled_template *pattern, const char *text, size_t size)
{
	struct run run = {0};
	bool is_ended = text[size - 1] == '\n';

	run.line = g_strdup_printf("%.*s%s", (int)size, text, is_ended ? "" : "\n");
	g_array_append_val(pattern->runs, run);
}

struct compiled_template *
compiled_template_new(const char *text, unsigned columns)
{
	struct compiled_template *pattern = g_new0(struct compiled_template, 1);
	const char *known = text; /* up to here it is in a run */

	pattern->columns = columns;
	pattern->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	g_array_set_clear_func(pattern->runs, clear_run);
	for (const char *placeholder; (placeholder = strchr(known, HOLE));) {
		const char *line = placeholder, *end = strchr(placeholder, '\n');

		while (line > known && line[-1] != '\n')
			line--;
		end = end ? end + 1 : placeholder + strlen(placeholder);
		add_lines(pattern, known, (size_t)(line - known));
		add_line_with_hole(pattern, line, (size_t)(end - line));
		known = end;
	}
	add_lines(pattern, known, strlen(known));
	return pattern;
}

void
compiled_template_free(struct compiled_template *pattern)
{
	if (!pattern)
		return;
	g_array_unref(pattern->runs);
	g_free(pattern);
}

bool
compiled_template_has_hole(const struct compiled_template *pattern)
{
	for (unsigned i = 0; i < pattern->runs->len; i++)
		if (g_array_index(pattern->runs, struct run, i).line)
			return true;
	return false;
}

/* A hole without a value stays. */
static void
append_values(GString *out, const char *line, const char *const *values)
{
	for (;;) {
		size_t size = (size_t)(strchrnul(line, HOLE) - line);
		const char *value;

		g_string_append_len(out, line, (gssize)size);
		line += size;
		if (*line == '\0')
			return;
		value = values[line[1] - HOLE_FIRST];
		if (!value) {
			g_string_append_len(out, line, 2);
			line += 2;
			continue;
		}
		line += 2;
		if (g_str_has_prefix(line, HOLE_ESCAPED)) {
			template_append_escaped(out, value);
			line += strlen(HOLE_ESCAPED);
		} else {
			g_string_append(out, value);
			line += strlen(HOLE_RAW);
		}
	}
}

/* Lines that are wrapped already become a run; none are left. */
static void
add_pending(struct compiled_template *pattern, GString *pending)
{
	struct run run = {0};

	if (pending->len == 0)
		return;
	chunk_init(&run.piece, g_string_new_len(pending->str, (gssize)pending->len));
	g_array_append_val(pattern->runs, run);
	g_string_truncate(pending, 0);
}

struct compiled_template *
compiled_template_bind(
    const struct compiled_template *pattern, const char *const *values)
{
	struct compiled_template *bound = compiled_template_new("", pattern->columns);
	g_autoptr(GString) pending = g_string_new(NULL);
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; i < pattern->runs->len; i++) {
		const struct run *run = &g_array_index(pattern->runs, struct run, i);

		if (!run->line) {
			g_string_append_len(pending, run->piece.plain->str,
			    (gssize)run->piece.plain->len);
			continue;
		}
		g_string_truncate(line, 0);
		append_values(line, run->line, values);
		if (strchr(line->str, HOLE)) {
			add_pending(bound, pending);
			add_line_with_hole(bound, line->str, line->len);
		} else if (pattern->columns > 0) {
			wrap_append_text(pending, line->str, pattern->columns);
		} else {
			g_string_append_len(pending, line->str, (gssize)line->len);
		}
	}
	add_pending(bound, pending);
	return bound;
}

void
compiled_template_fill(const struct compiled_template *pattern,
    const char *const *values, struct filling *filling)
{
	for (unsigned i = 0; i < pattern->runs->len; i++) {
		const struct run *run = &g_array_index(pattern->runs, struct run, i);
		GString *line = filling->line;

		if (!run->line) {
			g_string_append_len(filling->encoded, run->piece.encoded->str,
			    (gssize)run->piece.encoded->len);
			chunk_stats_add(&filling->sum, &run->piece);
			continue;
		}
		g_string_truncate(line, 0);
		append_values(line, run->line, values);
		if (pattern->columns > 0) {
			line = filling->wrapped;
			g_string_truncate(line, 0);
			wrap_append_text(line, filling->line->str, pattern->columns);
		}
		chunk_stats_append(
		    &filling->sum, filling->encoded, line->str, line->len);
	}
}

void
compiled_template_append_plain(
    const struct compiled_template *pattern, const char *const *values, GString *out)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; i < pattern->runs->len; i++) {
		const struct run *run = &g_array_index(pattern->runs, struct run, i);

		if (!run->line) {
			g_string_append_len(
			    out, run->piece.plain->str, (gssize)run->piece.plain->len);
			continue;
		}
		g_string_truncate(line, 0);
		append_values(line, run->line, values);
		if (pattern->columns > 0)
			wrap_append_text(out, line->str, pattern->columns);
		else
			g_string_append_len(out, line->str, (gssize)line->len);
	}
}

void
filling_init(struct filling *filling)
{
	*filling = (struct filling){
	    .encoded = g_string_sized_new(4096),
	    .line = g_string_sized_new(512),
	    .wrapped = g_string_sized_new(512),
	};
}

void
filling_clear(struct filling *filling)
{
	if (!filling->encoded)
		return;
	g_string_free(g_steal_pointer(&filling->encoded), TRUE);
	g_string_free(g_steal_pointer(&filling->line), TRUE);
	g_string_free(g_steal_pointer(&filling->wrapped), TRUE);
}
