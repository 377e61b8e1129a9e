/*
 * html_tag.c - one tag of HTML, and what mail programs mean by it.
 */
#include "base/html_tag.h"

#include <string.h>

#include "base/bounds.h"

#define BREAK     HTML_EFFECT_BREAK
#define PARAGRAPH (HTML_EFFECT_BREAK | HTML_EFFECT_PARAGRAPH)
#define RAW       (HTML_EFFECT_RAW | HTML_EFFECT_DROP)
#define ITEM      (HTML_EFFECT_BREAK | HTML_EFFECT_ITSELF)
#define CELL      (HTML_EFFECT_CELL | HTML_EFFECT_ITSELF)

#define VALUE_BYTES 512

static const struct {
	const char *name;
	unsigned effects;
} elements[] = {
    {"address", BREAK},
    {"area", HTML_EFFECT_VOID},
    {"article", BREAK},
    {"aside", BREAK},
    {"base", HTML_EFFECT_VOID},
    {"blockquote", PARAGRAPH | HTML_EFFECT_QUOTE},
    {"body", BREAK},
    {"br", HTML_EFFECT_VOID | HTML_EFFECT_LINE},
    {"caption", BREAK},
    {"center", BREAK},
    {"col", HTML_EFFECT_VOID},
    {"dd", ITEM},
    {"div", BREAK},
    {"dl", BREAK},
    {"dt", ITEM},
    {"embed", HTML_EFFECT_VOID},
    {"fieldset", BREAK},
    {"footer", BREAK},
    {"form", BREAK},
    {"h1", PARAGRAPH},
    {"h2", PARAGRAPH},
    {"h3", PARAGRAPH},
    {"h4", PARAGRAPH},
    {"h5", PARAGRAPH},
    {"h6", PARAGRAPH},
    {"head", HTML_EFFECT_DROP},
    {"header", BREAK},
    {"hr", BREAK | HTML_EFFECT_VOID},
    {"html", BREAK},
    {"iframe", RAW},
    {"img", HTML_EFFECT_VOID},
    {"input", HTML_EFFECT_VOID},
    {"li", ITEM},
    {"link", HTML_EFFECT_VOID},
    {"main", BREAK},
    {"meta", HTML_EFFECT_VOID},
    {"noembed", RAW},
    {"noframes", RAW},
    {"noscript", HTML_EFFECT_DROP},
    {"object", HTML_EFFECT_DROP},
    {"ol", BREAK},
    {"option", HTML_EFFECT_ITSELF},
    {"p", PARAGRAPH | HTML_EFFECT_ITSELF},
    {"param", HTML_EFFECT_VOID},
    {"pre", PARAGRAPH | HTML_EFFECT_PRE},
    {"script", RAW},
    {"section", BREAK},
    {"select", HTML_EFFECT_DROP},
    {"source", HTML_EFFECT_VOID},
    {"style", RAW},
    {"svg", HTML_EFFECT_DROP},
    {"table", BREAK},
    {"tbody", BREAK},
    {"td", CELL},
    {"template", HTML_EFFECT_DROP},
    {"textarea", RAW},
    {"th", CELL},
    {"title", RAW},
    {"tr", ITEM},
    {"ul", BREAK},
    {"wbr", HTML_EFFECT_VOID},
    {"xmp", RAW},
};

/* How mail programs name what they quote, and their users' signatures. */
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

/* Of a style without its blanks. */
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

/* Nothing but zero of these hides. */
static const char *const sizes[] = {
    "font-size:0", "max-height:0", "line-height:0", "opacity:0"};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static unsigned
judge_style(const char *value)
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

/* An id or class has a part where it stands in it as a word or behind "_" or "x_". */
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
judge_attribute(struct html_tag *tag, const char *name, const char *value)
{
	if (!strcmp(name, "hidden"))
		tag->effects |= HTML_EFFECT_DROP;
	if (!strcmp(name, "style"))
		tag->effects |= judge_style(value);
	/* A paragraph of Word is a line. */
	if (!strcmp(name, "class") && !strcmp(tag->name, "p") &&
	    strstr(value, "msonormal"))
		tag->effects &= ~(unsigned)HTML_EFFECT_PARAGRAPH;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (!strcmp(name, marks[i].attribute) && has_part(value, marks[i].part))
			tag->effects |= marks[i].effects;
}

/* Copy in lower case, as much as there is room for. */
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

/* Parse one attribute. @return the place behind it */
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
	judge_attribute(tag, name, value);
	return at;
}

size_t
html_tag_parse(const char *text, size_t size, struct html_tag *tag)
{
	size_t at = 1, start;

	size = MIN(size, BOUNDS_HTML_TAG_BYTES);
	*tag = (struct html_tag){.is_end = text[1] == '/'};
	at += tag->is_end;
	start = at;
	while (at < size && !is_blank(text[at]) && text[at] != '/' && text[at] != '>')
		at++;
	copy_lower(tag->name, sizeof(tag->name), text + start, at - start);
	for (size_t i = 0; i < G_N_ELEMENTS(elements); i++)
		if (!strcmp(tag->name, elements[i].name))
			tag->effects = elements[i].effects;
	for (at = skip(text, at, size); at < size && text[at] != '>';
	     at = skip(text, at, size))
		at = parse_attribute(text, at, size, tag);
	return MIN(at + 1, size);
}
