/*
 * help.h - what paperboyctl says about itself, all from the table of commands.
 */
#ifndef PAPERBOY_CTL_HELP_H
#define PAPERBOY_CTL_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/ctl.h"

void help_print_all(FILE *out);
void help_print_usage(const struct ctl_command *command, FILE *out);

/** The usage of all commands on one thing. @return false when there is none */
bool help_print_noun(const char *noun, FILE *out);

/** On standard error: what was meant may be among these. @param verb or NULL */
void help_print_unknown(const char *noun, const char *verb);

void help_print_command(const struct ctl_command *command);

#endif
