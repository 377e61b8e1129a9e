/*
 * office.c - a post over a made-up store, with a transport that answers as told.
 */
#include "lib/office.h"

#include <glib.h>
#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "render_sample.h"
#include "service/forget.h"

struct fake {
	struct transport transport;
	struct script *script;
};

/* Another program, such as paperboyctl, does that. */
static void
forget_first_and_last(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) key = g_bytes_new_static(LAB_KEY, strlen(LAB_KEY));
	pb_auto(store) store = store_open(path, &error);
	static const char *const addresses[] = {"p0@example.org", "p39@example.org"};

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		const struct forget_request request = {
		    .address = addresses[i], .key = key, .who = "test"};

		forget_person(store, &request, lab_time(NOW), &error);
		g_assert_no_error(error);
	}
}

/* As a kill at this moment would leave it. */
static unsigned
count_sending(const char *path)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	unsigned count = 0;

	g_assert_cmpint(
	    sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	g_assert_cmpint(sqlite3_prepare_v2(db,
	                    "SELECT count(*) FROM outbox WHERE state = 'SENDING'", -1,
	                    &statement, NULL),
	    ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
	count = (unsigned)sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return count;
}

/* Note how many messages a kill would leave in flight now. */
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
		forget_first_and_last(script->path);
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

static const struct transport_class fake_class = {
    .deliver = deliver, .close = close_fake, .free = free_fake};

struct transport *
office_new_fake(void *data)
{
	struct fake *fake = g_new0(struct fake, 1);

	fake->transport.class = &fake_class;
	fake->script = data;
	return &fake->transport;
}

struct post_options
office_options(struct office *office)
{
	return (struct post_options){
	    .store = office->lab->store,
	    .renderer = office->renderer,
	    .clock = &office->lab->clock,
	    .key = office->key,
	    .envelope_from = "bounce@example.org",
	    .senders = office->senders,
	    .give_up_s = GIVE_UP_S,
	    .new_transport = office_new_fake,
	    .data = &office->script,
	    .pause = &office->pause,
	};
}

void
office_open(struct office *office)
{
	const struct post_options options = office_options(office);
	g_autoptr(GError) error = NULL;

	office->post = post_new(&options, &error);
	g_assert_no_error(error);
}

struct office *
office_new(unsigned people, unsigned senders)
{
	struct office *office = g_new0(struct office, 1);
	int64_t now = lab_time(NOW);

	office->lab = lab_new();
	lab_set_now(office->lab, now);
	lab_list(office->lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	lab_list(office->lab, "2026-11-20", "2611.00002", "Diffusion again", 3);
	for (unsigned i = 0; i < people; i++) {
		g_autofree char *address = g_strdup_printf("p%u@example.org", i);

		lab_subscribe(office->lab, address, "UTC", "diffusion", now);
	}
	g_assert_cmpuint(lab_press(office->lab, now), ==, people);
	office->renderer = render_sample_new_renderer();
	office->key = g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_mutex_init(&office->script.mutex);
	office->script.envelopes = g_string_new(NULL);
	office->script.bytes =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	office->script.answer = (struct delivery){
	    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
	office->senders = senders;
	office_open(office);
	return office;
}

void
office_free(struct office *office)
{
	post_free(office->post);
	g_string_free(office->script.envelopes, TRUE);
	g_hash_table_unref(office->script.bytes);
	g_mutex_clear(&office->script.mutex);
	renderer_free(office->renderer);
	g_bytes_unref(office->key);
	lab_free(office->lab);
	g_free(office);
}

struct post_report
office_run_at(struct office *office, int64_t now, const int *stop)
{
	struct post_report report = {0};
	g_autoptr(GError) error = NULL;

	lab_set_now(office->lab, now);
	post_run(office->post, stop, &report, &office->next, &error);
	g_assert_no_error(error);
	lab_assert_idle(office->lab);
	/* Nothing is in flight when it returns. */
	g_assert_cmpint(lab_number(office->lab,
	                    "SELECT count(*) FROM outbox WHERE state = 'SENDING'"),
	    ==, 0);
	return report;
}
