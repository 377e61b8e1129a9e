/*
 * command_text.c - the subject of a message without what replies add to it.
 */
#include "message/command_text.h"

#include <string.h>

/* Subject prefixes of replies and forwarded messages, in lower case. */
static const char *const prefixes[] = {"re", "aw", "fwd", "fw", "wg", "antw", "sv",
    "vs", "tr", "rv", "res", "enc", "odp", "ynt", "rif", "doorst", "回复", "回覆",
    "答复", "答覆", "转发", "轉寄", "返信", "転送", "답장", "전달"};

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
