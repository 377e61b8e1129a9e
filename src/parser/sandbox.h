/*
 * sandbox.h - restrictions of the process that parses untrusted mail.
 *
 * Two steps: resource limits at the start, the rest after everything needed (charset
 * converters) is open. After that the process can only compute, use limited memory,
 * read and write open files, and exit.
 */
#ifndef PAPERBOY_PARSER_SANDBOX_H
#define PAPERBOY_PARSER_SANDBOX_H

#include <stdbool.h>

/**
 * Limit CPU time, memory and stack; forbid core dumps, large files and new privileges.
 * With sanitizers the memory is not limited, and sandbox_enter() does nothing.
 *
 * @return false with errno if the kernel refuses
 */
bool sandbox_limit(void);

/**
 * Forbid opening files and sockets (a resource limit, so that it holds without seccomp,
 * too), and all but a few system calls.
 *
 * @param is_filtered  set: whether system calls are filtered by seccomp(2)
 * @return false with errno if not even the resource limit can be set
 */
bool sandbox_enter(bool *is_filtered);

#endif
