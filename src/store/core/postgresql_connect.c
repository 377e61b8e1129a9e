/*
 * postgresql_connect.c - connections to PostgreSQL: URL, TLS, timeouts, error codes.
 */
#include "store/core/postgresql_connect.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"

/* Timeouts for a server, or a network, that does not respond. */
#define CONNECT_TIMEOUT_S    10
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

/* More hosts of a URL are not tried. */
#define HOSTS_MAX 8

#define DEFAULT_PORT "5432"

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

bool
postgresql_is_conflict(const PGresult *result)
{
	static const char *const states[] = {"40001", "40P01", NULL};

	return has_state(result, states);
}

bool
postgresql_is_session_over(const PGresult *result)
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

void
postgresql_set_error(GError **error, const PGresult *result)
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

void
postgresql_set_lost(GError **error, PGconn *connection)
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

/* Parameters of a connection; a later one replaces an earlier one. */
struct parameters {
	const char *names[24], *values[24];
	unsigned count;
};

static void
add(struct parameters *parameters, const char *name, const char *value)
{
	g_assert(parameters->count + 1 < G_N_ELEMENTS(parameters->names));
	parameters->names[parameters->count] = name;
	parameters->values[parameters->count++] = value;
}

/* Values of a URL. */
struct target {
	char *settings; /* of a session */
	char **hosts, **ports;
};

static void
target_clear(struct target *target)
{
	g_free(target->settings);
	g_strfreev(target->hosts);
	g_strfreev(target->ports);
}

static char **
split(const char *list)
{
	return g_strsplit(list ? list : "", ",", -1);
}

/* Check a URL, and add what depends on it: verification and session settings. */
static bool
add_checked(const struct store_server *server, struct parameters *parameters,
    struct target *target, GError **error)
{
	g_autofree char *line = NULL;
	char *problem = NULL;
	PQconninfoOption *options = PQconninfoParse(server->url, &problem);
	const char *more;
	bool has_password;

	if (!options) {
		line = format_line(problem);
		PQfreemem(problem);
		return pb_fail(error, PB_ERROR_INPUT,
		    "the URL of the database is wrong: %s", line);
	}
	has_password = find_option(options, "password") != NULL;
	more = find_option(options, "options");
	target->settings = g_strconcat(SETTINGS,
	    server->is_read_only ? " -c default_transaction_read_only=on " : " ", more,
	    NULL);
	/* Addresses belong to the whole list. */
	target->hosts = split(
	    find_option(options, "hostaddr") ? NULL : find_option(options, "host"));
	target->ports = split(find_option(options, "port"));
	if (!are_local(find_option(options, "host")) ||
	    !are_local(find_option(options, "hostaddr"))) {
		add(parameters, "sslmode", "verify-full");
		add(parameters, "sslrootcert", CA_FILE);
	}
	PQconninfoFree(options);
	return !has_password ||
	       pb_fail(error, PB_ERROR_INPUT,
	           "the URL of the database has a password: move it to a file");
}

/* ---- several hosts ---- */

/* Connections that are being made, one to each host. */
struct attempts {
	PGconn *connections[HOSTS_MAX];
	PostgresPollingStatusType states[HOSTS_MAX];
	unsigned count;
};

static void
begin_attempt(struct attempts *attempts, const struct parameters *parameters,
    const char *host, const char *port)
{
	struct parameters one = *parameters;
	PGconn *connection;

	add(&one, "host", host);
	add(&one, "port", port);
	connection = PQconnectStartParams(one.names, one.values, 1);
	attempts->connections[attempts->count] = connection;
	attempts->states[attempts->count++] = PQstatus(connection) == CONNECTION_BAD
	                                          ? PGRES_POLLING_FAILED
	                                          : PGRES_POLLING_WRITING;
}

static bool
is_pending(const struct attempts *attempts)
{
	for (unsigned i = 0; i < attempts->count; i++)
		if (attempts->states[i] != PGRES_POLLING_FAILED)
			return true;
	return false;
}

/* @return the first that is connected, owned by the caller; or NULL */
static PGconn *
continue_attempts(struct attempts *attempts, int wait_ms)
{
	struct pollfd fds[HOSTS_MAX];

	for (unsigned i = 0; i < attempts->count; i++)
		fds[i] = (struct pollfd){
		    .fd = attempts->states[i] == PGRES_POLLING_FAILED
		              ? -1
		              : PQsocket(attempts->connections[i]),
		    .events =
		        attempts->states[i] == PGRES_POLLING_READING ? POLLIN : POLLOUT,
		};
	if (poll(fds, attempts->count, wait_ms) <= 0)
		return NULL;
	for (unsigned i = 0; i < attempts->count; i++) {
		if (!fds[i].revents)
			continue;
		attempts->states[i] = PQconnectPoll(attempts->connections[i]);
		if (attempts->states[i] == PGRES_POLLING_OK)
			return g_steal_pointer(&attempts->connections[i]);
	}
	return NULL;
}

/* Free the attempts. @param problems  gets what is known */
static void
end_attempts(struct attempts *attempts, GString *problems)
{
	for (unsigned i = 0; i < attempts->count; i++) {
		PGconn *connection = attempts->connections[i];

		if (connection && attempts->states[i] != PGRES_POLLING_FAILED)
			g_string_append_printf(
			    problems, "%s does not answer\n", PQhost(connection));
		else if (connection)
			g_string_append(problems, PQerrorMessage(connection));
		PQfinish(connection);
	}
}

/* One for all hosts, or one for each, which may be empty. */
static const char *
get_port(const struct target *target, unsigned host)
{
	unsigned count = g_strv_length(target->ports);
	const char *port = count == 1     ? target->ports[0]
	                   : host < count ? target->ports[host]
	                                  : "";

	return *port ? port : DEFAULT_PORT;
}

/*
 * Connect to all hosts at a time, and use the first that answers as it should: none of
 * them waits for one that is cut off.
 */
static PGconn *
connect_any(
    const struct parameters *parameters, const struct target *target, GString *problems)
{
	int64_t deadline_us =
	    g_get_monotonic_time() + CONNECT_TIMEOUT_S * G_USEC_PER_SEC;
	struct attempts attempts = {0};
	PGconn *connection = NULL;
	int64_t left_us;

	for (unsigned i = 0; target->hosts[i] && i < HOSTS_MAX; i++)
		begin_attempt(
		    &attempts, parameters, target->hosts[i], get_port(target, i));
	while (!connection && is_pending(&attempts) &&
	       (left_us = deadline_us - g_get_monotonic_time()) > 0)
		connection = continue_attempts(&attempts, (int)(left_us / 1000) + 1);
	end_attempts(&attempts, problems);
	return connection;
}

/* Connect to the primary server, or read from another one if there is none. */
static PGconn *
make_connection(bool is_read_only, struct parameters *parameters,
    const struct target *target, GString *problems)
{
	bool has_several = target->hosts[0] && target->hosts[1];
	PGconn *connection = NULL;

	add(parameters, "target_session_attrs",
	    is_read_only ? "primary" : "read-write");
	if (has_several)
		connection = connect_any(parameters, target, problems);
	if (has_several && (connection || !is_read_only))
		return connection;
	if (is_read_only)
		add(parameters, "target_session_attrs", "any");
	return PQconnectdbParams(parameters->names, parameters->values, 1);
}

/* ---- connection ---- */

static void
ignore_notice(void *data, const char *message)
{
	(void)data;
	(void)message;
}

/* As text, before the pipeline mode. */
static bool
load_history(PGconn *connection, struct history *history)
{
	/* The file's name begins with the timeline, of 8 hexadecimal digits. */
	static const char sql[] =
	    "SELECT system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
	    " FROM pg_control_system()";
	PGresult *result = PQexec(connection, sql);
	bool is_loaded = PQntuples(result) == 1;

	if (is_loaded)
		*history = (struct history){
		    .cluster = g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10),
		    .timeline = g_ascii_strtoll(PQgetvalue(result, 0, 1), NULL, 16),
		};
	PQclear(result);
	return is_loaded;
}

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

/* @param connection  taken; NULL or failed */
static void
fail(PGconn *connection, const GString *problems, GError **error)
{
	g_autofree char *line =
	    format_line(connection ? PQerrorMessage(connection) : problems->str);

	PQfinish(connection);
	pb_fail(error, PB_ERROR_TEMPORARY, "cannot connect to the database: %s%s", line,
	    strstr(line, "certificate verify failed")
	        ? ": it has expired, or its CA is not known here"
	        : "");
}

PGconn *
postgresql_connect(
    const struct store_server *server, struct history *history, GError **error)
{
	struct parameters parameters = {0};
	pb_local(target) target = {0};
	g_autoptr(GString) problems = g_string_new(NULL);
	PGconn *connection;

	if (!add_checked(server, &parameters, &target, error))
		return NULL;
	add(&parameters, "application_name", "paperboy");
	add(&parameters, "connect_timeout", G_STRINGIFY(CONNECT_TIMEOUT_S));
	add(&parameters, "keepalives_idle", KEEPALIVE_IDLE_S);
	add(&parameters, "keepalives_interval", KEEPALIVE_INTERVAL_S);
	add(&parameters, "keepalives_count", KEEPALIVE_COUNT);
	add(&parameters, "tcp_user_timeout", TCP_USER_TIMEOUT_MS);
	add(&parameters, "dbname", server->url);
	add(&parameters, "client_encoding", "UTF8");
	add(&parameters, "options", target.settings);
	if (server->password)
		add(&parameters, "password", server->password);
	connection =
	    make_connection(server->is_read_only, &parameters, &target, problems);
	PQsetNoticeProcessor(connection, ignore_notice, NULL);
	if (PQstatus(connection) == CONNECTION_OK &&
	    !check_version(connection, error)) {
		PQfinish(connection);
		return NULL;
	}
	if (PQstatus(connection) == CONNECTION_OK &&
	    (server->is_read_only || load_history(connection, history)) &&
	    PQenterPipelineMode(connection))
		return connection;
	fail(connection, problems, error);
	return NULL;
}
