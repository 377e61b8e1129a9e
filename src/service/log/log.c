/*
 * log.c - log output: to the journal, or as lines to standard error.
 */
#include "service/log/log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	GLogLevelFlags flag;
} levels[] = {
    {"error", G_LOG_LEVEL_CRITICAL},
    {"warning", G_LOG_LEVEL_WARNING},
    {"info", G_LOG_LEVEL_MESSAGE},
    {"info", G_LOG_LEVEL_INFO},
    {"debug", G_LOG_LEVEL_DEBUG},
};

static const char *
name_of(GLogLevelFlags flags)
{
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		if (flags & levels[i].flag)
			return levels[i].name;
	return "error";
}

static const char *
message_of(const GLogField *fields, gsize count)
{
	for (gsize i = 0; i < count; i++)
		if (strcmp(fields[i].key, "MESSAGE") == 0)
			return fields[i].value;
	return "";
}

struct log {
	int level; /* the lowest of GLogLevelFlags; atomic */
	const char *program;
};

/* GLib's flag of a more severe level is a smaller number. */
static bool
is_logged(const struct log *log, GLogLevelFlags flags)
{
	return (int)(flags & G_LOG_LEVEL_MASK) <= g_atomic_int_get(&log->level);
}

static GLogWriterOutput
write_daemon(GLogLevelFlags flags, const GLogField *fields, gsize count, gpointer data)
{
	g_autoptr(GDateTime) now = NULL;
	g_autofree char *stamp = NULL;

	if (!is_logged(data, flags))
		return G_LOG_WRITER_HANDLED;
	if (g_log_writer_is_journald(fileno(stderr)) &&
	    g_log_writer_journald(flags, fields, count, NULL) == G_LOG_WRITER_HANDLED)
		return G_LOG_WRITER_HANDLED;
	now = g_date_time_new_now_utc();
	stamp = g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
	fprintf(
	    stderr, "%s %-7s %s\n", stamp, name_of(flags), message_of(fields, count));
	return G_LOG_WRITER_HANDLED;
}

/* For paperboyctl: no time, no level. */
static GLogWriterOutput
write_plain(GLogLevelFlags flags, const GLogField *fields, gsize count, gpointer data)
{
	const struct log *log = data;

	if (is_logged(log, flags))
		fprintf(stderr, "%s: %s\n", log->program, message_of(fields, count));
	return G_LOG_WRITER_HANDLED;
}

void
log_set_level(struct log *log, const char *level)
{
	GLogLevelFlags lowest = G_LOG_LEVEL_INFO;

	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		if (strcmp(levels[i].name, level) == 0)
			lowest = levels[i].flag;
	g_atomic_int_set(&log->level, (int)lowest);
	g_log_set_debug_enabled(lowest == G_LOG_LEVEL_DEBUG);
}

struct log *
log_start(const char *level, const char *program)
{
	struct log *log = g_new0(struct log, 1);

	log->program = program;
	log_set_level(log, level);
	g_log_set_writer_func(program ? write_plain : write_daemon, log, g_free);
	return log;
}
