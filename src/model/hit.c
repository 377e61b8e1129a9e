/*
 * hit.c - the words of a paper that a filter matches, as stored with a digest.
 */
#include "model/hit.h"

#include <string.h>

#include "base/bounds.h"

static const char ellipsis[] = "…";

/* In these texts. */
#define PLACEHOLDER "{hits}"

/* Tag of a field in the stored form, and the text for its hits; NULL: the words alone.
 */
static const struct {
	char tag;
	const char *text; /* PL_() for fields with a number */
} fields[HIT_FIELDS] = {
    [HIT_FIELD_TITLE] = {'t', N_("{hits} in the title")},
    [HIT_FIELD_ABSTRACT] = {'b', N_("{hits} in the abstract")},
    [HIT_FIELD_AUTHOR] = {'a', N_("by {hits}")},
    [HIT_FIELD_ORGANIZATION] = {'o', N_("{hits} in the organization")},
    [HIT_FIELD_KEYWORD] = {'k', N_("{hits} in the keywords")},
    [HIT_FIELD_COMMENT] = {'r', N_("{hits} in the comment")},
    [HIT_FIELD_JOURNAL] = {'j', N_("{hits} in the journal")},
    [HIT_FIELD_MESH] = {'x', N_("{hits} in the MeSH headings")},
    [HIT_FIELD_PRIMARY] = {'p', N_("primary {hits}")},
    [HIT_FIELD_CATEGORY] = {'c', NULL},
    [HIT_FIELD_SOURCE] = {'s', N_("listed by {hits}")},
    [HIT_FIELD_TYPE] = {'y', N_("announced as {hits}")},
    [HIT_FIELD_DATE] = {'d', N_("listed on {hits}")},
    [HIT_FIELD_ID] = {'i', N_("id {hits}")},
    [HIT_FIELD_DOI] = {'e', N_("doi {hits}")},
    [HIT_FIELD_PMID] = {'q', N_("PubMed {hits}")},
    [HIT_FIELD_UPVOTES] = {'u', PL_("{hits} vote", "{hits} votes")},
    [HIT_FIELD_COMMENTS] = {'m', PL_("{hits} comment", "{hits} comments")},
    [HIT_FIELD_STARS] = {'g', PL_("{hits} star", "{hits} stars")},
    [HIT_FIELD_AUTHORS] = {'n', PL_("{hits} author", "{hits} authors")},
    [HIT_FIELD_HAS] = {'h', NULL},
};

static struct hit *
new_hit(enum hit_field field, bool is_repeated, const char *words, size_t size)
{
	struct hit *hit = g_malloc(sizeof(*hit) + size + 1);

	hit->field = field;
	hit->is_repeated = is_repeated;
	memcpy(hit->words, words, size);
	hit->words[size] = '\0';
	return hit;
}

struct hit *
hit_new(enum hit_field field, bool is_repeated, const char *words)
{
	return new_hit(field, is_repeated, words, strlen(words));
}

GPtrArray *
hits_new(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

bool
hit_field_is_text(enum hit_field field)
{
	return field == HIT_FIELD_TITLE || field == HIT_FIELD_ABSTRACT ||
	       (field >= HIT_FIELD_ORGANIZATION && field <= HIT_FIELD_MESH);
}

/* ---- as text ---- */

/* `"state space"`, `"reward model" near hacking` */
static void
append_words(GString *out, const struct hit *hit)
{
	bool is_text = hit_field_is_text(hit->field);

	if (out->len)
		g_string_append(out, ", ");
	for (const char *at = hit->words;;) {
		size_t len = strcspn(at, HIT_SEPARATOR);
		const char *quote = is_text && memchr(at, ' ', len) ? "\"" : "";

		g_string_append(out, quote);
		g_string_append_len(out, at, len);
		g_string_append(out, quote);
		at += len;
		if (*at == '\0')
			break;
		g_string_append(out, " near ");
		at++;
	}
}

/* Append the words where the text of a message has its placeholder. */
static void
append_filled(GString *out, const char *text, const GString *words)
{
	for (const char *at; (at = strstr(text, PLACEHOLDER));
	     text = at + strlen(PLACEHOLDER)) {
		g_string_append_len(out, text, at - text);
		g_string_append_len(out, words->str, words->len);
	}
	g_string_append(out, text);
}

static bool
has_number(enum hit_field field)
{
	return field >= HIT_FIELD_UPVOTES && field <= HIT_FIELD_AUTHORS;
}

/* Append all hits of a field and empty `words`. */
static void
append_field(GString *out, GString *words, enum hit_field field, const struct po *po)
{
	const char *text = fields[field].text;
	int64_t number = g_ascii_strtoll(words->str, NULL, 10);

	if (out->len)
		g_string_append(out, "; ");
	if (text)
		append_filled(out,
		    has_number(field) ? po_get_count(po, text, number)
		                      : po_get(po, text),
		    words);
	else
		g_string_append_len(out, words->str, words->len);
	g_string_truncate(words, 0);
}

/* Cut between hits, else at a space, so that there is room for the ellipsis. */
static void
cut_at_word(GString *out, glong limit_chars)
{
	const char *limit, *cut;

	/* A character has at least one byte. */
	if (out->len <= (size_t)limit_chars ||
	    g_utf8_strlen(out->str, -1) <= limit_chars)
		return;
	limit = g_utf8_offset_to_pointer(out->str, limit_chars - 2);
	cut = g_strrstr_len(out->str, limit - out->str, ", ");
	cut = cut ? cut + 1 : g_strrstr_len(out->str, limit + 1 - out->str, " ");
	g_string_truncate(out, (cut ? cut : limit) - out->str);
	g_string_append_printf(out, cut ? " %s" : "%s", ellipsis);
}

char *
hits_format(const GPtrArray *hits, const struct po *po)
{
	g_autoptr(GString) words = g_string_new(NULL);
	enum hit_field field = HIT_FIELD_TITLE;
	GString *out = g_string_new(NULL);

	for (unsigned i = 0; i < hits->len; i++) {
		const struct hit *hit = hits->pdata[i];

		if (hit->is_repeated)
			continue;
		if (words->len && hit->field != field)
			append_field(out, words, field, po);
		append_words(words, hit);
		field = hit->field;
	}
	if (words->len)
		append_field(out, words, field, po);
	cut_at_word(out, BOUNDS_QUERY_EXPLAIN_CHARS);
	return g_string_free(out, FALSE);
}

/* ---- stored ---- */

/* A capital tag is that of a repeated hit. */
void
hits_append(GString *out, const GPtrArray *hits)
{
	for (unsigned i = 0; i < hits->len; i++) {
		const struct hit *hit = hits->pdata[i];
		char tag = fields[hit->field].tag;

		if (i > 0)
			g_string_append_c(out, '\t');
		g_string_append_c(out, hit->is_repeated ? g_ascii_toupper(tag) : tag);
		g_string_append(out, hit->words);
	}
}

GPtrArray *
hits_parse(const char *text)
{
	GPtrArray *hits = hits_new();

	while (*text) {
		char tag = g_ascii_tolower(*text);
		size_t size = strcspn(text, "\t");

		for (unsigned field = 0; size && field < HIT_FIELDS; field++)
			if (tag == fields[field].tag)
				g_ptr_array_add(
				    hits, new_hit((enum hit_field)field, *text != tag,
				              text + 1, size - 1));
		text += size + (text[size] == '\t');
	}
	return hits;
}
