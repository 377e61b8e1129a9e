/*
 * daemon_word.c - what the daemon is asked for while it works, and what it answers.
 */
#include "daemon/daemon_private.h"
#include "daemon/notify.h"
#include "daemon/reload.h"
#include "service/health/metrics.h"

static void
poke_all(struct daemon *daemon)
{
	worker_wake(daemon->presser);
	worker_wake(daemon->poster);
	worker_wake(daemon->collector);
}

/* Each stage goes over when it is between two runs; nobody waits for that here. */
static void
use_snapshot(struct daemon *daemon, struct config_snapshot *fresh)
{
	config_snapshot_publish(&daemon->collect.next, fresh);
	config_snapshot_publish(&daemon->scheduler.next, fresh);
	mailer_stage_offer(&daemon->mailer, fresh);
	receivers_reload(daemon->receivers, fresh);
	config_snapshot_unref(daemon->config_snapshot);
	daemon->config_snapshot = fresh;
	poke_all(daemon);
}

char *
daemon_reload(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	struct config_snapshot *fresh;

	notify_reloading();
	fresh = reload_load(
	    options->config, options->credentials, daemon->config_snapshot, problems);
	/* A new level counts from here on, so that what follows is told by it. */
	if (fresh)
		log_set_level(options->log, fresh->settings->log_level);
	reload_log(daemon->config_snapshot, fresh, problems);
	if (fresh)
		use_snapshot(daemon, fresh);
	notify_ready();
	return reload_format_answer(problems);
}

/* Something in the store is new. */
static char *
reply_text_look(void *data)
{
	poke_all(data);
	return NULL;
}

static char *
reply_text_reload(void *data)
{
	return daemon_reload(data);
}

/* An operator wants the relay to be tried, whatever it did last. */
static char *
reply_text_retry(void *data)
{
	struct daemon *daemon = data;

	daemon->is_retry_wanted = true;
	worker_wake(daemon->poster);
	return NULL;
}

/* Numbers first; what the relay said goes to the end of the line. */
static char *
reply_text_status(void *data)
{
	struct daemon *daemon = data;
	g_autofree char *mailboxes = receivers_format(daemon->receivers);
	g_autofree char *relay = NULL;

	g_mutex_lock(&daemon->stats_lock);
	relay = g_strdup(daemon->relay ? daemon->relay : "not tried yet");
	g_mutex_unlock(&daemon->stats_lock);
	g_strdelimit(relay, "\r\n", ' ');
	return g_strdup_printf("started=%" G_GINT64_FORMAT " looked=%" G_GINT64_FORMAT
	                       " posted=%" G_GINT64_FORMAT " mailboxes=%s relay=%s",
	    daemon->started_at, daemon->collected_at, daemon->posted_at, mailboxes,
	    relay);
}

/* @return lines; what went wrong as a comment, which a scraper passes over */
static char *
reply_text_metrics(void *data)
{
	struct daemon *daemon = data;
	const struct settings *settings = daemon->config_snapshot->settings;
	struct status_daemon reported = {
	    .is_running = true,
	    .started_at = daemon->started_at,
	    .collected_at = daemon->collected_at,
	    .posted_at = daemon->posted_at,
	};
	struct metrics_work work;
	g_autofree char *relay = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = factory_open_store(settings, &error);
	char *text = NULL;

	g_mutex_lock(&daemon->stats_lock);
	relay = g_strdup(daemon->relay);
	work = daemon->work;
	g_mutex_unlock(&daemon->stats_lock);
	reported.relay = relay;
	work.late_threads = heartbeats_count_overdue(daemon->heartbeats, NULL);
	if (store)
		text = metrics_format(store, settings, &reported, &work,
		    clock_get_now(daemon->options->clock), &error);
	return text ? g_strchomp(text) : g_strdup_printf("# %s", error->message);
}

/* What paperboyctl may say. */
const struct control_command daemon_words[] = {
    {"look", reply_text_look},
    {"retry", reply_text_retry},
    {"status", reply_text_status},
    {"metrics", reply_text_metrics},
    {"reload", reply_text_reload},
    {0},
};
