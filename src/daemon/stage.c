/*
 * stage.c - the three jobs of the daemon, each with a store of its own.
 */
#include "daemon/stage.h"

#include "service/startup.h"
#include "service/upkeep.h"
#include "store/papers.h"
#include "store/people.h"

bool
collect_stage_init(
    struct collect_stage *stage, const struct daemon_options *options, GError **error)
{
	*stage = (struct collect_stage){.options = options};
	stage->store = assembly_open_store(options->settings, error);
	if (!stage->store)
		return false;
	stage->http = assembly_new_http(options->settings, &stage->stop);
	stage->sources = assembly_new_sources(options->settings);
	return true;
}

void
collect_stage_clear(struct collect_stage *stage)
{
	g_clear_pointer(&stage->sources, g_ptr_array_unref);
	g_clear_pointer(&stage->http, http_free);
	g_clear_pointer(&stage->store, store_free);
}

bool
collect_stage_run(struct collect_stage *stage, int64_t now,
    struct collect_report *report, GError **error)
{
	const struct collect collect = {
	    .store = stage->store,
	    .http = stage->http,
	    .sources = (struct source **)stage->sources->pdata,
	    .source_count = stage->sources->len,
	    .stop = &stage->stop,
	};

	return collect_run(&collect, false, now, report, error);
}

bool
press_stage_init(
    struct press_stage *stage, const struct daemon_options *options, GError **error)
{
	*stage = (struct press_stage){.options = options};
	stage->store = assembly_open_store(options->settings, error);
	return stage->store != NULL;
}

void
press_stage_clear(struct press_stage *stage)
{
	g_clear_pointer(&stage->store, store_free);
}

bool
press_stage_run(struct press_stage *stage, int64_t now, struct edition_report *report,
    int64_t *next_due, GError **error)
{
	struct match_report matched = {0};
	int64_t newest, edition_due = -1, match_due, upkeep_due;

	/*
	 * Before the very first paper there are no editions: they would all be
	 * empty, and a new subscriber's first one, with the last days' papers,
	 * would be lost.  Asked before matching, so that papers which come
	 * meanwhile are matched before they count.
	 */
	if (!papers_load_newest_revision(stage->store, &newest, error) ||
	    !match_run(stage->store, now, &matched, error) ||
	    (newest && !edition_run(stage->store, now, report, error)) ||
	    !upkeep_load_due(stage->store, now, &upkeep_due, error))
		return false;
	if (matched.compared || matched.decided)
		g_info("match done compared=%u found=%u waiting=%u decided=%u",
		    matched.compared, matched.found, matched.waiting, matched.decided);
	if (matched.broken)
		g_warning("match skipped filters=%u: this program cannot read them",
		    matched.broken);
	if (report->due)
		g_message("editions made due=%u digests=%u quiet=%u papers=%u",
		    report->due, report->digests, report->quiet, report->papers);
	if (upkeep_due <= now) {
		if (!upkeep_run(stage->store, now, error) ||
		    !upkeep_load_due(stage->store, now, &upkeep_due, error))
			return false;
		g_info("upkeep done");
	}
	if (newest && !people_load_next_due(stage->store, &edition_due, error))
		return false;
	if (!match_load_next_due(stage->store, &match_due, error))
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

bool
post_stage_init(
    struct post_stage *stage, const struct daemon_options *options, GError **error)
{
	const struct settings *settings = options->settings;
	bool is_maildir = settings->delivery == SETTINGS_DELIVERY_MAILDIR;
	struct post_options post = {
	    .clock = options->clock,
	    .envelope_from = assembly_get_envelope_from(settings),
	    /* A folder is no faster for many; one writer keeps its promises simple. */
	    .senders = is_maildir ? 1 : (unsigned)settings->smtp_connections,
	    .give_up_s = settings->give_up_h * (int64_t)CLOCK_HOUR_S,
	    .new_transport = new_transport,
	};

	*stage = (struct post_stage){.options = options};
	stage->store = assembly_open_store(settings, error);
	stage->key =
	    stage->store ? startup_load_key(settings, stage->store, error) : NULL;
	stage->renderer =
	    stage->key ? assembly_new_renderer(settings, stage->key, error) : NULL;
	stage->outlet = stage->renderer
	                    ? assembly_new_outlet(settings, options->credentials, error)
	                    : NULL;
	if (stage->outlet) {
		post.store = stage->store;
		post.renderer = stage->renderer;
		post.key = stage->key;
		post.data = stage->outlet;
		stage->post = post_new(&post, error);
	}
	if (stage->post)
		return true;
	post_stage_clear(stage);
	return false;
}

void
post_stage_clear(struct post_stage *stage)
{
	g_clear_pointer(&stage->post, post_free);
	g_clear_pointer(&stage->outlet, assembly_free_outlet);
	g_clear_pointer(&stage->renderer, renderer_free);
	g_clear_pointer(&stage->key, g_bytes_unref);
	g_clear_pointer(&stage->store, store_free);
}

bool
post_stage_run(struct post_stage *stage, const int *stop, struct post_report *report,
    int64_t *next, GError **error)
{
	if (!post_run(stage->post, stop, report, next, error))
		return false;
	if (report->sent || report->deferred || report->failed || report->unknown ||
	    report->cancelled)
		g_message(
		    "post done sent=%u deferred=%u failed=%u unknown=%u cancelled=%u",
		    report->sent, report->deferred, report->failed, report->unknown,
		    report->cancelled);
	return true;
}
