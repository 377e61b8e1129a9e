/*
 * routes.c - HTTP requests as requests of web_proto.h.
 */
#include "web/routes.h"

#include <string.h>

#include "web/client_network.h"
#include "web/form.h"
#include "web/negotiate.h"

/* The name of a submit button, whose value is its label: action_try is action=try. */
#define ACTION_PREFIX "action_"

#define BAD_REQUEST        400
#define FORBIDDEN          403
#define NOT_FOUND          404
#define METHOD_NOT_ALLOWED 405

enum route_kind { ROUTE_EXACT, ROUTE_TOKEN, ROUTE_FEED };

#define NO_OP WEB_OPS

static const struct route {
	const char *path; /* with a token: its beginning */
	enum route_kind kind;
	enum web_op on_get, on_post; /* or NO_OP */
} table[] = {
    {"/", ROUTE_EXACT, WEB_OP_HOME, WEB_OP_SUBSCRIBE},
    {"/healthz", ROUTE_EXACT, WEB_OP_HEALTH, NO_OP},
    {"/search", ROUTE_EXACT, WEB_OP_SEARCH, NO_OP},
    {"/c/", ROUTE_TOKEN, WEB_OP_CONFIRM_SHOW, WEB_OP_CONFIRM},
    {"/u/", ROUTE_TOKEN, WEB_OP_LEAVE_SHOW, WEB_OP_LEAVE},
    {"/p/", ROUTE_TOKEN, WEB_OP_PREFERENCES_SHOW, WEB_OP_PREFERENCES},
    {"/d/", ROUTE_TOKEN, WEB_OP_DIGEST, NO_OP},
    {"/f/", ROUTE_FEED, WEB_OP_FEED, NO_OP},
};

/* Fields of a query; all but the first are passed on. */
#define LANGUAGE_FIELD "lang"
static const char *const query_fields[] = {
    LANGUAGE_FIELD, "filter", "show", "number", "page", NULL};

bool
routes_is_private(enum web_op op)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
		if (table[i].kind != ROUTE_EXACT &&
		    (table[i].on_get == op || table[i].on_post == op))
			return true;
	return op == WEB_OP_ONE_CLICK;
}

static const char *
get_suffix(const char *token)
{
	static const char *const suffixes[] = {".atom", ".json"};

	for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (g_str_has_suffix(token, suffixes[i]))
			return suffixes[i];
	return NULL;
}

/* @param token  set if the route has one; owned by the caller */
static const struct route *
find_route(const char *path, char **token)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
		const struct route *route = &table[i];
		size_t size = strlen(route->path);
		const char *rest = path + size, *suffix = NULL;

		if (strncmp(path, route->path, size) != 0)
			continue;
		if (route->kind == ROUTE_EXACT) {
			if (!*rest)
				return route;
			continue;
		}
		if (route->kind == ROUTE_FEED)
			suffix = get_suffix(rest);
		size = strlen(rest) - (suffix ? strlen(suffix) : 0);
		if (!size || strchr(rest, '/') ||
		    (route->kind == ROUTE_FEED && !suffix))
			return NULL;
		*token = g_ascii_strdown(rest, (gssize)size);
		return route;
	}
	return NULL;
}

/* As web_request_parse() requires it. */
static const char *
check_token(const char *token)
{
	size_t size = strspn(token, "abcdefghijklmnopqrstuvwxyz234567");

	return size <= WEB_PROTO_TOKEN_BYTES && !token[size] ? token : "";
}

static bool
has_language(const void *pages, const char *code)
{
	return web_pages_has_language(pages, code);
}

static char *
choose_language(
    const struct routes *routes, const struct http_request *request, GHashTable *query)
{
	const char *wanted = query ? g_hash_table_lookup(query, LANGUAGE_FIELD) : NULL;

	if (wanted && has_language(routes->pages, wanted))
		return g_strdup(wanted);
	return negotiate_language(
	    request->fields[HTTP_ACCEPT_LANGUAGE], has_language, routes->pages);
}

char *
routes_get_language(const struct routes *routes, const struct http_request *request)
{
	g_autoptr(GHashTable) query = form_parse_query(request->query, query_fields);

	return choose_language(routes, request, query);
}

/*
 * One-click requests (RFC 8058), as senders make them: the pair in either type or
 * without one, or no body at all.  A browser adds an Origin or cookies, so an empty
 * post of a foreign page is refused.
 */
static bool
is_one_click(const struct http_request *request, GHashTable *fields)
{
	if (request->body_size == 0)
		return !request->fields[HTTP_COOKIE] && !request->fields[HTTP_ORIGIN];
	return fields && form_is_one_click(fields);
}

static struct web_request *
refuse(struct route_refusal *refusal, int status)
{
	*refusal = (struct route_refusal){.status = status};
	return NULL;
}

/* Names that web_request_parse() accepts. */
static bool
is_field_name(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] == '\0';
}

/* @return false if a name is unknown to any page */
static bool
add_fields(struct web_request *out, GHashTable *fields)
{
	GHashTableIter iter;
	gpointer name, value;

	g_hash_table_iter_init(&iter, fields);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		if (!is_field_name(name))
			return false;
		if (g_str_has_prefix(name, ACTION_PREFIX)) {
			value = (char *)name + strlen(ACTION_PREFIX);
			name = (char *)"action";
		}
		g_hash_table_insert(out->fields, g_strdup(name), g_strdup(value));
	}
	return true;
}

static void
add_query(struct web_request *out, GHashTable *query)
{
	for (const char *const *name = query_fields + 1; *name; name++) {
		const char *value = g_hash_table_lookup(query, *name);

		if (value && g_hash_table_size(out->fields) < WEB_PROTO_FIELDS &&
		    !g_hash_table_contains(out->fields, *name))
			g_hash_table_insert(
			    out->fields, g_strdup(*name), g_strdup(value));
	}
}

static struct web_request *
parse_post(const struct routes *routes, const struct http_request *request,
    const struct route *route, struct route_refusal *refusal)
{
	pb_auto(web_request) out = web_request_new(route->on_post);
	g_autoptr(GHashTable) fields = form_parse(
	    request->fields[HTTP_CONTENT_TYPE], request->body, request->body_size);

	if (route->on_post == WEB_OP_LEAVE && is_one_click(request, fields)) {
		out->op = WEB_OP_ONE_CLICK;
		return g_steal_pointer(&out);
	}
	if (!negotiate_is_same_origin(routes->origin, request->fields[HTTP_ORIGIN],
	        request->fields[HTTP_SEC_FETCH_SITE]))
		return refuse(refusal, FORBIDDEN);
	if (!fields || !add_fields(out, fields) || !*web_request_get(out, "csrf"))
		return refuse(refusal, BAD_REQUEST);
	return g_steal_pointer(&out);
}

struct web_request *
routes_parse(const struct routes *routes, const struct http_request *request,
    struct route_refusal *refusal)
{
	g_autofree char *token = NULL;
	const struct route *route = find_route(request->path, &token);
	bool is_post = request->method == HTTP_POST;
	g_autoptr(GHashTable) query = NULL;
	struct web_request *out;

	if (!route)
		return refuse(refusal, NOT_FOUND);
	if (is_post && route->on_post == NO_OP) {
		*refusal = (struct route_refusal){METHOD_NOT_ALLOWED, "GET, HEAD"};
		return NULL;
	}
	query = form_parse_query(request->query, query_fields);
	if (!query)
		return refuse(refusal, BAD_REQUEST);
	out = is_post ? parse_post(routes, request, route, refusal)
	              : web_request_new(route->on_get);
	if (!out)
		return NULL;
	g_free(out->language);
	out->language = choose_language(routes, request, query);
	g_free(out->network);
	out->network = client_network_find(
	    routes->proxies, &request->peer, request->fields[HTTP_FORWARDED_FOR]);
	add_query(out, query);
	if (token) {
		g_free(out->token);
		out->token = g_strdup(check_token(token));
	}
	if (out->op == WEB_OP_FEED)
		g_hash_table_insert(out->fields, g_strdup("etag"),
		    negotiate_tag(request->fields[HTTP_IF_NONE_MATCH]));
	return out;
}
