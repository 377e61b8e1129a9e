/*
 * fill.c - make the store that the benchmarks start from.
 *
 * fill STORE DIRECTORY FILTERS.tsv: add subscribers with filters as printed by
 * tests/lib/generate.py (address, zone, number, filter), and the papers in DIRECTORY.
 * Papers of earlier days are stored first: they give the frequencies of terms and are
 * too old for any digest.  Nothing is matched.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "query/query.h"
#include "service/match/match.h"
#include "service/people/subscribe.h"
#include "sources/huggingface.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/paper/papers.h"

/* A person under way: the rows of one stand together. */
struct person {
	char *address;
	char *zone;
	GPtrArray *texts;      /* of char *: as typed */
	GHashTable *canonical; /* a set of char *: nobody has the same filter twice */
};

static void
person_init(struct person *person)
{
	*person = (struct person){
	    .texts = g_ptr_array_new_with_free_func(g_free),
	    .canonical = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
}

static void
person_clear(struct person *person)
{
	g_free(person->address);
	g_free(person->zone);
	g_ptr_array_unref(person->texts);
	g_hash_table_unref(person->canonical);
}

static void
add_filter(struct store *store, struct person *person, const char *text)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), NULL, NULL, NULL);

	if (query && g_hash_table_add(person->canonical, query_format(query)))
		g_ptr_array_add(person->texts, g_strdup(text));
}

static void
add_person(struct store *store, const struct person *person)
{
	g_autofree struct subscribe_filter *filters =
	    g_new0(struct subscribe_filter, person->texts->len);
	static const char made_up[] = "0123456789abcdef0123456789abcdef";
	g_autoptr(GBytes) key = g_bytes_new_static(made_up, strlen(made_up));
	const struct subscribe_request request = {
	    .address = person->address,
	    .consent = "made up for a benchmark",
	    .zone = person->zone,
	    .schedule = {.frequency = SCHEDULE_DAILY, .minute = 450},
	    .max_full = 10,
	    .filters = filters,
	    .filter_count = person->texts->len,
	    .who = "bench",
	    .key = key,
	};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	for (unsigned i = 0; i < person->texts->len; i++)
		filters[i].text = person->texts->pdata[i];
	subscriber = subscribe_add(store, &request, INPUT_NOW, NULL, NULL, &error);
	g_assert_no_error(error);
}

static void
add_people(struct store *store, const char *path)
{
	g_autofree char *table = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) lines = NULL;
	struct person person;

	g_file_get_contents(path, &table, NULL, &error);
	g_assert_no_error(error);
	lines = g_strsplit(table, "\n", -1);
	person_init(&person);
	for (char **line = lines; *line && **line; line++) {
		g_auto(GStrv) row = g_strsplit(*line, "\t", 4);

		g_assert_cmpuint(g_strv_length(row), ==, 4);
		if (person.address && strcmp(person.address, row[0]) != 0) {
			add_person(store, &person);
			person_clear(&person);
			person_init(&person);
		}
		if (!person.address) {
			person.address = g_strdup(row[0]);
			person.zone = g_strdup(row[1]);
		}
		add_filter(store, &person, row[3]);
	}
	add_person(store, &person);
	person_clear(&person);
}

static void
add_day(struct store *store, const char *directory, const char *day)
{
	const struct http_settings settings = {
	    .user_agent = "paperboy/bench (postmaster@example.org)",
	    .allow_file = true,
	};
	const struct source_fetch batch = {.source = "hf",
	    .day = day,
	    .fetched_at = INPUT_NOW,
	    .status = SOURCE_FETCH_OK};
	g_autofree char *url = g_strconcat("file://", directory, NULL);
	pb_auto(http) http = http_new(&settings);
	const struct source_options options = {.name = "hf", .url = url};
	pb_auto(source) source = huggingface_new(&options);
	g_autoptr(GError) error = NULL;
	struct papers_saved saved;
	pb_transaction transaction = {0};
	struct source_answer answer;

	source_answer_init(&answer);
	source_fetch_day(source, http, day, NULL, &answer, &error);
	g_assert_no_error(error);
	g_assert_true(store_begin(store, &transaction, &error));
	papers_save_fetch(store, &batch, answer.listings, &saved, &error);
	store_commit(&transaction, &error);
	g_assert_no_error(error);
	source_answer_clear(&answer);
}

/* The days in the directory before the one that is matched. */
static void
add_earlier_days(struct store *store, const char *directory)
{
	static const char before[] = "daily_papers-";
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	const char *name;

	g_assert_nonnull(dir);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *day = NULL;

		if (!g_str_has_prefix(name, before))
			continue;
		day = g_strndup(name + strlen(before), strlen(INPUT_DAY));
		if (strcmp(day, INPUT_DAY) < 0)
			add_day(store, directory, day);
	}
}

int
main(int argc, char **argv)
{
	struct match_report nothing = {0};
	pb_auto(store) store = NULL;

	if (argc != 4) {
		fprintf(stderr, "usage: fill STORE DIRECTORY FILTERS.tsv\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	/* Nobody measures this: it need not outlive a power cut, nor be small. */
	sqlite3_exec(store->db,
	    "PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;"
	    "PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 100000",
	    NULL, NULL, NULL);
	add_earlier_days(store, argv[2]);
	/* Nobody is there: whoever comes joins the crowd at once. */
	match_run(store, INPUT_NOW, &nothing, NULL);
	add_people(store, argv[3]);
	add_day(store, argv[2], INPUT_DAY);
	store_checkpoint(store);
	return 0;
}
