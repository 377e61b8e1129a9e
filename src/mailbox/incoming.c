/*
 * incoming.c - a Maildir into which the mail server delivers letters for us.
 */
#include "mailbox/incoming.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"

/* Without an event we look again so often: a folder above may have been exchanged. */
#define LOOK_MS (60 * 1000)

/* A letter that has to come later, or a folder that fails, is tried again after. */
#define AGAIN_MS (30 * 1000)

/* A delivery is a rename or a link; the rest is about the watched folder itself. */
#define NEWS (IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct incoming {
	struct mailbox mailbox;
	char *path, *fresh, *cur; /* the Maildir, its new, its cur */
	int inotify_fd;           /* or -1 */
	bool is_noted;            /* a problem was told */
	GHashTable *left_aside;   /* names that cannot be read, until they are gone */
};

static bool
is_stopped(int stop_fd)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};

	return stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* ---- one letter ---- */

/* @return its octets; NULL without an error: it is gone, or nothing for us */
static char *
read_letter(const char *path, size_t *size, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	char *octets = NULL;
	size_t got = 0;
	ssize_t part = 1;

	if (fd < 0) {
		if (errno != ENOENT)
			file_fail("cannot read", path, PB_ERROR_TEMPORARY, error);
		return NULL;
	}
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		g_set_error(
		    error, PB_ERROR, PB_ERROR_TEMPORARY, "'%s' is no file", path);
		close(fd);
		return NULL;
	}
	/* One more than is taken tells that it is too large. */
	octets = g_malloc((gsize)MIN(status.st_size, BOUNDS_LETTER_BYTES) + 1);
	while (part > 0 && got < (size_t)MIN(status.st_size, BOUNDS_LETTER_BYTES) + 1) {
		part = read(fd, octets + got,
		    (size_t)MIN(status.st_size, BOUNDS_LETTER_BYTES) + 1 - got);
		if (part > 0)
			got += (size_t)part;
		else if (part < 0 && errno == EINTR)
			part = 1;
	}
	if (part < 0) {
		file_fail("cannot read", path, PB_ERROR_TEMPORARY, error);
		g_clear_pointer(&octets, g_free);
	}
	close(fd);
	*size = got;
	return octets;
}

/* A name in new has no flags yet; what a confused program put there goes. */
static bool
move(const struct incoming *incoming, const char *from, const char *name, char flag,
    GError **error)
{
	const char *info = strstr(name, ":2,");
	g_autofree char *base =
	    info ? g_strndup(name, (gsize)(info - name)) : g_strdup(name);
	g_autofree char *to = g_strdup_printf("%s/%s:2,%c", incoming->cur, base, flag);

	if (rename(from, to) == 0)
		return true;
	/* Somebody else has moved it. */
	if (errno == ENOENT && access(from, F_OK) != 0)
		return true;
	if (errno == ENOENT && mkdir(incoming->cur, 0700) == 0 && rename(from, to) == 0)
		return true;
	return file_fail("cannot move to cur", from, PB_ERROR_TEMPORARY, error);
}

/*
 * Take one letter.
 *
 * @return false when the others have to wait, too
 */
static bool
take(struct incoming *incoming, const struct mailbox_sink *sink, const char *name,
    GError **error)
{
	g_autofree char *path = g_build_filename(incoming->fresh, name, NULL);
	struct mailbox_letter letter = {0};
	g_autoptr(GError) problem = NULL;
	g_autofree char *octets = read_letter(path, &letter.size, &problem);

	if (problem) {
		/* Told once; the others are taken. */
		if (g_hash_table_add(incoming->left_aside, g_strdup(name))) {
			sink->note(sink->data, problem);
			incoming->is_noted = true;
		}
		return true;
	}
	g_hash_table_remove(incoming->left_aside, name);
	/* Nothing in it: somebody has not written it yet, or could not. */
	if (!octets || !letter.size)
		return true;
	letter.raw = octets;
	if (sink->take(sink->data, &letter, &problem))
		return move(incoming, path, name, 'S', error);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(problem, PB_ERROR, PB_ERROR_LIMIT))
		return move(incoming, path, name, 'F', error);
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

/* ---- the folder ---- */

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names begin with the time of delivery. @return of char *, the oldest first */
static GPtrArray *
list_names(const struct incoming *incoming, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	DIR *folder = opendir(incoming->fresh);
	const struct dirent *entry;

	if (!folder) {
		file_fail("cannot open the folder", incoming->fresh, PB_ERROR_TEMPORARY,
		    error);
		return NULL;
	}
	while (names->len < BOUNDS_INCOMING_NAMES && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			g_ptr_array_add(names, g_strdup(entry->d_name));
	closedir(folder);
	g_ptr_array_sort(names, compare_names);
	return g_steal_pointer(&names);
}

/* Names that were left aside and are gone may be told again when they come back. */
static void
forget_gone(struct incoming *incoming, const GPtrArray *names)
{
	GHashTableIter iter;
	gpointer name;

	g_hash_table_iter_init(&iter, incoming->left_aside);
	while (g_hash_table_iter_next(&iter, &name, NULL))
		if (!g_ptr_array_find_with_equal_func(
		        (GPtrArray *)names, name, g_str_equal, NULL))
			g_hash_table_iter_remove(&iter);
}

/*
 * Take in all that is there.
 *
 * @param stop_fd  or -1
 * @return false when some has to wait, or the folder cannot be used
 */
static bool
look(struct incoming *incoming, const struct mailbox_sink *sink, int stop_fd,
    GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) names = list_names(incoming, error);

		if (!names)
			return false;
		forget_gone(incoming, names);
		for (unsigned i = 0; i < names->len && !is_stopped(stop_fd); i++)
			if (!take(incoming, sink, names->pdata[i], error))
				return false;
		/* Less than the bound was all there was. */
		if (names->len < BOUNDS_INCOMING_NAMES || is_stopped(stop_fd))
			return true;
	}
}

/* @return false: it is not there, or cannot be watched */
static bool
watch(const struct incoming *incoming, const char *path)
{
	return inotify_add_watch(incoming->inotify_fd, path, NEWS) >= 0;
}

/*
 * Watch `new`, or as much of the way there as exists.  Watches of before are given up:
 * under the same name there may be another folder now.
 */
static bool
watch_anew(struct incoming *incoming, GError **error)
{
	g_autofree char *path = g_strdup(incoming->fresh);

	if (incoming->inotify_fd >= 0)
		close(incoming->inotify_fd);
	incoming->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (incoming->inotify_fd < 0)
		return file_fail(
		    "cannot watch", incoming->fresh, PB_ERROR_TEMPORARY, error);
	while (!watch(incoming, path)) {
		char *above;

		/* No more watches: looking now and then has to do. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return file_fail(
			    "cannot watch", path, PB_ERROR_TEMPORARY, error);
		if (strcmp(path, "/") == 0)
			return true;
		above = g_path_get_dirname(path);
		g_free(path);
		path = above;
	}
	return true;
}

/* @return whether the watched folders themselves may be others now */
static bool
drain(const struct incoming *incoming)
{
	char buffer[16 * 1024]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	bool is_moved = false;
	ssize_t size;

	while ((size = read(incoming->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (const char *at = buffer; at < buffer + size;) {
			const struct inotify_event *event = (const void *)at;

			is_moved |=
			    (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED |
			                       IN_Q_OVERFLOW | IN_ISDIR)) != 0;
			at += sizeof(*event) + event->len;
		}
	}
	return is_moved;
}

/* Tell what has changed. @param problem  NULL: all is well */
static void
note(struct incoming *incoming, const struct mailbox_sink *sink, const GError *problem)
{
	bool is_wrong = problem || g_hash_table_size(incoming->left_aside);

	if (problem && !incoming->is_noted)
		sink->note(sink->data, problem);
	if (!is_wrong && incoming->is_noted)
		sink->note(sink->data, NULL);
	incoming->is_noted = is_wrong;
}

/* @return whether anything has come, or it is to end */
static bool
wait_for_news(const struct incoming *incoming, const struct mailbox_sink *sink,
    int stop_fd, int64_t wait_ms)
{
	struct pollfd fds[] = {
	    {.fd = stop_fd, .events = POLLIN},
	    {.fd = incoming->inotify_fd, .events = POLLIN},
	};
	int64_t end = g_get_monotonic_time() / 1000 + wait_ms;
	int count;

	do {
		int64_t left_ms = MAX(end - g_get_monotonic_time() / 1000, 0);

		count = poll(fds, G_N_ELEMENTS(fds), mailbox_rest(sink, left_ms));
	} while (count == 0 && g_get_monotonic_time() / 1000 < end);
	mailbox_rise(sink);
	return count != 0;
}

static bool
incoming_serve(struct mailbox *mailbox, const struct mailbox_sink *sink, int stop_fd,
    GError **error)
{
	struct incoming *incoming = (struct incoming *)mailbox;
	bool is_anew = true;

	while (!is_stopped(stop_fd)) {
		g_autoptr(GError) problem = NULL;

		/* First the watch, then the look: nothing comes between. */
		if (is_anew && !watch_anew(incoming, error))
			return false;
		is_anew = !look(incoming, sink, stop_fd, &problem);
		note(incoming, sink, problem);
		/* Nothing for so long: is it still the same folder? */
		if (!wait_for_news(
		        incoming, sink, stop_fd, problem ? AGAIN_MS : LOOK_MS) ||
		    drain(incoming))
			is_anew = true;
	}
	return true;
}

static bool
incoming_sweep(struct mailbox *mailbox, const struct mailbox_sink *sink, GError **error)
{
	return look((struct incoming *)mailbox, sink, -1, error);
}

static bool
incoming_probe(struct mailbox *mailbox, char **told, GError **error)
{
	const struct incoming *incoming = (struct incoming *)mailbox;
	g_autoptr(GPtrArray) names = list_names(incoming, error);

	if (!names)
		return false;
	/* What is stored is moved to cur. */
	if (access(incoming->fresh, W_OK) != 0)
		return file_fail("cannot write to the folder", incoming->fresh,
		    PB_ERROR_TEMPORARY, error);
	*told = g_strdup_printf("%s can be read; %u wait", incoming->path, names->len);
	return true;
}

static void
incoming_free(struct mailbox *mailbox)
{
	struct incoming *incoming = (struct incoming *)mailbox;

	if (incoming->inotify_fd >= 0)
		close(incoming->inotify_fd);
	g_hash_table_unref(incoming->left_aside);
	g_free(incoming->path);
	g_free(incoming->fresh);
	g_free(incoming->cur);
	g_free(incoming);
}

struct mailbox *
incoming_new(const char *path)
{
	struct incoming *incoming = g_new0(struct incoming, 1);

	incoming->mailbox = (struct mailbox){
	    .road = "maildir",
	    .serve = incoming_serve,
	    .sweep = incoming_sweep,
	    .probe = incoming_probe,
	    .free = incoming_free,
	};
	incoming->path = g_strdup(path);
	incoming->fresh = g_build_filename(path, "new", NULL);
	incoming->cur = g_build_filename(path, "cur", NULL);
	incoming->inotify_fd = -1;
	incoming->left_aside =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return &incoming->mailbox;
}
