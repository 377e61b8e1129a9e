/*
 * imap_setup.c - the IMAP receiver, with its cursor in the store.
 */
#include "service/setup/imap_setup.h"

#include <string.h>

#include "receive/imap.h"
#include "service/setup/factory.h"

#define IMAP_PORT  143
#define IMAPS_PORT 993

/* Owned by the receiver. */
struct imap_parts {
	struct store *const *store;
	char *cursor;
	struct oauth_source *oauth; /* NULL: a password is used */
};

/* Hashed, since names of users must not be in names of cursors. */
static char *
format_cursor(const struct settings *settings)
{
	g_autofree char *place = g_strdup_printf("%s\n%s\n%s", settings->imap_host,
	    settings->imap_user, settings->imap_folder);
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, place, -1);

	return g_strdup_printf("imap %.16s", hash);
}

static void
load_cursor(void *data, struct imap_cursor *cursor)
{
	const struct imap_parts *parts = data;
	int64_t value = 0;

	/* Without it all messages are fetched again, and known as duplicates. */
	if (!store_load_int64(*parts->store, parts->cursor, 0, &value, NULL))
		return;
	cursor->uidvalidity = (uint32_t)((uint64_t)value >> 32);
	cursor->uid = (uint32_t)((uint64_t)value & UINT32_MAX);
}

static bool
save_cursor(void *data, const struct imap_cursor *cursor, GError **error)
{
	const struct imap_parts *parts = data;
	uint64_t value = (uint64_t)cursor->uidvalidity << 32 | cursor->uid;

	return store_save_cursor(*parts->store, parts->cursor, (int64_t)value, error);
}

static double
random_fraction(void *data)
{
	(void)data;
	return g_random_double();
}

static enum stream_tls
get_usual_tls(const struct settings *settings)
{
	switch (settings->imap_port) {
	case IMAP_PORT:
		return STREAM_TLS_STARTTLS;
	case IMAPS_PORT:
		return STREAM_TLS_IMPLICIT;
	}
	return STREAM_TLS_DETECT;
}

static struct imap_options
options_of(const struct settings *settings, const char *password,
    const struct stream_tokens *tokens)
{
	struct imap_options options = {
	    .host = settings->imap_host,
	    .port = (uint16_t)settings->imap_port,
	    .tls = factory_choose_tls(
	        (enum settings_tls)settings->imap_tls, get_usual_tls(settings)),
	    .ca_file = *settings->imap_ca_file ? settings->imap_ca_file : NULL,
	    .user = settings->imap_user,
	    .password = password,
	    .tokens = tokens,
	    .folder = settings->imap_folder,
	    .move_to = *settings->imap_move_to ? settings->imap_move_to : NULL,
	    .expunge = settings->imap_expunge,
	    .random = random_fraction,
	    .times = IMAP_TIMES_STANDARD,
	};

	options.times.poll_s = (unsigned)settings->imap_poll_s;
	return options;
}

char *
imap_setup_find_problem(const struct settings *settings)
{
	const struct imap_options options = options_of(settings, "", NULL);
	g_autoptr(GError) problem = NULL;
	struct receiver *mailbox = imap_receiver_new(&options, &problem);

	receiver_free(mailbox);
	return problem ? g_strdup(problem->message) : NULL;
}

static void
imap_parts_free(void *data)
{
	struct imap_parts *parts = data;

	oauth_source_free(parts->oauth);
	g_free(parts->cursor);
	g_free(parts);
}

/* @return NULL, also for an OAuth login */
static char *
load_password(const struct settings *settings, const char *credentials, GError **error)
{
	if (factory_uses_oauth(settings, OAUTH_USE_IMAP))
		return NULL;
	return settings_load_secret(settings->imap_password_file, credentials, error);
}

struct receiver *
imap_setup_new(const struct settings *settings, const char *credentials,
    const struct clock *clock, struct store *const *store, GError **error)
{
	struct imap_parts *parts = g_new0(struct imap_parts, 1);
	char *password = load_password(settings, credentials, error);
	struct imap_options options;
	struct receiver *mailbox = NULL;

	parts->store = store;
	parts->cursor = format_cursor(settings);
	if (factory_uses_oauth(settings, OAUTH_USE_IMAP))
		parts->oauth = factory_new_oauth(
		    settings, OAUTH_USE_IMAP, credentials, clock, error);
	if (password || parts->oauth) {
		options = options_of(settings, password,
		    parts->oauth ? oauth_source_get_tokens(parts->oauth) : NULL);
		options.cursor_store = (struct imap_cursor_store){
		    load_cursor, save_cursor, imap_parts_free, parts};
		mailbox = imap_receiver_new(&options, error);
	}
	oauth_secret_free(password);
	if (!mailbox)
		imap_parts_free(parts);
	return mailbox;
}
