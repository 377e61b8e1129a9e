/*
 * fragment.c - a paper's part of a digest, rendered and encoded once.
 */
#include "render/fragment.h"

#include <string.h>

#include "base/bounds.h"
#include "mail/inert.h"
#include "render/excerpt.h"
#include "render/view.h"
#include "render/wrap.h"

const char *const fragment_names[] = {"abstract", "authors", "code_url", "day",
    "filter", "full", "has_links", "project_url", "reasons", "title", "url", "votes",
    "words", NULL};

/* In a reason. */
static const char *const reason_names[] = {"filter", "words", ".", NULL};

/* A control character, which neither a template nor an inert text can have. */
#define PLACE_REASONS "\x04"

/* In the key of a trunk, for the number of reasons. */
#define ANY_REASONS G_MAXUINT

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
	unsigned depth;
	unsigned reasons;
};

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
	struct key key;
};

struct slot {
	struct fragment fragment; /* first: fragments are handed out as this */
	struct key key;
	struct trunk *trunk; /* then the pieces are the reasons; or NULL */
	struct piece text;
	struct piece html;
};

struct fragment_cache {
	const struct template *text;
	const struct template *html;
	const struct words *words;
	bool is_parted;     /* the templates let reasons be made apart */
	GHashTable *slots;  /* a set: struct key * of a slot → struct slot * */
	GHashTable *trunks; /* likewise: struct key * of a trunk → struct trunk * */
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

/* @param reasons  how many of the entry's count, or ANY_REASONS */
static void
set_key(struct key *key, const struct digest_entry *entry, enum fragment_depth depth,
    unsigned reasons)
{
	const struct paper *paper = entry->paper;
	GString *octets = key->octets;
	const struct key_head head = {
	    .shared = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .depth = depth,
	    .reasons = reasons,
	};

	g_string_truncate(octets, 0);
	g_string_append_len(octets, (const char *)&head, sizeof(head));
	add_field(octets, entry->day);
	for (unsigned i = 0; reasons != ANY_REASONS && i < reasons; i++) {
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
key_clear(struct key *key)
{
	g_string_free(key->octets, TRUE);
	paper_free(key->shared);
}

/* The probe, kept. */
static void
key_init(struct key *key, const struct key *probe, struct paper *paper)
{
	key->octets = g_string_new_len(probe->octets->str, (gssize)probe->octets->len);
	key->hashed = probe->hashed;
	key->shared = paper->shares > 0 ? paper_share(paper) : NULL;
}

static void
free_trunk(void *data)
{
	struct trunk *trunk = data;

	piece_clear(&trunk->text.head);
	piece_clear(&trunk->text.tail);
	piece_clear(&trunk->html.head);
	piece_clear(&trunk->html.tail);
	key_clear(&trunk->key);
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
	key_clear(&slot->key);
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
	cache->slots = g_hash_table_new_full(
	    hash_key, is_equal_key, NULL, (GDestroyNotify)fragment_unref);
	cache->trunks =
	    g_hash_table_new_full(hash_key, is_equal_key, NULL, unref_trunk);
	cache->is_parted = template_is_apart(text, "reasons", reason_names) &&
	                   template_is_apart(html, "reasons", reason_names);
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

static void
put_abstract(struct view *view, const char *abstract, enum fragment_depth depth)
{
	g_autofree char *excerpt = NULL;

	switch (depth) {
	case FRAGMENT_TITLE:
	case FRAGMENT_BARE:
		break;
	case FRAGMENT_SHORT:
		excerpt = excerpt_format(abstract);
		view_put_text(view, "abstract", excerpt);
		break;
	case FRAGMENT_WHOLE:
		put_line(view, "abstract", abstract);
		break;
	}
}

/* Only what the digest froze: the paper's own counters may have moved since. */
static struct view *
new_view(const struct words *words, const struct digest_entry *entry,
    enum fragment_depth depth)
{
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = inert_format_line(paper->title, 0);
	g_autofree char *day = words_format_day(words, entry->day, WORDS_SHORT);
	g_autofree char *authors = NULL;
	g_autofree char *votes = NULL;

	if (!*title) {
		g_free(title);
		title = words_say(words, "untitled");
	}
	view_put_text(view, "title", title);
	put_url(view, "url", paper->url);
	view_put_text(view, "day", day);
	if (entry->upvotes > 0) {
		votes = words_format_count(words, entry->upvotes, "votes");
		view_put_text(view, "votes", votes);
	}
	if (depth == FRAGMENT_TITLE)
		return view;
	view_put(view, "full", view_new_bool(true));
	authors = words_format_names(words, paper->authors, BOUNDS_DIGEST_AUTHORS);
	view_put_text(view, "authors", authors);
	put_url(view, "code_url", paper->code_url);
	put_url(view, "project_url", paper->project_url);
	view_put(view, "has_links",
	    view_new_bool(
	        view_find(view, "code_url") || view_find(view, "project_url")));
	view_put(view, "reasons", new_reasons(entry->reasons));
	put_abstract(view, paper->abstract, depth);
	return view;
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

	set_key(&cache->probe, entry, depth, ANY_REASONS);
	trunk = g_hash_table_lookup(cache->trunks, &cache->probe);
	if (trunk)
		return trunk;
	view = new_view(cache->words, entry, depth);
	trunk = g_rc_box_new0(struct trunk);
	key_init(&trunk->key, &cache->probe, entry->paper);
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
	view_put(view, "reasons", new_reasons(entry->reasons));
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

	key_init(&slot->key, &cache->probe, entry->paper);
	if (depth == FRAGMENT_TITLE || !entry->reasons->len || !cache->is_parted ||
	    !render_reasons(cache, slot, entry, depth)) {
		pb_auto(view) view = new_view(cache->words, entry, depth);

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
	set_key(&cache->probe, entry, depth,
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
