/*
 * fuzz_attach.c - write papers with any texts into the files of each format.
 *
 * Texts cannot end a field or a line, run TeX, or become a link or HTML.
 */
#include <string.h>

#include "../tests/lib/render_sample.h"
#include "fuzz.h"
#include "render/attach.h"
#include "render/catalog.h"

#define PAPERS_MAX  4
#define AUTHORS_MAX 4

static char *
take_optional(struct fuzz_input *input)
{
	char *text = fuzz_take_text(input);

	if (!*text)
		g_clear_pointer(&text, g_free);
	return text;
}

static void
add_paper(struct digest *digest, struct fuzz_input *input)
{
	unsigned choice = fuzz_take_byte(input);
	g_autofree char *title = fuzz_take_text(input);
	struct digest_entry *entry =
	    render_sample_add(digest, choice & 1 ? "2611.00001" : "10.1000/182",
	        *title ? title : "Title", DIGEST_DETAIL_FULL);
	struct paper *paper = entry->paper;

	g_free(paper->abstract);
	paper->abstract = fuzz_take_text(input);
	g_free(paper->url);
	paper->url = fuzz_take_text(input);
	paper->code_url = take_optional(input);
	paper->journal = take_optional(input);
	paper->doi = take_optional(input);
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, fuzz_take_text(input));
	g_ptr_array_set_size(paper->authors, 0);
	for (unsigned i = 0; i < (choice >> 1) % AUTHORS_MAX; i++)
		g_ptr_array_add(paper->authors, fuzz_take_text(input));
}

/* BibTeX counts braces whether they are escaped or not. */
static void
check_bibtex(const char *text, unsigned papers)
{
	unsigned depth = 0, entries = 0;

	for (const char *at = text; *at; at++) {
		bool is_start = at == text || at[-1] == '\n';

		if (is_start && *at == '@') {
			g_assert(depth == 0);
			entries++;
		}
		if (is_start && *at == '}')
			g_assert(depth == 1);
		if (*at == '\\') {
			g_assert(
			    strchr("&%$#_{}", at[1]) || g_str_has_prefix(at, "\\text"));
		} else if (strchr("&%$#_", *at)) {
			/* Of verbatim fields, which are links and ids. */
			const char *line = at;

			while (line > text && line[-1] != '\n')
				line--;
			g_assert(at[-1] == '\\' || g_str_has_prefix(line, "  url = ") ||
			         g_str_has_prefix(line, "  doi = "));
		}
		if (*at == '{')
			depth++;
		if (*at == '}')
			g_assert(depth-- > 0);
	}
	g_assert(depth == 0 && entries == papers);
}

static void
check_ris(const char *text, unsigned papers)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
	unsigned started = 0, ended = 0;

	for (char **line = lines; *line; line++) {
		if (!**line)
			continue;
		g_assert(g_regex_match_simple("^[A-Z][A-Z0-9]  - ", *line, 0, 0));
		if (g_str_has_prefix(*line, "TY"))
			g_assert(started++ == ended);
		if (g_str_has_prefix(*line, "ER"))
			ended++;
		fuzz_check_line(*line + strlen("TI  - "), G_MAXUINT);
	}
	g_assert(started == papers && ended == papers);
}

/* A line has at most the links of the format. */
static void
check_markdown(const char *text, unsigned papers)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
	unsigned titles = 0;

	for (char **line = lines; *line; line++) {
		unsigned brackets = 0;
		bool is_title = g_str_has_prefix(*line, "## ");
		bool has_links = is_title || g_str_has_prefix(*line, "2026-");

		titles += is_title;
		for (const char *at = *line; *at; at++) {
			if (*at == '\\' && at[1]) {
				at++;
				continue;
			}
			g_assert(!strchr("<>`*#", *at) ||
			         (is_title && at < *line + 2) ||
			         (has_links && brackets));
			brackets += *at == '[';
		}
		g_assert(brackets <= (is_title ? 1 : has_links ? 3 : 0));
	}
	g_assert(titles == papers);
}

static struct catalog *
get_catalog(void)
{
	static struct catalog *catalog;
	g_autofree char *dir = render_sample_get_template_dir();

	if (!catalog)
		catalog = catalog_load(NULL, NULL);
	g_assert_nonnull(catalog);
	return catalog;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(const char *text, unsigned papers) = {
	    [PREFERENCE_ATTACH_BIBTEX] = check_bibtex,
	    [PREFERENCE_ATTACH_RIS] = check_ris,
	    [PREFERENCE_ATTACH_MARKDOWN] = check_markdown,
	};
	struct fuzz_input fuzz = {data, size};
	pb_auto(digest) digest = render_sample_new_digest();
	const struct locale_format locale = {get_catalog(), "en"};
	struct page page = {
	    .entries = digest->entries,
	    .abstract = PREFERENCE_ABSTRACT_FULL,
	};
	const struct attach_input input = {
	    .digest = digest,
	    .page = &page,
	    .format = &locale,
	    .list_name = "paperboy",
	};

	do
		add_paper(digest, &fuzz);
	while (fuzz.left && digest->entries->len < PAPERS_MAX);
	page.full = page.shown = digest->entries->len;
	for (unsigned i = PREFERENCE_ATTACH_BIBTEX; i < G_N_ELEMENTS(checks); i++) {
		struct attach_format format = *attach_get_format(i);
		g_autoptr(GString) text = NULL;

		/* The page has the title of the whole file. */
		format.append_head = NULL;
		text = attach_new_file(&format, &input);
		g_assert(g_utf8_validate(text->str, (gssize)text->len, NULL));
		checks[i](text->str, digest->entries->len);
	}
	return 0;
}
