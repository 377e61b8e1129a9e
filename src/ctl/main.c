/*
 * main.c - paperboyctl: find the command, open the store, run the command.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <jansson.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/file.h"
#include "ctl/ctl.h"
#include "service/log/log.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/lock.h"

/* ---- the help of paperboyctl, from the table of commands ---- */

static void
print_synopsis(const struct ctl_command *command, FILE *out)
{
	fprintf(out, "paperboyctl %s%s%s%s%s", command->noun, command->verb ? " " : "",
	    command->verb ? command->verb : "", *command->arguments ? " " : "",
	    command->arguments);
}

static void
help_print_usage(const struct ctl_command *command, FILE *out)
{
	fputs("usage: ", out);
	print_synopsis(command, out);
	fputc('\n', out);
}

static void
help_print_all(FILE *out)
{
	fputs("paperboyctl [-c FILE] [--json] [--wide] COMMAND ...\n\n"
	      "Manages subscribers and filters, and shows what paperboyd does. Works\n"
	      "whether or not the daemon is running.\n\n",
	    out);
	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		fputs("  ", out);
		print_synopsis(command, out);
		fprintf(out, "\n      %s\n", command->help);
	}
	fputs(
	    "\n  -c, --config FILE  read FILE instead of " PAPERBOY_SYSCONFDIR
	    "/paperboy.conf\n"
	    "  --json             print JSON, for scripts; also after the command\n"
	    "  --wide             do not cut tables to the width of the terminal\n"
	    "  --now TIME         use TIME as the current time, such as "
	    "2026-11-20T09:00:00Z\n"
	    "  --version          print the version\n\n"
	    "Exit status: 0 success; 1 status reports warnings, 2 a failing service;\n"
	    "64 usage error; 65 invalid input; 67 no such subscriber, filter, digest\n"
	    "or message; 69 the store cannot be used; 74 cannot write the output;\n"
	    "75 temporary failure; 78 configuration error.\n",
	    out);
}

/* Print the usage of all commands of a noun. @return false when there is none */
static bool
help_print_noun(const char *noun, FILE *out)
{
	bool is_any = false;

	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		if (strcmp(command->noun, noun) != 0)
			continue;
		fputs(is_any ? "       " : "usage: ", out);
		print_synopsis(command, out);
		fputc('\n', out);
		is_any = true;
	}
	return is_any;
}

/*
 * Find what was meant by a misspelt word.
 *
 * @param noun  find one of its verbs; NULL: find a noun
 * @return borrowed from the table; NULL if no word is similar
 */
static const char *
find_closest(const char *typed, const char *noun)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		if (!noun)
			g_ptr_array_add(words, (char *)command->noun);
		else if (command->verb && strcmp(command->noun, noun) == 0)
			g_ptr_array_add(words, (char *)command->verb);
	}
	if (!words->len)
		return NULL;
	g_ptr_array_add(words, NULL);
	return edit_distance_find_closest(typed, (const char *const *)words->pdata);
}

/* Print similar commands on standard error. @param verb  may be NULL */
static void
help_print_unknown(const char *noun, const char *verb)
{
	const char *suggestion = find_closest(noun, NULL);
	const char *suggested_verb =
	    suggestion && verb ? find_closest(verb, suggestion) : NULL;

	fprintf(stderr, "paperboyctl: unknown command '%s%s%s'", noun, verb ? " " : "",
	    verb ? verb : "");
	if (suggestion && (suggested_verb || strcmp(suggestion, noun) != 0))
		fprintf(stderr, ": did you mean '%s%s%s'?", suggestion,
		    suggested_verb ? " " : "", suggested_verb ? suggested_verb : "");
	fputc('\n', stderr);
	if (suggested_verb)
		return;
	if (!help_print_noun(suggestion ? suggestion : noun, stderr))
		fputs("Try 'paperboyctl --help'.\n", stderr);
}

static void
help_print_command(const struct ctl_command *command)
{
	help_print_usage(command, stdout);
	printf("\n%s.\n", command->help);
	if (command->details)
		printf("%s\n", command->details);
}

/* ---- main ---- */

struct options {
	char *config, *now;
	gboolean is_json, is_wide, is_version, is_help;
};

/* Global options come before the command, --json and --wide also after it. */
static bool
parse_options(struct options *options, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
	    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config, NULL, NULL},
	    {"json", 0, 0, G_OPTION_ARG_NONE, &options->is_json, NULL, NULL},
	    {"now", 0, 0, G_OPTION_ARG_STRING, &options->now, NULL, NULL},
	    {"wide", 0, 0, G_OPTION_ARG_NONE, &options->is_wide, NULL, NULL},
	    {"version", 0, 0, G_OPTION_ARG_NONE, &options->is_version, NULL, NULL},
	    {"help", 'h', 0, G_OPTION_ARG_NONE, &options->is_help, NULL, NULL},
	    {0},
	};
	GOptionContext *context = g_option_context_new(NULL);
	bool is_ok;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_strict_posix(context, TRUE);
	g_option_context_add_main_entries(context, entries, NULL);
	is_ok = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	return is_ok;
}

/* "queue" alone is a command; what follows it is a verb, unless it is an option. */
static bool
is_verb(const char *noun, const char *word)
{
	for (const struct ctl_command *command = ctl_commands; command->noun; command++)
		if (word && *word != '-' && command->verb &&
		    strcmp(command->noun, noun) == 0)
			return true;
	return false;
}

static const struct ctl_command *
find_command(int *argc, char ***argv)
{
	const char *noun = (*argv)[1];
	const char *verb = *argc > 2 ? (*argv)[2] : NULL;

	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		int words = command->verb ? 2 : 1;

		if (strcmp(command->noun, noun) != 0 ||
		    (command->verb ? g_strcmp0(command->verb, verb) != 0
		                   : is_verb(noun, verb)))
			continue;
		*argc -= words;
		*argv += words;
		return command;
	}
	return NULL;
}

/* A monitor shows the first line of standard output. */
static int
fail_status(const struct ctl *ctl, const char *message)
{
	if (ctl->is_json)
		fprintf(stderr, "paperboyctl: %s\n", message);
	else
		ctl_print_failure(message);
	return CTL_EXIT_FAILING;
}

static int
fail(const struct ctl_command *command, const struct ctl *ctl, const GError *error)
{
	if (command && command->run == ctl_run_status &&
	    error->domain != G_OPTION_ERROR)
		return fail_status(ctl, error->message);
	fprintf(stderr, "paperboyctl: %s\n", error->message);
	if (command && error->domain == G_OPTION_ERROR)
		help_print_usage(command, stderr);
	return pb_error_exit_status(error);
}

/* Commands that use no store, or open or replace it themselves. */
static bool
opens_itself(const struct ctl_command *command, const struct ctl *ctl)
{
	return ctl->options.is_verify || command->run == ctl_run_upgrade ||
	       command->run == ctl_run_restore || command->run == ctl_run_doctor ||
	       command->run == ctl_run_config || command->run == ctl_run_receive ||
	       command->run == ctl_run_login || command->run == ctl_run_store_copy ||
	       command->run == ctl_run_source_try;
}

/* On a read-only file system: without a lock; writing fails. */
static bool
run_read_only(const struct ctl_command *command, struct ctl *ctl, GError **error)
{
	bool is_ok;

	ctl->store = factory_open_store_for_reading(ctl->settings, error);
	is_ok = ctl->store && command->run(ctl, error);
	store_free(ctl->store);
	return is_ok;
}

/* The shared lock keeps restore from replacing the store; the key is changed while
 * nothing else uses it. */
static bool
run_with_store(const struct ctl_command *command, struct ctl *ctl, GError **error)
{
	bool is_alone =
	    command->run == ctl_run_key_rotate || command->run == ctl_run_key_restore;
	int lock;
	bool is_ok;

	if (file_is_read_only(ctl->settings->state_dir))
		return run_read_only(command, ctl, error);
	lock = is_alone ? lock_take_alone(ctl->settings->state_dir, error)
	                : lock_share(ctl->settings->state_dir, error);
	if (lock < 0)
		return false;
	ctl->store = factory_open_store(ctl->settings, error);
	is_ok = ctl->store && command->run(ctl, error);
	store_free(ctl->store);
	close(lock);
	return is_ok;
}

/*
 * As root, become the owner of the state directory for good, so that new files there
 * belong to the daemon.  Any other user stays.
 */
static bool
run_as_owner(const char *state_dir, GError **error)
{
	GStatBuf status;

	if (g_stat(state_dir, &status) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "cannot use the state directory '%s': %s%s", state_dir,
		    g_strerror(errno),
		    errno == ENOENT ? "; paperboyd creates it when it starts" : "");
	if (geteuid() != 0 && status.st_uid != geteuid()) {
		g_autofree char *owner = file_format_user(status.st_uid);
		g_autofree char *user = file_format_user(geteuid());

		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is owned by %s, but this process runs as %s: try sudo "
		    "paperboyctl",
		    state_dir, owner, user);
	}
	if (geteuid() != 0 || status.st_uid == 0)
		return true;
	if (setgroups(0, NULL) == 0 && setgid(status.st_gid) == 0 &&
	    setuid(status.st_uid) == 0) {
		/* libpq reads files in it; without it the new user's. */
		g_unsetenv("HOME");
		return true;
	}
	return pb_fail(error, PB_ERROR_PERMANENT, "cannot become the owner of '%s': %s",
	    state_dir, g_strerror(errno));
}

static int
run(const struct ctl_command *command, const struct options *options, struct ctl *ctl)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	pb_auto(settings) settings = NULL;
	g_autoptr(GError) error = NULL;
	bool is_ok;

	ctl->config_path = startup_get_config(options->config);
	if (!startup_init_clock(&ctl->clock, options->now, false, &error) ||
	    !ctl_parse(command, ctl, &error))
		return fail(command, ctl, error);
	/* These need no configuration. */
	if (command->run == ctl_run_bounce_explain ||
	    command->run == ctl_run_inbox_try ||
	    command->run == ctl_run_provider_list || command->run == ctl_run_setup)
		return command->run(ctl, &error) ? ctl->status
		                                 : fail(command, ctl, error);
	/* Templates are not checked: a broken one must not block e.g. removals. */
	settings = startup_load_settings(options->config, problems);
	for (unsigned i = 0; i < problems->len; i++)
		fprintf(stderr, "paperboyctl: %s\n", (char *)problems->pdata[i]);
	/* The running daemon uses the configuration that it loaded before. */
	if (!settings && command->run == ctl_run_status) {
		ctl->config_errors = problems;
		settings = startup_recover_settings(options->config);
	}
	if (!settings && !options->config &&
	    !g_file_test(startup_get_config(NULL), G_FILE_TEST_EXISTS))
		fputs("paperboyctl: use -c FILE for another path\n", stderr);
	if (!settings && command->run == ctl_run_status)
		return fail_status(ctl, problems->pdata[0]);
	/* Mail must not bounce because of our configuration. */
	if (!settings)
		return command->run == ctl_run_receive ? EX_TEMPFAIL : EX_CONFIG;
	ctl->settings = settings;
	/* While root may still read the files of root. */
	if ((command->run == ctl_run_subscriber_import ||
	        command->run == ctl_run_subscriber_known ||
	        command->run == ctl_run_suppression_import) &&
	    !ctl_open_import(ctl, &error))
		return fail(command, ctl, error);
	/* These work without a state directory. */
	if (command->run != ctl_run_config && command->run != ctl_run_receive &&
	    !run_as_owner(settings->state_dir, &error))
		return fail(command, ctl, error);
	if (opens_itself(command, ctl))
		is_ok = command->run(ctl, &error);
	else
		is_ok = run_with_store(command, ctl, &error);
	if (is_ok)
		return ctl->status;
	return fail(command, ctl, error);
}

static bool
is_help(const char *text)
{
	return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

/* Remove --json and --wide, which every command has. */
static void
take_output_options(struct options *options, int *argc, char **argv)
{
	int left = 1;

	for (int i = 1; i <= *argc; i++) {
		if (argv[i] && strcmp(argv[i], "--") == 0) {
			memmove(&argv[left], &argv[i],
			    (size_t)(*argc - i + 1) * sizeof(*argv));
			left += *argc - i + 1;
			break;
		}
		if (argv[i] && strcmp(argv[i], "--json") == 0)
			options->is_json = true;
		else if (argv[i] && strcmp(argv[i], "--wide") == 0)
			options->is_wide = true;
		else
			argv[left++] = argv[i]; /* with the NULL */
	}
	*argc = left - 1;
}

/* --help anywhere after a command prints the command's help. */
static bool
has_help_option(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

static int
run_main(struct options *options, int argc, char **argv)
{
	const struct ctl_command *command;
	g_autofree char *who = g_strdup_printf("operator %s", g_get_user_name());
	struct ctl ctl = {.who = who};
	int status;

	take_output_options(options, &argc, argv);
	if (options->is_version) {
		printf("paperboyctl %s\n", PACKAGE_VERSION);
		return EX_OK;
	}
	if (options->is_help || argc < 2) {
		help_print_all(options->is_help ? stdout : stderr);
		return options->is_help ? EX_OK : EX_USAGE;
	}
	command = find_command(&argc, &argv);
	/* "filter --help" lists the filter commands. */
	if (!command && argc > 2 && is_help(argv[2]) &&
	    help_print_noun(argv[1], stdout))
		return EX_OK;
	if (!command) {
		help_print_unknown(argv[1], argc > 2 ? argv[2] : NULL);
		return EX_USAGE;
	}
	if (has_help_option(argc, argv)) {
		help_print_command(command);
		return EX_OK;
	}
	ctl.argc = argc;
	ctl.argv = argv;
	ctl.is_json = options->is_json;
	ctl.is_wide = options->is_wide;
	status = run(command, options, &ctl);
	ctl_options_clear(&ctl.options);
	g_clear_pointer(&ctl.key, g_bytes_unref);
	return status;
}

/*
 * Fail when the output could not be written, except to a pipe that its reader, such as
 * head(1), has closed.
 */
static int
flush_output(int status)
{
	struct pollfd output = {.fd = STDOUT_FILENO};
	bool is_failed = ferror(stdout);

	if (status >= EX__BASE)
		return status;
	errno = 0;
	if (fflush(stdout) == 0 && !is_failed)
		return status;
	if (errno == EPIPE || (poll(&output, 1, 0) == 1 && (output.revents & POLLERR)))
		return status;
	fprintf(stderr, "paperboyctl: cannot write to standard output: %s\n",
	    errno ? g_strerror(errno) : "output lost");
	return EX_IOERR;
}

int
main(int argc, char **argv)
{
	struct options options = {0};
	g_autoptr(GError) error = NULL;
	int status;

	setlocale(LC_ALL, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	/* A core file would contain passwords and tokens. */
	prctl(PR_SET_DUMPABLE, 0);
	/* g_malloc() aborts with a message when out of memory. */
	json_set_alloc_funcs(g_malloc, g_free);
	log_start("warning", "paperboyctl");
	if (parse_options(&options, &argc, &argv, &error))
		status = run_main(&options, argc, argv);
	else
		status = fail(NULL, NULL, error);
	g_free(options.config);
	g_free(options.now);
	return flush_output(status);
}
