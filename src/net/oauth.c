/*
 * oauth.c - requests to the token endpoint of an OAuth 2 server (RFC 6749).
 */
#include "net/oauth.h"

#include <jansson.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

#define FORM_TYPE "application/x-www-form-urlencoded"

/* Lifetime of an access token if the server names none; RFC 6749 recommends to. */
#define DEFAULT_LIFETIME_S 3600
#define MAX_LIFETIME_S     (365 * 86400)

static inline void
json_clear(json_t **json)
{
	json_decref(*json);
}
#define auto_json __attribute__((cleanup(json_clear))) json_t *

void
oauth_secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	g_free(secret);
}

void
oauth_response_clear(struct oauth_response *response)
{
	g_clear_pointer(&response->access_token, oauth_secret_free);
	g_clear_pointer(&response->refresh_token, oauth_secret_free);
	g_clear_pointer(&response->scope, g_free);
}

/* ---- Forms ---- */

static void
add_field(GString *form, const char *name, const char *value)
{
	g_autofree char *escaped = g_uri_escape_string(value, NULL, FALSE);

	g_string_append_printf(form, "%s%s=%s", form->len ? "&" : "", name, escaped);
	explicit_bzero(escaped, strlen(escaped));
}

/* Large enough that it is never moved, which would leave a copy. */
static GString *
new_form(const struct oauth_client *client, const char *grant_type)
{
	GString *form = g_string_sized_new(BOUNDS_OAUTH_BYTES);

	add_field(form, "grant_type", grant_type);
	add_field(form, "client_id", client->client_id);
	if (client->client_secret)
		add_field(form, "client_secret", client->client_secret);
	return form;
}

static void
form_free(GString *form)
{
	explicit_bzero(form->str, form->allocated_len);
	g_string_free(form, TRUE);
}

/* ---- Responses ---- */

/* The server's errors (RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5, and
 * OpenID Connect Core section 3.1.2.6, which Microsoft uses); others are those of the
 * configuration. */
static enum pb_error
code_from_error(const char *error)
{
	static const struct {
		const char *error;
		enum pb_error code;
	} rows[] = {
	    {"invalid_grant", PB_ERROR_PERMANENT},
	    {"access_denied", PB_ERROR_PERMANENT},
	    {"expired_token", PB_ERROR_PERMANENT},
	    {"interaction_required", PB_ERROR_PERMANENT},
	    {"login_required", PB_ERROR_PERMANENT},
	    {"consent_required", PB_ERROR_PERMANENT},
	    {"server_error", PB_ERROR_TEMPORARY},
	    {"temporarily_unavailable", PB_ERROR_TEMPORARY},
	    {"authorization_pending", PB_ERROR_TEMPORARY},
	    {"slow_down", PB_ERROR_TEMPORARY},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(error, rows[i].error) == 0)
			return rows[i].code;
	return PB_ERROR_INPUT;
}

static const char *
get_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text && *text ? text : NULL;
}

/* Printable ASCII, truncated; a new string. */
static char *
copy_printable(const char *text)
{
	char *copy = g_strndup(text, BOUNDS_REPLY_TEXT_BYTES / 2);

	for (char *p = copy; *p; p++)
		if (!g_ascii_isprint(*p))
			*p = '?';
	return copy;
}

static bool
set_error(const struct http_response *http, const json_t *object, const char *host,
    GError **error)
{
	const char *name = get_text(object, "error");
	const char *text = get_text(object, "error_description");
	g_autofree char *code = name ? copy_printable(name) : NULL;
	g_autofree char *about = text ? copy_printable(text) : NULL;
	bool is_temporary = http->status == 429 || http->status >= 500;

	if (!name || is_temporary)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server %s: HTTP status %d%s%s", host,
		    http->status, code ? ", " : "", code ? code : "");
	return pb_fail(error, code_from_error(name),
	    "refused by the OAuth server %s: %s%s%s", host, code, about ? ": " : "",
	    about ? about : "");
}

/* An access token of RFC 6750 section 2.1, so that it cannot break a SASL message. */
static bool
is_token(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!g_ascii_isgraph(*p))
			return false;
	return true;
}

static bool
read_tokens(const json_t *object, struct oauth_response *response, GError **error)
{
	const char *access = get_text(object, "access_token");
	const char *refresh = get_text(object, "refresh_token");
	const char *type = get_text(object, "token_type");
	const char *scope = get_text(object, "scope");
	const json_t *lifetime = json_object_get(object, "expires_in");
	int64_t lifetime_s = DEFAULT_LIFETIME_S;

	if (!access || !is_token(access) || (refresh && !is_token(refresh)) ||
	    (type && g_ascii_strcasecmp(type, "bearer") != 0))
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server: no bearer token");
	if (json_is_number(lifetime))
		lifetime_s = (int64_t)json_number_value(lifetime);
	else if (json_is_string(lifetime))
		lifetime_s = g_ascii_strtoll(json_string_value(lifetime), NULL, 10);
	*response = (struct oauth_response){
	    .access_token = g_strdup(access),
	    .refresh_token = g_strdup(refresh),
	    .scope = g_strdup(scope),
	    .lifetime_s = CLAMP(lifetime_s, 1, MAX_LIFETIME_S),
	};
	return true;
}

/*
 * Send a form.
 *
 * @param form    freed
 * @param status  set: the HTTP status; 0 without a response
 * @return the JSON object of the response, or NULL
 */
static json_t *
send_form(
    struct http *http, const char *url, GString *form, int *status, GError **error)
{
	pb_local(http_response) response = {0};
	g_autofree char *host = NULL;
	auto_json object = NULL;
	const char *body;
	size_t size;
	bool is_ok;

	*status = 0;
	if (!g_str_has_prefix(url, "https://"))
		is_ok = pb_fail(error, PB_ERROR_INPUT, "'%s' is not an https URL", url);
	else
		is_ok =
		    http_send_form(http, url, FORM_TYPE, form->str, &response, error);
	form_free(form);
	if (!is_ok)
		return NULL;
	*status = response.status;
	host = g_strndup(url + 8, strcspn(url + 8, "/?#"));
	body = g_bytes_get_data(response.body, &size);
	object = json_loadb(body ? body : "", size, JSON_REJECT_DUPLICATES, NULL);
	explicit_bzero((char *)body, size);
	if (response.status == 200 && json_is_object(object))
		return g_steal_pointer(&object);
	set_error(&response, object, host, error);
	return NULL;
}

/* @param form  freed */
static bool
request(struct http *http, const struct oauth_client *client, GString *form,
    struct oauth_response *response, GError **error)
{
	int status;
	auto_json object = send_form(http, client->token_url, form, &status, error);

	return object && read_tokens(object, response, error);
}

bool
oauth_refresh(struct http *http, const struct oauth_client *client,
    const char *refresh_token, struct oauth_response *response, GError **error)
{
	GString *form = new_form(client, "refresh_token");

	add_field(form, "refresh_token", refresh_token);
	return request(http, client, form, response, error);
}

bool
oauth_request_own(struct http *http, const struct oauth_client *client,
    const char *scope, struct oauth_response *response, GError **error)
{
	GString *form = new_form(client, "client_credentials");

	if (*scope)
		add_field(form, "scope", scope);
	return request(http, client, form, response, error);
}

char *
oauth_format_challenge(const char *challenge, size_t size)
{
	g_autofree char *text = g_strndup(challenge, size);
	g_autofree guchar *bytes = NULL;
	g_autofree char *printable = NULL, *wanted = NULL;
	auto_json object = NULL;
	const char *status, *scope;
	gsize count;

	bytes = g_base64_decode(text, &count);
	object = json_loadb((const char *)bytes, count, JSON_REJECT_DUPLICATES, NULL);
	status = get_text(object, "status");
	scope = get_text(object, "scope");
	if (!status)
		return NULL;
	printable = copy_printable(status);
	wanted = scope ? copy_printable(scope) : NULL;
	return wanted ? g_strdup_printf("%s (scope %s)", printable, wanted)
	              : g_steal_pointer(&printable);
}
