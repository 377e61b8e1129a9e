/*
 * web_feed.c - a digest in the browser, and private feeds.
 */
#include <string.h>

#include "base/error.h"
#include "message/sanitize.h"
#include "model/digest.h"
#include "service/web/web_private.h"
#include "service/web/web_token.h"
#include "store/mail/digests.h"
#include "store/paper/papers.h"
#include "store/subscriber/private_feeds.h"

/* A feed has as many entries as fit into a reply. */
#define FEED_ENTRIES 50
#define FEED_AUTHORS 20 /* of an entry */
#define FEED_BYTES   (WEB_PROTO_REPLY_BYTES / 2)

static struct mail_token
get_tokens(const struct web_call *call)
{
	const struct handler_options *options = &call->handler->options;

	return (struct mail_token){call->handler->store, options->key, options->now};
}

/* ---- digests ---- */

bool
web_run_digest(struct web_call *call, GError **error)
{
	const struct mail_token tokens = get_tokens(call);
	struct store *store = call->handler->store;
	pb_auto(digest) digest = NULL;
	g_autofree char *html = NULL;
	int64_t id;

	if (!web_token_find_digest(&tokens, call->request->token, &id, error))
		return false;
	if (!id)
		return web_refuse(call, WEB_STATUS_NOT_FOUND);
	digest = digests_load(store, id, error);
	html = digest ? renderer_format_html(
	                    call->handler->options.renderer, digest, error)
	              : NULL;
	if (!html)
		return false;
	call->page = WEB_PAGE_DIGEST;
	web_set_language(call, digest->style.language);
	web_values_add(call->values, "html", html);
	return true;
}

/* ---- feeds ---- */

static char *
format_time(int64_t at)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(MAX(at, 0));

	return g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ");
}

static GVariantBuilder *
format_authors(const struct paper *paper)
{
	GVariantBuilder *authors = web_list_new();

	for (unsigned i = 0; i < MIN(paper->authors->len, FEED_AUTHORS); i++) {
		GVariantBuilder *author = web_values_new();
		g_autofree char *name =
		    sanitize_paper_text(paper->authors->pdata[i], 0);

		web_values_add(author, "name", name);
		web_list_add(authors, author);
	}
	return authors;
}

/* @param hash  of the content, updated @return the size of its texts */
static gsize
add_entry(GVariantBuilder *list, const struct paper *paper,
    const struct private_feed_entry *entry, GChecksum *hash)
{
	GVariantBuilder *values = web_values_new();
	g_autofree char *updated = format_time(entry->found_at);
	g_autofree char *published = format_time(
	    paper->published_at >= 0 ? paper->published_at : entry->found_at);
	g_autofree char *title = sanitize_paper_text(paper->title, 0);
	g_autofree char *abstract = sanitize_paper_text(paper->abstract, 0);
	const char *const texts[][2] = {{"id", paper->url}, {"title", title},
	    {"url", paper->url}, {"updated", updated}, {"published", published},
	    {"abstract", abstract}, {"reasons", entry->filters}};

	gsize size = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		gsize length = strlen(texts[i][1]);

		web_values_add(values, texts[i][0], texts[i][1]);
		g_checksum_update(
		    hash, (const guchar *)texts[i][1], (gssize)length + 1);
		size += length;
	}
	web_values_take(values, "authors", format_authors(paper));
	web_list_add(list, values);
	return size;
}

static bool
add_entries(
    struct web_call *call, const GPtrArray *entries, GChecksum *hash, GError **error)
{
	GVariantBuilder *list = web_list_new();
	gsize size = 0;
	bool is_ok = true;

	for (unsigned i = 0; is_ok && i < entries->len && size < FEED_BYTES; i++) {
		const struct private_feed_entry *entry = entries->pdata[i];
		pb_auto(stored_paper) stored =
		    papers_load(call->handler->store, entry->paper_seq, error);

		is_ok = stored != NULL;
		if (is_ok)
			size += add_entry(list, stored->paper, entry, hash);
	}
	web_values_take(call->values, "entries", list);
	return is_ok;
}

/* A URI that does not reveal the token (RFC 4151). */
static char *
format_id(const struct web_call *call)
{
	const struct handler_options *options = &call->handler->options;
	g_autofree char *hash =
	    token_hash_string(options->key, "feed-id", call->request->token);

	return g_strdup_printf(
	    "tag:%s,2026:feed:%.32s", options->own_addresses->domain, hash);
}

static void
add_head(struct web_call *call, const struct web_token_feed *feed,
    const GPtrArray *entries, GChecksum *hash)
{
	const struct private_feed_entry *newest =
	    entries->len ? entries->pdata[0] : NULL;
	const char *service = call->handler->options.settings->mail_from_name;
	g_autofree char *id = format_id(call);
	g_autofree char *title =
	    g_strdup_printf("%s%s%s", *service ? service : "paperboy",
	        feed->label ? ": " : "", feed->label ? feed->label : "");
	g_autofree char *updated = format_time(newest ? newest->found_at : 0);

	g_checksum_update(hash, (const guchar *)title, -1);
	web_values_add(call->values, "id", id);
	web_values_add(call->values, "title", title);
	web_values_add(call->values, "updated", updated);
}

static bool
show_feed(struct web_call *call, const struct web_token_feed *feed, GError **error)
{
	g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
	g_autoptr(GPtrArray) entries = private_feeds_load(call->handler->store,
	    feed->subscriber_id, feed->subscription_id, FEED_ENTRIES, error);
	g_autofree char *etag = NULL;

	if (!entries)
		return false;
	call->page = WEB_PAGE_FEED;
	add_head(call, feed, entries, hash);
	if (!add_entries(call, entries, hash, error))
		return false;
	etag = g_strndup(g_checksum_get_string(hash), 32);
	web_values_add(call->values, "etag", etag);
	if (strcmp(web_get(call, "etag"), etag) == 0)
		call->status = WEB_STATUS_NOT_MODIFIED;
	return true;
}

bool
web_run_feed(struct web_call *call, GError **error)
{
	const struct mail_token tokens = get_tokens(call);
	pb_local(web_token_feed) feed = {0};

	if (!web_token_find_feed(&tokens, call->request->token, &feed, error))
		return false;
	return feed.subscriber_id ? show_feed(call, &feed, error)
	                          : web_refuse(call, WEB_STATUS_NOT_FOUND);
}
