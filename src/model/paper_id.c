/*
 * paper_id.c - canonical ids of papers, independent of the source.
 */
#include "model/paper_id.h"

#include <string.h>

#include "base/bounds.h"

#define DIGITS "0123456789"

/* Minimum length of an identifying title; shorter ones are "Editorial" or "Reply". */
#define TITLE_CHARS 20
#define HASH_CHARS  20

/* Prefixes of an arXiv id; from "arxiv.org/abs/" on, as paper_id_format_link() formats
 * them. */
static const char *const arxiv_prefixes[] = {"oai:arXiv.org:", "https://arxiv.org/abs/",
    "http://arxiv.org/abs/", "https://www.arxiv.org/abs/",
    "http://export.arxiv.org/abs/", "https://arxiv.org/pdf/", "http://arxiv.org/pdf/",
    "https://doi.org/10.48550/arxiv.", "http://dx.doi.org/10.48550/arxiv.",
    "doi:10.48550/arxiv.", "10.48550/arxiv.", "arXiv:", "arxiv.org/abs/",
    "arxiv.org/pdf/", "arxiv.org/html/", "export.arxiv.org/abs/",
    "huggingface.co/papers/", "alphaxiv.org/abs/", "alphaxiv.org/overview/",
    "alphaxiv.org/pdf/", "ar5iv.org/abs/", "ar5iv.org/html/",
    "ar5iv.labs.arxiv.org/html/", "doi.org/10.48550/arxiv.",
    "dx.doi.org/10.48550/arxiv."};
static const char *const doi_prefixes[] = {"https://doi.org/", "http://doi.org/",
    "https://dx.doi.org/", "http://dx.doi.org/", "https://www.doi.org/", "info:doi/",
    "urn:doi:", "doi:", "doi.org/", "dx.doi.org/"};

/* Tracking parameters of URLs; "af" is of Atypon (ACS, Science, Wiley), "dgcid" of
 * Elsevier, "rss" of Oxford University Press. */
static const char *const tracking[] = {"_hsenc", "_hsmi", "af", "dgcid", "fbclid",
    "gbraid", "gclid", "igshid", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "ref_src",
    "rss", "wbraid", "yclid"};

static const char *
skip_head(const char *text, const char *const heads[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(heads[i]);

		if (g_ascii_strncasecmp(text, heads[i], len) == 0)
			return text + len;
	}
	return text;
}

/* 2608.13210, or before 2015 2608.1321, or before 2007 hep-ex/0307015 or
 * math.AG/0309225. */
#define ARXIV_ID "(?:\\d{4}\\.\\d{4,5}|[a-z-]{2,10}(?:\\.[A-Z]{2})?/\\d{7})"

static bool
match_arxiv(const char *text, GMatchInfo **match)
{
	static const char shape[] =
	    "^(" ARXIV_ID ")(?:v(\\d{1,4}))?(?:\\.pdf)?\\s*(\\?.*)?\\z";
	static GRegex *regex;
	static gsize is_compiled;

	if (g_once_init_enter(&is_compiled)) {
		regex = g_regex_new(shape, G_REGEX_RAW | G_REGEX_DOTALL, 0, NULL);
		g_once_init_leave(&is_compiled, 1);
	}
	return g_regex_match(regex, text, 0, match);
}

bool
paper_id_parse_arxiv(const char *text, char **id, unsigned *version)
{
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *number = NULL, *parameters = NULL;
	const char *at;

	if (!text)
		return false;
	while (g_ascii_isspace(*text))
		text++;
	at = skip_head(text, arxiv_prefixes, G_N_ELEMENTS(arxiv_prefixes));
	if (!match_arxiv(at, &match))
		return false;
	number = g_match_info_fetch(match, 2);
	parameters = g_match_info_fetch(match, 3);
	/* Parameters of a link do not choose the paper: "?context=cs.LG". */
	if (parameters && *parameters && at == text)
		return false;
	if (id)
		*id = g_match_info_fetch(match, 1);
	if (version)
		*version = number ? (unsigned)g_ascii_strtoull(number, NULL, 10) : 0;
	return true;
}

bool
paper_id_is_arxiv(const char *id)
{
	g_autoptr(GMatchInfo) match = NULL;
	int end = 0;

	return match_arxiv(id, &match) &&
	       g_match_info_fetch_pos(match, 1, NULL, &end) && !id[end];
}

char *
paper_id_format_arxiv_url(const char *id, const char *kind)
{
	return paper_id_is_arxiv(id)
	           ? g_strdup_printf("https://arxiv.org/%s/%s", kind, id)
	           : NULL;
}

char *
paper_id_parse_doi(const char *text)
{
	g_autofree char *doi = NULL;
	size_t length;

	if (!text)
		return NULL;
	while (g_ascii_isspace(*text))
		text++;
	doi = g_ascii_strdown(
	    skip_head(text, doi_prefixes, G_N_ELEMENTS(doi_prefixes)), -1);
	g_strchomp(doi);
	length = strlen(doi);
	if (length < 7 || length > BOUNDS_PAPER_DOI_BYTES ||
	    !g_str_has_prefix(doi, "10.") || strspn(doi + 3, DIGITS ".") < 4 ||
	    doi[3 + strspn(doi + 3, DIGITS ".")] != '/')
		return NULL;
	for (const char *at = doi; *at; at++)
		if (!g_ascii_isgraph(*at) || strchr("\"\\{}|^`", *at))
			return NULL;
	return g_steal_pointer(&doi);
}

/* Append only letters and digits, case-folded, without marks. @return characters */
static size_t
append_folded(GString *out, const char *text, size_t most)
{
	g_autofree char *folded = g_utf8_casefold(text, -1);
	g_autofree char *apart = g_utf8_normalize(folded, -1, G_NORMALIZE_NFKD);
	size_t chars = 0;

	for (const char *at = apart; at && *at && chars < most;
	     at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		if (!g_unichar_isalnum(c))
			continue;
		g_string_append_unichar(out, c);
		chars++;
	}
	return chars;
}

/* Find the family name in "Joswig, Michael" or "Michael Joswig". */
static void
append_family(GString *out, const char *name)
{
	const char *comma = strchr(name, ',');
	const char *blank = comma ? NULL : strrchr(name, ' ');
	g_autofree char *family = comma ? g_strndup(name, (gsize)(comma - name)) : NULL;
	const char *last = family ? strrchr(family, ' ') : blank;

	append_folded(out, last ? last + 1 : (family ? family : name), 100);
}

static bool
is_tracking(const char *parameter)
{
	size_t size = strcspn(parameter, "=");

	if (g_ascii_strncasecmp(parameter, "utm_", 4) == 0 ||
	    g_ascii_strncasecmp(parameter, "source=rss", 10) == 0)
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(tracking); i++)
		if (strlen(tracking[i]) == size &&
		    g_ascii_strncasecmp(parameter, tracking[i], size) == 0)
			return true;
	return false;
}

/* @param query  after the "?" */
static void
append_query(GString *out, const char *query)
{
	g_auto(GStrv) parameters = g_strsplit(query, "&", -1);
	char mark = '?';

	for (char **at = parameters; *at; at++) {
		if (!**at || is_tracking(*at))
			continue;
		g_string_append_printf(out, "%c%s", mark, *at);
		mark = '&';
	}
}

/* Append the host in lower case, without "www." and the scheme's default port. */
static void
append_host(GString *out, const char *url, size_t size)
{
	const char *own = g_str_has_prefix(url, "https:") ? ":443" : ":80";
	const char *host = strstr(url, "//") + 2;
	g_autofree char *lower = g_ascii_strdown(host, (gssize)size);

	if (g_str_has_suffix(lower, own))
		lower[strlen(lower) - strlen(own)] = '\0';
	g_string_append(out, lower + (g_str_has_prefix(lower, "www.") ? 4 : 0));
}

char *
paper_id_format_link(const char *url)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *path = NULL;
	const char *host, *query;
	size_t size;

	if (!url ||
	    (!g_str_has_prefix(url, "http://") && !g_str_has_prefix(url, "https://")))
		return NULL;
	host = strstr(url, "//") + 2;
	size = strcspn(host, "/?#");
	append_host(out, url, size);
	path = g_strndup(host + size, strcspn(host + size, "?#"));
	while (g_str_has_suffix(path, "/"))
		path[strlen(path) - 1] = '\0';
	g_string_append(out, path);
	size = out->len - strlen(path);
	query = strpbrk(host, "?#");
	if (query && *query == '?') {
		g_autofree char *own = g_strndup(query + 1, strcspn(query + 1, "#"));

		append_query(out, own);
	}
	return out->len > size ? g_strdup(out->str) : NULL;
}

char *
paper_id_format_entry(const char *source, const char *title)
{
	g_autoptr(GString) folded = g_string_new(NULL);
	g_autofree char *hash = NULL;

	/* Use a title without letters unchanged. */
	if (!append_folded(folded, title, BOUNDS_PAPER_TITLE_BYTES))
		g_string_assign(folded, title);
	hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, folded->str, -1);
	return g_strdup_printf("post=%s:%.40s", source, hash);
}

bool
paper_id_is_long_title(const char *title)
{
	g_autoptr(GString) folded = g_string_new(NULL);

	return append_folded(folded, title, TITLE_CHARS) == TITLE_CHARS;
}

char *
paper_id_format_title(const struct paper *paper)
{
	GString *key = g_string_new("title:");
	size_t chars = paper->title ? append_folded(key, paper->title, 300) : 0;
	size_t before = key->len;

	if (chars >= TITLE_CHARS && paper->authors->len)
		append_family(key, paper->authors->pdata[0]);
	if (key->len > before)
		return g_string_free(key, FALSE);
	g_string_free(key, TRUE);
	return NULL;
}

static char *
format_family(const char *name)
{
	GString *family = g_string_new(NULL);

	append_family(family, name);
	return g_string_free(family, FALSE);
}

bool
paper_id_share_author(const struct paper *one, const struct paper *other)
{
	g_autoptr(GHashTable) families =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	bool is_shared = !one->authors->len || !other->authors->len;

	for (unsigned i = 0; i < one->authors->len; i++)
		g_hash_table_add(families, format_family(one->authors->pdata[i]));
	for (unsigned i = 0; i < other->authors->len && !is_shared; i++) {
		g_autofree char *family = format_family(other->authors->pdata[i]);

		is_shared = g_hash_table_contains(families, family);
	}
	return is_shared;
}

void
paper_id_add_name(struct paper *paper, char *name)
{
	if (!paper->records)
		paper->records = g_ptr_array_new_with_free_func(g_free);
	if (paper->records->len < BOUNDS_PAPER_RECORDS)
		g_ptr_array_add(paper->records, name);
	else
		g_free(name);
}

void
paper_id_add_record(struct paper *paper, const char *text)
{
	g_autofree char *arxiv_id = NULL, *doi = paper_id_parse_doi(text);

	if (paper_id_parse_arxiv(text, &arxiv_id, NULL))
		paper_id_add_name(paper, g_steal_pointer(&arxiv_id));
	else if (doi)
		paper_id_add_name(paper, g_strconcat("doi:", doi, NULL));
}

bool
paper_id_is_preprint(const char *id)
{
	/* Of bioRxiv and medRxiv, which share the first prefix with journals whose
	 * DOIs continue with letters; ChemRxiv, Research Square, Preprints.org, SSRN,
	 * PsyArXiv, OSF, SocArXiv, EarthArXiv, Authorea, TechRxiv, and arXiv. */
	static const char shape[] =
	    "^doi:10\\.(1101/[0-9]|64898/|26434/|21203/|20944/|2139/ssrn|31234/|31219/"
	    "|31235/|31223/|22541/|36227/|48550/)";

	return paper_id_is_arxiv(id) || g_regex_match_simple(shape, id, 0, 0);
}

/* Whether a string is valid as an id, which is used in commands, URLs and queries. */
static bool
is_plain(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!g_ascii_isalnum(*at) && !strchr(".-_/:()", *at))
			return false;
	return strlen(text) <= BOUNDS_PAPER_ID_BYTES;
}

static char *
hash_of(const char *head, const char *text)
{
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	hash[HASH_CHARS] = '\0';
	return g_strdup_printf("%s:%s", head, hash);
}

void
paper_id_choose(
    struct paper *paper, const char *arxiv_id, const char *source, const char *own)
{
	g_autofree char *doi =
	    paper->doi ? g_strconcat("doi:", paper->doi, NULL) : NULL;

	g_free(paper->id);
	if (arxiv_id) {
		paper->id = g_strdup(arxiv_id);
	} else if (doi) {
		paper->id = is_plain(doi) ? g_steal_pointer(&doi) : hash_of("doi", doi);
	} else {
		paper->id = hash_of(source, own);
	}
}
