/*
 * main.c - paperboy-parser: what a message says, by a process that may die of it.
 */
#include "parser/mime_parser.h"

int
main(void)
{
	return mime_parser_run(true);
}
