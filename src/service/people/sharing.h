/*
 * sharing.h - share a filter under a name, and follow one of somebody else.
 *
 * A name belongs to one owner.  Whoever follows it has a filter of their own with the
 * owner's text; an edit by the owner is a new version, which followers take or leave.
 * Owners do not learn who follows, or how many; followers do not learn who the owner
 * is.  Each function is one commit, with its entry in the audit log.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/subscriber.h"
#include "store/core/store.h"
#include "store/subscriber/shares.h"

/* Whose request it is.  Borrowed. */
struct sharing_actor {
	struct store *store;
	const char *address;
	const char *who; /* for the audit log */
	int64_t now;
	int most; /* filters a person may have, as of struct subscribe_filter */
};

/** Fold a name and check its form. @return a new string; NULL with PB_ERROR_INPUT */
char *sharing_fold_name(const char *name, GError **error);

/** Share a filter. @param name  set on success: as stored, owned by the caller */
bool sharing_share(const struct sharing_actor *actor, int number, const char *wanted,
    char **name, GError **error);

/** Check the same; nothing is stored. @param own  struct subscription * */
bool sharing_check_share(const struct sharing_actor *actor,
    const struct subscription *own, const char *wanted, GError **error);

/** End a share. @param number  set on success: of the filter */
bool sharing_unshare(
    const struct sharing_actor *actor, const char *name, int *number, GError **error);

/** End a share of any owner: by the operator. */
bool sharing_remove(struct store *store, const char *name, const char *who, int64_t now,
    GError **error);

/* A version of a shared filter.  Owned. */
struct sharing_offer {
	struct share *share;
	int version;
	char *text;
	struct follow *follow; /* of the subscriber; NULL: does not follow it */
};
void sharing_offer_clear(struct sharing_offer *offer);

/**
 * Find a version of a shared filter.
 *
 * @param version  0: the newest
 * @param offer    set; empty after a failure
 * @return false with PB_ERROR_NOT_FOUND, or PB_ERROR_INPUT for an own filter
 */
bool sharing_find(const struct sharing_actor *actor, const char *name, int version,
    struct sharing_offer *offer, GError **error);

/**
 * Follow a shared filter, or take another version of a followed one.
 *
 * @param before  set on success: the filter as it was, or NULL; owned by the caller
 * @return the filter
 */
struct subscription *sharing_follow(const struct sharing_actor *actor, const char *name,
    int version, struct subscription **before, GError **error);

/** Make a followed filter an own one, or add a copy. @return the filter */
struct subscription *sharing_fork(
    const struct sharing_actor *actor, const char *name, int version, GError **error);

/** Remove a followed filter. @return the removed filter */
struct subscription *
sharing_unfollow(const struct sharing_actor *actor, const char *name, GError **error);
