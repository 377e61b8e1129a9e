/*
 * http_request.c - strict reader of one HTTP/1.x request (RFC 9112).
 */
#include "web/http_request.h"

#include <string.h>

#include "base/bounds.h"

#define BAD_REQUEST        400
#define METHOD_NOT_ALLOWED 405
#define TOO_LARGE          413
#define TARGET_TOO_LONG    414
#define EXPECTATION_FAILED 417
#define HEAD_TOO_LARGE     431
#define NOT_IMPLEMENTED    501
#define HEAD_SPACE_MIN     512

/* Maximum size of the first line, with "OPTIONS" and the line end. */
#define REQUEST_LINE_BYTES (BOUNDS_WEB_TARGET_BYTES + 19)

/* Treatment of a field that occurs several times: the request is invalid, or the first
 * or the last one counts. */
enum repetition { REPEATED_INVALID, REPEATED_FIRST, REPEATED_LAST };

static const struct {
	const char *name;
	enum repetition repetition;
} known_fields[HTTP_FIELDS] = {
    [HTTP_HOST] = {"Host", REPEATED_INVALID},
    [HTTP_CONTENT_LENGTH] = {"Content-Length", REPEATED_INVALID},
    [HTTP_CONTENT_TYPE] = {"Content-Type", REPEATED_INVALID},
    [HTTP_TRANSFER_ENCODING] = {"Transfer-Encoding", REPEATED_INVALID},
    [HTTP_EXPECT] = {"Expect", REPEATED_INVALID},
    [HTTP_COOKIE] = {"Cookie", REPEATED_FIRST},
    [HTTP_ORIGIN] = {"Origin", REPEATED_INVALID},
    [HTTP_SEC_FETCH_SITE] = {"Sec-Fetch-Site", REPEATED_INVALID},
    [HTTP_ACCEPT_LANGUAGE] = {"Accept-Language", REPEATED_FIRST},
    [HTTP_IF_NONE_MATCH] = {"If-None-Match", REPEATED_FIRST},
    /* A web server adds its field or its element behind those of the client. */
    [HTTP_FORWARDED_FOR] = {"X-Forwarded-For", REPEATED_LAST},
};

/* RFC 9110 section 5.6.2 */
static bool
is_token(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && !strchr("!#$%&'*+-.^_`|~", *text))
			return false;
	return true;
}

/*
 * RFC 3986: characters of a path, with complete percent-encodings.  Browsers send a
 * query nearly as it was written in the link.
 */
static bool
is_target(const char *text)
{
	if (*text != '/')
		return false;
	for (; *text && *text != '?'; text++) {
		if (*text == '%') {
			if (!g_ascii_isxdigit(text[1]) || !g_ascii_isxdigit(text[2]))
				return false;
		} else if (!g_ascii_isalnum(*text) &&
		           !strchr("-._~!$&'()*+,;=:@/", *text))
			return false;
	}
	for (; *text; text++)
		if (!g_ascii_isgraph(*text) || strchr("\"#<>", *text))
			return false;
	return true;
}

/* RFC 3986 section 3.2.2, and the underscore of nginx's names of upstreams. */
static bool
is_host(const char *text)
{
	bool is_literal = *text == '[';
	size_t size = is_literal ? 1 + strspn(text + 1, "0123456789abcdefABCDEF:.")
	                         : strspn(text, "abcdefghijklmnopqrstuvwxyz"
	                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                        "0123456789-._");

	if (size == (is_literal ? 1 : 0) || (is_literal && text[size++] != ']'))
		return false;
	text += size;
	return !*text ||
	       (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

static int
parse_method(struct http_request *request, const char *method)
{
	static const char *const names[] = {"GET", "HEAD", "POST"};
	static const char *const others[] = {
	    "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT"};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (strcmp(method, names[i]) == 0) {
			request->method = i;
			request->is_known_method = true;
		}
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
		if (strcmp(method, others[i]) == 0)
			request->is_foreign_method = true;
	return is_token(method) ? 0 : BAD_REQUEST;
}

/* @param line  is cut into pieces */
static int
parse_request_line(struct http_request *request, char *line, bool *is_host_required)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;
	char *query;

	if (!version)
		return BAD_REQUEST;
	*target++ = *version++ = '\0';
	*is_host_required = strcmp(version, "HTTP/1.1") == 0;
	if (!*is_host_required && strcmp(version, "HTTP/1.0") != 0)
		return BAD_REQUEST;
	if (strlen(target) > BOUNDS_WEB_TARGET_BYTES)
		return TARGET_TOO_LONG;
	if (!is_target(target))
		return BAD_REQUEST;
	query = strchr(target, '?');
	if (query)
		*query++ = '\0';
	request->path = target;
	request->query = query ? query : "";
	return parse_method(request, line);
}

/* Remove optional white space at both ends (RFC 9110 section 5.5). */
static char *
trim(char *value)
{
	size_t size;

	value += strspn(value, " \t");
	size = strlen(value);
	while (size && strchr(" \t", value[size - 1]))
		size--;
	value[size] = '\0';
	return value;
}

/* @param line  is cut into pieces */
static int
parse_field(struct http_request *request, char *line)
{
	char *colon = strchr(line, ':');
	char *value;

	if (!colon)
		return BAD_REQUEST;
	*colon = '\0';
	if (!is_token(line))
		return BAD_REQUEST;
	value = trim(colon + 1);
	for (const char *at = value; *at; at++)
		if (g_ascii_iscntrl(*at) && *at != '\t')
			return BAD_REQUEST;
	for (unsigned i = 0; i < HTTP_FIELDS; i++) {
		if (g_ascii_strcasecmp(line, known_fields[i].name) != 0)
			continue;
		if (!request->fields[i] || known_fields[i].repetition == REPEATED_LAST)
			request->fields[i] = value;
		else if (known_fields[i].repetition == REPEATED_INVALID)
			return BAD_REQUEST;
	}
	return 0;
}

static int
parse_content_length(struct http_request *request)
{
	const char *text = request->fields[HTTP_CONTENT_LENGTH];
	guint64 size = 0;

	if (!text)
		return 0;
	if (!*text || text[strspn(text, "0123456789")] || (*text == '0' && text[1]))
		return BAD_REQUEST;
	/* Not a number of 64 bits: too large. */
	if (!g_ascii_string_to_unsigned(
	        text, 10, 0, BOUNDS_WEB_BODY_BYTES, &size, NULL))
		return TOO_LARGE;
	if (size && request->is_known_method && request->method != HTTP_POST)
		return BAD_REQUEST;
	request->body_left = (size_t)size;
	return 0;
}

static int
check_fields(struct http_request *request, bool is_host_required)
{
	const char *host = request->fields[HTTP_HOST];
	int status;

	if (request->fields[HTTP_TRANSFER_ENCODING] ||
	    (host ? !is_host(host) : is_host_required))
		return BAD_REQUEST;
	status = parse_content_length(request);
	if (status)
		return status;
	if (!request->is_known_method)
		return request->is_foreign_method ? METHOD_NOT_ALLOWED
		                                  : NOT_IMPLEMENTED;
	return request->fields[HTTP_EXPECT] ? EXPECTATION_FAILED : 0;
}

/* The head is complete, ends in an empty line and contains neither NULs nor single CRs
 * or LFs. */
static int
parse_head(struct http_request *request)
{
	bool is_host_required = false;
	unsigned lines = 0;
	int status = 0;
	char *end;

	for (char *line = request->head; !status; line = end + 2) {
		end = strstr(line, "\r\n");
		*end = '\0';
		if (lines++ == 0)
			status = parse_request_line(request, line, &is_host_required);
		else if (line == end)
			break;
		else if (lines > 1 + BOUNDS_WEB_HEAD_FIELDS)
			status = HEAD_TOO_LARGE;
		else
			status = parse_field(request, line);
	}
	return status ? status : check_fields(request, is_host_required);
}

static int
add_byte(struct http_request *request, char byte)
{
	char last = request->head_size ? request->head[request->head_size - 1] : '\0';

	if (!byte || (last == '\r') != (byte == '\n'))
		return BAD_REQUEST;
	if (!request->has_line && request->head_size == REQUEST_LINE_BYTES)
		return TARGET_TOO_LONG;
	if (request->head_size == BOUNDS_WEB_HEAD_BYTES)
		return HEAD_TOO_LARGE;
	if (request->head_size + 1 >= request->head_space) {
		request->head_space = MAX(HEAD_SPACE_MIN, 2 * request->head_space);
		request->head_space =
		    MIN(request->head_space, BOUNDS_WEB_HEAD_BYTES + 1);
		request->head = g_realloc(request->head, request->head_space);
	}
	request->head[request->head_size++] = byte;
	request->head[request->head_size] = '\0';
	request->has_line = request->has_line || byte == '\n';
	return 0;
}

static int
add_head(struct http_request *request, const char **bytes, const char *end)
{
	int status = 0;

	while (!status && !request->has_head && *bytes < end) {
		status = add_byte(request, *(*bytes)++);
		request->has_head =
		    !status && request->head_size >= 4 &&
		    memcmp(request->head + request->head_size - 4, "\r\n\r\n", 4) == 0;
	}
	if (status || !request->has_head)
		return status;
	status = parse_head(request);
	if (!status && request->body_left)
		request->body = request->body_buffer = g_malloc(request->body_left);
	return status;
}

static int
feed(struct http_request *request, const char *bytes, size_t size)
{
	const char *end = bytes + size;
	int status = request->has_head ? 0 : add_head(request, &bytes, end);
	size_t part = MIN(request->body_left, (size_t)(end - bytes));

	if (status || !request->has_head)
		return status;
	if (part) {
		memcpy(request->body_buffer + request->body_size, bytes, part);
		request->body_size += part;
		request->body_left -= part;
	}
	return request->body_left ? 0 : HTTP_OK;
}

int
http_request_feed(struct http_request *request, const char *bytes, size_t size)
{
	if (!request->status)
		request->status = feed(request, bytes, size);
	return request->status;
}

bool
http_request_is_head(const struct http_request *request)
{
	return request->is_known_method && request->method == HTTP_HEAD;
}

struct http_request *
http_request_new(void)
{
	struct http_request *request = g_new0(struct http_request, 1);

	request->path = request->query = request->body = "";
	return request;
}

void
http_request_free(struct http_request *request)
{
	if (!request)
		return;
	g_free(request->head);
	g_free(request->body_buffer);
	g_free(request);
}
