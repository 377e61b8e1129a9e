/*
 * parser_process.c - have a letter read by a process of its own.
 */
#include "service/inbound/parser_process.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/parser_decode.h"

#define PROGRAM PAPERBOY_LIBEXECDIR "/paperboy-parser"

#define READ_BYTES (64 * 1024)

/* Where the kernel cannot close a range, as many are closed one by one. */
#define DESCRIPTORS_MAX 65536

struct child {
	pid_t pid;
	int to, from; /* our ends of its pipes, or -1 */
	const char *input;
	size_t input_left;
	GString *output;
	int status; /* as of wait4(2) */
	bool is_late, is_long;
};

static bool
fail(GError **error, const char *what)
{
	int code = errno;

	g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT, "cannot read letters: %s: %s",
	    what, g_strerror(code));
	return false;
}

static void
close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/*
 * Between fork and exec of a program with threads: system calls and nothing else.
 * Standard error goes nowhere: a stranger's letter writes no log.
 */
static void
become_reader(const char *program, int in, int out)
{
	char *const arguments[] = {(char *)"paperboy-parser", NULL};
	char *const environment[] = {NULL};
	/* Who stops the program stops its group, or its unit's: a letter in hand is
	 * read to its end, and its reader's death is not held against it. */
	static const int stops[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	struct sigaction usual = {.sa_handler = SIG_DFL},
	                 none_of_it = {.sa_handler = SIG_IGN};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	sigset_t none;

	/* Pipes may have low numbers where standard streams were closed. */
	in = fcntl(in, F_DUPFD, 3);
	out = fcntl(out, F_DUPFD, 3);
	nowhere = fcntl(nowhere, F_DUPFD, 3);
	if (in < 0 || out < 0 || nowhere < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0 ||
	    chdir("/") != 0)
		_exit(EX_OSERR);
	if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0)
		for (int i = 3; i < DESCRIPTORS_MAX; i++)
			close(i);
	/* Some fail, and may: SIGKILL, SIGSTOP, those of the C library itself. */
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &usual, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(stops); i++)
		sigaction(stops[i], &none_of_it, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, arguments, environment);
	_exit(EX_OSERR);
}

static bool
start(struct child *child, const char *program, GError **error)
{
	int in[2], out[2];

	if (access(program, X_OK) != 0)
		return fail(error, program);
	if (pipe2(in, O_CLOEXEC) != 0)
		return fail(error, "pipe");
	if (pipe2(out, O_CLOEXEC) != 0) {
		fail(error, "pipe");
		close(in[0]);
		close(in[1]);
		return false;
	}
	child->pid = fork();
	if (child->pid == 0)
		become_reader(program, in[0], out[1]);
	if (child->pid < 0)
		fail(error, "fork");
	close(in[0]);
	close(out[1]);
	child->to = in[1];
	child->from = out[0];
	/* Both ends are waited for at once: none may block. */
	fcntl(child->to, F_SETFL, O_NONBLOCK);
	fcntl(child->from, F_SETFL, O_NONBLOCK);
	return child->pid > 0;
}

static void
write_some(struct child *child)
{
	ssize_t put = write(child->to, child->input, child->input_left);

	if (put > 0) {
		child->input += put;
		child->input_left -= (size_t)put;
	}
	/* It need not read all: a letter past the bounds is refused before. */
	if (child->input_left == 0 || (put < 0 && errno != EAGAIN && errno != EINTR))
		close_end(&child->to);
}

static void
read_some(struct child *child, char *buffer)
{
	ssize_t got = read(child->from, buffer, READ_BYTES);

	if (got > 0)
		g_string_append_len(child->output, buffer, got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_end(&child->from);
	child->is_long = child->output->len > BOUNDS_PARSER_OUTPUT_BYTES;
}

/* Feed it and listen to it, until it ends, or says too much or nothing for too long. */
static void
converse(struct child *child, int64_t time_ms)
{
	int64_t deadline = g_get_monotonic_time() + time_ms * 1000;
	g_autofree char *buffer = g_malloc(READ_BYTES);

	if (child->input_left == 0)
		close_end(&child->to);
	while (child->from >= 0 && !child->is_long) {
		int64_t left_ms = (deadline - g_get_monotonic_time() + 999) / 1000;
		struct pollfd ends[] = {
		    {.fd = child->from, .events = POLLIN},
		    {.fd = child->to, .events = POLLOUT}, /* -1 is left out */
		};

		if (left_ms <= 0 || poll(ends, G_N_ELEMENTS(ends), (int)left_ms) == 0) {
			child->is_late = true;
			break;
		}
		if (child->to >= 0 && ends[1].revents)
			write_some(child);
		if (ends[0].revents)
			read_some(child, buffer);
	}
}

/*
 * The process has closed its output, which it does by ending, or is to end now.  A
 * signal that comes while it ends does not change its status.
 */
static void
finish(struct child *child, long *peak_kib)
{
	struct rusage usage = {0};

	close_end(&child->to);
	close_end(&child->from);
	kill(child->pid, SIGKILL);
	while (wait4(child->pid, &child->status, 0, &usage) < 0 && errno == EINTR)
		continue;
	if (peak_kib)
		*peak_kib = usage.ru_maxrss;
}

static bool
say_died(const struct child *child, GError **error)
{
	if (child->is_late)
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the letter's reader took too long");
	else if (child->is_long)
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the letter's reader said too much");
	else if (WIFSIGNALED(child->status))
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the letter's reader died of signal %d (%s)",
		    WTERMSIG(child->status), g_strsignal(WTERMSIG(child->status)));
	else if (WEXITSTATUS(child->status) == EX_OSERR)
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "cannot read letters: the reader cannot run here");
	else
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "the letter's reader ended with status %d",
		    WEXITSTATUS(child->status));
	return false;
}

static bool
understand(const GString *output, struct inmail **mail, GError **error)
{
	g_autofree char *refusal = NULL;
	g_autoptr(GError) problem = NULL;
	struct inmail *read = NULL;

	if (!parser_decode(output->str, output->len, &read, &refusal, &problem)) {
		g_set_error_literal(
		    error, PB_ERROR, PB_ERROR_TEMPORARY, problem->message);
		return false;
	}
	if (!read) {
		g_set_error(
		    error, PB_ERROR, PB_ERROR_INPUT, "inbox rejected: %s", refusal);
		return false;
	}
	*mail = read;
	return true;
}

bool
parser_process_run(const void *raw, size_t size,
    const struct parser_process_options *options, struct inmail **mail, GError **error)
{
	static const struct parser_process_options usual = {0};
	const struct parser_process_options *chosen = options ? options : &usual;
	struct child child = {.to = -1, .from = -1, .input = raw, .input_left = size};
	g_autoptr(GString) output = g_string_new(NULL);
	bool is_started =
	    start(&child, chosen->program ? chosen->program : PROGRAM, error);

	if (!is_started) {
		close_end(&child.to);
		close_end(&child.from);
		return false;
	}
	child.output = output;
	converse(&child,
	    chosen->time_ms ? chosen->time_ms : (int64_t)BOUNDS_PARSER_TIME_S * 1000);
	finish(&child, chosen->peak_kib);
	if (child.is_late || child.is_long || !WIFEXITED(child.status) ||
	    WEXITSTATUS(child.status) != 0)
		return say_died(&child, error);
	return understand(output, mail, error);
}
