/*
 * sharing.c - share a filter under a name, and follow one of somebody else.
 */
#include "service/people/sharing.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "query/query.h"
#include "service/people/filters.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"

/* Names that seem to be ours, or an argument of a command. */
static const char *const reserved[] = {"abuse", "admin", "all", "everything", "help",
    "info", "last", "list", "me", "new", "none", "official", "operator", "owner",
    "paperboy", "postmaster", "root", "support", "undo", NULL};

char *
sharing_fold_name(const char *name, GError **error)
{
	g_autofree char *folded = g_ascii_strdown(name, -1);
	size_t size = strlen(folded);

	if (size < BOUNDS_SHARE_NAME_MIN || size > BOUNDS_SHARE_NAME ||
	    !g_ascii_isalpha(folded[0]) || folded[size - 1] == '-' ||
	    strspn(folded, "abcdefghijklmnopqrstuvwxyz0123456789-") != size) {
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("the name of a shared filter has {least} to {most} letters, "
		       "digits and hyphens, and begins with a letter"),
		    "least", MSG_INT(BOUNDS_SHARE_NAME_MIN), "most",
		    MSG_INT(BOUNDS_SHARE_NAME), NULL);
		return NULL;
	}
	if (g_strv_contains(reserved, folded)) {
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("the name \"{name}\" is reserved"), "name", folded, NULL);
		return NULL;
	}
	return g_steal_pointer(&folded);
}

static bool
audit(const struct sharing_actor *actor, const char *what, int64_t subscriber_id,
    const char *name, int version, GError **error)
{
	g_autofree char *detail =
	    version ? g_strdup_printf("%s, version %d", name, version) : g_strdup(name);

	return audit_insert(
	    actor->store, actor->now, actor->who, what, subscriber_id, detail, error);
}

/* ---- owners ---- */

/*
 * Find the name under which a filter is shared, and that which it follows.
 *
 * @param shared, followed  set: NULL if it is not; owned by the caller
 * @param count             set to the number of the subscriber's shares
 */
static bool
load_names(struct store *store, const struct subscription *own, char **shared,
    char **followed, unsigned *count, GError **error)
{
	g_autoptr(GPtrArray) shares = shares_load_own(store, own->subscriber_id, error);
	g_autoptr(GPtrArray) follows =
	    shares ? shares_load_follows(store, own->subscriber_id, error) : NULL;
	const struct follow *follow;

	if (!follows)
		return false;
	*count = shares->len;
	*shared = *followed = NULL;
	for (unsigned i = 0; i < shares->len; i++) {
		const struct share *one = shares->pdata[i];

		if (one->subscription_id == own->id)
			*shared = g_strdup(one->name);
	}
	follow = shares_get_followed(follows, own->id);
	if (follow)
		*followed = g_strdup(follow->name);
	return true;
}

/* A filter is shared under one name, and a followed one only after a fork. */
static bool
check_filter(
    const struct sharing_actor *actor, const struct subscription *own, GError **error)
{
	g_autofree char *shared = NULL, *followed = NULL;
	unsigned count;

	if (!load_names(actor->store, own, &shared, &followed, &count, error))
		return false;
	if (own->is_block)
		return pb_error_set(
		    error, PB_ERROR_INPUT, N_("a block cannot be shared"), NULL);
	if (shared)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("filter {number} is already shared as \"{name}\""), "number",
		    MSG_INT(own->number), "name", shared, NULL);
	if (followed)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("filter {number} follows \"{name}\"; it can be shared after: "
		       "fork {name}"),
		    "number", MSG_INT(own->number), "name", followed, NULL);
	if (count >= BOUNDS_SHARES_PERSON)
		return pb_error_set(error, PB_ERROR_LIMIT,
		    N_("limit of {most} shared filters reached"), "most",
		    MSG_INT(BOUNDS_SHARES_PERSON), NULL);
	return true;
}

bool
sharing_check_share(const struct sharing_actor *actor, const struct subscription *own,
    const char *wanted, GError **error)
{
	g_autofree char *name = sharing_fold_name(wanted, error);
	g_autofree struct share *taken = NULL;

	if (!name || !check_filter(actor, own, error) ||
	    !shares_find(actor->store, name, &taken, error))
		return false;
	return !taken || pb_error_set(error, PB_ERROR_INPUT,
	                     N_("the name \"{name}\" is in use"), "name", name, NULL);
}

/* Arguments and results of a work function. */
struct work {
	const struct sharing_actor *actor;
	const char *name; /* of the share */
	int number;       /* of the filter */
	int version;      /* 0: the newest */
	/* Set. */
	char *folded; /* name */
	struct subscription *before, *filter;
};

static void
work_clear(struct work *work)
{
	g_clear_pointer(&work->folded, g_free);
	g_clear_pointer(&work->before, subscription_free);
	g_clear_pointer(&work->filter, subscription_free);
}

static bool
share(struct store *store, void *data, GError **error)
{
	struct work *work = data;
	const struct sharing_actor *actor = work->actor;
	pb_auto(subscription) own =
	    filters_load(store, actor->address, work->number, error);

	work_clear(work);
	if (!own || !sharing_check_share(actor, own, work->name, error))
		return false;
	work->folded = sharing_fold_name(work->name, error);
	return work->folded &&
	       shares_insert(
	           store, own->id, work->folded, own->text, actor->now, error) &&
	       audit(
	           actor, "filter shared", own->subscriber_id, work->folded, 0, error);
}

bool
sharing_share(const struct sharing_actor *actor, int number, const char *wanted,
    char **name, GError **error)
{
	pb_local(work) work = {.actor = actor, .name = wanted, .number = number};

	if (!store_transact(actor->store, share, &work, error))
		return false;
	*name = g_steal_pointer(&work.folded);
	return true;
}

/* @return false with PB_ERROR_NOT_FOUND */
static bool
load_share(struct store *store, const char *text, struct share **share, GError **error)
{
	g_autofree char *name = g_ascii_strdown(text, -1);

	return shares_find(store, name, share, error) &&
	       (*share ||
	           pb_error_set(error, PB_ERROR_NOT_FOUND,
	               N_("there is no shared filter \"{name}\""), "name", name, NULL));
}

static bool
unshare_own(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	struct work *work = change->data;
	g_autofree struct share *found = NULL;

	if (!load_share(store, work->name, &found, error))
		return false;
	if (found->subscriber_id != subscriber->id)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("no filter of yours is shared as \"{name}\""), "name",
		    found->name, NULL);
	work->number = found->number;
	return shares_delete(store, found->id, error) &&
	       audit(work->actor, "filter unshared", subscriber->id, found->name, 0,
	           error);
}

bool
sharing_unshare(
    const struct sharing_actor *actor, const char *name, int *number, GError **error)
{
	struct work work = {.actor = actor, .name = name};
	const struct person_change change = {
	    actor->address, actor->who, actor->now, unshare_own, &work};
	pb_auto(subscriber) subscriber = person_transact(actor->store, &change, error);

	if (!subscriber)
		return false;
	*number = work.number;
	return true;
}

static bool
remove_share(struct store *store, void *data, GError **error)
{
	const struct work *work = data;
	g_autofree struct share *found = NULL;

	return load_share(store, work->name, &found, error) &&
	       shares_delete(store, found->id, error) &&
	       audit(work->actor, "filter unshared", found->subscriber_id, found->name,
	           0, error);
}

bool
sharing_remove(
    struct store *store, const char *name, const char *who, int64_t now, GError **error)
{
	const struct sharing_actor actor = {.store = store, .who = who, .now = now};
	struct work work = {.actor = &actor, .name = name};

	return store_transact(store, remove_share, &work, error);
}

/* ---- followers ---- */

void
sharing_offer_clear(struct sharing_offer *offer)
{
	g_clear_pointer(&offer->share, g_free);
	g_clear_pointer(&offer->text, g_free);
	g_clear_pointer(&offer->follow, g_free);
}

static bool
find_offer(const struct sharing_actor *actor, const char *name, int version,
    struct sharing_offer *offer, GError **error)
{
	pb_auto(subscriber) subscriber =
	    person_load(actor->store, actor->address, error);
	const struct share *share;

	if (!subscriber || !load_share(actor->store, name, &offer->share, error))
		return false;
	share = offer->share;
	if (share->subscriber_id == subscriber->id)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("\"{name}\" is your own filter {number}"), "name", share->name,
		    "number", MSG_INT(share->number), NULL);
	offer->version = version ? version : share->version;
	return shares_find_version(
	           actor->store, share->id, offer->version, &offer->text, error) &&
	       shares_find_follow(
	           actor->store, subscriber->id, share->id, &offer->follow, error) &&
	       (offer->text ||
	           pb_error_set(error, PB_ERROR_NOT_FOUND,
	               N_("\"{name}\" has no version {version}"), "name", share->name,
	               "version", MSG_INT(offer->version), NULL));
}

bool
sharing_find(const struct sharing_actor *actor, const char *name, int version,
    struct sharing_offer *offer, GError **error)
{
	*offer = (struct sharing_offer){0};
	if (find_offer(actor, name, version, offer, error))
		return true;
	sharing_offer_clear(offer);
	return false;
}

static bool
has_name(const GPtrArray *own, const char *name)
{
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->name && g_ascii_strcasecmp(one->name, name) == 0)
			return true;
	}
	return false;
}

/*
 * Find an equal filter of the subscriber, that is neither shared nor follows.
 *
 * @param filter  set to a copy, or NULL
 */
static bool
find_equal(struct store *store, const GPtrArray *own, const char *text,
    struct subscription **filter, GError **error)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), NULL, NULL, error);
	g_autofree char *canonical = query ? query_format(query) : NULL;

	*filter = NULL;
	for (unsigned i = 0; canonical && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		g_autofree char *shared = NULL, *followed = NULL;
		unsigned count;

		if (one->is_block || strcmp(one->canonical, canonical) != 0)
			continue;
		if (!load_names(store, one, &shared, &followed, &count, error))
			return false;
		if (!shared && !followed)
			*filter = subscription_copy(one);
		break;
	}
	return canonical != NULL;
}

/*
 * Add the filter, under the name of the share unless another one has it.  Somebody who
 * follows keeps an equal filter.
 */
static struct subscription *
add_filter(const struct sharing_actor *actor, const struct sharing_offer *offer,
    bool is_fork, GError **error)
{
	struct subscribe_filter filter = {.text = offer->text, .most = actor->most};
	pb_auto(subscriber) subscriber =
	    person_load(actor->store, actor->address, error);
	g_autoptr(GPtrArray) own = subscriber ? subscribers_load_subscriptions(
	                                            actor->store, subscriber->id, error)
	                                      : NULL;
	struct subscription *equal = NULL;

	if (!own ||
	    (!is_fork && !find_equal(actor->store, own, offer->text, &equal, error)))
		return NULL;
	if (equal)
		return equal;
	if (!has_name(own, offer->share->name))
		filter.name = offer->share->name;
	return subscribe_add_filter(actor->store, actor->address, &filter, actor->who,
	    actor->now, NULL, NULL, error);
}

/* @return the filter with the text of the offer */
static struct subscription *
edit_filter(const struct sharing_actor *actor, const struct sharing_offer *offer,
    GError **error)
{
	const struct filters_change change = {
	    .address = actor->address,
	    .number = offer->follow->number,
	    .text = offer->text,
	    .who = actor->who,
	};

	return filters_edit(actor->store, &change, actor->now, NULL, NULL, error);
}

static bool
save(const struct sharing_actor *actor, const struct sharing_offer *offer,
    const struct subscription *filter, bool is_fork, GError **error)
{
	return shares_save_follow(actor->store, filter->id, offer->share->id,
	           offer->version, is_fork, error) &&
	       audit(actor, is_fork ? "filter copied" : "filter followed",
	           filter->subscriber_id, offer->share->name, offer->version, error);
}

static bool
follow(struct store *store, void *data, GError **error)
{
	struct work *work = data;
	const struct sharing_actor *actor = work->actor;
	pb_local(sharing_offer) offer = {0};

	work_clear(work);
	if (!find_offer(actor, work->name, work->version, &offer, error))
		return false;
	if (offer.follow && offer.follow->version == offer.version)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("filter {number} follows \"{name}\" already, and has version "
		       "{version}"),
		    "number", MSG_INT(offer.follow->number), "name", offer.share->name,
		    "version", MSG_INT(offer.version), NULL);
	if (offer.follow) {
		work->before =
		    filters_load(store, actor->address, offer.follow->number, error);
		if (!work->before)
			return false;
	}
	work->filter = offer.follow ? edit_filter(actor, &offer, error)
	                            : add_filter(actor, &offer, false, error);
	return work->filter && save(actor, &offer, work->filter, false, error);
}

struct subscription *
sharing_follow(const struct sharing_actor *actor, const char *name, int version,
    struct subscription **before, GError **error)
{
	pb_local(work) work = {.actor = actor, .name = name, .version = version};

	if (!store_transact(actor->store, follow, &work, error))
		return NULL;
	*before = g_steal_pointer(&work.before);
	return g_steal_pointer(&work.filter);
}

static bool
fork_filter(struct store *store, void *data, GError **error)
{
	struct work *work = data;
	const struct sharing_actor *actor = work->actor;
	pb_local(sharing_offer) offer = {0};

	work_clear(work);
	if (!find_offer(actor, work->name, work->version, &offer, error))
		return false;
	/* The version that it has. */
	if (offer.follow)
		offer.version = offer.follow->version;
	work->filter = offer.follow ? filters_load(store, actor->address,
	                                  offer.follow->number, error)
	                            : add_filter(actor, &offer, true, error);
	return work->filter && save(actor, &offer, work->filter, true, error);
}

struct subscription *
sharing_fork(
    const struct sharing_actor *actor, const char *name, int version, GError **error)
{
	pb_local(work) work = {.actor = actor, .name = name, .version = version};

	return store_transact(actor->store, fork_filter, &work, error)
	           ? g_steal_pointer(&work.filter)
	           : NULL;
}

static bool
unfollow(struct store *store, void *data, GError **error)
{
	struct work *work = data;
	const struct sharing_actor *actor = work->actor;
	pb_local(sharing_offer) offer = {0};

	work_clear(work);
	if (!find_offer(actor, work->name, 0, &offer, error))
		return false;
	if (!offer.follow)
		return pb_error_set(error, PB_ERROR_NOT_FOUND,
		    N_("no filter of yours follows \"{name}\""), "name",
		    offer.share->name, NULL);
	work->filter = filters_load(store, actor->address, offer.follow->number, error);
	return work->filter && subscribe_remove_filter(store, actor->address,
	                           work->filter->number, actor->who, actor->now, error);
}

struct subscription *
sharing_unfollow(const struct sharing_actor *actor, const char *name, GError **error)
{
	pb_local(work) work = {.actor = actor, .name = name};

	return store_transact(actor->store, unfollow, &work, error)
	           ? g_steal_pointer(&work.filter)
	           : NULL;
}
