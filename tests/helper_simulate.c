/*
 * helper_simulate.c - run the daemon's stages through simulated time.
 *
 * helper_simulate CONFIG CLOCK [SEED] starts at the time in the file CLOCK (s since the
 * epoch) and keeps the file up to date, so that a test that kills the process knows
 * when it died.  With SEED the machine loses its power at one of the next writes: the
 * process ends, and what was not synced may be lost (tests/lib/power_loss.h).  Each
 * line on standard input is an order, answered with "done":
 *
 *     run TIME           run until TIME; work due at TIME waits for the next order
 *     set TIME           set the clock and wake the scheduler and the mailer
 *     fetch [SOURCE...]  make the sources due, and fetch these first, in this order
 *     mail SENDER RECIPIENT FILE    receive a message, and process it; no sender: -
 *     disk full|free     writes of the store fail, or work again
 *     add ADDRESS ZONE FREQUENCY WEEKDAYS MINUTE FILTER...    separated by tabs
 *
 * The stages wake each other as in src/daemon/daemon.c.  A pause, such as that before a
 * request to a source, takes no time but advances the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/pipeline.h"
#include "lib/power_loss.h"
#include "service/inbound/inbox_process.h"
#include "service/log/log.h"
#include "service/people/subscribe.h"
#include "service/setup/startup.h"

/* Seconds until a stage that failed runs again (src/daemon/daemon.c). */
#define RETRY_S 60

/* Maximum of writes and syncs before the power loss. */
#define POWER_LOSS_WRITES 300

/* Contents of CLOCK: eleven digits and a line end. */
#define CLOCK_FORMAT "%011" G_GINT64_FORMAT "\n"

/*
 * A killed process loses nothing that it has written, only a crashed machine does.  No
 * sync is needed here, and a quarter has some hundred thousand commits.
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

/* Times at which a stage is due are seconds since the epoch; -1: when it is woken. */
struct simulation {
	struct config_snapshot *config_snapshot;
	struct clock clock;
	int clock_fd;
	struct collector collector;
	struct scheduler scheduler;
	struct mailer_stage mailer;
	int64_t collector_at;
	int64_t scheduler_at;
	int64_t mailer_at;
};

static int64_t
read_clock(const struct clock *clock)
{
	return clock->at_s;
}

/* The one whose clock advances in a pause. */
static struct simulation *paused;

static void
set_now(struct simulation *simulation, int64_t now)
{
	char text[16];
	int length = g_snprintf(text, sizeof(text), CLOCK_FORMAT, now);

	simulation->clock.at_s = now;
	if (pwrite(simulation->clock_fd, text, (size_t)length, 0) != length)
		g_error("cannot write the clock");
}

__attribute__((visibility("default"))) void
g_usleep(gulong us)
{
	static gulong slept_us;

	slept_us += us;
	if (slept_us >= G_USEC_PER_SEC)
		set_now(
		    paused, paused->clock.at_s + (int64_t)(slept_us / G_USEC_PER_SEC));
	slept_us %= G_USEC_PER_SEC;
}

static int64_t
load_now(struct simulation *simulation, const char *path)
{
	char text[16] = "";

	simulation->clock_fd = open(path, O_RDWR | O_CLOEXEC);
	if (simulation->clock_fd < 0 ||
	    read(simulation->clock_fd, text, sizeof(text) - 1) <= 0)
		g_error("cannot read '%s'", path);
	return g_ascii_strtoll(text, NULL, 10);
}

static GRand *luck; /* of the power loss; NULL: none comes */
static bool is_disk_full;

/* While the disk is full, stages fail and are tried again, as by the daemon. */
static bool
check(bool is_ok, GError **error)
{
	if (!is_ok && luck && power_loss_is_dark()) {
		power_loss_settle(luck);
		_exit(EXIT_SUCCESS);
	}
	if (!is_ok && !is_disk_full)
		g_error("%s", (*error)->message);
	if (!is_ok)
		g_warning("%s", (*error)->message);
	g_clear_error(error);
	return is_ok;
}

static ssize_t
write_to_full_disk(int fd, const void *data, size_t size, off_t at)
{
	(void)fd, (void)data, (void)size, (void)at;
	errno = ENOSPC;
	return -1;
}

static void
set_disk_full(bool is_full)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	is_disk_full = is_full;
	vfs->xSetSystemCall(
	    vfs, "pwrite64", is_full ? (sqlite3_syscall_ptr)write_to_full_disk : NULL);
}

static bool
is_due(int64_t at, int64_t now)
{
	return at >= 0 && at <= now;
}

/* Run the stages that are due, in the order in which they wake each other. */
static void
step(struct simulation *simulation)
{
	int64_t now = simulation->clock.at_s;
	int64_t interval_s = simulation->config_snapshot->settings->collect_interval_s;
	struct collect_report collected = {0};
	struct digest_build_report built = {0};
	struct mailer_report mailed = {0};
	g_autoptr(GError) error = NULL;

	if (simulation->collector_at <= now ||
	    simulation->collector_at > now + interval_s) {
		bool is_ok = check(
		    collector_run(&simulation->collector, now, &collected, &error),
		    &error);

		simulation->collector_at = now + (is_ok ? interval_s : RETRY_S);
		if (collected.retry_at > now)
			simulation->collector_at =
			    MIN(simulation->collector_at, collected.retry_at);
		simulation->scheduler_at = now;
		malloc_trim(0); /* as src/daemon/worker.c */
	}
	if (is_due(simulation->scheduler_at, now)) {
		if (!check(scheduler_run(&simulation->scheduler, now, &built,
		               &simulation->scheduler_at, &error),
		        &error))
			simulation->scheduler_at = now + RETRY_S;
		if (built.digests)
			simulation->mailer_at = now;
		malloc_trim(0);
	}
	if (is_due(simulation->mailer_at, now) &&
	    !check(mailer_stage_run(&simulation->mailer, NULL, &mailed,
	               &simulation->mailer_at, &error),
	        &error))
		simulation->mailer_at = now + RETRY_S;
}

static int64_t
sooner(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

static void
run_until(struct simulation *simulation, int64_t end)
{
	while (simulation->clock.at_s < end) {
		int64_t next;

		step(simulation);
		next = sooner(simulation->collector_at,
		    sooner(simulation->scheduler_at, simulation->mailer_at));
		set_now(simulation, CLAMP(next, simulation->clock.at_s + 1,
		                        MAX(end, simulation->clock.at_s + 1)));
	}
}

/* Set the clock: it wakes all workers but the collector (src/daemon/worker.c). */
static void
wake(struct simulation *simulation, int64_t now)
{
	set_now(simulation, now);
	simulation->scheduler_at = simulation->mailer_at = now;
}

static void
add_subscriber(struct simulation *simulation, const char *row)
{
	g_auto(GStrv) cells = g_strsplit(row, "\t", -1);
	unsigned count = g_strv_length(cells) - 5;
	g_autofree struct subscribe_filter *filters =
	    g_new0(struct subscribe_filter, count);
	struct subscribe_request request = {
	    .address = cells[0],
	    .consent = "made up for a test",
	    .zone = cells[1],
	    .schedule = {.weekdays = (unsigned)atoi(cells[3]),
	        .minute = atoi(cells[4])},
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = count,
	    .key = simulation->config_snapshot->key,
	    .who = "test",
	};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	check(schedule_parse_frequency(cells[2], &request.schedule.frequency, &error),
	    &error);
	for (unsigned i = 0; i < count; i++)
		filters[i].text = cells[5 + i];
	subscriber = subscribe_add(simulation->scheduler.store, &request,
	    simulation->clock.at_s, NULL, NULL, &error);
	check(subscriber != NULL, &error);
	simulation->scheduler_at = simulation->clock.at_s;
}

static void
receive(struct simulation *simulation, const char *words)
{
	g_auto(GStrv) cells = g_strsplit(words, " ", 3);
	const struct inbox_process_rules rules = {
	    .state_dir = simulation->config_snapshot->settings->state_dir};
	struct receive_mail mail = {
	    .sender = *cells[0] == '-' ? "" : cells[0], .recipient = cells[1]};
	struct inbox_process_report report = {0};
	g_autoptr(GError) error = NULL;
	g_autofree char *data = NULL;
	int64_t next_due;
	bool is_stored;

	check(g_file_get_contents(cells[2], &data, &mail.size, &error), &error);
	mail.raw = data;
	check(inbox_process_store(simulation->scheduler.store, &rules, "lmtp", &mail,
	          simulation->clock.at_s, &is_stored, &error) &&
	          scheduler_process_inbox(&simulation->scheduler,
	              simulation->clock.at_s, NULL, &report, &next_due, &error),
	    &error);
	simulation->scheduler_at = simulation->mailer_at = simulation->clock.at_s;
}

/* Move the named sources to the front; collector_run() polls them in this order. */
static void
fetch(struct simulation *simulation, const char *names)
{
	g_auto(GStrv) words = g_strsplit(names, " ", -1);
	GPtrArray *sources = simulation->collector.sources;
	unsigned ready = 0;

	for (char **name = words; *name; name++)
		for (unsigned i = ready; i < sources->len; i++)
			if (strcmp(((struct source *)sources->pdata[i])->name, *name) ==
			    0)
				g_ptr_array_insert(sources, (int)ready++,
				    g_ptr_array_steal_index(sources, i));
	simulation->collector_at = simulation->clock.at_s;
}

static void
run_order(struct simulation *simulation, const char *order)
{
	if (g_str_has_prefix(order, "run "))
		run_until(simulation, g_ascii_strtoll(order + 4, NULL, 10));
	else if (g_str_has_prefix(order, "set "))
		wake(simulation, g_ascii_strtoll(order + 4, NULL, 10));
	else if (g_str_has_prefix(order, "fetch"))
		fetch(simulation, order + strlen("fetch"));
	else if (g_str_has_prefix(order, "mail "))
		receive(simulation, order + strlen("mail "));
	else if (g_str_has_prefix(order, "disk "))
		set_disk_full(strcmp(order, "disk full") == 0);
	else if (g_str_has_prefix(order, "add "))
		add_subscriber(simulation, order + 4);
	else
		g_error("unknown order '%s'", order);
	printf("done\n");
	fflush(stdout);
}

static void
start(struct simulation *simulation, const char *config, const char *clock_path)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	pb_auto(settings) settings = startup_load_settings(config, problems);
	pb_auto(store) store = NULL;
	g_autoptr(GBytes) key = NULL;

	if (!settings)
		g_error("%s", (char *)problems->pdata[0]);
	log_start(settings->log_level, "helper_simulate");
	simulation->clock = (struct clock){
	    .read = read_clock,
	    .at_s = load_now(simulation, clock_path),
	};
	store = factory_open_store(settings, &error);
	key = store ? startup_load_key(settings, store, &error) : NULL;
	simulation->config_snapshot =
	    key ? config_snapshot_new(
	              g_steal_pointer(&settings), NULL, &simulation->clock, key, &error)
	        : NULL;
	check(simulation->config_snapshot != NULL, &error);
	collector_init(&simulation->collector, simulation->config_snapshot,
	    g_steal_pointer(&store));
	check(scheduler_init(
	          &simulation->scheduler, simulation->config_snapshot, &error) &&
	          mailer_stage_init(&simulation->mailer, simulation->config_snapshot,
	              &(struct process_parts){.clock = &simulation->clock}, &error),
	    &error);
	simulation->collector_at = simulation->scheduler_at = simulation->mailer_at =
	    simulation->clock.at_s;
}

int
main(int argc, char **argv)
{
	struct simulation simulation = {0};
	char *line = NULL;
	size_t size = 0;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: helper_simulate CONFIG CLOCK [SEED]\n");
		return 64;
	}
	umask(0077);
	if (argc == 4) {
		luck = g_rand_new_with_seed((guint32)atoi(argv[3]));
		power_loss_install();
		power_loss_reset(
		    (unsigned)g_rand_int_range(luck, 1, POWER_LOSS_WRITES));
	}
	paused = &simulation;
	start(&simulation, argv[1], argv[2]);
	while (getline(&line, &size, stdin) > 0)
		run_order(&simulation, g_strchomp(line));
	free(line);
	mailer_stage_clear(&simulation.mailer);
	scheduler_clear(&simulation.scheduler);
	collector_clear(&simulation.collector);
	config_snapshot_unref(simulation.config_snapshot);
	close(simulation.clock_fd);
	return 0;
}
