/*
 * paperserver.c - run the fake paper server beside a C test.
 */
#include "paperserver.h"

#include "errors.h"

struct paperserver *
paperserver_start(const char *directory, const char *pem)
{
	const char *python = g_getenv("PYTHON3");
	const char *top = g_getenv("top_srcdir");
	g_autofree char *script =
	    g_build_filename(top ? top : ".", "tests/lib/paperserver.py", NULL);
	g_autofree char *line = NULL;
	struct paperserver *server;
	GSubprocess *process;

	process = g_subprocess_new(
	    G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL,
	    python ? python : "python3", "-B", script, "--dir",
	    directory ? directory : ".", pem ? "--tls" : NULL, pem, NULL);
	if (!process) {
		g_test_skip("no Python to run the paper server");
		return NULL;
	}
	server = g_new0(struct paperserver, 1);
	server->process = process;
	server->log = g_data_input_stream_new(g_subprocess_get_stdout_pipe(process));
	line = paperserver_read_line(server);
	g_assert_true(g_str_has_prefix(line, "port "));
	server->url = g_strconcat(
	    pem ? "https://localhost:" : "http://127.0.0.1:", line + 5, NULL);
	return server;
}

char *
paperserver_mode_url(const struct paperserver *server, const char *mode)
{
	return g_strconcat(server->url, "/", mode, NULL);
}

char *
paperserver_read_line(struct paperserver *server)
{
	char *line =
	    NO_ERROR(g_data_input_stream_read_line(server->log, NULL, NULL, &error));

	g_assert_nonnull(line);
	return line;
}

bool
paperserver_fetch(struct source *source, const char *day, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct http_settings settings = {
	    .user_agent = "paperboy/test (postmaster@example.org)",
	    .allow_file = true,
	};
	pb_auto(http) http = http_new(&settings);
	bool is_ok;

	source_answer_clear(answer);
	is_ok = source->fetch_day
	            ? source_fetch_day(source, http, day, etag, answer, error)
	            : source_poll(source, http, day, etag, answer, error);
	source_free(source);
	return is_ok;
}

void
paperserver_check_failure(
    struct source *source, const char *day, const struct paperserver_failure *failure)
{
	g_autoptr(GError) error = NULL;
	source_answer_auto answer = {0};

	g_test_message("%s %s", source->name, failure->mode);
	g_assert_false(paperserver_fetch(source, day, NULL, &answer, &error));
	g_assert_error(error, PB_ERROR, (int)failure->code);
	if (!strstr(error->message, failure->says))
		g_error("'%s' lacks '%s'", error->message, failure->says);
	g_assert_cmpint(answer.retry_after_s, ==, failure->wait_s);
	g_assert_null(answer.listings);
	g_assert_null(answer.etag);
}

unsigned
paperserver_count_requests(struct paperserver *server)
{
	unsigned requests = 0;
	char *line;

	g_output_stream_close(g_subprocess_get_stdin_pipe(server->process), NULL, NULL);
	while ((line = g_data_input_stream_read_line(server->log, NULL, NULL, NULL))) {
		g_free(line);
		requests++;
	}
	return requests;
}

void
paperserver_free(struct paperserver *server)
{
	if (!server)
		return;
	g_output_stream_close(g_subprocess_get_stdin_pipe(server->process), NULL, NULL);
	g_subprocess_wait(server->process, NULL, NULL);
	g_object_unref(server->log);
	g_object_unref(server->process);
	g_free(server->url);
	g_free(server);
}
