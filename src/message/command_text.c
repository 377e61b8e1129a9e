/*
 * command_text.c - find commands in the subject and text of a message.
 */
#include "message/command_text.h"

#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"

/* Subject prefixes of replies and forwarded messages, in lower case. */
static const char *const prefixes[] = {"re", "aw", "fwd", "fw", "wg", "antw", "sv",
    "vs", "tr", "rv", "res", "enc", "odp", "ynt", "rif", "doorst", "回复", "回覆",
    "答复", "答覆", "转发", "轉寄", "返信", "転送", "답장", "전달"};

static const char *const ends[] = {"end", "quit", "--"};

/* State while reading a text. */
struct reading {
	command_text_classifier classify;
	struct command_text *out;
	bool has_verb;
	bool has_ended;
	char *prose; /* the line that ended the commands, or NULL */
};

static const char *
skip_blanks(const char *text)
{
	while (*text && g_unichar_isspace(g_utf8_get_char(text)))
		text = g_utf8_next_char(text);
	return text;
}

/* `[2]` or `(2)`: number of replies */
static const char *
skip_count(const char *text)
{
	char closing = *text == '[' ? ']' : ')';
	const char *at = text + 1;

	if (*text != '[' && *text != '(')
		return text;
	while (g_ascii_isdigit(*at))
		at++;
	return at > text + 1 && *at == closing ? at + 1 : text;
}

/* @return NULL if there is none */
static const char *
skip_prefix(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
		size_t size = strlen(prefixes[i]);
		const char *after;

		if (g_ascii_strncasecmp(text, prefixes[i], size) != 0)
			continue;
		after = skip_blanks(skip_count(text + size));
		if (*after == ':')
			return after + 1;
		if (g_str_has_prefix(after, "：")) /* U+FF1A */
			return after + strlen("：");
	}
	return NULL;
}

const char *
command_text_skip_prefixes(const char *subject)
{
	for (;;) {
		const char *closing, *after;

		subject = skip_blanks(subject);
		closing = *subject == '[' ? strchr(subject, ']') : NULL;
		after = closing ? closing + 1 : skip_prefix(subject);
		if (!after)
			return subject;
		subject = after;
	}
}

static bool
is_end(const char *line)
{
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t size = strlen(ends[i]);

		if (g_ascii_strncasecmp(line, ends[i], size) == 0 &&
		    (!line[size] || strcmp(line + size, ".") == 0))
			return true;
	}
	return false;
}

static void
add(struct reading *reading, char *line, enum command_kind kind)
{
	GPtrArray *lines = reading->out->lines;

	reading->has_verb = reading->has_verb || kind == COMMAND_KIND_VERB;
	if (lines->len < BOUNDS_COMMANDS) {
		g_ptr_array_add(lines, line);
		return;
	}
	reading->out->is_more = true;
	reading->has_ended = true;
	g_free(line);
}

/* Start of an unmarked quote: everything after it was written by someone else. */
static bool
begins_other_message(const char *line)
{
	static const char *const heads[] = {"From:", "Von:", "-----", "_____"};
	size_t size = strlen(line);

	for (size_t i = 0; i < G_N_ELEMENTS(heads); i++)
		if (g_ascii_strncasecmp(line, heads[i], strlen(heads[i])) == 0)
			return true;
	return size && line[size - 1] == ':' &&
	       (g_str_has_suffix(line, " wrote:") || strstr(line, " schrieb "));
}

/* After the end: remember the ending line if a command follows it. */
static void
check_after_end(struct reading *reading, const char *line)
{
	if (is_end(line) || begins_other_message(line))
		g_clear_pointer(&reading->prose, g_free);
	else if (reading->classify(line) == COMMAND_KIND_VERB)
		reading->out->stopped_at = g_steal_pointer(&reading->prose);
}

/* @param text  one line including its continuations */
static void
add_line(struct reading *reading, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);
	enum command_kind kind;

	if (!*line || (reading->has_ended && !reading->prose))
		return;
	if (reading->prose) {
		check_after_end(reading, line);
		return;
	}
	if (is_end(line)) {
		reading->has_ended = true;
		return;
	}
	kind = reading->classify(line);
	if (kind != COMMAND_KIND_NONE) {
		add(reading, g_steal_pointer(&line), kind);
	} else if (reading->has_verb) {
		reading->has_ended = true;
		if (!begins_other_message(line))
			reading->prose = g_steal_pointer(&line);
	}
}

static bool
is_signature(const char *line)
{
	return strcmp(line, "-- ") == 0 || strcmp(line, "--") == 0;
}

static void
read_text(struct reading *reading, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GString) whole = g_string_new(NULL);
	bool goes_on = false;

	for (char **at = lines; *at && (!reading->has_ended || reading->prose); at++) {
		char *line = g_strdelimit(*at, "\r", ' ');
		size_t size;

		if (*line == '>')
			continue;
		if (is_signature(line)) {
			add_line(reading, whole->str);
			reading->has_ended = true;
			g_clear_pointer(&reading->prose, g_free);
			return;
		}
		if (!goes_on &&
		    (!whole->len || skip_blanks(line) == line || !*skip_blanks(line))) {
			add_line(reading, whole->str);
			g_string_truncate(whole, 0);
		}
		size = strlen(g_strchomp(line));
		goes_on = size > 0 && line[size - 1] == '\\';
		g_string_append_len(whole, line, (gssize)(goes_on ? size - 1 : size));
		g_string_append_c(whole, ' ');
		/* A blank line ends a command and does not continue one. */
		if (!*skip_blanks(whole->str))
			g_string_truncate(whole, 0);
	}
	add_line(reading, whole->str);
}

void
command_text_read(const char *subject, const char *text,
    command_text_classifier classify, struct command_text *out)
{
	struct reading reading = {.classify = classify, .out = out};
	g_autofree char *first =
	    sanitize_line(command_text_skip_prefixes(subject ? subject : ""), 0);
	size_t size = text ? strlen(text) : 0;
	size_t room = BOUNDS_COMMAND_BYTES - MIN(strlen(first), BOUNDS_COMMAND_BYTES);
	g_autofree char *body = g_strndup(text ? text : "", MIN(size, room));
	enum command_kind kind =
	    *first && !is_end(first) ? classify(first) : COMMAND_KIND_NONE;

	*out = (struct command_text){.lines = g_ptr_array_new_with_free_func(g_free)};
	out->is_cut = size > room;
	/* Drop the incomplete last line. */
	if (out->is_cut)
		*(strrchr(body, '\n') ? strrchr(body, '\n') : body) = '\0';
	if (kind == COMMAND_KIND_VERB && strlen(first) <= BOUNDS_COMMAND_BYTES)
		add(&reading, g_strdup(first), kind);
	out->is_in_subject = reading.has_verb;
	read_text(&reading, body);
	g_free(reading.prose);
	/* Subjects are rarely commands: report a misspelt one only if there is no
	 * other. */
	if (!out->lines->len && kind == COMMAND_KIND_NEAR)
		add(&reading, g_steal_pointer(&first), kind);
}

void
command_text_clear(struct command_text *lines)
{
	g_clear_pointer(&lines->lines, g_ptr_array_unref);
	g_clear_pointer(&lines->stopped_at, g_free);
}
