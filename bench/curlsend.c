/*
 * curlsend.c - the peer of send.c: libcurl's easy interface, one thread per connection.
 *
 * curlsend PORT CONNECTIONS COUNT BYTES: as send.c; connections are reused.
 */
#include <curl/curl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stopwatch.h"

struct job {
	unsigned port, count;
	char *message;
	size_t size;
};

/* Position of libcurl in one message. */
struct mime_parser {
	const struct job *job;
	size_t at;
};

static size_t
read_some(char *buffer, size_t size, size_t n, void *data)
{
	struct mime_parser *reader = data;
	size_t count = MIN(size * n, reader->job->size - reader->at);

	memcpy(buffer, reader->job->message + reader->at, count);
	reader->at += count;
	return count;
}

/* @return how many were sent */
static void *
run_sender(void *data)
{
	const struct job *job = data;
	g_autofree char *url =
	    g_strdup_printf("smtp://127.0.0.1:%u/client.example", job->port);
	CURL *easy = curl_easy_init();
	unsigned sent = 0;

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_some);
	for (unsigned i = 0; i < job->count; i++) {
		struct mime_parser reader = {.job = job};
		g_autofree char *from =
		    g_strdup_printf("<paperboy+b-%010u@papers.example.org>", i);
		g_autofree char *to = g_strdup_printf("<person-%u@example.org>", i);
		struct curl_slist *recipients = curl_slist_append(NULL, to);

		curl_easy_setopt(easy, CURLOPT_READDATA, &reader);
		curl_easy_setopt(easy, CURLOPT_MAIL_FROM, from);
		curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients);
		if (curl_easy_perform(easy) == CURLE_OK)
			sent++;
		curl_slist_free_all(recipients);
	}
	curl_easy_cleanup(easy);
	return GUINT_TO_POINTER(sent);
}

int
main(int argc, char **argv)
{
	g_autoptr(GPtrArray) threads = g_ptr_array_new();
	struct stopwatch watch = {0};
	struct job job = {0};
	unsigned connections, sent = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: curlsend PORT CONNECTIONS COUNT BYTES\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	connections = (unsigned)strtoul(argv[2], NULL, 10);
	job.port = (unsigned)strtoul(argv[1], NULL, 10);
	job.count = (unsigned)strtoul(argv[3], NULL, 10) / connections;
	job.size = strtoul(argv[4], NULL, 10);
	job.message = g_strnfill(job.size, 'x');
	for (size_t i = 70; i + 2 < job.size; i += 72)
		memcpy(job.message + i, "\r\n", 2);
	memcpy(job.message, "Subject: x\r\n\r\n", 14);
	memcpy(job.message + job.size - 2, "\r\n", 2);
	stopwatch_start(&watch);
	for (unsigned i = 0; i < connections; i++)
		g_ptr_array_add(threads, g_thread_new("sender", run_sender, &job));
	for (unsigned i = 0; i < connections; i++)
		sent += GPOINTER_TO_UINT(g_thread_join(threads->pdata[i]));
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("sent=%u\n", sent);
	g_free(job.message);
	return sent == job.count * connections ? 0 : 1;
}
