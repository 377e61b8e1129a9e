/*
 * help.h - the help of paperboyctl, from the table of commands.
 */
#ifndef PAPERBOY_CTL_HELP_H
#define PAPERBOY_CTL_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/ctl.h"

void help_print_all(FILE *out);
void help_print_usage(const struct ctl_command *command, FILE *out);

/** Print the usage of all commands of a noun. @return false when there is none */
bool help_print_noun(const char *noun, FILE *out);

/** Print similar commands on standard error. @param verb  may be NULL */
void help_print_unknown(const char *noun, const char *verb);

void help_print_command(const struct ctl_command *command);

#endif
