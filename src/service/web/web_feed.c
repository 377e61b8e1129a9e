/*
 * web_feed.c - a digest in the browser, and private feeds.
 */
#include <string.h>

#include "base/day.h"
#include "base/token.h"
#include "message/sanitize.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "service/web/web_private.h"
#include "store/mail/digests.h"
#include "store/paper/papers.h"
#include "store/subscriber/private_feeds.h"

/* A feed has as many entries as fit into a reply. */
#define FEED_ENTRIES 50
#define FEED_AUTHORS 20 /* of an entry */
#define FEED_BYTES   (WEB_PROTO_REPLY_BYTES / 2)

/* ---- signed tokens in URLs of the page ---- */

/* Find the digest of a link to it. @param digest_id  set; 0: invalid */
static bool
find_digest(const struct web_call *call, int64_t *digest_id, GError **error)
{
	const char *token = call->request->token;
	pb_auto(digest) digest = NULL;
	int64_t id;

	*digest_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(call->handler->store, id, &digest, error))
		return false;
	/* One of a former subscription or address would show those of today. */
	if (digest && digest->created_at >= digest->subscriber_since &&
	    token_check_signed(call->handler->options.key, SUBADDRESS_TOKEN_VIEW, id,
	        digest->created_at, token))
		*digest_id = id;
	return true;
}

/* Numbers of subscriptions may be used again. */
static int64_t
get_filter_binding(int64_t since, int64_t created_at)
{
	/* Both are below 2^32 until 2106. */
	return (int64_t)((uint64_t)since << 31 ^ (uint64_t)created_at);
}

char *
web_token_format_feed(GBytes *key, int64_t subscriber_id, int64_t since)
{
	return token_sign(key, SUBADDRESS_TOKEN_FEED, subscriber_id, since);
}

char *
web_token_format_filter_feed(
    GBytes *key, const struct subscription *subscription, int64_t since)
{
	return token_sign(key, SUBADDRESS_TOKEN_FILTER_FEED, subscription->id,
	    get_filter_binding(since, subscription->created_at));
}

/* The owner and the filter of a feed. */
struct web_token_feed {
	int64_t subscriber_id;   /* 0: an invalid token */
	int64_t subscription_id; /* of one filter; 0: all */
	char *label;             /* of the filter, or NULL */
};

static void
web_token_feed_clear(struct web_token_feed *feed)
{
	g_clear_pointer(&feed->label, g_free);
}

static bool
find_filter_feed(const struct web_call *call, int64_t id, struct web_token_feed *feed,
    GError **error)
{
	struct store *store = call->handler->store;
	g_autofree struct private_feed_filter *filter = NULL;
	int64_t since;

	if (!private_feeds_find_filter(store, id, &filter, error))
		return false;
	if (!filter)
		return true;
	if (!private_feeds_load_since(store, filter->subscriber_id, &since, error))
		return false;
	if (since < 0 ||
	    !token_check_signed(call->handler->options.key,
	        SUBADDRESS_TOKEN_FILTER_FEED, id,
	        get_filter_binding(since, filter->created_at), call->request->token))
		return true;
	feed->subscriber_id = filter->subscriber_id;
	feed->subscription_id = id;
	feed->label = g_strdup(filter->label);
	return true;
}

/* Find the feed of a token. @param feed  set; web_token_feed_clear() it */
static bool
find_feed(const struct web_call *call, struct web_token_feed *feed, GError **error)
{
	const char *token = call->request->token;
	int64_t id, since;

	*feed = (struct web_token_feed){0};
	if (!token_parse_id(token, &id))
		return true;
	if (!private_feeds_load_since(call->handler->store, id, &since, error))
		return false;
	if (since >= 0 && token_check_signed(call->handler->options.key,
	                      SUBADDRESS_TOKEN_FEED, id, since, token)) {
		feed->subscriber_id = id;
		return true;
	}
	return find_filter_feed(call, id, feed, error);
}

/* ---- digests ---- */

bool
web_run_digest(struct web_call *call, GError **error)
{
	struct store *store = call->handler->store;
	pb_auto(digest) digest = NULL;
	g_autofree char *html = NULL;
	int64_t id;

	if (!find_digest(call, &id, error))
		return false;
	if (!id)
		return web_refuse(call, WEB_STATUS_NOT_FOUND);
	digest = digests_load(store, id, error);
	html = digest ? renderer_format_page(
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
	g_autofree char *updated = day_format_time(entry->found_at);
	g_autofree char *published = day_format_time(
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
	g_autofree char *updated = day_format_time(newest ? newest->found_at : 0);

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
	pb_local(web_token_feed) feed = {0};

	if (!find_feed(call, &feed, error))
		return false;
	return feed.subscriber_id ? show_feed(call, &feed, error)
	                          : web_refuse(call, WEB_STATUS_NOT_FOUND);
}
