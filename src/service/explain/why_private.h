/*
 * why_private.h - what the files of why share; for them only.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_WHY_PRIVATE_H
#define PAPERBOY_SERVICE_EXPLAIN_WHY_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "service/explain/why.h"
#include "store/paper/paper_history.h"

/* What is known when the outcome is sought. */
struct why_context {
	struct why *why;
	const struct subscriber *subscriber;
	struct history_delivery delivery;
	bool is_behind; /* a filter has not seen the paper yet */
	int64_t now;
};

/** Set outcome, sentence and time of inquiry->why by all that is known. */
void why_rules_run(const struct why_context *inquiry);

#endif
