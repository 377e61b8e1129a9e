/*
 * settings.h - the settings of paperboy.conf.
 *
 * One table (setting_rows.h) holds name, type, range, default, unit and help of each
 * setting; parsing and printing use it.  All errors of a file are reported at once,
 * and a file with errors is not used.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

enum settings_delivery { SETTINGS_DELIVERY_SMTP, SETTINGS_DELIVERY_MAILDIR };

/* Policies of who may subscribe (service/people/policy.h). */
enum settings_policy {
	SETTINGS_POLICY_OPEN,
	SETTINGS_POLICY_DOMAINS,
	SETTINGS_POLICY_APPROVAL, /* the owner replies to each request */
	SETTINGS_POLICY_CLOSED,   /* by the operator or an invitation only */
};

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

/* A group of the list `sources`. */
struct settings_source {
	char *place;         /* begins messages: "file:line: source "hf": " */
	bool is_invalid;     /* has an error, which has been reported */
	GHashTable *options; /* char *name -> char *value, of those that are set;
	                        elements of a list are separated by "\n" */
};

/** @return the value of an option, borrowed; "" if it is not set */
const char *settings_get_option(const struct settings_source *source, const char *name);

/** Set an option.  @param value  a text, as in struct settings_source */
void settings_set_option(
    struct settings_source *source, const char *name, const char *value);

/** Quote a text as in the file. @return a new string */
char *settings_quote(const char *text);

/** Format a source as in the file. @return a new string */
char *settings_format_source(const struct settings_source *source);

/* A choice is an int: the place of its name in the table. */
#define TEXT(member, ...)    char *member;
#define INT(member, ...)     int member;
#define BOOL(member, ...)    bool member;
#define CHOICE               INT
#define SOURCES(member, ...) GPtrArray *member; /* of struct settings_source * */
struct settings {
#include "config/setting_rows.h"

	/* The file, for error messages. */
	char *path;                     /* NULL: defaults only */
	struct setting_origin *origins; /* one for each row of the table */
};
#undef TEXT
#undef INT
#undef BOOL
#undef CHOICE
#undef SOURCES

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
