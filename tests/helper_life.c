/*
 * helper_life.c - the daemon's stages at work through days that take no time.
 *
 * helper_life CONFIG CLOCK goes on at the time (s since the epoch) that the file CLOCK
 * holds, and keeps it there, so that whoever kills it knows when it died.  Lines on
 * standard input are orders; each is answered with "done":
 *
 *     run TIME    live until TIME; what is due at it belongs to the next order
 *     set TIME    somebody sets the clock, or a laptop wakes up
 *     add ADDRESS ZONE CADENCE WEEKDAYS MINUTE FILTER...    separated by tabs
 *
 * The way from one stage to the next is that of src/daemon/daemon.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/pipeline.h"
#include "service/log/log.h"
#include "service/people/subscribe.h"
#include "service/setup/startup.h"

/* What is kept of the time in CLOCK: eleven digits and a line end. */
#define CLOCK_FORMAT "%011" G_GINT64_FORMAT "\n"

/*
 * A process that is killed loses nothing that it has written; only a machine does.
 * So nobody waits for a disk here: a quarter has some hundred thousand commits.
 */
__attribute__((visibility("default"))) int
fsync(int fd)
{
	(void)fd;
	return 0;
}

__attribute__((visibility("default"))) int
fdatasync(int fd)
{
	(void)fd;
	return 0;
}

struct life {
	struct config_snapshot *config_snapshot;
	struct clock clock;
	int clock_fd;
	struct collector collect;
	struct scheduler scheduler;
	struct mailer_stage mailer;
	int64_t collect_at, digest_cache_at,
	    mailer_at; /* -1: not before something happens */
};

static int64_t
load_status_line(const struct clock *clock)
{
	return clock->at_s;
}

static void
set_now(struct life *life, int64_t now)
{
	char text[16];
	int length = g_snprintf(text, sizeof(text), CLOCK_FORMAT, now);

	life->clock.at_s = now;
	if (pwrite(life->clock_fd, text, (size_t)length, 0) != length)
		g_error("cannot write the clock");
}

static int64_t
load_now(struct life *life, const char *path)
{
	char text[16] = "";

	life->clock_fd = open(path, O_RDWR | O_CLOEXEC);
	if (life->clock_fd < 0 || read(life->clock_fd, text, sizeof(text) - 1) <= 0)
		g_error("cannot read '%s'", path);
	return g_ascii_strtoll(text, NULL, 10);
}

static void
need(bool is_ok, const GError *error)
{
	if (!is_ok)
		g_error("%s", error->message);
}

static bool
is_due(int64_t at, int64_t now)
{
	return at >= 0 && at <= now;
}

/* What is due now, in the order in which the workers poke each other. */
static void
step(struct life *life)
{
	int64_t now = life->clock.at_s;
	int64_t interval_s = life->config_snapshot->settings->collect_interval_s;
	struct collect_report collected = {0};
	struct digest_build_report made = {0};
	struct mailer_report posted = {0};
	g_autoptr(GError) error = NULL;

	if (life->collect_at <= now || life->collect_at > now + interval_s) {
		need(collector_run(&life->collect, now, &collected, &error), error);
		life->collect_at = now + interval_s;
		if (collected.retry_at > now)
			life->collect_at = MIN(life->collect_at, collected.retry_at);
		life->digest_cache_at = now;
	}
	if (is_due(life->digest_cache_at, now)) {
		need(scheduler_run(
		         &life->scheduler, now, &made, &life->digest_cache_at, &error),
		    error);
		if (made.digests)
			life->mailer_at = now;
	}
	if (is_due(life->mailer_at, now))
		need(mailer_stage_run(
		         &life->mailer, NULL, &posted, &life->mailer_at, &error),
		    error);
}

static int64_t
sooner(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

static void
live_until(struct life *life, int64_t end)
{
	while (life->clock.at_s < end) {
		int64_t next;

		step(life);
		next = sooner(
		    life->collect_at, sooner(life->digest_cache_at, life->mailer_at));
		set_now(life, CLAMP(next, life->clock.at_s + 1, end));
	}
}

/* Every worker looks again when the clock was set (src/daemon/worker.c). */
static void
wake(struct life *life, int64_t now)
{
	set_now(life, now);
	life->digest_cache_at = life->mailer_at = now;
}

static void
add_person(struct life *life, const char *row)
{
	g_auto(GStrv) cells = g_strsplit(row, "\t", -1);
	unsigned count = g_strv_length(cells) - 5;
	g_autofree struct subscribe_filter *filters =
	    g_new0(struct subscribe_filter, count);
	struct subscribe_request request = {
	    .address = cells[0],
	    .consent = "made up for a test",
	    .zone = cells[1],
	    .rhythm = {.weekdays = (unsigned)atoi(cells[3]), .minute = atoi(cells[4])},
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = count,
	    .key = life->config_snapshot->key,
	    .who = "test",
	};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	need(
	    schedule_parse_frequency(cells[2], &request.rhythm.cadence, &error), error);
	for (unsigned i = 0; i < count; i++)
		filters[i].text = cells[5 + i];
	subscriber = subscribe_add(
	    life->scheduler.store, &request, life->clock.at_s, NULL, NULL, &error);
	need(subscriber != NULL, error);
	life->digest_cache_at = life->clock.at_s;
}

static void
obey(struct life *life, const char *order)
{
	if (g_str_has_prefix(order, "run "))
		live_until(life, g_ascii_strtoll(order + 4, NULL, 10));
	else if (g_str_has_prefix(order, "set "))
		wake(life, g_ascii_strtoll(order + 4, NULL, 10));
	else if (g_str_has_prefix(order, "add "))
		add_person(life, order + 4);
	else
		g_error("no order: %s", order);
	printf("done\n");
	fflush(stdout);
}

static void
start(struct life *life, const char *config, const char *clock_path)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	pb_auto(settings) settings = startup_load_settings(config, problems);
	pb_auto(store) store = NULL;
	g_autoptr(GBytes) key = NULL;

	if (!settings)
		g_error("%s", (char *)problems->pdata[0]);
	log_start(settings->log_level, "helper_life");
	life->clock = (struct clock){
	    .read = load_status_line,
	    .at_s = load_now(life, clock_path),
	};
	store = factory_open_store(settings, &error);
	key = store ? startup_load_key(settings, store, &error) : NULL;
	life->config_snapshot =
	    key ? config_snapshot_new(g_steal_pointer(&settings), NULL, key, &error)
	        : NULL;
	need(life->config_snapshot &&
	         collector_init(&life->collect, life->config_snapshot, &error) &&
	         scheduler_init(&life->scheduler, life->config_snapshot, &error) &&
	         mailer_stage_init(&life->mailer, life->config_snapshot, &life->clock,
	             NULL, NULL, &error),
	    error);
	life->collect_at = life->digest_cache_at = life->mailer_at = life->clock.at_s;
}

int
main(int argc, char **argv)
{
	struct life life = {0};
	char *line = NULL;
	size_t size = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: helper_life CONFIG CLOCK\n");
		return 64;
	}
	umask(0077);
	start(&life, argv[1], argv[2]);
	while (getline(&line, &size, stdin) > 0)
		obey(&life, g_strchomp(line));
	free(line);
	mailer_stage_clear(&life.mailer);
	scheduler_clear(&life.scheduler);
	collector_clear(&life.collect);
	config_snapshot_unref(life.config_snapshot);
	close(life.clock_fd);
	return 0;
}
