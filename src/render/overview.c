/*
 * overview.c - the values of one digest in its page.
 */
#include "render/overview.h"

#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"

/* Counts of filters in the preheader are shown up to this size, bytes. */
#define COUNTS_BYTES 40

static const char *
keep(struct overview *overview, char *text)
{
	const char *inserted = g_string_chunk_insert(overview->texts, text);

	g_free(text);
	return inserted;
}

static const char *
keep_number(struct overview *overview, unsigned number)
{
	char digits[16], *start = digits + sizeof(digits);

	*--start = '\0';
	do
		*--start = (char)('0' + number % 10);
	while (number /= 10);
	return g_string_chunk_insert(overview->texts, start);
}

/* A mailto link with the command, to be edited before it is sent. */
static const char *
make_edit_url(struct overview *overview, const struct sender_identity *sender,
    const char *number, const char *query)
{
	g_autoptr(GString) url = g_string_sized_new(256);
	g_autofree char *line = sanitize_line(query, 0);

	g_string_append(url, sender->edit_url);
	g_string_append(url, number);
	g_string_append(url, "%20");
	g_string_append_uri_escaped(url, line, NULL, FALSE);
	return g_string_chunk_insert(overview->texts, url->str);
}

static void
add_filters(struct overview *overview, const struct digest *digest,
    const struct sender_identity *sender)
{
	const GPtrArray *filters = digest->filters;
	unsigned count = MIN(filters->len, PAGE_FILTERS_MAX), matches = 0;

	for (unsigned i = 0; i < filters->len; i++)
		matches += ((const struct digest_filter *)filters->pdata[i])->papers;
	for (unsigned i = 0; i < count; i++) {
		const struct digest_filter *filter = filters->pdata[i];
		const char **values =
		    overview->values + PAGE_FILTERS + i * PAGE_FILTER_VALUES;

		values[PAGE_FILTER_NUMBER] =
		    keep_number(overview, (unsigned)filter->number);
		values[PAGE_FILTER_LABEL] =
		    keep(overview, sanitize_line(filter->label, 0));
		values[PAGE_FILTER_COUNT] = keep_number(overview, filter->papers);
		if (sender->has_commands)
			values[PAGE_FILTER_EDIT_URL] = make_edit_url(overview, sender,
			    values[PAGE_FILTER_NUMBER], filter->query);
	}
	overview->params.filters = count;
	overview->params.more_filters = filters->len - count;
	overview->params.is_overlapping = matches > digest->entries->len;
}

static void
add_notices(struct overview *overview, const char *notices)
{
	g_auto(GStrv) lines = NULL;

	if (!notices || !*notices)
		return;
	lines = g_strsplit(notices, "\n", PAGE_NOTICES_MAX);
	for (unsigned i = 0; lines[i]; i++)
		overview->values[PAGE_NOTICES + overview->params.notices++] =
		    keep(overview, sanitize_line(lines[i], 0));
}

void
overview_init(struct overview *overview, const struct digest *digest,
    const struct sender_identity *sender, const struct sender_links *links)
{
	*overview = (struct overview){.texts = g_string_chunk_new(1024)};
	overview->values[PAGE_RECIPIENT] =
	    keep(overview, sanitize_line(digest->recipient, 0));
	overview->values[PAGE_LEAVE_TOKEN] = links->leave_token;
	overview->values[PAGE_VIEW_TOKEN] = links->view_token;
	overview->params.date = digest->date;
	overview->params.coverage = digest->coverage;
	overview->params.is_note = digest->is_note;
	overview->params.total = digest->entries->len;
	add_filters(overview, digest, sender);
	add_notices(overview, digest->notices);
}

void
overview_clear(struct overview *overview)
{
	g_clear_pointer(&overview->texts, g_string_chunk_free);
}

/* ---- subject and preheader ---- */

/* "rlhf 8, agents 4"; nothing if it is long. */
static void
append_counts(const struct overview *overview, GString *line)
{
	size_t before = line->len;

	for (unsigned i = 0; i < overview->params.filters; i++) {
		const char *const *values =
		    overview->values + PAGE_FILTERS + i * PAGE_FILTER_VALUES;

		g_string_append(line, i ? ", " : " \xc2\xb7 ");
		g_string_append(line, values[PAGE_FILTER_LABEL]);
		g_string_append_c(line, ' ');
		g_string_append(line, values[PAGE_FILTER_COUNT]);
	}
	if (overview->params.more_filters || line->len - before > COUNTS_BYTES)
		g_string_truncate(line, before);
}

static void
append_title(struct pages *pages, const GPtrArray *papers, unsigned index,
    const char *before, GString *line)
{
	const struct digest_entry *entry = papers->pdata[index];

	g_string_append(line, before);
	g_string_append(line, pages_get_title(pages, entry->paper->title)->short_line);
}

/* The next title, and the counts or one title more. */
static void
append_next(const struct overview *overview, struct pages *pages,
    const GPtrArray *papers, GString *line)
{
	size_t end;

	g_string_append(line, pages_get_phrase(pages, PAGE_PHRASE_ALSO));
	append_title(pages, papers, 1, " ", line);
	end = line->len;
	if (overview->params.filters > 1)
		append_counts(overview, line);
	if (line->len == end && papers->len > 2)
		append_title(pages, papers, 2, "; ", line);
}

/* The subject has the first title: the preheader goes on from there. */
static const char *
make_preheader(struct overview *overview, struct pages *pages, const GPtrArray *papers)
{
	const struct paper *first =
	    papers->len ? ((const struct digest_entry *)papers->pdata[0])->paper : NULL;
	g_autoptr(GString) line = NULL;
	const char *text = NULL;

	if (papers->len > 1) {
		line = g_string_sized_new(2 * BOUNDS_PREHEADER_CHARS);
		append_next(overview, pages, papers, line);
		return g_string_chunk_insert(overview->texts, line->str);
	}
	if (first && first->summary && *first->summary)
		text = first->summary;
	else if (first)
		text = first->abstract;
	if (text && *text)
		return keep(
		    overview, sanitize_paper_text(text, BOUNDS_PREHEADER_CHARS));
	if (overview->params.notices)
		return overview->values[PAGE_NOTICES];
	return first ? pages_get_title(pages, first->title)->line
	             : pages_get_phrase(pages, PAGE_PHRASE_NOTHING_NEW);
}

bool
overview_set_titles(struct overview *overview, struct pages *pages,
    const GPtrArray *papers, GError **error)
{
	const struct digest_entry *first = papers->len ? papers->pdata[0] : NULL;
	const char *title = first && first->paper->title ? first->paper->title : "";
	const char **values = overview->values;
	char *subject;

	pages_set_counts(pages, &overview->params, values);
	values[PAGE_FIRST_TITLE] = pages_get_title(pages, title)->line;
	values[PAGE_PREHEADER] = make_preheader(overview, pages, papers);
	subject = pages_format_subject(pages, &overview->params, values, error);
	if (!subject)
		return false;
	values[PAGE_SUBJECT] = keep(overview, subject);
	return true;
}

/* ---- the papers at the top ---- */

void
overview_add_top(struct overview *overview, struct pages *pages,
    const struct digest_entry *entry, unsigned number)
{
	unsigned index = overview->params.top++;
	const char **values = overview->values + PAGE_TOP + index * PAGE_TOP_VALUES;

	values[PAGE_TOP_NUMBER] = keep_number(overview, number);
	values[PAGE_TOP_TITLE] = pages_get_title(pages, entry->paper->title)->line;
	if (sanitize_is_web_url(entry->paper->url)) {
		values[PAGE_TOP_URL] = entry->paper->url;
		overview->params.top_linked |= 1U << index;
	}
}
