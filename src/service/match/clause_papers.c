/*
 * clause_papers.c - papers that match a clause without words.
 */
#include "service/match/clause_papers.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "query/eval/doc_values.h"
#include "store/paper/paper_values.h"

/* A search for the papers of one clause. */
struct finding {
	struct store *store;
	const struct node *node;
	const GArray *values;                    /* of struct paper_value */
	const struct paper_details_all *details; /* or NULL */
	uint8_t *papers;                         /* by seq */
};

static bool
is_within(const struct node *node, int64_t number)
{
	return number != PAPER_UNKNOWN && number >= node->min && number <= node->max;
}

static void
find_number(struct finding *finding)
{
	for (guint seq = 0; seq < finding->values->len; seq++) {
		const struct paper_details *details =
		    &g_array_index(finding->details->papers, struct paper_details, seq);
		int64_t number =
		    finding->node->field->hit == HIT_FIELD_COMMENTS ? details->comments
		    : finding->node->field->hit == HIT_FIELD_STARS  ? details->stars
		                                                    : details->authors;

		finding->papers[seq] = is_within(finding->node, number);
	}
}

static void
find_upvotes(struct finding *finding)
{
	for (guint seq = 0; seq < finding->values->len; seq++)
		finding->papers[seq] = is_within(finding->node,
		    g_array_index(finding->values, struct paper_value, seq).upvotes);
}

static void
find_links(struct finding *finding)
{
	static const char *const names[] = {"code", "project", "video"};
	unsigned mask = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		mask |= doc_values_is_value(finding->node, names[i]) ? 1U << i : 0;
	for (guint seq = 0; seq < finding->values->len; seq++)
		finding->papers[seq] =
		    (g_array_index(finding->details->papers, struct paper_details, seq)
		            .links &
		        mask) != 0;
}

/* Whether a value of a field that is one text matches. */
static bool
is_text_match(const struct finding *finding, const char *text)
{
	pb_auto(doc_values) doc_values = doc_values_new_lines(
	    finding->node->field, text, store_get_tokenizer(finding->store));
	enum query_verdict verdict =
	    finding->node->kind == NODE_VALUE_WORDS
	        ? doc_values_evaluate_words(doc_values, finding->node)
	        : doc_values_evaluate_value(doc_values, finding->node);

	return verdict == QUERY_TRUE;
}

/* Each distinct text is evaluated once. */
static void
find_texts(struct finding *finding)
{
	const GPtrArray *texts = finding->details->texts;
	bool is_organization = finding->node->field->hit == HIT_FIELD_ORGANIZATION;
	/* 0: not evaluated; 1: no match; 2: a match */
	g_autofree uint8_t *known = g_new0(uint8_t, texts->len);

	known[0] = 1;
	for (guint seq = 0; seq < finding->values->len; seq++) {
		const struct paper_details *details =
		    &g_array_index(finding->details->papers, struct paper_details, seq);
		uint32_t i =
		    is_organization ? details->organization : details->categories;

		if (!known[i])
			known[i] = is_text_match(finding, texts->pdata[i]) ? 2 : 1;
		finding->papers[seq] = known[i] == 2;
	}
}

/* ---- listings ---- */

static void
find_sources(struct finding *finding)
{
	const GArray *listings = finding->details->listings;
	const GPtrArray *texts = finding->details->texts;
	uint32_t source = 0;
	bool is_match = false;

	for (guint i = 0; i < listings->len; i++) {
		const struct paper_listed *listed =
		    &g_array_index(listings, struct paper_listed, i);

		if (listed->source != source)
			is_match = doc_values_is_value(
			    finding->node, texts->pdata[listed->source]);
		source = listed->source;
		finding->papers[listed->seq] |= is_match;
	}
}

/* A replaced cross-list is both. */
static void
find_types(struct finding *finding)
{
	const GArray *listings = finding->details->listings;
	bool is_match[LISTING_REPLACE_CROSS + 1];

	for (unsigned i = 0; i < LISTING_REPLACE_CROSS; i++)
		is_match[i] = doc_values_is_value(
		    finding->node, listing_type_name((enum listing_type)i));
	is_match[LISTING_REPLACE_CROSS] =
	    is_match[LISTING_REPLACE] || is_match[LISTING_CROSS];
	for (guint i = 0; i < listings->len; i++) {
		const struct paper_listed *listed =
		    &g_array_index(listings, struct paper_listed, i);

		finding->papers[listed->seq] |= is_match[listed->listing_type];
	}
}

static void
find_dates(struct finding *finding)
{
	const GArray *listings = finding->details->listings;
	struct doc_values_day day = {DATE_NONE, false};
	struct doc_values origin = {.first_day = DATE_NONE};
	int64_t first_day = -1;
	bool is_match = false;

	for (guint i = 0; i < listings->len; i++) {
		const struct paper_listed *listed =
		    &g_array_index(listings, struct paper_listed, i);
		const struct paper_details *details = &g_array_index(
		    finding->details->papers, struct paper_details, listed->seq);
		int64_t seen_day = details->first_seen_at / CLOCK_DAY_S;
		bool is_same = first_day == seen_day && day.day == listed->date &&
		               day.is_late == listed->is_late;

		/* Adjacent papers mostly have the same days. */
		if (first_day != seen_day) {
			char text[DAY_BYTES];

			first_day = seen_day;
			day_format(details->first_seen_at, text);
			origin.first_day = date_read_day(text);
		}
		day = (struct doc_values_day){listed->date, listed->is_late};
		if (!is_same)
			is_match = doc_values_is_day(&origin, finding->node, &day);
		finding->papers[listed->seq] |= is_match;
	}
}

/* ---- identifiers ---- */

static void
add_id(void *data, int64_t seq, const char *id)
{
	struct finding *finding = data;

	if (seq >= 0 && seq < finding->values->len)
		finding->papers[seq] = doc_values_is_value(finding->node, id);
}

/* By field; NULL: not in memory. */
static void (*const finders[HIT_FIELDS])(struct finding *finding) = {
    [HIT_FIELD_ORGANIZATION] = find_texts,
    [HIT_FIELD_PRIMARY] = find_texts,
    [HIT_FIELD_CATEGORY] = find_texts,
    [HIT_FIELD_SOURCE] = find_sources,
    [HIT_FIELD_TYPE] = find_types,
    [HIT_FIELD_DATE] = find_dates,
    [HIT_FIELD_UPVOTES] = find_upvotes,
    [HIT_FIELD_COMMENTS] = find_number,
    [HIT_FIELD_STARS] = find_number,
    [HIT_FIELD_AUTHORS] = find_number,
    [HIT_FIELD_HAS] = find_links,
};

static bool
find_papers(struct finding *finding, GError **error)
{
	enum hit_field field = finding->node->field->hit;

	if (field == HIT_FIELD_ID)
		return paper_values_foreach_id(finding->store, add_id, finding, error);
	if (field == HIT_FIELD_DOI)
		return paper_values_foreach_doi(finding->store, add_id, finding, error);
	if (field != HIT_FIELD_UPVOTES) {
		finding->details = paper_values_load_details(finding->store, error);
		if (!finding->details)
			return false;
	}
	finders[field](finding);
	return true;
}

static bool
load_clauses(struct store *store, const GArray *values, GArray *clauses, GError **error)
{
	for (guint i = 0; i < clauses->len; i++) {
		struct fts_clause *clause =
		    &g_array_index(clauses, struct fts_clause, i);
		enum hit_field field = clause->node->field->hit;
		struct finding finding = {
		    .store = store, .node = clause->node, .values = values};

		if (field != HIT_FIELD_ID && field != HIT_FIELD_DOI && !finders[field])
			continue;
		finding.papers = clause->papers = g_new0(uint8_t, values->len);
		clause->is_exact = true;
		if (!find_papers(&finding, error))
			return false;
	}
	return true;
}

bool
clause_papers_load(struct store *store, struct fts_query *fts, GError **error)
{
	const GArray *values = paper_values_load(store, error);

	return values && load_clauses(store, values, fts->clauses, error) &&
	       load_clauses(store, values, fts->negated, error);
}
