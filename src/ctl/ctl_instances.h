/*
 * ctl_instances.h - the instances of a shared store, in paperboyctl status.
 */
#ifndef PAPERBOY_CTL_CTL_INSTANCES_H
#define PAPERBOY_CTL_CTL_INSTANCES_H

#include <jansson.h>

#include "service/health/status.h"

/** Print a line for each, and the jobs that it holds; nothing for a local store. */
void ctl_print_instances(const struct status *status);

/** @param status  of a shared store @return a new list */
json_t *ctl_json_of_instances(const struct status *status);

#endif
