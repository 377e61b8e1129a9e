/*
 * stopwatch.h - measure a part of a program and print one line of results.
 */
#pragma once

#include <stdint.h>

/* All zero to begin with; parts that are timed add up.  Microseconds. */
struct stopwatch {
	int64_t wall_us;
	int64_t cpu_us; /* of all threads, in user and kernel */
};

void stopwatch_start(struct stopwatch *watch);
void stopwatch_stop(struct stopwatch *watch);

/**
 * Print "wall=S cpu=S peak_kb=N ", without a line end so that facts can follow.
 *
 * The peak is of this program alone (VmHWM): getrusage() would tell the size of
 * whoever started it when that was larger.
 */
void stopwatch_print(const struct stopwatch *watch);
