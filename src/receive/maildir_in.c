/*
 * maildir_in.c - a Maildir into which the mail server delivers letters for us.
 */
#include "receive/maildir_in.h"

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

struct maildir_in {
	struct receiver mailbox;
	char *path, *fresh, *cur; /* the Maildir, its new, its cur */
	int inotify_fd;           /* or -1 */
	bool is_noted;            /* a problem was told */
	GHashTable *skipped; /* escaped names that the sink has recorded; or NULL */
	uint64_t n_handled;  /* files that were taken, or skipped for the first time */
};

static bool
is_stopped(int stop_fd)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};

	return stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* ---- one message ---- */

/* A file in new.  Its name can have any bytes: it is shown, and recorded, escaped. */
struct file {
	const char *name; /* borrowed */
	char *path;
	char *escaped; /* the name */
	char *shown;   /* the path, with that */
};

static void
file_init(struct file *file, const struct maildir_in *incoming, const char *name)
{
	file->name = name;
	file->path = g_build_filename(incoming->fresh, name, NULL);
	file->escaped = g_strescape(name, NULL);
	file->shown = g_build_filename(incoming->fresh, file->escaped, NULL);
}

static void
file_clear(struct file *file)
{
	g_free(file->path);
	g_free(file->escaped);
	g_free(file->shown);
}

/* Open a regular file. @return -1 without an error when it is gone */
static int
open_file(const struct file *file, struct stat *status, GError **error)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *wrong = NULL;

	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 && errno == ELOOP)
		wrong = "is a symbolic link";
	else if (fd < 0 || fstat(fd, status) != 0)
		file_set_error("cannot read", file->shown, PB_ERROR_TEMPORARY, error);
	else if (!S_ISREG(status->st_mode))
		wrong = S_ISDIR(status->st_mode) ? "is a directory"
		                                 : "is not a regular file";
	else
		return fd;
	if (wrong)
		g_set_error(
		    error, PB_ERROR, PB_ERROR_INPUT, "'%s' %s", file->shown, wrong);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* @param size  room on call, bytes read on return */
static bool
read_file(const struct file *file, int fd, char *bytes, size_t *size, GError **error)
{
	size_t got = 0;
	ssize_t part = 1;

	while (part > 0 && got < *size) {
		part = read(fd, bytes + got, *size - got);
		if (part > 0)
			got += (size_t)part;
		else if (part < 0 && errno == EINTR)
			part = 1;
	}
	*size = got;
	return part >= 0 ||
	       file_set_error("cannot read", file->shown, PB_ERROR_TEMPORARY, error);
}

/* Leave it in new, and record that once. @param head  NULL: not known */
static bool
skip(struct maildir_in *incoming, const struct receiver_sink *sink,
    const struct file *file, const struct receive_mail *head, const char *reason,
    GError **error)
{
	if (g_hash_table_contains(incoming->skipped, file->escaped))
		return true;
	if (!sink->skip(sink->data, file->escaped, head, reason, error))
		return false;
	incoming->n_handled++;
	g_hash_table_add(incoming->skipped, g_strdup(file->escaped));
	return true;
}

/* It was taken, or is gone. */
static bool
unskip(struct maildir_in *incoming, const struct receiver_sink *sink,
    const char *escaped, GError **error)
{
	if (!g_hash_table_contains(incoming->skipped, escaped))
		return true;
	if (!sink->unskip(sink->data, escaped, error))
		return false;
	g_hash_table_remove(incoming->skipped, escaped);
	return true;
}

static bool
skip_large(struct maildir_in *incoming, const struct receiver_sink *sink,
    const struct file *file, int fd, size_t size, GError **error)
{
	g_autofree char *reason =
	    g_strdup_printf("'%s' has %zu bytes, more than the %d that are read",
	        file->shown, size, BOUNDS_MAIL_BYTES);
	g_autofree char *bytes = g_malloc(BOUNDS_MAIL_HEADER_BYTES);
	struct receive_mail head = {
	    .raw = bytes, .size = BOUNDS_MAIL_HEADER_BYTES, .full_size = size};

	if (g_hash_table_contains(incoming->skipped, file->escaped))
		return true;
	if (!read_file(file, fd, bytes, &head.size, NULL))
		head.size = 0;
	head.size = mailbox_measure_header(bytes, head.size);
	return skip(incoming, sink, file, head.size ? &head : NULL, reason, error);
}

/* A name in new has no flags yet; what a confused program put there goes. */
static bool
move(const struct maildir_in *incoming, const struct file *file, GError **error)
{
	const char *info = strstr(file->name, ":2,");
	g_autofree char *base = info ? g_strndup(file->name, (gsize)(info - file->name))
	                             : g_strdup(file->name);
	g_autofree char *to = g_strdup_printf("%s/%s:2,S", incoming->cur, base);

	if (rename(file->path, to) == 0)
		return true;
	/* Somebody else has moved it. */
	if (errno == ENOENT && access(file->path, F_OK) != 0)
		return true;
	if (errno == ENOENT && mkdir(incoming->cur, 0700) == 0 &&
	    rename(file->path, to) == 0)
		return true;
	return file_set_error(
	    "cannot move to cur", file->shown, PB_ERROR_TEMPORARY, error);
}

/* Only what is stored is moved. */
static bool
hand(struct maildir_in *incoming, const struct receiver_sink *sink,
    const struct file *file, const struct receive_mail *mail, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (sink->take(sink->data, mail, &problem)) {
		incoming->n_handled++;
		return unskip(incoming, sink, file->escaped, error) &&
		       move(incoming, file, error);
	}
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(problem, PB_ERROR, PB_ERROR_LIMIT))
		return skip(incoming, sink, file, NULL, problem->message, error);
	return pb_error_forward(error, &problem);
}

static bool
take_open(struct maildir_in *incoming, const struct receiver_sink *sink,
    const struct file *file, int fd, size_t size, GError **error)
{
	g_autofree char *bytes = NULL;
	struct receive_mail mail = {.size = size};
	g_autoptr(GError) problem = NULL;

	/* Nothing in it: somebody has not written it yet, or could not. */
	if (size == 0)
		return true;
	if (size > BOUNDS_MAIL_BYTES)
		return skip_large(incoming, sink, file, fd, size, error);
	mail.raw = bytes = g_malloc(size);
	if (!read_file(file, fd, bytes, &mail.size, &problem))
		return skip(incoming, sink, file, NULL, problem->message, error);
	return hand(incoming, sink, file, &mail, error);
}

/* @return false when the others have to wait, too */
static bool
take(struct maildir_in *incoming, const struct receiver_sink *sink, const char *name,
    GError **error)
{
	__attribute__((cleanup(file_clear))) struct file file = {0};
	g_autoptr(GError) problem = NULL;
	struct stat status;
	bool is_ok;
	int fd;

	file_init(&file, incoming, name);
	fd = open_file(&file, &status, &problem);
	if (fd < 0)
		return !problem ||
		       skip(incoming, sink, &file, NULL, problem->message, error);
	is_ok = take_open(incoming, sink, &file, fd, (size_t)status.st_size, error);
	close(fd);
	return is_ok;
}

/* ---- the folder ---- */

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_skipped(const struct maildir_in *incoming, const char *name)
{
	g_autofree char *escaped = g_strescape(name, NULL);

	return incoming->skipped && g_hash_table_contains(incoming->skipped, escaped);
}

/*
 * Names begin with the time of delivery.
 *
 * @param is_whole  set: false when there are more than BOUNDS_INCOMING_NAMES, those
 *                  left out that are skipped
 * @return of char *, the oldest first
 */
static GPtrArray *
list_names(const struct maildir_in *incoming, bool *is_whole, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	DIR *folder = opendir(incoming->fresh);
	const struct dirent *entry = NULL;
	unsigned n_open = 0;

	if (!folder) {
		file_set_error("cannot open the folder", incoming->fresh,
		    PB_ERROR_TEMPORARY, error);
		return NULL;
	}
	while (n_open < BOUNDS_INCOMING_NAMES && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		n_open += !is_skipped(incoming, entry->d_name);
		g_ptr_array_add(names, g_strdup(entry->d_name));
	}
	*is_whole = !entry;
	closedir(folder);
	g_ptr_array_sort(names, compare_names);
	return g_steal_pointer(&names);
}

static bool
load_skipped(
    struct maildir_in *incoming, const struct receiver_sink *sink, GError **error)
{
	g_autoptr(GPtrArray) names = NULL;

	if (incoming->skipped)
		return true;
	names = sink->load_skipped(sink->data, error);
	if (!names)
		return false;
	incoming->skipped =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (unsigned i = 0; i < names->len; i++)
		g_hash_table_add(incoming->skipped, g_strdup(names->pdata[i]));
	return true;
}

/* @param names  all that there are */
static bool
unskip_gone(struct maildir_in *incoming, const struct receiver_sink *sink,
    const GPtrArray *names, GError **error)
{
	g_autoptr(GHashTable) present =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter iter;
	gpointer escaped;

	if (!g_hash_table_size(incoming->skipped))
		return true;
	for (unsigned i = 0; i < names->len; i++)
		g_hash_table_add(present, g_strescape(names->pdata[i], NULL));
	g_hash_table_iter_init(&iter, incoming->skipped);
	while (g_hash_table_iter_next(&iter, &escaped, NULL)) {
		if (g_hash_table_contains(present, escaped))
			continue;
		if (!sink->unskip(sink->data, escaped, error))
			return false;
		g_hash_table_iter_remove(&iter);
	}
	return true;
}

/*
 * Take in all that is there.
 *
 * @param stop_fd  or -1
 * @return false when some has to wait, or the folder cannot be used
 */
static bool
look(struct maildir_in *incoming, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	bool is_whole = false;
	uint64_t n_before;

	if (!load_skipped(incoming, sink, error))
		return false;
	do {
		g_autoptr(GPtrArray) names = list_names(incoming, &is_whole, error);

		if (!names || (is_whole && !unskip_gone(incoming, sink, names, error)))
			return false;
		n_before = incoming->n_handled;
		for (unsigned i = 0; i < names->len && !is_stopped(stop_fd); i++)
			if (!take(incoming, sink, names->pdata[i], error))
				return false;
	} while (!is_whole && incoming->n_handled > n_before && !is_stopped(stop_fd));
	return true;
}

/* @return false: it is not there, or cannot be watched */
static bool
watch(const struct maildir_in *incoming, const char *path)
{
	return inotify_add_watch(incoming->inotify_fd, path, NEWS) >= 0;
}

/*
 * Watch `new`, or as much of the way there as exists.  Watches of before are given up:
 * under the same name there may be another folder now.
 */
static bool
watch_anew(struct maildir_in *incoming, GError **error)
{
	g_autofree char *path = g_strdup(incoming->fresh);

	if (incoming->inotify_fd >= 0)
		close(incoming->inotify_fd);
	incoming->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (incoming->inotify_fd < 0)
		return file_set_error(
		    "cannot watch", incoming->fresh, PB_ERROR_TEMPORARY, error);
	while (!watch(incoming, path)) {
		char *above;

		/* No more watches: looking now and then has to do. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return file_set_error(
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
drain(const struct maildir_in *incoming)
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
note(struct maildir_in *incoming, const struct receiver_sink *sink,
    const GError *problem)
{
	if (problem && !incoming->is_noted)
		sink->note(sink->data, problem);
	if (!problem && incoming->is_noted)
		sink->note(sink->data, NULL);
	incoming->is_noted = problem != NULL;
}

/* @return whether anything has come, or it is to end */
static bool
wait_for_news(const struct maildir_in *incoming, const struct receiver_sink *sink,
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

		count = poll(fds, G_N_ELEMENTS(fds), receiver_pause(sink, left_ms));
	} while (count == 0 && g_get_monotonic_time() / 1000 < end);
	receiver_wake(sink);
	return count != 0;
}

static bool
incoming_serve(struct receiver *mailbox, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct maildir_in *incoming = (struct maildir_in *)mailbox;
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
incoming_sweep(
    struct receiver *mailbox, const struct receiver_sink *sink, GError **error)
{
	return look((struct maildir_in *)mailbox, sink, -1, error);
}

static bool
maildir_in_probe(struct receiver *mailbox, char **reported, GError **error)
{
	const struct maildir_in *incoming = (struct maildir_in *)mailbox;
	bool is_whole;
	g_autoptr(GPtrArray) names = list_names(incoming, &is_whole, error);

	if (!names)
		return false;
	/* What is stored is moved to cur. */
	if (access(incoming->fresh, W_OK) != 0)
		return file_set_error("cannot write to the folder", incoming->fresh,
		    PB_ERROR_TEMPORARY, error);
	*reported =
	    g_strdup_printf("%s can be read; %u wait", incoming->path, names->len);
	return true;
}

static void
incoming_free(struct receiver *mailbox)
{
	struct maildir_in *incoming = (struct maildir_in *)mailbox;

	if (incoming->inotify_fd >= 0)
		close(incoming->inotify_fd);
	if (incoming->skipped)
		g_hash_table_unref(incoming->skipped);
	g_free(incoming->path);
	g_free(incoming->fresh);
	g_free(incoming->cur);
	g_free(incoming);
}

struct receiver *
maildir_in_new(const char *path)
{
	struct maildir_in *incoming = g_new0(struct maildir_in, 1);

	incoming->mailbox = (struct receiver){
	    .receiver = "maildir",
	    .serve = incoming_serve,
	    .sweep = incoming_sweep,
	    .probe = maildir_in_probe,
	    .free = incoming_free,
	};
	incoming->path = g_strdup(path);
	incoming->fresh = g_build_filename(path, "new", NULL);
	incoming->cur = g_build_filename(path, "cur", NULL);
	incoming->inotify_fd = -1;
	return &incoming->mailbox;
}
