/*
 * entry_block.c - a paper's part of a digest, rendered and encoded once.
 */
#include "render/entry_block.h"

#include <string.h>

#include "base/bounds.h"
#include "render/entry_block_key.h"
#include "render/entry_block_view.h"
#include "render/view.h"
#include "render/wrap.h"

/* A control character, which neither a template nor an inert text can have. */
#define PLACE_REASONS "\x04"

/*
 * One part of a paper without its reasons, which are the only thing in it that differs
 * between readers: whole lines before them and behind them.
 */
struct shared_prefix_part {
	struct chunk head;
	struct chunk tail;
	bool has_reasons; /* between them; else the template tells none */
};

struct shared_prefix {
	struct shared_prefix_part text;
	struct shared_prefix_part html;
	struct entry_block_key key;
};

struct slot {
	struct entry_block fragment; /* first: fragments are handed out as this */
	struct entry_block_key key;
	struct shared_prefix
	    *shared_prefix; /* then the pieces are the reasons; or NULL */
	struct chunk text;
	struct chunk html;
};

struct entry_block_cache {
	const struct template *text;
	const struct template *html;
	const struct words *words;
	bool is_parted; /* the templates let reasons be made apart */
	GHashTable
	    *slots; /* a set: struct entry_block_key * of a slot → struct slot * */
	GHashTable *trunks; /* likewise: those of trunks → struct trunk * */
	size_t bytes;
	struct entry_block_key probe;
};

static void
free_trunk(void *data)
{
	struct shared_prefix *shared_prefix = data;

	chunk_clear(&shared_prefix->text.head);
	chunk_clear(&shared_prefix->text.tail);
	chunk_clear(&shared_prefix->html.head);
	chunk_clear(&shared_prefix->html.tail);
	entry_block_key_clear(&shared_prefix->key);
}

static void
unref_trunk(void *shared_prefix)
{
	if (shared_prefix)
		g_rc_box_release_full(shared_prefix, free_trunk);
}

static void
free_slot(void *data)
{
	struct slot *slot = data;

	chunk_clear(&slot->text);
	chunk_clear(&slot->html);
	unref_trunk(slot->shared_prefix);
	entry_block_key_clear(&slot->key);
}

void
entry_block_unref(struct entry_block *fragment)
{
	if (fragment)
		g_rc_box_release_full((struct slot *)fragment, free_slot);
}

struct entry_block_cache *
entry_block_cache_new(
    const struct template *text, const struct template *html, const struct words *words)
{
	struct entry_block_cache *cache = g_new0(struct entry_block_cache, 1);

	cache->text = text;
	cache->html = html;
	cache->words = words;
	cache->slots = g_hash_table_new_full(entry_block_key_hash,
	    entry_block_key_is_equal, NULL, (GDestroyNotify)entry_block_unref);
	cache->trunks = g_hash_table_new_full(
	    entry_block_key_hash, entry_block_key_is_equal, NULL, unref_trunk);
	cache->is_parted =
	    template_is_apart(text, "reasons", entry_block_view_reason_names) &&
	    template_is_apart(html, "reasons", entry_block_view_reason_names);
	cache->probe.bytes = g_string_new(NULL);
	return cache;
}

void
entry_block_cache_free(struct entry_block_cache *cache)
{
	if (!cache)
		return;
	g_hash_table_unref(cache->slots);
	g_hash_table_unref(cache->trunks);
	g_string_free(cache->probe.bytes, TRUE);
	g_free(cache);
}

/* @param columns  to wrap at, or 0 */
static void
init_piece(struct chunk *piece, const char *text, unsigned columns)
{
	g_autofree char *wrapped = columns > 0 ? wrap_format_text(text, columns) : NULL;

	chunk_init(piece, g_string_new(wrapped ? wrapped : text));
}

static void
render_whole(struct chunk *piece, const struct template *template,
    const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);

	template_append(template, view, text);
	init_piece(piece, text->str, columns);
}

/* ---- apart ---- */

/* @return false where reasons do not stand on lines of their own, once */
static bool
init_trunk_part(struct shared_prefix_part *part, const struct template *template,
    const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char *place;

	template_append_around(template, view, "reasons", PLACE_REASONS, text);
	place = strstr(text->str, PLACE_REASONS);
	if (place && (strstr(place + 1, PLACE_REASONS) ||
	                 (place > text->str && place[-1] != '\n')))
		return false;
	part->has_reasons = place != NULL;
	if (place)
		*place = '\0';
	init_piece(&part->head, text->str, columns);
	init_piece(&part->tail, place ? place + 1 : "", columns);
	return true;
}

static size_t
get_piece_bytes(const struct chunk *piece)
{
	return piece->plain->allocated_len + piece->encoded->allocated_len;
}

static void
make_room(struct entry_block_cache *cache, size_t bytes)
{
	if (cache->bytes + bytes > BOUNDS_RENDER_CACHE_BYTES) {
		g_hash_table_remove_all(cache->slots);
		g_hash_table_remove_all(cache->trunks);
		cache->bytes = 0;
	}
	cache->bytes += bytes;
}

/* @return NULL where the templates do not let reasons be made apart */
static struct shared_prefix *
get_trunk(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct shared_prefix *shared_prefix;
	pb_auto(view) view = NULL;

	entry_block_key_set(&cache->probe, entry, depth, ENTRY_BLOCK_KEY_ANY);
	shared_prefix = g_hash_table_lookup(cache->trunks, &cache->probe);
	if (shared_prefix)
		return shared_prefix;
	view = entry_block_view_new(cache->words, entry, depth);
	shared_prefix = g_rc_box_new0(struct shared_prefix);
	entry_block_key_init(&shared_prefix->key, &cache->probe, entry->paper);
	if (!init_trunk_part(
	        &shared_prefix->text, cache->text, view, BOUNDS_TEXT_COLUMNS) ||
	    !init_trunk_part(&shared_prefix->html, cache->html, view, 0)) {
		cache->is_parted = false;
		unref_trunk(shared_prefix);
		return NULL;
	}
	make_room(cache, sizeof(*shared_prefix) +
	                     shared_prefix->key.bytes->allocated_len +
	                     get_piece_bytes(&shared_prefix->text.head) +
	                     get_piece_bytes(&shared_prefix->text.tail) +
	                     get_piece_bytes(&shared_prefix->html.head) +
	                     get_piece_bytes(&shared_prefix->html.tail));
	g_hash_table_insert(cache->trunks, &shared_prefix->key, shared_prefix);
	return shared_prefix;
}

/* @return false where the reasons do not end with a line */
static bool
init_reasons(struct chunk *piece, const struct template *template,
    const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);

	template_append_section(template, view, "reasons", text);
	if (text->len && text->str[text->len - 1] != '\n')
		return false;
	init_piece(piece, text->str, columns);
	return true;
}

/* @return whether it could be done */
static bool
render_reasons(struct entry_block_cache *cache, struct slot *slot,
    const struct digest_entry *entry, enum entry_block_depth depth)
{
	struct shared_prefix *shared_prefix = get_trunk(cache, entry, depth);
	pb_auto(view) view = NULL;

	if (!shared_prefix)
		return false;
	view = view_new_map();
	view_put(view, "reasons", entry_block_view_new_reasons(entry->reasons));
	if (!init_reasons(&slot->text, cache->text, view, BOUNDS_TEXT_COLUMNS))
		return false;
	if (!init_reasons(&slot->html, cache->html, view, 0)) {
		chunk_clear(&slot->text);
		return false;
	}
	slot->shared_prefix = g_rc_box_acquire(shared_prefix);
	return true;
}

static void
add_piece(struct entry_block_part *part, const struct chunk *piece)
{
	part->pieces[part->count++] = piece;
}

/* @param own  the slot's piece */
static void
list_pieces(struct entry_block_part *part, const struct shared_prefix_part *around,
    const struct chunk *own)
{
	if (around)
		add_piece(part, &around->head);
	if (!around || around->has_reasons)
		add_piece(part, own);
	if (around)
		add_piece(part, &around->tail);
}

/* ---- fragments ---- */

static struct slot *
make_slot(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct slot *slot = g_rc_box_new0(struct slot);

	entry_block_key_init(&slot->key, &cache->probe, entry->paper);
	if (depth == ENTRY_BLOCK_TITLE || !entry->reasons->len || !cache->is_parted ||
	    !render_reasons(cache, slot, entry, depth)) {
		pb_auto(view) view = entry_block_view_new(cache->words, entry, depth);

		render_whole(&slot->text, cache->text, view, BOUNDS_TEXT_COLUMNS);
		render_whole(&slot->html, cache->html, view, 0);
	}
	list_pieces(&slot->fragment.text,
	    slot->shared_prefix ? &slot->shared_prefix->text : NULL, &slot->text);
	list_pieces(&slot->fragment.html,
	    slot->shared_prefix ? &slot->shared_prefix->html : NULL, &slot->html);
	make_room(cache, sizeof(*slot) + slot->key.bytes->allocated_len +
	                     get_piece_bytes(&slot->text) +
	                     get_piece_bytes(&slot->html));
	g_hash_table_insert(cache->slots, &slot->key, g_rc_box_acquire(slot));
	return slot;
}

struct entry_block *
entry_block_cache_get(struct entry_block_cache *cache, const struct digest_entry *entry,
    enum entry_block_depth depth)
{
	struct slot *slot;

	/* A title alone is the same whatever found it. */
	entry_block_key_set(&cache->probe, entry, depth,
	    depth == ENTRY_BLOCK_TITLE ? 0 : entry->reasons->len);
	slot = g_hash_table_lookup(cache->slots, &cache->probe);
	if (slot)
		return &((struct slot *)g_rc_box_acquire(slot))->fragment;
	return &make_slot(cache, entry, depth)->fragment;
}

void
entry_block_add_to(struct chunk_stats *sum, const struct entry_block_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		chunk_stats_add(sum, part->pieces[i]);
}

void
entry_block_subtract_from(struct chunk_stats *sum, const struct entry_block_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		chunk_stats_subtract(sum, part->pieces[i]);
}
