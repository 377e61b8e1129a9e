/*
 * bibtex.c - papers as BibTeX entries.
 */
#include "render/bibtex.h"

#include <stdbool.h>
#include <string.h>

#include "message/sanitize.h"

#define YEAR_DIGITS 4

static const struct {
	char mail;
	const char *tex;
} escapes[] = {
    {'\\', "\\textbackslash{}"},
    {'{', "\\{"},
    {'}', "\\}"},
    {'&', "\\&"},
    {'%', "\\%"},
    {'$', "\\$"},
    {'#', "\\#"},
    {'_', "\\_"},
    {'~', "\\textasciitilde{}"},
    {'^', "\\textasciicircum{}"},
};

static void
append_escaped(GString *out, const char *text)
{
	for (; *text; text++) {
		size_t i = 0;

		while (i < G_N_ELEMENTS(escapes) && escapes[i].mail != *text)
			i++;
		if (i < G_N_ELEMENTS(escapes))
			g_string_append(out, escapes[i].tex);
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

static void
append_title(GString *out, const char *title)
{
	g_autofree char *line = sanitize_line(title, 0);

	/* Two braces: styles must not change it to lower case. */
	g_string_append(out, "  title = {{");
	append_escaped(out, line);
	g_string_append(out, "}},\n");
}

/* "A and B" would be two people, and "A, B" one with the names swapped. */
static bool
is_one_name(const char *name)
{
	return !strchr(name, ',') &&
	       !g_regex_match_simple("(^|\\s)and(\\s|$)", name, G_REGEX_CASELESS, 0);
}

static void
append_authors(GString *out, const GPtrArray *authors)
{
	if (!authors->len)
		return;
	g_string_append(out, "  author = {");
	for (unsigned i = 0; i < authors->len; i++) {
		g_autofree char *name = sanitize_line(authors->pdata[i], 0);
		bool is_whole = !is_one_name(name);

		g_string_append(out, i ? " and " : "");
		g_string_append(out, is_whole ? "{" : "");
		append_escaped(out, name);
		g_string_append(out, is_whole ? "}" : "");
	}
	g_string_append(out, "},\n");
}

static void
append_year(GString *out, const struct paper *paper, const char *day)
{
	g_autoptr(GDateTime) at =
	    paper->published_at == PAPER_UNKNOWN
	        ? NULL
	        : g_date_time_new_from_unix_utc(paper->published_at);

	if (at)
		g_string_append_printf(
		    out, "  year = {%d},\n", g_date_time_get_year(at));
	else
		g_string_append_printf(out, "  year = {%.*s},\n", YEAR_DIGITS, day);
}

/* These are not escaped; a value that would end its field is left out. */
static void
append_verbatim(GString *out, const char *name, const char *value)
{
	if (!value || !*value || strpbrk(value, "{}\\") || !g_str_is_ascii(value) ||
	    strpbrk(value, " \t\r\n"))
		return;
	g_string_append_printf(out, "  %s = {%s},\n", name, value);
}

/* https://info.arxiv.org/help/arxiv_identifier.html */
static bool
is_arxiv_id(const char *id)
{
	return g_regex_match_simple(
	    "^([0-9]{4}\\.[0-9]{4,5}|[a-z-]+(\\.[A-Z]{2})?/[0-9]{7})\\z", id, 0, 0);
}

void
bibtex_append(GString *out, const struct paper *paper, const char *day)
{
	g_string_append(out, "@misc{");
	append_key(out, paper->id);
	g_string_append(out, ",\n");
	append_title(out, paper->title);
	append_authors(out, paper->authors);
	append_year(out, paper, day);
	if (is_arxiv_id(paper->id)) {
		append_verbatim(out, "eprint", paper->id);
		append_verbatim(out, "archivePrefix", "arXiv");
		if (paper->categories && paper->categories->len)
			append_verbatim(
			    out, "primaryClass", paper->categories->pdata[0]);
	}
	append_verbatim(out, "doi", paper->doi);
	if (sanitize_is_web_url(paper->url))
		append_verbatim(out, "url", paper->url);
	g_string_append(out, "}\n\n");
}
