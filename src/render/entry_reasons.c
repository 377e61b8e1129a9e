/*
 * entry_reasons.c - the reasons of a paper, rendered and encoded.
 */
#include "render/entry_reasons.h"

#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "render/compiled_template.h"
#include "render/entry_table.h"
#include "render/wrap.h"

const char *const entry_reasons_names[] = {"filter", "is_later", "words", NULL};

/* The section of the reasons for one, by is_later and whether it has words. */
struct compiled_reasons {
	struct compiled_template *by[2][2];
};

/* Reference-counted: reasons in use outlive the cache's contents. */
struct cached_reasons {
	struct entry_reasons reasons; /* must be first: its address is the result */
	struct entry_key key;
	char data[]; /* of the key, next to it; text, HTML */
};

struct entry_reasons_cache {
	struct compiled_reasons text, html;
	const struct locale_format *format;
	struct entry_table table; /* of struct cached_reasons * */
};

enum reason_value {
	REASON_FILTER,
	REASON_WORDS,
};

static struct compiled_template *
compile_reason(const struct template *template, bool is_later, bool has_words)
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
	return compiled_template_new(text->str, 0);
}

static void
compile_reasons(struct compiled_reasons *compiled, const struct template *template)
{
	for (int i = 0; i < 4; i++)
		compiled->by[i >> 1][i & 1] = compile_reason(template, i >> 1, i & 1);
}

static void
clear_compiled(struct compiled_reasons *compiled)
{
	for (int i = 0; i < 4; i++)
		compiled_template_free(compiled->by[i >> 1][i & 1]);
}

void
entry_reasons_scratch_init(struct entry_reasons_scratch *scratch)
{
	scratch->key_bytes = g_string_new(NULL);
	scratch->plain = g_string_new(NULL);
	scratch->wrapped = g_string_new(NULL);
	scratch->encoded = g_string_new(NULL);
	scratch->hits = g_ptr_array_new();
}

void
entry_reasons_scratch_clear(struct entry_reasons_scratch *scratch)
{
	g_string_free(scratch->key_bytes, TRUE);
	g_string_free(scratch->plain, TRUE);
	g_string_free(scratch->wrapped, TRUE);
	g_string_free(scratch->encoded, TRUE);
	g_ptr_array_unref(scratch->hits);
}

struct entry_reasons_cache *
entry_reasons_cache_new(const struct template *text, const struct template *html,
    const struct locale_format *format, size_t limit_bytes)
{
	struct entry_reasons_cache *cache = g_new0(struct entry_reasons_cache, 1);

	compile_reasons(&cache->text, text);
	compile_reasons(&cache->html, html);
	cache->format = format;
	entry_table_init(&cache->table, G_STRUCT_OFFSET(struct cached_reasons, key),
	    g_atomic_rc_box_release, limit_bytes);
	return cache;
}

void
entry_reasons_cache_free(struct entry_reasons_cache *cache)
{
	if (!cache)
		return;
	clear_compiled(&cache->text);
	clear_compiled(&cache->html);
	entry_table_clear(&cache->table);
	g_free(cache);
}

/*
 * Format the hits of a reason that are neither marked nor, as votes, among the details.
 *
 * @param marks  NULL: all hits
 * @param at     number of hits in earlier reasons
 * @return NULL for none
 */
static char *
format_words(GPtrArray *hits, const struct locale_format *format,
    const struct digest_reason *reason, const struct mark_list *marks, unsigned at)
{
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
	words = hits_format(hits, catalog_get_po(format->catalog, format->language));
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

/*
 * Append one part to scratch->encoded.  Nothing is marked in the text part.
 *
 * @param marks  NULL for the text part
 */
static void
append_part(const struct entry_reasons_cache *cache,
    struct entry_reasons_scratch *scratch, const GPtrArray *list, bool is_title,
    const struct mark_list *marks, struct chunk_stats *stats)
{
	const struct compiled_reasons *compiled = marks ? &cache->html : &cache->text;
	GString *plain = g_string_truncate(scratch->plain, 0);
	unsigned at = 0;

	for (unsigned i = 0; i < (is_title ? 1 : list->len); i++) {
		const struct digest_reason *reason = list->pdata[i];
		g_autofree char *filter = sanitize_line(reason->filter, 0);
		g_autofree char *words = NULL;

		if (!is_title)
			words = format_words(
			    scratch->hits, cache->format, reason, marks, at);
		append_reason(compiled, filter, words, i > 0, plain);
		at += reason->hits->len;
	}
	if (!marks) {
		g_string_truncate(scratch->wrapped, 0);
		wrap_append_text(scratch->wrapped, plain->str, BOUNDS_TEXT_COLUMNS);
		plain = scratch->wrapped;
	} else if (plain->len && plain->str[plain->len - 1] != '\n') {
		g_string_append_c(plain, '\n');
	}
	*stats = (struct chunk_stats){0};
	chunk_stats_append(stats, scratch->encoded, plain->str, plain->len);
}

/* All that reasons depend on: their filters and hits, and which are marked. */
static void
set_key(GString *bytes, const GPtrArray *reasons, const struct mark_list *marks,
    bool is_title)
{
	unsigned at = 0;

	g_string_truncate(bytes, 0);
	for (unsigned i = 0; i < (is_title ? 1 : reasons->len); i++) {
		const struct digest_reason *reason = reasons->pdata[i];

		entry_key_add(bytes, reason->filter);
		for (unsigned j = 0; j < (is_title ? 0 : reason->hits->len);
		     j++, at++) {
			const struct hit *hit = reason->hits->pdata[j];

			if (hit->is_repeated)
				continue;
			g_string_append_c(bytes,
			    (char)(1 + hit->field * 2 + mark_list_is_shown(marks, at)));
			entry_key_add(bytes, hit->words);
		}
		g_string_append_c(bytes, '\0');
	}
	g_string_append_c(bytes, is_title ? 't' : 'f');
}

static struct cached_reasons *
new_reasons(const struct entry_reasons_cache *cache,
    struct entry_reasons_scratch *scratch, const GPtrArray *list,
    const struct mark_list *marks, bool is_title, const struct entry_key *key)
{
	GString *encoded = g_string_truncate(scratch->encoded, 0);
	struct entry_reasons reasons;
	struct cached_reasons *cached;
	size_t text_bytes;

	append_part(cache, scratch, list, is_title, NULL, &reasons.text_stats);
	text_bytes = encoded->len;
	append_part(cache, scratch, list, is_title, marks, &reasons.html_stats);
	cached = g_atomic_rc_box_alloc(sizeof(*cached) + encoded->len + key->size);
	cached->key = *key;
	cached->key.bytes = memcpy(cached->data, key->bytes, key->size);
	reasons.text = memcpy(cached->data + key->size, encoded->str, encoded->len);
	reasons.html = reasons.text + text_bytes;
	cached->reasons = reasons;
	return cached;
}

const struct entry_reasons *
entry_reasons_get(struct entry_reasons_cache *cache,
    struct entry_reasons_scratch *scratch, const GPtrArray *reasons,
    const struct mark_list *marks, enum entry_depth depth)
{
	/* A title has only the filter that it counts for. */
	bool is_title = depth == ENTRY_DEPTH_TITLE;
	struct cached_reasons *cached;
	struct entry_key key;

	set_key(scratch->key_bytes, reasons, marks, is_title);
	key = entry_key_make(scratch->key_bytes, scratch->key_bytes->len);
	cached = entry_table_find(&cache->table, &key);
	if (cached)
		return &cached->reasons;
	cached = new_reasons(cache, scratch, reasons, marks, is_title, &key);
	entry_table_add(&cache->table, cached,
	    sizeof(*cached) + cached->reasons.text_stats.encoded_bytes +
	        cached->reasons.html_stats.encoded_bytes + key.size);
	return &cached->reasons;
}

void
entry_reasons_unref(const struct entry_reasons *reasons)
{
	g_atomic_rc_box_release((void *)reasons);
}
