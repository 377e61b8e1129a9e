/*
 * test_maildir.c - a Maildir gets each message once, whole and durable.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/maildir.h"

struct store_fixture {
	char *above; /* a folder of our own */
	char *path;
	struct transport *transport;
	struct delivery result;
};

static void
store_fixture_init(struct store_fixture *fixture)
{
	*fixture =
	    (struct store_fixture){.above = g_dir_make_tmp("maildir-XXXXXX", NULL)};
	g_assert_nonnull(fixture->above);
	fixture->path = g_build_filename(fixture->above, "Maildir", NULL);
	fixture->transport = transport_maildir_new(fixture->path);
}

static void
remove_tree(const char *path)
{
	GDir *folder = g_dir_open(path, 0, NULL);
	const char *name;

	while (folder && (name = g_dir_read_name(folder))) {
		g_autofree char *inner = g_build_filename(path, name, NULL);

		remove_tree(inner);
	}
	if (folder)
		g_dir_close(folder);
	g_remove(path);
}

static void
store_fixture_clear(struct store_fixture *fixture)
{
	transport_free(fixture->transport);
	delivery_clear(&fixture->result);
	remove_tree(fixture->above);
	g_free(fixture->above);
	g_free(fixture->path);
}

static void
deliver_as(struct store_fixture *fixture, const char *id, const char *recipient,
    const char *text)
{
	g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
	struct envelope envelope = {.id = id,
	    .sender = "bounces@a.example",
	    .recipient = recipient,
	    .message = message};

	transport_deliver(fixture->transport, &envelope, &fixture->result);
}

static void
deliver(struct store_fixture *fixture, const char *id)
{
	deliver_as(fixture, id, "b@b.example", "Subject: t\r\n\r\n.dot\r\nend\r\n");
}

/* The only file of a folder, or NULL; more than one fails. */
static char *
find_only_file(const struct store_fixture *fixture, const char *folder)
{
	g_autofree char *path = g_build_filename(fixture->path, folder, NULL);
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

static void
a_message_lies_in_new_with_its_headers(void)
{
	g_autofree char *file = NULL, *text = NULL, *tmp = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	g_assert_cmpint(fixture.result.stage, ==, SMTP_STAGE_NONE);
	file = find_only_file(&fixture, "new");
	tmp = find_only_file(&fixture, "tmp");
	g_assert_nonnull(file);
	g_assert_null(tmp);
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_cmpstr(text, ==,
	    "Return-Path: <bounces@a.example>\nDelivered-To: b@b.example\n"
	    "Subject: t\n\n.dot\nend\n");
	g_assert_cmpuint(get_mode(file), ==, 0600);
	g_assert_cmpuint(get_mode(fixture.path), ==, 0700);
	store_fixture_clear(&fixture);
}

static void
the_same_id_makes_one_file(void)
{
	g_autofree char *file = NULL, *again = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "1");
	file = find_only_file(&fixture, "new");
	transport_close(fixture.transport);
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	again = find_only_file(&fixture, "new");
	g_assert_cmpstr(file, ==, again);
	store_fixture_clear(&fixture);
}

static void
another_id_makes_another_file(void)
{
	g_autofree char *first = NULL, *second = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "1");
	first = find_only_file(&fixture, "new");
	g_remove(first);
	deliver(&fixture, "2");
	second = find_only_file(&fixture, "new");
	g_assert_nonnull(second);
	g_assert_cmpstr(first, !=, second);
	store_fixture_clear(&fixture);
}

static void
a_message_that_was_read_does_not_come_again(void)
{
	static const char *const flags[] = {":2,S", ":2,", ""};

	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
		g_autofree char *file = NULL, *name = NULL, *read = NULL, *again = NULL;
		struct store_fixture fixture;

		store_fixture_init(&fixture);
		deliver(&fixture, "1");
		file = find_only_file(&fixture, "new");
		name = g_path_get_basename(file);
		read = g_strdup_printf("%s/cur/%s%s", fixture.path, name, flags[i]);
		g_assert_cmpint(g_rename(file, read), ==, 0);
		deliver(&fixture, "1");
		g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
		again = find_only_file(&fixture, "new");
		g_assert_null(again);
		/* Another message is not taken for it. */
		deliver(&fixture, "2");
		again = find_only_file(&fixture, "new");
		g_assert_nonnull(again);
		store_fixture_clear(&fixture);
	}
}

static void
half_a_file_of_a_killed_delivery_is_replaced(void)
{
	g_autofree char *file = NULL, *name = NULL, *half = NULL, *text = NULL,
	                *tmp = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "1");
	file = find_only_file(&fixture, "new");
	name = g_path_get_basename(file);
	half = g_build_filename(fixture.path, "tmp", name, NULL);
	g_assert_cmpint(g_rename(file, half), ==, 0);
	g_assert_true(g_file_set_contents(half, "Retu", -1, NULL));
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_true(g_str_has_suffix(text, "end\n"));
	tmp = find_only_file(&fixture, "tmp");
	g_assert_null(tmp);
	store_fixture_clear(&fixture);
}

static void
a_kill_between_link_and_unlink_leaves_one_message(void)
{
	g_autofree char *file = NULL, *name = NULL, *left = NULL, *text = NULL,
	                *tmp = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "1");
	file = find_only_file(&fixture, "new");
	name = g_path_get_basename(file);
	left = g_build_filename(fixture.path, "tmp", name, NULL);
	g_assert_cmpint(link(file, left), ==, 0);
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_true(g_str_has_suffix(text, "end\n"));
	tmp = find_only_file(&fixture, "tmp");
	g_assert_null(tmp);
	store_fixture_clear(&fixture);
}

static void
an_id_with_slashes_stays_inside(void)
{
	g_autofree char *file = NULL;
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	deliver(&fixture, "<../../../x:y@a.example>");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	file = find_only_file(&fixture, "new");
	g_assert_nonnull(file);
	store_fixture_clear(&fixture);
}

static void
a_folder_that_cannot_be_written_defers(void)
{
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	g_assert_true(g_file_set_contents(fixture.path, "a file", -1, NULL));
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(fixture.result.scope, ==, DELIVERY_SCOPE_RELAY);
	g_assert_nonnull(strstr(fixture.result.text, fixture.path));
	/* Once mended, the same transport delivers. */
	g_remove(fixture.path);
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	store_fixture_clear(&fixture);
}

static void
what_cannot_be_written_is_refused(void)
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
		struct store_fixture fixture;

		store_fixture_init(&fixture);
		deliver_as(&fixture, "1", rows[i].recipient, rows[i].message);
		g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_FAILED);
		g_assert_cmpint(fixture.result.scope, ==, DELIVERY_SCOPE_MESSAGE);
		g_assert_false(g_file_test(fixture.path, G_FILE_TEST_EXISTS));
		store_fixture_clear(&fixture);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(function, name) g_test_add_func("/maildir/" name, function)
	ADD(a_message_lies_in_new_with_its_headers,
	    "a message lies in new with its headers");
	ADD(the_same_id_makes_one_file, "the same id makes one file");
	ADD(another_id_makes_another_file, "another id makes another file");
	ADD(a_message_that_was_read_does_not_come_again,
	    "a message that was read does not come again");
	ADD(half_a_file_of_a_killed_delivery_is_replaced,
	    "half a file of a killed delivery is replaced");
	ADD(a_kill_between_link_and_unlink_leaves_one_message,
	    "a kill between link and unlink leaves one message");
	ADD(an_id_with_slashes_stays_inside, "an id with slashes stays inside");
	ADD(a_folder_that_cannot_be_written_defers,
	    "a folder that cannot be written defers");
	ADD(what_cannot_be_written_is_refused, "what cannot be written is refused");
	return g_test_run();
}
