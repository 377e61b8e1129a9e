/*
 * helper_letter_unscanned.c - paperboy-letter without its look before parsing.
 *
 * So that a test sees what the parser does with a bomb, and what the sandbox and the
 * caller make of that.
 */
#include "letter/reader.h"

int
main(void)
{
	return reader_run(false);
}
