/*
 * bibliography.c - the works in a file of a reference manager: BibTeX or RIS.
 */
#include "message/bibliography.h"

#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"
#include "base/text.h"
#include "model/paper_id.h"

/* Fields of an entry by kind. */
enum field {
	FIELD_DOI,
	FIELD_EPRINT, /* an arXiv id, unless FIELD_ARCHIVE names another archive */
	FIELD_ARCHIVE,
	FIELD_URL,
	FIELD_PMID,
	FIELD_PMCID,
	FIELD_DATABASE, /* that has given FIELD_PMID */
	FIELD_NOTE,     /* text that may have any id */
	FIELD_TITLE,
	FIELD_AUTHOR,
	FIELDS
};

/* Names of BibTeX in lower case, and tags of RIS. */
static const struct {
	const char *name;
	enum field field;
} names[] = {
    {"doi", FIELD_DOI},
    {"eprint", FIELD_EPRINT},
    {"arxivid", FIELD_EPRINT}, /* of Mendeley */
    {"archiveprefix", FIELD_ARCHIVE},
    {"eprinttype", FIELD_ARCHIVE},
    {"url", FIELD_URL},
    {"pmid", FIELD_PMID},
    {"pmcid", FIELD_PMCID},
    {"note", FIELD_NOTE},
    {"howpublished", FIELD_NOTE},
    {"journal", FIELD_NOTE}, /* "arXiv preprint arXiv:2511.01234", by Google Scholar */
    {"title", FIELD_TITLE},
    {"author", FIELD_AUTHOR},
    {"DO", FIELD_DOI},
    {"UR", FIELD_URL},
    {"L1", FIELD_URL},
    {"L2", FIELD_URL},
    {"AN", FIELD_PMID}, /* accession number in a database */
    {"DB", FIELD_DATABASE},
    {"C2", FIELD_PMCID}, /* of PubMed, by EndNote */
    {"N1", FIELD_NOTE},
    {"M1", FIELD_NOTE},
    {"M3", FIELD_NOTE}, /* DOIs, by older versions of EndNote; also L3 */
    {"L3", FIELD_NOTE},
    {"TI", FIELD_TITLE},
    {"T1", FIELD_TITLE},
    {"AU", FIELD_AUTHOR},
    {"A1", FIELD_AUTHOR},
};

struct entry {
	char *fields[FIELDS]; /* the first of each kind, but all addresses and notes */
};

/* Bytes that show the format of a file. */
#define HEAD_BYTES 200

/* Maximum number of names of an entry. */
#define NAMES_MAX 16

/* ---- text ---- */

/* Decode UTF-16 behind its byte order mark. @return owned by the caller, or NULL */
static char *
decode_utf16(const char *data, size_t size)
{
	g_autofree gunichar2 *units = g_new(gunichar2, size / 2);
	bool is_big = (guchar)data[0] == 0xfe;
	glong read;

	for (size_t i = 0; i < size / 2; i++) {
		guchar first = (guchar)data[2 * i], second = (guchar)data[2 * i + 1];

		units[i] =
		    (gunichar2)(is_big ? first << 8 | second : second << 8 | first);
		/* It would end the text. */
		if (!units[i])
			units[i] = ' ';
	}
	return g_utf16_to_utf8(units + 1, (glong)(size / 2) - 1, &read, NULL, NULL);
}

/* No converter of iconv(3) is used: the parser's sandbox cannot open them.
 *
 * @return valid UTF-8, owned by the caller */
static char *
decode(const char *data, size_t size)
{
	g_autofree char *copy = NULL;
	GString *text;

	if (size >= 2 &&
	    (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0)) {
		char *decoded = decode_utf16(data, size);

		return decoded ? decoded : g_strdup("");
	}
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
		data += 3;
		size -= 3;
	}
	copy = g_malloc0(size + 1);
	for (size_t i = 0; i < size; i++)
		copy[i] = data[i] ? data[i] : ' ';
	if (g_utf8_validate_len(copy, size, NULL))
		return g_steal_pointer(&copy);
	text = g_string_new(NULL);
	text_append_windows_1252(text, copy, size, G_MAXSIZE);
	return g_string_free(text, FALSE);
}

/* ---- entries ---- */

static void
add_field(struct entry *entry, const char *name, const char *value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		char **field = &entry->fields[names[i].field];

		if (strcmp(names[i].name, name) != 0 || !*value)
			continue;
		if (!*field) {
			*field = g_strndup(value, BIBLIOGRAPHY_WORK_BYTES);
		} else if (names[i].field == FIELD_URL ||
		           names[i].field == FIELD_NOTE) {
			g_autofree char *first = *field;
			g_autofree char *all = g_strconcat(first, " ", value, NULL);

			*field = g_strndup(all, BIBLIOGRAPHY_WORK_BYTES);
		}
	}
}

/* Copy a text without the braces and backslashes of TeX. */
static char *
remove_marks(const char *text)
{
	GString *plain = g_string_new(NULL);

	for (const char *at = text; *at; at++)
		if (!strchr("{}\\", *at))
			g_string_append_c(plain, *at);
	return g_string_free(plain, FALSE);
}

/* Add a name, once. @param name  taken */
static void
add_name(GPtrArray *out, char *name)
{
	if (out->len >= NAMES_MAX ||
	    g_ptr_array_find_with_equal_func(out, name, g_str_equal, NULL))
		g_free(name);
	else
		g_ptr_array_add(out, name);
}

/* Add the arXiv ids and DOIs among the words of a text. */
static void
add_ids(const char *text, GPtrArray *out)
{
	g_autofree char *plain = remove_marks(text ? text : "");
	g_auto(GStrv) words = g_strsplit_set(plain, " ,;[]\n\t", -1);

	for (char **word = words; *word; word++) {
		/* "\url{https://...}" without its marks */
		const char *name = *word + (g_str_has_prefix(*word, "urlhttp") ? 3 : 0);
		char *id = NULL;
		g_autofree char *doi = paper_id_parse_doi(name);

		if (paper_id_parse_arxiv(name, &id, NULL))
			add_name(out, id);
		else if (doi)
			add_name(out, g_strconcat("doi:", doi, NULL));
	}
}

/* "PMID: 41792208", "PMC12938590": add digits after a head. */
static void
add_number(const char *text, const char *pattern, const char *head, GPtrArray *out)
{
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_CASELESS, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *digits = NULL;

	if (!text || !g_regex_match(regex, text, 0, &match))
		return;
	digits = g_match_info_fetch(match, 1);
	add_name(out, g_strconcat(head, digits, NULL));
}

/* Whether a database numbers works as PubMed does. @param name  or NULL: not stated */
static bool
has_pmids(const char *name)
{
	return !name || strcasestr(name, "pubmed") || strcasestr(name, "medline");
}

/* Plain text of a field, whose TeX is decoded. @return owned by the caller */
static char *
format_line(const char *value, size_t max_bytes)
{
	g_autofree char *decoded = tex_decode(value);
	g_autofree char *plain = remove_marks(decoded);

	return text_normalize(plain, strlen(plain), max_bytes);
}

/* Add a name from title and first author. */
static void
add_title(const struct entry *entry, GPtrArray *out)
{
	pb_auto(paper) paper = paper_new();
	const char *author = entry->fields[FIELD_AUTHOR];
	const char *end = author ? strstr(author, " and ") : NULL;
	g_autofree char *first = NULL;
	char *name;

	if (!author || !entry->fields[FIELD_TITLE])
		return;
	first = end ? g_strndup(author, (gsize)(end - author)) : g_strdup(author);
	paper->title =
	    format_line(entry->fields[FIELD_TITLE], BOUNDS_PAPER_TITLE_BYTES);
	g_ptr_array_add(paper->authors, format_line(first, BOUNDS_PAPER_AUTHOR_BYTES));
	if (!paper->title || !paper->authors->pdata[0]) {
		g_ptr_array_set_size(paper->authors, 0);
		return;
	}
	name = paper_id_format_title(paper);
	if (name)
		add_name(out, name);
}

/* Join names, as far as they fit. @return NULL: none */
static char *
join_names(const GPtrArray *list)
{
	GString *joined = g_string_new(NULL);

	for (guint i = 0; i < list->len; i++) {
		const char *name = list->pdata[i];

		if (joined->len + 1 + strlen(name) <= BIBLIOGRAPHY_WORK_BYTES)
			g_string_append_printf(
			    joined, "%s%s", joined->len ? " " : "", name);
	}
	return g_string_free(joined, !joined->len);
}

/* Add the names of an entry, and clear it. */
static void
finish(struct bibliography *bibliography, struct entry *entry)
{
	char **fields = entry->fields;
	const char *archive = fields[FIELD_ARCHIVE];
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
	char *work;

	if (bibliography->works->len < BIBLIOGRAPHY_ENTRIES) {
		add_ids(fields[FIELD_DOI], list);
		if (!archive || g_ascii_strcasecmp(archive, "arxiv") == 0)
			add_ids(fields[FIELD_EPRINT], list);
		add_ids(fields[FIELD_URL], list);
		add_ids(fields[FIELD_NOTE], list);
		if (has_pmids(fields[FIELD_DATABASE]))
			add_number(fields[FIELD_PMID], "^\\D*([1-9][0-9]{3,8})$",
			    "pmid:", list);
		add_number(fields[FIELD_PMCID], "(PMC[1-9][0-9]{0,9})", "pmcid:", list);
		add_title(entry, list);
	}
	work = join_names(list);
	if (work)
		g_ptr_array_add(bibliography->works, work);
	else
		bibliography->unnamed++;
	for (int i = 0; i < FIELDS; i++)
		g_clear_pointer(&fields[i], g_free);
}

/* ---- RIS ---- */

/* "TI  - A title": a tag of two characters. */
static bool
is_tagged(const char *line)
{
	return g_ascii_isupper(line[0]) &&
	       (g_ascii_isupper(line[1]) || g_ascii_isdigit(line[1])) &&
	       g_str_has_prefix(line + 2, "  -");
}

static void
parse_ris(struct bibliography *bibliography, const char *text)
{
	struct entry entry = {0};
	bool is_open = false;

	for (const char *at = text; *at;) {
		size_t size = strcspn(at, "\r\n");
		g_autofree char *line = g_strchomp(g_strndup(at, size));
		char tag[3] = {line[0], line[0] ? line[1] : '\0', '\0'};

		at += MAX(size, 1);
		if (!is_tagged(line))
			continue;
		if (is_open && (strcmp(tag, "ER") == 0 || strcmp(tag, "TY") == 0)) {
			finish(bibliography, &entry);
			is_open = false;
		}
		if (strcmp(tag, "TY") == 0)
			is_open = true;
		else
			add_field(&entry, tag, g_strchug(line + strlen("TI  -")));
	}
	/* The file ends in an entry, or has fields behind the last one. */
	if (is_open)
		finish(bibliography, &entry);
	for (int i = 0; i < FIELDS; i++)
		g_free(entry.fields[i]);
}

/* ---- BibTeX ---- */

/* Skip a value in braces or quotation marks, or a bare one. @return behind it */
static const char *
skip_value(const char *at)
{
	char quote = *at == '"' ? '"' : '\0';
	int depth = 0;

	if (*at != '{' && !quote)
		return at + strcspn(at, ",}#\n");
	for (const char *start = at; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0 && !quote)
			return at + 1;
		else if (quote && *at == quote && at > start && depth == 0)
			return at + 1;
		/* An entry that is not closed ends where the next one begins. */
		else if (*at == '\n' && at[1] == '@')
			return at;
	}
	return at;
}

/* Read "name = value" pairs. @return behind the entry */
static const char *
parse_pairs(struct entry *entry, const char *at)
{
	while (*at && *at != '}' && !(*at == '@' && at[-1] == '\n')) {
		size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz"
		                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+:.");
		const char *equals =
		    length ? at + length + strspn(at + length, " \t\r\n") : "";
		g_autofree char *name = g_ascii_strdown(at, (gssize)length);
		g_autofree char *value = NULL;
		const char *start, *end;

		if (*equals != '=') {
			at += MAX(length, 1);
			continue;
		}
		start = equals + 1 + strspn(equals + 1, " \t\r\n");
		end = skip_value(start);
		value = g_strndup(start, (gsize)(end - start));
		if (*value == '{' || *value == '"') {
			value[0] = ' ';
			if (end > start + 1)
				value[end - start - 1] = ' ';
		}
		add_field(entry, name, g_strstrip(value));
		at = end;
	}
	return at;
}

static void
parse_bibtex(struct bibliography *bibliography, const char *text)
{
	static const char *const others[] = {"comment", "preamble", "string", NULL};
	const char *at = text;

	while ((at = strchr(at, '@'))) {
		size_t length = strspn(++at, "abcdefghijklmnopqrstuvwxyz"
		                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		g_autofree char *type = g_ascii_strdown(at, (gssize)length);
		const char *open = at + length + strspn(at + length, " \t\r\n");
		struct entry entry = {0};

		if (!length || (*open != '{' && *open != '('))
			continue;
		at = open;
		if (g_strv_contains(others, type)) {
			if (*open == '{')
				at = skip_value(open);
			continue;
		}
		at = parse_pairs(&entry, open + 1);
		finish(bibliography, &entry);
	}
}

bool
bibliography_is_likely(const char *data, size_t size)
{
	/* JabRef begins with its encoding. */
	static const char shape[] =
	    "^(?:\\xef\\xbb\\xbf)?(?:\\s|% Encoding.*)*(?:TY  -|@[A-Za-z]+\\s*[{(])";
	g_autofree char *head = g_strndup(data, MIN(size, HEAD_BYTES));

	return g_regex_match_simple(shape, head, G_REGEX_RAW, 0);
}

struct bibliography *
bibliography_parse(const char *data, size_t size)
{
	struct bibliography *bibliography = g_new0(struct bibliography, 1);
	g_autofree char *text = decode(data, MIN(size, BIBLIOGRAPHY_BYTES));

	bibliography->works = g_ptr_array_new_with_free_func(g_free);
	if (g_str_has_prefix(text, "TY  -") || strstr(text, "\nTY  -") ||
	    strstr(text, "\rTY  -"))
		parse_ris(bibliography, text);
	else
		parse_bibtex(bibliography, text);
	return bibliography;
}

void
bibliography_free(struct bibliography *bibliography)
{
	if (!bibliography)
		return;
	g_clear_pointer(&bibliography->works, g_ptr_array_unref);
	g_free(bibliography);
}
