/*
 * encoded_word.c - decoder for encoded words in header fields (RFC 2047).
 */
#include "parser/encoded_word.h"

#include <stdbool.h>
#include <string.h>

#include "message/sanitize.h"

struct word {
	const char *charset;
	size_t charset_size; /* without the language (RFC 2231 section 5) */
	bool is_base64;
	const char *text;
	size_t text_size;
	const char *end;
};

/* Decoded text, and pending words of one charset. */
struct decoder {
	struct charset_set *set;
	GString *out;
	GString *bytes;
	const char *charset;
	size_t charset_size;
	size_t max_bytes;
};

/* Find the question mark that ends a token of an encoded word. */
static const char *
find_question_mark(const char *at, const char *end)
{
	while (at < end && *at != '?' && g_ascii_isgraph(*at))
		at++;
	return at < end && *at == '?' ? at : NULL;
}

static bool
parse_word(const char *at, const char *end, struct word *word)
{
	const char *mark, *star;

	if (end - at < 2 || at[0] != '=' || at[1] != '?')
		return false;
	word->charset = at + 2;
	mark = find_question_mark(word->charset, end);
	if (!mark || end - mark < 3 || mark[2] != '?' || !strchr("bBqQ", mark[1]))
		return false;
	star = memchr(word->charset, '*', (size_t)(mark - word->charset));
	word->charset_size = (size_t)((star ? star : mark) - word->charset);
	word->is_base64 = mark[1] == 'b' || mark[1] == 'B';
	word->text = mark + 3;
	/* Blanks are not allowed here, but common. */
	for (mark = word->text; mark < end && *mark != '?'; mark++)
		if (*mark == '\n')
			return false;
	if (end - mark < 2 || mark[1] != '=')
		return false;
	word->text_size = (size_t)(mark - word->text);
	word->end = mark + 2;
	return true;
}

static void
append_bytes(GString *out, const struct word *word)
{
	if (word->is_base64) {
		g_autofree guchar *bytes = g_malloc(word->text_size / 4 * 3 + 4);
		gint state = 0;
		guint save = 0;
		gsize size = g_base64_decode_step(
		    word->text, word->text_size, bytes, &state, &save);

		g_string_append_len(out, (char *)bytes, (gssize)size);
		return;
	}
	for (size_t i = 0; i < word->text_size; i++) {
		const char *at = word->text + i;

		if (*at == '=' && i + 2 < word->text_size && g_ascii_isxdigit(at[1]) &&
		    g_ascii_isxdigit(at[2])) {
			g_string_append_c(out, (char)(g_ascii_xdigit_value(at[1]) * 16 +
			                              g_ascii_xdigit_value(at[2])));
			i += 2;
		} else {
			g_string_append_c(out, *at == '_' ? ' ' : *at);
		}
	}
}

static void
flush(struct decoder *decoder)
{
	g_autofree char *name =
	    g_strndup(decoder->charset, decoder->charset ? decoder->charset_size : 0);
	g_autofree char *text = NULL;

	if (!decoder->charset)
		return;
	text = charset_decode(decoder->set, name, decoder->bytes->str,
	    decoder->bytes->len, decoder->max_bytes);
	g_string_append(decoder->out, text);
	g_string_truncate(decoder->bytes, 0);
	decoder->charset = NULL;
}

static void
add_word(struct decoder *decoder, const struct word *word)
{
	if (decoder->charset && (decoder->charset_size != word->charset_size ||
	                            g_ascii_strncasecmp(decoder->charset, word->charset,
	                                word->charset_size) != 0))
		flush(decoder);
	decoder->charset = word->charset;
	decoder->charset_size = word->charset_size;
	append_bytes(decoder->bytes, word);
}

static void
add_plain(struct decoder *decoder, const char *text, size_t size)
{
	g_autofree char *plain = NULL;

	flush(decoder);
	plain = charset_decode(decoder->set, NULL, text, size, decoder->max_bytes);
	g_string_append(decoder->out, plain);
}

/* Find the next possible encoded word. */
static const char *
find_word(const char *at, const char *end)
{
	while (at < end && (*at != '=' || end - at < 2 || at[1] != '?'))
		at++;
	return at;
}

static void
decode_all(struct decoder *decoder, const char *at, const char *end)
{
	while (at < end && decoder->out->len <= decoder->max_bytes) {
		const char *stop = find_word(at, end);
		struct word word = {0};
		const char *next;

		if (stop > at) {
			const char *blanks = at;

			while (blanks < stop && strchr(" \t\n", *blanks))
				blanks++;
			/* White space between two encoded words is ignored. */
			next = stop;
			if (blanks < stop || !decoder->charset ||
			    !parse_word(stop, end, &word))
				add_plain(decoder, at, (size_t)(stop - at));
		} else if (parse_word(at, end, &word)) {
			add_word(decoder, &word);
			next = word.end;
		} else {
			add_plain(decoder, at, 2);
			next = at + 2;
		}
		at = next;
	}
}

char *
encoded_word_decode(
    struct charset_set *set, const char *value, size_t size, size_t max_bytes)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GString) bytes = g_string_new(NULL);
	struct decoder decoder = {
	    .set = set, .out = out, .bytes = bytes, .max_bytes = max_bytes};
	g_autofree char *line = NULL;

	/* Skip the blank after the colon. */
	while (size > 0 && strchr(" \t\n", *value)) {
		value++;
		size--;
	}
	decode_all(&decoder, value, value + size);
	flush(&decoder);
	line = sanitize_line(out->str, 0);
	return charset_decode(set, "utf-8", line, strlen(line), max_bytes);
}
