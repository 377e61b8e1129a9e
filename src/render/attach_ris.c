/*
 * attach_ris.c - papers in RIS.
 *
 * One line is a tag of two characters, two blanks, a hyphen, a blank and the value; all
 * values are sanitized, so that they have no line ends.
 */
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/attach_private.h"

#define YEAR_DIGITS 4

static void
append(GString *out, const char *tag, const char *value)
{
	if (value && *value)
		g_string_append_printf(out, "%s  - %s\n", tag, value);
}

/* "Family, Given, Suffix"; a name without a comma is a group's. */
static void
append_author(GString *out, const char *author)
{
	pb_local(attach_name) name = {0};
	g_autofree char *whole = NULL;

	attach_name_init(&name, author);
	if (!name.given)
		g_strdelimit(name.family, ",", ' ');
	whole = name.given ? g_strjoin(", ", name.family, name.given, name.suffix, NULL)
	                   : sanitize_line(name.family, 0);
	append(out, "AU", whole);
}

static void
append_date(GString *out, const struct digest_entry *entry)
{
	char day[DAY_BYTES];

	attach_get_day(entry, day);
	g_string_append_printf(out, "PY  - %.*s\n", YEAR_DIGITS, day);
	append(out, "DA", g_strdelimit(day, "-", '/'));
}

static void
append_text(GString *out, const char *tag, const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);

	append(out, tag, line);
}

/* There is no tag for arXiv's ids, but DOIs (https://info.arxiv.org/help/doi.html). */
static void
append_doi(GString *out, const struct paper *paper)
{
	g_autofree char *doi = paper->doi || !paper_id_is_arxiv(paper->id)
	                           ? g_strdup(paper->doi)
	                           : g_strconcat("10.48550/arXiv.", paper->id, NULL);

	append_text(out, "DO", doi);
}

static void
append_links(GString *out, const struct paper *paper)
{
	g_autofree char *page = attach_format_page(paper);
	g_autofree char *pdf = paper_id_format_arxiv_url(paper->id, "pdf");

	append(out, "UR", page);
	append(out, "L1", pdf);
	if (sanitize_is_web_url(paper->code_url))
		g_string_append_printf(out, "N1  - Code: %s\n", paper->code_url);
}

/* UNPB: unpublished work.  Zotero imports GEN as an article of a journal. */
void
attach_ris_append(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->assembled->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *title = attach_format_title(paper);

	append(out, "TY", paper->journal ? "JOUR" : "UNPB");
	append_text(out, "ID", paper->id);
	append(out, "TI", title);
	for (unsigned i = 0; i < paper->authors->len; i++)
		append_author(out, paper->authors->pdata[i]);
	append_text(out, "JF", paper->journal);
	append_date(out, entry);
	append_text(out, "AB", paper->abstract);
	append_doi(out, paper);
	append_links(out, paper);
	for (unsigned i = 0; paper->keywords && i < paper->keywords->len; i++)
		append_text(out, "KW", paper->keywords->pdata[i]);
	g_string_append(out, "ER  - \n\n");
}
