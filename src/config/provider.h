/*
 * provider.h - mailbox providers: their servers, OAuth endpoints and limits.
 *
 * src/config/providers.conf has them; facts that could not be confirmed are unknown.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"

enum provider_fact { PROVIDER_UNKNOWN, PROVIDER_YES, PROVIDER_NO };

struct provider {
	const char *name; /* value of oauth.provider */
	const char *title;
	const char *imap_host;
	int imap_port;
	const char *smtp_host;
	int smtp_port;
	char **domains; /* of its addresses, or NULL; others are of customers */
	enum provider_fact has_subaddresses; /* name+tag (RFC 5233) */
	int per_hour, per_day;               /* messages; 0: unknown */

	bool has_no_passwords; /* programs can log in by OAuth only */
	/* Where a user makes a password for one program (an app password), which
	 * contains no blanks; NULL: the password of the mailbox, or unknown. */
	const char *app_passwords;

	/* OAuth; NULL: a password is used.  "{tenant}" stands for oauth.tenant. */
	const char *token_url;
	const char *authorization_url;
	const char *device_url; /* or NULL */
	const char *imap_scope, *smtp_scope;
	const char *extra_scope;   /* for both, or NULL */
	const char *client_scope;  /* of a client that logs in as itself, or NULL */
	const char *tenant;        /* default of oauth.tenant */
	const char *parameters;    /* of the authorization URL, or NULL */
	const char *redirect_host; /* of the loopback redirect (RFC 8252 section 7.3) */

	const char *source; /* of these facts */
};

/** Get the table, which stays. @return ended by a row without a name */
const struct provider *provider_get_all(void);

/** Find a provider by its name, in any case. @return NULL if there is none */
const struct provider *provider_find(const char *name);

/** Find the provider whose domain an address has. @return NULL if there is none */
const struct provider *provider_find_by_address(const char *address);

/* Maximum number of messages, 0 for no limit. */
struct provider_limits {
	unsigned per_hour, per_day;
};

/** Get the limits of the settings or, where they have none, of the provider whose
 * server smtp.host is; if several have this server, of the one that has the domain of
 * smtp.user (or of mail.from, if the user name is not an address). */
struct provider_limits provider_get_limits(const struct settings *settings);

/* OAuth endpoints of the settings, or of their provider. */
struct provider_endpoints {
	char *token_url; /* "": not set, as the others */
	char *authorization_url;
	char *device_url;
	char *scope;
	char *client_scope;
	const char *parameters;    /* borrowed, or NULL */
	const char *redirect_host; /* borrowed */
};

/** @param imap, smtp  whether the scope is to allow IMAP, SMTP */
void provider_endpoints_init(struct provider_endpoints *endpoints,
    const struct settings *settings, bool imap, bool smtp);
void provider_endpoints_clear(struct provider_endpoints *endpoints);
