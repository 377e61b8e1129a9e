/*
 * shares.h - filters that others follow by name: owners, versions, followers.
 *
 * The filter of a follower is an own row of `subscription` with the text of one version
 * of the shared one: equal filters are matched once, whoever has them.  Deleting the
 * owner's filter, by whatever way, ends the share; its followers keep what they have.
 * Nothing here counts or lists followers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct share {
	int64_t id;
	const char *name; /* folded */
	int64_t subscription_id;
	int64_t subscriber_id; /* the owner */
	int number;            /* of the owner's filter */
	int version;           /* the newest one */
	const char *text;      /* of that version */
	int64_t created_at;
};

/** Find by folded name. @param share  set; NULL if there is none; g_free() it */
bool shares_find(
    struct store *store, const char *name, struct share **share, GError **error);

/** Load the shares of a subscriber, by number. @return of struct share * */
GPtrArray *shares_load_own(struct store *store, int64_t subscriber_id, GError **error);

/* A share as the operator sees it. */
struct share_listing {
	const char *name;
	const char *address; /* of the owner */
	int number;          /* of the owner's filter */
	int version;
	const char *text; /* of that version */
	int64_t created_at;
};

/**
 * Load a batch of all shares, by name.
 *
 * @param after  the last name of the previous batch, "" at first
 * @return of struct share_listing *
 */
GPtrArray *shares_load_batch(
    struct store *store, const char *after, unsigned limit, GError **error);

/** Share a filter as version 1. @param text  of the filter */
bool shares_insert(struct store *store, int64_t subscription_id, const char *name,
    const char *text, int64_t now, GError **error);

/** End a share: its followers are to be told. */
bool shares_delete(struct store *store, int64_t id, GError **error);

/** Find the text of a version. @param text  set; NULL if there is none */
bool shares_find_version(
    struct store *store, int64_t share_id, int version, char **text, GError **error);

/**
 * Record that a filter has changed: of a shared one, a new version of which the
 * followers are to be told; of a follower, that it is a fork now.
 */
bool shares_record_edit(struct store *store, int64_t subscription_id, const char *text,
    int64_t now, GError **error);

/* A filter that follows a shared one, or was copied from it. */
struct follow {
	int64_t subscription_id;
	int number;       /* of the filter */
	int64_t share_id; /* -1: no longer shared */
	const char *name; /* NULL: no longer shared */
	int version;      /* that the filter has */
	int newest;       /* version of the share; -1: no longer shared */
	bool is_fork;
	int news; /* version to tell the subscriber of; 0: the share ended; -1: none */
};

/** Load the followed filters and forks of a subscriber, by number. */
GPtrArray *
shares_load_follows(struct store *store, int64_t subscriber_id, GError **error);

/**
 * Get what a filter follows, of shares_load_follows().
 *
 * @return NULL if it is a fork, or no longer shared
 */
const struct follow *
shares_get_followed(const GPtrArray *follows, int64_t subscription_id);

/** Find the filter with which a subscriber follows a share. @param follow  set; NULL */
bool shares_find_follow(struct store *store, int64_t subscriber_id, int64_t share_id,
    struct follow **follow, GError **error);

/** Set what a filter follows, or was copied from; there is no news of it. */
bool shares_save_follow(struct store *store, int64_t subscription_id, int64_t share_id,
    int version, bool is_fork, GError **error);

/* ---- news for followers ---- */

/* An announcement; the change from the follower's version to the newest. */
struct share_news {
	int64_t subscription_id;
	int number;
	const char *label;           /* name or text of the filter */
	const char *name;            /* of the share; NULL: no longer shared */
	int news;                    /* its newest version; 0: no longer shared */
	int version;                 /* that the filter has */
	const char *added, *removed; /* clauses, one a line */
	int gained, lost;            /* papers of 30 days */
	int proposal; /* number of the open proposal to take it; -1: not offered */
};

/** Whether any follower has to be told anything. */
bool shares_has_news(struct store *store, bool *has, GError **error);

/**
 * Load the news for a subscriber, by number.
 *
 * @param until  proposals that expire before are not counted as open
 * @return of struct share_news *
 */
GPtrArray *shares_load_news(
    struct store *store, int64_t subscriber_id, int64_t until, GError **error);

/** Record that a subscriber was told. @param news  later ones remain */
bool shares_clear_news(
    struct store *store, int64_t subscription_id, int news, GError **error);

/* A change between versions that followers have to be told of. */
struct share_change {
	int64_t share_id;
	int from_version, to_version;
	const char *from_text, *to_text;
	const char *added, *removed; /* NULL until computed */
	unsigned gained, lost;
};

/** Load the changes that have not been computed yet, at most limit. */
GPtrArray *shares_load_changes(struct store *store, unsigned limit, GError **error);

bool shares_save_change(
    struct store *store, const struct share_change *change, GError **error);

/** Advance filters of the older version, which differ in spelling only. */
bool shares_skip_change(
    struct store *store, const struct share_change *change, GError **error);

/**
 * Load active subscribers with news of a computed change for which no proposal is open.
 *
 * @param after  the last one of the previous batch, 0 at first
 * @param until  as in shares_load_news()
 * @return of int64_t, ascending
 */
GArray *shares_load_unoffered(
    struct store *store, int64_t after, int64_t until, unsigned limit, GError **error);

/* ---- undo ---- */

/** Keep what is shared and followed while a subscriber's filters are replaced. */
bool shares_detach(struct store *store, int64_t subscriber_id, GError **error);

/** Give it back to the filters that exist again; a changed one is a version. */
bool
shares_attach(struct store *store, int64_t subscriber_id, int64_t now, GError **error);
