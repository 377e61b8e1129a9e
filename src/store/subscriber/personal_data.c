/*
 * personal_data.c - the inventory of personal data: export and erasure of every table.
 */
#include "store/subscriber/personal_data.h"

#include <string.h>

#include "base/day.h"
#include "store/core/record.h"
#include "store/paper/paper_history.h"
#include "store/subscriber/feedback.h"

#define ADDRESS_KEY "(SELECT address_key FROM subscriber WHERE id = ?1)"

/* Rows of the subscriber, and rows of the address from before the subscription. */
#define IS_OWN "(subscriber_id = ?1 OR address_key = " ADDRESS_KEY ")"

static void
row_free(gpointer data)
{
	char **row = data;

	for (int i = 0; i < PERSONAL_DATA_FIELDS; i++)
		g_free(row[i]);
	g_free(row);
}

/* A paper when it was delivered last. */
struct delivered {
	int64_t seq, at;
};

static int
compare_delivered(gconstpointer a, gconstpointer b)
{
	const struct delivered *one = a, *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return (one->seq > other->seq) - (one->seq < other->seq);
}

/* Delivered papers and when they were delivered last, by that time. */
static GPtrArray *
load_delivered(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "SELECT id FROM paper WHERE seq = ?1";
	g_autoptr(GHashTable) all =
	    paper_history_load_deliveries(store, subscriber_id, error);
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct delivered));
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	GHashTableIter iter;
	gpointer seq, delivery;

	if (!all)
		return NULL;
	g_hash_table_iter_init(&iter, all);
	while (g_hash_table_iter_next(&iter, &seq, &delivery)) {
		const struct delivered one = {
		    *(int64_t *)seq, ((struct paper_history_delivery *)delivery)->at};

		g_array_append_val(sorted, one);
	}
	g_array_sort(sorted, compare_delivered);
	for (unsigned i = 0; i < sorted->len; i++) {
		const struct delivered *one =
		    &g_array_index(sorted, struct delivered, i);
		sql_auto *statement = sql_bind(store, sql, error, SQL_INT(one->seq));
		enum sql_step step = statement
		                         ? record_next(statement, "paper", "t", error)
		                         : SQL_STEP_FAILED;
		char **row;

		if (step == SQL_STEP_FAILED)
			return NULL;
		if (step == SQL_STEP_DONE)
			continue;
		row = g_new0(char *, PERSONAL_DATA_FIELDS);
		row[0] = sql_dup_text(statement, 0);
		row[1] = day_format_time(one->at);
		g_ptr_array_add(rows, row);
	}
	return g_steal_pointer(&rows);
}

/* Learned words with their weights, in the order of their hashes. */
static GPtrArray *
load_taste(struct store *store, int64_t subscriber_id, GError **error)
{
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	pb_local(taste_vector) vector = {0};

	taste_vector_init(&vector);
	if (!feedback_load_taste(store, subscriber_id, &vector, error))
		return NULL;
	for (unsigned i = 0; i < vector.weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(&vector, i);
		char **row = g_new0(char *, PERSONAL_DATA_FIELDS);

		row[0] = g_strdup(weight->word);
		row[1] = g_strdup_printf("%d", weight->weight);
		g_ptr_array_add(rows, row);
	}
	return g_steal_pointer(&rows);
}

const struct personal_data personal_data[] = {
    /* Canonical filters may contain text of a subscriber; they are shared. */
    {.table = "filter",
        .erase = "DELETE FROM filter WHERE ?1 > 0 AND NOT EXISTS"
                 " (SELECT 1 FROM subscription s WHERE s.filter_id = filter.id)"},
    {.table = "filter_term"},
    {.table = "match"},
    {.table = "match_pending"},
    /* Exported by the caller, which formats the preferences. */
    {.table = "subscriber", .erase = "DELETE FROM subscriber WHERE id = ?1"},
    {"subscription", "filters",
        {"number", "kind", "name", "text", "canonical", "note", "max", "since",
            "created"},
        "SELECT number, CASE is_block WHEN 0 THEN 'filter' ELSE 'block' END, name, "
        "text, f.canonical,"
        " note, max_papers, since_day, s.created_at FROM subscription s JOIN filter f "
        "ON f.id = s.filter_id"
        " WHERE subscriber_id = ?1 ORDER BY number",
        "DELETE FROM subscription WHERE subscriber_id = ?1", NULL},
    {"proposal", "proposals",
        {"number", "filter", "command", "state", "made", "ended", "gained", "lost",
            "title"},
        "SELECT number, filter, command, state, made_at, ended_at, gained, lost, title "
        "FROM proposal"
        " WHERE subscriber_id = ?1 ORDER BY id",
        "DELETE FROM proposal WHERE subscriber_id = ?1", NULL},
    /* Deleted with its proposal. */
    {.table = "proposal_change"},
    {"share", "shared_filters", {"name", "filter", "version", "since"},
        "SELECT h.name, s.number, h.version, h.created_at FROM share h JOIN "
        "subscription s"
        " ON s.id = h.subscription_id"
        " WHERE s.subscriber_id = ?1 ORDER BY h.name",
        "DELETE FROM share WHERE subscription_id IN"
        " (SELECT id FROM subscription WHERE subscriber_id = ?1)",
        NULL},
    {"share_version", "shared_versions", {"name", "version", "text", "at"},
        "SELECT h.name, v.version, v.text, v.created_at FROM share_version v JOIN "
        "share h ON h.id = v.share_id"
        " JOIN subscription s ON s.id = h.subscription_id"
        " WHERE s.subscriber_id = ?1"
        " ORDER BY h.name, v.version",
        NULL, NULL},
    {.table = "share_change"},
    /* The name of the share, not its owner. */
    {"follow", "followed_filters", {"filter", "name", "version", "copied"},
        "SELECT s.number, h.name, f.version, CASE f.is_fork WHEN 0 THEN 'no' ELSE "
        "'yes' END"
        " FROM follow f JOIN subscription s ON s.id = f.subscription_id"
        " LEFT JOIN share h ON h.id = f.share_id"
        " WHERE f.subscriber_id = ?1 ORDER BY s.number, s.id",
        "DELETE FROM follow WHERE subscriber_id = ?1", NULL},
    {"digest", "digests", {"date", "created", "state", "message", "papers"},
        "SELECT g.date, g.created_at, g.state, o.state, g.papers"
        " FROM digest g LEFT JOIN outbox o ON o.digest_id = g.id"
        " WHERE g.subscriber_id = ?1 ORDER BY g.id",
        "DELETE FROM digest WHERE subscriber_id = ?1", NULL},
    {.table = "delivered",
        .section = "papers",
        .fields = {"id", "delivered"},
        .erase = "DELETE FROM delivered WHERE subscriber_id = ?1"},
    {"digest_rejected", "rejected_papers", {"id", "times", "at"},
        "SELECT p.id, times, at FROM digest_rejected r"
        " JOIN paper p ON p.seq = r.paper_seq WHERE "
        "subscriber_id = ?1 ORDER BY p.id",
        "DELETE FROM digest_rejected WHERE subscriber_id = ?1", NULL},
    {"feedback", "feedback", {"id", "answer", "at", "source"},
        "SELECT p.id, CASE is_like WHEN 0 THEN 'hide' ELSE 'like' END, at, source FROM "
        "feedback f"
        " JOIN paper p ON p.seq = f.paper_seq WHERE subscriber_id = ?1"
        " ORDER BY at, p.seq",
        "DELETE FROM feedback WHERE subscriber_id = ?1", NULL},
    {"watch", "watched_papers", {"id", "since", "until"},
        "SELECT p.id, w.since, w.until FROM watch w JOIN paper p ON p.seq = w.paper_seq"
        " WHERE subscriber_id = ?1 ORDER BY since, p.seq",
        "DELETE FROM watch WHERE subscriber_id = ?1", NULL},
    {.table = "retraction_mail",
        .erase = "DELETE FROM retraction_mail WHERE subscriber_id = ?1"},
    {"known", "known_papers", {"id", "at"},
        "SELECT name, at FROM known WHERE subscriber_id = ?1 ORDER BY at, name",
        "DELETE FROM known WHERE subscriber_id = ?1", NULL},
    {.table = "taste",
        .section = "taste",
        .fields = {"word", "weight"},
        .erase = "DELETE FROM taste WHERE subscriber_id = ?1"},
    {"audit_log", "changes", {"at", "what", "who", "detail"},
        "SELECT at, what, who, detail FROM audit_log"
        " WHERE subscriber_id = ?1 ORDER BY id",
        "DELETE FROM audit_log WHERE subscriber_id = ?1", NULL},
    {"bounce", "bounces",
        {"message", "at", "class", "rule", "status", "code", "agent", "line"},
        "SELECT message, at, class, rule, status, code, agent, line"
        " FROM bounce WHERE subscriber_id = ?1 ORDER BY id",
        "DELETE FROM bounce WHERE subscriber_id = ?1", NULL},
    {.table = "bounce_probe",
        .erase = "DELETE FROM bounce_probe WHERE subscriber_id = ?1"},
    {"confirmation", "confirmations",
        {"purpose", "address", "recipient", "action", "created", "expires", "used"},
        "SELECT purpose, address, recipient, nullif(action, ''), made_at, expires_at, "
        "used_at FROM confirmation"
        " WHERE " IS_OWN " ORDER BY id",
        "DELETE FROM confirmation WHERE " IS_OWN,
        "DELETE FROM confirmation WHERE subscriber_id IS NULL AND address_key = ?1"
        " AND ?2 <> ''"},
    {"outbox", "mail",
        {"kind", "state", "queued", "attempts", "ended", "code", "reply", "text"},
        "SELECT kind, state, queued_at, attempt, ended_at, code,"
        " reply, message FROM outbox WHERE " IS_OWN " ORDER BY id",
        /* The last condition: mail to the new address of a requested address change. */
        "DELETE FROM outbox WHERE " IS_OWN " OR (subscriber_id IS NULL AND recipient IN"
        "  (SELECT recipient FROM confirmation WHERE subscriber_id = ?1))",
        "DELETE FROM outbox WHERE subscriber_id IS NULL AND address_key = ?1"
        " AND ?2 <> ''"},
    /* See load_inbox() and personal_data_erase_inbox(). */
    {"inbox", "inbox",
        {"received", "receiver", "size", "state", "sender", "verdict", "raw"}, NULL,
        NULL, NULL},
    {"pending_erasure", "pending_erasure", {"address", "at"},
        "SELECT address, at FROM pending_erasure"
        " WHERE address_key = " ADDRESS_KEY,
        "DELETE FROM pending_erasure WHERE address_key = " ADDRESS_KEY,
        "DELETE FROM pending_erasure WHERE address_key = ?1 AND ?2 <> ''"},
    {0},
};

/* @return a new string, or NULL */
static char *
format_field(struct sql_statement *row, int column, const char *field)
{
	/* Numbers of these names are times. */
	static const char *const times[] = {"at", "created", "ended", "expires", "made",
	    "queued", "received", "since", "until", "used", NULL};

	if (sql_get_kind(row, column) == SQL_KIND_INT &&
	    sql_get_int(row, column) <= SQL_NUMBER_MAX &&
	    sql_get_int(row, column) >= 0 && g_strv_contains(times, field))
		return day_format_time(sql_get_int(row, column));
	return sql_dup_text(row, column);
}

/* @return of PERSONAL_DATA_FIELDS */
static char **
format_row(struct sql_statement *row, const char *const *fields)
{
	char **cells = g_new0(char *, PERSONAL_DATA_FIELDS);

	for (int i = 0; fields[i]; i++)
		cells[i] = format_field(row, i, fields[i]);
	return cells;
}

/* Whether a message is from one of these addresses, or contains one. */
static bool
names_any(struct sql_statement *row, int sender, int raw, const GPtrArray *addresses)
{
	const char *from = sql_get_text(row, sender);
	struct sql_bytes bytes = sql_get_bytes(row, raw);

	for (unsigned i = 0; i < addresses->len; i++) {
		const char *address = addresses->pdata[i];

		if ((from && g_ascii_strcasecmp(from, address) == 0) ||
		    (bytes.size &&
		        memmem(bytes.data, bytes.size, address, strlen(address))))
			return true;
	}
	return false;
}

/* A processed message has neither sender, recipient nor content. */
static GPtrArray *
load_inbox(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT received_at, receiver, size, state, sender, verdict, raw FROM inbox"
	    " WHERE state <> 'done' ORDER BY id";
	static const char sql_address[] =
	    "SELECT address FROM subscriber WHERE id = ?1";
	static const char *const fields[] = {
	    "received", "receiver", "size", "state", "sender", "verdict", "raw", NULL};
	g_autoptr(GPtrArray) addresses =
	    sql_load_texts(store, sql_address, error, SQL_INT(subscriber_id));
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	sql_auto *statement = addresses ? sql_bind(store, sql, error) : NULL;
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW)
		if (names_any(statement, 4, 6, addresses))
			g_ptr_array_add(rows, format_row(statement, fields));
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

static const struct {
	const char *table;
	GPtrArray *(*load)(struct store *store, int64_t subscriber_id, GError **error);
} loaders[] = {
    {"delivered", load_delivered}, {"inbox", load_inbox}, {"taste", load_taste}};

GPtrArray *
personal_data_load(struct store *store, const struct personal_data *data,
    int64_t subscriber_id, GError **error)
{
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	sql_auto *statement = NULL;
	enum sql_step step;

	for (size_t i = 0; i < G_N_ELEMENTS(loaders); i++)
		if (strcmp(data->table, loaders[i].table) == 0)
			return loaders[i].load(store, subscriber_id, error);
	statement = sql_bind(store, data->load, error, SQL_INT(subscriber_id));
	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		g_ptr_array_add(rows, format_row(statement, data->fields));
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

bool
personal_data_erase_inbox(
    struct store *store, const GPtrArray *addresses, unsigned *count, GError **error)
{
	static const char sql[] =
	    "SELECT id, sender, raw FROM inbox WHERE state = 'quarantined'";
	static const char sql_delete[] =
	    SQL_WITH_LIST("DELETE FROM inbox WHERE id IN (", "?", "?", ")");
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	sql_auto *row = sql_bind(store, sql, error);
	enum sql_step step = SQL_STEP_FAILED;

	while (row && (step = sql_step(row, error)) == SQL_STEP_ROW) {
		int64_t id = sql_get_int(row, 0);

		if (names_any(row, 1, 2, addresses))
			g_array_append_val(ids, id);
	}
	if (step == SQL_STEP_FAILED || !sql_exec_list(store, sql_delete, ids, error))
		return false;
	*count = ids->len;
	return true;
}
