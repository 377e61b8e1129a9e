/*
 * bounces.c - evidence from bounces and complaints, probe messages, paused domains.
 */
#include "store/mail/bounces.h"

#include <string.h>

#include "store/core/record.h"
#include "store/core/sql.h"

/* SQL: what follows the last '@'. */
#define DOMAIN_OF(key) \
	"substr(" key ", length(rtrim(" key ", replace(" key ", '@', ''))) + 1)"
/* The same as DOMAIN_OF(key) = domain, but faster. */
#define IS_IN_DOMAIN(key, domain) \
	"substr(" key ", length(" key ") - length(" domain ")) = '@' || " domain

/* The domain of an address, which has one '@' outside of a quoted local part at least.
 */
static const char *
get_domain(const char *address)
{
	const char *at = strrchr(address, '@');

	return at ? at + 1 : "";
}

bool
bounces_save(
    struct store *store, const struct bounce_row *row, bool *is_new, GError **error)
{
	static const char sql[] =
	    "INSERT INTO bounce (subscriber_id, message, at, class, is_scored,"
	    " is_domain_fault, rule, status, code, agent, line)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
	    " ON CONFLICT (subscriber_id, message) DO UPDATE SET at = excluded.at,"
	    "  class = excluded.class, is_scored = excluded.is_scored,"
	    "  is_domain_fault = excluded.is_domain_fault, rule = excluded.rule,"
	    "  status = excluded.status, code = excluded.code, agent = excluded.agent,"
	    "  line = excluded.line"
	    " WHERE (bounce.class <> 'complaint' AND bounce.class <> excluded.class"
	    "   AND excluded.class IN ('dead', 'complaint'))"
	    "  OR (bounce.class = 'sender'"
	    "   AND excluded.is_domain_fault > bounce.is_domain_fault)";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_INT(row->subscriber_id),
	        SQL_TEXT(row->message), SQL_INT(row->at), SQL_TEXT(row->class),
	        SQL_INT(row->is_scored), SQL_INT(row->is_domain_fault),
	        SQL_TEXT(row->rule), SQL_TEXT(row->status), SQL_INT_OR_NULL(row->code),
	        SQL_TEXT(row->agent), SQL_TEXT(row->line)))
		return false;
	*is_new = count > 0;
	return true;
}

/* In the order of row_columns. */
#define ROW_COLUMNS                                                                   \
	"SELECT b.id, b.subscriber_id, s.address, s.state, b.message, b.at, b.class," \
	" b.is_scored, b.is_domain_fault, b.rule, b.status, b.code, b.agent, b.line"  \
	" FROM bounce b JOIN subscriber s ON s.id = b.subscriber_id"

RECORD_LAYOUT(row_layout, bounce_row, "bounce", "iitwtnwnntTNTT",
    (ENUMERATION_SUBSCRIBER_STATE, ENUMERATION_BOUNCE_CLASS), id, subscriber_id,
    address, state, message, at, class, is_scored, is_domain_fault, rule, status, code,
    agent, line);

GPtrArray *
bounces_load_scored(struct store *store, int64_t subscriber_id, int64_t since,
    int64_t until, GError **error)
{
	static const char sql[] =
	    ROW_COLUMNS " WHERE b.subscriber_id = ?1 AND b.is_scored = 1"
	                " AND b.at BETWEEN ?2 AND ?3"
	                " ORDER BY b.at, b.id";

	return record_load_all(store, sql, &row_layout, error, SQL_INT(subscriber_id),
	    SQL_INT(since), SQL_INT(until));
}

GPtrArray *
bounces_load_person(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    ROW_COLUMNS " WHERE b.subscriber_id = ?1 ORDER BY b.at, b.id";

	return record_load_all(store, sql, &row_layout, error, SQL_INT(subscriber_id));
}

GArray *
bounces_load_suspects(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT DISTINCT b.subscriber_id FROM bounce b"
	    " JOIN subscriber s ON s.id = b.subscriber_id"
	    " WHERE b.is_scored = 1 AND s.state = 'active' AND b.subscriber_id > ?1"
	    " ORDER BY b.subscriber_id LIMIT ?2";

	return sql_load_numbers(store, sql, error, SQL_INT(after), SQL_INT(limit));
}

bool
bounces_reset(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "UPDATE bounce SET is_scored = 0 WHERE subscriber_id "
	                          "= ?1 AND is_scored = 1";
	static const char sql_probe[] =
	    "DELETE FROM bounce_probe WHERE subscriber_id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id)) &&
	       sql_exec(store, sql_probe, error, SQL_INT(subscriber_id));
}

#define CLASS_COUNTS                                    \
	"count(*) FILTER (WHERE class = 'dead'),"       \
	" count(*) FILTER (WHERE class = 'full'),"      \
	" count(*) FILTER (WHERE class = 'temporary')," \
	" count(*) FILTER (WHERE class = 'sender'),"    \
	" count(*) FILTER (WHERE class = 'complaint')"

/* In the order of summary_columns; the line is that of the newest row. */
#define SUMMARY_COLUMNS                                                         \
	"SELECT b.subscriber_id, max(s.address), max(s.state), " CLASS_COUNTS   \
	", max(b.at),"                                                          \
	" (SELECT n.line FROM bounce n WHERE n.subscriber_id = b.subscriber_id" \
	"  ORDER BY n.at DESC, n.id DESC LIMIT 1)"                              \
	" FROM bounce b JOIN subscriber s ON s.id = b.subscriber_id"

RECORD_LAYOUT(summary_layout, bounce_summary, "bounce", "itwnnnnnnT",
    (ENUMERATION_SUBSCRIBER_STATE), subscriber_id, address, state, dead, full,
    temporary, sender, complaint, last_at, last_line);

GPtrArray *
bounces_load_summaries(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] =
	    SUMMARY_COLUMNS " WHERE b.subscriber_id > ?1 GROUP BY b.subscriber_id"
	                    " ORDER BY b.subscriber_id LIMIT ?2";

	return record_load_all(
	    store, sql, &summary_layout, error, SQL_INT(after), SQL_INT(limit));
}

bool
bounces_find_summary(struct store *store, int64_t subscriber_id, int64_t since,
    struct bounce_summary **summary, GError **error)
{
	static const char sql[] =
	    SUMMARY_COLUMNS " WHERE b.subscriber_id = ?1 AND b.at >= ?2"
	                    " GROUP BY b.subscriber_id";

	return record_find(store, sql, &summary_layout, summary, error,
	    SQL_INT(subscriber_id), SQL_INT(since));
}

bool
bounces_load_totals(
    struct store *store, int64_t since, struct bounce_summary *totals, GError **error)
{
	static const char sql[] =
	    "SELECT " CLASS_COUNTS ", max(at) FROM bounce WHERE at >= ?1";
	RECORD_LAYOUT(layout, bounce_summary, "bounce", "nnnnnN", (), dead, full,
	    temporary, sender, complaint, last_at);
	g_autofree struct bounce_summary *loaded = NULL;

	if (!record_find(store, sql, &layout, &loaded, error, SQL_INT(since)))
		return false;
	*totals = *loaded;
	return true;
}

bool
bounces_count_domain(struct store *store, const char *address, int64_t since,
    struct bounce_domain *counts, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM subscriber WHERE state IN"
	    " ('active', 'suspended') AND " IS_IN_DOMAIN("address_key", "lower(?1)");
	static const char sql_bounced[] =
	    "SELECT count(DISTINCT b.subscriber_id) FROM bounce b"
	    " JOIN subscriber s ON s.id = b.subscriber_id"
	    " WHERE b.at >= ?2 AND b.class IN ('dead', 'full', 'temporary')"
	    " AND " IS_IN_DOMAIN("s.address_key", "lower(?1)");
	const char *domain = get_domain(address);

	return sql_number(store, sql, &counts->subscribers, error, SQL_TEXT(domain)) &&
	       sql_number(store, sql_bounced, &counts->bounced, error, SQL_TEXT(domain),
	           SQL_INT(since));
}

GPtrArray *
bounces_load_domains(struct store *store, int64_t since, int64_t least, GError **error)
{
#define DOMAIN DOMAIN_OF("s.address_key")
#define IS_IN  IS_IN_DOMAIN("s.address_key", "domain")
	static const char sql[] =
	    "WITH bounced AS (SELECT " DOMAIN " AS domain,"
	    "  count(DISTINCT b.subscriber_id) AS count"
	    "  FROM bounce b JOIN subscriber s ON s.id = b.subscriber_id"
	    "  WHERE b.at >= ?1 AND b.class IN ('dead', 'full', 'temporary')"
	    "  GROUP BY 1 HAVING count(DISTINCT b.subscriber_id) >= ?2)"
	    " SELECT domain, (SELECT count(*) FROM subscriber s WHERE s.state IN"
	    "  ('active', 'suspended') AND " IS_IN "), count"
	    " FROM bounced ORDER BY domain";
#undef DOMAIN
#undef IS_IN
	RECORD_LAYOUT(layout, bounce_domain, "subscriber", "tnn", (), domain,
	    subscribers, bounced);

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(since), SQL_INT(least));
}

/* SQL: since ?2, the domain ?1 has refused a message for our fault. */
#define REFUSED                                                               \
	" WHERE b.at >= ?2 AND b.class = 'sender' AND b.is_domain_fault = 1 " \
	"AND " IS_IN_DOMAIN("s.address_key", "lower(?1)")

bool
bounces_count_refused(struct store *store, const char *address, int64_t since,
    int64_t *people, GError **error)
{
	static const char sql[] =
	    "SELECT count(DISTINCT b.subscriber_id) FROM bounce b"
	    " JOIN subscriber s ON s.id = b.subscriber_id" REFUSED;

	return sql_number(
	    store, sql, people, error, SQL_TEXT(get_domain(address)), SQL_INT(since));
}

GArray *
bounces_load_refused(
    struct store *store, const char *address, int64_t since, GError **error)
{
	static const char sql[] =
	    "SELECT d.id FROM bounce b JOIN subscriber s ON s.id = b.subscriber_id"
	    " JOIN digest d ON d.subscriber_id = b.subscriber_id"
	    "  AND b.message = 'digest-' || d.id" REFUSED;

	return sql_load_numbers(
	    store, sql, error, SQL_TEXT(get_domain(address)), SQL_INT(since));
}

bool
bounces_mark_requeued(struct store *store, int64_t digest_id, GError **error)
{
	static const char sql[] =
	    "UPDATE bounce SET is_domain_fault = 0 WHERE EXISTS"
	    " (SELECT 1 FROM digest d WHERE d.id = ?1"
	    "  AND d.subscriber_id = bounce.subscriber_id"
	    "  AND bounce.message = 'digest-' || d.id)"
	    " AND subscriber_id = (SELECT subscriber_id FROM digest WHERE id = ?1)";

	return sql_exec(store, sql, error, SQL_INT(digest_id));
}

bool
bounces_find_unaffected(struct store *store, const char *address, int64_t since,
    int64_t *subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(min(s.id), 0) FROM subscriber s WHERE s.state = 'active'"
	    " AND " IS_IN_DOMAIN(
	        "s.address_key", "lower(?1)") " AND NOT EXISTS (SELECT 1 FROM bounce b "
	                                      "WHERE b.subscriber_id = s.id"
	                                      "  AND b.at >= ?2)";

	return sql_number(store, sql, subscriber_id, error,
	    SQL_TEXT(get_domain(address)), SQL_INT(since));
}

/* ---- probes ---- */

bool
bounces_find_probe(struct store *store, int64_t subscriber_id,
    struct bounce_probe **probe, GError **error)
{
	static const char sql[] =
	    "SELECT outbox_id, sent_at FROM bounce_probe WHERE subscriber_id = ?1";
	RECORD_LAYOUT(
	    layout, bounce_probe, "bounce_probe", "in", (), outbox_id, sent_at);

	return record_find(store, sql, &layout, probe, error, SQL_INT(subscriber_id));
}

bool
bounces_save_probe(struct store *store, int64_t subscriber_id,
    const struct bounce_probe *probe, GError **error)
{
	static const char sql[] =
	    "INSERT INTO bounce_probe (subscriber_id, outbox_id, sent_at)"
	    " VALUES (?1, ?2, ?3) ON CONFLICT (subscriber_id) DO UPDATE SET"
	    " outbox_id = excluded.outbox_id, sent_at = excluded.sent_at";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id),
	    SQL_INT(probe->outbox_id), SQL_INT(probe->sent_at));
}

/* ---- paused domains ---- */

bool
domain_pauses_save(
    struct store *store, const struct domain_pause *pause, GError **error)
{
	static const char sql[] =
	    "INSERT INTO domain_pause (domain, since, until, rule, reply)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)"
	    " ON CONFLICT (domain) DO UPDATE SET until = excluded.until,"
	    "  since = CASE WHEN domain_pause.until < ?6 THEN excluded.since"
	    "   ELSE domain_pause.since END,"
	    "  rule = CASE WHEN domain_pause.until < ?6 THEN excluded.rule"
	    "   ELSE domain_pause.rule END,"
	    "  reply = CASE WHEN domain_pause.until < ?6 THEN excluded.reply"
	    "   ELSE domain_pause.reply END";

	return sql_exec(store, sql, error, SQL_TEXT(pause->domain),
	    SQL_INT(pause->since), SQL_INT(pause->until), SQL_TEXT(pause->rule),
	    SQL_TEXT(pause->reply), SQL_INT(pause->since - DOMAIN_PAUSE_GAP_S));
}

bool
domain_pauses_delete(struct store *store, const char *domain, GError **error)
{
	static const char sql[] =
	    "DELETE FROM domain_pause WHERE ?1 IS NULL OR domain = ?1";

	return sql_exec(store, sql, error, SQL_TEXT(domain));
}

#define PAUSE_COLUMNS "SELECT domain, since, until, rule, reply FROM domain_pause"

RECORD_LAYOUT(pause_layout, domain_pause, "domain_pause", "tnntt", (), domain, since,
    until, rule, reply);

bool
domain_pauses_find(struct store *store, const char *domain, struct domain_pause **pause,
    GError **error)
{
	static const char sql[] = PAUSE_COLUMNS " WHERE domain = ?1";

	return record_find(store, sql, &pause_layout, pause, error, SQL_TEXT(domain));
}

GPtrArray *
domain_pauses_load(struct store *store, int64_t after, GError **error)
{
	static const char sql[] = PAUSE_COLUMNS " WHERE until > ?1 ORDER BY domain";

	return record_load_all(store, sql, &pause_layout, error, SQL_INT(after));
}
