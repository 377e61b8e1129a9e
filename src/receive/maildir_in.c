/*
 * maildir_in.c - receiver for a Maildir that the mail server delivers to.
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
#include "base/text.h"

/* Poll interval without inotify events: a parent directory may have been replaced. */
#define POLL_MS (60 * 1000)

/* Retry delay after a postponed message or a failing directory. */
#define RETRY_MS (30 * 1000)

/* A delivery is a rename or a link; the rest concerns the watched directory itself. */
#define WATCH_EVENTS \
	(IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct maildir_in {
	struct receiver receiver;
	char *path, *new_path, *cur; /* the Maildir, its new and cur */
	int inotify_fd;
	bool is_reported;    /* a problem has been reported */
	GHashTable *skipped; /* escaped names recorded by the sink; NULL: not loaded */
	uint64_t n_handled;  /* files stored, or skipped for the first time */
};

static bool
is_stopped(int stop_fd)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};

	return stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* ---- One message ---- */

/*
 * A file in `new`. Its name can contain any bytes: it is reported and recorded escaped.
 */
struct file {
	const char *name; /* borrowed */
	char *path;
	char *escaped;      /* the name */
	char *display_path; /* path with the escaped name */
};

static void
file_init(struct file *file, const struct maildir_in *maildir, const char *name)
{
	file->name = name;
	file->path = g_build_filename(maildir->new_path, name, NULL);
	file->escaped = g_strescape(name, NULL);
	file->display_path = g_build_filename(maildir->new_path, file->escaped, NULL);
}

static void
file_clear(struct file *file)
{
	g_free(file->path);
	g_free(file->escaped);
	g_free(file->display_path);
}

/* Open a regular file. @return -1 without an error if it is gone */
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
		file_set_error(
		    "cannot read", file->display_path, PB_ERROR_TEMPORARY, error);
	else if (!S_ISREG(status->st_mode))
		wrong = S_ISDIR(status->st_mode) ? "is a directory"
		                                 : "is not a regular file";
	else
		return fd;
	if (wrong)
		pb_fail(error, PB_ERROR_INPUT, "'%s' %s", file->display_path, wrong);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* @param size  in: capacity, out: bytes read */
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
	return part >= 0 || file_set_error("cannot read", file->display_path,
	                        PB_ERROR_TEMPORARY, error);
}

/* Leave it in `new` and record that once. @param head  NULL if unknown */
static bool
skip(struct maildir_in *maildir, const struct receiver_sink *sink,
    const struct file *file, const struct receive_mail *head, const char *reason,
    GError **error)
{
	if (g_hash_table_contains(maildir->skipped, file->escaped))
		return true;
	if (!sink->skip(sink->data, file->escaped, head, reason, error))
		return false;
	maildir->n_handled++;
	g_hash_table_add(maildir->skipped, g_strdup(file->escaped));
	return true;
}

/* Forget a skipped file that was received or removed. */
static bool
unskip(struct maildir_in *maildir, const struct receiver_sink *sink,
    const char *escaped, GError **error)
{
	if (!g_hash_table_contains(maildir->skipped, escaped))
		return true;
	if (!sink->unskip(sink->data, escaped, error))
		return false;
	g_hash_table_remove(maildir->skipped, escaped);
	return true;
}

static bool
skip_large(struct maildir_in *maildir, const struct receiver_sink *sink,
    const struct file *file, int fd, size_t size, GError **error)
{
	g_autofree char *reason = g_strdup_printf("'%s' has %zu bytes, the limit is %d",
	    file->display_path, size, BOUNDS_MAIL_BYTES);
	g_autofree char *bytes = g_malloc(BOUNDS_MAIL_HEADER_BYTES);
	struct receive_mail head = {
	    .raw = bytes, .size = BOUNDS_MAIL_HEADER_BYTES, .full_size = size};

	if (g_hash_table_contains(maildir->skipped, file->escaped))
		return true;
	if (!read_file(file, fd, bytes, &head.size, NULL))
		head.size = 0;
	head.size = receiver_measure_header(bytes, head.size);
	return skip(maildir, sink, file, head.size ? &head : NULL, reason, error);
}

/* Names in `new` have no flags; remove any found. */
static bool
move(const struct maildir_in *maildir, const struct file *file, GError **error)
{
	const char *info = strstr(file->name, ":2,");
	g_autofree char *base = info ? g_strndup(file->name, (gsize)(info - file->name))
	                             : g_strdup(file->name);
	g_autofree char *to = g_strdup_printf("%s/%s:2,S", maildir->cur, base);

	if (rename(file->path, to) == 0)
		return true;
	/* Moved by another process. */
	if (errno == ENOENT && access(file->path, F_OK) != 0)
		return true;
	if (errno == ENOENT && mkdir(maildir->cur, 0700) == 0 &&
	    rename(file->path, to) == 0)
		return true;
	return file_set_error(
	    "cannot move to cur", file->display_path, PB_ERROR_TEMPORARY, error);
}

static bool
deliver(struct maildir_in *maildir, const struct receiver_sink *sink,
    const struct file *file, const struct receive_mail *mail, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (sink->take(sink->data, mail, &problem)) {
		maildir->n_handled++;
		return unskip(maildir, sink, file->escaped, error) &&
		       move(maildir, file, error);
	}
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(problem, PB_ERROR, PB_ERROR_LIMIT))
		return skip(maildir, sink, file, NULL, problem->message, error);
	return pb_error_forward(error, &problem);
}

static bool
take_open(struct maildir_in *maildir, const struct receiver_sink *sink,
    const struct file *file, int fd, size_t size, GError **error)
{
	g_autofree char *bytes = NULL;
	struct receive_mail mail = {.size = size};
	g_autoptr(GError) problem = NULL;

	/* Empty: perhaps still being written. */
	if (size == 0)
		return true;
	if (size > BOUNDS_MAIL_BYTES)
		return skip_large(maildir, sink, file, fd, size, error);
	mail.raw = bytes = g_malloc(size);
	if (!read_file(file, fd, bytes, &mail.size, &problem))
		return skip(maildir, sink, file, NULL, problem->message, error);
	return deliver(maildir, sink, file, &mail, error);
}

/* @return false if the other messages have to wait, too */
static bool
take(struct maildir_in *maildir, const struct receiver_sink *sink, const char *name,
    GError **error)
{
	pb_local(file) file = {0};
	g_autoptr(GError) problem = NULL;
	struct stat status;
	bool is_ok;
	int fd;

	file_init(&file, maildir, name);
	fd = open_file(&file, &status, &problem);
	if (fd < 0)
		return !problem ||
		       skip(maildir, sink, &file, NULL, problem->message, error);
	is_ok = take_open(maildir, sink, &file, fd, (size_t)status.st_size, error);
	close(fd);
	return is_ok;
}

/* ---- The directory ---- */

static bool
is_skipped(const struct maildir_in *maildir, const char *name)
{
	g_autofree char *escaped = g_strescape(name, NULL);

	return maildir->skipped && g_hash_table_contains(maildir->skipped, escaped);
}

/*
 * List the messages. Names begin with the time of delivery.
 *
 * @param is_whole  set: false if there are more than BOUNDS_INCOMING_NAMES without
 *                  skipped ones
 * @return array of char *, oldest first
 */
static GPtrArray *
list_names(const struct maildir_in *maildir, bool *is_whole, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	DIR *dir = opendir(maildir->new_path);
	const struct dirent *entry = NULL;
	unsigned n_open = 0;

	if (!dir) {
		file_set_error("cannot open the directory", maildir->new_path,
		    PB_ERROR_TEMPORARY, error);
		return NULL;
	}
	while (n_open < BOUNDS_INCOMING_NAMES && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		n_open += !is_skipped(maildir, entry->d_name);
		g_ptr_array_add(names, g_strdup(entry->d_name));
	}
	*is_whole = !entry;
	closedir(dir);
	g_ptr_array_sort(names, text_compare_pointers);
	return g_steal_pointer(&names);
}

static bool
load_skipped(
    struct maildir_in *maildir, const struct receiver_sink *sink, GError **error)
{
	g_autoptr(GPtrArray) names = NULL;

	if (maildir->skipped)
		return true;
	names = sink->load_skipped(sink->data, error);
	if (!names)
		return false;
	maildir->skipped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (unsigned i = 0; i < names->len; i++)
		g_hash_table_add(maildir->skipped, g_strdup(names->pdata[i]));
	return true;
}

/* @param names  all files in `new` */
static bool
unskip_gone(struct maildir_in *maildir, const struct receiver_sink *sink,
    const GPtrArray *names, GError **error)
{
	g_autoptr(GHashTable) present =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter iter;
	gpointer escaped;

	if (!g_hash_table_size(maildir->skipped))
		return true;
	for (unsigned i = 0; i < names->len; i++)
		g_hash_table_add(present, g_strescape(names->pdata[i], NULL));
	g_hash_table_iter_init(&iter, maildir->skipped);
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
 * Receive all messages.
 *
 * @param stop_fd  or -1
 * @return false if some have to wait, or the directory cannot be used
 */
static bool
poll_once(struct maildir_in *maildir, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	bool is_whole = false;
	uint64_t n_before;

	if (!load_skipped(maildir, sink, error))
		return false;
	do {
		g_autoptr(GPtrArray) names = list_names(maildir, &is_whole, error);

		if (!names || (is_whole && !unskip_gone(maildir, sink, names, error)))
			return false;
		n_before = maildir->n_handled;
		for (unsigned i = 0; i < names->len && !is_stopped(stop_fd); i++)
			if (!take(maildir, sink, names->pdata[i], error))
				return false;
	} while (!is_whole && maildir->n_handled > n_before && !is_stopped(stop_fd));
	return true;
}

/* @return false if it does not exist or cannot be watched */
static bool
watch(const struct maildir_in *maildir, const char *path)
{
	return inotify_add_watch(maildir->inotify_fd, path, WATCH_EVENTS) >= 0;
}

/* Watch `new` or its nearest existing ancestor. Earlier watches are dropped: the path
 * may name another directory now. */
static bool
watch_path(struct maildir_in *maildir, GError **error)
{
	g_autofree char *path = g_strdup(maildir->new_path);

	if (maildir->inotify_fd >= 0)
		close(maildir->inotify_fd);
	maildir->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (maildir->inotify_fd < 0)
		return file_set_error(
		    "cannot watch", maildir->new_path, PB_ERROR_TEMPORARY, error);
	while (!watch(maildir, path)) {
		char *above;

		/* Out of inotify watches: polling remains. */
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

/* @return whether a watched directory may have been replaced */
static bool
drain(const struct maildir_in *maildir)
{
	char buffer[16 * 1024]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	bool is_moved = false;
	ssize_t size;

	while ((size = read(maildir->inotify_fd, buffer, sizeof(buffer))) > 0) {
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

/* Report a change of state. @param problem  NULL: working */
static void
report(
    struct maildir_in *maildir, const struct receiver_sink *sink, const GError *problem)
{
	if (problem && !maildir->is_reported)
		sink->report(sink->data, problem);
	if (!problem && maildir->is_reported)
		sink->report(sink->data, NULL);
	maildir->is_reported = problem != NULL;
}

/* @return whether there was an event, or stop_fd is readable */
static bool
wait_for_events(const struct maildir_in *maildir, const struct receiver_sink *sink,
    int stop_fd, int64_t wait_ms)
{
	struct pollfd fds[] = {
	    {.fd = stop_fd, .events = POLLIN},
	    {.fd = maildir->inotify_fd, .events = POLLIN},
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
maildir_run(struct receiver *receiver, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct maildir_in *maildir = (struct maildir_in *)receiver;
	bool must_watch = true;

	while (!is_stopped(stop_fd)) {
		g_autoptr(GError) problem = NULL;

		/* Watch before listing, so that no delivery is missed. */
		if (must_watch && !watch_path(maildir, error))
			return false;
		must_watch = !poll_once(maildir, sink, stop_fd, &problem);
		report(maildir, sink, problem);
		/* No event for a long time: the directory may have been replaced. */
		if (!wait_for_events(
		        maildir, sink, stop_fd, problem ? RETRY_MS : POLL_MS) ||
		    drain(maildir))
			must_watch = true;
	}
	return true;
}

static bool
maildir_poll_once(
    struct receiver *receiver, const struct receiver_sink *sink, GError **error)
{
	return poll_once((struct maildir_in *)receiver, sink, -1, error);
}

static bool
maildir_in_check(struct receiver *receiver, char **reported, GError **error)
{
	const struct maildir_in *maildir = (struct maildir_in *)receiver;
	bool is_whole;
	g_autoptr(GPtrArray) names = list_names(maildir, &is_whole, error);

	if (!names)
		return false;
	/* Stored messages are moved to cur. */
	if (access(maildir->new_path, W_OK) != 0)
		return file_set_error("cannot write to the directory",
		    maildir->new_path, PB_ERROR_TEMPORARY, error);
	*reported =
	    g_strdup_printf("%s is readable, %u waiting", maildir->path, names->len);
	return true;
}

static void
maildir_free(struct receiver *receiver)
{
	struct maildir_in *maildir = (struct maildir_in *)receiver;

	if (maildir->inotify_fd >= 0)
		close(maildir->inotify_fd);
	if (maildir->skipped)
		g_hash_table_unref(maildir->skipped);
	g_free(maildir->path);
	g_free(maildir->new_path);
	g_free(maildir->cur);
	g_free(maildir);
}

struct receiver *
maildir_in_new(const char *path)
{
	struct maildir_in *maildir = g_new0(struct maildir_in, 1);

	maildir->receiver = (struct receiver){
	    .kind = "maildir",
	    .run = maildir_run,
	    .poll_once = maildir_poll_once,
	    .check = maildir_in_check,
	    .free = maildir_free,
	};
	maildir->path = g_strdup(path);
	maildir->new_path = g_build_filename(path, "new", NULL);
	maildir->cur = g_build_filename(path, "cur", NULL);
	maildir->inotify_fd = -1;
	return &maildir->receiver;
}
