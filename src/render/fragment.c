/*
 * fragment.c - a paper's part of a digest, rendered and encoded once.
 */
#include "render/fragment.h"

#include <string.h>

#include "base/bounds.h"
#include "render/fragment_key.h"
#include "render/fragment_view.h"
#include "render/view.h"
#include "render/wrap.h"

/* A control character, which neither a template nor an inert text can have. */
#define PLACE_REASONS "\x04"

/*
 * One part of a paper without its reasons, which are the only thing in it that differs
 * between readers: whole lines before them and behind them.
 */
struct trunk_part {
	struct piece head;
	struct piece tail;
	bool has_reasons; /* between them; else the template tells none */
};

struct trunk {
	struct trunk_part text;
	struct trunk_part html;
	struct fragment_key key;
};

struct slot {
	struct fragment fragment; /* first: fragments are handed out as this */
	struct fragment_key key;
	struct trunk *trunk; /* then the pieces are the reasons; or NULL */
	struct piece text;
	struct piece html;
};

struct fragment_cache {
	const struct template *text;
	const struct template *html;
	const struct words *words;
	bool is_parted;    /* the templates let reasons be made apart */
	GHashTable *slots; /* a set: struct fragment_key * of a slot → struct slot * */
	GHashTable *trunks; /* likewise: those of trunks → struct trunk * */
	size_t bytes;
	struct fragment_key probe;
};

static void
free_trunk(void *data)
{
	struct trunk *trunk = data;

	piece_clear(&trunk->text.head);
	piece_clear(&trunk->text.tail);
	piece_clear(&trunk->html.head);
	piece_clear(&trunk->html.tail);
	fragment_key_clear(&trunk->key);
}

static void
unref_trunk(void *trunk)
{
	if (trunk)
		g_rc_box_release_full(trunk, free_trunk);
}

static void
free_slot(void *data)
{
	struct slot *slot = data;

	piece_clear(&slot->text);
	piece_clear(&slot->html);
	unref_trunk(slot->trunk);
	fragment_key_clear(&slot->key);
}

void
fragment_unref(struct fragment *fragment)
{
	if (fragment)
		g_rc_box_release_full((struct slot *)fragment, free_slot);
}

struct fragment_cache *
fragment_cache_new(
    const struct template *text, const struct template *html, const struct words *words)
{
	struct fragment_cache *cache = g_new0(struct fragment_cache, 1);

	cache->text = text;
	cache->html = html;
	cache->words = words;
	cache->slots = g_hash_table_new_full(fragment_key_hash, fragment_key_is_equal,
	    NULL, (GDestroyNotify)fragment_unref);
	cache->trunks = g_hash_table_new_full(
	    fragment_key_hash, fragment_key_is_equal, NULL, unref_trunk);
	cache->is_parted =
	    template_is_apart(text, "reasons", fragment_view_reason_names) &&
	    template_is_apart(html, "reasons", fragment_view_reason_names);
	cache->probe.octets = g_string_new(NULL);
	return cache;
}

void
fragment_cache_free(struct fragment_cache *cache)
{
	if (!cache)
		return;
	g_hash_table_unref(cache->slots);
	g_hash_table_unref(cache->trunks);
	g_string_free(cache->probe.octets, TRUE);
	g_free(cache);
}

/* @param columns  to wrap at, or 0 */
static void
init_piece(struct piece *piece, const char *text, unsigned columns)
{
	g_autofree char *wrapped = columns > 0 ? wrap_format_text(text, columns) : NULL;

	piece_init(piece, g_string_new(wrapped ? wrapped : text));
}

static void
render_whole(struct piece *piece, const struct template *template,
    const struct view *view, unsigned columns)
{
	g_autoptr(GString) text = g_string_new(NULL);

	template_append(template, view, text);
	init_piece(piece, text->str, columns);
}

/* ---- apart ---- */

/* @return false where reasons do not stand on lines of their own, once */
static bool
init_trunk_part(struct trunk_part *part, const struct template *template,
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
get_piece_bytes(const struct piece *piece)
{
	return piece->plain->allocated_len + piece->encoded->allocated_len;
}

static void
make_room(struct fragment_cache *cache, size_t bytes)
{
	if (cache->bytes + bytes > BOUNDS_RENDER_CACHE_BYTES) {
		g_hash_table_remove_all(cache->slots);
		g_hash_table_remove_all(cache->trunks);
		cache->bytes = 0;
	}
	cache->bytes += bytes;
}

/* @return NULL where the templates do not let reasons be made apart */
static struct trunk *
get_trunk(struct fragment_cache *cache, const struct digest_entry *entry,
    enum fragment_depth depth)
{
	struct trunk *trunk;
	pb_auto(view) view = NULL;

	fragment_key_set(&cache->probe, entry, depth, FRAGMENT_KEY_ANY);
	trunk = g_hash_table_lookup(cache->trunks, &cache->probe);
	if (trunk)
		return trunk;
	view = fragment_view_new(cache->words, entry, depth);
	trunk = g_rc_box_new0(struct trunk);
	fragment_key_init(&trunk->key, &cache->probe, entry->paper);
	if (!init_trunk_part(&trunk->text, cache->text, view, BOUNDS_TEXT_COLUMNS) ||
	    !init_trunk_part(&trunk->html, cache->html, view, 0)) {
		cache->is_parted = false;
		unref_trunk(trunk);
		return NULL;
	}
	make_room(cache, sizeof(*trunk) + trunk->key.octets->allocated_len +
	                     get_piece_bytes(&trunk->text.head) +
	                     get_piece_bytes(&trunk->text.tail) +
	                     get_piece_bytes(&trunk->html.head) +
	                     get_piece_bytes(&trunk->html.tail));
	g_hash_table_insert(cache->trunks, &trunk->key, trunk);
	return trunk;
}

/* @return false where the reasons do not end with a line */
static bool
init_reasons(struct piece *piece, const struct template *template,
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
render_reasons(struct fragment_cache *cache, struct slot *slot,
    const struct digest_entry *entry, enum fragment_depth depth)
{
	struct trunk *trunk = get_trunk(cache, entry, depth);
	pb_auto(view) view = NULL;

	if (!trunk)
		return false;
	view = view_new_map();
	view_put(view, "reasons", fragment_view_new_reasons(entry->reasons));
	if (!init_reasons(&slot->text, cache->text, view, BOUNDS_TEXT_COLUMNS))
		return false;
	if (!init_reasons(&slot->html, cache->html, view, 0)) {
		piece_clear(&slot->text);
		return false;
	}
	slot->trunk = g_rc_box_acquire(trunk);
	return true;
}

static void
add_piece(struct fragment_part *part, const struct piece *piece)
{
	part->pieces[part->count++] = piece;
}

/* @param own  the slot's piece */
static void
list_pieces(struct fragment_part *part, const struct trunk_part *around,
    const struct piece *own)
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
make_slot(struct fragment_cache *cache, const struct digest_entry *entry,
    enum fragment_depth depth)
{
	struct slot *slot = g_rc_box_new0(struct slot);

	fragment_key_init(&slot->key, &cache->probe, entry->paper);
	if (depth == FRAGMENT_TITLE || !entry->reasons->len || !cache->is_parted ||
	    !render_reasons(cache, slot, entry, depth)) {
		pb_auto(view) view = fragment_view_new(cache->words, entry, depth);

		render_whole(&slot->text, cache->text, view, BOUNDS_TEXT_COLUMNS);
		render_whole(&slot->html, cache->html, view, 0);
	}
	list_pieces(
	    &slot->fragment.text, slot->trunk ? &slot->trunk->text : NULL, &slot->text);
	list_pieces(
	    &slot->fragment.html, slot->trunk ? &slot->trunk->html : NULL, &slot->html);
	make_room(cache, sizeof(*slot) + slot->key.octets->allocated_len +
	                     get_piece_bytes(&slot->text) +
	                     get_piece_bytes(&slot->html));
	g_hash_table_insert(cache->slots, &slot->key, g_rc_box_acquire(slot));
	return slot;
}

struct fragment *
fragment_cache_get(struct fragment_cache *cache, const struct digest_entry *entry,
    enum fragment_depth depth)
{
	struct slot *slot;

	/* A title alone is the same whatever found it. */
	fragment_key_set(&cache->probe, entry, depth,
	    depth == FRAGMENT_TITLE ? 0 : entry->reasons->len);
	slot = g_hash_table_lookup(cache->slots, &cache->probe);
	if (slot)
		return &((struct slot *)g_rc_box_acquire(slot))->fragment;
	return &make_slot(cache, entry, depth)->fragment;
}

void
fragment_add_to(struct piece_sum *sum, const struct fragment_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		piece_sum_add(sum, part->pieces[i]);
}

void
fragment_subtract_from(struct piece_sum *sum, const struct fragment_part *part)
{
	for (unsigned i = 0; i < part->count; i++)
		piece_sum_subtract(sum, part->pieces[i]);
}
