/*
 * clause_papers.c - papers that match a clause about other fields than texts and
 * authors.
 */
#include "service/match/clause_papers.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "query/eval/clause_match.h"
#include "query/eval/doc_values.h"
#include "store/paper/paper_values.h"

/* A search for the papers of one clause. */
struct finding {
	struct store *store;
	const struct node *node;
	const struct paper_values *values;
	int32_t oldest;
	guint first;
	uint8_t *papers; /* by seq */
};

static bool
is_within(const struct node *node, int64_t number)
{
	return number != PAPER_UNKNOWN && number >= node->min && number <= node->max;
}

static void
find_number(struct finding *finding)
{
	for (guint seq = 0; seq < finding->values->values->len; seq++) {
		const struct paper_details *details =
		    &g_array_index(finding->values->details, struct paper_details, seq);
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
	for (guint seq = 0; seq < finding->values->values->len; seq++)
		finding->papers[seq] = is_within(finding->node,
		    g_array_index(finding->values->values, struct paper_value, seq)
		        .upvotes);
}

static void
find_links(struct finding *finding)
{
	static const char *const names[] = {"code", "project", "video"};
	unsigned mask = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		mask |= doc_values_is_value(finding->node, names[i]) ? 1U << i : 0;
	for (guint seq = 0; seq < finding->values->values->len; seq++)
		finding->papers[seq] =
		    (g_array_index(finding->values->details, struct paper_details, seq)
		            .links &
		        mask) != 0;
}

/* Each distinct text is evaluated once. */
static void
find_texts(struct finding *finding)
{
	const GPtrArray *texts = finding->values->texts;
	const struct tokenizer *tokenizer = store_get_tokenizer(finding->store);
	bool is_organization = finding->node->field->hit == HIT_FIELD_ORGANIZATION;
	/* 0: not evaluated; 1: no match; 2: a match */
	g_autofree uint8_t *known = g_new0(uint8_t, texts->len);

	known[0] = 1;
	for (guint seq = 0; seq < finding->values->values->len; seq++) {
		const struct paper_details *details =
		    &g_array_index(finding->values->details, struct paper_details, seq);
		uint32_t i =
		    is_organization ? details->organization : details->categories;

		if (!known[i])
			known[i] = clause_match_values(finding->node, texts->pdata[i],
			               tokenizer) == QUERY_TRUE
			               ? 2
			               : 1;
		finding->papers[seq] = known[i] == 2;
	}
}

/* ---- listings ---- */

static void
find_sources(struct finding *finding)
{
	const GArray *listings = finding->values->listings;
	const GPtrArray *texts = finding->values->texts;
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
	const GArray *listings = finding->values->listings;
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
	const GArray *listings = finding->values->listings;
	struct doc_values_day day = {DATE_NONE, false};
	struct doc_values origin = {.first_day = DATE_NONE};
	int64_t first_day = -1;
	bool is_match = false;

	for (guint i = 0; i < listings->len; i++) {
		const struct paper_listed *listed =
		    &g_array_index(listings, struct paper_listed, i);
		const struct paper_details *details = &g_array_index(
		    finding->values->details, struct paper_details, listed->seq);
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

/* ---- texts that are not in memory ---- */

static bool
is_newer(const struct finding *finding, guint seq)
{
	return g_array_index(finding->values->values, struct paper_value, seq).day >=
	       finding->oldest;
}

/* As paper_values_found; too many to tokenize. */
static void
add_text(void *data, int64_t seq, const char *text)
{
	struct finding *finding = data;

	if (seq >= 0 && seq < finding->values->values->len &&
	    is_newer(finding, (guint)seq))
		finding->papers[seq] = clause_may_match(finding->node, text);
}

static void
add_id(void *data, int64_t seq, const char *id)
{
	struct finding *finding = data;

	if (seq >= 0 && seq < finding->values->values->len)
		finding->papers[seq] = doc_values_is_value(finding->node, id);
}

/* By field. */
static const struct finder {
	unsigned parts; /* bits of enum paper_part */
	void (*find)(struct finding *finding);
	paper_values_found found; /* before that, with all values; or NULL */
} finders[HIT_FIELDS] = {
    [HIT_FIELD_ORGANIZATION] = {PAPER_PART_ORGANIZATIONS, find_texts, NULL},
    [HIT_FIELD_KEYWORD] = {0, NULL, add_text},
    [HIT_FIELD_COMMENT] = {0, NULL, add_text},
    [HIT_FIELD_JOURNAL] = {0, NULL, add_text},
    [HIT_FIELD_PRIMARY] = {PAPER_PART_CATEGORIES, find_texts, NULL},
    [HIT_FIELD_CATEGORY] = {PAPER_PART_CATEGORIES, find_texts, NULL},
    [HIT_FIELD_SOURCE] = {PAPER_PART_TIMES | PAPER_PART_LISTINGS, find_sources, NULL},
    [HIT_FIELD_TYPE] = {PAPER_PART_TIMES | PAPER_PART_LISTINGS, find_types, NULL},
    [HIT_FIELD_DATE] = {PAPER_PART_TIMES | PAPER_PART_LISTINGS, find_dates, NULL},
    [HIT_FIELD_ID] = {0, NULL, add_id},
    [HIT_FIELD_DOI] = {0, NULL, add_id},
    [HIT_FIELD_UPVOTES] = {0, find_upvotes, NULL},
    [HIT_FIELD_COMMENTS] = {PAPER_PART_NUMBERS, find_number, NULL},
    [HIT_FIELD_STARS] = {PAPER_PART_NUMBERS, find_number, NULL},
    [HIT_FIELD_AUTHORS] = {PAPER_PART_LINKS, find_number, NULL},
    [HIT_FIELD_HAS] = {PAPER_PART_LINKS, find_links, NULL},
};

static bool
find_papers(struct finding finding, struct fts_clause *clause, GError **error)
{
	enum hit_field field = clause->node->field->hit;
	const struct finder *finder = &finders[field];

	finding.node = clause->node;
	finding.values =
	    paper_values_load(finding.store, finder->parts, finding.first, error);
	if (!finding.values)
		return false;
	finding.papers = clause->papers = g_new0(uint8_t, finding.values->values->len);
	clause->is_exact = finder->found != add_text;
	if (finder->found && !paper_values_foreach(finding.store, field, finding.first,
	                         finder->found, &finding, error))
		return false;
	if (finder->find)
		finder->find(&finding);
	return true;
}

static bool
has_values(enum node_kind kind)
{
	return kind == NODE_VALUE || kind == NODE_VALUE_WORDS || kind == NODE_NUMBER ||
	       kind == NODE_DATE;
}

static bool
load_clauses(struct finding finding, GArray *clauses, GError **error)
{
	for (guint i = 0; i < clauses->len; i++) {
		struct fts_clause *clause =
		    &g_array_index(clauses, struct fts_clause, i);

		if (has_values(clause->node->kind) &&
		    !find_papers(finding, clause, error))
			return false;
	}
	return true;
}

bool
clause_papers_load(struct store *store, int32_t oldest, guint first,
    struct fts_query *fts, GError **error)
{
	const struct finding finding = {
	    .store = store, .oldest = oldest, .first = first};

	return load_clauses(finding, fts->clauses, error) &&
	       load_clauses(finding, fts->negated, error);
}
