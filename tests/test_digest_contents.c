/*
 * test_digest_contents.c - the packed form of digests.
 */
#include <stdlib.h>

#include "base/error.h"
#include "lib/unit.h"
#include "model/digest_contents.h"

/* Random texts, some of them empty, long or not ASCII. */
static const char *
make_text(GRand *rand, struct digest_contents *contents)
{
	static const char *const parts[] = {
	    "", "a", "state space", "\xc3\xa4", "\t", "\n", "cs.LG", "\x1f"};
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = g_rand_int_range(rand, 0, 6); i > 0; i--)
		g_string_append(
		    text, parts[g_rand_int_range(rand, 0, G_N_ELEMENTS(parts))]);
	return digest_contents_keep(contents, text->str);
}

static const char *
make_optional_text(GRand *rand, struct digest_contents *contents)
{
	return g_rand_boolean(rand) ? make_text(rand, contents) : NULL;
}

/* Small, large, or -1. */
static int64_t
make_number(GRand *rand)
{
	unsigned bits = (unsigned)g_rand_int_range(rand, 0, 63);
	uint64_t number =
	    ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) >> (64 - bits - 1);

	return g_rand_int_range(rand, 0, 5) ? (int64_t)(number & (INT64_MAX >> 1)) : -1;
}

static void
add_paper(GRand *rand, struct digest_contents *contents)
{
	struct digest_contents_paper paper = {
	    .seq = llabs(make_number(rand)),
	    .replacement = llabs(make_number(rand)),
	    .upvotes = make_number(rand),
	    .upvotes_before = make_number(rand),
	    .stars = make_number(rand),
	    .venue = make_optional_text(rand, contents),
	    .shown = (enum digest_detail)g_rand_int_range(rand, 0, 3),
	};

	if (contents->style.attach != PREFERENCE_ATTACH_NONE)
		paper.reference = (struct digest_reference){
		    .journal = make_optional_text(rand, contents),
		    .doi = make_optional_text(rand, contents),
		    .published_at = make_number(rand),
		    .categories = make_optional_text(rand, contents),
		    .keywords = make_optional_text(rand, contents),
		};
	g_snprintf(paper.day, sizeof(paper.day), "%04d-%02d-%02d",
	    g_rand_int_range(rand, 0, 10000), g_rand_int_range(rand, 0, 100),
	    g_rand_int_range(rand, 0, 100));
	g_array_append_val(contents->papers, paper);
	if (contents->filters->len)
		for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--)
			digest_contents_add_reason(contents,
			    (unsigned)g_rand_int_range(
			        rand, 0, (int)contents->filters->len),
			    make_text(rand, contents));
}

static void
make_contents(GRand *rand, struct digest_contents *contents)
{
	static const char *const languages[] = {"", "de", "en"};

	digest_contents_init(contents);
	contents->style = (struct digest_style){
	    .abstract = (enum preference_abstract)g_rand_int_range(rand, 0, 4),
	    .format = (enum preference_format)g_rand_int_range(rand, 0, 3),
	    .attach = (enum preference_attach)g_rand_int_range(rand, 0, 4),
	    .group = (enum preference_group)g_rand_int_range(rand, 0, 2),
	    .feedback = (enum preference_feedback)g_rand_int_range(rand, 0, 2),
	};
	g_strlcpy(contents->style.language, languages[g_rand_int_range(rand, 0, 3)],
	    sizeof(contents->style.language));
	contents->coverage = make_text(rand, contents);
	contents->notices = make_text(rand, contents);
	for (int i = g_rand_int_range(rand, 0, 5); i > 0; i--) {
		struct digest_filter filter = {
		    .number = g_rand_int_range(rand, 0, 10000),
		    .papers = g_rand_int(rand),
		    .label = make_text(rand, contents),
		    .query = make_text(rand, contents),
		};

		g_array_append_val(contents->filters, filter);
	}
	for (int i = g_rand_int_range(rand, 0, 12); i > 0; i--)
		add_paper(rand, contents);
}

static void
assert_same_paper(
    const struct digest_contents *a, const struct digest_contents *b, unsigned i)
{
	const struct digest_contents_paper *one = digest_contents_get_paper(a, i);
	const struct digest_contents_paper *other = digest_contents_get_paper(b, i);

	g_assert_cmpint(one->seq, ==, other->seq);
	g_assert_cmpint(one->replacement, ==, other->replacement);
	g_assert_cmpstr(one->day, ==, other->day);
	g_assert_cmpint(one->upvotes, ==, other->upvotes);
	g_assert_cmpint(one->upvotes_before, ==, other->upvotes_before);
	g_assert_cmpint(one->stars, ==, other->stars);
	g_assert_cmpstr(one->venue, ==, other->venue);
	g_assert_cmpint(one->shown, ==, other->shown);
	g_assert_cmpint(one->reference.published_at, ==, other->reference.published_at);
	g_assert_cmpstr(one->reference.journal, ==, other->reference.journal);
	g_assert_cmpstr(one->reference.doi, ==, other->reference.doi);
	g_assert_cmpstr(one->reference.categories, ==, other->reference.categories);
	g_assert_cmpstr(one->reference.keywords, ==, other->reference.keywords);
	g_assert_cmpuint(one->reasons, ==, other->reasons);
	for (unsigned j = 0; j < one->reasons; j++) {
		const struct digest_contents_reason *reason =
		    digest_contents_get_reason(a, one->first_reason + j);
		const struct digest_contents_reason *same =
		    digest_contents_get_reason(b, other->first_reason + j);

		g_assert_cmpuint(reason->filter, ==, same->filter);
		g_assert_cmpstr(reason->hits, ==, same->hits);
	}
}

static void
assert_same(const struct digest_contents *a, const struct digest_contents *b)
{
	g_assert_cmpmem(&a->style, sizeof(a->style), &b->style, sizeof(b->style));
	g_assert_cmpstr(a->coverage, ==, b->coverage);
	g_assert_cmpstr(a->notices, ==, b->notices);
	g_assert_cmpuint(a->filters->len, ==, b->filters->len);
	for (unsigned i = 0; i < a->filters->len; i++) {
		const struct digest_filter *one = digest_contents_get_filter(a, i);
		const struct digest_filter *other = digest_contents_get_filter(b, i);

		g_assert_cmpint(one->number, ==, other->number);
		g_assert_cmpuint(one->papers, ==, other->papers);
		g_assert_cmpstr(one->label, ==, other->label);
		g_assert_cmpstr(one->query, ==, other->query);
	}
	g_assert_cmpuint(a->papers->len, ==, b->papers->len);
	for (unsigned i = 0; i < a->papers->len; i++)
		assert_same_paper(a, b, i);
}

/* The papers of a value, and of its head, are those of the contents. */
static void
assert_papers(const struct digest_contents *contents, const GByteArray *packed)
{
	g_autoptr(GArray) papers =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
	g_autoptr(GArray) again =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
	size_t head_bytes;

	NO_ERROR(digest_contents_unpack_papers(
	    packed->data, packed->len, papers, &head_bytes, &error));
	NO_ERROR(digest_contents_unpack_papers(
	    packed->data, head_bytes, again, NULL, &error));
	g_assert_cmpuint(papers->len, ==, contents->papers->len);
	g_assert_cmpuint(again->len, ==, papers->len);
	for (unsigned i = 0; i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    &g_array_index(papers, struct digest_contents_version, i);
		const struct digest_contents_paper *wanted =
		    digest_contents_get_paper(contents, i);

		g_assert_cmpint(paper->seq, ==, wanted->seq);
		g_assert_cmpint(paper->replacement, ==, wanted->replacement);
	}
}

TEST(contents_that_are_unpacked_are_those_that_were_packed)
{
	for (guint32 seed = 0; seed < 2000; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		pb_local(digest_contents) contents = {0};
		pb_local(digest_contents) again = {0};
		g_autoptr(GByteArray) packed = NULL;

		make_contents(rand, &contents);
		packed = digest_contents_pack(&contents);
		digest_contents_init(&again);
		NO_ERROR(
		    digest_contents_unpack(&again, packed->data, packed->len, &error));
		assert_same(&contents, &again);
		assert_papers(&contents, packed);
	}
}

/* The format of version 1: values in stores do not change. */
TEST(packed_form_is_stable)
{
	static const char wanted[] =
	    "\1\2\x81\1\0\5\2"                /* version, papers: 129, 5 in version 2 */
	    "\1\0\0\1"                        /* style */
	    "de\0all\0\0"                     /* language, coverage, notices */
	    "\1\3\2ssm\0\"state space\"\0"    /* a filter */
	    "\x9a\xd1\xd4\x09"                /* 20261018 */
	    "\0\x2b\0\1\1cs.LG\0\0\1\0tSSM\0" /* 42 votes, 0 stars */
	    "\x11\0\0\0\0\2\0"; /* 17 less: 20261001; only counted, without reasons */
	static const struct digest_filter filter = {
	    .number = 3, .papers = 2, .label = "ssm", .query = "\"state space\""};
	struct digest_contents_paper papers[] = {
	    {.seq = 129,
	        .day = "2026-10-18",
	        .upvotes = 42,
	        .upvotes_before = -1,
	        .stars = 0,
	        .venue = "cs.LG"},
	    {.seq = 5,
	        .replacement = 2,
	        .day = "2026-10-01",
	        .upvotes = -1,
	        .upvotes_before = -1,
	        .stars = -1,
	        .shown = DIGEST_DETAIL_COUNT},
	};
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;

	digest_contents_init(&contents);
	contents.style = (struct digest_style){
	    .abstract = PREFERENCE_ABSTRACT_SHORT,
	    .group = PREFERENCE_GROUP_ON,
	    .language = "de",
	};
	contents.coverage = "all";
	g_array_append_val(contents.filters, filter);
	g_array_append_val(contents.papers, papers[0]);
	digest_contents_add_reason(&contents, 0, "tSSM");
	g_array_append_val(contents.papers, papers[1]);
	packed = digest_contents_pack(&contents);
	g_assert_cmpmem(packed->data, packed->len, wanted, sizeof(wanted) - 1);
}

/* A value with any byte changed or cut off is refused, or has that packed form only. */
TEST(damaged_values_are_refused)
{
	unsigned refused = 0;

	for (guint32 seed = 0; seed < 2000; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		pb_local(digest_contents) contents = {0};
		pb_local(digest_contents) damaged = {0};
		g_autoptr(GByteArray) packed = NULL;
		g_autoptr(GByteArray) again = NULL;
		g_autofree uint8_t *copy = NULL;
		g_autoptr(GError) error = NULL;
		unsigned size;

		make_contents(rand, &contents);
		packed = digest_contents_pack(&contents);
		if (seed % 2)
			packed->data[g_rand_int_range(rand, 0, (int)packed->len)] ^=
			    (uint8_t)g_rand_int_range(rand, 1, 256);
		size = seed % 2 ? packed->len
		                : (unsigned)g_rand_int_range(rand, 0, (int)packed->len);
		copy = g_memdup2(packed->data, size);
		digest_contents_init(&damaged);
		if (!digest_contents_unpack(&damaged, copy, size, &error)) {
			g_assert_error(error, PB_ERROR, PB_ERROR_DAMAGED);
			refused++;
			continue;
		}
		g_assert_cmpuint(seed % 2, ==, 1);
		again = digest_contents_pack(&damaged);
		g_assert_cmpmem(again->data, again->len, copy, size);
	}
	g_assert_cmpuint(refused, >, 1000);
}

TEST(hostile_counts_are_refused)
{
	static const struct {
		const char *value;
		size_t size;
	} rows[] = {
	    {"", 0}, {"\1", 1}, {"\2\0", 2},                    /* another version */
	    {"\x81\0\0", 3},                                    /* not the shortest */
	    {"\1\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10},     /* papers */
	    {"\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12}, /* over 63 bits */
	    {"\1\0\0\0\0\0\0\0\0\xff\xff\xff\xff\x0f", 14},     /* filters */
	    {"\1\0\0\0\0\0\0\0\0\0\1", 11},     /* a day that no paper has */
	    {"\1\0\0\0\0\0\xff\0\0\0\0\0", 12}, /* not UTF-8 */
	    {"\1\0\0\0\0\0\0\0\0\0\0\0", 12},   /* a byte after the end */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(digest_contents) contents = {0};
		g_autoptr(GError) error = NULL;

		digest_contents_init(&contents);
		digest_contents_unpack(&contents, rows[i].value, rows[i].size, &error);
		if (!error)
			g_error("row %zu is not refused", i);
	}
}

UNIT_MAIN
