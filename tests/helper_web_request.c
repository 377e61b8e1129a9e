/*
 * helper_web_request.c - sends one request to paperboyd, as paperboy-web does.
 *
 *     helper_web_request SOCKET OPERATION TOKEN [NAME=VALUE...]
 *
 * OPERATION and the printed status and page are numbers of message/web_proto.h.  Prints
 * "STATUS PAGE LANGUAGE" and, on a second line, the values; exits with 1 and an error
 * if there is no reply.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/daemon_client.h"

#define TIMEOUT_S 30

static struct web_request *
new_request(int count, char **arguments)
{
	struct web_request *request =
	    web_request_new((enum web_op)strtol(arguments[0], NULL, 10));

	g_free(request->token);
	request->token = g_strdup(arguments[1]);
	for (int i = 2; i < count; i++) {
		g_auto(GStrv) parts = g_strsplit(arguments[i], "=", 2);

		g_hash_table_insert(
		    request->fields, g_strdup(parts[0]), g_strdup(parts[1]));
	}
	return request;
}

int
main(int argc, char **argv)
{
	pb_auto(web_request) request = NULL;
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *values = NULL;

	g_assert(argc >= 4);
	request = new_request(argc - 2, argv + 2);
	reply = daemon_client_call(argv[1], request, TIMEOUT_S, &error);
	if (!reply) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	values = g_variant_print(reply->values, FALSE);
	printf("%d %d %s\n%s\n", (int)reply->status, (int)reply->page, reply->language,
	    values);
	return 0;
}
