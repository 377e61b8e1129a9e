/*
 * retraction_mail.c - a mail about the retraction of a watched paper, at once.
 */
#include "service/jobs/retraction_mail.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/digest.h"
#include "model/paper.h"
#include "service/command/reply_text.h"
#include "store/paper/paper_events.h"
#include "store/subscriber/subscribers.h"

/* Maximum number of mails in a transaction, so that other writers do not wait long. */
#define BATCH_MAILS 50

/* Skip the mark of a title, which the mail says in its own words. */
static const char *
skip_mark(const char *title)
{
	const char *end = strpbrk(title, ":]");

	return end && paper_is_retracted(title) ? end + 1 + strspn(end + 1, " ")
	                                        : title;
}

static bool
send_one(const struct checkup *job, const struct retraction *retraction, GError **error)
{
	struct store *store = job->mailer.store;
	pb_auto(subscriber) subscriber =
	    subscribers_load(store, retraction->subscriber_id, error);
	g_autofree char *title =
	    text_quote(skip_mark(retraction->title), BOUNDS_SUBJECT_CHARS);
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
	reply_text_add_paragraph(&text,
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

static GPtrArray *
load(const struct checkup *job, GError **error)
{
	int64_t now = job->mailer.now;

	return paper_events_load_retractions(job->mailer.store,
	    now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, now, BATCH_MAILS, error);
}

/* The batch is loaded again in the transaction: a digest may have reported some. */
static bool
send_batch(struct store *store, void *data, GError **error)
{
	const struct checkup *job = data;
	g_autoptr(GPtrArray) batch = load(job, error);

	(void)store;
	for (unsigned i = 0; batch && i < batch->len; i++)
		if (!send_one(job, batch->pdata[i], error))
			return false;
	return batch != NULL;
}

bool
retraction_mail_run(const struct checkup *job, GError **error)
{
	if (!job->catalog)
		return true;
	for (;;) {
		g_autoptr(GPtrArray) due = load(job, error);

		if (!due || !due->len)
			return due != NULL;
		if (!store_transact(job->mailer.store, send_batch, (void *)job, error))
			return false;
	}
}
