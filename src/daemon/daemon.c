/*
 * daemon.c - the whole program at work: its threads, from the first to the last.
 */
#include "daemon/daemon.h"

#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/daemon_private.h"
#include "daemon/hurry.h"
#include "daemon/notify.h"
#include "daemon/reload.h"
#include "daemon/watchdog.h"
#include "service/event.h"
#include "service/lock.h"
#include "service/startup.h"

/* A step that takes longer hangs: the slowest source, a long night of letters. */
#define STEP_S (30 * 60)

/* The settings that the program begins with. @return a reference, or NULL */
static struct snapshot *
make_first_snapshot(const struct daemon_options *options, GError **error)
{
	pb_auto(settings) settings = options->settings;
	pb_auto(store) store = assembly_open_store(settings, error);
	g_autoptr(GBytes) key = store ? startup_load_key(settings, store, error) : NULL;

	if (!key)
		return NULL;
	return snapshot_new(
	    g_steal_pointer(&settings), options->credentials, key, error);
}

bool
daemon_init_stages(struct daemon *daemon, GError **error)
{
	struct snapshot *first = make_first_snapshot(daemon->options, error);

	daemon->snapshot = first;
	return first && collect_stage_init(&daemon->collect, first, error) &&
	       press_stage_init(&daemon->press, first, error) &&
	       post_stage_init(&daemon->post, first, daemon->options->clock,
	           daemon->pulses, &daemon->hurry_fd, error);
}

void
daemon_clear_stages(struct daemon *daemon)
{
	post_stage_clear(&daemon->post);
	press_stage_clear(&daemon->press);
	collect_stage_clear(&daemon->collect);
	snapshot_unref(daemon->snapshot);
}

int
daemon_lock_state(const struct daemon_options *options, GError **error)
{
	int lock = lock_take(options->settings->state_dir, error);

	if (lock < 0)
		settings_free(options->settings);
	return lock;
}

static gboolean
handle_reload(gpointer data)
{
	g_free(daemon_reload(data));
	return G_SOURCE_CONTINUE;
}

static gboolean
handle_end(gpointer data)
{
	struct daemon *daemon = data;

	g_main_loop_quit(daemon->loop);
	return G_SOURCE_CONTINUE;
}

/* From the thread of a mailbox. */
static void
note_letter(void *data)
{
	struct daemon *daemon = data;

	worker_poke(daemon->presser);
}

static bool
start_inlets(struct daemon *daemon, GError **error)
{
	const struct inlet_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = note_letter,
	    .data = daemon,
	    .pulses = daemon->pulses,
	};

	daemon->inlets = inlets_new(&options, daemon->snapshot, error);
	return daemon->inlets != NULL;
}

/* A long night of matching gets on commit by commit. */
static void
note_commit(void *data)
{
	pulse_promise(data, STEP_S);
}

static void
make_pulses(struct daemon *daemon)
{
	daemon->collect_pulse = pulse_new(daemon->pulses, "collect");
	daemon->press_pulse = pulse_new(daemon->pulses, "press");
	daemon->post_pulse = pulse_new(daemon->pulses, "post");
	store_tell_commits(daemon->collect.store, note_commit, daemon->collect_pulse);
	store_tell_commits(daemon->press.store, note_commit, daemon->press_pulse);
	post_set_pulse(daemon->post.post, daemon->post_pulse);
}

/* From the last step of the way to the first: collect pokes press pokes post. */
static bool
start_workers(struct daemon *daemon, GError **error)
{
	struct worker_options options = {
	    .clock = daemon->options->clock,
	    .data = daemon,
	    .step_s = STEP_S,
	};

	make_pulses(daemon);
	options.name = "post";
	options.pulse = daemon->post_pulse;
	options.step = daemon_step_post;
	daemon->poster = worker_new(&options, error);
	options.name = "press";
	options.pulse = daemon->press_pulse;
	options.step = daemon_step_press;
	daemon->presser = daemon->poster ? worker_new(&options, error) : NULL;
	options.name = "collect";
	options.pulse = daemon->collect_pulse;
	options.step = daemon_step_collect;
	daemon->collector = daemon->presser ? worker_new(&options, error) : NULL;
	return daemon->collector != NULL;
}

/*
 * From here on nothing begins: nobody waits for the others to end first.  What is on
 * its way to the relay has so long, that we end in order before systemd ends us.
 */
static void
end_work(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collect.stop, 1);
	worker_stop(daemon->poster);
	worker_stop(daemon->presser);
	worker_stop(daemon->collector);
	hurry_begin(daemon->hurry_fd, daemon->snapshot->settings->smtp_stop_wait_s);
}

static void
stop_workers(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collect.stop, 1);
	/* The first of the way ends first: then nobody pokes one that is gone. */
	worker_free(daemon->collector);
	worker_free(daemon->presser);
	worker_free(daemon->poster);
	pulse_free(daemon->collect_pulse);
	pulse_free(daemon->press_pulse);
	pulse_free(daemon->post_pulse);
}

static void
work(struct daemon *daemon)
{
	guint watchdog = watchdog_start(daemon->pulses);

	reload_hold(false);
	notify_ready();
	event_log(EVENT_STARTED);
	g_main_loop_run(daemon->loop);
	notify_stopping();
	event_log(EVENT_STOPPING);
	end_work(daemon);
	if (watchdog)
		g_source_remove(watchdog);
}

bool
daemon_run(const struct daemon_options *options, GError **error)
{
	struct daemon daemon = {
	    .options = options,
	    .hurry_fd = -1,
	    .looked_at = -1,
	    .posted_at = -1,
	    .standing = {.next_digest_at = -1},
	    .started_at = clock_get_now(options->clock),
	};
	int lock = daemon_lock_state(options, error);
	guint signals[3];
	bool is_ok;

	if (lock < 0)
		return false;
	/* Before any thread starts: a signal during the start is handled, too. */
	signals[0] = g_unix_signal_add(SIGTERM, handle_end, &daemon);
	signals[1] = g_unix_signal_add(SIGINT, handle_end, &daemon);
	signals[2] = g_unix_signal_add(SIGHUP, handle_reload, &daemon);
	g_mutex_init(&daemon.told_lock);
	g_mutex_init(&daemon.clock_lock);
	daemon.loop = g_main_loop_new(NULL, FALSE);
	daemon.pulses = pulses_new(watchdog_get_beat_s());
	is_ok = daemon_init_stages(&daemon, error) &&
	        hurry_open(&daemon.hurry_fd, error) && start_workers(&daemon, error) &&
	        start_inlets(&daemon, error);
	if (is_ok)
		daemon.control = control_new(
		    daemon.snapshot->settings->state_dir, daemon_words, &daemon, error);
	is_ok = is_ok && daemon.control;
	if (is_ok)
		work(&daemon);
	/* SIGHUP has its default action again, which would end the program. */
	reload_hold(true);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		g_source_remove(signals[i]);
	control_free(daemon.control);
	inlets_free(daemon.inlets);
	stop_workers(&daemon);
	if (is_ok)
		store_checkpoint(daemon.press.store);
	daemon_clear_stages(&daemon);
	pulses_free(daemon.pulses);
	g_free(daemon.relay);
	post_relay_clear(&daemon.standing.relay);
	g_mutex_clear(&daemon.told_lock);
	g_mutex_clear(&daemon.clock_lock);
	g_main_loop_unref(daemon.loop);
	hurry_close(daemon.hurry_fd);
	close(lock);
	if (is_ok)
		event_log(EVENT_ENDED);
	return is_ok;
}
