/*
 * log.c - one event, one line: to the journal, or plain to standard error.
 */
#include "daemon/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static GLogWriterOutput
write_plain(GLogLevelFlags flags, const GLogField *fields, gsize count)
{
	const char *message = "";
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *stamp = g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");

	for (gsize i = 0; i < count; i++)
		if (strcmp(fields[i].key, "MESSAGE") == 0)
			message = fields[i].value;
	fprintf(stderr, "%s %-7s %s\n", stamp, name_of(flags), message);
	return G_LOG_WRITER_HANDLED;
}

static GLogWriterOutput
write_line(GLogLevelFlags flags, const GLogField *fields, gsize count, gpointer data)
{
	GLogLevelFlags least = (GLogLevelFlags)GPOINTER_TO_INT(data);

	/* The graver a level the smaller its flag. */
	if ((flags & G_LOG_LEVEL_MASK) > least)
		return G_LOG_WRITER_HANDLED;
	if (g_log_writer_is_journald(fileno(stderr)) &&
	    g_log_writer_journald(flags, fields, count, NULL) == G_LOG_WRITER_HANDLED)
		return G_LOG_WRITER_HANDLED;
	return write_plain(flags, fields, count);
}

void
log_start(const char *level)
{
	GLogLevelFlags least = G_LOG_LEVEL_INFO;

	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		if (strcmp(levels[i].name, level) == 0)
			least = levels[i].flag;
	g_log_set_writer_func(write_line, GINT_TO_POINTER((int)least), NULL);
}
