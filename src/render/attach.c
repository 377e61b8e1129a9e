/*
 * attach.c - the papers of a digest as a file.
 */
#include "render/attach.h"

#include <string.h>

#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/attach_private.h"

static const struct attach_format formats[] = {
    [PREFERENCE_ATTACH_BIBTEX] = {.extension = "bib",
        .mime_type = "text/x-bibtex",
        .append_paper = attach_bibtex_append},
    [PREFERENCE_ATTACH_RIS] = {.extension = "ris",
        .mime_type = "application/x-research-info-systems",
        .append_paper = attach_ris_append},
    [PREFERENCE_ATTACH_MARKDOWN] = {.extension = "md",
        .mime_type = "text/markdown", /* RFC 7763 */
        .append_head = attach_markdown_append_head,
        .append_paper = attach_markdown_append},
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
	for (unsigned i = 0; i < input->assembled->shown; i++)
		format->append_paper(out, input, i);
	return out;
}

/* ---- names of authors ---- */

static bool
is_any(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (g_ascii_strcasecmp(word, *words) == 0)
			return true;
	return false;
}

static bool
is_suffix(const char *word)
{
	static const char *const suffixes[] = {
	    "jr", "jr.", "sr", "sr.", "ii", "iii", "iv", NULL};

	return is_any(word, suffixes);
}

/* A word that names of people do not have. */
static bool
is_group_word(const char *word)
{
	static const char *const words[] = {"ai", "and", "collaboration", "consortium",
	    "contributors", "gmbh", "group", "inc", "inc.", "institute", "lab", "labs",
	    "llc", "ltd", "ltd.", "research", "team", "the", "university", "&", NULL};

	return is_any(word, words);
}

/* A particle that some write with a capital: "Guy Van den Broeck". */
static bool
is_particle(const char *word)
{
	static const char *const particles[] = {"de", "van", "von", NULL};

	return is_any(word, particles);
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
	while (first > 1 && is_lower(words[first]) && is_particle(words[first - 1]))
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
		if (is_group_word(words[i])) {
			name->family = g_steal_pointer(&line);
			return;
		}
	}
	if (count > 2 && is_suffix(words[count - 1])) {
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

void
attach_get_day(const struct digest_entry *entry, char day[DAY_BYTES])
{
	int64_t at = entry->paper->published_at;
	g_autoptr(GDateTime) time =
	    at == PAPER_UNKNOWN ? NULL : g_date_time_new_from_unix_utc(at);
	g_autofree char *text = time ? g_date_time_format(time, "%Y-%m-%d") : NULL;

	g_strlcpy(day, text ? text : entry->day, DAY_BYTES);
}

char *
attach_format_title(const struct paper *paper)
{
	return sanitize_paper_text(paper->title, 0);
}

char *
attach_format_page(const struct paper *paper)
{
	char *page = paper_id_format_arxiv_url(paper->id, "abs");

	if (!page && sanitize_is_web_url(paper->url))
		page = g_strdup(paper->url);
	return page;
}
