/*
 * test_event.c - the table of events is complete, and lines contain no address.
 */
#include "service/log/event.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"

/* The last event as passed to the writer: lines of "KEY=value", in order. */
static GLogWriterOutput
capture(GLogLevelFlags flags, const GLogField *fields, gsize count, gpointer data)
{
	GString *seen = data;

	g_string_assign(seen, "");
	g_string_append_printf(seen, "level=%d\n", (int)flags);
	for (gsize i = 0; i < count; i++)
		g_string_append_printf(
		    seen, "%s=%s\n", fields[i].key, (const char *)fields[i].value);
	return G_LOG_WRITER_HANDLED;
}

static bool
is_made_of(const char *text, const char *messages)
{
	return *text && strspn(text, messages) == strlen(text);
}

TEST(every_event_has_a_complete_row)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (int kind = 0; kind < N_EVENTS; kind++) {
		const struct event_row *row = event_get_row(kind);
		char *name = event_format_name(row);

		g_ptr_array_add(names, name);
		g_assert_true(is_made_of(name, "abcdefghijklmnopqrstuvwxyz-"));
		g_assert_true(is_made_of(row->message_id, "0123456789abcdef"));
		g_assert_cmpuint(strlen(row->message_id), ==, 32);
		g_assert_cmpuint(strlen(name), <, 30);
		g_assert_nonnull(event_get_level_name(row));
		/* Names and ids are unique. */
		g_assert_true(g_hash_table_add(seen, name));
		g_assert_true(g_hash_table_add(seen, (gpointer)row->message_id));
	}
}

static void
every_event_is_in_the_manual(void)
{
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "man", "paperboyd.8", NULL);
	g_autofree char *text = NULL;
	const char *at;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	at = text;
	for (int kind = 0; kind < N_EVENTS; kind++) {
		const struct event_row *row = event_get_row(kind);
		g_autofree char *name = event_format_name(row);
		g_autofree char *item = g_strdup_printf(
		    "\n.It Sy %s Pq Cm %s\n", name, event_get_level_name(row));
		g_autofree char *id = g_strdup_printf("\n.Li %s\n", row->message_id);

		at = strstr(at, item);
		g_assert_nonnull(at);
		at = strstr(at, id);
		g_assert_nonnull(at);
	}
}

static void
an_event_is_a_line_and_fields(gconstpointer data)
{
	const GString *seen = data;

	event_log(EVENT_DELIVERY_DEFERRED, EVENT_INT("outbox", 42),
	    EVENT_INT("attempt", 3), EVENT_INT("code", -1), EVENT_WORD("status", ""),
	    EVENT_WORD("scope", NULL), EVENT_WORD("stage", "rcpt"),
	    EVENT_SECONDS("next_in", 1200));
	g_assert_cmpstr(seen->str, ==,
	    "level=32\n"
	    "MESSAGE_ID=246a9da180b7f9fa83a5715163931453\n"
	    "PRIORITY=5\n"
	    "SYSLOG_IDENTIFIER=paperboyd\n"
	    "GLIB_DOMAIN=paperboy\n"
	    "PAPERBOY_EVENT=delivery-deferred\n"
	    "PAPERBOY_OUTBOX=42\n"
	    "PAPERBOY_ATTEMPT=3\n"
	    "PAPERBOY_STAGE=rcpt\n"
	    "PAPERBOY_NEXT_IN=1200\n"
	    "MESSAGE=delivery deferred outbox=42 attempt=3 stage=rcpt next_in=1200s\n");
	event_log(EVENT_RELAY_RECOVERED);
	g_assert_true(g_str_has_suffix(seen->str, "\nMESSAGE=relay recovered\n"));
	event_log(EVENT_MATCH_SKIPPED, EVENT_INT("filters", 2));
	g_assert_true(g_str_has_suffix(seen->str,
	    "\nMESSAGE=match skipped filters=2: not readable by this version\n"));
}

static void
text_from_elsewhere_is_one_line_without_addresses(gconstpointer data)
{
	const GString *seen = data;
	g_autofree char *endless = g_strnfill(5000, 'x');

	event_log(EVENT_FETCH_FAILED, EVENT_WORD("source", "hf"),
	    EVENT_TEXT("bad\nline <Ada@example.org>\x1b[31m"));
	g_assert_nonnull(strstr(seen->str,
	    "\nPAPERBOY_TEXT=bad line <[address]>?[31m\n"
	    "MESSAGE=fetch failed source=hf: bad line <[address]>?[31m\n"));
	g_assert_null(strstr(seen->str, "Ada"));
	event_log(EVENT_FETCH_FAILED, EVENT_TEXT(endless));
	g_assert_cmpuint(seen->len, <, 2500);
	/* Debug events are logged at level debug. */
	event_log(EVENT_DELIVERY_REPLY, EVENT_INT("outbox", 1),
	    EVENT_WORD("recipient", "ada@example.org"),
	    EVENT_TEXT("550 <ada@example.org> unknown"));
	g_assert_nonnull(strstr(seen->str,
	    "MESSAGE=delivery reply outbox=1 recipient=ada@example.org: "
	    "550 <ada@example.org> unknown\n"));
}

TEST(addresses_are_masked_in_every_shape)
{
	CASES_FOREACH(at, "event_masked", *text, *masked) {
		g_autofree char *masked = event_mask_addresses(at->text);

		if (strcmp(masked, at->masked) != 0)
			g_test_fail_printf("%s: '%s'", at->text, masked);
	}
}

/* A transaction with an event, and a savepoint with another one. */
struct logging {
	bool fails_inside, fails_outside;
};

static bool
log_inside(struct store *store, void *data, GError **error)
{
	const struct logging *logging = data;

	event_log_committed(store, EVENT_CLOCK_TRUSTED);
	return !logging->fails_inside || pb_fail(error, PB_ERROR_INPUT, "inside");
}

static bool
log_outside(struct store *store, void *data, GError **error)
{
	const struct logging *logging = data;
	g_autofree char *name = g_strdup("made-up");

	event_log_committed(store, EVENT_SOURCE_RECOVERED, EVENT_WORD("source", name));
	memset(name, '-', strlen(name));
	store_transact(store, log_inside, data, NULL);
	return !logging->fails_outside || pb_fail(error, PB_ERROR_INPUT, "outside");
}

static void
event_of_a_transaction_is_logged_after_its_commit(gconstpointer data)
{
	static const struct {
		struct logging logging;
		const char *last; /* event */
	} cases[] = {
	    {{true, false}, "MESSAGE=source recovered source=made-up"},
	    {{false, false}, "MESSAGE=clock trusted"},
	    {{false, true}, ""},
	};
	pb_auto(store_fixture) fixture = store_fixture_new();
	GString *seen = (GString *)data;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct logging logging = cases[i].logging;

		g_string_assign(seen, "");
		store_transact(fixture->store, log_outside, &logging, NULL);
		g_assert_nonnull(strstr(seen->str, cases[i].last));
		g_assert_true(!*seen->str == !*cases[i].last);
	}
	event_log_committed(fixture->store, EVENT_CLOCK_TRUSTED);
	g_assert_nonnull(strstr(seen->str, "MESSAGE=clock trusted"));
}

int
main(int argc, char **argv)
{
	g_autoptr(GString) seen = g_string_new(NULL);

	g_test_init(&argc, &argv, NULL);
	g_log_set_writer_func(capture, seen, NULL);
	g_log_set_debug_enabled(TRUE);
	unit_add_all();
	g_test_add_func(
	    "/event/every_event_is_in_the_manual", every_event_is_in_the_manual);
	g_test_add_data_func("/event/an_event_is_a_line_and_fields", seen,
	    an_event_is_a_line_and_fields);
	g_test_add_data_func(
	    "/event/words_from_elsewhere_are_one_line_without_addresses", seen,
	    text_from_elsewhere_is_one_line_without_addresses);
	g_test_add_data_func("/event/event_of_a_transaction_is_logged_after_its_commit",
	    seen, event_of_a_transaction_is_logged_after_its_commit);
	return g_test_run();
}
