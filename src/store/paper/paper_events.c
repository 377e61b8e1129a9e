/*
 * paper_events.c - what became of papers, for those who were sent or watch them.
 */
#include "store/paper/paper_events.h"

#include "store/core/record.h"
#include "store/core/sql.h"
#include "store/paper/paper_row.h"

bool
paper_events_add(struct store *store, int64_t paper_seq, enum paper_event_kind kind,
    int64_t version, int64_t now, GError **error)
{
	static const char *const names[] = {
	    [PAPER_EVENT_RETRACTED] = "retracted",
	    [PAPER_EVENT_PUBLISHED] = "published",
	    [PAPER_EVENT_VERSION] = "version",
	    [PAPER_EVENT_CODE] = "code",
	};
	static const char sql[] =
	    "INSERT INTO paper_event (paper_seq, kind, version, at)"
	    " SELECT p.seq, CAST(?2 AS TEXT), CAST(?3 AS BIGINT), CAST(?4 AS BIGINT)"
	    " FROM paper p WHERE p.seq = ?1 AND (CAST(?2 AS TEXT) <> 'version'"
	    "  OR p.replacement < CAST(?3 AS BIGINT))"
	    " AND (CAST(?2 AS TEXT) = 'retracted' OR EXISTS (SELECT 1 FROM watch w"
	    "  JOIN paper q ON q.seq = w.paper_seq"
	    "  WHERE q.seq = p.seq OR q.work = p.work))"
	    /* Another record of its work may have it already. */
	    " AND (CAST(?2 AS TEXT) = 'version' OR NOT EXISTS (SELECT 1"
	    "  FROM paper_event e JOIN paper q ON q.seq = e.paper_seq"
	    "  WHERE e.kind = ?2 AND q.work = p.work))"
	    " ON CONFLICT (paper_seq, kind, version) DO NOTHING";

	return sql_exec(store, sql, error, SQL_INT(paper_seq), SQL_TEXT(names[kind]),
	    SQL_INT(version), SQL_INT(now));
}

bool
paper_events_limit_times(struct store *store, int64_t now, GError **error)
{
	static const char sql_event[] = "UPDATE paper_event SET at = ?1 WHERE at > ?1";
	static const char sql_watch[] = "UPDATE watch SET since = ?1"
	                                " WHERE until > ?1 AND since > ?1";

	return sql_exec(store, sql_event, error, SQL_INT(now)) &&
	       sql_exec(store, sql_watch, error, SQL_INT(now));
}

GPtrArray *
paper_events_load(struct store *store, int64_t since, GError **error)
{
	static const char sql[] =
	    "SELECT e.id, p.seq, coalesce(p.work, 0), e.kind, e.version, e.at, p.id,"
	    " p.title, nullif(p.journal, ''), nullif(p.comment, ''),"
	    " nullif(p.code_url, '') FROM paper_event e JOIN paper p ON p.seq = "
	    "e.paper_seq WHERE e.at >= ?1 ORDER BY e.id";
	RECORD_LAYOUT(layout, paper_event, "paper_event", "iinwnnttLTT",
	    (ENUMERATION_PAPER_EVENT_KIND), id, paper_seq, work, kind, version, at,
	    paper_id, title, journal, comment, code_url);

	return record_load_all(store, sql, &layout, error, SQL_INT(since));
}

GPtrArray *
paper_events_load_watched(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(p.work, p.seq), min(w.since), max(w.until) FROM watch w"
	    " JOIN paper p ON p.seq = w.paper_seq"
	    " WHERE w.subscriber_id = ?1 AND w.until >= ?2 GROUP BY 1 ORDER BY 1";
	RECORD_LAYOUT(layout, watched_paper, "watch", "inn", (), work, since, until);

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(subscriber_id), SQL_INT(now));
}

bool
paper_events_watch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    int64_t now, int64_t until, GError **error)
{
	static const char sql[] =
	    "INSERT INTO watch (subscriber_id, paper_seq, since, until)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (subscriber_id, paper_seq)"
	    " DO UPDATE SET until = excluded.until";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(paper_seq),
	    SQL_INT(now), SQL_INT(until));
}

bool
paper_events_unwatch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    bool *is_watched, GError **error)
{
	static const char sql[] =
	    "DELETE FROM watch WHERE subscriber_id = ?1 AND paper_seq IN"
	    " (SELECT w.paper_seq FROM watch w JOIN paper q ON q.seq = w.paper_seq"
	    "  JOIN paper p ON p.seq = ?2 WHERE w.subscriber_id = ?1"
	    "  AND coalesce(q.work, q.seq) = coalesce(p.work, p.seq))";
	unsigned count;

	if (!sql_exec_count(
	        store, sql, &count, error, SQL_INT(subscriber_id), SQL_INT(paper_seq)))
		return false;
	*is_watched = count > 0;
	return true;
}

/* Watches w of people who get mail: others who come back have theirs still. */
#define FROM_WATCHES                                                \
	" FROM watch w JOIN subscriber s ON s.id = w.subscriber_id" \
	" AND s.state = 'active' JOIN paper q ON q.seq = w.paper_seq"

/* Whether p is watched, or a record of its work; ?1 is the time. */
#define IS_WATCHED                      \
	"EXISTS (SELECT 1" FROM_WATCHES \
	" WHERE (q.seq = p.seq OR q.work = p.work) AND w.until >= ?1)"

bool
paper_events_find_watched(struct store *store, int64_t paper_seq, int64_t now,
    bool *is_watched, bool *was_asked, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM paper p WHERE p.seq = ?2 AND " IS_WATCHED ")";
	static const char sql_asked[] =
	    "SELECT EXISTS (SELECT 1 FROM watch_check WHERE service = ?1"
	    " AND paper_seq = ?2)";

	return sql_has(
	           store, sql, is_watched, error, SQL_INT(now), SQL_INT(paper_seq)) &&
	       sql_has(store, sql_asked, was_asked, error, SQL_INT(PAPER_LOOKUP_ARXIV),
	           SQL_INT(paper_seq));
}

GPtrArray *
paper_events_load_due(struct store *store, enum paper_lookup service, int64_t before,
    int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq IN"
	    " (SELECT p.seq" FROM_WATCHES
	    "  JOIN paper p ON p.seq = q.seq OR p.work = q.work"
	    "  WHERE w.until >= ?1 AND NOT EXISTS (SELECT 1 FROM watch_check c"
	    "   WHERE c.service = ?2 AND c.paper_seq = p.seq AND c.at > ?3"
	    "   AND c.at <= ?1))"
	    /* Ids of arXiv have no colon. */
	    " AND CASE WHEN ?2 IN (1, 8) THEN id NOT LIKE '%:%'"
	    "  WHEN doi LIKE '10.48550/%' THEN 1 = 0 WHEN ?2 = 4 THEN doi IS NOT NULL"
	    "  ELSE coalesce(doi, pmid, pmcid) IS NOT NULL END"
	    " ORDER BY coalesce((SELECT c.at FROM watch_check c WHERE c.service = ?2"
	    "  AND c.paper_seq = paper.seq), 0), seq LIMIT ?4";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(now),
	    SQL_INT(service), SQL_INT(before), SQL_INT(limit));

	return paper_row_load_all(store, statement, error);
}

bool
paper_events_count_asked(struct store *store, enum paper_lookup service, int64_t since,
    int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM watch_check WHERE service = ?1 AND at > ?2";

	return sql_number(store, sql, count, error, SQL_INT(service), SQL_INT(since));
}

bool
paper_events_save_asked(struct store *store, enum paper_lookup service,
    const GPtrArray *papers, int64_t now, GError **error)
{
	/* A paper may have been merged with another one by the answer. */
	static const char sql[] =
	    "INSERT INTO watch_check (service, paper_seq, at)"
	    " SELECT CAST(?1 AS BIGINT), seq, CAST(?3 AS BIGINT) FROM paper"
	    " WHERE seq = ?2"
	    " ON CONFLICT (service, paper_seq) DO UPDATE SET at = excluded.at";

	for (unsigned i = 0; i < papers->len; i++)
		if (!sql_exec(store, sql, error, SQL_INT(service),
		        SQL_INT(((struct stored_paper *)papers->pdata[i])->seq),
		        SQL_INT(now)))
			return false;
	return true;
}

GPtrArray *
paper_events_load_retractions(
    struct store *store, int64_t since, int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT s.id, e.id, p.id, p.title FROM paper_event e"
	    " JOIN paper p ON p.seq = e.paper_seq"
	    " JOIN paper q ON q.seq = p.seq OR q.work = p.work"
	    " JOIN watch w ON w.paper_seq = q.seq"
	    " JOIN subscriber s ON s.id = w.subscriber_id"
	    " WHERE e.at >= ?1 AND e.kind = 'retracted' AND s.retractions = 'mail'"
	    " AND s.state = 'active' AND w.since <= e.at AND w.until >= ?2"
	    " AND NOT EXISTS (SELECT 1 FROM retraction_mail m"
	    "  WHERE m.subscriber_id = s.id AND m.event_id = e.id)"
	    " AND NOT EXISTS (SELECT 1 FROM digest d WHERE d.subscriber_id = s.id"
	    "  AND d.state IN ('live', 'sent') AND d.event_id >= e.id)"
	    " GROUP BY s.id, e.id, p.id, p.title ORDER BY s.id, e.id LIMIT ?3";
	RECORD_LAYOUT(layout, retraction, "paper_event", "iitt", (), subscriber_id,
	    event_id, paper_id, title);

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(since), SQL_INT(now), SQL_INT(limit));
}

bool
paper_events_save_retraction(
    struct store *store, int64_t subscriber_id, int64_t event_id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO retraction_mail (subscriber_id, event_id) VALUES (?1, ?2)";
	/* A digest that is built at the same time has locked this row, or reads it. */
	static const char sql_changed[] =
	    "UPDATE subscriber SET retractions = retractions WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(event_id)) &&
	       sql_exec(store, sql_changed, error, SQL_INT(subscriber_id));
}

bool
paper_events_has_retraction(struct store *store, int64_t subscriber_id,
    int64_t event_id, bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM retraction_mail"
	                          " WHERE subscriber_id = ?1 AND event_id = ?2)";

	return sql_has(
	    store, sql, has, error, SQL_INT(subscriber_id), SQL_INT(event_id));
}
