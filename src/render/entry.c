/*
 * entry.c - one paper of a digest, rendered and encoded.
 */
#include "render/entry.h"

#include <string.h>

#include "base/bounds.h"
#include "message/encoding.h"
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/mark.h"
#include "render/sentence.h"
#include "render/wrap.h"

const char *const entry_names[] = {"abstract", "byline", "filters", "full",
    "has_details", "has_line", "heading", "hidden_abstract", "hide_url",
    "is_first_title", "is_generated", "is_later", "label", "lang", "language", "level",
    "like_url", "links", "number", "sentence", "title", "unseen", "url", "votes",
    "words", NULL};

/* Placeholders: control characters, which templates and sanitized text lack.  UNSEEN is
 * WORDS on a line that is left out if a word of the title or abstract is marked. */
#define NUMBER  "\x01"
#define TOKEN   "\x02"
#define FILTERS "\x04"
#define WORDS   "\x0e"
#define UNSEEN  "\x0f"

/* Before a title, before another text that may be marked, and after each. */
#define TITLE    "\x05"
#define BODY     "\x06"
#define TEXT_END "\x07"

#define PLACEHOLDERS NUMBER TOKEN FILTERS WORDS UNSEEN TITLE BODY

/* ---- summary ---- */

/* The sentence of the source, else one of the abstract unless that is shown. */
static void
set_sentence(
    struct entry_summary *summary, const struct paper *paper, bool has_abstract)
{
	summary->is_generated = paper->summary != NULL;
	if (paper->summary)
		summary->sentence = sentence_cut(paper->summary);
	else if (!has_abstract)
		summary->sentence = sentence_find_key(paper->abstract);
}

void
entry_summary_init(
    struct entry_summary *summary, const struct paper *paper, enum entry_depth depth)
{
	*summary = (struct entry_summary){0};
	switch (depth) {
	case ENTRY_DEPTH_TITLE:
	case ENTRY_DEPTH_NO_ABSTRACT:
		break;
	case ENTRY_DEPTH_EXCERPT:
		summary->abstract = sentence_format_excerpt(paper->abstract);
		break;
	case ENTRY_DEPTH_BRIEF:
		set_sentence(summary, paper, false);
		break;
	case ENTRY_DEPTH_SUMMARY:
		set_sentence(summary, paper, true);
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	case ENTRY_DEPTH_FULL:
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	}
}

void
entry_summary_clear(struct entry_summary *summary)
{
	g_free(summary->sentence);
	g_free(summary->abstract);
}

/* ---- view ---- */

/* Put a text whose words may be marked. @param text  or NULL */
static void
put_markable(struct view *view, const char *name, const char *kind, const char *text)
{
	g_autofree char *marked = g_strconcat(kind, text ? text : "", TEXT_END, NULL);

	if (text && *text)
		view_put_text(view, name, marked);
}

static void
put_summary(struct view *view, const struct entry_params *params)
{
	const struct paper *paper = params->entry->paper;
	pb_local(entry_summary) summary = {0};
	g_autofree char *hidden = NULL;

	entry_summary_init(&summary, paper, params->depth);
	put_markable(view, "sentence", BODY, summary.sentence);
	put_markable(view, "abstract", BODY, summary.abstract);
	view_put(view, "is_generated", view_new_bool(summary.is_generated));
	if (params->is_page && params->depth != ENTRY_DEPTH_FULL &&
	    params->depth != ENTRY_DEPTH_SUMMARY)
		hidden = sanitize_paper_text(paper->abstract, 0);
	put_markable(view, "hidden_abstract", BODY, hidden);
}

/* "Ada Example +3 · cs.CL": the first author, the number of the others, and the venue.
 */
static void
put_byline(struct view *view, const struct digest_entry *entry)
{
	const GPtrArray *authors = entry->paper->authors;
	g_autofree char *venue = sanitize_paper_text(entry->venue, BOUNDS_VENUE_CHARS);
	g_autoptr(GString) line = g_string_new(NULL);

	if (authors->len) {
		g_autofree char *first = sanitize_paper_text(authors->pdata[0], 0);

		g_string_append(line, first);
	}
	if (authors->len > 1)
		g_string_append_printf(line, " +%u", authors->len - 1);
	if (line->len && *venue)
		g_string_append(line, " \xc2\xb7 ");
	g_string_append(line, venue);
	view_put_text(view, "byline", line->str);
}

/* "▲ 58 (+21)": votes, and their change since yesterday; numbers are those stored with
 * the digest, since the paper's own may have changed. */
static void
put_votes(struct view *view, const struct digest_entry *entry)
{
	int64_t change = entry->upvotes - entry->upvotes_before;
	g_autoptr(GString) votes = g_string_new(NULL);

	if (entry->upvotes <= 0)
		return;
	g_string_append_printf(
	    votes, "\xe2\x96\xb2\xc2\xa0%" G_GINT64_FORMAT, entry->upvotes);
	if (entry->upvotes_before != PAPER_UNKNOWN && change != 0)
		g_string_append_printf(votes, " (%s%" G_GINT64_FORMAT ")",
		    change > 0 ? "+" : "\xe2\x88\x92", ABS(change));
	view_put_text(view, "votes", votes->str);
}

static void
add_link(struct view *links, const char *label, const char *url, bool has_byline)
{
	struct view *link;

	if (!sanitize_is_web_url(url))
		return;
	link = view_new_map();
	view_put_text(link, "label", label);
	view_put_text(link, "url", url);
	view_put(link, "is_later", view_new_bool(has_byline || links->list->len > 0));
	view_append(links, link);
}

/* "Code 66★" */
static char *
format_code_label(const struct locale_format *format, int64_t stars)
{
	g_autofree char *code = locale_format_text(format, N_("Code"));

	return stars > 0
	           ? g_strdup_printf("%s %" G_GINT64_FORMAT "\xe2\x98\x85", code, stars)
	           : g_steal_pointer(&code);
}

static void
put_links(struct view *view, const struct locale_format *format,
    const struct digest_entry *entry)
{
	const struct paper *paper = entry->paper;
	struct view *links = view_new_list();
	bool has_byline = view_is_true(view_find(view, "byline"));
	g_autofree char *pdf_url = paper_id_format_arxiv_url(paper->id, "pdf");
	g_autofree char *pdf = locale_format_text(format, N_("PDF"));
	g_autofree char *pubmed = g_strconcat("https://pubmed.ncbi.nlm.nih.gov/",
	    paper->pmid, paper->pmid ? "/" : NULL, NULL);
	g_autofree char *pmc = g_strconcat("https://pmc.ncbi.nlm.nih.gov/articles/",
	    paper->pmcid, paper->pmcid ? "/" : NULL, NULL);
	g_autofree char *code = format_code_label(format, entry->stars);
	g_autofree char *project = locale_format_text(format, N_("Project"));
	g_autofree char *video = locale_format_text(format, N_("Video"));

	add_link(links, pdf, pdf_url, has_byline);
	add_link(links, "PubMed", paper->pmid ? pubmed : NULL, has_byline);
	add_link(links, "PMC", paper->pmcid ? pmc : NULL, has_byline);
	add_link(links, code, paper->code_url, has_byline);
	add_link(links, project, paper->project_url, has_byline);
	add_link(links, video, paper->video_url, has_byline);
	view_put(view, "links", links);
}

static void
put_answers(struct view *view, const struct sender_identity *sender, const char *id)
{
	g_autofree char *like = sender_format_answer_url(sender, "like", id, TOKEN);
	g_autofree char *hide = sender_format_answer_url(sender, "hide", id, TOKEN);

	view_put_text(view, "like_url", like);
	view_put_text(view, "hide_url", hide);
}

/* Titles are in English, whatever the language of the digest; one in another script is
 * in an unknown language. */
static void
put_language(struct view *view, const struct locale_format *format, const char *title)
{
	while (*title && !g_unichar_isalpha(g_utf8_get_char(title)))
		title = g_utf8_next_char(title);
	view_put_text(view, "language", format->language);
	if (strcmp(format->language, "en") != 0 && g_ascii_isalpha(*title))
		view_put_text(view, "lang", "en");
}

/* ---- what readers share ---- */

/* A line with placeholders, or lines without any, which are encoded. */
struct line {
	char *text;
	bool is_encoded;
};

/* Reference-counted. */
struct shared_entry {
	GArray *text, *html; /* of struct line */
	struct paper *paper; /* a reference, so that its address is not reused; or NULL
	                      */
};

struct entry_cache {
	const struct template *text, *html;
	const struct locale_format *format;
	const struct sender_identity *sender;
	GMutex lock;       /* of the members below */
	GHashTable *table; /* key -> struct shared_entry * */
	size_t bytes;      /* of all entries and keys */
};

/* Values of one reader; NULL for none. */
struct entry {
	struct shared_entry *shared;
	const GPtrArray *reasons; /* of struct digest_reason *, borrowed */
	char number[16];
	char *token;
	char *filters; /* "rlhf, agents" */
	char *words;   /* "rlhf: rlhf in the title · agents: cs.CL" */
	bool has_hits; /* `words` is not only names of filters */
};

static struct view *
new_view(const struct entry_cache *cache, const struct entry_params *params,
    const struct entry *values)
{
	const struct digest_entry *entry = params->entry;
	struct view *view = view_new_map();
	bool has_details;
	g_autofree char *title = sanitize_paper_text(entry->paper->title, 0);
	g_autofree char *untitled = locale_format_text(cache->format, N_("(untitled)"));
	g_autofree char *heading = sanitize_line(params->heading, 0);

	view_put_text(view, "number", NUMBER);
	view_put_text(view, "heading", params->heading ? heading : NULL);
	view_put_text(view, "level", params->is_grouped ? "3" : "2");
	view_put(view, "is_first_title", view_new_bool(params->is_first_title));
	put_markable(view, "title", TITLE, *title ? title : untitled);
	put_language(view, cache->format, title);
	if (sanitize_is_web_url(entry->paper->url))
		view_put_text(view, "url", entry->paper->url);
	view_put_text(view, "filters", values->filters ? FILTERS : NULL);
	view_put_text(view, "words", values->words ? WORDS : NULL);
	view_put_text(view, "unseen", values->has_hits ? UNSEEN : NULL);
	put_votes(view, entry);
	put_summary(view, params);
	if (params->depth != ENTRY_DEPTH_TITLE) {
		view_put(view, "full", view_new_bool(true));
		put_byline(view, entry);
		put_links(view, cache->format, entry);
	}
	has_details = view_is_true(view_find(view, "byline")) ||
	              view_is_true(view_find(view, "votes"));
	view_put(view, "has_details", view_new_bool(has_details));
	view_put(view, "has_line", view_new_bool(has_details || values->words));
	if (values->token)
		put_answers(view, cache->sender, entry->paper->id);
	return view;
}

void
entry_encode(GString *out, const char *text, bool is_html)
{
	if (is_html) {
		encoding_append_quoted_printable(out, text, strlen(text));
	} else {
		g_autofree char *wrapped = wrap_format_text(text, BOUNDS_TEXT_COLUMNS);

		encoding_append_quoted_printable(out, wrapped, strlen(wrapped));
	}
}

static void
clear_line(void *data)
{
	g_free(((struct line *)data)->text);
}

/* @param text  of whole lines, without placeholders; emptied */
static void
add_encoded(GArray *lines, GString *text, bool is_html)
{
	g_autoptr(GString) encoded = g_string_sized_new(text->len + text->len / 8);
	struct line line = {.is_encoded = true};

	entry_encode(encoded, text->str, is_html);
	/* A copy has no room to grow: it stays in the cache. */
	line.text = g_strndup(encoded->str, encoded->len);
	g_array_append_val(lines, line);
	g_string_truncate(text, 0);
}

/* Remove the marks of texts, which only the HTML part has. */
static void
remove_marks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!strchr(TITLE BODY TEXT_END, *text))
			*to++ = *text;
	*to = '\0';
}

static GArray *
render_lines(const struct template *template, const struct view *view, bool is_html)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	g_autoptr(GString) whole = g_string_sized_new(2048);
	g_autoptr(GString) same = g_string_sized_new(2048);
	char *end;

	g_array_set_clear_func(lines, clear_line);
	template_append(template, view, whole);
	if (!is_html)
		remove_marks(whole->str);
	for (char *at = whole->str; *at; at = end) {
		struct line line;

		end = strchrnul(at, '\n');
		end += *end == '\n';
		line = (struct line){g_strndup(at, (size_t)(end - at)), false};
		if (end[-1] != '\n') {
			g_free(line.text);
			line.text = g_strconcat(at, "\n", NULL);
		}
		if (strpbrk(line.text, PLACEHOLDERS)) {
			if (same->len)
				add_encoded(lines, same, is_html);
			g_array_append_val(lines, line);
		} else {
			g_string_append(same, line.text);
			g_free(line.text);
		}
	}
	if (same->len)
		add_encoded(lines, same, is_html);
	return lines;
}

static void
clear_shared(void *data)
{
	struct shared_entry *shared = data;

	g_array_unref(shared->text);
	g_array_unref(shared->html);
	paper_free(shared->paper);
}

static void
unref_shared(struct shared_entry *shared)
{
	g_atomic_rc_box_release_full(shared, clear_shared);
}

static struct shared_entry *
render(const struct entry_cache *cache, const struct entry_params *params,
    const struct entry *values)
{
	pb_auto(view) view = new_view(cache, params, values);
	struct shared_entry *shared = g_atomic_rc_box_new0(struct shared_entry);

	shared->text = render_lines(cache->text, view, false);
	shared->html = render_lines(cache->html, view, true);
	return shared;
}

/* ---- cache ---- */

struct entry_cache *
entry_cache_new(const struct template *text, const struct template *html,
    const struct locale_format *format, const struct sender_identity *sender)
{
	struct entry_cache *cache = g_new0(struct entry_cache, 1);

	*cache = (struct entry_cache){
	    .text = text, .html = html, .format = format, .sender = sender};
	g_mutex_init(&cache->lock);
	cache->table = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
	    (GDestroyNotify)g_bytes_unref, (GDestroyNotify)unref_shared);
	return cache;
}

void
entry_cache_free(struct entry_cache *cache)
{
	if (!cache)
		return;
	g_hash_table_unref(cache->table);
	g_mutex_clear(&cache->lock);
	g_free(cache);
}

static void
add_number(GString *key, int64_t number)
{
	g_string_append_len(key, (const char *)&number, sizeof(number));
}

/* With its NUL, so that texts cannot run together. @param text  or NULL */
static void
add_text(GString *key, const char *text)
{
	g_string_append_c(key, text ? '1' : '0');
	if (text)
		g_string_append_len(key, text, (gssize)strlen(text) + 1);
}

/* Everything that readers share; a shared paper is identified by its address. */
static GBytes *
new_key(const struct entry_params *params, const struct entry *values)
{
	const struct digest_entry *entry = params->entry;
	g_autoptr(GString) key = g_string_sized_new(128);

	add_number(key, (int64_t)(intptr_t)entry->paper);
	add_number(key, entry->upvotes);
	add_number(key, entry->upvotes_before);
	add_number(key, entry->stars);
	add_number(key, params->depth | params->is_first_title << 8 |
	                    params->is_grouped << 9 | params->is_page << 10 |
	                    (values->token != NULL) << 11 |
	                    (values->filters != NULL) << 12 |
	                    (values->words != NULL) << 13 | values->has_hits << 14);
	add_text(key, params->heading);
	add_text(key, entry->venue);
	return g_bytes_new(key->str, key->len);
}

static size_t
count_bytes(const GArray *lines)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < lines->len; i++)
		bytes += strlen(g_array_index(lines, struct line, i).text) +
		         sizeof(struct line);
	return bytes;
}

/* @param key  taken */
static void
add(struct entry_cache *cache, GBytes *key, struct shared_entry *shared)
{
	size_t bytes = sizeof(*shared) + g_bytes_get_size(key) +
	               count_bytes(shared->text) + count_bytes(shared->html);

	g_mutex_lock(&cache->lock);
	if (cache->bytes + bytes > BOUNDS_RENDER_CACHE_BYTES) {
		g_hash_table_remove_all(cache->table);
		cache->bytes = 0;
	}
	/* Another thread may have added it meanwhile. */
	if (g_hash_table_replace(cache->table, key, g_atomic_rc_box_acquire(shared)))
		cache->bytes += bytes;
	g_mutex_unlock(&cache->lock);
}

/* @return a new reference */
static struct shared_entry *
get_shared(struct entry_cache *cache, const struct entry_params *params,
    const struct entry *values)
{
	struct paper *paper = params->entry->paper;
	g_autoptr(GBytes) key = NULL;
	struct shared_entry *shared;

	if (!paper_is_shared(paper))
		return render(cache, params, values);
	key = new_key(params, values);
	g_mutex_lock(&cache->lock);
	shared = g_hash_table_lookup(cache->table, key);
	if (shared)
		g_atomic_rc_box_acquire(shared);
	g_mutex_unlock(&cache->lock);
	if (shared)
		return shared;
	shared = render(cache, params, values);
	shared->paper = paper_share(paper);
	add(cache, g_steal_pointer(&key), shared);
	return shared;
}

/* ---- values of a reader ---- */

/* Words that a filter matched, but for votes, which are shown anyway.
 * @return NULL for none */
static char *
format_words(const struct locale_format *format, const struct digest_reason *reason)
{
	g_autoptr(GPtrArray) hits = g_ptr_array_new();
	g_autofree char *words = NULL;

	for (unsigned i = 0; i < reason->hits->len; i++) {
		struct hit *hit = reason->hits->pdata[i];

		if (!hit->is_repeated && hit->field != HIT_FIELD_UPVOTES)
			g_ptr_array_add(hits, hit);
	}
	if (hits->len == 0)
		return NULL;
	words = hits_format(hits, catalog_get_po(format->catalog, format->language));
	return sanitize_paper_text(words, 0);
}

static void
add_item(GString *list, const char *separator, const char *item)
{
	if (list->len)
		g_string_append(list, separator);
	g_string_append(list, item);
}

/* A paper that is shown by title has only the filter that it counts for. */
static void
set_reasons(struct entry *values, const struct locale_format *format,
    const struct entry_params *params)
{
	const GPtrArray *reasons = params->entry->reasons;
	bool is_title = params->depth == ENTRY_DEPTH_TITLE;
	unsigned count = is_title ? MIN(reasons->len, 1) : reasons->len;
	const struct po *po = catalog_get_po(format->catalog, format->language);
	const char *colon = po_get(po, NC_("after the name of a filter", ": "));
	const char *comma = po_get(po, NC_("between names of filters", ", "));
	g_autoptr(GString) filters = g_string_sized_new(64);
	g_autoptr(GString) all = g_string_sized_new(128);

	for (unsigned i = 0; i < count; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		bool is_named = !params->is_filter_hidden &&
		                (i > 0 || !params->is_grouped || is_title);
		g_autofree char *words = is_title ? NULL : format_words(format, reason);
		g_autofree char *filter = sanitize_line(reason->filter, 0);

		if (is_named) {
			add_item(filters, comma, filter);
			add_item(all, " \xc2\xb7 ", filter);
		}
		if (words)
			add_item(all, is_named ? colon : " \xc2\xb7 ", words);
		values->has_hits |= words != NULL;
	}
	if (filters->len)
		values->filters = g_strdup(filters->str);
	if (all->len)
		values->words = g_strdup(all->str);
}

struct entry *
entry_new(struct entry_cache *cache, const struct entry_params *params)
{
	struct entry *entry = g_new0(struct entry, 1);

	entry->reasons = params->entry->reasons;
	entry->token = g_strdup(params->token);
	g_snprintf(entry->number, sizeof(entry->number), "%*u", ENTRY_NUMBER_COLUMNS,
	    params->number);
	set_reasons(entry, cache->format, params);
	entry->shared = get_shared(cache, params, entry);
	return entry;
}

void
entry_free(struct entry *entry)
{
	if (!entry)
		return;
	unref_shared(entry->shared);
	g_free(entry->token);
	g_free(entry->filters);
	g_free(entry->words);
	g_free(entry);
}

static void
append_value(GString *out, const char *value, bool is_html)
{
	if (is_html)
		template_append_escaped(out, value);
	else
		g_string_append(out, value);
}

/* Fill in the placeholders of a line. */
static void
fill_line(GString *out, const struct entry *entry, const char *line, bool is_html)
{
	for (;;) {
		size_t size = strcspn(line, PLACEHOLDERS);
		char kind = line[size];

		g_string_append_len(out, line, (gssize)size);
		if (kind == '\0')
			return;
		line += size + 1;
		if (kind == *NUMBER) {
			g_string_append(out, entry->number);
		} else if (kind == *TOKEN) {
			g_string_append(out, entry->token);
		} else if (kind == *FILTERS) {
			append_value(out, entry->filters, is_html);
		} else if (kind == *WORDS || kind == *UNSEEN) {
			append_value(out, entry->words, is_html);
		} else {
			size = strcspn(line, TEXT_END);
			mark_append(out, line, size, entry->reasons,
			    kind == *TITLE ? HIT_FIELD_TITLE : HIT_FIELD_ABSTRACT);
			line += size + 1;
		}
	}
}

void
entry_append(const struct entry *entry, bool is_html, GString *out)
{
	const GArray *lines = is_html ? entry->shared->html : entry->shared->text;
	g_autoptr(GString) filled = g_string_sized_new(512);
	bool is_marked = false;

	for (unsigned i = 0; i < lines->len; i++) {
		const struct line *line = &g_array_index(lines, struct line, i);

		if (line->is_encoded) {
			g_string_append(out, line->text);
			continue;
		}
		if (is_marked && strstr(line->text, UNSEEN))
			continue;
		g_string_truncate(filled, 0);
		fill_line(filled, entry, line->text, is_html);
		is_marked |= strstr(filled->str, "<mark>") != NULL;
		entry_encode(out, filled->str, is_html);
	}
}
