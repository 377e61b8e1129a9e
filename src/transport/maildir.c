/*
 * maildir.c - delivery into a Maildir, as a local delivery agent does it.
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

enum folder { FOLDER_TMP, FOLDER_NEW, FOLDER_CUR, N_FOLDERS };

static const char *const folder_names[N_FOLDERS] = {"tmp", "new", "cur"};

/* There is no time-out of a file: what a disk takes that is about to fail, s. */
#define WAIT_S (10 * 60)

struct maildir {
	struct transport transport;
	char *path;
	bool is_open;
	int folders[N_FOLDERS]; /* descriptors, or -1 */
};

/* Make a folder that is missing, and its entry in the one above durable. */
static bool
make_folder(const char *path, GError **error)
{
	g_autofree char *above = g_path_get_dirname(path);

	if (mkdir(path, 0700) == 0)
		return file_sync_directory(above, PB_ERROR_TEMPORARY, error);
	return errno == EEXIST ||
	       file_set_error("cannot make folder", path, PB_ERROR_TEMPORARY, error);
}

static void
close_folders(struct maildir *maildir)
{
	for (size_t i = 0; i < N_FOLDERS; i++) {
		if (maildir->folders[i] >= 0)
			close(maildir->folders[i]);
		maildir->folders[i] = -1;
	}
	maildir->is_open = false;
}

static bool
open_folders(struct maildir *maildir, GError **error)
{
	if (maildir->is_open)
		return true;
	if (!make_folder(maildir->path, error))
		return false;
	for (size_t i = 0; i < N_FOLDERS; i++) {
		g_autofree char *path =
		    g_build_filename(maildir->path, folder_names[i], NULL);

		if (!make_folder(path, error))
			return false;
		maildir->folders[i] =
		    open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (maildir->folders[i] < 0)
			return file_set_error(
			    "cannot open folder", path, PB_ERROR_TEMPORARY, error);
	}
	maildir->is_open = true;
	return true;
}

/* No slash, colon or leading dot, whatever the id has. */
static char *
format_name(const char *id)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, id, -1);

	return g_strdup_printf("paperboy.%.40s", sum);
}

/* Look for the name, or the name with flags behind a colon. */
static bool
find_read(struct maildir *maildir, const char *name, bool *is_found, GError **error)
{
	size_t n = strlen(name);
	int fd = openat(
	    maildir->folders[FOLDER_CUR], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool is_there = false;

	if (!folder) {
		file_set_error(
		    "cannot read folder", maildir->path, PB_ERROR_TEMPORARY, error);
		if (fd >= 0)
			close(fd);
		return false;
	}
	errno = 0;
	while (!is_there && (entry = readdir(folder)))
		is_there = strncmp(entry->d_name, name, n) == 0 &&
		           (entry->d_name[n] == '\0' || entry->d_name[n] == ':');
	if (!is_there && errno != 0) {
		file_set_error(
		    "cannot read folder", maildir->path, PB_ERROR_TEMPORARY, error);
		closedir(folder);
		return false;
	}
	closedir(folder);
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

/* What a delivery that was killed left in tmp/ is not whole, and makes room. */
static bool
store_tmp(
    struct maildir *maildir, const char *name, const GString *file, GError **error)
{
	int folder = maildir->folders[FOLDER_TMP];
	bool is_stored;
	int fd;

	if (unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		return file_set_error("cannot remove old file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	fd = openat(
	    folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return file_set_error("cannot make file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	is_stored = write_file(fd, file);
	if (!is_stored)
		file_set_error("cannot write file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	if (close(fd) < 0 && is_stored)
		is_stored = file_set_error("cannot write file in tmp of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
	if (!is_stored)
		unlinkat(folder, name, 0);
	return is_stored;
}

/* link() never replaces: a name that is in new/ already is the same message. */
static bool
store(struct maildir *maildir, const char *name, const GString *file, bool *is_new,
    GError **error)
{
	const int *folders = maildir->folders;
	bool is_read = false, is_linked;

	if (!find_read(maildir, name, &is_read, error))
		return false;
	if (is_read) {
		/* Of a delivery that was killed once its message was in new/. */
		unlinkat(folders[FOLDER_TMP], name, 0);
		*is_new = false;
		return true;
	}
	if (!store_tmp(maildir, name, file, error))
		return false;
	is_linked =
	    linkat(folders[FOLDER_TMP], name, folders[FOLDER_NEW], name, 0) == 0;
	if (!is_linked && errno != EEXIST) {
		file_set_error("cannot move file to new of", maildir->path,
		    PB_ERROR_TEMPORARY, error);
		unlinkat(folders[FOLDER_TMP], name, 0);
		return false;
	}
	unlinkat(folders[FOLDER_TMP], name, 0);
	/* Also for the file of a delivery that was killed before it came here. */
	if (fsync(folders[FOLDER_NEW]) < 0)
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
	if (!open_folders(maildir, &error) ||
	    !store(maildir, name, file, &is_new, &error)) {
		close_folders(maildir);
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
	close_folders((struct maildir *)transport);
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
	static const struct transport_ops class = {
	    .deliver = maildir_deliver,
	    .close = maildir_close,
	    .free = maildir_free,
	};
	struct maildir *maildir = g_new0(struct maildir, 1);

	maildir->transport.class = &class;
	maildir->transport.wait_s = WAIT_S;
	maildir->path = g_strdup(path);
	for (size_t i = 0; i < N_FOLDERS; i++)
		maildir->folders[i] = -1;
	return &maildir->transport;
}
