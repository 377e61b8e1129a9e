/*
 * maildir.c - delivery into a Maildir.
 */
#include "transport/maildir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

enum subdir { SUBDIR_TMP, SUBDIR_NEW, SUBDIR_CUR, N_SUBDIRS };

static const char *const subdir_names[N_SUBDIRS] = {"tmp", "new", "cur"};

/* Maximum time for file operations on a failing disk, s. */
#define WAIT_S (10 * 60)

struct maildir {
	struct transport transport;
	char *path;
	bool is_open;
	int subdirs[N_SUBDIRS]; /* file descriptors, or -1 */
};

/* Create a missing directory and sync its parent. */
static bool
make_directory(const char *path, GError **error)
{
	g_autofree char *above = g_path_get_dirname(path);

	if (mkdir(path, 0700) == 0)
		return file_sync_directory(above, PB_ERROR_TEMPORARY, error);
	return errno == EEXIST || file_set_error("cannot create directory", path,
	                              PB_ERROR_TEMPORARY, error);
}

static void
close_subdirs(struct maildir *maildir)
{
	for (size_t i = 0; i < N_SUBDIRS; i++) {
		if (maildir->subdirs[i] >= 0)
			close(maildir->subdirs[i]);
		maildir->subdirs[i] = -1;
	}
	maildir->is_open = false;
}

static bool
open_subdirs(struct maildir *maildir, GError **error)
{
	if (maildir->is_open)
		return true;
	if (!make_directory(maildir->path, error))
		return false;
	for (size_t i = 0; i < N_SUBDIRS; i++) {
		g_autofree char *path =
		    g_build_filename(maildir->path, subdir_names[i], NULL);

		if (!make_directory(path, error))
			return false;
		maildir->subdirs[i] =
		    open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (maildir->subdirs[i] < 0)
			return file_set_error(
			    "cannot open directory", path, PB_ERROR_TEMPORARY, error);
	}
	maildir->is_open = true;
	return true;
}

/* Without slash, colon or leading dot. */
static char *
format_name(const char *id)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, id, -1);

	return g_strdup_printf("paperboy.%.40s", sum);
}

/* Search cur/ for the name, with or without flags. */
static bool
find_in_cur(struct maildir *maildir, const char *name, bool *is_found, GError **error)
{
	size_t n = strlen(name);
	int fd = openat(
	    maildir->subdirs[SUBDIR_CUR], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *subdir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool is_there = false;

	if (!subdir) {
		file_set_error(
		    "cannot read directory", maildir->path, PB_ERROR_TEMPORARY, error);
		if (fd >= 0)
			close(fd);
		return false;
	}
	errno = 0;
	while (!is_there && (entry = readdir(subdir)))
		is_there = strncmp(entry->d_name, name, n) == 0 &&
		           (entry->d_name[n] == '\0' || entry->d_name[n] == ':');
	if (!is_there && errno != 0) {
		file_set_error(
		    "cannot read directory", maildir->path, PB_ERROR_TEMPORARY, error);
		closedir(subdir);
		return false;
	}
	closedir(subdir);
	*is_found = is_there;
	return true;
}

static bool
write_file(int fd, const GString *file)
{
	size_t done = 0;

	while (done < file->len) {
		ssize_t n = write(fd, file->str + done, file->len - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) == 0;
}

/* Replaces an incomplete file of an interrupted delivery. */
static bool
store_tmp(
    struct maildir *maildir, const char *name, const GString *file, GError **error)
{
	int subdir = maildir->subdirs[SUBDIR_TMP];
	bool is_stored;
	int fd;

	if (unlinkat(subdir, name, 0) < 0 && errno != ENOENT)
		return file_set_error("cannot remove old file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	fd = openat(
	    subdir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return file_set_error("cannot create file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	is_stored = write_file(fd, file);
	if (!is_stored)
		file_set_error("cannot write file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	if (close(fd) < 0 && is_stored)
		is_stored = file_set_error("cannot write file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	if (!is_stored)
		unlinkat(subdir, name, 0);
	return is_stored;
}

/* link() never replaces: an existing name in new/ is the same message. */
static bool
store(struct maildir *maildir, const char *name, const GString *file, bool *is_new,
    GError **error)
{
	const int *subdirs = maildir->subdirs;
	bool is_read = false, is_linked;

	if (!find_in_cur(maildir, name, &is_read, error))
		return false;
	if (is_read) {
		/* Left by a delivery interrupted after link(). */
		unlinkat(subdirs[SUBDIR_TMP], name, 0);
		*is_new = false;
		return true;
	}
	if (!store_tmp(maildir, name, file, error))
		return false;
	is_linked =
	    linkat(subdirs[SUBDIR_TMP], name, subdirs[SUBDIR_NEW], name, 0) == 0;
	if (!is_linked && errno != EEXIST) {
		file_set_error("cannot move file to new of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
		unlinkat(subdirs[SUBDIR_TMP], name, 0);
		return false;
	}
	unlinkat(subdirs[SUBDIR_TMP], name, 0);
	/* Also for a file linked by an interrupted delivery. */
	if (fsync(subdirs[SUBDIR_NEW]) < 0)
		return file_set_error(
		    "cannot sync new of", maildir->path, PB_ERROR_TEMPORARY, error);
	*is_new = is_linked;
	return true;
}

static void
maildir_deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct maildir *maildir = (struct maildir *)transport;
	g_autoptr(GString) file = g_string_new(NULL);
	g_autofree char *name = format_name(envelope->id);
	g_autoptr(GError) error = NULL;
	bool is_new = false;

	if (!envelope_check_addresses(envelope, &error)) {
		result->outcome = DELIVERY_FAILED;
		result->text = g_strdup(error->message);
		return;
	}
	g_string_printf(file, "Return-Path: <%s>\nDelivered-To: %s\n", envelope->sender,
	    envelope->recipient);
	if (!envelope_format_file(envelope, file, &error)) {
		result->outcome = DELIVERY_FAILED;
		result->text = g_strdup(error->message);
		return;
	}
	if (!open_subdirs(maildir, &error) ||
	    !store(maildir, name, file, &is_new, &error)) {
		close_subdirs(maildir);
		result->outcome = DELIVERY_DEFERRED;
		result->scope = DELIVERY_SCOPE_RELAY;
		result->text = g_strdup(error->message);
		return;
	}
	result->outcome = DELIVERY_SENT;
	result->text = g_strdup_printf(
	    "%s %s", is_new ? "stored as" : "was already stored as", name);
}

static void
maildir_close(struct transport *transport)
{
	close_subdirs((struct maildir *)transport);
}

static void
maildir_free(struct transport *transport)
{
	struct maildir *maildir = (struct maildir *)transport;

	g_free(maildir->path);
	g_free(maildir);
}

struct transport *
transport_maildir_new(const char *path)
{
	static const struct transport_ops ops = {
	    .deliver = maildir_deliver,
	    .close = maildir_close,
	    .free = maildir_free,
	};
	struct maildir *maildir = g_new0(struct maildir, 1);

	maildir->transport.ops = &ops;
	maildir->transport.wait_s = WAIT_S;
	maildir->path = g_strdup(path);
	for (size_t i = 0; i < N_SUBDIRS; i++)
		maildir->subdirs[i] = -1;
	return &maildir->transport;
}
