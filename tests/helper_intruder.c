/*
 * helper_intruder.c - what a compromised paperboy-web might try.
 *
 *     helper_intruder [--confined] [DIGEST-TOKEN]
 *
 * Started in place of paperboy-web.  With --confined it first restricts itself as that
 * program does.  Each attempt prints a line: "NAME: fails" or "NAME: SUCCEEDS".  The
 * token is one that the worker has seen; it tries to derive others from it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "base/token.h"
#include "web/daemon_client.h"

#define DAEMON    "/run/paperboy-web/daemon"
#define STATE     "/var/lib/paperboy"
#define TIMEOUT_S 10
#define IDS       100

static bool
can_open(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool
open_store(void)
{
	return can_open(STATE "/paperboy.db") || can_open(STATE);
}

static bool
open_key(void)
{
	return can_open(STATE "/key");
}

static bool
open_passwords(void)
{
	return can_open("/etc/shadow") || can_open("/root") ||
	       can_open("/etc/paperboy/relay-password");
}

static bool
can_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool is_ok;

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	is_ok =
	    fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	return is_ok;
}

static bool
reach_control_socket(void)
{
	return can_connect(STATE "/control");
}

static bool
reach_lmtp(void)
{
	return can_connect("/run/paperboy/lmtp");
}

static bool
reach_bus(void)
{
	return can_connect("/run/dbus/system_bus_socket");
}

static bool
connect_out(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons(8080),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd >= 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static bool
open_inet_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0 ||
	       socket(AF_INET6, SOCK_STREAM, 0) >= 0;
}

static bool
open_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0) >= 0 ||
	       socket(AF_PACKET, SOCK_RAW, 0) >= 0;
}

static bool
execute(const char *path)
{
	char *const arguments[] = {(char *)path, NULL};
	char *const environment[] = {NULL};

	execve(path, arguments, environment);
	return false;
}

/* In a process of its own where one can be started: success replaces it. */
static bool
run_shell(void)
{
	pid_t pid = fork();
	int status;

	if (pid <= 0) {
		execute("/bin/sh");
		execute("/usr/bin/true");
		if (pid == 0)
			_exit(1);
		return false;
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static bool
write_file(void)
{
	static const char *const paths[] = {"/tmp/x", "/etc/x", "/run/paperboy-web/x",
	    "/usr/local/sbin/x", "/dev/shm/x"};

	for (unsigned i = 0; i < G_N_ELEMENTS(paths); i++) {
		int fd = open(paths[i], O_WRONLY | O_CREAT, 0600);

		if (fd >= 0 && write(fd, "x", 1) == 1)
			return true;
	}
	return false;
}

static bool
replace_socket(void)
{
	return unlink(DAEMON) == 0 || rename(DAEMON, DAEMON "2") == 0;
}

static bool
see_processes(void)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	bool is_seen = false;

	while (directory && (entry = readdir(directory)))
		is_seen = is_seen || (g_ascii_isdigit(entry->d_name[0]) &&
		                         atoi(entry->d_name) != (int)getpid());
	if (directory)
		closedir(directory);
	return is_seen;
}

static bool
signal_others(void)
{
	for (int pid = 1; pid < 1000; pid++)
		if (pid != (int)getpid() && kill(pid, 0) == 0)
			return true;
	return false;
}

static bool
trace_others(void)
{
	for (int pid = 1; pid < 1000; pid++)
		if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
			return true;
	return false;
}

static bool
become_root(void)
{
	return setuid(0) == 0 || setgid(0) == 0;
}

static bool
change_mounts(void)
{
	return unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0 ||
	       chroot("/tmp") == 0 || mount("x", "/tmp", "tmpfs", 0, NULL) == 0;
}

static bool
make_code(void)
{
	void *memory = mmap(
	    NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	       mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0;
}

/* Only what the program gives up by itself. */
static bool
open_any_file(void)
{
	return can_open("/etc/passwd") || can_open("/dev/null");
}

static bool
start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static void *
do_nothing(void *data)
{
	return data;
}

static bool
start_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, do_nothing, NULL) == 0;
}

static const struct {
	const char *name;
	bool (*succeeds)(void);
	bool is_confined_only;
} attempts[] = {
    {"open the store", open_store, false},
    {"open the key", open_key, false},
    {"open passwords", open_passwords, false},
    {"reach the control socket", reach_control_socket, false},
    {"reach the LMTP server", reach_lmtp, false},
    {"reach the system bus", reach_bus, false},
    {"connect out", connect_out, false},
    {"open an internet socket", open_inet_socket, false},
    {"open a netlink socket", open_netlink, false},
    {"run a shell", run_shell, false},
    {"write a file", write_file, false},
    {"replace the daemon's socket", replace_socket, false},
    {"see other processes", see_processes, false},
    {"signal other processes", signal_others, false},
    {"trace other processes", trace_others, false},
    {"become root", become_root, false},
    {"change mounts", change_mounts, false},
    {"make executable memory", make_code, false},
    {"open any file", open_any_file, true},
    {"start a process", start_process, true},
    {"start a thread", start_thread, true},
};

/* ---- other people's pages ---- */

static bool
is_answered(enum web_op op, const char *token)
{
	pb_auto(web_request) request = web_request_new(op);
	pb_auto(web_reply) reply = NULL;

	g_free(request->token);
	request->token = g_strdup(token);
	reply = daemon_client_call(DAEMON, request, TIMEOUT_S, NULL);
	return reply && reply->status == WEB_STATUS_OK;
}

/* The signature of one token with another id. */
static char *
forge(const char *token, unsigned id)
{
	g_autofree char *digits = g_strdup("");

	do {
		char *more = g_strdup_printf(
		    "%c%s", "abcdefghijklmnopqrstuvwxyz234567"[id % 32], digits);

		g_free(digits);
		digits = more;
		id /= 32;
	} while (id > 0);
	return g_strdup_printf("%.*s%s", TOKEN_LENGTH, token, digits);
}

/* @return how many pages are shown, besides that of the token itself */
static unsigned
count_forged(const char *token)
{
	static const enum web_op ops[] = {
	    WEB_OP_PREFERENCES_SHOW, WEB_OP_DIGEST, WEB_OP_FEED};
	unsigned count = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++) {
		for (unsigned id = 0; id < IDS; id++) {
			g_autofree char *forged = forge(token, id);
			bool is_own =
			    ops[i] == WEB_OP_DIGEST && strcmp(forged, token) == 0;

			count += !is_own && is_answered(ops[i], forged);
		}
		count += ops[i] != WEB_OP_DIGEST && is_answered(ops[i], token);
		count += is_answered(ops[i], "");
	}
	return count;
}

static void
print_result(const char *name, bool is_success)
{
	printf("%s: %s\n", name, is_success ? "SUCCEEDS" : "fails");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	bool is_confined = argc > 1 && strcmp(argv[1], "--confined") == 0;
	const char *token = argc > 1 + is_confined ? argv[1 + is_confined] : NULL;
	bool is_filtered = false;

	signal(SIGXFSZ, SIG_IGN);
	if (is_confined &&
	    (!sandbox_limit(SANDBOX_SERVER) ||
	        !sandbox_enter(SANDBOX_SERVER, &is_filtered) || !is_filtered)) {
		puts("no filter of system calls");
		return 1;
	}
	/* Controls: what it needs works. */
	print_result("CONTROL ask paperboyd", is_answered(WEB_OP_HEALTH, ""));
	if (token) {
		print_result("CONTROL show the digest of the token",
		    is_answered(WEB_OP_DIGEST, token));
		print_result("read another person's page", count_forged(token) > 0);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(attempts); i++)
		if (is_confined || !attempts[i].is_confined_only)
			print_result(attempts[i].name, attempts[i].succeeds());
	puts("end");
	return 0;
}
