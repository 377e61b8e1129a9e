/*
 * web_listener.h - serves paperboy-web on a Unix socket.
 *
 * Each thread has its own store connection and renderer, and processes one request at a
 * time, of one connection each.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "daemon/config_snapshot.h"
#include "service/inbound/handler.h"
#include "service/log/heartbeat.h"

struct web_listener;

struct web_listener_options {
	const struct clock *clock;
	struct heartbeats *heartbeats; /* or NULL */
	/** Called by a thread after each request that changed something. */
	void (*changed)(void *data, const struct handler_report *report);
	void *data;
};

/**
 * Start the threads, if web.url is set.
 *
 * @param options  copied; what it points to is borrowed
 */
struct web_listener *web_listener_new(const struct web_listener_options *options,
    struct config_snapshot *config_snapshot, GError **error);

/** Stop the threads; requests being processed are finished. @param listener  or NULL */
void web_listener_free(struct web_listener *listener);

/** Switch to a snapshot; failures are logged. */
void web_listener_reload(
    struct web_listener *listener, struct config_snapshot *config_snapshot);
