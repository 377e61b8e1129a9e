/*
 * entry_block.c - one paper of a digest, rendered and encoded.
 */
#include "render/entry_block.h"

#include <stdint.h>
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "render/excerpt.h"
#include "render/sentence.h"
#include "render/view.h"
#include "render/wrap.h"

/* Marks the reasons: a control character, which templates and sanitized text lack. */
#define MARKER "\x04"

const char *const entry_block_names[] = {"abstract", "authors", "code_url", "day",
    "filter", "full", "has_links", "is_generated", "number", "project_url", "reasons",
    "sentence", "title", "url", "votes", "words", NULL};

/* In a key: the block is the same whatever the reasons are. */
#define REASONS_ANY G_MAXUINT

const char *const entry_block_heading_names[] = {"filter", "is_first", "start", NULL};

static const char *const reason_names[] = {"filter", "words", ".", NULL};

/*
 * Everything that determines a shared block.  A paper object that several digests
 * share is identified by its address, any other by its texts.  Only the first part is
 * hashed: the rest rarely differs.
 */
struct key {
	GString *bytes;
	size_t hashed;
	struct paper
	    *paper; /* a reference, so that the address is not reused; or NULL */
};

struct key_head {
	const struct paper *paper;
	int64_t upvotes;
	enum entry_block_depth depth;
	unsigned reasons; /* number of them in the block, or REASONS_ANY */
};

/* One part of a paper without its reasons: whole lines before and after them. */
struct shared_part {
	struct chunk head;
	struct chunk tail;
	bool has_reasons;
};

/* Reference-counted: blocks in use outlive the cache's contents. */
struct shared_block {
	struct shared_part text;
	struct shared_part html;
	struct key key;
};

struct own_block {
	struct entry_block block; /* must be first: its address is the result */
	struct shared_block *shared;
	struct chunk text_reasons; /* or the heading, without a shared block */
	struct chunk html_reasons;
};

struct entry_block_cache {
	struct entry_block_templates templates;
	const struct locale_format *format;
	struct sentence_scorer *scorer;
	bool is_separable; /* the templates keep reasons on lines of their own */
	GHashTable
	    *entries; /* a set: struct key * -> the struct shared_block * of it */
	size_t bytes;
	struct key lookup_key;
};

/* ---- the view of a paper ---- */

static void
put_line(struct view *map, const char *name, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);

	view_put_text(map, name, line);
}

static void
put_paper_text(struct view *map, const char *name, const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);

	view_put_text(map, name, line);
}

static void
put_url(struct view *map, const char *name, const char *url)
{
	if (sanitize_is_web_url(url))
		view_put_text(map, name, url);
}

/* A title has only the name of the filter that it counts for. */
static struct view *
new_reasons(const GPtrArray *reasons, enum entry_block_depth depth)
{
	unsigned count =
	    depth == ENTRY_BLOCK_TITLE ? MIN(reasons->len, 1) : reasons->len;
	struct view *list = view_new_list();

	for (unsigned i = 0; i < count; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		struct view *item = view_new_map();

		put_line(item, "filter", reason->filter);
		if (depth != ENTRY_BLOCK_TITLE)
			put_paper_text(item, "words", reason->words);
		view_append(list, item);
	}
	return list;
}

/* The sentence of the source, else one of the abstract unless that is shown. */
static void
set_sentence(struct entry_block_summary *summary, const struct sentence_scorer *scorer,
    const struct paper *paper, bool has_abstract)
{
	summary->is_generated = paper->summary != NULL;
	if (paper->summary)
		summary->sentence = sanitize_paper_text(paper->summary, 0);
	else if (!has_abstract)
		summary->sentence = sentence_find_key(scorer, paper->abstract);
}

void
entry_block_summary_init(struct entry_block_summary *summary,
    const struct entry_block_cache *cache, const struct paper *paper,
    enum entry_block_depth depth)
{
	*summary = (struct entry_block_summary){0};
	switch (depth) {
	case ENTRY_BLOCK_TITLE:
	case ENTRY_BLOCK_NO_ABSTRACT:
		break;
	case ENTRY_BLOCK_EXCERPT:
		summary->abstract = excerpt_format(paper->abstract);
		break;
	case ENTRY_BLOCK_BRIEF:
		set_sentence(summary, cache->scorer, paper, false);
		break;
	case ENTRY_BLOCK_SUMMARY:
		set_sentence(summary, cache->scorer, paper, true);
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	case ENTRY_BLOCK_FULL:
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	}
}

void
entry_block_summary_clear(struct entry_block_summary *summary)
{
	g_free(summary->sentence);
	g_free(summary->abstract);
}

static void
put_summary(struct view *view, const struct entry_block_cache *cache,
    const struct paper *paper, enum entry_block_depth depth)
{
	pb_local(entry_block_summary) summary = {0};

	entry_block_summary_init(&summary, cache, paper, depth);
	view_put_text(view, "sentence", summary.sentence);
	view_put(view, "is_generated", view_new_bool(summary.is_generated));
	view_put_text(view, "abstract", summary.abstract);
}

/* Counters are those stored with the digest: the paper's own may have changed since. */
static struct view *
new_view(const struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	const struct locale_format *format = cache->format;
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = sanitize_paper_text(paper->title, 0);
	g_autofree char *day =
	    locale_format_day(format, entry->day, LOCALE_FORMAT_SHORT);
	g_autofree char *authors = NULL;
	g_autofree char *votes = NULL;

	if (!*title) {
		g_free(title);
		title = locale_format_text(format, "untitled");
	}
	view_put_text(view, "number", ENTRY_BLOCK_NUMBER);
	view_put_text(view, "title", title);
	put_url(view, "url", paper->url);
	view_put_text(view, "day", day);
	if (entry->upvotes > 0) {
		votes = locale_format_count(format, entry->upvotes, "votes");
		view_put_text(view, "votes", votes);
	}
	view_put(view, "reasons", new_reasons(entry->reasons, depth));
	if (depth == ENTRY_BLOCK_TITLE)
		return view;
	view_put(view, "full", view_new_bool(true));
	authors = locale_format_names(format, paper->authors, BOUNDS_DIGEST_AUTHORS);
	view_put_text(view, "authors", authors);
	put_url(view, "code_url", paper->code_url);
	put_url(view, "project_url", paper->project_url);
	view_put(view, "has_links",
	    view_new_bool(
	        view_find(view, "code_url") || view_find(view, "project_url")));
	put_summary(view, cache, paper, depth);
	return view;
}

/* ---- keys ---- */

static guint
hash_key(gconstpointer data)
{
	const struct key *key = data;
	const uint64_t odd = 0x9E3779B97F4A7C15;
	uint64_t hash = key->hashed, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= key->hashed; i += sizeof(eight)) {
		memcpy(&eight, key->bytes->str + i, sizeof(eight));
		hash = (hash ^ eight) * odd;
		hash ^= hash >> 29;
	}
	for (; i < key->hashed; i++)
		hash = (hash ^ (unsigned char)key->bytes->str[i]) * odd;
	return (guint)(hash >> 32);
}

static gboolean
is_key_equal(gconstpointer a, gconstpointer b)
{
	const GString *left = ((const struct key *)a)->bytes;
	const GString *right = ((const struct key *)b)->bytes;

	return left->len == right->len && memcmp(left->str, right->str, left->len) == 0;
}

static void
add_field(GString *bytes, const char *text)
{
	g_string_append_len(
	    bytes, text ? text : "", text ? (gssize)strlen(text) + 1 : 1);
}

static void
add_texts(GString *bytes, const struct paper *paper)
{
	unsigned authors = paper->authors->len;

	g_string_append_len(bytes, (const char *)&authors, sizeof(authors));
	add_field(bytes, paper->title);
	add_field(bytes, paper->url);
	add_field(bytes, paper->code_url);
	add_field(bytes, paper->project_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		add_field(bytes, paper->authors->pdata[i]);
	add_field(bytes, paper->abstract);
	add_field(bytes, paper->summary);
}

static void
set_key(struct key *key, const struct digest_entry *entry, enum entry_block_depth depth,
    unsigned reasons)
{
	const struct paper *paper = entry->paper;
	GString *bytes = key->bytes;
	const struct key_head head = {
	    .paper = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .depth = depth,
	    .reasons = reasons,
	};

	g_string_truncate(bytes, 0);
	g_string_append_len(bytes, (const char *)&head, sizeof(head));
	add_field(bytes, entry->day);
	for (unsigned i = 0; reasons != REASONS_ANY && i < reasons; i++) {
		const struct digest_reason *reason = entry->reasons->pdata[i];

		add_field(bytes, reason->filter);
		add_field(bytes, reason->words);
	}
	if (!head.paper)
		add_field(bytes, paper->id);
	key->hashed = bytes->len;
	if (!head.paper)
		add_texts(bytes, paper);
}

static void
copy_key(struct key *copy, const struct key *key, struct paper *paper)
{
	copy->bytes = g_string_new_len(key->bytes->str, (gssize)key->bytes->len);
	copy->hashed = key->hashed;
	copy->paper = paper->shares > 0 ? paper_share(paper) : NULL;
}

/* ---- shared blocks ---- */

static void
clear_shared(void *data)
{
	struct shared_block *shared = data;

	chunk_clear(&shared->text.head);
	chunk_clear(&shared->text.tail);
	chunk_clear(&shared->html.head);
	chunk_clear(&shared->html.tail);
	g_string_free(shared->key.bytes, TRUE);
	paper_free(shared->key.paper);
}

static void
unref_shared(void *shared)
{
	g_rc_box_release_full(shared, clear_shared);
}

struct entry_block_cache *
entry_block_cache_new(
    const struct entry_block_templates *templates, const struct locale_format *format)
{
	struct entry_block_cache *cache = g_new0(struct entry_block_cache, 1);

	cache->templates = *templates;
	cache->format = format;
	cache->scorer = sentence_scorer_new();
	cache->entries =
	    g_hash_table_new_full(hash_key, is_key_equal, NULL, unref_shared);
	cache->is_separable =
	    template_is_separable(templates->text, "reasons", reason_names) &&
	    template_is_separable(templates->html, "reasons", reason_names);
	cache->lookup_key.bytes = g_string_new(NULL);
	return cache;
}

void
entry_block_cache_free(struct entry_block_cache *cache)
{
	if (!cache)
		return;
	g_hash_table_unref(cache->entries);
	g_string_free(cache->lookup_key.bytes, TRUE);
	sentence_scorer_free(cache->scorer);
	g_free(cache);
}

/* @param columns  to wrap at, or 0 */
static void
init_chunk(struct chunk *chunk, const char *text, unsigned columns)
{
	g_autofree char *wrapped = columns > 0 ? wrap_format_text(text, columns) : NULL;

	chunk_init(chunk, g_string_new(wrapped ? wrapped : text));
}

/* @return false where the reasons are not on lines of their own, once */
static bool
init_part(struct shared_part *part, const struct template *template,
    const struct view *view, bool is_separable, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char *marker = NULL;

	if (is_separable) {
		template_append_with_marker(template, view, "reasons", MARKER, text);
		marker = strstr(text->str, MARKER);
	} else {
		template_append(template, view, text);
	}
	if (marker &&
	    (strstr(marker + 1, MARKER) || (marker > text->str && marker[-1] != '\n')))
		return false;
	part->has_reasons = marker != NULL;
	if (marker)
		*marker = '\0';
	init_chunk(&part->head, text->str, columns);
	init_chunk(&part->tail, marker ? marker + 1 : "", columns);
	return true;
}

static size_t
get_chunk_bytes(const struct chunk *chunk)
{
	return chunk->plain->allocated_len + chunk->encoded->allocated_len;
}

static void
add_shared(struct entry_block_cache *cache, struct shared_block *shared)
{
	size_t bytes =
	    sizeof(*shared) + shared->key.bytes->allocated_len +
	    get_chunk_bytes(&shared->text.head) + get_chunk_bytes(&shared->text.tail) +
	    get_chunk_bytes(&shared->html.head) + get_chunk_bytes(&shared->html.tail);

	if (cache->bytes + bytes > BOUNDS_RENDER_CACHE_BYTES) {
		g_hash_table_remove_all(cache->entries);
		cache->bytes = 0;
	}
	cache->bytes += bytes;
	g_hash_table_insert(cache->entries, &shared->key, shared);
}

/* @return a new reference; NULL where the reasons cannot be rendered separately */
static struct shared_block *
get_shared(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	bool has_reasons = entry->reasons->len > 0;
	bool is_separable = cache->is_separable && has_reasons;
	struct shared_block *shared;
	pb_auto(view) view = NULL;

	set_key(&cache->lookup_key, entry, depth,
	    is_separable  ? REASONS_ANY
	    : has_reasons ? entry->reasons->len
	                  : 0);
	shared = g_hash_table_lookup(cache->entries, &cache->lookup_key);
	if (shared)
		return g_rc_box_acquire(shared);
	view = new_view(cache, entry, depth);
	shared = g_rc_box_new0(struct shared_block);
	copy_key(&shared->key, &cache->lookup_key, entry->paper);
	if (!init_part(&shared->text, cache->templates.text, view, is_separable,
	        BOUNDS_TEXT_COLUMNS) ||
	    !init_part(&shared->html, cache->templates.html, view, is_separable, 0)) {
		unref_shared(shared);
		return NULL;
	}
	add_shared(cache, shared);
	return g_rc_box_acquire(shared);
}

/* ---- blocks ---- */

/* @return false where the reasons do not end with a line */
static bool
init_reasons(struct chunk *chunk, const struct template *template,
    const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);

	template_append_section(template, view, "reasons", text);
	if (text->len && text->str[text->len - 1] != '\n')
		return false;
	init_chunk(chunk, text->str, columns);
	return true;
}

static bool
render_reasons(struct own_block *own, const struct entry_block_cache *cache,
    const struct digest_entry *entry, enum entry_block_depth depth)
{
	pb_auto(view) view = NULL;

	if (!own->shared->text.has_reasons && !own->shared->html.has_reasons)
		return true;
	view = view_new_map();
	view_put(view, "reasons", new_reasons(entry->reasons, depth));
	return init_reasons(&own->text_reasons, cache->templates.text, view,
	           BOUNDS_TEXT_COLUMNS) &&
	       init_reasons(&own->html_reasons, cache->templates.html, view, 0);
}

static void
list_chunks(struct entry_block_part *part, const struct shared_part *shared,
    const struct chunk *reasons)
{
	part->chunks[part->count++] = &shared->head;
	if (!shared->has_reasons)
		return;
	part->chunks[part->count++] = reasons;
	part->chunks[part->count++] = &shared->tail;
}

struct entry_block *
entry_block_new(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct own_block *own = g_new0(struct own_block, 1);

	own->shared = get_shared(cache, entry, depth);
	if (!own->shared || !render_reasons(own, cache, entry, depth)) {
		g_assert(cache->is_separable);
		cache->is_separable = false;
		entry_block_free(&own->block);
		return entry_block_new(cache, entry, depth);
	}
	list_chunks(&own->block.text, &own->shared->text, &own->text_reasons);
	list_chunks(&own->block.html, &own->shared->html, &own->html_reasons);
	return &own->block;
}

static void
init_heading(struct chunk *chunk, struct entry_block_part *part,
    const struct template *template, const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);

	template_append(template, view, text);
	init_chunk(chunk, text->str, columns);
	part->chunks[part->count++] = chunk;
}

struct entry_block *
entry_block_new_heading(
    const struct entry_block_cache *cache, const struct entry_block_heading *heading)
{
	struct own_block *own = g_new0(struct own_block, 1);
	pb_auto(view) view = view_new_map();
	g_autofree char *start = g_strdup_printf("%u", heading->start);

	put_line(view, "filter", heading->filter);
	view_put_text(view, "start", start);
	view_put(view, "is_first", view_new_bool(heading->is_first));
	init_heading(&own->text_reasons, &own->block.text,
	    cache->templates.heading_text, view, BOUNDS_TEXT_COLUMNS);
	init_heading(&own->html_reasons, &own->block.html,
	    cache->templates.heading_html, view, 0);
	return &own->block;
}

void
entry_block_free(struct entry_block *block)
{
	struct own_block *own = (struct own_block *)block;

	if (!own)
		return;
	g_clear_pointer(&own->shared, unref_shared);
	chunk_clear(&own->text_reasons);
	chunk_clear(&own->html_reasons);
	g_free(own);
}

void
entry_block_add_to(struct chunk_stats *stats, const struct entry_block_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		chunk_stats_add(stats, part->chunks[i]);
}

void
entry_block_subtract_from(
    struct chunk_stats *stats, const struct entry_block_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		chunk_stats_subtract(stats, part->chunks[i]);
}
