/*
 * paper_dedup.c - merge the data of a paper from several sources.
 */
#include "store/paper/paper_dedup.h"

#include <stddef.h>
#include <string.h>

#include "model/paper_id.h"

/* Rules for choosing between two values.  A missing one never replaces another. */
enum rule {
	RULE_BEST_ID,     /* arXiv's, then a DOI, then the source's own */
	RULE_SOURCE_RANK, /* best text: arXiv, then Hugging Face, then feeds */
	RULE_PAGE,        /* Hugging Face's page, then arXiv's, then a feed's link */
	/* The longer list, or a new one of Hugging Face unless arXiv has reported the
	 * paper; at the same length, the better source's, or that with fuller names. */
	RULE_LONGER,
	RULE_ARXIV,    /* arXiv's; others' only until arXiv has reported the field */
	RULE_JOURNAL,  /* as RULE_ARXIV, but never an abbreviation of the other name */
	RULE_LATEST,   /* the last value reported */
	RULE_FIRST,    /* the first value reported */
	RULE_EARLIEST, /* the earlier time */
};

enum type { TYPE_TEXT, TYPE_LIST, TYPE_NUMBER };

static const struct {
	const char *name;
	size_t offset;
	enum type type;
	enum rule rule;
} fields[] = {
#define FIELD(n, t, r)                                  \
	{                                               \
#n, offsetof(struct paper, n), (t), (r) \
	}
    FIELD(id, TYPE_TEXT, RULE_BEST_ID),
    FIELD(guid, TYPE_TEXT, RULE_LATEST),
    FIELD(title, TYPE_TEXT, RULE_SOURCE_RANK),
    FIELD(abstract, TYPE_TEXT, RULE_SOURCE_RANK),
    FIELD(summary, TYPE_TEXT, RULE_LATEST),
    FIELD(authors, TYPE_LIST, RULE_LONGER),
    FIELD(url, TYPE_TEXT, RULE_PAGE),
    FIELD(published_at, TYPE_NUMBER, RULE_EARLIEST),
    FIELD(upvotes, TYPE_NUMBER, RULE_LATEST),
    FIELD(comments, TYPE_NUMBER, RULE_LATEST),
    FIELD(stars, TYPE_NUMBER, RULE_LATEST),
    FIELD(code_url, TYPE_TEXT, RULE_LATEST),
    FIELD(project_url, TYPE_TEXT, RULE_LATEST),
    FIELD(video_url, TYPE_TEXT, RULE_LATEST),
    FIELD(organization, TYPE_TEXT, RULE_LATEST),
    FIELD(keywords, TYPE_LIST, RULE_SOURCE_RANK),
    FIELD(categories, TYPE_LIST, RULE_ARXIV),
    FIELD(comment, TYPE_TEXT, RULE_ARXIV),
    FIELD(journal, TYPE_TEXT, RULE_JOURNAL),
    FIELD(journal_names, TYPE_LIST, RULE_FIRST),
    FIELD(doi, TYPE_TEXT, RULE_ARXIV),
    FIELD(pmid, TYPE_TEXT, RULE_LATEST),
    FIELD(pmcid, TYPE_TEXT, RULE_LATEST),
    FIELD(mesh, TYPE_LIST, RULE_LATEST),
#undef FIELD
};

/* A paper to merge, and the value of one of its fields. */
struct side {
	const struct paper *paper;
	const char *text;
	const GPtrArray *list;
	int64_t number;
};

static struct side
get_side(const struct paper *paper, size_t i)
{
	const char *at = (const char *)paper + fields[i].offset;
	struct side side = {.paper = paper, .number = PAPER_UNKNOWN};

	switch (fields[i].type) {
	case TYPE_TEXT:
		side.text = *(char *const *)at;
		break;
	case TYPE_LIST:
		side.list = *(GPtrArray *const *)at;
		break;
	case TYPE_NUMBER:
		side.number = *(const int64_t *)at;
		break;
	}
	return side;
}

/* Rank a value: a missing one is worse than an empty text or list. */
static int
fullness(const struct side *side, size_t i)
{
	switch (fields[i].type) {
	case TYPE_TEXT:
		return side->text ? 1 + (*side->text != '\0') : 0;
	case TYPE_LIST:
		return side->list ? 1 + (side->list->len > 0) : 0;
	case TYPE_NUMBER:
		return side->number != PAPER_UNKNOWN ? 2 : 0;
	}
	return 0;
}

static int
rank_of_id(const char *id)
{
	if (paper_id_is_arxiv(id))
		return 2;
	return g_str_has_prefix(id, "doi:") ? 1 : 0;
}

bool
paper_dedup_is_better_id(const char *id, const char *than)
{
	return rank_of_id(id) > rank_of_id(than);
}

static int
rank_of_page(const char *url)
{
	if (g_str_has_prefix(url, "https://huggingface.co/"))
		return 2;
	return g_str_has_prefix(url, "https://arxiv.org/") ? 1 : 0;
}

/* Count the letters of names, without initials. */
static unsigned
count_letters(const GPtrArray *names)
{
	unsigned letters = 0;

	for (unsigned i = 0; i < names->len; i++) {
		unsigned in_word = 0;

		for (const char *at = names->pdata[i];; at = g_utf8_next_char(at)) {
			bool is_letter = g_unichar_isalpha(g_utf8_get_char(at));

			if (!is_letter && in_word > 1)
				letters += in_word;
			in_word = is_letter ? in_word + 1 : 0;
			if (!*at)
				break;
		}
	}
	return letters;
}

int
paper_dedup_compare_names(const GPtrArray *names, const GPtrArray *with)
{
	unsigned here, there;

	if (names->len != with->len)
		return names->len > with->len ? 1 : -1;
	here = count_letters(names);
	there = count_letters(with);
	return (here > there) - (here < there);
}

/* Compare two values that are both set. */
static bool
is_better(const struct side *stored, const struct side *reported, enum rule rule)
{
	bool is_trusted = reported->paper->source_rank >= stored->paper->source_rank;

	switch (rule) {
	case RULE_BEST_ID:
		return paper_dedup_is_better_id(reported->text, stored->text);
	case RULE_SOURCE_RANK:
		return is_trusted;
	case RULE_PAGE:
		return rank_of_page(reported->text) >= rank_of_page(stored->text);
	case RULE_LONGER:
		/* Hugging Face corrects its own lists, which may make them shorter. */
		return (is_trusted &&
		           reported->paper->source_rank == PAPER_SOURCE_RANK_HF) ||
		       reported->list->len > stored->list->len ||
		       (reported->list->len == stored->list->len && is_trusted &&
		           (reported->paper->source_rank > stored->paper->source_rank ||
		               paper_dedup_compare_names(
		                   reported->list, stored->list) >= 0));
	case RULE_JOURNAL:
		if (paper_has_journal_name(stored->paper, reported->text))
			return false;
		if (paper_has_journal_name(reported->paper, stored->text))
			return true;
		/* fall through */
	case RULE_ARXIV:
		return is_trusted ||
		       reported->paper->source_rank == PAPER_SOURCE_RANK_ARXIV;
	case RULE_LATEST:
		return true;
	case RULE_FIRST:
		return false;
	case RULE_EARLIEST:
		return reported->number < stored->number;
	}
	return false;
}

static GPtrArray *
copy_list(const GPtrArray *list)
{
	GPtrArray *copy;

	if (!list)
		return NULL;
	copy = g_ptr_array_new_with_free_func(g_free);
	for (unsigned i = 0; i < list->len; i++)
		g_ptr_array_add(copy, g_strdup(list->pdata[i]));
	return copy;
}

static void
set_field(struct paper *paper, const struct side *side, size_t i)
{
	char *at = (char *)paper + fields[i].offset;
	GPtrArray *list;

	switch (fields[i].type) {
	case TYPE_TEXT:
		*(char **)at = g_strdup(side->text);
		break;
	case TYPE_LIST:
		list = *(GPtrArray **)at;
		*(GPtrArray **)at = copy_list(side->list);
		g_clear_pointer(&list, g_ptr_array_unref);
		break;
	case TYPE_NUMBER:
		*(int64_t *)at = side->number;
		break;
	}
}

struct paper *
paper_dedup_merge(const struct paper *stored, const struct paper *reported)
{
	struct paper *merged = paper_new();

	merged->source_rank = MAX(stored->source_rank, reported->source_rank);
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		struct side before = get_side(stored, i), now = get_side(reported, i);
		int fuller = fullness(&now, i) - fullness(&before, i);
		bool is_reported = fuller > 0;

		if (fuller == 0 && fullness(&now, i) > 0)
			is_reported = is_better(&before, &now, fields[i].rule);
		set_field(merged, is_reported ? &now : &before, i);
	}
	merged->looked_up = stored->looked_up | reported->looked_up;
	return merged;
}
