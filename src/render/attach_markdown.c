/*
 * attach_markdown.c - a digest in Markdown, with front matter in YAML.
 *
 * All text is escaped: nothing in it becomes markup in CommonMark, and in the common
 * extensions of it (GitHub, pandoc, Obsidian).
 */
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/attach_private.h"

/* ---- text and links ---- */

/* Whether a character of a text starts markup. */
static bool
is_markup(const char *text, const char *at)
{
	switch (*at) {
	case '&': /* an entity */
		return g_ascii_isalpha(at[1]) || at[1] == '#';
	case ':': /* an address that becomes a link */
		return at[1] == '/';
	case '.':
		return at - text >= 3 && g_ascii_strncasecmp(at - 3, "www", 3) == 0;
	case '%': /* a comment */
	case '=': /* highlighted text */
		return at[1] == *at;
	default:
		return strchr("\\`*_{}[]<>#|~^$@", *at) != NULL;
	}
}

/* The first mark of a paragraph, after digits, makes it a list, a heading, a rule. */
static void
append_escaped(GString *out, const char *text)
{
	const char *start = text + strspn(text, "0123456789");

	for (const char *at = text; *at; at++) {
		if (is_markup(text, at) || (at == start && strchr("-+=.):", *at)))
			g_string_append_c(out, '\\');
		g_string_append_c(out, *at);
	}
}

/* @param url  valid (sanitize_is_web_url()) */
static void
append_url(GString *out, const char *url)
{
	for (; *url; url++) {
		if (strchr("()[]", *url))
			g_string_append_printf(out, "%%%02X", (unsigned)*url);
		else if (*url == '&' && strchr(url, ';'))
			g_string_append(out, "&amp;");
		else
			g_string_append_c(out, *url);
	}
}

/* @param url  valid, or NULL */
static void
append_link(GString *out, const char *text, const char *url)
{
	if (url)
		g_string_append_c(out, '[');
	append_escaped(out, text);
	if (!url)
		return;
	g_string_append(out, "](");
	append_url(out, url);
	g_string_append_c(out, ')');
}

static void
append_paragraph(GString *out, const char *text)
{
	if (!text || !*text)
		return;
	g_string_append_c(out, '\n');
	append_escaped(out, text);
	g_string_append_c(out, '\n');
}

/* ---- front matter ---- */

/* A string in double quotes: YAML reads all escapes of JSON. */
static void
append_quoted(GString *out, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);

	g_string_append_c(out, '"');
	for (const char *at = line; *at; at++) {
		if (*at == '"' || *at == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *at);
	}
	g_string_append_c(out, '"');
}

void
attach_markdown_append_head(GString *out, const struct attach_input *input)
{
	const struct assembled_message *assembled = input->assembled;

	g_string_append(out, "---\ntitle: ");
	append_quoted(out, assemble_get_subject(assembled));
	g_string_append_printf(out, "\ndate: %s\nlist: ", input->digest->date);
	append_quoted(out, input->list_name);
	g_string_append_printf(out, "\ncount: %u\npapers:\n", assembled->shown);
	for (unsigned i = 0; i < assembled->shown; i++) {
		const struct digest_entry *entry = assembled->entries->pdata[i];

		g_string_append(out, "  - ");
		append_quoted(out, entry->paper->id);
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "---\n");
}

/* ---- papers ---- */

static void
append_detail(GString *out, const char *text, const char *url)
{
	if (!text || !*text)
		return;
	g_string_append(out, " \u00B7 ");
	append_link(out, text, url);
}

/* "2026-11-20 · 2611.00001 · cs.CL · [PDF](...) · [Code](...)" */
static void
append_details(GString *out, const struct digest_entry *entry)
{
	const struct paper *paper = entry->paper;
	const char *category = paper->categories && paper->categories->len
	                           ? paper->categories->pdata[0]
	                           : NULL;
	g_autofree char *number = g_strconcat("arXiv:", paper->id, NULL);
	g_autofree char *journal = sanitize_paper_text(paper->journal, 0);
	g_autofree char *doi = sanitize_line(paper->doi, 0);
	g_autofree char *doi_url = g_strconcat("https://doi.org/", doi, NULL);
	g_autofree char *pdf = paper_id_format_arxiv_url(paper->id, "pdf");
	char day[DAY_BYTES];

	attach_get_day(entry, day);
	g_string_append_printf(out, "\n%s", day);
	append_detail(out, journal, NULL);
	if (paper_id_is_arxiv(paper->id))
		append_detail(out, number, NULL);
	append_detail(out, category, NULL);
	append_detail(out, doi, sanitize_is_web_url(doi_url) ? doi_url : NULL);
	if (pdf)
		append_detail(out, "PDF", pdf);
	if (sanitize_is_web_url(paper->code_url))
		append_detail(out, "Code", paper->code_url);
	g_string_append_c(out, '\n');
}

static void
append_summary(GString *out, const struct attach_input *input,
    const struct paper *paper, enum entry_depth depth)
{
	pb_local(entry_summary) summary = {0};
	g_autofree char *label = locale_format_text(input->format, "generated");
	g_autofree char *marked = NULL;

	entry_summary_init(&summary, paper, depth);
	marked = summary.is_generated
	             ? g_strdup_printf("%s (%s)", summary.sentence, label)
	             : NULL;
	append_paragraph(out, marked ? marked : summary.sentence);
	append_paragraph(out, summary.abstract);
}

/* Papers by title only are a list under a heading of its own. */
static void
append_title(GString *out, const struct attach_input *input, unsigned index)
{
	const struct assembled_message *assembled = input->assembled;
	const struct digest_entry *entry = assembled->entries->pdata[index];
	g_autofree char *title = attach_format_title(entry->paper);
	g_autofree char *page = attach_format_page(entry->paper);

	if (!*title) {
		g_free(title);
		title = locale_format_text(input->format, "untitled");
	}
	if (index == assembled->full) {
		g_autofree char *more =
		    locale_format_text(input->format, "more_by_title");

		g_string_append(out, "\n## ");
		append_escaped(out, more);
		g_string_append(out, "\n\n");
	}
	g_string_append(out, index < assembled->full ? "\n## " : "- ");
	append_link(out, title, page);
	g_string_append_c(out, '\n');
}

void
attach_markdown_append(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->assembled->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *authors = NULL;

	append_title(out, input, index);
	if (index >= input->assembled->full)
		return;
	authors =
	    locale_format_names(input->format, paper->authors, BOUNDS_DIGEST_AUTHORS);
	append_paragraph(out, authors);
	append_details(out, entry);
	append_summary(out, input, paper, assemble_get_depth(input->assembled, index));
}
