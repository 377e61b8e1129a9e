/*
 * event.c - what is worth a line in the log: one table, one call.
 */
#include "service/log/event.h"

#include <stdbool.h>
#include <string.h>

#include "transport/reply.h"

#define EVENT_PREFIX "PAPERBOY_"

/* More fields than any event has, with those that every one has. */
#define FIELDS_MAX 20

/* One event is one line of bearable length, whatever somebody else has to say. */
#define TEXT_BYTES 1000

static const struct event_row rows[N_EVENTS] = {
    [EVENT_STARTED] = {"started", "53b36fd16b110d83b9bc10734de33c80",
        G_LOG_LEVEL_MESSAGE, "paperboyd " PACKAGE_VERSION " started", NULL,
        "The daemon is at work."},
    [EVENT_STOPPING] = {"stopping", "8e2059823298b660bbd5f31ba6b25a44",
        G_LOG_LEVEL_MESSAGE, "paperboyd stops", "finishing what is under way",
        "The daemon was asked to end."},
    [EVENT_ENDED] = {"ended", "db1115232cf62e903373a4541656004a", G_LOG_LEVEL_MESSAGE,
        "paperboyd ended", NULL, "The daemon has ended in order."},
    [EVENT_THREAD_STUCK] = {"thread-stuck", "25a7bd6fef2d47a3a8d26d12a6ae4d1c",
        G_LOG_LEVEL_CRITICAL, "thread stuck", "systemd starts paperboyd anew",
        "A part of the daemon did not come back in time; nothing is lost by the "
        "restart."},
    [EVENT_RUN_DONE] = {"run-done", "778d5e30733fd0124f9b403eeafc7ca2",
        G_LOG_LEVEL_MESSAGE, "run done", NULL,
        "One round of paperboyd --once, and its counts."},
    [EVENT_CONFIG_RELOADED] = {"config-reloaded", "8ade734432b8e4e542e7b12d1e4d509a",
        G_LOG_LEVEL_MESSAGE, "configuration reloaded", NULL,
        "A new configuration was read and nothing is wrong with it; so many settings "
        "differ, and their names are told."},
    [EVENT_CONFIG_ERROR] = {"config-error", "d0710a905980e81de1b40d109b987e34",
        G_LOG_LEVEL_CRITICAL, "configuration error", NULL,
        "One thing that is wrong with a new configuration: file, line, and what."},
    [EVENT_CONFIG_REFUSED] = {"config-refused", "67b5640f41b5e97453c5d78f9aa7ab62",
        G_LOG_LEVEL_CRITICAL, "configuration refused", "the old configuration stays",
        "A new configuration has problems, told before; nothing of it is used."},
    [EVENT_CONFIG_APPLIED] = {"config-applied", "23d79db237120eb3104db16b9d2a3acf",
        G_LOG_LEVEL_MESSAGE, "configuration applied", NULL,
        "A part of the daemon (collect, press, post) works by the new configuration "
        "from here on."},
    [EVENT_COLLECTOR_DONE] = {"collector-done", "ec44e514cca4129aac9c0530c102e6ad",
        G_LOG_LEVEL_MESSAGE, "collector done", NULL,
        "The sources were asked: days asked for, answers that failed, papers never "
        "seen before, papers whose numbers changed."},
    [EVENT_COLLECTOR_FAILED] = {"collector-failed", "502c631c58124a432f19b64da724f572",
        G_LOG_LEVEL_WARNING, "collector failed", NULL,
        "What the sources said could not be stored; they are asked again."},
    [EVENT_FETCH_STORED] = {"fetch-stored", "3f0daf6b6d805047e9e078c095a9925a",
        G_LOG_LEVEL_INFO, "fetch stored", NULL,
        "A source answered for a day: status ok, same (as last time) or empty."},
    [EVENT_FETCH_NOT_YET] = {"fetch-not-yet", "4203eb127bc8a299be354f4a1e1da06e",
        G_LOG_LEVEL_DEBUG, "fetch not yet", NULL,
        "A source says that a day has not come yet."},
    [EVENT_FETCH_STALE] = {"fetch-stale", "8e8e18878797448faf1e4089f857e51d",
        G_LOG_LEVEL_MESSAGE, "fetch stale", NULL,
        "A source told the papers of an earlier day under this day's date.  Nothing "
        "of it is used, and the day is asked for again."},
    [EVENT_FETCH_FAILED] = {"fetch-failed", "9690eaae21f1dc34f5c0aa7e5b45561e",
        G_LOG_LEVEL_WARNING, "fetch failed", NULL,
        "A source gave no good answer for a day.  Nothing of it is used, and the day "
        "is asked for again."},
    [EVENT_PAPERS_ENRICHED] = {"papers-enriched", "31df068161f2459387897ed5eaa269b3",
        G_LOG_LEVEL_INFO, "papers enriched", NULL,
        "arXiv was asked about papers that came without categories: asked for, told, "
        "changed by it."},
    [EVENT_ENRICH_FAILED] = {"enrich-failed", "faf346d1abb3443fb20fb001b3f87799",
        G_LOG_LEVEL_WARNING, "enrich failed", NULL,
        "arXiv gave no good answer about papers without categories; it is asked "
        "again later."},
    [EVENT_SOURCE_PAUSED] = {"source-paused", "e9fcbfb925458f207383ebfa5e4f60db",
        G_LOG_LEVEL_MESSAGE, "source paused", NULL,
        "A source that failed is left alone for a while."},
    [EVENT_SOURCE_RECOVERED] = {"source-recovered", "7eb87f66decb9e62307382907f4cdfb9",
        G_LOG_LEVEL_MESSAGE, "source recovered", NULL,
        "A source that had failed has answered for all days."},
    [EVENT_MATCH_DONE] = {"match-done", "976bef11ea357faa8f80abdfa3df44ed",
        G_LOG_LEVEL_INFO, "match done", NULL,
        "Filters have looked at papers: pairs compared, found, waiting for votes, "
        "decided after a wait."},
    [EVENT_MATCH_SKIPPED] = {"match-skipped", "71949955b92fb7fce54c4f7bf472f2c6",
        G_LOG_LEVEL_WARNING, "match skipped", "this program cannot read them",
        "Stored filters that were written by another version."},
    [EVENT_DIGESTS_BUILT] = {"digests-built", "4a87bd5d586781c29eaa069b13e660ec",
        G_LOG_LEVEL_MESSAGE, "digests built", NULL,
        "People whose hour had come: digests made, people with nothing new, papers in "
        "all digests together."},
    [EVENT_TIMEZONE_MISSING] = {"timezone-missing", "f1bed66b67ee098584ed50c6086870d7",
        G_LOG_LEVEL_WARNING, "time zone missing", "whoever has it gets digests by UTC",
        "A time zone that somebody has is not installed any more; paperboyctl doctor "
        "tells whose.  Install it again, or set another."},
    [EVENT_CLOCK_SET_BACK] = {"clock-set-back", "0282cf969ce3c1dfca8b96d2ffa5e87b",
        G_LOG_LEVEL_MESSAGE, "clock set back", NULL,
        "The clock stands before an earlier run: all next editions are reckoned again, "
        "and nobody gets a day twice."},
    [EVENT_CLOCK_JUMPED] = {"clock-jumped", "f0d9f4f1c53b4f8b956b83d370a4a9f4",
        G_LOG_LEVEL_WARNING, "clock jumped", "check the clock",
        "Nothing is deleted by age until a source confirms the clock, or for 24 hours "
        "of "
        "running time: check the clock."},
    [EVENT_CLOCK_TRUSTED] = {"clock-trusted", "bb427fdfbe134bc7af279e04e34ce4b6",
        G_LOG_LEVEL_MESSAGE, "clock trusted again", NULL,
        "It was confirmed, is back where it was, or has gone on for 24 hours."},
    [EVENT_MAINTENANCE_DONE] = {"maintenance-done", "bd5ba3845e56b4ee1da0456b3666f43b",
        G_LOG_LEVEL_INFO, "maintenance done", NULL,
        "What has had its time was forgotten; once a day."},
    [EVENT_ALERT_SENT] = {"alert-sent", "45744d1c9f154744b651520a77c2b11d",
        G_LOG_LEVEL_INFO, "alert sent", NULL,
        "Something wants a person; mail.owner is told by mail, once a day for each."},
    [EVENT_INDEX_REBUILT] = {"index-rebuilt", "6401ffcd3da163475eb8f4050e598520",
        G_LOG_LEVEL_WARNING, "index rebuilt", NULL,
        "The archive of all papers' words did not fit the papers, by damage or by a "
        "hand in the file; searches and tests of filters were wrong until now."},
    [EVENT_BACKUP_NOT_RECORDED] = {"backup-not-recorded",
        "fde65de530532921c8c6017b5163ad5a", G_LOG_LEVEL_WARNING,
        "backup made but not recorded", NULL,
        "The backup is whole; only status does not know of it."},
    [EVENT_STORE_STALE] = {"store-stale", "6b1b2841130f4193b32eafb2639cd0e1",
        G_LOG_LEVEL_WARNING, "old database put back",
        "what may have been mailed is held",
        "An older copy of it was put back, or its log was lost. What may have been "
        "mailed since is held: see STALE DATABASE."},
    [EVENT_SCHEDULER_FAILED] = {"scheduler-failed", "b0c1a3465489da7432c96e15dee412c4",
        G_LOG_LEVEL_WARNING, "scheduler failed", NULL,
        "Matching or making digests failed, mostly for the store; nothing is lost, and "
        "it is tried again."},
    [EVENT_INBOX_STORED] = {"inbox-stored", "2501b74666ea4528832c733db69dc7ce",
        G_LOG_LEVEL_INFO, "inbox stored", NULL,
        "A letter came in and is stored: by which receiver, and its octets."},
    [EVENT_INBOX_REJECTED] = {"inbox-rejected", "2ea07e68d4404b87974e7822ad97090e",
        G_LOG_LEVEL_WARNING, "inbox rejected", NULL,
        "A letter will never be taken in.  By LMTP its sender is told."},
    [EVENT_INBOX_HANDLED] = {"inbox-handled", "82a73504f92d456ab8818cab228965a7",
        G_LOG_LEVEL_INFO, "inbox handled", NULL,
        "A letter was read and handled; what became of it is told."},
    [EVENT_INBOX_FAILED] = {"inbox-failed", "929efb0c4deb424f8547024ee2d9d0d3",
        G_LOG_LEVEL_WARNING, "inbox failed", NULL,
        "A letter could not be read or handled, and is tried again."},
    [EVENT_INBOX_QUARANTINED] = {"inbox-quarantined",
        "abdfcada2bce4dfc8ba43d76309f5414", G_LOG_LEVEL_WARNING, "inbox quarantined",
        "paperboyctl inbox list",
        "A letter that could not be read or handled three times is kept for 14 "
        "days, for an operator to look at."},
    [EVENT_INBOX_DONE] = {"inbox-done", "abd1fa1ce9744de4bb7c3c56eabc2cfa",
        G_LOG_LEVEL_INFO, "letters done", NULL,
        "One round of reading letters, and its counts."},
    [EVENT_INBOX_ERROR] = {"inbox-error", "38424d9ffcba451fb38b6fece81c19a7",
        G_LOG_LEVEL_WARNING, "letters wait", NULL,
        "Letters cannot be read at the moment, for the reader program or the "
        "store; nothing is lost, and it is tried again."},
    [EVENT_RECEIVER_FAILED] = {"receiver-failed", "aaef567786a14b178240d37856d1b0cc",
        G_LOG_LEVEL_WARNING, "receiver failed", NULL,
        "A mailbox (lmtp, maildir, imap) cannot take in letters.  They wait where "
        "they are, and it is tried again."},
    [EVENT_RECEIVER_RECOVERED] = {"receiver-recovered",
        "bf079b9c0ad84362babdd2a66e94fe51", G_LOG_LEVEL_MESSAGE, "receiver recovered",
        NULL, "A mailbox that had failed takes in letters."},
    [EVENT_INBOX_SKIPPED] = {"inbox-skipped", "6158895d65cb4eba89a7914888ceafcf",
        G_LOG_LEVEL_WARNING, "message skipped", NULL,
        "A message in a mailbox (maildir, imap) is too large or cannot be read.  It "
        "stays there as it is until somebody moves or deletes it; status shows it."},
    [EVENT_INBOX_SKIP_CLEARED] = {"inbox-skip-cleared",
        "243996dd90134cbaa6a08b7e8edde50c", G_LOG_LEVEL_MESSAGE,
        "skipped message taken or gone", NULL,
        "A message that had been skipped was taken in after all, or is gone."},
    [EVENT_DELIVERY_SENT] = {"delivery-sent", "098a123c455a4a0773ee95778ef444a9",
        G_LOG_LEVEL_INFO, "delivery sent", NULL,
        "The relay has taken a message and answers for it."},
    [EVENT_DELIVERY_DEFERRED] = {"delivery-deferred",
        "246a9da180b7f9fa83a5715163931453", G_LOG_LEVEL_MESSAGE, "delivery deferred",
        NULL,
        "The relay did not take a message now; it is tried again.  With scope=relay or "
        "scope=login it is about all messages, and no attempt is counted."},
    [EVENT_DELIVERY_FAILED] = {"delivery-failed", "34036c25bafbec3a467ca61280a182ea",
        G_LOG_LEVEL_WARNING, "delivery failed", "paperboyctl queue --all",
        "The relay refused a message for good.  Its words are in the queue, since they "
        "may name the reader."},
    [EVENT_DELIVERY_UNKNOWN] = {"delivery-unknown", "4851f8608bc7874e67bf4eb12c29b4d2",
        G_LOG_LEVEL_MESSAGE, "delivery unknown", NULL,
        "The connection was cut after the last line of a message: it may have "
        "arrived, and is sent again with the same Message-ID."},
    [EVENT_DELIVERY_EXPIRED] = {"delivery-expired", "d7ab95ff6b8cde2f3fe42d54135a5c28",
        G_LOG_LEVEL_WARNING, "delivery given up", "paperboyctl queue --all",
        "A message was tried long enough, or five copies may have arrived.  Its papers "
        "go into the next digest, or count as read where a copy may have arrived: "
        "copies= tells how many may."},
    [EVENT_DELIVERY_HELD] = {"delivery-held", "26be1e3d2c5a44fb8a963168393babd2",
        G_LOG_LEVEL_WARNING, "delivery held", "paperboyctl queue show",
        "paperboyd was killed each time while it sent this message, three times with "
        "nothing else in flight.  The message may be the cause: it waits for an "
        "operator."},
    [EVENT_DELIVERY_CANCELLED] = {"delivery-cancelled",
        "6c4085cd3c3d8b1bcc2eb12f4a7a2c05", G_LOG_LEVEL_INFO, "delivery cancelled",
        NULL, "A message is not sent, for its reader has left."},
    [EVENT_DELIVERY_REPLY] = {"delivery-reply", "565505e96eae8ff31e06d6b14d37317b",
        G_LOG_LEVEL_DEBUG, "delivery answer", NULL,
        "Whom a message was for, and the words of the relay."},
    [EVENT_DIGEST_CHANGED] = {"digest-changed", "d5c2cc15d5295e5f8f9a26342aa6749f",
        G_LOG_LEVEL_MESSAGE, "digest changed",
        "other templates or settings than when it was sent first",
        "A message that is sent again is not the same octets; its Message-ID is the "
        "same."},
    [EVENT_DIGEST_BROKEN] = {"digest-broken", "5a80495a08d08679a2e3731eb93eec56",
        G_LOG_LEVEL_WARNING, "digest broken", NULL,
        "A digest could not be composed, and is not sent; its papers go into the next "
        "one."},
    [EVENT_REPLY_SUPPRESSED] = {"reply-suppressed", "723a4924258a4df5ae3c1f8d48f158b2",
        G_LOG_LEVEL_INFO, "no reply sent", NULL,
        "A letter gets no answer, and why: what it is (automatic, bulk, list, report, "
        "loop, robot, own-mail, suppressed, ...) or the limit that was reached "
        "(replies-per-day, confirmation-pending, ...)."},
    [EVENT_RELAY_FAILED] = {"relay-failed", "366303b6987232833776b33406fbe546",
        G_LOG_LEVEL_WARNING, "relay failed", NULL,
        "The relay cannot be reached or takes nothing: all messages wait, and one at a "
        "time tries it."},
    [EVENT_RELAY_AUTH_FAILED] = {"relay-auth-failed",
        "6ec1d0d196b2f1e3a6458f2a171f7047", G_LOG_LEVEL_WARNING,
        "relay refuses our login", NULL,
        "smtp.user or the password is wrong.  It is tried seldom, lest the account be "
        "locked; a reload with another password tries it at once."},
    [EVENT_RELAY_RECOVERED] = {"relay-recovered", "d6a3b0605c7fedac44902da031d4f886",
        G_LOG_LEVEL_MESSAGE, "relay recovered", NULL,
        "What waited for the relay is sent."},
    [EVENT_DOMAIN_PAUSED] = {"domain-paused", "9db0417fa3e04a59935966f859888bab",
        G_LOG_LEVEL_WARNING, "domain paused", NULL,
        "A domain's policy refuses one message after the other (5.7.x): those to it "
        "wait, then one tries it.  Look at SPF, DKIM, DMARC and what its postmaster "
        "says; paperboyctl queue retry all tries it at once."},
    [EVENT_OUTBOX_RECOVERED] = {"outbox-recovered", "b3214242d2588217915b45ba6c549ca3",
        G_LOG_LEVEL_MESSAGE, "outbox recovered", "sent again with the same Message-ID",
        "Messages that were in flight when the program was killed: each may have "
        "arrived.  They wait a minute, and longer each time this happens."},
    [EVENT_OUTBOX_IN_DOUBT] = {"outbox-in-doubt", "f27a263448656762f24ed2a14b804a6a",
        G_LOG_LEVEL_WARNING, "outbox dropped", NULL,
        "The store refused to record what became of messages: they are in doubt and "
        "sent again."},
    [EVENT_MAILER_DONE] = {"mailer-done", "71657c5d0fb6999282e688b710104cfe",
        G_LOG_LEVEL_MESSAGE, "mailer done", NULL,
        "What became of the messages that were due."},
    [EVENT_MAILER_FAILED] = {"mailer-failed", "d4bc04aae6429dc6b4c6e136a2e3d8da",
        G_LOG_LEVEL_WARNING, "mailer failed", NULL,
        "Sending stopped, mostly for the store; what is known is kept, and it is tried "
        "again."},
};

static const struct {
	GLogLevelFlags flag;
	const char *name;
	const char *priority; /* of syslog */
} levels[] = {
    {G_LOG_LEVEL_CRITICAL, "error", "3"},
    {G_LOG_LEVEL_WARNING, "warning", "4"},
    {G_LOG_LEVEL_MESSAGE, "info", "5"},
    {G_LOG_LEVEL_INFO, "info", "6"},
    {G_LOG_LEVEL_DEBUG, "debug", "7"},
};

const struct event_row *
event_get_row(enum event_kind kind)
{
	g_assert(kind < N_EVENTS);
	return &rows[kind];
}

static size_t
find_level(const struct event_row *row)
{
	size_t i = 0;

	while (levels[i].flag != row->level)
		i++;
	return i;
}

const char *
event_get_level_name(const struct event_row *row)
{
	return levels[find_level(row)].name;
}

/* What an address can be made of, beside letters beyond ASCII (RFC 5322, RFC 6531). */
static bool
is_local(char mail)
{
	return g_ascii_isalnum(mail) || (mail & 0x80) ||
	       (mail && strchr(".!#$%&'*+-/=?^_`{|}~", mail));
}

static bool
is_domain(char mail)
{
	return g_ascii_isalnum(mail) || (mail & 0x80) || mail == '.' || mail == '-' ||
	       mail == '_';
}

/* Octets of an @ in one of its shapes, or 0. */
static size_t
measure_at(const char *text)
{
	return *text == '@' ? 1 : g_ascii_strncasecmp(text, "%40", 3) == 0 ? 3 : 0;
}

/* Where the local part before an @ begins; never before `least`. */
static const char *
find_local(const char *least, const char *at)
{
	const char *begin = at;

	if (begin > least && begin[-1] == '"') {
		begin--;
		while (begin > least && begin[-1] != '"')
			begin--;
		return begin > least ? begin - 1 : begin;
	}
	while (begin > least && is_local(begin[-1]))
		begin--;
	/* A quote in front of it is no part of it. */
	while (begin < at && strchr("'`", *begin))
		begin++;
	return begin;
}

char *
event_mask_addresses(const char *text)
{
	GString *out = g_string_new(NULL);
	const char *done = text; /* all before is in `out` */

	for (const char *p = text; *p;) {
		size_t size = measure_at(p);
		const char *end = p + size;
		const char *begin = size ? find_local(done, p) : p;

		if (!size || begin == p) {
			p += MAX(size, 1);
			continue;
		}
		if (*end == '[')
			end += strcspn(end, "] ") + (strchr(end, ']') != NULL);
		else
			while (is_domain(*end) || measure_at(end))
				end++;
		g_string_append_len(out, done, begin - done);
		g_string_append(out, "[address]");
		p = done = end;
	}
	g_string_append(out, done);
	return g_string_free(out, FALSE);
}

/* An event as it is put together. */
struct writing {
	GString *line;
	GLogField fields[FIELDS_MAX];
	char *owned[2 * FIELDS_MAX]; /* keys and values */
	gsize count, owned_count;
};

static void
add_field(struct writing *writing, const char *key, const char *value)
{
	g_assert(writing->count < FIELDS_MAX);
	writing->fields[writing->count++] = (GLogField){key, value, -1};
}

static const char *
keep(struct writing *writing, char *text)
{
	g_assert(writing->owned_count < G_N_ELEMENTS(writing->owned));
	writing->owned[writing->owned_count++] = text;
	return text;
}

static void
add_value(struct writing *writing, const struct event_row *row,
    const struct event_field *field)
{
	g_autofree char *upper = g_ascii_strup(field->name, -1);
	g_autofree char *masked = NULL;
	const char *key = keep(writing, g_strconcat(EVENT_PREFIX, upper, NULL));
	const char *value = field->text;

	switch (field->type) {
	case EVENT_TYPE_NONE:
		break;
	case EVENT_TYPE_INT:
	case EVENT_TYPE_SECONDS:
		value =
		    keep(writing, g_strdup_printf("%" G_GINT64_FORMAT, field->number));
		g_string_append_printf(writing->line, " %s=%s%s", field->name, value,
		    field->type == EVENT_TYPE_SECONDS ? "s" : "");
		break;
	case EVENT_TYPE_WORD:
		g_string_append_printf(writing->line, " %s=%s", field->name, value);
		break;
	case EVENT_TYPE_TEXT:
		if (row->level != G_LOG_LEVEL_DEBUG)
			value = masked = event_mask_addresses(value);
		value = keep(
		    writing, reply_format_printable(value, strlen(value), TEXT_BYTES));
		g_string_append_printf(writing->line, ": %s", value);
		break;
	}
	add_field(writing, key, value);
}

/* Nothing is told of what there is not. */
static bool
is_there(const struct event_field *field)
{
	return field->text ? *field->text != '\0'
	                   : field->type < EVENT_TYPE_WORD && field->number >= 0;
}

void
event_log_fields(enum event_kind kind, const struct event_field *fields)
{
	const struct event_row *row = event_get_row(kind);
	struct writing writing = {.line = g_string_new(row->text)};

	add_field(&writing, "MESSAGE_ID", row->message_id);
	add_field(&writing, "PRIORITY", levels[find_level(row)].priority);
	add_field(&writing, "SYSLOG_IDENTIFIER", "paperboyd");
	add_field(&writing, "GLIB_DOMAIN", G_LOG_DOMAIN);
	add_field(&writing, EVENT_PREFIX "EVENT", row->name);
	for (; fields->type != EVENT_TYPE_NONE; fields++)
		if (is_there(fields))
			add_value(&writing, row, fields);
	if (row->hint)
		g_string_append_printf(writing.line, ": %s", row->hint);
	add_field(&writing, "MESSAGE", writing.line->str);
	g_log_structured_array(row->level, writing.fields, writing.count);
	for (gsize i = 0; i < writing.owned_count; i++)
		g_free(writing.owned[i]);
	g_string_free(writing.line, TRUE);
}
