/*
 * excerpt.c - the beginning of an abstract.
 */
#include "render/excerpt.h"

#include "message/sanitize.h"
#include "render/sentence.h"

#define ELLIPSIS "\xe2\x80\xa6"

char *
excerpt_format(const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);
	g_autofree char *head = NULL;
	unsigned sentences = 0;
	const char *end = NULL;

	for (const char *at = line; *at && sentences < EXCERPT_SENTENCES;
	     at = g_utf8_next_char(at)) {
		const char *behind = sentence_find_end(line, at);

		if (!behind)
			continue;
		sentences++;
		end = behind;
	}
	if (sentences < EXCERPT_SENTENCES || !*end)
		return sanitize_line(line, EXCERPT_CHARS);
	head = g_strndup(line, (size_t)(end - line));
	if (g_utf8_strlen(head, -1) > EXCERPT_CHARS - 2)
		return sanitize_line(head, EXCERPT_CHARS);
	return g_strconcat(head, " " ELLIPSIS, NULL);
}
