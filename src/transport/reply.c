/*
 * reply.c - parser for SMTP replies (RFC 5321 section 4.2).
 */
#include "transport/reply.h"

#include <stdbool.h>
#include <string.h>

void
reply_parser_init(struct reply_parser *parser)
{
	*parser = (struct reply_parser){.progress = REPLY_COMPLETE};
	parser->text = g_string_new(NULL);
}

void
reply_parser_clear(struct reply_parser *parser)
{
	if (parser->text)
		g_string_free(parser->text, TRUE);
	parser->text = NULL;
}

static bool
is_printable(gunichar c)
{
	GUnicodeType type;

	if (c < 0x80)
		return g_ascii_isgraph((char)c);
	type = g_unichar_type(c);
	return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR &&
	       type != G_UNICODE_PARAGRAPH_SEPARATOR && type != G_UNICODE_PRIVATE_USE;
}

char *
reply_format_printable(const char *text, size_t size, size_t limit)
{
	g_autoptr(GString) line = g_string_sized_new(MIN(size, limit) + 1);
	const char *end = text + size;

	while (text < end) {
		gunichar c = *text & 0x80 ? g_utf8_get_char_validated(text, end - text)
		                          : (gunichar)*text;
		char bytes[6] = "?";
		int n_bytes = 1;
		bool is_valid = c != (gunichar)-1 && c != (gunichar)-2;

		text += is_valid ? g_utf8_skip[(unsigned char)*text] : 1;
		if (is_valid && (c == ' ' || c == '\t' || c == '\n'))
			bytes[0] = ' ';
		else if (is_valid && is_printable(c))
			n_bytes = g_unichar_to_utf8(c, bytes);
		if (bytes[0] == ' ' &&
		    (line->len == 0 || line->str[line->len - 1] == ' '))
			continue;
		if (line->len + n_bytes > limit)
			break;
		g_string_append_len(line, bytes, n_bytes);
	}
	if (line->len > 0 && line->str[line->len - 1] == ' ')
		g_string_truncate(line, line->len - 1);
	return g_string_free(g_steal_pointer(&line), FALSE);
}

/* Skip one to three digits. */
static bool
skip_number(const char **at)
{
	size_t n = strspn(*at, "0123456789");

	*at += n;
	return n >= 1 && n <= 3;
}

/* @return length of "class.subject.detail" with this class at the start, or 0 */
static size_t
measure_enhanced(const char *text, char class)
{
	const char *at = text;

	if (*at != class || (class != '2' && class != '4' && class != '5'))
		return 0;
	at++;
	if (*at++ != '.' || !skip_number(&at) || *at++ != '.' || !skip_number(&at))
		return 0;
	return *at == ' ' || *at == '\0' ? (size_t)(at - text) : 0;
}

/* Add the text of a line; an enhanced code is added once. */
static void
add_text(struct reply_parser *parser, const char *text)
{
	struct reply *reply = &parser->reply;
	size_t n = measure_enhanced(text, (char)('0' + reply->code / 100));

	if (n > 0 && !*reply->enhanced)
		memcpy(reply->enhanced, text, n);
	else if (n > 0 && strlen(reply->enhanced) == n &&
	         memcmp(reply->enhanced, text, n) == 0)
		text += n;
	if (parser->text->len < BOUNDS_REPLY_TEXT_BYTES) {
		g_string_append_c(parser->text, ' ');
		g_string_append(parser->text, text);
	}
}

static enum reply_progress
finish_reply(struct reply_parser *parser)
{
	g_autofree char *line = reply_format_printable(
	    parser->text->str, parser->text->len, BOUNDS_REPLY_TEXT_BYTES);

	g_strlcpy(parser->reply.text, line, sizeof(parser->reply.text));
	return REPLY_COMPLETE;
}

static enum reply_progress
take_line(struct reply_parser *parser)
{
	char *line = parser->line;
	size_t size = parser->n_line;
	char mark;
	int code;

	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (size < 3 || size > BOUNDS_REPLY_LINE_BYTES || memchr(line, '\0', size) ||
	    ++parser->n_lines > BOUNDS_REPLY_LINES)
		return REPLY_MALFORMED;
	line[size] = '\0';
	if (line[0] < '2' || line[0] > '5' || !g_ascii_isdigit(line[1]) ||
	    !g_ascii_isdigit(line[2]))
		return REPLY_MALFORMED;
	mark = size == 3 ? ' ' : line[3];
	if (mark != ' ' && mark != '-')
		return REPLY_MALFORMED;

	code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
	if (parser->n_lines == 1) {
		parser->reply.code = code;
		g_string_truncate(parser->text, 0);
		g_string_append_len(parser->text, line, 3);
	} else if (code != parser->reply.code) {
		return REPLY_MALFORMED;
	}
	add_text(parser, size > 4 ? line + 4 : "");
	parser->n_line = 0;
	return mark == '-' ? REPLY_MORE : finish_reply(parser);
}

enum reply_progress
reply_parser_feed(
    struct reply_parser *parser, const void *data, size_t size, size_t *n_used)
{
	const char *bytes = data;
	size_t at = 0;

	if (parser->progress == REPLY_COMPLETE) {
		parser->reply = (struct reply){0};
		parser->n_lines = 0;
		parser->n_line = 0;
		parser->progress = REPLY_MORE;
	}
	while (at < size && parser->progress == REPLY_MORE) {
		const char *end = memchr(bytes + at, '\n', size - at);
		size_t n = end ? (size_t)(end - (bytes + at)) : size - at;

		/* One more byte for the CR. */
		if (n > sizeof(parser->line) - parser->n_line) {
			parser->progress = REPLY_MALFORMED;
			break;
		}
		memcpy(parser->line + parser->n_line, bytes + at, n);
		parser->n_line += n;
		at += n;
		if (end) {
			at++;
			parser->progress = take_line(parser);
		}
	}
	*n_used = at;
	return parser->progress;
}

const struct reply *
reply_parser_get(const struct reply_parser *parser)
{
	g_assert(parser->progress == REPLY_COMPLETE);
	return &parser->reply;
}
