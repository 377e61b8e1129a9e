/*
 * main.c - paperboy-parser: parse one message in a sandboxed process.
 */
#include "parser/mime_parser.h"

int
main(void)
{
	return mime_parser_run(true);
}
