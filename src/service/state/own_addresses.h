/*
 * own_addresses.h - our own addresses, from the settings.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "message/subaddress.h"

struct own_addresses {
	/* The address for commands; invalid unless has_commands. */
	struct subaddress_base commands;
	bool has_commands;
	/*
	 * Base of envelope senders; the same address unless mail.envelope_from is set.
	 */
	struct subaddress_base bounces;
	char *domain; /* of our Message-IDs */
};

/** @return NULL with PB_ERROR_INPUT that names the setting */
struct own_addresses *
own_addresses_new(const struct settings *settings, GError **error);
void own_addresses_free(struct own_addresses *own_addresses);
PB_DEFINE_AUTO(own_addresses, own_addresses_free);

/**
 * Get the domain of our Message-IDs.
 *
 * @return owned by the caller
 */
char *own_addresses_format_domain(const struct settings *settings);
