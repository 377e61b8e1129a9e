/*
 * stream_open.c - connect, verify and log in with libcurl.
 */
#include <errno.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "net/oauth.h"
#include "net/stream.h"
#include "net/stream_private.h"

/* State while opening, from the replies seen by libcurl. */
struct connecting {
	const struct stream_options *options;
	const char *token; /* access token; NULL: log in by password */
	char *challenge;   /* the host's explanation of a failed login, or NULL */
	CURL *easy;
	enum stream_step step;
	GPtrArray *hello;       /* lines of the last EHLO reply */
	GString *reply;         /* current or last reply */
	unsigned code;          /* of that reply; 0 if none */
	unsigned n_lines;       /* of that reply */
	bool is_reply_complete; /* its last line has been read */
	bool is_secured;        /* STARTTLS was accepted */
	bool is_logged_in;
	bool is_any_login; /* allow mechanisms other than SASL PLAIN and LOGIN */
	bool is_malformed; /* a malformed or too long reply */
	bool is_timed_out; /* no TCP connection within connect_ms */
	int64_t started_us;
};

void
stream_error_clear(struct stream_error *failure)
{
	g_clear_pointer(&failure->reply, g_free);
}

static void
connecting_clear(struct connecting *connecting)
{
	if (connecting->easy)
		curl_easy_cleanup(connecting->easy);
	if (connecting->hello)
		g_ptr_array_unref(connecting->hello);
	if (connecting->reply)
		g_string_free(connecting->reply, TRUE);
	g_free(connecting->challenge);
}

/* The first challenge of a failed OAuth login is empty. */
static void
record_challenge(struct connecting *connecting, const char *text, size_t size)
{
	char *challenge;

	if (!connecting->token || connecting->step != STREAM_STEP_LOGIN || size == 0)
		return;
	challenge = oauth_format_challenge(text, size);
	g_free(connecting->challenge);
	connecting->challenge = challenge ? challenge : g_strdup("no reason given");
}

/*
 * After the last line of a reply, or a result, libcurl takes its next step.  A positive
 * one has the code 200, or that of SMTP.
 */
static void
record_reply(struct connecting *connecting)
{
	bool is_positive = connecting->code / 100 == 2;

	connecting->is_reply_complete = true;
	switch (connecting->step) {
	case STREAM_STEP_CONNECT:
		if (is_positive)
			connecting->step = STREAM_STEP_HELLO;
		break;
	case STREAM_STEP_HELLO:
		/* After a rejected EHLO libcurl sends HELO, without TLS. */
		if (!is_positive)
			break;
		if (connecting->options->tls == STREAM_TLS_STARTTLS &&
		    !connecting->is_secured)
			connecting->step = STREAM_STEP_STARTTLS;
		else
			connecting->step = STREAM_STEP_LOGIN;
		break;
	case STREAM_STEP_STARTTLS:
		connecting->is_secured = is_positive;
		break;
	case STREAM_STEP_LOGIN:
		connecting->is_logged_in = is_positive;
		break;
	}
}

/* ---- Replies of an SMTP server ---- */

static void
begin_reply(struct connecting *connecting)
{
	g_string_truncate(connecting->reply, 0);
	connecting->n_lines = 0;
	connecting->is_reply_complete = false;
	/* A reply after STARTTLS means that the handshake has succeeded. */
	if (connecting->step == STREAM_STEP_STARTTLS && connecting->is_secured)
		connecting->step = STREAM_STEP_HELLO;
	if (connecting->step == STREAM_STEP_HELLO)
		g_ptr_array_set_size(connecting->hello, 0);
}

/* libcurl skips malformed lines until its timeout: abort at once. */
static bool
record_smtp_line(struct connecting *connecting, const char *line, size_t size)
{
	char mark;

	if (connecting->is_reply_complete)
		begin_reply(connecting);
	while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	if (size < 3 || size > BOUNDS_REPLY_LINE_BYTES || memchr(line, '\0', size) ||
	    ++connecting->n_lines > BOUNDS_REPLY_LINES)
		return false;
	if (!g_ascii_isdigit(line[0]) || !g_ascii_isdigit(line[1]) ||
	    !g_ascii_isdigit(line[2]))
		return false;
	mark = size == 3 ? ' ' : line[3];
	if (mark != ' ' && mark != '-')
		return false;

	g_string_append_len(connecting->reply, line, (gssize)size);
	g_string_append_c(connecting->reply, '\n');
	if (connecting->step == STREAM_STEP_HELLO)
		g_ptr_array_add(connecting->hello,
		    size > 4 ? g_strndup(line + 4, size - 4) : g_strdup(""));
	connecting->code = (unsigned)(line[0] - '0') * 100 +
	                   (unsigned)(line[1] - '0') * 10 + (unsigned)(line[2] - '0');
	if (connecting->code == 334 && size >= 4)
		record_challenge(connecting, line + 4, size - 4);
	if (mark == ' ')
		record_reply(connecting);
	return true;
}

/* ---- Replies of an IMAP server ---- */

/* Whether a rejection is temporary (RFC 5530 section 3). */
static bool
is_temporary(const char *text, size_t size)
{
	static const char *const codes[] = {
	    "[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]", "[CONTACTADMIN]"};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
		if (size >= strlen(codes[i]) &&
		    g_ascii_strncasecmp(text, codes[i], strlen(codes[i])) == 0)
			return true;
	return false;
}

/* Whether the text starts with a word, case-insensitively. */
static bool
has_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size >= length && g_ascii_strncasecmp(text, word, length) == 0 &&
	       (size == length || text[length] == ' ');
}

/* @return 200 for OK, 400 for a temporary rejection or BYE, 500 for NO and BAD, 0
 *         otherwise */
static unsigned
code_from_text(const char *text, size_t size)
{
	static const struct {
		const char *word;
		unsigned code;
	} rows[] = {{"OK", 200}, {"NO", 500}, {"BAD", 500}, {"BYE", 400}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		size_t skip = strlen(rows[i].word) + 1;

		if (!has_word(text, size, rows[i].word))
			continue;
		if (size > skip && is_temporary(text + skip, size - skip))
			return 400;
		return rows[i].code;
	}
	return 0;
}

static bool
record_imap_line(struct connecting *connecting, const char *line, size_t size)
{
	const char *text;
	unsigned code;
	bool is_untagged;

	if (connecting->is_reply_complete)
		begin_reply(connecting);
	while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	if (size == 0 || size > BOUNDS_IMAP_HELLO_BYTES || memchr(line, '\0', size) ||
	    ++connecting->n_lines > BOUNDS_IMAP_HELLO_LINES)
		return false;
	if (line[0] == '+') {
		if (size >= 2)
			record_challenge(connecting, line + 2, size - 2);
		return true;
	}
	text = memchr(line, ' ', size);
	if (!text || text == line)
		return false;
	text++;
	is_untagged = text == line + 2 && line[0] == '*';
	code = code_from_text(text, size - (size_t)(text - line));

	if (is_untagged && connecting->step != STREAM_STEP_CONNECT && code != 400)
		return true;
	/* PREAUTH skips the login, so the user would not be authenticated. */
	if (is_untagged && has_word(text, size - 2, "PREAUTH"))
		return !connecting->options->user;
	if (code == 0)
		return false;
	connecting->code = code;
	g_string_append_len(connecting->reply, line, (gssize)size);
	g_string_append_c(connecting->reply, '\n');
	record_reply(connecting);
	return true;
}

/* ---- Options and results of libcurl ---- */

static size_t
on_line(char *line, size_t unit, size_t count, void *data)
{
	struct connecting *connecting = data;

	bool is_good = !connecting->is_malformed;

	switch (connecting->options->protocol) {
	case STREAM_PROTOCOL_SMTP:
		is_good = is_good && record_smtp_line(connecting, line, unit * count);
		break;
	case STREAM_PROTOCOL_IMAP:
		is_good = is_good && record_imap_line(connecting, line, unit * count);
		break;
	}
	connecting->is_malformed = !is_good;
	return is_good ? unit * count : 0;
}

/* libcurl has one timeout for TCP and greeting; ours for TCP is shorter. */
static int
on_progress(void *data, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
    curl_off_t up)
{
	struct connecting *connecting = data;
	int64_t waited_us = g_get_monotonic_time() - connecting->started_us;
	curl_off_t connected_us = 0;

	(void)down_total, (void)down, (void)up_total, (void)up;
	if (connecting->options->stop_fd &&
	    stream_is_stopped(*connecting->options->stop_fd))
		return 1;
	if (waited_us / 1000 < (int64_t)connecting->options->connect_ms)
		return 0;
	curl_easy_getinfo(connecting->easy, CURLINFO_CONNECT_TIME_T, &connected_us);
	connecting->is_timed_out = connected_us == 0 && connecting->code == 0;
	return connecting->is_timed_out;
}

static bool
is_this_machine(const char *host)
{
	return g_ascii_strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
	       (g_str_has_prefix(host, "127.") && g_hostname_is_ip_address(host));
}

static bool
is_hello_name(const char *name)
{
	static const char messages[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
	                               "TUVWXYZ0123456789.-:[]";

	return *name && !name[strspn(name, messages)];
}

static bool
check_options(const struct stream_options *options, GError **error)
{
	const char *wrong = NULL;

	if (!*options->host || strspn(options->host, "[]") > 0)
		wrong = "the host is not a name or an address";
	else if (options->port == 0)
		wrong = "the port is 0";
	else if (options->protocol == STREAM_PROTOCOL_SMTP &&
	         !is_hello_name(options->hello))
		wrong = "invalid character in the EHLO name";
	else if (options->user && !options->password && !options->tokens)
		wrong = "missing password";
	else if (options->tokens && strpbrk(options->user, ",=\1"))
		wrong = "invalid character in the user name";
	else if (options->user && options->tls == STREAM_TLS_OFF &&
	         !is_this_machine(options->host))
		wrong = "refusing to log in to another host without TLS";
	if (!wrong)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "cannot use mail host '%s': %s",
	    options->host, wrong);
}

/* smtp://HOST:PORT/HELLO: libcurl takes the EHLO name from the path. */
static char *
format_url(const struct stream_options *options)
{
	static const char *const schemes[] = {
	    [STREAM_PROTOCOL_SMTP] = "smtp",
	    [STREAM_PROTOCOL_IMAP] = "imap",
	};
	bool is_literal6 = strchr(options->host, ':') != NULL;
	bool is_smtp = options->protocol == STREAM_PROTOCOL_SMTP;
	g_autofree char *hello =
	    g_uri_escape_string(is_smtp ? options->hello : "", NULL, FALSE);
	g_autofree char *host = g_uri_escape_string(options->host, ":", TRUE);

	return g_strdup_printf("%s%s://%s%s%s:%u/%s", schemes[options->protocol],
	    options->tls == STREAM_TLS_IMPLICIT ? "s" : "", is_literal6 ? "[" : "",
	    host, is_literal6 ? "]" : "", (unsigned)options->port, hello);
}

static bool
set_security(struct connecting *connecting)
{
	const struct stream_options *options = connecting->options;
	CURL *easy = connecting->easy;
	bool is_set = true;

	if (options->tls != STREAM_TLS_OFF)
		is_set &=
		    !curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	is_set &= !curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
	is_set &= !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	is_set &= !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (options->ca_file) {
		/* Without the second option the system's CA directory would be used,
		 * too. */
		is_set &= !curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
		is_set &= !curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (options->user)
		is_set &= !curl_easy_setopt(easy, CURLOPT_USERNAME, options->user);
	if (connecting->token) {
		is_set &=
		    !curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, connecting->token);
		is_set &= !curl_easy_setopt(
		    easy, CURLOPT_LOGIN_OPTIONS, "AUTH=OAUTHBEARER;AUTH=XOAUTH2");
	} else if (options->user) {
		/* Within TLS, the plain mechanisms are the ones that all hosts
		 * support. */
		is_set &= !curl_easy_setopt(easy, CURLOPT_PASSWORD, options->password);
		if (!connecting->is_any_login)
			is_set &= !curl_easy_setopt(
			    easy, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN");
	}
	return is_set;
}

static bool
set_options(struct connecting *connecting, char *message)
{
	const struct stream_options *options = connecting->options;
	g_autofree char *url = format_url(options);
	CURL *easy = connecting->easy;
	bool is_set = true;

	is_set &= !curl_easy_setopt(easy, CURLOPT_URL, url);
	is_set &=
	    !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps,imap,imaps");
	is_set &= !curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	is_set &= !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	is_set &= !curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	/* An empty proxy disables the proxy variables in the environment. */
	is_set &= !curl_easy_setopt(easy, CURLOPT_PROXY, "");
	is_set &= !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message);
	is_set &=
	    !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->open_ms);
	is_set &= !curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)options->open_ms);
	is_set &= !curl_easy_setopt(
	    easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(options->open_ms / 1000 + 1));
	is_set &= !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_line);
	is_set &= !curl_easy_setopt(easy, CURLOPT_HEADERDATA, connecting);
	is_set &= !curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	is_set &= !curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	is_set &= !curl_easy_setopt(easy, CURLOPT_XFERINFODATA, connecting);
	return is_set && set_security(connecting);
}

static enum stream_error_kind
kind_from_curl(const struct connecting *connecting, CURLcode result)
{
	if (connecting->is_malformed)
		return STREAM_ERROR_PROTOCOL;
	switch ((int)result) {
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_NOT_BUILT_IN:
	case CURLE_UNKNOWN_OPTION:
	case CURLE_BAD_FUNCTION_ARGUMENT:
	case CURLE_SSL_CACERT_BADFILE:
		return STREAM_ERROR_SETTINGS;
	case CURLE_PEER_FAILED_VERIFICATION:
		return STREAM_ERROR_INSECURE;
	case CURLE_USE_SSL_FAILED:
		/* Not supported (the last code is EHLO's), or rejected. */
		return connecting->code / 100 == 4 ? STREAM_ERROR_REFUSED
		                                   : STREAM_ERROR_INSECURE;
	case CURLE_LOGIN_DENIED:
		/* Rejected, or (the last code is EHLO's) no supported mechanism. */
		return connecting->code / 100 == 4 ? STREAM_ERROR_REFUSED
		                                   : STREAM_ERROR_LOGIN;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_REMOTE_ACCESS_DENIED:
		return connecting->code >= 400 ? STREAM_ERROR_REFUSED
		                               : STREAM_ERROR_PROTOCOL;
	default:
		return STREAM_ERROR_UNREACHABLE;
	}
}

static enum pb_error
code_from_kind(enum stream_error_kind kind)
{
	switch (kind) {
	case STREAM_ERROR_SETTINGS:
		return PB_ERROR_INPUT;
	case STREAM_ERROR_UNREACHABLE:
	case STREAM_ERROR_REFUSED:
	case STREAM_ERROR_PROTOCOL:
		return PB_ERROR_TEMPORARY;
	case STREAM_ERROR_INSECURE:
	case STREAM_ERROR_LOGIN:
		return PB_ERROR_PERMANENT;
	}
	g_assert_not_reached();
}

static bool
is_connected(const struct connecting *connecting)
{
	curl_off_t connected_us = 0;

	curl_easy_getinfo(connecting->easy, CURLINFO_CONNECT_TIME_T, &connected_us);
	return connected_us > 0;
}

/* An implicit TLS handshake failed, but not because of the certificate. */
static bool
is_not_tls(const struct connecting *connecting, CURLcode result)
{
	return connecting->options->tls == STREAM_TLS_IMPLICIT &&
	       connecting->step == STREAM_STEP_CONNECT &&
	       result == CURLE_SSL_CONNECT_ERROR;
}

/* Another token would have the same scope. */
static bool
lacks_scope(const struct connecting *connecting)
{
	return connecting->challenge &&
	       g_str_has_prefix(connecting->challenge, "insufficient_scope");
}

/* @return one-line description; the message of libcurl unless there is a better one */
static char *
format_cause(const struct connecting *connecting, CURLcode result, const char *message)
{
	bool is_smtp = connecting->options->protocol == STREAM_PROTOCOL_SMTP;
	bool is_plain = connecting->options->tls == STREAM_TLS_OFF;
	const char *const steps[] = {
	    [STREAM_STEP_CONNECT] = "while connecting",
	    [STREAM_STEP_HELLO] = is_smtp ? "at EHLO" : "at CAPABILITY",
	    [STREAM_STEP_STARTTLS] = "at STARTTLS",
	    [STREAM_STEP_LOGIN] = "at login",
	};
	long number = 0;
	char *cause;

	curl_easy_getinfo(connecting->easy, CURLINFO_OS_ERRNO, &number);
	if (connecting->is_malformed)
		return g_strdup_printf("malformed or too long reply %s (%s)",
		    steps[connecting->step], is_smtp ? "SMTP" : "IMAP");
	if (connecting->is_timed_out)
		return g_strdup("connection timed out");
	if (result == CURLE_ABORTED_BY_CALLBACK)
		return g_strdup("interrupted by shutdown");
	if (result == CURLE_LOGIN_DENIED && connecting->challenge)
		return g_strdup_printf("login with an access token failed: %s%s",
		    connecting->challenge,
		    lacks_scope(connecting)
		        ? ": correct oauth.scope, then run paperboyctl login"
		        : "");
	if (result == CURLE_OK ||
	    (result == CURLE_LOGIN_DENIED && connecting->code < 400))
		return g_strdup_printf("no supported authentication mechanism (%s)%s%s",
		    connecting->token ? "OAUTHBEARER, XOAUTH2" : "PLAIN, LOGIN",
		    is_plain ? "; if the host offers them after STARTTLS only, set "
		             : "",
		    !is_plain ? ""
		    : is_smtp ? "smtp.tls to \"starttls\""
		              : "receive.imap_tls to \"starttls\"");
	if (result == CURLE_OPERATION_TIMEDOUT &&
	    connecting->step == STREAM_STEP_CONNECT && is_connected(connecting))
		return g_strdup(
		    connecting->options->tls == STREAM_TLS_IMPLICIT
		        ? "timeout waiting for the greeting"
		        : "timeout waiting for the greeting; if this port expects TLS "
		          "from the start, set tls to \"implicit\"");
	if (result == CURLE_OPERATION_TIMEDOUT)
		return g_strdup_printf("timeout %s", steps[connecting->step]);
	if (result == CURLE_USE_SSL_FAILED)
		return g_strdup("STARTTLS is required but not supported by the host");
	if (result == CURLE_LOGIN_DENIED)
		return g_strdup("login failed");
	if (result == CURLE_COULDNT_CONNECT && number != 0) {
		cause = g_strdup(g_strerror((int)number));
		cause[0] = g_ascii_tolower(cause[0]);
		return cause;
	}
	if (connecting->is_reply_complete && connecting->code >= 400 && !is_smtp)
		return g_strdup_printf("rejected %s", steps[connecting->step]);
	if (connecting->is_reply_complete && connecting->code >= 400)
		return g_strdup_printf(
		    "rejected with %u %s", connecting->code, steps[connecting->step]);
	if (is_not_tls(connecting, result))
		return g_strdup("the host does not speak TLS; if this port "
		                "expects STARTTLS, set tls to \"starttls\"");
	return g_strdup_printf("%s %s", *message ? message : curl_easy_strerror(result),
	    steps[connecting->step]);
}

/* Certificates are untrusted: only printable ASCII is passed on. */
static void
make_printable(char *text)
{
	for (; *text; text++)
		if (!g_ascii_isprint(*text))
			*text = '?';
}

static void
set_failure(const struct connecting *connecting, CURLcode result, const char *message,
    struct stream_error *failure, GError **error)
{
	const struct stream_options *options = connecting->options;
	enum stream_error_kind kind = STREAM_ERROR_LOGIN;
	g_autofree char *cause = format_cause(connecting, result, message);
	bool is_answered = connecting->is_reply_complete && connecting->code >= 400 &&
	                   !connecting->challenge;

	if (result != CURLE_OK)
		kind = kind_from_curl(connecting, result);
	make_printable(cause);
	pb_fail(error, code_from_kind(kind), "cannot connect to %s port %u: %s",
	    options->host, (unsigned)options->port, cause);
	failure->kind = kind;
	failure->step = connecting->step;
	failure->is_not_tls = is_not_tls(connecting, result);
	failure->is_token_rejected = connecting->token && kind == STREAM_ERROR_LOGIN &&
	                             (is_answered || connecting->challenge) &&
	                             !lacks_scope(connecting);
	failure->reply = is_answered ? g_strdup(connecting->reply->str) : NULL;
}

static struct stream *
open_with(struct connecting *connecting, struct stream_error *failure, GError **error)
{
	char message[CURL_ERROR_SIZE] = "";
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURLcode result = CURLE_BAD_FUNCTION_ARGUMENT;

	if (set_options(connecting, message))
		result = curl_easy_perform(connecting->easy);
	if (result == CURLE_OK &&
	    (!connecting->options->user || connecting->is_logged_in))
		curl_easy_getinfo(connecting->easy, CURLINFO_ACTIVESOCKET, &fd);
	else {
		set_failure(connecting, result, message, failure, error);
		return NULL;
	}
	/* These point to the stack, but the handle lives on. */
	curl_easy_setopt(connecting->easy, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(connecting->easy, CURLOPT_NOPROGRESS, 1L);
	curl_easy_setopt(connecting->easy, CURLOPT_HEADERFUNCTION, NULL);
	curl_easy_setopt(connecting->easy, CURLOPT_HEADERDATA, NULL);
	return stream_new_connected(g_steal_pointer(&connecting->easy), fd,
	    g_steal_pointer(&connecting->hello),
	    connecting->options->stop_fd ? *connecting->options->stop_fd : -1);
}

/* @param is_any_login  all mechanisms of the host, including IMAP LOGIN */
static struct stream *
open_once(const struct stream_options *options, const char *token, bool is_any_login,
    struct stream_error *failure, GError **error)
{
	struct connecting connecting = {.options = options,
	    .token = token,
	    .step = STREAM_STEP_CONNECT,
	    .is_any_login = is_any_login};
	struct stream *stream;

	connecting.easy = curl_easy_init();
	g_assert(connecting.easy);
	connecting.hello = g_ptr_array_new_with_free_func(g_free);
	connecting.reply = g_string_new(NULL);
	connecting.started_us = g_get_monotonic_time();
	stream = open_with(&connecting, failure, error);
	connecting_clear(&connecting);
	return stream;
}

/* No login was attempted, because the host announced no supported mechanism. */
static bool
wants_any_login(
    const struct stream_options *options, const struct stream_error *failure)
{
	return options->protocol == STREAM_PROTOCOL_IMAP && options->user &&
	       failure->kind == STREAM_ERROR_LOGIN && !failure->reply;
}

/* @param rejected  a token that the host has rejected, or NULL */
static char *
get_token(const struct stream_options *options, const char *rejected,
    struct stream_error *failure, GError **error)
{
	g_autoptr(GError) problem = NULL;
	char *token = options->tokens->get(
	    options->tokens->data, rejected, options->stop_fd, &problem);
	bool is_temporary = g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY);

	if (token)
		return token;
	make_printable(problem->message);
	pb_fail(error, is_temporary ? PB_ERROR_TEMPORARY : PB_ERROR_PERMANENT,
	    "cannot log in to %s port %u: %s", options->host, (unsigned)options->port,
	    problem->message);
	*failure = (struct stream_error){
	    .kind = is_temporary ? STREAM_ERROR_UNREACHABLE : STREAM_ERROR_LOGIN,
	    .step = STREAM_STEP_LOGIN,
	};
	return NULL;
}

/* Open with a token in place of a rejected one. */
static struct stream *
open_again(const struct stream_options *options, const char *token,
    struct stream_error *failure, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct stream *stream = open_once(options, token, false, failure, &problem);

	if (problem && failure->is_token_rejected)
		pb_fail(error, (enum pb_error)problem->code,
		    "%s; a new one was rejected, too: check the user name, and that "
		    "oauth.scope includes %s",
		    problem->message,
		    options->protocol == STREAM_PROTOCOL_SMTP ? "SMTP" : "IMAP");
	else
		pb_error_forward(error, &problem);
	return stream;
}

/*
 * A token may be revoked, or expire early by the host's clock.  It is replaced once: if
 * the host rejects the new one too, the reason is another.
 */
static struct stream *
open_by_tokens(
    const struct stream_options *options, struct stream_error *failure, GError **error)
{
	char *token = get_token(options, NULL, failure, error);
	g_autoptr(GError) problem = NULL;
	struct stream *stream = NULL;
	char *other = NULL;

	if (token)
		stream = open_once(options, token, false, failure, &problem);
	if (problem && failure->is_token_rejected) {
		stream_error_clear(failure);
		other = get_token(options, token, failure, error);
		if (other)
			stream = open_again(options, other, failure, error);
	} else if (problem) {
		pb_error_forward(error, &problem);
	}
	oauth_secret_free(token);
	oauth_secret_free(other);
	return stream;
}

/* Open with the TLS mode of the options, not DETECT. */
static struct stream *
open_checked(
    const struct stream_options *options, struct stream_error *failure, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct stream *stream;

	if (options->user && options->tokens)
		return open_by_tokens(options, failure, error);
	stream = open_once(options, NULL, false, failure, &problem);
	if (stream)
		return stream;
	if (wants_any_login(options, failure))
		return open_once(options, NULL, true, failure, error);
	pb_error_forward(error, &problem);
	return NULL;
}

/*
 * Try implicit TLS first: a host that expects STARTTLS greets at once, which fails the
 * handshake, but one that expects a handshake would leave a plain-text client waiting.
 */
static struct stream *
open_detecting(
    const struct stream_options *options, struct stream_error *failure, GError **error)
{
	struct stream_options attempt = *options;
	pb_local(stream_error) second = {0};
	g_autoptr(GError) problem = NULL, other = NULL;
	struct stream *stream;

	attempt.tls = STREAM_TLS_IMPLICIT;
	stream = open_checked(&attempt, failure, &problem);
	if (!stream && failure->is_not_tls) {
		attempt.tls = STREAM_TLS_STARTTLS;
		stream = open_checked(&attempt, &second, &other);
	}
	/* If STARTTLS did not connect, the error of the TLS handshake says more. */
	if (other && second.step != STREAM_STEP_CONNECT) {
		pb_error_forward(error, &other);
		stream_error_clear(failure);
		*failure = second;
		second.reply = NULL;
	} else if (!stream) {
		pb_error_forward(error, &problem);
	}
	return stream;
}

struct stream *
stream_open(
    const struct stream_options *options, struct stream_error *failure, GError **error)
{
	pb_local(stream_error) own = {0};
	struct stream *stream;

	failure = failure ? failure : &own;
	*failure = (struct stream_error){
	    .kind = STREAM_ERROR_SETTINGS, .step = STREAM_STEP_CONNECT};
	if (!check_options(options, error))
		return NULL;
	stream = options->tls == STREAM_TLS_DETECT
	             ? open_detecting(options, failure, error)
	             : open_checked(options, failure, error);
	if (stream)
		stream_error_clear(failure);
	return stream;
}
