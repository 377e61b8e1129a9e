/*
 * helper_parser_unscanned.c - paperboy-parser without its look before parsing.
 *
 * So that a test sees what the parser does with a bomb, and what the sandbox and the
 * caller make of that.
 */
#include "parser/mime_parser.h"

int
main(void)
{
	return mime_parser_run(false);
}
