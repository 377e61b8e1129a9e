/*
 * oauth.c - requests to the token endpoint of an OAuth 2 server (RFC 6749).
 */
#include "net/oauth.h"

#include <jansson.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

#define FORM_TYPE "application/x-www-form-urlencoded"

/* Default and maximum of expires_in of an access token (RFC 6749 section 5.1), s. */
#define DEFAULT_LIFETIME_S 3600
#define MAX_LIFETIME_S     (365 * 86400)

/* Polling for the login with a device code (RFC 8628 sections 3.2 and 3.5). */
#define DEVICE_INTERVAL_S 5
#define DEVICE_LIFETIME_S 1800
#define SLOW_DOWN_S       5
#define MAX_INTERVAL_S    60

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

/* @param status  of HTTP */
static bool
set_error(int status, const json_t *object, const char *host, GError **error)
{
	const char *name = get_text(object, "error");
	const char *text = get_text(object, "error_description");
	g_autofree char *code = name ? copy_printable(name) : NULL;
	g_autofree char *about = text ? copy_printable(text) : NULL;
	bool is_temporary = status == 429 || status >= 500;

	if (!object && !is_temporary)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server %s: not JSON, as from "
		    "another page than oauth.token_url",
		    host);
	if (!name || is_temporary)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server %s: HTTP status %d%s%s", host,
		    status, code ? ", " : "", code ? code : "");
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
	double lifetime_s = DEFAULT_LIFETIME_S;

	if (!access || !is_token(access) || (refresh && !is_token(refresh)) ||
	    (type && g_ascii_strcasecmp(type, "bearer") != 0))
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server: no bearer token");
	if (json_is_number(lifetime))
		lifetime_s = json_number_value(lifetime);
	else if (json_is_string(lifetime))
		lifetime_s = g_ascii_strtod(json_string_value(lifetime), NULL);
	/* NaN is a number of strtod(). */
	if (!(lifetime_s >= 1))
		lifetime_s = 1;
	*response = (struct oauth_response){
	    .access_token = g_strdup(access),
	    .refresh_token = g_strdup(refresh),
	    .scope = g_strdup(scope),
	    .lifetime_s = (int64_t)MIN(lifetime_s, MAX_LIFETIME_S),
	};
	return true;
}

/* @param name  as for send_form() */
static json_t *
parse_object(const char *body, size_t size, int status, const char *host, char **name,
    GError **error)
{
	auto_json object = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);

	/* Some servers send errors with status 200. */
	if (status == 200 && json_is_object(object) && !get_text(object, "error"))
		return g_steal_pointer(&object);
	if (name)
		*name = g_strdup(get_text(object, "error"));
	set_error(status, object, host, error);
	return NULL;
}

bool
oauth_parse_response(const char *body, size_t size, int status,
    struct oauth_response *response, GError **error)
{
	auto_json object = parse_object(body, size, status, "", NULL, error);

	return object && read_tokens(object, response, error);
}

static void
add_hint(GError **error, const char *hint)
{
	g_autoptr(GError) problem = g_steal_pointer(error);

	pb_fail(error, (enum pb_error)problem->code, "%s; %s", problem->message, hint);
}

/*
 * Send a form.
 *
 * @param form  freed
 * @param name  set: the server's error code, or NULL; may be NULL
 * @return the JSON object of the response, or NULL
 */
static json_t *
send_form(
    struct http *http, const char *url, GString *form, char **name, GError **error)
{
	pb_local(http_response) response = {0};
	g_autofree char *host = NULL;
	json_t *object;
	const char *body;
	size_t size;
	g_autoptr(GError) problem = NULL;

	if (!g_str_has_prefix(url, "https://"))
		pb_fail(&problem, PB_ERROR_INPUT, "'%s' is not an https URL", url);
	else if (!http_post(
	             http, url, FORM_TYPE, NULL, form->str, &response, &problem) &&
	         http_get_failure(http) == HTTP_FAILURE_UNTRUSTED)
		add_hint(
		    &problem, "if its authority is private, set oauth.ca_file to it");
	form_free(form);
	if (!pb_error_forward(error, &problem))
		return NULL;
	host = g_strndup(url + 8, strcspn(url + 8, "/?#"));
	body = g_bytes_get_data(response.body, &size);
	object =
	    parse_object(body ? body : "", size, response.status, host, name, error);
	if (size)
		explicit_bzero((char *)body, size);
	return object;
}

/* @param form  freed @param name  as for send_form() */
static bool
request(struct http *http, const struct oauth_client *client, GString *form,
    struct oauth_response *response, char **name, GError **error)
{
	auto_json object = send_form(http, client->token_url, form, name, error);

	return object && read_tokens(object, response, error);
}

bool
oauth_refresh(struct http *http, const struct oauth_client *client,
    const char *refresh_token, struct oauth_response *response, GError **error)
{
	GString *form = new_form(client, "refresh_token");

	add_field(form, "refresh_token", refresh_token);
	return request(http, client, form, response, NULL, error);
}

bool
oauth_request_own(struct http *http, const struct oauth_client *client,
    const char *scope, struct oauth_response *response, GError **error)
{
	GString *form = new_form(client, "client_credentials");

	if (*scope)
		add_field(form, "scope", scope);
	return request(http, client, form, response, NULL, error);
}

bool
oauth_check_client(struct http *http, const struct oauth_client *client, GError **error)
{
	/* Errors about the client. Any other code refuses only the made-up token; some
	 * servers have their own codes for that. */
	static const char *const of_client[] = {
	    "invalid_client", "unauthorized_client", "invalid_request", NULL};
	GString *form = new_form(client, "refresh_token");
	pb_local(oauth_response) response = {0};
	g_autoptr(GError) problem = NULL;
	g_autofree char *name = NULL;

	add_field(form, "refresh_token", "made-up");
	if (request(http, client, form, &response, &name, &problem) ||
	    (name && !g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY) &&
	        !g_strv_contains(of_client, name)))
		return true;
	return pb_error_forward(error, &problem);
}

/* ---- Logins of a user ---- */

void
oauth_device_clear(struct oauth_device *device)
{
	g_clear_pointer(&device->device_code, oauth_secret_free);
	g_clear_pointer(&device->user_code, g_free);
	g_clear_pointer(&device->url, g_free);
}

static int64_t
get_number(const json_t *object, const char *name, int64_t usual, int64_t maximum)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value)
	           ? (int64_t)CLAMP(json_number_value(value), 1, (double)maximum)
	           : usual;
}

bool
oauth_start_device(struct http *http, const struct oauth_client *client,
    const char *device_url, const char *scope, struct oauth_device *device,
    GError **error)
{
	GString *form = g_string_sized_new(BOUNDS_OAUTH_BYTES);
	auto_json object = NULL;
	const char *code, *user_code, *url;

	add_field(form, "client_id", client->client_id);
	if (client->client_secret)
		add_field(form, "client_secret", client->client_secret);
	add_field(form, "scope", scope);
	object = send_form(http, device_url, form, NULL, error);
	if (!object)
		return false;
	code = get_text(object, "device_code");
	user_code = get_text(object, "user_code");
	url = get_text(object, "verification_uri");
	/* Its name in the drafts, which some servers kept. */
	if (!url)
		url = get_text(object, "verification_url");
	if (!code || !user_code || !url)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response of the OAuth server: no device code");
	*device = (struct oauth_device){
	    .device_code = g_strdup(code),
	    .user_code = copy_printable(user_code),
	    .url = copy_printable(url),
	    .interval_s =
	        get_number(object, "interval", DEVICE_INTERVAL_S, MAX_INTERVAL_S),
	    .lifetime_s =
	        get_number(object, "expires_in", DEVICE_LIFETIME_S, DEVICE_LIFETIME_S),
	};
	return true;
}

bool
oauth_await_device(struct http *http, const struct oauth_client *client,
    const struct oauth_device *device, struct oauth_response *response, GError **error)
{
	int64_t interval_s = device->interval_s;
	int64_t left_s = device->lifetime_s;

	for (; left_s > 0; left_s -= interval_s) {
		GString *form =
		    new_form(client, "urn:ietf:params:oauth:grant-type:device_code");
		g_autoptr(GError) problem = NULL;
		g_autofree char *name = NULL;

		add_field(form, "device_code", device->device_code);
		if (!http_pause(http, interval_s * 1000, error)) {
			form_free(form);
			return false;
		}
		if (request(http, client, form, response, &name, &problem))
			return true;
		/* RFC 8628 section 3.5; also while the server is not reached. */
		if (g_strcmp0(name, "slow_down") == 0 || !name)
			interval_s = MIN(interval_s + SLOW_DOWN_S, MAX_INTERVAL_S);
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
			return pb_error_forward(error, &problem);
	}
	return pb_fail(error, PB_ERROR_PERMANENT,
	    "nobody has logged in with the code while it was valid");
}

/* Base64 for URLs, without padding (RFC 7636 appendix A). */
static char *
hash_verifier(const char *verifier)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize size = sizeof(digest);
	char *text;

	g_checksum_update(checksum, (const guchar *)verifier, -1);
	g_checksum_get_digest(checksum, digest, &size);
	text = g_base64_encode(digest, size);
	g_strdelimit(text, "+", '-');
	g_strdelimit(text, "/", '_');
	text[strcspn(text, "=")] = '\0';
	return text;
}

char *
oauth_format_authorization(
    const struct oauth_client *client, const struct oauth_authorization *authorization)
{
	g_autofree char *challenge = hash_verifier(authorization->verifier);
	GString *query = g_string_new(NULL);
	char *url;

	add_field(query, "response_type", "code");
	add_field(query, "client_id", client->client_id);
	add_field(query, "redirect_uri", authorization->redirect_uri);
	add_field(query, "scope", authorization->scope);
	add_field(query, "state", authorization->state);
	add_field(query, "code_challenge", challenge);
	add_field(query, "code_challenge_method", "S256");
	if (*authorization->user)
		add_field(query, "login_hint", authorization->user);
	url = g_strdup_printf("%s%s%s%s%s", authorization->url,
	    strchr(authorization->url, '?') ? "&" : "?", query->str,
	    authorization->parameters ? "&" : "",
	    authorization->parameters ? authorization->parameters : "");
	g_string_free(query, TRUE);
	return url;
}

bool
oauth_redeem(struct http *http, const struct oauth_client *client,
    const struct oauth_authorization *authorization, const char *query,
    struct oauth_response *response, GError **error)
{
	g_autoptr(GHashTable) fields =
	    g_uri_parse_params(query, -1, "&", G_URI_PARAMS_WWW_FORM, NULL);
	const char *code = fields ? g_hash_table_lookup(fields, "code") : NULL;
	const char *name = fields ? g_hash_table_lookup(fields, "error") : NULL;
	const char *state = fields ? g_hash_table_lookup(fields, "state") : NULL;
	GString *form;

	if (g_strcmp0(state, authorization->state) != 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "the address is not the one to which this login was redirected");
	if (name || !code) {
		g_autofree char *printable = copy_printable(name ? name : "no code");

		return pb_fail(error, PB_ERROR_PERMANENT,
		    "refused by the OAuth server: %s", printable);
	}
	form = new_form(client, "authorization_code");
	add_field(form, "code", code);
	add_field(form, "redirect_uri", authorization->redirect_uri);
	add_field(form, "code_verifier", authorization->verifier);
	return request(http, client, form, response, NULL, error);
}

/* ---- Explanations of mail servers ---- */

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
