/*
 * error.c - error domain and codes.
 */
#include "base/error.h"

#include <sysexits.h>

/* Private data of an error; the GLib macro prescribes the name. */
struct pb_errorPrivate {
	struct msg *msg; /* or NULL */
};

static void
pb_error_private_init(struct pb_errorPrivate *own)
{
	own->msg = NULL;
}

static void
pb_error_private_copy(const struct pb_errorPrivate *from, struct pb_errorPrivate *to)
{
	to->msg = from->msg ? msg_ref(from->msg) : NULL;
}

static void
pb_error_private_clear(struct pb_errorPrivate *own)
{
	msg_unref(own->msg);
}

G_DEFINE_EXTENDED_ERROR(struct pb_error, pb_error)

void
pb_error_attach(GError *error, struct msg *msg)
{
	struct pb_errorPrivate *own = pb_error_get_private(error);

	msg_unref(own->msg);
	own->msg = msg_ref(msg);
}

const struct msg *
pb_error_get_msg(const GError *error)
{
	return error->domain == PB_ERROR ? pb_error_get_private(error)->msg : NULL;
}

bool
pb_error_set(GError **error, enum pb_error code, const char *message, ...)
{
	pb_auto(msg) msg = NULL;
	va_list args;

	if (!error)
		return false;
	va_start(args, message);
	msg = msg_new_valist(message, args);
	va_end(args);
	g_set_error_literal(error, PB_ERROR, code, msg->text);
	pb_error_attach(*error, msg);
	return false;
}

bool
pb_fail(GError **error, enum pb_error code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(PB_ERROR, code, format, args));
	va_end(args);
	return false;
}

bool
pb_error_forward(GError **error, GError **problem)
{
	if (!*problem)
		return true;
	g_propagate_error(error, g_steal_pointer(problem));
	return false;
}

int
pb_error_exit_status(const GError *error)
{
	if (!error)
		return EX_OK;
	if (error->domain != PB_ERROR)
		return error->domain == G_OPTION_ERROR ? EX_USAGE : EX_SOFTWARE;
	switch ((enum pb_error)error->code) {
	case PB_ERROR_INPUT:
		return EX_DATAERR;
	case PB_ERROR_NOT_FOUND:
		return EX_NOUSER;
	case PB_ERROR_TEMPORARY:
	case PB_ERROR_STOPPED:
		return EX_TEMPFAIL;
	case PB_ERROR_PERMANENT:
		return EX_UNAVAILABLE;
	case PB_ERROR_LIMIT:
	case PB_ERROR_DAMAGED:
		return EX_DATAERR;
	}
	return EX_SOFTWARE;
}
