/*
 * ctl_setup.c - paperboyctl setup: write a configuration from five answers.
 *
 * After each answer the configuration so far is loaded as paperboyd does, and what the
 * answer names is tried: the mail hosts, the login, the sources.
 */
#include <glib/gstdio.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/token.h"
#include "config/provider.h"
#include "ctl/ctl.h"
#include "message/address.h"
#include "message/compose.h"
#include "net/oauth.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/own_addresses.h"
#include "sources/source.h"

/* A line of the configuration.  Names are interned. */
struct entry {
	const char *group; /* "": none */
	const char *name;
	const char *comment; /* static; or NULL */
	char *value;         /* as libconfig reads it */
	bool is_fixed;       /* by --set */
};

struct setup {
	struct ctl *ctl;
	const char *path;    /* of the configuration */
	GPtrArray *entries;  /* of struct entry *, in the order of the file */
	GHashTable *answers; /* char *name -> char *; NULL: from a terminal */
	char *note;          /* what the last answer has shown, or NULL */
	char *mailbox;
	char *password_path; /* final */
	int password_fd;     /* in memory while it is not certain; or -1 */
	bool is_local;       /* the relay is on this machine */
};

/* ---- the configuration ---- */

static void
entry_free(void *data)
{
	struct entry *entry = data;

	g_free(entry->value);
	g_free(entry);
}

/* Set a value; NULL removes it.  @param value  taken */
static void
put(struct setup *setup, const char *setting, char *value, const char *comment)
{
	g_auto(GStrv) parts = g_strsplit(setting, ".", 2);
	const char *group = g_intern_string(parts[1] ? parts[0] : "");
	const char *name = g_intern_string(parts[1] ? parts[1] : parts[0]);
	struct entry *entry = NULL;

	for (unsigned i = 0; i < setup->entries->len && !entry; i++) {
		entry = setup->entries->pdata[i];
		if (entry->group != group || entry->name != name)
			entry = NULL;
	}
	if (!value || (entry && entry->is_fixed)) {
		if (entry && !entry->is_fixed)
			g_ptr_array_remove(setup->entries, entry);
		g_free(value);
		return;
	}
	if (!entry) {
		entry = g_new0(struct entry, 1);
		entry->group = group;
		entry->name = name;
		g_ptr_array_add(setup->entries, entry);
	}
	g_free(entry->value);
	entry->value = value;
	entry->comment = comment;
}

static char *
quote(const char *text)
{
	GString *out = g_string_new("\"");

	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *text);
	}
	return g_string_free(g_string_append_c(out, '"'), FALSE);
}

static void
put_text(
    struct setup *setup, const char *setting, const char *text, const char *comment)
{
	put(setup, setting, text ? quote(text) : NULL, comment);
}

static void
put_port(struct setup *setup, const char *setting, int port)
{
	put(setup, setting, g_strdup_printf("%d", port), NULL);
}

static void
append_group(const struct setup *setup, const char *group, GString *out)
{
	const char *indent = *group ? "\t" : "";

	g_string_append_printf(out, *group ? "\n%s: {\n" : "\n%s", group);
	for (unsigned i = 0; i < setup->entries->len; i++) {
		const struct entry *entry = setup->entries->pdata[i];

		if (entry->group != group)
			continue;
		if (entry->comment)
			g_string_append_printf(out, "%s# %s\n", indent, entry->comment);
		g_string_append_printf(
		    out, "%s%s = %s;\n", indent, entry->name, entry->value);
	}
	g_string_append(out, *group ? "};\n" : "");
}

static char *
format_configuration(const struct setup *setup)
{
	GString *out =
	    g_string_new("# Configuration of paperboyd and paperboyctl, made by "
	                 "paperboyctl setup.\n"
	                 "# paperboy.conf(5) has all settings.  Check a change "
	                 "with: paperboyd --check\n");
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < setup->entries->len; i++) {
		const struct entry *entry = setup->entries->pdata[i];

		if (g_hash_table_add(done, (void *)entry->group))
			append_group(setup, entry->group, out);
	}
	return g_string_free(out, FALSE);
}

static bool
write_file(const char *path, const char *text, int mode, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (g_file_set_contents_full(
	        path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, mode, &problem))
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT, "%s", problem->message);
}

/* Create a file beside another one. @return its path, a new string; or NULL */
static char *
make_file(const char *path, GError **error)
{
	g_autofree char *template = g_strconcat(path, ".XXXXXX", NULL);
	int fd = g_mkstemp(template); /* mode 0600 */

	if (fd < 0) {
		file_set_error("cannot create", template, PB_ERROR_PERMANENT, error);
		return NULL;
	}
	close(fd);
	return g_steal_pointer(&template);
}

/* Load the configuration so far. @return NULL with the first problem */
static struct settings *
load(const struct setup *setup, GError **error)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = format_configuration(setup);
	g_autofree char *path = make_file(setup->path, error);
	struct settings *settings = NULL;
	const char *at;

	if (!path || !write_file(path, text, 0644, error))
		return NULL;
	settings = startup_load_checked(path, NULL, problems);
	g_unlink(path);
	if (settings)
		return settings;
	/* After "file:line: ". */
	at = problems->len ? strstr(problems->pdata[0], ": ") : NULL;
	pb_fail(error, PB_ERROR_INPUT, "%s", at ? at + 2 : "invalid configuration");
	return NULL;
}

static bool
check(const struct setup *setup, GError **error)
{
	pb_auto(settings) settings = load(setup, error);

	return settings;
}

/* ---- trying it ---- */

static bool
try_relay(struct setup *setup, const struct settings *settings, GError **error)
{
	struct factory_transport *transport =
	    factory_new_transport_options(settings, NULL, &setup->ctl->clock, error);
	bool is_ok;

	if (!transport)
		return false;
	g_clear_pointer(&setup->note, g_free);
	is_ok = factory_probe_transport(transport, &setup->note, error);
	factory_free_transport(transport);
	if (!is_ok)
		g_prefix_error(error, "sending: ");
	return is_ok;
}

static bool
try_mailbox(struct setup *setup, const struct settings *settings, GError **error)
{
	struct store *none = NULL;
	pb_auto(receiver) mailbox = NULL;
	g_autofree char *relay = NULL;
	g_autofree char *reported = NULL;

	if (!try_relay(setup, settings, error))
		return false;
	if (!factory_new_receiver(settings, NULL, FACTORY_RECEIVER_IMAP,
	        &setup->ctl->clock, &none, &mailbox, error))
		return false;
	if (!receiver_probe(mailbox, &reported, error)) {
		g_prefix_error(error, "receiving: ");
		return false;
	}
	relay = g_steal_pointer(&setup->note);
	setup->note = g_strconcat(relay, "; ", reported, NULL);
	return true;
}

/* @return false unless it may work later: then that is noted */
static bool
try_source(struct source *source, struct http *http, const char *day, GString *found,
    GError **error)
{
	pb_local(source_answer) answer = {0};
	g_autoptr(GError) problem = NULL;
	bool is_ok;

	source_answer_init(&answer);
	is_ok = source->poll
	            ? source_poll(source, http, day, NULL, &answer, &problem)
	            : source_fetch_day(source, http, day, NULL, &answer, &problem);
	if (!is_ok && !g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY)) {
		g_prefix_error(&problem, "source %s: ", source->name);
		return pb_error_forward(error, &problem);
	}
	g_string_append_printf(found, "%s%s: ", found->len ? ", " : "", source->label);
	if (is_ok)
		g_string_append_printf(found, "%zu papers", answer.count);
	else
		g_string_append_printf(found, "not tested (%s)", problem->message);
	return true;
}

static bool
try_sources(struct setup *setup, const struct settings *settings, GError **error)
{
	g_autoptr(GPtrArray) sources = factory_new_sources(settings);
	pb_auto(http) http = factory_new_http(settings, NULL);
	g_autoptr(GDateTime) now =
	    g_date_time_new_from_unix_utc(clock_get_now(&setup->ctl->clock));
	g_autofree char *day = g_date_time_format(now, "%Y-%m-%d");
	g_autoptr(GString) found = g_string_new(NULL);

	for (unsigned i = 0; i < sources->len; i++)
		if (!try_source(sources->pdata[i], http, day, found, error))
			return false;
	setup->note = g_strdup(found->str);
	return true;
}

/* ---- the questions ---- */

static bool
take_owner(struct setup *setup, const char *answer, GError **error)
{
	put_text(setup, "mail.from", answer, "From address of digests.");
	put_text(setup, "mail.owner", answer,
	    "The operator, who gets alerts by mail (alerts = false: none).");
	return check(setup, error);
}

static bool
take_mailbox(struct setup *setup, const char *answer, GError **error)
{
	pb_local(address) address = {0};

	if (!address_parse(answer, &address, error))
		return false;
	g_free(setup->mailbox);
	setup->mailbox = g_strdup(address.text);
	put_text(setup, "mail.from", address.text, "From address of digests.");
	return check(setup, error);
}

/* @param port  set if the text ends with ":PORT". @return the host, a new string */
static char *
parse_host(const char *text, int *port)
{
	g_auto(GStrv) parts = g_strsplit(text, ":", 2);

	if (parts[0] && parts[1])
		*port = (int)g_ascii_strtoll(parts[1], NULL, 10);
	return g_strdup(parts[0] ? parts[0] : "");
}

static void
put_smtp(struct setup *setup, const char *host, int port)
{
	put_text(setup, "smtp.host", host, "The server that takes our mail.");
	put_port(setup, "smtp.port", port);
	put_text(setup, "smtp.tls", port == 465 ? "implicit" : NULL,
	    "Port 465 has TLS from the start.");
}

/* For other servers, or if nothing is to be received. */
static void
remove_receiver(struct setup *setup)
{
	put(setup, "receive.imap_host", NULL, NULL);
	put(setup, "receive.imap_port", NULL, NULL);
	put(setup, "receive.imap_user", NULL, NULL);
	put(setup, "receive.imap_password_file", NULL, NULL);
}

/* A provider, "IMAP-HOST[:PORT] SMTP-HOST[:PORT]", or "local". */
static bool
take_servers(struct setup *setup, const char *answer, GError **error)
{
	const struct provider *provider = provider_find(answer);
	g_auto(GStrv) words = g_strsplit(answer, " ", 2);
	g_autofree char *imap = NULL;
	g_autofree char *smtp = NULL;
	int imap_port = 993, smtp_port = 587;
	pb_auto(settings) settings = NULL;

	setup->is_local = strcmp(answer, "local") == 0;
	if (!setup->is_local && !provider && !words[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "expected a provider, IMAP-HOST SMTP-HOST, or local");
	if (provider && provider->has_no_passwords)
		return pb_fail(error, PB_ERROR_INPUT,
		    "%s takes no passwords: write %s by hand (README, Mailboxes with "
		    "OAuth 2), then run paperboyctl login",
		    provider->title, setup->path);
	put_text(setup, "smtp.user", NULL, NULL);
	put_text(setup, "smtp.password_file", NULL, NULL);
	remove_receiver(setup);
	if (setup->is_local) {
		put_smtp(setup, "localhost", 25);
	} else if (provider) {
		imap = g_strdup(provider->imap_host);
		imap_port = provider->imap_port;
		put_smtp(setup, provider->smtp_host, provider->smtp_port);
	} else {
		imap = parse_host(words[0], &imap_port);
		smtp = parse_host(g_strstrip(words[1]), &smtp_port);
		put_smtp(setup, smtp, smtp_port);
	}
	put_text(setup, "commands.delimiter",
	    provider && provider->has_subaddresses == PROVIDER_NO ? "" : NULL,
	    "The provider has no subaddresses (name+tag).");
	settings = load(setup, error);
	if (!settings || !try_relay(setup, settings, error))
		return false;
	if (provider && provider->token_url) {
		g_free(setup->note);
		setup->note =
		    g_strdup("make an app password in the account's settings, for the "
		             "next question; or use OAuth 2: README, Mailboxes with "
		             "OAuth 2");
	}
	if (imap) {
		put_text(setup, "receive.imap_host", imap,
		    "The mailbox to which users write.");
		put_port(setup, "receive.imap_port", imap_port);
	}
	return true;
}

static void
put_password(struct setup *setup, const char *path)
{
	put_text(setup, "smtp.user", setup->mailbox, NULL);
	put_text(setup, "smtp.password_file", path, NULL);
	put_text(setup, "receive.imap_user", setup->mailbox, NULL);
	put_text(setup, "receive.imap_password_file", path, NULL);
}

static char *
format_fd_path(int fd)
{
	return g_strdup_printf("/proc/self/fd/%d", fd);
}

/* Nothing is left of it when the program is ended. */
static bool
hold_password(struct setup *setup, const char *password, GError **error)
{
	size_t size = strlen(password);

	if (setup->password_fd < 0)
		setup->password_fd = memfd_create("password", MFD_CLOEXEC);
	if (setup->password_fd >= 0 && fchmod(setup->password_fd, 0600) == 0 &&
	    ftruncate(setup->password_fd, 0) == 0 &&
	    pwrite(setup->password_fd, password, size, 0) == (ssize_t)size)
		return true;
	return file_set_error("cannot hold", "the password", PB_ERROR_TEMPORARY, error);
}

/* @param answer  the password; in a file with answers, the path of one */
static bool
take_password(struct setup *setup, const char *answer, GError **error)
{
	g_autofree char *path = g_strdup(answer);
	pb_auto(settings) settings = NULL;

	if (!setup->answers) {
		if (!hold_password(setup, answer, error))
			return false;
		g_free(path);
		path = format_fd_path(setup->password_fd);
	}
	put_password(setup, path);
	settings = load(setup, error);
	return settings && try_mailbox(setup, settings, error);
}

static bool
take_subscribers(struct setup *setup, const char *answer, GError **error)
{
	bool is_open = strcmp(answer, "anyone") == 0;

	if (!is_open && strcmp(answer, "invited") != 0)
		return pb_fail(
		    error, PB_ERROR_INPUT, "expected \"anyone\" or \"invited\"");
	if (!is_open) {
		remove_receiver(setup);
		return check(setup, error);
	}
	put_text(setup, "commands.address", setup->mailbox,
	    "Who writes \"subscribe\" there is asked to confirm.");
	if (setup->is_local) {
		put_text(setup, "receive.lmtp_socket", "/run/paperboy/lmtp",
		    "Postfix delivers mail for this address there: see README.");
		put_text(setup, "receive.lmtp_group", "paperboy", NULL);
	}
	return check(setup, error);
}

/* "07:30 Europe/Berlin" */
static bool
take_time(struct setup *setup, const char *answer, GError **error)
{
	g_auto(GStrv) words = g_strsplit(answer, " ", 2);

	if (!words[1])
		return pb_fail(error, PB_ERROR_INPUT,
		    "expected a time and a time zone: 07:30 Europe/Berlin");
	put_text(setup, "digest.at", words[0],
	    "Time of new subscribers' digests; they can change it.");
	put_text(setup, "digest.zone", g_strstrip(words[1]), NULL);
	return check(setup, error);
}

static bool
take_categories(struct setup *setup, const char *answer, GError **error)
{
	pb_auto(settings) settings = NULL;

	put_text(setup, "arxiv.categories", strcmp(answer, "none") ? answer : "",
	    "Categories to collect, besides Hugging Face's Daily Papers.");
	settings = load(setup, error);
	return settings && try_sources(setup, settings, error);
}

static const struct question {
	const char *name;    /* in a file with answers */
	const char *heading; /* before it, or NULL */
	const char *text;
	const char *usual; /* for an empty answer; or NULL */
	bool (*take)(struct setup *setup, const char *answer, GError **error);
	bool is_of_mailbox; /* not asked for a local relay */
	bool is_secret;
	int retry; /* after a wrong answer: this one (0), or one before it (-1) */
} questions[] = {
    {"owner", "1 of 5: Who are you?", "Your mail address", NULL, take_owner, false,
        false, 0},
    {"mailbox", "2 of 5: Where is the mail of paperboy?",
        "Its address, a mailbox of its own", NULL, take_mailbox, false, false, 0},
    {"servers", NULL,
        "Provider (see paperboyctl provider list), IMAP-HOST SMTP-HOST, or local", NULL,
        take_servers, false, false, 0},
    {"password_file", NULL, "Password of the mailbox", NULL, take_password, true, true,
        -1},
    {"subscribers", "3 of 5: Who may subscribe?",
        "anyone who writes to the mailbox, or invited: those whom you add", "anyone",
        take_subscribers, false, false, 0},
    {"time", "4 of 5: When do digests come?", "Local time and time zone", "07:30 UTC",
        take_time, false, false, 0},
    {"categories", "5 of 5: Which papers, besides Hugging Face's Daily Papers?",
        "Categories of arXiv, such as cs.CL stat.ML, or none", "none", take_categories,
        false, false, 0},
};

/* ---- asking ---- */

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

static void
print_prompt(const struct question *question)
{
	printf("%s%s%s%s: ", question->text, question->usual ? " [" : "",
	    question->usual ? question->usual : "", question->usual ? "]" : "");
	fflush(stdout);
}

/* @return a new string; NULL at the end of the input */
static char *
read_line(void)
{
	char *line = NULL, *answer = NULL;
	size_t size = 0;

	if (getline(&line, &size, stdin) >= 0)
		answer = g_strndup(line, strcspn(line, "\r\n"));
	if (line)
		explicit_bzero(line, size);
	free(line);
	return answer;
}

/* A signal acts once the terminal shows again what is typed. */
static char *
ask_secret(const struct question *question)
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
		print_prompt(question);
		poll(items, G_N_ELEMENTS(items), -1);
		if (!items[1].revents)
			answer = read_line();
		set_echo(true);
		putchar('\n');
		sigprocmask(SIG_SETMASK, &old, NULL);
	} while (items[1].revents & POLLIN);
	close(items[1].fd);
	return answer;
}

/* @return a new string; NULL at the end of the input */
static char *
ask(const struct question *question)
{
	char *answer;

	if (question->is_secret)
		return ask_secret(question);
	print_prompt(question);
	answer = read_line();
	return answer ? g_strstrip(answer) : NULL;
}

static char *
find_answer(const struct setup *setup, const struct question *question, GError **error)
{
	g_autofree char *answer =
	    setup->answers
	        ? g_strdup(g_hash_table_lookup(setup->answers, question->name))
	        : ask(question);

	if (!setup->answers && !answer) {
		pb_fail(error, PB_ERROR_INPUT, "not done: no answer");
		return NULL;
	}
	if (answer && *answer)
		return g_steal_pointer(&answer);
	return g_strdup(question->usual ? question->usual : "");
}

static bool
take_answer(struct setup *setup, const struct question *question, const char *answer,
    GError **error)
{
	if (!*answer)
		return pb_fail(error, PB_ERROR_INPUT, "an answer is needed");
	for (const char *at = answer; *at; at++)
		if (g_ascii_iscntrl(*at))
			return pb_fail(
			    error, PB_ERROR_INPUT, "control characters in the answer");
	return question->take(setup, answer, error);
}

static bool
ask_all(struct setup *setup, GError **error)
{
	int i = 0;

	while (i < (int)G_N_ELEMENTS(questions)) {
		const struct question *question = &questions[i];
		g_autofree char *answer = NULL;
		g_autoptr(GError) problem = NULL;

		if (question->is_of_mailbox && setup->is_local) {
			i++;
			continue;
		}
		if (!setup->answers && question->heading)
			printf("\n%s\n", question->heading);
		answer = find_answer(setup, question, error);
		if (!answer)
			return false;
		g_clear_pointer(&setup->note, g_free);
		if (take_answer(setup, question, answer, &problem)) {
			printf("ok: %s%s%s\n", question->name, setup->note ? ": " : "",
			    setup->note ? setup->note : "");
			i++;
		} else if (setup->answers) {
			g_prefix_error(&problem, "%s: ", question->name);
			return pb_error_forward(error, &problem);
		} else {
			printf("wrong: %s\n", problem->message);
			i += question->retry;
		}
		if (question->is_secret)
			explicit_bzero(answer, strlen(answer));
	}
	return true;
}

/* Lines of "name: answer". */
static bool
read_answers(struct setup *setup, const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GError) problem = NULL;

	if (!g_file_get_contents(path, &text, NULL, &problem))
		return pb_fail(error, PB_ERROR_INPUT, "%s", problem->message);
	setup->answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned i = 0; lines[i]; i++) {
		g_auto(GStrv) parts = g_strsplit(g_strstrip(lines[i]), ":", 2);
		bool is_known = false;

		if (!*lines[i] || *lines[i] == '#')
			continue;
		for (size_t k = 0; k < G_N_ELEMENTS(questions); k++)
			is_known |= strcmp(parts[0], questions[k].name) == 0;
		if (!is_known || !parts[1])
			return pb_fail(error, PB_ERROR_INPUT,
			    "%s:%u: expected \"owner: ANSWER\" or another question",
			    path, i + 1);
		g_hash_table_insert(
		    setup->answers, g_strdup(parts[0]), g_strdup(g_strstrip(parts[1])));
	}
	return true;
}

/* ---- the end ---- */

static GBytes *
compose(const struct setup *setup, const struct settings *settings, const char *id,
    GError **error)
{
	g_autofree char *text = g_strdup_printf(
	    "paperboy can send mail: its configuration is %s.\r\n", setup->path);
	const struct compose_span run = {text, strlen(text)};
	const struct compose_header extra[] = {{"Auto-Submitted", "auto-generated"}};
	const struct compose_headers fields = {
	    .date = clock_get_now(&setup->ctl->clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, settings->mail_owner},
	    .subject = "paperboyctl setup",
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return compose_message(&fields, error);
}

static bool
send_test(struct setup *setup, const struct settings *settings, GError **error)
{
	struct factory_transport *options =
	    factory_new_transport_options(settings, NULL, &setup->ctl->clock, error);
	g_autofree char *domain = own_addresses_format_domain(settings);
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	g_autofree char *token = NULL;
	g_autofree char *id = NULL;
	g_autoptr(GBytes) message = NULL;
	struct transport *transport;
	struct envelope envelope = {.sender = factory_get_envelope_from(settings),
	    .recipient = settings->mail_owner};
	pb_local(delivery) result = {0};

	if (!options)
		return false;
	random_system.fill(random_system.data, bytes, sizeof(bytes));
	token = token_format_random(bytes);
	id = g_strdup_printf("setup.%s@%s", token, domain);
	message = compose(setup, settings, id, error);
	envelope.id = id;
	envelope.message = message;
	transport = factory_new_transport(options);
	if (message)
		transport_deliver(transport, &envelope, &result);
	transport_free(transport);
	factory_free_transport(options);
	if (!message || result.outcome == DELIVERY_SENT)
		return message;
	return pb_fail(error, PB_ERROR_TEMPORARY,
	    "the test mail to %s was not accepted: %s", settings->mail_owner,
	    result.text);
}

/* Write a file for the daemon's user. */
static bool
install_password(const char *path, const char *password, GError **error)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam("paperboy") : NULL;
	g_autofree char *draft = make_file(path, error);

	if (!draft)
		return false;
	if (write_file(draft, password, 0600, error)) {
		if ((!user || chown(draft, user->pw_uid, user->pw_gid) == 0) &&
		    g_rename(draft, path) == 0)
			return true;
		file_set_error("cannot write", path, PB_ERROR_PERMANENT, error);
	}
	g_unlink(draft);
	return false;
}

static bool
keep_password(struct setup *setup, GError **error)
{
	g_autofree char *path = NULL;
	char *password, *line;
	bool is_ok;

	if (setup->answers || setup->is_local)
		return true;
	path = format_fd_path(setup->password_fd);
	password = settings_load_secret(path, NULL, error);
	if (!password)
		return false;
	line = g_strconcat(password, "\n", NULL);
	is_ok = install_password(setup->password_path, line, error);
	oauth_secret_free(password);
	oauth_secret_free(line);
	put_password(setup, setup->password_path);
	return is_ok;
}

static bool
finish(struct setup *setup, GError **error)
{
	g_autofree char *text = NULL;
	pb_auto(settings) settings = NULL;

	if (!keep_password(setup, error))
		return false;
	settings = load(setup, error);
	if (!settings)
		return false;
	text = format_configuration(setup);
	if (!write_file(setup->path, text, 0644, error))
		return false;
	printf("\n%s is written.\n", setup->path);
	if (!send_test(setup, settings, error))
		return false;
	printf("A test mail is on its way to %s.\n\nNext:\n"
	       "  start paperboyd, then run paperboyctl check\n",
	    settings->mail_owner);
	if (*settings->commands_address)
		printf("  write \"subscribe\" to %s\n", settings->commands_address);
	else
		puts("  paperboyctl subscriber add ADDRESS --consent TEXT --filter "
		     "QUERY");
	return true;
}

/* ---- the command ---- */

static void
setup_clear(struct setup *setup)
{
	if (setup->password_fd >= 0)
		close(setup->password_fd);
	g_clear_pointer(&setup->entries, g_ptr_array_unref);
	g_clear_pointer(&setup->answers, g_hash_table_unref);
	g_free(setup->note);
	g_free(setup->mailbox);
	g_free(setup->password_path);
}

static bool
may_replace(const char *path, bool is_yes, GError **error)
{
	g_autofree char *question = g_strdup_printf("Replace %s", path);

	return ctl_check_replaceable(path, error) &&
	       (!g_file_test(path, G_FILE_TEST_EXISTS) ||
	           ctl_confirm(is_yes, question, error));
}

/* @param settings  of char *, "NAME=VALUE"; or NULL */
static bool
put_settings(struct setup *setup, char **settings, GError **error)
{
	for (char **at = settings; at && *at; at++) {
		g_auto(GStrv) parts = g_strsplit(*at, "=", 2);
		struct entry *entry;
		bool is_plain;

		if (!parts[1])
			return pb_fail(error, PB_ERROR_INPUT,
			    "--set: expected NAME=VALUE, not '%s'", *at);
		is_plain = strcmp(parts[1], "true") == 0 ||
		           strcmp(parts[1], "false") == 0 ||
		           (*parts[1] && !parts[1][strspn(parts[1], "0123456789")]);
		put(setup, parts[0], is_plain ? g_strdup(parts[1]) : quote(parts[1]),
		    NULL);
		entry = setup->entries->pdata[setup->entries->len - 1];
		entry->is_fixed = true;
	}
	return true;
}

static bool
run(struct setup *setup, const char *answers, char **settings, bool is_yes,
    GError **error)
{
	g_autofree char *directory = g_path_get_dirname(setup->path);

	if (answers && !read_answers(setup, answers, error))
		return false;
	if (!answers && !isatty(STDIN_FILENO))
		return pb_fail(error, PB_ERROR_INPUT,
		    "questions need a terminal, or --answers FILE");
	setup->password_path = g_build_filename(directory, "password", NULL);
	return may_replace(setup->path, is_yes, error) &&
	       (answers || may_replace(setup->password_path, is_yes, error)) &&
	       put_settings(setup, settings, error) && ask_all(setup, error) &&
	       finish(setup, error);
}

bool
ctl_run_setup(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *answers = NULL;
	g_auto(GStrv) settings = NULL;
	gboolean is_yes = FALSE;
	const GOptionEntry options[] = {
	    {"answers", 0, 0, G_OPTION_ARG_FILENAME, &answers, NULL, NULL},
	    {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &settings, NULL, NULL},
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	g_autofree char *path = g_canonicalize_filename(ctl->config_path, NULL);
	pb_local(setup) setup = {
	    .ctl = ctl,
	    .path = path,
	    .entries = g_ptr_array_new_with_free_func(entry_free),
	    .password_fd = -1,
	};

	return ctl_parse(options, 0, &argc, &argv, error) &&
	       run(&setup, answers, settings, is_yes, error);
}
