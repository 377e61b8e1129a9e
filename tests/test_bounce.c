/*
 * test_bounce.c - evidence, decisions and a simulated year of bounces.
 */
#include "lib/conversation.h"
#include "lib/mailer_fixture.h"
#include "lib/unit.h"
#include "service/bounce/bounce.h"
#include "service/people/erase.h"
#include "service/people/subscribe.h"
#include "store/core/sql.h"
#include "store/mail/bounces.h"
#include "store/subscriber/subscribers.h"

/* ---- decisions ---- */

/* One row of evidence: class and hours since the start of day 0. */
struct evidence {
	const char *class;
	int hours;
	const char *message; /* NULL: a digest */
};

struct decision_case {
	const char *title;
	struct evidence rows[8];
	int probe_hours; /* 0: none; its message is "mail-9" */
	int built_hours; /* the last digest; 0: never */
	int now_hours;
	enum bounce_decision decision;
};

/* clang-format off */
static const struct decision_case decision_cases[] = {
    {"no evidence", {{0}}, 0, 7, 8, BOUNCE_WAIT},
    {"dead on one day", {{"dead", 7, NULL}}, 0, 7, 30, BOUNCE_WAIT},
    {"dead twice on one day", {{"dead", 7, NULL}, {"dead", 12, NULL}}, 0, 12, 30, BOUNCE_WAIT},
    {"dead on two days, on the second", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 0, 31, 40,
	BOUNCE_WAIT},
    {"dead on two days, on the third", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 0, 31, 49,
	BOUNCE_PROBE},
    {"a digest was built on the third", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 0, 50, 51,
	BOUNCE_WAIT},
    {"dead on one day, without a digest for two", {{"dead", 7, NULL}}, 0, 7, 56, BOUNCE_PROBE},
    {"a digest was built by a wrong clock", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 0, 9000, 51,
	BOUNCE_PROBE},
    {"the probe is on its way", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 49, 31, 60, BOUNCE_WAIT},
    {"the probe was returned", {{"dead", 7, NULL}, {"dead", 31, NULL}, {"dead", 50, "mail-9"}},
	49, 31, 51, BOUNCE_SUSPEND},
    {"a digest after the probe was returned",
	{{"dead", 7, NULL}, {"dead", 31, NULL}, {"dead", 79, NULL}}, 49, 79, 80, BOUNCE_SUSPEND},
    {"an early probe is only the second message", {{"dead", 7, NULL}, {"dead", 57, "mail-9"}},
	56, 7, 60, BOUNCE_WAIT},
    {"and is repeated a day later", {{"dead", 7, NULL}, {"dead", 57, "mail-9"}}, 56, 7, 73,
	BOUNCE_PROBE},
    {"but not on a day with a digest", {{"dead", 7, NULL}, {"dead", 57, "mail-9"}}, 56, 72, 73,
	BOUNCE_WAIT},
    {"the probe was not returned", {{"dead", 7, NULL}, {"dead", 31, NULL}}, 49, 31, 49 + 121,
	BOUNCE_CLEAR},
    {"the probe met a full mailbox, which exists", {{"dead", 7, NULL}, {"dead", 31, NULL}, {"full", 50, "mail-9"}},
	49, 31, 51, BOUNCE_CLEAR},
    {"full for three weeks", {{"full", 7, NULL}, {"full", 175, NULL}, {"full", 343, NULL},
	{"full", 511, NULL}}, 0, 511, 530, BOUNCE_WAIT},
    {"full for four weeks", {{"full", 7, NULL}, {"full", 175, NULL}, {"full", 343, NULL},
	{"full", 511, NULL}, {"full", 679, NULL}}, 0, 679, 700, BOUNCE_PROBE},
    {"full for four weeks, also on a day with a digest", {{"full", 7, NULL}, {"full", 175, NULL},
	{"full", 343, NULL}, {"full", 511, NULL}, {"full", 679, NULL}}, 0, 696, 700, BOUNCE_PROBE},
    {"full four times in four weeks, with a gap", {{"full", 7, NULL}, {"full", 31, NULL},
	{"full", 655, NULL}, {"full", 679, NULL}}, 0, 679, 700, BOUNCE_WAIT},
    {"temporary every week counts with full", {{"temporary", 7, NULL}, {"full", 175, NULL},
	{"temporary", 343, NULL}, {"full", 511, NULL}, {"full", 679, NULL}}, 0, 679, 700,
	BOUNCE_PROBE},
    {"a full mailbox accepted the probe, but not the next digest", {{"full", 7, NULL},
	{"full", 175, NULL}, {"full", 343, NULL}, {"full", 511, NULL}, {"full", 679, NULL},
	{"full", 847, NULL}}, 700, 846, 850, BOUNCE_SUSPEND},
    {"it has until the next weekly digest", {{"full", 7, NULL}, {"full", 175, NULL},
	{"full", 343, NULL}, {"full", 511, NULL}, {"full", 679, NULL}}, 700, 679, 939, BOUNCE_WAIT},
    {"and accepts that", {{"full", 7, NULL}, {"full", 175, NULL}, {"full", 343, NULL},
	{"full", 511, NULL}, {"full", 679, NULL}}, 700, 847, 941, BOUNCE_CLEAR},
};
/* clang-format on */

TEST(decisions_follow_the_days)
{
	for (size_t i = 0; i < G_N_ELEMENTS(decision_cases); i++) {
		const struct decision_case *row = &decision_cases[i];
		g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
		const struct bounce_probe probe = {9, row->probe_hours * HOUR};
		enum bounce_decision decision;

		for (size_t k = 0; k < G_N_ELEMENTS(row->rows) && row->rows[k].class;
		     k++) {
			struct bounce_row *made = g_new0(struct bounce_row, 1);

			made->class = row->rows[k].class;
			made->at = row->rows[k].hours * HOUR;
			made->message =
			    row->rows[k].message ? row->rows[k].message : "digest-1";
			g_ptr_array_add(rows, made);
		}
		decision = bounce_decide(rows, row->probe_hours ? &probe : NULL,
		    row->built_hours ? row->built_hours * HOUR : -1,
		    row->now_hours * HOUR);
		if (decision != row->decision)
			g_test_message("%s: %d", row->title, decision);
		g_assert_cmpint(decision, ==, row->decision);
	}
}

/* ---- refusals by SMTP ---- */

/* Everybody's digest is refused for our fault, and sent once that is corrected. */
static void
check_refusals(enum smtp_stage stage, const char *text, const char *enhanced)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1000, 4);
	int64_t now = store_fixture_time(NOW);
	const struct delivery taken = mailing->script.answer;

	mailing->script.answer = (struct delivery){.outcome = DELIVERY_FAILED,
	    .scope = DELIVERY_SCOPE_MESSAGE,
	    .stage = stage,
	    .code = 550,
	    .text = (char *)text};
	g_strlcpy(mailing->script.answer.enhanced, enhanced,
	    sizeof(mailing->script.answer.enhanced));
	for (int hour = 0; hour < 6; hour++)
		mailer_fixture_run_at(mailing, now + hour * HOUR, NULL);
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM outbox WHERE state = 'FAILED'", "0");
	assert_rows(mailing->fixture, "SELECT count(*) FROM bounce", "0");
	assert_rows(mailing->fixture, "SELECT domain FROM domain_pause", "example.org");
	g_assert_cmpuint(mailing->script.tried, <, 100);
	mailing->script.answer = taken;
	for (int hour = 6; hour < 6 + 30; hour++)
		mailer_fixture_run_at(mailing, now + hour * HOUR, NULL);
	assert_rows(mailing->fixture, "SELECT state, count(*) FROM outbox GROUP BY 1",
	    "SENT|1000");
	assert_rows(mailing->fixture, "SELECT count(*) FROM domain_pause", "0");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "2000");
}

TEST(refusals_at_rcpt_pause_the_domain)
{
	check_refusals(SMTP_STAGE_RCPT,
	    "550 5.7.26 Unauthenticated email from example.org is not accepted",
	    "5.7.26");
}

TEST(refusals_after_data_pause_the_domain)
{
	check_refusals(SMTP_STAGE_DOT,
	    "550 5.7.26 Unauthenticated email from example.org is not accepted",
	    "5.7.26");
}

TEST(refusals_without_an_enhanced_code_pause_the_domain)
{
	check_refusals(SMTP_STAGE_RCPT,
	    "550 Message rejected: 192.0.2.7 is listed by a blocklist", "");
}

/* ---- reports ---- */

struct bench {
	struct conversation *conversation;
	int64_t now;
};

static struct bounce_context
make_context(const struct bench *bench)
{
	const struct conversation *c = bench->conversation;

	return (struct bounce_context){
	    .mailer = {c->fixture->store, c->settings, c->own_addresses, &c->random,
	        bench->now},
	    .key = c->fixture->key,
	    .catalog = c->options.phrases,
	};
}

struct recording {
	const struct bounce_context *context;
	const struct bounce_subject *subject;
	const struct bounce_report *report;
	enum bounce_effect effect; /* set */
};

static bool
record_in_transaction(struct store *store, void *data, GError **error)
{
	struct recording *recording = data;

	(void)store;
	return bounce_record(recording->context, recording->subject, recording->report,
	    &recording->effect, error);
}

static enum bounce_effect
record(const struct bench *bench, const struct bounce_subject *subject,
    enum bounce_class class, enum bounce_fault fault)
{
	const struct bounce_context context = make_context(bench);
	char line[] = "550 made up";
	const struct bounce_report report = {
	    .kind = BOUNCE_KIND_BOUNCE,
	    .verdict = {class, fault, "made-up"},
	    .line = line,
	};
	struct recording recording = {&context, subject, &report, 0};
	GError *error = NULL;

	store_transact(context.mailer.store, record_in_transaction, &recording, &error);
	g_assert_no_error(error);
	return recording.effect;
}

static struct bounce_run_report
run(const struct bench *bench)
{
	const struct bounce_context context = make_context(bench);
	struct bounce_run_report report;
	GError *error = NULL;

	bounce_run(&context, &report, &error);
	g_assert_no_error(error);
	return report;
}

static struct bench
bench_new(void)
{
	struct bench bench = {.conversation = conversation_new()};

	conversation_load_templates(bench.conversation);
	bench.now = bench.conversation->options.now;
	return bench;
}

static void
bench_clear(struct bench *bench)
{
	conversation_free(bench->conversation);
}

/* Reports of our fault, about the digests of the subscribers first..last. */
static unsigned
record_refusals(const struct bench *bench, int first, int last)
{
	unsigned queued = 0;

	for (int id = first; id <= last; id++) {
		const struct bounce_subject subject = {
		    .subscriber_id = id, .digest_id = id};

		queued += record(bench, &subject, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN) ==
		          BOUNCE_EFFECT_QUEUED;
	}
	return queued;
}

#define PAUSED "SELECT count(*) FROM domain_pause"
#define QUEUED                                                                        \
	"SELECT kind, state, count(*) FROM outbox WHERE kind = 'notice' OR state <> " \
	"'SENT' GROUP BY 1, 2 ORDER BY 1, 2"
#define TESTED \
	"SELECT subscriber_id, count(*) FROM outbox WHERE kind = 'notice' GROUP BY 1"

/* Reports about 1,000 digests that the relay accepted: a message to the subscriber of
 * longest standing tests whether they are true. */
TEST(reports_of_our_fault_pause_a_domain_that_returns_a_test)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1000, 4);
	pb_local(bench) bench = bench_new();
	struct conversation *made = bench.conversation, conversation = *made;
	struct bounce_subject test = {.subscriber_id = 1};

	conversation.fixture = mailing->fixture;
	bench.conversation = &conversation;
	bench.now = store_fixture_time(NOW);
	mailer_fixture_run_at(mailing, bench.now, NULL);
	assert_rows(mailing->fixture, "SELECT state, count(*) FROM outbox GROUP BY 1",
	    "SENT|1000");
	/* Two people say nothing of a domain, and it can be the third that lies. */
	bench.now += 600;
	g_assert_cmpuint(record_refusals(&bench, 979, 980), ==, 0);
	g_assert_cmpuint(record_refusals(&bench, 979, 980), ==, 0);
	g_assert_cmpuint(record_refusals(&bench, 981, 1000), ==, 1);
	assert_rows(mailing->fixture, QUEUED, "notice|NEW|1");
	assert_rows(mailing->fixture, TESTED, "1|1");
	mailer_fixture_run_at(mailing, bench.now + 60, NULL);
	assert_rows(mailing->fixture, QUEUED, "notice|SENT|1");
	/* An answer after two hours is none, and the next test waits. */
	test.outbox_id = store_fixture_number(
	    mailing->fixture, "SELECT id FROM outbox WHERE kind = 'notice'");
	bench.now += 3 * HOUR;
	g_assert_cmpint(record(&bench, &test, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN), ==,
	    BOUNCE_EFFECT_RECORDED);
	assert_rows(mailing->fixture, PAUSED, "0");
	bench.now += 4 * HOUR;
	g_assert_cmpuint(record_refusals(&bench, 3, 3), ==, 1);
	assert_rows(mailing->fixture, TESTED, "1|1 2|1");
	mailer_fixture_run_at(mailing, bench.now, NULL);
	/* This one is returned. */
	test.subscriber_id = 2;
	test.outbox_id = store_fixture_number(
	    mailing->fixture, "SELECT max(id) FROM outbox WHERE kind = 'notice'");
	bench.now += 60;
	g_assert_cmpint(record(&bench, &test, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN), ==,
	    BOUNCE_EFFECT_QUEUED);
	g_assert_cmpint(record(&bench, &test, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN), ==,
	    BOUNCE_EFFECT_NONE);
	assert_rows(mailing->fixture, "SELECT domain, rule FROM domain_pause",
	    "example.org|made-up");
	assert_rows(
	    mailing->fixture, QUEUED, "digest|DEFERRED|23 notice|NEW|1 notice|SENT|2");
	assert_rows(mailing->fixture, TESTED, "1|1 2|2");
	/* Reports during the pause. */
	g_assert_cmpuint(record_refusals(&bench, 4, 1000), ==, 997 - 22);
	g_assert_cmpuint(record_refusals(&bench, 1, 2), ==, 2);
	assert_rows(mailing->fixture, QUEUED,
	    "digest|DEFERRED|1000 notice|NEW|1 notice|SENT|2");
	assert_rows(mailing->fixture, "SELECT sum(is_scored) FROM bounce", "0");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "0");
	mailing->script.tried = 0;
	mailer_fixture_run_at(mailing, bench.now + 60, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 0);
	/* The test is first; it is returned again, and the domain is paused for longer.
	 */
	bench.now += HOUR;
	mailer_fixture_run_at(mailing, bench.now, NULL);
	assert_rows(mailing->fixture, QUEUED, "digest|DEFERRED|1000 notice|SENT|3");
	test.outbox_id = store_fixture_number(
	    mailing->fixture, "SELECT max(id) FROM outbox WHERE kind = 'notice'");
	record(&bench, &test, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN);
	assert_rows(mailing->fixture, PAUSED " WHERE until - since >= 7200", "1");
	for (int hour = 1; hour < 30; hour++)
		mailer_fixture_run_at(mailing, bench.now + hour * HOUR, NULL);
	assert_rows(mailing->fixture, QUEUED, "notice|SENT|4");
	assert_rows(mailing->fixture, TESTED, "1|1 2|3");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "2000");
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM subscriber WHERE state <> 'active'", "0");
	bench.conversation = made;
}

static void
save_pause(struct store *store, int64_t since, int64_t until, const char *reply)
{
	const struct domain_pause pause = {
	    "example.org", since, until, "policy", reply};

	g_assert_true(domain_pauses_save(store, &pause, NULL));
}

STORE_TEST(pause_keeps_the_first_refusal_for_a_day)
{
	static const char sql[] = "SELECT since, until, reply FROM domain_pause";

	save_pause(fixture->store, 0, HOUR, "first");
	save_pause(fixture->store, 2 * HOUR, 4 * HOUR, "second");
	assert_rows(fixture, sql, "0|14400|first");
	save_pause(fixture->store, 29 * HOUR, 30 * HOUR, "third");
	assert_rows(fixture, sql, "104400|108000|third");
}

/* ---- a simulated year ---- */

/* Behaviour of an address.  Days are those of the simulation; -1: never. */
struct person {
	int64_t id;
	int domain;
	int hours; /* between digests */
	int dies;  /* first day without the mailbox */
	int full, full_days;
	int64_t digests;       /* sent so far */
	int watched_until;     /* day; bounced lately */
	int64_t first_dead_at; /* and it was; or -1 */
	int64_t suspended_at;
	int mails_after; /* sent after that bounce */
	int64_t last_mail_day;
	bool is_twice_a_day; /* two messages on one day after that bounce */
};

#define YEAR_DAYS 365
#define BIG       0 /* the provider with a week of bad reputation */
#define OUTAGE    1 /* the provider that forgets its users for three days */
#define SMALL     2 /* from here on domains of ten people; every fifth is out for a day */

struct year {
	struct bench bench;
	struct person *people;
	int count;
	int64_t start;
	GRand *rand;
	int64_t next_digest;
};

static struct person *
find_person(struct year *year, int64_t subscriber_id)
{
	return &year->people[subscriber_id - 1];
}

static void
make_people(struct year *year)
{
	GString *sql = g_string_new(
	    "INSERT INTO subscriber (address, address_key, state, frequency, weekdays,"
	    " minute, zone, max_full, created_at, consent_at, consent_text,"
	    " next_due_at) VALUES ");

	for (int i = 0; i < year->count; i++) {
		struct person *person = &year->people[i];
		int kind = g_rand_int_range(year->rand, 0, 100);

		*person = (struct person){.id = i + 1,
		    .hours = kind < 10   ? 1
		             : kind < 20 ? 168
		                         : 24,
		    .dies = -1,
		    .full = -1,
		    .first_dead_at = -1,
		    .suspended_at = -1,
		    .last_mail_day = -1};
		person->domain = i % 10 < 5   ? BIG
		                 : i % 10 < 8 ? OUTAGE
		                              : SMALL + i / 50;
		if (g_rand_int_range(year->rand, 0, 100) < 3)
			person->dies = g_rand_int_range(year->rand, 0, YEAR_DAYS - 20);
		else if (g_rand_int_range(year->rand, 0, 100) < 5) {
			person->full = g_rand_int_range(year->rand, 0, YEAR_DAYS);
			person->full_days = g_rand_int_range(year->rand, 1, 22);
		}
		g_string_append_printf(sql,
		    "%s('p%d@d%d.example', 'p%d@d%d.example', 'active', 'daily', 127, "
		    "420,"
		    " 'UTC', 20, %" G_GINT64_FORMAT ", 1, 'yes', %" G_GINT64_FORMAT ")",
		    i ? ", " : "", i + 1, person->domain, i + 1, person->domain,
		    year->start, year->start + 7 * HOUR);
	}
	store_fixture_run(year->bench.conversation->fixture, sql->str);
	g_string_free(sql, TRUE);
}

/* Reply of the server of an address; UNKNOWN: it accepts. */
static enum bounce_class
get_answer(const struct person *person, int day)
{
	if (person->dies >= 0 && day >= person->dies)
		return BOUNCE_DEAD;
	if (person->full >= 0 && day >= person->full &&
	    day < person->full + person->full_days)
		return BOUNCE_FULL;
	if (person->domain == BIG && day >= 100 && day < 107)
		return BOUNCE_SENDER;
	if (person->domain == OUTAGE && day >= 200 && day < 203)
		return BOUNCE_DEAD;
	if (person->domain >= SMALL && person->domain % 5 == 0 && day % 90 == 30)
		return BOUNCE_DEAD;
	return BOUNCE_UNKNOWN;
}

/* A message arrives, or comes back a minute later. */
static void
deliver(struct year *year, struct person *person, struct bounce_subject *subject)
{
	int64_t now = year->bench.now;
	int day = (int)((now - year->start) / DAY);
	enum bounce_class class = get_answer(person, day);

	if (person->first_dead_at >= 0) {
		person->mails_after++;
		person->is_twice_a_day |= person->last_mail_day == now / DAY;
	}
	person->last_mail_day = now / DAY;
	if (class == BOUNCE_UNKNOWN)
		return;
	person->watched_until = day + 60;
	if (person->dies >= 0 && day >= person->dies && person->first_dead_at < 0)
		person->first_dead_at = now;
	subject->subscriber_id = person->id;
	year->bench.now = now + 60;
	record(&year->bench, subject, class,
	    class == BOUNCE_SENDER ? BOUNCE_FAULT_DOMAIN : BOUNCE_FAULT_NONE);
	year->bench.now = now;
}

/* Whether anything about a person is worth simulating on a day. */
static bool
is_watched(const struct person *person, int day)
{
	return day < person->watched_until || get_answer(person, day) != BOUNCE_UNKNOWN;
}

/* The people whose digests are due, and about whom anything is worth simulating. */
static GPtrArray *
find_due(struct year *year, int day)
{
	g_autofree char *sql = g_strdup_printf(
	    "SELECT id FROM subscriber WHERE state = 'active' AND next_due_at <="
	    " %" G_GINT64_FORMAT " ORDER BY id",
	    year->bench.now);
	g_autofree char *text =
	    store_fixture_text(year->bench.conversation->fixture, sql);
	g_auto(GStrv) ids = g_strsplit(text, " ", -1);
	GPtrArray *due = g_ptr_array_new();

	for (size_t i = 0; ids[i]; i++) {
		struct person *person =
		    find_person(year, g_ascii_strtoll(ids[i], NULL, 10));

		if (person->suspended_at < 0 && is_watched(person, day) &&
		    (person->hours != 168 || (day + person->id - 1) % 7 == 0))
			g_ptr_array_add(due, person);
	}
	return due;
}

/* Send the digests that are due. */
static void
send_digests(struct year *year)
{
	int day = (int)((year->bench.now - year->start) / DAY);
	g_autoptr(GPtrArray) due = find_due(year, day);
	g_autoptr(GString) sql =
	    g_string_new("INSERT INTO digest (subscriber_id, slot, date, message_token,"
	                 " created_at, state, papers, newest_day, contents) VALUES ");

	for (unsigned i = 0; i < due->len; i++) {
		const struct person *person = due->pdata[i];

		g_string_append_printf(sql,
		    "%s(%" G_GINT64_FORMAT ", 's%" G_GINT64_FORMAT
		    "', '2026-01-01', '12345678901234567', %" G_GINT64_FORMAT
		    ", 'sent', 0, '2026-01-01', x'01')",
		    i ? ", " : "", person->id, year->next_digest + i, year->bench.now);
	}
	if (due->len)
		store_fixture_run(year->bench.conversation->fixture, sql->str);
	for (unsigned i = 0; i < due->len; i++) {
		struct bounce_subject subject = {.digest_id = year->next_digest++};

		deliver(year, due->pdata[i], &subject);
	}
}

/* Send the probes in the outbox. */
static void
send_probes(struct year *year)
{
	struct store_fixture *fixture = year->bench.conversation->fixture;

	for (;;) {
		int64_t id = store_fixture_number(
		    fixture, "SELECT min(id) FROM outbox WHERE state = 'NEW'");
		struct bounce_subject subject = {.outbox_id = id};
		g_autofree char *sql = NULL;

		if (id < 0)
			return;
		sql = g_strdup_printf(
		    "UPDATE outbox SET state = 'SENDING', claimed_at = 1,"
		    " attempt = 1, next_try_at = NULL WHERE id = %1$d;"
		    " UPDATE outbox SET state = 'SENT', ended_at = 1,"
		    " message = NULL WHERE id = %1$d",
		    (int)id);
		store_fixture_run(fixture, sql);
		g_free(sql);
		sql = g_strdup_printf(
		    "SELECT subscriber_id FROM outbox WHERE id = %d", (int)id);
		deliver(year, find_person(year, store_fixture_number(fixture, sql)),
		    &subject);
	}
}

static void
note_suspended(struct year *year)
{
	g_autofree char *text = store_fixture_text(year->bench.conversation->fixture,
	    "SELECT id FROM subscriber WHERE state = 'suspended'");
	g_auto(GStrv) ids = g_strsplit(text, " ", -1);

	for (size_t i = 0; ids[i] && *ids[i]; i++) {
		struct person *person =
		    find_person(year, g_ascii_strtoll(ids[i], NULL, 10));

		if (person->suspended_at < 0)
			person->suspended_at = year->bench.now;
	}
}

static void
simulate_day(struct year *year, int day)
{
	for (int hour = 0; hour < 24; hour += 4) {
		year->bench.now = year->start + (int64_t)day * DAY + hour * HOUR + 300;
		if (hour >= 8)
			send_digests(year);
		run(&year->bench);
		send_probes(year);
	}
	note_suspended(year);
}

static void
check_year(const struct year *year)
{
	int dead = 0, found = 0, wrong = 0, late = 0, most = 0, twice = 0;
	int64_t slowest = 0;

	for (int i = 0; i < year->count; i++) {
		const struct person *person = &year->people[i];
		int64_t took =
		    person->suspended_at - (year->start + (int64_t)person->dies * DAY);

		if (person->dies < 0) {
			wrong += person->suspended_at >= 0;
			continue;
		}
		dead++;
		found += person->suspended_at >= 0;
		if (person->suspended_at >= 0)
			slowest = MAX(slowest, took);
		late += person->suspended_at < 0 || took > 14 * DAY;
		most = MAX(most, person->mails_after);
		twice += person->is_twice_a_day;
	}
	g_test_message(
	    "%d people, %d dead: %d suspended, the slowest after %d days, late %d,"
	    " live suspended %d, at most %d mails after the first bounce, twice a"
	    " day %d",
	    year->count, dead, found, (int)(slowest / DAY), late, wrong, most, twice);
	g_assert_cmpint(wrong, ==, 0);
	g_assert_cmpint(late, ==, 0);
	g_assert_cmpint(found, ==, dead);
	g_assert_cmpint(most, <=, 6);
	g_assert_cmpint(twice, ==, 0);
}

TEST(a_year_suspends_the_dead_and_nobody_else)
{
	struct year year = {
	    .bench = bench_new(), .rand = g_rand_new_with_seed(17), .next_digest = 1};

	year.count = g_getenv("PAPERBOY_LONG") ? 10000 : 300;
	year.start = year.bench.now / DAY * DAY;
	year.people = g_new0(struct person, year.count);
	/* Nothing is killed here. */
	store_fixture_run(year.bench.conversation->fixture, "PRAGMA synchronous = OFF");
	make_people(&year);
	for (int day = 0; day < YEAR_DAYS; day++)
		simulate_day(&year, day);
	check_year(&year);
	g_rand_free(year.rand);
	g_free(year.people);
	bench_clear(&year.bench);
}

/* ---- effects ---- */

TEST(suspended_subscriber_is_restored_by_authenticated_mail)
{
	pb_local(bench) bench = bench_new();
	struct conversation *c = bench.conversation;
	pb_auto(inmail) mail = conversation_new_mail(EVA, "list", "");

	conversation_subscribe(c, EVA);
	conversation_set(&c->settings->commands_authserv_id, "mx.example.org");
	for (int day = 0; day < 3; day++) {
		const struct bounce_subject subject = {.subscriber_id = 1,
		    .digest_id = day < 2 ? day + 1 : 0,
		    .outbox_id = day < 2 ? 0 : 1};

		record(&bench, &subject, BOUNCE_DEAD, BOUNCE_FAULT_NONE);
		bench.now = (bench.now / DAY + 1) * DAY + HOUR;
		run(&bench);
	}
	assert_rows(
	    c->fixture, "SELECT state, next_due_at FROM subscriber", "suspended|-");
	/* From can be forged. */
	c->options.now = bench.now;
	conversation_hand_in(c, mail, EVA, HOME);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "suspended");
	conversation_add_pass(mail, "mx.example.org");
	conversation_hand_in(c, mail, EVA, HOME);
	assert_rows(
	    c->fixture, "SELECT state, next_due_at > 0 FROM subscriber", "active|1");
	assert_rows(c->fixture, "SELECT sum(is_scored) FROM bounce", "0");
	assert_rows(c->fixture, "SELECT count(*) FROM bounce_probe", "0");
}

/* The outcome of a message to the subscriber that the server refused. */
static void
add_failure(struct bench *bench, const char *recipient)
{
	struct store *store = bench->conversation->fixture->store;
	static const char sql[] =
	    "INSERT INTO outbox (kind, subscriber_id, recipient, address_key, sender,"
	    " state, attempt, queued_at, claimed_at, ended_at, failed_stage, code,"
	    " reply) VALUES ('notice', 1, ?1, lower(?1), '', 'FAILED', 1, ?2, ?2, ?2,"
	    " ?3, 550, '550 5.1.1 user unknown')";
	GError *error = NULL;

	sql_exec(store, sql, &error, SQL_TEXT(recipient), SQL_INT(bench->now),
	    SQL_INT(SMTP_STAGE_RCPT));
	g_assert_no_error(error);
}

TEST(evidence_of_a_wrong_clock_does_not_count)
{
	pb_local(bench) bench = bench_new();
	const struct bounce_subject first = {.subscriber_id = 1, .digest_id = 1};
	const struct bounce_subject second = {.subscriber_id = 1, .digest_id = 2};

	conversation_subscribe(bench.conversation, EVA);
	bench.now += 400 * DAY;
	record(&bench, &first, BOUNCE_DEAD, BOUNCE_FAULT_NONE);
	bench.now -= 400 * DAY;
	record(&bench, &second, BOUNCE_DEAD, BOUNCE_FAULT_NONE);
	bench.now += 3 * DAY;
	g_assert_cmpuint(run(&bench).probes, ==, 1);
}

TEST(evidence_does_not_follow_to_another_address)
{
	pb_local(bench) bench = bench_new();
	struct conversation *c = bench.conversation;
	pb_auto(subscriber) moved = NULL;

	conversation_subscribe(c, EVA);
	add_failure(&bench, EVA);
	bench.now += DAY;
	add_failure(&bench, EVA);
	run(&bench);
	bench.now = (bench.now / DAY + 1) * DAY + HOUR;
	assert_rows(c->fixture, "SELECT sum(is_scored) FROM bounce", "2");
	g_assert_cmpuint(run(&bench).probes, ==, 1); /* they failed on two days */
	g_assert_true(sql_exec(c->fixture->store,
	    "UPDATE subscriber SET state = 'suspended', next_due_at = NULL", NULL));
	moved = subscribe_change_address(c->fixture->store, EVA, "eva@example.net",
	    c->fixture->key, "test", bench.now, NULL);
	g_assert_nonnull(moved);
	assert_rows(
	    c->fixture, "SELECT state, next_due_at > 0 FROM subscriber", "active|1");
	add_failure(&bench, EVA); /* the notice to the former address */
	run(&bench);
	assert_rows(c->fixture, "SELECT sum(is_scored), count(*) FROM bounce", "0|2");
	assert_rows(c->fixture, "SELECT count(*) FROM bounce_probe", "0");
}

TEST(suspended_subscriber_is_restored_by_a_confirmation)
{
	pb_local(bench) bench = bench_new();
	struct conversation *c = bench.conversation;
	pb_auto(inmail) request = conversation_new_mail(EVA, "add graphene", "");
	pb_auto(inmail) reply = conversation_new_mail(EVA, "Re: confirm", "yes");
	g_autoptr(GRegex) regex = g_regex_new("paperboy\\+c-\\w+@[\\w.]+", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *mail = NULL;
	g_autofree char *address = NULL;

	conversation_subscribe(c, EVA);
	g_assert_true(sql_exec(c->fixture->store,
	    "UPDATE subscriber SET state = 'suspended', next_due_at = NULL", NULL));
	conversation_hand_in(c, request, EVA, HOME);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "suspended");
	mail = conversation_get_mail(c);
	g_assert_true(g_regex_match(regex, mail, 0, &match));
	address = g_match_info_fetch(match, 0);
	conversation_hand_in(c, reply, EVA, address);
	assert_rows(
	    c->fixture, "SELECT state, next_due_at > 0 FROM subscriber", "active|1");
}

static enum bounce_effect
complain(struct bench *bench, int64_t digest_id)
{
	const struct bounce_context context = make_context(bench);
	const struct bounce_subject subject = {
	    .subscriber_id = 1, .digest_id = digest_id};
	const struct bounce_report report = {.kind = BOUNCE_KIND_COMPLAINT,
	    .verdict = {BOUNCE_COMPLAINT, BOUNCE_FAULT_NONE, "feedback-report"}};
	enum bounce_effect effect;

	g_assert_true(bounce_record(&context, &subject, &report, &effect, NULL));
	return effect;
}

#define SUPPRESSED                                                         \
	"SELECT (SELECT state FROM subscriber), (SELECT max(reason) FROM " \
	"suppression),"                                                    \
	" (SELECT count(*) FROM outbox)"

/* Requests of suppressed people, after a complaint and by the operator. */
static const struct step returning[] = {
    MAIL(EVA, "$leave", "", "no reply: suppressed", NULL),
    MAIL(EVA, HOME, "$undo", "replied", NULL),
    HAS("suppressed"),
    ROWS(SUPPRESSED, "gone|complaint|2"),
    MAIL(EVA, HOME, "help", "replied", NULL),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("answer"),
    ROWS(SUPPRESSED, "gone|complaint|4"),
    MAIL(EVA, "$answer", "Re: yes", "replied", NULL, .text = "yes"),
    HAS("Welcome"),
    ROWS(SUPPRESSED, "active|-|5"),
    {.kind = STEP_END},
};
static const struct step staying[] = {
    MAIL(EVA, HOME, "help", "no reply: suppressed", NULL),
    MAIL(EVA, HOME, "subscribe", "no reply: suppressed", NULL),
    ROWS(SUPPRESSED, "gone|operator|5"),
    {.kind = STEP_END},
};
static const struct step leaving[] = {
    MAIL(EVA, "$leave", "", "replied", NULL),
    SAVE_UNDO("undo"),
    {.kind = STEP_END},
};

/* Anybody who has a digest can unsubscribe and undo: a complaint stays. */
TEST(suppressed_person_can_come_back_after_a_complaint_only)
{
	pb_local(bench) bench = bench_new();
	struct conversation *c = bench.conversation;
	const struct erase_request request = {
	    .address = EVA, .who = "test", .key = c->fixture->key};

	conversation_subscribe(c, EVA);
	g_hash_table_insert(c->saved, g_strdup("leave"),
	    conversation_format_leave(c, c->fixture->key, 1));
	conversation_play(c, leaving);
	g_assert_cmpint(complain(&bench, 1), ==, BOUNCE_EFFECT_UNSUBSCRIBED);
	conversation_play(c, returning);
	g_assert_cmpint(complain(&bench, 2), ==, BOUNCE_EFFECT_UNSUBSCRIBED);
	g_assert_true(erase_suppress(
	    c->fixture->store, &request, ERASE_OPERATOR, bench.now, NULL));
	conversation_play(c, staying);
}

/* As the operator and a confirmation do. */
static void
subscribe_again(struct bench *bench)
{
	static const char *const sql[] = {
	    "DELETE FROM suppression", "UPDATE subscriber SET state = 'active'"};

	for (size_t i = 0; i < G_N_ELEMENTS(sql); i++)
		g_assert_true(
		    sql_exec(bench->conversation->fixture->store, sql[i], NULL));
}

TEST(complaint_counts_after_another_report_and_once_a_subscription)
{
	pb_local(bench) bench = bench_new();
	const struct bounce_subject digest = {.subscriber_id = 1, .digest_id = 1};

	conversation_subscribe(bench.conversation, EVA);
	record(&bench, &digest, BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN);
	g_assert_cmpint(complain(&bench, 1), ==, BOUNCE_EFFECT_UNSUBSCRIBED);
	record(&bench, &digest, BOUNCE_DEAD, BOUNCE_FAULT_NONE);
	subscribe_again(&bench);
	/* A replay; but the token to unsubscribe is a new one. */
	g_assert_cmpint(complain(&bench, 1), ==, BOUNCE_EFFECT_NONE);
	g_assert_cmpint(complain(&bench, 0), ==, BOUNCE_EFFECT_UNSUBSCRIBED);
	g_assert_cmpint(complain(&bench, 0), ==, BOUNCE_EFFECT_NONE);
	subscribe_again(&bench);
	g_assert_cmpint(complain(&bench, 0), ==, BOUNCE_EFFECT_UNSUBSCRIBED);
}

UNIT_MAIN_WITH_WARNINGS
