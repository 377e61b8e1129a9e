/*
 * prompt.h - questions on a terminal.
 */
#ifndef PAPERBOY_CTL_PROMPT_H
#define PAPERBOY_CTL_PROMPT_H

#include <stdio.h>

/**
 * Read a line of any length.  A NUL in it becomes another control character.
 *
 * @return a new string without the newline; NULL at the end of the input
 */
char *prompt_read_line(FILE *input);

/**
 * Ask for a line: "Your name [Ada]: ".
 *
 * @param usual  or NULL
 * @return a new string without blanks around it; NULL at the end of the input
 */
char *prompt_ask(const char *text, const char *usual);

/** The same for a secret, which is not shown, and kept with its blanks. */
char *prompt_ask_secret(const char *text);

#endif
