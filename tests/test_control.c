/*
 * test_control.c - the control socket of the daemon.
 */
#include "daemon/control.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"

static char *
count(void *data)
{
	++*(int *)data;
	return NULL;
}

/* At the limit, including the line end. */
static char *
reply_of_maximum_size(void *data)
{
	(void)data;
	return g_strnfill(BOUNDS_CONTROL_ANSWER_BYTES - 1, 'x');
}

/* Lines of ten bytes, the last one longer: one byte beyond the limit. */
static char *
reply_over_maximum_size(void *data)
{
	GString *answer = g_string_new(NULL);

	(void)data;
	for (unsigned i = 0; answer->len + 20 <= BOUNDS_CONTROL_ANSWER_BYTES; i++)
		g_string_append_printf(answer, "line %04u\n", i);
	while (answer->len < BOUNDS_CONTROL_ANSWER_BYTES)
		g_string_append_c(answer, '.');
	return g_string_free(answer, FALSE);
}

static char *
report(void *data)
{
	(void)data;
	return g_strdup("relay=takes mail");
}

static const struct control_command commands[] = {
    {"look", count},
    {"most", reply_of_maximum_size},
    {"much", reply_over_maximum_size},
    {"a-word-that-has-with-its-line-end-the-very-length-of-the-limit.", count},
    {"a-word-that-has-with-its-line-end-exactly-1-byte-over-the-limit.", count},
    {"status", report},
    {0},
};

/* A client in its own thread. */
struct client {
	const char *path;
	const char *line;
	gsize size;
	char answer[BOUNDS_CONTROL_ANSWER_BYTES + 2];
	int is_done;
};

static gpointer
run_client(gpointer data)
{
	struct client *client = data;
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(client->path);
	g_autoptr(GSocketClient) maker = g_socket_client_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(GSocketConnection) connection =
	    g_socket_client_connect(maker, G_SOCKET_CONNECTABLE(address), NULL, &error);
	GIOStream *stream = G_IO_STREAM(connection);

	g_assert_no_error(error);
	g_output_stream_write_all(g_io_stream_get_output_stream(stream), client->line,
	    client->size, NULL, NULL, NULL);
	if (!client->size)
		g_socket_shutdown(
		    g_socket_connection_get_socket(connection), FALSE, TRUE, NULL);
	g_input_stream_read_all(g_io_stream_get_input_stream(stream), client->answer,
	    sizeof(client->answer) - 1, NULL, NULL, NULL);
	g_atomic_int_set(&client->is_done, 1);
	g_main_context_wakeup(NULL);
	return NULL;
}

static void
ask(struct client *client)
{
	GThread *thread = g_thread_new("client", run_client, client);

	while (!g_atomic_int_get(&client->is_done))
		g_main_context_iteration(NULL, TRUE);
	g_thread_join(thread);
}

STORE_TEST(a_line_in_gets_a_line_out)
{
	static const struct {
		const char *line;
		gssize size; /* -1: all of it */
		const char *answer;
		int looks;
	} rows[] = {
	    {"look\n", -1, "ok\n", 1},
	    {"look", -1, "ok\n", 1},
	    {"look\r\n", -1, "ok\n", 1},
	    {"LOOK\n", -1, "unknown\n", 0},
	    {"stop\n", -1, "unknown\n", 0},
	    {"status\n", -1, "relay=takes mail\n", 0},
	    {"look now\n", -1, "unknown\n", 0},
	    {"a-word-that-has-with-its-line-end-the-very-length-of-the-limit.\n", -1,
	        "ok\n", 1},
	    {"a-word-that-has-with-its-line-end-exactly-1-byte-over-the-limit.\n", -1,
	        "unknown\n", 0},
	    {"look\0more", 9, "unknown\n", 0},
	    {"\n", -1, "unknown\n", 0},
	    {"\xff\xfe\n", -1, "unknown\n", 0},
	    {"", 0, "", 0},
	};
	g_autofree char *path = g_build_filename(fixture->directory, "control", NULL);
	g_autoptr(GError) error = NULL;
	int looks = 0;
	struct control *control =
	    control_new(fixture->directory, commands, &looks, &error);
	GStatBuf status;

	g_assert_no_error(error);
	g_assert_cmpint(g_stat(path, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 0777, ==, 0600);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct client client = {.path = path, .line = rows[i].line};

		client.size =
		    rows[i].size < 0 ? strlen(rows[i].line) : (gsize)rows[i].size;
		looks = 0;
		ask(&client);
		if (strcmp(client.answer, rows[i].answer) != 0 ||
		    looks != rows[i].looks)
			g_test_fail_printf(
			    "row %zu: '%s', %d looks", i, client.answer, looks);
	}
	control_free(control);
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

STORE_TEST(an_answer_that_is_too_long_is_cut_at_a_line)
{
	g_autofree char *path = g_build_filename(fixture->directory, "control", NULL);
	g_autoptr(GError) error = NULL;
	struct client most = {.path = path, .line = "most\n", .size = 5};
	struct client much = {.path = path, .line = "much\n", .size = 5};
	struct control *control =
	    control_new(fixture->directory, commands, NULL, &error);
	unsigned lines = 0, more = 0;

	g_assert_no_error(error);
	ask(&most);
	g_assert_cmpuint(strlen(most.answer), ==, BOUNDS_CONTROL_ANSWER_BYTES);
	ask(&much);
	g_assert_cmpuint(strlen(much.answer), <=, BOUNDS_CONTROL_ANSWER_BYTES);
	for (const char *p = much.answer; g_str_has_prefix(p, "line "); p += 10) {
		g_assert_cmpint(p[9], ==, '\n');
		lines++;
	}
	g_assert_cmpint(
	    sscanf(much.answer + lines * 10, "... and %u more\n", &more), ==, 1);
	g_assert_cmpuint(lines, >, 1000);
	g_assert_cmpuint(lines + more, ==, BOUNDS_CONTROL_ANSWER_BYTES / 10);
	control_free(control);
}

STORE_TEST(a_leftover_of_a_killed_daemon_is_replaced)
{
	g_autofree char *path = g_build_filename(fixture->directory, "control", NULL);
	int looks = 0;
	struct control *control;

	g_file_set_contents(path, "left over", -1, NULL);
	control = NO_ERROR(control_new(fixture->directory, commands, &looks, &error));
	control_free(control);
}

STORE_TEST(a_directory_too_deep_for_a_socket_is_reported)
{
	g_autofree char *name = g_strnfill(100, 'd');
	g_autofree char *directory = g_build_filename(fixture->directory, name, NULL);
	g_autoptr(GError) error = NULL;
	int looks = 0;

	g_mkdir(directory, 0700);
	g_assert_null(control_new(directory, commands, &looks, &error));
	g_assert_nonnull(error);
	g_assert_nonnull(strstr(error->message, "too long"));
	g_assert_nonnull(strstr(error->message, directory));
}

UNIT_MAIN
