/*
 * parser_process.c - run paperboy-parser for one message.
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
#include "message/parser_proto.h"

#define PROGRAM PAPERBOY_LIBEXECDIR "/paperboy-parser"

#define READ_BYTES (64 * 1024)

/* Closed one by one where the kernel has no close_range(2). */
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

	return pb_fail(error, PB_ERROR_PERMANENT, "cannot run the parser: %s: %s", what,
	    g_strerror(code));
}

static void
close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/*
 * After fork in a program with threads: async-signal-safe calls only.  Standard error
 * is /dev/null, so that no message can write to the log.
 */
static void
exec_parser(const char *program, int in, int out)
{
	char *const arguments[] = {(char *)"paperboy-parser", NULL};
	char *const environment[] = {NULL};
	/* These may go to the whole process group or unit: finish the message. */
	static const int stops[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	struct sigaction defaults = {.sa_handler = SIG_DFL},
	                 ignore = {.sa_handler = SIG_IGN};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	sigset_t none;

	/* Pipes have low numbers if standard streams were closed. */
	in = fcntl(in, F_DUPFD, 3);
	out = fcntl(out, F_DUPFD, 3);
	null = fcntl(null, F_DUPFD, 3);
	if (in < 0 || out < 0 || null < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    chdir("/") != 0)
		_exit(EX_OSERR);
	if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0)
		for (int i = 3; i < DESCRIPTORS_MAX; i++)
			close(i);
	/* Fails for SIGKILL, SIGSTOP and those of the C library. */
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &defaults, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(stops); i++)
		sigaction(stops[i], &ignore, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, arguments, environment);
	_exit(EX_OSERR);
}

bool
parser_process_check(const char *program, GError **error)
{
	if (!program)
		program = PROGRAM;
	return access(program, X_OK) == 0 || fail(error, program);
}

static bool
start(struct child *child, const char *program, GError **error)
{
	int in[2], out[2];

	if (!parser_process_check(program, error))
		return false;
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
		exec_parser(program, in[0], out[1]);
	if (child->pid < 0)
		fail(error, "fork");
	close(in[0]);
	close(out[1]);
	child->to = in[1];
	child->from = out[0];
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
	/* It need not read all of a message that it rejects. */
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

/* Write the message and read the result, within limits of time and size. */
static void
exchange(struct child *child, int64_t time_ms)
{
	int64_t deadline = g_get_monotonic_time() + time_ms * 1000;
	g_autofree char *buffer = g_malloc(READ_BYTES);

	if (child->input_left == 0)
		close_end(&child->to);
	while (child->from >= 0 && !child->is_long) {
		int64_t left_ms = (deadline - g_get_monotonic_time() + 999) / 1000;
		struct pollfd ends[] = {
		    {.fd = child->from, .events = POLLIN},
		    {.fd = child->to, .events = POLLOUT}, /* -1 is ignored */
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

/* Kill it, which does not change the status if it has ended, and wait for it. */
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
set_crash_error(const struct child *child, GError **error)
{
	if (child->is_late)
		pb_fail(error, PB_ERROR_TEMPORARY, "the parser timed out");
	else if (child->is_long)
		pb_fail(
		    error, PB_ERROR_TEMPORARY, "the output of the parser is too long");
	else if (WIFSIGNALED(child->status))
		pb_fail(error, PB_ERROR_TEMPORARY,
		    "the parser was killed by signal %d (%s)", WTERMSIG(child->status),
		    g_strsignal(WTERMSIG(child->status)));
	else if (WEXITSTATUS(child->status) == EX_OSERR)
		pb_fail(
		    error, PB_ERROR_PERMANENT, "cannot run the parser on this machine");
	else
		pb_fail(error, PB_ERROR_TEMPORARY, "the parser exited with status %d",
		    WEXITSTATUS(child->status));
	return false;
}

static bool
decode(const GString *output, struct inmail **mail, GError **error)
{
	g_autofree char *refusal = NULL;
	g_autoptr(GError) problem = NULL;
	struct inmail *read = NULL;

	if (!parser_decode(output->str, output->len, &read, &refusal, &problem))
		return pb_fail(error, PB_ERROR_TEMPORARY, "%s", problem->message);
	if (!read)
		return pb_fail(error, PB_ERROR_INPUT, "message rejected: %s", refusal);
	*mail = read;
	return true;
}

bool
parser_process_run(const void *raw, size_t size,
    const struct parser_process_options *options, struct inmail **mail, GError **error)
{
	static const struct parser_process_options defaults = {0};
	const struct parser_process_options *chosen = options ? options : &defaults;
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
	exchange(&child,
	    chosen->time_ms ? chosen->time_ms : (int64_t)BOUNDS_PARSER_TIME_S * 1000);
	finish(&child, chosen->peak_kib);
	if (child.is_late || child.is_long || !WIFEXITED(child.status) ||
	    WEXITSTATUS(child.status) != 0)
		return set_crash_error(&child, error);
	return decode(output, mail, error);
}
