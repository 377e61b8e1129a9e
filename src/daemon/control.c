/*
 * control.c - the control socket, for commands of paperboyctl.
 */
#include "daemon/control.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/bounds.h"
#include "base/error.h"

/* Timeout for the command of a client. */
#define TIMEOUT_S 5

/* Reserved for the last line of a reply that was cut. */
#define CUT_BYTES 64

struct control {
	GSocketService *service;
	char *path;
	const struct control_command *commands;
	void *data;
};

struct control_request {
	struct control *control;
	GSocketConnection *connection;
	char line[BOUNDS_CONTROL_LINE_BYTES + 1];
};

static void
request_free(struct control_request *request)
{
	g_object_unref(request->connection);
	g_free(request);
}

/* Cut after a line, so that the reply fits into any socket buffer.  @param reply  taken
 */
static char *
shorten(char *reply)
{
	g_autofree char *whole = reply;
	size_t size = strlen(whole), keep = 0;
	unsigned more = 0;

	if (size <= BOUNDS_CONTROL_ANSWER_BYTES)
		return g_steal_pointer(&whole);
	for (const char *p = whole; (p = strchr(p, '\n')); p++) {
		if ((size_t)(p - whole) < BOUNDS_CONTROL_ANSWER_BYTES - CUT_BYTES)
			keep = (size_t)(p - whole) + 1;
		else
			more++;
	}
	return g_strdup_printf("%.*s... and %u more\n", (int)keep, whole, more);
}

/* @return lines with their ends, for g_free() */
static char *
run_command(const struct control *control, const char *line)
{
	for (const struct control_command *command = control->commands; command->name;
	     command++) {
		g_autofree char *reply = NULL;

		if (strcmp(line, command->name) != 0)
			continue;
		reply = command->run(control->data);
		return shorten(g_strdup_printf("%s\n", reply ? reply : "ok"));
	}
	return g_strdup("unknown\n");
}

static void
handle_line(GObject *stream, GAsyncResult *result, gpointer data)
{
	struct control_request *request = data;
	gssize size = g_input_stream_read_finish(G_INPUT_STREAM(stream), result, NULL);
	g_autofree char *text = NULL;

	if (size > 0) {
		bool is_line = size <= BOUNDS_CONTROL_LINE_BYTES &&
		               !memchr(request->line, '\0', (size_t)size);

		request->line[is_line ? size : 0] = '\0';
		text = run_command(request->control, g_strchomp(request->line));
		/* Does not block: a reply fits into any socket buffer. */
		g_output_stream_write_all(
		    g_io_stream_get_output_stream(G_IO_STREAM(request->connection)),
		    text, strlen(text), NULL, NULL, NULL);
	}
	request_free(request);
}

static gboolean
handle_connection(GSocketService *service, GSocketConnection *connection,
    GObject *source, gpointer data)
{
	struct control_request *request = g_new0(struct control_request, 1);

	(void)service;
	(void)source;
	request->control = data;
	request->connection = g_object_ref(connection);
	g_socket_set_timeout(g_socket_connection_get_socket(connection), TIMEOUT_S);
	g_input_stream_read_async(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
	    request->line, BOUNDS_CONTROL_LINE_BYTES + 1, G_PRIORITY_DEFAULT, NULL,
	    handle_line, request);
	return TRUE;
}

struct control *
control_new(const char *state_dir, const struct control_command *commands, void *data,
    GError **error)
{
	struct control *control = g_new0(struct control, 1);
	g_autoptr(GSocketAddress) address = NULL;

	control->path = g_build_filename(state_dir, "control", NULL);
	control->commands = commands;
	control->data = data;
	/* GLib would truncate it, and listen under another name. */
	if (strlen(control->path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
		pb_fail(error, PB_ERROR_PERMANENT,
		    "control socket '%s': name too long, choose a shorter state_dir",
		    control->path);
		g_free(control->path);
		g_free(control);
		return NULL;
	}
	control->service = g_socket_service_new();
	/* We hold the lock of the state directory, so an old socket is stale. */
	g_unlink(control->path);
	address = g_unix_socket_address_new(control->path);
	if (!g_socket_listener_add_address(G_SOCKET_LISTENER(control->service), address,
	        G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, error)) {
		g_prefix_error(error, "control socket '%s': ", control->path);
		control_free(control);
		return NULL;
	}
	g_chmod(control->path, 0600);
	g_signal_connect(
	    control->service, "incoming", G_CALLBACK(handle_connection), control);
	g_socket_service_start(control->service);
	return control;
}

void
control_free(struct control *control)
{
	if (!control)
		return;
	g_socket_service_stop(control->service);
	g_socket_listener_close(G_SOCKET_LISTENER(control->service));
	g_object_unref(control->service);
	g_unlink(control->path);
	g_free(control->path);
	g_free(control);
}
