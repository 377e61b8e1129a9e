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

/* Length of most lines, allocated first. */
#define LINE_BYTES 250

/* Of keys, with their NUL. */
#define KEY_BYTES 40

/* Maximum length of an external text. */
#define TEXT_BYTES 1000

#define ROW(kind, level, message_id, hint) \
	[EVENT_##kind] = {#kind, G_LOG_LEVEL_##level, message_id, hint},
static const struct event_row rows[N_EVENTS] = {EVENTS(ROW)};

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

char *
event_format_name(const struct event_row *row)
{
	return g_strdelimit(g_ascii_strdown(row->constant, -1), "_", '-');
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
	for (const char *at = row->constant; *at; at++)
		g_string_append_c(line, *at == '_' ? ' ' : g_ascii_tolower(*at));
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
	add_field(
	    &writer, EVENT_PREFIX "EVENT", add_owned(&writer, event_format_name(row)));
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
