/*
 * settings.h - the settings of paperboy.conf.
 *
 * One table (settings.c) holds name, type, range, default, unit and help of each
 * setting; parsing and printing use it.  All errors of a file are reported at once,
 * and a file with errors is not used.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

enum settings_delivery { SETTINGS_DELIVERY_SMTP, SETTINGS_DELIVERY_MAILDIR };

enum settings_protocol {
	SETTINGS_PROTOCOL_SMTP,
	SETTINGS_PROTOCOL_LMTP,
};

enum settings_tls {
	SETTINGS_TLS_AUTO, /* by host or port */
	SETTINGS_TLS_OFF,
	SETTINGS_TLS_STARTTLS,
	SETTINGS_TLS_IMPLICIT,
};

/* Login methods of mail clients. */
enum settings_login {
	SETTINGS_LOGIN_PASSWORD,
	SETTINGS_LOGIN_OAUTH,
};

struct settings {
	char *state_dir;
	char *template_dir;
	char *po_dir;
	char *log_level;

	/* store: a database server */
	char *store_url; /* "": a file in state_dir */
	char *store_password_file;

	/* mail: the sender identity */
	char *mail_from;
	char *mail_from_name;
	char *mail_owner;
	bool mail_alerts;
	char *mail_envelope_from; /* "" means mail_from */
	char *mail_domain;        /* "" means the domain of mail_from */
	char *mail_list_id;       /* "" means digest.DOMAIN */

	/* commands: mail from users */
	char *commands_address; /* "": no commands by mail */
	char *commands_delimiter;
	char *commands_authserv_id; /* "": no Authentication-Results are trusted */

	/* web: the page */
	char *web_url;    /* "": no page */
	char *web_listen; /* of paperboy-web without socket activation */
	char *web_socket; /* of paperboyd, for paperboy-web */
	char *web_trusted_proxy;
	char *web_ca_file;
	bool web_search;

	/* limits on replies, against backscatter */
	int limit_confirm_interval_h;
	int limit_confirmations_per_month;
	int limit_confirmations_per_hour;
	int limit_confirmations_per_domain_hour;
	int limit_forms_per_network_hour;
	int limit_unknown_sender_per_day;
	int limit_replies_per_day;
	int limit_owner_mail_per_day;

	/* digest: defaults for new subscribers */
	char *digest_zone;
	char *digest_at;
	int digest_max;

	/* collect: the sources */
	int collect_interval_s;
	char *collect_contact;
	char *collect_private; /* names of sources, separated by blanks */
	int collect_wait_min;
	bool huggingface_enabled;
	char *huggingface_url;
	bool arxiv_enrich;
	char *arxiv_categories; /* separated by blanks; "": none */
	char *arxiv_url;
	char *arxiv_api_url;
	int arxiv_request_interval_s;
	char *feeds_urls; /* NAME=URL, separated by blanks */

	/* delivery */
	int delivery; /* enum settings_delivery */
	char *maildir;
	int smtp_protocol; /* enum settings_protocol */
	char *smtp_host;
	int smtp_port;
	int smtp_tls; /* enum settings_tls */
	char *smtp_ca_file;
	char *smtp_user;
	int smtp_login; /* enum settings_login */
	char *smtp_password_file;
	char *smtp_ehlo_name; /* "" means the domain */
	int smtp_connections;
	int smtp_shutdown_timeout_s;
	int expire_h;
	int per_second; /* messages; 0: no limit */
	int per_hour;
	int per_day;
	int domain_per_hour; /* to one domain */

	/* receive: receivers of mail; "" disables one */
	char *lmtp_socket;
	char *lmtp_group; /* "": only the daemon's user */
	char *lmtp_listen;
	char *receive_maildir;
	char *imap_host;
	int imap_port;
	int imap_tls; /* enum settings_tls; auto: by the port */
	char *imap_ca_file;
	char *imap_user;
	int imap_login; /* enum settings_login */
	char *imap_password_file;
	char *imap_folder;
	char *imap_move_to;
	bool imap_expunge;
	int imap_poll_s;
	char *recipient_header;
	int min_free_mb;
	char *parser_program; /* "": the installed one */

	/* oauth: access tokens, for logins without a password */
	char *oauth_provider; /* see provider.h; "": the URLs are set */
	char *oauth_tenant;   /* "": the provider's default */
	char *oauth_token_url;
	char *oauth_authorization_url;
	char *oauth_device_url;
	char *oauth_redirect_uri; /* "": a loopback address */
	char *oauth_client_id;
	char *oauth_client_secret_file; /* "": a public client */
	char *oauth_scope;
	char *oauth_ca_file;

	/* The file, for error messages. */
	char *path;                     /* NULL: defaults only */
	struct setting_origin *origins; /* one for each row of the table */
};

/** All settings at their defaults. */
struct settings *settings_new(void);
void settings_free(struct settings *settings);
PB_DEFINE_AUTO(settings, settings_free);

/**
 * Read a configuration file despite errors, so that further checks can be made.
 *
 * Invalid settings keep their defaults and are marked.  Do not run with the settings
 * of a file with problems.
 *
 * @param problems  as for settings_load()
 * @return NULL when the file cannot be read at all
 */
struct settings *settings_read(const char *path, GPtrArray *problems);

/** Where a setting is set: "file:line", or "file" if it is not. @return a new string */
char *settings_format_place(const struct settings *settings, const char *name);

/** Whether a setting's value is invalid. */
bool settings_has_error(const struct settings *settings, const char *name);

/**
 * Read a configuration file.
 *
 * @param problems  of char *, `file:line: message`; all errors of the file are added
 * @return NULL with PB_ERROR_INPUT when there were any
 */
struct settings *settings_load(const char *path, GPtrArray *problems, GError **error);

/** Whether the addresses are still those of the sample file. */
bool settings_is_default(const struct settings *settings);

/* One setting, for printing. */
struct settings_row {
	const char *name;   /* with its group: "smtp.port" */
	const char *help;   /* one line */
	const char *range;  /* "1 to 65535", "\"a\" or \"b\"", or empty */
	const char *value;  /* in the notation of the file */
	bool needs_restart; /* a running program cannot change it */
};

/** Call a function for every setting, in the table's order. */
void settings_foreach(const struct settings *settings,
    void (*callback)(const struct settings_row *row, void *data), void *data);

/**
 * List settings with different values.
 *
 * @param needs_restart  only those that a running program cannot change
 * @return of const char *, their names
 */
GPtrArray *settings_list_changes(
    const struct settings *before, const struct settings *after, bool needs_restart);

/**
 * Read a secret: a file of one line, readable by its owner only.
 *
 * A relative path names a systemd credential.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @return NULL with PB_ERROR_INPUT
 */
char *settings_load_secret(const char *path, const char *credentials, GError **error);
