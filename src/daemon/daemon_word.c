/*
 * daemon_word.c - what the daemon is asked for while it works, and what it answers.
 */
#include "daemon/daemon_private.h"
#include "daemon/notify.h"
#include "daemon/reload.h"
#include "service/metrics.h"

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

char *
daemon_reload(struct daemon *daemon)
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
	return daemon_reload(data);
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
const struct control_word daemon_words[] = {
    {"look", answer_look},
    {"retry", answer_retry},
    {"status", answer_status},
    {"metrics", answer_metrics},
    {"reload", answer_reload},
    {0},
};
