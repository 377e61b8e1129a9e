/*
 * web_response.c - HTTP responses; each closes its connection.
 */
#include "web/web_response.h"

#include <string.h>

#define RETRY_AFTER_S 60

static const struct {
	int status;
	const char *reason;
} reasons[] = {
    {200, "OK"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
};

static const char *
get_reason(int status)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	g_assert_not_reached();
}

/* IMF-fixdate (RFC 9110 section 5.6.7); the locale is C.UTF-8. */
static void
add_date(GString *out, int64_t now)
{
	g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(now);
	g_autofree char *text = g_date_time_format(date, "%a, %d %b %Y %H:%M:%S GMT");

	g_string_append_printf(out, "Date: %s\r\n", text);
}

/* A value without control characters, so that it cannot end its line. */
static void
add_field(GString *out, const char *name, const char *value)
{
	g_string_append_printf(out, "%s: ", name);
	for (; *value; value++)
		if (!g_ascii_iscntrl(*value))
			g_string_append_c(out, *value);
	g_string_append(out, "\r\n");
}

GBytes *
web_response_format(const struct web_response *response, int64_t now, bool without_body)
{
	gsize size = response->body ? g_bytes_get_size(response->body) : 0;
	GString *out = g_string_sized_new(1024 + (without_body ? 0 : size));

	g_string_append_printf(
	    out, "HTTP/1.1 %d %s\r\n", response->status, get_reason(response->status));
	add_date(out, now);
	g_string_append(out, "Connection: close\r\n");
	if (response->type)
		add_field(out, "Content-Type", response->type);
	if (response->status != 304)
		g_string_append_printf(
		    out, "Content-Length: %" G_GSIZE_FORMAT "\r\n", size);
	if (response->allow)
		add_field(out, "Allow", response->allow);
	if (response->status == 429 || response->status == 503)
		g_string_append_printf(out, "Retry-After: %d\r\n", RETRY_AFTER_S);
	if (response->tag) {
		g_autofree char *quoted = g_strdup_printf("\"%s\"", response->tag);

		add_field(out, "ETag", quoted);
	}
	g_string_append_printf(out, "Cache-Control: %s\r\n",
	    response->tag ? "private, no-cache" : "no-store");
	if (response->content_policy)
		add_field(out, "Content-Security-Policy", response->content_policy);
	g_string_append(out, "Referrer-Policy: no-referrer\r\n"
	                     "X-Content-Type-Options: nosniff\r\n");
	if (response->is_private)
		g_string_append(out, "X-Robots-Tag: noindex\r\n");
	g_string_append(out, "\r\n");
	if (size && !without_body && response->status != 304)
		g_string_append_len(
		    out, g_bytes_get_data(response->body, NULL), (gssize)size);
	return g_string_free_to_bytes(out);
}
