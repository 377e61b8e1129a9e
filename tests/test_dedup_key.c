/*
 * test_dedup_key.c - the duplicate suppression key does not depend on the receiver.
 */
#include "message/dedup_key.h"

#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"

static char *
key_of(const char *raw)
{
	return dedup_key_format(raw, strlen(raw));
}

struct pair {
	const char *name, *one, *other;
	const char *is_same;
};

static void
test_pair(gconstpointer data)
{
	const struct pair *row = data;
	g_autofree char *one = key_of(row->one);
	g_autofree char *other = key_of(row->other);

	g_assert_cmpuint(strlen(one), ==, DEDUP_KEY_LENGTH);
	if (cases_is_yes(row->is_same))
		g_assert_cmpstr(one, ==, other);
	else
		g_assert_cmpstr(one, !=, other);
}

static const struct {
	const char *raw, *name, *value;
} fields[] = {
    {"To: a@b\n\n", "to", "a@b"},
    {"To: a@b\nTo: c@d\n\n", "To", "a@b"},
    {"To:a@b", "To", "a@b"},
    {"To :  a@b  \n\n", "To", "a@b"},
    {"To: a,\n b\n\tc\nX: y\n d\n\n", "To", "a, b c"},
    {"Too: a@b\nX-To: c\n\nTo: d@e\n", "To", NULL},
    {"To\n\n", "To", NULL},
    {" To: a\n\n", "To", NULL},
    {"To: a\033b\r\n\r\n", "To", "a b"},
    {"", "To", NULL},
};

TEST(topmost_field_is_found_and_unfolded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_autofree char *value = dedup_key_find_field(
		    fields[i].raw, strlen(fields[i].raw), fields[i].name);

		g_assert_cmpstr(value, ==, fields[i].value);
	}
}

static const struct {
	const char *value, *address;
} addresses[] = {
    {"a@b", "a@b"},
    {"<a@b>", "a@b"},
    {"<>", ""},
    {" <a+t@b> ", "a+t@b"},
    {"\303\244@b", "\303\244@b"},
    {"\344@b", NULL},
    {"a@b c@d", NULL},
    {"a@b, c@d", NULL},
    {"Eva <a@b>", NULL},
    {"", NULL},
};

TEST(envelope_address_is_the_whole_value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		g_autofree char *raw =
		    g_strdup_printf("Delivered-To: %s\n\n", addresses[i].value);
		g_autofree char *found =
		    dedup_key_find_address(raw, strlen(raw), "Delivered-To");

		g_assert_cmpstr(found, ==, addresses[i].address);
	}
}

TEST(values_are_limited)
{
	for (int more = -1; more <= 1; more++) {
		size_t size = (size_t)(BOUNDS_MAIL_VALUE_BYTES + more);
		size_t length = (size_t)(BOUNDS_ADDRESS_BYTES + more);
		g_autofree char *long_word = g_strnfill(size - 1, 'x');
		g_autofree char *word = g_strnfill(length, 'x');
		g_autofree char *raw =
		    g_strdup_printf("A:y%s\nB: <%s>\n\n", long_word, word);
		g_autofree char *value = dedup_key_find_field(raw, strlen(raw), "A");
		g_autofree char *address =
		    dedup_key_find_address(raw, strlen(raw), "B");

		g_assert_cmpuint(strlen(value), ==, MIN(size, BOUNDS_MAIL_VALUE_BYTES));
		g_assert_true((address != NULL) == (more <= 0));
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	CASES_FOREACH_AS(struct pair, row, "dedup_key") {
		g_autofree char *path = g_strdup_printf("/dedup_key/%s: %s",
		    cases_is_yes(row->is_same) ? "same" : "another", row->name);

		g_test_add_data_func(path, row, test_pair);
	}
	unit_add_all();
	return g_test_run();
}
