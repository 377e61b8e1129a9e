/*
 * web_handler.h - process the requests of the page.
 *
 * Requests are hostile: the page has no rights of its own, and what a request may do
 * depends on its token alone.  Changes go through the functions of mail commands, with
 * the actor "web", in one transaction, which is committed before the reply.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "message/web_proto.h"
#include "service/inbound/handler.h"

/* Tests of filters in an hour, by each limit; a sixtieth may come at once. */
#define WEB_TESTS_PER_HOUR 3600

/* Maximum number of client networks whose forms are counted, about 150 bytes each; of
 * more than that the oldest ones are forgotten. */
#define WEB_NETWORKS 10000

/* Limits on tests of filters, and on forms of one client network; shared by threads. */
struct web_budget;

struct web_budget *web_budget_new(unsigned tests_per_hour);
void web_budget_free(struct web_budget *budget);
PB_DEFINE_AUTO(web_budget, web_budget_free);

/* Borrowed, for one thread; with an address for commands. */
struct web_handler {
	struct store *store;
	struct handler_options options;
	struct web_budget *budget; /* NULL: no limit */
};

/**
 * Process a request.
 *
 * @param report  set: which threads have to run
 * @return NULL if the store fails; owned by the caller
 */
struct web_reply *web_handler_run(const struct web_handler *handler,
    const struct web_request *request, struct handler_report *report, GError **error);

/** Whether an operation may change anything. */
bool web_handler_is_change(enum web_op op);
