/*
 * store.c - open the database.
 */
#include "store/core/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "store/core/engine.h"
#include "store/core/fts_score.h"
#include "store/core/history.h"
#include "store/core/migrate.h"
#include "store/core/postgresql.h"
#include "store/core/sql.h"
#include "store/core/sqlite.h"
#include "store/core/tokenizer.h"

/* Retries while another handle writes: frequent at first, to catch the gap between two
 * of its transactions, then rare, 10 s in total. */
#define BUSY_OFTEN_TIMES  2500
#define BUSY_OFTEN_US     200
#define BUSY_SELDOM_TIMES 950
#define BUSY_SELDOM_US    10000

/* Size of the file header, and the offset of PRAGMA application_id. */
#define HEADER_BYTES      100
#define APPLICATION_ID_AT 68

static int
wait_for_writer(void *data, int times)
{
	(void)data;
	if (times >= BUSY_OFTEN_TIMES + BUSY_SELDOM_TIMES)
		return 0;
	g_usleep(times < BUSY_OFTEN_TIMES ? BUSY_OFTEN_US : BUSY_SELDOM_US);
	return 1;
}

static const char pragmas[] = "PRAGMA foreign_keys = ON;"
                              "PRAGMA journal_mode = WAL;"
                              "PRAGMA synchronous = FULL;"
                              "PRAGMA temp_store = MEMORY;"
                              "PRAGMA secure_delete = ON;";

static const char pragmas_read[] = "PRAGMA query_only = ON;"
                                   "PRAGMA temp_store = MEMORY;";

static bool
set_file_error(GError **error, const char *doing, const char *path)
{
	int saved = errno;

	return pb_fail(
	    error, PB_ERROR_PERMANENT, "%s '%s': %s", doing, path, g_strerror(saved));
}

static uint32_t
read_number(const guint8 *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

/* SQLite's "Database File Format", section 1.3: values that are the same in all stores.
 */
static bool
is_header_sound(const guint8 *header, sqlite3_int64 size)
{
	static const guint8 fractions[] = {0, 64, 32, 32}; /* no reserved bytes */
	uint32_t page_size = (uint32_t)header[16] << 8 | header[17];

	if (page_size == 1)
		page_size = 65536;
	return memcmp(header, "SQLite format 3", 16) == 0 && page_size >= 512 &&
	       (page_size & (page_size - 1)) == 0 && size >= page_size &&
	       (header[18] == 1 || header[18] == 2) && header[19] == header[18] &&
	       memcmp(header + 20, fractions, sizeof(fractions)) == 0;
}

/*
 * SQLite reads the missing part of a truncated page as zeros.  With a log, the
 * truncation may be the result of a crash, which the log repairs.
 */
static bool
is_cut(const char *path, const guint8 *header, sqlite3_int64 size)
{
	g_autofree char *log = g_strconcat(path, "-wal", NULL);
	uint32_t page_size = (uint32_t)header[16] << 8 | header[17];
	GStatBuf status;

	if (page_size == 1)
		page_size = 65536;
	return size % page_size != 0 &&
	       (g_stat(log, &status) != 0 || status.st_size == 0);
}

/*
 * Check the header before SQLite writes: SQLite treats a file of less than a page as
 * new, and converts a foreign database to WAL.
 *
 * Reads through SQLite's descriptor: closing another one for the same file would drop
 * the locks of all handles of this process (fcntl(2)).
 */
static bool
check_header(sqlite3 *db, const char *path, GError **error)
{
	guint8 header[HEADER_BYTES];
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;
	int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);

	if (rc == SQLITE_OK)
		rc = file->pMethods->xFileSize(file, &size);
	if (rc == SQLITE_OK)
		rc = file->pMethods->xRead(file, header, sizeof(header), 0);
	if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ) {
		sqlite_set_error(error, NULL, rc, "cannot read the header");
		return false;
	}
	if (rc != SQLITE_OK || !is_header_sound(header, size) ||
	    is_cut(path, header, size))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is damaged or not a store: restore it from a backup", path);
	if (read_number(header + APPLICATION_ID_AT) != MIGRATE_APPLICATION_ID)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is a database of another program", path);
	return true;
}

enum open_mode {
	OPEN_STORE,
	OPEN_DRAFT, /* an empty file that becomes a store */
	OPEN_READ_ONLY,
};

/*
 * SQLite creates a log and its index even for reading.  On a read-only file system
 * without a log the file is complete and can be opened as immutable.
 */
static bool
is_immutable(const char *path)
{
	g_autofree char *log = g_strconcat(path, "-wal", NULL);

	return file_is_read_only(path) && !g_file_test(log, G_FILE_TEST_EXISTS);
}

static char *
format_immutable(const char *path)
{
	g_autofree char *whole = g_canonicalize_filename(path, NULL);
	g_autofree char *uri = g_filename_to_uri(whole, NULL, NULL);

	return g_strconcat(uri, "?immutable=1", NULL);
}

/* Statistics of memory, which nothing reads, take a mutex at each allocation. */
static gpointer
configure(gpointer data)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return data;
}

/* @param name  for error messages */
static sqlite3 *
open_database(
    const char *path, const char *name, enum open_mode open_mode, GError **error)
{
	const char *sql = open_mode == OPEN_READ_ONLY ? pragmas_read : pragmas;
	int mode =
	    open_mode == OPEN_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	bool is_fixed = open_mode == OPEN_READ_ONLY && is_immutable(path);
	g_autofree char *uri = is_fixed ? format_immutable(path) : NULL;
	static GOnce once = G_ONCE_INIT;
	sqlite3 *db = NULL;
	int rc;

	g_once(&once, configure, NULL);
	rc = sqlite3_open_v2(is_fixed ? uri : path, &db,
	    mode | SQLITE_OPEN_NOMUTEX | (is_fixed ? SQLITE_OPEN_URI : 0), NULL);

	if (rc == SQLITE_OK && open_mode != OPEN_DRAFT &&
	    !check_header(db, path, error)) {
		sqlite3_close(db);
		return NULL;
	}
	if (rc == SQLITE_OK) {
		sqlite3_extended_result_codes(db, 1);
		sqlite3_busy_handler(db, wait_for_writer, NULL);
		/* Before WAL mode is written to the file, which may be foreign. */
		if (!migrate_check(db, name, error)) {
			sqlite3_close(db);
			return NULL;
		}
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK)
		rc = fts_score_register(db);
	if (rc == SQLITE_OK)
		rc = tokenizer_register(db);
	if (rc == SQLITE_OK)
		return db;
	sqlite_set_error(error, db, rc, "cannot open the store");
	g_prefix_error(error, "'%s': ", name);
	sqlite3_close(db);
	return NULL;
}

/* Leave one file.  Closing it would do so as well, but not report a full disk. */
static bool
end_log(sqlite3 *db, const char *path, GError **error)
{
	int rc = sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return true;
	sqlite_set_error(error, db, rc, "cannot create the store");
	g_prefix_error(error, "'%s': ", path);
	return false;
}

/*
 * Create a store under a temporary name and link it into place, so that a crash leaves
 * no incomplete store.
 */
static bool
create_file(const char *path, GError **error)
{
	g_autofree char *draft = g_strdup_printf("%s.new.%d", path, (int)getpid());
	bool is_made = false;
	sqlite3 *db;
	int fd;

	/* Left over from a killed program with our process id. */
	file_remove_database(draft);
	fd = g_open(draft, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return set_file_error(error, "cannot create", draft);
	close(fd);
	db = open_database(draft, path, OPEN_DRAFT, error);
	if (db) {
		is_made = migrate_run(db, path, error) && end_log(db, path, error);
		sqlite3_close(db);
	}
	/* EEXIST: another process created it meanwhile. */
	if (is_made && link(draft, path) != 0 && errno != EEXIST)
		is_made = set_file_error(error, "cannot create", path);
	file_remove_database(draft);
	return is_made;
}

static bool
check_file(const char *path, GError **error)
{
	g_autofree char *log = g_strconcat(path, "-wal", NULL);
	GStatBuf status;

	if (g_stat(path, &status) != 0) {
		if (errno != ENOENT)
			return set_file_error(error, "cannot open", path);
		if (g_file_test(log, G_FILE_TEST_EXISTS))
			return pb_fail(error, PB_ERROR_PERMANENT,
			    "'%s' is missing, but its log '%s' exists: "
			    "restore the store from a backup",
			    path, log);
		return create_file(path, error);
	}
	if (!S_ISREG(status.st_mode))
		return pb_fail(
		    error, PB_ERROR_PERMANENT, "'%s' is not a regular file", path);
	if (status.st_size == 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is empty, so it is not a store: restore it from a backup, or"
		    " remove it to create a new one",
		    path);
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is accessible to other users: run chmod 600", path);
	return true;
}

/* @param db  ownership moves here */
static struct store *
new_store(sqlite3 *db)
{
	struct store *store = g_new0(struct store, 1);

	store->engine = &sqlite_engine;
	store->calls = g_ptr_array_new_with_free_func(store_free_call);
	store->db = db;
	store->statements = g_hash_table_new_full(
	    g_direct_hash, g_direct_equal, NULL, sqlite_free_statement);
	return store;
}

struct store *
store_open(const char *path, GError **error)
{
	struct store *store;
	sqlite3 *db;

	if (store_is_server(path))
		return store_open_server(&(struct store_server){.url = path}, error);
	if (!check_file(path, error))
		return NULL;
	db = open_database(path, path, OPEN_STORE, error);
	if (!db)
		return NULL;
	store = new_store(db);
	if (migrate_run(db, path, error))
		store->tokenizer = tokenizer_new(db, error);
	if (store->tokenizer)
		return store;
	store_free(store);
	return NULL;
}

struct store *
store_open_for_reading(const char *path, GError **error)
{
	struct store *store;
	GStatBuf status;
	sqlite3 *db;

	if (store_is_server(path))
		return store_open_server(
		    &(struct store_server){.url = path, .is_read_only = true}, error);
	if (g_stat(path, &status) != 0) {
		pb_fail(error,
		    errno == ENOENT ? PB_ERROR_NOT_FOUND : PB_ERROR_PERMANENT,
		    "cannot open '%s': %s", path, g_strerror(errno));
		return NULL;
	}
	/* Do not open it: closing it would drop the locks of all handles on it. */
	if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		pb_fail(error, PB_ERROR_PERMANENT, "'%s' is %s", path,
		    S_ISREG(status.st_mode) ? "empty, so it is not a store"
		                            : "not a regular file");
		return NULL;
	}
	db = open_database(path, path, OPEN_READ_ONLY, error);
	if (!db)
		return NULL;
	store = new_store(db);
	store->tokenizer = tokenizer_new(db, error);
	if (store->tokenizer)
		return store;
	store_free(store);
	return NULL;
}

bool
store_is_server(const char *name)
{
	return g_str_has_prefix(name, "postgresql://") ||
	       g_str_has_prefix(name, "postgres://");
}

#ifdef HAVE_POSTGRESQL
/* The tokenizer is SQLite's. */
static bool
open_tokenizer(struct store *store, GError **error)
{
	int rc = sqlite3_open(":memory:", &store->db);

	if (rc != SQLITE_OK)
		sqlite_set_error(error, store->db, rc, "cannot open the tokenizer");
	else
		store->tokenizer = tokenizer_new(store->db, error);
	return store->tokenizer != NULL;
}

static bool
check_schema(struct store *store, GError **error)
{
	int64_t version;

	return migrate_postgresql_check(store, &version, error) &&
	       (version > 0 || pb_fail(error, PB_ERROR_NOT_FOUND,
	                           "the database is empty: start paperboyd"));
}

bool
store_check_url(const char *url, GError **error)
{
	return postgresql_check_url(url, error);
}

struct store *
store_open_server(const struct store_server *server, GError **error)
{
	struct store *store = postgresql_open(server, error);

	if (store && open_tokenizer(store, error) &&
	    (server->is_read_only ? check_schema(store, error)
	                          : migrate_postgresql_run(store, error) &&
	                                history_update(store, error))) {
		store->is_shared = true;
		return store;
	}
	store_free(store);
	return NULL;
}
#else
bool
store_check_url(const char *url, GError **error)
{
	(void)url;
	return pb_fail(error, PB_ERROR_INPUT,
	    "this paperboy was built without PostgreSQL (configure --with-postgresql)");
}

struct store *
store_open_server(const struct store_server *server, GError **error)
{
	store_check_url(server->url, error);
	return NULL;
}
#endif

bool
store_get_data_version(struct store *store, int *version, int *ours, GError **error)
{
	static const char sql[] = "PRAGMA user_version";
	int64_t found;

	if (store->postgresql ? !migrate_postgresql_check(store, &found, error)
	                      : !sql_number(store, sql, &found, error))
		return false;
	*version = (int)found;
	*ours = MIGRATE_VERSION;
	return true;
}

void
store_free(struct store *store)
{
	if (!store)
		return;
	g_hash_table_unref(store->statements);
	g_ptr_array_unref(store->calls);
	tokenizer_free(store->tokenizer);
	store_free(store->archive);
	store_free(store->damaged);
	store->engine->close(store);
	sqlite3_close(store->db);
	g_free(store);
}

bool
store_is_shared(const struct store *store)
{
	return store->is_shared || store->postgresql;
}

void
store_set_shared(struct store *store)
{
	store->is_shared = true;
}

void
store_set_wait(struct store *store, int64_t wait_s)
{
	store->wait_s = wait_s;
}

bool
store_is_outdated(const struct store *store)
{
	return store->is_outdated;
}

void
store_set_holder(struct store *store, int64_t holder)
{
	store->holder = holder;
}

int64_t
store_get_holder(const struct store *store)
{
	return store->holder;
}

const struct tokenizer *
store_get_tokenizer(struct store *store)
{
	return store_get_archive(store)->tokenizer;
}

struct store *
store_get_archive(struct store *store)
{
	return store->archive ? store->archive : store;
}

void
store_set_commit_hook(struct store *store, void (*hook)(void *data), void *data)
{
	store->hook = hook;
	store->hook_data = data;
}

void
store_yield(void)
{
	g_usleep(5 * BUSY_OFTEN_US);
}

void
store_set_stop(struct store *store, const int *stop)
{
	store->stop = stop;
}

void
store_set_between(struct store *store, void (*between)(void *data), void *data)
{
	store->between = between;
	store->between_data = data;
}

void
store_call_between(const struct store *store)
{
	g_assert(!store->engine->is_open(store));
	if (store->between)
		store->between(store->between_data);
}

bool
store_is_stopped(const struct store *store)
{
	return store->stop && g_atomic_int_get(store->stop);
}

void
store_defer_sync(struct store *store)
{
	static const char sql_server[] = "SET synchronous_commit = off";

	if (store->postgresql)
		sql_exec(store, sql_server, NULL);
	else
		sqlite3_exec(
		    store->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
}

/* A commit that writes something waits for those before. */
static bool
resume_server_sync(struct store *store, GError **error)
{
	static const char sql[] = "SET synchronous_commit = DEFAULT";
	static const char sql_sync[] =
	    "SELECT pg_logical_emit_message(true, 'paperboy', 'sync')";

	return sql_exec(store, sql, error) && sql_exec(store, sql_sync, error);
}

static bool
sync_file(struct store *store, GError **error)
{
	sqlite3_file *log = NULL;
	int rc = sqlite3_exec(store->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_file_control(
		    store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (rc == SQLITE_OK && log->pMethods)
		rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
	if (rc == SQLITE_OK)
		return true;
	sqlite_set_error(error, store->db, rc, "cannot sync the store");
	return false;
}

bool
store_resume_sync(struct store *store, GError **error)
{
	return store->postgresql ? resume_server_sync(store, error)
	                         : sync_file(store, error);
}

void
store_checkpoint(struct store *store)
{
	if (!store->postgresql)
		sqlite3_wal_checkpoint_v2(
		    store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static bool
erase_server(struct store *store, GError **error)
{
	/* It takes longer than a statement may. */
	static const char sql_begin[] = "SET statement_timeout = 0";
	static const char sql[] = "VACUUM";
	static const char sql_end[] = "SET statement_timeout = DEFAULT";
	bool is_ok;

	store_set_wait(store, STORE_WAIT_LONG_S);
	is_ok = sql_exec(store, sql_begin, error) && sql_exec(store, sql, error);
	store_set_wait(store, STORE_WAIT_S);
	return sql_exec(store, sql_end, is_ok ? error : NULL) && is_ok;
}

static bool
erase_file(struct store *store, GError **error)
{
	int log = -1, copied = -1, rc;

	/* secure_delete clears freed space, but splitting a page leaves copies of rows
	 * behind.  temp_store: the database may be larger than memory. */
	rc = sqlite3_exec(
	    store->db, "PRAGMA temp_store = FILE; VACUUM;", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		sqlite_set_error(error, store->db, rc, "cannot vacuum the store");
	sqlite3_exec(store->db, "PRAGMA temp_store = MEMORY;", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return false;
	rc = sqlite3_wal_checkpoint_v2(
	    store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &log, &copied);
	if (rc == SQLITE_OK)
		return true;
	sqlite_set_error(error, store->db, rc, "cannot truncate the store's log");
	return false;
}

bool
store_erase(struct store *store, GError **error)
{
	return store->postgresql ? erase_server(store, error)
	                         : erase_file(store, error);
}

#define COUNT_INACTIVE \
	"SELECT count(*) FROM subscriber WHERE state <> 'active' AND state = "
#define COUNT_RETRIED                                        \
	"SELECT count(*) FROM outbox WHERE ended_at IS NULL" \
	" AND (state = 'DEFERRED' OR state = 'UNKNOWN') AND state = "
#define COUNT_HELD "SELECT count(*) FROM outbox WHERE state = 'HELD' AND held_why = "

/* SQLite uses a partial index for a statement that has its very condition. */
static const struct {
	const char *name, *sql;
} counts[] = {
    {"paper", "SELECT count(*) FROM paper"},
    {"filter", "SELECT count(*) FROM filter"},
    {"match_pending", "SELECT count(*) FROM match_pending"},
    {"subscriber", "SELECT count(*) FROM subscriber"},
    {"subscriber pending", COUNT_INACTIVE "'pending'"},
    {"subscriber paused", COUNT_INACTIVE "'paused'"},
    {"subscriber suspended", COUNT_INACTIVE "'suspended'"},
    {"subscriber gone", COUNT_INACTIVE "'gone'"},
    {"next held",
        "SELECT count(*) FROM subscriber WHERE is_next_held = 1 AND state = 'active'"},
    {"outbox queued", "SELECT count(*) FROM outbox WHERE next_try_at IS NOT NULL"},
    {"outbox SENDING", "SELECT count(*) FROM outbox WHERE state = 'SENDING'"},
    {"outbox DEFERRED", COUNT_RETRIED "'DEFERRED'"},
    {"outbox UNKNOWN", COUNT_RETRIED "'UNKNOWN'"},
    {"outbox UNKNOWN queued", COUNT_RETRIED "'UNKNOWN' AND next_try_at IS NOT NULL"},
    {"outbox HELD", "SELECT count(*) FROM outbox WHERE state = 'HELD'"},
    {"held operator", COUNT_HELD "'operator'"},
    {"held restore", COUNT_HELD "'restore'"},
    {"held crash", COUNT_HELD "'crash'"},
    {"outbox FAILED", "SELECT count(*) FROM outbox WHERE state = 'FAILED'"},
};

bool
store_load_count(struct store *store, const char *name, int64_t *count, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		if (g_str_equal(counts[i].name, name))
			return sql_number(store, counts[i].sql, count, error);
	g_assert_not_reached();
}

bool
store_load_key_check(struct store *store, char **mac, GError **error)
{
	/* Without a row there is no key yet; a damaged one is "", which no key has. */
	static const char sql[] =
	    "SELECT coalesce(mac, '') FROM key_check WHERE id = 1";

	return sql_find_text(store, sql, mac, error);
}

bool
store_save_key_check(struct store *store, const char *mac, GError **error)
{
	static const char sql[] = "INSERT INTO key_check (id, mac) VALUES (1, ?1)"
	                          " ON CONFLICT (id) DO UPDATE SET mac = excluded.mac";

	return sql_exec(store, sql, error, SQL_TEXT(mac));
}
