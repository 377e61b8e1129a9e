/*
 * control.h - the socket on which paperboyctl asks the daemon for something.
 *
 * `control` in the state folder, mode 0600: a line in, lines out, and it is closed.
 * Which words there are is the daemon's table (daemon_word.c); any other is answered
 * with "unknown".
 */
#ifndef PAPERBOY_DAEMON_CONTROL_H
#define PAPERBOY_DAEMON_CONTROL_H

#include <glib.h>

struct control;

/* One word and who answers it, in the main thread. */
struct control_command {
	const char *word;
	/* @return the answer, lines without the last one's end, for g_free(); NULL for
	 * "ok" */
	char *(*answer)(void *data);
};

/**
 * Listen in the default main context.
 *
 * A line has at most BOUNDS_CONTROL_LINE_BYTES.  Of an answer that is longer than
 * BOUNDS_CONTROL_ANSWER_BYTES go out as many whole lines as fit, and how many more
 * there are.
 *
 * @param words  ended by one without a word; outlive the control
 */
struct control *control_new(const char *state_dir, const struct control_command *words,
    void *data, GError **error);
void control_free(struct control *control);

#endif
