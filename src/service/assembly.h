/*
 * assembly.h - parts of the program, built as the settings say.
 */
#ifndef PAPERBOY_SERVICE_ASSEMBLY_H
#define PAPERBOY_SERVICE_ASSEMBLY_H

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"
#include "mailbox/mailbox.h"
#include "net/http.h"
#include "net/stream.h"
#include "render/renderer.h"
#include "sources/arxiv.h"
#include "sources/source.h"
#include "store/store.h"
#include "transport/transport.h"

/**
 * Check what the settings alone cannot: addresses, zone, hour, templates, and
 * the files that hold secrets.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param settings     what was found wrong in it by the reader is left alone
 * @param problems     of char *, `file:line: message` each
 */
void assembly_check(
    const struct settings *settings, const char *credentials, GPtrArray *problems);

/** Open the store of the state folder. */
struct store *assembly_open_store(const struct settings *settings, GError **error);

/** The same, for reading alone. @return NULL with NOT_FOUND when there is none */
struct store *
assembly_open_store_for_reading(const struct settings *settings, GError **error);

/** @param stop  not 0 ends a transfer; or NULL */
struct http *assembly_new_http(const struct settings *settings, const int *stop);

/** Choose how a connection is secured. @param usual  where the settings leave it open
 */
enum stream_tls assembly_choose_tls(enum settings_tls wanted, enum stream_tls usual);

/** The sources that are switched on. @return of struct source * */
GPtrArray *assembly_new_sources(const struct settings *settings);

/**
 * How arXiv is asked about papers.
 *
 * @param options  filled; borrows from the settings
 * @return options, or NULL when it is not to be asked
 */
const struct arxiv_options *
assembly_get_arxiv(const struct settings *settings, struct arxiv_options *options);

/** @param key  the secret of the state folder */
struct renderer *
assembly_new_renderer(const struct settings *settings, GBytes *key, GError **error);

/* What senders share: how to make a transport each. */
struct assembly_outlet;

struct assembly_outlet *assembly_new_outlet(
    const struct settings *settings, const char *credentials, GError **error);
void assembly_free_outlet(struct assembly_outlet *outlet);

/** Do two lead to the same host, by the same way and login, or to the same folder? */
bool assembly_is_same_outlet(
    const struct assembly_outlet *one, const struct assembly_outlet *other);

/** Make a transport for one sender. @param outlet outlives it */
struct transport *assembly_new_transport(const struct assembly_outlet *outlet);

/**
 * Connect to the relay, by TLS and login as the settings say, and take leave.
 *
 * @param told  set on success: what it offers; owned by the caller
 */
bool assembly_probe_outlet(
    const struct assembly_outlet *outlet, char **told, GError **error);

/* The roads by which letters come in. */
enum assembly_road {
	ASSEMBLY_ROAD_LMTP,
	ASSEMBLY_ROAD_MAILDIR,
	ASSEMBLY_ROAD_IMAP,
	ASSEMBLY_ROADS
};

/** "lmtp", "maildir", "imap": as its settings begin, behind "mailbox." */
const char *assembly_get_road_name(enum assembly_road road);

/**
 * Make the mailbox of a road.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param store        where the store will be once the mailbox is at work
 * @param mailbox      set on success: NULL where the settings have none
 */
bool assembly_new_mailbox(const struct settings *settings, const char *credentials,
    enum assembly_road road, struct store *const *store, struct mailbox **mailbox,
    GError **error);

/** Where bounces go. @return borrowed */
const char *assembly_get_envelope_from(const struct settings *settings);

#endif
