/*
 * sandbox.h - what a process that reads foreign mail can no longer do.
 *
 * Two steps: limits as soon as it runs, and the rest once all that it needs (charset
 * converters) is open.  Then it can compute, use little memory, read and write what is
 * open already, and end.
 */
#ifndef PAPERBOY_PARSER_SANDBOX_H
#define PAPERBOY_PARSER_SANDBOX_H

#include <stdbool.h>

/**
 * Limit processor time, memory, stack; no core files, no large files, no privileges
 * can be gained.  In a build with a sanitizer memory is not limited, and the second
 * step does nothing.
 *
 * @return false where the kernel does not let it; errno says why
 */
bool sandbox_limit(void);

/**
 * Open nothing any more, neither files nor sockets, and make no system calls but a
 * few.  The first is a resource limit, so that it holds without seccomp too.
 *
 * @param is_filtered  set: whether system calls are limited (seccomp(2), by the call or
 *                     by prctl(2) where a service manager forbids the call)
 * @return false where not even the first can be had; errno says why
 */
bool sandbox_enter(bool *is_filtered);

#endif
