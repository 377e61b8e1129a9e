/*
 * forecast.c - the number of papers that a filter will find, and how to reduce it.
 */
#include "service/explain/forecast.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/msg.h"
#include "query/eval/indexed_doc.h"
#include "query/parse/tree.h"
#include "service/match/search.h"
#include "store/paper/archive.h"
#include "store/paper/paper_history.h"

#define WEEKDAYS 7

/* A weekday has lists if it has this share of the papers of the busiest one. */
#define LISTS_SHARE 0.1

/* Above this rate the quantiles are those of the normal distribution. */
#define NORMAL_RATE   500
#define NORMAL_90     1.645
#define QUANTILE_LOW  0.05
#define QUANTILE_HIGH 0.95

/* ---- rates ---- */

/* Weekday of a day of the window, Monday is 0; 1970-01-01 was a Thursday. */
static unsigned
get_weekday(const struct forecast *forecast, unsigned day)
{
	return (unsigned)((forecast->start / CLOCK_DAY_S + 3 + day) % WEEKDAYS);
}

void
forecast_init(struct forecast *forecast, int64_t now)
{
	memset(forecast, 0, sizeof(*forecast));
	forecast->start = now - now % CLOCK_DAY_S - FORECAST_DAYS * CLOCK_DAY_S;
	day_format(forecast->start, forecast->oldest);
}

/* @return FORECAST_DAYS or more for a day outside of the window */
static unsigned
get_index(const struct forecast *forecast, const char *day)
{
	int64_t at = day_start(day);

	return at < forecast->start ? FORECAST_DAYS
	                            : (unsigned)((at - forecast->start) / CLOCK_DAY_S);
}

void
forecast_count(struct forecast *forecast, const char *day)
{
	unsigned index = get_index(forecast, day);

	if (index < FORECAST_DAYS)
		forecast->matches[index]++;
}

/* Quantile of the Poisson distribution. */
static unsigned
get_quantile(double rate, double probability)
{
	double term = exp(-rate), sum = term;
	unsigned count = 0;

	if (rate > NORMAL_RATE)
		return (unsigned)lround(
		    rate + (probability < 0.5 ? -1 : 1) * NORMAL_90 * sqrt(rate));
	while (sum < probability) {
		count++;
		term *= rate / count;
		sum += term;
	}
	return count;
}

void
forecast_get_interval(double rate, unsigned *low, unsigned *high)
{
	*low = get_quantile(rate, QUANTILE_LOW);
	*high = get_quantile(rate, QUANTILE_HIGH);
}

/* The first day of the window with complete counts. */
static bool
load_first(const struct forecast *forecast, struct store *store, bool is_cut,
    unsigned *first, GError **error)
{
	char day[DAY_BYTES];

	*first = FORECAST_DAYS;
	if (!paper_history_load_first_day(store, day, error))
		return false;
	if (*day)
		*first =
		    day_start(day) < forecast->start ? 0 : get_index(forecast, day);
	/* The scan ended within the oldest day that has matches. */
	for (unsigned i = 0; is_cut && i < FORECAST_DAYS; i++)
		if (forecast->matches[i]) {
			*first = MAX(*first, i + 1);
			break;
		}
	return true;
}

static void
set_rates(
    struct forecast *forecast, const unsigned papers[FORECAST_DAYS], unsigned first)
{
	unsigned matches = 0, all = 0;
	unsigned by_weekday[WEEKDAYS] = {0}, count[WEEKDAYS] = {0};

	for (unsigned i = first; i < FORECAST_DAYS; i++) {
		unsigned weekday = get_weekday(forecast, i);

		matches += forecast->matches[i];
		all += papers[i];
		by_weekday[weekday] += papers[i];
		count[weekday]++;
	}
	for (unsigned i = 0; all && i < WEEKDAYS; i++) {
		forecast->rates[i] = (double)matches / all * by_weekday[i] / count[i];
		forecast->a_week += forecast->rates[i];
	}
}

static void
set_span(struct forecast *forecast)
{
	double most = 0, sum = 0;
	unsigned with_lists = 0, count = 0, low, high;

	for (unsigned i = 0; i < WEEKDAYS; i++)
		most = MAX(most, forecast->rates[i]);
	forecast->low = G_MAXUINT;
	for (unsigned i = 0; i < WEEKDAYS; i++) {
		if (forecast->rates[i] < LISTS_SHARE * most)
			continue;
		with_lists |= 1U << i;
		count++;
		sum += forecast->rates[i];
		forecast_get_interval(forecast->rates[i], &low, &high);
		forecast->low = MIN(forecast->low, low);
		forecast->high = MAX(forecast->high, high);
	}
	forecast->a_day = sum / count;
	forecast->is_weekdays = with_lists == 0x1f;
	if (forecast->a_day >= 1) {
		forecast->span = FORECAST_DAY;
		return;
	}
	forecast->span = forecast->a_week >= 1 ? FORECAST_WEEK : FORECAST_RARE;
	forecast_get_interval(forecast->a_week, &forecast->low, &forecast->high);
}

bool
forecast_compute(
    struct forecast *forecast, struct store *store, bool is_cut, GError **error)
{
	g_autoptr(GPtrArray) days =
	    paper_history_load_days(store, forecast->oldest, error);
	unsigned papers[FORECAST_DAYS] = {0};
	unsigned first;

	if (!days || !load_first(forecast, store, is_cut, &first, error))
		return false;
	for (unsigned i = 0; i < days->len; i++) {
		const struct paper_history_day *day = days->pdata[i];
		unsigned index = get_index(forecast, day->day);

		if (index < FORECAST_DAYS)
			papers[index] = (unsigned)day->papers;
	}
	forecast->days = FORECAST_DAYS - MIN(first, FORECAST_DAYS);
	if (forecast->days < FORECAST_DAYS_MIN)
		return true;
	set_rates(forecast, papers, first);
	if (forecast->a_week > 0)
		set_span(forecast);
	return true;
}

/* ---- narrower filters ---- */

/* Papers per day that are about FORECAST_TARGET, and fewer than without. */
#define RATE_MIN  5.0
#define RATE_MAX  15.0
#define RATE_LESS 0.8

#define NARROWER_MAX 3

/* An additional word is at least this long, and this much more frequent than usual. */
#define WORD_CHARS 4
#define WORD_LIFT  1.5

static const char *const clauses[] = {"has:code", "upvotes:>=5", "upvotes:>=10",
    "upvotes:>=20", "upvotes:>=50", "upvotes:>=100"};

/* A narrower filter. */
struct narrower {
	char *text;
	struct query *query;
	unsigned count;
};

struct tally {
	unsigned found;
	GArray *narrower;       /* of struct narrower */
	GHashTable *words;      /* folded -> number of matches with it */
	GHashTable *categories; /* likewise */
};

static void
narrower_clear(void *data)
{
	struct narrower *narrower = data;

	g_free(narrower->text);
	query_free(narrower->query);
}

/* "TEXT CLAUSE", with parentheses if they are necessary */
static char *
join_clause(const char *text, const struct query *query, const char *clause)
{
	return query->root->kind == NODE_OR ? g_strdup_printf("(%s) %s", text, clause)
	                                    : g_strdup_printf("%s %s", text, clause);
}

/* A filter that would be too long is left out. @param text  taken */
static void
add_query(struct tally *tally, struct store *store, char *text)
{
	struct narrower narrower = {.text = text,
	    .query = query_parse(text, store_get_tokenizer(store), NULL, NULL, NULL)};

	if (narrower.query)
		g_array_append_val(tally->narrower, narrower);
	else
		g_free(text);
}

static void
add_one(GHashTable *table, const char *key)
{
	unsigned *count = g_hash_table_lookup(table, key);

	if (!count) {
		count = g_new0(unsigned, 1);
		g_hash_table_insert(table, g_strdup(key), count);
	}
	++*count;
}

static bool
tally_paper(void *data, const struct stored_paper *stored,
    const struct query_document *document, GError **error)
{
	struct tally *tally = data;
	const GPtrArray *categories = stored->paper->categories;
	GHashTableIter iter;
	gpointer word;

	(void)error;
	tally->found++;
	for (unsigned i = 0; i < tally->narrower->len; i++) {
		struct narrower *one =
		    &g_array_index(tally->narrower, struct narrower, i);

		one->count += query_evaluate(one->query, document, QUERY_AS_REPORTED) ==
		              QUERY_TRUE;
	}
	for (unsigned i = 0; categories && i < categories->len; i++)
		add_one(tally->categories, categories->pdata[i]);
	g_hash_table_iter_init(&iter, document->words);
	while (g_hash_table_iter_next(&iter, &word, NULL))
		add_one(tally->words, ((const struct document_word *)word)->key.text);
	return true;
}

/* Papers per day if the filter had only so many of the matches. */
static double
get_rate(const struct forecast *forecast, const struct tally *tally, unsigned count)
{
	return tally->found ? forecast->a_day * count / tally->found : 0;
}

static bool
is_about_target(const struct forecast *forecast, double rate)
{
	return rate >= RATE_MIN && rate <= RATE_MAX &&
	       rate <= RATE_LESS * forecast->a_day;
}

/* Distance from the target, as a ratio. */
static double
get_distance(double rate)
{
	return fabs(log(rate / FORECAST_TARGET));
}

static bool
is_word(const char *folded)
{
	if (g_utf8_strlen(folded, -1) < WORD_CHARS)
		return false;
	for (const char *at = folded; *at; at = g_utf8_next_char(at))
		if (!g_unichar_isalpha(g_utf8_get_char(at)))
			return false;
	return true;
}

/* How typical a word is of the matches: matches with it, times the log of its lift. */
static bool
score_word(struct store *store, const struct tally *tally, int64_t archive,
    const char *folded, unsigned count, double *score, GError **error)
{
	int64_t papers;
	double lift;

	if (!archive_count_class(store, folded, &papers, error))
		return false;
	lift = papers
	           ? ((double)count / tally->found) / ((double)papers / (double)archive)
	           : 0;
	*score = lift >= WORD_LIFT ? count * log(lift) : 0;
	return true;
}

/* @param best  set to the most typical word, borrowed from the tally, or NULL */
static bool
find_word(const struct forecast *forecast, struct store *store,
    const struct tally *tally, const char **best, GError **error)
{
	double best_score = 0;
	struct archive_size size;
	GHashTableIter iter;
	gpointer word, with;

	*best = NULL;
	if (!archive_load_size(store, &size, error))
		return false;
	g_hash_table_iter_init(&iter, tally->words);
	while (g_hash_table_iter_next(&iter, &word, &with)) {
		unsigned count = *(const unsigned *)with;
		double score;

		if (!is_about_target(forecast, get_rate(forecast, tally, count)) ||
		    !is_word(word))
			continue;
		if (!score_word(store, tally, size.papers, word, count, &score, error))
			return false;
		if (score > best_score ||
		    (score > 0 && score >= best_score && strcmp(word, *best) < 0)) {
			best_score = score;
			*best = word;
		}
	}
	return true;
}

/* @return the category closest to the target, borrowed from the tally; or NULL */
static const char *
find_category(const struct forecast *forecast, const struct tally *tally)
{
	const char *best = NULL;
	double best_distance = G_MAXDOUBLE;
	GHashTableIter iter;
	gpointer name, count;

	g_hash_table_iter_init(&iter, tally->categories);
	while (g_hash_table_iter_next(&iter, &name, &count)) {
		double rate = get_rate(forecast, tally, *(const unsigned *)count);
		double distance =
		    is_about_target(forecast, rate) ? get_distance(rate) : G_MAXDOUBLE;

		if (distance < best_distance ||
		    (best && distance <= best_distance && strcmp(name, best) < 0)) {
			best_distance = distance;
			best = name;
		}
	}
	return best;
}

/* Append the clause with a count to the narrower filters. @param clause  taken */
static void
add_counted(struct tally *tally, struct store *store, const char *text,
    const struct query *query, char *clause, GHashTable *counts, const char *key)
{
	unsigned before = tally->narrower->len;

	add_query(tally, store, join_clause(text, query, clause));
	if (tally->narrower->len > before)
		g_array_index(tally->narrower, struct narrower, before).count =
		    *(const unsigned *)g_hash_table_lookup(counts, key);
	g_free(clause);
}

/* The word as people write it: its class has the singular and the plural. */
static char *
format_word(struct store *store, const char *folded)
{
	g_autoptr(GPtrArray) words = archive_load_class(store, folded, NULL);

	return g_strdup(words && words->len ? words->pdata[0] : folded);
}

static void
add_notes(const struct forecast *forecast, struct tally *tally, GPtrArray *notes)
{
	unsigned shown = 0;
	int64_t a_day = (int64_t)(forecast->a_day + 0.5);
	const struct narrower *best;

	do {
		double best_rate = 0;

		best = NULL;
		for (unsigned i = 0; i < tally->narrower->len; i++) {
			const struct narrower *one =
			    &g_array_index(tally->narrower, struct narrower, i);
			double rate = get_rate(forecast, tally, one->count);

			if (is_about_target(forecast, rate) &&
			    (!best || get_distance(rate) < get_distance(best_rate))) {
				best = one;
				best_rate = rate;
			}
		}
		if (!shown)
			g_ptr_array_add(
			    notes, msg_new(best ? MSG_NOTE_MANY_BUT : MSG_NOTE_MANY,
			               "count", MSG_INT(a_day), NULL));
		if (!best)
			return;
		g_ptr_array_add(notes, msg_new(MSG_NOTE_NARROWER, "count",
		                           MSG_INT((int64_t)(best_rate + 0.5)),
		                           "filter", best->text, NULL));
		((struct narrower *)best)->count = 0;
	} while (++shown < NARROWER_MAX);
}

static bool
run_tally(const struct forecast *forecast, struct store *store, const char *text,
    const struct query *query, int64_t now, struct tally *tally, GError **error)
{
	const struct search_scope scope = {.oldest_day = forecast->oldest, .now = now};
	const char *category, *word;

	add_query(tally, store, g_strdup_printf("title:(%s)", text));
	for (size_t i = 0; i < G_N_ELEMENTS(clauses); i++)
		add_query(tally, store, join_clause(text, query, clauses[i]));
	if (!search_foreach(store, query, &scope, tally_paper, tally, NULL, error) ||
	    !find_word(forecast, store, tally, &word, error))
		return false;
	category = find_category(forecast, tally);
	if (category)
		add_counted(tally, store, text, query,
		    g_strconcat("cat:", category, NULL), tally->categories, category);
	if (word)
		add_counted(tally, store, text, query, format_word(store, word),
		    tally->words, word);
	return true;
}

bool
forecast_is_flood(const struct forecast *forecast, unsigned max)
{
	return forecast->span == FORECAST_DAY &&
	       (forecast->a_day > FORECAST_MANY ||
	           (max && forecast->a_day > 2.0 * max));
}

bool
forecast_add_narrower(const struct forecast *forecast, struct store *store,
    const char *text, const struct query *query, int64_t now, GPtrArray *notes,
    GError **error)
{
	struct tally tally = {
	    .narrower = g_array_new(FALSE, FALSE, sizeof(struct narrower)),
	    .words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	    .categories =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	};
	bool is_ok;

	g_array_set_clear_func(tally.narrower, narrower_clear);
	is_ok = run_tally(forecast, store, text, query, now, &tally, error);
	if (is_ok)
		add_notes(forecast, &tally, notes);
	g_array_unref(tally.narrower);
	g_hash_table_unref(tally.words);
	g_hash_table_unref(tally.categories);
	return is_ok;
}
