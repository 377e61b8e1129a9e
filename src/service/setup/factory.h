/*
 * factory.h - the composition root: parts of the program, built from the settings.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "net/http.h"
#include "net/stream.h"
#include "receive/receiver.h"
#include "render/renderer.h"
#include "render/template.h"
#include "service/collect/collect.h"
#include "service/state/oauth_login.h"
#include "sources/source.h"
#include "store/core/store.h"
#include "transport/transport.h"

/**
 * Check values that the parser cannot: addresses, zone, hour, templates, and files with
 * secrets.
 *
 * @param settings     settings that the parser has rejected are skipped
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param problems     of char *, `file:line: message` each
 */
void factory_check(
    const struct settings *settings, const char *credentials, GPtrArray *problems);

/**
 * Load the body of alerts that are posted.
 *
 * @param type    set to its media type; static
 * @return NULL with PB_ERROR_INPUT, PB_ERROR_NOT_FOUND or PB_ERROR_LIMIT
 */
struct template *factory_new_alert_template(
    const struct settings *settings, const char **type, GError **error);

struct store *factory_open_store(const struct settings *settings, GError **error);

/** Open the store for reading. @return NULL with PB_ERROR_NOT_FOUND for none */
struct store *
factory_open_store_for_reading(const struct settings *settings, GError **error);

/** @param stop  not 0: abort transfers; or NULL */
struct http *factory_new_http(const struct settings *settings, const int *stop);

/** @return of struct source *: the enabled sources without errors */
GPtrArray *factory_new_sources(const struct settings *settings);

/** Check the sources by their kinds.  @param problems  as for factory_check() */
void factory_check_sources(const struct settings *settings, GPtrArray *problems);

/** Whether a text is a URL of a kind that can be fetched. */
bool factory_is_url(const char *text);

/** Get the address for services that ask for one. */
const char *factory_get_contact(const struct settings *settings);

/** Get the options for the lookup of papers. @param lookups  set to borrowed texts */
void factory_get_lookups(
    const struct settings *settings, struct source_options lookups[COLLECT_LOOKUPS]);

/**
 * Save whether a mail of paperboyctl check has shown that CFBL-Address is signed
 * (RFC 9477 section 3.1); only then digests have it.  It is a file in the state
 * directory.
 */
bool factory_save_feedback(const struct settings *settings, bool is_signed);

/** Format the List-Id of digests, which follows mail.from unless mail.list_id is set.
 */
char *factory_format_list_id(const struct settings *settings);

/** @param key  of the state directory */
struct renderer *
factory_new_renderer(const struct settings *settings, GBytes *key, GError **error);

/* Options of the transport, shared by all connections. */
struct factory_transport;

/**
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        for the expiry of access tokens; borrowed
 */
struct factory_transport *factory_new_transport_options(const struct settings *settings,
    const char *credentials, const struct clock *clock, GError **error);
void factory_free_transport(struct factory_transport *transport);

/** Whether both have the same host, port, TLS and login, or the same Maildir; an OAuth
 * login is another one after `paperboyctl login`. */
bool factory_is_same_transport(
    const struct factory_transport *one, const struct factory_transport *other);

/** Create a transport for one connection.  @param transport borrowed */
struct transport *factory_new_transport(const struct factory_transport *transport);

/**
 * Connect to the relay with TLS and login, and quit.
 *
 * @param reported  set on success: its extensions; owned by the caller
 */
bool factory_check_transport(
    const struct factory_transport *transport, char **reported, GError **error);

enum factory_receiver {
	FACTORY_RECEIVER_LMTP,
	FACTORY_RECEIVER_MAILDIR,
	FACTORY_RECEIVER_IMAP,
	FACTORY_RECEIVERS
};

/** "lmtp", "maildir", "imap": the prefix of its settings after "receive." */
const char *factory_get_receiver_name(enum factory_receiver receiver);

/**
 * Create a receiver.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        for the expiry of access tokens; borrowed
 * @param store        address of a variable, which has to contain the store when the
 *                     receiver runs; borrowed
 * @param mailbox      set on success: NULL when it is not configured
 */
bool factory_new_receiver(const struct settings *settings, const char *credentials,
    enum factory_receiver receiver, const struct clock *clock,
    struct store *const *store, struct receiver **mailbox, GError **error);

/** Check the names of IMAP folders. @return a problem, a new string; or NULL */
char *factory_find_imap_problem(const struct settings *settings);

/** Whether IMAP or SMTP is used, and logs in by OAuth. */
bool factory_uses_oauth(const struct settings *settings, enum oauth_use use);

/**
 * Create a source of access tokens.
 *
 * @param use          IMAP or SMTP
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        borrowed
 * @return NULL with PB_ERROR_INPUT if the client secret cannot be read
 */
struct oauth_source *
factory_new_oauth(const struct settings *settings, enum oauth_use use,
    const char *credentials, const struct clock *clock, GError **error);

/** The envelope sender. @return borrowed */
const char *factory_get_envelope_from(const struct settings *settings);
