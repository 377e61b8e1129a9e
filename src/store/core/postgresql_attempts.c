/*
 * postgresql_attempts.c - find the server of a URL that is to be used.
 */
#include "store/core/postgresql_attempts.h"

#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

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

void
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
		    g_strchomp(problem),
		    strstr(problem, "certificate verify failed")
		        ? ": it has expired, or its CA is not known here"
		        : "");
		PQfinish(attempt->connection);
	}
}

PGconn *
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
