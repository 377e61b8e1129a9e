/*
 * shares.c - filters that others follow by name: owners, versions, followers.
 */
#include "store/subscriber/shares.h"

#include "store/core/record.h"
#include "store/core/sql.h"

RECORD_LAYOUT(share_layout, share, "share", "itiinntn", (), id, name, subscription_id,
    subscriber_id, number, version, text, created_at);

#define SELECT_SHARE                                                         \
	"SELECT h.id, h.name, h.subscription_id, s.subscriber_id, s.number," \
	" h.version, s.text, h.created_at FROM share h JOIN subscription s"  \
	" ON s.id = h.subscription_id "

bool
shares_find(struct store *store, const char *name, struct share **share, GError **error)
{
	static const char sql[] = SELECT_SHARE "WHERE h.name = ?1";

	return record_find(store, sql, &share_layout, share, error, SQL_TEXT(name));
}

GPtrArray *
shares_load_own(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    SELECT_SHARE "WHERE s.subscriber_id = ?1 ORDER BY s.number";

	return record_load_all(
	    store, sql, &share_layout, error, SQL_INT(subscriber_id));
}

GPtrArray *
shares_load_batch(
    struct store *store, const char *after, unsigned limit, GError **error)
{
	RECORD_LAYOUT(layout, share_listing, "share", "ttnntn", (), name, address,
	    number, version, text, created_at);
	static const char sql[] =
	    "SELECT h.name, p.address, s.number, h.version, s.text, h.created_at"
	    " FROM share h JOIN subscription s ON s.id = h.subscription_id"
	    " JOIN subscriber p ON p.id = s.subscriber_id"
	    " WHERE h.name > ?1 ORDER BY h.name LIMIT ?2";

	return record_load_all(
	    store, sql, &layout, error, SQL_TEXT(after), SQL_INT(limit));
}

static bool
insert_version(struct store *store, int64_t subscription_id, const char *text,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO share_version (share_id, version, text, created_at)"
	    " SELECT id, version, ?2, ?3 FROM share WHERE subscription_id = ?1";

	return sql_exec(
	    store, sql, error, SQL_INT(subscription_id), SQL_TEXT(text), SQL_INT(now));
}

bool
shares_insert(struct store *store, int64_t subscription_id, const char *name,
    const char *text, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO share (name, subscription_id, version, created_at)"
	    " VALUES (?1, ?2, 1, ?3)";

	return sql_exec(store, sql, error, SQL_TEXT(name), SQL_INT(subscription_id),
	           SQL_INT(now)) &&
	       insert_version(store, subscription_id, text, now, error);
}

bool
shares_delete(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "DELETE FROM share WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id));
}

bool
shares_find_version(
    struct store *store, int64_t share_id, int version, char **text, GError **error)
{
	static const char sql[] =
	    "SELECT text FROM share_version WHERE share_id = ?1 AND version = ?2";

	return sql_find_text(
	    store, sql, text, error, SQL_INT(share_id), SQL_INT(version));
}

bool
shares_record_edit(struct store *store, int64_t subscription_id, const char *text,
    int64_t now, GError **error)
{
	static const char sql_share[] =
	    "UPDATE share SET version = version + 1 WHERE subscription_id = ?1";
	static const char sql_news[] =
	    "UPDATE follow SET news = h.version FROM share h WHERE h.subscription_id ="
	    " ?1 AND follow.share_id = h.id AND follow.is_fork = 0";
	/* The text of a version is that version, also when a change is undone. */
	static const char sql_fork[] =
	    "UPDATE follow SET version = coalesce(w.same, version),"
	    " is_fork = CASE WHEN w.same IS NULL THEN 1 ELSE 0 END,"
	    " news = CASE WHEN w.same IS NOT NULL THEN news END FROM"
	    " (SELECT max(v.version) AS same FROM follow f JOIN share_version v"
	    "  ON v.share_id = f.share_id"
	    "  WHERE f.subscription_id = ?1 AND v.text = ?2) w"
	    " WHERE subscription_id = ?1 AND share_id IS NOT NULL AND is_fork = 0";
	static const char sql_end[] =
	    "DELETE FROM follow WHERE subscription_id = ?1 AND share_id IS NULL";
	struct sql_value id = SQL_INT(subscription_id);
	unsigned count;

	if (!sql_exec_count(store, sql_share, &count, error, id))
		return false;
	if (count && (!insert_version(store, subscription_id, text, now, error) ||
	                 !sql_exec(store, sql_news, error, id)))
		return false;
	return sql_exec(store, sql_fork, error, id, SQL_TEXT(text)) &&
	       sql_exec(store, sql_end, error, id);
}

/* ---- followers ---- */

RECORD_LAYOUT(follow_layout, follow, "follow", "inITnNnN", (), subscription_id, number,
    share_id, name, version, newest, is_fork, news);

#define SELECT_FOLLOW                                                        \
	"SELECT f.subscription_id, s.number, f.share_id, h.name, f.version," \
	" h.version, f.is_fork, f.news FROM subscription s"                  \
	" JOIN follow f ON f.subscription_id = s.id"                         \
	" LEFT JOIN share h ON h.id = f.share_id WHERE s.subscriber_id = ?1 "

GPtrArray *
shares_load_follows(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = SELECT_FOLLOW "ORDER BY s.number";

	return record_load_all(
	    store, sql, &follow_layout, error, SQL_INT(subscriber_id));
}

const struct follow *
shares_get_followed(const GPtrArray *follows, int64_t subscription_id)
{
	for (unsigned i = 0; i < follows->len; i++) {
		const struct follow *one = follows->pdata[i];

		if (one->subscription_id == subscription_id && one->name &&
		    !one->is_fork)
			return one;
	}
	return NULL;
}

bool
shares_find_follow(struct store *store, int64_t subscriber_id, int64_t share_id,
    struct follow **follow, GError **error)
{
	static const char sql[] = SELECT_FOLLOW "AND f.share_id = ?2 AND f.is_fork = 0";

	return record_find(store, sql, &follow_layout, follow, error,
	    SQL_INT(subscriber_id), SQL_INT(share_id));
}

bool
shares_save_follow(struct store *store, int64_t subscription_id, int64_t share_id,
    int version, bool is_fork, GError **error)
{
	static const char sql[] =
	    "INSERT INTO follow (subscription_id, subscriber_id, share_id,"
	    " version, is_fork) SELECT id, subscriber_id, ?2, ?3, ?4"
	    " FROM subscription WHERE id = ?1 ON CONFLICT (subscription_id)"
	    " DO UPDATE SET share_id = excluded.share_id, version = excluded.version,"
	    " is_fork = excluded.is_fork, news = NULL";

	return sql_exec(store, sql, error, SQL_INT(subscription_id), SQL_INT(share_id),
	    SQL_INT(version), SQL_INT(is_fork));
}

/* ---- news for followers ---- */

bool
shares_has_news(struct store *store, bool *has, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM follow WHERE news IS NOT NULL)";

	return sql_has(store, sql, has, error);
}

/* The open proposal to take a version. */
#define PROPOSAL                                                        \
	"(SELECT max(p.number) FROM proposal p WHERE p.subscriber_id =" \
	" f.subscriber_id AND p.subscription_id = f.subscription_id"    \
	" AND p.state = 'open' AND p.expires_at > ?2"                   \
	" AND p.command = 'follow ' || h.name || ' version=' || f.news)"

GPtrArray *
shares_load_news(
    struct store *store, int64_t subscriber_id, int64_t until, GError **error)
{
	RECORD_LAYOUT(layout, share_news, "follow", "intTnnTTNNN", (), subscription_id,
	    number, label, name, news, version, added, removed, gained, lost, proposal);
	static const char sql[] =
	    "SELECT s.id, s.number, coalesce(s.name, s.text), h.name, f.news, "
	    "f.version,"
	    " c.added, c.removed, c.gained, c.lost, " PROPOSAL " FROM follow f"
	    " JOIN subscription s ON s.id = f.subscription_id"
	    " LEFT JOIN share h ON h.id = f.share_id"
	    " LEFT JOIN share_change c ON c.share_id = f.share_id"
	    "  AND c.from_version = f.version AND c.to_version = f.news"
	    " WHERE f.subscriber_id = ?1 AND f.news IS NOT NULL ORDER BY s.number";

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(subscriber_id), SQL_INT(until));
}

bool
shares_clear_news(
    struct store *store, int64_t subscription_id, int news, GError **error)
{
	/* A filter whose end was told is one like any other. */
	static const char sql_end[] =
	    "DELETE FROM follow WHERE subscription_id = ?1 AND share_id IS NULL";
	static const char sql[] =
	    "UPDATE follow SET news = NULL WHERE subscription_id = ?1 AND news = ?2";

	return news ? sql_exec(
	                  store, sql, error, SQL_INT(subscription_id), SQL_INT(news))
	            : sql_exec(store, sql_end, error, SQL_INT(subscription_id));
}

GPtrArray *
shares_load_changes(struct store *store, unsigned limit, GError **error)
{
	RECORD_LAYOUT(layout, share_change, "follow", "inntt", (), share_id,
	    from_version, to_version, from_text, to_text);
	static const char sql[] =
	    "SELECT DISTINCT f.share_id, f.version, f.news, o.text, n.text FROM follow "
	    "f"
	    " JOIN share_version o ON o.share_id = f.share_id AND o.version = f.version"
	    " JOIN share_version n ON n.share_id = f.share_id AND n.version = f.news"
	    " WHERE f.news > 0 AND NOT EXISTS (SELECT 1 FROM share_change c"
	    "  WHERE c.share_id = f.share_id AND c.from_version = f.version"
	    "  AND c.to_version = f.news) LIMIT ?1";

	return record_load_all(store, sql, &layout, error, SQL_INT(limit));
}

bool
shares_save_change(
    struct store *store, const struct share_change *change, GError **error)
{
	static const char sql[] =
	    "INSERT INTO share_change (share_id, from_version, to_version,"
	    " added, removed, gained, lost) SELECT id, ?2, ?3, ?4, ?5, ?6, ?7"
	    " FROM share WHERE id = ?1 ON CONFLICT (share_id, from_version, to_version)"
	    " DO UPDATE SET added = excluded.added, removed = excluded.removed,"
	    " gained = excluded.gained, lost = excluded.lost";

	return sql_exec(store, sql, error, SQL_INT(change->share_id),
	    SQL_INT(change->from_version), SQL_INT(change->to_version),
	    SQL_TEXT(change->added), SQL_TEXT(change->removed), SQL_INT(change->gained),
	    SQL_INT(change->lost));
}

bool
shares_skip_change(
    struct store *store, const struct share_change *change, GError **error)
{
	static const char sql[] =
	    "UPDATE follow SET version = ?3, news = NULL WHERE share_id = ?1"
	    " AND version = ?2 AND news = ?3";

	return sql_exec(store, sql, error, SQL_INT(change->share_id),
	    SQL_INT(change->from_version), SQL_INT(change->to_version));
}

GArray *
shares_load_unoffered(
    struct store *store, int64_t after, int64_t until, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT DISTINCT f.subscriber_id FROM follow f"
	    " JOIN share h ON h.id = f.share_id"
	    " JOIN subscriber o ON o.id = f.subscriber_id AND o.state = 'active'"
	    " JOIN share_change c ON c.share_id = f.share_id"
	    "  AND c.from_version = f.version AND c.to_version = f.news"
	    " WHERE f.news > 0 AND f.subscriber_id > ?1 AND " PROPOSAL " IS NULL"
	    " ORDER BY f.subscriber_id LIMIT ?3";

	return sql_load_numbers(
	    store, sql, error, SQL_INT(after), SQL_INT(until), SQL_INT(limit));
}

/* ---- undo ---- */

#define IS_OWN " IN (SELECT id FROM subscription WHERE subscriber_id = ?1)"

bool
shares_detach(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql_share[] =
	    "UPDATE share SET subscription_id = -subscription_id"
	    " WHERE subscription_id" IS_OWN;
	static const char sql_follow[] =
	    "UPDATE follow SET subscription_id = -subscription_id"
	    " WHERE subscription_id" IS_OWN;

	return sql_exec(store, sql_share, error, SQL_INT(subscriber_id)) &&
	       sql_exec(store, sql_follow, error, SQL_INT(subscriber_id));
}

struct changed_text {
	int64_t id;
	const char *text;
};

/* Record the filters whose text is not that of their version any more. */
static bool
record_changed(struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	RECORD_LAYOUT(layout, changed_text, "subscription", "it", (), id, text);
	static const char sql[] =
	    "SELECT s.id, s.text FROM subscription s JOIN"
	    " (SELECT subscription_id, id AS share_id, version FROM share"
	    "  WHERE subscription_id" IS_OWN
	    " UNION ALL SELECT subscription_id, share_id,"
	    "  version FROM follow WHERE subscription_id" IS_OWN " AND is_fork = 0) h"
	    " ON h.subscription_id = s.id JOIN share_version v"
	    " ON v.share_id = h.share_id AND v.version = h.version WHERE v.text <> "
	    "s.text";
	g_autoptr(GPtrArray) changed =
	    record_load_all(store, sql, &layout, error, SQL_INT(subscriber_id));

	for (unsigned i = 0; changed && i < changed->len; i++) {
		const struct changed_text *one = changed->pdata[i];

		if (!shares_record_edit(store, one->id, one->text, now, error))
			return false;
	}
	return changed != NULL;
}

bool
shares_attach(struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	static const char sql_share[] =
	    "UPDATE share SET subscription_id = -subscription_id"
	    " WHERE -subscription_id" IS_OWN;
	static const char sql_follow[] =
	    "UPDATE follow SET subscription_id = -subscription_id"
	    " WHERE -subscription_id" IS_OWN;
	static const char sql_end_share[] =
	    "DELETE FROM share WHERE subscription_id < 0";
	static const char sql_end_follow[] =
	    "DELETE FROM follow WHERE subscription_id < 0";

	return sql_exec(store, sql_share, error, SQL_INT(subscriber_id)) &&
	       sql_exec(store, sql_follow, error, SQL_INT(subscriber_id)) &&
	       sql_exec(store, sql_end_share, error) &&
	       sql_exec(store, sql_end_follow, error) &&
	       record_changed(store, subscriber_id, now, error);
}
