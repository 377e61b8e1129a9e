/*
 * ctl.c - what the commands of paperboyctl share.
 */
#include "ctl/ctl.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "service/setup/startup.h"

/* What the help of a command says beside its usage: mostly its options. */

static const char add_details[] =
    "The first digest comes at once, with the papers of the last three days.\n\n"
    "  --consent TEXT     how this person agreed, in words; kept as the record of it\n"
    "  --filter QUERY     a filter; may be given several times\n"
    "  --name NAME        the person's name, for the To field\n"
    "  --zone ZONE        time zone, such as Europe/Berlin\n"
    "  --at HH:MM         local hour of the digest\n"
    "  --cadence CADENCE  now (hourly), daily, weekdays, weekly or weekly:mon,thu\n"
    "  --max N            papers with abstract in one digest, 1 to 200";

static const char set_details[] =
    "What is not said stays. The next digest is at the next slot of the new rhythm.\n\n"
    "  --zone ZONE        time zone, such as Europe/Berlin\n"
    "  --at HH:MM         local hour of the digest\n"
    "  --cadence CADENCE  now (hourly), daily, weekdays, weekly or weekly:mon,thu\n"
    "  --max N            papers with abstract in one digest, 1 to 200\n"
    "  --name NAME        the person's name; '' takes it away\n"
    "  --language LANG    of digests and answers: en, de; '' is that of the settings\n"
    "  --order WORD       votes, score or date\n"
    "  --abstract WORD    full, short or none\n"
    "  --format WORD      both, text or html\n"
    "  --quiet WORD       on a day without papers: off (nothing), or note (a line)\n"
    "  --updates WORD     papers that were replaced: off or on\n"
    "  --crosslist WORD   papers listed elsewhere first: on or off\n"
    "  --attach WORD      none or bibtex";

static const char pause_details[] =
    "Filters go on finding papers. Mail that is not under way yet is cancelled; what\n"
    "was missed comes in one digest, as far back as 30 days.\n\n"
    "  --until DAY  mail comes again on that day, at the person's hour: 2026-12-01,\n"
    "               14d or '2 weeks' from today, friday; without it, when the\n"
    "               pause is ended";

static const char resume_details[] =
    "  --catch-up N  papers with abstract in that one digest, 1 to 200; the others "
    "are\n"
    "                in it by title; without it, as many as in any other";

static const char remove_details[] =
    "Filters are removed and unsent mail is cancelled. The address is kept, so that\n"
    "the person may come back and the log tells what was; forget erases that too.\n\n"
    "  --yes  do not ask";

static const char erase_details[] =
    "Everything that is kept about the person is erased, from the files too; this\n"
    "takes as long as copying the store. A message that is being sent arrives. "
    "Backups,\n"
    "the relay's log and what has arrived are not touched.\n\n"
    "  --never-again  keep a hash of the address, so that nobody can add it again\n"
    "  --yes          do not ask";

static const char import_details[] =
    "FILE is CSV; - is standard input. Its first line names the columns: address, "
    "name,\n"
    "state, cadence, weekdays, at, zone, max, paused_until, order, abstract, format,\n"
    "quiet, updates, crosslist, attach, language, catch_up, consent_at, consent_text,\n"
    "created_at, filters; only address has to be there. All that is wrong is told at\n"
    "once, and then nothing is stored. First digests come at each person's hour.\n\n"
    "  --consent TEXT  how those agreed whose line does not say it\n"
    "  --dry-run       only tell what would be done\n"
    "  --skip-bad      store the good lines though others are bad\n"
    "  --take-back     also those who had left\n"
    "  --first         a first digest at once, with the papers of three days";

static const char export_details[] =
    "CSV that import reads; FILE is - for standard output. A cell that a spreadsheet\n"
    "would run has an apostrophe before it, which import takes off.\n\n"
    "  --filters  the filters too: NUMBER, tab, NAME, tab, QUERY, a line each\n"
    "  --yes      replace a file that is there without asking";

static const char suppress_details[] =
    "Only a hash of the address is kept. Who is a subscriber there leaves.\n\n"
    "  --reason WORD  operator, never-again, complaint or dead\n"
    "  --yes          do not ask";

static const char release_details[] = "  --yes  do not ask";

static const char query_details[] =
    "A query, in single quotes for the shell, and behind -- when it begins with a\n"
    "minus sign:\n"
    "  diffusion model              both words, in title or abstract\n"
    "  \"diffusion model\"            the phrase\n"
    "  quantiz*  =RAG  c++          a beginning; these very letters; signs\n"
    "  a OR b  (a OR b) -survey     either; either, without surveys\n"
    "  reward NEAR/5 hacking        at most five words between\n"
    "  speech^3 synthesis           speech weighs three times in the order\n"
    "  title: abstract:             there only; also before a group (...)\n"
    "  author:\"Y. LeCun\"  first:    one author; the first one\n"
    "  cs.CL  cat:cs  primary:      arXiv's categories\n"
    "  org: kw: comment: journal:   words of them\n"
    "  doi: id: source: has: type:  values, as in has:code and type:new\n"
    "  upvotes:>=20 authors:<=3     numbers; comments: and stars: too\n"
    "  date:7d..  date:2026-07      the day it was listed\n"
    "What is not told yet (votes, categories, code) is waited for. All of it:\n"
    "paperboy-filters(7).\n\n"
    "  --name NAME  what the person calls it; digests show it\n"
    "  --max N      of its papers so many with abstract in one digest, 1 to 200\n"
    "  --note TEXT  for whoever reads the list of filters\n"
    "  --block      what it finds is taken away from the person's other filters";

static const char test_details[] =
    "With --address it is compared with that person's other filters, and a NUMBER is\n"
    "one of them.\n\n"
    "  --address ADDRESS  whose filters\n"
    "  --days N           so far back, 30 by itself, 365 at most";

static const char log_details[] =
    "The newest lines, oldest first.\n\n"
    "  --address ADDRESS  about one person, also one who left\n"
    "  --since TIME       2026-11-20 or 2026-11-20T18:00:00Z\n"
    "  --limit N          so many lines, 50 by itself";

static const char receive_details[] =
    "For a mail server that starts a program for each letter. Ends with status 75 "
    "when\n"
    "paperboyd does not run or cannot store it now: the mail server tries again.\n\n"
    "  --recipient ADDRESS  whom it was sent to; else mail.from\n"
    "  --sender ADDRESS     who sent it, '' for a bounce; else as the letter tells\n"
    "  --socket PATH        instead of receive.lmtp_socket";

static const char rotate_details[] =
    "Mail from now on has tokens of the new key. The old one is kept for what was "
    "sent,\n"
    "and for the addresses that are suppressed.\n\n"
    "  --lost  the old key cannot be had: what it made is void";

const struct ctl_command ctl_commands[] = {
    {"subscriber", "add", "ADDRESS --consent TEXT [--filter QUERY]...",
        "add a subscriber whose consent you have", add_details, ctl_run_subscriber_add},
    {"subscriber", "list", "", "list subscribers", NULL, ctl_run_subscriber_list},
    {"subscriber", "show", "ADDRESS", "show one with filters, rhythm and consent", NULL,
        ctl_run_subscriber_show},
    {"subscriber", "set", "ADDRESS [OPTION]...", "change somebody's rhythm or name",
        set_details, ctl_run_subscriber_set},
    {"subscriber", "pause", "ADDRESS [--until DAY]", "send nothing for a while",
        pause_details, ctl_run_subscriber_pause},
    {"subscriber", "resume", "ADDRESS [--catch-up N]",
        "end a pause: one digest with what was missed", resume_details,
        ctl_run_subscriber_resume},
    {"subscriber", "remove", "ADDRESS [--yes]", "stop all mail to an address",
        remove_details, ctl_run_subscriber_remove},
    {"subscriber", "forget", "ADDRESS [--never-again] [--yes]",
        "erase all that is kept about somebody", erase_details,
        ctl_run_subscriber_forget},
    {"subscriber", "import", "FILE|- [OPTION]...", "add many subscribers from a table",
        import_details, ctl_run_subscriber_import},
    {"subscriber", "export", "[FILE|-] [--filters] [--yes]",
        "write all subscribers as a table", export_details, ctl_run_subscriber_export},
    {"filter", "add", "ADDRESS QUERY [OPTION]...",
        "give a subscriber a filter, or a block", query_details, ctl_run_filter_add},
    {"filter", "list", "ADDRESS", "list a subscriber's filters", NULL,
        ctl_run_filter_list},
    {"filter", "edit", "ADDRESS NUMBER QUERY", "give a filter another query",
        "Number and name stay; so does what was found and not sent yet.",
        ctl_run_filter_edit},
    {"filter", "move", "ADDRESS NUMBER NEWNUMBER", "give a filter another number",
        "A number that is free is taken; else the filters between the two move by one.",
        ctl_run_filter_move},
    {"filter", "rename", "ADDRESS NUMBER NAME", "give a filter another name",
        "The name '' takes it away.", ctl_run_filter_rename},
    {"filter", "test", "QUERY|NUMBER [--address ADDRESS] [--days N]",
        "show what a filter would have found; nothing is stored", test_details,
        ctl_run_filter_test},
    {"filter", "explain", "QUERY [PAPER-ID]",
        "show what a filter means, and what each clause says of a paper", NULL,
        ctl_run_filter_explain},
    {"filter", "remove", "ADDRESS NUMBER [--yes]", "take a filter away",
        release_details, ctl_run_filter_remove},
    {"search", NULL, "QUERY [--limit N] [--since DAY]",
        "search all papers ever seen, the best first",
        "20 papers unless --limit says otherwise; DAY as in 2026-11-01.",
        ctl_run_search},
    {"why", NULL, "ADDRESS PAPER-ID",
        "say why a paper is, or is not, in somebody's digest",
        "A PAPER-ID is the number of arXiv, such as 2611.10010.", ctl_run_why},
    {"suppression", "list", "", "list the addresses that are never to be mailed",
        "Only hashes are kept: the addresses cannot be told.",
        ctl_run_suppression_list},
    {"suppression", "add", "ADDRESS [--reason WORD] [--yes]",
        "keep an address from ever being mailed", suppress_details,
        ctl_run_suppression_add},
    {"suppression", "remove", "ADDRESS [--yes]", "let an address be mailed again",
        release_details, ctl_run_suppression_remove},
    {"key", "rotate", "[--lost] [--yes]", "make a new secret key; stop paperboyd first",
        rotate_details, ctl_run_key_rotate},
    {"key", "restore", "FILE", "take the key from a backup; stop paperboyd first",
        "The store stays as it is. For a key file that was damaged or lost.",
        ctl_run_key_restore},
    {"confirmation", "list", "", "list what waits for somebody's confirmation",
        "Whom was asked what by mail, or can undo it still, and until when.  Their "
        "tokens are not kept.",
        ctl_run_confirmation_list},
    {"config", NULL, "[NAME]", "show the settings, or one", NULL, ctl_run_config},
    {"log", NULL, "[--address ADDRESS] [--since TIME] [--limit N]",
        "show who changed what, and when", log_details, ctl_run_log},
    {"preview", NULL, "ADDRESS [--html|--raw]",
        "show the digest that an address would get now; nothing is sent or stored",
        NULL, ctl_run_preview},
    {"source", "list", "",
        "list the sources: on or off, last answer, next look, pauses", NULL,
        ctl_run_source_list},
    {"source", "fetch", "[NAME]", "ask the sources now, for the last two weeks",
        "Also while the daemon runs. Ends with status 75 when a source failed.",
        ctl_run_source_fetch},
    {"source", "replay", "NAME DAY [--from FILE]",
        "ask a source for one past day again, or read that day from a file",
        "What is new goes into the next digests of those whose filters find it, as\n"
        "long as the day is at most 30 days ago. Nobody gets a paper again.",
        ctl_run_source_replay},
    {"digest", "list", "[--address A] [--limit N]", "list digests, the newest first",
        NULL, ctl_run_digest_list},
    {"digest", "show", "NUMBER|last [--html|--raw]",
        "show a digest that was made, as its reader got it",
        "--raw gives the octets that were or will be sent. When they are others now,\n"
        "since templates, settings or a paper have changed, that is said.",
        ctl_run_digest_show},
    {"queue", "list", "[--all] [--state S] [--address A]",
        "list messages that wait, or all of the last two weeks",
        "States: NEW SENDING DEFERRED UNKNOWN HELD, and with --all or --state\n"
        "SENT FAILED CANCELLED.",
        ctl_run_queue_list},
    {"queue", "show", "ID", "tell everything that is known of one message", NULL,
        ctl_run_queue_show},
    {"queue", "retry", "ID...|all", "try messages now, and the relay with them",
        "HELD ones only when they are named. One in state UNKNOWN may have arrived:\n"
        "it goes out again with the same Message-ID and octets.",
        ctl_run_queue_retry},
    {"queue", "hold", "ID...|all", "let messages wait until you release them", NULL,
        ctl_run_queue_hold},
    {"queue", "release", "ID...|all [--yes]", "send messages that are HELD",
        "One whose papers are all older than 30 days is cancelled instead.",
        ctl_run_queue_release},
    {"queue", "drop", "ID...|all [--state S] [--delivered] [--yes]",
        "never send these messages",
        "Their papers are free for the next digest. With --delivered they count as\n"
        "read, and so do those of a message that may have arrived (UNKNOWN).",
        ctl_run_queue_drop},
    {"queue", NULL, "[--all] [--state S] [--address A]", "the same as queue list", NULL,
        ctl_run_queue_list},
    {"inbox", "list", "[--state S]", "list letters that wait or are quarantined",
        "States: new quarantined, and with --state done.", ctl_run_inbox_list},
    {"inbox", "show", "ID [--raw]", "tell what is known of one letter, or its octets",
        NULL, ctl_run_inbox_show},
    {"inbox", "retry", "ID...|all", "handle letters again",
        "all is all that are quarantined.", ctl_run_inbox_retry},
    {"inbox", "drop", "ID...|all [--yes]", "forget letters without handling them",
        "all is all that are quarantined. Only a hash of them is kept, so that they\n"
        "are not taken when they come again.",
        ctl_run_inbox_drop},
    {"receive", NULL, "[--recipient ADDRESS] [--sender ADDRESS] [--socket PATH]",
        "hand in the letter on standard input", receive_details, ctl_run_receive},
    {"backup", NULL, "FILE [--yes]",
        "write store and key into one file, while all runs",
        "The file is made by the owner of the state folder, mode 0600, and has the\n"
        "secret key in it. --yes replaces a file that is there.",
        ctl_run_backup},
    {"restore", NULL, "FILE [--yes]",
        "put a backup in the place of the store; stop paperboyd first",
        "What is there now is kept in a folder beside it. Nothing is mailed by\n"
        "itself that may have been mailed since the backup: it is HELD.",
        ctl_run_restore},
    {"doctor", NULL, "", "look for everything that can be wrong; nothing is changed",
        "Ends with status 65 when something is.", ctl_run_doctor},
    {"check", NULL, "", "try it all: sources, relay, mailbox, a mail to itself",
        "Connects to everything, and sends a mail to itself through the relay. What "
        "is\n"
        "in DNS (SPF, DKIM, DMARC) is not looked at. Ends with status 65 when "
        "something\n"
        "is wrong.\n\n"
        "  --wait SECONDS  for that mail to come back, 20 by itself; 0: send none",
        ctl_run_check},
    {"status", NULL, "", "say how everything is, and what wants a person",
        "Ends with status 1 when something does.", ctl_run_status},
    {"metrics", NULL, "", "print numbers for Prometheus",
        "Without a running paperboyd there are those of the store, and paperboy_up 0.",
        ctl_run_metrics},
    {"reload", NULL, "", "let the daemon read its configuration and templates again",
        "A configuration with a mistake is refused whole, and the old one stays.",
        ctl_run_reload},
    {0},
};

/* The "--" that ends the options stays in when something like -x follows. */
static void
remove_separator(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		memmove(&argv[i], &argv[i + 1],
		    (size_t)(*argc - i) * sizeof(*argv)); /* with the NULL */
		(*argc)--;
		return;
	}
}

/* What GLib says of a command line, in words that help. */
static void
set_option_error(GError **error, const GError *problem)
{
	if (problem->domain != G_OPTION_ERROR)
		g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT,
		    "the value of an option is not UTF-8");
	else
		g_set_error(error, G_OPTION_ERROR, problem->code, "%s%s",
		    problem->code == G_OPTION_ERROR_UNKNOWN_OPTION
		        ? "write -- before what begins with - and is no option: "
		        : "",
		    problem->message);
}

bool
ctl_parse_some(const GOptionEntry *entries, int least, int most, int *argc,
    char ***argv, GError **error)
{
	GOptionContext *context = g_option_context_new(NULL);
	g_autoptr(GError) problem = NULL;
	bool is_ok;

	g_option_context_set_help_enabled(context, FALSE);
	if (entries)
		g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, &problem);
	g_option_context_free(context);
	if (!is_ok) {
		set_option_error(error, problem);
		return false;
	}
	remove_separator(argc, *argv);
	if (*argc - 1 < least) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "an argument is missing");
		return false;
	}
	if (most >= 0 && *argc - 1 > most) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "one argument too many: '%s'", (*argv)[most + 1]);
		return false;
	}
	return true;
}

bool
ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error)
{
	return ctl_parse_some(entries, wanted, wanted, argc, argv, error);
}

GBytes *
ctl_load_key(const struct ctl *ctl, GError **error)
{
	return startup_load_key(ctl->settings, ctl->store, error);
}

bool
ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &number, NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is no %s: its number is wanted", text, what);
		return false;
	}
	*id = (int64_t)number;
	return true;
}

bool
ctl_confirm(bool is_yes, const char *question, GError **error)
{
	char answer[16] = "";

	if (is_yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "not done: there is no terminal to ask on; --yes says that it is "
		    "meant");
		return false;
	}
	fprintf(stderr, "%s? [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) &&
	    (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
	        g_ascii_strcasecmp(answer, "yes") == 0))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "not done");
	return false;
}

bool
ctl_check_replaceable(const char *path, GError **error)
{
	GStatBuf status;

	if (g_stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "'%s' is no regular file, and stays as it is: name another", path);
	return false;
}

static GSocketConnection *
connect_daemon(const struct ctl *ctl)
{
	g_autofree char *path =
	    g_build_filename(ctl->settings->state_dir, "control", NULL);
	g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
	g_autoptr(GSocketClient) client = g_socket_client_new();

	g_socket_client_set_timeout(client, 5);
	return g_socket_client_connect(
	    client, G_SOCKET_CONNECTABLE(address), NULL, NULL);
}

bool
ctl_is_daemon_running(const struct ctl *ctl)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);

	return connection != NULL;
}

char *
ctl_ask_daemon(const struct ctl *ctl, const char *word)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);
	g_autofree char *line = g_strdup_printf("%s\n", word);
	char answer[BOUNDS_CONTROL_ANSWER_BYTES];
	gsize size = 0;

	if (!connection)
		return NULL;
	g_output_stream_write_all(
	    g_io_stream_get_output_stream(G_IO_STREAM(connection)), line, strlen(line),
	    NULL, NULL, NULL);
	/* The daemon closes behind its answer; what came before a failure counts. */
	g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
	    answer, sizeof(answer), &size, NULL, NULL);
	return g_strchomp(g_utf8_make_valid(answer, (gssize)size));
}

void
ctl_poke_daemon(const struct ctl *ctl)
{
	g_autofree char *answer = ctl_ask_daemon(ctl, "wake");
}

char *
ctl_format_time(int64_t at)
{
	g_autoptr(GDateTime) time = at < 0 ? NULL : g_date_time_new_from_unix_utc(at);

	return time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : g_strdup("-");
}

void
ctl_explain_problem(const char *text, const struct query_error *problem, GError **error)
{
	g_autofree char *lines = NULL;

	if (!problem->message)
		return;
	lines = query_error_format(problem, text, 0);
	fputs(lines, stderr);
	g_clear_error(error);
	g_set_error(error, PB_ERROR, problem->code,
	    "the filter was refused, and nothing was stored%s%s",
	    problem->example ? "; an example: " : "",
	    problem->example ? problem->example : "");
}

void
ctl_print_warnings(GPtrArray *warnings)
{
	for (unsigned i = 0; warnings && i < warnings->len; i++)
		fprintf(
		    stderr, "warning: %s\n", ((struct msg *)warnings->pdata[i])->text);
}
