/*
 * one_click.h - result of the last self-test of the page (service/health/self_test.h).
 *
 * A file of the state directory.  It decides whether digests have an https link in
 * List-Unsubscribe (RFC 8058): a test has to come to the result that it works.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"

/* Times are s.  Texts are owned. */
struct one_click {
	char *fault;        /* name in the table of self_test.h; "" */
	char *detail;       /* of the fault, one line; or "" */
	bool is_offered;    /* by the headers of digests */
	int64_t since;      /* first of the tests with this fault */
	int64_t checked_at; /* -1: web.url was not tested yet */
};

/** Load the state for the current web.url. @param state  set; to be cleared */
void one_click_load(const struct settings *settings, struct one_click *state);
void one_click_clear(struct one_click *state);

bool one_click_save(
    const struct settings *settings, const struct one_click *state, GError **error);

/** Whether digests offer one-click unsubscribing. */
bool one_click_is_offered(const struct settings *settings);
