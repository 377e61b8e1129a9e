/*
 * error.c - the one error domain and its codes.
 */
#include "base/error.h"

#include <sysexits.h>

G_DEFINE_QUARK(pb_error, pb_error)

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
		return EX_TEMPFAIL;
	case PB_ERROR_PERMANENT:
		return EX_UNAVAILABLE;
	case PB_ERROR_LIMIT:
		return EX_DATAERR;
	}
	return EX_SOFTWARE;
}
