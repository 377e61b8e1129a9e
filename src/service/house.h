/*
 * house.h - our own addresses, as the settings say.
 */
#ifndef PAPERBOY_SERVICE_HOUSE_H
#define PAPERBOY_SERVICE_HOUSE_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"
#include "config/settings.h"
#include "mail/extension.h"

struct house {
	/* Where people write commands; has_commands: whether there is one. */
	struct extension_base commands;
	bool has_commands;
	/* What envelope senders are made of; the same unless another one is set. */
	struct extension_base bounces;
	char *domain; /* of our Message-IDs */
};

/**
 * Read them.
 *
 * @return NULL with PB_ERROR_INPUT, which names the setting
 */
struct house *house_new(const struct settings *settings, GError **error);
void house_free(struct house *house);
PB_DEFINE_AUTO(house, house_free);

/** The domain of our Message-IDs. @return owned by the caller */
char *house_format_domain(const struct settings *settings);

#endif
