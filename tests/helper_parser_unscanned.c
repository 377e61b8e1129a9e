/*
 * helper_parser_unscanned.c - paperboy-parser without the structural prescan.
 *
 * Lets tests run the parser, its sandbox and its caller on MIME bombs.
 */
#include "parser/mime_parser.h"

int
main(void)
{
	return mime_parser_run(false);
}
