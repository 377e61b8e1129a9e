/*
 * http.c - HTTP client with limits.
 */
#include "net/http.h"

#include <curl/curl.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "net/http_file.h"
#include "net/peer.h"
#include "net/stream.h"

struct http {
	CURL *easy;
	struct http_settings settings; /* zeros replaced by defaults */
	char *user_agent;
	char *ca_file;
	GHashTable *private_hosts; /* set of names in lower case */
	enum http_failure failure; /* of the last transfer */
	int64_t served_at; /* Date of the last response, or HTTP_RETRY_AFTER_UNKNOWN */
};

/* Error detected in a callback of libcurl. */
enum verdict {
	VERDICT_NONE,
	VERDICT_BODY,
	VERDICT_HEADERS,
	VERDICT_ADDRESS,
	VERDICT_STOPPED,
};

/* One request and its response; a redirect needs another. */
struct transfer {
	const struct http *http;
	const char *form; /* body of a POST; NULL: GET */
	bool is_asked;    /* the requested host, not one it redirects to */
	bool allow_private;
	enum verdict verdict;
	GByteArray *body;
	size_t header_bytes;
	char curl_error[CURL_ERROR_SIZE];
};

static void
transfer_free(struct transfer *transfer)
{
	if (!transfer)
		return;
	if (transfer->body)
		g_byte_array_unref(transfer->body);
	g_free(transfer);
}
PB_DEFINE_AUTO(transfer, transfer_free);

/* Scheme, host and port of a URL. */
struct target {
	char *scheme; /* "http" or "https" */
	char *host;
	char *port; /* a number */
};

static void
target_free(struct target *target)
{
	if (!target)
		return;
	curl_free(target->scheme);
	curl_free(target->host);
	curl_free(target->port);
	g_free(target);
}
PB_DEFINE_AUTO(target, target_free);

/* @return NULL for other URLs */
static struct target *
target_parse(const char *url)
{
	pb_auto(target) target = g_new0(struct target, 1);
	CURLU *parts = curl_url();
	bool ok;

	ok = parts && strlen(url) <= BOUNDS_HTTP_URL_BYTES &&
	     !curl_url_set(parts, CURLUPART_URL, url, CURLU_DISALLOW_USER) &&
	     !curl_url_get(parts, CURLUPART_SCHEME, &target->scheme, 0) &&
	     !curl_url_get(parts, CURLUPART_HOST, &target->host, 0) &&
	     !curl_url_get(parts, CURLUPART_PORT, &target->port, CURLU_DEFAULT_PORT) &&
	     (!strcmp(target->scheme, "http") || !strcmp(target->scheme, "https"));
	curl_url_cleanup(parts);
	return ok ? g_steal_pointer(&target) : NULL;
}

/* RFC 9110 section 8.8.3, and unquoted ones, which exist. */
static bool
is_etag(const char *etag)
{
	for (const char *at = etag; *at; at++)
		if (!g_ascii_isgraph(*at) && *at != ' ')
			return false;
	return *etag && strlen(etag) <= BOUNDS_HTTP_HEADER;
}

static size_t
take_body(char *data, size_t size, size_t count, void *user)
{
	struct transfer *transfer = user;
	size_t length = size * count;

	if (length > transfer->http->settings.body_bytes - transfer->body->len) {
		transfer->verdict = VERDICT_BODY;
		return 0;
	}
	g_byte_array_append(transfer->body, (const guint8 *)data, (guint)length);
	return length;
}

static size_t
count_header(char *data, size_t size, size_t count, void *user)
{
	struct transfer *transfer = user;
	(void)data;
	transfer->header_bytes += size * count;
	if (transfer->header_bytes > BOUNDS_HTTP_HEADERS_BYTES) {
		transfer->verdict = VERDICT_HEADERS;
		return 0;
	}
	return size * count;
}

static curl_socket_t
open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = user;

	(void)purpose;
	if (!transfer->allow_private &&
	    !peer_is_public(&address->addr, address->addrlen)) {
		transfer->verdict = VERDICT_ADDRESS;
		return CURL_SOCKET_BAD;
	}
	return socket(
	    address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int
check_stop(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
    curl_off_t up)
{
	struct transfer *transfer = user;
	const struct http_settings *settings = &transfer->http->settings;

	(void)down_total, (void)down, (void)up_total, (void)up;
	if (!(settings->stop && g_atomic_int_get(settings->stop)) &&
	    !(settings->stop_fd && stream_is_stopped(*settings->stop_fd)))
		return 0;
	transfer->verdict = VERDICT_STOPPED;
	return 1;
}

static void
set_options(struct transfer *transfer, const char *url, struct curl_slist *headers)
{
	const struct http *http = transfer->http;
	const struct http_settings *settings = &http->settings;
	CURL *easy = http->easy;

	curl_easy_reset(easy);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (http->ca_file) {
		/* Otherwise the system's CA directory would be used, too. */
		curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(easy, CURLOPT_USERAGENT, http->user_agent);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->connect_ms);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)settings->stall_s);
	curl_easy_setopt(
	    easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)settings->body_bytes);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, check_stop);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_error);
	if (transfer->form)
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->form);
}

/* GNUTLS_CERT_EXPIRED, a bit of CURLINFO_SSL_VERIFYRESULT when curl uses GnuTLS. */
#define CERTIFICATE_EXPIRED (1 << 10)

static enum http_failure
classify_failure(const struct transfer *transfer, CURLcode code)
{
	long verified = 0;

	if (transfer->verdict == VERDICT_BODY || transfer->verdict == VERDICT_HEADERS)
		return HTTP_FAILURE_SIZE;
	switch (code) {
	case CURLE_FILESIZE_EXCEEDED:
		return HTTP_FAILURE_SIZE;
	case CURLE_SSL_CONNECT_ERROR:
		return HTTP_FAILURE_TLS;
	case CURLE_PEER_FAILED_VERIFICATION:
		curl_easy_getinfo(
		    transfer->http->easy, CURLINFO_SSL_VERIFYRESULT, &verified);
		/* Without a bit the chain is valid, but not the name. */
		return verified && !(verified & CERTIFICATE_EXPIRED)
		           ? HTTP_FAILURE_UNTRUSTED
		           : HTTP_FAILURE_TLS;
	default:
		return HTTP_FAILURE_NETWORK;
	}
}

static void
set_transfer_error(
    const struct transfer *transfer, CURLcode code, const char *host, GError **error)
{
	const char *message =
	    *transfer->curl_error ? transfer->curl_error : curl_easy_strerror(code);
	g_autofree char *detail =
	    text_normalize(message, strlen(message), CURL_ERROR_SIZE);
	size_t body_bytes = transfer->http->settings.body_bytes;
	enum verdict verdict =
	    code == CURLE_FILESIZE_EXCEEDED ? VERDICT_BODY : transfer->verdict;

	switch (verdict) {
	case VERDICT_BODY:
		pb_fail(error, PB_ERROR_LIMIT,
		    "response of %s is larger than %zu bytes", host, body_bytes);
		return;
	case VERDICT_HEADERS:
		pb_fail(error, PB_ERROR_LIMIT, "headers of %s are larger than %d bytes",
		    host, BOUNDS_HTTP_HEADERS_BYTES);
		return;
	case VERDICT_ADDRESS:
		pb_fail(error, PB_ERROR_PERMANENT,
		    "refused to connect to %s: address is not public%s", host,
		    transfer->is_asked ? " (private = true in its group allows it)"
		                       : "");
		return;
	case VERDICT_STOPPED:
		pb_fail(
		    error, PB_ERROR_TEMPORARY, "transfer from %s interrupted", host);
		return;
	case VERDICT_NONE:
		pb_fail(error,
		    code == CURLE_URL_MALFORMAT ? PB_ERROR_INPUT : PB_ERROR_TEMPORARY,
		    "cannot fetch from %s: %s", host, detail);
		return;
	}
}

/*
 * Whether a host of a requested URL may have a private address.  Where an address or
 * "localhost" leads is decided by the URL alone: libcurl asks no DNS server for it.
 */
static bool
may_be_private(const struct http *http, const char *host)
{
	g_autofree char *name = g_ascii_strdown(host, -1);

	return http->settings.allow_private || *host == '[' ||
	       g_hostname_is_ip_address(host) || !strcmp(name, "localhost") ||
	       g_hash_table_contains(http->private_hosts, name);
}

/* Send one request. @param left_ms  in/out: remaining time */
static struct transfer *
perform(struct http *http, const char *url, const struct target *target,
    const struct target *asked, const char *form, struct curl_slist *headers,
    int64_t *left_ms, GError **error)
{
	pb_auto(transfer) transfer = g_new0(struct transfer, 1);
	curl_off_t took_us = 0;
	CURLcode code;

	transfer->http = http;
	transfer->form = form;
	transfer->is_asked = !g_ascii_strcasecmp(target->host, asked->host);
	transfer->body = g_byte_array_new();
	transfer->allow_private =
	    transfer->is_asked && may_be_private(http, target->host);
	set_options(transfer, url, headers);
	curl_easy_setopt(http->easy, CURLOPT_TIMEOUT_MS, (long)MAX(*left_ms, 1));
	/* A reused connection was checked for another host. */
	curl_easy_setopt(
	    http->easy, CURLOPT_FRESH_CONNECT, transfer->is_asked ? 0L : 1L);
	code = curl_easy_perform(http->easy);
	curl_easy_getinfo(http->easy, CURLINFO_TOTAL_TIME_T, &took_us);
	*left_ms -= took_us / 1000;
	/* These pointers become invalid before the handle. */
	curl_easy_setopt(http->easy, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(http->easy, CURLOPT_HTTPHEADER, NULL);
	if (code != CURLE_OK) {
		http->failure = classify_failure(transfer, code);
		set_transfer_error(transfer, code, target->host, error);
		return NULL;
	}
	return g_steal_pointer(&transfer);
}

static bool
is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 ||
	       status == 308;
}

/* Another port of the host may belong to a service that others must not reach. */
static bool
is_allowed_redirect(const struct target *from, const struct target *to)
{
	bool is_upgrade = !strcmp(from->scheme, "http") && !strcmp(to->scheme, "https");

	if (strcmp(from->scheme, to->scheme) != 0 && !is_upgrade)
		return false;
	return !strcmp(from->port, to->port) ||
	       (is_upgrade && !strcmp(from->port, "80") && !strcmp(to->port, "443"));
}

/* @return target of a redirect, or NULL if it must not be followed */
static struct target *
follow(const struct target *from, const char *url, GError **error)
{
	pb_auto(target) target = target_parse(url);
	g_autofree char *printable_url = NULL;

	if (target && is_allowed_redirect(from, target))
		return g_steal_pointer(&target);
	printable_url = text_normalize(url, strlen(url), 200);
	pb_fail(error, PB_ERROR_PERMANENT, "refused the redirect of %s to '%s'",
	    from->host, printable_url);
	return NULL;
}

int64_t
http_parse_date(const char *date)
{
	return MAX((int64_t)curl_getdate(date, NULL), -1);
}

/* A header of the last response. @return NULL if it has none */
static const char *
find_header(const struct http *http, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(http->easy, name, 0, CURLH_HEADER, -1, &header) ==
	               CURLHE_OK
	           ? header->value
	           : NULL;
}

/*
 * Seconds to wait after an error.  In `ratelimit: "api";r=0;t=291` of Hugging Face a
 * new window starts in t seconds; one second is added because of rounding.
 */
static int64_t
get_retry_after(const struct http *http, long status)
{
	const char *ratelimit = status == 429 ? find_header(http, "ratelimit") : NULL;
	const char *reset = ratelimit ? strstr(ratelimit, ";r=0;t=") : NULL;
	curl_off_t wait_s = 0;

	if (reset)
		wait_s = 1 + CLAMP(g_ascii_strtoll(reset + strlen(";r=0;t="), NULL, 10),
		                 0, BOUNDS_HTTP_WAIT_S);
	else if (status >= 400)
		curl_easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, &wait_s);
	return wait_s > 0 ? MIN(wait_s, BOUNDS_HTTP_WAIT_S) : HTTP_RETRY_AFTER_UNKNOWN;
}

static void
fill_response(struct http_response *response, struct transfer *transfer, long status,
    const char *url)
{
	const char *etag = find_header(transfer->http, "etag");
	const char *date = find_header(transfer->http, "date");

	*response = (struct http_response){
	    .status = (int)status,
	    .body = g_byte_array_free_to_bytes(g_steal_pointer(&transfer->body)),
	    .etag = etag && is_etag(etag) ? g_strdup(etag) : NULL,
	    .retry_after_s = get_retry_after(transfer->http, status),
	    .served_at = date ? http_parse_date(date) : HTTP_RETRY_AFTER_UNKNOWN,
	    .final_url = g_strdup(url),
	};
}

static bool
transfer_over_network(struct http *http, const char *url, const char *form,
    struct curl_slist *headers, struct http_response *response, GError **error)
{
	pb_auto(target) asked = target_parse(url);
	pb_auto(target) target = target_parse(url);
	g_autofree char *current = g_strdup(url);
	int64_t left_ms = http->settings.total_ms;

	http->failure = HTTP_FAILURE_NONE;
	if (!asked || !target)
		return pb_fail(error, PB_ERROR_INPUT, "cannot fetch '%s': %s", url,
		    "not an http or https URL without a user name");
	for (unsigned redirects = 0; redirects <= BOUNDS_HTTP_REDIRECTS; redirects++) {
		pb_auto(transfer) transfer = perform(
		    http, current, target, asked, form, headers, &left_ms, error);
		struct target *next;
		char *location = NULL;
		long status = 0;

		if (!transfer)
			return false;
		curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(http->easy, CURLINFO_REDIRECT_URL, &location);
		if (!is_redirect(status) || !location || form ||
		    http->settings.no_redirects) {
			fill_response(response, transfer, status, current);
			response->redirect_url = g_strdup(location);
			return true;
		}
		next = follow(target, location, error);
		if (!next)
			return false;
		target_free(target);
		target = next;
		g_free(current);
		current = g_strdup(location);
	}
	return pb_fail(error, PB_ERROR_LIMIT, "more than %d redirects from %s",
	    BOUNDS_HTTP_REDIRECTS, asked->host);
}

static bool
get_file(const struct http *http, const char *url, struct http_response *response,
    GError **error)
{
	GBytes *body;

	if (!http->settings.allow_file)
		return pb_fail(error, PB_ERROR_INPUT,
		    "cannot fetch '%s': file URLs are not allowed", url);
	body = http_file_read(url, http->settings.body_bytes, error);
	if (!body)
		return false;
	*response = (struct http_response){
	    .status = 200,
	    .body = body,
	    .retry_after_s = HTTP_RETRY_AFTER_UNKNOWN,
	    .served_at = HTTP_RETRY_AFTER_UNKNOWN,
	    .final_url = g_strdup(url),
	};
	return true;
}

bool
http_get(struct http *http, const char *url, const char *etag,
    struct http_response *response, GError **error)
{
	struct curl_slist *headers = NULL;
	bool ok;

	if (g_str_has_prefix(url, "file:"))
		return get_file(http, url, response, error);
	if (etag && !is_etag(etag))
		return pb_fail(error, PB_ERROR_INPUT,
		    "cannot fetch: the ETag contains a control character or is too "
		    "long");
	if (etag) {
		g_autofree char *line = g_strconcat("If-None-Match: ", etag, NULL);

		headers = curl_slist_append(NULL, line);
	}
	ok = transfer_over_network(http, url, NULL, headers, response, error);
	if (ok && response->served_at != HTTP_RETRY_AFTER_UNKNOWN)
		http->served_at = response->served_at;
	curl_slist_free_all(headers);
	return ok;
}

bool
http_post(struct http *http, const char *url, const char *content_type,
    const char *field, const char *body, struct http_response *response, GError **error)
{
	/* Without a value, libcurl omits its own. */
	g_autofree char *line =
	    g_strconcat("Content-Type:", content_type ? " " : "", content_type, NULL);
	struct curl_slist *headers = curl_slist_append(NULL, line);
	bool ok;

	if (field)
		headers = curl_slist_append(headers, field);
	ok = transfer_over_network(http, url, body, headers, response, error);
	curl_slist_free_all(headers);
	return ok;
}

enum http_failure
http_get_failure(const struct http *http)
{
	return http->failure;
}

int64_t
http_take_date(struct http *http)
{
	int64_t served_at = http->served_at;

	http->served_at = HTTP_RETRY_AFTER_UNKNOWN;
	return served_at;
}

bool
http_pause(struct http *http, int64_t ms, GError **error)
{
	const struct http_settings *settings = &http->settings;

	if (!settings->wait || ms <= 0 || settings->wait(settings->wait_data, ms))
		return true;
	return pb_fail(
	    error, PB_ERROR_TEMPORARY, "interrupted before the next request");
}

struct http *
http_new(const struct http_settings *settings)
{
	struct http *http = g_new0(struct http, 1);
	struct http_settings *own = &http->settings;

	http->served_at = HTTP_RETRY_AFTER_UNKNOWN;
	*own = *settings;
	if (own->connect_ms == 0)
		own->connect_ms = BOUNDS_HTTP_CONNECT_S * 1000;
	if (own->total_ms == 0)
		own->total_ms = BOUNDS_HTTP_TIME_S * 1000;
	if (own->stall_s == 0)
		own->stall_s = BOUNDS_HTTP_STALL_S;
	if (own->body_bytes == 0)
		own->body_bytes = BOUNDS_HTTP_BODY_BYTES;
	/* A line break would start another header. */
	http->user_agent = g_strdup(settings->user_agent);
	for (char *at = http->user_agent; *at; at++)
		if (g_ascii_iscntrl(*at))
			*at = ' ';
	http->ca_file = g_strdup(settings->ca_file);
	http->private_hosts =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	own->user_agent = own->ca_file = NULL;
	http->easy = curl_easy_init();
	g_assert(http->easy);
	return http;
}

void
http_free(struct http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->easy);
	g_free(http->user_agent);
	g_free(http->ca_file);
	g_hash_table_unref(http->private_hosts);
	g_free(http);
}

void
http_allow_private(struct http *http, const char *url)
{
	pb_auto(target) target = target_parse(url);

	if (target)
		g_hash_table_add(
		    http->private_hosts, g_ascii_strdown(target->host, -1));
}

void
http_response_clear(struct http_response *response)
{
	g_clear_pointer(&response->body, g_bytes_unref);
	g_clear_pointer(&response->etag, g_free);
	g_clear_pointer(&response->final_url, g_free);
	g_clear_pointer(&response->redirect_url, g_free);
}
