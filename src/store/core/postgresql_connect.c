/*
 * postgresql_connect.c - connections to PostgreSQL: URL, TLS, timeouts, error codes.
 */
#include "store/core/postgresql_connect.h"

#include <glib.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "store/core/history.h"
#include "store/core/postgresql.h"

/* ---- find the server of a URL that is to be used ---- */

/* Maximum time for one run, s, after the addresses were found. */
#define POSTGRESQL_ATTEMPTS_S 10

/* Parameters of a connection; a later one replaces an earlier one. */
struct postgresql_parameters {
	const char *names[24], *values[24];
	unsigned count;
};

struct postgresql_attempts_options {
	const struct postgresql_parameters *parameters;
	/* As in the URL, one for each host; empty: libpq's default. */
	char **hosts, **addresses;
	char **ports; /* or one for all hosts */
	/* Servers that have been used: one that was replaced by them is refused. */
	struct history known[2];
};

/* More addresses are not tried. */
#define ATTEMPTS_MAX 16

#define DEFAULT_PORT "5432"

struct attempt {
	PGconn *connection;
	PostgresPollingStatusType state; /* OK: to be used; FAILED: not */
	bool is_asked;                   /* for the history */
	struct history history;
	bool is_waiting;     /* each commit waits for a standby that is not there */
	const char *problem; /* of a connection without an error; or NULL */
};

struct attempts {
	const struct postgresql_attempts_options *options;
	struct attempt list[ATTEMPTS_MAX];
	unsigned count;
};

static void
postgresql_parameters_add(
    struct postgresql_parameters *parameters, const char *name, const char *value)
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

/* A session that waits longer for a standby shows that this is not there. */
#define STANDBY_WAIT "'10 s'"

/* As text, before the pipeline mode. */
static void
ask_history(struct attempt *attempt)
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

	PQsetNoticeProcessor(attempt->connection, ignore_notice, NULL);
	attempt->is_asked = true;
	attempt->state = PQsendQuery(attempt->connection, sql) ? PGRES_POLLING_READING
	                                                       : PGRES_POLLING_FAILED;
}

static void
check_history(struct attempt *attempt, const struct history *known)
{
	if (!attempt->history.cluster) {
		attempt->state = PGRES_POLLING_FAILED;
	} else if (history_is_before(&attempt->history, &known[0]) ||
	           history_is_before(&attempt->history, &known[1])) {
		attempt->state = PGRES_POLLING_FAILED;
		attempt->problem =
		    "the database server was replaced by another one before: it must "
		    "not run";
	} else if (attempt->is_waiting) {
		attempt->state = PGRES_POLLING_FAILED;
		attempt->problem =
		    "each commit waits for a standby that is not connected, see "
		    "synchronous_standby_names in paperboy-machines(7)";
	} else {
		attempt->state = PGRES_POLLING_OK;
	}
}

static void
read_history(struct attempt *attempt, const struct history *known)
{
	PGresult *result;

	if (!PQconsumeInput(attempt->connection)) {
		attempt->state = PGRES_POLLING_FAILED;
		return;
	}
	while (!PQisBusy(attempt->connection)) {
		result = PQgetResult(attempt->connection);
		if (!result) {
			check_history(attempt, known);
			return;
		}
		if (PQntuples(result) == 1) {
			attempt->history = (struct history){
			    .cluster =
			        g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10),
			    .timeline =
			        g_ascii_strtoll(PQgetvalue(result, 0, 1), NULL, 16),
			};
			attempt->is_waiting = *PQgetvalue(result, 0, 2) == 't';
		}
		PQclear(result);
	}
}

/* Something happened on its socket. */
static void
continue_attempt(struct attempt *attempt, const struct history *known)
{
	if (attempt->is_asked) {
		read_history(attempt, known);
		return;
	}
	attempt->state = PQconnectPoll(attempt->connection);
	if (attempt->state == PGRES_POLLING_OK)
		ask_history(attempt);
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
add_present(
    struct postgresql_parameters *parameters, const char *name, const char *value)
{
	if (value)
		postgresql_parameters_add(parameters, name, value);
}

/* @param address  NULL: that of the URL, or libpq finds one */
static void
begin_attempt(struct attempts *attempts, unsigned host, const char *address)
{
	const struct postgresql_attempts_options *options = attempts->options;
	struct attempt *attempt = &attempts->list[attempts->count++];
	struct postgresql_parameters parameters = *options->parameters;

	add_present(&parameters, "host", get_item(options->hosts, host));
	add_present(&parameters, "hostaddr",
	    address ? address : get_item(options->addresses, host));
	add_present(&parameters, "port", get_port(options->ports, host));
	attempt->connection =
	    PQconnectStartParams(parameters.names, parameters.values, 1);
	attempt->state = PQstatus(attempt->connection) == CONNECTION_BAD
	                     ? PGRES_POLLING_FAILED
	                     : PGRES_POLLING_WRITING;
}

/* libpq would wait for the first address of a name, which may be cut off. */
static struct addrinfo *
find_addresses(const struct postgresql_attempts_options *options, unsigned host)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const char *name = get_item(options->hosts, host);
	struct addrinfo *found = NULL;

	if (!name || !*name || *name == '/' || *name == '@' ||
	    get_item(options->addresses, host) ||
	    getaddrinfo(name, NULL, &hints, &found) != 0)
		return NULL;
	return found;
}

static void
begin_host(struct attempts *attempts, unsigned host)
{
	struct addrinfo *found = find_addresses(attempts->options, host);
	char address[NI_MAXHOST];

	if (!found)
		begin_attempt(attempts, host, NULL);
	for (const struct addrinfo *each = found;
	     each && attempts->count < ATTEMPTS_MAX; each = each->ai_next)
		if (getnameinfo(each->ai_addr, each->ai_addrlen, address,
		        sizeof(address), NULL, 0, NI_NUMERICHOST) == 0)
			begin_attempt(attempts, host, address);
	if (found)
		freeaddrinfo(found);
}

static void
begin_attempts(struct attempts *attempts)
{
	unsigned count = MAX(g_strv_length(attempts->options->hosts),
	    g_strv_length(attempts->options->addresses));

	for (unsigned i = 0; i < MAX(count, 1) && attempts->count < ATTEMPTS_MAX; i++)
		begin_host(attempts, i);
}

static bool
is_pending(const struct attempts *attempts)
{
	for (unsigned i = 0; i < attempts->count; i++)
		if (attempts->list[i].state != PGRES_POLLING_FAILED)
			return true;
	return false;
}

/* @return the first attempt that succeeded, or NULL */
static struct attempt *
continue_attempts(struct attempts *attempts, int wait_ms)
{
	struct pollfd fds[ATTEMPTS_MAX];

	for (unsigned i = 0; i < attempts->count; i++) {
		const struct attempt *attempt = &attempts->list[i];

		fds[i] = (struct pollfd){
		    .fd = attempt->state == PGRES_POLLING_FAILED
		              ? -1
		              : PQsocket(attempt->connection),
		    .events =
		        attempt->state == PGRES_POLLING_READING ? POLLIN : POLLOUT,
		};
	}
	if (poll(fds, attempts->count, wait_ms) <= 0)
		return NULL;
	for (unsigned i = 0; i < attempts->count; i++) {
		if (!fds[i].revents)
			continue;
		continue_attempt(&attempts->list[i], attempts->options->known);
		if (attempts->list[i].state == PGRES_POLLING_OK)
			return &attempts->list[i];
	}
	return NULL;
}

/* libpq names the address only. */
static char *
format_problem(const struct attempt *attempt)
{
	const char *host = PQhost(attempt->connection);
	const char *problem = attempt->problem;

	if (attempt->state != PGRES_POLLING_FAILED)
		problem = "no answer";
	else if (!problem)
		problem = PQerrorMessage(attempt->connection);
	return g_strconcat(host ? host : "", ": ", problem, NULL);
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

static void
end_attempts(struct attempts *attempts, GString *problems)
{
	for (unsigned i = 0; i < attempts->count; i++) {
		const struct attempt *attempt = &attempts->list[i];
		g_autofree char *problem = NULL;

		if (!attempt->connection)
			continue;
		problem = format_problem(attempt);
		g_string_append_printf(problems, "%s%s%s", problems->len ? "; " : "",
		    g_strchomp(problem), find_advice(problem));
		PQfinish(attempt->connection);
	}
}

static PGconn *
postgresql_attempts_run(const struct postgresql_attempts_options *options,
    struct history *history, GString *problems)
{
	struct attempts attempts = {.options = options};
	struct attempt *first = NULL;
	PGconn *connection = NULL;
	int64_t deadline_us, left_us;

	/* This may take longer, to find the addresses. */
	begin_attempts(&attempts);
	deadline_us = g_get_monotonic_time() + POSTGRESQL_ATTEMPTS_S * G_USEC_PER_SEC;
	while (!first && is_pending(&attempts) &&
	       (left_us = deadline_us - g_get_monotonic_time()) > 0)
		first = continue_attempts(&attempts, (int)(left_us / 1000) + 1);
	if (first) {
		connection = g_steal_pointer(&first->connection);
		*history = first->history;
	}
	end_attempts(&attempts, problems);
	return connection;
}

/* ---- postgresql connect ---- */

/* Timeouts for a server, or a network, that does not respond. */
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

/* Values of a URL. */
struct target {
	char *settings; /* of a session */
	char **hosts, **addresses, **ports;
};

static void
target_clear(struct target *target)
{
	g_free(target->settings);
	g_strfreev(target->hosts);
	g_strfreev(target->addresses);
	g_strfreev(target->ports);
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
add_checked(const struct store_server *server, struct postgresql_parameters *parameters,
    struct target *target, GError **error)
{
	PQconninfoOption *options = parse_url(server->url, error);
	const char *more;

	if (!options)
		return false;
	more = find_option(options, "options");
	target->settings = g_strconcat(SETTINGS,
	    server->is_read_only ? " -c default_transaction_read_only=on " : " ", more,
	    NULL);
	target->hosts = split(find_option(options, "host"));
	target->addresses = split(find_option(options, "hostaddr"));
	target->ports = split(find_option(options, "port"));
	if (!are_local(find_option(options, "host")) ||
	    !are_local(find_option(options, "hostaddr"))) {
		postgresql_parameters_add(parameters, "sslmode", "verify-full");
		postgresql_parameters_add(parameters, "sslrootcert", CA_FILE);
	}
	PQconninfoFree(options);
	return true;
}

/* ---- connection ---- */

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
connect_to_any(bool is_read_only, struct postgresql_parameters *parameters,
    const struct postgresql_attempts_options *attempts, struct history *history,
    GError **error)
{
	g_autoptr(GString) problems = g_string_new(NULL);
	g_autofree char *line = NULL;
	PGconn *connection;

	postgresql_parameters_add(parameters, "target_session_attrs",
	    is_read_only ? "primary" : "read-write");
	connection = postgresql_attempts_run(attempts, history, problems);
	if (!connection && is_read_only) {
		postgresql_parameters_add(parameters, "target_session_attrs", "any");
		g_string_truncate(problems, 0);
		connection = postgresql_attempts_run(attempts, history, problems);
	}
	if (connection)
		return connection;
	line = format_line(problems->str);
	pb_fail(error, PB_ERROR_TEMPORARY, "cannot connect to the database: %s", line);
	return NULL;
}

/* The URL may replace them. */
static void
add_defaults(struct postgresql_parameters *parameters)
{
	static const char *const defaults[][2] = {
	    {"application_name", "paperboy"},
	    {"keepalives_idle", KEEPALIVE_IDLE_S},
	    {"keepalives_interval", KEEPALIVE_INTERVAL_S},
	    {"keepalives_count", KEEPALIVE_COUNT},
	    {"tcp_user_timeout", TCP_USER_TIMEOUT_MS},
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(defaults); i++)
		postgresql_parameters_add(parameters, defaults[i][0], defaults[i][1]);
}

/* Use the connection for statements. */
static bool
set_up(PGconn *connection, GError **error)
{
	if (!check_version(connection, error))
		return false;
	if (PQenterPipelineMode(connection))
		return true;
	postgresql_set_lost(error, connection);
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

PGconn *
postgresql_connect(const struct store_server *server, const struct history *known,
    struct history *history, GError **error)
{
	struct postgresql_parameters parameters = {0};
	struct postgresql_attempts_options attempts = {.parameters = &parameters};
	pb_local(target) target = {0};
	struct history found;
	PGconn *connection;

	attempts.known[0] = *known;
	if (!add_checked(server, &parameters, &target, error) ||
	    !history_load_file(server->history_path, &attempts.known[1], error))
		return NULL;
	attempts.hosts = target.hosts;
	attempts.addresses = target.addresses;
	attempts.ports = target.ports;
	add_defaults(&parameters);
	postgresql_parameters_add(&parameters, "dbname", server->url);
	postgresql_parameters_add(&parameters, "client_encoding", "UTF8");
	postgresql_parameters_add(&parameters, "options", target.settings);
	if (server->password)
		postgresql_parameters_add(&parameters, "password", server->password);
	connection =
	    connect_to_any(server->is_read_only, &parameters, &attempts, &found, error);
	if (!connection)
		return NULL;
	if (set_up(connection, error) &&
	    record(server, &found, &attempts.known[1], error)) {
		*history = found;
		return connection;
	}
	PQfinish(connection);
	return NULL;
}

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

PGresult *
postgresql_get_result(PGconn *connection, int64_t wait_s)
{
	await(connection, wait_s);
	return PQgetResult(connection);
}
