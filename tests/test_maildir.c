/*
 * test_maildir.c - delivery into a Maildir is complete, durable and unique.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/unit.h"
#include "transport/maildir.h"

struct maildir_test {
	char *above; /* temporary directory */
	char *path;
	struct transport *transport;
	struct delivery result;
};

static void
maildir_test_init(struct maildir_test *test)
{
	*test = (struct maildir_test){.above = g_dir_make_tmp("maildir-XXXXXX", NULL)};
	g_assert_nonnull(test->above);
	test->path = g_build_filename(test->above, "Maildir", NULL);
	test->transport = transport_maildir_new(test->path);
}

static void
remove_tree(const char *path)
{
	GDir *directory = g_dir_open(path, 0, NULL);
	const char *name;

	while (directory && (name = g_dir_read_name(directory))) {
		g_autofree char *inner = g_build_filename(path, name, NULL);

		remove_tree(inner);
	}
	if (directory)
		g_dir_close(directory);
	g_remove(path);
}

static void
maildir_test_clear(struct maildir_test *test)
{
	transport_free(test->transport);
	delivery_clear(&test->result);
	remove_tree(test->above);
	g_free(test->above);
	g_free(test->path);
}

static void
deliver_as(
    struct maildir_test *test, const char *id, const char *recipient, const char *text)
{
	g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
	struct envelope envelope = {.id = id,
	    .sender = "bounces@a.example",
	    .recipient = recipient,
	    .message = message};

	transport_deliver(test->transport, &envelope, &test->result);
}

static void
deliver(struct maildir_test *test, const char *id)
{
	deliver_as(test, id, "b@b.example", "Subject: t\r\n\r\n.dot\r\nend\r\n");
}

/* The only file of a directory, or NULL; more than one fails. */
static char *
find_only_file(const struct maildir_test *test, const char *directory)
{
	g_autofree char *path = g_build_filename(test->path, directory, NULL);
	g_autoptr(GDir) entries = g_dir_open(path, 0, NULL);
	const char *name = g_dir_read_name(entries);
	char *found = name ? g_build_filename(path, name, NULL) : NULL;

	g_assert_null(name ? g_dir_read_name(entries) : NULL);
	return found;
}

static unsigned
get_mode(const char *path)
{
	struct stat status;

	g_assert_cmpint(stat(path, &status), ==, 0);
	return status.st_mode & 07777;
}

#define MAILDIR_TEST(function) TEST_WITH_LOCAL(function, maildir_test, test)

MAILDIR_TEST(message_is_stored_in_new_with_headers)
{
	g_autofree char *file = NULL, *text = NULL, *tmp = NULL;

	deliver(test, "1");
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	g_assert_cmpint(test->result.stage, ==, SMTP_STAGE_NONE);
	file = find_only_file(test, "new");
	tmp = find_only_file(test, "tmp");
	g_assert_nonnull(file);
	g_assert_null(tmp);
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_cmpstr(text, ==,
	    "Return-Path: <bounces@a.example>\nDelivered-To: b@b.example\n"
	    "Subject: t\n\n.dot\nend\n");
	g_assert_cmpuint(get_mode(file), ==, 0600);
	g_assert_cmpuint(get_mode(test->path), ==, 0700);
}

MAILDIR_TEST(same_id_gives_one_file)
{
	g_autofree char *file = NULL, *again = NULL;

	deliver(test, "1");
	file = find_only_file(test, "new");
	transport_close(test->transport);
	deliver(test, "1");
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	again = find_only_file(test, "new");
	g_assert_cmpstr(file, ==, again);
}

MAILDIR_TEST(different_id_gives_another_file)
{
	g_autofree char *first = NULL, *second = NULL;

	deliver(test, "1");
	first = find_only_file(test, "new");
	g_remove(first);
	deliver(test, "2");
	second = find_only_file(test, "new");
	g_assert_nonnull(second);
	g_assert_cmpstr(first, !=, second);
}

TEST(read_message_is_not_delivered_again)
{
	static const char *const flags[] = {":2,S", ":2,", ""};

	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
		g_autofree char *file = NULL, *name = NULL, *read = NULL, *again = NULL;
		pb_local(maildir_test) test;

		maildir_test_init(&test);
		deliver(&test, "1");
		file = find_only_file(&test, "new");
		name = g_path_get_basename(file);
		read = g_strdup_printf("%s/cur/%s%s", test.path, name, flags[i]);
		g_assert_cmpint(g_rename(file, read), ==, 0);
		deliver(&test, "1");
		g_assert_cmpint(test.result.outcome, ==, DELIVERY_SENT);
		again = find_only_file(&test, "new");
		g_assert_null(again);
		/* Another message is not mistaken for it. */
		deliver(&test, "2");
		again = find_only_file(&test, "new");
		g_assert_nonnull(again);
	}
}

/* A kill while the file is written, or between link() and unlink(). */
TEST(file_that_a_kill_leaves_is_replaced)
{
	for (int is_linked = 0; is_linked < 2; is_linked++) {
		pb_local(maildir_test) test;
		g_autofree char *file = NULL, *name = NULL, *left = NULL, *text = NULL,
		                *tmp = NULL;

		maildir_test_init(&test);
		deliver(&test, "1");
		file = find_only_file(&test, "new");
		name = g_path_get_basename(file);
		left = g_build_filename(test.path, "tmp", name, NULL);
		g_assert_cmpint(
		    is_linked ? link(file, left) : g_rename(file, left), ==, 0);
		if (!is_linked)
			g_assert_true(g_file_set_contents(left, "Retu", -1, NULL));
		deliver(&test, "1");
		g_assert_cmpint(test.result.outcome, ==, DELIVERY_SENT);
		g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
		g_assert_true(g_str_has_suffix(text, "end\n"));
		tmp = find_only_file(&test, "tmp");
		g_assert_null(tmp);
	}
}

MAILDIR_TEST(id_with_slashes_stays_inside)
{
	g_autofree char *file = NULL;

	deliver(test, "<../../../x:y@a.example>");
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	file = find_only_file(test, "new");
	g_assert_nonnull(file);
}

MAILDIR_TEST(unwritable_directory_defers)
{
	g_assert_true(g_file_set_contents(test->path, "a file", -1, NULL));
	deliver(test, "1");
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(test->result.scope, ==, DELIVERY_SCOPE_RELAY);
	g_assert_nonnull(strstr(test->result.text, test->path));
	/* The same transport delivers after the repair. */
	g_remove(test->path);
	deliver(test, "1");
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
}

TEST(invalid_message_fails)
{
	static const struct {
		const char *recipient, *message;
	} rows[] = {
	    {"b@b.example\nX-Evil: 1", "a\r\n"},
	    {"b b@b.example", "a\r\n"},
	    {"b@b.example", "a\n"},
	    {"b@b.example", "a\rb\r\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(maildir_test) test;

		maildir_test_init(&test);
		deliver_as(&test, "1", rows[i].recipient, rows[i].message);
		g_assert_cmpint(test.result.outcome, ==, DELIVERY_FAILED);
		g_assert_cmpint(test.result.scope, ==, DELIVERY_SCOPE_MESSAGE);
		g_assert_false(g_file_test(test.path, G_FILE_TEST_EXISTS));
	}
}

UNIT_MAIN
