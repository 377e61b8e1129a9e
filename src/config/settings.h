/*
 * settings.h - everything that paperboy.conf can say.
 *
 * One table (settings.c) holds name, type, range, default, unit and help of
 * each setting; the reader and the printers all work from it.  A file is read
 * whole, all its errors are told at once, and nothing of a bad file is used.
 */
#ifndef PAPERBOY_CONFIG_SETTINGS_H
#define PAPERBOY_CONFIG_SETTINGS_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

enum settings_delivery { SETTINGS_DELIVERY_SMTP, SETTINGS_DELIVERY_MAILDIR };

enum settings_protocol {
	SETTINGS_PROTOCOL_SMTP,
	SETTINGS_PROTOCOL_LMTP,
};

enum settings_tls {
	SETTINGS_TLS_AUTO, /* as the host or the port suggests */
	SETTINGS_TLS_OFF,
	SETTINGS_TLS_STARTTLS,
	SETTINGS_TLS_IMPLICIT,
};

struct settings {
	char *state_dir;
	char *template_dir;
	char *log_level;

	/* mail: who sends, and what it is called */
	char *mail_from;
	char *mail_from_name;
	char *mail_owner;
	bool mail_alerts;
	char *mail_envelope_from; /* "" means mail_from */
	char *mail_domain;        /* "" means the domain of mail_from */
	char *mail_list_id;       /* "" means digest.DOMAIN */

	/* commands: what people write */
	char *commands_address; /* "": nobody writes, or to mail_owner */
	char *commands_delimiter;
	char *commands_authserv_id; /* "": nobody vouches for a sender */

	/* limits: how much is answered */
	int limit_confirm_again_h;
	int limit_confirmations_month;
	int limit_confirmations_hour;
	int limit_confirmations_domain_hour;
	int unknown_sender_per_day;
	int limit_answers_day;
	int limit_help_day;
	int limit_owner_day;

	/* digest: what a new subscriber gets unless told otherwise */
	char *digest_zone;
	char *digest_at;
	int digest_max;

	/* collect: the sources */
	int collect_interval_s;
	char *collect_contact;
	int collect_wait_min;
	bool huggingface_enabled;
	char *huggingface_url;
	bool arxiv_enrich;
	char *arxiv_categories; /* blanks between; "": none is collected */
	char *arxiv_url;
	char *arxiv_api_url;
	int arxiv_gap_s;
	char *feeds_urls; /* NAME=URL, blanks between */

	/* delivery */
	int delivery; /* enum settings_delivery */
	char *maildir;
	int smtp_protocol; /* enum settings_protocol */
	char *smtp_host;
	int smtp_port;
	int smtp_tls; /* enum settings_tls */
	char *smtp_ca_file;
	char *smtp_user;
	char *smtp_password_file;
	char *smtp_ehlo_name; /* "" means the domain */
	int smtp_connections;
	int smtp_stop_wait_s;
	int expire_h;
	int per_second; /* messages; 0: as many as go */
	int per_hour;
	int domain_per_hour; /* to one domain */

	/* mailbox: where letters come in; "" switches one off */
	char *lmtp_socket;
	char *lmtp_group; /* "" means nobody but the daemon's user */
	char *lmtp_listen;
	char *incoming; /* a Maildir */
	char *imap_host;
	int imap_port;
	int imap_tls; /* enum settings_tls; auto: by the port */
	char *imap_ca_file;
	char *imap_user;
	char *imap_password_file;
	char *imap_folder;
	char *imap_move_to;
	bool imap_expunge;
	int imap_poll_s;
	char *recipient_header;
	int min_free_mb;
	char *parser_program; /* "" means the one that was installed */

	/* Of the file that was read, for those that say what is wrong in it. */
	char *path;                   /* NULL: defaults alone */
	struct setting_origin *notes; /* one for each row of the table */
};

/** All settings at their defaults. */
struct settings *settings_new(void);
void settings_free(struct settings *settings);
PB_DEFINE_AUTO(settings, settings_free);

/**
 * Read a configuration file as far as that can be done.
 *
 * What is wrong keeps its default and is marked, so that the rest can be checked in
 * the same run; settings of a file with problems are for that alone.
 *
 * @param problems  as for settings_load()
 * @return NULL when the file cannot be read at all
 */
struct settings *settings_read(const char *path, GPtrArray *problems);

/** Where a setting is said: "file:line", or "file" when nowhere. @return a new string
 */
char *settings_format_place(const struct settings *settings, const char *name);

/** Whether a problem was told of a setting's value. */
bool settings_has_error(const struct settings *settings, const char *name);

/**
 * Read a configuration file.
 *
 * @param problems  of char *, a line each: `file:line: message`; all of the
 *                  file's errors are added
 * @return NULL with PB_ERROR_INPUT when there were any
 */
struct settings *settings_load(const char *path, GPtrArray *problems, GError **error);

/** Its addresses are still those of the file that ships, which are nobody's. */
bool settings_is_default(const struct settings *settings);

/* One setting, for those who print them. */
struct settings_row {
	const char *name;   /* with its group: "smtp.port" */
	const char *help;   /* one line */
	const char *range;  /* "1 to 65535", "\"a\" or \"b\"", or empty */
	const char *value;  /* as it is written in the file */
	bool needs_restart; /* a running program cannot change it */
};

/** Show every setting with its value, in the table's order. */
void settings_foreach(const struct settings *settings,
    void (*visit)(const struct settings_row *row, void *data), void *data);

/**
 * List settings whose values differ.
 *
 * @param needs_restart  only those that a running program cannot change
 * @return of const char *, their names
 */
GPtrArray *settings_list_changes(
    const struct settings *before, const struct settings *after, bool needs_restart);

/**
 * Read a secret: a file of one line that only its owner may read, less the line end.
 *
 * A relative path is that of a systemd credential: it is looked for in
 * $CREDENTIALS_DIRECTORY, which the caller passes in.
 *
 * @param credentials  that folder, or NULL
 * @return NULL with PB_ERROR_INPUT
 */
char *settings_load_secret(const char *path, const char *credentials, GError **error);

#endif
