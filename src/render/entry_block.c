/*
 * entry_block.c - one paper of a digest, rendered and encoded.
 */
#include "render/entry_block.h"

#include <stdint.h>
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/compiled_template.h"
#include "render/excerpt.h"
#include "render/mark.h"
#include "render/sentence.h"
#include "render/view.h"
#include "render/wrap.h"

/* Marks the reasons: a control character, which templates and sanitized text lack. */
#define MARKER "\x04"

/* Part of BOUNDS_RENDER_CACHE_BYTES for reasons. */
#define REASON_BYTES_MAX (BOUNDS_RENDER_CACHE_BYTES / 8)

/* Between the details about a paper. */
#define DETAIL_SEPARATOR " \xc2\xb7 "

const char *const entry_block_names[] = {"abstract", "details", "filter", "full",
    "is_generated", "is_later", "label", "links", "number", "reasons", "sentence",
    "title", "url", "words", NULL};

const char *const entry_block_heading_names[] = {"filter", "is_first", "start", NULL};

const char *const entry_block_reason_names[] = {"filter", "is_later", "words", NULL};

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
	int64_t upvotes, upvotes_before, stars;
	enum entry_block_depth depth;
};

/* One part of a paper without its reasons: whole lines before and after them. */
struct shared_part {
	struct chunk head;
	struct chunk tail;
};

/* Reference-counted: blocks in use outlive the cache's contents. */
struct shared_block {
	struct shared_part text;
	struct shared_part html;
	struct mark_index head_index; /* of the HTML */
	struct mark_index tail_index;
	struct key key;
};

/* The reasons of an entry; reference-counted likewise. */
struct reasons {
	struct chunk text;
	struct chunk html;
	struct key key;
};

struct own_block {
	struct entry_block block; /* must be first: its address is the result */
	struct shared_block *shared;
	struct reasons *reasons;   /* or NULL */
	struct chunk heading_text; /* without a shared block */
	struct chunk heading_html;
	struct chunk html_head; /* with marks; else that of the shared block is used */
	struct chunk html_tail;
};

/* The section of the reasons for one, by is_later and whether it has words. */
struct compiled_reasons {
	struct compiled_template *by[2][2];
};

struct entry_block_cache {
	struct entry_block_templates templates;
	struct compiled_reasons text, html;
	const struct locale_format *format;
	struct sentence_scorer *scorer;
	GHashTable
	    *entries; /* a set: struct key * -> the struct shared_block * of it */
	GHashTable *reasons; /* likewise, of struct reasons * */
	size_t entry_bytes, reason_bytes;
	struct key lookup_key;
	struct mark_list *marks; /* scratch space */
	GPtrArray *hits;         /* likewise */
};

/* ---- the view of a paper ---- */

static void
put_line(struct view *map, const char *name, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);

	view_put_text(map, name, line);
}

/* Put a text whose words may be marked. @param text  or NULL */
static void
put_markable(struct view *map, const char *name, const char *mark, const char *text)
{
	g_autofree char *marked = g_strconcat(mark, text ? text : "", MARK_END, NULL);

	if (text && *text)
		view_put_text(map, name, marked);
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
	put_markable(view, "sentence", MARK_BODY, summary.sentence);
	view_put(view, "is_generated", view_new_bool(summary.is_generated));
	put_markable(view, "abstract", MARK_BODY, summary.abstract);
}

static void
add_detail(GString *details, const char *detail)
{
	if (detail && *detail)
		g_string_append_printf(
		    details, "%s%s", details->len ? DETAIL_SEPARATOR : "", detail);
}

/* "23 votes (+5 since yesterday)"; NULL without votes */
static char *
format_votes(const struct locale_format *format, const struct digest_entry *entry)
{
	int64_t change = entry->upvotes - entry->upvotes_before;
	g_autofree char *votes = NULL;
	g_autofree char *sign = NULL;

	if (entry->upvotes <= 0)
		return NULL;
	votes = locale_format_count(format, entry->upvotes, "votes");
	if (entry->upvotes_before == PAPER_UNKNOWN || change == 0)
		return g_steal_pointer(&votes);
	sign = g_strdup_printf(
	    "%s%" G_GINT64_FORMAT, change > 0 ? "+" : "\xe2\x88\x92", ABS(change));
	return catalog_format(format->catalog, format->language, "digest.votes_change",
	    "votes", votes, "change", sign, NULL);
}

/*
 * Numbers and venue are those stored with the digest: the paper's own may have changed
 * since.  A title has only the votes.
 */
static void
put_details(struct view *view, const struct locale_format *format,
    const struct digest_entry *entry, enum entry_block_depth depth)
{
	bool is_title = depth == ENTRY_BLOCK_TITLE;
	g_autofree char *authors =
	    is_title ? NULL
	             : locale_format_names(
	                   format, entry->paper->authors, BOUNDS_DIGEST_AUTHORS);
	g_autofree char *venue =
	    is_title ? NULL : sanitize_paper_text(entry->venue, BOUNDS_VENUE_CHARS);
	g_autofree char *votes = format_votes(format, entry);
	g_autoptr(GString) details = g_string_new(NULL);

	add_detail(details, authors);
	add_detail(details, venue);
	add_detail(details, votes);
	view_put_text(view, "details", details->str);
}

/* @param label  taken; a phrase */
static void
add_link(struct view *links, char *label, const char *url)
{
	struct view *link;

	if (!sanitize_is_web_url(url)) {
		g_free(label);
		return;
	}
	link = view_new_map();
	view_put_text(link, "label", label);
	view_put_text(link, "url", url);
	view_append(links, link);
	g_free(label);
}

/* "code (1,234 stars)" */
static char *
format_code_label(const struct locale_format *format, int64_t stars)
{
	char *label = locale_format_text(format, "code_at");
	g_autofree char *count = NULL;
	g_autofree char *before = NULL;

	if (stars <= 0)
		return label;
	before = label;
	count = locale_format_count(format, stars, "stars");
	return g_strdup_printf("%s (%s)", before, count);
}

static void
put_links(struct view *view, const struct locale_format *format,
    const struct digest_entry *entry)
{
	const struct paper *paper = entry->paper;
	struct view *links = view_new_list();
	g_autofree char *pdf_url = paper_id_format_arxiv_url(paper->id, "pdf");

	add_link(links, locale_format_text(format, "pdf_at"), pdf_url);
	add_link(links, format_code_label(format, entry->stars), paper->code_url);
	add_link(links, locale_format_text(format, "project_at"), paper->project_url);
	add_link(links, locale_format_text(format, "video_at"), paper->video_url);
	view_put(view, "links", links);
}

static struct view *
new_view(const struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = sanitize_paper_text(paper->title, 0);

	if (!*title) {
		g_free(title);
		title = locale_format_text(cache->format, "untitled");
	}
	view_put_text(view, "number", ENTRY_BLOCK_NUMBER);
	put_markable(view, "title", MARK_TITLE, title);
	if (sanitize_is_web_url(paper->url))
		view_put_text(view, "url", paper->url);
	put_details(view, cache->format, entry, depth);
	/* Only so that the section is not empty: reasons are rendered separately. */
	view_put(view, "reasons", view_new_bool(entry->reasons->len > 0));
	if (depth == ENTRY_BLOCK_TITLE)
		return view;
	view_put(view, "full", view_new_bool(true));
	put_links(view, cache->format, entry);
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
	add_field(bytes, paper->video_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		add_field(bytes, paper->authors->pdata[i]);
	add_field(bytes, paper->abstract);
	add_field(bytes, paper->summary);
}

static void
set_key(struct key *key, const struct digest_entry *entry, enum entry_block_depth depth)
{
	const struct paper *paper = entry->paper;
	GString *bytes = key->bytes;
	const struct key_head head = {
	    .paper = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .upvotes_before = entry->upvotes_before,
	    .stars = entry->stars,
	    .depth = depth,
	};

	g_string_truncate(bytes, 0);
	g_string_append_len(bytes, (const char *)&head, sizeof(head));
	g_string_append_c(bytes, entry->reasons->len > 0 ? '1' : '0');
	add_field(bytes, entry->venue);
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
	copy->paper = paper && paper->shares > 0 ? paper_share(paper) : NULL;
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
	mark_index_clear(&shared->head_index);
	mark_index_clear(&shared->tail_index);
	g_string_free(shared->key.bytes, TRUE);
	paper_free(shared->key.paper);
}

static void
unref_shared(void *shared)
{
	g_rc_box_release_full(shared, clear_shared);
}

static void
clear_reasons(void *data)
{
	struct reasons *reasons = data;

	chunk_clear(&reasons->text);
	chunk_clear(&reasons->html);
	g_string_free(reasons->key.bytes, TRUE);
}

static void
unref_reasons(void *reasons)
{
	g_rc_box_release_full(reasons, clear_reasons);
}

enum reason_value {
	REASON_FILTER,
	REASON_WORDS,
};

static struct compiled_template *
compile_reason(
    const struct template *template, bool is_later, bool has_words, unsigned columns)
{
	pb_auto(view) view = view_new_map();
	struct view *list = view_new_list(), *item = view_new_map();
	g_autoptr(GString) text = g_string_new(NULL);

	compiled_template_put_placeholder(item, "filter", REASON_FILTER);
	if (has_words)
		compiled_template_put_placeholder(item, "words", REASON_WORDS);
	view_put(item, "is_later", view_new_bool(is_later));
	view_append(list, item);
	view_put(view, "reasons", list);
	template_append_section(template, view, "reasons", text);
	return compiled_template_new(text->str, columns);
}

static void
compile_reasons(struct compiled_reasons *compiled, const struct template *template,
    unsigned columns)
{
	for (int i = 0; i < 4; i++)
		compiled->by[i >> 1][i & 1] =
		    compile_reason(template, i >> 1, i & 1, columns);
}

static void
clear_compiled(struct compiled_reasons *compiled)
{
	for (int i = 0; i < 4; i++)
		compiled_template_free(compiled->by[i >> 1][i & 1]);
}

struct entry_block_cache *
entry_block_cache_new(
    const struct entry_block_templates *templates, const struct locale_format *format)
{
	struct entry_block_cache *cache = g_new0(struct entry_block_cache, 1);

	cache->templates = *templates;
	cache->format = format;
	cache->scorer = sentence_scorer_new();
	compile_reasons(&cache->text, templates->text, BOUNDS_TEXT_COLUMNS);
	compile_reasons(&cache->html, templates->html, 0);
	cache->entries =
	    g_hash_table_new_full(hash_key, is_key_equal, NULL, unref_shared);
	cache->reasons =
	    g_hash_table_new_full(hash_key, is_key_equal, NULL, unref_reasons);
	cache->lookup_key.bytes = g_string_new(NULL);
	cache->marks = mark_list_new();
	cache->hits = g_ptr_array_new();
	return cache;
}

void
entry_block_cache_free(struct entry_block_cache *cache)
{
	if (!cache)
		return;
	clear_compiled(&cache->text);
	clear_compiled(&cache->html);
	g_hash_table_unref(cache->entries);
	g_hash_table_unref(cache->reasons);
	g_string_free(cache->lookup_key.bytes, TRUE);
	mark_list_free(cache->marks);
	g_ptr_array_unref(cache->hits);
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

/* Render a paper. @return the text up to its reasons; *tail is what follows them */
static GString *
render_around(const struct template *template, const struct view *view, GString **tail)
{
	GString *text = g_string_new(NULL);
	char *marker;

	template_append_with_marker(template, view, "reasons", MARKER, text);
	marker = strstr(text->str, MARKER);
	*tail = g_string_new(marker ? marker + strlen(MARKER) : NULL);
	if (marker)
		g_string_truncate(text, (size_t)(marker - text->str));
	return text;
}

static void
init_text(
    struct shared_part *part, const struct template *template, const struct view *view)
{
	g_autoptr(GString) tail = NULL;
	g_autoptr(GString) head = render_around(template, view, &tail);

	mark_strip(head);
	mark_strip(tail);
	init_chunk(&part->head, head->str, BOUNDS_TEXT_COLUMNS);
	init_chunk(&part->tail, tail->str, BOUNDS_TEXT_COLUMNS);
}

static void
init_html(struct shared_block *shared, const struct template *template,
    const struct view *view)
{
	GString *tail, *head = render_around(template, view, &tail);

	wrap_html(head, BOUNDS_HTML_COLUMNS);
	wrap_html(tail, BOUNDS_HTML_COLUMNS);
	mark_index_init(&shared->head_index, &shared->html.head, head);
	mark_index_init(&shared->tail_index, &shared->html.tail, tail);
}

static size_t
get_chunk_bytes(const struct chunk *chunk)
{
	return chunk->plain->allocated_len + chunk->encoded->allocated_len;
}

/* Count the bytes of a new value; a full table is emptied first. */
static void
make_room(GHashTable *table, size_t *total, size_t bytes, size_t limit)
{
	if (*total + bytes > limit) {
		g_hash_table_remove_all(table);
		*total = 0;
	}
	*total += bytes;
}

static void
add_shared(struct entry_block_cache *cache, struct shared_block *shared)
{
	size_t bytes =
	    sizeof(*shared) + shared->key.bytes->allocated_len +
	    mark_index_get_bytes(&shared->head_index) +
	    mark_index_get_bytes(&shared->tail_index) +
	    get_chunk_bytes(&shared->text.head) + get_chunk_bytes(&shared->text.tail) +
	    get_chunk_bytes(&shared->html.head) + get_chunk_bytes(&shared->html.tail);

	make_room(cache->entries, &cache->entry_bytes, bytes,
	    BOUNDS_RENDER_CACHE_BYTES - REASON_BYTES_MAX);
	g_hash_table_insert(cache->entries, &shared->key, shared);
}

/* @return a new reference */
static struct shared_block *
get_shared(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct shared_block *shared;
	pb_auto(view) view = NULL;

	set_key(&cache->lookup_key, entry, depth);
	shared = g_hash_table_lookup(cache->entries, &cache->lookup_key);
	if (shared)
		return g_rc_box_acquire(shared);
	view = new_view(cache, entry, depth);
	shared = g_rc_box_new0(struct shared_block);
	copy_key(&shared->key, &cache->lookup_key, entry->paper);
	init_text(&shared->text, cache->templates.text, view);
	init_html(shared, cache->templates.html, view);
	add_shared(cache, shared);
	return g_rc_box_acquire(shared);
}

/* ---- blocks ---- */

/* Mark the hits of all reasons. */
static void
mark_hits(
    struct own_block *own, struct mark_list *marks, const struct digest_entry *entry)
{
	const struct shared_block *shared = own->shared;

	mark_list_clear(marks);
	for (unsigned i = 0; i < entry->reasons->len; i++)
		mark_list_add(
		    marks, ((struct digest_reason *)entry->reasons->pdata[i])->hits);
	mark_list_apply(
	    marks, &shared->head_index, &shared->html.head, &own->html_head);
	mark_list_apply(
	    marks, &shared->tail_index, &shared->html.tail, &own->html_tail);
}

/*
 * Format the hits of a reason that are neither marked nor, as votes, among the details.
 *
 * @param marks  NULL: all hits
 * @param at     number of hits in earlier reasons
 * @return NULL for none
 */
static char *
format_words(struct entry_block_cache *cache, const struct digest_reason *reason,
    const struct mark_list *marks, unsigned at)
{
	const struct locale_format *format = cache->format;
	GPtrArray *hits = cache->hits;
	g_autofree char *words = NULL;

	g_ptr_array_set_size(hits, 0);
	for (unsigned i = 0; i < reason->hits->len; i++) {
		struct hit *hit = reason->hits->pdata[i];

		if (!hit->is_repeated &&
		    (!marks || (hit->field != HIT_FIELD_UPVOTES &&
		                   !mark_list_is_shown(marks, at + i))))
			g_ptr_array_add(hits, hit);
	}
	if (hits->len == 0)
		return NULL;
	words = hits_format(hits, catalog_get_texts(format->catalog, format->language));
	return sanitize_paper_text(words, 0);
}

/* @param words  or NULL */
static void
append_reason(const struct compiled_reasons *compiled, const char *filter,
    const char *words, bool is_later, GString *text)
{
	const char *const values[] = {[REASON_FILTER] = filter, [REASON_WORDS] = words};

	compiled_template_append_plain(
	    compiled->by[is_later][words != NULL], values, text);
}

/* Nothing is marked in the text part. */
static void
init_reasons(struct reasons *reasons, struct entry_block_cache *cache,
    const GPtrArray *list, enum entry_block_depth depth)
{
	/* A title has only the filter that it counts for. */
	bool is_title = depth == ENTRY_BLOCK_TITLE;
	GString *text = g_string_new(NULL), *html = g_string_new(NULL);
	unsigned at = 0;

	for (unsigned i = 0; i < (is_title ? 1 : list->len); i++) {
		const struct digest_reason *reason = list->pdata[i];
		g_autofree char *filter = sanitize_line(reason->filter, 0);
		g_autofree char *all = NULL;
		g_autofree char *unmarked = NULL;

		if (!is_title) {
			all = format_words(cache, reason, NULL, at);
			unmarked = format_words(cache, reason, cache->marks, at);
		}
		append_reason(&cache->text, filter, all, i > 0, text);
		append_reason(&cache->html, filter, unmarked, i > 0, html);
		at += reason->hits->len;
	}
	chunk_init(&reasons->text, text);
	chunk_init(&reasons->html, html);
}

/* All that reasons depend on: their filters and hits, and which are marked. */
static void
set_reasons_key(struct key *key, const GPtrArray *reasons,
    const struct mark_list *marks, enum entry_block_depth depth)
{
	bool is_title = depth == ENTRY_BLOCK_TITLE;
	GString *bytes = key->bytes;
	unsigned at = 0;

	g_string_truncate(bytes, 0);
	for (unsigned i = 0; i < (is_title ? 1 : reasons->len); i++) {
		const struct digest_reason *reason = reasons->pdata[i];

		add_field(bytes, reason->filter);
		for (unsigned j = 0; j < (is_title ? 0 : reason->hits->len);
		     j++, at++) {
			const struct hit *hit = reason->hits->pdata[j];

			if (hit->is_repeated)
				continue;
			g_string_append_c(bytes,
			    (char)(1 + hit->field * 2 + mark_list_is_shown(marks, at)));
			add_field(bytes, hit->words);
		}
		g_string_append_c(bytes, '\0');
	}
	g_string_append_c(bytes, is_title ? 't' : 'f');
	key->hashed = bytes->len;
}

/* @return a new reference */
static struct reasons *
get_reasons(struct entry_block_cache *cache, const GPtrArray *list,
    enum entry_block_depth depth)
{
	struct reasons *reasons;

	set_reasons_key(&cache->lookup_key, list, cache->marks, depth);
	reasons = g_hash_table_lookup(cache->reasons, &cache->lookup_key);
	if (reasons)
		return g_rc_box_acquire(reasons);
	reasons = g_rc_box_new0(struct reasons);
	copy_key(&reasons->key, &cache->lookup_key, NULL);
	init_reasons(reasons, cache, list, depth);
	make_room(cache->reasons, &cache->reason_bytes,
	    sizeof(*reasons) + reasons->key.bytes->allocated_len +
	        get_chunk_bytes(&reasons->text) + get_chunk_bytes(&reasons->html),
	    REASON_BYTES_MAX);
	g_hash_table_insert(cache->reasons, &reasons->key, reasons);
	return g_rc_box_acquire(reasons);
}

static void
list_chunks(struct entry_block_part *part, const struct chunk *head,
    const struct chunk *reasons, const struct chunk *tail)
{
	part->chunks[part->count++] = head;
	if (reasons)
		part->chunks[part->count++] = reasons;
	part->chunks[part->count++] = tail;
}

struct entry_block *
entry_block_new(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct own_block *own = g_new0(struct own_block, 1);
	const struct shared_part *text, *html;

	own->shared = get_shared(cache, entry, depth);
	if (entry->reasons->len > 0) {
		mark_hits(own, cache->marks, entry);
		own->reasons = get_reasons(cache, entry->reasons, depth);
	}
	text = &own->shared->text;
	html = &own->shared->html;
	list_chunks(&own->block.text, &text->head,
	    own->reasons ? &own->reasons->text : NULL, &text->tail);
	list_chunks(&own->block.html,
	    own->html_head.plain ? &own->html_head : &html->head,
	    own->reasons ? &own->reasons->html : NULL,
	    own->html_tail.plain ? &own->html_tail : &html->tail);
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
	init_heading(&own->heading_text, &own->block.text,
	    cache->templates.heading_text, view, BOUNDS_TEXT_COLUMNS);
	init_heading(&own->heading_html, &own->block.html,
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
	g_clear_pointer(&own->reasons, unref_reasons);
	chunk_clear(&own->heading_text);
	chunk_clear(&own->heading_html);
	chunk_clear(&own->html_head);
	chunk_clear(&own->html_tail);
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
