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

G_STATIC_ASSERT(offsetof(struct digest_contents_paper, replacement) ==
                offsetof(struct digest_contents_version, replacement));

/* With room for most digests. */
static GArray *
new_array(unsigned element_bytes)
{
	return g_array_sized_new(FALSE, TRUE, element_bytes, 32);
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
	paper->journal = reference->journal ? g_strndup(reference->journal,
	                                          strcspn(reference->journal, "\n"))
	                                    : NULL;
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

/* ---- packed form: each function packs or unpacks a part ---- */

/* @param number  or -1: unknown */
static int64_t
move_optional_number(struct packing *packing, int64_t number)
{
	uint64_t packed = number < 0 ? 0 : (uint64_t)MIN(number, INT64_MAX - 1) + 1;

	return (int64_t)packing_number(packing, packed, INT64_MAX) - 1;
}

/* @param text  or NULL */
static const char *
move_optional_text(struct packing *packing, const char *text)
{
	return packing_number(packing, text != NULL, 1) ? packing_text(packing, text)
	                                                : NULL;
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
	/* Not printf(), which took a third of packing a digest. */
	g_strlcpy(day, "0000-00-00", DAY_BYTES);
	for (size_t at = strlen(day); at > 0; at--) {
		if (day[at - 1] == '-')
			continue;
		day[at - 1] = (char)('0' + number % 10);
		number /= 10;
	}
}

/* The version and the papers. @param papers  those that are unpacked are appended */
static void
move_head(struct packing *packing, GArray *papers)
{
	size_t size = g_array_get_element_size(papers);
	unsigned first = packing->out ? 0 : papers->len, count;

	if (packing_number(packing, DIGEST_CONTENTS_VERSION, INT64_MAX) !=
	    DIGEST_CONTENTS_VERSION)
		packing_fail(packing);
	count = packing_count(packing, papers->len, 2);
	g_array_set_size(papers, first + count);
	for (unsigned i = first; i < first + count; i++) {
		/* An element begins with these. */
		int64_t *seq = (int64_t *)(void *)(papers->data + i * size);
		int64_t *replacement = seq + 1;

		*seq = (int64_t)packing_number(packing, (uint64_t)*seq, INT64_MAX);
		*replacement =
		    (int64_t)packing_number(packing, (uint64_t)*replacement, INT64_MAX);
	}
}

static void
move_style(struct packing *packing, struct digest_style *style)
{
	static const unsigned groups = PREFERENCE_GROUP_ON + 1;
	static const unsigned feedbacks = PREFERENCE_FEEDBACK_ON + 1;
	static const unsigned orders = PREFERENCE_ORDER_DATE + 1;
	uint64_t bits =
	    style->group +
	    groups *
	        (style->feedback +
	            (uint64_t)feedbacks *
	                (style->order + (uint64_t)orders *
	                                    (style->is_failed + 2U * style->is_event)));
	const char *language;

	style->abstract =
	    packing_number(packing, style->abstract, PREFERENCE_ABSTRACT_NONE);
	style->format = packing_number(packing, style->format, PREFERENCE_FORMAT_HTML);
	style->attach =
	    packing_number(packing, style->attach, PREFERENCE_ATTACH_MARKDOWN);
	bits = packing_number(packing, bits, groups * feedbacks * orders * 4 - 1);
	style->group = bits % groups;
	style->feedback = bits / groups % feedbacks;
	style->order = bits / groups / feedbacks % orders;
	style->is_failed = bits / groups / feedbacks / orders % 2;
	style->is_event = bits / groups / feedbacks / orders / 2;
	language = packing_text(packing, style->language);
	if (packing->out)
		return;
	if (g_strlcpy(style->language, language, sizeof(style->language)) >=
	    sizeof(style->language))
		packing_fail(packing);
}

static void
move_filters(struct packing *packing, GArray *filters)
{
	unsigned count = packing_count(packing, filters->len, 4);

	if (!packing->out)
		g_array_set_size(filters, count);
	for (unsigned i = 0; i < count; i++) {
		struct digest_filter *filter =
		    &g_array_index(filters, struct digest_filter, i);

		filter->number = (int)packing_number(
		    packing, (uint64_t)MAX(filter->number, 0), INT_MAX);
		filter->papers =
		    (unsigned)packing_number(packing, filter->papers, UINT_MAX);
		filter->label = packing_text(packing, filter->label);
		filter->query = packing_text(packing, filter->query);
	}
}

static void
move_reasons(struct packing *packing, struct digest_contents *contents,
    struct digest_contents_paper *paper)
{
	paper->reasons = packing_count(packing, paper->reasons, 2);
	if (!packing->out) {
		paper->first_reason = contents->reasons->len;
		g_array_set_size(
		    contents->reasons, contents->reasons->len + paper->reasons);
	}
	for (unsigned i = 0; i < paper->reasons; i++) {
		struct digest_contents_reason *reason =
		    digest_contents_get_reason(contents, paper->first_reason + i);

		reason->filter =
		    (unsigned)packing_number(packing, reason->filter, UINT_MAX);
		reason->hits = packing_text(packing, reason->hits);
		if (reason->filter >= contents->filters->len)
			packing_fail(packing);
	}
}

static void
move_reference(struct packing *packing, struct digest_reference *reference)
{
	reference->journal = move_optional_text(packing, reference->journal);
	reference->doi = move_optional_text(packing, reference->doi);
	reference->published_at =
	    move_optional_number(packing, reference->published_at);
	reference->categories = move_optional_text(packing, reference->categories);
	reference->keywords = move_optional_text(packing, reference->keywords);
}

/* @param newest_day  of all papers */
static void
move_paper(struct packing *packing, struct digest_contents *contents,
    struct digest_contents_paper *paper, uint64_t newest_day)
{
	uint64_t back =
	    packing_number(packing, newest_day - parse_day(paper->day), newest_day);

	format_day(newest_day - back, paper->day);
	paper->upvotes = move_optional_number(packing, paper->upvotes);
	paper->upvotes_before = move_optional_number(packing, paper->upvotes_before);
	paper->stars = move_optional_number(packing, paper->stars);
	paper->venue = move_optional_text(packing, paper->venue);
	paper->shown = packing_number(packing, paper->shown, DIGEST_DETAIL_COUNT);
	move_reasons(packing, contents, paper);
	if (contents->style.attach != PREFERENCE_ATTACH_NONE)
		move_reference(packing, &paper->reference);
}

static uint64_t
find_newest_day(const struct digest_contents *contents)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < contents->papers->len; i++)
		newest =
		    MAX(newest, parse_day(digest_contents_get_paper(contents, i)->day));
	return newest;
}

static void
move_contents(struct packing *packing, struct digest_contents *contents)
{
	uint64_t newest_day = find_newest_day(contents);

	move_head(packing, contents->papers);
	move_style(packing, &contents->style);
	contents->coverage = packing_text(packing, contents->coverage);
	contents->notices = packing_text(packing, contents->notices);
	move_filters(packing, contents->filters);
	newest_day = packing_number(packing, newest_day, DAY_MAX);
	for (unsigned i = 0; i < contents->papers->len; i++)
		move_paper(packing, contents, digest_contents_get_paper(contents, i),
		    newest_day);
	if (find_newest_day(contents) != newest_day)
		packing_fail(packing);
}

GByteArray *
digest_contents_pack(const struct digest_contents *contents)
{
	struct packing packing = {.out = g_byte_array_sized_new(1024)};
	/* Packing does not change the values, which are in arrays. */
	struct digest_contents copy = *contents;

	move_contents(&packing, &copy);
	return packing.out;
}

GByteArray *
digest_contents_pack_papers(const struct digest_contents *contents)
{
	struct packing packing = {.out = g_byte_array_new()};

	move_head(&packing, contents->papers);
	return packing.out;
}

static bool
check(const struct packing *packing, GError **error)
{
	return !packing->is_bad ||
	       pb_fail(error, PB_ERROR_DAMAGED,
	           "the store is damaged: a digest cannot be read; run paperboyctl "
	           "doctor");
}

bool
digest_contents_unpack(
    struct digest_contents *contents, const void *data, size_t size, GError **error)
{
	struct packing packing = packing_of(data, size);

	move_contents(&packing, contents);
	if (packing.at < packing.end)
		packing_fail(&packing);
	return check(&packing, error);
}

bool
digest_contents_unpack_papers(
    const void *data, size_t size, GArray *papers, size_t *head_bytes, GError **error)
{
	struct packing packing = packing_of(data, size);
	const uint8_t *first = packing.at;

	move_head(&packing, papers);
	if (head_bytes)
		*head_bytes = (size_t)(packing.at - first);
	return check(&packing, error);
}
