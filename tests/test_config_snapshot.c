/*
 * test_config_snapshot.c - a snapshot of the settings passes between threads, complete
 * and once.
 */
#include "daemon/config_snapshot.h"

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/state/one_click.h"

static int64_t
read_clock(const struct clock *clock)
{
	return clock->at_s;
}

static const struct clock test_clock = {.read = read_clock};

/* With PAPERBOY_LONG=1 more. */
#define OFFERS (g_getenv("PAPERBOY_LONG") ? 300 : 30)
#define TAKERS 3

static struct config_snapshot *
make(int interval_s)
{
	struct settings *settings = settings_new();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct config_snapshot *config_snapshot;
	const char *top = g_getenv("top_srcdir");

	g_free(settings->template_dir);
	settings->template_dir =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	g_free(settings->mail_from);
	settings->mail_from = g_strdup("paperboy@example.org");
	g_free(settings->mail_owner);
	settings->mail_owner = g_strdup("owner@example.org");
	settings->collect_interval_s = interval_s;
	settings->expire_h = interval_s;
	config_snapshot =
	    NO_ERROR(config_snapshot_new(settings, NULL, &test_clock, key, &error));
	return config_snapshot;
}

STORE_TEST(invalid_settings_give_no_snapshot)
{
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct settings *settings = settings_new();
	g_autoptr(GError) error = NULL;

	g_free(settings->template_dir);
	settings->template_dir = g_strdup(fixture->directory);
	g_assert_null(config_snapshot_new(settings, NULL, &test_clock, key, &error));
	g_assert_nonnull(error);
	g_clear_error(&error);
	settings = settings_new();
	settings->smtp_user = (g_free(settings->smtp_user), g_strdup("ann"));
	g_free(settings->smtp_password_file);
	settings->smtp_password_file = g_strdup("/nowhere/password");
	g_assert_null(config_snapshot_new(settings, NULL, &test_clock, key, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
}

TEST(newest_published_snapshot_is_taken_once)
{
	struct config_snapshot_slot slot = {NULL};
	struct config_snapshot *first = make(60), *second = make(61), *taken;

	g_assert_null(config_snapshot_take(&slot));
	config_snapshot_publish(&slot, first);
	config_snapshot_publish(&slot, second);
	g_assert_cmpuint(first->references, ==, 1);
	taken = config_snapshot_take(&slot);
	g_assert_true(taken == second);
	g_assert_null(config_snapshot_take(&slot));
	/* Back into an empty slot, but not over a newer one. */
	config_snapshot_reject(&slot, taken);
	taken = config_snapshot_take(&slot);
	g_assert_true(taken == second);
	config_snapshot_publish(&slot, first);
	config_snapshot_reject(&slot, taken);
	g_assert_cmpuint(second->references, ==, 1);
	taken = config_snapshot_take(&slot);
	g_assert_true(taken == first);
	config_snapshot_unref(taken);
	config_snapshot_unref(first);
	config_snapshot_unref(second);
	config_snapshot_unref(NULL);
}

/* The result of the page's self-test is a file. */
STORE_TEST(renewed_snapshot_shares_the_settings)
{
	struct config_snapshot *first = make(60), *second, *third;
	struct settings *settings = (struct settings *)first->settings;
	const struct one_click passed = {
	    .fault = (char *)"", .detail = (char *)"", .is_offered = true};
	g_autoptr(GError) error = NULL;

	g_free(settings->state_dir);
	settings->state_dir = g_strdup(fixture->directory);
	g_free(settings->web_url);
	settings->web_url = g_strdup("https://papers.example.org");
	g_assert_true(one_click_save(settings, &passed, &error));
	second = config_snapshot_renew(first, NULL, &error);
	g_assert_no_error(error);
	config_snapshot_unref(first);
	third = config_snapshot_renew(second, NULL, &error);
	g_assert_no_error(error);
	g_assert_true(second->is_one_click_offered);
	g_assert_cmpstr(renderer_get_cache_key(second->renderer), ==,
	    renderer_get_cache_key(third->renderer));
	config_snapshot_unref(second);
	g_assert_true(third->settings == settings);
	g_assert_cmpint(third->settings->collect_interval_s, ==, 60);
	config_snapshot_unref(third);
}

struct taker {
	struct config_snapshot_slot slot;
	GThread *thread;
	int stop;
	int last; /* seen */
	unsigned taken;
};

/* Uses its snapshot, as a stage does, and checks for a new one between runs. */
static gpointer
run_taker(gpointer data)
{
	struct taker *taker = data;
	struct config_snapshot *mine = NULL;
	bool is_last = false;

	while (!is_last) {
		struct config_snapshot *next;

		is_last = g_atomic_int_get(&taker->stop);
		next = config_snapshot_take(&taker->slot);
		if (next) {
			config_snapshot_unref(mine);
			mine = next;
			taker->taken++;
		}
		if (!mine)
			continue;
		/* Never a mixture of two snapshots, nor an older one. */
		g_assert_cmpint(
		    mine->settings->collect_interval_s, ==, mine->settings->expire_h);
		g_assert_cmpint(mine->settings->collect_interval_s, >=, taker->last);
		g_assert_cmpstr(mine->settings->mail_from, ==, "paperboy@example.org");
		taker->last = mine->settings->collect_interval_s;
	}
	config_snapshot_unref(mine);
	return NULL;
}

TEST(many_threads_end_with_the_last_one)
{
	struct taker takers[TAKERS] = {{.slot = {NULL}}};

	for (size_t i = 0; i < TAKERS; i++)
		takers[i].thread = g_thread_new("taker", run_taker, &takers[i]);
	for (int i = 1; i <= OFFERS; i++) {
		struct config_snapshot *config_snapshot = make(i);

		for (size_t j = 0; j < TAKERS; j++)
			config_snapshot_publish(&takers[j].slot, config_snapshot);
		config_snapshot_unref(config_snapshot);
	}
	for (size_t i = 0; i < TAKERS; i++) {
		g_atomic_int_set(&takers[i].stop, 1);
		g_thread_join(takers[i].thread);
		g_assert_cmpint(takers[i].last, ==, OFFERS);
		g_assert_null(config_snapshot_take(&takers[i].slot));
	}
}

UNIT_MAIN
