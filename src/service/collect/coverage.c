/*
 * coverage.c - whether all sources have answered for the day.
 */
#include "service/collect/coverage.h"

#include <string.h>

#include "base/clock.h"
#include "base/msg.h"
#include "store/paper/source_lists.h"

/* Maximum number of days for which missing lists are searched back from the expected
 * one; users are told no earlier day as the first that is missing. */
#define SEARCH_DAYS 30

/* Time since the last successful fetch of a list without days (a feed) after which it
 * is reported as late or failed, s. */
#define ANY_DAY_S (36 * CLOCK_HOUR_S)

static void
list_clear(void *data)
{
	struct coverage_list *list = data;

	g_free(list->name);
	g_free(list->label);
	g_free(list);
}

void
coverage_free(struct coverage *coverage)
{
	if (!coverage)
		return;
	g_ptr_array_unref(coverage->lists);
	g_free(coverage);
}

bool
coverage_is_failed(const struct coverage *coverage)
{
	for (unsigned i = 0; i < coverage->lists->len; i++) {
		const struct coverage_list *list = coverage->lists->pdata[i];

		if (list->state == COVERAGE_OK || list->state == COVERAGE_QUIET ||
		    list->state == COVERAGE_NEW)
			return false;
	}
	return coverage->lists->len > 0;
}

/* 1970-01-01 was a Thursday. */
static bool
is_working(int64_t at)
{
	return (at / CLOCK_DAY_S + 3) % 7 < 5;
}

/* Find the last time at which a list was expected. */
static int64_t
find_expected(int expected_by, int64_t now)
{
	int64_t at = now - now % CLOCK_DAY_S + expected_by * (int64_t)60;

	while (at > now || !is_working(at))
		at -= CLOCK_DAY_S;
	return at;
}

static enum coverage_state
get_state(const struct source_list_day *day)
{
	if (day->listed >= 0)
		return COVERAGE_OK;
	if (day->is_empty)
		return COVERAGE_QUIET;
	if (strcmp(day->status, "stale") == 0)
		return COVERAGE_STALE;
	return strcmp(day->status, "failed") == 0 ? COVERAGE_FAILED : COVERAGE_LATE;
}

static bool
is_missing(enum coverage_state state)
{
	return state == COVERAGE_LATE || state == COVERAGE_STALE ||
	       state == COVERAGE_FAILED;
}

/* Find the first of the consecutive missing working days. */
static bool
find_since(struct store *store, struct coverage_list *list,
    const struct source_list_history *history, GError **error)
{
	int64_t at = list->expected_at;

	g_strlcpy(list->since_day, list->day, sizeof(list->since_day));
	for (int back = 0; back < SEARCH_DAYS; back++) {
		struct source_list_day found;
		char day[DAY_BYTES];

		at -= CLOCK_DAY_S;
		if (!is_working(at))
			continue;
		if (at < history->fetched_at)
			return true;
		day_format(at, day);
		if (!source_lists_load_day(store, list->name, day, &found, error))
			return false;
		if (!is_missing(get_state(&found)))
			return true;
		g_strlcpy(list->since_day, day, sizeof(list->since_day));
	}
	return true;
}

static bool
load_day(struct store *store, struct coverage_list *list,
    const struct source_list_history *history, GError **error)
{
	struct source_list_day found;

	day_format(list->expected_at, list->day);
	/* A newer list, such as that of today before it is expected, replaces it. */
	if (strcmp(history->newest_day, list->day) > 0)
		g_strlcpy(list->day, history->newest_day, sizeof(list->day));
	if (!source_lists_load_day(store, list->name, list->day, &found, error))
		return false;
	list->state = get_state(&found);
	list->listed = found.listed;
	list->stored = found.stored;
	return !is_missing(list->state) || find_since(store, list, history, error);
}

static void
check_age(
    struct coverage_list *list, const struct source_list_history *history, int64_t now)
{
	bool is_old = now - history->good_at > ANY_DAY_S;

	list->listed = history->listed;
	list->stored = -1;
	if (history->is_failing && is_old)
		list->state = COVERAGE_FAILED;
	else if (is_old)
		list->state = COVERAGE_LATE;
	else
		list->state = history->listed > 0 ? COVERAGE_OK : COVERAGE_QUIET;
	if (is_old)
		day_format(
		    history->good_at >= 0 ? history->good_at : history->fetched_at,
		    list->since_day);
}

static bool
load_list(struct store *store, const struct source_list *row, int64_t now,
    struct coverage_list *list, GError **error)
{
	struct source_list_history history;

	list->name = g_strdup(row->name);
	list->label = g_strdup(row->label);
	list->wait_s = row->wait_s;
	list->state = COVERAGE_NEW;
	list->expected_at = -1;
	if (!source_lists_load_history(store, row->name, &history, error))
		return false;
	if (history.fetched_at < 0)
		return true;
	if (row->expected_by < 0) {
		check_age(list, &history, now);
		return true;
	}
	list->expected_at = find_expected(row->expected_by, now);
	return load_day(store, list, &history, error);
}

struct line {
	const struct po *po;
	int64_t now;
	const GPtrArray *lists;
	struct source_list_sum *sums; /* one for each list; listed is -1 for none */
	GString *text;
	GString *missing;   /* may be the same as text */
	GHashTable *summed; /* services listed already, char * */
};

/* "Tuesday", or the date if it is more than six days ago. */
static char *
format_since(const struct line *line, const char *day)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(day_start(day));
	pb_auto(msg) msg = msg_new(
	    N_("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"), NULL);
	g_autofree char *all = msg_format(msg, line->po);
	g_auto(GStrv) names = g_strsplit(all, " ", -1);
	unsigned number = (unsigned)g_date_time_get_day_of_week(time);

	return g_strdup(line->now - day_start(day) >= 7 * (int64_t)CLOCK_DAY_S ||
	                        number > g_strv_length(names)
	                    ? day
	                    : names[number - 1]);
}

/* @param msg  taken */
static void
append_to(GString *text, struct msg *msg, const struct po *po)
{
	g_autofree char *part = msg_format(msg, po);

	g_string_append_printf(text, "%s%s", text->len ? "; " : "", part);
	msg_unref(msg);
}

/* @param msg  taken */
static void
append(struct line *line, struct msg *msg)
{
	append_to(line->text, msg, line->po);
}

static void
append_counts(struct line *line, const char *label, int64_t listed, int64_t read)
{
	append(line,
	    read < 0 || read == listed
	        ? msg_new_count(PL_("{list}: 1 new paper checked",
	                            "{list}: {count} new papers checked"),
	              listed, "list", label, NULL)
	        : msg_new(N_("{list}: {listed} listed, {read} read"), "list", label,
	              "listed", MSG_INT(listed), "read", MSG_INT(read), NULL));
}

/* Sum the lists of one service. @return their number */
static unsigned
sum_service(const struct line *line, unsigned first, struct source_list_sum *sum)
{
	const struct coverage_list *of = line->lists->pdata[first];
	size_t size = strcspn(of->name, "/");
	unsigned count = 0;

	*sum = (struct source_list_sum){0};
	for (unsigned i = 0; i < line->lists->len; i++) {
		const struct coverage_list *list = line->lists->pdata[i];

		if (line->sums[i].listed < 0 || strcspn(list->name, "/") != size ||
		    strncmp(list->name, of->name, size) != 0)
			continue;
		sum->listed += line->sums[i].listed;
		sum->stored += line->sums[i].stored;
		count++;
	}
	return count;
}

static void
append_missing(struct line *line, const struct coverage_list *list, const char *id)
{
	g_autofree char *since = format_since(line, list->since_day);

	append_to(line->missing, msg_new(id, "list", list->label, "day", since, NULL),
	    line->po);
}

static void
append_read(struct line *line, unsigned index)
{
	const struct coverage_list *list = line->lists->pdata[index];
	g_autofree char *service = g_strndup(list->name, strcspn(list->name, "/"));
	g_autofree char *label = NULL;
	struct source_list_sum sum;

	if (g_hash_table_contains(line->summed, service))
		return;
	if (sum_service(line, index, &sum) == 1) {
		append_counts(line, list->label, sum.listed, line->sums[index].stored);
		return;
	}
	label = g_strndup(list->label, strcspn(list->label, " "));
	append_counts(line, label, sum.listed, sum.stored);
	g_hash_table_add(line->summed, g_steal_pointer(&service));
}

static void
append_list(struct line *line, unsigned index)
{
	const struct coverage_list *list = line->lists->pdata[index];

	if (line->sums[index].listed >= 0)
		append_read(line, index);
	switch (list->state) {
	case COVERAGE_QUIET:
		if (line->sums[index].listed < 0)
			append(line, msg_new(N_("{list}: nothing new"), "list",
			                 list->label, NULL));
		break;
	case COVERAGE_LATE:
		append_missing(
		    line, list, N_("{list} has had no new papers since {day}"));
		break;
	case COVERAGE_STALE:
		append_missing(
		    line, list, N_("{list} has shown only old papers since {day}"));
		break;
	case COVERAGE_FAILED:
		append_missing(line, list, N_("{list} has not answered since {day}"));
		break;
	case COVERAGE_OK:
	case COVERAGE_NEW:
		break;
	}
}

/* Count the papers of a list since a day, or those of its newest day. */
static bool
load_sum(struct store *store, const struct coverage_list *list, const char *after,
    struct source_list_sum *sum, GError **error)
{
	bool is_ok = list->state == COVERAGE_OK;

	*sum = (struct source_list_sum){is_ok ? list->listed : -1, list->stored};
	if (!after || list->expected_at < 0 || strcmp(after, list->day) >= 0)
		return true;
	if (!source_lists_load_sum(store, list->name, after, list->day, sum, error))
		return false;
	if (!is_ok && sum->listed == 0)
		sum->listed = -1;
	return true;
}

char *
coverage_format_line(const struct coverage *coverage, struct store *store,
    const char *after, const struct po *po, char **missing, GError **error)
{
	g_autoptr(GHashTable) summed =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) apart = g_string_new(NULL);
	g_autofree struct source_list_sum *sums =
	    g_new(struct source_list_sum, coverage->lists->len);
	struct line line = {po, coverage->now, coverage->lists, sums, text,
	    missing ? apart : text, summed};

	for (unsigned i = 0; i < coverage->lists->len; i++)
		if (!load_sum(store, coverage->lists->pdata[i], after, &sums[i], error))
			return NULL;
	for (unsigned i = 0; i < coverage->lists->len; i++)
		append_list(&line, i);
	if (missing)
		*missing = g_strdup(apart->str);
	return g_strdup(text->str);
}

static void
update_hold(struct coverage *coverage, const struct coverage_list *list, int64_t now)
{
	int64_t until = list->expected_at + list->wait_s;

	if (!is_missing(list->state) || list->expected_at < 0 || now >= until)
		return;
	if (coverage->held_from < 0 || list->expected_at < coverage->held_from)
		coverage->held_from = list->expected_at;
	coverage->held_until = MAX(coverage->held_until, until);
}

struct coverage *
coverage_load(struct store *store, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) rows = source_lists_load(store, error);
	pb_auto(coverage) coverage = NULL;

	if (!rows)
		return NULL;
	coverage = g_new0(struct coverage, 1);
	coverage->lists = g_ptr_array_new_with_free_func(list_clear);
	coverage->held_from = coverage->held_until = -1;
	coverage->now = now;
	for (unsigned i = 0; i < rows->len; i++) {
		struct coverage_list *list = g_new0(struct coverage_list, 1);

		g_ptr_array_add(coverage->lists, list);
		if (!load_list(store, rows->pdata[i], now, list, error))
			return NULL;
		update_hold(coverage, list, now);
	}
	return g_steal_pointer(&coverage);
}
