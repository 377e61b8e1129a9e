/*
 * event.c - the table of log events, which paperboyd(8) describes.
 */
#include "service/log/event.h"

#include <stdbool.h>
#include <string.h>

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
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_STOPPING] = {"stopping", "8e2059823298b660bbd5f31ba6b25a44",
        G_LOG_LEVEL_MESSAGE, "finishing the work in progress"},
    [EVENT_ENDED] = {"ended", "db1115232cf62e903373a4541656004a", G_LOG_LEVEL_MESSAGE,
        NULL},
    [EVENT_THREAD_STUCK] = {"thread-stuck", "25a7bd6fef2d47a3a8d26d12a6ae4d1c",
        G_LOG_LEVEL_CRITICAL, "systemd restarts paperboyd"},
    [EVENT_RUN_DONE] = {"run-done", "778d5e30733fd0124f9b403eeafc7ca2",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_CONFIG_RELOADED] = {"config-reloaded", "8ade734432b8e4e542e7b12d1e4d509a",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_CONFIG_ERROR] = {"config-error", "d0710a905980e81de1b40d109b987e34",
        G_LOG_LEVEL_CRITICAL, NULL},
    [EVENT_CONFIG_REFUSED] = {"config-refused", "67b5640f41b5e97453c5d78f9aa7ab62",
        G_LOG_LEVEL_CRITICAL, "the old configuration stays"},
    [EVENT_CONFIG_APPLIED] = {"config-applied", "23d79db237120eb3104db16b9d2a3acf",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_COLLECTOR_DONE] = {"collector-done", "ec44e514cca4129aac9c0530c102e6ad",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_COLLECTOR_FAILED] = {"collector-failed", "502c631c58124a432f19b64da724f572",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_FETCH_STORED] = {"fetch-stored", "3f0daf6b6d805047e9e078c095a9925a",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_FETCH_NOT_YET] = {"fetch-not-yet", "4203eb127bc8a299be354f4a1e1da06e",
        G_LOG_LEVEL_DEBUG, NULL},
    [EVENT_FETCH_STALE] = {"fetch-stale", "8e8e18878797448faf1e4089f857e51d",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_FETCH_FAILED] = {"fetch-failed", "9690eaae21f1dc34f5c0aa7e5b45561e",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_PAPERS_ENRICHED] = {"papers-enriched", "31df068161f2459387897ed5eaa269b3",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_ENRICH_FAILED] = {"enrich-failed", "faf346d1abb3443fb20fb001b3f87799",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_SOURCE_PAUSED] = {"source-paused", "e9fcbfb925458f207383ebfa5e4f60db",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_SOURCE_RECOVERED] = {"source-recovered", "7eb87f66decb9e62307382907f4cdfb9",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_MATCH_DONE] = {"match-done", "976bef11ea357faa8f80abdfa3df44ed",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_MATCH_SKIPPED] = {"match-skipped", "71949955b92fb7fce54c4f7bf472f2c6",
        G_LOG_LEVEL_WARNING, "not readable by this version"},
    [EVENT_DIGESTS_BUILT] = {"digests-built", "4a87bd5d586781c29eaa069b13e660ec",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_TIMEZONE_MISSING] = {"timezone-missing", "f1bed66b67ee098584ed50c6086870d7",
        G_LOG_LEVEL_WARNING, "digests are scheduled in UTC"},
    [EVENT_CLOCK_SET_BACK] = {"clock-set-back", "0282cf969ce3c1dfca8b96d2ffa5e87b",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_CLOCK_JUMPED] = {"clock-jumped", "f0d9f4f1c53b4f8b956b83d370a4a9f4",
        G_LOG_LEVEL_WARNING, "check the clock"},
    [EVENT_CLOCK_TRUSTED] = {"clock-trusted", "bb427fdfbe134bc7af279e04e34ce4b6",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_MAINTENANCE_DONE] = {"maintenance-done", "bd5ba3845e56b4ee1da0456b3666f43b",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_WEB_CHECK_PASSED] = {"web-check-passed", "4f62287da6b34d03a1d6b3bdc84bf880",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_WEB_CHECK_FAILED] = {"web-check-failed", "fe1c969c249f458393d96382755cd171",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_ALERT_SENT] = {"alert-sent", "45744d1c9f154744b651520a77c2b11d",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_ALERT_WAITING] = {"alert-waiting", "432df47013d34213863a30073278284c",
        G_LOG_LEVEL_WARNING, "alerts are sent through the same relay"},
    [EVENT_INDEX_REBUILT] = {"index-rebuilt", "6401ffcd3da163475eb8f4050e598520",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_BACKUP_NOT_RECORDED] = {"backup-not-recorded",
        "fde65de530532921c8c6017b5163ad5a", G_LOG_LEVEL_WARNING, NULL},
    [EVENT_STORE_STALE] = {"store-stale", "6b1b2841130f4193b32eafb2639cd0e1",
        G_LOG_LEVEL_WARNING, "mail that may have been sent is held"},
    [EVENT_STORE_SUPERSEDED] = {"store-superseded", "d5bb462d63a84820ac603a5a66588ef1",
        G_LOG_LEVEL_WARNING, "another machine has a newer copy: nothing is sent"},
    [EVENT_SCHEDULER_FAILED] = {"scheduler-failed", "b0c1a3465489da7432c96e15dee412c4",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_INBOX_STORED] = {"inbox-stored", "2501b74666ea4528832c733db69dc7ce",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_INBOX_REJECTED] = {"inbox-rejected", "2ea07e68d4404b87974e7822ad97090e",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_INBOX_HANDLED] = {"inbox-handled", "82a73504f92d456ab8818cab228965a7",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_INBOX_FAILED] = {"inbox-failed", "929efb0c4deb424f8547024ee2d9d0d3",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_INBOX_QUARANTINED] = {"inbox-quarantined",
        "abdfcada2bce4dfc8ba43d76309f5414", G_LOG_LEVEL_WARNING,
        "paperboyctl inbox list"},
    [EVENT_INBOX_DONE] = {"inbox-done", "abd1fa1ce9744de4bb7c3c56eabc2cfa",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_INBOX_ERROR] = {"inbox-error", "38424d9ffcba451fb38b6fece81c19a7",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_RECEIVER_FAILED] = {"receiver-failed", "aaef567786a14b178240d37856d1b0cc",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_RECEIVER_RECOVERED] = {"receiver-recovered",
        "bf079b9c0ad84362babdd2a66e94fe51", G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_INBOX_SKIPPED] = {"inbox-skipped", "6158895d65cb4eba89a7914888ceafcf",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_INBOX_SKIP_CLEARED] = {"inbox-skip-cleared",
        "243996dd90134cbaa6a08b7e8edde50c", G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_DELIVERY_SENT] = {"delivery-sent", "098a123c455a4a0773ee95778ef444a9",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_DELIVERY_DEFERRED] = {"delivery-deferred",
        "246a9da180b7f9fa83a5715163931453", G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_DELIVERY_FAILED] = {"delivery-failed", "34036c25bafbec3a467ca61280a182ea",
        G_LOG_LEVEL_WARNING, "paperboyctl queue --all"},
    [EVENT_DELIVERY_UNKNOWN] = {"delivery-unknown", "4851f8608bc7874e67bf4eb12c29b4d2",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_DELIVERY_EXPIRED] = {"delivery-expired", "d7ab95ff6b8cde2f3fe42d54135a5c28",
        G_LOG_LEVEL_WARNING, "paperboyctl queue --all"},
    [EVENT_DELIVERY_HELD] = {"delivery-held", "26be1e3d2c5a44fb8a963168393babd2",
        G_LOG_LEVEL_WARNING, "paperboyctl queue show"},
    [EVENT_DELIVERY_CANCELLED] = {"delivery-cancelled",
        "6c4085cd3c3d8b1bcc2eb12f4a7a2c05", G_LOG_LEVEL_INFO, NULL},
    [EVENT_DELIVERY_REPLY] = {"delivery-reply", "565505e96eae8ff31e06d6b14d37317b",
        G_LOG_LEVEL_DEBUG, NULL},
    [EVENT_DIGEST_CHANGED] = {"digest-changed", "d5c2cc15d5295e5f8f9a26342aa6749f",
        G_LOG_LEVEL_MESSAGE, "other templates or settings than when it was sent first"},
    [EVENT_DIGEST_BROKEN] = {"digest-broken", "5a80495a08d08679a2e3731eb93eec56",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_DIGEST_SKIPPED] = {"digest-skipped", "535e208bd0b247c58fa938fd92a0ff8b",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_REPLY_SUPPRESSED] = {"reply-suppressed", "723a4924258a4df5ae3c1f8d48f158b2",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_WEB_FAILED] = {"web-failed", "ef01429131eb4030a526a008f3eeec27",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_WEB_RECOVERED] = {"web-recovered", "0d4d8f79566246738598bc94093c974f",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_RELAY_FAILED] = {"relay-failed", "366303b6987232833776b33406fbe546",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_RELAY_AUTH_FAILED] = {"relay-auth-failed",
        "6ec1d0d196b2f1e3a6458f2a171f7047", G_LOG_LEVEL_WARNING, NULL},
    [EVENT_RELAY_RECOVERED] = {"relay-recovered", "d6a3b0605c7fedac44902da031d4f886",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_DOMAIN_PAUSED] = {"domain-paused", "9db0417fa3e04a59935966f859888bab",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_DOMAIN_RESUMED] = {"domain-resumed", "357d5b0923b2438672440f849f0d6c73",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_BOUNCE_RECORDED] = {"bounce-recorded", "57fd585752ae171781f112f3724c08ae",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_BOUNCES_DONE] = {"bounces-done", "70dc695cff6231548e65f79de303a05b",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_CHECKUPS_DONE] = {"checkups-done", "4ddf39e4c75a4ec6a7592dea8213bb73",
        G_LOG_LEVEL_INFO, NULL},
    [EVENT_SUBSCRIBER_SUSPENDED] = {"subscriber-suspended",
        "35b9ff5e4882ba17fbb92dd0146ade99", G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_OUTBOX_RECOVERED] = {"outbox-recovered", "b3214242d2588217915b45ba6c549ca3",
        G_LOG_LEVEL_MESSAGE, "sent again with the same Message-ID"},
    [EVENT_OUTBOX_IN_DOUBT] = {"outbox-in-doubt", "f27a263448656762f24ed2a14b804a6a",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_OUTBOX_FENCED] = {"outbox-fenced", "9d592ae7c7284e72a5450caab841e318",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_LEASE_FAILED] = {"lease-failed", "a7626e7807f540de9c39ecb5bb636d90",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_INSTANCE_EXPIRED] = {"instance-expired", "d951a35af9264ab4aa2ae03c1af3fe4a",
        G_LOG_LEVEL_WARNING, NULL},
    [EVENT_STORE_REPLACED] = {"store-replaced", "a3ba01600a1c436fa5dbd37d9d6fe688",
        G_LOG_LEVEL_WARNING, "its last commits may be lost"},
    [EVENT_MAILER_DONE] = {"mailer-done", "71657c5d0fb6999282e688b710104cfe",
        G_LOG_LEVEL_MESSAGE, NULL},
    [EVENT_MAILER_FAILED] = {"mailer-failed", "d4bc04aae6429dc6b4c6e136a2e3d8da",
        G_LOG_LEVEL_WARNING, NULL},
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
	g_string_append(line, " ");
	g_string_append(line, name);
	g_string_append(line, "=");
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
		g_string_append_printf(line, "%" G_GINT64_FORMAT, field->number);
		value = add_owned(writer, g_strdup(line->str + start));
		if (field->type == EVENT_TYPE_SECONDS)
			g_string_append(line, "s");
		break;
	case EVENT_TYPE_WORD:
		append_field_name(line, field->name);
		g_string_append(line, value);
		break;
	case EVENT_TYPE_TEXT:
		if (row->level != G_LOG_LEVEL_DEBUG)
			value = masked = event_mask_addresses(value);
		value = add_owned(
		    writer, reply_format_printable(value, strlen(value), TEXT_BYTES));
		g_string_append(line, ": ");
		g_string_append(line, value);
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
