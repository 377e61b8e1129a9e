/*
 * assemble.c - which papers of a digest are shown how, and both parts around them.
 */
#include "render/assemble.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/compose.h"
#include "message/sanitize.h"
#include "render/entry_block_view.h"

/* In the order of the digest, whose numbers the commands take: `why 3`. */
static void
append_entry(
    struct assembled_message *layout, const struct digest *digest, unsigned index)
{
	g_ptr_array_add(layout->entries, digest->entries->pdata[index]);
	g_string_append_printf(layout->numbers, "%3u.", (index + 1) % 1000);
}

static void
choose_entries(struct assembled_message *layout, const struct digest *digest)
{
	g_autoptr(GArray) titles = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];

		switch (entry->shown) {
		case DIGEST_DETAIL_FULL:
			if (layout->entries->len < BOUNDS_DIGEST_FULL_MAX)
				append_entry(layout, digest, i);
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
	layout->full = layout->entries->len;
	for (unsigned i = 0; i < MIN(titles->len, BOUNDS_DIGEST_TITLES_MAX); i++)
		append_entry(layout, digest, g_array_index(titles, unsigned, i));
	layout->shown = layout->entries->len;
	layout->total = digest->entries->len;
}

static void
load_fragments(struct assembled_message *layout, struct entry_block_cache *cache)
{
	for (unsigned i = 0; i < layout->shown; i++)
		g_ptr_array_add(layout->fragments,
		    entry_block_cache_get(cache, layout->entries->pdata[i],
		        i < layout->full ? layout->depth : ENTRY_BLOCK_TITLE));
}

static const char *
get_number(const struct assembled_message *layout, unsigned index)
{
	return layout->numbers->str + index * strlen(ENTRY_BLOCK_VIEW_NUMBER);
}

static bool
find_frame(struct assembled_message *layout, struct pages *frames,
    const struct digest *digest, GError **error)
{
	const GPtrArray *from =
	    layout->entries->len > 0 ? layout->entries : digest->entries;
	const struct digest_entry *first = from->len > 0 ? from->pdata[0] : NULL;
	const struct page_heading heading = {
	    .date = digest->date,
	    .first_title = first ? first->paper->title : "",
	    .coverage = digest->coverage,
	    .is_note = digest->is_note,
	    .total = layout->total,
	    .shown = layout->shown,
	    .has_titles = layout->shown > layout->full,
	    .titles_start = layout->shown > layout->full
	                        ? (unsigned)g_ascii_strtoull(
	                              get_number(layout, layout->full), NULL, 10)
	                        : 0,
	};

	layout->frame = pages_get(frames, &heading, error);
	if (!layout->frame)
		return false;
	g_clear_pointer(&layout->subject, g_free);
	if (layout->frame->subject)
		layout->subject = page_format_subject(
		    layout->frame->subject, (const char *const[PAGE_OPEN_VALUES]){
		                                [PAGE_RECIPIENT] = layout->recipient,
		                                [PAGE_STOP_URL] = layout->stop_url,
		                            });
	return true;
}

const char *
assemble_get_subject(const struct assembled_message *layout)
{
	return layout->subject ? layout->subject : layout->frame->known_subject;
}

/* Show one paper less: the last full one by title, or the last title not at all. */
static void
demote_last(struct assembled_message *layout, struct entry_block_cache *cache,
    struct chunk_stats *sum)
{
	unsigned last = layout->full > 0 ? layout->full - 1 : layout->shown - 1;
	struct entry_block *fragment = layout->fragments->pdata[last];

	entry_block_subtract_from(sum, &fragment->html);
	entry_block_unref(fragment);
	if (layout->full > 0) {
		fragment = entry_block_cache_get(
		    cache, layout->entries->pdata[last], ENTRY_BLOCK_TITLE);
		layout->fragments->pdata[last] = fragment;
		entry_block_add_to(sum, &fragment->html);
		layout->full--;
	} else {
		layout->fragments->pdata[last] = NULL;
		g_ptr_array_set_size(layout->fragments, (int)last);
		layout->shown--;
	}
}

static void
fill_part(const struct assembled_message *layout, struct pages *frames, bool is_html,
    struct assemble_part *part)
{
	const struct page_part *frame =
	    is_html ? &layout->frame->html : &layout->frame->text;
	const char *const values[PAGE_OPEN_VALUES] = {
	    [PAGE_RECIPIENT] = layout->recipient,
	    [PAGE_STOP_URL] = layout->stop_url,
	    [PAGE_SUBJECT] = layout->subject,
	};
	struct filling *filling = pages_get_filling(frames, is_html);

	part->frame = filling;
	compiled_template_fill(frame->head, values, filling);
	part->head = filling->encoded->len;
	compiled_template_fill(frame->middle, values, filling);
	part->middle = filling->encoded->len;
	compiled_template_fill(frame->tail, values, filling);
	part->sum = filling->sum;
	for (unsigned i = 0; i < layout->shown; i++) {
		const struct entry_block *fragment = layout->fragments->pdata[i];

		entry_block_add_to(
		    &part->sum, is_html ? &fragment->html : &fragment->text);
	}
}

/*
 * The frame depends a little on what is shown, so it is made anew after papers
 * were demoted; each round demotes at least one.
 */
static bool
fit_html(struct assembled_message *layout, struct pages *frames,
    struct entry_block_cache *cache, const struct digest *digest, GError **error)
{
	for (;;) {
		struct chunk_stats sum;

		if (!find_frame(layout, frames, digest, error))
			return false;
		fill_part(layout, frames, true, &layout->html);
		sum = layout->html.sum;
		if (chunk_stats_get_part_bytes(&sum) <= BOUNDS_HTML_PART_BYTES)
			break;
		if (layout->shown == 0) {
			g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
			    "digest.html alone makes more than %d octets",
			    BOUNDS_HTML_PART_BYTES);
			return false;
		}
		while (layout->shown > 0 &&
		       chunk_stats_get_part_bytes(&sum) > BOUNDS_HTML_PART_BYTES)
			demote_last(layout, cache, &sum);
	}
	fill_part(layout, frames, false, &layout->text);
	return true;
}

static enum entry_block_depth
choose_depth(const struct digest *digest)
{
	switch (digest->look.abstract) {
	case PREFERENCE_ABSTRACT_FULL:
		return ENTRY_BLOCK_WHOLE;
	case PREFERENCE_ABSTRACT_SHORT:
		return ENTRY_BLOCK_SHORT;
	case PREFERENCE_ABSTRACT_NONE:
		return ENTRY_BLOCK_BARE;
	}
	return ENTRY_BLOCK_WHOLE;
}

bool
assemble_init(struct assembled_message *layout, struct pages *frames,
    struct entry_block_cache *cache, const struct digest *digest, const char *stop_url,
    GError **error)
{
	struct assembled_message made = {0};

	if (digest->entries->len == 0 && !digest->is_note) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "digest %" G_GINT64_FORMAT " has no papers", digest->id);
		return false;
	}
	made.depth = choose_depth(digest);
	made.entries = g_ptr_array_sized_new(digest->entries->len);
	made.fragments = g_ptr_array_new_full(
	    digest->entries->len, (GDestroyNotify)entry_block_unref);
	made.numbers = g_string_new(NULL);
	choose_entries(&made, digest);
	load_fragments(&made, cache);
	made.recipient = sanitize_line(digest->recipient, 0);
	made.stop_url = g_strdup(stop_url);
	if (!fit_html(&made, frames, cache, digest, error)) {
		assemble_clear(&made);
		return false;
	}
	*layout = made;
	return true;
}

void
assemble_clear(struct assembled_message *layout)
{
	g_clear_pointer(&layout->entries, g_ptr_array_unref);
	g_clear_pointer(&layout->fragments, g_ptr_array_unref);
	if (layout->numbers)
		g_string_free(layout->numbers, TRUE);
	layout->numbers = NULL;
	g_clear_pointer(&layout->recipient, g_free);
	g_clear_pointer(&layout->stop_url, g_free);
	g_clear_pointer(&layout->subject, g_free);
}

static const struct entry_block_part *
get_part(const struct assembled_message *layout, unsigned index, bool is_html)
{
	const struct entry_block *fragment = layout->fragments->pdata[index];

	return is_html ? &fragment->html : &fragment->text;
}

/* How much of a paper's part is the place of its number. */
static size_t
measure_place(const struct entry_block_part *part)
{
	return g_str_has_prefix(part->pieces[0]->plain->str, ENTRY_BLOCK_VIEW_NUMBER)
	           ? strlen(ENTRY_BLOCK_VIEW_NUMBER)
	           : 0;
}

/* How many runs a part has: its papers' pieces, and what stands around them. */
static unsigned
count_runs(const struct assembled_message *layout, bool is_html)
{
	unsigned count = 3;

	for (unsigned i = 0; i < layout->shown; i++)
		count += get_part(layout, i, is_html)->count +
		         (measure_place(get_part(layout, i, is_html)) > 0);
	return count;
}

void
assemble_list_runs(const struct assembled_message *layout, bool is_html, GArray *runs)
{
	const struct assemble_part *part = is_html ? &layout->html : &layout->text;
	const GString *frame = part->frame->encoded;
	unsigned before = runs->len, count = count_runs(layout, is_html);
	struct compose_span *run;

	g_array_set_size(runs, before + count);
	run = &g_array_index(runs, struct compose_span, before);
	*run++ = (struct compose_span){frame->str, part->head};
	for (unsigned i = 0; i <= layout->shown; i++) {
		const struct entry_block_part *fragment;
		size_t place;

		if (i == layout->full)
			*run++ = (struct compose_span){
			    frame->str + part->head, part->middle - part->head};
		if (i == layout->shown)
			break;
		fragment = get_part(layout, i, is_html);
		place = measure_place(fragment);
		if (place)
			*run++ = (struct compose_span){get_number(layout, i), place};
		for (unsigned j = 0; j < fragment->count; j++, place = 0) {
			const GString *encoded = fragment->pieces[j]->encoded;

			*run++ = (struct compose_span){
			    encoded->str + place, encoded->len - place};
		}
	}
	*run =
	    (struct compose_span){frame->str + part->middle, frame->len - part->middle};
}

char *
assemble_format_plain(const struct assembled_message *layout, bool is_html)
{
	const struct page_part *frame =
	    is_html ? &layout->frame->html : &layout->frame->text;
	const char *const values[PAGE_OPEN_VALUES] = {
	    [PAGE_RECIPIENT] = layout->recipient,
	    [PAGE_STOP_URL] = layout->stop_url,
	    [PAGE_SUBJECT] = layout->subject,
	};
	GString *out = g_string_new(NULL);

	compiled_template_append_plain(frame->head, values, out);
	for (unsigned i = 0; i <= layout->shown; i++) {
		const struct entry_block_part *fragment;
		size_t place;

		if (i == layout->full)
			compiled_template_append_plain(frame->middle, values, out);
		if (i == layout->shown)
			break;
		fragment = get_part(layout, i, is_html);
		place = measure_place(fragment);
		g_string_append_len(out, get_number(layout, i), (gssize)place);
		for (unsigned j = 0; j < fragment->count; j++, place = 0) {
			const GString *plain = fragment->pieces[j]->plain;

			g_string_append_len(
			    out, plain->str + place, (gssize)(plain->len - place));
		}
	}
	compiled_template_append_plain(frame->tail, values, out);
	return g_string_free(out, FALSE);
}
