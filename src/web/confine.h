/*
 * confine.h - what paperboy-web gives up after its start.
 *
 * The unit forbids more; these restrictions hold without systemd, too.
 */
#ifndef PAPERBOY_WEB_CONFINE_H
#define PAPERBOY_WEB_CONFINE_H

#include <stdbool.h>

/**
 * Give up starting processes and threads, new privileges and core dumps; with
 * libseccomp also opening files, sockets other than Unix sockets,
 * executable memory, and all system calls that a server does not need.
 *
 * @param is_filtered  set: whether system calls are filtered
 * @return false with errno if the kernel refuses
 */
bool confine(bool *is_filtered);

#endif
