/*
 * subscriber_csv.c - subscribers as CSV, for export and import.
 */
#include "service/people/subscriber_csv.h"

#include <string.h>

#include "base/bounds.h"
#include "base/csv.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "message/address.h"
#include "query/query.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "store/subscriber/subscribers.h"

static const char *const names[CSV_COLUMN_COLUMNS] = {
    [CSV_COLUMN_ADDRESS] = "address",
    [CSV_COLUMN_NAME] = "name",
    [CSV_COLUMN_STATE] = "state",
    [CSV_COLUMN_FREQUENCY] = "cadence",
    [CSV_COLUMN_WEEKDAYS] = "weekdays",
    [CSV_COLUMN_AT] = "at",
    [CSV_COLUMN_ZONE] = "zone",
    [CSV_COLUMN_MAX] = "max",
    [CSV_COLUMN_PAUSED_UNTIL] = "paused_until",
    [CSV_COLUMN_LANGUAGE] = "language",
    [CSV_COLUMN_CATCH_UP] = "catch_up",
    [CSV_COLUMN_CONSENT_AT] = "consent_at",
    [CSV_COLUMN_CONSENT_TEXT] = "consent_text",
    [CSV_COLUMN_CREATED_AT] = "created_at",
    [CSV_COLUMN_FILTERS] = "filters",
};

/* @return the name in the first line */
static const char *
get_column_name(enum subscriber_csv_column column)
{
	if (column >= CSV_COLUMN_PREFERENCES && column < CSV_COLUMN_LANGUAGE)
		return preferences_get_name(
		    (enum preference)(column - CSV_COLUMN_PREFERENCES));
	return names[column];
}

static void
append_head(GString *out, bool has_filters)
{
	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		if (column != CSV_COLUMN_FILTERS || has_filters)
			csv_append(out,
			    get_column_name((enum subscriber_csv_column)column),
			    column == 0);
	csv_append_end(out);
}

/* Format of optional fields. */
static void
append_preferences(GString *text, const struct subscription *filter)
{
	g_string_append_printf(text, "%s\t", filter->is_block ? "block" : "filter");
	if (filter->max_papers)
		g_string_append_printf(text, "%d", filter->max_papers);
	g_string_append_printf(text, "\t%s\t", filter->note ? filter->note : "");
}

static char *
format_filters(const GPtrArray *filters)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];

		g_string_append_printf(text, "%s%d\t%s\t", i ? "\n" : "",
		    filter->number, filter->name ? filter->name : "");
		if (filter->is_block || filter->max_papers || filter->note)
			append_preferences(text, filter);
		g_string_append(text, filter->text);
	}
	return g_string_free(text, FALSE);
}

static char *
format_time(int64_t at)
{
	return at < 0 ? g_strdup("") : day_format_time(at);
}

/* Append the line of a subscriber. @param filters  of struct subscription *; or NULL */
static void
append_subscriber(
    GString *out, const struct subscriber *subscriber, const GPtrArray *filters)
{
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *weekdays = schedule->frequency == SCHEDULE_WEEKLY
	                                ? schedule_format_weekdays(schedule->weekdays)
	                                : g_strdup("");
	g_autofree char *at =
	    g_strdup_printf("%02d:%02d", schedule->minute / 60, schedule->minute % 60);
	g_autofree char *max = g_strdup_printf("%d", subscriber->max_full);
	g_autofree char *consent_at = format_time(subscriber->consent_at);
	g_autofree char *created_at = format_time(subscriber->created_at);
	g_autofree char *queries = filters ? format_filters(filters) : NULL;
	g_autofree char *catch_up =
	    subscriber->catch_up ? g_strdup_printf("%d", subscriber->catch_up) : NULL;
	const char *cells[CSV_COLUMN_COLUMNS] = {
	    [CSV_COLUMN_ADDRESS] = subscriber->address,
	    [CSV_COLUMN_NAME] = subscriber->name,
	    [CSV_COLUMN_STATE] = subscriber_state_name(subscriber->state),
	    [CSV_COLUMN_FREQUENCY] = schedule_frequency_name(schedule->frequency),
	    [CSV_COLUMN_WEEKDAYS] = weekdays,
	    [CSV_COLUMN_AT] = at,
	    [CSV_COLUMN_ZONE] = subscriber->zone,
	    [CSV_COLUMN_MAX] = max,
	    [CSV_COLUMN_PAUSED_UNTIL] = subscriber->paused_until,
	    [CSV_COLUMN_LANGUAGE] = subscriber->language,
	    [CSV_COLUMN_CATCH_UP] = catch_up,
	    [CSV_COLUMN_CONSENT_AT] = consent_at,
	    [CSV_COLUMN_CONSENT_TEXT] = subscriber->consent_text,
	    [CSV_COLUMN_CREATED_AT] = created_at,
	    [CSV_COLUMN_FILTERS] = queries,
	};

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		cells[CSV_COLUMN_PREFERENCES + i] =
		    preferences_get_word(&subscriber->preferences, (enum preference)i);
	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		if (column != CSV_COLUMN_FILTERS || filters)
			csv_append(
			    out, cells[column] ? cells[column] : "", column == 0);
	csv_append_end(out);
}

/* NUMBER, NAME, KIND, MAX, NOTE and QUERY. */
#define PREFERENCES_PARTS 6

/* Parse KIND, MAX and NOTE. @return false with an error */
static bool
read_filter_preferences(struct subscription *filter, char **parts, GError **error)
{
	bool is_block = strcmp(parts[0], "block") == 0;
	guint64 max = 0;

	if (!is_block && strcmp(parts[0], "filter") != 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is not a kind (expected filter or block)", parts[0]);
	if (*parts[1] &&
	    (!g_ascii_string_to_unsigned(parts[1], 10, 0, G_MAXINT, &max, NULL) ||
	        !profile_check_max((int)max, error))) {
		if (error && !*error)
			profile_check_max(0, error);
		return false;
	}
	if (*parts[2] && !text_check_line("note", parts[2], BOUNDS_FILTER_NOTE, error))
		return false;
	filter->is_block = is_block;
	filter->max_papers = (int)max;
	filter->note = *parts[2] ? g_strdup(parts[2]) : NULL;
	return true;
}

static bool
add_filter(struct store *store, const char *line, GPtrArray *filters, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(line, "\t", -1);
	guint count = g_strv_length(parts);
	bool has_preferences = count == PREFERENCES_PARTS;
	const char *name = has_preferences ? parts[1]
	                   : count > 1     ? parts[count - 2]
	                                   : "";
	const char *text = parts[count - 1];
	g_autofree char *canonical = NULL;
	pb_auto(query) query = NULL;
	pb_auto(subscription) filter = subscription_new();
	guint64 number = 0;

	if (count > 3 && !has_preferences)
		return pb_fail(error, PB_ERROR_INPUT,
		    "more than two tabs (expected NUMBER, NAME and QUERY, or NUMBER, "
		    "NAME, "
		    "filter or block, MAX, NOTE and QUERY)");
	if (has_preferences && !read_filter_preferences(filter, parts + 2, error))
		return false;
	if (count >= 3 && !g_ascii_string_to_unsigned(
	                      parts[0], 10, 1, FILTERS_NUMBER_MAX, &number, NULL))
		return pb_fail(error, PB_ERROR_INPUT,
		    "the number of a filter must be from 1 to %d", FILTERS_NUMBER_MAX);
	if (*name && !text_check_line("name", name, BOUNDS_FILTER_NAME, error))
		return false;
	query = query_parse(text, store_get_tokenizer(store), NULL, NULL, error);
	if (!query)
		return false;
	canonical = query_format(query);
	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *other = filters->pdata[i];

		if (number && other->number == (int)number)
			return pb_fail(
			    error, PB_ERROR_INPUT, "duplicate number %d", (int)number);
		if (strcmp(other->canonical, canonical) == 0)
			return pb_fail(
			    error, PB_ERROR_INPUT, "duplicate filter: %s", canonical);
	}
	filter->number = (int)number;
	filter->name = *name ? g_strdup(name) : NULL;
	filter->text = g_strdup(text);
	filter->canonical = g_steal_pointer(&canonical);
	g_ptr_array_add(filters, g_steal_pointer(&filter));
	return true;
}

static void
number_filters(GPtrArray *filters)
{
	int number = 1;

	for (unsigned i = 0; i < filters->len; i++) {
		struct subscription *filter = filters->pdata[i];

		while (!filter->number && subscription_find_number(filters, number))
			number++;
		if (!filter->number)
			filter->number = number;
	}
}

struct reader {
	const struct subscriber_csv_source *source;
	struct subscriber_csv *subscriber_csv;
	GArray *order;     /* of enum subscriber_csv_column: columns in file order */
	GHashTable *lines; /* address key -> its line */
	struct subscriber_csv_row *row;        /* the current line */
	const char *cells[CSV_COLUMN_COLUMNS]; /* of row; "" if not a column */
	bool is_bad;                           /* row has a problem */
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
	g_free(subscriber_csv->ignored);
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

/* @param column  CSV_COLUMN_COLUMNS for the whole line */
static void
add_problem(
    struct reader *reader, enum subscriber_csv_column column, const char *message)
{
	bool is_cell = column < CSV_COLUMN_COLUMNS;

	reader->is_bad = true;
	g_ptr_array_add(reader->subscriber_csv->problems,
	    g_strdup_printf("%s:%u: %s%s%s%s", reader->source->file, reader->row->line,
	        is_cell ? "column " : "", is_cell ? get_column_name(column) : "",
	        is_cell ? ": " : "", message));
}

/* @param error  taken and freed, or NULL */
static void
add_error(struct reader *reader, enum subscriber_csv_column column, GError *error)
{
	if (!error)
		return;
	add_problem(reader, column, error->message);
	g_error_free(error);
}

static void
read_address(struct reader *reader)
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
		    "same address as in line %u", GPOINTER_TO_UINT(line));

		add_problem(reader, CSV_COLUMN_ADDRESS, message);
	} else {
		g_hash_table_insert(reader->lines, g_strdup(subscriber->address_key),
		    GUINT_TO_POINTER(reader->row->line));
	}
}

/* Words of other programs for the state. @return whether it is one */
static bool
read_foreign_state(struct reader *reader, const char *text)
{
	static const char *const active[] = {
	    "enabled", "subscribed", "confirmed", "regular", NULL};
	static const char *const paused[] = {"disabled", "nomail", NULL};
	static const char *const pending[] = {"unconfirmed", NULL};
	static const char *const blocked[] = {"blocklisted", "blacklisted", "blocked",
	    "unsubscribed", "bounced", "complained", NULL};
	static const struct {
		const char *const *words;
		enum subscriber_state state;
	} rows[] = {{active, SUBSCRIBER_ACTIVE}, {paused, SUBSCRIBER_PAUSED},
	    {pending, SUBSCRIBER_PENDING}, {blocked, SUBSCRIBER_ACTIVE}};
	g_autofree char *word = g_ascii_strdown(text, -1);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_strv_contains(rows[i].words, word)) {
			reader->row->subscriber->state = rows[i].state;
			reader->row->is_blocked = rows[i].words == blocked;
			return true;
		}
	return false;
}

static void
read_state(struct reader *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *text = reader->cells[CSV_COLUMN_STATE];

	if (read_foreign_state(reader, text))
		return;
	subscriber->state = *text ? subscriber_parse_state(text) : SUBSCRIBER_ACTIVE;
	if (subscriber->state == SUBSCRIBER_GONE)
		add_problem(reader, CSV_COLUMN_STATE,
		    "expected active, paused, suspended or pending");
}

static void
read_zone(struct reader *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *name = reader->cells[CSV_COLUMN_ZONE];
	const char *until = reader->cells[CSV_COLUMN_PAUSED_UNTIL];
	GError *error = NULL;
	g_autoptr(GTimeZone) zone = NULL;
	int64_t at;

	subscriber->zone = g_strdup(*name ? name : reader->source->zone);
	zone = zone_load(subscriber->zone, &error);
	add_error(reader, CSV_COLUMN_ZONE, error);
	if (!*until || !zone)
		return;
	error = NULL;
	if (subscriber->state != SUBSCRIBER_PAUSED)
		add_problem(
		    reader, CSV_COLUMN_PAUSED_UNTIL, "only allowed with state paused");
	else if (day_parse(until, zone, &at, &error))
		g_strlcpy(
		    subscriber->paused_until, until, sizeof(subscriber->paused_until));
	add_error(reader, CSV_COLUMN_PAUSED_UNTIL, error);
}

static void
read_schedule(struct reader *reader)
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
		add_problem(
		    reader, CSV_COLUMN_WEEKDAYS, "only allowed with cadence weekly");
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
read_max(struct reader *reader)
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
read_preferences(struct reader *reader)
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
read_time(struct reader *reader, enum subscriber_csv_column column)
{
	const char *text = reader->cells[column];
	g_autofree char *iso = NULL;
	int64_t at = reader->source->now;
	GError *error = NULL;

	/* "2026-11-20 18:00:00.123 +0000 UTC" */
	if (g_regex_match_simple(
	        "^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d", text, 0, 0))
		text = iso = g_strdup_printf("%.10sT%.8sZ", text, text + 11);
	if (*text)
		day_parse_time(text, &at, &error);
	add_error(reader, column, error);
	if (at > reader->source->now)
		add_problem(reader, column, "time in the future");
	return at;
}

static void
read_consent(struct reader *reader)
{
	struct subscriber *subscriber = reader->row->subscriber;
	const char *text = reader->cells[CSV_COLUMN_CONSENT_TEXT];
	GError *error = NULL;

	subscriber->created_at = read_time(reader, CSV_COLUMN_CREATED_AT);
	if (!*text)
		text = reader->source->consent;
	/* A pending subscriber has not consented yet. */
	if (subscriber->state == SUBSCRIBER_PENDING &&
	    !*reader->cells[CSV_COLUMN_CONSENT_TEXT])
		return;
	if (!text || !*text) {
		add_problem(reader, CSV_COLUMN_CONSENT_TEXT,
		    "missing consent: how the person agreed, in words; --consent "
		    "sets it for all lines without it");
		return;
	}
	text_check_line("consent", text, BOUNDS_CONSENT_BYTES, &error);
	add_error(reader, CSV_COLUMN_CONSENT_TEXT, error);
	subscriber->consent_text = g_strdup(text);
	subscriber->consent_at = read_time(reader, CSV_COLUMN_CONSENT_AT);
}

static void
read_filters(struct reader *reader)
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
			    "limit of %d filters exceeded", BOUNDS_FILTERS_PERSON);

			add_problem(reader, CSV_COLUMN_FILTERS, message);
			return;
		}
		if (!add_filter(
		        reader->source->store, *line, reader->row->filters, &error)) {
			g_prefix_error(&error, "filter %u: ", count);
			add_error(reader, CSV_COLUMN_FILTERS, error);
		}
	}
	number_filters(reader->row->filters);
}

/* Assign the fields of a line to their columns. */
static bool
sort_cells(struct reader *reader, const GPtrArray *fields)
{
	g_autofree char *message = NULL;

	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		reader->cells[column] = "";
	if (fields->len != reader->order->len) {
		message = g_strdup_printf(
		    "%u fields (expected %u)", fields->len, reader->order->len);
		add_problem(reader, CSV_COLUMN_COLUMNS, message);
		return false;
	}
	for (guint i = 0; i < fields->len; i++) {
		enum subscriber_csv_column column =
		    g_array_index(reader->order, enum subscriber_csv_column, i);

		if (column < CSV_COLUMN_COLUMNS)
			reader->cells[column] = fields->pdata[i];
	}
	return true;
}

/* Parse one line, and append its problems. */
static void
read_row(struct reader *reader, const GPtrArray *fields, unsigned line, GError *error)
{
	reader->row = subscriber_csv_row_new(line);
	reader->is_bad = false;
	add_error(reader, CSV_COLUMN_COLUMNS, error);
	if (!reader->is_bad && sort_cells(reader, fields)) {
		read_address(reader);
		read_state(reader);
		read_schedule(reader);
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

/* "E-Mail", "email_address" and their like, as other programs call the address. */
static bool
is_address_name(const char *name)
{
	g_auto(GStrv) parts = g_strsplit_set(name, "-_ ", -1);
	g_autofree char *joined = g_strjoinv(NULL, parts);

	return g_ascii_strcasecmp(joined, "email") == 0 ||
	       g_ascii_strcasecmp(joined, "emailaddress") == 0 ||
	       g_ascii_strcasecmp(joined, "mail") == 0;
}

static enum subscriber_csv_column
find_column(const char *name)
{
	int column = 0;

	if (is_address_name(name))
		return CSV_COLUMN_ADDRESS;
	if (g_ascii_strcasecmp(name, "status") == 0)
		return CSV_COLUMN_STATE;
	while (column < CSV_COLUMN_COLUMNS &&
	       g_ascii_strcasecmp(name, get_column_name(column)) != 0)
		column++;
	return (enum subscriber_csv_column)column;
}

static void
read_column(struct reader *reader, const char *name)
{
	enum subscriber_csv_column column = find_column(name);
	char **ignored = &reader->subscriber_csv->ignored;
	g_autofree char *message = NULL;

	if (column == CSV_COLUMN_COLUMNS) {
		char *all =
		    *ignored ? g_strconcat(*ignored, ", ", name, NULL) : g_strdup(name);

		g_free(*ignored);
		*ignored = all;
	}
	for (guint i = 0; column < CSV_COLUMN_COLUMNS && i < reader->order->len; i++)
		if (g_array_index(reader->order, enum subscriber_csv_column, i) ==
		    column)
			message = g_strdup_printf("column %s: duplicate", name);
	if (message)
		add_problem(reader, CSV_COLUMN_COLUMNS, message);
	reader->subscriber_csv->has_state |= column == CSV_COLUMN_STATE;
	g_array_append_val(reader->order, column);
}

/* Parse the first line, the column names. @return whether it is valid */
static bool
read_head(struct reader *reader, struct csv *csv, GPtrArray *fields)
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
		    "missing: the first line names the columns, as in "
		    "address,name,filters");
	subscriber_csv_row_free(reader->row);
	reader->row = NULL;
	return !reader->is_bad;
}

/* ---- lists of addresses ---- */

/* @return the first line that is not empty, a new string */
static char *
find_first_line(const struct csv *csv)
{
	const char *at = csv->at, *end;

	while (at < csv->end && strchr("\r\n", *at))
		at++;
	end = memchr(at, '\n', (size_t)(csv->end - at));
	return g_strndup(at, (size_t)((end ? end : csv->end) - at));
}

/* No name of a column contains an at sign.  A list may begin with its name, too; then
 * `"Doe, Jane" <jane@example.org>` shows that it is not CSV. */
static bool
is_list(const struct csv *csv, const char *first)
{
	return strchr(first, '@') ||
	       (!strpbrk(first, ",;\t") &&
	           g_strstr_len(csv->at, csv->end - csv->at, "\" <"));
}

/* "ada@example.org", "Ada <ada@example.org>", and "ada@example.org Ada" as of Sympa */
static void
split_line(char *line, GPtrArray *fields)
{
	size_t size;

	g_strstrip(line);
	size = strlen(line);
	if (size && strchr(",;", line[size - 1]))
		line[--size] = '\0';
	g_ptr_array_set_size(fields, 0);
	size = strchr(line, '<') || *line == '"' ? size : strcspn(line, " \t");
	g_ptr_array_add(fields, g_strndup(line, size));
	g_ptr_array_add(fields, g_strstrip(g_strdup(line + size)));
}

static void
read_list(struct reader *reader, const struct csv *csv, GPtrArray *fields)
{
	static const enum subscriber_csv_column order[] = {
	    CSV_COLUMN_ADDRESS, CSV_COLUMN_NAME};
	g_autoptr(GString) text = g_string_new_len(csv->at, csv->end - csv->at);
	g_auto(GStrv) lines = NULL;

	/* Not UTF-8 either; else the text would end there. */
	for (size_t i = 0; i < text->len; i++)
		if (!text->str[i])
			text->str[i] = '\xff';
	lines = g_strsplit(text->str, "\n", -1);
	g_array_append_vals(reader->order, order, G_N_ELEMENTS(order));
	for (unsigned i = 0; lines[i]; i++) {
		GError *error = NULL;

		split_line(lines[i], fields);
		if (!*lines[i] || *lines[i] == '#' ||
		    (!reader->subscriber_csv->rows->len &&
		        find_column(lines[i]) == CSV_COLUMN_ADDRESS))
			continue;
		if (!g_utf8_validate(lines[i], -1, NULL))
			pb_fail(&error, PB_ERROR_INPUT,
			    "invalid UTF-8: save the file as UTF-8");
		read_row(reader, fields, i + 1, error);
	}
}

static void
read_rows(struct reader *reader)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *first = NULL;
	struct csv csv;

	csv_init(&csv, reader->source->data, reader->source->size);
	first = find_first_line(&csv);
	if (is_list(&csv, first)) {
		read_list(reader, &csv, fields);
		return;
	}
	if (!strchr(first, ','))
		csv.separator = strchr(first, ';')    ? ';'
		                : strchr(first, '\t') ? '\t'
		                                      : ',';
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
	struct reader reader = {.source = source};

	if (source->size > BOUNDS_CSV_BYTES) {
		pb_fail(error, PB_ERROR_LIMIT, "%s: larger than %d MiB: split it",
		    source->file, BOUNDS_CSV_BYTES >> 20);
		return NULL;
	}
	reader.subscriber_csv = g_new0(struct subscriber_csv, 1);
	reader.subscriber_csv->rows =
	    g_ptr_array_new_with_free_func(subscriber_csv_row_free);
	reader.subscriber_csv->problems = g_ptr_array_new_with_free_func(g_free);
	reader.order = g_array_new(FALSE, FALSE, sizeof(enum subscriber_csv_column));
	reader.lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	read_rows(&reader);
	g_array_unref(reader.order);
	g_hash_table_unref(reader.lines);
	return reader.subscriber_csv;
}

/* ---- export ---- */

#define BATCH_PEOPLE 500

bool
export_includes(
    const struct export_request *request, const struct subscriber *subscriber)
{
	return !request->state ||
	       strcmp(subscriber_state_name(subscriber->state), request->state) == 0;
}

/* @param count  increased */
static bool
append_batch(GString *text, struct store *store, const GPtrArray *people,
    const struct export_request *request, unsigned *count, GError **error)
{
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];
		g_autoptr(GPtrArray) filters = NULL;

		if (!export_includes(request, subscriber))
			continue;
		if (request->has_filters) {
			filters = subscribers_load_subscriptions(
			    store, subscriber->id, error);
			if (!filters)
				return false;
		}
		append_subscriber(text, subscriber, filters);
		++*count;
	}
	return true;
}

bool
export_people(struct store *store, const struct export_request *request,
    export_write write, void *data, unsigned *count, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t after = 0;
	unsigned total = 0;

	append_head(text, request->has_filters);
	for (;;) {
		g_autoptr(GPtrArray) people =
		    subscribers_load_batch(store, after, BATCH_PEOPLE, error);

		if (!people ||
		    !append_batch(text, store, people, request, &total, error) ||
		    !write(data, text->str, text->len, error))
			return false;
		if (!people->len)
			break;
		g_string_truncate(text, 0);
		after = ((struct subscriber *)people->pdata[people->len - 1])->id;
	}
	*count = total;
	return true;
}
