/*
 * html.c - the text of an HTML message, as its reader would see it.
 */
#include "base/html.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/entity.h"
#include "base/html_tag.h"

struct element {
	char name[HTML_TAG_NAME_BYTES];
	unsigned effects;
};

struct page {
	const char *at, *end;
	GString *out;
	GString *line;       /* the one that is being written */
	bool owes_blank;     /* white space that shows if text follows */
	bool wants_empty;    /* an empty line goes before the next one */
	bool is_spaced;      /* the line has no text, though a no-break space */
	bool is_rest_quoted; /* behind Outlook's divider */
	unsigned dropped, quoted, preformatted; /* how many elements around say so */
	unsigned depth;
	struct element open[BOUNDS_HTML_DEPTH];
};

static void
append_line(struct page *page, const char *line)
{
	unsigned quotes = MIN(page->quoted + page->is_rest_quoted, BOUNDS_MAIL_QUOTES);

	for (unsigned i = 0; i < quotes; i++)
		g_string_append_c(page->out, '>');
	if (quotes > 0 && line[0] != '\0')
		g_string_append_c(page->out, ' ');
	g_string_append(page->out, line);
	g_string_append_c(page->out, '\n');
}

/* A line ends.  @param is_forced  though there is nothing on it */
static void
end_line(struct page *page, bool is_forced)
{
	if (page->line->len > 0 || page->is_spaced || is_forced) {
		if (page->wants_empty && page->out->len > 0)
			append_line(page, "");
		page->wants_empty = false;
		append_line(page, page->line->str);
	}
	g_string_truncate(page->line, 0);
	page->owes_blank = false;
	page->is_spaced = false;
}

static void
add_character(struct page *page, gunichar c)
{
	bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';

	if (page->dropped > 0)
		return;
	if (page->preformatted > 0 && c == '\n') {
		end_line(page, true);
	} else if (page->preformatted == 0 && (is_space || c == 0xa0)) {
		/* None of it leads a line: it would continue the line before it. */
		page->owes_blank = page->line->len > 0;
		page->is_spaced = page->is_spaced || c == 0xa0;
	} else {
		if (page->owes_blank)
			g_string_append_c(page->line, ' ');
		page->owes_blank = false;
		g_string_append_unichar(page->line, c);
	}
}

/* What an element that begins (or ends) says of those that are around. */
static void
change_counts(struct page *page, unsigned effects, int by)
{
	if (effects & HTML_EFFECT_DROP)
		page->dropped += (unsigned)by;
	if (effects & HTML_EFFECT_QUOTE)
		page->quoted += (unsigned)by;
	if (effects & HTML_EFFECT_PRE)
		page->preformatted += (unsigned)by;
}

static void
add_break(struct page *page, unsigned effects)
{
	if (page->dropped > 0)
		return;
	if (effects & (HTML_EFFECT_BREAK | HTML_EFFECT_QUOTE))
		end_line(page, false);
	if (effects & HTML_EFFECT_PARAGRAPH)
		page->wants_empty = true;
}

static void
close_top(struct page *page)
{
	struct element *top = &page->open[--page->depth];

	add_break(page, top->effects);
	change_counts(page, top->effects, -1);
}

/* Close an element and all in it, if it is open. @return whether it was */
static bool
close_named(struct page *page, const char *name)
{
	unsigned depth = page->depth;

	while (depth > 0 && strcmp(page->open[depth - 1].name, name) != 0)
		depth--;
	if (depth == 0)
		return false;
	while (page->depth >= depth)
		close_top(page);
	return true;
}

static void
open_element(struct page *page, const struct html_tag *tag)
{
	const struct element *top;
	struct element *new;

	if (!strcmp(tag->name, "body"))
		close_named(page, "head");
	top = page->depth ? &page->open[page->depth - 1] : NULL;
	/* "<p>one<p>two", "<li>one<li>two": the end tag may be left out. */
	if (top &&
	    ((tag->effects & HTML_EFFECT_ITSELF && !strcmp(top->name, tag->name)) ||
	        (tag->effects & HTML_EFFECT_BREAK && !strcmp(top->name, "p"))))
		close_top(page);
	if (tag->effects & HTML_EFFECT_LINE && page->dropped == 0)
		end_line(page, true);
	add_break(page, tag->effects);
	if (tag->effects & HTML_EFFECT_CELL)
		add_character(page, ' ');
	if (tag->effects & HTML_EFFECT_REST)
		page->is_rest_quoted = true;
	if (tag->effects & HTML_EFFECT_VOID || page->depth == BOUNDS_HTML_DEPTH)
		return;
	new = &page->open[page->depth++];
	g_strlcpy(new->name, tag->name, sizeof(new->name));
	new->effects = tag->effects;
	change_counts(page, tag->effects, 1);
}

static void
close_element(struct page *page, const struct html_tag *tag)
{
	if (!close_named(page, tag->name) && tag->effects & HTML_EFFECT_LINE &&
	    page->dropped == 0)
		end_line(page, true);
}

/* Skip what has no tags in it, up to its end tag. */
static void
skip_raw(struct page *page, const char *name)
{
	size_t size = strlen(name);

	for (; page->end - page->at > (ptrdiff_t)size + 2; page->at++)
		if (page->at[0] == '<' && page->at[1] == '/' &&
		    !g_ascii_strncasecmp(page->at + 2, name, size))
			return;
	page->at = page->end;
}

static void
skip_to(struct page *page, const char *stop)
{
	const char *found = g_strstr_len(page->at, page->end - page->at, stop);

	page->at = found ? found + strlen(stop) : page->end;
}

static void
read_tag(struct page *page)
{
	struct html_tag tag;

	page->at += html_tag_parse(page->at, (size_t)(page->end - page->at), &tag);
	if (tag.is_end) {
		close_element(page, &tag);
	} else if (tag.effects & HTML_EFFECT_RAW) {
		skip_raw(page, tag.name);
	} else {
		open_element(page, &tag);
	}
}

/* Whatever begins with "<". */
static void
read_markup(struct page *page)
{
	const char *at = page->at;
	size_t left = (size_t)(page->end - at);

	if (left >= 4 && memcmp(at, "<!--", 4) == 0) {
		page->at += 2; /* "<!-->" is a comment too */
		skip_to(page, "-->");
	} else if (left >= 2 && (at[1] == '!' || at[1] == '?')) {
		skip_to(page, ">");
	} else if ((left >= 2 && g_ascii_isalpha(at[1])) ||
	           (left >= 3 && at[1] == '/' && g_ascii_isalpha(at[2]))) {
		read_tag(page);
	} else {
		add_character(page, '<');
		page->at++;
	}
}

static void
read_text(struct page *page)
{
	gunichar c = g_utf8_get_char(page->at);
	size_t size = (size_t)(g_utf8_next_char(page->at) - page->at);

	if (c == '&') {
		size_t entity =
		    entity_parse(page->at, (size_t)(page->end - page->at), &c);

		size = entity > 0 ? entity : size;
	}
	add_character(page, c);
	page->at += size;
}

char *
html_format_text(const char *html, size_t size)
{
	g_autofree struct page *page = g_new0(struct page, 1);

	page->at = html;
	page->end = html + size;
	page->out = g_string_new(NULL);
	page->line = g_string_new(NULL);
	while (page->at < page->end &&
	       page->out->len + page->line->len < BOUNDS_MAIL_DECODE_BYTES) {
		if (*page->at == '<')
			read_markup(page);
		else
			read_text(page);
	}
	end_line(page, false);
	g_string_free(page->line, TRUE);
	return g_string_free(page->out, FALSE);
}
