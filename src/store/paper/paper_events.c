/*
 * paper_events.c - what became of papers, for those who were sent or watch them.
 */
#include "store/paper/paper_events.h"

#include "store/core/record.h"
#include "store/core/sql.h"

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
	    " ON CONFLICT (paper_seq, kind, version) DO NOTHING";

	return sql_exec(store, sql, error, SQL_INT(paper_seq), SQL_TEXT(names[kind]),
	    SQL_INT(version), SQL_INT(now));
}

GPtrArray *
paper_events_load(struct store *store, int64_t since, GError **error)
{
	static const char sql[] =
	    "SELECT e.id, p.seq, coalesce(p.work, 0), e.kind, e.version, e.at, p.id,"
	    " p.title, nullif(p.journal, '') FROM paper_event e"
	    " JOIN paper p ON p.seq = e.paper_seq WHERE e.at >= ?1 ORDER BY e.id";
	RECORD_LAYOUT(layout, paper_event, "paper_event", "iinwnnttT",
	    (ENUMERATION_PAPER_EVENT_KIND), id, paper_seq, work, kind, version, at,
	    paper_id, title, journal);

	return record_load_all(store, sql, &layout, error, SQL_INT(since));
}

GPtrArray *
paper_events_load_watched(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(p.work, p.seq), min(w.since) FROM watch w"
	    " JOIN paper p ON p.seq = w.paper_seq"
	    " WHERE w.subscriber_id = ?1 AND w.until >= ?2 GROUP BY 1";
	RECORD_LAYOUT(layout, watched_paper, "watch", "in", (), work, since);

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
