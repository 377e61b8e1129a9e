/*
 * suggest.h - which setting or group somebody meant whose name is wrong.
 */
#ifndef PAPERBOY_CONFIG_SUGGEST_H
#define PAPERBOY_CONFIG_SUGGEST_H

#include "config/setting.h"

/** What stands behind the group in a name: "port" of "smtp.port"; else all of it. */
const char *suggest_get_own_name(const char *name);

/** The setting that was meant most likely. @return NULL when none is near */
const struct setting *suggest_setting(const char *name);

/** The group that was meant most likely. @return a new string; NULL when none is near
 */
char *suggest_group(const char *name);

#endif
