/*
 * main.c - paperboy-letter: what a message says, by a process that may die of it.
 */
#include "letter/reader.h"

int
main(void)
{
	return reader_run(true);
}
