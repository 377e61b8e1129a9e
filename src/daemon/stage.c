/*
 * stage.c - the three jobs of the daemon, each with a store of its own.
 */
#include "daemon/stage.h"

#include <sys/random.h>

#include "base/error.h"
#include "service/alerts.h"
#include "service/clock_watch.h"
#include "service/event.h"
#include "service/forget.h"
#include "service/front.h"
#include "service/status.h"
#include "service/upkeep.h"
#include "store/erasure.h"
#include "store/papers.h"
#include "store/people.h"

/* A clock that is wrong is looked at again so soon. */
#define CLOCK_LOOK_S 600

/* Letters in one go, and how long: then those who wait for editions have their turn. */
#define LETTERS_RUN    200
#define LETTERS_RUN_MS 5000

/* @return whether there is a new one, and the old one is given back */
static bool
renew(struct snapshot **snapshot, struct snapshot *next, const char *stage)
{
	if (!next)
		return false;
	snapshot_unref(*snapshot);
	*snapshot = next;
	event_log(EVENT_CONFIG_IN_FORCE, EVENT_WORD("stage", stage));
	return true;
}

static void
collect_stage_build(struct collect_stage *stage)
{
	const struct settings *settings = stage->snapshot->settings;

	g_clear_pointer(&stage->sources, g_ptr_array_unref);
	g_clear_pointer(&stage->http, http_free);
	stage->http = assembly_new_http(settings, &stage->stop);
	stage->sources = assembly_new_sources(settings);
}

bool
collect_stage_init(
    struct collect_stage *stage, struct snapshot *snapshot, GError **error)
{
	*stage = (struct collect_stage){.snapshot = snapshot_ref(snapshot)};
	stage->store = assembly_open_store(snapshot->settings, error);
	if (!stage->store)
		return false;
	collect_stage_build(stage);
	return true;
}

bool
collect_stage_renew(struct collect_stage *stage)
{
	if (!renew(&stage->snapshot, snapshot_take(&stage->next), "collect"))
		return false;
	collect_stage_build(stage);
	return true;
}

void
collect_stage_clear(struct collect_stage *stage)
{
	g_clear_pointer(&stage->sources, g_ptr_array_unref);
	g_clear_pointer(&stage->http, http_free);
	g_clear_pointer(&stage->store, store_free);
	snapshot_unref(snapshot_take(&stage->next));
	g_clear_pointer(&stage->snapshot, snapshot_unref);
}

bool
collect_stage_run(struct collect_stage *stage, int64_t now,
    struct collect_report *report, GError **error)
{
	struct arxiv_options arxiv;
	const struct collect collect = {
	    .arxiv = assembly_get_arxiv(stage->snapshot->settings, &arxiv),
	    .store = stage->store,
	    .http = stage->http,
	    .wait_s = stage->snapshot->settings->collect_wait_min * 60,
	    .sources = (struct source **)stage->sources->pdata,
	    .source_count = stage->sources->len,
	    .stop = &stage->stop,
	};

	return collect_run(&collect, false, now, report, error);
}

bool
press_stage_init(struct press_stage *stage, struct snapshot *snapshot, GError **error)
{
	*stage = (struct press_stage){.snapshot = snapshot_ref(snapshot)};
	stage->store = assembly_open_store(snapshot->settings, error);
	return stage->store &&
	       intake_load_waited(stage->store, &stage->waited_id, error);
}

void
press_stage_clear(struct press_stage *stage)
{
	g_clear_pointer(&stage->store, store_free);
	snapshot_unref(snapshot_take(&stage->next));
	g_clear_pointer(&stage->snapshot, snapshot_unref);
}

void
press_stage_renew(struct press_stage *stage)
{
	renew(&stage->snapshot, snapshot_take(&stage->next), "press");
}

static void
draw(void *data, uint8_t *octets, size_t size)
{
	(void)data;
	/* So few come whole, and always (getrandom(2)). */
	g_assert(getrandom(octets, size, 0) == (ssize_t)size);
}

/* The intake's handler: letters are commands. */
static bool
handle_letter(void *data, struct store *store, const struct letter *letter,
    const struct intake_envelope *envelope, char **verdict, GError **error)
{
	const struct press_stage *stage = data;
	const struct snapshot *snapshot = stage->snapshot;
	const struct front_options options = {
	    .settings = snapshot->settings,
	    .house = snapshot->house,
	    .phrases = renderer_get_phrases(snapshot->renderer),
	    .renderer = snapshot->press_renderer,
	    .key = snapshot->key,
	    .draw = draw,
	    .now = stage->letters_at,
	};
	const struct front_envelope from = {envelope->id, envelope->sender,
	    envelope->recipient, envelope->is_too_large};
	struct front_report report;

	if (!front_handle(store, &options, letter, &from, &report, error))
		return false;
	*verdict = front_format_verdict(&report);
	return true;
}

bool
press_stage_read_letters(struct press_stage *stage, int64_t now, const int *stop,
    struct intake_report *report, int64_t *next_due, GError **error)
{
	const char *program = stage->snapshot->settings->letter_program;
	const struct intake_options options = {
	    .reading = {.program = *program ? program : NULL},
	    .waited_id = stage->waited_id,
	    .handle = stage->snapshot->house->has_commands ? handle_letter
	                                                   : intake_handle_nothing,
	    .data = stage,
	    .limit = stop ? LETTERS_RUN : 0,
	    .time_ms = stop ? LETTERS_RUN_MS : 0,
	    .stop = stop,
	};
	bool is_ok;

	stage->letters_at = now;
	is_ok = intake_run(stage->store, &options, now, report, error);

	if (report->handled || report->failed)
		event_log(EVENT_INTAKE_DONE, EVENT_INT("handled", report->handled),
		    EVENT_INT("failed", report->failed),
		    EVENT_INT("quarantined", report->quarantined));
	if (!is_ok || !intake_load_due(stage->store, next_due, error))
		return false;
	if (report->is_more)
		*next_due = now;
	return true;
}

/* Who is waiting to be forgotten is looked at again so soon. */
#define FAREWELL_S 10

/* Erase whose last answer is out. @param due  made earlier when somebody waits */
static bool
part(struct press_stage *stage, int64_t now, int64_t *due, GError **error)
{
	g_autoptr(GError) problem = NULL;
	unsigned forgotten = 0;
	bool is_waiting = true;

	/* While others read, the file cannot be cleaned: soon they do not. */
	if (!forget_clean(stage->store, &problem) ||
	    !forget_finish(
	        stage->store, stage->snapshot->key, now, &forgotten, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY)) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
	} else if (!erasure_has_farewell(stage->store, &is_waiting, error)) {
		return false;
	}
	if (is_waiting && (*due < 0 || *due > now + FAREWELL_S))
		*due = now + FAREWELL_S;
	return true;
}

bool
press_stage_alert(struct press_stage *stage, int64_t now,
    const struct post_relay *relay, unsigned *told, GError **error)
{
	const struct alerts alerts = {
	    .store = stage->store,
	    .settings = stage->snapshot->settings,
	    .house = stage->snapshot->house,
	    .relay = relay,
	    .draw = draw,
	};

	*told = 0;
	/* A time that is far away: the clock was set back. */
	if (now < stage->alerts_at && stage->alerts_at <= now + ALERTS_LOOK_S)
		return true;
	stage->alerts_at = now + ALERTS_LOOK_S;
	if (!alerts_run(&alerts, now, told, error))
		return false;
	if (*told)
		event_log(EVENT_OWNER_ALERTED, EVENT_INT("subjects", *told));
	return true;
}

bool
press_stage_run(struct press_stage *stage, int64_t now, struct edition_report *report,
    int64_t *next_due, GError **error)
{
	struct match_report matched = {0};
	int64_t newest, edition_due = -1, match_due, upkeep_due;
	struct clock_jump jump;

	if (!clock_watch_load(stage->store, &jump, error))
		return false;
	if (jump.is_held) {
		*next_due = now + CLOCK_LOOK_S;
		return true;
	}

	/*
	 * Before the very first paper there are no editions: they would all be
	 * empty, and a new subscriber's first one, with the last days' papers,
	 * would be lost.  Asked before matching, so that papers which come
	 * meanwhile are matched before they count.
	 */
	if (!papers_load_newest_revision(stage->store, &newest, error) ||
	    !match_run(stage->store, now, &matched, error) ||
	    (newest && !edition_run(stage->store, stage->snapshot->key,
	                   renderer_get_phrases(stage->snapshot->renderer), now, report,
	                   error)) ||
	    !upkeep_load_due(stage->store, now, &upkeep_due, error))
		return false;
	if (matched.compared || matched.decided)
		event_log(EVENT_MATCH_DONE, EVENT_INT("compared", matched.compared),
		    EVENT_INT("found", matched.found),
		    EVENT_INT("waiting", matched.waiting),
		    EVENT_INT("decided", matched.decided));
	if (matched.broken)
		event_log(EVENT_MATCH_SKIPPED, EVENT_INT("filters", matched.broken));
	if (report->due)
		event_log(EVENT_EDITIONS_MADE, EVENT_INT("due", report->due),
		    EVENT_INT("digests", report->digests),
		    EVENT_INT("quiet", report->quiet),
		    EVENT_INT("papers", report->papers));
	/* It may take long, and is as well done at the next start. */
	if (upkeep_due <= now && !store_is_stopped(stage->store)) {
		if (!upkeep_run(stage->store, now, error) ||
		    !upkeep_load_due(stage->store, now, &upkeep_due, error))
			return false;
		event_log(EVENT_UPKEEP_DONE);
	}
	if (newest && !people_load_next_due(stage->store, &edition_due, error))
		return false;
	/* Those that wait for a late list are made then, or when it has come. */
	if (newest && edition_due >= 0 && report->held_until > now)
		edition_due = MAX(edition_due, report->held_until);
	if (!match_load_next_due(stage->store, &match_due, error))
		return false;
	if (!part(stage, now, &match_due, error))
		return false;
	*next_due = edition_due < 0 ? upkeep_due : MIN(edition_due, upkeep_due);
	if (match_due >= 0)
		*next_due = MIN(*next_due, match_due);
	return true;
}

static struct transport *
new_transport(void *data)
{
	const struct assembly_outlet *outlet = data;

	return assembly_new_transport(outlet);
}

static struct post_options
post_options_of(struct post_stage *stage, const struct snapshot *snapshot)
{
	const struct settings *settings = snapshot->settings;
	bool is_maildir = settings->delivery == SETTINGS_DELIVERY_MAILDIR;

	return (struct post_options){
	    .store = stage->store,
	    .renderer = snapshot->renderer,
	    .clock = stage->clock,
	    .key = snapshot->key,
	    .envelope_from = assembly_get_envelope_from(settings),
	    .bounces = snapshot->house->has_commands ? &snapshot->house->bounces : NULL,
	    /* A folder is no faster for many; one writer keeps its promises simple. */
	    .senders = is_maildir ? 1 : (unsigned)settings->smtp_connections,
	    .give_up_s = settings->give_up_h * (int64_t)CLOCK_HOUR_S,
	    .per_second = (unsigned)settings->per_second,
	    .per_hour = (unsigned)settings->per_hour,
	    .domain_per_hour = (unsigned)settings->domain_per_hour,
	    .new_transport = new_transport,
	    .data = (void *)snapshot->outlet,
	    .pulses = stage->pulses,
	    .state_dir = settings->state_dir,
	    .disk_least_bytes = STATUS_DISK_LEAST,
	    .pause = &stage->pause,
	    .stop_fd = stage->stop_fd,
	};
}

bool
post_stage_init(struct post_stage *stage, struct snapshot *snapshot,
    const struct clock *clock, struct pulses *pulses, const int *stop_fd,
    GError **error)
{
	*stage = (struct post_stage){
	    .clock = clock,
	    .snapshot = snapshot_ref(snapshot),
	    .pulses = pulses,
	    .stop_fd = stop_fd,
	};
	stage->store = assembly_open_store(snapshot->settings, error);
	if (stage->store) {
		struct post_options options = post_options_of(stage, snapshot);

		stage->post = post_new(&options, error);
	}
	return stage->post != NULL;
}

void
post_stage_clear(struct post_stage *stage)
{
	g_clear_pointer(&stage->post, post_free);
	g_clear_pointer(&stage->store, store_free);
	snapshot_unref(snapshot_take(&stage->next));
	g_clear_pointer(&stage->snapshot, snapshot_unref);
}

void
post_stage_offer(struct post_stage *stage, struct snapshot *snapshot)
{
	snapshot_offer(&stage->next, snapshot);
	g_atomic_int_set(&stage->pause, 1);
}

bool
post_stage_renew(struct post_stage *stage, GError **error)
{
	struct snapshot *next;
	struct post_options options;

	/* In this order: what is offered in between ends the run that follows. */
	g_atomic_int_set(&stage->pause, 0);
	next = snapshot_take(&stage->next);
	if (!next)
		return true;
	options = post_options_of(stage, next);
	if (!post_reload(stage->post, &options,
	        !assembly_is_same_outlet(stage->snapshot->outlet, next->outlet),
	        error)) {
		snapshot_put_back(&stage->next, next);
		return false;
	}
	renew(&stage->snapshot, next, "post");
	return true;
}

bool
post_stage_run(struct post_stage *stage, const int *stop, struct post_report *report,
    int64_t *next, GError **error)
{
	if (!post_run(stage->post, stop, report, next, error))
		return false;
	if (report->sent || report->deferred || report->failed || report->unknown ||
	    report->cancelled)
		event_log(EVENT_POST_DONE, EVENT_INT("sent", report->sent),
		    EVENT_INT("deferred", report->deferred),
		    EVENT_INT("failed", report->failed),
		    EVENT_INT("unknown", report->unknown),
		    EVENT_INT("cancelled", report->cancelled));
	return true;
}
