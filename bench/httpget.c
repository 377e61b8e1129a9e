/*
 * httpget.c - request a page many times, one request a connection.
 *
 * httpget PORT CONNECTIONS COUNT PATH: with as many connections at a time.
 */
#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stopwatch.h"

#define REQUEST \
	"GET %s HTTP/1.1\r\nHost: papers.example.org\r\nConnection: close\r\n\r\n"

struct job {
	struct sockaddr_in address;
	char *request;
	unsigned count;
};

/* @return whether the response is complete and its status is 200 */
static bool
get_page(const struct job *job)
{
	char buffer[65536];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t size = strlen(job->request), total = 0;
	bool is_ok = false;
	ssize_t got = -1;

	if (connect(fd, (const struct sockaddr *)&job->address, sizeof(job->address)) ==
	        0 &&
	    send(fd, job->request, size, MSG_NOSIGNAL) == (ssize_t)size) {
		while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
			is_ok = is_ok || (!total && got > 12 &&
			                     memcmp(buffer, "HTTP/1.1 200", 12) == 0);
			total += (size_t)got;
		}
	}
	close(fd);
	return is_ok && got == 0;
}

/* @return number of pages */
static void *
run_client(void *data)
{
	const struct job *job = data;
	unsigned pages = 0;

	for (unsigned i = 0; i < job->count; i++)
		pages += get_page(job);
	return GUINT_TO_POINTER(pages);
}

int
main(int argc, char **argv)
{
	g_autoptr(GPtrArray) threads = g_ptr_array_new();
	struct stopwatch watch = {0};
	struct job job = {.address.sin_family = AF_INET,
	    .address.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned connections, pages = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: httpget PORT CONNECTIONS COUNT PATH\n");
		return 64;
	}
	job.address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	connections = (unsigned)strtoul(argv[2], NULL, 10);
	job.count = (unsigned)strtoul(argv[3], NULL, 10) / connections;
	job.request = g_strdup_printf(REQUEST, argv[4]);
	stopwatch_start(&watch);
	for (unsigned i = 0; i < connections; i++)
		g_ptr_array_add(threads, g_thread_new("client", run_client, &job));
	for (unsigned i = 0; i < connections; i++)
		pages += GPOINTER_TO_UINT(g_thread_join(threads->pdata[i]));
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("pages=%u\n", pages);
	g_free(job.request);
	return pages == job.count * connections ? 0 : 1;
}
