/*
 * html.c - convert an HTML message to plain text.
 */
#include "base/html.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

/* ---- character references ---- */

#define NAME_BYTES   8
#define DIGITS       7
#define FIRST_LATIN1 0xa0
#define REPLACEMENT  0xfffd

/* U+00A0 to U+00FF, in order. */
static const char latin1[][NAME_BYTES] = {"nbsp", "iexcl", "cent", "pound", "curren",
    "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy", "reg",
    "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute",
    "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml",
    "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute",
    "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml"};

/* Each after a blank, with its character. */
static const char others[] =
    " quot=\" amp=& lt=< gt=> apos=' OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ"
    " circ=ˆ tilde=˜ ensp=\u2002 emsp=\u2003 thinsp=\u2009 zwnj=\u200c"
    " zwj=\u200d ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=”"
    " bdquo=„ dagger=† bull=• hellip=… permil=‰ lsaquo=‹ rsaquo=› euro=€"
    " trade=™ larr=← rarr=→ minus=− le=≤ ge=≥";

static size_t
parse_number(const char *text, size_t size, gunichar *c)
{
	bool is_hex = size > 2 && (text[2] == 'x' || text[2] == 'X');
	size_t start = is_hex ? 3 : 2, at = start;
	gunichar value = 0;

	while (at < size && at - start < DIGITS &&
	       (is_hex ? g_ascii_isxdigit(text[at]) : g_ascii_isdigit(text[at]))) {
		value = value * (is_hex ? 16 : 10) +
		        (gunichar)g_ascii_xdigit_value(text[at]);
		at++;
	}
	if (at == start)
		return 0;
	*c = value > 0 && g_unichar_validate(value) ? value : REPLACEMENT;
	return at < size && text[at] == ';' ? at + 1 : at;
}

static bool
is_name(const char *name, const char *text, size_t size)
{
	return strlen(name) == size && memcmp(name, text, size) == 0;
}

/*
 * Parse a numeric reference, or one of the names common in mail.
 *
 * @param text  begins with "&"
 * @param c     set on success only; U+FFFD if the number is not a valid character
 * @return length in bytes including the semicolon; 0 if it is not a reference
 */
static size_t
entity_parse(const char *text, size_t size, gunichar *c)
{
	char name[NAME_BYTES + 3]; /* " name=" */
	const char *found;
	size_t end = 1;

	if (size > 2 && text[1] == '#')
		return parse_number(text, size, c);
	while (end < size && end <= NAME_BYTES && g_ascii_isalnum(text[end]))
		end++;
	/* Without a semicolon it is more likely part of a URL. */
	if (end >= size || text[end] != ';')
		return 0;
	for (size_t i = 0; i < G_N_ELEMENTS(latin1); i++) {
		if (is_name(latin1[i], text + 1, end - 1)) {
			*c = (gunichar)(FIRST_LATIN1 + i);
			return end + 1;
		}
	}
	g_snprintf(name, sizeof(name), " %.*s=", (int)(end - 1), text + 1);
	found = strstr(others, name);
	if (!found)
		return 0;
	*c = g_utf8_get_char(found + strlen(name));
	return end + 1;
}

#define HTML_TAG_NAME_BYTES 16

/* Effects of an element on the text in and around it; flags. */
enum html_effect {
	HTML_EFFECT_NONE = 0,
	HTML_EFFECT_BREAK = 1 << 0,     /* starts and ends a line */
	HTML_EFFECT_PARAGRAPH = 1 << 1, /* empty line before and after it */
	HTML_EFFECT_DROP = 1 << 2,      /* not displayed */
	HTML_EFFECT_QUOTE = 1 << 3,     /* quoted text */
	HTML_EFFECT_REST = 1 << 4,      /* quoted text up to the end of the message */
	HTML_EFFECT_PRE = 1 << 5,       /* white space is preserved */
	HTML_EFFECT_RAW = 1 << 6,       /* raw text, not parsed and not displayed */
	HTML_EFFECT_VOID = 1 << 7,      /* has no end tag */
	HTML_EFFECT_LINE = 1 << 8,      /* line break */
	HTML_EFFECT_CELL = 1 << 9,    /* separated from the previous cell by a blank */
	HTML_EFFECT_ITSELF = 1 << 10, /* closes an open element of the same name */
};

struct html_tag {
	char name[HTML_TAG_NAME_BYTES]; /* lower case, truncated */
	bool is_end;
	unsigned effects; /* enum html_effect, from name and attributes */
};

#define BREAK     HTML_EFFECT_BREAK
#define PARAGRAPH (HTML_EFFECT_BREAK | HTML_EFFECT_PARAGRAPH)
#define RAW       (HTML_EFFECT_RAW | HTML_EFFECT_DROP)
#define ITEM      (HTML_EFFECT_BREAK | HTML_EFFECT_ITSELF)
#define CELL      (HTML_EFFECT_CELL | HTML_EFFECT_ITSELF)

#define VALUE_BYTES 512

/* Names are between blanks. */
static const struct {
	unsigned effects;
	const char *names;
} elements[] = {
    {BREAK, " address article aside body caption center div dl fieldset footer form "
            "header html main ol section table tbody ul "},
    {HTML_EFFECT_VOID, " area base col embed img input link meta param source wbr "},
    {PARAGRAPH | HTML_EFFECT_QUOTE, " blockquote "},
    {HTML_EFFECT_VOID | HTML_EFFECT_LINE, " br "},
    {ITEM, " dd dt li tr "},
    {PARAGRAPH, " h1 h2 h3 h4 h5 h6 "},
    {HTML_EFFECT_DROP, " head noscript object select svg template "},
    {BREAK | HTML_EFFECT_VOID, " hr "},
    {RAW, " iframe noembed noframes script style textarea title xmp "},
    {HTML_EFFECT_ITSELF, " option "},
    {PARAGRAPH | HTML_EFFECT_ITSELF, " p "},
    {PARAGRAPH | HTML_EFFECT_PRE, " pre "},
    {CELL, " td th "},
};

/* Attributes with which mail clients mark quoted text and signatures. */
static const struct {
	const char *attribute, *part;
	unsigned effects;
} marks[] = {
    {"class", "gmail_attr", HTML_EFFECT_QUOTE},
    {"class", "moz-cite-prefix", HTML_EFFECT_QUOTE},
    {"class", "yahoo_quoted", HTML_EFFECT_QUOTE},
    {"class", "protonmail_quote", HTML_EFFECT_QUOTE},
    {"class", "tutanota_quote", HTML_EFFECT_QUOTE},
    {"class", "zmail_extra", HTML_EFFECT_QUOTE},
    {"class", "moz-forward-container", HTML_EFFECT_QUOTE},
    {"class", "outlookmessageheader", HTML_EFFECT_REST},
    {"class", "ms-outlook-mobile-reference-message", HTML_EFFECT_REST},
    {"id", "appendonsend", HTML_EFFECT_REST},
    {"id", "divrplyfwdmsg", HTML_EFFECT_REST},
    {"id", "mail-editor-reference-message-container", HTML_EFFECT_REST},
    {"id", "reply-intro", HTML_EFFECT_QUOTE},
    {"id", "isreplycontent", HTML_EFFECT_QUOTE},
    {"id", "isforwardcontent", HTML_EFFECT_QUOTE},
    {"name", "quote", HTML_EFFECT_QUOTE},
    {"class", "gmail_signature", HTML_EFFECT_DROP},
    {"class", "moz-signature", HTML_EFFECT_DROP},
    {"class", "protonmail_signature_block", HTML_EFFECT_DROP},
    {"data-smartmail", "gmail_signature", HTML_EFFECT_DROP},
    {"id", "signature", HTML_EFFECT_DROP},
    {"id", "ms-outlook-mobile-signature", HTML_EFFECT_DROP},
    {"id", "applemailsignature", HTML_EFFECT_DROP},
};

/* Substrings of a style attribute without blanks. */
static const struct {
	const char *part;
	unsigned effects;
} styles[] = {
    {"display:none", HTML_EFFECT_DROP},
    {"visibility:hidden", HTML_EFFECT_DROP},
    {"mso-hide:all", HTML_EFFECT_DROP},
    {"border:none;border-top:solid#e1e1e11.0pt;padding:3.0pt", HTML_EFFECT_REST},
    {"border:none;border-top:solid#b5c4df1.0pt;padding:3.0pt", HTML_EFFECT_REST},
};

/* Properties that hide an element if the value is exactly zero. */
static const char *const sizes[] = {
    "font-size:0", "max-height:0", "line-height:0", "opacity:0"};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static unsigned
classify_style(const char *value)
{
	char style[VALUE_BYTES];
	size_t n = 0;

	for (; *value; value++)
		if (!is_blank(*value))
			style[n++] = *value;
	style[n] = '\0';
	for (size_t i = 0; i < G_N_ELEMENTS(styles); i++)
		if (strstr(style, styles[i].part))
			return styles[i].effects;
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		const char *at = strstr(style, sizes[i]);

		if (!at || (at > style && at[-1] != ';'))
			continue;
		at += strlen(sizes[i]);
		if (*at != '.' && !g_ascii_isdigit(*at))
			return HTML_EFFECT_DROP;
	}
	return 0;
}

/* Check whether an id or class contains a word, also after "_", "x_" or a digit. */
static bool
has_part(const char *value, const char *part)
{
	size_t size = strlen(part);

	for (const char *at = strstr(value, part); at; at = strstr(at + 1, part)) {
		bool begins = at == value || is_blank(at[-1]) || at[-1] == '_' ||
		              g_ascii_isdigit(at[-1]) || !strcmp(part, "yahoo_quoted");
		char next = at[size];

		if (begins && (next == '\0' || is_blank(next) || next == '_'))
			return true;
	}
	return false;
}

static void
classify_attribute(struct html_tag *tag, const char *name, const char *value)
{
	if (!strcmp(name, "hidden"))
		tag->effects |= HTML_EFFECT_DROP;
	if (!strcmp(name, "style"))
		tag->effects |= classify_style(value);
	/* Microsoft Word uses one paragraph per line. */
	if (!strcmp(name, "class") && !strcmp(tag->name, "p") &&
	    strstr(value, "msonormal"))
		tag->effects &= ~(unsigned)HTML_EFFECT_PARAGRAPH;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (!strcmp(name, marks[i].attribute) && has_part(value, marks[i].part))
			tag->effects |= marks[i].effects;
}

/* Copy in lower case, truncated to the buffer size. */
static void
copy_lower(char *to, size_t room, const char *from, size_t size)
{
	size_t n = MIN(size, room - 1);

	for (size_t i = 0; i < n; i++)
		to[i] = g_ascii_tolower(from[i]);
	to[n] = '\0';
}

static size_t
skip(const char *text, size_t at, size_t size)
{
	while (at < size && (is_blank(text[at]) || text[at] == '/'))
		at++;
	return at;
}

/* Parse one attribute. @return offset after it */
static size_t
parse_attribute(const char *text, size_t at, size_t size, struct html_tag *tag)
{
	char name[32], value[VALUE_BYTES] = "";
	size_t start = at;

	while (at < size && !is_blank(text[at]) && !strchr("=/>", text[at]))
		at++;
	copy_lower(name, sizeof(name), text + start, at - start);
	for (start = at; start < size && is_blank(text[start]);)
		start++;
	if (start < size && text[start] == '=') {
		at = start + 1;
		while (at < size && is_blank(text[at]))
			at++;
		if (at < size && (text[at] == '"' || text[at] == '\'')) {
			const char *end =
			    memchr(text + at + 1, text[at], size - at - 1);
			size_t stop = end ? (size_t)(end - text) : size;

			copy_lower(value, sizeof(value), text + at + 1, stop - at - 1);
			at = MIN(stop + 1, size);
		} else {
			start = at;
			while (at < size && !is_blank(text[at]) && text[at] != '>')
				at++;
			copy_lower(value, sizeof(value), text + start, at - start);
		}
	} else if (at == start && at < size && text[at] != '>' && name[0] == '\0') {
		at++;
	}
	classify_attribute(tag, name, value);
	return at;
}

static size_t
parse_tag(const char *text, size_t size, struct html_tag *tag)
{
	size_t at = 1, start;
	char word[HTML_TAG_NAME_BYTES + 2]; /* " name " */

	size = MIN(size, BOUNDS_HTML_TAG_BYTES);
	*tag = (struct html_tag){.is_end = text[1] == '/'};
	at += tag->is_end;
	start = at;
	while (at < size && !is_blank(text[at]) && text[at] != '/' && text[at] != '>')
		at++;
	copy_lower(tag->name, sizeof(tag->name), text + start, at - start);
	g_snprintf(word, sizeof(word), " %s ", tag->name);
	for (size_t i = 0; i < G_N_ELEMENTS(elements); i++)
		if (strstr(elements[i].names, word))
			tag->effects = elements[i].effects;
	for (at = skip(text, at, size); at < size && text[at] != '>';
	     at = skip(text, at, size))
		at = parse_attribute(text, at, size, tag);
	return MIN(at + 1, size);
}

struct element {
	char name[HTML_TAG_NAME_BYTES];
	unsigned effects;
};

struct page {
	const char *at, *end;
	GString *out;
	GString *line;       /* current output line */
	bool owes_blank;     /* pending blank, written if text follows */
	bool wants_empty;    /* write an empty line before the next one */
	bool is_spaced;      /* the line contains a no-break space */
	bool is_rest_quoted; /* after the divider of Outlook */
	unsigned dropped, quoted, preformatted; /* number of enclosing elements */
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

/* End the line.  @param is_forced  write it even if it is empty */
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
		/* No leading blank: it would mark a continuation line. */
		page->owes_blank = page->line->len > 0;
		page->is_spaced = page->is_spaced || c == 0xa0;
	} else {
		if (page->owes_blank)
			g_string_append_c(page->line, ' ');
		page->owes_blank = false;
		g_string_append_unichar(page->line, c);
	}
}

/* Update the numbers of open elements per effect. @param by  1 or -1 */
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

/* Close an element and its children. @return false if it is not open */
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
	/* "<p>one<p>two", "<li>one<li>two": the end tag is optional. */
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

/* Skip a raw text element up to its end tag. */
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

	page->at += parse_tag(page->at, (size_t)(page->end - page->at), &tag);
	if (tag.is_end) {
		close_element(page, &tag);
	} else if (tag.effects & HTML_EFFECT_RAW) {
		skip_raw(page, tag.name);
	} else {
		open_element(page, &tag);
	}
}

/* Parse markup at "<". */
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
