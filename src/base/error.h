/*
 * error.h - the one error domain and its codes.
 *
 * A code answers one question: what should the caller do?  Messages start in
 * lower case, say first what went wrong and have no full stop.
 */
#ifndef PAPERBOY_BASE_ERROR_H
#define PAPERBOY_BASE_ERROR_H

#include <glib.h>
#include <stdbool.h>

#include "base/msg.h"

#define PB_ERROR (pb_error_quark())

enum pb_error {
	PB_ERROR_INPUT, /* user, peer or configuration is wrong: tell them, do not retry
	                 */
	PB_ERROR_NOT_FOUND, /* the named thing does not exist */
	PB_ERROR_TEMPORARY, /* may work later: retry with backoff */
	PB_ERROR_PERMANENT, /* will never work: give up, tell the operator */
	PB_ERROR_LIMIT,     /* a documented limit was reached */
};

GQuark pb_error_quark(void);

/**
 * Set an error that people may read in their own language.
 *
 * @param ...  names and values of the message's arguments, ended by NULL
 * @return false
 */
bool pb_error_set(
    GError **error, enum pb_error code, enum msg_id id, ...) G_GNUC_NULL_TERMINATED;

/**
 * Forward an error to the caller, and clear it here.
 *
 * @param problem  an error, or NULL inside
 * @return whether there was none
 */
bool pb_error_forward(GError **error, GError **problem);

/** Attach the message that the text of an error was made of. */
void pb_error_attach(GError *error, struct msg *msg);

/** Get the message of an error. @return borrowed; NULL when it has English text only */
const struct msg *pb_error_get_msg(const GError *error);

/**
 * Turn an error into the exit status that sysexits.h has for it.
 *
 * @param error  any error, or NULL
 * @return EX_OK for NULL, else the status for the code; EX_SOFTWARE for another domain
 */
int pb_error_exit_status(const GError *error);

#endif
