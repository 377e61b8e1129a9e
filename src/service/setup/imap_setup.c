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
struct cursor_store {
	struct store *const *store;
	char *cursor;
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
	const struct cursor_store *cursors = data;
	int64_t value = 0;

	/* Without it all messages are fetched again, and known as duplicates. */
	if (!store_load_cursor(*cursors->store, cursors->cursor, 0, &value, NULL))
		return;
	cursor->uidvalidity = (uint32_t)((uint64_t)value >> 32);
	cursor->uid = (uint32_t)((uint64_t)value & UINT32_MAX);
}

static bool
save_cursor(void *data, const struct imap_cursor *cursor, GError **error)
{
	const struct cursor_store *cursors = data;
	uint64_t value = (uint64_t)cursor->uidvalidity << 32 | cursor->uid;

	return store_save_cursor(
	    *cursors->store, cursors->cursor, (int64_t)value, error);
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
options_of(const struct settings *settings, const char *password)
{
	struct imap_options options = {
	    .host = settings->imap_host,
	    .port = (uint16_t)settings->imap_port,
	    .tls = factory_choose_tls(
	        (enum settings_tls)settings->imap_tls, get_usual_tls(settings)),
	    .ca_file = *settings->imap_ca_file ? settings->imap_ca_file : NULL,
	    .user = settings->imap_user,
	    .password = password,
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
	const struct imap_options options = options_of(settings, "");
	g_autoptr(GError) problem = NULL;
	struct receiver *mailbox = imap_receiver_new(&options, &problem);

	receiver_free(mailbox);
	return problem ? g_strdup(problem->message) : NULL;
}

static void
cursor_store_free(void *data)
{
	struct cursor_store *cursors = data;

	g_free(cursors->cursor);
	g_free(cursors);
}

struct receiver *
imap_setup_new(const struct settings *settings, const char *credentials,
    struct store *const *store, GError **error)
{
	g_autofree char *password =
	    settings_load_secret(settings->imap_password_file, credentials, error);
	struct imap_options options;
	struct receiver *mailbox;
	struct cursor_store *cursors;

	if (!password)
		return NULL;
	cursors = g_new0(struct cursor_store, 1);
	cursors->store = store;
	cursors->cursor = format_cursor(settings);
	options = options_of(settings, password);
	options.cursor_store = (struct imap_cursor_store){
	    load_cursor, save_cursor, cursor_store_free, cursors};
	mailbox = imap_receiver_new(&options, error);
	explicit_bzero(password, strlen(password));
	if (!mailbox)
		cursor_store_free(cursors);
	return mailbox;
}
