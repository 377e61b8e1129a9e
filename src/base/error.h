/*
 * error.h - error domain and codes.
 *
 * A code determines how the caller handles the error.  Messages start in lower case,
 * state the failure first and have no full stop.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/msg.h"
#include "base/visible.h"

#define PB_ERROR (pb_error_quark())

enum pb_error {
	PB_ERROR_INPUT,     /* invalid input or configuration: report, do not retry */
	PB_ERROR_NOT_FOUND, /* no such object */
	PB_ERROR_TEMPORARY, /* may succeed later: retry with backoff */
	PB_ERROR_PERMANENT, /* cannot succeed: give up, report to the operator */
	PB_ERROR_LIMIT,     /* a documented limit was exceeded */
	PB_ERROR_DAMAGED,   /* a stored value cannot be read: skip it, report it */
	PB_ERROR_STOPPED,   /* the program ends: continue at the next start */
};

GQuark pb_error_quark(void);

/** Set an error, as g_set_error() does. @return false */
PB_EXPORT bool pb_fail(GError **error, enum pb_error code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/**
 * Set an error with a translatable message.
 *
 * @param ...  names and values of the message arguments, NULL-terminated
 * @return false
 */
bool pb_error_set(GError **error, enum pb_error code, const char *message,
    ...) G_GNUC_NULL_TERMINATED;

/**
 * Move an error to the caller and clear `*problem`.
 *
 * @param problem  points to an error or NULL
 * @return true if there was no error
 */
bool pb_error_forward(GError **error, GError **problem);

/** Attach the translatable message to an error. */
void pb_error_attach(GError *error, struct msg *msg);

/** Get the message of an error. @return borrowed; NULL if it has English text only */
const struct msg *pb_error_get_msg(const GError *error);

/**
 * Map an error to an exit status of sysexits.h.
 *
 * @return EX_OK for NULL, EX_SOFTWARE for an error of another domain
 */
int pb_error_exit_status(const GError *error);
