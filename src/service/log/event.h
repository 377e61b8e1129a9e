/*
 * event.h - the table of log events.
 *
 *	event_log(EVENT_DELIVERY_DEFERRED, EVENT_INT("outbox", 42),
 *	    EVENT_INT("attempt", 3), EVENT_SECONDS("next_in", 1200));
 *
 * On a terminal this is `delivery deferred outbox=42 attempt=3 next_in=1200s`: the name
 * of the event, then its fields.  The journal gets the same line with the MESSAGE_ID of
 * the event, its name in PAPERBOY_EVENT, and a field for each value:
 *PAPERBOY_OUTBOX=42, PAPERBOY_NEXT_IN=1200.
 *
 * Above debug level no event contains an address, a token, a subject or a text by a
 * person: fields are numbers and our own words, and addresses in a text from elsewhere
 * are masked.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "store/core/store.h"

/*
 * The events: the constant without EVENT_, which is the name in lower case with '-',
 * the level, the MESSAGE_ID of the journal, which never changes, and the end of the
 * line, after a colon, or NULL.  paperboyd(8) describes them.
 */
#define EVENTS(X)                                                                     \
	X(STARTED, MESSAGE, "53b36fd16b110d83b9bc10734de33c80", NULL)                 \
	X(STOPPING, MESSAGE, "8e2059823298b660bbd5f31ba6b25a44",                      \
	    "finishing the work in progress")                                         \
	X(ENDED, MESSAGE, "db1115232cf62e903373a4541656004a", NULL)                   \
	X(THREAD_STUCK, CRITICAL, "25a7bd6fef2d47a3a8d26d12a6ae4d1c",                 \
	    "systemd restarts paperboyd")                                             \
	X(RUN_DONE, MESSAGE, "778d5e30733fd0124f9b403eeafc7ca2", NULL)                \
	X(CONFIG_RELOADED, MESSAGE, "8ade734432b8e4e542e7b12d1e4d509a", NULL)         \
	X(CONFIG_ERROR, CRITICAL, "d0710a905980e81de1b40d109b987e34", NULL)           \
	X(CONFIG_REFUSED, CRITICAL, "67b5640f41b5e97453c5d78f9aa7ab62",               \
	    "the old configuration stays")                                            \
	X(LIST_ID_CHANGED, WARNING, "dcbbe34ddbfc46e2ac1e4ea4bc4e0af8",               \
	    "people who sort mail by it have to change that; mail.list_id keeps the " \
	    "former one")                                                             \
	X(CONFIG_APPLIED, MESSAGE, "23d79db237120eb3104db16b9d2a3acf", NULL)          \
	X(COLLECTOR_DONE, MESSAGE, "ec44e514cca4129aac9c0530c102e6ad", NULL)          \
	X(COLLECTOR_FAILED, WARNING, "502c631c58124a432f19b64da724f572", NULL)        \
	X(FETCH_STORED, INFO, "3f0daf6b6d805047e9e078c095a9925a", NULL)               \
	X(FETCH_NOT_YET, DEBUG, "4203eb127bc8a299be354f4a1e1da06e", NULL)             \
	X(FETCH_STALE, MESSAGE, "8e8e18878797448faf1e4089f857e51d", NULL)             \
	X(FETCH_FAILED, WARNING, "9690eaae21f1dc34f5c0aa7e5b45561e", NULL)            \
	X(PAPERS_ENRICHED, INFO, "31df068161f2459387897ed5eaa269b3", NULL)            \
	X(ENRICH_FAILED, WARNING, "faf346d1abb3443fb20fb001b3f87799", NULL)           \
	X(SOURCE_PAUSED, MESSAGE, "e9fcbfb925458f207383ebfa5e4f60db", NULL)           \
	X(SOURCE_RECOVERED, MESSAGE, "7eb87f66decb9e62307382907f4cdfb9", NULL)        \
	X(MATCH_DONE, INFO, "976bef11ea357faa8f80abdfa3df44ed", NULL)                 \
	X(MATCH_SKIPPED, WARNING, "71949955b92fb7fce54c4f7bf472f2c6",                 \
	    "not readable by this version")                                           \
	X(DIGESTS_BUILT, MESSAGE, "4a87bd5d586781c29eaa069b13e660ec", NULL)           \
	X(TIMEZONE_MISSING, WARNING, "f1bed66b67ee098584ed50c6086870d7",              \
	    "digests are scheduled in UTC")                                           \
	X(CLOCK_SET_BACK, MESSAGE, "0282cf969ce3c1dfca8b96d2ffa5e87b", NULL)          \
	X(CLOCK_JUMPED, WARNING, "f0d9f4f1c53b4f8b956b83d370a4a9f4",                  \
	    "check the clock")                                                        \
	X(CLOCK_TRUSTED, MESSAGE, "bb427fdfbe134bc7af279e04e34ce4b6", NULL)           \
	X(MAINTENANCE_DONE, INFO, "bd5ba3845e56b4ee1da0456b3666f43b", NULL)           \
	X(WEB_CHECK_PASSED, INFO, "4f62287da6b34d03a1d6b3bdc84bf880", NULL)           \
	X(WEB_CHECK_FAILED, WARNING, "fe1c969c249f458393d96382755cd171", NULL)        \
	X(ALERT_SENT, INFO, "45744d1c9f154744b651520a77c2b11d", NULL)                 \
	X(ALERT_WAITING, WARNING, "432df47013d34213863a30073278284c",                 \
	    "alerts are sent through the same relay")                                 \
	X(ALERT_POSTED, INFO, "b9f524288b714a2fab567a4c9aee7d0c", NULL)               \
	X(ALERT_NOT_POSTED, WARNING, "2b8dd2d9ac4147da89d3c2fcc805ee77",              \
	    "see alerts.url and alerts.ping_url; it is tried again")                  \
	X(INDEX_REBUILT, WARNING, "6401ffcd3da163475eb8f4050e598520", NULL)           \
	X(BACKUP_NOT_RECORDED, WARNING, "fde65de530532921c8c6017b5163ad5a", NULL)     \
	X(STORE_STALE, WARNING, "6b1b2841130f4193b32eafb2639cd0e1",                   \
	    "mail that may have been sent is held")                                   \
	X(STORE_SUPERSEDED, WARNING, "d5bb462d63a84820ac603a5a66588ef1",              \
	    "another machine has a newer copy: nothing is sent")                      \
	X(SCHEDULER_FAILED, WARNING, "b0c1a3465489da7432c96e15dee412c4", NULL)        \
	X(INBOX_STORED, INFO, "2501b74666ea4528832c733db69dc7ce", NULL)               \
	X(INBOX_REJECTED, WARNING, "2ea07e68d4404b87974e7822ad97090e", NULL)          \
	X(INBOX_HANDLED, INFO, "82a73504f92d456ab8818cab228965a7", NULL)              \
	X(INBOX_FAILED, WARNING, "929efb0c4deb424f8547024ee2d9d0d3", NULL)            \
	X(INBOX_QUARANTINED, WARNING, "abdfcada2bce4dfc8ba43d76309f5414",             \
	    "paperboyctl inbox list")                                                 \
	X(INBOX_DONE, INFO, "abd1fa1ce9744de4bb7c3c56eabc2cfa", NULL)                 \
	X(INBOX_ERROR, WARNING, "38424d9ffcba451fb38b6fece81c19a7", NULL)             \
	X(RECEIVER_FAILED, WARNING, "aaef567786a14b178240d37856d1b0cc", NULL)         \
	X(RECEIVER_RECOVERED, MESSAGE, "bf079b9c0ad84362babdd2a66e94fe51", NULL)      \
	X(INBOX_SKIPPED, WARNING, "6158895d65cb4eba89a7914888ceafcf", NULL)           \
	X(INBOX_SKIP_CLEARED, MESSAGE, "243996dd90134cbaa6a08b7e8edde50c", NULL)      \
	X(DELIVERIES_SENT, INFO, "32cc44378de0456ea29e3c495f74eeab", NULL)            \
	X(DELIVERY_SENT, DEBUG, "098a123c455a4a0773ee95778ef444a9", NULL)             \
	X(DELIVERY_DEFERRED, MESSAGE, "246a9da180b7f9fa83a5715163931453", NULL)       \
	X(DELIVERY_FAILED, WARNING, "34036c25bafbec3a467ca61280a182ea",               \
	    "paperboyctl queue --all")                                                \
	X(DELIVERY_UNKNOWN, MESSAGE, "4851f8608bc7874e67bf4eb12c29b4d2", NULL)        \
	X(DELIVERY_EXPIRED, WARNING, "d7ab95ff6b8cde2f3fe42d54135a5c28",              \
	    "paperboyctl queue --all")                                                \
	X(DELIVERY_HELD, WARNING, "26be1e3d2c5a44fb8a963168393babd2",                 \
	    "paperboyctl queue show")                                                 \
	X(DELIVERY_CANCELLED, INFO, "6c4085cd3c3d8b1bcc2eb12f4a7a2c05", NULL)         \
	X(DELIVERY_REPLY, DEBUG, "565505e96eae8ff31e06d6b14d37317b", NULL)            \
	X(DIGEST_CHANGED, MESSAGE, "d5c2cc15d5295e5f8f9a26342aa6749f",                \
	    "other templates or settings than when it was sent first")                \
	X(DIGEST_BROKEN, WARNING, "5a80495a08d08679a2e3731eb93eec56", NULL)           \
	X(DIGEST_SKIPPED, WARNING, "535e208bd0b247c58fa938fd92a0ff8b", NULL)          \
	X(LINE_CUT, DEBUG, "2906d6a4adf344a99170e0a292991df1", NULL)                  \
	X(REPLY_SUPPRESSED, INFO, "723a4924258a4df5ae3c1f8d48f158b2", NULL)           \
	X(WEB_FAILED, WARNING, "ef01429131eb4030a526a008f3eeec27", NULL)              \
	X(WEB_RECOVERED, MESSAGE, "0d4d8f79566246738598bc94093c974f", NULL)           \
	X(RELAY_FAILED, WARNING, "366303b6987232833776b33406fbe546", NULL)            \
	X(RELAY_AUTH_FAILED, WARNING, "6ec1d0d196b2f1e3a6458f2a171f7047", NULL)       \
	X(RELAY_RECOVERED, MESSAGE, "d6a3b0605c7fedac44902da031d4f886", NULL)         \
	X(DOMAIN_PAUSED, WARNING, "9db0417fa3e04a59935966f859888bab", NULL)           \
	X(DOMAIN_RESUMED, MESSAGE, "357d5b0923b2438672440f849f0d6c73", NULL)          \
	X(BOUNCE_RECORDED, INFO, "57fd585752ae171781f112f3724c08ae", NULL)            \
	X(BOUNCES_DONE, INFO, "70dc695cff6231548e65f79de303a05b", NULL)               \
	X(CHECKUPS_DONE, INFO, "4ddf39e4c75a4ec6a7592dea8213bb73", NULL)              \
	X(SUBSCRIBER_SUSPENDED, MESSAGE, "35b9ff5e4882ba17fbb92dd0146ade99", NULL)    \
	X(OUTBOX_RECOVERED, MESSAGE, "b3214242d2588217915b45ba6c549ca3",              \
	    "sent again with the same Message-ID")                                    \
	X(OUTBOX_IN_DOUBT, WARNING, "f27a263448656762f24ed2a14b804a6a", NULL)         \
	X(OUTBOX_FENCED, WARNING, "9d592ae7c7284e72a5450caab841e318", NULL)           \
	X(LEASE_FAILED, WARNING, "a7626e7807f540de9c39ecb5bb636d90", NULL)            \
	X(INSTANCE_EXPIRED, WARNING, "d951a35af9264ab4aa2ae03c1af3fe4a", NULL)        \
	X(STORE_REPLACED, WARNING, "a3ba01600a1c436fa5dbd37d9d6fe688",                \
	    "its last commits may be lost")                                           \
	X(MAILER_DONE, MESSAGE, "71657c5d0fb6999282e688b710104cfe", NULL)             \
	X(MAILER_FAILED, WARNING, "d4bc04aae6429dc6b4c6e136a2e3d8da", NULL)

#define EVENT_CONSTANT(kind, ...) EVENT_##kind,
enum event_kind { EVENTS(EVENT_CONSTANT) N_EVENTS };

/* Static. */
struct event_row {
	const char *constant; /* "DELIVERY_DEFERRED" */
	GLogLevelFlags level;
	const char *message_id;
	const char *hint;
};

const struct event_row *event_get_row(enum event_kind kind);

/** "delivery-deferred" @return a new string */
char *event_format_name(const struct event_row *row);

/** "error", "warning", "info" or "debug", as in the setting log_level. */
const char *event_get_level_name(const struct event_row *row);

enum event_type {
	EVENT_TYPE_NONE, /* terminates a list */
	EVENT_TYPE_INT,
	EVENT_TYPE_SECONDS,
	EVENT_TYPE_WORD,
	EVENT_TYPE_TEXT,
};

struct event_field {
	const char *name; /* lower case and '_'; static */
	enum event_type type;
	int64_t number;
	const char *text;
};

/* A negative number is omitted. */
#define EVENT_INT(name_, number_) \
	((struct event_field){    \
	    .name = (name_), .type = EVENT_TYPE_INT, .number = (number_)})
/* "20s" on a terminal. */
#define EVENT_SECONDS(name_, number_) \
	((struct event_field){        \
	    .name = (name_), .type = EVENT_TYPE_SECONDS, .number = (number_)})
/* A word without blanks, such as the name of a source; omitted if NULL or empty. */
#define EVENT_WORD(name_, word_) \
	((struct event_field){   \
	    .name = (name_), .type = EVENT_TYPE_WORD, .text = (word_)})
/* A text that may be external, last in the line; omitted if NULL or empty. */
#define EVENT_TEXT(text_) \
	((struct event_field){.name = "text", .type = EVENT_TYPE_TEXT, .text = (text_)})

/** Log an event: event_log(kind, field...). */
#define event_log(kind, ...) \
	event_log_fields(    \
	    (kind), (const struct event_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})

/** @param fields terminated by EVENT_TYPE_NONE */
void event_log_fields(enum event_kind kind, const struct event_field *fields);

/** Log an event after the commit of the current transaction (store_after_commit()). */
#define event_log_committed(store, kind, ...)       \
	event_log_fields_committed((store), (kind), \
	    (const struct event_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})
void event_log_fields_committed(
    struct store *store, enum event_kind kind, const struct event_field *fields);

/**
 * Replace mail addresses by [address], in the forms that mail servers use: bare, in
 * angle brackets, quoted, with an address literal, with %40.
 *
 * @return a new string
 */
char *event_mask_addresses(const char *text);
