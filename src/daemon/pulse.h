/*
 * pulse.h - when a thread will show next that it lives.
 *
 * The thread itself promises how soon; the watchdog looks whether all promises are
 * kept, and lets systemd start the program anew when one is not.  Seconds of the
 * monotonic clock: a suspend breaks no promise.
 */
#ifndef PAPERBOY_DAEMON_PULSE_H
#define PAPERBOY_DAEMON_PULSE_H

#include <stdbool.h>
#include <stdint.h>

struct pulse {
	_Atomic int64_t until; /* us, as g_get_monotonic_time(); 0: nothing promised */
};

/** Promise another call within so many seconds; by the thread that it is about. */
void pulse_promise(struct pulse *pulse, int64_t seconds);

/** Promise nothing any more: the thread ends. */
void pulse_end(struct pulse *pulse);

/** Tell whether a promise was broken; from any thread. */
bool pulse_is_late(const struct pulse *pulse);

#endif
