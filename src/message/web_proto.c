/*
 * web_proto.c - requests of paperboy-web to paperboyd, over a Unix socket.
 */
#include "message/web_proto.h"

#include <string.h>

#include "base/error.h"

#define REQUEST_TYPE "(ysssa{ss})"
#define REPLY_TYPE   "(yysa{sv})"

#define LENGTH_BYTES 4

struct web_request *
web_request_new(enum web_op op)
{
	struct web_request *request = g_new0(struct web_request, 1);

	request->op = op;
	request->language = g_strdup("");
	request->token = g_strdup("");
	request->network = g_strdup("");
	request->fields =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return request;
}

void
web_request_free(struct web_request *request)
{
	if (!request)
		return;
	g_free(request->language);
	g_free(request->token);
	g_free(request->network);
	g_hash_table_unref(request->fields);
	g_free(request);
}

const char *
web_request_get(const struct web_request *request, const char *name)
{
	const char *value = g_hash_table_lookup(request->fields, name);

	return value ? value : "";
}

struct web_reply *
web_reply_new(
    enum web_status status, enum web_page page, const char *language, GVariant *values)
{
	struct web_reply *reply = g_new0(struct web_reply, 1);

	reply->status = status;
	reply->page = page;
	reply->language = g_strdup(language);
	reply->values = g_variant_ref_sink(
	    values ? values : g_variant_new_array(G_VARIANT_TYPE("{sv}"), NULL, 0));
	return reply;
}

void
web_reply_free(struct web_reply *reply)
{
	if (!reply)
		return;
	g_free(reply->language);
	g_variant_unref(reply->values);
	g_free(reply);
}

/* ---- frames ---- */

/* @param value  floating, taken */
static GBytes *
write_frame(GVariant *value, gsize maximum)
{
	g_autoptr(GVariant) sunk = g_variant_ref_sink(value);
	g_autoptr(GVariant) little = G_BYTE_ORDER == G_LITTLE_ENDIAN
	                                 ? g_variant_get_normal_form(sunk)
	                                 : g_variant_byteswap(sunk);
	const gsize size = g_variant_get_size(little);
	guint32 length = GUINT32_TO_LE((guint32)size);
	guint8 *data;

	if (size > maximum)
		return NULL;
	data = g_malloc(LENGTH_BYTES + size);
	memcpy(data, &length, LENGTH_BYTES);
	/* g_variant_store() wants an aligned address. */
	memcpy(data + LENGTH_BYTES, g_variant_get_data(little), size);
	return g_bytes_new_take(data, LENGTH_BYTES + size);
}

/* @return NULL unless it is the serialisation of exactly one value */
static GVariant *
parse_frame(GBytes *frame, const char *type)
{
	g_autoptr(GVariant) little = g_variant_ref_sink(
	    g_variant_new_from_bytes(G_VARIANT_TYPE(type), frame, FALSE));

	if (!g_variant_is_normal_form(little))
		return NULL;
	return G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_steal_pointer(&little)
	                                       : g_variant_byteswap(little);
}

/* ---- requests ---- */

GBytes *
web_request_write(const struct web_request *request)
{
	GVariantBuilder fields;
	GHashTableIter iter;
	gpointer name, value;

	g_variant_builder_init(&fields, G_VARIANT_TYPE("a{ss}"));
	g_hash_table_iter_init(&iter, request->fields);
	while (g_hash_table_iter_next(&iter, &name, &value))
		g_variant_builder_add(&fields, "{ss}", name, value);
	return write_frame(
	    g_variant_new(REQUEST_TYPE, (guint8)request->op, request->language,
	        request->token, request->network, &fields),
	    WEB_PROTO_REQUEST_BYTES);
}

static bool
is_word(const char *text, const char *alphabet, gsize longest)
{
	return strlen(text) <= longest && strspn(text, alphabet) == strlen(text);
}

/* CR LF is the end of a line in a form (HTML 4.10.22.4); it becomes LF. */
static bool
is_field_text(const char *text)
{
	for (const char *at = text; *at; at++)
		if (((guchar)*at < ' ' && *at != '\n') || *at == 0x7f)
			return false;
	return strlen(text) <= WEB_PROTO_FIELD_BYTES;
}

static bool
read_fields(struct web_request *request, GVariantIter *fields)
{
	const char *name, *value;

	if (g_variant_iter_n_children(fields) > WEB_PROTO_FIELDS)
		return false;
	while (g_variant_iter_next(fields, "{&s&s}", &name, &value)) {
		if (!is_word(
		        name, "abcdefghijklmnopqrstuvwxyz_", WEB_PROTO_NAME_BYTES) ||
		    !is_field_text(value) ||
		    !g_hash_table_insert(
		        request->fields, g_strdup(name), g_strdup(value)))
			return false;
	}
	return true;
}

struct web_request *
web_request_parse(GBytes *frame, GError **error)
{
	g_autoptr(GVariant) value = parse_frame(frame, REQUEST_TYPE);
	g_autoptr(GVariantIter) fields = NULL;
	pb_auto(web_request) request = NULL;
	const char *language, *token, *network;
	guint8 op;

	if (value) {
		g_variant_get(
		    value, "(y&s&s&sa{ss})", &op, &language, &token, &network, &fields);
		request = web_request_new(op);
		if (op < WEB_OPS &&
		    is_word(language, "abcdefghijklmnopqrstuvwxyz", 3) &&
		    is_word(token, "abcdefghijklmnopqrstuvwxyz234567",
		        WEB_PROTO_TOKEN_BYTES) &&
		    is_word(network, "0123456789abcdef.:/", WEB_PROTO_NETWORK_BYTES) &&
		    read_fields(request, fields)) {
			g_free(request->language);
			g_free(request->token);
			g_free(request->network);
			request->language = g_strdup(language);
			request->token = g_strdup(token);
			request->network = g_strdup(network);
			return g_steal_pointer(&request);
		}
	}
	pb_fail(error, PB_ERROR_INPUT, "invalid request of paperboy-web");
	return NULL;
}

/* ---- replies ---- */

GBytes *
web_reply_write(const struct web_reply *reply)
{
	return write_frame(g_variant_new("(yys@a{sv})", (guint8)reply->status,
	                       (guint8)reply->page, reply->language, reply->values),
	    WEB_PROTO_REPLY_BYTES);
}

static bool is_values(GVariant *values, unsigned depth);

static bool
is_value(GVariant *value, unsigned depth)
{
	GVariantIter iter;
	GVariant *item;

	if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING) ||
	    g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
		return true;
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_VARDICT))
		return is_values(value, depth);
	if (!g_variant_is_of_type(value, G_VARIANT_TYPE("aa{sv}")))
		return false;
	g_variant_iter_init(&iter, value);
	while ((item = g_variant_iter_next_value(&iter))) {
		g_autoptr(GVariant) owned = item;

		if (!is_values(owned, depth))
			return false;
	}
	return true;
}

static bool
is_values(GVariant *values, unsigned depth)
{
	GVariantIter iter;
	GVariant *value;

	if (depth == 0)
		return false;
	g_variant_iter_init(&iter, values);
	while (g_variant_iter_next(&iter, "{sv}", NULL, &value)) {
		g_autoptr(GVariant) owned = value;

		if (!is_value(owned, depth - 1))
			return false;
	}
	return true;
}

struct web_reply *
web_reply_parse(GBytes *frame, GError **error)
{
	g_autoptr(GVariant) value = parse_frame(frame, REPLY_TYPE);
	g_autoptr(GVariant) values = NULL;
	const char *language;
	guint8 status, page;

	if (value) {
		g_variant_get(
		    value, "(yy&s@a{sv})", &status, &page, &language, &values);
		if (status < WEB_STATUSES && page < WEB_PAGES &&
		    is_word(language, "abcdefghijklmnopqrstuvwxyz", 3) &&
		    is_values(values, WEB_PROTO_DEPTH))
			return web_reply_new(status, page, language, values);
	}
	pb_fail(error, PB_ERROR_INPUT, "invalid reply of paperboyd");
	return NULL;
}
