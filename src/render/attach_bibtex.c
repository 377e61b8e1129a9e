/*
 * attach_bibtex.c - papers in BibTeX.
 *
 * TeX's special characters are escaped: no text of a paper is run as TeX.
 */
#include <string.h>

#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/attach_private.h"

#define YEAR_DIGITS 4

/* Commands are in braces, as Zotero writes and reads them. */
static const struct {
	char plain;
	const char *tex;
} escapes[] = {
    {'\\', "{\\textbackslash}"},
    {'{', "\\{"},
    {'}', "\\}"},
    {'&', "\\&"},
    {'%', "\\%"},
    {'$', "\\$"},
    {'#', "\\#"},
    {'_', "\\_"},
    {'~', "{\\textasciitilde}"},
    {'^', "{\\textasciicircum}"},
};

static const char *
find_escape(char c)
{
	for (size_t i = 0; i < G_N_ELEMENTS(escapes); i++)
		if (escapes[i].plain == c)
			return escapes[i].tex;
	return NULL;
}

static bool
has_balanced_braces(const char *text)
{
	unsigned depth = 0;

	for (; *text; text++) {
		if (*text == '}' && depth-- == 0)
			return false;
		depth += *text == '{';
	}
	return depth == 0;
}

/* BibTeX counts escaped braces, too: without its match a brace would end the field. */
static void
append_escaped(GString *out, const char *text)
{
	bool is_balanced = has_balanced_braces(text);

	for (; *text; text++) {
		const char *escape = find_escape(*text);

		if (!is_balanced && *text == '{')
			escape = "{\\textbraceleft}";
		if (!is_balanced && *text == '}')
			escape = "{\\textbraceright}";
		if (escape)
			g_string_append(out, escape);
		else
			g_string_append_c(out, *text);
	}
}

/* A key is limited to a few characters. */
static void
append_key(GString *out, const char *id)
{
	for (; *id; id++)
		g_string_append_c(
		    out, g_ascii_isalnum(*id) || strchr(".:/-", *id) ? *id : '-');
}

/* Empty values are left out. */
static void
append_field(GString *out, const char *name, const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);

	if (!*line)
		return;
	g_string_append_printf(out, "  %s = {", name);
	append_escaped(out, line);
	g_string_append(out, "},\n");
}

/* Two braces: styles must not change it to lower case. */
static void
append_title(GString *out, const struct paper *paper)
{
	g_autofree char *title = attach_format_title(paper);

	g_string_append(out, "  title = {{");
	append_escaped(out, title);
	g_string_append(out, "}},\n");
}

/* "Family, Suffix, Given"; the name of a group is in braces. */
static void
append_author(GString *out, const char *author)
{
	pb_local(attach_name) name = {0};

	attach_name_init(&name, author);
	g_string_append(out, name.given ? "" : "{");
	append_escaped(out, name.family);
	if (name.suffix)
		g_string_append_printf(out, ", %s", name.suffix);
	g_string_append(out, name.given ? ", " : "}");
	append_escaped(out, name.given ? name.given : "");
}

static void
append_authors(GString *out, const GPtrArray *authors)
{
	if (!authors->len)
		return;
	g_string_append(out, "  author = {");
	for (unsigned i = 0; i < authors->len; i++) {
		g_string_append(out, i ? " and " : "");
		append_author(out, authors->pdata[i]);
	}
	g_string_append(out, "},\n");
}

/* BibTeX's macros for the months, which its styles translate. */
static void
append_date(GString *out, const struct digest_entry *entry)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	char day[DAY_BYTES];
	unsigned month;

	attach_get_day(entry, day);
	month = (unsigned)g_ascii_strtoull(day + YEAR_DIGITS + 1, NULL, 10) - 1;
	g_string_append_printf(out, "  year = {%.*s},\n", YEAR_DIGITS, day);
	g_string_append_printf(out, "  month = %.3s,\n", months + 3 * month);
}

/* These are not escaped; a value that would end its field is left out. */
static void
append_verbatim(GString *out, const char *name, const char *value)
{
	if (!value || !*value || strpbrk(value, "{}\\ \t\r\n") ||
	    !g_str_is_ascii(value))
		return;
	g_string_append_printf(out, "  %s = {%s},\n", name, value);
}

static void
append_eprint(GString *out, const struct paper *paper)
{
	if (!paper_id_is_arxiv(paper->id))
		return;
	append_verbatim(out, "eprint", paper->id);
	append_verbatim(out, "archivePrefix", "arXiv");
	if (paper->categories && paper->categories->len)
		append_verbatim(out, "primaryClass", paper->categories->pdata[0]);
}

static void
append_keywords(GString *out, const GPtrArray *keywords)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (unsigned i = 0; keywords && i < keywords->len; i++)
		g_string_append_printf(
		    list, "%s%s", i ? ", " : "", (const char *)keywords->pdata[i]);
	append_field(out, "keywords", list->str);
}

void
attach_bibtex_append(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->assembled->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *page = attach_format_page(paper);
	g_autofree char *code = sanitize_is_web_url(paper->code_url)
	                            ? g_strconcat("Code: ", paper->code_url, NULL)
	                            : NULL;

	g_string_append(out, paper->journal ? "@article{" : "@misc{");
	append_key(out, paper->id);
	g_string_append(out, ",\n");
	append_title(out, paper);
	append_authors(out, paper->authors);
	append_field(out, "journal", paper->journal);
	append_date(out, entry);
	append_eprint(out, paper);
	append_verbatim(out, "doi", paper->doi);
	append_verbatim(out, "url", page);
	append_field(out, "abstract", paper->abstract);
	append_keywords(out, paper->keywords);
	append_field(out, "annote", code);
	g_string_append(out, "}\n\n");
}
