/*
 * control.h - the socket on which paperboyctl tells the daemon to look again.
 *
 * `control` in the state folder, mode 0600: a line in, a line out.
 *   look    -> ok
 */
#ifndef PAPERBOY_DAEMON_CONTROL_H
#define PAPERBOY_DAEMON_CONTROL_H

#include <glib.h>

struct control;

/**
 * Listen in the default main context.
 *
 * @param look  called for "look", in the main thread
 */
struct control *control_new(
    const char *state_dir, void (*look)(void *data), void *data, GError **error);
void control_free(struct control *control);

#endif
