/*
 * control.h - the control socket, for commands of paperboyctl.
 *
 * `control` in the state directory, mode 0600.  The client sends a line, the daemon
 * replies with lines and closes.  Commands are a table of the daemon (daemon.c); the
 * reply to others is "unknown".
 */
#pragma once

#include <glib.h>

struct control;

struct control_command {
	const char *name;
	/* In the main thread.  @return the reply, without the last line's end, for
	 * g_free(); NULL for "ok" */
	char *(*run)(void *data);
};

/**
 * Listen in the default main context.
 *
 * A command has at most BOUNDS_CONTROL_LINE_BYTES.  A reply longer than
 * BOUNDS_CONTROL_ANSWER_BYTES is cut after a line and ends with the number of lines
 * left out.
 *
 * @param commands  ended by an empty row; borrowed
 */
struct control *control_new(const char *state_dir,
    const struct control_command *commands, void *data, GError **error);
void control_free(struct control *control);
