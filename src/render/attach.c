/*
 * attach.c - the papers of a digest as a file.
 */
#include "render/attach.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "message/sanitize.h"
#include "model/paper_id.h"

#define YEAR_DIGITS 4

/* ---- names of authors ---- */

static const char *const suffixes[] = {
    "jr", "jr.", "sr", "sr.", "ii", "iii", "iv", NULL};

/* Words that only names of groups have. */
static const char *const group_words[] = {"ai", "and", "collaboration", "consortium",
    "contributors", "gmbh", "group", "inc", "inc.", "institute", "lab", "labs", "llc",
    "ltd", "ltd.", "research", "team", "the", "university", "&", NULL};

/* Particles that some write with a capital: "Guy Van den Broeck". */
static const char *const particles[] = {"de", "van", "von", NULL};

static bool
is_any(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (g_ascii_strcasecmp(word, *words) == 0)
			return true;
	return false;
}

static bool
is_lower(const char *word)
{
	return g_unichar_islower(g_utf8_get_char(word));
}

/* @param count  of words, at least 2 @return index of the first of the family name */
static unsigned
find_family(char *const *words, unsigned count)
{
	unsigned first = 1;

	while (first < count - 1 && !is_lower(words[first]))
		first++;
	while (
	    first > 1 && is_lower(words[first]) && is_any(words[first - 1], particles))
		first--;
	return first;
}

static char *
join(char **words, unsigned count)
{
	g_autoptr(GPtrArray) some = g_ptr_array_new();

	for (unsigned i = 0; i < count; i++)
		g_ptr_array_add(some, words[i]);
	g_ptr_array_add(some, NULL);
	return g_strjoinv(" ", (char **)some->pdata);
}

void
attach_name_init(struct attach_name *name, const char *author)
{
	g_autofree char *line = sanitize_paper_text(author, 0);
	g_auto(GStrv) words = g_strsplit(line, " ", 0);
	unsigned count = g_strv_length(words), first;
	char *comma = strstr(line, ", ");

	*name = (struct attach_name){0};
	for (unsigned i = 0; i < count; i++) {
		if (is_any(words[i], group_words)) {
			name->family = g_steal_pointer(&line);
			return;
		}
	}
	if (count > 2 && is_any(words[count - 1], suffixes)) {
		name->suffix = g_strdup(words[--count]);
		g_strdelimit(words[count - 1], ",", ' ');
		g_strchomp(words[count - 1]);
	} else if (comma) {
		name->family = g_strndup(line, (size_t)(comma - line));
		name->given = g_strdup(comma + 2);
		return;
	}
	if (count < 2) {
		name->family = g_steal_pointer(&line);
		return;
	}
	first = find_family(words, count);
	name->given = join(words, first);
	name->family = join(words + first, count - first);
}

void
attach_name_clear(struct attach_name *name)
{
	g_free(name->family);
	g_free(name->given);
	g_free(name->suffix);
}

/* ---- other facts ---- */

/* Get the day of publication, or of listing if that is not known. */
static void
get_day(const struct digest_entry *entry, char day[DAY_BYTES])
{
	if (entry->paper->published_at == PAPER_UNKNOWN)
		g_strlcpy(day, entry->day, DAY_BYTES);
	else
		day_format(entry->paper->published_at, day);
}

/* @return the title as the digest shows it; owned by the caller; may be empty */
static char *
format_title(const struct paper *paper)
{
	return sanitize_paper_text(paper->title, 0);
}

/*
 * Format the link to the page of a paper: arXiv's if it is there, else the source's.
 *
 * @return owned by the caller; NULL if there is none
 */
static char *
format_page(const struct paper *paper)
{
	char *page = paper_id_format_arxiv_url(paper->id, "abs");

	if (!page && sanitize_is_web_url(paper->url))
		page = g_strdup(paper->url);
	return page;
}

/* ---- papers in BibTeX ---- */

/*
 * TeX's special characters are escaped: no text of a paper is run as TeX.
 */

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
append_escaped_bibtex(GString *out, const char *text)
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
	append_escaped_bibtex(out, line);
	g_string_append(out, "},\n");
}

/* Two braces: styles must not change it to lower case. */
static void
append_title_bibtex(GString *out, const struct paper *paper)
{
	g_autofree char *title = format_title(paper);

	g_string_append(out, "  title = {{");
	append_escaped_bibtex(out, title);
	g_string_append(out, "}},\n");
}

/* "Family, Suffix, Given"; the name of a group is in braces. */
static void
append_author_bibtex(GString *out, const char *author)
{
	pb_local(attach_name) name = {0};

	attach_name_init(&name, author);
	g_string_append(out, name.given ? "" : "{");
	append_escaped_bibtex(out, name.family);
	if (name.suffix)
		g_string_append_printf(out, ", %s", name.suffix);
	g_string_append(out, name.given ? ", " : "}");
	append_escaped_bibtex(out, name.given ? name.given : "");
}

static void
append_authors(GString *out, const GPtrArray *authors)
{
	if (!authors->len)
		return;
	g_string_append(out, "  author = {");
	for (unsigned i = 0; i < authors->len; i++) {
		g_string_append(out, i ? " and " : "");
		append_author_bibtex(out, authors->pdata[i]);
	}
	g_string_append(out, "},\n");
}

/* BibTeX's macros for the months, which its styles translate. */
static void
append_date_bibtex(GString *out, const struct digest_entry *entry)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	char day[DAY_BYTES];
	unsigned month;

	get_day(entry, day);
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

static void
append_bibtex(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->page->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *page = format_page(paper);
	g_autofree char *code = sanitize_is_web_url(paper->code_url)
	                            ? g_strconcat("Code: ", paper->code_url, NULL)
	                            : NULL;

	g_string_append(out, paper->journal ? "@article{" : "@misc{");
	append_key(out, paper->id);
	g_string_append(out, ",\n");
	append_title_bibtex(out, paper);
	append_authors(out, paper->authors);
	append_field(out, "journal", paper->journal);
	append_date_bibtex(out, entry);
	append_eprint(out, paper);
	append_verbatim(out, "doi", paper->doi);
	append_verbatim(out, "url", page);
	append_field(out, "abstract", paper->abstract);
	append_keywords(out, paper->keywords);
	append_field(out, "annote", code);
	g_string_append(out, "}\n\n");
}

/* ---- papers in RIS ---- */

/*
 * One line is a tag of two characters, two blanks, a hyphen, a blank and the value; all
 * values are sanitized, so that they have no line ends.
 */

static void
append_tag(GString *out, const char *tag, const char *value)
{
	if (value && *value)
		g_string_append_printf(out, "%s  - %s\n", tag, value);
}

/* "Family, Given, Suffix"; a name without a comma is a group's. */
static void
append_author_ris(GString *out, const char *author)
{
	pb_local(attach_name) name = {0};
	g_autofree char *whole = NULL;

	attach_name_init(&name, author);
	if (!name.given)
		g_strdelimit(name.family, ",", ' ');
	whole = name.given ? g_strjoin(", ", name.family, name.given, name.suffix, NULL)
	                   : sanitize_line(name.family, 0);
	append_tag(out, "AU", whole);
}

static void
append_date_ris(GString *out, const struct digest_entry *entry)
{
	char day[DAY_BYTES];

	get_day(entry, day);
	g_string_append_printf(out, "PY  - %.*s\n", YEAR_DIGITS, day);
	append_tag(out, "DA", g_strdelimit(day, "-", '/'));
}

static void
append_text(GString *out, const char *tag, const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);

	append_tag(out, tag, line);
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
	g_autofree char *page = format_page(paper);
	g_autofree char *pdf = paper_id_format_arxiv_url(paper->id, "pdf");

	append_tag(out, "UR", page);
	append_tag(out, "L1", pdf);
	if (sanitize_is_web_url(paper->code_url))
		g_string_append_printf(out, "N1  - Code: %s\n", paper->code_url);
}

/* UNPB: unpublished work.  Zotero imports GEN as an article of a journal. */
static void
append_ris(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->page->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *title = format_title(paper);

	append_tag(out, "TY", paper->journal ? "JOUR" : "UNPB");
	append_text(out, "ID", paper->id);
	append_tag(out, "TI", title);
	for (unsigned i = 0; i < paper->authors->len; i++)
		append_author_ris(out, paper->authors->pdata[i]);
	append_text(out, "JF", paper->journal);
	append_date_ris(out, entry);
	append_text(out, "AB", paper->abstract);
	append_doi(out, paper);
	append_links(out, paper);
	for (unsigned i = 0; paper->keywords && i < paper->keywords->len; i++)
		append_text(out, "KW", paper->keywords->pdata[i]);
	g_string_append(out, "ER  - \n\n");
}

/* ---- a digest in Markdown, with front matter in YAML ---- */

/*
 * All text is escaped: nothing in it becomes markup in CommonMark, and in the common
 * extensions of it (GitHub, pandoc, Obsidian).
 */

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

/* Append a paragraph.  A mark at its start, or after digits there, is escaped, too: it
 * would make the paragraph a list, a heading or a rule. */
static void
append_escaped_markdown(GString *out, const char *text)
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
	append_escaped_markdown(out, text);
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
	append_escaped_markdown(out, text);
	g_string_append_c(out, '\n');
}

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

static void
append_markdown_head(GString *out, const struct attach_input *input)
{
	const struct page *message = input->page;

	g_string_append(out, "---\ntitle: ");
	append_quoted(out, message->subject);
	g_string_append_printf(out, "\ndate: %s\nlist: ", input->digest->date);
	append_quoted(out, input->list_name);
	g_string_append_printf(out, "\ncount: %u\npapers:\n", message->shown);
	for (unsigned i = 0; i < message->shown; i++) {
		const struct digest_entry *entry = message->entries->pdata[i];

		g_string_append(out, "  - ");
		append_quoted(out, entry->paper->id);
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "---\n");
}

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

	get_day(entry, day);
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
	g_autofree char *label = locale_format_text(input->format, N_("AI"));
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
append_title_markdown(GString *out, const struct attach_input *input, unsigned index)
{
	const struct page *message = input->page;
	const struct digest_entry *entry = message->entries->pdata[index];
	g_autofree char *title = format_title(entry->paper);
	g_autofree char *page = format_page(entry->paper);

	if (!*title) {
		g_free(title);
		title = locale_format_text(input->format, N_("(untitled)"));
	}
	if (index == message->full) {
		g_autofree char *more =
		    locale_format_text(input->format, N_("More by title"));

		g_string_append(out, "\n## ");
		append_escaped_markdown(out, more);
		g_string_append(out, "\n\n");
	}
	g_string_append(out, index < message->full ? "\n## " : "- ");
	append_link(out, title, page);
	g_string_append_c(out, '\n');
}

static void
append_markdown(GString *out, const struct attach_input *input, unsigned index)
{
	const struct digest_entry *entry = input->page->entries->pdata[index];
	const struct paper *paper = entry->paper;
	g_autofree char *authors = NULL;

	append_title_markdown(out, input, index);
	if (index >= input->page->full)
		return;
	authors =
	    locale_format_names(input->format, paper->authors, BOUNDS_DIGEST_AUTHORS);
	append_paragraph(out, authors);
	append_details(out, entry);
	append_summary(out, input, paper, page_get_depth(input->page, index));
}

/* ---- formats ---- */

static const struct attach_format formats[] = {
    [PREFERENCE_ATTACH_BIBTEX] = {.extension = "bib",
        .mime_type = "text/x-bibtex",
        .append_paper = append_bibtex},
    [PREFERENCE_ATTACH_RIS] = {.extension = "ris",
        .mime_type = "application/x-research-info-systems",
        .append_paper = append_ris},
    [PREFERENCE_ATTACH_MARKDOWN] = {.extension = "md",
        .mime_type = "text/markdown", /* RFC 7763 */
        .append_head = append_markdown_head,
        .append_paper = append_markdown},
};

const struct attach_format *
attach_get_format(enum preference_attach attach)
{
	return attach == PREFERENCE_ATTACH_NONE ? NULL : &formats[attach];
}

GString *
attach_new_file(const struct attach_format *format, const struct attach_input *input)
{
	GString *out = g_string_new(NULL);

	if (format->append_head)
		format->append_head(out, input);
	for (unsigned i = 0; i < input->page->shown; i++)
		format->append_paper(out, input, i);
	return out;
}
