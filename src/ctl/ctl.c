/*
 * ctl.c - functions that the commands of paperboyctl share: options, questions, daemon.
 */
#include "ctl/ctl.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"
#include "service/inbound/parser_process.h"
#include "service/setup/startup.h"

/* GLib keeps the "--" when something like -x follows. */
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

/* Add a hint to an error of GLib's option parser. */
static void
set_option_error(GError **error, const GError *problem)
{
	if (problem->domain != G_OPTION_ERROR)
		pb_fail(error, PB_ERROR_INPUT, "the value of an option is not UTF-8");
	else
		g_set_error(error, G_OPTION_ERROR, problem->code, "%s%s",
		    problem->code == G_OPTION_ERROR_UNKNOWN_OPTION
		        ? "write -- before an argument that begins with -: "
		        : "",
		    problem->message);
}

static const struct {
	const char *name;
	GOptionArg type;
	size_t offset;
} option_rows[] = {
#define OPTION(name, type, member)                                              \
	{                                                                       \
		name, G_OPTION_ARG_##type, offsetof(struct ctl_options, member) \
	}
    OPTION("address", STRING, address),
    OPTION("all", NONE, is_all),
    OPTION("answers", FILENAME, answers_path),
    OPTION("at", STRING, at),
    OPTION("block", NONE, is_block),
    OPTION("browser", NONE, is_browser),
    OPTION("cadence", STRING, frequency),
    OPTION("catch-up", INT, catch_up),
    OPTION("client-credentials", NONE, is_own),
    OPTION("consent", STRING, consent),
    OPTION("day", STRING, day),
    OPTION("days", INT, days),
    OPTION("delivered", NONE, is_delivered),
    OPTION("device", NONE, is_device),
    OPTION("dry-run", NONE, is_dry_run),
    OPTION("filter", STRING_ARRAY, filters),
    OPTION("filters", NONE, has_filters),
    OPTION("first", NONE, is_first),
    OPTION("from", FILENAME, from_path),
    OPTION("html", NONE, is_html),
    OPTION("language", STRING, language),
    OPTION("limit", INT, limit),
    OPTION("lost", NONE, is_lost),
    OPTION("max", INT, max),
    OPTION("name", STRING, name),
    OPTION("never-again", NONE, is_never_again),
    OPTION("newest", NONE, is_newest),
    OPTION("note", STRING, note),
    OPTION("raw", NONE, is_raw),
    OPTION("reason", STRING, reason),
    OPTION("recipient", STRING, recipient),
    OPTION("refresh-token", FILENAME, token_path),
    OPTION("sender", STRING, sender),
    OPTION("set", STRING_ARRAY, settings),
    OPTION("since", STRING, since),
    OPTION("skip-bad", NONE, is_skip_bad),
    OPTION("socket", FILENAME, socket_path),
    OPTION("state", STRING, state),
    OPTION("templates", STRING, templates),
    OPTION("take-back", NONE, is_take_back),
    OPTION("until", STRING, until),
    OPTION("verify", NONE, is_verify),
    OPTION("wait", INT, wait),
    OPTION("yes", NONE, is_yes),
    OPTION("zone", STRING, zone),
#undef OPTION
};

/* @return where a preference, or another option, is stored */
static void *
find_option(struct ctl_options *options, const char *name, GOptionArg *type)
{
	enum preference preference;

	for (size_t i = 0; i < G_N_ELEMENTS(option_rows); i++)
		if (strcmp(name, option_rows[i].name) == 0) {
			*type = option_rows[i].type;
			return (char *)options + option_rows[i].offset;
		}
	*type = G_OPTION_ARG_STRING;
	if (!preferences_find(name, &preference))
		g_assert_not_reached();
	return &options->words[preference];
}

static void
add_option(GOptionContext *context, struct ctl_options *options, const char *name)
{
	GOptionEntry entries[2] = {{.long_name = name}};

	entries[0].arg_data = find_option(options, name, &entries[0].arg);
	g_option_context_add_main_entries(context, entries, NULL);
}

static bool
parse_options(const struct ctl_command *command, struct ctl *ctl, GError **error)
{
	GOptionContext *context = g_option_context_new(NULL);
	g_auto(GStrv) names = g_strsplit(command->options, " ", -1);
	g_autoptr(GError) problem = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	for (char **name = names; *name; name++)
		add_option(context, &ctl->options, *name);
	if (!g_option_context_parse(context, &ctl->argc, &ctl->argv, &problem))
		set_option_error(error, problem);
	g_option_context_free(context);
	return !problem;
}

bool
ctl_parse(const struct ctl_command *command, struct ctl *ctl, GError **error)
{
	ctl->options = (struct ctl_options){.catch_up = CTL_UNSET,
	    .days = CTL_UNSET,
	    .limit = CTL_UNSET,
	    .max = CTL_UNSET,
	    .wait = CTL_UNSET};
	if (!parse_options(command, ctl, error))
		return false;
	remove_separator(&ctl->argc, ctl->argv);
	if (ctl->argc - 1 < command->least) {
		g_set_error(
		    error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "missing argument");
		return false;
	}
	if (command->most >= 0 && ctl->argc - 1 > command->most) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "unexpected argument '%s'", ctl->argv[command->most + 1]);
		return false;
	}
	return true;
}

void
ctl_options_clear(struct ctl_options *options)
{
	for (size_t i = 0; i < G_N_ELEMENTS(option_rows); i++) {
		void *value = (char *)options + option_rows[i].offset;

		if (option_rows[i].type == G_OPTION_ARG_STRING_ARRAY)
			g_strfreev(*(char ***)value);
		else if (option_rows[i].type == G_OPTION_ARG_STRING ||
		         option_rows[i].type == G_OPTION_ARG_FILENAME)
			g_free(*(char **)value);
	}
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		g_free(options->words[i]);
}

int
ctl_get_number(int number, int usual)
{
	return number == CTL_UNSET ? usual : number;
}

GBytes *
ctl_get_key(struct ctl *ctl, GError **error)
{
	if (!ctl->key)
		ctl->key = startup_load_key(ctl->settings, ctl->store, error);
	return ctl->key;
}

bool
ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &number, NULL))
		return pb_fail(error, PB_ERROR_INPUT, "invalid %s id '%s'", what, text);
	*id = (int64_t)number;
	return true;
}

bool
ctl_confirm(const struct ctl *ctl, const char *question, GError **error)
{
	char answer[16] = "";

	if (ctl->options.is_yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return pb_fail(error, PB_ERROR_INPUT,
		    "not done: confirmation needs a terminal, or --yes");
	fprintf(stderr, "%s? [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) &&
	    (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
	        g_ascii_strcasecmp(answer, "yes") == 0))
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "not done");
}

bool
ctl_confirm_replace(const struct ctl *ctl, const char *path, GError **error)
{
	g_autofree char *question = g_strdup_printf("Replace %s", path);
	GStatBuf status;

	if (g_stat(path, &status) != 0)
		return true;
	if (!S_ISREG(status.st_mode))
		return pb_fail(
		    error, PB_ERROR_INPUT, "'%s' is not a regular file", path);
	return ctl_confirm(ctl, question, error);
}

GString *
ctl_read_stream(FILE *file, size_t limit)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char part[64 * 1024];
	size_t size;

	while (text->len <= limit && (size = fread(part, 1, sizeof(part), file)) > 0)
		g_string_append_len(text, part, (gssize)size);
	return ferror(file) ? NULL : g_steal_pointer(&text);
}

static GString *
read_message(const char *path, GError **error)
{
	FILE *file = strcmp(path, "-") != 0 ? fopen(path, "rbe") : stdin;
	GString *mail;

	if (!file) {
		file_set_error("cannot open", path, PB_ERROR_INPUT, error);
		return NULL;
	}
	/* The parser rejects a message one byte above the limit. */
	mail = ctl_read_stream(file, BOUNDS_MAIL_BYTES);
	if (!mail)
		file_set_error("cannot read", path, PB_ERROR_INPUT, error);
	if (file != stdin)
		fclose(file);
	return mail;
}

/* In a build directory the parser is beside paperboyctl. @return NULL if installed */
static char *
find_built_parser(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *directory = self ? g_path_get_dirname(self) : NULL;
	g_autofree char *program =
	    directory ? g_build_filename(directory, "paperboy-parser", NULL) : NULL;

	return program && g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)
	           ? g_steal_pointer(&program)
	           : NULL;
}

struct inmail *
ctl_parse_mail(const char *path, GError **error)
{
	g_autofree char *program = find_built_parser();
	const struct parser_process_options options = {.program = program};
	g_autoptr(GString) raw = read_message(path, error);
	struct inmail *mail = NULL;

	if (raw)
		parser_process_run(raw->str, raw->len, &options, &mail, error);
	return mail;
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
ctl_ask_daemon(const struct ctl *ctl, const char *command)
{
	g_autoptr(GSocketConnection) connection = connect_daemon(ctl);
	g_autofree char *line = g_strdup_printf("%s\n", command);
	char reply[BOUNDS_CONTROL_ANSWER_BYTES];
	gsize size = 0;

	if (!connection)
		return NULL;
	g_output_stream_write_all(
	    g_io_stream_get_output_stream(G_IO_STREAM(connection)), line, strlen(line),
	    NULL, NULL, NULL);
	/* The daemon closes after its reply; use what arrived before a failure. */
	g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
	    reply, sizeof(reply), &size, NULL, NULL);
	return g_strchomp(g_utf8_make_valid(reply, (gssize)size));
}

void
ctl_wake_daemon(const struct ctl *ctl)
{
	g_free(ctl_ask_daemon(ctl, "wake"));
}

bool
ctl_print_query_error(
    const char *text, const struct query_error *problem, GError **error)
{
	g_autofree char *lines = NULL;

	if (!problem->message)
		return false;
	lines = query_error_format(problem, text, 0);
	fputs(lines, stderr);
	g_clear_error(error);
	return pb_fail(error, problem->code, "invalid filter%s%s",
	    problem->example ? "; example: " : "",
	    problem->example ? problem->example : "");
}

void
ctl_print_warnings(GPtrArray *warnings)
{
	for (unsigned i = 0; warnings && i < warnings->len; i++)
		fprintf(
		    stderr, "warning: %s\n", ((struct msg *)warnings->pdata[i])->text);
}

/* ---- questions on a terminal ---- */

char *
ctl_read_line(FILE *input)
{
	char *line = NULL, *answer = NULL;
	size_t size = 0;
	ssize_t count = getline(&line, &size, input);

	for (ssize_t i = 0; i < count; i++)
		if (!line[i])
			line[i] = '\1';
	if (count >= 0)
		answer = g_strndup(line, strcspn(line, "\r\n"));
	if (line)
		explicit_bzero(line, size);
	free(line);
	return answer;
}

static void
print_prompt(const char *text, const char *usual)
{
	printf("%s%s%s%s: ", text, usual ? " [" : "", usual ? usual : "",
	    usual ? "]" : "");
	fflush(stdout);
}

char *
ctl_ask(const char *text, const char *usual)
{
	char *answer;

	print_prompt(text, usual);
	answer = ctl_read_line(stdin);
	return answer ? g_strstrip(answer) : NULL;
}

static void
set_echo(bool is_on)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &mode) != 0)
		return;
	if (is_on)
		mode.c_lflag |= ECHO;
	else
		mode.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode);
}

/* A signal acts once the terminal shows again what is typed. */
char *
ctl_ask_secret(const char *text)
{
	struct pollfd items[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	sigset_t signals, old;
	char *answer = NULL;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGTSTP);
	items[1].fd = signalfd(-1, &signals, SFD_CLOEXEC);
	do {
		sigprocmask(SIG_BLOCK, &signals, &old);
		set_echo(false);
		print_prompt(text, NULL);
		poll(items, G_N_ELEMENTS(items), -1);
		if (!items[1].revents)
			answer = ctl_read_line(stdin);
		set_echo(true);
		putchar('\n');
		sigprocmask(SIG_SETMASK, &old, NULL);
	} while (items[1].revents & POLLIN);
	close(items[1].fd);
	return answer;
}
