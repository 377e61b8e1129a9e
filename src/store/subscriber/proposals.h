/*
 * proposals.h - commands that are proposed to a subscriber, and undone exactly.
 *
 * A proposal is the text of a command that the subscriber could have typed, with its
 * effect.  Its number is unique among the subscriber's proposals of
 * PROPOSALS_NUMBER_DAYS days, so that `yes 2` means the same in every mail.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/* As long as replies to a mail are accepted. */
#define PROPOSALS_VALID_DAYS  30
#define PROPOSALS_UNDO_DAYS   30
#define PROPOSALS_NUMBER_DAYS (PROPOSALS_VALID_DAYS + PROPOSALS_UNDO_DAYS + 1)

/* Maximum number of open proposals of a subscriber; the oldest end first. */
#define PROPOSALS_OPEN_MAX 50

enum proposal_state {
	PROPOSAL_OPEN,
	PROPOSAL_APPLIED,
	PROPOSAL_UNDONE,
	PROPOSAL_REFUSED, /* never proposed again */
};

struct proposal {
	int64_t id;
	int64_t subscriber_id;
	unsigned number;         /* the subscriber's number for it, from 1 */
	int64_t subscription_id; /* the filter that the command changes; 0: none */
	const char *filter;      /* that filter, see proposals_format_filter(); or "" */
	const char *term;        /* what a refusal applies to, such as "tool use" */
	const char *command;     /* exact text, such as `edit 2 agents OR "tool use"` */
	int64_t gained, lost;    /* papers in the last `days` days */
	int64_t days;
	const char *title; /* of the latest of these papers; or "" */
	const char
	    *shown_in; /* "letter.abc", see proposals_save_shown(); "": nowhere */
	int64_t
	    made_at; /* of the offer, then of that message: the same for all in it */
	int64_t expires_at;
	int64_t ended_at; /* or -1 */
	enum proposal_state state;
};

/**
 * Offer a proposal.  One that is open already keeps its number.
 *
 * @param proposal  of the caller, with subscriber_id, term, command, gained, lost, days
 *                  and title, which must be one line of valid UTF-8
 * @param filter    the filter or block that the command changes; NULL for none
 * @param offered   set: as stored; NULL if the subscriber refused it before; g_free()
 * it
 */
bool proposals_offer(struct store *store, const struct proposal *proposal,
    const struct subscription *filter, int64_t now, struct proposal **offered,
    GError **error);

/** Whether a subscriber refused a term, for a filter or without one (0). */
bool proposals_is_refused(struct store *store, int64_t subscriber_id,
    int64_t subscription_id, const char *term, bool *is_refused, GError **error);

/**
 * Load the open proposals of a subscriber by number.
 *
 * @param subscription_id  only those that change this filter; 0: all
 * @return of struct proposal *
 */
GPtrArray *proposals_load_open(struct store *store, int64_t subscriber_id,
    int64_t subscription_id, int64_t now, GError **error);

/**
 * Record that a message shows an open proposal; in the transaction that queues it.
 *
 * @param message  the local part of its Message-ID, without a token for replies
 */
bool proposals_save_shown(struct store *store, int64_t subscriber_id, unsigned number,
    const char *message, int64_t now, GError **error);

/**
 * Whether the last mail sent to a subscriber was queued at a time: a "yes" that names
 * no message answers that mail.
 *
 * @param at  time at which a message was queued, or a digest was built, s
 */
bool proposals_is_last_mail(struct store *store, int64_t subscriber_id, int64_t at,
    bool *is_last, GError **error);

/** Find a proposal by number, in any state. @param proposal  set; NULL for none */
bool proposals_find(struct store *store, int64_t subscriber_id, unsigned number,
    int64_t now, struct proposal **proposal, GError **error);

/** "NUMBER TEXT": a proposal is void once this has changed. @return a new string */
char *proposals_format_filter(const struct subscription *filter);

bool proposals_save_state(struct store *store, int64_t id, enum proposal_state state,
    int64_t now, GError **error);

/* ---- undo ---- */

/** Record the subscriber's filters, before the command runs. */
bool proposals_save_before(
    struct store *store, const struct proposal *proposal, GError **error);

/** Record what the command changed. @param settings  lines that restore settings, or ""
 */
bool proposals_save_after(struct store *store, const struct proposal *proposal,
    const char *settings, GError **error);

/** Whether the filters that were changed are as the command left them. */
bool proposals_can_undo(
    struct store *store, const struct proposal *proposal, bool *can, GError **error);

/**
 * Restore the filters that were changed, with their ids.
 *
 * @param matched_revision  as subscribers_insert_subscription()
 * @param settings          set: lines that restore settings, or ""
 */
bool proposals_restore(struct store *store, const struct proposal *proposal,
    int64_t matched_revision, int64_t now, char **settings, GError **error);
