/*
 * test_suggest.c - suggestions for filters: what is offered, and that it comes true.
 */
#include "service/advice/suggest.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/match/search.h"
#include "store/subscriber/subscribers.h"

#define FILTER_ROW                                                                    \
	"SELECT s.id || '|' || s.number || '|' || s.filter_id || '|' || text || '|' " \
	"||"                                                                          \
	" ifnull(name, '-') || '|' || ifnull(max_papers, 0) || '|' || ifnull(note, "  \
	"'-')"                                                                        \
	" || '|' || since_day || '|' || s.created_at FROM subscription s"

static const struct store_fixture_copies papers[] = {
    {"Agents and function calling",
        "Agents plan steps. Function calling helps with tools.", 8},
    {"Function calling", "Function calling helps to plan steps with tools.", 3},
    {"Large language models (LLMs)", "Large language models (LLMs) write essays.", 4},
    {"An LLM", "An LLM writes essays.", 5},
    {"A genetic algorithm (GA)", "A genetic algorithm (GA) breeds.", 4},
    {"A genetic algorithm", "A genetic algorithm breeds.", 5},
    {"BERT大模型: segmentation", "Segmentation. BERT大模型 helps.", 8},
    {"BERT大模型", "BERT大模型 helps.", 3},
    {"Weather", "Rain and snow over the sea.", 120},
    {"Cells", "Proteins in cells.", 120},
};

static void
fill(struct conversation *c)
{
	store_fixture_save_copies(c->fixture, papers, G_N_ELEMENTS(papers), 0);
}

/* @return "TERM GAINED TEXT; ..." */
static char *
find(struct conversation *c, const char *text)
{
	const struct suggest_request request = {.text = text,
	    .subscriber_id = 1,
	    .subscription_id = 1,
	    .now = c->options.now};
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) found = suggest_find(c->fixture->store, &request, &error);
	GString *list = g_string_new(NULL);

	g_assert_no_error(error);
	g_assert_cmpuint(found->len, <=, SUGGEST_MAX);
	for (unsigned i = 0; i < found->len; i++) {
		const struct suggestion *one = found->pdata[i];

		g_string_append_printf(list, "%s%s %u %s", i ? "; " : "", one->term,
		    one->gained, one->text);
	}
	return g_string_free(list, FALSE);
}

TEST(terms_and_acronyms_widen_their_clause)
{
	pb_auto(conversation) c = conversation_new();

	fill(c);
	CASES_FOREACH(row, "suggest_widen", *filter, *found) {
		g_autofree char *found = find(c, row->filter);

		g_test_message("%s: %s", row->filter, found);
		g_assert_cmpstr(found, ==, row->found);
	}
}

TEST(refused_terms_are_left_out)
{
	pb_auto(conversation) c = conversation_new();
	const struct subscription filter = {
	    .id = 1, .number = 1, .subscriber_id = 1, .text = (char *)"agents"};
	g_autoptr(GPtrArray) offered = NULL, again = NULL;
	const struct proposal *first;
	GError *error = NULL;

	fill(c);
	conversation_subscribe(c, EVA);
	offered = suggest_offer(c->fixture->store, &filter, c->options.now, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(offered->len, ==, 1);
	first = offered->pdata[0];
	g_assert_cmpstr(first->command, ==, "edit 1 agents OR \"function calling\"");
	g_assert_true(proposals_save_state(
	    c->fixture->store, first->id, PROPOSAL_REFUSED, c->options.now, NULL));
	again = suggest_offer(c->fixture->store, &filter, c->options.now, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(again->len, ==, 0);
}

static const char *const filters[] = {"agents", "agents -survey", "diffusion",
    "\"tool use\"", "RAG", "LoRA", "quantization", "\"reward model\"", "robot",
    "medical image", "mamba OR \"state space\"", "title:reasoning", "video generation",
    "\"speech recognition\" OR ASR", "benchmark code", "name=x max=4 note=\"n\" GRPO",
    "alignment^3 (safety OR preference)", "upvotes:>=20 reasoning", "3D scene",
    "multimodal -video"};

static bool
add_recent(void *data, struct search_match *match, GError **error)
{
	(void)error;
	g_hash_table_add(data, g_memdup2(&match->seq, sizeof(match->seq)));
	return true;
}

/* @return a set of the papers of the last SUGGEST_DAYS days that a filter finds */
static GHashTable *
find_recent(struct conversation *c, const char *text)
{
	struct store *store = c->fixture->store;
	char oldest[DAY_BYTES];
	const struct search_scope scope = {.now = c->options.now, .oldest_day = oldest};
	GHashTable *found =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	GError *error = NULL;
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), NULL, NULL, &error);

	g_assert_no_error(error);
	day_format(c->options.now - SUGGEST_DAYS * (int64_t)CLOCK_DAY_S, oldest);
	search_foreach(store, query, &scope, add_recent, found, NULL, &error);
	g_assert_no_error(error);
	return found;
}

static unsigned
check_gains(struct conversation *c, const char *text)
{
	const struct suggest_request request = {.text = text, .now = c->options.now};
	g_autoptr(GPtrArray) found = suggest_find(c->fixture->store, &request, NULL);
	g_autoptr(GHashTable) before = find_recent(c, text);

	g_assert_nonnull(found);
	for (unsigned i = 0; i < found->len; i++) {
		const struct suggestion *one = found->pdata[i];
		g_autoptr(GHashTable) after = find_recent(c, one->text);
		GHashTableIter iter;
		gpointer seq;

		g_test_message("%s: %s, %u", text, one->text, one->gained);
		g_assert_cmpuint(g_hash_table_size(after), ==,
		    g_hash_table_size(before) + one->gained);
		g_hash_table_iter_init(&iter, before);
		while (g_hash_table_iter_next(&iter, &seq, NULL))
			g_assert_true(g_hash_table_contains(after, seq));
	}
	return found->len;
}

/* Each suggestion adds the papers that it promises, and removes none. */
TEST(gains_are_those_of_a_search)
{
	pb_auto(conversation) c = conversation_new();
	unsigned count = 0;

	fill(c);
	g_assert_cmpuint(check_gains(c, "agents -survey"), ==, 1);
	if (!store_fixture_fill_real(c->fixture)) {
		g_test_skip(STORE_FIXTURE_NO_REAL_DATA);
		return;
	}
	c->options.now = store_fixture_time("2025-08-29T18:00:00Z");
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		count += check_gains(c, filters[i]);
	g_assert_cmpuint(count, >=, 10);
}

static char *
load_row(struct conversation *c)
{
	return store_fixture_text(c->fixture, FILTER_ROW);
}

/* Apply each proposal for a filter by mail, and undo it. */
static unsigned
check_filter(struct conversation *c, const char *reply, const char *filter)
{
	g_autofree char *line = g_strdup_printf("add %s", filter);
	g_autoptr(GPtrArray) open = NULL;
	g_autofree char *before = NULL;
	unsigned count;

	conversation_send(c, EVA, reply, line);
	before = load_row(c);
	open = proposals_load_open(c->fixture->store, 1, 0, c->options.now, NULL);
	count = open->len;
	for (unsigned i = 0; i < count; i++) {
		const struct proposal *one = open->pdata[i];
		g_autofree char *yes = g_strdup_printf("yes %u", one->number);
		g_autofree char *undo = g_strdup_printf("undo %u", one->number);
		g_autofree char *added = g_strdup_printf(
		    "%" G_GINT64_FORMAT " added, 0 removed", one->gained);
		g_autofree char *mail = NULL, *after = NULL;

		conversation_send(c, EVA, reply, yes);
		mail = conversation_get_mail(c);
		if (!strstr(mail, added))
			g_error("%s: %s: '%s' is not in: %s", filter, one->command,
			    added, mail);
		conversation_send(c, EVA, reply, undo);
		after = load_row(c);
		g_assert_cmpstr(before, ==, after);
	}
	conversation_send(c, EVA, reply, "del 1");
	store_fixture_run(c->fixture, "DELETE FROM proposal; DELETE FROM rate_log");
	return count;
}

TEST(applied_suggestions_keep_their_word_on_real_days)
{
	pb_auto(conversation) c = conversation_new();
	g_autofree char *mail = NULL, *reply = NULL;
	unsigned count = 0;

	if (!store_fixture_fill_real(c->fixture)) {
		g_test_skip(STORE_FIXTURE_NO_REAL_DATA);
		return;
	}
	conversation_load_templates(c);
	c->options.now = store_fixture_time("2025-08-29T18:00:00Z");
	store_fixture_set_now(c->fixture, c->options.now);
	conversation_subscribe(c, EVA);
	conversation_send(c, EVA, HOME, "list");
	mail = conversation_get_mail(c);
	reply = g_strdup(strstr(mail, "Reply-To: ") + strlen("Reply-To: "));
	*strchr(reply, '\r') = '\0';
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		count += check_filter(c, reply, filters[i]);
	g_test_message("%u proposals", count);
	g_assert_cmpuint(count, >=, 5);
}

static void
set_up(struct conversation *c)
{
	conversation_load_templates(c);
	store_fixture_set_now(c->fixture, c->options.now);
	fill(c);
	conversation_subscribe(c, EVA);
}

static void
subscribe_adam(struct conversation *c)
{
	conversation_subscribe(c, ADAM);
}

static const struct conversation_call calls[] = {
    {"set_up", set_up},
    {"subscribe_adam", subscribe_adam},
    {NULL, NULL},
};

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_set_nonfatal_assertions();
	conversation_add_script("suggest", calls);
	unit_add_all();
	return g_test_run();
}
