/*
 * timed.c - run another program and print its time and memory.
 *
 * timed PROGRAM ARGUMENT...: print the line of stopwatch.h for a whole program and
 * discard its output.  It is small, since the peak memory of a child starts with the
 * size of its parent.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double
get_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double
from_timeval(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	double started = get_seconds(), ended;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: timed PROGRAM ARGUMENT...\n");
		return 64;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[1], &actions, NULL, argv + 1, environ) != 0) {
		fprintf(stderr, "timed: cannot run %s\n", argv[1]);
		return 69;
	}
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status))
		return 70;
	ended = get_seconds();
	posix_spawn_file_actions_destroy(&actions);
	printf("wall=%.6f cpu=%.6f peak_kb=%ld\n", ended - started,
	    from_timeval(usage.ru_utime) + from_timeval(usage.ru_stime),
	    usage.ru_maxrss);
	return WEXITSTATUS(status);
}
