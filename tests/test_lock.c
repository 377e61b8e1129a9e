/*
 * test_lock.c - one daemon per state directory, inaccessible to others.
 */
#include "service/state/lock.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"

/* Owned by a user other than root. */
#define NOBODY 65534

STORE_TEST(directory_is_created_and_locked_by_one_daemon)
{
	g_autofree char *directory =
	    g_build_filename(fixture->directory, "a", "state", NULL);
	g_autoptr(GError) error = NULL;
	GStatBuf status;
	int first = lock_take(directory, &error), second;

	g_assert_no_error(error);
	g_assert_cmpint(first, >=, 0);
	g_assert_cmpint(fcntl(first, F_GETFD) & FD_CLOEXEC, !=, 0);
	g_assert_cmpint(g_stat(directory, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 07777, ==, 0700);
	g_assert_cmpint(lock_take(directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, directory));
	g_clear_error(&error);
	close(first);
	second = lock_take(directory, &error);
	g_assert_no_error(error);
	close(second);
}

TEST(a_directory_that_others_may_enter_is_refused)
{
	static const struct {
		int mode;
		bool is_ok;
	} rows[] = {{0700, true}, {0750, true}, {0710, true}, {0770, false},
	    {0720, false}, {0705, false}, {0701, false}, {0755, false}, {0777, false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autoptr(GError) error = NULL;
		int fd;

		g_chmod(fixture->directory, rows[i].mode);
		fd = lock_take(fixture->directory, &error);
		g_assert_cmpint(fd >= 0, ==, rows[i].is_ok);
		if (!rows[i].is_ok) {
			g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
			g_assert_nonnull(strstr(error->message, "chmod 700"));
		}
		if (fd >= 0)
			close(fd);
		g_chmod(fixture->directory, 0700);
	}
}

STORE_TEST(a_directory_that_cannot_be_is_reported)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *below = g_build_filename(fixture->path, "state", NULL);

	g_assert_cmpint(lock_take(below, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_nonnull(strstr(error->message, below));
}

STORE_TEST(store_is_replaced_only_while_it_is_not_open)
{
	g_autoptr(GError) error = NULL;
	int one = lock_share(fixture->directory, &error), two, alone, daemon;

	g_assert_no_error(error);
	two = lock_share(fixture->directory, &error);
	g_assert_no_error(error);
	daemon = lock_take(fixture->directory, &error);
	g_assert_no_error(error);
	/* Not beside a daemon, nor while one of two programs has the store open. */
	g_assert_cmpint(lock_take_alone(fixture->directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "stop paperboyd first"));
	g_clear_error(&error);
	close(daemon);
	/* A wrong mode has another reason. */
	g_assert_cmpint(g_chmod(fixture->directory, 0755), ==, 0);
	g_assert_cmpint(lock_take_alone(fixture->directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_true(g_str_has_prefix(error->message, "state directory"));
	g_clear_error(&error);
	g_assert_cmpint(g_chmod(fixture->directory, 0700), ==, 0);
	close(one);
	g_assert_cmpint(lock_take_alone(fixture->directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "another paperboyctl"));
	g_clear_error(&error);
	close(two);
	alone = lock_take_alone(fixture->directory, &error);
	g_assert_no_error(error);
	g_assert_cmpint(lock_share(fixture->directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_clear_error(&error);
	g_assert_cmpint(lock_take(fixture->directory, &error), ==, -1);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	close(alone);
}

/*
 * As nobody, since root may open everything.  @return the error of lock_take(), or ""
 */
static char *
take_as_nobody(const char *directory)
{
	g_autoptr(GError) error = NULL;
	char text[1000] = "";
	int ends[2];

	g_assert_cmpint(pipe(ends), ==, 0);
	if (fork() == 0) {
		if (geteuid() == 0)
			g_assert_cmpint(setresuid(NOBODY, NOBODY, NOBODY), ==, 0);
		if (lock_take(directory, &error) < 0 &&
		    write(ends[1], error->message, strlen(error->message)) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	g_assert_cmpint(read(ends[0], text, sizeof(text) - 1), >=, 0);
	close(ends[0]);
	g_assert_cmpint(wait(NULL), >, 0);
	return g_strdup(text);
}

TEST(wrong_owner_or_mode_is_reported)
{
	static const struct {
		const char *name; /* NULL: the directory */
		bool is_foreign;
		int mode;
		const char *says;
	} rows[] = {
	    {"paperboy.db", false, 0600, ""},
	    {"paperboy.db", true, 0600, "is owned by root, and this process runs as "},
	    {"paperboy.db", true, 0644, "is owned by root, and this process runs as "},
	    {"paperboy.db", false, 0400, "but has mode 0400: chmod 600 it"},
	    {"paperboy.db-wal", true, 0600, "is owned by root"},
	    {"key", true, 0600, "is owned by root"},
	    {"lock", true, 0600, "is owned by root"},
	    {NULL, true, 0700, "is owned by root, and this process runs as "},
	    {NULL, false, 0500, "but has mode 0500: chmod 700 it"},
	};
	bool is_root = geteuid() == 0;
	uid_t us = is_root ? NOBODY : geteuid();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *directory = g_dir_make_tmp("paperboy-XXXXXX", NULL);
		g_autofree char *path = g_build_filename(directory, rows[i].name, NULL);
		g_autofree char *said = NULL;

		/* Only root can create files of another user. */
		if (rows[i].is_foreign && !is_root) {
			g_rmdir(directory);
			continue;
		}
		if (rows[i].name)
			g_assert_true(g_file_set_contents(path, "", 0, NULL));
		g_assert_cmpint(chown(directory, us, (gid_t)-1), ==, 0);
		g_assert_cmpint(
		    chown(path, rows[i].is_foreign ? 0 : us, (gid_t)-1), ==, 0);
		g_assert_cmpint(g_chmod(path, rows[i].mode), ==, 0);
		said = take_as_nobody(directory);
		g_test_message("%s", said);
		if (*rows[i].says) {
			g_assert_nonnull(strstr(said, path));
			g_assert_nonnull(strstr(said, rows[i].says));
		} else {
			g_assert_cmpstr(said, ==, "");
		}
		g_chmod(directory, 0700);
		store_fixture_remove_directory(directory);
	}
}

UNIT_MAIN
