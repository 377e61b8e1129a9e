/*
 * test_parser_process.c - a message is parsed by a process that may crash, hang or be
 * compromised.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/inbound/parser_process.h"

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

#define LIBRARY_SIGNALS UINT64_C(0x180000000) /* 32 and 33 */
#define STOP_SIGNALS    UINT64_C(0x4007)      /* HUP, INT, QUIT, TERM */

#define MAIL "From: Eva <eva@b.example>\r\nSubject: list\r\n\r\nstatus\r\n"

static char *
find_program(const char *name)
{
	const char *top = g_getenv("top_builddir");

	return g_build_filename(top ? top : ".", name, NULL);
}

/* No child is left, running or zombie. */
static void
check_nothing_left(void)
{
	g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
}

static struct inmail *
read_well(const char *raw, size_t size)
{
	g_autofree char *program = find_program("paperboy-parser");
	struct parser_process_options options = {.program = program};
	struct inmail *mail = NULL;

	g_assert_true(NO_ERROR(parser_process_run(raw, size, &options, &mail, &error)));
	check_nothing_left();
	return mail;
}

TEST(a_message_is_parsed)
{
	pb_auto(inmail) mail = read_well(MAIL, strlen(MAIL));
	const struct inmail_address *from;

	g_assert_cmpuint(mail->from->len, ==, 1);
	from = mail->from->pdata[0];
	g_assert_cmpstr(from->address, ==, "eva@b.example");
	g_assert_cmpstr(mail->subject, ==, "list");
	g_assert_cmpstr(mail->text, ==, "status\n");
}

TEST(empty_input_is_an_empty_message)
{
	pb_auto(inmail) mail = read_well("", 0);

	g_assert_cmpuint(mail->from->len, ==, 0);
	g_assert_cmpstr(mail->text, ==, "");
}

static void
check_refused(
    const GString *raw, enum pb_error code, const char *program_name, const char *words)
{
	g_autofree char *program = find_program(program_name);
	struct parser_process_options options = {.program = program};
	struct inmail *mail = (struct inmail *)1;
	g_autoptr(GError) error = NULL;

	g_assert_false(parser_process_run(raw->str, raw->len, &options, &mail, &error));
	g_assert_error(error, PB_ERROR, (int)code);
	g_assert_nonnull(strstr(error->message, words));
	g_assert_true(mail == (struct inmail *)1);
	check_nothing_left();
}

TEST(a_message_beyond_a_bound_is_refused)
{
	g_autoptr(GString) raw = g_string_new("A: b\n\n");

	/* More than both pipes hold: rejected before all of it was written. */
	while (raw->len < 8 * BOUNDS_MAIL_BYTES)
		g_string_append(raw, "a line of a long message\n");
	check_refused(raw, PB_ERROR_INPUT, "paperboy-parser",
	    "message rejected: message has more than 1048576 bytes");
}

static GString *
make_bomb(void)
{
	GString *raw = g_string_new("A: b\n");

	for (unsigned i = 0; i < 32000; i++)
		g_string_append(raw, "Content-Type: message/rfc822\n\n");
	return raw;
}

TEST(a_bomb_is_refused)
{
	g_autoptr(GString) raw = make_bomb();

	check_refused(raw, PB_ERROR_INPUT, "paperboy-parser", "levels of nested parts");
}

TEST(the_caller_survives_a_crash)
{
	g_autoptr(GString) raw = make_bomb();
	pb_auto(inmail) mail = NULL;

	/* A sanitizer exits before the signal. */
	check_refused(raw, PB_ERROR_TEMPORARY, "tests/helper_parser_unscanned",
	    IS_SANITIZED ? "status 1" : "killed by signal 11");
	/* The next message is parsed. */
	mail = read_well(MAIL, strlen(MAIL));
	g_assert_cmpstr(mail->text, ==, "status\n");
}

#define LONG_MS 60000 /* much longer than a script takes */

/* Behaviour of a compromised parser. */
static const struct {
	const char *name, *script;
	enum pb_error code;
	const char *words;
	int time_ms;
} scripts[] = {
    {"says nothing", "cat >/dev/null", PB_ERROR_TEMPORARY, "no records", LONG_MS},
    {"does not read", "exit 0", PB_ERROR_TEMPORARY, "no records", LONG_MS},
    {"fails", "exit 3", PB_ERROR_TEMPORARY, "status 3", LONG_MS},
    {"cannot run", "exit 71", PB_ERROR_PERMANENT,
        "cannot run the parser on this machine", LONG_MS},
    {"kills itself", "kill -SEGV $$", PB_ERROR_TEMPORARY, "signal 11", LONG_MS},
    {"hangs", "while :; do read x || :; done", PB_ERROR_TEMPORARY, "timed out", 1000},
    {"hangs and ignores signals",
        "trap '' TERM INT HUP PIPE; while :; do read x || :; done", PB_ERROR_TEMPORARY,
        "timed out", 1000},
    {"hangs with its output closed", "exec >&-; while :; do read x || :; done",
        PB_ERROR_TEMPORARY, "signal 9", LONG_MS},
    {"writes too much", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        PB_ERROR_TEMPORARY, "too long", LONG_MS},
    {"lies", "printf '\\011x\\000\\004'", PB_ERROR_TEMPORARY, "no records", LONG_MS},
    {"refuses and sends records", "printf '\\000x\\000\\027\\000\\003\\005'",
        PB_ERROR_TEMPORARY, "a refusal and other records", LONG_MS},
    {"sends records and fails", "printf '\\011x\\000\\003'; exit 1", PB_ERROR_TEMPORARY,
        "status 1", LONG_MS},
};

static char *
write_script(const struct store_fixture *fixture, const char *script)
{
	char *path = g_build_filename(fixture->directory, "reader", NULL);
	g_autofree char *text = g_strconcat("#!/bin/sh\n", script, "\n", NULL);

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_assert_cmpint(g_chmod(path, 0700), ==, 0);
	return path;
}

STORE_TEST(a_hostile_process_is_contained)
{
	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
		g_autofree char *program = write_script(fixture, scripts[i].script);
		struct parser_process_options options = {
		    .program = program, .time_ms = scripts[i].time_ms};
		struct inmail *mail = NULL;
		g_autoptr(GError) error = NULL;

		g_test_message("a parser that %s", scripts[i].name);
		g_assert_false(
		    parser_process_run(MAIL, strlen(MAIL), &options, &mail, &error));
		g_assert_error(error, PB_ERROR, (int)scripts[i].code);
		if (!strstr(error->message, scripts[i].words))
			g_error("%s: %s", scripts[i].name, error->message);
		check_nothing_left();
	}
}

/* Run a script; its $x is returned as the subject. */
static char *
ask_script(const char *script)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	g_autofree char *program = NULL;
	g_autofree char *whole =
	    g_strdup_printf("%s\nprintf '\\011%%s\\000' \"$x\"\n"
	                    "printf \"\\\\$(printf %%03o $((${#x} + 2)))\"",
	        script);
	struct parser_process_options options = {0};
	pb_auto(inmail) mail = NULL;

	program = write_script(fixture, whole);
	options.program = program;
	NO_ERROR(parser_process_run(MAIL, strlen(MAIL), &options, &mail, &error));
	return g_strdup(mail->subject);
}

TEST(nothing_is_inherited)
{
	int secret =
	    open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a library may */
	g_autofree char *descriptors = NULL;
	g_autofree char *environment = NULL;
	g_autofree char *signals = NULL;

	g_setenv("PAPERBOY_TEST_SECRET", "x", TRUE);
	/* The shell uses descriptors from 10. */
	descriptors = ask_script("x=; for i in 3 4 5 6 7 8 9; do"
	                         " [ -e /proc/$$/fd/$i ] && x=\"$x $i\"; done\n"
	                         "x=\"$x$(pwd)\"");
	environment = ask_script("x=\"$PAPERBOY_TEST_SECRET$HOME$USER\"");
	signals = ask_script("x=$(sed -n '/^Sig\\(Blk\\|Ign\\):/s/.*\\t//p'"
	                     " /proc/$$/status | tr -d '\\n')");
	g_assert_cmpstr(descriptors, ==, "/");
	g_assert_cmpstr(environment, ==, "");
	g_assert_cmpuint(strlen(signals), ==, 32);
	g_assert_true(g_str_has_prefix(signals, "0000000000000000"));
	/*
	 * The C library reserves two.  Signals that stop the daemon must not stop the
	 * parser, which would look like an invalid message.
	 */
	g_assert_cmphex(g_ascii_strtoull(signals + 16, NULL, 16) & ~LIBRARY_SIGNALS, ==,
	    STOP_SIGNALS);
	close(secret);
}

TEST(a_missing_program_is_not_the_message_s_fault)
{
	struct parser_process_options options = {
	    .program = "/nonexistent/paperboy-parser"};
	struct inmail *mail = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_false(parser_process_run(MAIL, strlen(MAIL), &options, &mail, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_nonnull(strstr(error->message, "/nonexistent/paperboy-parser"));
	check_nothing_left();
}

static unsigned
count_descriptors(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(descriptors))
		count++;
	closedir(descriptors);
	return count;
}

TEST(many_messages_leak_no_descriptors)
{
	unsigned before = count_descriptors();

	for (unsigned i = 0; i < 50; i++) {
		pb_auto(inmail) mail = read_well(MAIL, strlen(MAIL));

		g_assert_cmpstr(mail->subject, ==, "list");
	}
	g_assert_cmpuint(count_descriptors(), ==, before);
}

TEST(peak_memory_is_reported)
{
	g_autofree char *program = find_program("paperboy-parser");
	long peak_kib = 0;
	struct parser_process_options options = {
	    .program = program, .peak_kib = &peak_kib};
	pb_auto(inmail) mail = NULL;

	g_assert_true(parser_process_run(MAIL, strlen(MAIL), &options, &mail, NULL));
	g_assert_cmpint(peak_kib, >, 0);
}

UNIT_MAIN_WITH(signal(SIGPIPE, SIG_IGN))
