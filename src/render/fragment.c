/*
 * fragment.c - a paper's part of a digest, rendered and encoded once.
 */
#include "render/fragment.h"

#include <string.h>

#include "base/bounds.h"
#include "mail/inert.h"
#include "render/view.h"
#include "render/words.h"
#include "render/wrap.h"

const char *const fragment_names[] = {"abstract", "authors", "code_url", "day",
    "filter", "full", "has_links", "project_url", "reasons", "title", "url", "votes",
    "words", NULL};

/*
 * All that a fragment is made of, as one run of octets; a paper that is shared stands
 * in it by its address.  Only the first part is hashed: it tells papers and reasons
 * apart, the rest seldom differs.
 */
struct key {
	GString *octets;
	size_t hashed;
	struct paper *shared; /* keeps the address from becoming another's, or NULL */
};

/* What a key begins with. */
struct key_head {
	const struct paper *shared;
	int64_t upvotes;
	unsigned is_full;
	unsigned reasons;
};

struct slot {
	struct fragment fragment; /* first: fragments are handed out as this */
	struct key key;
};

struct fragment_cache {
	const struct template *text;
	const struct template *html;
	GHashTable *slots; /* a set: struct key * of a slot → struct slot * */
	size_t bytes;
	struct key probe;
};

static guint
hash_key(gconstpointer data)
{
	const struct key *key = data;
	const uint64_t odd = 0x9E3779B97F4A7C15;
	uint64_t hash = key->hashed, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= key->hashed; i += sizeof(eight)) {
		memcpy(&eight, key->octets->str + i, sizeof(eight));
		hash = (hash ^ eight) * odd;
		hash ^= hash >> 29;
	}
	for (; i < key->hashed; i++)
		hash = (hash ^ (unsigned char)key->octets->str[i]) * odd;
	return (guint)(hash >> 32);
}

static gboolean
is_equal_key(gconstpointer a, gconstpointer b)
{
	const GString *left = ((const struct key *)a)->octets;
	const GString *right = ((const struct key *)b)->octets;

	return left->len == right->len && memcmp(left->str, right->str, left->len) == 0;
}

static void
add_field(GString *octets, const char *text)
{
	g_string_append_len(
	    octets, text ? text : "", text ? (gssize)strlen(text) + 1 : 1);
}

static void
add_texts(GString *octets, const struct paper *paper)
{
	unsigned authors = paper->authors->len;

	g_string_append_len(octets, (const char *)&authors, sizeof(authors));
	add_field(octets, paper->title);
	add_field(octets, paper->url);
	add_field(octets, paper->code_url);
	add_field(octets, paper->project_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		add_field(octets, paper->authors->pdata[i]);
	add_field(octets, paper->abstract);
}

static void
set_key(struct key *key, const struct digest_entry *entry, bool is_full)
{
	const struct paper *paper = entry->paper;
	GString *octets = key->octets;
	const struct key_head head = {
	    .shared = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .is_full = is_full,
	    .reasons = is_full ? entry->reasons->len : 0,
	};

	g_string_truncate(octets, 0);
	g_string_append_len(octets, (const char *)&head, sizeof(head));
	add_field(octets, entry->day);
	/* A title alone is the same whatever found it. */
	for (unsigned i = 0; i < head.reasons; i++) {
		const struct digest_reason *reason = entry->reasons->pdata[i];

		add_field(octets, reason->filter);
		add_field(octets, reason->words);
	}
	if (!head.shared)
		add_field(octets, paper->id);
	key->hashed = octets->len;
	if (!head.shared)
		add_texts(octets, paper);
}

static void
free_slot(void *data)
{
	struct slot *slot = data;

	piece_clear(&slot->fragment.text);
	piece_clear(&slot->fragment.html);
	g_string_free(slot->key.octets, TRUE);
	paper_free(slot->key.shared);
}

void
fragment_unref(struct fragment *fragment)
{
	if (fragment)
		g_rc_box_release_full((struct slot *)fragment, free_slot);
}

struct fragment_cache *
fragment_cache_new(const struct template *text, const struct template *html)
{
	struct fragment_cache *cache = g_new0(struct fragment_cache, 1);

	cache->text = text;
	cache->html = html;
	cache->slots = g_hash_table_new_full(
	    hash_key, is_equal_key, NULL, (GDestroyNotify)fragment_unref);
	cache->probe.octets = g_string_new(NULL);
	return cache;
}

void
fragment_cache_free(struct fragment_cache *cache)
{
	if (!cache)
		return;
	g_hash_table_unref(cache->slots);
	g_string_free(cache->probe.octets, TRUE);
	g_free(cache);
}

static void
put_line(struct view *map, const char *name, const char *text)
{
	g_autofree char *line = inert_format_line(text, 0);

	view_put_text(map, name, line);
}

static void
put_url(struct view *map, const char *name, const char *url)
{
	if (inert_is_web_url(url))
		view_put_text(map, name, url);
}

static struct view *
new_reasons(const GPtrArray *reasons)
{
	struct view *list = view_new_list();

	for (unsigned i = 0; i < reasons->len; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		struct view *item = view_new_map();

		put_line(item, "filter", reason->filter);
		put_line(item, "words", reason->words);
		view_append(list, item);
	}
	return list;
}

/* Only what the digest froze: the paper's own counters may have moved since. */
static struct view *
new_view(const struct digest_entry *entry, bool is_full)
{
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = inert_format_line(paper->title, 0);
	g_autofree char *day = words_format_day(entry->day, WORDS_SHORT);
	g_autofree char *authors = NULL;
	g_autofree char *votes = NULL;

	view_put_text(view, "title", title[0] != '\0' ? title : "(untitled)");
	put_url(view, "url", paper->url);
	view_put_text(view, "day", day);
	if (entry->upvotes > 0) {
		votes = words_format_count(entry->upvotes, "vote");
		view_put_text(view, "votes", votes);
	}
	if (!is_full)
		return view;
	view_put(view, "full", view_new_bool(true));
	authors = words_format_names(paper->authors, BOUNDS_DIGEST_AUTHORS);
	view_put_text(view, "authors", authors);
	put_url(view, "code_url", paper->code_url);
	put_url(view, "project_url", paper->project_url);
	view_put(view, "has_links",
	    view_new_bool(
	        view_find(view, "code_url") || view_find(view, "project_url")));
	view_put(view, "reasons", new_reasons(entry->reasons));
	put_line(view, "abstract", paper->abstract);
	return view;
}

static struct slot *
render_slot(
    const struct fragment_cache *cache, const struct digest_entry *entry, bool is_full)
{
	struct slot *slot = g_rc_box_new0(struct slot);
	pb_auto(view) view = new_view(entry, is_full);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *wrapped = NULL;
	GString *html = g_string_new(NULL);

	template_append(cache->text, view, text);
	wrapped = wrap_format_text(text->str, BOUNDS_TEXT_COLUMNS);
	piece_init(&slot->fragment.text, g_string_new(wrapped));
	template_append(cache->html, view, html);
	piece_init(&slot->fragment.html, html);
	slot->key.octets = g_string_new_len(
	    cache->probe.octets->str, (gssize)cache->probe.octets->len);
	slot->key.hashed = cache->probe.hashed;
	if (entry->paper->shares > 0)
		slot->key.shared = paper_share(entry->paper);
	return slot;
}

static size_t
get_slot_bytes(const struct slot *slot)
{
	const struct fragment *fragment = &slot->fragment;

	return sizeof(*slot) + slot->key.octets->allocated_len +
	       fragment->text.plain->allocated_len +
	       fragment->text.encoded->allocated_len +
	       fragment->html.plain->allocated_len +
	       fragment->html.encoded->allocated_len;
}

struct fragment *
fragment_cache_get(
    struct fragment_cache *cache, const struct digest_entry *entry, bool is_full)
{
	struct slot *slot;
	size_t bytes;

	set_key(&cache->probe, entry, is_full);
	slot = g_hash_table_lookup(cache->slots, &cache->probe);
	if (slot)
		return &((struct slot *)g_rc_box_acquire(slot))->fragment;
	slot = render_slot(cache, entry, is_full);
	bytes = get_slot_bytes(slot);
	if (cache->bytes + bytes > BOUNDS_RENDER_CACHE_BYTES) {
		g_hash_table_remove_all(cache->slots);
		cache->bytes = 0;
	}
	g_hash_table_insert(cache->slots, &slot->key, g_rc_box_acquire(slot));
	cache->bytes += bytes;
	return &slot->fragment;
}
