/*
 * daemon.c - the whole program at work: once, or day after day.
 */
#include "daemon/daemon.h"

#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/control.h"
#include "daemon/hurry.h"
#include "daemon/inlet.h"
#include "daemon/notify.h"
#include "daemon/reload.h"
#include "daemon/stage.h"
#include "daemon/standing.h"
#include "daemon/watchdog.h"
#include "daemon/worker.h"
#include "service/event.h"
#include "service/lock.h"
#include "service/metrics.h"
#include "service/startup.h"

/* After a failure of the store or the machine, look again so much later. */
#define TROUBLE_S 60

/* A step that takes longer hangs: the slowest source, a long night of letters. */
#define STEP_S (30 * 60)

/* What is told of the threads, the most telling last. */
enum job { JOB_COLLECT, JOB_PRESS, JOB_POST, N_JOBS };

struct daemon {
	const struct daemon_options *options;
	struct snapshot *snapshot; /* the newest; of the main thread */
	struct collect_stage collect;
	struct press_stage press;
	struct post_stage post;
	struct worker *collector;
	struct worker *presser;
	struct worker *poster;
	struct pulses *pulses; /* of all threads */
	struct pulse *collect_pulse, *press_pulse, *post_pulse;
	struct inlets *inlets; /* of the main thread */
	struct control *control;
	GMainLoop *loop;
	int hurry_fd; /* once readable the relay is not waited for any more; or -1 */
	/* The next look at the sources, s; until then editions may be made. */
	_Atomic int64_t collect_at;
	_Atomic bool is_retry_wanted; /* the relay, though it is left alone */
	_Atomic int64_t
	    looked_at; /* the last look at the sources that ended, s; or -1 */
	_Atomic int64_t posted_at; /* the last time all that was due had been sent, s */
	int64_t retry_at; /* of the collector: when a source in a pause may be asked */
	int64_t started_at;
	GMutex told_lock;
	char *relay;               /* what the post last said of the relay */
	struct standing standing;  /* under the lock */
	const char *doing[N_JOBS]; /* static; NULL: nothing; under the lock */
	struct metrics_work work;  /* as the relay, under the lock */
};

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

static bool
init_stages(struct daemon *daemon, GError **error)
{
	struct snapshot *first = make_first_snapshot(daemon->options, error);

	daemon->snapshot = first;
	return first && collect_stage_init(&daemon->collect, first, error) &&
	       press_stage_init(&daemon->press, first, error) &&
	       post_stage_init(&daemon->post, first, daemon->options->clock,
	           daemon->pulses, &daemon->hurry_fd, error);
}

static void
clear_stages(struct daemon *daemon)
{
	post_stage_clear(&daemon->post);
	press_stage_clear(&daemon->press);
	collect_stage_clear(&daemon->collect);
	snapshot_unref(daemon->snapshot);
}

/* @return the lock of the state folder, or -1, and then the settings are freed */
static int
lock_state(const struct daemon_options *options, GError **error)
{
	int lock = lock_take(options->settings->state_dir, error);

	if (lock < 0)
		settings_free(options->settings);
	return lock;
}

/* In one round nobody has to be told. */
static void
note_nothing(void *data)
{
	(void)data;
}

/* @param is_clean  cleared when letters have to wait */
static bool
take_letters_once(struct daemon *daemon, int64_t now, bool *is_clean, GError **error)
{
	const struct inlet_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = note_nothing,
	};
	struct intake_report report = {0};
	g_autoptr(GError) problem = NULL;
	int64_t next = -1;

	if (!inlets_sweep(&options, daemon->snapshot, is_clean, error))
		return false;
	if (!press_stage_read_letters(
	        &daemon->press, now, NULL, &report, &next, &problem))
		event_log(EVENT_INTAKE_FAILED, EVENT_TEXT(problem->message));
	*is_clean = *is_clean && !problem && next < 0;
	return true;
}

bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error)
{
	struct daemon daemon = {.options = options, .hurry_fd = -1};
	struct collect_report collected = {0};
	struct edition_report made = {0};
	struct post_report posted = {0};
	int64_t now = clock_get_now(options->clock), next;
	int lock = lock_state(options, error);
	bool is_ok, are_letters_in = true;

	if (lock < 0)
		return false;
	is_ok = init_stages(&daemon, error) &&
	        take_letters_once(&daemon, now, &are_letters_in, error) &&
	        collect_stage_run(&daemon.collect, now, &collected, error) &&
	        press_stage_run(&daemon.press, now, &made, &next, error) &&
	        post_stage_run(&daemon.post, NULL, &posted, &next, error);
	if (is_ok) {
		store_checkpoint(daemon.press.store);
		/* Set by the post: when to try what still waits. */
		*is_clean = are_letters_in && !collected.failed && next < 0 &&
		            (!posted.failed || posted.sent);
		event_log(EVENT_RUN_DONE, EVENT_INT("answers", collected.answers),
		    EVENT_INT("failed", collected.failed),
		    EVENT_INT("fresh", collected.fresh),
		    EVENT_INT("digests", made.digests), EVENT_INT("sent", posted.sent));
	}
	clear_stages(&daemon);
	close(lock);
	return is_ok;
}

/* Whatever went wrong, the rows are as they were: look again a little later. */
static int64_t
note_trouble(enum event_kind kind, int64_t now, GError *problem)
{
	event_log(
	    kind, EVENT_SECONDS("next_in", TROUBLE_S), EVENT_TEXT(problem->message));
	g_error_free(problem);
	return now + TROUBLE_S;
}

/* Tell systemd what goes on. @param doing  of this job; static; NULL: nothing */
static void
tell_doing(struct daemon *daemon, enum job job, const char *doing)
{
	g_autofree char *line = NULL;

	g_mutex_lock(&daemon->told_lock);
	daemon->doing[job] = doing;
	daemon->standing.doing = NULL;
	for (int i = 0; i < N_JOBS; i++)
		if (daemon->doing[i])
			daemon->standing.doing = daemon->doing[i];
	line = standing_format(&daemon->standing);
	/* Under the lock, so that an older line does not come last. */
	notify_status(line);
	g_mutex_unlock(&daemon->told_lock);
}

/* What waits and what comes next, by the store of the thread that asks. */
static void
note_standing(struct daemon *daemon, struct store *store)
{
	int64_t next_at, waiting;

	/* What fails here fails elsewhere too, and is told there. */
	if (!standing_load(store, &next_at, &waiting, NULL))
		return;
	g_mutex_lock(&daemon->told_lock);
	daemon->standing.next_digest_at = next_at;
	daemon->standing.waiting = waiting;
	g_mutex_unlock(&daemon->told_lock);
}

/* When to look at the sources again: sooner when one of them is in a pause. */
static int64_t
next_look(const struct daemon *daemon)
{
	int64_t next =
	    daemon->looked_at + daemon->collect.snapshot->settings->collect_interval_s;

	return daemon->retry_at > daemon->looked_at ? MIN(next, daemon->retry_at)
	                                            : next;
}

static int64_t
step_collect(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct collect_report report = {0};
	GError *problem = NULL;
	int64_t at;

	(void)stop;
	if (collect_stage_renew(&daemon->collect) && daemon->looked_at >= 0)
		daemon->collect_at = next_look(daemon);
	at = daemon->collect_at;
	/* Poked before it is time: the sources are not asked more often for that, but
	 * a clock that was set back must not silence them. */
	if (now < at &&
	    at - now <= daemon->collect.snapshot->settings->collect_interval_s)
		return at;
	tell_doing(daemon, JOB_COLLECT, "asking the sources");
	if (collect_stage_run(&daemon->collect, now, &report, &problem)) {
		event_log(EVENT_COLLECT_DONE, EVENT_INT("answers", report.answers),
		    EVENT_INT("failed", report.failed),
		    EVENT_INT("fresh", report.fresh),
		    EVENT_INT("changed", report.changed));
		g_mutex_lock(&daemon->told_lock);
		daemon->work.collects++;
		daemon->work.fresh_papers += report.fresh;
		daemon->work.failed_answers += report.failed;
		g_mutex_unlock(&daemon->told_lock);
		daemon->looked_at = now;
		daemon->retry_at = report.retry_at;
		at = next_look(daemon);
	} else {
		at = note_trouble(EVENT_COLLECT_FAILED, now, problem);
	}
	daemon->collect_at = at;
	tell_doing(daemon, JOB_COLLECT, NULL);
	/* Whether or not there is something new: editions waited for the look. */
	worker_poke(daemon->presser);
	return at;
}

/* Papers do not wait for letters that cannot be read. @return when the next is due */
static int64_t
read_letters(struct daemon *daemon, int64_t now, const int *stop)
{
	struct intake_report report = {0};
	GError *problem = NULL;
	int64_t next = -1;
	bool is_ok = press_stage_read_letters(
	    &daemon->press, now, stop, &report, &next, &problem);

	if (report.handled)
		worker_poke(daemon->poster);
	g_mutex_lock(&daemon->told_lock);
	daemon->work.letters += report.handled;
	g_mutex_unlock(&daemon->told_lock);
	return is_ok ? next : note_trouble(EVENT_INTAKE_FAILED, now, problem);
}

static int64_t
earlier(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* What wants a person is told even when it keeps us from anything else. @return when to
 * look again */
static int64_t
alert_owner(struct daemon *daemon, int64_t now)
{
	struct post_relay relay;
	g_autoptr(GError) problem = NULL;
	unsigned told;

	g_mutex_lock(&daemon->told_lock);
	relay = daemon->standing.relay;
	relay.domain = g_strdup(relay.domain);
	g_mutex_unlock(&daemon->told_lock);
	if (!press_stage_alert(&daemon->press, now, &relay, &told, &problem))
		event_log(EVENT_PRESS_FAILED,
		    EVENT_SECONDS("next_in", daemon->press.alerts_at - now),
		    EVENT_TEXT(problem->message));
	if (told)
		worker_poke(daemon->poster);
	post_relay_clear(&relay);
	return daemon->press.alerts_at;
}

/*
 * After a start or a long sleep the sources are asked before editions are made:
 * what a slot is due to bring would otherwise come a day, or a week, later.
 */
static int64_t
step_press(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct edition_report report = {0};
	GError *problem = NULL;
	int64_t next = -1, letters_due;
	bool is_ok;

	press_stage_renew(&daemon->press);
	letters_due = read_letters(daemon, now, stop);
	if (now >= daemon->collect_at)
		return letters_due;
	tell_doing(daemon, JOB_PRESS, "making digests");
	is_ok = press_stage_run(&daemon->press, now, &report, &next, &problem);
	/* Some pages may be committed although a later one failed. */
	g_mutex_lock(&daemon->told_lock);
	daemon->work.digests += report.digests;
	daemon->work.quiet += report.quiet;
	g_mutex_unlock(&daemon->told_lock);
	if (report.digests)
		worker_poke(daemon->poster);
	note_standing(daemon, daemon->press.store);
	tell_doing(daemon, JOB_PRESS, NULL);
	if (!is_ok)
		next = note_trouble(EVENT_PRESS_FAILED, now, problem);
	return earlier(earlier(next, letters_due), alert_owner(daemon, now));
}

static int64_t
step_post(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct post_report report = {0};
	GError *problem = NULL;
	char *relay;
	int64_t next;
	bool is_ok;

	if (!post_stage_renew(&daemon->post, &problem))
		return note_trouble(EVENT_POST_FAILED, now, problem);
	if (daemon->is_retry_wanted) {
		daemon->is_retry_wanted = false;
		post_try_now(daemon->post.post);
	}
	tell_doing(daemon, JOB_POST, "sending");
	is_ok = post_stage_run(&daemon->post, stop, &report, &next, &problem);
	note_standing(daemon, daemon->post.store);
	if (is_ok)
		daemon->posted_at = clock_get_now(daemon->options->clock);
	relay = post_format_relay(daemon->post.post);
	g_mutex_lock(&daemon->told_lock);
	g_free(daemon->relay);
	daemon->relay = relay;
	post_relay_clear(&daemon->standing.relay);
	post_describe_relay(daemon->post.post, &daemon->standing.relay);
	daemon->work.sent += report.sent;
	daemon->work.deferred += report.deferred;
	daemon->work.failed += report.failed;
	g_mutex_unlock(&daemon->told_lock);
	tell_doing(daemon, JOB_POST, NULL);
	return is_ok ? next : note_trouble(EVENT_POST_FAILED, now, problem);
}

static void
poke_all(struct daemon *daemon)
{
	worker_poke(daemon->presser);
	worker_poke(daemon->poster);
	worker_poke(daemon->collector);
}

/* Each stage goes over when it is between two runs; nobody waits for that here. */
static void
use_snapshot(struct daemon *daemon, struct snapshot *fresh)
{
	snapshot_offer(&daemon->collect.next, fresh);
	snapshot_offer(&daemon->press.next, fresh);
	post_stage_offer(&daemon->post, fresh);
	inlets_use(daemon->inlets, fresh);
	snapshot_unref(daemon->snapshot);
	daemon->snapshot = fresh;
	poke_all(daemon);
}

/* @return what to say to who asked for it */
static char *
reload(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	struct snapshot *fresh;

	notify_reloading();
	fresh = reload_load(
	    options->config, options->credentials, daemon->snapshot, problems);
	/* A new level counts from here on, so that what follows is told by it. */
	if (fresh)
		log_set_level(options->log, fresh->settings->log_level);
	reload_log(daemon->snapshot, fresh, problems);
	if (fresh)
		use_snapshot(daemon, fresh);
	notify_ready();
	return reload_format_answer(problems);
}

/* Something in the store is new. */
static char *
answer_look(void *data)
{
	poke_all(data);
	return NULL;
}

static char *
answer_reload(void *data)
{
	return reload(data);
}

/* An operator wants the relay to be tried, whatever it did last. */
static char *
answer_retry(void *data)
{
	struct daemon *daemon = data;

	daemon->is_retry_wanted = true;
	worker_poke(daemon->poster);
	return NULL;
}

/* Numbers first; what the relay said goes to the end of the line. */
static char *
answer_status(void *data)
{
	struct daemon *daemon = data;
	g_autofree char *mailboxes = inlets_format(daemon->inlets);
	g_autofree char *relay = NULL;

	g_mutex_lock(&daemon->told_lock);
	relay = g_strdup(daemon->relay ? daemon->relay : "not tried yet");
	g_mutex_unlock(&daemon->told_lock);
	g_strdelimit(relay, "\r\n", ' ');
	return g_strdup_printf("started=%" G_GINT64_FORMAT " looked=%" G_GINT64_FORMAT
	                       " posted=%" G_GINT64_FORMAT " mailboxes=%s relay=%s",
	    daemon->started_at, daemon->looked_at, daemon->posted_at, mailboxes, relay);
}

/* @return lines; what went wrong as a comment, which a scraper passes over */
static char *
answer_metrics(void *data)
{
	struct daemon *daemon = data;
	const struct settings *settings = daemon->snapshot->settings;
	struct status_daemon told = {
	    .is_running = true,
	    .started_at = daemon->started_at,
	    .looked_at = daemon->looked_at,
	    .posted_at = daemon->posted_at,
	};
	struct metrics_work work;
	g_autofree char *relay = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = assembly_open_store(settings, &error);
	char *text = NULL;

	g_mutex_lock(&daemon->told_lock);
	relay = g_strdup(daemon->relay);
	work = daemon->work;
	g_mutex_unlock(&daemon->told_lock);
	told.relay = relay;
	work.late_threads = pulses_count_late(daemon->pulses, NULL);
	if (store)
		text = metrics_format(store, settings, &told, &work,
		    clock_get_now(daemon->options->clock), &error);
	return text ? g_strchomp(text) : g_strdup_printf("# %s", error->message);
}

/* What paperboyctl may say. */
static const struct control_word words[] = {
    {"look", answer_look},
    {"retry", answer_retry},
    {"status", answer_status},
    {"metrics", answer_metrics},
    {"reload", answer_reload},
    {0},
};

static gboolean
handle_reload(gpointer data)
{
	g_free(reload(data));
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
	options.step = step_post;
	daemon->poster = worker_new(&options, error);
	options.name = "press";
	options.pulse = daemon->press_pulse;
	options.step = step_press;
	daemon->presser = daemon->poster ? worker_new(&options, error) : NULL;
	options.name = "collect";
	options.pulse = daemon->collect_pulse;
	options.step = step_collect;
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
	guint sources[] = {
	    g_unix_signal_add(SIGTERM, handle_end, daemon),
	    g_unix_signal_add(SIGINT, handle_end, daemon),
	    g_unix_signal_add(SIGHUP, handle_reload, daemon),
	};

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
	/* What has its default again would end us in the middle of ending. */
	reload_hold(true);
	for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
		g_source_remove(sources[i]);
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
	int lock = lock_state(options, error);
	bool is_ok;

	if (lock < 0)
		return false;
	g_mutex_init(&daemon.told_lock);
	daemon.loop = g_main_loop_new(NULL, FALSE);
	daemon.pulses = pulses_new(watchdog_get_beat_s());
	is_ok = init_stages(&daemon, error) && hurry_open(&daemon.hurry_fd, error) &&
	        start_workers(&daemon, error) && start_inlets(&daemon, error);
	if (is_ok)
		daemon.control = control_new(
		    daemon.snapshot->settings->state_dir, words, &daemon, error);
	is_ok = is_ok && daemon.control;
	if (is_ok)
		work(&daemon);
	control_free(daemon.control);
	inlets_free(daemon.inlets);
	stop_workers(&daemon);
	if (is_ok)
		store_checkpoint(daemon.press.store);
	clear_stages(&daemon);
	pulses_free(daemon.pulses);
	g_free(daemon.relay);
	post_relay_clear(&daemon.standing.relay);
	g_mutex_clear(&daemon.told_lock);
	g_main_loop_unref(daemon.loop);
	hurry_close(daemon.hurry_fd);
	close(lock);
	if (is_ok)
		event_log(EVENT_ENDED);
	return is_ok;
}
