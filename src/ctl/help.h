/*
 * help.h - what paperboyctl says about itself, all from the table of commands.
 */
#ifndef PAPERBOY_CTL_HELP_H
#define PAPERBOY_CTL_HELP_H

#include <stdio.h>

#include "ctl/ctl.h"

void help_print_all(FILE *out);
void help_print_usage(const struct ctl_command *command, FILE *out);
void help_print_command(const struct ctl_command *command);

#endif
