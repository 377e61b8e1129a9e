/*
 * test_secret.c - the key of a state directory is created once, and preserved.
 */
#include "service/state/secret.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"

static const guint8 first[SECRET_KEY_BYTES + 1] = "0123456789abcdef0123456789abcdef";
static const guint8 second[SECRET_KEY_BYTES + 1] = "fedcba9876543210fedcba9876543210";

STORE_TEST(key_is_created_once_and_stored)
{
	g_autofree char *path = g_build_filename(fixture->directory, "key", NULL);
	GStatBuf status;
	GDir *dir;
	const char *name;

	for (int i = 0; i < 2; i++) {
		g_autoptr(GBytes) key = NO_ERROR(
		    secret_load_key(fixture->directory, i ? second : first, &error));

		g_assert_cmpmem(g_bytes_get_data(key, NULL), g_bytes_get_size(key),
		    first, SECRET_KEY_BYTES);
	}
	g_assert_cmpint(g_stat(path, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 07777, ==, 0600);
	g_assert_cmpint(status.st_size, ==, SECRET_KEY_BYTES);
	dir = g_dir_open(fixture->directory, 0, NULL);
	while ((name = g_dir_read_name(dir)))
		g_assert_null(strstr(name, "key."));
	g_dir_close(dir);
}

TEST(invalid_key_file_is_rejected_and_unchanged)
{
	static const struct {
		gssize size;
		int mode;
		const char *says;
	} rows[] = {
	    {0, 0600, "it has 0 bytes instead of 32: restore it from a backup"},
	    {31, 0600, "it has 31 bytes"},
	    {33, 0600, "it has 33 bytes"},
	    {32, 0640, "chmod 600"},
	    {32, 0604, "chmod 600"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *path =
		    g_build_filename(fixture->directory, "key", NULL);
		g_autofree char *text = g_strnfill((gsize)rows[i].size, 'k');
		g_autofree char *after = NULL;
		g_autoptr(GError) error = NULL;

		g_file_set_contents(path, text, rows[i].size, NULL);
		g_chmod(path, rows[i].mode);
		g_assert_null(secret_load_key(fixture->directory, first, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
		g_assert_nonnull(strstr(error->message, rows[i].says));
		g_assert_null(strstr(error->message, "kkk"));
		g_file_get_contents(path, &after, NULL, NULL);
		g_assert_cmpstr(after, ==, text);
	}
}

TEST(a_directory_that_is_not_there_is_reported)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(secret_load_key("/nonexistent", first, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_nonnull(strstr(error->message, "/nonexistent/key"));
}

UNIT_MAIN
