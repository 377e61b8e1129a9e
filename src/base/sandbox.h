/*
 * sandbox.h - restrictions of a process that reads what strangers have sent.
 *
 * Two steps: resource limits, and the rest after everything needed (charset converters,
 * sockets to listen on, threads) is there.  A unit of systemd forbids more; these
 * restrictions hold without systemd, too.
 */
#pragma once

#include <stdbool.h>

enum sandbox_work {
	/* Computes, uses limited memory, reads and writes open files, exits. */
	SANDBOX_PARSER,
	/* In addition waits, serves connections, and opens Unix sockets. */
	SANDBOX_SERVER,
};

/**
 * Limit resources, and forbid core dumps and new privileges: for the parser also CPU
 * time, memory, stack and large files; for a server processes and threads.  With
 * sanitizers memory is not limited, and sandbox_enter() does nothing.
 *
 * @return false with errno if the kernel refuses
 */
bool sandbox_limit(enum sandbox_work work);

/**
 * Forbid executable memory and all system calls that the work does not need, in all
 * threads; for the parser also new file descriptors, by a resource limit, so that it
 * holds without seccomp, too.
 *
 * @param is_filtered  set: whether system calls are filtered by seccomp(2)
 * @return false with errno if not even the resource limit can be set
 */
bool sandbox_enter(enum sandbox_work work, bool *is_filtered);
