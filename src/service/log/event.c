/*
 * event.c - the table of log events.
 */
#include "service/log/event.h"

#include <stdbool.h>
#include <string.h>

#include "base/append.h"
#include "transport/reply.h"

#define EVENT_PREFIX "PAPERBOY_"

/* Maximum number of fields, including those of every event. */
#define FIELDS_MAX 20

/* Of most lines. */
#define LINE_BYTES 250

/* Of keys, with their NUL. */
#define KEY_BYTES 40

/* Maximum length of an external text. */
#define TEXT_BYTES 1000

static const struct event_row rows[N_EVENTS] = {
    [EVENT_STARTED] = {"started", "53b36fd16b110d83b9bc10734de33c80",
        G_LOG_LEVEL_MESSAGE, NULL, "The daemon runs."},
    [EVENT_STOPPING] = {"stopping", "8e2059823298b660bbd5f31ba6b25a44",
        G_LOG_LEVEL_MESSAGE, "finishing the work in progress",
        "The daemon was asked to stop."},
    [EVENT_ENDED] = {"ended", "db1115232cf62e903373a4541656004a", G_LOG_LEVEL_MESSAGE,
        NULL, "The daemon has stopped."},
    [EVENT_THREAD_STUCK] = {"thread-stuck", "25a7bd6fef2d47a3a8d26d12a6ae4d1c",
        G_LOG_LEVEL_CRITICAL, "systemd restarts paperboyd",
        "A thread has sent no heartbeat in time; nothing is lost by the restart."},
    [EVENT_RUN_DONE] = {"run-done", "778d5e30733fd0124f9b403eeafc7ca2",
        G_LOG_LEVEL_MESSAGE, NULL, "One run of paperboyd --once, with its counts."},
    [EVENT_CONFIG_RELOADED] = {"config-reloaded", "8ade734432b8e4e542e7b12d1e4d509a",
        G_LOG_LEVEL_MESSAGE, NULL,
        "A new configuration is valid; the number of changed settings, and their "
        "names."},
    [EVENT_CONFIG_ERROR] = {"config-error", "d0710a905980e81de1b40d109b987e34",
        G_LOG_LEVEL_CRITICAL, NULL,
        "An error of a new configuration: file, line and reason."},
    [EVENT_CONFIG_REFUSED] = {"config-refused", "67b5640f41b5e97453c5d78f9aa7ab62",
        G_LOG_LEVEL_CRITICAL, "the old configuration stays",
        "A new configuration has errors, logged before; nothing of it is used."},
    [EVENT_CONFIG_APPLIED] = {"config-applied", "23d79db237120eb3104db16b9d2a3acf",
        G_LOG_LEVEL_MESSAGE, NULL,
        "A thread (collector, scheduler, mailer) uses the new configuration from now "
        "on."},
    [EVENT_COLLECTOR_DONE] = {"collector-done", "ec44e514cca4129aac9c0530c102e6ad",
        G_LOG_LEVEL_MESSAGE, NULL,
        "The sources were polled: answers, failures, new papers, papers with changes."},
    [EVENT_COLLECTOR_FAILED] = {"collector-failed", "502c631c58124a432f19b64da724f572",
        G_LOG_LEVEL_WARNING, NULL,
        "Answers of the sources could not be stored; they are polled again."},
    [EVENT_FETCH_STORED] = {"fetch-stored", "3f0daf6b6d805047e9e078c095a9925a",
        G_LOG_LEVEL_INFO, NULL,
        "A source has answered for a day; status ok, same (not modified) or empty."},
    [EVENT_FETCH_NOT_YET] = {"fetch-not-yet", "4203eb127bc8a299be354f4a1e1da06e",
        G_LOG_LEVEL_DEBUG, NULL, "The list of a day is not available yet."},
    [EVENT_FETCH_STALE] = {"fetch-stale", "8e8e18878797448faf1e4089f857e51d",
        G_LOG_LEVEL_MESSAGE, NULL,
        "A source has listed the papers of an earlier day under this date.  The answer "
        "is not used, and the day is fetched again."},
    [EVENT_FETCH_FAILED] = {"fetch-failed", "9690eaae21f1dc34f5c0aa7e5b45561e",
        G_LOG_LEVEL_WARNING, NULL,
        "The list of a day could not be fetched or parsed.  Nothing of it is used, and "
        "the day is fetched again."},
    [EVENT_PAPERS_ENRICHED] = {"papers-enriched", "31df068161f2459387897ed5eaa269b3",
        G_LOG_LEVEL_INFO, NULL,
        "arXiv was queried about papers with unknown fields: requested, found, "
        "changed."},
    [EVENT_ENRICH_FAILED] = {"enrich-failed", "faf346d1abb3443fb20fb001b3f87799",
        G_LOG_LEVEL_WARNING, NULL,
        "A query to arXiv about papers with unknown fields failed; it is retried "
        "later."},
    [EVENT_SOURCE_PAUSED] = {"source-paused", "e9fcbfb925458f207383ebfa5e4f60db",
        G_LOG_LEVEL_MESSAGE, NULL, "A source that failed is not polled for a while."},
    [EVENT_SOURCE_RECOVERED] = {"source-recovered", "7eb87f66decb9e62307382907f4cdfb9",
        G_LOG_LEVEL_MESSAGE, NULL,
        "A source that had failed has answered for all days."},
    [EVENT_MATCH_DONE] = {"match-done", "976bef11ea357faa8f80abdfa3df44ed",
        G_LOG_LEVEL_INFO, NULL,
        "Papers were matched: pairs compared, matches found, matches waiting for votes "
        "or categories, matches decided after waiting."},
    [EVENT_MATCH_SKIPPED] = {"match-skipped", "71949955b92fb7fce54c4f7bf472f2c6",
        G_LOG_LEVEL_WARNING, "not readable by this version",
        "Filters that were stored by another version."},
    [EVENT_DIGESTS_BUILT] = {"digests-built", "4a87bd5d586781c29eaa069b13e660ec",
        G_LOG_LEVEL_MESSAGE, NULL,
        "Subscribers with a due digest: digests built, empty digests, papers in all of "
        "them."},
    [EVENT_TIMEZONE_MISSING] = {"timezone-missing", "f1bed66b67ee098584ed50c6086870d7",
        G_LOG_LEVEL_WARNING, "digests are scheduled in UTC",
        "The time zone of a subscriber is not installed any more; paperboyctl doctor "
        "names it.  Install it again, or set another one."},
    [EVENT_CLOCK_SET_BACK] = {"clock-set-back", "0282cf969ce3c1dfca8b96d2ffa5e87b",
        G_LOG_LEVEL_MESSAGE, NULL,
        "The clock shows an earlier time than at the last run: all due times are "
        "computed again, and no day is sent twice."},
    [EVENT_CLOCK_JUMPED] = {"clock-jumped", "f0d9f4f1c53b4f8b956b83d370a4a9f4",
        G_LOG_LEVEL_WARNING, "check the clock",
        "Nothing is deleted by age until a source confirms the clock, or for 24 hours "
        "of running time."},
    [EVENT_CLOCK_TRUSTED] = {"clock-trusted", "bb427fdfbe134bc7af279e04e34ce4b6",
        G_LOG_LEVEL_MESSAGE, NULL,
        "The clock was confirmed, is back where it was, or has run for 24 hours."},
    [EVENT_MAINTENANCE_DONE] = {"maintenance-done", "bd5ba3845e56b4ee1da0456b3666f43b",
        G_LOG_LEVEL_INFO, NULL, "Expired data was deleted, once a day."},
    [EVENT_WEB_CHECK_PASSED] = {"web-check-passed", "4f62287da6b34d03a1d6b3bdc84bf880",
        G_LOG_LEVEL_INFO, NULL,
        "The page unsubscribes with one click; tested once a day."},
    [EVENT_WEB_CHECK_FAILED] = {"web-check-failed", "fe1c969c249f458393d96382755cd171",
        G_LOG_LEVEL_WARNING, NULL,
        "One-click unsubscribing does not work, or could not be tested.  It is tested "
        "again every hour; paperboyctl status names what to do."},
    [EVENT_ALERT_SENT] = {"alert-sent", "45744d1c9f154744b651520a77c2b11d",
        G_LOG_LEVEL_INFO, NULL,
        "Problems were mailed to mail.owner, each at most once a day."},
    [EVENT_ALERT_WAITING] = {"alert-waiting", "432df47013d34213863a30073278284c",
        G_LOG_LEVEL_WARNING, "alerts are sent through the same relay",
        "Problems are to be mailed to mail.owner, but the relay does not accept mail: "
        "the alert waits in the queue."},
    [EVENT_INDEX_REBUILT] = {"index-rebuilt", "6401ffcd3da163475eb8f4050e598520",
        G_LOG_LEVEL_WARNING, NULL,
        "The full-text index did not match the papers, because of damage or a manual "
        "change; results of searches and filter tests were wrong before."},
    [EVENT_BACKUP_NOT_RECORDED] = {"backup-not-recorded",
        "fde65de530532921c8c6017b5163ad5a", G_LOG_LEVEL_WARNING, NULL,
        "The backup is complete, but paperboyctl status does not show it."},
    [EVENT_STORE_STALE] = {"store-stale", "6b1b2841130f4193b32eafb2639cd0e1",
        G_LOG_LEVEL_WARNING, "mail that may have been sent is held",
        "An older copy of the database was put back, or its log was lost.  See STALE "
        "DATABASE."},
    [EVENT_STORE_SUPERSEDED] = {"store-superseded", "d5bb462d63a84820ac603a5a66588ef1",
        G_LOG_LEVEL_WARNING, "another machine has a newer copy: nothing is sent",
        "Another machine has restored a backup of the database, or has sent more with "
        "its copy.  See STALE DATABASE."},
    [EVENT_SCHEDULER_FAILED] = {"scheduler-failed", "b0c1a3465489da7432c96e15dee412c4",
        G_LOG_LEVEL_WARNING, NULL,
        "Matching or building digests failed, usually because of the store; nothing is "
        "lost, and it is retried."},
    [EVENT_INBOX_STORED] = {"inbox-stored", "2501b74666ea4528832c733db69dc7ce",
        G_LOG_LEVEL_INFO, NULL,
        "A message was received and stored: receiver, size in bytes."},
    [EVENT_INBOX_REJECTED] = {"inbox-rejected", "2ea07e68d4404b87974e7822ad97090e",
        G_LOG_LEVEL_WARNING, NULL,
        "A message was rejected permanently; by LMTP, with a reply to its sender."},
    [EVENT_INBOX_HANDLED] = {"inbox-handled", "82a73504f92d456ab8818cab228965a7",
        G_LOG_LEVEL_INFO, NULL, "A message was parsed and processed, with the result."},
    [EVENT_INBOX_FAILED] = {"inbox-failed", "929efb0c4deb424f8547024ee2d9d0d3",
        G_LOG_LEVEL_WARNING, NULL,
        "A message could not be parsed or processed, and is retried."},
    [EVENT_INBOX_QUARANTINED] = {"inbox-quarantined",
        "abdfcada2bce4dfc8ba43d76309f5414", G_LOG_LEVEL_WARNING,
        "paperboyctl inbox list",
        "A message could not be parsed or processed three times; it is kept for 14 "
        "days."},
    [EVENT_INBOX_DONE] = {"inbox-done", "abd1fa1ce9744de4bb7c3c56eabc2cfa",
        G_LOG_LEVEL_INFO, NULL, "One run over the inbox, with its counts."},
    [EVENT_INBOX_ERROR] = {"inbox-error", "38424d9ffcba451fb38b6fece81c19a7",
        G_LOG_LEVEL_WARNING, NULL,
        "No message can be processed at present, because of the parser program or the "
        "store; nothing is lost, and it is retried."},
    [EVENT_RECEIVER_FAILED] = {"receiver-failed", "aaef567786a14b178240d37856d1b0cc",
        G_LOG_LEVEL_WARNING, NULL,
        "A receiver (lmtp, maildir, imap) cannot receive mail.  Messages stay where "
        "they are, and it is retried."},
    [EVENT_RECEIVER_RECOVERED] = {"receiver-recovered",
        "bf079b9c0ad84362babdd2a66e94fe51", G_LOG_LEVEL_MESSAGE, NULL,
        "A receiver that had failed receives mail again."},
    [EVENT_INBOX_SKIPPED] = {"inbox-skipped", "6158895d65cb4eba89a7914888ceafcf",
        G_LOG_LEVEL_WARNING, NULL,
        "A message in a mailbox (maildir, imap) is too large or unreadable.  It stays "
        "there until it is moved or deleted; paperboyctl status shows it."},
    [EVENT_INBOX_SKIP_CLEARED] = {"inbox-skip-cleared",
        "243996dd90134cbaa6a08b7e8edde50c", G_LOG_LEVEL_MESSAGE, NULL,
        "A message that had been skipped was received, or is gone."},
    [EVENT_DELIVERY_SENT] = {"delivery-sent", "098a123c455a4a0773ee95778ef444a9",
        G_LOG_LEVEL_INFO, NULL, "The relay has accepted a message."},
    [EVENT_DELIVERY_DEFERRED] = {"delivery-deferred",
        "246a9da180b7f9fa83a5715163931453", G_LOG_LEVEL_MESSAGE, NULL,
        "The relay has not accepted a message for now; it is retried.  With "
        "scope=relay or scope=login the failure concerns all messages, and no attempt "
        "is counted."},
    [EVENT_DELIVERY_FAILED] = {"delivery-failed", "34036c25bafbec3a467ca61280a182ea",
        G_LOG_LEVEL_WARNING, "paperboyctl queue --all",
        "The relay has rejected a message permanently.  The reply is in the queue, "
        "since it may contain the address."},
    [EVENT_DELIVERY_UNKNOWN] = {"delivery-unknown", "4851f8608bc7874e67bf4eb12c29b4d2",
        G_LOG_LEVEL_MESSAGE, NULL,
        "The connection was lost after the end of a message: it may have arrived, and "
        "is sent again with the same Message-ID."},
    [EVENT_DELIVERY_EXPIRED] = {"delivery-expired", "d7ab95ff6b8cde2f3fe42d54135a5c28",
        G_LOG_LEVEL_WARNING, "paperboyctl queue --all",
        "A message was tried for too long, or five copies may have arrived.  Its "
        "papers go into the next digest, or count as delivered when a copy may have "
        "arrived (copies=)."},
    [EVENT_DELIVERY_HELD] = {"delivery-held", "26be1e3d2c5a44fb8a963168393babd2",
        G_LOG_LEVEL_WARNING, "paperboyctl queue show",
        "paperboyd was killed each time while it sent this message, three times with "
        "nothing else in flight.  The message may be the cause, and is held for the "
        "operator."},
    [EVENT_DELIVERY_CANCELLED] = {"delivery-cancelled",
        "6c4085cd3c3d8b1bcc2eb12f4a7a2c05", G_LOG_LEVEL_INFO, NULL,
        "A message is not sent, since its subscriber was removed."},
    [EVENT_DELIVERY_REPLY] = {"delivery-reply", "565505e96eae8ff31e06d6b14d37317b",
        G_LOG_LEVEL_DEBUG, NULL, "Recipient of a message, and the reply of the relay."},
    [EVENT_DIGEST_CHANGED] = {"digest-changed", "d5c2cc15d5295e5f8f9a26342aa6749f",
        G_LOG_LEVEL_MESSAGE, "other templates or settings than when it was sent first",
        "A message that is sent again differs in its bytes; its Message-ID is the "
        "same."},
    [EVENT_DIGEST_BROKEN] = {"digest-broken", "5a80495a08d08679a2e3731eb93eec56",
        G_LOG_LEVEL_WARNING, NULL,
        "A digest could not be composed and is not sent; its papers go into the next "
        "one, or count as delivered when a copy may have arrived."},
    [EVENT_DIGEST_SKIPPED] = {"digest-skipped", "535e208bd0b247c58fa938fd92a0ff8b",
        G_LOG_LEVEL_WARNING, NULL,
        "Earlier digests of a subscriber cannot be read, so that no new one is built; "
        "retried every hour.  paperboyctl doctor reports the damage."},
    [EVENT_REPLY_SUPPRESSED] = {"reply-suppressed", "723a4924258a4df5ae3c1f8d48f158b2",
        G_LOG_LEVEL_INFO, NULL,
        "A message gets no reply, with the reason: its kind (automatic, bulk, list, "
        "report, loop, robot, own-mail, suppressed, ...) or the rate limit that was "
        "reached (replies-per-day, confirmation-pending, ...)."},
    [EVENT_WEB_FAILED] = {"web-failed", "ef01429131eb4030a526a008f3eeec27",
        G_LOG_LEVEL_WARNING, NULL,
        "Requests of paperboy-web cannot be answered, because of the store or the "
        "socket; it replies 503, and clients try again."},
    [EVENT_WEB_RECOVERED] = {"web-recovered", "0d4d8f79566246738598bc94093c974f",
        G_LOG_LEVEL_MESSAGE, NULL, "Requests of paperboy-web are answered again."},
    [EVENT_RELAY_FAILED] = {"relay-failed", "366303b6987232833776b33406fbe546",
        G_LOG_LEVEL_WARNING, NULL,
        "The relay cannot be reached or accepts nothing: all messages wait, and one at "
        "a time probes it."},
    [EVENT_RELAY_AUTH_FAILED] = {"relay-auth-failed",
        "6ec1d0d196b2f1e3a6458f2a171f7047", G_LOG_LEVEL_WARNING, NULL,
        "smtp.user or the password is wrong, or the OAuth login has ended.  Attempts "
        "are rare, so that the account is not locked; a reload with another password, "
        "or paperboyctl login, tries it at once."},
    [EVENT_RELAY_RECOVERED] = {"relay-recovered", "d6a3b0605c7fedac44902da031d4f886",
        G_LOG_LEVEL_MESSAGE, NULL, "Messages that waited for the relay are sent."},
    [EVENT_DOMAIN_PAUSED] = {"domain-paused", "9db0417fa3e04a59935966f859888bab",
        G_LOG_LEVEL_WARNING, NULL,
        "A domain refuses our mail (authentication, reputation or policy): messages to "
        "it wait, then one tests it.  paperboyctl status quotes the refusal and gives "
        "advice; paperboyctl queue retry all tries the domain at once."},
    [EVENT_DOMAIN_RESUMED] = {"domain-resumed", "357d5b0923b2438672440f849f0d6c73",
        G_LOG_LEVEL_MESSAGE, NULL,
        "A paused domain accepts mail again, and messages to it are "
        "sent."},
    [EVENT_BOUNCE_RECORDED] = {"bounce-recorded", "57fd585752ae171781f112f3724c08ae",
        G_LOG_LEVEL_INFO, NULL,
        "A message was returned, or somebody complained about it; class and rule are "
        "those of paperboyctl bounce explain.  paperboyctl bounce show quotes the "
        "refusal."},
    [EVENT_BOUNCES_DONE] = {"bounces-done", "70dc695cff6231548e65f79de303a05b",
        G_LOG_LEVEL_INFO, NULL,
        "Result of the hourly decisions: failed messages that were classified, probe "
        "messages sent, subscribers suspended, and subscribers whose evidence was "
        "cleared since a probe was not returned."},
    [EVENT_CHECKUPS_DONE] = {"checkups-done", "4ddf39e4c75a4ec6a7592dea8213bb73",
        G_LOG_LEVEL_INFO, NULL,
        "Monthly reports: subscribers whose filters were looked at, and those with "
        "something to report."},
    [EVENT_SUBSCRIBER_SUSPENDED] = {"subscriber-suspended",
        "35b9ff5e4882ba17fbb92dd0146ade99", G_LOG_LEVEL_MESSAGE, NULL,
        "Mail to a subscriber was returned, the probe message as well: nothing is sent "
        "until the subscriber writes.  paperboyctl bounce list names the subscribers, "
        "bounce forget restores one."},
    [EVENT_OUTBOX_RECOVERED] = {"outbox-recovered", "b3214242d2588217915b45ba6c549ca3",
        G_LOG_LEVEL_MESSAGE, "sent again with the same Message-ID",
        "Messages that were in flight when the program was killed: each may have "
        "arrived.  They wait for a minute, and longer each time this happens."},
    [EVENT_OUTBOX_IN_DOUBT] = {"outbox-in-doubt", "f27a263448656762f24ed2a14b804a6a",
        G_LOG_LEVEL_WARNING, NULL,
        "The store has refused to record results of messages: they may have arrived, "
        "and are sent again."},
    [EVENT_OUTBOX_FENCED] = {"outbox-fenced", "9d592ae7c7284e72a5450caab841e318",
        G_LOG_LEVEL_WARNING, NULL,
        "Results of messages were not recorded, since the lease of this instance had "
        "ended and another one has taken the messages over: it sends them again with "
        "the same Message-ID."},
    [EVENT_LEASE_FAILED] = {"lease-failed", "a7626e7807f540de9c39ecb5bb636d90",
        G_LOG_LEVEL_WARNING, NULL,
        "The lease of this instance on a shared database cannot be renewed, usually "
        "since the database does not answer: sending stops before the lease ends, and "
        "continues when it is renewed."},
    [EVENT_INSTANCE_EXPIRED] = {"instance-expired", "d951a35af9264ab4aa2ae03c1af3fe4a",
        G_LOG_LEVEL_WARNING, NULL,
        "Other instances on the same database have not renewed their leases: what "
        "they held was taken over."},
    [EVENT_STORE_REPLACED] = {"store-replaced", "a3ba01600a1c436fa5dbd37d9d6fe688",
        G_LOG_LEVEL_WARNING, "its last commits may be lost",
        "A standby of the database server was promoted, or the database is on another "
        "server.  paperboyd ends with status 75, and its service starts it again, as "
        "after a crash: messages in flight are sent again with the same Message-ID."},
    [EVENT_MAILER_DONE] = {"mailer-done", "71657c5d0fb6999282e688b710104cfe",
        G_LOG_LEVEL_MESSAGE, NULL, "Results of the messages that were due."},
    [EVENT_MAILER_FAILED] = {"mailer-failed", "d4bc04aae6429dc6b4c6e136a2e3d8da",
        G_LOG_LEVEL_WARNING, NULL,
        "Sending has stopped, usually because of the store; results are kept, and it "
        "is retried."},
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

/* Characters of an address (RFC 5322 section 3.2.3, RFC 6531). */
static bool
is_local(char c)
{
	return g_ascii_isalnum(c) || (c & 0x80) ||
	       (c && strchr(".!#$%&'*+-/=?^_`{|}~", c));
}

static bool
is_domain(char c)
{
	return g_ascii_isalnum(c) || (c & 0x80) || c == '.' || c == '-' || c == '_';
}

/* @return length in bytes of "@" or "%40" at the start, or 0 */
static size_t
measure_at(const char *text)
{
	return *text == '@' ? 1 : g_ascii_strncasecmp(text, "%40", 3) == 0 ? 3 : 0;
}

/* @return start of the local part before an @, not before `least` */
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
	/* A quote before the address is not part of it. */
	while (begin < at && strchr("'`", *begin))
		begin++;
	return begin;
}

char *
event_mask_addresses(const char *text)
{
	GString *out = g_string_new(NULL);
	const char *done = text; /* the text before it is already in `out` */

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

/* An event being formatted. */
struct writer {
	GString *line;
	GLogField fields[FIELDS_MAX];
	char keys[FIELDS_MAX][KEY_BYTES];
	char *owned[FIELDS_MAX]; /* values */
	gsize count, owned_count;
};

static void
add_field(struct writer *writer, const char *key, const char *value)
{
	g_assert(writer->count < FIELDS_MAX);
	writer->fields[writer->count++] = (GLogField){key, value, -1};
}

/* @return the key of the field that is added next */
static const char *
format_key(struct writer *writer, const char *name)
{
	char *key = writer->keys[writer->count];
	size_t at = strlen(EVENT_PREFIX);

	g_assert(at + strlen(name) < KEY_BYTES);
	memcpy(key, EVENT_PREFIX, at);
	do
		key[at++] = g_ascii_toupper(*name);
	while (*name++);
	return key;
}

static const char *
add_owned(struct writer *writer, char *text)
{
	g_assert(writer->owned_count < G_N_ELEMENTS(writer->owned));
	writer->owned[writer->owned_count++] = text;
	return text;
}

static void
append_field_name(GString *line, const char *name)
{
	append_text(line, " ");
	append_text(line, name);
	append_text(line, "=");
}

static void
add_value(
    struct writer *writer, const struct event_row *row, const struct event_field *field)
{
	g_autofree char *masked = NULL;
	const char *key = format_key(writer, field->name);
	const char *value = field->text;
	GString *line = writer->line;
	gsize start;

	switch (field->type) {
	case EVENT_TYPE_NONE:
		break;
	case EVENT_TYPE_INT:
	case EVENT_TYPE_SECONDS:
		append_field_name(line, field->name);
		start = line->len;
		append_number(line, field->number);
		value = add_owned(writer, g_strdup(line->str + start));
		if (field->type == EVENT_TYPE_SECONDS)
			append_text(line, "s");
		break;
	case EVENT_TYPE_WORD:
		append_field_name(line, field->name);
		append_text(line, value);
		break;
	case EVENT_TYPE_TEXT:
		if (row->level != G_LOG_LEVEL_DEBUG)
			value = masked = event_mask_addresses(value);
		value = add_owned(
		    writer, reply_format_printable(value, strlen(value), TEXT_BYTES));
		append_text(line, ": ");
		append_text(line, value);
		break;
	}
	add_field(writer, key, value);
}

static bool
has_value(const struct event_field *field)
{
	return field->text ? *field->text != '\0'
	                   : field->type < EVENT_TYPE_WORD && field->number >= 0;
}

/* "delivery deferred"; for the daemon itself "paperboyd 1.0 started". */
static void
append_name(GString *line, const struct event_row *row)
{
	if (row == &rows[EVENT_STARTED])
		g_string_append(line, "paperboyd " PACKAGE_VERSION " ");
	else if (row < &rows[EVENT_THREAD_STUCK])
		g_string_append(line, "paperboyd ");
	for (const char *at = row->name; *at; at++)
		g_string_append_c(line, *at == '-' ? ' ' : *at);
}

void
event_log_fields(enum event_kind kind, const struct event_field *fields)
{
	const struct event_row *row = event_get_row(kind);
	struct writer writer;

	if (row->level == G_LOG_LEVEL_DEBUG && !g_log_get_debug_enabled())
		return;
	writer.count = writer.owned_count = 0;
	writer.line = g_string_sized_new(LINE_BYTES);
	append_name(writer.line, row);
	add_field(&writer, "MESSAGE_ID", row->message_id);
	add_field(&writer, "PRIORITY", levels[find_level(row)].priority);
	add_field(&writer, "SYSLOG_IDENTIFIER", "paperboyd");
	add_field(&writer, "GLIB_DOMAIN", G_LOG_DOMAIN);
	add_field(&writer, EVENT_PREFIX "EVENT", row->name);
	for (; fields->type != EVENT_TYPE_NONE; fields++)
		if (has_value(fields))
			add_value(&writer, row, fields);
	if (row->hint)
		g_string_append_printf(writer.line, ": %s", row->hint);
	add_field(&writer, "MESSAGE", writer.line->str);
	g_log_structured_array(row->level, writer.fields, writer.count);
	for (gsize i = 0; i < writer.owned_count; i++)
		g_free(writer.owned[i]);
	g_string_free(writer.line, TRUE);
}

/* An event that waits for a commit. */
struct event {
	enum event_kind kind;
	struct event_field fields[FIELDS_MAX]; /* with texts of its own */
};

static void
event_free(gpointer data)
{
	struct event *event = data;

	for (size_t i = 0; event->fields[i].type != EVENT_TYPE_NONE; i++)
		g_free((char *)event->fields[i].text);
	g_free(event);
}

static void
log_event(void *data)
{
	const struct event *event = data;

	event_log_fields(event->kind, event->fields);
}

void
event_log_fields_committed(
    struct store *store, enum event_kind kind, const struct event_field *fields)
{
	struct event *event = g_new0(struct event, 1);

	event->kind = kind;
	for (size_t i = 0; fields[i].type != EVENT_TYPE_NONE; i++) {
		g_assert(i + 1 < FIELDS_MAX);
		event->fields[i] = fields[i];
		event->fields[i].text = g_strdup(fields[i].text);
	}
	store_after_commit(store, log_event, event, event_free);
}
