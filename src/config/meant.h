/*
 * meant.h - which setting or group somebody meant whose name is wrong.
 */
#ifndef PAPERBOY_CONFIG_MEANT_H
#define PAPERBOY_CONFIG_MEANT_H

#include "config/setting.h"

/** What stands behind the group in a name: "port" of "smtp.port"; else all of it. */
const char *meant_get_own_name(const char *name);

/** The setting that was meant most likely. @return NULL when none is near */
const struct setting *meant_find(const char *name);

/** The group that was meant most likely. @return a new string; NULL when none is near
 */
char *meant_find_group(const char *name);

#endif
