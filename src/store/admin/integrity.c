/*
 * integrity.c - consistency checks of the database: pages, references, invariants.
 */
#include "store/admin/integrity.h"

#include "base/clock.h"
#include "base/day.h"
#include "model/digest_contents.h"
#include "model/taste_vector.h"
#include "store/core/record.h"

#define MOST_PROBLEMS 10

/* @param known  papers that have been found, by seq */
static bool
are_known(struct store *store, const GArray *papers, GHashTable *known, bool *are,
    GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM paper WHERE seq = ?1)"
	                          " OR EXISTS (SELECT 1 FROM paper_moved"
	                          " WHERE old_seq = ?1)";

	*are = true;
	for (unsigned i = 0; i < papers->len && *are; i++) {
		int64_t seq =
		    g_array_index(papers, struct digest_contents_version, i).seq;

		if (g_hash_table_contains(known, &seq))
			continue;
		if (!sql_has(store, sql, are, error, SQL_INT(seq)))
			return false;
		if (*are)
			g_hash_table_add(known, g_memdup2(&seq, sizeof(seq)));
	}
	return true;
}

/* Whether a packed value can be read.  @param count  of papers; -1: of delivered ones
 */
static bool
can_unpack(const void *data, size_t size, int64_t count, GArray *papers)
{
	pb_local(digest_contents) contents = {0};
	size_t head_bytes;

	if (!digest_contents_unpack_papers(data, size, papers, &head_bytes, NULL))
		return false;
	if (count < 0)
		return head_bytes == size;
	digest_contents_init(&contents);
	return digest_contents_unpack(&contents, data, size, NULL) &&
	       contents.papers->len == (uint64_t)count;
}

static bool
count_damaged_digests(struct store *store, int64_t now, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT contents, papers FROM digest"
	                          " UNION ALL SELECT papers, -1 FROM delivered";
	g_autoptr(GHashTable) known =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GArray) papers =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
	sql_auto *statement = sql_bind(store, sql, error);
	enum sql_step step = SQL_STEP_FAILED;
	int64_t damaged = 0;

	(void)now;
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct sql_bytes packed = sql_get_bytes(statement, 0);
		bool is_sound;

		g_array_set_size(papers, 0);
		is_sound = can_unpack(
		    packed.data, packed.size, sql_get_int(statement, 1), papers);
		if (is_sound && !are_known(store, papers, known, &is_sound, error))
			return false;
		damaged += !is_sound;
	}
	if (step != SQL_STEP_DONE)
		return false;
	*count = damaged;
	return true;
}

static bool
count_damaged_tastes(struct store *store, int64_t now, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT words FROM taste";
	sql_auto *statement = sql_bind(store, sql, error);
	enum sql_step step = SQL_STEP_FAILED;
	int64_t damaged = 0;

	(void)now;
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		pb_local(taste_vector) vector = {0};
		struct sql_bytes words = sql_get_bytes(statement, 0);

		taste_vector_init(&vector);
		damaged += !taste_vector_unpack(&vector, words.data, words.size, NULL);
	}
	if (step != SQL_STEP_DONE)
		return false;
	*count = damaged;
	return true;
}

static bool
count_long_pending(struct store *store, int64_t now, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM match_pending m JOIN paper p ON p.seq = m.paper_seq"
	    " WHERE p.last_day < ?1";
	char day[DAY_BYTES];

	day_format(now - 16 * CLOCK_DAY_S, day);
	return sql_number(store, sql, count, error, SQL_TEXT(day));
}

const struct integrity_rule integrity_rules[] = {
    {"digest-without-message", "digests are live without a message",
        "their papers are never mailed: restore a backup",
        .sql = "SELECT count(*) FROM digest g WHERE g.state = 'live' AND NOT EXISTS"
               " (SELECT 1 FROM outbox o WHERE o.digest_id = g.id AND ?1 > 0)"},
    {"message-without-end", "messages have ended, but their digests are live",
        "their papers are never mailed: restore a backup",
        .sql = "SELECT count(*) FROM digest g JOIN outbox o ON o.digest_id = g.id"
               " WHERE g.state = 'live' AND o.ended_at IS NOT NULL AND ?1 > 0"},
    {"digest-ended-early", "messages are queued, but their digests have ended",
        "a paper may be mailed twice: run paperboyctl queue drop --delivered",
        .sql = "SELECT count(*) FROM outbox o JOIN digest g ON g.id = o.digest_id"
               " WHERE o.ended_at IS NULL AND g.state <> 'live' AND ?1 > 0"},
    {"message-without-digest", "messages have no digest",
        "they cannot be composed: restore a backup",
        .sql = "SELECT count(*) FROM outbox o WHERE o.kind = 'digest' AND NOT EXISTS"
               " (SELECT 1 FROM digest g WHERE g.id = o.digest_id AND ?1 > 0)"},
    {"digest-damaged", "digests or deliveries are damaged, or name unknown papers",
        "they are not sent, and nothing is sent after a damaged delivery: restore a "
        "backup",
        .count = count_damaged_digests},
    {"taste-damaged", "learned words of subscribers are damaged",
        "papers are in the usual order until the subscriber's next like or hide",
        .count = count_damaged_tastes},
    {"sent-not-delivered", "digests were sent but are not recorded as delivered",
        "they may be mailed again: restore a backup",
        .sql = "SELECT count(*) FROM digest g WHERE g.state = 'sent' AND g.papers > 0"
               " AND NOT EXISTS (SELECT 1 FROM delivered d"
               "  WHERE d.subscriber_id = g.subscriber_id AND d.digest_id = g.id)"
               " AND ?1 > 0"},
    {"delivered-without-digest", "digests are recorded as delivered that never existed",
        "harmless; the records are deleted after three years",
        /* Digests are kept for longer. */
        .sql = "SELECT count(*) FROM delivered d WHERE d.at > ?1 - 59 * 86400"
               " AND d.digest_id > (SELECT coalesce(max(id), 0) FROM digest)"},
    {"no-due-time", "active subscribers have no due time",
        "they get no mail: see paperboyctl subscriber show; remove and add them",
        .sql = "SELECT count(*) FROM subscriber WHERE state = 'active'"
               " AND next_due_at IS NULL AND ?1 > 0"},
    {"far-due-time", "active subscribers are due more than 15 days from now",
        "the clock was wrong; paperboyd repairs this when it next builds digests",
        .sql = "SELECT count(*) FROM subscriber WHERE state = 'active'"
               " AND next_due_at > ?1 + 15 * 86400"},
    {"filter-unused", "unused filters were not deleted for two days",
        "harmless; is paperboyd running? It deletes them once a day",
        /* Maintenance deletes them once a day. */
        .sql = "SELECT count(*) FROM filter f WHERE f.created_at < ?1 - 2 * 86400"
               " AND NOT EXISTS (SELECT 1 FROM subscription s WHERE s.filter_id = f.id)"
               " AND NOT EXISTS (SELECT 1 FROM cursor c WHERE c.name = 'upkeep'"
               "  AND c.value > ?1 - 2 * 86400)"},
    {"filter-not-indexed", "filters are not in the index",
        "new papers do not match them; paperboyd repairs this once a day",
        .sql = "SELECT count(*) FROM filter f WHERE NOT EXISTS"
               " (SELECT 1 FROM filter_term t WHERE t.filter_id = f.id AND ?1 > 0)"},
    {"match-pending-too-long", "matches are pending for more than 16 days",
        "is paperboyd running? It decides them in its next run",
        .count = count_long_pending},
    {"sending-too-long", "messages are SENDING for more than two hours",
        "is paperboyd running? It retries them when it starts",
        .sql = "SELECT count(*) FROM outbox WHERE state = 'SENDING'"
               " AND claimed_at < ?1 - 7200"},
    {"inbox-crashes", "inbound messages were being handled in more than one crash",
        "see the log of paperboyd; they are quarantined after the tenth crash",
        .sql = "SELECT count(*) FROM inbox WHERE state = 'new' AND started > 1 AND ?1 "
               "> 0"},
    {"inbox-too-old", "inbound messages are older than the retention time",
        "is paperboyd running? It deletes them once a day",
        /* One day of grace, and one until the next maintenance. */
        .sql = "SELECT count(*) FROM inbox WHERE state = 'quarantined'"
               " AND ended_at < ?1 - 16 * 86400"},
    {"confirmation-too-old", "confirmations are older than the retention time",
        "harmless; is paperboyd running? It deletes them once a day",
        .sql = "SELECT count(*) FROM confirmation WHERE expires_at < ?1 - 9 * 86400"},
    {"confirmation-far", "confirmations expire later than possible",
        "the clock was wrong; harmless, but they are valid for longer",
        .sql = "SELECT count(*) FROM confirmation WHERE expires_at > ?1 + 8 * 86400"},
    {0},
};

bool
integrity_count(
    struct store *store, unsigned rule, int64_t now, int64_t *count, GError **error)
{
	const struct integrity_rule *checked = &integrity_rules[rule];

	return checked->count
	           ? checked->count(store, now, count, error)
	           : sql_number(store, checked->sql, count, error, SQL_INT(now));
}

bool
integrity_check_pages(struct store *store, GPtrArray *problems, GError **error)
{
	static const char sql[] = "PRAGMA integrity_check(10)";
	sql_auto *statement = sql_bind(store_get_archive(store), sql, error);
	enum sql_step step;

	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		g_autofree char *text = sql_dup_text(statement, 0);

		g_strdelimit(text, "\n", ' ');
		if (g_strcmp0(text, "ok") != 0)
			g_ptr_array_add(problems, g_steal_pointer(&text));
	}
	return step == SQL_STEP_DONE;
}

/* @param statement  with the columns table, row, referenced table */
static bool
add_orphans(struct sql_statement *statement, GPtrArray *problems, GError **error)
{
	enum sql_step step;

	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		if (problems->len < MOST_PROBLEMS)
			g_ptr_array_add(problems,
			    g_strdup_printf("row %" G_GINT64_FORMAT
			                    " of %s refers to no row of %s",
			        sql_get_int(statement, 1), sql_get_text(statement, 0),
			        sql_get_text(statement, 2)));
	return step == SQL_STEP_DONE;
}

bool
integrity_check_references(struct store *store, GPtrArray *problems, GError **error)
{
	static const char sql[] = "PRAGMA foreign_key_check";
	/* This reference is not declared in the schema. */
	static const char sql_found[] =
	    "SELECT DISTINCT 'match', filter_id, 'filter' FROM match"
	    " WHERE filter_id NOT IN (SELECT id FROM filter)";
	sql_auto *declared = NULL, *found = NULL;

	/* A server enforces what is declared. */
	if (!store->postgresql) {
		declared = sql_bind(store, sql, error);
		if (!add_orphans(declared, problems, error))
			return false;
	}
	found = sql_bind(store, sql_found, error);
	return add_orphans(found, problems, error);
}

GPtrArray *
integrity_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT id, canonical, hash FROM filter"
	                          " WHERE id > ?1 ORDER BY id LIMIT ?2";
	RECORD_LAYOUT(
	    layout, integrity_filter, "filter", "itt", (), id, canonical, hash);

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(after), SQL_INT(limit));
}

GPtrArray *
integrity_load_zones(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT DISTINCT zone FROM subscriber WHERE state <> 'gone' ORDER BY zone";

	return sql_load_texts(store, sql, error);
}

bool
integrity_load_newest_time(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] =
	    "SELECT max(at) FROM (SELECT max(fetched_at) AS at FROM source_fetch"
	    " UNION ALL SELECT max(created_at) FROM digest"
	    " UNION ALL SELECT max(claimed_at) FROM outbox"
	    " UNION ALL SELECT max(at) FROM audit_log"
	    " UNION ALL SELECT max(first_seen_at) FROM paper) AS newest";

	return sql_number(store, sql, at, error);
}
