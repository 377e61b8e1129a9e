/*
 * helper_web.c - stands in for paperboyd on the socket of paperboy-web.
 *
 *     helper_web SOCKET
 *
 * Prints each request as a line, with the client's network if it is known, and answers
 * it with the status that its token names, such as "limited"; others with an empty page
 * or, for "/", with a small one.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/listen_socket.h"
#include "message/web_proto.h"

#define BACKLOG    1024
#define TIMEOUT_US (60 * G_USEC_PER_SEC)

static const struct {
	const char *token;
	enum web_status status;
} statuses[] = {
    {"unchanged", WEB_STATUS_NOT_MODIFIED},
    {"invalid", WEB_STATUS_BAD_REQUEST},
    {"forbidden", WEB_STATUS_FORBIDDEN},
    {"unknown", WEB_STATUS_NOT_FOUND},
    {"limited", WEB_STATUS_LIMITED},
    {"unavailable", WEB_STATUS_UNAVAILABLE},
};

static const char *const ops[WEB_OPS] = {
    [WEB_OP_HEALTH] = "health",
    [WEB_OP_HOME] = "home",
    [WEB_OP_SUBSCRIBE] = "subscribe",
    [WEB_OP_CONFIRM_SHOW] = "confirm-show",
    [WEB_OP_CONFIRM] = "confirm",
    [WEB_OP_LEAVE_SHOW] = "leave-show",
    [WEB_OP_ONE_CLICK] = "one-click",
    [WEB_OP_LEAVE] = "leave",
    [WEB_OP_PREFERENCES_SHOW] = "preferences-show",
    [WEB_OP_PREFERENCES] = "preferences",
    [WEB_OP_DIGEST] = "digest",
    [WEB_OP_FEED] = "feed",
    [WEB_OP_SEARCH] = "search",
};

static void
print_request(const struct web_request *request)
{
	g_autoptr(GList) names =
	    g_list_sort(g_hash_table_get_keys(request->fields), (GCompareFunc)strcmp);

	printf("%s language=%s token=%s", ops[request->op], request->language,
	    request->token);
	for (GList *name = names; name; name = name->next) {
		const char *value = web_request_get(request, name->data);
		g_autofree char *escaped = g_strescape(value, NULL);

		printf(" %s=\"%s\"", (const char *)name->data, escaped);
	}
	if (*request->network)
		printf(" network=%s", request->network);
	putchar('\n');
	fflush(stdout);
}

static struct web_reply *
answer(const struct web_request *request)
{
	enum web_status status = WEB_STATUS_OK;

	for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++)
		if (strcmp(request->token, statuses[i].token) == 0)
			status = statuses[i].status;
	if (request->op != WEB_OP_HOME)
		return web_reply_new(status, WEB_PAGE_NONE, "en", NULL);
	return web_reply_new(status, WEB_PAGE_MESSAGE, "en",
	    g_variant_new_parsed("{'service': <'paperboy'>, 'address': <''>,"
	                         " 'owner': <'owner@example.org'>, 'csrf': <'x'>,"
	                         " 'messages': <@aa{sv} []>}"));
}

static void
serve(int fd)
{
	g_autoptr(GBytes) frame = frame_receive(
	    fd, WEB_PROTO_REQUEST_BYTES, g_get_monotonic_time() + TIMEOUT_US);
	pb_auto(web_request) request = NULL;
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GBytes) out = NULL;

	if (!frame)
		return;
	request = web_request_parse(frame, NULL);
	if (!request) {
		puts("invalid");
		fflush(stdout);
		return;
	}
	print_request(request);
	reply = answer(request);
	out = web_reply_write(reply);
	if (send(fd, g_bytes_get_data(out, NULL), g_bytes_get_size(out), MSG_NOSIGNAL) <
	    0)
		return;
}

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	int listener = argc == 2 ? listen_socket_bind_unix(argv[1], &error) : -1;

	if (listener < 0 || listen(listener, BACKLOG) != 0) {
		fprintf(stderr, "helper_web: %s\n", error ? error->message : "SOCKET");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd event = {.fd = listener, .events = POLLIN};
		int fd = poll(&event, 1, -1) > 0 ? accept(listener, NULL, NULL) : -1;

		if (fd >= 0) {
			serve(fd);
			close(fd);
		}
	}
}
