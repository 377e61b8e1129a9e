/*
 * suggest.h - suggest a known setting or group for an unknown name.
 */
#ifndef PAPERBOY_CONFIG_SUGGEST_H
#define PAPERBOY_CONFIG_SUGGEST_H

#include "config/setting.h"

/** The name without its group: "port" of "smtp.port". */
const char *suggest_get_own_name(const char *name);

/** @return the most similar setting; NULL when none is similar */
const struct setting *suggest_setting(const char *name);

/** @return the most similar group, a new string; NULL when none is similar */
char *suggest_group(const char *name);

#endif
