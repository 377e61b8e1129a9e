/*
 * digest_contents.c - what a digest contains, and its packed form, in which it is
 * stored.
 */
#include "model/digest_contents.h"

#include <string.h>

#include "base/error.h"
#include "base/packing.h"

/* Days are numbers such as 20261122. */
#define DAY_MAX 99999999

/* With room for most digests. */
static GArray *
new_array(unsigned element_bytes)
{
	return g_array_sized_new(FALSE, FALSE, element_bytes, 32);
}

void
digest_contents_init(struct digest_contents *contents)
{
	*contents = (struct digest_contents){
	    .coverage = "",
	    .notices = "",
	    .filters = new_array(sizeof(struct digest_filter)),
	    .papers = new_array(sizeof(struct digest_contents_paper)),
	    .reasons = new_array(sizeof(struct digest_contents_reason)),
	};
}

void
digest_contents_clear(struct digest_contents *contents)
{
	g_clear_pointer(&contents->filters, g_array_unref);
	g_clear_pointer(&contents->papers, g_array_unref);
	g_clear_pointer(&contents->reasons, g_array_unref);
	g_clear_pointer(&contents->texts, g_string_chunk_free);
}

const char *
digest_contents_keep(struct digest_contents *contents, const char *text)
{
	if (!contents->texts)
		contents->texts = g_string_chunk_new(1024);
	return g_string_chunk_insert(contents->texts, text);
}

void
digest_contents_add_reason(
    struct digest_contents *contents, unsigned filter, const char *hits)
{
	struct digest_contents_paper *paper =
	    digest_contents_get_paper(contents, contents->papers->len - 1);
	struct digest_contents_reason reason = {
	    .filter = filter, .hits = digest_contents_keep(contents, hits)};

	if (!paper->reasons++)
		paper->first_reason = contents->reasons->len;
	g_array_append_val(contents->reasons, reason);
}

void
digest_contents_fill_digest(
    const struct digest_contents *contents, struct digest *digest)
{
	digest->style = contents->style;
	digest->is_note = contents->papers->len == 0;
	digest->coverage = g_strdup(contents->coverage);
	digest->notices = g_strdup(contents->notices);
	for (unsigned i = 0; i < contents->filters->len; i++) {
		const struct digest_filter *filter =
		    digest_contents_get_filter(contents, i);

		if (filter->papers)
			digest_add_filter(digest, filter);
	}
}

static GPtrArray *
split_lines(const char *lines)
{
	GPtrArray *texts;

	if (!lines)
		return NULL;
	texts = g_ptr_array_new_with_free_func(g_free);
	while (*lines) {
		size_t size = strcspn(lines, "\n");

		if (size)
			g_ptr_array_add(texts, g_strndup(lines, size));
		lines += size + (lines[size] == '\n');
	}
	return texts;
}

void
digest_reference_apply(const struct digest_reference *reference, struct paper *paper)
{
	g_free(paper->journal);
	g_free(paper->doi);
	g_clear_pointer(&paper->categories, g_ptr_array_unref);
	g_clear_pointer(&paper->keywords, g_ptr_array_unref);
	paper->journal = g_strdup(reference->journal);
	paper->doi = g_strdup(reference->doi);
	paper->published_at = reference->published_at;
	paper->categories = split_lines(reference->categories);
	paper->keywords = split_lines(reference->keywords);
}

void
digest_contents_add_entry(const struct digest_contents *contents, unsigned i,
    struct paper *paper, struct digest *digest)
{
	const struct digest_contents_paper *from =
	    digest_contents_get_paper(contents, i);
	struct digest_entry *entry = digest_entry_new(paper, from->day);

	entry->upvotes = from->upvotes;
	entry->upvotes_before = from->upvotes_before;
	entry->stars = from->stars;
	entry->venue = g_strdup(from->venue);
	entry->shown = from->shown;
	for (unsigned at = 0; at < from->reasons; at++) {
		const struct digest_contents_reason *reason =
		    digest_contents_get_reason(contents, from->first_reason + at);

		g_ptr_array_add(entry->reasons,
		    digest_reason_new(
		        digest_contents_get_filter(contents, reason->filter)->label,
		        hits_parse(reason->hits)));
	}
	g_ptr_array_add(digest->entries, entry);
}

/* ---- pack ---- */

/* @param number  or -1: unknown */
static void
put_optional_number(GByteArray *out, int64_t number)
{
	packing_put_number(
	    out, number < 0 ? 0 : (uint64_t)MIN(number, INT64_MAX - 1) + 1);
}

/* @param text  or NULL */
static void
put_optional_text(GByteArray *out, const char *text)
{
	packing_put_number(out, text != NULL);
	if (text)
		packing_put_text(out, text);
}

static uint64_t
parse_day(const char *day)
{
	uint64_t number = 0;

	for (; *day; day++)
		if (g_ascii_isdigit(*day))
			number = number * 10 + (uint64_t)g_ascii_digit_value(*day);
	return MIN(number, DAY_MAX);
}

static void
format_day(uint64_t number, char day[DAY_BYTES])
{
	for (int i = DAY_BYTES - 2; i >= 0; i--) {
		bool is_dash = i == 4 || i == 7;

		day[i] = is_dash ? '-' : (char)('0' + number % 10);
		if (!is_dash)
			number /= 10;
	}
	day[DAY_BYTES - 1] = '\0';
}

static void
put_head(GByteArray *out, const struct digest_contents *contents)
{
	packing_put_number(out, DIGEST_CONTENTS_VERSION);
	packing_put_number(out, contents->papers->len);
	for (unsigned i = 0; i < contents->papers->len; i++) {
		const struct digest_contents_paper *paper =
		    digest_contents_get_paper(contents, i);

		packing_put_number(out, (uint64_t)paper->seq);
		packing_put_number(out, (uint64_t)paper->replacement);
	}
}

static void
put_style(GByteArray *out, const struct digest_style *style)
{
	packing_put_number(out, style->abstract);
	packing_put_number(out, style->format);
	packing_put_number(out, style->attach);
	packing_put_number(
	    out, style->group + (uint64_t)style->feedback * (PREFERENCE_GROUP_ON + 1));
	packing_put_text(out, style->language);
}

static void
put_filter(GByteArray *out, const struct digest_filter *filter)
{
	packing_put_number(out, (uint64_t)MAX(filter->number, 0));
	packing_put_number(out, filter->papers);
	packing_put_text(out, filter->label);
	packing_put_text(out, filter->query);
}

static void
put_reference(GByteArray *out, const struct digest_reference *reference)
{
	put_optional_text(out, reference->journal);
	put_optional_text(out, reference->doi);
	put_optional_number(out, reference->published_at);
	put_optional_text(out, reference->categories);
	put_optional_text(out, reference->keywords);
}

/* @param newest_day  of all papers */
static void
put_paper(GByteArray *out, const struct digest_contents *contents,
    const struct digest_contents_paper *paper, uint64_t newest_day)
{
	packing_put_number(out, newest_day - parse_day(paper->day));
	put_optional_number(out, paper->upvotes);
	put_optional_number(out, paper->upvotes_before);
	put_optional_number(out, paper->stars);
	put_optional_text(out, paper->venue);
	packing_put_number(out, paper->shown);
	packing_put_number(out, paper->reasons);
	for (unsigned i = 0; i < paper->reasons; i++) {
		const struct digest_contents_reason *reason =
		    digest_contents_get_reason(contents, paper->first_reason + i);

		packing_put_number(out, reason->filter);
		packing_put_text(out, reason->hits);
	}
	if (contents->style.attach != PREFERENCE_ATTACH_NONE)
		put_reference(out, &paper->reference);
}

GByteArray *
digest_contents_pack(const struct digest_contents *contents)
{
	GByteArray *out = g_byte_array_sized_new(1024);
	uint64_t newest_day = 0;

	for (unsigned i = 0; i < contents->papers->len; i++)
		newest_day = MAX(
		    newest_day, parse_day(digest_contents_get_paper(contents, i)->day));
	put_head(out, contents);
	put_style(out, &contents->style);
	packing_put_text(out, contents->coverage);
	packing_put_text(out, contents->notices);
	packing_put_number(out, contents->filters->len);
	for (unsigned i = 0; i < contents->filters->len; i++)
		put_filter(out, digest_contents_get_filter(contents, i));
	packing_put_number(out, newest_day);
	for (unsigned i = 0; i < contents->papers->len; i++)
		put_paper(
		    out, contents, digest_contents_get_paper(contents, i), newest_day);
	return out;
}

GByteArray *
digest_contents_pack_papers(const struct digest_contents *contents)
{
	GByteArray *out = g_byte_array_new();

	put_head(out, contents);
	return out;
}

/* ---- unpack ---- */

static int64_t
take_optional_number(struct unpacker *in)
{
	return (int64_t)packing_take_number(in, INT64_MAX) - 1;
}

static const char *
take_optional_text(struct unpacker *in)
{
	return packing_take_number(in, 1) ? packing_take_text(in) : NULL;
}

/* Take the version and the papers, of which only these fields are set. */
static void
take_head(struct unpacker *in, GArray *papers)
{
	unsigned count;

	if (packing_take_number(in, INT64_MAX) != DIGEST_CONTENTS_VERSION)
		packing_fail(in);
	count = packing_take_count(in, 2);
	for (unsigned i = 0; i < count && !in->is_bad; i++) {
		struct digest_contents_version paper;

		paper.seq = (int64_t)packing_take_number(in, INT64_MAX);
		paper.replacement = (int64_t)packing_take_number(in, INT64_MAX);
		g_array_append_val(papers, paper);
	}
}

static void
take_style(struct unpacker *in, struct digest_style *style)
{
	uint64_t bits;
	const char *language;

	style->abstract = packing_take_number(in, PREFERENCE_ABSTRACT_NONE);
	style->format = packing_take_number(in, PREFERENCE_FORMAT_HTML);
	style->attach = packing_take_number(in, PREFERENCE_ATTACH_MARKDOWN);
	bits = packing_take_number(
	    in, (PREFERENCE_GROUP_ON + 1) * (PREFERENCE_FEEDBACK_ON + 1) - 1);
	style->group = bits % (PREFERENCE_GROUP_ON + 1);
	style->feedback = bits / (PREFERENCE_GROUP_ON + 1);
	language = packing_take_text(in);
	if (strlen(language) >= sizeof(style->language))
		packing_fail(in);
	else
		g_strlcpy(style->language, language, sizeof(style->language));
}

static void
take_filters(struct unpacker *in, GArray *filters)
{
	unsigned count = packing_take_count(in, 4);

	for (unsigned i = 0; i < count && !in->is_bad; i++) {
		struct digest_filter filter;

		filter.number = (int)packing_take_number(in, INT_MAX);
		filter.papers = (unsigned)packing_take_number(in, UINT_MAX);
		filter.label = packing_take_text(in);
		filter.query = packing_take_text(in);
		g_array_append_val(filters, filter);
	}
}

static void
take_reasons(struct unpacker *in, struct digest_contents *contents,
    struct digest_contents_paper *paper)
{
	paper->first_reason = contents->reasons->len;
	paper->reasons = packing_take_count(in, 2);
	for (unsigned i = 0; i < paper->reasons && !in->is_bad; i++) {
		struct digest_contents_reason reason;

		reason.filter = (unsigned)packing_take_number(in, UINT_MAX);
		reason.hits = packing_take_text(in);
		if (reason.filter >= contents->filters->len)
			packing_fail(in);
		g_array_append_val(contents->reasons, reason);
	}
}

static void
take_reference(struct unpacker *in, struct digest_reference *reference)
{
	reference->journal = take_optional_text(in);
	reference->doi = take_optional_text(in);
	reference->published_at = take_optional_number(in);
	reference->categories = take_optional_text(in);
	reference->keywords = take_optional_text(in);
}

static void
take_paper(struct unpacker *in, struct digest_contents *contents, uint64_t newest_day,
    struct digest_contents_paper *paper)
{
	format_day(newest_day - packing_take_number(in, newest_day), paper->day);
	paper->upvotes = take_optional_number(in);
	paper->upvotes_before = take_optional_number(in);
	paper->stars = take_optional_number(in);
	paper->venue = take_optional_text(in);
	paper->shown = packing_take_number(in, DIGEST_DETAIL_COUNT);
	take_reasons(in, contents, paper);
	if (contents->style.attach != PREFERENCE_ATTACH_NONE)
		take_reference(in, &paper->reference);
}

static void
take_papers(
    struct unpacker *in, struct digest_contents *contents, const GArray *versions)
{
	uint64_t newest_day = packing_take_number(in, DAY_MAX);
	uint64_t newest_found = 0;

	for (unsigned i = 0; i < versions->len && !in->is_bad; i++) {
		const struct digest_contents_version *version =
		    &g_array_index(versions, struct digest_contents_version, i);
		struct digest_contents_paper paper = {
		    .seq = version->seq, .replacement = version->replacement};

		take_paper(in, contents, newest_day, &paper);
		newest_found = MAX(newest_found, parse_day(paper.day));
		g_array_append_val(contents->papers, paper);
	}
	if (newest_found != newest_day)
		packing_fail(in);
}

static bool
check(const struct unpacker *in, GError **error)
{
	return !in->is_bad ||
	       pb_fail(error, PB_ERROR_DAMAGED,
	           "the store is damaged: a digest cannot be read; run paperboyctl "
	           "doctor");
}

bool
digest_contents_unpack(
    struct digest_contents *contents, const void *data, size_t size, GError **error)
{
	g_autoptr(GArray) versions = new_array(sizeof(struct digest_contents_version));
	struct unpacker in = packing_start(data, size);

	take_head(&in, versions);
	take_style(&in, &contents->style);
	contents->coverage = packing_take_text(&in);
	contents->notices = packing_take_text(&in);
	take_filters(&in, contents->filters);
	take_papers(&in, contents, versions);
	if (in.at < in.end)
		packing_fail(&in);
	return check(&in, error);
}

bool
digest_contents_unpack_papers(
    const void *data, size_t size, GArray *papers, size_t *head_bytes, GError **error)
{
	struct unpacker in = packing_start(data, size);
	const uint8_t *first = in.at;

	take_head(&in, papers);
	if (head_bytes)
		*head_bytes = (size_t)(in.at - first);
	return check(&in, error);
}
