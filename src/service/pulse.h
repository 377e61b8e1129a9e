/*
 * pulse.h - when each thread will show next that it lives.
 *
 * The thread itself promises how soon; the watchdog looks whether all promises are
 * kept, and lets systemd start the program anew when one is not.  Seconds of the
 * monotonic clock: a suspend breaks no promise.
 *
 * All take NULL, where nobody watches: then nothing is promised.
 */
#ifndef PAPERBOY_SERVICE_PULSE_H
#define PAPERBOY_SERVICE_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"

/* Those of all threads of a program; any thread may come and go. */
struct pulses;

/* That of one thread. */
struct pulse;

/** @param beat_s  who sleeps shows so often that it lives; 0: it may sleep on */
struct pulses *pulses_new(int64_t beat_s);

/** All threads have gone before. */
void pulses_free(struct pulses *pulses);
PB_DEFINE_AUTO(pulses, pulses_free);

/** Count the threads that have broken their promise. @param name  NULL, or set to that
 * of one of them, or to NULL: owned by the caller */
unsigned pulses_count_late(struct pulses *pulses, char **name);

/** A thread begins, or will. @param name  copied */
struct pulse *pulse_new(struct pulses *pulses, const char *name);

/** It has ended. */
void pulse_free(struct pulse *pulse);
PB_DEFINE_AUTO(pulse, pulse_free);

/** Promise another call within so many seconds; by the thread that it is about. */
void pulse_promise(struct pulse *pulse, int64_t seconds);

/**
 * The thread goes to sleep: promise what sleepers do.
 *
 * @return after how many seconds it has to call again; 0: it may sleep on
 */
int64_t pulse_rest(struct pulse *pulse);

#endif
