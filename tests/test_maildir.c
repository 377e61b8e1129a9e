/*
 * test_maildir.c - delivery into a Maildir is complete, durable and unique.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/unit.h"
#include "transport/maildir.h"

struct store_fixture {
	char *above; /* temporary directory */
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

/* The only file of a directory, or NULL; more than one fails. */
static char *
find_only_file(const struct store_fixture *fixture, const char *directory)
{
	g_autofree char *path = g_build_filename(fixture->path, directory, NULL);
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
message_is_stored_in_new_with_headers(void)
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
same_id_makes_one_file(void)
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
different_id_makes_another_file(void)
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
read_message_is_not_delivered_again(void)
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
		/* Another message is not mistaken for it. */
		deliver(&fixture, "2");
		again = find_only_file(&fixture, "new");
		g_assert_nonnull(again);
		store_fixture_clear(&fixture);
	}
}

static void
partial_file_is_replaced(void)
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
kill_between_link_and_unlink_leaves_one_message(void)
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
id_with_slashes_stays_inside(void)
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
unwritable_directory_defers(void)
{
	struct store_fixture fixture;

	store_fixture_init(&fixture);
	g_assert_true(g_file_set_contents(fixture.path, "a file", -1, NULL));
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(fixture.result.scope, ==, DELIVERY_SCOPE_RELAY);
	g_assert_nonnull(strstr(fixture.result.text, fixture.path));
	/* The same transport delivers after the repair. */
	g_remove(fixture.path);
	deliver(&fixture, "1");
	g_assert_cmpint(fixture.result.outcome, ==, DELIVERY_SENT);
	store_fixture_clear(&fixture);
}

static void
invalid_message_fails(void)
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

UNIT_MAIN(message_is_stored_in_new_with_headers, same_id_makes_one_file,
    different_id_makes_another_file, read_message_is_not_delivered_again,
    partial_file_is_replaced, kill_between_link_and_unlink_leaves_one_message,
    id_with_slashes_stays_inside, unwritable_directory_defers, invalid_message_fails)
