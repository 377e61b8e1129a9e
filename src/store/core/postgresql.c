/*
 * postgresql.c - the engine PostgreSQL, by libpq.
 */
#include "store/core/postgresql.h"

#include <libpq-fe.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "store/core/engine.h"
#include "store/core/history.h"
#include "store/core/transaction.h"

/* ---- results ---- */

/* Wait until PQgetResult() returns at once. */
static void
await(PGconn *connection, int64_t wait_s)
{
	int64_t deadline_us = g_get_monotonic_time() + wait_s * G_USEC_PER_SEC;

	while (PQisBusy(connection)) {
		int64_t left_us = deadline_us - g_get_monotonic_time();
		struct pollfd fd = {.fd = PQsocket(connection), .events = POLLIN};

		if (left_us <= 0) {
			/* Then libpq reads the end of the connection. */
			shutdown(fd.fd, SHUT_RDWR);
			return;
		}
		if (poll(&fd, 1, (int)(left_us / 1000) + 1) > 0 &&
		    !PQconsumeInput(connection))
			return;
	}
}

/*
 * As PQgetResult(), with a limit for a server, or its disk, that hangs.
 *
 * @param wait_s  then the connection is lost
 */
static PGresult *
await_result(PGconn *connection, int64_t wait_s)
{
	await(connection, wait_s);
	return PQgetResult(connection);
}

/* ---- find the server of a URL that is to be used ---- */

/* Maximum time for a reply of a server that is connected, s. */
#define REPLY_S 10

#define DEFAULT_PORT "5432"

/* A session that waits longer for a standby shows that this is not there. */
#define STANDBY_WAIT "'10 s'"

/* Parameters of a connection; a later one replaces an earlier one. */
struct parameters {
	const char *names[24], *values[24];
	unsigned count;
};

/* The servers of a URL. */
struct servers {
	struct parameters parameters;
	char *settings; /* of a session */
	/* As in the URL, one for each host; empty: libpq's default. */
	char **hosts, **addresses;
	char **ports; /* or one for all hosts */
	/* Servers that have been used: one that was replaced by them is refused. */
	struct history known[2];
};

static void
add_parameter(struct parameters *parameters, const char *name, const char *value)
{
	g_assert(parameters->count + 1 < G_N_ELEMENTS(parameters->names));
	parameters->names[parameters->count] = name;
	parameters->values[parameters->count++] = value;
}

static void
ignore_notice(void *data, const char *message)
{
	(void)data;
	(void)message;
}

/*
 * Ask a server for its history, as text, before the pipeline mode.
 *
 * @param is_waiting  set: each commit waits for a standby that is not there
 * @return false if it does not reply, or refuses the question
 */
static bool
load_history(PGconn *connection, struct history *history, bool *is_waiting)
{
	/* The file's name begins with the timeline, of 8 hexadecimal digits.  A role
	 * without privileges can count the standbys, and sees its own sessions. */
	static const char sql[] =
	    "SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN '0'"
	    " ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,"
	    " current_setting('transaction_read_only') = 'off'"
	    " AND current_setting('synchronous_commit') NOT IN ('off', 'local')"
	    " AND current_setting('synchronous_standby_names') <> ''"
	    " AND (NOT EXISTS (SELECT 1 FROM pg_stat_replication)"
	    "  OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	    "   AND usename = current_user"
	    "   AND query_start < now() - interval " STANDBY_WAIT "))"
	    " FROM pg_control_system()";
	PGresult *result;
	bool is_loaded = false;

	PQsetNoticeProcessor(connection, ignore_notice, NULL);
	if (!PQsendQuery(connection, sql))
		return false;
	while ((result = await_result(connection, REPLY_S))) {
		if (PQntuples(result) == 1) {
			*history = (struct history){
			    .cluster =
			        g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10),
			    .timeline =
			        g_ascii_strtoll(PQgetvalue(result, 0, 1), NULL, 16),
			};
			*is_waiting = *PQgetvalue(result, 0, 2) == 't';
			is_loaded = true;
		}
		PQclear(result);
	}
	return is_loaded;
}

/* @param history  set  @return why the server is not to be used, or NULL */
static const char *
find_problem(PGconn *connection, const struct history *known, struct history *history)
{
	bool is_waiting;

	if (PQstatus(connection) == CONNECTION_BAD)
		return PQerrorMessage(connection);
	/* libpq takes the end of the wait for a crash of the server. */
	if (!load_history(connection, history, &is_waiting))
		return PQstatus(connection) == CONNECTION_BAD
		           ? "no answer"
		           : PQerrorMessage(connection);
	if (history_is_before(history, &known[0]) ||
	    history_is_before(history, &known[1]))
		return "the database server was replaced by another one before: it "
		       "must not run";
	return is_waiting
	           ? "each commit waits for a standby that is not connected, see "
	             "synchronous_standby_names in paperboy-machines(7)"
	           : NULL;
}

static const char *
find_advice(const char *problem)
{
	if (strstr(problem, "certificate verify failed"))
		return ": it has expired, or its CA is not known here";
	if (strstr(problem, "too many connections") ||
	    strstr(problem, "too many clients") ||
	    strstr(problem, "connection slots are reserved"))
		return ": each machine needs some, see max_connections in "
		       "paperboy-machines(7)";
	return "";
}

static const char *
get_item(char **items, unsigned i)
{
	return i < g_strv_length(items) ? items[i] : NULL;
}

/* One for all hosts, or one for each, which may be empty; NULL: libpq's default. */
static const char *
get_port(char **ports, unsigned host)
{
	const char *port = get_item(ports, g_strv_length(ports) == 1 ? 0 : host);

	return port && !*port ? DEFAULT_PORT : port;
}

static void
add_present(struct parameters *parameters, const char *name, const char *value)
{
	if (value)
		add_parameter(parameters, name, value);
}

/* @param problems  added to  @return NULL if the server is not to be used */
static PGconn *
connect_host(const struct servers *servers, unsigned host, struct history *history,
    GString *problems)
{
	struct parameters parameters = servers->parameters;
	g_autofree char *problem = NULL;
	PGconn *connection;

	add_present(&parameters, "host", get_item(servers->hosts, host));
	add_present(&parameters, "hostaddr", get_item(servers->addresses, host));
	add_present(&parameters, "port", get_port(servers->ports, host));
	connection = PQconnectdbParams(parameters.names, parameters.values, 1);
	problem = g_strdup(find_problem(connection, servers->known, history));
	if (!problem)
		return connection;
	g_string_append_printf(problems, "%s%s: %s%s", problems->len ? "; " : "",
	    PQhost(connection), g_strchomp(problem), find_advice(problem));
	PQfinish(connection);
	return NULL;
}

/* @return a connection to the first host that is to be used, or NULL */
static PGconn *
connect_first(const struct servers *servers, struct history *history, GString *problems)
{
	unsigned count =
	    MAX(g_strv_length(servers->hosts), g_strv_length(servers->addresses));
	PGconn *connection = NULL;

	for (unsigned i = 0; i < MAX(count, 1) && !connection; i++)
		connection = connect_host(servers, i, history, problems);
	return connection;
}

/* ---- settings, errors and the URL ---- */

/* Timeouts for a server, or a network, that does not respond; the first is for each
 * address of a host. */
#define CONNECT_TIMEOUT_S    "3"
#define KEEPALIVE_IDLE_S     "5"
#define KEEPALIVE_INTERVAL_S "5"
#define KEEPALIVE_COUNT      "2"
#define TCP_USER_TIMEOUT_MS  "15000"
/* Timeouts of the server.  The first is for a statement over all rows; the second frees
 * the locks of a machine that is stopped in a transaction.  The server ends sessions of
 * a machine that is cut off as soon as that machine does; its default is two hours. */
#define STATEMENT_TIMEOUT_MS "600000"
#define IDLE_TIMEOUT_MS      "60000"
#define LOCK_TIMEOUT_MS      "10000"

/*
 * A plan that does not depend on statistics, as SQLite's: each statement has an index
 * that fits, which a new table without statistics needs as well, and an index is all
 * that a serializable transaction locks against others then.  A table that was empty is
 * not joined by scanning its index as a whole, either.
 */
#define PLANS                                               \
	" -c plan_cache_mode=force_generic_plan -c jit=off" \
	" -c enable_seqscan=off -c enable_hashjoin=off"     \
	" -c enable_mergejoin=off -c enable_material=off"

/* As PQserverVersion() returns it. */
#define SERVER_VERSION_MIN 140000

/* Settings of a session, to which SET ... = DEFAULT returns. */
#define SETTINGS                                                   \
	"-c default_transaction_isolation=serializable"            \
	" -c statement_timeout=" STATEMENT_TIMEOUT_MS              \
	" -c idle_in_transaction_session_timeout=" IDLE_TIMEOUT_MS \
	" -c lock_timeout=" LOCK_TIMEOUT_MS                        \
	" -c tcp_keepalives_idle=" KEEPALIVE_IDLE_S                \
	" -c tcp_keepalives_interval=" KEEPALIVE_INTERVAL_S        \
	" -c tcp_keepalives_count=" KEEPALIVE_COUNT                \
	" -c tcp_user_timeout=" TCP_USER_TIMEOUT_MS " -c timezone=UTC" PLANS

/* libpq's own default is a file of the user. */
#define CA_FILE "/etc/ssl/certs/ca-certificates.crt"

/* SQLSTATEs, by their beginnings (PostgreSQL's manual, appendix A). */
static const struct {
	const char *state;
	enum pb_error code;
} codes[] = {
    {"08", PB_ERROR_TEMPORARY},    /* connection */
    {"22", PB_ERROR_INPUT},        /* value out of range */
    {"23", PB_ERROR_INPUT},        /* constraint */
    {"25006", PB_ERROR_TEMPORARY}, /* read-only: a standby */
    {"25P03", PB_ERROR_TEMPORARY}, /* idle in a transaction */
    {"28", PB_ERROR_PERMANENT},    /* password */
    {"40", PB_ERROR_TEMPORARY},    /* serialization, deadlock */
    {"53", PB_ERROR_TEMPORARY},    /* disk, memory, connections */
    {"54", PB_ERROR_INPUT},        /* too large */
    {"55", PB_ERROR_TEMPORARY},    /* locked */
    {"57", PB_ERROR_TEMPORARY},    /* shutdown, timeout */
};

static const char *
get_state(const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return state ? state : "";
}

static bool
has_state(const PGresult *result, const char *const *states)
{
	return g_strv_contains(states, get_state(result));
}

/* Whether the server rejected a transaction that will succeed when it runs again. */
static bool
is_conflict(const PGresult *result)
{
	static const char *const states[] = {"40001", "40P01", NULL};

	return has_state(result, states);
}

/* Whether the session cannot be used any more, such as after a failover. */
static bool
is_session_over(const PGresult *result)
{
	/* Shutdowns, a promoted or demoted server, and an idle transaction. */
	static const char *const states[] = {
	    "25006", "25P03", "57P01", "57P02", "57P03", "57P05", NULL};

	return has_state(result, states);
}

/* One line of a message. */
static char *
format_line(const char *message)
{
	char *line = g_strdup(message ? message : "");

	g_strdelimit(g_strstrip(line), "\n\t", ' ');
	return line;
}

static void
set_result_error(GError **error, const PGresult *result)
{
	/* The detail, which has values, is left out. */
	const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	g_autofree char *line =
	    format_line(primary ? primary : PQresultErrorMessage(result));
	const char *state = get_state(result);
	enum pb_error code = *state ? PB_ERROR_PERMANENT : PB_ERROR_TEMPORARY;

	for (unsigned i = 0; i < G_N_ELEMENTS(codes); i++)
		if (g_str_has_prefix(state, codes[i].state))
			code = codes[i].code;
	pb_fail(error, code, "store: %s%s%s%s", line, *state ? " (" : "", state,
	    *state ? ")" : "");
}

/* @param connection  that was lost, or NULL */
static void
set_lost(GError **error, PGconn *connection)
{
	g_autofree char *line =
	    format_line(connection ? PQerrorMessage(connection) : "");

	pb_fail(error, PB_ERROR_TEMPORARY,
	    "the connection to the database was lost%s%s", *line ? ": " : "", line);
}

/* ---- URL ---- */

static const char *
find_option(const PQconninfoOption *options, const char *name)
{
	for (; options->keyword; options++)
		if (strcmp(options->keyword, name) == 0)
			return options->val;
	return NULL;
}

static bool
is_local(const char *host)
{
	return !*host || *host == '/' || *host == '@' ||
	       strcmp(host, "localhost") == 0 || g_str_has_prefix(host, "127.") ||
	       strcmp(host, "::1") == 0;
}

/* @param hosts  separated by commas, or NULL */
static bool
are_local(const char *hosts)
{
	g_auto(GStrv) each = g_strsplit(hosts ? hosts : "", ",", -1);

	for (char **host = each; *host; host++)
		if (!is_local(*host))
			return false;
	return true;
}

static void
servers_clear(struct servers *servers)
{
	g_free(servers->settings);
	g_strfreev(servers->hosts);
	g_strfreev(servers->addresses);
	g_strfreev(servers->ports);
}

static char **
split(const char *list)
{
	return g_strsplit(list ? list : "", ",", -1);
}

/* @return NULL with PB_ERROR_INPUT */
static PQconninfoOption *
parse_url(const char *url, GError **error)
{
	char *problem = NULL;
	PQconninfoOption *options = PQconninfoParse(url, &problem);
	g_autofree char *line = format_line(problem);

	PQfreemem(problem);
	if (!options)
		pb_fail(error, PB_ERROR_INPUT, "the URL of the database is wrong: %s",
		    line);
	else if (!find_option(options, "password"))
		return options;
	else
		pb_fail(error, PB_ERROR_INPUT,
		    "the URL of the database has a password: move it to a file, see "
		    "store.password_file");
	PQconninfoFree(options);
	return NULL;
}

bool
postgresql_check_url(const char *url, GError **error)
{
	PQconninfoOption *options = parse_url(url, error);

	PQconninfoFree(options);
	return options != NULL;
}

/* Add what depends on the URL: verification and session settings. */
static bool
add_checked(const struct store_server *server, struct servers *servers, GError **error)
{
	PQconninfoOption *options = parse_url(server->url, error);
	const char *more;

	if (!options)
		return false;
	more = find_option(options, "options");
	servers->settings = g_strconcat(SETTINGS,
	    server->is_read_only ? " -c default_transaction_read_only=on " : " ", more,
	    NULL);
	servers->hosts = split(find_option(options, "host"));
	servers->addresses = split(find_option(options, "hostaddr"));
	servers->ports = split(find_option(options, "port"));
	if (!are_local(find_option(options, "host")) ||
	    !are_local(find_option(options, "hostaddr"))) {
		add_parameter(&servers->parameters, "sslmode", "verify-full");
		add_parameter(&servers->parameters, "sslrootcert", CA_FILE);
	}
	PQconninfoFree(options);
	return true;
}

/* ---- a connection ---- */

static bool
check_version(const PGconn *connection, GError **error)
{
	int version = PQserverVersion(connection);

	return version >= SERVER_VERSION_MIN ||
	       pb_fail(error, PB_ERROR_PERMANENT,
	           "the database server has version %d of PostgreSQL: version %d or "
	           "later is needed",
	           version / 10000, SERVER_VERSION_MIN / 10000);
}

/* Connect to the primary server, or read from another one if there is none. */
static PGconn *
connect_to_any(
    struct servers *servers, bool is_read_only, struct history *history, GError **error)
{
	struct parameters *parameters = &servers->parameters;
	g_autoptr(GString) problems = g_string_new(NULL);
	g_autofree char *line = NULL;
	PGconn *connection;

	add_parameter(parameters, "target_session_attrs",
	    is_read_only ? "primary" : "read-write");
	connection = connect_first(servers, history, problems);
	if (!connection && is_read_only) {
		add_parameter(parameters, "target_session_attrs", "any");
		g_string_truncate(problems, 0);
		connection = connect_first(servers, history, problems);
	}
	if (connection)
		return connection;
	line = format_line(problems->str);
	pb_fail(error, PB_ERROR_TEMPORARY, "cannot connect to the database: %s", line);
	return NULL;
}

/* The URL may replace them. */
static void
add_defaults(struct parameters *parameters)
{
	static const char *const defaults[][2] = {
	    {"application_name", "paperboy"},
	    {"connect_timeout", CONNECT_TIMEOUT_S},
	    {"keepalives_idle", KEEPALIVE_IDLE_S},
	    {"keepalives_interval", KEEPALIVE_INTERVAL_S},
	    {"keepalives_count", KEEPALIVE_COUNT},
	    {"tcp_user_timeout", TCP_USER_TIMEOUT_MS},
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(defaults); i++)
		add_parameter(parameters, defaults[i][0], defaults[i][1]);
}

/* Use the connection for statements. */
static bool
set_up(PGconn *connection, GError **error)
{
	if (!check_version(connection, error))
		return false;
	if (PQenterPipelineMode(connection))
		return true;
	set_lost(error, connection);
	return false;
}

/* @param recorded  before */
static bool
record(const struct store_server *server, const struct history *history,
    const struct history *recorded, GError **error)
{
	return server->is_read_only || !server->history_path ||
	       memcmp(history, recorded, sizeof(*history)) == 0 ||
	       history_save_file(server->history_path, history, error);
}

/*
 * Connect, and set up the session.
 *
 * A server on another host must have a certificate for its name, unless the URL has
 * another sslmode.
 *
 * @param known    of the server that the caller used last
 * @param history  set on success
 * @return in pipeline mode; NULL with PB_ERROR_INPUT for a wrong URL,
 *         PB_ERROR_PERMANENT for a version that is too old or a file that is damaged,
 *         else PB_ERROR_TEMPORARY
 */
static PGconn *
connect_server(const struct store_server *server, const struct history *known,
    struct history *history, GError **error)
{
	pb_local(servers) servers = {0};
	struct parameters *parameters = &servers.parameters;
	struct history found;
	PGconn *connection;

	servers.known[0] = *known;
	if (!add_checked(server, &servers, error) ||
	    !history_load_file(server->history_path, &servers.known[1], error))
		return NULL;
	add_defaults(parameters);
	add_parameter(parameters, "dbname", server->url);
	add_parameter(parameters, "client_encoding", "UTF8");
	add_parameter(parameters, "options", servers.settings);
	if (server->password)
		add_parameter(parameters, "password", server->password);
	connection = connect_to_any(&servers, server->is_read_only, &found, error);
	if (!connection)
		return NULL;
	if (set_up(connection, error) &&
	    record(server, &found, &servers.known[1], error)) {
		*history = found;
		return connection;
	}
	PQfinish(connection);
	return NULL;
}

/* ---- the engine ---- */

/* Maximum number of statements in the queue; their results wait in the server. */
#define QUEUE_MAX 200

/* Interval of looks at the recorded history. */
#define CHECK_S 5

#define NUMBER_BYTES 24

/* The types that are used (pg_type.dat). */
enum type {
	TYPE_UNKNOWN = 0,
	TYPE_BOOL = 16,
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT2 = 21,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_NUMERIC = 1700,
};

/* The connection of a store. */
struct postgresql {
	struct store_server server;
	PGconn *connection; /* NULL: lost, or not made yet */
	struct history history;
	/* Since a result took longer than store_set_wait(): the work is not run again,
	 * which would wait as long. */
	bool is_silent;
	int64_t check_us;    /* time of the next look at the recorded history */
	unsigned number;     /* of the connection, from 1 */
	unsigned statements; /* number of names given */
	GPtrArray *queue;    /* sent: the statement that is prepared, or NULL */
	unsigned depth;      /* 0: no transaction; 1: one; more: savepoints */
};

struct postgresql_statement {
	struct sql_statement base;
	struct store *store;
	char *text; /* with $1 */
	char name[NUMBER_BYTES];
	unsigned prepared; /* the number of the connection; 0: none */
	bool is_bound;
	int count; /* of parameters */
	Oid *types;
	const char **values;
	int *lengths, *formats;
	char (*numbers)[NUMBER_BYTES];
	PGresult *result; /* of the run; NULL before */
	int row;
	GPtrArray *texts; /* numbers that were read as text, of the row */
};

/* ---- the connection of a store ---- */

static void
lose(struct postgresql *postgresql)
{
	g_clear_pointer(&postgresql->connection, PQfinish);
	g_ptr_array_set_size(postgresql->queue, 0);
}

/* Whether a server has all commits that the handle may have seen. */
static bool
check_history(struct store *store, const struct history *history, GError **error)
{
	const struct history *known = &store->postgresql->history;

	store->is_outdated =
	    !store->postgresql->server.is_read_only &&
	    (history->cluster != known->cluster || history->timeline > known->timeline);
	return !store->is_outdated ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "the database server was replaced by another one, which may lack "
	           "the last commits");
}

/* Whether another handle or process has not found a newer server. */
static bool
check_recorded(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	int64_t now_us = g_get_monotonic_time();
	struct history recorded;

	if (postgresql->server.is_read_only || now_us < postgresql->check_us)
		return true;
	postgresql->check_us = now_us + CHECK_S * G_USEC_PER_SEC;
	if (!history_load_file(postgresql->server.history_path, &recorded, error))
		return false;
	if (!history_is_before(&postgresql->history, &recorded))
		return true;
	lose(postgresql);
	return check_history(store, &recorded, error);
}

static bool
connect_again(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	struct history history;
	PGconn *connection =
	    connect_server(&postgresql->server, &postgresql->history, &history, error);

	if (!connection)
		return false;
	if (!check_history(store, &history, error)) {
		PQfinish(connection);
		return false;
	}
	postgresql->connection = connection;
	postgresql->is_silent = false;
	postgresql->number++;
	return true;
}

/*
 * Connect if there is no connection and no transaction that was lost with it, and check
 * before a transaction that the server is still the one to use.
 */
static bool
ensure(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (postgresql->connection)
		return postgresql->depth || check_recorded(store, error);
	if (postgresql->depth) {
		set_lost(error, NULL);
		return false;
	}
	return store->is_outdated
	           ? pb_fail(error, PB_ERROR_TEMPORARY,
	                 "the database server was replaced by another one")
	           : connect_again(store, error);
}

/* @param statement  that is prepared, or NULL; @param is_sent  by libpq */
static bool
enqueue(struct store *store, struct postgresql_statement *statement, bool is_sent,
    GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (is_sent) {
		g_ptr_array_add(postgresql->queue, statement);
		return true;
	}
	set_lost(error, postgresql->connection);
	store->has_conflict = postgresql->depth > 0;
	lose(postgresql);
	return false;
}

static bool
send_command(struct store *store, const char *sql, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	return ensure(store, error) && enqueue(store, NULL,
	                                   PQsendQueryParams(postgresql->connection,
	                                       sql, 0, NULL, NULL, NULL, NULL, 1),
	                                   error);
}

static bool
send_statement(
    struct store *store, struct postgresql_statement *statement, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (!ensure(store, error))
		return false;
	if (statement->prepared != postgresql->number) {
		g_snprintf(statement->name, sizeof(statement->name), "s%u",
		    ++postgresql->statements);
		if (!enqueue(store, statement,
		        PQsendPrepare(postgresql->connection, statement->name,
		            statement->text, statement->count, statement->types),
		        error))
			return false;
		statement->prepared = postgresql->number;
	}
	return enqueue(store, NULL,
	    PQsendQueryPrepared(postgresql->connection, statement->name,
	        statement->count, statement->values, statement->lengths,
	        statement->formats, 1),
	    error);
}

static PGresult *
get_result(const struct store *store)
{
	struct postgresql *postgresql = store->postgresql;
	int64_t deadline_us = g_get_monotonic_time() + store->wait_s * G_USEC_PER_SEC;
	PGresult *result = await_result(postgresql->connection, store->wait_s);

	postgresql->is_silent |= g_get_monotonic_time() >= deadline_us;
	return result;
}

/* The result of the next statement of the queue. @return NULL: the connection is lost
 */
static PGresult *
read_result(const struct store *store)
{
	PGresult *result = get_result(store), *more;

	while (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC &&
	       (more = get_result(store)))
		PQclear(more);
	return result;
}

/*
 * Note the failure of a statement of the queue; the first one is reported.
 *
 * @return false if the session is over
 */
static bool
note_failure(struct store *store, struct postgresql_statement *statement,
    const PGresult *result, GError **problem)
{
	bool is_over =
	    !store->postgresql->server.is_read_only && is_session_over(result);

	if (statement)
		statement->prepared = 0;
	if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED || *problem)
		return true;
	/* Nothing was committed. */
	store->has_conflict |=
	    (is_over && !store->postgresql->is_silent) || is_conflict(result);
	set_result_error(problem, result);
	if (statement)
		g_prefix_error(problem, "cannot prepare a statement: ");
	return !is_over;
}

/*
 * Read the results of the queue.
 *
 * @param last  set to the result of the last statement
 * @return false if the connection is lost; errors of statements are in `problem`
 */
static bool
read_results(struct store *store, PGresult **last, GError **problem)
{
	struct postgresql *postgresql = store->postgresql;
	PGresult *sync;
	bool is_over = false, is_in_step;

	for (guint i = 0; i < postgresql->queue->len; i++) {
		PGresult *result = read_result(store);
		ExecStatusType status = PQresultStatus(result);

		g_clear_pointer(last, PQclear);
		*last = result;
		if (!result)
			return false;
		if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
			continue;
		is_over |=
		    !note_failure(store, postgresql->queue->pdata[i], result, problem);
	}
	sync = read_result(store);
	is_in_step = PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
	PQclear(sync);
	return is_in_step && !is_over;
}

/*
 * Run the queue. @param last  set to the result of the last statement; or NULL
 */
static bool
run_queue(struct store *store, PGresult **last, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	g_autoptr(GError) problem = NULL;
	PGresult *result = NULL;
	bool is_connected = PQpipelineSync(postgresql->connection) == 1 &&
	                    read_results(store, &result, &problem);

	g_ptr_array_set_size(postgresql->queue, 0);
	if (!is_connected) {
		if (!problem)
			set_lost(&problem, postgresql->connection);
		/* Nothing was committed before COMMIT was sent. */
		store->has_conflict |= postgresql->depth > 0 && !postgresql->is_silent;
		lose(postgresql);
	}
	if (last && !problem)
		*last = g_steal_pointer(&result);
	PQclear(result);
	if (!problem)
		return true;
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

/* ---- statements ---- */

static void
free_statement(gpointer data)
{
	struct postgresql_statement *statement = data;

	PQclear(statement->result);
	g_ptr_array_unref(statement->texts);
	g_free(statement->text);
	g_free(statement->types);
	g_free(statement->values);
	g_free(statement->lengths);
	g_free(statement->formats);
	g_free(statement->numbers);
	g_free(statement);
}

/* The end of a string, an identifier or text between $tag$ that begins here. */
static const char *
find_end(const char *at)
{
	const char *end = NULL;
	size_t tag = *at == '$' ? strcspn(at + 1, "$ \n\t'\"?") + 2 : 1;
	g_autofree char *mark = g_strndup(at, tag);

	if (*at != '$' || at[tag - 1] == '$')
		end = strstr(at + tag, mark);
	return end ? end + tag : at + 1;
}

/*
 * Replace ?1 by $1, and ? by the number after the last one, and remove the marks of
 * SQL_LOCK().
 *
 * @param count  set
 */
static char *
translate(const char *sql, int *count)
{
	GString *text = g_string_new(NULL);
	int number = 0;

	*count = 0;
	while (*sql) {
		const char *end = strchr("'\"$", *sql) ? find_end(sql) : sql + 1;

		if (*sql == '?') {
			char *digits = (char *)end;

			number = g_ascii_isdigit(*end)
			             ? (int)g_ascii_strtoll(end, &digits, 10)
			             : *count + 1;
			*count = MAX(*count, number);
			g_string_append_printf(text, "$%d", number);
			end = digits;
		} else if (g_str_has_prefix(sql, "/*!")) {
			end = sql + strlen("/*!");
		} else if (g_str_has_prefix(sql, "*/")) {
			end = sql + strlen("*/");
		} else {
			g_string_append_len(text, sql, end - sql);
		}
		sql = end;
	}
	return g_string_free(text, FALSE);
}

static void
set_type(struct postgresql_statement *statement, int i, Oid type)
{
	if (!type || statement->types[i] == type)
		return;
	/* It was prepared when the first value was NULL. */
	statement->types[i] = type;
	statement->prepared = 0;
}

static void
bind_value(struct postgresql_statement *statement, int i, const struct sql_value *value)
{
	statement->values[i] = value->text;
	statement->lengths[i] = (int)value->number;
	statement->formats[i] = value->kind == SQL_KIND_BLOB;
	switch (value->kind) {
	case SQL_KIND_INT:
		set_type(statement, i, TYPE_INT8);
		g_snprintf(statement->numbers[i], NUMBER_BYTES, "%" G_GINT64_FORMAT,
		    value->number);
		statement->values[i] = statement->numbers[i];
		break;
	case SQL_KIND_TEXT:
		set_type(statement, i, TYPE_TEXT);
		break;
	case SQL_KIND_BLOB:
		set_type(statement, i, TYPE_BYTEA);
		break;
	case SQL_KIND_NULL:
		break;
	case SQL_KIND_POINTER:
	case SQL_KIND_END:
		g_assert_not_reached();
	}
}

static struct sql_statement *
bind_statement(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	struct postgresql_statement *statement =
	    g_hash_table_lookup(store->statements, sql);
	int count = 0;

	(void)error;
	if (!statement) {
		statement = g_new0(struct postgresql_statement, 1);
		statement->base.engine = store->engine;
		statement->store = store;
		statement->text = translate(sql, &statement->count);
		statement->types = g_new0(Oid, statement->count);
		statement->values = g_new0(const char *, statement->count);
		statement->lengths = g_new0(int, statement->count);
		statement->formats = g_new0(int, statement->count);
		statement->numbers =
		    g_malloc0_n((gsize)statement->count, sizeof(*statement->numbers));
		statement->texts = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(store->statements, (gpointer)sql, statement);
	}
	/* Two loops over one statement would share its rows. */
	g_assert(!statement->is_bound);
	for (; values[count].kind != SQL_KIND_END; count++) {
		g_assert(count < statement->count);
		bind_value(statement, count, &values[count]);
	}
	g_assert(count == statement->count);
	statement->is_bound = true;
	return &statement->base;
}

static void
reset(struct sql_statement *base)
{
	struct postgresql_statement *statement = (struct postgresql_statement *)base;

	g_clear_pointer(&statement->result, PQclear);
	g_ptr_array_set_size(statement->texts, 0);
	statement->is_bound = false;
}

static bool
is_query(const struct postgresql_statement *statement)
{
	return g_str_has_prefix(statement->text, "SELECT ");
}

/* Run a statement that was bound, after those of the queue. */
static bool
run(struct postgresql_statement *statement, GError **error)
{
	struct store *store = statement->store;
	struct postgresql *postgresql = store->postgresql;

	for (unsigned runs = 1;; runs++) {
		bool is_alone = postgresql->depth == 0;
		g_autoptr(GError) problem = NULL;

		if (is_alone)
			store->has_conflict = false;
		if (send_statement(store, statement, &problem) &&
		    run_queue(store, &statement->result, &problem)) {
			statement->row = -1;
			return true;
		}
		/* A query may run again also if the connection was lost. */
		if (!is_alone || runs == TRANSACTION_RUNS_MAX ||
		    (!store->has_conflict &&
		        (!is_query(statement) || postgresql->connection ||
		            postgresql->is_silent || runs > 1))) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
		transaction_wait(runs);
	}
}

static enum sql_step
step(struct sql_statement *base, GError **error)
{
	struct postgresql_statement *statement = (struct postgresql_statement *)base;

	if (!statement->result && !run(statement, error))
		return SQL_STEP_FAILED;
	g_ptr_array_set_size(statement->texts, 0);
	return ++statement->row < PQntuples(statement->result) ? SQL_STEP_ROW
	                                                       : SQL_STEP_DONE;
}

/* Whether nothing is to be known about the result but an error. */
static bool
may_wait(const struct postgresql_statement *statement)
{
	const char *text = statement->text;

	return g_str_has_prefix(text, "INSERT ") || g_str_has_prefix(text, "UPDATE ") ||
	       g_str_has_prefix(text, "DELETE ") || g_str_has_prefix(text, "WITH ");
}

static bool
exec(struct store *store, const char *sql, const struct sql_value *values,
    unsigned *count, GError **error)
{
	sql_auto *base = bind_statement(store, sql, values, error);
	struct postgresql_statement *statement = (struct postgresql_statement *)base;
	struct postgresql *postgresql = store->postgresql;

	if (!count && postgresql->depth && may_wait(statement))
		return send_statement(store, statement, error) &&
		       (postgresql->queue->len < QUEUE_MAX ||
		           run_queue(store, NULL, error));
	if (!run(statement, error))
		return false;
	if (count)
		*count = (unsigned)g_ascii_strtoull(
		    PQcmdTuples(statement->result), NULL, 10);
	return true;
}

/* ---- rows, in the binary format ---- */

/* A cell of the current row. */
struct cell {
	const char *data; /* NULL for NULL; '\0' follows */
	size_t size;
	Oid type;
};

static struct cell
get_cell(struct sql_statement *base, int column)
{
	const struct postgresql_statement *statement =
	    (struct postgresql_statement *)base;
	const PGresult *result = statement->result;
	int row = statement->row;

	return (struct cell){
	    .data = PQgetisnull(result, row, column) ? NULL
	                                             : PQgetvalue(result, row, column),
	    .size = (size_t)PQgetlength(result, row, column),
	    .type = PQftype(result, column),
	};
}

/* A big-endian number with a sign. @param size  1 to 8 bytes */
static int64_t
read_number(const char *at, size_t size)
{
	uint64_t number = *at & 0x80 ? UINT64_MAX : 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | (guint8)at[i];
	return (int64_t)number;
}

/*
 * The integral part of a numeric, such as the sum of integers: the number of digits to
 * base 10000, the exponent of the first, the sign, the scale, and the digits, of 16
 * bits each (numeric_send() of PostgreSQL).  Too large ones become the largest.
 */
static int64_t
read_numeric(const struct cell *cell)
{
	const char *at = cell->data;
	int64_t exponent = cell->size < 8 ? -1 : read_number(at + 2, 2);
	bool is_negative = exponent >= 0 && read_number(at + 4, 2) != 0;
	int64_t number = 0;

	/* The server's count of the digits is not needed: the cell ends with them. */
	for (size_t i = 8; exponent >= 0; exponent--, i += 2) {
		int64_t digit = i + 2 <= cell->size ? read_number(at + i, 2) : 0;

		if (__builtin_mul_overflow(number, 10000, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return is_negative ? INT64_MIN : INT64_MAX;
	}
	return is_negative ? -number : number;
}

static bool
is_number(const struct cell *cell)
{
	return cell->type == TYPE_INT8 || cell->type == TYPE_INT4 ||
	       cell->type == TYPE_INT2 || cell->type == TYPE_BOOL ||
	       cell->type == TYPE_NUMERIC;
}

static enum sql_kind
get_kind(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	if (!cell.data)
		return SQL_KIND_NULL;
	if (is_number(&cell))
		return SQL_KIND_INT;
	return cell.type == TYPE_BYTEA ? SQL_KIND_BLOB : SQL_KIND_TEXT;
}

static int64_t
get_int(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	if (!cell.data)
		return -1;
	if (cell.type == TYPE_NUMERIC)
		return read_numeric(&cell);
	return is_number(&cell) ? read_number(cell.data, cell.size)
	                        : g_ascii_strtoll(cell.data, NULL, 10);
}

static const char *
get_text(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);
	char *text;

	if (!cell.data || !is_number(&cell))
		return cell.data;
	text = g_strdup_printf("%" G_GINT64_FORMAT, get_int(row, column));
	g_ptr_array_add(((struct postgresql_statement *)row)->texts, text);
	return text;
}

static struct sql_bytes
get_bytes(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	return (struct sql_bytes){cell.data, cell.data ? cell.size : 0};
}

static int
count_columns(struct sql_statement *row)
{
	return PQnfields(((struct postgresql_statement *)row)->result);
}

/* ---- transactions ---- */

static bool
is_open(const struct store *store)
{
	return store->postgresql->depth > 0;
}

static bool
begin(struct store *store, enum sql_begin kind, GError **error)
{
	static const char *const commands[] = {
	    /* It does not conflict. */
	    [SQL_BEGIN_READING] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	    [SQL_BEGIN_WRITING] = "BEGIN",
	    [SQL_BEGIN_ROWS] = "BEGIN ISOLATION LEVEL READ COMMITTED",
	    [SQL_BEGIN_SNAPSHOT] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
	    [SQL_BEGIN_INNER] = "SAVEPOINT inner_transaction",
	};
	struct postgresql *postgresql = store->postgresql;

	/* An error of an earlier statement is not one of the savepoint. */
	if (postgresql->queue->len && !run_queue(store, NULL, error))
		return false;
	if (!send_command(store, commands[kind], error))
		return false;
	postgresql->depth++;
	return true;
}

static bool
commit_inner(struct store *store, GError **error)
{
	if (!send_command(store, "RELEASE inner_transaction", error) ||
	    !run_queue(store, NULL, error))
		return false;
	store->postgresql->depth--;
	return true;
}

static bool
commit(struct store *store, bool is_inner, GError **error)
{
	PGresult *result = NULL;
	bool is_committed;

	if (is_inner)
		return commit_inner(store, error);
	if (!send_command(store, "COMMIT", error))
		return false;
	/* If the connection is lost now, it is not known whether it was committed. */
	store->postgresql->depth = 0;
	if (!run_queue(store, &result, error))
		return false;
	is_committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
	PQclear(result);
	return is_committed || pb_fail(error, PB_ERROR_PERMANENT,
	                           "store: a statement of the transaction failed");
}

static void
rollback(struct store *store, bool is_inner)
{
	struct postgresql *postgresql = store->postgresql;

	if (postgresql->connection && postgresql->queue->len)
		run_queue(store, NULL, NULL);
	if (postgresql->connection && is_inner)
		(void)(send_command(store, "ROLLBACK TO inner_transaction", NULL) &&
		       send_command(store, "RELEASE inner_transaction", NULL) &&
		       run_queue(store, NULL, NULL));
	else if (postgresql->connection &&
	         PQtransactionStatus(postgresql->connection) != PQTRANS_IDLE)
		(void)(send_command(store, "ROLLBACK", NULL) &&
		       run_queue(store, NULL, NULL));
	postgresql->depth -= postgresql->depth > 0;
}

/* ---- open and close ---- */

static void
close_connection(struct store *store)
{
	struct postgresql *postgresql = store->postgresql;

	if (postgresql->connection)
		PQfinish(postgresql->connection);
	g_ptr_array_unref(postgresql->queue);
	g_free((char *)postgresql->server.url);
	g_free((char *)postgresql->server.password);
	g_free((char *)postgresql->server.history_path);
	g_free(postgresql);
}

static const struct sql_engine engine = {
    .bind = bind_statement,
    .step = step,
    .reset = reset,
    .exec = exec,
    .get_kind = get_kind,
    .get_int = get_int,
    .get_text = get_text,
    .get_bytes = get_bytes,
    .count_columns = count_columns,
    .is_open = is_open,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .close = close_connection,
};

struct store *
postgresql_open(const struct store_server *server, GError **error)
{
	static const struct history unknown;
	struct history history;
	PGconn *connection = connect_server(server, &unknown, &history, error);
	struct postgresql *postgresql;
	struct store *store;

	if (!connection)
		return NULL;
	postgresql = g_new0(struct postgresql, 1);
	postgresql->server = (struct store_server){
	    .url = g_strdup(server->url),
	    .password = g_strdup(server->password),
	    .is_read_only = server->is_read_only,
	    .history_path = g_strdup(server->history_path),
	};
	postgresql->connection = connection;
	postgresql->history = history;
	postgresql->number = 1;
	postgresql->queue = g_ptr_array_new();
	store = g_new0(struct store, 1);
	store->engine = &engine;
	store->postgresql = postgresql;
	store->wait_s = STORE_WAIT_S;
	store->history = history_get_number(&history);
	store->calls = g_ptr_array_new_with_free_func(store_free_call);
	store->statements =
	    g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_statement);
	return store;
}
