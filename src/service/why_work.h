/*
 * why_work.h - what the files of why share; for them only.
 */
#ifndef PAPERBOY_SERVICE_WHY_WORK_H
#define PAPERBOY_SERVICE_WHY_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "service/why.h"
#include "store/history.h"

/* What is known when the outcome is sought. */
struct why_inquiry {
	struct why *why;
	const struct subscriber *subscriber;
	struct history_delivery delivery;
	bool is_behind; /* a filter has not seen the paper yet */
	int64_t now;
};

/** Set outcome, sentence and time of inquiry->why by all that is known. */
void why_decide(const struct why_inquiry *inquiry);

#endif
