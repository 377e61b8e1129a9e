/*
 * data_export.c - all data about a subscriber, on request (GDPR article 15).
 */
#include "service/people/data_export.h"

#include <string.h>

#include "base/day.h"
#include "service/people/profile.h"
#include "store/subscriber/personal_data.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

/* Writer of sections, records and fields, as text or JSON. */
struct writer {
	GString *out;
	bool is_text;
	bool is_list; /* the section has records instead of fields */
	unsigned sections, records, fields;
};

static void
append_json(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	g_string_append_c(out, '"');
	for (const char *p = valid; *p; p++) {
		if (*p == '"' || *p == '\\')
			g_string_append_c(out, '\\');
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			g_string_append_printf(out, "\\u%04x", (unsigned char)*p);
		else
			g_string_append_c(out, *p);
	}
	g_string_append_c(out, '"');
}

static void
begin_section(struct writer *writer, const char *name, bool is_list)
{
	if (writer->is_text) {
		g_string_append_printf(
		    writer->out, "%s%s\n", writer->sections ? "\n" : "", name);
	} else {
		g_string_append(writer->out, writer->sections ? ",\n  " : "{\n  ");
		append_json(writer->out, name);
		g_string_append(writer->out, is_list ? ": [" : ": {");
	}
	writer->sections++;
	writer->is_list = is_list;
	writer->records = 0;
	writer->fields = 0;
}

static void
end_section(struct writer *writer)
{
	if (writer->is_text) {
		if (!writer->records && !writer->fields)
			g_string_append(writer->out, "  -\n");
		return;
	}
	if (writer->records || writer->fields)
		g_string_append(writer->out, "\n  ");
	g_string_append_c(writer->out, writer->is_list ? ']' : '}');
}

static void
begin_record(struct writer *writer)
{
	if (!writer->is_text)
		g_string_append(writer->out, writer->records ? ",\n    {" : "\n    {");
	else if (writer->records)
		g_string_append_c(writer->out, '\n');
	writer->records++;
	writer->fields = 0;
}

static void
end_record(struct writer *writer)
{
	if (!writer->is_text)
		g_string_append_c(writer->out, '}');
}

/* Append a value with its lines aligned. */
static void
append_field(GString *out, const char *name, const char *value)
{
	g_autofree char *valid = g_utf8_make_valid(value, -1);
	g_auto(GStrv) lines = g_strsplit(g_strchomp(valid), "\n", -1);

	for (int i = 0; lines[i]; i++)
		g_string_append_printf(
		    out, "  %-12s %s\n", i ? "" : name, g_strchomp(lines[i]));
}

/* @param value  or NULL */
static void
add(struct writer *writer, const char *name, const char *value)
{
	if (writer->is_text) {
		if (value)
			append_field(writer->out, name, value);
		writer->fields++;
		return;
	}
	if (writer->fields++)
		g_string_append(writer->out, writer->is_list ? ", " : ",");
	if (!writer->is_list)
		g_string_append(writer->out, "\n    ");
	append_json(writer->out, name);
	g_string_append(writer->out, ": ");
	if (value)
		append_json(writer->out, value);
	else
		g_string_append(writer->out, "null");
}

static void
add_number(struct writer *writer, const char *name, int64_t number)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);

	add(writer, name, text);
}

static void
add_time(struct writer *writer, const char *name, int64_t at)
{
	g_autofree char *text = at < 0 ? NULL : day_format_time(at);

	add(writer, name, text);
}

static void
write_person(
    struct writer *writer, const struct subscriber *subscriber, int64_t feeds_since)
{
	g_autofree char *when = profile_format_frequency(&subscriber->schedule);
	g_autofree char *at = g_strdup_printf("%02d:%02d",
	    subscriber->schedule.minute / 60, subscriber->schedule.minute % 60);

	begin_section(writer, "person", false);
	add(writer, "address", subscriber->address);
	add(writer, "name", subscriber->name);
	add(writer, "state", subscriber_state_name(subscriber->state));
	add_time(writer, "created", subscriber->created_at);
	add_time(writer, "agreed", subscriber->consent_at);
	add_time(writer, "wrote", subscriber->wrote_at);
	add(writer, "consent", subscriber->consent_text);
	add(writer, "when", when);
	add(writer, "at", at);
	add(writer, "tz", subscriber->zone);
	add_number(writer, "max", subscriber->max_full);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		add(writer, preferences_get_name((enum preference)i),
		    preferences_get_word(&subscriber->preferences, (enum preference)i));
	add(writer, "language", *subscriber->language ? subscriber->language : NULL);
	add(writer, "paused_until",
	    *subscriber->paused_until ? subscriber->paused_until : NULL);
	add_time(writer, "next_digest", subscriber->next_due_at);
	add_time(writer, "feeds", feeds_since);
	end_section(writer);
}

static bool
write_section(struct writer *writer, struct store *store,
    const struct personal_data *data, int64_t subscriber_id, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    personal_data_load(store, data, subscriber_id, error);

	if (!rows)
		return false;
	begin_section(writer, data->section, true);
	for (unsigned i = 0; i < rows->len; i++) {
		char **row = rows->pdata[i];

		begin_record(writer);
		for (int k = 0; data->fields[k]; k++)
			add(writer, data->fields[k], row[k]);
		end_record(writer);
	}
	end_section(writer);
	return true;
}

static bool
write_suppression(struct writer *writer, struct store *store, GBytes *key,
    const struct subscriber *subscriber, GError **error)
{
	g_autofree struct suppression *found = NULL;

	if (!suppression_find(store, key, subscriber->address_key, &found, error))
		return false;
	begin_section(writer, "suppression", false);
	if (found) {
		add(writer, "reason", found->reason);
		add_time(writer, "at", found->at);
	}
	end_section(writer);
	return true;
}

char *
data_export_format(struct store *store, GBytes *key, int64_t subscriber_id,
    bool is_text, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = subscribers_load(store, subscriber_id, error);
	g_autoptr(GString) out = g_string_new(NULL);
	struct writer writer = {.out = out, .is_text = is_text};
	int64_t feeds_since;

	if (!subscriber ||
	    !private_feeds_load_since(store, subscriber_id, &feeds_since, error))
		return NULL;
	begin_section(&writer, "export", false);
	add_time(&writer, "made", now);
	end_section(&writer);
	write_person(&writer, subscriber, feeds_since);
	for (const struct personal_data *data = personal_data; data->table; data++)
		if (data->section &&
		    !write_section(&writer, store, data, subscriber_id, error))
			return NULL;
	if (!write_suppression(&writer, store, key, subscriber, error))
		return NULL;
	if (!is_text)
		g_string_append(out, "\n}\n");
	return g_string_free(g_steal_pointer(&out), FALSE);
}
