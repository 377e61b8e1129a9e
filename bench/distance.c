/*
 * distance.c - a proxy that adds latency to connections to a local port.
 *
 * distance PORT TO MS: forward connections to 127.0.0.1:PORT to port TO; each byte is
 * delayed by MS milliseconds in both directions.  Ends with its standard input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK_BYTES (64 * 1024)

/* Octets that are on their way. */
struct chunk {
	int64_t due_us;
	size_t size, at; /* a size of 0 is the end */
	char bytes[];
};

/* One direction. */
struct way {
	int from, to;
	bool is_ended; /* nothing more comes */
	bool is_over;  /* and all has been handed over */
	GQueue chunks;
};

static int64_t delay_us;

static int
open_socket(unsigned port, bool is_listener)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (is_listener
	        ? bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	              listen(fd, 256) != 0
	        : connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		perror("distance");
		exit(1);
	}
	return fd;
}

static struct way *
new_way(int from, int to)
{
	struct way *way = g_new0(struct way, 1);
	int on = 1;

	way->from = from;
	way->to = to;
	g_queue_init(&way->chunks);
	fcntl(from, F_SETFL, O_NONBLOCK);
	setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return way;
}

static void
take_in(struct way *way, int64_t now_us)
{
	for (;;) {
		struct chunk *chunk = g_malloc(sizeof(*chunk) + CHUNK_BYTES);
		ssize_t n = recv(way->from, chunk->bytes, CHUNK_BYTES, 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			g_free(chunk);
			return;
		}
		chunk = g_realloc(chunk, sizeof(*chunk) + (gsize)MAX(n, 0));
		chunk->due_us = now_us + delay_us;
		chunk->size = (size_t)MAX(n, 0);
		chunk->at = 0;
		g_queue_push_tail(&way->chunks, chunk);
		if (n <= 0) {
			way->is_ended = true;
			return;
		}
	}
}

/* @return when the next is due, us; -1: nothing is on its way */
static int64_t
hand_over(struct way *way, int64_t now_us, short *events)
{
	struct chunk *chunk;

	while ((chunk = g_queue_peek_head(&way->chunks)) && chunk->due_us <= now_us) {
		ssize_t n = send(way->to, chunk->bytes + chunk->at,
		    chunk->size - chunk->at, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			*events |= POLLOUT;
			return -1;
		}
		chunk->at += (size_t)MAX(n, 0);
		if (n >= 0 && chunk->at < chunk->size)
			continue;
		if (chunk->size == 0 || n < 0) {
			shutdown(way->to, SHUT_WR);
			way->is_over = true;
		}
		g_free(g_queue_pop_head(&way->chunks));
	}
	return chunk ? chunk->due_us : -1;
}

/* @return when something is due, us; -1: not known */
static int64_t
move_all(GPtrArray *ways, GArray *items, int64_t now_us)
{
	int64_t due_us = -1;

	for (unsigned i = 0; i < ways->len; i++) {
		struct way *way = ways->pdata[i];
		struct pollfd item = {.fd = way->from};
		short events = 0;
		int64_t at;

		if (!way->is_ended)
			take_in(way, now_us);
		at = hand_over(way, now_us, &events);
		if (at >= 0 && (due_us < 0 || at < due_us))
			due_us = at;
		if (!way->is_ended) {
			item.events = POLLIN;
			g_array_append_val(items, item);
		}
		if (events) {
			item = (struct pollfd){.fd = way->to, .events = events};
			g_array_append_val(items, item);
		}
	}
	return due_us;
}

/* Both directions of a connection stand beside each other. */
static void
erase_ended(GPtrArray *ways)
{
	for (unsigned i = ways->len; i >= 2; i -= 2) {
		struct way *one = ways->pdata[i - 1], *other = ways->pdata[i - 2];

		if (!one->is_over || !other->is_over)
			continue;
		close(one->from);
		close(other->from);
		g_free(one);
		g_free(other);
		g_ptr_array_remove_range(ways, i - 2, 2);
	}
}

static void
serve(int listener, unsigned to)
{
	g_autoptr(GPtrArray) ways = g_ptr_array_new();
	g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(struct pollfd));

	for (;;) {
		struct pollfd fixed[] = {{.fd = listener, .events = POLLIN},
		    {.fd = STDIN_FILENO, .events = POLLIN}};
		int64_t due_us;
		struct timespec wait = {.tv_sec = 3600};

		g_array_set_size(items, 0);
		g_array_append_vals(items, fixed, 2);
		erase_ended(ways);
		due_us = move_all(ways, items, g_get_monotonic_time());
		if (due_us >= 0) {
			int64_t left_us = MAX(due_us - g_get_monotonic_time(), 0);

			wait = (struct timespec){.tv_sec = left_us / G_USEC_PER_SEC,
			    .tv_nsec = left_us % G_USEC_PER_SEC * 1000};
		}
		if (ppoll((struct pollfd *)items->data, items->len, &wait, NULL) < 0 &&
		    errno != EINTR)
			return;
		if (g_array_index(items, struct pollfd, 1).revents)
			return;
		if (g_array_index(items, struct pollfd, 0).revents) {
			int near = accept(listener, NULL, NULL);
			int far = open_socket(to, false);

			g_ptr_array_add(ways, new_way(near, far));
			g_ptr_array_add(ways, new_way(far, near));
		}
	}
}

int
main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: distance PORT TO MS\n");
		return 64;
	}
	delay_us = (int64_t)(g_ascii_strtod(argv[3], NULL) * 1000);
	serve(open_socket((unsigned)atoi(argv[1]), true), (unsigned)atoi(argv[2]));
	return 0;
}
