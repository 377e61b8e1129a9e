/*
 * subscriber_csv_read.c - people as a table in CSV: reading it, with all that is wrong.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/csv.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "message/address.h"
#include "service/people/profile.h"
#include "service/people/subscriber_csv.h"
#include "service/people/subscriber_csv_filters.h"

struct mime_parser {
	const struct subscriber_csv_source *source;
	struct subscriber_csv *subscriber_csv;
	GArray *order; /* of enum subscriber_csv_column: the columns as they stand */
	GHashTable *lines; /* address key -> line that has it */
	struct subscriber_csv_filters filters;
	struct subscriber_csv_row *row;        /* the one that is being read */
	const char *cells[CSV_COLUMN_COLUMNS]; /* of it; "" where there is no column */
	bool is_bad;                           /* it has a problem */
};

static void
subscriber_csv_row_free(gpointer data)
{
	struct subscriber_csv_row *row = data;

	subscriber_free(row->subscriber);
	g_ptr_array_unref(row->filters);
	g_free(row);
}

void
subscriber_csv_free(struct subscriber_csv *subscriber_csv)
{
	if (!subscriber_csv)
		return;
	g_ptr_array_unref(subscriber_csv->rows);
	g_ptr_array_unref(subscriber_csv->problems);
	g_hash_table_unref(subscriber_csv->zones);
	g_free(subscriber_csv);
}

static struct subscriber_csv_row *
subscriber_csv_row_new(unsigned line)
{
	struct subscriber_csv_row *row = g_new0(struct subscriber_csv_row, 1);

	row->line = line;
	row->subscriber = subscriber_new();
	row->filters =
	    g_ptr_array_new_with_free_func((GDestroyNotify)subscription_free);
	return row;
}

/* @param column  CSV_COLUMN_COLUMNS: about the line as a whole */
static void
add_problem(
    struct mime_parser *reader, enum subscriber_csv_column column, const char *message)
{
	bool is_cell = column < CSV_COLUMN_COLUMNS;

	reader->is_bad = true;
	g_ptr_array_add(reader->subscriber_csv->problems,
	    g_strdup_printf("%s:%u: %s%s%s%s", reader->source->file, reader->row->line,
	        is_cell ? "column " : "",
	        is_cell ? subscriber_csv_column_name(column) : "", is_cell ? ": " : "",
	        message));
}

/* @param error taken, and freed; NULL: there is none */
static void
add_error(struct mime_parser *reader, enum subscriber_csv_column column, GError *error)
{
	if (!error)
		return;
	add_problem(reader, column, error->message);
	g_error_free(error);
}

static void
read_address(struct mime_parser *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	struct address address = {0};
	g_autofree char *name = NULL;
	GError *error = NULL;
	gpointer line;

	if (!address_parse_mailbox(
	        reader->cells[CSV_COLUMN_ADDRESS], &address, &name, &error)) {
		add_error(reader, CSV_COLUMN_ADDRESS, error);
		return;
	}
	subscriber->address = g_strdup(address.text);
	subscriber->address_key = address_format_key(&address);
	subscriber->name = *reader->cells[CSV_COLUMN_NAME]
	                       ? g_strdup(reader->cells[CSV_COLUMN_NAME])
	                       : g_steal_pointer(&name);
	address_clear(&address);
	text_check_line("name", subscriber->name, BOUNDS_PERSON_NAME_BYTES, &error);
	add_error(reader, CSV_COLUMN_NAME, error);
	line = g_hash_table_lookup(reader->lines, subscriber->address_key);
	if (line) {
		g_autofree char *message = g_strdup_printf(
		    "line %u has this address too", GPOINTER_TO_UINT(line));

		add_problem(reader, CSV_COLUMN_ADDRESS, message);
	} else {
		g_hash_table_insert(reader->lines, g_strdup(subscriber->address_key),
		    GUINT_TO_POINTER(reader->row->line));
	}
}

static void
read_state(struct mime_parser *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *text = reader->cells[CSV_COLUMN_STATE];

	subscriber->state = *text ? subscriber_parse_state(text) : SUBSCRIBER_ACTIVE;
	if (subscriber->state == SUBSCRIBER_GONE)
		add_problem(reader, CSV_COLUMN_STATE,
		    "active, paused, suspended or pending is wanted");
}

/* Many people share a zone, and to load one is slow. */
static GTimeZone *
get_zone(struct mime_parser *reader, const char *name, GError **error)
{
	GTimeZone *zone = g_hash_table_lookup(reader->subscriber_csv->zones, name);

	if (zone)
		return zone;
	zone = zone_load(name, error);
	if (zone)
		g_hash_table_insert(
		    reader->subscriber_csv->zones, g_strdup(name), zone);
	return zone;
}

static void
read_zone(struct mime_parser *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *name = reader->cells[CSV_COLUMN_ZONE];
	const char *until = reader->cells[CSV_COLUMN_PAUSED_UNTIL];
	GError *error = NULL;
	GTimeZone *zone;
	int64_t at;

	subscriber->zone = g_strdup(*name ? name : reader->source->zone);
	zone = get_zone(reader, subscriber->zone, &error);
	add_error(reader, CSV_COLUMN_ZONE, error);
	if (!*until || !zone)
		return;
	error = NULL;
	if (subscriber->state != SUBSCRIBER_PAUSED)
		add_problem(
		    reader, CSV_COLUMN_PAUSED_UNTIL, "it goes with state paused");
	else if (day_parse(until, zone, &at, &error))
		g_strlcpy(
		    subscriber->paused_until, until, sizeof(subscriber->paused_until));
	add_error(reader, CSV_COLUMN_PAUSED_UNTIL, error);
}

static void
read_rhythm(struct mime_parser *reader)
{
	struct schedule schedule = {
	    .frequency = SCHEDULE_DAILY, .minute = reader->source->minute};
	const char *frequency = reader->cells[CSV_COLUMN_FREQUENCY];
	const char *weekdays = reader->cells[CSV_COLUMN_WEEKDAYS];
	const char *at = reader->cells[CSV_COLUMN_AT];
	GError *error = NULL;
	bool is_known =
	    !*frequency || profile_parse_frequency(frequency, &schedule, &error);

	add_error(reader, CSV_COLUMN_FREQUENCY, error);
	if (*weekdays && is_known && schedule.frequency != SCHEDULE_WEEKLY)
		add_problem(reader, CSV_COLUMN_WEEKDAYS, "they go with cadence weekly");
	error = NULL;
	if (*weekdays)
		schedule_parse_weekdays(weekdays, &schedule.weekdays, &error);
	add_error(reader, CSV_COLUMN_WEEKDAYS, error);
	error = NULL;
	if (*at)
		schedule_parse_minute(at, &schedule.minute, &error);
	add_error(reader, CSV_COLUMN_AT, error);
	reader->row->subscriber->schedule = schedule_normalize(&schedule);
}

static void
read_max(struct mime_parser *reader)
{
	const char *text = reader->cells[CSV_COLUMN_MAX];
	guint64 number = (guint64)reader->source->max_full;
	GError *error = NULL;

	if (*text && !g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT, &number, NULL))
		number = 0;
	if (profile_check_max((int)number, &error))
		reader->row->subscriber->max_full = (int)number;
	add_error(reader, CSV_COLUMN_MAX, error);
}

static void
read_preferences(struct mime_parser *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *catch_up = reader->cells[CSV_COLUMN_CATCH_UP];
	const char *language = reader->cells[CSV_COLUMN_LANGUAGE];
	guint64 number = 0;
	GError *error = NULL;

	for (int i = 0; i < PREFERENCE_COUNT; i++) {
		const char *word = reader->cells[CSV_COLUMN_PREFERENCES + i];

		error = NULL;
		if (*word)
			preferences_choose(
			    &subscriber->preferences, (enum preference)i, word, &error);
		add_error(reader,
		    (enum subscriber_csv_column)(CSV_COLUMN_PREFERENCES + i), error);
	}
	error = NULL;
	if (profile_check_language(language, &error))
		g_strlcpy(subscriber->language, language, sizeof(subscriber->language));
	add_error(reader, CSV_COLUMN_LANGUAGE, error);
	if (!*catch_up)
		return;
	error = NULL;
	g_ascii_string_to_unsigned(catch_up, 10, 0, G_MAXINT, &number, NULL);
	if (profile_check_max((int)number, &error))
		subscriber->catch_up = (int)number;
	add_error(reader, CSV_COLUMN_CATCH_UP, error);
}

static int64_t
read_time(struct mime_parser *reader, enum subscriber_csv_column column)
{
	const char *text = reader->cells[column];
	int64_t at = reader->source->now;
	GError *error = NULL;

	if (*text)
		day_parse_time(text, &at, &error);
	add_error(reader, column, error);
	if (at > reader->source->now)
		add_problem(reader, column, "this is yet to come");
	return at;
}

static void
read_consent(struct mime_parser *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *text = reader->cells[CSV_COLUMN_CONSENT_TEXT];
	GError *error = NULL;

	subscriber->created_at = read_time(reader, CSV_COLUMN_CREATED_AT);
	if (!*text)
		text = reader->source->consent;
	/* Who has not agreed yet has nothing to show. */
	if (subscriber->state == SUBSCRIBER_PENDING &&
	    !*reader->cells[CSV_COLUMN_CONSENT_TEXT])
		return;
	if (!text || !*text) {
		add_problem(reader, CSV_COLUMN_CONSENT_TEXT,
		    "how the person agreed is wanted, in words; --consent says it for "
		    "all who have none");
		return;
	}
	text_check_line("consent", text, BOUNDS_CONSENT_BYTES, &error);
	add_error(reader, CSV_COLUMN_CONSENT_TEXT, error);
	subscriber->consent_text = g_strdup(text);
	subscriber->consent_at = read_time(reader, CSV_COLUMN_CONSENT_AT);
}

static void
read_filters(struct mime_parser *reader)
{
	g_auto(GStrv) lines = g_strsplit(reader->cells[CSV_COLUMN_FILTERS], "\n", -1);
	unsigned count = 0;

	for (char **line = lines; *line; line++) {
		GError *error = NULL;
		size_t size = strlen(*line);

		if (size && (*line)[size - 1] == '\r')
			(*line)[size - 1] = '\0';
		if (!**line)
			continue;
		if (++count > BOUNDS_FILTERS_PERSON) {
			g_autofree char *message = g_strdup_printf(
			    "a person can have %d filters", BOUNDS_FILTERS_PERSON);

			add_problem(reader, CSV_COLUMN_FILTERS, message);
			return;
		}
		if (!subscriber_csv_filters_add(
		        &reader->filters, *line, reader->row->filters, &error)) {
			g_prefix_error(&error, "filter %u: ", count);
			add_error(reader, CSV_COLUMN_FILTERS, error);
		}
	}
	subscriber_csv_filters_number(reader->row->filters);
}

/* Put the fields of a line under the names of their columns. */
static bool
sort_cells(struct mime_parser *reader, const GPtrArray *fields)
{
	g_autofree char *message = NULL;

	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		reader->cells[column] = "";
	if (fields->len != reader->order->len) {
		message = g_strdup_printf("%u fields, and there are %u columns",
		    fields->len, reader->order->len);
		add_problem(reader, CSV_COLUMN_COLUMNS, message);
		return false;
	}
	for (guint i = 0; i < fields->len; i++)
		reader->cells[g_array_index(
		    reader->order, enum subscriber_csv_column, i)] = fields->pdata[i];
	return true;
}

/* One person; what is wrong is added to the problems. */
static void
read_row(
    struct mime_parser *reader, const GPtrArray *fields, unsigned line, GError *error)
{
	reader->row = subscriber_csv_row_new(line);
	reader->is_bad = false;
	add_error(reader, CSV_COLUMN_COLUMNS, error);
	if (!reader->is_bad && sort_cells(reader, fields)) {
		read_address(reader);
		read_state(reader);
		read_rhythm(reader);
		read_zone(reader);
		read_max(reader);
		read_preferences(reader);
		read_consent(reader);
		read_filters(reader);
	}
	if (reader->is_bad) {
		reader->subscriber_csv->bad++;
		subscriber_csv_row_free(reader->row);
	} else {
		g_ptr_array_add(reader->subscriber_csv->rows, reader->row);
	}
	reader->row = NULL;
}

static enum subscriber_csv_column
find_column(const char *name)
{
	int column = 0;

	while (column < CSV_COLUMN_COLUMNS &&
	       g_ascii_strcasecmp(name, subscriber_csv_column_name(column)) != 0)
		column++;
	return (enum subscriber_csv_column)column;
}

static char *
format_unknown(const char *name)
{
	GString *message = g_string_new(NULL);

	g_string_printf(message, "column %.40s: there is no such column; ",
	    *name ? name : "without a name");
	for (int column = 0; column < CSV_COLUMN_FILTERS; column++)
		g_string_append_printf(message, "%s%s", column ? ", " : "",
		    subscriber_csv_column_name((enum subscriber_csv_column)column));
	g_string_append(message, " and filters are");
	return g_string_free(message, FALSE);
}

static void
read_column(struct mime_parser *reader, const char *name)
{
	enum subscriber_csv_column column = find_column(name);
	g_autofree char *message = NULL;

	if (column == CSV_COLUMN_COLUMNS)
		message = format_unknown(name);
	for (guint i = 0; !message && i < reader->order->len; i++)
		if (g_array_index(reader->order, enum subscriber_csv_column, i) ==
		    column)
			message = g_strdup_printf("column %s: it is there twice", name);
	if (message)
		add_problem(reader, CSV_COLUMN_COLUMNS, message);
	g_array_append_val(reader->order, column);
}

/* The first line: what the columns are. @return whether it can be gone by */
static bool
read_head(struct mime_parser *reader, struct csv *csv, GPtrArray *fields)
{
	bool has_address = false;
	GError *error = NULL;
	unsigned line;
	enum csv_step step = csv_read(csv, fields, &line, &error);

	reader->row = subscriber_csv_row_new(line);
	add_error(reader, CSV_COLUMN_COLUMNS, error);
	for (guint i = 0; step == CSV_RECORD && i < fields->len; i++) {
		read_column(reader, fields->pdata[i]);
		has_address |= find_column(fields->pdata[i]) == CSV_COLUMN_ADDRESS;
	}
	if (step != CSV_BAD && !has_address)
		add_problem(reader, CSV_COLUMN_ADDRESS,
		    "it is missing: the first line names the columns, as in "
		    "address,name,filters");
	subscriber_csv_row_free(reader->row);
	reader->row = NULL;
	return !reader->is_bad;
}

static void
read_rows(struct mime_parser *reader)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
	struct csv csv;

	csv_init(&csv, reader->source->data, reader->source->size);
	if (!read_head(reader, &csv, fields)) {
		reader->subscriber_csv->bad++;
		return;
	}
	for (;;) {
		GError *error = NULL;
		unsigned line;

		switch (csv_read(&csv, fields, &line, &error)) {
		case CSV_RECORD:
		case CSV_BAD:
			read_row(reader, fields, line, error);
			break;
		case CSV_END:
			return;
		}
	}
}

struct subscriber_csv *
subscriber_csv_read(const struct subscriber_csv_source *source, GError **error)
{
	struct mime_parser reader = {.source = source};

	if (source->size > BOUNDS_CSV_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "%s: larger than %d MiB: split it", source->file,
		    BOUNDS_CSV_BYTES >> 20);
		return NULL;
	}
	reader.subscriber_csv = g_new0(struct subscriber_csv, 1);
	reader.subscriber_csv->rows =
	    g_ptr_array_new_with_free_func(subscriber_csv_row_free);
	reader.subscriber_csv->problems = g_ptr_array_new_with_free_func(g_free);
	reader.subscriber_csv->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
	reader.order = g_array_new(FALSE, FALSE, sizeof(enum subscriber_csv_column));
	reader.lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	reader.filters.store = source->store;
	reader.filters.queries =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	read_rows(&reader);
	g_array_unref(reader.order);
	g_hash_table_unref(reader.lines);
	g_hash_table_unref(reader.filters.queries);
	return reader.subscriber_csv;
}
