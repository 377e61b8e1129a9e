/*
 * assemble.c - both parts of a digest from the page and the papers' blocks.
 */
#include "render/assemble.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "message/compose.h"

/* Number of first papers whose abstract is shown when the preference is "brief"; others
 * have one sentence. */
#define BRIEF_ABSTRACTS 3

/* Numbers are those of the digest, which commands refer to: `why 3`. */
static void
append_entry(
    struct assembled_message *assembled, const struct digest *digest, unsigned index)
{
	g_ptr_array_add(assembled->entries, digest->entries->pdata[index]);
	g_string_append_printf(assembled->numbers, "%3u.", (index + 1) % 1000);
}

static void
choose_entries(struct assembled_message *assembled, const struct digest *digest)
{
	g_autoptr(GArray) titles = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];

		switch (entry->shown) {
		case DIGEST_DETAIL_FULL:
			if (assembled->entries->len < BOUNDS_DIGEST_FULL_MAX)
				append_entry(assembled, digest, i);
			else
				g_array_append_val(titles, i);
			break;
		case DIGEST_DETAIL_TITLE:
			g_array_append_val(titles, i);
			break;
		case DIGEST_DETAIL_COUNT:
			break;
		}
	}
	assembled->full = assembled->entries->len;
	for (unsigned i = 0; i < MIN(titles->len, BOUNDS_DIGEST_TITLES_MAX); i++)
		append_entry(assembled, digest, g_array_index(titles, unsigned, i));
	assembled->shown = assembled->entries->len;
	assembled->total = digest->entries->len;
}

enum entry_depth
assemble_get_depth(const struct assembled_message *assembled, unsigned index)
{
	if (index >= assembled->full)
		return ENTRY_DEPTH_TITLE;
	switch (assembled->abstract) {
	case PREFERENCE_ABSTRACT_BRIEF:
		return index < BRIEF_ABSTRACTS ? ENTRY_DEPTH_SUMMARY
		                               : ENTRY_DEPTH_BRIEF;
	case PREFERENCE_ABSTRACT_SHORT:
		return ENTRY_DEPTH_EXCERPT;
	case PREFERENCE_ABSTRACT_FULL:
		return ENTRY_DEPTH_FULL;
	case PREFERENCE_ABSTRACT_NONE:
		break;
	}
	return ENTRY_DEPTH_NO_ABSTRACT;
}

static void
load_blocks(struct assembled_message *assembled, struct entry_block_cache *cache)
{
	const unsigned count = assembled->shown;
	struct entry_block_scratch *scratch = &assembled->scratch.blocks;
	g_autofree struct entry_shared **shared = g_new(struct entry_shared *, count);

	for (unsigned i = 0; i < count; i++)
		shared[i] = entry_block_find(cache, scratch,
		    assembled->entries->pdata[i], assemble_get_depth(assembled, i));
	for (unsigned i = 0; i < count; i++)
		g_ptr_array_add(assembled->blocks,
		    entry_block_new(cache, scratch, assembled->entries->pdata[i],
		        assemble_get_depth(assembled, i), shared[i]));
}

static const char *
get_number(const struct assembled_message *assembled, unsigned index)
{
	return assembled->numbers->str + index * strlen(ENTRY_VIEW_NUMBER);
}

static unsigned
parse_number(const struct assembled_message *assembled, unsigned index)
{
	return (unsigned)g_ascii_strtoull(get_number(assembled, index), NULL, 10);
}

/* The filter that a paper counts for. */
static const char *
get_group(const struct assembled_message *assembled, unsigned index)
{
	const struct digest_entry *entry = assembled->entries->pdata[index];
	const struct digest_reason *first =
	    entry->reasons->len ? entry->reasons->pdata[0] : NULL;

	return first ? first->filter : "";
}

static void
load_headings(
    struct assembled_message *assembled, const struct entry_block_cache *cache)
{
	for (unsigned i = 0; i < assembled->full; i++) {
		const struct entry_block_heading heading = {
		    .filter = get_group(assembled, i),
		    .start = parse_number(assembled, i),
		    .is_first = i == 0,
		};
		bool is_new =
		    i == 0 || strcmp(heading.filter, get_group(assembled, i - 1)) != 0;

		g_ptr_array_add(assembled->headings,
		    is_new ? entry_block_new_heading(cache, &heading) : NULL);
	}
}

/* A link that mails an answer; in a reply to a digest numbers name its papers. */
static char *
format_answer_url(const struct sender_identity *sender, const char *reply_to,
    const char *verb, unsigned number, const char *id)
{
	g_autofree char *command = sender->has_subaddresses
	                               ? g_strdup_printf("%s %u", verb, number)
	                               : g_strdup_printf("%s %s", verb, id);
	pb_local(address) address = {0};

	if (!address_parse(reply_to, &address, NULL))
		g_assert_not_reached();
	return address_format_mailto(&address, command);
}

static void
load_answers(struct assembled_message *assembled, const struct entry_block_cache *cache,
    const struct sender_identity *sender, const struct digest *digest)
{
	g_autofree char *reply_to = sender_identity_format_reply_to(sender, digest);

	if (!reply_to)
		return;
	assembled->answers =
	    g_ptr_array_new_full(assembled->shown, (GDestroyNotify)entry_block_free);
	for (unsigned i = 0; i < assembled->shown; i++) {
		const struct digest_entry *entry = assembled->entries->pdata[i];
		unsigned number = parse_number(assembled, i);
		g_autofree char *like = format_answer_url(
		    sender, reply_to, "like", number, entry->paper->id);
		g_autofree char *hide = format_answer_url(
		    sender, reply_to, "hide", number, entry->paper->id);

		g_ptr_array_add(
		    assembled->answers, entry_block_new_answer(cache, like, hide));
	}
}

static const struct entry_block *
get_answer(const struct assembled_message *assembled, unsigned index)
{
	return assembled->answers ? assembled->answers->pdata[index] : NULL;
}

/* Get the heading before an entry, or NULL. */
static const struct entry_block *
get_heading(const struct assembled_message *assembled, unsigned index)
{
	return index < assembled->headings->len ? assembled->headings->pdata[index]
	                                        : NULL;
}

/* Whether the papers at the top are not on the first screen. */
static bool
wants_top(const struct assembled_message *assembled)
{
	return assembled->total > OVERVIEW_TOP_PAPERS &&
	       assembled->shown >= PAGE_TOP_MAX &&
	       (assembled->headings->len > 0 ||
	           assembled->abstract != PREFERENCE_ABSTRACT_NONE);
}

/* The first papers; of groups, the first of each while there are enough. */
static void
add_top(struct assembled_message *assembled, struct pages *pages)
{
	unsigned starts = 0, chosen = 0;

	for (unsigned i = 0; i < assembled->headings->len; i++)
		starts += assembled->headings->pdata[i] != NULL;
	starts = MIN(starts, PAGE_TOP_MAX);
	for (unsigned i = 0; chosen < PAGE_TOP_MAX; i++) {
		bool is_start = get_heading(assembled, i) != NULL;

		if (!is_start && starts + chosen >= PAGE_TOP_MAX)
			continue;
		starts -= is_start;
		chosen++;
		overview_add_top(&assembled->overview, pages,
		    assembled->entries->pdata[i], parse_number(assembled, i));
	}
}

static bool
find_page(struct assembled_message *assembled, struct pages *pages,
    const struct digest *digest, GError **error)
{
	const GPtrArray *papers =
	    assembled->entries->len > 0 ? assembled->entries : digest->entries;
	struct page_params *params = &assembled->overview.params;

	params->shown = assembled->shown;
	params->has_titles = assembled->shown > assembled->full;
	params->titles_start =
	    params->has_titles ? parse_number(assembled, assembled->full) : 0;
	params->is_grouped = assembled->headings->len > 0;
	params->top = params->top_linked = 0;
	if (!overview_set_titles(&assembled->overview, pages, papers, error))
		return false;
	if (wants_top(assembled))
		add_top(assembled, pages);
	assembled->page = pages_get(pages, params, error);
	return assembled->page != NULL;
}

const char *
assemble_get_subject(const struct assembled_message *assembled)
{
	return assembled->overview.values[PAGE_SUBJECT];
}

/* Show the last full paper by title only, or omit the last title. */
static void
demote_last(struct assembled_message *assembled, struct entry_block_cache *cache,
    struct chunk_stats *stats)
{
	unsigned last =
	    assembled->full > 0 ? assembled->full - 1 : assembled->shown - 1;
	struct entry_block *block = assembled->blocks->pdata[last];
	const struct entry_block *heading = get_heading(assembled, last);

	if (heading)
		chunk_stats_subtract(stats, &heading->html.stats);
	if (last < assembled->headings->len)
		g_ptr_array_set_size(assembled->headings, (int)last);
	chunk_stats_subtract(stats, &block->html.stats);
	entry_block_free(block);
	if (assembled->full > 0) {
		const struct digest_entry *entry = assembled->entries->pdata[last];
		struct entry_block_scratch *scratch = &assembled->scratch.blocks;

		block = entry_block_new(cache, scratch, entry, ENTRY_DEPTH_TITLE,
		    entry_block_find(cache, scratch, entry, ENTRY_DEPTH_TITLE));
		assembled->blocks->pdata[last] = block;
		chunk_stats_add(stats, &block->html.stats);
		assembled->full--;
	} else {
		if (assembled->answers)
			chunk_stats_subtract(
			    stats, &get_answer(assembled, last)->html.stats);
		assembled->blocks->pdata[last] = NULL;
		g_ptr_array_set_size(assembled->blocks, (int)last);
		assembled->shown--;
	}
}

static void
fill_part(
    struct assembled_message *assembled, bool is_html, struct assembled_part *part)
{
	const struct page_part *page =
	    is_html ? &assembled->page->html : &assembled->page->text;
	const char *const *values = assembled->overview.values;
	struct template_buffer *buffer =
	    is_html ? &assembled->scratch.html : &assembled->scratch.text;

	template_buffer_reset(buffer);
	compiled_template_fill(page->head, values, buffer);
	part->head = buffer->spans->len;
	compiled_template_fill(page->middle, values, buffer);
	part->middle = buffer->spans->len;
	compiled_template_fill(page->tail, values, buffer);
	part->tail = buffer->spans->len;
	part->page = template_buffer_get_spans(buffer);
	part->stats = buffer->stats;
	for (unsigned i = 0; i < assembled->shown; i++) {
		const struct entry_block *block = assembled->blocks->pdata[i];
		const struct entry_block *heading = get_heading(assembled, i);
		const struct entry_block *answer = get_answer(assembled, i);

		if (answer)
			chunk_stats_add(&part->stats,
			    is_html ? &answer->html.stats : &answer->text.stats);
		if (heading)
			chunk_stats_add(&part->stats,
			    is_html ? &heading->html.stats : &heading->text.stats);
		chunk_stats_add(
		    &part->stats, is_html ? &block->html.stats : &block->text.stats);
	}
}

/* The page depends on the numbers, so it is looked up again after each demotion. */
static bool
fit_html(struct assembled_message *assembled, struct pages *pages,
    struct entry_block_cache *cache, const struct digest *digest, GError **error)
{
	for (;;) {
		struct chunk_stats stats;

		if (!find_page(assembled, pages, digest, error))
			return false;
		fill_part(assembled, true, &assembled->html);
		stats = assembled->html.stats;
		if (chunk_stats_get_part_bytes(&stats) <= BOUNDS_HTML_PART_BYTES)
			break;
		if (assembled->shown == 0)
			return pb_fail(error, PB_ERROR_LIMIT,
			    "digest.html without papers is larger than %d bytes",
			    BOUNDS_HTML_PART_BYTES);
		while (assembled->shown > 0 &&
		       chunk_stats_get_part_bytes(&stats) > BOUNDS_HTML_PART_BYTES)
			demote_last(assembled, cache, &stats);
	}
	fill_part(assembled, false, &assembled->text);
	return true;
}

bool
assemble_init(struct assembled_message *assembled, struct pages *pages,
    struct entry_block_cache *cache, const struct digest *digest,
    const struct sender_identity *sender, const struct sender_links *links,
    GError **error)
{
	struct assembled_message result = {0};

	if (digest->entries->len == 0 && !digest->is_note)
		return pb_fail(error, PB_ERROR_INPUT,
		    "digest %" G_GINT64_FORMAT " has no papers", digest->id);
	entry_block_scratch_init(&result.scratch.blocks);
	template_buffer_init(&result.scratch.text);
	template_buffer_init(&result.scratch.html);
	result.abstract = digest->style.abstract;
	result.entries = g_ptr_array_sized_new(digest->entries->len);
	result.blocks = g_ptr_array_new_full(
	    digest->entries->len, (GDestroyNotify)entry_block_free);
	result.headings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)entry_block_free);
	result.numbers =
	    g_string_sized_new(digest->entries->len * strlen(ENTRY_VIEW_NUMBER));
	choose_entries(&result, digest);
	if (digest->style.group == PREFERENCE_GROUP_ON)
		load_headings(&result, cache);
	load_blocks(&result, cache);
	if (digest->style.feedback == PREFERENCE_FEEDBACK_ON)
		load_answers(&result, cache, sender, digest);
	overview_init(&result.overview, digest, sender, links);
	if (!fit_html(&result, pages, cache, digest, error)) {
		assemble_clear(&result);
		return false;
	}
	*assembled = result;
	return true;
}

void
assemble_clear(struct assembled_message *assembled)
{
	g_clear_pointer(&assembled->entries, g_ptr_array_unref);
	g_clear_pointer(&assembled->blocks, g_ptr_array_unref);
	g_clear_pointer(&assembled->headings, g_ptr_array_unref);
	g_clear_pointer(&assembled->answers, g_ptr_array_unref);
	if (assembled->numbers)
		g_string_free(assembled->numbers, TRUE);
	assembled->numbers = NULL;
	overview_clear(&assembled->overview);
	entry_block_scratch_clear(&assembled->scratch.blocks);
	template_buffer_clear(&assembled->scratch.text);
	template_buffer_clear(&assembled->scratch.html);
}

static const struct entry_block_part *
get_part(const struct entry_block *block, bool is_html)
{
	return is_html ? &block->html : &block->text;
}

/* @return the spans after those */
static struct compose_span *
copy_spans(struct compose_span *to, const struct compose_span *from, unsigned count)
{
	memcpy(to, from, count * sizeof(*to));
	return to + count;
}

/* @param answer  the links, after the reasons; or NULL */
static struct compose_span *
copy_rest(struct compose_span *to, const struct entry_block_part *part, unsigned from,
    const struct entry_block_part *answer)
{
	unsigned end = MAX(part->reasons_end, from);

	if (!answer)
		return copy_spans(to, part->spans + from, part->count - from);
	to = copy_spans(to, part->spans + from, end - from);
	to = copy_spans(to, answer->spans, answer->count);
	return copy_spans(to, part->spans + end, part->count - end);
}

/* @param number  of the paper; replaces that at the start of the block */
static struct compose_span *
copy_block(struct compose_span *to, const struct entry_block_part *part,
    const char *number, const struct entry_block_part *answer)
{
	const size_t size = strlen(ENTRY_VIEW_NUMBER);
	const struct compose_span *first = part->spans;

	if (first->size < size || memcmp(first->data, ENTRY_VIEW_NUMBER, size) != 0)
		return copy_rest(to, part, 0, answer);
	*to++ = (struct compose_span){number, size};
	*to++ = (struct compose_span){first->data + size, first->size - size};
	return copy_rest(to, part, 1, answer);
}

/* Count at least as many spans as there are. */
static unsigned
count_spans(const struct assembled_message *assembled, bool is_html)
{
	unsigned count = is_html ? assembled->html.tail : assembled->text.tail;

	for (unsigned i = 0; i < assembled->shown; i++) {
		const struct entry_block *heading = get_heading(assembled, i);

		count += get_part(assembled->blocks->pdata[i], is_html)->count + 1;
		count += heading ? get_part(heading, is_html)->count : 0;
		count += assembled->answers
		             ? get_part(get_answer(assembled, i), is_html)->count
		             : 0;
	}
	return count;
}

void
assemble_list_spans(
    const struct assembled_message *assembled, bool is_html, GArray *spans)
{
	const struct assembled_part *part =
	    is_html ? &assembled->html : &assembled->text;
	const unsigned before = spans->len;
	struct compose_span *at;

	g_array_set_size(spans, before + count_spans(assembled, is_html));
	at = &g_array_index(spans, struct compose_span, before);
	at = copy_spans(at, part->page, part->head);
	for (unsigned i = 0; i <= assembled->shown; i++) {
		const struct entry_block *heading = get_heading(assembled, i);

		if (i == assembled->full)
			at = copy_spans(
			    at, part->page + part->head, part->middle - part->head);
		if (i == assembled->shown)
			break;
		if (heading)
			at = copy_spans(at, get_part(heading, is_html)->spans,
			    get_part(heading, is_html)->count);
		at = copy_block(at, get_part(assembled->blocks->pdata[i], is_html),
		    get_number(assembled, i),
		    assembled->answers ? get_part(get_answer(assembled, i), is_html)
		                       : NULL);
	}
	at = copy_spans(at, part->page + part->middle, part->tail - part->middle);
	g_array_set_size(
	    spans, (unsigned)(at - (struct compose_span *)(void *)spans->data));
}

GString *
assemble_format_plain(const struct assembled_message *assembled, bool is_html)
{
	g_autoptr(GArray) spans =
	    g_array_new(FALSE, FALSE, sizeof(struct compose_span));
	GString *out = g_string_new(NULL);

	assemble_list_spans(assembled, is_html, spans);
	for (unsigned i = 0; i < spans->len; i++) {
		const struct compose_span *span =
		    &g_array_index(spans, struct compose_span, i);

		encoding_append_decoded(out, span->data, span->size);
	}
	return out;
}
