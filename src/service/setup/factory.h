/*
 * factory.h - parts of the program, built as the settings say.
 */
#ifndef PAPERBOY_SERVICE_SETUP_FACTORY_H
#define PAPERBOY_SERVICE_SETUP_FACTORY_H

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"
#include "net/http.h"
#include "net/stream.h"
#include "receive/receiver.h"
#include "render/renderer.h"
#include "sources/arxiv.h"
#include "sources/source.h"
#include "store/core/store.h"
#include "transport/transport.h"

/**
 * Check what the settings alone cannot: addresses, zone, hour, templates, and
 * the files that hold secrets.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param settings     what was found wrong in it by the reader is left alone
 * @param problems     of char *, `file:line: message` each
 */
void factory_check(
    const struct settings *settings, const char *credentials, GPtrArray *problems);

/** Open the store of the state folder. */
struct store *factory_open_store(const struct settings *settings, GError **error);

/** The same, for reading alone. @return NULL with NOT_FOUND when there is none */
struct store *
factory_open_store_for_reading(const struct settings *settings, GError **error);

/** @param stop  not 0 ends a transfer; or NULL */
struct http *factory_new_http(const struct settings *settings, const int *stop);

/** Choose how a connection is secured. @param usual  where the settings leave it open
 */
enum stream_tls factory_choose_tls(enum settings_tls wanted, enum stream_tls usual);

/** The sources that are switched on. @return of struct source * */
GPtrArray *factory_new_sources(const struct settings *settings);

/**
 * How arXiv is asked about papers.
 *
 * @param options  filled; borrows from the settings
 * @return options, or NULL when it is not to be asked
 */
const struct arxiv_options *
factory_get_arxiv(const struct settings *settings, struct arxiv_options *options);

/** @param key  the secret of the state folder */
struct renderer *
factory_new_renderer(const struct settings *settings, GBytes *key, GError **error);

/* What senders share: how to make a transport each. */
struct factory_transport;

struct factory_transport *factory_new_transport_options(
    const struct settings *settings, const char *credentials, GError **error);
void factory_free_transport(struct factory_transport *transport);

/** Do two lead to the same host, by the same way and login, or to the same folder? */
bool factory_is_same_transport(
    const struct factory_transport *one, const struct factory_transport *other);

/** Make a transport for one sender. @param transport outlives it */
struct transport *factory_new_transport(const struct factory_transport *transport);

/**
 * Connect to the relay, by TLS and login as the settings say, and take leave.
 *
 * @param told  set on success: what it offers; owned by the caller
 */
bool factory_probe_transport(
    const struct factory_transport *transport, char **reported, GError **error);

/* The receivers by which letters come in. */
enum factory_receiver {
	FACTORY_RECEIVER_LMTP,
	FACTORY_RECEIVER_MAILDIR,
	FACTORY_RECEIVER_IMAP,
	FACTORY_RECEIVERS
};

/** "lmtp", "maildir", "imap": as its settings begin, after "receive." */
const char *factory_get_receiver_name(enum factory_receiver receiver);

/**
 * Make the mailbox of a receiver.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param store        where the store will be once the mailbox is at work
 * @param mailbox      set on success: NULL where the settings have none
 */
bool factory_new_receiver(const struct settings *settings, const char *credentials,
    enum factory_receiver receiver, struct store *const *store,
    struct receiver **mailbox, GError **error);

/** Where bounces go. @return borrowed */
const char *factory_get_envelope_from(const struct settings *settings);

#endif
