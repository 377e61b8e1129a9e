/*
 * test_command.c - messages with commands, and the replies to them.
 *
 * The replies are in tests/golden/answers.  GOLDEN_WRITE=1 in the environment writes
 * them; read the difference before you commit it.
 */
#include "service/command/command.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "message/bibliography.h"
#include "message/command_text.h"
#include "service/command/command_private.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/people/filters.h"
#include "service/people/sharing.h"
#include "service/people/subscribe.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"
#define EVE "eve@example.org"

struct requester {
	const char *address;
	int64_t subscriber_id;
	bool is_proven;
	const char *language;
	int64_t digest_id;
	const char *verb;
	const char *confirmed_by; /* text of the reply */
};

/* An environment for commands; its user is Ada, proven. */
struct command_test {
	struct conversation *conversation;
	struct store_fixture *fixture; /* borrowed */
	struct request request;        /* to be copied */
	struct requester user;
	const char *works; /* of an attached file, with | between them; or NULL */
	int64_t ada;
};

#define reply_auto __attribute__((cleanup(command_reply_clear))) struct command_reply

static char *
get_source_path(const char *path)
{
	const char *top = g_getenv("top_srcdir");

	return g_build_filename(top ? top : ".", path, NULL);
}

static void
fill(struct store_fixture *fixture)
{
	static const char *const papers[][3] = {
	    {"2026-11-02", "2611.00007", "Diffusion for Weather"},
	    {"2026-11-12", "2611.01200", "A Survey of Reward Models"},
	    {"2026-11-16", "2611.03300", "Diffusion with a Reward Model"},
	    {"2026-11-18", "2611.04400", "Learning State Spaces from Video"},
	    {"2026-11-19", "2611.05500", "Faster Diffusion on Small Machines"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(papers); i++)
		store_fixture_list(
		    fixture, papers[i][0], papers[i][1], papers[i][2], 3 + (int)i);
}

static struct command_test *
command_test_new(void)
{
	struct command_test *test = g_new0(struct command_test, 1);
	struct conversation *conversation = conversation_new();
	struct settings *settings = conversation->settings;
	int64_t now = store_fixture_time(NOW);

	test->conversation = conversation;
	test->fixture = conversation->fixture;
	store_fixture_set_now(test->fixture, now);
	fill(test->fixture);
	conversation_set(&settings->mail_from, "paperboy@example.net");
	conversation_set(&settings->mail_owner, "owner@example.net");
	conversation_set(&settings->digest_zone, "Europe/Berlin");
	conversation_set(&settings->commands_address, "");
	conversation_load_templates(conversation);
	test->ada = store_fixture_subscribe(
	    test->fixture, ADA, "Europe/Berlin", "diffusion", now);
	store_fixture_build_digests(test->fixture, now);
	test->user = (struct requester){
	    .address = ADA, .subscriber_id = test->ada, .is_proven = true};
	test->request = (struct request){
	    .store = test->fixture->store,
	    .settings = settings,
	    .sources = conversation->sources,
	    .catalog = conversation->options.phrases,
	    .renderer = conversation->renderer,
	    .own_addresses = conversation->own_addresses,
	    .key = test->fixture->key,
	    .now = now + 60,
	    .commands_address = "paperboy@example.net",
	    .run_line = command_run_line,
	    .help_address = "paperboy+help@example.net",
	    .actor = "mail",
	};
	return test;
}

static void
command_test_free(struct command_test *test)
{
	conversation_free(test->conversation);
	g_free(test);
}
PB_DEFINE_AUTO(command_test, command_test_free);

/* @param subject_and_text  subject, LF, text */
static struct inmail *
write_mail(const char *subject_and_text)
{
	struct inmail *mail = inmail_new();
	const char *end = strchr(subject_and_text, '\n');

	g_assert_nonnull(end);
	g_free(mail->subject);
	mail->subject = g_strndup(subject_and_text, (gsize)(end - subject_and_text));
	g_free(mail->text);
	mail->text = g_strdup(end + 1);
	return mail;
}

static void
begin_request(
    struct command_test *test, const struct inmail *mail, struct request *request)
{
	const struct requester *user = &test->user;

	*request = test->request;
	request->address = g_strdup(user->address);
	request->subscriber_id = user->subscriber_id;
	request->is_proven = user->is_proven;
	request->language = user->language;
	request->digest_id = user->digest_id;
	request->verb = user->verb;
	request->mail = mail;
	request->is_reply = user->confirmed_by != NULL;
}

/* Commands in their transaction. */
struct commands {
	struct command_test *test;
	const struct inmail *mail;
	const char *pending;        /* confirmed commands to run, or NULL */
	struct command_reply reply; /* set */
};

static bool
run_commands(struct store *store, void *data, GError **error)
{
	struct commands *commands = data;
	pb_local(request) request;
	bool is_ok;

	(void)store;
	command_reply_clear(&commands->reply);
	begin_request(commands->test, commands->mail, &request);
	request.is_proven = request.is_proven || commands->pending;
	is_ok = commands->pending
	            ? command_run_confirmed(&request, commands->pending, error)
	            : command_run(&request, error);
	commands->reply = request.reply;
	request.reply = (struct command_reply){0};
	return is_ok;
}

/* @param pending  confirmed commands to run, or NULL @param reply  set to the result */
static void
run_request(struct command_test *test, const char *text, const char *pending,
    struct command_reply *reply)
{
	pb_auto(inmail) mail = write_mail(text);
	g_auto(GStrv) works = g_strsplit(test->works ? test->works : "", "|", -1);
	struct commands commands = {.test = test, .mail = mail, .pending = pending};

	for (char **work = works; *work; work++)
		g_ptr_array_add(mail->works, g_strdup(*work));
	mail->unnamed_works = test->works != NULL;
	NO_ERROR(store_transact(test->fixture->store, run_commands, &commands, &error));
	store_fixture_assert_idle(test->fixture);
	*reply = commands.reply;
}

static void
run(struct command_test *test, const char *text, struct command_reply *reply)
{
	run_request(test, text, NULL, reply);
}

static void
run_confirmed(
    struct command_test *test, const char *pending, struct command_reply *reply)
{
	const char *consent = test->user.confirmed_by;
	g_autofree char *text = g_strconcat("\n", consent ? consent : "", NULL);

	run_request(test, text, pending, reply);
}

/* A word that is longer than a line is not broken. */
static bool
is_one_word(const char *line)
{
	return !strchr(line + strspn(line, "> "), ' ');
}

/* No line is too long or ends in a blank, and no placeholder is left. */
static void
check_text(const char *name, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		if ((g_utf8_strlen(*line, -1) > BOUNDS_TEXT_COLUMNS &&
		        !is_one_word(*line)) ||
		    g_str_has_suffix(*line, " ") || strchr(*line, '{'))
			g_error("%s: a line is wrong: '%s'", name, *line);
	}
	g_assert_true(g_utf8_validate(text, -1, NULL));
}

static void
compare_golden(const char *name, const char *text)
{
	g_autofree char *directory = get_source_path("tests/golden/answers");
	g_autofree char *file = g_strconcat(name, ".txt", NULL);
	g_autofree char *path = g_build_filename(directory, file, NULL);
	g_autofree char *wanted = NULL;

	check_text(name, text);
	if (g_getenv("GOLDEN_WRITE")) {
		NO_ERROR(g_file_set_contents(path, text, -1, &error));
		return;
	}
	NO_ERROR(g_file_get_contents(path, &wanted, NULL, &error));
	g_assert_cmpstr(text, ==, wanted);
}

/* A message, and the file of its reply. */
struct scene {
	const char *name;
	const char *sender; /* "unknown", "unproven" or "proven" */
	const char *text;   /* subject, line end, text */
	const char *language;
	const char
	    *is_answered;      /* pending commands are confirmed: NAME-confirmed.txt */
	const char *bounces;   /* messages returned on the days before */
	const char *is_shared; /* Eve shares a filter */
};

static void
add_bounces(struct command_test *test, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *sql = g_strdup_printf(
		    "INSERT INTO bounce (subscriber_id, message, at, class, is_scored,"
		    " rule, line) VALUES (%" G_GINT64_FORMAT ", 'digest-%u',"
		    " %" G_GINT64_FORMAT ", '%s', 1, 'mailbox-full',"
		    " '552 5.2.2 <ada@example.org>: over quota')",
		    test->ada, i + 1,
		    test->request.now - (int64_t)(count - i) * CLOCK_DAY_S,
		    i ? "full" : "dead");

		store_fixture_run(test->fixture, sql);
	}
}

static void
add_share(struct command_test *test)
{
	const struct sharing_actor eve = {test->fixture->store, EVE, "mail",
	    test->request.now, BOUNDS_FILTERS_PERSON};
	g_autofree char *name = NULL;

	store_fixture_subscribe(
	    test->fixture, EVE, "UTC", "weather OR survey", test->request.now);
	NO_ERROR(sharing_share(&eve, 1, "weather-news", &name, &error));
}

static void
play(const void *data)
{
	const struct scene *scene = data;
	pb_auto(command_test) test = command_test_new();
	bool is_unknown = strcmp(scene->sender, "unknown") == 0;
	bool is_proven = strcmp(scene->sender, "proven") == 0;
	reply_auto reply = {0}, after = {0};
	g_autofree char *hash = NULL;
	g_autofree char *hash_after = NULL;

	test->user = (struct requester){
	    .address = is_unknown ? EVE : ADA,
	    .subscriber_id = is_unknown ? 0 : test->ada,
	    .is_proven = is_proven,
	    .language = scene->language,
	};
	if (strstr(scene->name, "number"))
		test->user.digest_id =
		    store_fixture_number(test->fixture, "SELECT max(id) FROM digest");
	add_bounces(test, (unsigned)cases_number(scene->bounces));
	if (cases_is_yes(scene->is_shared))
		add_share(test);
	hash = store_fixture_hash(test->fixture);
	run(test, scene->text, &reply);
	hash_after = store_fixture_hash(test->fixture);
	if (!is_proven && !reply.undo)
		g_assert_cmpstr(hash, ==, hash_after);
	g_assert_cmpint(reply.waiting > 0, ==, reply.pending != NULL);
	command_fill_tokens(
	    &reply, "k3confirmconfirmconfirm23", "k3undoundoundoundoundoundo");
	compare_golden(scene->name, reply.text);
	if (cases_is_yes(scene->is_answered)) {
		g_autofree char *name = g_strconcat(scene->name, "-confirmed", NULL);
		g_autofree char *file = g_strconcat(scene->name, "-attachment", NULL);

		g_assert_nonnull(reply.pending);
		run_confirmed(test, reply.pending, &after);
		compare_golden(name, after.text);
		if (after.attachment && strstr(scene->name, "text"))
			compare_golden(file, after.attachment);
	}
}

static const char mine[] =
    "SELECT number, s.name, text, max_papers, note, is_block FROM subscription s"
    " ORDER BY number, text";
static const char my_shares[] =
    "SELECT h.name, o.number, f.version, f.is_fork, s.number FROM share h"
    " JOIN subscription o ON o.id = h.subscription_id LEFT JOIN follow f"
    " ON f.share_id = h.id LEFT JOIN subscription s ON s.id = f.subscription_id"
    " ORDER BY h.name";
static const char me[] =
    "SELECT address, name, state, frequency, weekdays, minute, zone, max_full, sorting,"
    " abstract, format, empty_digest, updates, crosslist, attach, grouping, feedback, "
    "checkup, versions, language, consent_text,"
    " paused_until FROM subscriber";

#define COMMAND_TEST(function) \
	TEST_WITH(function, command_test, test, command_test_new())

COMMAND_TEST(undo_restores_everything)
{
	reply_auto first = {0}, gone = {0}, back = {0};
	g_autofree char *filters = NULL;
	g_autofree char *person = NULL;

	run(test,
	    "\nadd name=two max=7 note=\"a note\" \"state space\" OR mamba\n"
	    "del 1\nblock name=\"no sky\" weather\n"
	    "set days mon,thu at 6:05 tz America/New_York max 9 order date abstract "
	    "none group on\n"
	    "set format html quiet note updates on crosslist off attach bibtex "
	    "feedback on checkup off versions all\n"
	    "set language de name Ada L.\npause 14d\n",
	    &first);
	g_assert_cmpuint(first.failed, ==, 0);
	filters = store_fixture_text(test->fixture, mine);
	person = store_fixture_text(test->fixture, me);
	run(test, "\nunsubscribe\n", &gone);
	g_assert_nonnull(gone.undo);
	assert_rows(test->fixture, "SELECT state FROM subscriber", "gone");
	assert_rows(test->fixture, mine, "");
	test->user.subscriber_id = 0;
	run_confirmed(test, gone.undo, &back);
	g_assert_cmpuint(back.failed, ==, 0);
	assert_rows(test->fixture, mine, filters);
	assert_rows(test->fixture, me, person);
	compare_golden("undo-done", back.text);
}

COMMAND_TEST(two_hundred_papers_are_watched)
{
	static const struct store_fixture_copies copies = {
	    "A made-up paper", "Of words.", 201};
	reply_auto full = {0}, extended = {0}, other = {0}, list = {0};

	store_fixture_save_copies(test->fixture, &copies, 1, 50000);
	store_fixture_run(test->fixture,
	    "INSERT INTO watch SELECT s.id, p.seq, 1, 9000000000 FROM subscriber s, "
	    "paper p"
	    " WHERE p.id > '2611.50001' AND p.id < '2611.50202'");
	assert_rows(test->fixture, "SELECT count(*) FROM watch", "200");
	run(test, "\nwatch 2611.50001\n", &full);
	g_assert_cmpuint(full.failed, ==, 1);
	run(test, "\nwatch 2611.50002\nunwatch 2611.50003\n", &extended);
	g_assert_cmpuint(extended.failed, ==, 0);
	run(test, "\nwatch 2611.50001\n", &other);
	g_assert_cmpuint(other.failed, ==, 0);
	assert_rows(test->fixture, "SELECT count(*) FROM watch", "200");
	run(test, "\nlist\n", &list);
	g_assert_nonnull(strstr(list.text, "papers that you watch:"));
	g_assert_nonnull(strstr(list.text, "2611.50001  A made-up paper"));
	g_assert_null(strstr(list.text, "2611.50003"));
}

/* Two are watched, one of which the notice of the digest names. */
static void
renew(struct command_test *test, const char *language)
{
	int64_t now = store_fixture_time(NOW) + CLOCK_DAY_S;
	g_autofree char *sql =
	    g_strdup_printf("UPDATE subscriber SET language = '%s'; INSERT INTO watch"
	                    " SELECT s.id, p.seq, 1, p.seq * 1797800000"
	                    " FROM subscriber s, paper p WHERE p.seq < 3",
	        language);
	struct match_report matched = {0};
	struct digest_build_report made = {0};
	reply_auto renewed = {0};

	store_fixture_list(test->fixture, "2026-11-20", "2611.06600", "Diffusion", 1);
	store_fixture_list(test->fixture, "2026-11-20", "2611.06700", "Diffusions", 2);
	store_fixture_run(test->fixture, sql);
	match_run(test->fixture->store, now, &matched, NULL);
	digest_build_run(test->fixture->store, test->fixture->key,
	    test->request.catalog, now, &made, NULL);
	g_assert_cmpuint(made.digests, ==, 1);
	test->user.digest_id =
	    store_fixture_number(test->fixture, "SELECT max(id) FROM digest");
	run(test, "Re: 2 papers\nwatch\n", &renewed);
	assert_rows(test->fixture,
	    "SELECT paper_seq FROM watch WHERE until BETWEEN 1800000000 AND 1900000000",
	    "1");
}

/* The brackets of Chinese are others. */
COMMAND_TEST(watch_without_a_paper_renews_what_ends_in_chinese)
{
	renew(test, "zh");
}

/* The one that the digest's notice names; of several papers it asks which. */
COMMAND_TEST(watch_without_a_paper_renews_what_ends)
{
	reply_auto asked = {0};

	renew(test, "en");
	store_fixture_run(test->fixture, "DELETE FROM watch");
	run(test, "Re: 2 papers\nwatch\n", &asked);
	g_assert_nonnull(
	    strstr(asked.text, "which paper? Reply with one of: watch 1 ("));
	assert_rows(test->fixture, "SELECT count(*) FROM watch", "0");
}

COMMAND_TEST(bounds_of_a_file_are_told)
{
	g_autoptr(GString) works = g_string_new("doi:10.5555/0");
	reply_auto none = {0}, many = {0};

	test->user.is_proven = true;
	test->works = "";
	run(test, "known\n", &none);
	g_assert_nonnull(strstr(none.text, "no entry of the attached file"));
	for (int i = 1; i < BIBLIOGRAPHY_ENTRIES; i++)
		g_string_append_printf(works, "|doi:10.5555/%d", i);
	test->works = works->str;
	run(test, "known\n", &many);
	g_assert_nonnull(strstr(many.text, "Up to 5000 entries of a file are read."));
}

/* At once with the verb of somebody who is proven, otherwise after a yes. */
COMMAND_TEST(works_of_a_file_are_known)
{
	static const struct {
		const char *text;
		bool is_proven, is_asked;
	} mails[] = {{"known\n", true, false}, {"\nknown\n", true, false},
	    {"known\n", false, true}, {"My papers\nHello,\n", true, true}};

	for (size_t i = 0; i < G_N_ELEMENTS(mails); i++) {
		g_autofree char *name = g_strdup_printf("known-file-%zu", i);
		reply_auto asked = {0}, done = {0};

		store_fixture_run(test->fixture, "DELETE FROM known");
		test->user.is_proven = mails[i].is_proven;
		test->works = "2611.05500 title:x|doi:10.5555/1 pmid:1|doi:10.5555/2";
		run(test, mails[i].text, &asked);
		g_assert_cmpint(asked.waiting, ==, mails[i].is_asked);
		test->works = NULL;
		if (mails[i].is_asked)
			run_confirmed(test, asked.pending, &done);
		compare_golden(name, asked.text);
		if (mails[i].is_asked)
			compare_golden("known-file-confirmed", done.text);
		assert_rows(test->fixture, "SELECT name FROM known ORDER BY name",
		    "2611.05500 doi:10.5555/1 doi:10.5555/2 pmid:1 title:x");
	}
}

COMMAND_TEST(undo_restores_what_is_shared_and_followed)
{
	reply_auto first = {0}, gone = {0}, back = {0};

	add_share(test);
	run(test, "\nshare 1 as diffusion-news\nfollow weather-news\n", &first);
	g_assert_cmpuint(first.failed, ==, 0);
	assert_rows(
	    test->fixture, my_shares, "diffusion-news|1|-|-|- weather-news|1|1|0|2");
	run(test, "\nunsubscribe\n", &gone);
	assert_rows(test->fixture, my_shares, "weather-news|1|-|-|-");
	test->user.subscriber_id = 0;
	run_confirmed(test, gone.undo, &back);
	g_assert_cmpuint(back.failed, ==, 0);
	assert_rows(
	    test->fixture, my_shares, "diffusion-news|1|-|-|- weather-news|1|1|0|2");
}

/* Offer a command to Ada. @return its number, as text */
static char *
offer(struct command_test *test, const char *command, int number)
{
	const struct proposal proposal = {
	    .subscriber_id = test->ada, .term = command, .command = command};
	g_autofree struct proposal *offered = NULL;
	pb_auto(subscription) filter =
	    filters_load(test->fixture->store, ADA, number, NULL);

	g_assert_true(proposals_offer(test->fixture->store, &proposal, filter,
	    test->request.now, &offered, NULL));
	g_assert_true(proposals_save_shown(test->fixture->store, test->ada,
	    offered->number, "letter.made-up", test->request.now, NULL));
	return g_strdup_printf("%u", offered->number);
}

/* Apply a proposal and undo it. @param applied  shares after the first */
static void
assert_undone(
    struct command_test *test, const char *command, int number, const char *applied)
{
	g_autofree char *filters = store_fixture_text(test->fixture, mine);
	g_autofree char *shares = store_fixture_text(test->fixture, my_shares);
	g_autofree char *offered = offer(test, command, number);
	g_autofree char *yes = g_strdup_printf("\nyes %s\n", offered);
	g_autofree char *undo = g_strdup_printf("\nundo %s\n", offered);
	reply_auto first = {0}, second = {0};

	run(test, yes, &first);
	g_assert_cmpuint(first.failed, ==, 0);
	assert_rows(test->fixture, my_shares, applied);
	run(test, undo, &second);
	g_assert_cmpuint(second.failed, ==, 0);
	assert_rows(test->fixture, mine, filters);
	assert_rows(test->fixture, my_shares, shares);
	assert_rows(test->fixture, "PRAGMA foreign_key_check", "");
}

COMMAND_TEST(undo_of_proposals_keeps_what_is_shared_and_followed)
{
	const struct filters_change change = {
	    .address = EVE, .number = 1, .text = "weather", .who = "test"};
	pb_auto(subscription) edited = NULL;
	reply_auto first = {0};

	add_share(test);
	run(test,
	    "\nshare 1 as diffusion-news\nfollow weather-news\nadd name=own mamba\n",
	    &first);
	g_assert_cmpuint(first.failed, ==, 0);
	edited = filters_edit(
	    test->fixture->store, &change, test->request.now, NULL, NULL, NULL);
	g_assert_nonnull(edited);
	/* Another version, a fork by an edit, and no filter at all. */
	assert_undone(test, "follow weather-news version=2", 2,
	    "diffusion-news|1|-|-|- weather-news|1|2|0|2");
	assert_undone(test, "edit 2 weather OR survey OR snow", 2,
	    "diffusion-news|1|-|-|- weather-news|1|1|1|2");
	assert_undone(test, "del 2", 2, "diffusion-news|1|-|-|- weather-news|1|-|-|-");
	assert_undone(test, "unfollow weather-news", 2,
	    "diffusion-news|1|-|-|- weather-news|1|-|-|-");
	/* Of the owner: versions go on. */
	assert_undone(test, "edit 1 diffusion -survey", 1,
	    "diffusion-news|1|-|-|- weather-news|1|1|0|2");
	assert_rows(test->fixture, "SELECT name, version FROM share ORDER BY name",
	    "diffusion-news|3 weather-news|2");
	/* Of another filter. */
	assert_undone(
	    test, "del own", 3, "diffusion-news|1|-|-|- weather-news|1|1|0|2");
	assert_rows(test->fixture, "SELECT name, version FROM share ORDER BY name",
	    "diffusion-news|3 weather-news|2");
}

TEST(commands_beside_a_consent_are_proposed)
{
	static const struct {
		const char *text;
		bool is_proposed;
	} rows[] = {{"yes\nadd mamba\n", true}, {"yes\n", false},
	    {"Ja, und nur freitags bitte.\n", true}, {"Ja bitte!\n", false},
	    {"subscribe\n", false}, {"yes\n\nEve\n", false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(command_test) test = command_test_new();
		reply_auto asked = {0}, done = {0};

		test->user = (struct requester){.address = EVE};
		run(test, "subscribe\n", &asked);
		test->user.is_proven = true;
		test->user.confirmed_by = rows[i].text;
		run_confirmed(test, asked.pending, &done);
		g_assert_cmpint(strstr(done.text, "Shall I do this, too?") != NULL, ==,
		    rows[i].is_proposed);
	}
}

COMMAND_TEST(undo_restores_a_subscriber_without_a_name)
{
	reply_auto gone = {0}, back = {0};
	g_autofree char *filters = store_fixture_text(test->fixture, mine);
	g_autofree char *person = NULL;

	store_fixture_run(test->fixture, "UPDATE subscriber SET name = NULL");
	person = store_fixture_text(test->fixture, me);
	run(test, "\nunsubscribe\n", &gone);
	g_assert_nonnull(gone.undo);
	test->user.subscriber_id = 0;
	run_confirmed(test, gone.undo, &back);
	g_assert_cmpuint(back.failed, ==, 0);
	assert_rows(test->fixture, mine, filters);
	assert_rows(test->fixture, me, person);
}

COMMAND_TEST(pending_line_keeps_its_filter)
{
	reply_auto asked = {0}, between = {0}, done = {0};

	test->user.is_proven = false;
	run(test, "\ndel 1\n", &asked);
	g_assert_cmpint(asked.confirm, ==, COMMAND_CONFIRM_CHANGE);
	test->user.is_proven = true;
	run(test, "\ndel 1\nadd mamba\n", &between);
	assert_rows(test->fixture, "SELECT number, text FROM subscription", "1|mamba");
	run_confirmed(test, asked.pending, &done);
	g_assert_cmpuint(done.failed, ==, 1);
	assert_rows(test->fixture, "SELECT number, text FROM subscription", "1|mamba");
}

COMMAND_TEST(failing_command_does_not_affect_others)
{
	reply_auto reply = {0};

	run(test, "\nadd mamba\nset at 8:15 max 999\ndel 1 7\nset max 17\n", &reply);
	g_assert_cmpuint(reply.done, ==, 2);
	g_assert_cmpuint(reply.failed, ==, 2);
	g_assert_true(reply.is_changed);
	assert_rows(test->fixture, "SELECT number, text FROM subscription",
	    "1|diffusion 2|mamba");
	assert_rows(test->fixture, "SELECT minute, max_full FROM subscriber", "450|17");
}

COMMAND_TEST(reply_to_a_subject_with_a_command_runs_nothing)
{
	reply_auto one = {0}, other = {0};
	g_autofree char *again = NULL;

	run(test, "del 1\n", &one);
	g_assert_cmpstr(one.subject, ==, "Your message to paperboy@example.net");
	again = g_strconcat("Re: ", one.subject, NULL);
	g_assert_false(command_table_is_command(command_text_skip_prefixes(again)));
	run(test, "a question\nlist\n", &other);
	g_assert_null(other.subject);
}

COMMAND_TEST(change_of_address_asks_both_addresses)
{
	reply_auto asked = {0}, done = {0};

	run(test, "\naddress Ada@Example.COM\n", &asked);
	g_assert_cmpint(asked.confirm, ==, COMMAND_CONFIRM_ADDRESS);
	g_assert_cmpstr(asked.new_address, ==, "Ada@example.com");
	command_fill_tokens(&asked, "k3confirmconfirmconfirm23", NULL);
	compare_golden("address-new", asked.new_text);
	run_confirmed(test, asked.pending, &done);
	assert_rows(test->fixture, "SELECT address, address_key FROM subscriber",
	    "Ada@example.com|ada@example.com");
}

COMMAND_TEST(local_part_can_be_the_command)
{
	reply_auto reply = {0}, other = {0};

	test->user.is_proven = false;
	test->user.verb = "unsubscribe";
	run(test, "add mamba\nlist\n", &reply);
	g_assert_cmpuint(reply.done, ==, 1);
	assert_rows(test->fixture, "SELECT state FROM subscriber", "gone");
	test->user = (struct requester){.address = EVE, .verb = "subscribe"};
	run(test, "forget me\nwhatever\n", &other);
	g_assert_cmpint(other.confirm, ==, COMMAND_CONFIRM_SUBSCRIBE);
	g_assert_cmpstr(other.pending, ==, "subscribe \n");
}

COMMAND_TEST(erasure_waits_for_its_reply)
{
	reply_auto asked = {0}, done = {0};

	run(test, "\nexport\nforget me\n", &asked);
	g_assert_cmpint(asked.confirm, ==, COMMAND_CONFIRM_ERASE);
	g_assert_false(asked.is_erased);
	run_confirmed(test, asked.pending, &done);
	g_assert_true(done.is_erased);
	g_assert_nonnull(done.attachment);
	assert_rows(test->fixture, "SELECT state FROM subscriber", "gone");
}

/* Run one line as Ada. @return whether it succeeded */
static bool
does(struct command_test *test, const char *line)
{
	g_autofree char *text = g_strconcat("\n", line, "\n", NULL);
	reply_auto reply = {0};
	bool is_done;

	run(test, text, &reply);
	check_text(line, reply.text);
	is_done = reply.done == 1 && reply.failed == 0;
	return is_done;
}

/* Get the text after the margin "error", without the lines of the filter. */
static char *
run_for_error(const char *line, const char *language)
{
	pb_auto(command_test) test = command_test_new();
	g_autofree char *text = g_strconcat("\n", line, "\n", NULL);
	reply_auto reply = {0};
	const char *from;
	char *found;

	test->user.language = language;
	run(test, text, &reply);
	from = strstr(reply.text, "\nerror  ");
	if (!from)
		g_error("%s: %s", line, reply.text);
	from += strlen("\nerror  ");
	found = g_strndup(from, strcspn(from, "\n"));
	return found;
}

TEST(every_error_is_translated)
{
	CASES_FOREACH(row, "command_errors", *text) {
		g_autofree char *english = run_for_error(row->text, "en");
		g_autofree char *german = run_for_error(row->text, "de");

		if (strcmp(english, german) == 0)
			g_error("%s: %s", row->text, german);
	}
}

TEST(verbs_of_other_languages_are_commands_but_sentences_are_not)
{
	static const struct {
		const char *line;
		enum command_kind kind;
		const char *verb; /* or NULL */
	} rows[] = {
	    {"Hilfe", COMMAND_KIND_VERB, "help"},
	    {"ABMELDEN", COMMAND_KIND_VERB, "unsubscribe"},
	    {"suche diffusion", COMMAND_KIND_VERB, "search"},
	    {"désabonner", COMMAND_KIND_VERB, "unsubscribe"},
	    {"订阅", COMMAND_KIND_VERB, "subscribe"},
	    {"Abmelden will ich mich nicht", COMMAND_KIND_NONE, NULL},
	    {"Liste der Artikel folgt", COMMAND_KIND_NONE, NULL},
	    {"Suche", COMMAND_KIND_VERB, "search"},
	    {"\xff", COMMAND_KIND_NONE, NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *arguments;
		const struct command_row *row =
		    command_table_parse(rows[i].line, &arguments);

		g_assert_cmpint(command_table_classify(rows[i].line), ==, rows[i].kind);
		g_assert_cmpstr(row ? row->verb : NULL, ==, rows[i].verb);
	}
}

TEST(numbers_and_lengths_are_limited)
{
	g_autofree char *note = g_strnfill(BOUNDS_FILTER_NOTE, 'n');
	g_autoptr(GString) many = g_string_new("del");
	const struct {
		const char *before;
		int number;
		const char *after;
	} most[] = {
	    {"add max=", BOUNDS_DIGEST_FULL_MAX, " weather"},
	    {"edit 1 max=", BOUNDS_DIGEST_FULL_MAX, ""},
	    {"set max ", BOUNDS_DIGEST_FULL_MAX, ""},
	    {"search max=", 50, " weather"},
	    {"test since=", BOUNDS_BACKTEST_DAYS, "d weather"},
	    {"search since=", BOUNDS_BACKTEST_DAYS, "d weather"},
	    {"pause ", BOUNDS_PAUSE_DAYS, "d"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(most); i++) {
		for (int more = 0; more < 2; more++) {
			pb_auto(command_test) test = command_test_new();
			g_autofree char *line = g_strdup_printf("%s%d%s",
			    most[i].before, most[i].number + more, most[i].after);

			if (does(test, line) != !more)
				g_error("%s", line);
		}
	}
	for (int more = 0; more < 2; more++) {
		pb_auto(command_test) test = command_test_new();
		g_autofree char *line =
		    g_strdup_printf("add note=%s%s weather", note, more ? "n" : "");

		g_assert_cmpint(does(test, line), ==, !more);
	}
	for (unsigned i = 0; i < BOUNDS_COMMAND_ARGUMENTS; i++)
		g_string_append(many, " 1");
	for (int more = 0; more < 2; more++) {
		pb_auto(command_test) test = command_test_new();

		g_assert_cmpint(does(test, many->str), ==, !more);
		g_string_append(many, " 1");
	}
}

TEST(little_is_quoted_to_unknown_senders)
{
	/* The second line ends exactly at the limit. */
	for (int more = 0; more < 2; more++) {
		pb_auto(command_test) test = command_test_new();
		g_autofree char *words =
		    g_strnfill(BOUNDS_UNKNOWN_ECHO - 14 + (gsize)more, 'x');
		g_autofree char *text =
		    g_strdup_printf("\ntest aa\ntest %s\ntest aa\nadd ti:\n", words);
		reply_auto reply = {0};
		const char *first;

		test->user = (struct requester){.address = EVE};
		run(test, text, &reply);
		first = strstr(reply.text, "> test aa");
		g_assert_nonnull(first);
		g_assert_null(strstr(first + 1, "> test aa"));
		if (more)
			g_assert_null(strstr(reply.text, "> xxx"));
		else
			g_assert_nonnull(strstr(reply.text, "> xxx"));
		g_assert_null(strstr(reply.text, "> add ti:"));
		g_assert_cmpuint(reply.failed, ==, 1);
	}
}

COMMAND_TEST(quotes_are_cut_and_harmless)
{
	g_autofree char *long_line = g_strnfill(BOUNDS_COMMAND_ECHO, 'x');
	g_autofree char *longer = g_strconcat(long_line, "x", NULL);
	g_autofree char *same = NULL;
	g_autofree char *cut = NULL;
	pb_local(reply_text) answer;

	reply_text_init(&answer, test->conversation->options.phrases, "en", true);
	CASES_FOREACH(row, "command_quotes", *typed, *guarded) {
		g_autofree char *shown = reply_text_quote(&answer, row->typed);

		g_assert_cmpstr(shown, ==, row->guarded);
	}
	answer.is_guarded = false;
	same = reply_text_quote(&answer, long_line);
	cut = reply_text_quote(&answer, longer);
	g_assert_cmpstr(same, ==, long_line);
	g_assert_cmpint(g_utf8_strlen(cut, -1), ==, BOUNDS_COMMAND_ECHO);
	g_assert_true(g_str_has_suffix(cut, "…"));
}

COMMAND_TEST(long_message_has_a_short_reply)
{
	g_autoptr(GString) text = g_string_new("\n");
	reply_auto reply = {0};

	test->user = (struct requester){.address = EVE};
	while (text->len < 16 * 1024)
		g_string_append(text, "add one long filter of many words in a row\n");
	run(test, text->str, &reply);
	g_assert_cmpuint(strlen(reply.text), <, 8 * 1024);
	g_assert_nonnull(strstr(reply.text, "Only the first 20 commands"));
}

COMMAND_TEST(address_belongs_to_one_subscriber)
{
	g_autofree char *first = NULL;

	store_fixture_subscribe(
	    test->fixture, EVE, "UTC", NULL, store_fixture_time(NOW));
	for (int i = 0; i < 2; i++) {
		g_autoptr(GError) error = NULL;
		pb_auto(subscriber) after = subscribe_change_address(
		    test->fixture->store, ADA, i ? EVE : "not an address",
		    test->fixture->key, "test", store_fixture_time(NOW), &error);

		g_assert_null(after);
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		store_fixture_assert_idle(test->fixture);
	}
	assert_rows(
	    test->fixture, "SELECT address FROM subscriber ORDER BY id", ADA " " EVE);
	/* The reply does not tell whether it has one. */
	for (int i = 0; i < 2; i++) {
		static const char free_address[] = "new@example.org";
		const char *address = i ? EVE : free_address;
		g_autofree char *line = g_strdup_printf("\naddress %s\n", address);
		reply_auto reply = {0};
		g_auto(GStrv) parts = NULL;

		test->user = (struct requester){.address = ADA, .is_proven = true};
		run(test, line, &reply);
		parts = g_strsplit(reply.text, address, -1);
		g_free(line);
		line = g_strjoinv("X", parts);
		if (i)
			g_assert_cmpstr(line, ==, first);
		else
			first = g_strdup(line);
	}
}

/* SQLite fails at each step: all of a message is applied, or nothing. */
static bool
run_for_failure(struct store_fixture *fixture, void *data, GError **error)
{
	pb_auto(inmail) mail =
	    write_mail("\nadd mamba\nset max 17\ndel 9\ndel 1\nlist\n");
	struct commands commands = {.test = data, .mail = mail};
	bool is_ok = store_transact(fixture->store, run_commands, &commands, error);

	command_reply_clear(&commands.reply);
	return is_ok;
}

COMMAND_TEST(failing_store_leaves_no_partial_effect)
{
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(test->fixture, run_for_failure, test, true),
	    >, 10);
	assert_rows(test->fixture, "SELECT number, text FROM subscription", "2|mamba");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	CASES_FOREACH_AS(struct scene, scene, "command") {
		g_autofree char *path =
		    g_strconcat("/command/answer/", scene->name, NULL);

		g_test_add_data_func(path, scene, play);
	}
	unit_add_all();
	return g_test_run();
}
