/*
 * entry_block.c - one paper of a digest, rendered and encoded.
 */
#include "render/entry_block.h"

#include <stdint.h>
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "render/entry_reasons.h"
#include "render/entry_table.h"
#include "render/mark.h"
#include "render/wrap.h"

/* Marks the reasons: a control character, which templates and sanitized text lack. */
#define MARKER "\x04"

/* Part of BOUNDS_RENDER_CACHE_BYTES for reasons. */
#define REASON_BYTES_MAX (BOUNDS_RENDER_CACHE_BYTES / 8)

const char *const entry_block_heading_names[] = {"filter", "is_first", "start", NULL};
const char *const entry_block_answer_names[] = {"hide_url", "like_url", NULL};

/*
 * Start of a key.  A paper object that several digests share is identified by its
 * address, any other by its texts.
 */
struct key_head {
	const struct paper *paper;
	int64_t upvotes, upvotes_before, stars;
	int64_t depth;
};

/* One part of a paper without its reasons: whole lines before and after them. */
struct shared_part {
	struct chunk chunk;
	size_t split; /* position of the reasons */
};

/* Reference-counted: blocks in use outlive the cache's contents. */
struct entry_shared {
	struct shared_part text;
	struct shared_part html;
	struct mark_index index; /* of the HTML */
	struct paper
	    *paper; /* a reference, so that the address is not reused; or NULL */
	struct entry_key key;
	char key_bytes[]; /* next to the key */
};

/* The block of one reader, in one allocation. */
struct own_block {
	struct entry_block block;    /* must be first: its address is the result */
	struct entry_shared *shared; /* NULL for a heading */
	const struct entry_reasons *reasons; /* or NULL */
	struct chunk heading_text;           /* or of an answer */
	struct chunk heading_html;
	struct compose_span spans[]; /* then the lines with marks */
};

struct entry_block_cache {
	struct entry_block_templates templates;
	struct entry_reasons_cache *reasons;
	struct entry_table entries; /* of struct entry_shared * */
};

void
entry_block_scratch_init(struct entry_block_scratch *scratch)
{
	scratch->key_bytes = g_string_sized_new(256);
	scratch->marks = mark_list_new();
	entry_reasons_scratch_init(&scratch->reasons);
}

void
entry_block_scratch_clear(struct entry_block_scratch *scratch)
{
	g_string_free(scratch->key_bytes, TRUE);
	mark_list_free(scratch->marks);
	entry_reasons_scratch_clear(&scratch->reasons);
}

/* ---- keys ---- */

static void
add_texts(GString *bytes, const struct paper *paper)
{
	unsigned authors = paper->authors->len;

	g_string_append_len(bytes, (const char *)&authors, sizeof(authors));
	entry_key_add(bytes, paper->title);
	entry_key_add(bytes, paper->url);
	entry_key_add(bytes, paper->code_url);
	entry_key_add(bytes, paper->project_url);
	entry_key_add(bytes, paper->video_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		entry_key_add(bytes, paper->authors->pdata[i]);
	entry_key_add(bytes, paper->abstract);
	entry_key_add(bytes, paper->summary);
}

static struct entry_key
make_key(GString *bytes, const struct digest_entry *entry, bool is_shared,
    enum entry_depth depth)
{
	const struct paper *paper = entry->paper;
	const struct key_head head = {
	    .paper = is_shared ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .upvotes_before = entry->upvotes_before,
	    .stars = entry->stars,
	    .depth = depth,
	};
	size_t hashed;

	g_string_truncate(bytes, 0);
	g_string_append_len(bytes, (const char *)&head, sizeof(head));
	g_string_append_c(bytes, entry->reasons->len > 0 ? '1' : '0');
	entry_key_add(bytes, entry->venue);
	if (!head.paper)
		entry_key_add(bytes, paper->id);
	hashed = bytes->len;
	if (!head.paper)
		add_texts(bytes, paper);
	return entry_key_make(bytes, hashed);
}

/* ---- shared blocks ---- */

static void
clear_shared(void *data)
{
	struct entry_shared *shared = data;

	chunk_clear(&shared->text.chunk);
	chunk_clear(&shared->html.chunk);
	mark_index_clear(&shared->index);
	paper_free(shared->paper);
}

static void
unref_shared(void *shared)
{
	g_atomic_rc_box_release_full(shared, clear_shared);
}

struct entry_block_cache *
entry_block_cache_new(const struct entry_block_templates *templates)
{
	struct entry_block_cache *cache = g_new0(struct entry_block_cache, 1);

	cache->templates = *templates;
	cache->reasons = entry_reasons_cache_new(
	    templates->text, templates->html, templates->format, REASON_BYTES_MAX);
	entry_table_init(&cache->entries, G_STRUCT_OFFSET(struct entry_shared, key),
	    unref_shared, BOUNDS_RENDER_CACHE_BYTES - REASON_BYTES_MAX);
	return cache;
}

void
entry_block_cache_free(struct entry_block_cache *cache)
{
	if (!cache)
		return;
	entry_reasons_cache_free(cache->reasons);
	entry_table_clear(&cache->entries);
	g_free(cache);
}

/* Render a paper. @param tail  set to what follows its reasons, or to NULL */
static GString *
render(
    const struct template *template, const struct view *view, bool is_html, char **tail)
{
	GString *text = g_string_sized_new(4096);
	char *marker;

	template_append_with_marker(template, view, "reasons", MARKER, text);
	if (!is_html)
		mark_strip(text);
	marker = strstr(text->str, MARKER);
	if (marker)
		*marker = '\0';
	*tail = marker ? marker + strlen(MARKER) : NULL;
	return text;
}

static unsigned
count_lines(const char *text)
{
	unsigned count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

static void
init_text(
    struct shared_part *part, const struct template *template, const struct view *view)
{
	char *tail;
	g_autoptr(GString) whole = render(template, view, false, &tail);
	g_autoptr(GString) wrapped = g_string_sized_new(whole->len + whole->len / 8);
	unsigned lines;

	wrap_append_text(wrapped, whole->str, BOUNDS_TEXT_COLUMNS);
	lines = count_lines(wrapped->str);
	if (tail)
		wrap_append_text(wrapped, tail, BOUNDS_TEXT_COLUMNS);
	chunk_init(&part->chunk, wrapped);
	part->split = chunk_find_line(&part->chunk, lines);
}

static void
init_html(struct entry_shared *shared, const struct template *template,
    const struct view *view)
{
	struct shared_part *part = &shared->html;
	char *tail;
	GString *whole = render(template, view, true, &tail);
	unsigned lines;

	wrap_html(whole->str, BOUNDS_HTML_COLUMNS);
	lines = count_lines(whole->str);
	if (tail) {
		const size_t at = (size_t)(tail - whole->str) - strlen(MARKER);

		wrap_html(tail, BOUNDS_HTML_COLUMNS);
		if (at > 0 && whole->str[at - 1] != '\n') {
			whole->str[at] = '\n';
			lines++;
		} else {
			g_string_erase(whole, (gssize)at, strlen(MARKER));
		}
	}
	mark_index_init(&shared->index, &part->chunk, whole);
	part->split = tail ? chunk_find_line(&part->chunk, lines)
	                   : part->chunk.stats.encoded_bytes;
}

static void
add_shared(struct entry_block_cache *cache, struct entry_shared *shared)
{
	size_t bytes = sizeof(*shared) + shared->key.size +
	               mark_index_get_bytes(&shared->index) +
	               shared->text.chunk.stats.encoded_bytes +
	               shared->html.chunk.stats.encoded_bytes;

	entry_table_add(&cache->entries, shared, bytes);
}

struct entry_shared *
entry_block_find(struct entry_block_cache *cache, struct entry_block_scratch *scratch,
    const struct digest_entry *entry, enum entry_depth depth)
{
	bool is_shared = paper_is_shared(entry->paper);
	const struct entry_key key =
	    make_key(scratch->key_bytes, entry, is_shared, depth);
	struct entry_shared *shared = entry_table_find(&cache->entries, &key);
	pb_auto(view) view = NULL;

	if (shared) {
		mark_index_prefetch(&shared->index);
		return shared;
	}
	view = entry_view_new(cache->templates.context, entry, depth);
	shared = g_atomic_rc_box_alloc0(sizeof(*shared) + key.size);
	shared->key = key;
	shared->key.bytes = memcpy(shared->key_bytes, key.bytes, key.size);
	if (is_shared)
		shared->paper = paper_share(entry->paper);
	init_html(shared, cache->templates.html, view);
	init_text(&shared->text, cache->templates.text, view);
	add_shared(cache, shared);
	return shared;
}

/* ---- blocks ---- */

/* Room for some spans and bytes. */
static struct own_block *
new_own(unsigned spans, size_t bytes)
{
	struct own_block *own =
	    g_malloc(sizeof(*own) + spans * sizeof(struct compose_span) + bytes);

	*own = (struct own_block){0};
	return own;
}

/* @param spans  where to add it @return behind it */
static struct compose_span *
add_span(struct compose_span *spans, const char *data, size_t size)
{
	if (size)
		*spans++ = (struct compose_span){data, size};
	return spans;
}

static void
end_part(struct entry_block_part *part, const struct compose_span *spans,
    const struct compose_span *end, const struct chunk_stats *stats,
    const struct chunk_stats *reason_stats)
{
	part->spans = spans;
	part->count = (unsigned)(end - spans);
	part->stats = *stats;
	if (reason_stats)
		chunk_stats_add(&part->stats, reason_stats);
}

/* @param spans  room for 3 @return behind the last */
static struct compose_span *
list_text(struct own_block *own, struct compose_span *spans)
{
	const struct shared_part *text = &own->shared->text;
	const struct entry_reasons *reasons = own->reasons;
	const size_t size = text->chunk.stats.encoded_bytes;
	struct compose_span *end = add_span(spans, text->chunk.encoded, text->split);

	if (reasons)
		end = add_span(end, reasons->text, reasons->text_stats.encoded_bytes);
	own->block.text.reasons_end = (unsigned)(end - spans);
	end = add_span(end, text->chunk.encoded + text->split, size - text->split);
	end_part(&own->block.text, spans, end, &text->chunk.stats,
	    reasons ? &reasons->text_stats : NULL);
	return end;
}

/* @param spans  room for two more than pieces @param copy  for the marked text */
static void
list_html(struct own_block *own, const struct marked *marked,
    struct compose_span *spans, char *copy)
{
	const struct shared_part *html = &own->shared->html;
	const char *encoded = html->chunk.encoded;
	const struct entry_reasons *reasons = own->reasons;
	struct compose_span *end = spans;
	bool has_reasons = false;

	memcpy(copy, marked->text->str, marked->text->len);
	for (unsigned i = 0; i < marked->count; i++) {
		const struct mark_piece *piece = &marked->pieces[i];
		size_t start = piece->start;

		if (!has_reasons && piece->end > html->split) {
			end = add_span(end, encoded + start, html->split - start);
			end = add_span(
			    end, reasons->html, reasons->html_stats.encoded_bytes);
			own->block.html.reasons_end = (unsigned)(end - spans);
			start = html->split;
			has_reasons = true;
		}
		if (piece->marked_bytes)
			end = add_span(end, copy, piece->marked_bytes);
		else
			end = add_span(end, encoded + start, piece->end - start);
		copy += piece->marked_bytes;
	}
	if (!has_reasons) {
		end = add_span(end, reasons->html, reasons->html_stats.encoded_bytes);
		own->block.html.reasons_end = (unsigned)(end - spans);
	}
	end_part(&own->block.html, spans, end, &marked->stats, &reasons->html_stats);
}

/* Mark the hits of all reasons. */
static void
mark_hits(const struct entry_shared *shared, struct mark_list *marks,
    const struct digest_entry *entry, struct marked *marked)
{
	mark_list_clear(marks);
	for (unsigned i = 0; i < entry->reasons->len; i++)
		mark_list_add(
		    marks, ((struct digest_reason *)entry->reasons->pdata[i])->hits);
	mark_list_apply(marks, &shared->index, &shared->html.chunk, marked);
}

struct entry_block *
entry_block_new(struct entry_block_cache *cache, struct entry_block_scratch *scratch,
    const struct digest_entry *entry, enum entry_depth depth,
    struct entry_shared *shared)
{
	const struct chunk *html = &shared->html.chunk;
	struct own_block *own;
	struct marked marked;
	struct compose_span *spans;

	if (entry->reasons->len == 0) {
		own = new_own(4, 0);
		own->shared = shared;
		spans = list_text(own, own->spans);
		end_part(&own->block.html, spans,
		    add_span(spans, html->encoded, html->stats.encoded_bytes),
		    &html->stats, NULL);
		return &own->block;
	}
	mark_hits(shared, scratch->marks, entry, &marked);
	own = new_own(3 + marked.count + 2, marked.text->len);
	own->shared = shared;
	own->reasons = entry_reasons_get(
	    cache->reasons, &scratch->reasons, entry->reasons, scratch->marks, depth);
	spans = list_text(own, own->spans);
	list_html(own, &marked, spans, (char *)(own->spans + 3 + marked.count + 2));
	return &own->block;
}

/* @return behind the span */
static struct compose_span *
list_heading(struct entry_block_part *part, struct chunk *chunk,
    const struct template *template, const struct view *view, unsigned columns,
    struct compose_span *spans)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) wrapped = g_string_new(NULL);
	struct compose_span *end;

	template_append(template, view, text);
	if (columns > 0)
		wrap_append_text(wrapped, text->str, columns);
	chunk_init(chunk, columns > 0 ? wrapped : text);
	end = add_span(spans, chunk->encoded, chunk->stats.encoded_bytes);
	end_part(part, spans, end, &chunk->stats, NULL);
	return end;
}

struct entry_block *
entry_block_new_heading(
    const struct entry_block_cache *cache, const struct entry_block_heading *heading)
{
	struct own_block *own = new_own(2, 0);
	pb_auto(view) view = view_new_map();
	g_autofree char *filter = sanitize_line(heading->filter, 0);
	g_autofree char *start = g_strdup_printf("%u", heading->start);
	struct compose_span *spans;

	view_put_text(view, "filter", filter);
	view_put_text(view, "start", start);
	view_put(view, "is_first", view_new_bool(heading->is_first));
	spans = list_heading(&own->block.text, &own->heading_text,
	    cache->templates.heading_text, view, BOUNDS_TEXT_COLUMNS, own->spans);
	list_heading(&own->block.html, &own->heading_html,
	    cache->templates.heading_html, view, 0, spans);
	return &own->block;
}

struct entry_block *
entry_block_new_answer(
    const struct entry_block_cache *cache, const char *like_url, const char *hide_url)
{
	struct own_block *own = new_own(2, 0);
	pb_auto(view) view = view_new_map();
	struct compose_span *spans;

	view_put_text(view, "like_url", like_url);
	view_put_text(view, "hide_url", hide_url);
	spans = list_heading(&own->block.text, &own->heading_text,
	    cache->templates.answer_text, view, BOUNDS_TEXT_COLUMNS, own->spans);
	list_heading(&own->block.html, &own->heading_html, cache->templates.answer_html,
	    view, 0, spans);
	return &own->block;
}

void
entry_block_free(struct entry_block *block)
{
	struct own_block *own = (struct own_block *)block;

	if (!own)
		return;
	g_clear_pointer(&own->shared, unref_shared);
	g_clear_pointer(&own->reasons, entry_reasons_unref);
	chunk_clear(&own->heading_text);
	chunk_clear(&own->heading_html);
	g_free(own);
}
