/*
 * mailer_fixture.c - a mailer over a made-up store, with a scripted transport.
 */
#include "mailer_fixture.h"

#include <glib.h>
#include <string.h>

#include "errors.h"
#include "render_sample.h"
#include "service/people/erase.h"

struct fake {
	struct transport transport;
	struct script *script;
};

/* As another program would, such as paperboyctl. */
static void
erase_first_and_last(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) key =
	    g_bytes_new_static(STORE_FIXTURE_KEY, strlen(STORE_FIXTURE_KEY));
	pb_auto(store) store = store_open(path, &error);
	static const char *const addresses[] = {"p0@example.org", "p39@example.org"};

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		const struct erase_request request = {
		    .address = addresses[i], .key = key, .who = "test"};

		erase_person(store, &request, store_fixture_time(NOW), &error);
		g_assert_no_error(error);
	}
}

/* As a kill at this moment would leave it. */
static unsigned
count_sending(const char *path)
{
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = store_open_for_reading(path, &error);
	struct store_fixture reader = {.store = store};

	g_assert_no_error(error);
	return (unsigned)store_fixture_number(
	    &reader, "SELECT count(*) FROM outbox WHERE state = 'SENDING'");
}

/* Record the number of messages that a kill would leave in flight now. */
static void
note_sending(struct script *script, const char *recipient)
{
	unsigned sending = count_sending(script->path_in_flight);

	script->most_sending = MAX(script->most_sending, sending);
	if (g_strcmp0(script->alone, recipient) == 0)
		script->sending_with_alone = sending;
}

static void
deliver(struct transport *transport, const struct envelope *envelope,
    struct delivery *result)
{
	struct script *script = ((struct fake *)transport)->script;
	const struct delivery *answer;
	char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, envelope->message);
	const char *known;

	g_mutex_lock(&script->mutex);
	if (script->path_in_flight)
		note_sending(script, envelope->recipient);
	script->tried++;
	if (script->path && script->tried == 1)
		erase_first_and_last(script->path);
	if (script->hook && script->tried == script->hook_at)
		script->hook(script->hook_data);
	answer = script->fail_after && script->tried > script->fail_after
	             ? &script->later
	             : &script->answer;
	*result = *answer;
	if (script->domain && !g_str_has_suffix(envelope->recipient, script->domain))
		*result = (struct delivery){
		    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
	result->text = g_strdup(answer->text ? answer->text : "made up");
	g_string_append_printf(script->envelopes, "%s<%s %s\n", envelope->recipient,
	    envelope->sender, envelope->id);
	/* The same bytes at every attempt. */
	known = g_hash_table_lookup(script->bytes, envelope->id);
	if (known)
		g_assert_cmpstr(known, ==, sum);
	g_hash_table_insert(script->bytes, g_strdup(envelope->id), sum);
	if (script->stop && script->tried == script->stop_after)
		g_atomic_int_set(script->stop, 1);
	g_mutex_unlock(&script->mutex);
}

static void
close_fake(struct transport *transport)
{
	struct script *script = ((struct fake *)transport)->script;

	g_mutex_lock(&script->mutex);
	script->closed++;
	g_mutex_unlock(&script->mutex);
}

static void
free_fake(struct transport *transport)
{
	g_free(transport);
}

static const struct transport_ops fake_class = {
    .deliver = deliver, .close = close_fake, .free = free_fake};

struct transport *
mailer_fixture_new_fake(void *data)
{
	struct fake *fake = g_new0(struct fake, 1);

	fake->transport.ops = &fake_class;
	fake->script = data;
	return &fake->transport;
}

struct mailer_options
mailer_fixture_options(struct mailer_fixture *mailing)
{
	return (struct mailer_options){
	    .store = mailing->fixture->store,
	    .renderer = mailing->renderer,
	    .clock = &mailing->fixture->clock,
	    .key = mailing->key,
	    .envelope_from = "bounce@example.org",
	    .connections = mailing->senders,
	    .expire_s = GIVE_UP_S,
	    .new_transport = mailer_fixture_new_fake,
	    .data = &mailing->script,
	    .pause = &mailing->pause,
	};
}

void
mailer_fixture_open(struct mailer_fixture *mailing)
{
	const struct mailer_options options = mailer_fixture_options(mailing);

	mailing->mailer = NO_ERROR(mailer_new(&options, &error));
}

struct mailer_fixture *
mailer_fixture_new(unsigned people, unsigned senders)
{
	struct mailer_fixture *mailing = g_new0(struct mailer_fixture, 1);
	int64_t now = store_fixture_time(NOW);

	mailing->fixture = store_fixture_new();
	store_fixture_set_now(mailing->fixture, now);
	store_fixture_list(
	    mailing->fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_list(
	    mailing->fixture, "2026-11-20", "2611.00002", "Diffusion again", 3);
	for (unsigned i = 0; i < people; i++) {
		g_autofree char *address = g_strdup_printf("p%u@example.org", i);

		store_fixture_subscribe(
		    mailing->fixture, address, "UTC", "diffusion", now);
	}
	g_assert_cmpuint(
	    store_fixture_build_digests(mailing->fixture, now), ==, people);
	mailing->renderer = render_sample_new_renderer();
	mailing->key = g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_mutex_init(&mailing->script.mutex);
	mailing->script.envelopes = g_string_new(NULL);
	mailing->script.bytes =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
	mailing->senders = senders;
	mailer_fixture_open(mailing);
	return mailing;
}

void
mailer_fixture_free(struct mailer_fixture *mailing)
{
	mailer_free(mailing->mailer);
	g_string_free(mailing->script.envelopes, TRUE);
	g_hash_table_unref(mailing->script.bytes);
	g_mutex_clear(&mailing->script.mutex);
	renderer_free(mailing->renderer);
	g_bytes_unref(mailing->key);
	store_fixture_free(mailing->fixture);
	g_free(mailing);
}

struct mailer_report
mailer_fixture_run_at(struct mailer_fixture *mailing, int64_t now, const int *stop)
{
	struct mailer_report report = {0};

	store_fixture_set_now(mailing->fixture, now);
	NO_ERROR(mailer_run(mailing->mailer, stop, &report, &mailing->next, &error));
	store_fixture_assert_idle(mailing->fixture);
	/* Nothing is in flight when it returns. */
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM outbox WHERE state = 'SENDING'", "0");
	return report;
}
