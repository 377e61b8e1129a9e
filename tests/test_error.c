/*
 * test_error.c - each error code has its exit status.
 */
#include <sysexits.h>

#include "base/error.h"
#include "lib/unit.h"

TEST(codes_map_to_sysexits)
{
	static const struct {
		enum pb_error code;
		int status;
	} rows[] = {
	    {PB_ERROR_INPUT, EX_DATAERR},
	    {PB_ERROR_NOT_FOUND, EX_NOUSER},
	    {PB_ERROR_TEMPORARY, EX_TEMPFAIL},
	    {PB_ERROR_PERMANENT, EX_UNAVAILABLE},
	    {PB_ERROR_LIMIT, EX_DATAERR},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error =
		    g_error_new_literal(PB_ERROR, rows[i].code, "x");

		g_assert_cmpint(pb_error_exit_status(error), ==, rows[i].status);
	}
	g_assert_cmpint(pb_error_exit_status(NULL), ==, EX_OK);
}

UNIT_MAIN
