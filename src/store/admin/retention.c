/*
 * retention.c - deletion of rows after their retention time.
 */
#include "store/admin/retention.h"

#include "store/core/sql.h"

/* ?1 is the time, ?2 the limit. */
static const char *const statements[] = {
    [RETENTION_DELIVERED] =
        "DELETE FROM delivered WHERE (subscriber_id, digest_id) IN"
        " (SELECT subscriber_id, digest_id FROM delivered WHERE at < ?1 LIMIT ?2)",
    [RETENTION_REJECTED] =
        "DELETE FROM digest_rejected WHERE (subscriber_id, paper_seq) IN"
        " (SELECT subscriber_id, paper_seq FROM digest_rejected WHERE"
        " at < ?1 LIMIT ?2)",
    [RETENTION_OUTBOX] = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE"
                         " ended_at < ?1 LIMIT ?2)",
    [RETENTION_DIGEST] =
        "DELETE FROM digest WHERE id IN (SELECT d.id FROM digest d WHERE"
        " d.created_at < ?1 AND d.state <> 'live' AND NOT EXISTS (SELECT 1"
        " FROM outbox o WHERE o.digest_id = d.id) LIMIT ?2)",
    [RETENTION_BOUNCE] = "DELETE FROM bounce WHERE id IN (SELECT id FROM bounce WHERE"
                         " at < ?1 LIMIT ?2)",
    [RETENTION_PAUSE] = "DELETE FROM domain_pause WHERE domain IN (SELECT domain FROM"
                        " domain_pause WHERE until < ?1 LIMIT ?2)",
    [RETENTION_CONFIRMATION] =
        "DELETE FROM confirmation WHERE id IN (SELECT id FROM confirmation"
        " WHERE expires_at < ?1 LIMIT ?2)",
    [RETENTION_RATE_LOG] =
        "DELETE FROM rate_log WHERE id IN (SELECT id FROM rate_log WHERE"
        " at < ?1 LIMIT ?2)",
    [RETENTION_FETCH] =
        "DELETE FROM source_fetch WHERE id IN (SELECT id FROM source_fetch"
        " WHERE fetched_at < ?1 LIMIT ?2)",
    [RETENTION_QUARANTINE] =
        "UPDATE inbox SET state = 'done', sender = NULL, recipient = NULL,"
        " raw = NULL WHERE id IN (SELECT id FROM inbox WHERE state ="
        " 'quarantined' AND ended_at < ?1 LIMIT ?2)",
    [RETENTION_INBOX] =
        "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE state ="
        " 'done' AND received_at < ?1 LIMIT ?2)",
    [RETENTION_PROPOSAL] =
        "DELETE FROM proposal WHERE id IN (SELECT id FROM proposal WHERE"
        " expires_at < ?1 AND (state <> 'refused' OR (subscription_id <> 0"
        "  AND NOT EXISTS (SELECT 1 FROM subscription s"
        "   WHERE s.id = proposal.subscription_id))) LIMIT ?2)",
    [RETENTION_EVENT] = "DELETE FROM paper_event WHERE id IN (SELECT id FROM"
                        " paper_event WHERE at < ?1 LIMIT ?2)",
    [RETENTION_WATCH_PAUSED] =
        "UPDATE watch SET until = ?1 WHERE (subscriber_id, paper_seq) IN"
        " (SELECT w.subscriber_id, w.paper_seq FROM watch w JOIN subscriber s"
        "  ON s.id = w.subscriber_id AND s.state = 'paused' WHERE w.until < ?1"
        "  LIMIT ?2)",
    [RETENTION_WATCH] =
        "DELETE FROM watch WHERE (subscriber_id, paper_seq) IN"
        " (SELECT subscriber_id, paper_seq FROM watch WHERE until < ?1 LIMIT ?2)",
    [RETENTION_WATCH_CHECK] =
        "DELETE FROM watch_check WHERE (service, paper_seq) IN (SELECT service,"
        " paper_seq FROM watch_check WHERE at < ?1 LIMIT ?2)",
    [RETENTION_VERSION] =
        "DELETE FROM share_version WHERE (share_id, version) IN (SELECT v.share_id,"
        " v.version FROM share_version v JOIN share h ON h.id = v.share_id"
        "  AND h.version > v.version WHERE v.created_at < ?1"
        " AND NOT EXISTS (SELECT 1 FROM follow f WHERE f.share_id = v.share_id"
        "  AND f.version = v.version)"
        " AND NOT EXISTS (SELECT 1 FROM proposal_change c"
        "  WHERE c.share_id = v.share_id AND c.version = v.version) LIMIT ?2)",
};

bool
retention_prune(struct store *store, enum retention which, int64_t before,
    unsigned limit, unsigned *count, GError **error)
{
	return sql_exec_count(
	    store, statements[which], count, error, SQL_INT(before), SQL_INT(limit));
}
