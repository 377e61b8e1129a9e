/*
 * test_sandbox.c - system calls of a sandboxed process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/sandbox.h"
#include "lib/unit.h"

#define EXIT_CLOSED   0
#define EXIT_OPEN     1
#define EXIT_SKIPPED  2
#define EXIT_NO_LIMIT 3

struct attempt {
	const char *name;
	bool (*succeeds)(void);
	bool needs_filter; /* seccomp alone forbids it */
};

static bool
open_file(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool
open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool
open_pipe(void)
{
	int ends[2];

	return pipe(ends) == 0;
}

static bool
copy_descriptor(void)
{
	return dup(STDOUT_FILENO) >= 0;
}

static bool
take_memory(void)
{
	return mmap(NULL, BOUNDS_PARSER_DATA_BYTES, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool
take_space(void)
{
	return mmap(NULL, BOUNDS_PARSER_SPACE_BYTES, PROT_NONE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool
map_code(void)
{
	return mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	           0) != MAP_FAILED;
}

static bool
make_code(void)
{
	void *memory =
	    mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory != MAP_FAILED && mprotect(memory, 1, PROT_READ | PROT_EXEC) == 0;
}

static bool
start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool
run_program(void)
{
	char *const arguments[] = {(char *)"true", NULL};
	char *const environment[] = {NULL};

	execve("/bin/true", arguments, environment);
	return false;
}

static bool
signal_parent(void)
{
	return kill(getppid(), 0) == 0;
}

static bool
change_directory(void)
{
	return chdir("/tmp") == 0;
}

/* Control: required operations. */
static bool
fail_to_work(void)
{
	void *memory = malloc(4 * 1024 * 1024);
	bool has_failed = !memory || write(STDOUT_FILENO, "", 0) != 0;

	free(memory);
	return has_failed;
}

static const struct attempt attempts[] = {
    {"open a file", open_file, false},
    {"open a socket", open_socket, false},
    {"open a pipe", open_pipe, false},
    {"copy a descriptor", copy_descriptor, false},
    {"take much memory", take_memory, false},
    {"take much address space", take_space, false},
    {"map executable memory", map_code, true},
    {"make memory executable", make_code, true},
    {"start a process", start_process, true},
    {"run a program", run_program, true},
    {"see other processes", signal_parent, true},
    {"see the file system", change_directory, true},
    {"fail to do its work", fail_to_work, false},
};

/* A sanitizer, or valgrind. */
static bool
is_watched(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	const char *preloaded = g_getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
#endif
}

static int
attempt_in_sandbox(const struct attempt *attempt)
{
	bool is_filtered = false;

	if (!sandbox_limit(SANDBOX_PARSER) ||
	    !sandbox_enter(SANDBOX_PARSER, &is_filtered))
		return EXIT_NO_LIMIT;
	if (attempt->needs_filter && !is_filtered)
		return EXIT_SKIPPED;
	return attempt->succeeds() ? EXIT_OPEN : EXIT_CLOSED;
}

static void
test_attempt(const void *data)
{
	const struct attempt *attempt = data;
	int status = 0;
	pid_t pid;

	if (is_watched()) {
		g_test_skip("what watches this process would be limited too");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(attempt_in_sandbox(attempt));
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == EXIT_SKIPPED)
		g_test_skip("system calls cannot be limited here");
	else
		g_assert_cmpint(WEXITSTATUS(status), ==, EXIT_CLOSED);
}

/* Without the sandbox each attempt succeeds (and the program is run). */
TEST(outside_all_can_be_done)
{
	for (size_t i = 0; i + 1 < G_N_ELEMENTS(attempts); i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(attempts[i].succeeds() ? 0 : 1);
		g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
		g_assert_true(WIFEXITED(status));
		g_assert_cmpint(WEXITSTATUS(status), ==, 0);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	unit_add_all();
	for (size_t i = 0; i < G_N_ELEMENTS(attempts); i++) {
		g_autofree char *name =
		    g_strdup_printf("/sandbox/inside it cannot %s", attempts[i].name);

		g_test_add_data_func(name, &attempts[i], test_attempt);
	}
	return g_test_run();
}
