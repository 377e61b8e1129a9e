/*
 * test_import.c - import reports all errors, export is lossless.
 */
#include "service/people/import.h"

#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/people/erase.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "service/people/subscriber_csv.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"

struct asked {
	bool is_dry_run, is_skip_bad, is_resubscribe, is_first;
	const char *consent;
};

/* @return the error, NULL on success; the caller clears the report */
static char *
import_text(struct store_fixture *fixture, const char *text, struct asked asked,
    struct import_report *report)
{
	g_autoptr(GError) error = NULL;
	const struct import_request request = {
	    .source =
	        {
	            .file = "people.csv",
	            .data = text,
	            .size = strlen(text),
	            .store = fixture->store,
	            .now = store_fixture_time(NOW),
	            .consent = asked.consent,
	            .zone = "Europe/Berlin",
	            .minute = 450,
	            .max_full = 20,
	        },
	    .is_dry_run = asked.is_dry_run,
	    .is_skip_bad = asked.is_skip_bad,
	    .is_resubscribe = asked.is_resubscribe,
	    .is_first = asked.is_first,
	    .room = G_MAXINT64,
	    .key = fixture->key,
	    .who = "test",
	};

	*report = (struct import_report){0};
	import_people(fixture->store, &request, report, &error);
	store_fixture_assert_idle(fixture);
	return error ? g_strdup(error->message) : NULL;
}

static void
import_good(
    struct store_fixture *fixture, const char *text, struct asked asked, unsigned added)
{
	pb_local(import_report) report;
	g_autofree char *says = import_text(fixture, text, asked, &report);

	g_assert_cmpstr(says, ==, NULL);
	g_assert_cmpuint(report.added, ==, added);
}

static bool
collect_text(void *data, const char *text, size_t size, GError **error)
{
	(void)error;
	g_string_append_len(data, text, (gssize)size);
	return true;
}

static GString *
export_text(struct store_fixture *fixture, bool has_filters)
{
	GString *text = g_string_new(NULL);
	const struct export_request request = {.has_filters = has_filters};
	g_autoptr(GError) error = NULL;
	unsigned count;

	export_people(fixture->store, &request, collect_text, text, &count, &error);
	store_fixture_assert_idle(fixture);
	g_assert_no_error(error);
	return text;
}

STORE_TEST(line_becomes_a_subscriber)
{
	static const char text[] =
	    "\xef\xbb\xbf"
	    "Filters,ADDRESS,name,cadence,weekdays,at,zone,max,consent_text,consent_at,"
	    "created_at,state\r\n"
	    "\"mamba\nssm list\tssm OR \"\"state space\"\"\r\n4\t\tdiffusion\",ADA@"
	    "Example.ORG,"
	    "Ada,weekly,\"thu,mon\",6:05,Asia/Tokyo,5,by phone,2026-05-03,"
	    "2026-05-04T10:00:00Z,active\r\n"
	    ",Bob Example <bob@example.org>,,,,,,,,,,\r\n";

	import_good(fixture, text, (struct asked){.consent = "on a list"}, 2);
	assert_rows(fixture,
	    "SELECT address, name, state, frequency, weekdays, minute, zone, max_full,"
	    " date(consent_at, 'unixepoch'), consent_text,"
	    " date(created_at, 'unixepoch'), is_first_due,"
	    " datetime(next_due_at, 'unixepoch') FROM subscriber ORDER BY id",
	    "ADA@example.org|Ada|active|weekly|9|365|Asia/Tokyo|5|2026-05-03|by phone|"
	    "2026-05-04|0|2026-11-22 21:05:00 "
	    "bob@example.org|Bob Example|active|daily|127|450|Europe/Berlin|20|"
	    "2026-11-20|on a list|2026-11-20|0|2026-11-21 06:30:00");
	assert_rows(fixture,
	    "SELECT number, name, text, since_day FROM subscription ORDER BY number",
	    "1|-|mamba|2026-11-17 2|ssm list|ssm OR \"state space\"|2026-11-17 "
	    "4|-|diffusion|2026-11-17");
	assert_rows(fixture, "SELECT what, detail FROM audit_log ORDER BY id",
	    "subscriber imported|by phone subscriber imported|on a list");
}

STORE_TEST(preferences_are_imported)
{
	import_good(fixture,
	    "address,cadence,catch_up,order,abstract,format,quiet,updates,crosslist,"
	    "attach,group,feedback,checkup,versions,language,filters\n"
	    "a@example.org,now,7,votes,short,text,note,on,off,bibtex,on,on,off,all,de,"
	    "\"3\tm\tfilter\t5\tof Bob\tmamba\n1\t\tblock\t\t\tsurvey\"\n"
	    "b@example.org,,,,,,,,,,,,,,,\n",
	    (struct asked){.consent = "x"}, 2);
	assert_rows(fixture,
	    "SELECT frequency, catch_up, sorting, abstract, format, empty_digest, "
	    "updates,"
	    " crosslist, attach, grouping, feedback, checkup, versions, language"
	    " FROM subscriber"
	    " ORDER BY id",
	    "now|7|votes|short|text|note|on|off|bibtex|on|on|off|all|de "
	    "daily|-|score|brief|both|off|off|on|none|off|off|on|one|-");
	assert_rows(fixture,
	    "SELECT number, name, is_block, max_papers, note, text"
	    " FROM subscription ORDER BY number",
	    "1|-|1|-|-|survey 3|m|0|5|of Bob|mamba");
}

TEST(invalid_preference_is_reported)
{
	CASES_FOREACH(row, "import_preferences", *column, *cell, *wanted) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *text = g_strdup_printf(
		    "address,%s\na@example.org,%s\n", row->column, row->cell);
		g_autofree char *wanted =
		    g_strconcat("people.csv:2: ", row->wanted, NULL);
		pb_local(import_report) report;
		g_autofree char *says =
		    import_text(fixture, text, (struct asked){.consent = "x"}, &report);

		g_assert_nonnull(says);
		g_assert_cmpuint(report.problems->len, ==, 1);
		if (!g_str_has_prefix(report.problems->pdata[0], wanted))
			g_test_fail_printf("%s", (char *)report.problems->pdata[0]);
	}
}

STORE_TEST(every_state_has_its_required_columns)
{
	import_good(fixture,
	    "address,state,paused_until\na@example.org,pending,\n"
	    "b@example.org,suspended,\nc@example.org,paused,\n"
	    "d@example.org,paused,2026-12-01\n",
	    (struct asked){.consent = "x", .is_first = true}, 4);
	assert_rows(fixture,
	    "SELECT state, consent_text, datetime(next_due_at, 'unixepoch'),"
	    " paused_until, is_first_due FROM subscriber ORDER BY id",
	    "pending|-|-|-|0 suspended|x|-|-|0 paused|x|-|-|0 "
	    "paused|x|2026-12-01 06:30:00|2026-12-01|0");
}

TEST(first_digests_come_at_the_slot_or_at_once_when_asked)
{
	for (int is_first = 0; is_first <= 1; is_first++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time(NOW);

		store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
		import_good(fixture, "address,filters\na@example.org,diffusion\n",
		    (struct asked){.consent = "x", .is_first = is_first}, 1);
		assert_digests(fixture, now, is_first);
		g_assert_cmpuint(store_fixture_build_digests(fixture,
		                     store_fixture_time("2026-11-21T06:30:00Z")),
		    ==, !is_first);
		assert_rows(fixture, "SELECT count(*) FROM digest", "1");
	}
}

STORE_TEST(all_errors_are_reported_and_nothing_stored)
{
	static const char text[] =
	    "address,name,state,cadence,weekdays,at,zone,max,paused_until,consent_at,"
	    "consent_text,created_at,filters\n"
	    "good@example.org,,,,,,,,,,x,,\n"
	    "nobody,,,,,,,,,,x,,\n"
	    "a@example.org,\"a\tb\",gone,hourly,mon,25:00,Europe/Berlni,0,2026-12-01,"
	    "yesterday,,2027-01-01,\"ti:\n1\tx\tmamba\n1\ty\tssm\nmambas\n0\tz\tz\n"
	    "a\tb\tc\td\"\n"
	    "GOOD@example.org,,,,,,,,,,x,,\n"
	    "b@example.org,x\n"
	    "c@example.org,,,daily,mon,,,,,,x,,\n"
	    "d@example.org,,,,,,,,2026-12-01,,x,,\n"
	    "e@example.org,a\"b,,,,,,,,,x,,\n";
	static const char *const wanted[] = {
	    "people.csv:3: column address: address has no '@'",
	    "people.csv:4: column name: the name contains a control character",
	    "people.csv:4: column state: expected active, paused, suspended or pending",
	    "people.csv:4: column cadence: 'hourly' is not a frequency",
	    "people.csv:4: column at: '25:00' is not a time of day",
	    "people.csv:4: column zone: unknown time zone 'Europe/Berlni': did you "
	    "mean Europe/Berlin?",
	    "people.csv:4: column max: max must be from 1 to 200",
	    "people.csv:4: column created_at: time in the future",
	    "people.csv:4: column consent_text: missing consent: how the person agreed",
	    "people.csv:4: column filters: filter 1: column 4: ",
	    "people.csv:4: column filters: filter 3: duplicate number 1",
	    "people.csv:4: column filters: filter 4: duplicate filter",
	    "people.csv:4: column filters: filter 5: the number of a filter must be"
	    " from 1",
	    "people.csv:4: column filters: filter 6: more than two tabs",
	    "people.csv:10: column address: same address as in line 2",
	    "people.csv:11: 2 fields (expected 13)",
	    "people.csv:12: column weekdays: only allowed with cadence weekly",
	    "people.csv:13: column paused_until: only allowed with state paused",
	    "people.csv:14: quotation mark inside a field",
	};
	g_autofree char *before = store_fixture_hash(fixture);
	g_autofree char *after = NULL, *says = NULL, *skipped = NULL;
	struct import_report report;

	says = import_text(fixture, text, (struct asked){0}, &report);
	after = store_fixture_hash(fixture);
	g_assert_cmpstr(
	    says, ==, "7 lines are invalid in people.csv; nothing was stored");
	g_assert_cmpstr(before, ==, after);
	for (unsigned i = 0; i < MAX(report.problems->len, G_N_ELEMENTS(wanted)); i++) {
		const char *got =
		    i < report.problems->len ? report.problems->pdata[i] : "nothing";

		if (i >= G_N_ELEMENTS(wanted) || !g_str_has_prefix(got, wanted[i]))
			g_test_fail_printf("problem %u: %s", i, got);
	}
	import_report_clear(&report);
	skipped =
	    import_text(fixture, text, (struct asked){.is_skip_bad = true}, &report);
	g_assert_cmpstr(skipped, ==, NULL);
	g_assert_cmpuint(report.added, ==, 1);
	g_assert_cmpuint(report.bad, ==, 7);
	g_assert_cmpuint(report.problems->len, ==, G_N_ELEMENTS(wanted));
	import_report_clear(&report);
	assert_rows(fixture, "SELECT address FROM subscriber", "good@example.org");
}

TEST(invalid_header_line_is_rejected)
{
	CASES_FOREACH(at, "import_header", *text, *says) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		pb_local(import_report) report;
		g_autofree char *says = import_text(fixture, at->text,
		    (struct asked){.is_skip_bad = true, .consent = "x"}, &report);

		g_assert_nonnull(strstr(says, "nothing was stored"));
		if (!g_str_has_prefix(report.problems->pdata[0], at->says))
			g_test_fail_printf(
			    "%s: %s", at->says, (char *)report.problems->pdata[0]);
	}
}

TEST(exports_of_other_programs_are_recognised)
{
	CASES_FOREACH(
	    row, "import_exports", *text, *people, *ignored, *blocked, *unfiltered) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		pb_local(import_report) report;
		g_autofree char *says = import_text(fixture, row->text,
		    (struct asked){.consent = "on a list"}, &report);

		g_assert_cmpstr(says, ==, NULL);
		assert_rows(fixture,
		    "SELECT address, coalesce(name, ''), state, created_at"
		    " FROM subscriber ORDER BY address",
		    row->people);
		g_assert_cmpstr(report.ignored, ==, row->ignored);
		g_assert_cmpuint(report.blocked, ==, cases_number(row->blocked));
		g_assert_cmpuint(report.unfiltered, ==, cases_number(row->unfiltered));
	}
}

STORE_TEST(present_left_and_suppressed_addresses_are_skipped)
{
	static const char text[] = "address,filters\nada@example.org,new\n"
	                           "left@example.org,new\nnever@example.org,new\n"
	                           "new@example.org,new\n";
	static const char states[] =
	    "SELECT address, state FROM subscriber ORDER BY address";
	const struct erase_request never = {
	    .address = "never@example.org", .key = fixture->key, .who = "test"};
	struct import_report report;
	g_autofree char *says = NULL, *again = NULL, *third = NULL, *before = NULL,
	                *after = NULL;
	int64_t now = store_fixture_time(NOW);

	store_fixture_subscribe(fixture, ADA, "UTC", "old", now);
	store_fixture_subscribe(fixture, "left@example.org", "UTC", "old", now);
	g_assert_true(
	    subscribe_remove(fixture->store, "left@example.org", "test", now, NULL));
	store_fixture_subscribe(fixture, "never@example.org", "UTC", "old", now);
	g_assert_true(
	    erase_suppress(fixture->store, &never, ERASE_OPERATOR, now, NULL));

	before = store_fixture_hash(fixture);
	says = import_text(
	    fixture, text, (struct asked){.consent = "x", .is_dry_run = true}, &report);
	after = store_fixture_hash(fixture);
	g_assert_cmpstr(says, ==, NULL);
	g_assert_cmpstr(before, ==, after);
	g_assert_cmpuint(report.added, ==, 1);
	g_assert_cmpuint(report.present, ==, 1);
	g_assert_cmpuint(report.left, ==, 1);
	g_assert_cmpuint(report.suppressed, ==, 1);
	import_report_clear(&report);

	again = import_text(fixture, text, (struct asked){.consent = "x"}, &report);
	g_assert_cmpstr(again, ==, NULL);
	g_assert_cmpuint(report.added, ==, 1);
	g_assert_cmpuint(report.left, ==, 1);
	import_report_clear(&report);
	assert_rows(fixture, states,
	    "ada@example.org|active left@example.org|gone never@example.org|gone "
	    "new@example.org|active");
	assert_rows(fixture,
	    "SELECT text FROM subscription s JOIN subscriber p"
	    " ON p.id = s.subscriber_id WHERE p.address = '" ADA "'",
	    "old");

	third = import_text(fixture, text,
	    (struct asked){.consent = "x", .is_resubscribe = true}, &report);
	g_assert_cmpstr(third, ==, NULL);
	g_assert_cmpuint(report.resubscribed, ==, 1);
	g_assert_cmpuint(report.suppressed, ==, 1);
	g_assert_cmpuint(report.present, ==, 2);
	import_report_clear(&report);
	assert_rows(fixture, states,
	    "ada@example.org|active left@example.org|active never@example.org|gone "
	    "new@example.org|active");
}

STORE_TEST(export_import_export_gives_the_same_bytes)
{
	pb_auto(store_fixture) other = store_fixture_new();
	static const char *const odd[] = {"=cmd@example.org", "+plus@example.org",
	    "-minus@example.org", "o'neil@example.org", "'quote@example.org",
	    "gr\xc3\xb6\xc3\x9f"
	    "e@example.org"};
	static const char *const names[] = {
	    "=1+1", "Comma, Carl", "\"Quoted\" Q", "'already", "@home", "-"};
	static const char *const queries[] = {
	    "-survey diffusion", "\"state space\" OR mamba", "upvotes:>=20 model"};
	g_autoptr(GString) first = NULL;
	g_autoptr(GString) second = NULL;
	g_autoptr(GString) plain = NULL;
	pb_auto(subscriber) dated = NULL;
	pb_auto(subscriber) open = NULL;
	int64_t now = store_fixture_time(NOW);

	for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
		const struct profile_change change = {
		    .name = names[i],
		    .frequency = i % 2 ? "weekly:tue,sun" : "weekdays",
		    .max_full = 7,
		    .who = "test",
		};
		pb_auto(subscriber) changed = NULL;

		store_fixture_subscribe(
		    fixture, odd[i], i % 2 ? "Asia/Kolkata" : "UTC", NULL, now - 9);
		changed =
		    NO_ERROR(profile_set(fixture->store, odd[i], &change, now, &error));
		for (size_t j = 0; j < G_N_ELEMENTS(queries); j++)
			store_fixture_add_filter(fixture, odd[i], queries[j], now);
		/* A gap in the numbers, which subscribers know. */
		g_assert_true(subscribe_remove_filter(
		    fixture->store, odd[i], 1 + (int)(i % 3), "test", now, NULL));
	}
	store_fixture_run(
	    fixture, "UPDATE subscription SET name = '=x, \"y\"' WHERE number = 3");
	dated = profile_pause(fixture->store, odd[1], "2026-12-01", "test", now, NULL);
	open = profile_pause(fixture->store, odd[2], NULL, "test", now, NULL);
	g_assert_true(dated && open);
	store_fixture_subscribe(fixture, "left@example.org", "UTC", NULL, now);
	g_assert_true(
	    subscribe_remove(fixture->store, "left@example.org", "test", now, NULL));

	first = export_text(fixture, true);
	import_good(other, first->str, (struct asked){0}, G_N_ELEMENTS(odd));
	second = export_text(other, true);
	g_assert_cmpstr(first->str, ==, second->str);
	g_assert_nonnull(strstr(first->str, "\r\n'=cmd@example.org,'=1+1,active,"));
	g_assert_null(strstr(first->str, "left@"));
	plain = export_text(fixture, false);
	g_assert_null(strstr(plain->str, "filters"));
	g_assert_null(strstr(plain->str, "diffusion"));
}

STORE_TEST(size_of_file_and_number_of_filters_are_limited)
{
	g_autofree char *most = g_strnfill(BOUNDS_CSV_BYTES, '\n');
	g_autofree char *more = g_strnfill(BOUNDS_CSV_BYTES + 1, '\n');
	struct import_report report;
	g_autofree char *says = NULL;
	g_autofree char *fits = NULL;

	memcpy(most, "address", strlen("address"));
	memcpy(more, "address", strlen("address"));
	fits = import_text(fixture, most, (struct asked){0}, &report);
	g_assert_cmpstr(fits, ==, NULL);
	import_report_clear(&report);
	says = import_text(fixture, more, (struct asked){0}, &report);
	g_assert_cmpstr(says, ==, "people.csv: larger than 128 MiB: split it");
	import_report_clear(&report);
	for (int extra = 0; extra <= 1; extra++) {
		g_autoptr(GString) text =
		    g_string_new("address,filters\na@example.org,\"");
		g_autofree char *refusal = NULL;

		for (int i = 0; i < BOUNDS_FILTERS_PERSON + extra; i++)
			g_string_append_printf(text, "word%d\n", i);
		g_string_append(text, "\"\n");
		refusal = import_text(fixture, text->str,
		    (struct asked){.consent = "x", .is_dry_run = true}, &report);
		g_assert_true(!refusal == !extra);
		import_report_clear(&report);
	}
}

static bool
call_import(struct store_fixture *fixture, void *data, GError **error)
{
	const struct import_request request = {
	    .source = {.file = "people.csv",
	        .data = data,
	        .size = strlen(data),
	        .store = fixture->store,
	        .now = store_fixture_time(NOW),
	        .consent = "x",
	        .zone = "UTC",
	        .max_full = 20},
	    .room = G_MAXINT64,
	    .key = fixture->key,
	    .who = "test",
	};
	pb_local(import_report) report = {0};
	bool is_ok = import_people(fixture->store, &request, &report, error);

	return is_ok;
}

STORE_TEST(page_is_atomic)
{
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_import,
	        (void *)"address,filters\na@example.org,\"x\ny\"\nb@example.org,x\n",
	        true),
	    >, 10);
	assert_rows(fixture, "SELECT count(*) FROM subscriber", "2");
}

UNIT_MAIN
