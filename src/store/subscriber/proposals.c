/*
 * proposals.c - commands that are proposed to a subscriber, and undone exactly.
 */
#include "store/subscriber/proposals.h"

#include "base/clock.h"
#include "store/core/record.h"
#include "store/core/sql.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

#define COLUMNS                                                                       \
	"id, subscriber_id, number, subscription_id, filter, term, command, gained, " \
	"lost, days, title, shown_in, made_at, expires_at, ended_at, state"

RECORD_LAYOUT(layout, proposal, "proposal", "iinntttnnnttnnNw",
    (ENUMERATION_PROPOSAL_STATE), id, subscriber_id, number, subscription_id, filter,
    term, command, gained, lost, days, title, shown_in, made_at, expires_at, ended_at,
    state);

/* Columns to compare and restore, of a filter and of a row of proposal_change. */
#define FILTER_VALUES                                                       \
	"s.number, s.name, s.text, f.canonical, s.since_day, s.created_at," \
	" s.is_block, s.max_papers, s.note"
#define CHANGE_VALUES                                           \
	"number, name, text, canonical, since_day, created_at," \
	" is_block, max_papers, note"
#define FROM_FILTERS " FROM subscription s JOIN filter f ON f.id = s.filter_id"
#define CHANGED_IDS \
	"(SELECT subscription_id FROM proposal_change WHERE proposal_id = ?1)"

char *
proposals_format_filter(const struct subscription *filter)
{
	return g_strdup_printf("%d %s", filter->number, filter->text);
}

bool
proposals_is_refused(struct store *store, int64_t subscriber_id,
    int64_t subscription_id, const char *term, bool *is_refused, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM proposal WHERE subscriber_id = ?1"
	    " AND subscription_id IN (?2, 0) AND state = 'refused'"
	    " AND term = ?3)";

	return sql_has(store, sql, is_refused, error, SQL_INT(subscriber_id),
	    SQL_INT(subscription_id), SQL_TEXT(term));
}

/* Offer an open proposal again. @param id  set; 0 if there is none */
static bool
renew(struct store *store, const struct proposal *proposal, int64_t *id, GError **error)
{
	static const char sql_find[] =
	    "SELECT coalesce((SELECT id FROM proposal WHERE subscriber_id = ?1"
	    " AND subscription_id = ?2 AND filter = ?3 AND command = ?4"
	    " AND state = 'open' AND expires_at > ?5), 0)";
	static const char sql[] =
	    "UPDATE proposal SET gained = ?2, lost = ?3, days = ?4, title = ?5,"
	    " made_at = ?6, expires_at = ?7 WHERE id = ?1";

	return sql_number(store, sql_find, id, error, SQL_INT(proposal->subscriber_id),
	           SQL_INT(proposal->subscription_id), SQL_TEXT(proposal->filter),
	           SQL_TEXT(proposal->command), SQL_INT(proposal->made_at)) &&
	       (!*id || sql_exec(store, sql, error, SQL_INT(*id),
	                    SQL_INT(proposal->gained), SQL_INT(proposal->lost),
	                    SQL_INT(proposal->days), SQL_TEXT(proposal->title),
	                    SQL_INT(proposal->made_at), SQL_INT(proposal->expires_at)));
}

static bool
insert(
    struct store *store, const struct proposal *proposal, int64_t *id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO proposal (subscriber_id, number, subscription_id, filter,"
	    " term, command, gained, lost, days, title, made_at, expires_at, state)"
	    " SELECT ?1, 1 + coalesce((SELECT max(number) FROM proposal"
	    "  WHERE subscriber_id = ?1 AND made_at > ?12), 0),"
	    " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'open' RETURNING id";
	static const char sql_limit[] =
	    "DELETE FROM proposal WHERE subscriber_id = ?1 AND state = 'open'"
	    " AND id NOT IN (SELECT id FROM proposal"
	    " WHERE subscriber_id = ?1 AND state = 'open'"
	    " ORDER BY made_at DESC, id DESC LIMIT ?2)";

	return sql_number(store, sql, id, error, SQL_INT(proposal->subscriber_id),
	           SQL_INT(proposal->subscription_id), SQL_TEXT(proposal->filter),
	           SQL_TEXT(proposal->term), SQL_TEXT(proposal->command),
	           SQL_INT(proposal->gained), SQL_INT(proposal->lost),
	           SQL_INT(proposal->days), SQL_TEXT(proposal->title),
	           SQL_INT(proposal->made_at), SQL_INT(proposal->expires_at),
	           SQL_INT(proposal->made_at -
	                   PROPOSALS_NUMBER_DAYS * (int64_t)CLOCK_DAY_S)) &&
	       sql_exec(store, sql_limit, error, SQL_INT(proposal->subscriber_id),
	           SQL_INT(PROPOSALS_OPEN_MAX));
}

bool
proposals_offer(struct store *store, const struct proposal *proposal,
    const struct subscription *filter, int64_t now, struct proposal **offered,
    GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM proposal WHERE id = ?1";
	g_autofree char *shown =
	    filter ? proposals_format_filter(filter) : g_strdup("");
	struct proposal offer = *proposal;
	bool is_refused;
	int64_t id;

	offer.subscription_id = filter ? filter->id : 0;
	offer.filter = shown;
	offer.title = proposal->title ? proposal->title : "";
	offer.made_at = now;
	offer.expires_at = now + PROPOSALS_VALID_DAYS * (int64_t)CLOCK_DAY_S;
	*offered = NULL;
	if (!proposals_is_refused(store, offer.subscriber_id, offer.subscription_id,
	        offer.term, &is_refused, error))
		return false;
	if (is_refused)
		return true;
	if (!renew(store, &offer, &id, error) ||
	    (!id && !insert(store, &offer, &id, error)))
		return false;
	return record_find(store, sql, &layout, offered, error, SQL_INT(id));
}

GPtrArray *
proposals_load_open(struct store *store, int64_t subscriber_id, int64_t subscription_id,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM proposal WHERE subscriber_id = ?1"
	    " AND state = 'open' AND (?2 = 0 OR subscription_id = ?2)"
	    " AND expires_at > ?3 ORDER BY number";

	return record_load_all(store, sql, &layout, error, SQL_INT(subscriber_id),
	    SQL_INT(subscription_id), SQL_INT(now));
}

bool
proposals_save_shown(struct store *store, int64_t subscriber_id, unsigned number,
    const char *message, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE proposal SET shown_in = ?3, made_at = ?4"
	    " WHERE subscriber_id = ?1 AND number = ?2 AND state = 'open'";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(number),
	    SQL_TEXT(message), SQL_INT(now));
}

bool
proposals_is_last_mail(struct store *store, int64_t subscriber_id, int64_t at,
    bool *is_last, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(max(at), -1) = ?2 FROM (SELECT queued_at AS at FROM outbox"
	    "  WHERE address_key = (SELECT address_key FROM subscriber WHERE id = ?1)"
	    "  AND state IN ('SENT', 'UNKNOWN')"
	    " UNION ALL SELECT created_at FROM digest"
	    "  WHERE subscriber_id = ?1 AND state = 'sent') AS mail";

	return sql_has(store, sql, is_last, error, SQL_INT(subscriber_id), SQL_INT(at));
}

bool
proposals_find(struct store *store, int64_t subscriber_id, unsigned number, int64_t now,
    struct proposal **proposal, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM proposal WHERE subscriber_id = ?1"
	    " AND number = ?2 AND made_at > ?3 ORDER BY id DESC LIMIT 1";

	return record_find(store, sql, &layout, proposal, error, SQL_INT(subscriber_id),
	    SQL_INT(number),
	    SQL_INT(now - PROPOSALS_NUMBER_DAYS * (int64_t)CLOCK_DAY_S));
}

bool
proposals_save_state(struct store *store, int64_t id, enum proposal_state state,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE proposal SET state = ?2, ended_at = ?3 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id),
	    SQL_TEXT(record_get_word(ENUMERATION_PROPOSAL_STATE, state)), SQL_INT(now));
}

/* ---- undo ---- */

bool
proposals_save_before(
    struct store *store, const struct proposal *proposal, GError **error)
{
	/* It may have been applied and undone before. */
	static const char sql_old[] =
	    "DELETE FROM proposal_change WHERE proposal_id = ?1";
	static const char sql[] =
	    "INSERT INTO proposal_change (proposal_id, subscription_id, is_after,"
	    " " CHANGE_VALUES ", share_id, version, is_fork)"
	    " SELECT ?1, s.id, 0, " FILTER_VALUES ", w.share_id, w.version, w.is_fork"
	    "" FROM_FILTERS " LEFT JOIN follow w ON w.subscription_id = s.id"
	    " WHERE s.subscriber_id = ?2";

	return sql_exec(store, sql_old, error, SQL_INT(proposal->id)) &&
	       sql_exec(store, sql, error, SQL_INT(proposal->id),
	           SQL_INT(proposal->subscriber_id));
}

bool
proposals_save_after(struct store *store, const struct proposal *proposal,
    const char *settings, GError **error)
{
	static const char sql[] =
	    "INSERT INTO proposal_change (proposal_id, subscription_id, is_after,"
	    " " CHANGE_VALUES ") SELECT ?1, s.id, 1, " FILTER_VALUES FROM_FILTERS
	    " WHERE s.subscriber_id = ?2";
	static const char sql_same[] =
	    "DELETE FROM proposal_change WHERE proposal_id = ?1 AND subscription_id IN"
	    " (SELECT subscription_id FROM (SELECT subscription_id, " CHANGE_VALUES
	    "   FROM proposal_change WHERE proposal_id = ?1 AND is_after = 0"
	    "  INTERSECT SELECT subscription_id, " CHANGE_VALUES
	    "   FROM proposal_change WHERE proposal_id = ?1 AND is_after = 1) AS same)";
	static const char sql_settings[] =
	    "UPDATE proposal SET settings = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(proposal->id),
	           SQL_INT(proposal->subscriber_id)) &&
	       sql_exec(store, sql_same, error, SQL_INT(proposal->id)) &&
	       sql_exec(store, sql_settings, error, SQL_INT(proposal->id),
	           SQL_TEXT(settings));
}

bool
proposals_can_undo(
    struct store *store, const struct proposal *proposal, bool *can, GError **error)
{
	static const char sql[] =
	    "SELECT NOT EXISTS (SELECT subscription_id, " CHANGE_VALUES
	    "  FROM proposal_change WHERE proposal_id = ?1 AND is_after = 1"
	    "  EXCEPT SELECT s.id, " FILTER_VALUES FROM_FILTERS
	    "  WHERE s.subscriber_id = ?2)"
	    /* The id of a filter that the command removed may be in use again, */
	    " AND NOT EXISTS (SELECT 1 FROM subscription WHERE id IN " CHANGED_IDS
	    "  AND id NOT IN (SELECT subscription_id FROM proposal_change"
	    "   WHERE proposal_id = ?1 AND is_after = 1))"
	    /* and its number or query. */
	    " AND NOT EXISTS (SELECT 1" FROM_FILTERS " JOIN proposal_change c"
	    "  ON s.number = c.number OR f.canonical = c.canonical"
	    "  WHERE s.subscriber_id = ?2 AND s.id NOT IN " CHANGED_IDS
	    "  AND c.proposal_id = ?1 AND c.is_after = 0)";

	return sql_has(store, sql, can, error, SQL_INT(proposal->id),
	    SQL_INT(proposal->subscriber_id));
}

bool
proposals_restore(struct store *store, const struct proposal *proposal,
    int64_t matched_revision, int64_t now, char **settings, GError **error)
{
	static const char sql_settings[] =
	    "SELECT settings FROM proposal WHERE id = ?1";
	/* All of them: two may have exchanged a number or a query. */
	static const char sql_delete[] =
	    "DELETE FROM subscription WHERE id IN " CHANGED_IDS;
	static const char sql_follow[] =
	    "INSERT INTO follow (subscription_id, subscriber_id, share_id, version,"
	    " is_fork) SELECT s.id, s.subscriber_id, h.id, c.version, c.is_fork"
	    " FROM proposal_change c JOIN subscription s ON s.id = c.subscription_id"
	    " JOIN share h ON h.id = c.share_id"
	    " WHERE c.proposal_id = ?1 AND c.is_after = 0"
	    " ON CONFLICT (subscription_id) DO UPDATE SET share_id = excluded.share_id,"
	    " version = excluded.version, is_fork = excluded.is_fork,"
	    " news = CASE excluded.is_fork WHEN 0 THEN follow.news END";
	g_autoptr(GPtrArray) before =
	    subscribers_load_before_change(store, proposal->id, error);

	if (!before || !shares_detach(store, proposal->subscriber_id, error) ||
	    !sql_exec(store, sql_delete, error, SQL_INT(proposal->id)))
		return false;
	for (unsigned i = 0; i < before->len; i++)
		if (!subscribers_restore_subscription(
		        store, before->pdata[i], matched_revision, now, error))
			return false;
	return shares_attach(store, proposal->subscriber_id, now, error) &&
	       sql_exec(store, sql_follow, error, SQL_INT(proposal->id)) &&
	       sql_find_text(
	           store, sql_settings, settings, error, SQL_INT(proposal->id)) &&
	       (*settings || (*settings = g_strdup("")));
}
