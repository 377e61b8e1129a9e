/*
 * control.h - the socket on which paperboyctl asks the daemon for something.
 *
 * `control` in the state folder, mode 0600: a line in, lines out, and it is closed.
 *   look    -> ok
 *   reload  -> ok; or refused, and a line for each problem
 *   others  -> unknown
 */
#ifndef PAPERBOY_DAEMON_CONTROL_H
#define PAPERBOY_DAEMON_CONTROL_H

#include <glib.h>

struct control;

/* What can be asked for. */
struct control_command {
	const char *word;
	/* Called in the main thread. @return the answer: lines, owned by the caller */
	char *(*run)(void *data);
};

/**
 * Listen in the default main context.
 *
 * A line has at most BOUNDS_CONTROL_LINE_BYTES.  Of an answer that is longer than
 * BOUNDS_CONTROL_ANSWER_BYTES go out as many whole lines as fit, and how many more
 * there are.
 *
 * @param commands  ended by a row without word; borrowed
 */
struct control *control_new(const char *state_dir,
    const struct control_command *commands, void *data, GError **error);
void control_free(struct control *control);

#endif
