/*
 * stopwatch.c - measure a part of a program and print one line of results.
 */
#include "stopwatch.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int64_t
get_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * (int64_t)1000000 +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

void
stopwatch_start(struct stopwatch *watch)
{
	watch->cpu_us -= get_cpu_us();
	watch->wall_us -= g_get_monotonic_time();
}

void
stopwatch_stop(struct stopwatch *watch)
{
	watch->wall_us += g_get_monotonic_time();
	watch->cpu_us += get_cpu_us();
}

static int64_t
get_peak_kb(void)
{
	g_autofree char *status = NULL;
	const char *line;

	if (!g_file_get_contents("/proc/self/status", &status, NULL, NULL))
		return 0;
	line = strstr(status, "VmHWM:");
	return line ? g_ascii_strtoll(line + strlen("VmHWM:"), NULL, 10) : 0;
}

void
stopwatch_print(const struct stopwatch *watch)
{
	printf("wall=%.6f cpu=%.6f peak_kb=%" G_GINT64_FORMAT " ",
	    (double)watch->wall_us / 1e6, (double)watch->cpu_us / 1e6, get_peak_kb());
}
