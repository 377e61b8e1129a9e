/*
 * authentication.c - parse Authentication-Results fields (RFC 8601).
 */
#include "parser/authentication.h"

#include <stdbool.h>
#include <string.h>

#include "message/parser_proto.h"

/* Remove comments, collapse white space, drop it around "=" and ";", and replace a
 * quoted ";" by \1. */
static char *
normalize(const char *value)
{
	GString *out = g_string_new(NULL);
	bool is_quoted = false, pending_blank = false;
	unsigned depth = 0;

	for (const char *p = value; *p; p++) {
		if (*p == '\\' && p[1] && (is_quoted || depth > 0)) {
			p++;
			if (depth > 0)
				continue;
		} else if (!is_quoted && (*p == '(' || (*p == ')' && depth > 0))) {
			depth += *p == '(' ? 1 : -1u;
			pending_blank = true;
			continue;
		} else if (depth > 0) {
			continue;
		} else if (*p == '"') {
			is_quoted = !is_quoted;
			continue;
		} else if (!is_quoted && *p == ' ') {
			pending_blank = true;
			continue;
		}
		if (pending_blank && out->len > 0 && !strchr("=;", *p) &&
		    !strchr("=;", out->str[out->len - 1]))
			g_string_append_c(out, ' ');
		pending_blank = false;
		g_string_append_c(out, *p == ';' && is_quoted ? '\1' : *p);
	}
	return g_string_free(out, FALSE);
}

/* Parse "dmarc=pass header.from=example.org"; "none" is not a result. */
static bool
append_result(GVariantBuilder *out, const char *result)
{
	size_t end = strcspn(result, " ");
	const char *equals = memchr(result, '=', end);
	g_autofree char *method = NULL;
	g_autofree char *verdict = NULL;
	g_autofree char *record = NULL;

	if (!equals || equals == result || equals + 1 == result + end)
		return false;
	/* The method's version is ignored ("dkim/1=pass"). */
	method = g_ascii_strdown(
	    result, (gssize)MIN(strcspn(result, "/"), (size_t)(equals - result)));
	verdict = g_ascii_strdown(equals + 1, result + end - equals - 1);
	if (!method[0])
		return false;
	record = g_strdup_printf(
	    "%s %s %s", method, verdict, result[end] ? result + end + 1 : "");
	g_strdelimit(record, "\1", ';');
	parser_proto_append(out, PROTO_TAG_AUTH_RESULT, record);
	return true;
}

void
authentication_append(GVariantBuilder *out, const char *value, unsigned *left)
{
	g_autofree char *normalized = normalize(value);
	g_auto(GStrv) results = g_strsplit(normalized, ";", -1);
	g_autofree char *server = NULL;

	parser_proto_append(out, PROTO_TAG_AUTHENTICATION, value);
	/* A version may follow the authserv-id. */
	if (results[0]) {
		g_strdelimit(results[0], "\1", ';');
		server = g_ascii_strdown(results[0], (gssize)strcspn(results[0], " "));
	}
	parser_proto_append(out, PROTO_TAG_AUTH_SERVER, server ? server : "");
	for (size_t i = 1; results[0] && results[i] && *left > 0; i++)
		*left -= append_result(out, results[i]);
}
