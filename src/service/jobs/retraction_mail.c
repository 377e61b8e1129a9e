/*
 * retraction_mail.c - a mail about the retraction of a watched paper, at once.
 */
#include "service/jobs/retraction_mail.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/digest.h"
#include "service/command/reply_text.h"
#include "store/paper/paper_events.h"
#include "store/subscriber/subscribers.h"

/* A mail in a transaction. */
struct letter {
	const struct checkup *job;
	const struct retraction *retraction;
};

static bool
send_one(struct store *store, void *data, GError **error)
{
	const struct letter *letter = data;
	const struct checkup *job = letter->job;
	const struct retraction *retraction = letter->retraction;
	pb_auto(subscriber) subscriber =
	    subscribers_load(store, retraction->subscriber_id, error);
	g_autofree char *title = text_quote(retraction->title, BOUNDS_SUBJECT_CHARS);
	g_autofree char *subject = NULL;
	struct reply_text text;
	bool is_ok;

	if (!subscriber)
		return false;
	reply_text_init(&text, job->catalog,
	    *subscriber->language &&
	            catalog_has_language(job->catalog, subscriber->language)
	        ? subscriber->language
	        : "en",
	    false);
	subject = reply_text_format(&text, N_("Retracted: {title}"), "title", title);
	reply_phrase(&text, "",
	    N_("A paper that you watch was retracted: \"{title}\" ({id})"), "title",
	    title, "id", retraction->paper_id);
	if (job->mailer.own_addresses->has_commands) {
		reply_text_add_blank(&text);
		reply_text_add_paragraph(
		    &text, N_("To get this in your next digest instead, reply: set "
		              "retractions digest"));
	}
	is_ok = checkup_send_letter(
	            job, subscriber, subject, NULL, text.text->str, error) &&
	        paper_events_save_retraction(
	            store, subscriber->id, retraction->event_id, error);
	reply_text_clear(&text);
	return is_ok;
}

bool
retraction_mail_run(const struct checkup *job, GError **error)
{
	struct store *store = job->mailer.store;
	int64_t now = job->mailer.now;
	g_autoptr(GPtrArray) all = NULL;

	if (!job->catalog)
		return true;
	all = paper_events_load_retractions(
	    store, now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, now, error);
	for (unsigned i = 0; all && i < all->len; i++) {
		struct letter letter = {job, all->pdata[i]};

		if (!store_transact(store, send_one, &letter, error))
			return false;
	}
	return all != NULL;
}
